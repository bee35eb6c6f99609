//! Taking a lock from the dead.
//!
//! A lock ends with its holder, unless the holder started a process that has the file open still:
//! the lock belongs to the open file, and lives as long as anybody has it. Nobody uses the session
//! then, and nobody can. An eviction puts a new lock file in the place of the old one, if and only if
//! everybody in the old one's roster is proven dead, and the roster is complete.
//!
//! # Why nobody alive is robbed
//!
//! Between reading the roster and replacing the file the orphan may end and somebody new be granted
//! the lock. So:
//!
//! 1. The new file is made elsewhere and locked: nobody is granted it before we are done.
//! 2. It replaces the old one. From here on, whoever is granted the old lock notices that the path
//!    leads elsewhere, for it looks after it has written its line (`lock.rs`).
//! 3. The old roster is read again. Whoever looked before step 2 has written its line before, and is
//!    in it: then the old file is put back, and nothing has happened. The new one was granted to
//!    nobody, and whoever waits for it notices likewise.
//!
//! Known hole: who is killed between steps 2 and 3 cannot put the old file back.
//!
//! # Platform specific behavior
//!
//! A file that is open cannot be replaced on Windows: the eviction fails there, and nothing changes.

use std::io;
use std::sync::Arc;

use super::folder::Folder;
use super::lock::{Attempt, FileLock, GRACE, IfMissing, Mode};
use super::realm::Realm;
use super::roster::Roster;
use crate::backend::Witness;
use crate::error::Result;

/// How an eviction ended.
pub(crate) enum Eviction {
    /// Nobody is in the way.
    NotNeeded,
    /// Those who held the lock are dead, and it is free.
    Done,
    /// Somebody who holds the lock may be alive; nothing was changed.
    Refused(Roster),
}

/// Takes a lock from its holders, if all of them are proven dead. `agree` is told who they are, just
/// before it is done.
pub(crate) fn evict(
    folder: &Arc<Folder>,
    realm: &Realm,
    name: &str,
    agree: &mut dyn FnMut(&[Witness]) -> Result<()>,
) -> Result<Eviction> {
    let attempt = FileLock::acquire(folder, name, Mode::Alone, IfMissing::GiveUp, GRACE)?;
    if !matches!(attempt, Attempt::Contended) {
        return Ok(Eviction::NotNeeded);
    }
    let Some((old, facts)) = Roster::open(folder, name)? else {
        return Ok(Eviction::NotNeeded);
    };
    let failed = |error| folder.error("replace", name, error);
    let roster = Roster::read(&old).map_err(failed)?;
    if !roster.proves_death() {
        return Ok(Eviction::Refused(roster));
    }
    agree(&roster.witnesses)?;

    let (fresh, aside) = (realm.temporary(), realm.temporary());
    let exchanged = (|| -> io::Result<Eviction> {
        let _new = FileLock::create(folder, &fresh)?;
        folder.link(name, &aside)?;
        if !folder.is_still(&aside, &facts).is_ok_and(|same| same) {
            return Ok(Eviction::NotNeeded); // Somebody else replaced it meanwhile.
        }
        folder.rename(&fresh, name)?;
        match Roster::read(&old) {
            Ok(roster) if roster.proves_death() => Ok(Eviction::Done),
            read => {
                folder.rename(&aside, name)?;
                Ok(Eviction::Refused(read?))
            }
        }
    })();
    // Whichever of them is left has done its duty; what cannot be removed is litter.
    let _removed = [&fresh, &aside].map(|name| folder.remove(name));
    exchanged.map_err(failed)
}

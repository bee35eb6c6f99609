//! Copies everything from one store to another.
//!
//! A document is copied as it is, byte by byte, and read back. What the target has already, with the same content, is
//! passed over, so a copy that broke off is simply begun again. What the target has with another content is left alone:
//! which of the two is wanted, only a person knows.
//!
//! The audit log and the time of the last cleanup stay where they are: they tell of that store.

use std::ops::ControlFlow;

use crate::backend::{
    ArchiveKind, Backend, Current, Holder, Next, Sharing, Stored, Transaction, Wait, update_settled,
};
use crate::error::{Damage, Damaged, Error, Result};
use crate::layout;

/// What was copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Sessions and archives that were copied.
    pub copied: usize,
    /// Those that the target had already.
    pub same: usize,
    /// Those that the target has with another content, and those that cannot be copied, with the reason.
    pub left: Vec<Left>,
    /// It was stopped before the end.
    pub is_stopped: bool,
}

/// Something that was not copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// A session's id, or the kind and the name of an archive.
    pub name: String,
    /// Why.
    pub why: String,
}

enum Done {
    Copied,
    Same,
    Differs,
}

/// Copies all sessions and archives. `go_on` is told how many are done, and how many there are.
pub fn copy(
    from: &dyn Backend,
    to: &dyn Backend,
    holder: &Holder,
    go_on: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Copied> {
    let sessions = from.all(true)?;
    let mut archives = Vec::new();
    for kind in ArchiveKind::ALL {
        archives.extend(from.all_archived(kind)?.into_iter().map(|it| (kind, it.name)));
    }
    let total = sessions.len() + archives.len();
    let mut report = Copied::default();
    let items = sessions.iter().map(|entry| Stored::Session(&entry.id));
    let items = items.chain(archives.iter().map(|(kind, name)| Stored::Archived(*kind, name)));
    for (done, what) in items.enumerate() {
        if go_on(done, total).is_break() {
            report.is_stopped = true;
            break;
        }
        match copy_one(from, to, holder, what) {
            Ok(Done::Copied) => report.copied += 1,
            Ok(Done::Same) => report.same += 1,
            Ok(Done::Differs) => {
                let why = "the target has it with another content".to_owned();
                report.left.push(Left { name: name(what), why });
            }
            // Without the store there is no point in going on.
            Err(error) if error.kind().is_unavailable() => return Err(error),
            Err(error) => report.left.push(Left { name: name(what), why: error.to_string() }),
        }
    }
    Ok(report)
}

fn name(what: Stored<'_>) -> String {
    match what {
        Stored::Session(id) => id.as_str().to_owned(),
        Stored::Archived(kind, name) => format!("{}/{name}", kind.name()),
        Stored::Record => String::new(),
    }
}

fn copy_one(
    from: &dyn Backend,
    to: &dyn Backend,
    holder: &Holder,
    what: Stored<'_>,
) -> Result<Done> {
    let Current::Found(bytes, _) = from.load(what, None)? else {
        // It was removed meanwhile.
        return Ok(Done::Same);
    };
    if let Current::Found(there, _) = to.load(what, None)? {
        return Ok(if there == bytes { Done::Same } else { Done::Differs });
    }
    let written = match what {
        Stored::Session(id) => {
            let mut attended = to.attend(id, holder, Sharing::Exclusive, Wait::NONE)?;
            let mut is_new = true;
            let mut next = |_: &mut dyn Transaction, current| {
                is_new = matches!(current, Current::Missing);
                let copy = || Next::Replace(bytes.clone().into());
                Ok(if is_new { copy() } else { Next::Keep })
            };
            update_settled(attended.as_mut(), None, Wait::USUAL, &mut next)?;
            if !is_new {
                return Ok(Done::Differs);
            }
            to.load(what, None)?
        }
        Stored::Archived(kind, name) => {
            // The number at its end is given again.
            let stem = layout::archive_stem(kind, name)
                .ok_or_else(|| Error::InvalidArchiveName(name.to_owned()))?;
            let mut given = String::new();
            to.transact(holder, Wait::USUAL, &mut |transaction| {
                given = transaction.archive(kind, stem, &bytes)?;
                Ok(())
            })?;
            to.load(Stored::Archived(kind, &given), None)?
        }
        Stored::Record => return Ok(Done::Same),
    };
    match written {
        Current::Found(there, _) if there == bytes => Ok(Done::Copied),
        _ => Err(Error::Corrupt {
            what: Damaged::Session,
            place: name(what),
            reason: Damage::NotAsWritten,
        }),
    }
}

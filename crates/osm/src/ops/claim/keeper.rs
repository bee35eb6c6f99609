//! The keeper: a small process that renews the leases of a session while its processes live.
//!
//! Other machines know a claim of this session by a lease. The first such claim starts a keeper, one for each session
//! and machine. It renews at a third of the term, ends the claims of a process as soon as that has ended, and stops
//! by its own clock before the term is over: a lease that is over is never renewed in silence, because another
//! session may have been granted what it kept. It ends when nothing is left to keep, and removes its lock file.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use osm_claims::clock::{Clock as _, SystemClock};
use osm_claims::{Caller, Claim, Claims, Ends, Kept, SystemProbe};
use osm_identity::{ProcessInstance, System};

use super::Error;
use super::client::Client;
use crate::interaction::Interaction;
use crate::invocation::Invocation;
use crate::private;

/// The hidden command of a keeper.
const COMMAND: &str = "keep";

/// Where the locks of keepers are, below the home of osm.
const FOLDER: &str = "keepers";

/// The longest record of a session that is read from standard input.
const MOST_BYTES: u64 = 64 * 1024;

/// The part of a term after which a lease is renewed, and the part that is kept as a margin: a renewal is not sent
/// any more when so little is left.
const RENEW_AT: u32 = 3;
const MARGIN: u32 = 6;

/// When to stop relying on a lease that was last renewed by a request sent at some time.
pub(super) fn limit(term: Duration) -> Duration {
    term.saturating_sub(term / MARGIN)
}

/// When to renew a lease.
pub(super) fn pause(term: Duration) -> Duration {
    term / RENEW_AT
}

/// How long to wait after a renewal that failed.
pub(super) fn retry(term: Duration) -> Duration {
    term / 12
}

/// Time since this machine started, through sleep: unlike the wall clock, it cannot be set.
pub(super) fn uptime() -> osm_claims::Result<Duration> {
    let clock = SystemClock::new(&System).map_err(osm_claims::Error::Processes)?;
    Ok(clock.now()?.moment.uptime)
}

/// Starts a keeper for a claim that other machines know by a lease, unless there is one. Without a keeper the claim
/// ends with its lease, of which the user is warned.
pub(super) fn start(client: &Client, claim: &Claim, interaction: &mut dyn Interaction) {
    if claim.hold.presence().is_none() {
        return;
    }
    let caller = Caller { process: claim.owner.process.clone(), ..client.requester.caller.clone() };
    if let Err(error) = start_for(client.invocation, &caller) {
        interaction.warn(&format!(
            "cannot start a process that renews the lease of this claim: {error}; it ends unless you renew it: osm \
             claim renew"
        ));
    }
}

fn start_for(invocation: &Invocation, caller: &Caller) -> io::Result<()> {
    if is_kept(invocation, caller) {
        return Ok(());
    }
    let program = invocation.world.program().ok_or(io::ErrorKind::NotFound)?;
    let mut command = Command::new(program);
    if let Some(store) = &invocation.options().store {
        command.arg("--store").arg(store);
    }
    command.arg(COMMAND).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // It outlives the folder and the foreground of a terminal.
    command.current_dir(if cfg!(windows) { "C:\\" } else { "/" });
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    let record = serde_json::to_vec(caller)?;
    let told = child.stdin.take().map_or(Ok(()), |mut input| input.write_all(&record));
    // Collects it if it ends before we do; without a thread, the system does so when we end.
    drop(std::thread::Builder::new().spawn(move || child.wait()));
    told
}

/// Whether a keeper has the lock now. One that is about to end looks again after it gave up its lock.
fn is_kept(invocation: &Invocation, caller: &Caller) -> bool {
    let path = lock_file(invocation, caller);
    let file = path.and_then(|path| File::open(path).ok());
    file.is_some_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Keeps the claims of the session that standard input names, until nothing is left to keep.
pub fn keep(invocation: &Invocation) -> Result<(), Error> {
    let mut record = Vec::new();
    let read = io::stdin().take(MOST_BYTES).read_to_end(&mut record);
    let caller = read.and_then(|_| Ok(serde_json::from_slice::<Caller>(&record)?));
    let caller = caller.map_err(|source| Error::Keeper { action: "read the session", source })?;
    let claims = invocation.claims()?;
    loop {
        let Some(lock) = Lock::take(invocation, &caller)? else { return Ok(()) };
        keep_on(&claims, &caller).map_err(|source| Error::ledger(invocation, source))?;
        drop(lock);
        // A claim that was granted meanwhile found the lock taken.
        let kept = claims.keep(&caller).map_err(|source| Error::ledger(invocation, source))?;
        if kept.processes.is_empty() {
            return Ok(());
        }
    }
}

/// Renews in time, until nothing is left, or the server cannot be reached before the leases end.
fn keep_on(claims: &Claims, caller: &Caller) -> osm_claims::Result<()> {
    let probe = SystemProbe(System);
    let (mut renewed, mut kept) = (uptime()?, Kept::default());
    loop {
        let now = uptime()?;
        let term = match claims.keep(caller) {
            Ok(next) if next.processes.is_empty() => return Ok(()),
            Ok(next) => {
                renewed = now;
                kept = next;
                kept.term
            }
            Err(error) => {
                let runs = |term: &Duration| now < renewed + limit(*term);
                let Some(term) = kept.term.filter(runs) else { return Err(error) };
                Some(retry(term) * RENEW_AT)
            }
        };
        let processes: Vec<&ProcessInstance> = kept.processes.iter().collect();
        let ends = Ends::of(&processes, &probe);
        ends.wait(&probe, pause(term.unwrap_or_default()))?;
    }
}

/// What a keeper has while it keeps. Dropping it removes its file.
struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Takes the lock; `None` if another keeper has it.
    fn take(invocation: &Invocation, caller: &Caller) -> Result<Option<Self>, Error> {
        let error = |source| Error::Keeper { action: "lock its file", source };
        let Some(path) = lock_file(invocation, caller) else {
            return Err(error(io::ErrorKind::NotFound.into()));
        };
        private::folder(path.parent().unwrap_or(&path)).map_err(error)?;
        loop {
            let mut options = OpenOptions::new();
            options.create(true).truncate(false).write(true);
            let file = private::open(&mut options, &path).map_err(error)?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(source)) => return Err(error(source)),
                Ok(()) if is_at(&file, &path) => return Ok(Some(Self { path, _file: file })),
                // The keeper before removed it after we opened it.
                Ok(()) => {}
            }
        }
    }
}

impl Drop for Lock {
    #[expect(clippy::disallowed_methods, reason = "a lock file has no content")]
    fn drop(&mut self) {
        // One that stays is used again.
        drop(std::fs::remove_file(&self.path));
    }
}

fn lock_file(invocation: &Invocation, caller: &Caller) -> Option<PathBuf> {
    let key = caller.process.as_ref().map_or_else(|| caller.session.clone(), ProcessInstance::key);
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = key.chars().map(plain).collect();
    Some(invocation.home().ok()?.join(FOLDER).join(format!("{name}.lock")))
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |one: std::fs::Metadata, other: std::fs::Metadata| {
        (one.dev(), one.ino()) == (other.dev(), other.ino())
    };
    file.metadata().ok().zip(path.metadata().ok()).is_some_and(|(one, other)| same(one, other))
}

#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

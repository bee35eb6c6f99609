//! The folder of everything that osm stores, and the clock.

use std::fs::TryLockError;
use std::io;
use std::path::Path;

use jiff::SignedDuration;
use osm_claims::SqliteLedger;
use osm_store::layout::Layout;

use super::{Finding, word};
use crate::invocation::Invocation;

/// Less space than this is used up by a few saves.
#[cfg(unix)]
const LEAST_BYTES: u64 = 16 << 20;
/// How far clocks of two machines, or before and after a correction, may differ.
const SKEW: SignedDuration = SignedDuration::from_mins(5);

pub(super) fn owner_and_modes(invocation: &Invocation) -> Vec<Finding> {
    let Ok(home) = invocation.home() else {
        return vec![
            Finding::problem(
                "no folder for sessions: neither HOME nor OSM_HOME is set",
                "nothing can be stored, and no claim can be made",
            )
            .fix("export OSM_HOME=FOLDER"),
        ];
    };
    match home.metadata() {
        Ok(about) if !about.is_dir() => {
            return vec![
                Finding::problem(
                    format!("{} is not a folder", home.display()),
                    "nothing can be stored, and no claim can be made",
                )
                .fix(format!("move it away: mv {0} {0}.old", word(&home))),
            ];
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            return vec![
                Finding::problem(
                    format!("cannot look at {}: {error}", home.display()),
                    "nothing can be stored, and no claim can be made",
                )
                .fix(format!("ls -ld {}", word(&home))),
            ];
        }
    }
    // The ledger closes itself to others whenever it is opened.
    let folders = [home.clone(), Layout::new(&home).sessions()];
    folders.iter().filter_map(|path| access(path)).collect()
}

/// Who can read or write a file or folder besides its user.
#[cfg(unix)]
fn access(path: &Path) -> Option<Finding> {
    use std::os::unix::fs::MetadataExt as _;

    let about = path.metadata().ok()?;
    if about.uid() != rustix::process::geteuid().as_raw() {
        let finding = Finding::problem(
            format!("{} belongs to another user", path.display()),
            "osm does not use what another user can change",
        );
        return Some(finding.fix(format!("sudo chown -R \"$(id -un)\" {}", word(path))));
    }
    let mode = about.mode() & 0o777;
    let of_others = mode & 0o077;
    if of_others == 0 {
        return None;
    }
    let finding = Finding::problem(
        format!("other users can access {} (mode {mode:04o})", path.display()),
        "sessions have your notes, diffs and prompts",
    );
    let fix = format!("chmod {:o} {}", mode & 0o700, word(path));
    Some(finding.fix(fix).safe(super::Repair::Private(path.to_owned())))
}

/// A profile's folders are closed to others by what they inherit.
#[cfg(not(unix))]
fn access(_path: &Path) -> Option<Finding> {
    None
}

/// Takes a file or folder away from other users.
#[cfg(unix)]
pub(super) fn make_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    let mode = path.metadata()?.permissions().mode() & 0o700;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
pub(super) fn make_private(_path: &Path) -> io::Result<()> {
    Ok(())
}

pub(super) fn file_system(invocation: &Invocation) -> Vec<Finding> {
    let Some(home) = invocation.home().ok().filter(|home| home.is_dir()) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    if SqliteLedger::is_on_network(&home) {
        findings.push(
            Finding::problem(
                format!("{} is on a network file system", home.display()),
                "no claim can be made there: osm cannot prove that a process of another machine ended",
            )
            .fix("export OSM_HOME=FOLDER, on a disk of this machine"),
        );
    }
    findings.extend(space(&home));
    findings.extend(locks(&home));
    findings
}

#[cfg(unix)]
fn space(home: &Path) -> Option<Finding> {
    let facts = rustix::fs::statvfs(home).ok()?;
    let bytes = facts.f_bavail.saturating_mul(facts.f_frsize);
    let what = if bytes < LEAST_BYTES {
        format!("the file system of {} is full: {} kB are free", home.display(), bytes / 1000)
    } else if facts.f_files > 0 && facts.f_favail == 0 {
        format!("the file system of {} has no room for another file", home.display())
    } else {
        return None;
    };
    let finding = Finding::problem(what, "no session can be saved, and no claim can be made");
    Some(finding.fix(format!("df -h {0}; osm session clean", word(home))))
}

#[cfg(not(unix))]
fn space(_home: &Path) -> Option<Finding> {
    None
}

/// Whether files there can be written and locked. The file has no name, so nothing is left of it.
fn locks(home: &Path) -> Option<Finding> {
    let (what, why, error) = match tempfile::tempfile_in(home) {
        Err(error) => ("cannot create a file in", "nothing can be stored there", error),
        Ok(file) => match file.try_lock() {
            Err(TryLockError::Error(error)) => {
                ("cannot lock a file in", "osm does not change sessions without locks", error)
            }
            Ok(()) | Err(TryLockError::WouldBlock) => return None,
        },
    };
    let finding = Finding::problem(format!("{what} {}: {error}", home.display()), why);
    Some(finding.fix("export OSM_HOME=FOLDER, on a disk of this machine that you can write to"))
}

/// A clock that was set back makes what was just used look old, or new for a long time.
pub(super) fn clock(invocation: &Invocation) -> Vec<Finding> {
    let Ok(sessions) = invocation.store().and_then(|store| Ok(store.list()?)) else {
        return Vec::new();
    };
    let now = invocation.world.now();
    let ahead = |at: &jiff::Timestamp| at.duration_since(now) > SKEW;
    let Some(latest) = sessions.iter().map(|it| it.modified).max().filter(ahead) else {
        return Vec::new();
    };
    vec![
        Finding::problem(
            format!(
                "the clock is behind: it is {}, and a session was saved at {}",
                now.strftime("%Y-%m-%d %H:%M UTC"),
                latest.strftime("%Y-%m-%d %H:%M UTC")
            ),
            "ages are wrong, and old sessions are not removed in time",
        )
        .fix("set the clock: timedatectl status"),
    ]
}

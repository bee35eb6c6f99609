//! Reads files that decide what osm does: configuration, goals, trusted files, modules.
//!
//! Another user must not be able to write them. So the file must belong to the user or to root, its
//! folder too, and not every user may write to either, as for the store. The file is looked at after it
//! was opened, so what is checked is what is read.
//!
//! # Platform specific behavior
//!
//! On Windows owners are not looked at: the access list that a profile's folders inherit keeps others
//! out.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// Reads a file of at most `most` bytes; `None` if it does not exist. The error is a predicate of the
/// file.
pub(crate) fn read(path: &Path, most: u64) -> Result<Option<Vec<u8>>, String> {
    let (file, about) = match open(path) {
        Ok(opened) => opened,
        Err(Refusal::Io(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(Refusal::Io(error)) => return Err(error.to_string()),
        Err(Refusal::Foreign(reason)) => return Err(reason),
    };
    if about.len() > most {
        return Err(format!("larger than {most} bytes"));
    }
    // One byte more than there should be shows the end, without another read.
    let room = usize::try_from(about.len()).unwrap_or(usize::MAX).saturating_add(1);
    let mut bytes = Vec::with_capacity(room);
    file.take(most + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > most {
        return Err(format!("larger than {most} bytes"));
    }
    Ok(Some(bytes))
}

/// Checks a folder in which osm finds such files. The error is a predicate of the folder.
pub(crate) fn check_folder(path: &Path) -> Result<(), String> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let about = std::fs::metadata(path).map_err(|error| error.to_string())?;
    foreign(&about).map_or(Ok(()), Err)
}

enum Refusal {
    Io(io::Error),
    Foreign(String),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn open(path: &Path) -> Result<(File, Metadata), Refusal> {
    let file = match options().open(path) {
        Ok(file) => file,
        // A link gives another error, because it is not followed. So this file does not exist, as for
        // most users, and prompts ask before every command.
        Err(error) if cfg!(unix) && error.kind() == io::ErrorKind::NotFound => {
            return Err(error.into());
        }
        // A link into a folder of dotfiles is fine; then both folders count.
        Err(_) if path.is_symlink() => {
            let real = std::fs::canonicalize(path)?;
            check_parent(path)?;
            return checked(options().open(&real)?, &real);
        }
        // What it is explains more than what opening it said.
        Err(error) => match std::fs::metadata(path) {
            Ok(about) if !about.is_file() => return Err(Refusal::Foreign("not a file".into())),
            _ => return Err(error.into()),
        },
    };
    checked(file, path)
}

fn checked(file: File, path: &Path) -> Result<(File, Metadata), Refusal> {
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(Refusal::Foreign("not a file".into()));
    }
    if let Some(reason) = foreign(&about) {
        return Err(Refusal::Foreign(reason));
    }
    check_parent(path)?;
    Ok((file, about))
}

fn check_parent(path: &Path) -> Result<(), Refusal> {
    let folder = path.parent().unwrap_or(path);
    check_folder(folder).map_err(|reason| {
        Refusal::Foreign(format!("refused because of its folder {}: {reason}", folder.display()))
    })
}

/// Opens without following a link in the file's place, and without waiting: a FIFO has no other end.
fn options() -> std::fs::OpenOptions {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits();
        #[expect(clippy::cast_possible_wrap, reason = "flags are bits")]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags as i32);
    }
    options
}

/// Why another user could have written it, if so.
#[cfg(unix)]
fn foreign(about: &Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let (owner, mode) = (about.uid(), about.mode() & 0o7777);
    if owner != 0 && owner != rustix::process::geteuid().as_raw() {
        Some(format!("belongs to another user (uid {owner})"))
    } else if mode & 0o002 != 0 {
        Some(format!("every user can write to it (mode {mode:04o})"))
    } else {
        None
    }
}

#[cfg(not(unix))]
fn foreign(_about: &Metadata) -> Option<String> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;

    use super::*;

    #[expect(clippy::unwrap_used, reason = "a helper of tests")]
    fn made(folder: &Path, name: &str, mode: u32) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, name).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn only_what_others_cannot_write_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let plain = made(folder, "plain", 0o640);
        assert_eq!(read(&plain, 5), Ok(Some(b"plain".to_vec())));
        assert_eq!(read(&plain, 4), Err("larger than 4 bytes".into()));
        assert_eq!(read(&folder.join("none"), 9), Ok(None));
        assert_eq!(read(folder, 9), Err("not a file".into()));
        let open = made(folder, "open", 0o666);
        assert_eq!(read(&open, 9), Err("every user can write to it (mode 0666)".into()));
        symlink(&plain, folder.join("link")).unwrap();
        assert_eq!(read(&folder.join("link"), 9), Ok(Some(b"plain".to_vec())));
        symlink(&open, folder.join("link-to-open")).unwrap();
        assert!(read(&folder.join("link-to-open"), 9).is_err());
        symlink("nothing", folder.join("dangling")).unwrap();
        assert_eq!(read(&folder.join("dangling"), 9), Ok(None));

        let shared = folder.join("shared");
        std::fs::create_dir(&shared).unwrap();
        let inside = made(&shared, "inside", 0o600);
        symlink(&inside, folder.join("link-to-shared")).unwrap();
        symlink(&plain, shared.join("link")).unwrap();
        assert!(read(&inside, 9).is_ok());
        std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o1777)).unwrap();
        for path in [inside, folder.join("link-to-shared"), shared.join("link")] {
            let reason = read(&path, 9).unwrap_err();
            assert!(reason.contains("every user can write to it (mode 1777)"), "{reason}");
        }
        assert!(check_folder(&shared).is_err() && check_folder(folder).is_ok());
    }
}

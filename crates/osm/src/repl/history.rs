//! The line editor's history, one file for each mode: `history/MODE` in osm's home folder.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::private;

/// The number of lines kept.
pub(crate) const MAX_LINES: usize = 1000;

/// The longest file name made from a mode's name.
const MAX_NAME: usize = 100;

/// The file for a mode; created, if missing, in a folder that only the user can read.
pub(crate) fn file(home: &Path, mode: &str) -> io::Result<PathBuf> {
    let folder = home.join("history");
    private::folder(&folder)?;
    let path = folder.join(name(mode));
    // Reedline would create it with the default permissions.
    private::open(File::options().append(true).create(true), &path)?;
    Ok(path)
}

/// A mode's name as a file name. Scripts choose the names of modes, so every other byte is escaped.
fn name(mode: &str) -> String {
    let mut name = String::new();
    for byte in mode.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            b'.' if !name.is_empty() => name.push('.'),
            other => name.extend(format!("%{other:02x}").chars()),
        }
    }
    name.truncate(MAX_NAME);
    if name.is_empty() { "none".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_folder() {
        for (mode, expected) in [
            ("code-review", "code-review"),
            ("../../etc", "%2e.%2f..%2fetc"),
            ("", "none"),
            ("a/b\\c", "a%2fb%5cc"),
        ] {
            assert_eq!(name(mode), expected);
        }
        assert_eq!(name(&"ü".repeat(500)).len(), MAX_NAME);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_it() {
        use std::os::unix::fs::MetadataExt;
        let home = tempfile::tempdir().unwrap();
        let path = file(home.path(), "m").unwrap();
        std::fs::write(&path, "list\n").unwrap();
        assert_eq!(file(home.path(), "m").unwrap(), path);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "list\n");
        let mode = |path: &Path| path.metadata().unwrap().mode() & 0o7777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }
}

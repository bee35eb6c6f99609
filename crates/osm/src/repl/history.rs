//! The lines that were typed, kept for each mode: `history/MODE` below the home of `osm`.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::private;

/// So many lines are kept.
pub(crate) const MOST_LINES: usize = 1000;

/// The longest name that is taken from a mode.
const LONGEST_NAME: usize = 100;

/// The file for a mode, made if need be, in a folder that is ours alone.
pub(crate) fn file(home: &Path, mode: &str) -> io::Result<PathBuf> {
    let folder = home.join("history");
    private::folder(&folder)?;
    let path = folder.join(name(mode));
    // What opens it afterwards asks for no mode: so it is made here.
    private::open(File::options().append(true).create(true), &path)?;
    Ok(path)
}

/// A mode's name as a file's. Scripts name modes as they like.
fn name(mode: &str) -> String {
    let mut name = String::new();
    for byte in mode.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            b'.' if !name.is_empty() => name.push('.'),
            other => name.extend(format!("%{other:02x}").chars()),
        }
    }
    name.truncate(LONGEST_NAME);
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
        assert_eq!(name(&"ü".repeat(500)).len(), LONGEST_NAME);
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_reads_it() {
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

//! Reads one file.
//!
//! Links in the path are resolved before, so none is followed now (`open.rs`). The type of the file is
//! checked after it is open: since the folder was listed, another process can have replaced the file
//! by a FIFO, which would block, or by a device without end.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek};
use std::ops::Range;
use std::path::Path;

use crate::open;
use crate::reason::Reason;

/// A NUL this early makes a file binary.
const BEGINNING: usize = 8 << 10;

/// A file that is open, and is a regular one.
pub(crate) struct Opened {
    file: File,
    /// Its size in bytes; 0 if it does not tell.
    size: u64,
    most: u64,
}

/// The text of a file of at most so many bytes, by a path without links. A link that takes the place of
/// a part of it meanwhile is not followed, and a FIFO does not block.
pub fn read_text(path: &Path, most: u64) -> Result<String, Reason> {
    let mut text = String::new();
    open(path, most)?.read_to(&mut text)?;
    Ok(text)
}

/// Opens a file of at most so many bytes, by a path without links.
pub(crate) fn open(path: &Path, most: u64) -> Result<Opened, Reason> {
    let file = open::open(path).map_err(|error| Reason::of_error(&error))?;
    let metadata = file.metadata().map_err(|error| Reason::of_error(&error))?;
    if !metadata.is_file() {
        let folder = Reason::Unreadable("is a folder".into());
        return Err(Reason::of_type(metadata.file_type()).unwrap_or(folder));
    }
    let size = metadata.len();
    if size > most {
        return Err(Reason::TooLarge { size, limit: most });
    }
    Ok(Opened { file, size, most })
}

impl Opened {
    /// The most bytes that reading it should need.
    pub(crate) fn room(&self) -> usize {
        usize::try_from(self.size).unwrap_or(0)
    }

    /// Adds the text of the file to a text; adds nothing if it cannot.
    pub(crate) fn read_to(mut self, text: &mut String) -> Result<Range<usize>, Reason> {
        let start = text.len();
        let result = self.append(text).and_then(|()| {
            let size = (text.len() - start) as u64;
            if size > self.most {
                return Err(Reason::TooLarge { size, limit: self.most });
            }
            if is_binary(&text.as_bytes()[start..]) { Err(Reason::Binary) } else { Ok(()) }
        });
        match result {
            Ok(()) => Ok(start..text.len()),
            Err(reason) => {
                text.truncate(start);
                Err(reason)
            }
        }
    }

    fn append(&mut self, text: &mut String) -> Result<(), Reason> {
        // Some files, those of the system itself, do not tell their size. Of others no more is taken
        // than there was, which spares the question whether that was all.
        let up_to = if self.size == 0 { self.most.saturating_add(1) } else { self.size };
        match self.file.by_ref().take(up_to).read_to_string(text) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::InvalidData => Err(self.what_else()),
            Err(error) => Err(Reason::of_error(&error)),
        }
    }

    /// Why it is no text: looks at its beginning once more.
    fn what_else(&mut self) -> Reason {
        let mut beginning = Vec::new();
        let read = self
            .file
            .rewind()
            .and_then(|()| self.file.by_ref().take(BEGINNING as u64).read_to_end(&mut beginning));
        match read {
            Ok(_) if is_binary(&beginning) => Reason::Binary,
            Ok(_) => Reason::NotUtf8,
            Err(error) => Reason::of_error(&error),
        }
    }
}

fn is_binary(bytes: &[u8]) -> bool {
    memchr::memchr(0, &bytes[..bytes.len().min(BEGINNING)]).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &Path, most: u64) -> Result<String, Reason> {
        let mut text = String::from("before");
        let result = open(path, most).and_then(|file| file.read_to(&mut text));
        assert!(text.starts_with("before"));
        match result {
            Ok(range) => Ok(text[range].to_owned()),
            Err(reason) => {
                assert_eq!(text, "before", "what cannot be read leaves nothing behind");
                Err(reason)
            }
        }
    }

    fn written(bytes: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        file
    }

    #[test]
    fn text_is_taken_as_it_is() {
        for bytes in ["", "a", "a\r\nb", "\u{feff}bom\n", "日本\n"] {
            assert_eq!(read(written(bytes.as_bytes()).path(), 100).as_deref(), Ok(bytes));
        }
    }

    #[test]
    fn what_is_no_text_is_told() {
        let late = [vec![b'a'; BEGINNING], vec![0]].concat();
        assert!(read(written(&late).path(), 10_000).is_ok());
        assert_eq!(read(written(&late[1..]).path(), 10_000), Err(Reason::Binary));
        assert_eq!(read(written(b"caf\xe9").path(), 10), Err(Reason::NotUtf8));
        assert_eq!(read(written(b"caf\xe9\0").path(), 10), Err(Reason::Binary));
        assert_eq!(read(written(b"12345").path(), 4), Err(Reason::TooLarge { size: 5, limit: 4 }));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn files_of_the_system_do_not_tell_their_size() {
        let path = &Path::new("/proc/self/status").canonicalize().unwrap();
        assert!(read(path, 1 << 20).unwrap().starts_with("Name:"));
        assert!(matches!(read(path, 10), Err(Reason::TooLarge { limit: 10, .. })));
    }

    #[cfg(unix)]
    #[test]
    fn what_took_the_place_of_a_file_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
        assert!(made.success());
        assert_eq!(read(&fifo, 10), Err(Reason::Special("FIFO")));
        assert_eq!(read(Path::new("/dev/zero"), 10), Err(Reason::Special("device")));
        assert!(matches!(read(folder.path(), 10), Err(Reason::Unreadable(_))));
        assert_eq!(read(&folder.path().join("none"), 10), Err(Reason::NotFound));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/etc/hostname", &link).unwrap();
        assert_eq!(read(&link, 1000), Err(Reason::LinkLoop));
    }
}

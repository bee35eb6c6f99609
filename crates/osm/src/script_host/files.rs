//! Files that scripts list and write, with the user's default permissions unless the script names others.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use osm_script::Writing;

pub(super) fn write(path: &Path, bytes: &[u8], how: &Writing) -> io::Result<()> {
    if let (true, Some(folder)) = (how.create_folders, path.parent()) {
        std::fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    options.create(true).write(true);
    if how.append {
        options.append(true);
    } else {
        options.truncate(true);
    }
    #[cfg(unix)]
    if let Some(mode) = how.mode {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    }
    options.open(path)?.write_all(bytes)
}

/// The names of what is in a folder. One that is not text cannot be used by a script.
pub(super) fn list(folder: &Path) -> io::Result<Vec<String>> {
    let names = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().into_string().ok()));
    names.filter_map(Result::transpose).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_to_write() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.txt");
        assert!(write(&path, b"x", &Writing::default()).is_err(), "the folder does not exist");
        let deep = Writing { create_folders: true, mode: Some(0o600), ..Writing::default() };
        write(&path, b"long text", &deep).unwrap();
        write(&path, b"one", &Writing::default()).unwrap();
        write(&path, b", two", &Writing { append: true, ..Writing::default() }).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one, two");
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::MetadataExt::mode(&path.metadata().unwrap());
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}

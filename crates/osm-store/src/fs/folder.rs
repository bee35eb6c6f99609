//! A folder of the store: the one door to its files.
//!
//! Everything in a store is private, and nothing in it may lead out of it. So files are reached by
//! a plain name in an open folder, never by a path that could be bent meanwhile; they are opened
//! without following links and without waiting (a FIFO has no other end), and what was opened is
//! looked at before it is used: it must be a regular file, and ours. A folder must be ours, must be
//! no link, and no other user may write to it; one that other users can read is closed to them.
//!
//! # Platform specific behavior
//!
//! Unix works relative to a descriptor of the folder, so a folder that is swapped under us is
//! noticed or does no harm. On Windows names are joined to the folder's path; there the access list
//! that a profile's folders inherit keeps others out, and owners are not looked at.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::large_file;
use crate::backend::Stamp;
use crate::error::{At, Error, Result, Unsafe};
use crate::layout::LARGEST_DOCUMENT;

std::cfg_select! {
    unix => {
        mod unix;
        use unix as platform;
    }
    windows => {
        mod windows;
        use windows as platform;
    }
    _ => { compile_error!("a store needs the files of Unix or Windows; use the memory store"); }
}

/// A folder, open.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    handle: platform::Handle,
    facts: Facts,
    /// Who we are.
    user: u32,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    Other,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::File => "a file",
            Self::Folder => "a folder",
            Self::Link => "a symbolic link",
            Self::Other => "a FIFO, a socket or a device",
        }
    }
}

/// What the system says of a file without reading it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) kind: Kind,
    pub(crate) size: u64,
    pub(crate) modified: Timestamp,
    pub(crate) stamp: Stamp,
    /// Device and inode. All zero on Windows, where an open file keeps its name.
    pub(crate) identity: (u64, u64),
    owner: u32,
    permissions: u32,
}

/// What to do with a file when it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Read; it must be there.
    Read,
    /// Read and write; it must be there.
    Write,
    /// Read and write; made if it is not there.
    Create,
    /// Append; made if it is not there.
    Append,
}

impl Folder {
    /// Opens the root of a store; `None` if it does not exist.
    ///
    /// The user chose it: a link to it is fine, and so are its permissions, as long as not everybody
    /// can write there. (It may be a home directory, or `/`: we do not close it to others.)
    pub(crate) fn open_root(path: &Path) -> Result<Option<Self>> {
        let found = platform::open_root(path);
        Self::opened(path, found, || platform::facts_of_root(path))
    }

    /// Opens a folder in this one, which we made: it must be real, and is closed to others.
    pub(crate) fn open_folder(&self, name: &str) -> Result<Option<Self>> {
        let path = self.path.join(name);
        let found = platform::open_folder(&self.handle, &self.path, name);
        let folder =
            Self::opened(&path, found, || platform::facts(&self.handle, &self.path, name))?;
        if let Some(folder) = &folder
            && folder.facts.permissions & 0o077 != 0
        {
            platform::tighten(&folder.handle).at("close to others", &path)?;
        }
        Ok(folder)
    }

    fn opened(
        path: &Path,
        found: io::Result<(platform::Handle, Facts)>,
        look: impl FnOnce() -> io::Result<Facts>,
    ) -> Result<Option<Self>> {
        match found {
            Ok((handle, facts)) => {
                let folder = Self { path: path.to_owned(), handle, facts, user: platform::user() };
                folder.check_itself(&facts).map(|()| Some(folder))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            // What it is explains more than what opening it said.
            Err(error) => match look() {
                Ok(facts) if facts.kind != Kind::Folder => {
                    Err(not_a(Kind::Folder, facts.kind, path))
                }
                // It was removed between the two looks.
                Err(look) if look.kind() == io::ErrorKind::NotFound => Ok(None),
                _ => Err(error).at("open", path),
            },
        }
    }

    /// Makes the root of a store, with all that it lies in. Only we can enter.
    pub(crate) fn make_root(path: &Path) -> Result<()> {
        platform::make_root(path).at("make", path)
    }

    /// Makes a folder in this one that only we can enter. It is no error if it is there.
    pub(crate) fn make_folder(&self, name: &str) -> Result<()> {
        match platform::make_folder(&self.handle, &self.path, name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(self.error("make", name, error)),
            Ok(()) => self.sync(),
        }
    }

    /// Whether its path still leads to this very root, and it is still safe.
    pub(crate) fn is_current_root(&self) -> Result<bool> {
        self.is(platform::facts_of_root(&self.path))
    }

    /// Whether a name in another folder still stands for this one, and it is still safe.
    pub(crate) fn is_current_in(&self, parent: &Self, name: &str) -> Result<bool> {
        self.is(platform::facts(&parent.handle, &parent.path, name))
    }

    fn is(&self, found: io::Result<Facts>) -> Result<bool> {
        match found {
            Ok(facts) if facts.kind == Kind::Folder && facts.identity == self.facts.identity => {
                self.check_itself(&facts).map(|()| true)
            }
            Ok(_) => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error).at("look at", &self.path),
        }
    }

    fn check_itself(&self, facts: &Facts) -> Result<()> {
        let reason = if facts.owner != self.user {
            Unsafe::OtherOwner { uid: facts.owner }
        } else if facts.permissions & 0o002 != 0 {
            Unsafe::WorldWritable { mode: facts.permissions & 0o7777 }
        } else {
            return Ok(());
        };
        Err(Error::Unsafe { path: self.path.clone(), reason })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where a file in it is.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        // As `join`, but in one piece: a list has a hundred thousand of them.
        let mut path = PathBuf::with_capacity(self.path.as_os_str().len() + 1 + name.len());
        path.push(&self.path);
        path.push(name);
        path
    }

    /// Which one it is.
    #[cfg(target_os = "linux")]
    pub(crate) fn identity(&self) -> (u64, u64) {
        self.facts.identity
    }

    /// The open folder itself.
    #[cfg(target_os = "linux")]
    pub(crate) fn handle(&self) -> &File {
        &self.handle
    }

    /// Looks at a file without opening or following it; `None` if it does not exist.
    pub(crate) fn facts(&self, name: &str) -> Result<Option<Facts>> {
        match platform::facts(&self.handle, &self.path, name) {
            Ok(facts) => Ok(Some(facts)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.error("look at", name, error)),
        }
    }

    /// Looks at a file that must be a regular one, and ours.
    pub(crate) fn checked_facts(&self, name: &str) -> Result<Option<Facts>> {
        let facts = self.facts(name)?;
        facts.map(|facts| self.check(name, &facts).map(|()| facts)).transpose()
    }

    /// Opens a regular file of ours; `None` if it does not exist.
    pub(crate) fn open_file(&self, name: &str, access: Access) -> Result<Option<(File, Facts)>> {
        let opened = platform::open_file(&self.handle, &self.path, name, access)
            .and_then(|file| Ok((platform::facts_of_file(&file)?, file)));
        match opened {
            Ok((facts, file)) => self.check(name, &facts).map(|()| Some((file, facts))),
            Err(error) => match self.checked_facts(name) {
                // What it is explains more than what opening it said.
                Err(unsafe_file @ Error::Unsafe { .. }) => Err(unsafe_file),
                Ok(None) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                _ => Err(self.error("open", name, error)),
            },
        }
    }

    /// Opens a file only to keep what is in it while another one takes its name. Where an open file
    /// cannot be replaced, and if anything else stands in the way, there is nothing to keep.
    pub(crate) fn hold(&self, name: &str) -> Option<File> {
        platform::hold(&self.handle, name)
    }

    /// Makes a new file that only we can read.
    pub(crate) fn create_new(&self, name: &str) -> io::Result<File> {
        platform::create_new(&self.handle, &self.path, name)
    }

    /// Whether a name still stands for the file that was opened under it.
    pub(crate) fn is_still(&self, name: &str, opened: &Facts) -> Result<bool> {
        Ok(self.facts(name)?.is_some_and(|facts| facts.identity == opened.identity))
    }

    /// Gives a file a name, whatever had that name before.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        platform::rename(&self.handle, &self.path, from, to)
    }

    /// Gives a file a second name that must be free.
    pub(super) fn link(&self, from: &str, to: &str) -> io::Result<()> {
        platform::link(&self.handle, &self.path, from, to)
    }

    /// Removes a file, or a link itself; `false` if there was none.
    pub(crate) fn remove(&self, name: &str) -> Result<bool> {
        match platform::remove(&self.handle, &self.path, name) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.error("remove", name, error)),
        }
    }

    /// Makes sure that what was named and renamed here survives a power failure.
    pub(crate) fn sync(&self) -> Result<()> {
        platform::sync(&self.handle).at("sync", &self.path)
    }

    /// Calls `each` with the name and inode of everything here, in no order. Names that are not
    /// text are none of ours and left out.
    pub(crate) fn each_name(&self, each: &mut dyn FnMut(&str, u64)) -> Result<()> {
        platform::each_name(&self.handle, &self.path, each).at("read", &self.path)
    }

    /// Reads a file of ours from its beginning to its end; `None` if it does not exist.
    pub(crate) fn read(&self, name: &str) -> Result<Option<(Vec<u8>, Facts)>> {
        let Some((file, facts)) = self.open_file(name, Access::Read)? else {
            return Ok(None);
        };
        self.read_open(name, &file, &facts).map(|bytes| Some((bytes, facts)))
    }

    /// Reads an open file to its end.
    pub(crate) fn read_open(&self, name: &str, file: &File, facts: &Facts) -> Result<Vec<u8>> {
        if facts.size > LARGEST_DOCUMENT {
            return Err(self.too_large(name, facts.size));
        }
        let bytes =
            read_whole(file, facts.size).map_err(|error| self.error("read", name, error))?;
        if bytes.len() as u64 > LARGEST_DOCUMENT {
            return Err(self.too_large(name, bytes.len() as u64));
        }
        Ok(bytes)
    }

    fn too_large(&self, name: &str, size: u64) -> Error {
        Error::TooLarge { place: self.path_of(name).display().to_string(), size }
    }

    fn check(&self, name: &str, facts: &Facts) -> Result<()> {
        if facts.kind != Kind::File {
            return Err(not_a(Kind::File, facts.kind, &self.path_of(name)));
        }
        if facts.owner != self.user {
            let reason = Unsafe::OtherOwner { uid: facts.owner };
            return Err(Error::Unsafe { path: self.path_of(name), reason });
        }
        Ok(())
    }

    /// An error of the system with one of our files.
    pub(crate) fn error(&self, action: &'static str, name: &str, source: io::Error) -> Error {
        Error::Io { action, path: self.path_of(name), source }
    }
}

/// Reads a file of that size in one piece, and what came to it meanwhile, up to a limit.
fn read_whole(file: &File, size: u64) -> io::Result<Vec<u8>> {
    if size >= large_file::LONG {
        let read = large_file::read(size, |bytes, place| platform::read_at(file, bytes, place))?;
        match read {
            Some(bytes) => return Ok(bytes),
            // Some systems move on where they read.
            None => io::Seek::rewind(&mut { file })?,
        }
    }
    let mut bytes = Vec::new();
    let mut room = usize::try_from(size).map_err(|_| io::ErrorKind::FileTooLarge)?;
    while bytes.len() as u64 <= LARGEST_DOCUMENT {
        // Memory that cannot be had is an error, not the end of the program. One byte more than
        // there should be shows the end.
        bytes.try_reserve_exact(room + 1).map_err(|_| io::ErrorKind::OutOfMemory)?;
        match platform::read(file, &mut bytes) {
            Ok(0) => break,
            Ok(_) => room = if bytes.len() < bytes.capacity() { 0 } else { MORE },
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}

/// What is made room for at a time if a file grows while it is read.
const MORE: usize = 64 << 10;

/// Whether an error says that this file system does not know what it was asked for, such as a lock
/// or a second name.
pub(crate) fn is_unsupported(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported || platform::is_unsupported(error)
}

fn not_a(wanted: Kind, found: Kind, path: &Path) -> Error {
    let reason = Unsafe::WrongKind { found: found.name(), expected: wanted.name() };
    Error::Unsafe { path: path.to_owned(), reason }
}

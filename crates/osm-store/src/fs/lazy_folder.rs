//! A folder that may not be there yet, may be removed meanwhile, and is made when first needed.
//!
//! A folder is opened once and kept; before each use, one look at its name, from the root down, tells
//! whether it is still the same and still safe. So a long-lived program notices that its store was
//! moved, replaced by a link, or made writable for every user, and never works in a folder without a name.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::folder::Folder;
use crate::error::Result;

/// Where a folder is, or will be.
#[derive(Debug)]
pub(crate) struct LazyFolder {
    way: Way,
    folder: Mutex<Option<Arc<Folder>>>,
}

#[derive(Debug)]
enum Way {
    Root(PathBuf),
    Within(Arc<LazyFolder>, &'static str),
}

impl LazyFolder {
    /// The root of a store.
    pub(crate) fn root(path: &Path) -> Arc<Self> {
        Arc::new(Self { way: Way::Root(path.to_owned()), folder: Mutex::default() })
    }

    /// A folder in another.
    pub(crate) fn within(parent: &Arc<Self>, name: &'static str) -> Arc<Self> {
        Arc::new(Self { way: Way::Within(Arc::clone(parent), name), folder: Mutex::default() })
    }

    /// The folder, if it is there.
    pub(crate) fn existing(&self) -> Result<Option<Arc<Folder>>> {
        let parent = match &self.way {
            Way::Root(_) => None,
            Way::Within(parent, name) => match parent.existing()? {
                Some(parent) => Some((parent, *name)),
                None => return Ok(None),
            },
        };
        let mut slot = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current = match (slot.as_ref(), &parent) {
            (Some(folder), None) => folder.is_current_root()?,
            (Some(folder), Some((parent, name))) => folder.is_current_in(parent, name)?,
            (None, _) => false,
        };
        if !is_current {
            let found = match (&self.way, &parent) {
                (Way::Root(path), _) => Folder::open_root(path)?,
                (Way::Within(..), Some((parent, name))) => parent.open_folder(name)?,
                (Way::Within(..), None) => None,
            };
            *slot = found.map(Arc::new);
        }
        Ok(slot.clone())
    }

    /// The folder, made if need be.
    pub(crate) fn made(&self) -> Result<Arc<Folder>> {
        loop {
            if let Some(folder) = self.existing()? {
                return Ok(folder);
            }
            match &self.way {
                Way::Root(path) => Folder::make_root(path)?,
                Way::Within(parent, name) => parent.made()?.make_folder(name)?,
            }
        }
    }
}

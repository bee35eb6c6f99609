//! A folder that may not be there yet, may be removed meanwhile, and is made when first needed.
//!
//! The folder is opened once and kept; before each use, one look at the path tells whether it is
//! still the same and still safe. So a long-lived program notices that its store was moved,
//! replaced by a link, or opened to everybody, and never works in a folder that nobody sees.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::folder::{Folder, Strictness};
use crate::error::Result;

/// Where a folder is, or will be.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    /// The one that it lies in; none for the root.
    parent: Option<Arc<Place>>,
    folder: Mutex<Option<Arc<Folder>>>,
}

impl Place {
    /// The root of a store.
    pub(crate) fn root(path: &Path) -> Arc<Self> {
        Arc::new(Self { path: path.to_owned(), parent: None, folder: Mutex::default() })
    }

    /// A folder in another.
    pub(crate) fn within(parent: &Arc<Self>, name: &str) -> Arc<Self> {
        let path = parent.path.join(name);
        Arc::new(Self { path, parent: Some(Arc::clone(parent)), folder: Mutex::default() })
    }

    fn strictness(&self) -> Strictness {
        if self.parent.is_some() { Strictness::Ours } else { Strictness::Chosen }
    }

    /// The folder, if it is there.
    pub(crate) fn existing(&self) -> Result<Option<Arc<Folder>>> {
        let mut slot = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = slot.as_ref()
            && folder.is_current(self.strictness())?
        {
            return Ok(Some(Arc::clone(folder)));
        }
        *slot = Folder::open(&self.path, self.strictness())?.map(Arc::new);
        Ok(slot.clone())
    }

    /// The folder, made if need be.
    pub(crate) fn made(&self) -> Result<Arc<Folder>> {
        loop {
            if let Some(folder) = self.existing()? {
                return Ok(folder);
            }
            if let Some(parent) = &self.parent {
                let parent = parent.made()?;
                Folder::make(&self.path, false)?;
                parent.sync()?;
            } else {
                Folder::make(&self.path, true)?;
            }
        }
    }
}

//! Sessions of the upstream tool: found where that tool keeps them, and offered once.

use std::fs;
use std::path::PathBuf;

use osm_store::backend::Wait;
use osm_store::metadata::Metadata;

use crate::invocation::{Invocation, StoreName};

/// How the files of that tool end.
const ENDING: &str = ".session.json";

/// Sessions of the upstream tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamSessions {
    /// Where they are.
    pub folder: PathBuf,
    /// Their files, in the order of their names.
    pub files: Vec<PathBuf>,
}

/// The sessions of the upstream tool; `None` if there are none.
pub(crate) fn find(invocation: &Invocation) -> Option<UpstreamSessions> {
    let folder = invocation.world.upstream_sessions()?;
    let entries = fs::read_dir(&folder).ok()?.filter_map(Result::ok);
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.file_name().is_some_and(|it| it.to_string_lossy().ends_with(ENDING)))
        .collect();
    files.sort();
    (!files.is_empty()).then_some(UpstreamSessions { folder, files })
}

/// The sessions of the upstream tool, for the first caller that can note that it offers to import them.
/// All others get `None`: an offer that cannot be remembered would be repeated by every command.
#[must_use]
pub fn offer_upstream(invocation: &Invocation) -> Option<UpstreamSessions> {
    let found = find(invocation)?;
    remember(invocation).then_some(found)
}

/// Notes in the shared record that the import was offered; returns whether that is news.
pub(super) fn remember(invocation: &Invocation) -> bool {
    if invocation.store_name() != Ok(StoreName::Fs) {
        return false;
    }
    let Ok(store) = invocation.store() else { return false };
    let backend = store.backend();
    // Most of the time it was offered long ago, and that must cost no lock.
    if !Metadata::read(backend).is_ok_and(|it| it.metadata.upstream_offered.is_none()) {
        return false;
    }
    let mut is_news = false;
    let noted = backend.transact(&invocation.world.holder(), Wait::USUAL, &mut |transaction| {
        Metadata::change(transaction, |it| {
            is_news = it.upstream_offered.is_none();
            it.upstream_offered.get_or_insert_with(|| invocation.world.now());
        })?;
        Ok(())
    });
    noted.is_ok() && is_news
}

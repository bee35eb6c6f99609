//! What a session has collected for its prompt, without building it: for a glance.
//!
//! Nothing is read but the session and the sizes of files: no diff is taken, no command runs, no folder is
//! searched, no token is counted. So the number of tokens is an estimate, and says so.

use std::path::{Path, PathBuf};

use osm_context::{Item, Kind};
use osm_store::layout::Layout;
use serde::Serialize;

use super::Error;
use super::items::ITEMS;
use crate::invocation::{Invocation, StoreName};

/// A larger session is not read for a glance.
const LARGEST: u64 = 16 << 20;

/// How many bytes a token has in ordinary text and code.
const BYTES_IN_TOKEN: u64 = 4;

/// The items of a session, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Collected {
    /// Files.
    pub files: usize,
    /// Folders; their files are found when the prompt is built.
    pub folders: usize,
    /// Notes.
    pub notes: usize,
    /// Diffs.
    pub diffs: usize,
    /// Commands, which run when the prompt is built.
    pub commands: usize,
    /// Files that no longer exist.
    pub missing: usize,
    /// Bytes of the files, notes and diffs that have a size now.
    pub bytes: u64,
    /// Whether all items have a size now; without that there is more to come.
    pub is_complete: bool,
    /// The tokens of these bytes, estimated by their number.
    pub estimated_tokens: u64,
    /// The number of tokens above which osm warns (`prompt.budget`).
    pub budget: Option<u64>,
}

/// Counts the items of this session; `None` if it has none, or is in memory.
pub fn collected(invocation: &Invocation) -> Result<Option<Collected>, Error> {
    if invocation.store_name()? != StoreName::Fs {
        return Ok(None);
    }
    let id = invocation.session_id();
    let file = Layout::new(&invocation.home()?).document(id);
    let Ok(metadata) = file.symlink_metadata() else { return Ok(None) };
    if metadata.len() > LARGEST {
        return Ok(None);
    }
    let session = invocation.store_opener()?()?.read(id)?;
    let corrupt = |damage| session.corrupt(damage);
    let mut items = Vec::new();
    for (_, zone) in session.state.entries().map_err(corrupt)?.into_iter().filter(is("shared")) {
        for (_, value) in zone.entries().map_err(corrupt)?.into_iter().filter(is(ITEMS)) {
            items = serde_json::from_value(value.value().map_err(corrupt)?)?;
        }
    }
    let folder = invocation.folder()?;
    let budget = invocation.settings.prompting.budget;
    Ok((!items.is_empty()).then(|| Collected { budget, ..count(&items, &folder) }))
}

fn is<T>(name: &str) -> impl Fn(&(String, T)) -> bool {
    move |entry| entry.0 == name
}

fn count(items: &[Item], folder: &Path) -> Collected {
    let mut counted = Collected { is_complete: true, ..Collected::default() };
    for item in items {
        match item.kind() {
            Kind::File(place) => {
                let path = place.path.map_or_else(|| PathBuf::from(item.label()), PathBuf::from);
                match folder.join(path).metadata() {
                    Ok(file) if file.is_dir() => {
                        counted.folders += 1;
                        counted.is_complete = false;
                    }
                    Ok(file) => {
                        counted.files += 1;
                        counted.bytes = counted.bytes.saturating_add(file.len());
                    }
                    Err(_) => counted.missing += 1,
                }
            }
            Kind::Note(text) => {
                counted.notes += 1;
                counted.bytes += text.len() as u64;
            }
            Kind::Diff(text) => {
                counted.diffs += 1;
                counted.bytes += text.len() as u64;
            }
            Kind::LazyDiff { .. } => {
                counted.diffs += 1;
                counted.is_complete = false;
            }
            Kind::LazyRun { .. } => {
                counted.commands += 1;
                counted.is_complete = false;
            }
            Kind::FailedDiff(_) | Kind::Unknown(_) => {}
        }
    }
    counted.estimated_tokens = counted.bytes.div_ceil(BYTES_IN_TOKEN);
    counted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "1234567").unwrap();
        std::fs::create_dir(folder.path().join("b")).unwrap();
        let items = [
            Item::file(1, "a", "a"),
            Item::file(2, "b", "b"),
            Item::file(3, "gone", "gone"),
            Item::note(4, "note", "12"),
            Item::lazy_diff(5, "diff", &["HEAD"], "."),
            Item::lazy_run(6, "run", &["false"], "."),
        ];
        let counted = count(&items, folder.path());
        let expected = Collected {
            files: 1,
            folders: 1,
            notes: 1,
            diffs: 1,
            commands: 1,
            missing: 1,
            bytes: 9,
            is_complete: false,
            estimated_tokens: 3,
            budget: None,
        };
        assert_eq!(counted, expected);
        assert!(count(&items[..1], folder.path()).is_complete);
    }
}

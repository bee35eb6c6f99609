//! The items of a session: reading them, and adding to them without reusing an id.

use std::collections::HashSet;

use osm_context::{Found, Item, Kind, Skipped};
use osm_store::{Key, Session};
use serde_json::json;

use super::{Added, Builder, Error, NewItem};

/// The key of the items that all modes share.
pub(super) const ITEMS: &str = "contextItems";

/// The key of the highest id that an item ever had.
const HIGHEST_ID: &str = "contextHighestId";

/// The items of a session, and additions that are not stored yet.
pub(super) struct Items {
    pub(super) list: Vec<Item>,
    /// The next id to give.
    next: i64,
}

/// What is to be added, with the paths that were found.
pub(super) enum Fresh<'a> {
    Note(&'a str),
    Diff(&'a [String]),
    Files(Vec<Found>),
}

impl<'a> Fresh<'a> {
    /// Finds what a new item names; adds to `skipped` what its patterns skip.
    pub(super) fn find(
        new: &'a NewItem,
        builder: &Builder,
        skipped: &mut Vec<Skipped>,
    ) -> Result<Self, osm_context::Error> {
        Ok(match new {
            NewItem::Note(text) => Self::Note(text),
            NewItem::Diff(arguments) => {
                let setting = builder.setting();
                osm_context::git::check(arguments, setting.folder, setting)?;
                Self::Diff(arguments)
            }
            NewItem::Path(path) => {
                let resolved = osm_context::resolve(path, builder.setting())?;
                skipped.extend(resolved.skipped);
                Self::Files(resolved.found)
            }
        })
    }
}

impl Items {
    pub(super) fn read(session: &Session) -> Result<Self, Error> {
        let stored = session.get(&Key::Shared(ITEMS.into()))?.unwrap_or_else(|| json!([]));
        let list: Vec<Item> = serde_json::from_value(stored)?;
        Ok(Self { list, next: 0 })
    }

    /// Reserves the ids for what will be added: another process may add items at the same time.
    pub(super) fn reserve(&mut self, session: &mut Session, fresh: &[Fresh]) -> Result<(), Error> {
        let count = self.count_new(fresh);
        if count == 0 {
            return Ok(());
        }
        let highest = self.list.iter().filter_map(Item::id).max().unwrap_or(0);
        let floor = u64::try_from(highest).unwrap_or(0);
        let last = session.reserve(&Key::Shared(HIGHEST_ID.into()), floor, count)?;
        self.next = i64::try_from(last - count + 1).unwrap_or(i64::MAX);
        Ok(())
    }

    /// How many items [`Items::add`] will make.
    fn count_new(&self, fresh: &[Fresh]) -> u64 {
        let mut paths = HashSet::new();
        let mut is_new = |found: &&Found| {
            self.id_of(&found.path, &found.label).is_none() && paths.insert(found.path.clone())
        };
        let mut count = |fresh: &Fresh| match fresh {
            Fresh::Note(_) | Fresh::Diff(_) => 1,
            Fresh::Files(found) => found.iter().filter(&mut is_new).count() as u64,
        };
        fresh.iter().map(&mut count).sum()
    }

    pub(super) fn store(&self, session: &mut Session) -> Result<(), Error> {
        session.set(Key::Shared(ITEMS.into()), json!(self.list))?;
        Ok(())
    }

    /// Adds an item, or one for each file. A file that is there already is not added again.
    pub(super) fn add(&mut self, fresh: Fresh, builder: &Builder, added: &mut Added) {
        match fresh {
            Fresh::Note(text) => {
                let id = self.push(|id| Item::note(id, "note", text));
                added.ids.push(id);
            }
            Fresh::Diff(arguments) => {
                let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
                let folder = builder.setting().folder.display().to_string();
                let label = label(arguments);
                let id = self.push(|id| Item::lazy_diff(id, &label, &words, &folder));
                added.ids.push(id);
            }
            Fresh::Files(found) => {
                for found in found {
                    if let Some(id) = self.id_of(&found.path, &found.label) {
                        added.known.push(id);
                    } else {
                        added.ids.push(self.push(|id| Item::found(id, &found)));
                    }
                }
            }
        }
    }

    fn push(&mut self, item: impl FnOnce(i64) -> Item) -> i64 {
        let id = self.next;
        self.next += 1;
        self.list.push(item(id));
        id
    }

    /// The id of a file's item. An item of another tool may have a label only.
    fn id_of(&self, path: &str, label: &str) -> Option<i64> {
        let is_it = |item: &&Item| match item.kind() {
            Kind::File(place) => match place.path {
                Some(known) => known == path,
                None => item.label() == label,
            },
            _ => false,
        };
        self.list.iter().find(is_it).and_then(Item::id)
    }
}

/// The label of a diff: its command line.
fn label(arguments: &[String]) -> String {
    let words = arguments.iter().map(|word| osm_script::words::quote(word));
    std::iter::once("git diff".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

//! The items of a session: reading them, and adding to them without reusing an id.

use osm_context::{Item, Kind, Resolved};
use osm_store::{Key, Session};
use serde_json::{Value, json};

use super::{Added, Builder, Error, NewItem};

/// The key of the items that all modes share.
const ITEMS: &str = "contextItems";

/// The key of the highest id that an item ever had.
const HIGHEST_ID: &str = "contextHighestId";

/// The items of a session, and additions that are not stored yet.
pub(super) struct Items {
    pub(super) list: Vec<Item>,
    highest: i64,
}

impl Items {
    pub(super) fn read(session: &Session) -> Result<Self, Error> {
        let stored = session.get(&Key::Shared(ITEMS.into()))?.unwrap_or_else(|| json!([]));
        let list: Vec<Item> = serde_json::from_value(stored)?;
        let counted = session.get(&Key::Shared(HIGHEST_ID.into()))?;
        let counted = counted.as_ref().and_then(Value::as_i64);
        let highest = list.iter().filter_map(Item::id).chain(counted).max().unwrap_or(0).max(0);
        Ok(Self { list, highest })
    }

    pub(super) fn store(&self, session: &mut Session) -> Result<(), Error> {
        session.set(Key::Shared(ITEMS.into()), json!(self.list))?;
        session.set(Key::Shared(HIGHEST_ID.into()), json!(self.highest))?;
        Ok(())
    }

    /// Adds an item. A file that is there already is not added again.
    pub(super) fn add(
        &mut self,
        new: &NewItem,
        builder: &Builder,
        added: &mut Added,
    ) -> Result<(), osm_context::Error> {
        match new {
            NewItem::Note(text) => {
                let id = self.push(|id| Item::note(id, "note", text));
                added.ids.push(id);
            }
            NewItem::Diff(arguments) => {
                let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
                let folder = builder.setting().folder.display().to_string();
                let label = label(arguments);
                let id = self.push(|id| Item::lazy_diff(id, &label, &words, &folder));
                added.ids.push(id);
            }
            NewItem::Path(path) => {
                let Resolved { found, skipped } = osm_context::resolve(path, builder.setting())?;
                added.skipped.extend(skipped);
                for found in found {
                    if let Some(id) = self.id_of(&found.path, &found.label) {
                        added.known.push(id);
                    } else {
                        let file = |id| Item::file(id, &found.label, &found.path);
                        added.ids.push(self.push(file));
                    }
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, item: impl FnOnce(i64) -> Item) -> i64 {
        self.highest += 1;
        self.list.push(item(self.highest));
        self.highest
    }

    /// The id of a file's item. An item of another tool may have a label only.
    fn id_of(&self, path: &str, label: &str) -> Option<i64> {
        let is_it = |item: &&Item| match item.kind() {
            Kind::File { path: Some(known) } => known == path,
            Kind::File { path: None } => item.label() == label,
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

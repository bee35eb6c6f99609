//! The files, notes, diffs and commands that the user collected, as a session stores them.
//!
//! An item keeps the JSON that it was read from. Fields that another program added, types of a later
//! version and mistakes of a script are written back unchanged. The content is checked only when the
//! item is used.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::resolve::Found;

/// One thing in the context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Item(Value);

/// What an item stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file or a folder.
    File(Place),
    /// Text of the user's own.
    Note(String),
    /// A diff that was taken already.
    Diff(String),
    /// The complaint of a diff that could not be taken.
    FailedDiff(String),
    /// A diff that is taken when the prompt is built.
    LazyDiff {
        /// What is compared: arguments of `git diff`.
        arguments: Vec<String>,
        /// In which folder.
        folder: Option<String>,
    },
    /// A command that is run when the prompt is built.
    LazyRun {
        /// The program and its arguments.
        command: Vec<String>,
        /// In which folder.
        folder: Option<String>,
    },
    /// Nothing that this version understands, and why.
    Unknown(String),
}

/// Where a file or a folder is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Its path; without one, its label is it.
    pub path: Option<String>,
    /// Where the path led when it was added, by no link. If it leads elsewhere now, another program has
    /// put a link in the place of what was added.
    pub real: Option<String>,
}

impl Item {
    /// A file or a folder.
    #[must_use]
    pub fn file(id: i64, label: &str, path: &str) -> Self {
        Self(json!({ "id": id, "type": "file", "label": label, "path": path }))
    }

    /// A file or a folder that was found.
    #[must_use]
    pub fn found(id: i64, found: &Found) -> Self {
        let Found { path, label, real, .. } = found;
        Self(json!({ "id": id, "type": "file", "label": label, "path": path, "real": real }))
    }

    /// A note.
    #[must_use]
    pub fn note(id: i64, label: &str, text: &str) -> Self {
        Self(json!({ "id": id, "type": "note", "label": label, "payload": text }))
    }

    /// A diff that was taken already.
    #[must_use]
    pub fn diff(id: i64, label: &str, text: &str) -> Self {
        Self(json!({ "id": id, "type": "diff", "label": label, "payload": text }))
    }

    /// A diff that is taken when the prompt is built.
    #[must_use]
    pub fn lazy_diff(id: i64, label: &str, arguments: &[&str], folder: &str) -> Self {
        let kind = "lazy-diff";
        Self(json!({
            "id": id, "type": kind, "label": label, "payload": arguments, "folder": folder,
        }))
    }

    /// A command that is run when the prompt is built.
    #[must_use]
    pub fn lazy_run(id: i64, label: &str, command: &[&str], folder: &str) -> Self {
        let kind = "lazy-exec";
        Self(json!({
            "id": id, "type": kind, "label": label, "payload": command, "folder": folder,
        }))
    }

    /// Its number, if it has one.
    #[must_use]
    pub fn id(&self) -> Option<i64> {
        self.field("id")?.as_i64()
    }

    /// The word for its kind; empty if it has none.
    #[must_use]
    pub fn type_name(&self) -> &str {
        self.text("type").unwrap_or_default()
    }

    /// How it is called; empty if it is not.
    #[must_use]
    pub fn label(&self) -> &str {
        self.text("label").unwrap_or_default()
    }

    /// How people know an item that nothing can be made of.
    pub(crate) fn name(&self) -> String {
        match (self.label(), self.id()) {
            ("", Some(id)) => format!("item {id}"),
            ("", None) => "an item".to_owned(),
            (label, _) => label.to_owned(),
        }
    }

    /// What it stands for.
    #[must_use]
    pub fn kind(&self) -> Kind {
        let folder = || self.text("folder").map(str::to_owned);
        let text = |kind: fn(String) -> Kind| match self.text("payload") {
            Some(text) => kind(text.to_owned()),
            None => Kind::Unknown("payload is not a text".into()),
        };
        match self.type_name() {
            "file" => match self.text("path").filter(|path| !path.is_empty()) {
                // Nothing, as a path, would be the folder that we are in.
                None if self.label().is_empty() => {
                    Kind::Unknown("neither a path nor a label".into())
                }
                path => {
                    let real = self.text("real").map(str::to_owned);
                    Kind::File(Place { path: path.map(str::to_owned), real })
                }
            },
            "note" => text(Kind::Note),
            "diff" => text(Kind::Diff),
            "diff-error" => text(Kind::FailedDiff),
            "lazy-diff" => match self.words() {
                Some(arguments) => Kind::LazyDiff { arguments, folder: folder() },
                None => Kind::Unknown("payload is not a list of arguments".into()),
            },
            "lazy-exec" => match self.words() {
                Some(command) if !command.is_empty() => Kind::LazyRun { command, folder: folder() },
                _ => Kind::Unknown("payload is not a command with arguments".into()),
            },
            "" => Kind::Unknown("no type".into()),
            other => Kind::Unknown(format!("unsupported item type: {other}")),
        }
    }

    fn field(&self, name: &str) -> Option<&Value> {
        self.0.as_object().and_then(|fields: &Map<String, Value>| fields.get(name))
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.field(name)?.as_str()
    }

    /// The payload as a list of words; none at all is an empty one.
    fn words(&self) -> Option<Vec<String>> {
        match self.field("payload") {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(Value::Array(words)) => {
                words.iter().map(|word| word.as_str().map(str::to_owned)).collect()
            }
            Some(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_understood_survives() {
        let text = r#"[{"id":9,"type":"image","zoom":2.5,"label":null},7,{"type":"note"},
            {"type":"lazy-exec","payload":["ls",1]},{"type":"lazy-exec","payload":[]}]"#;
        let before: Value = serde_json::from_str(text).unwrap();
        let items: Vec<Item> = serde_json::from_value(before.clone()).unwrap();
        assert_eq!(serde_json::to_value(&items).unwrap(), before);
        assert_eq!((items[0].id(), items[0].label()), (Some(9), ""));
        for item in items {
            assert!(matches!(item.kind(), Kind::Unknown(_)), "{item:?}");
        }
    }

    #[test]
    fn what_is_made_is_understood() {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let kinds = [
            (Item::file(1, "a", "/a"), Kind::File(Place { path: Some("/a".into()), real: None })),
            (Item::note(2, "note", "text"), Kind::Note("text".into())),
            (Item::diff(3, "d", "text"), Kind::Diff("text".into())),
            (
                Item::lazy_diff(4, "d", &["main"], "/a"),
                Kind::LazyDiff { arguments: words(&["main"]), folder: Some("/a".into()) },
            ),
            (
                Item::lazy_run(5, "ls", &["ls", "-l"], "/a"),
                Kind::LazyRun { command: words(&["ls", "-l"]), folder: Some("/a".into()) },
            ),
        ];
        for (item, kind) in kinds {
            assert_eq!(item.kind(), kind);
        }
        let upstream: Item =
            serde_json::from_str(r#"{"id":1,"type":"lazy-diff","label":"git diff"}"#).unwrap();
        assert_eq!(upstream.kind(), Kind::LazyDiff { arguments: Vec::new(), folder: None });
    }
}

//! Changes in the text of a JSON file that keep every other byte.
//!
//! The settings of agents are files that people write: with comments, an order and an indentation of their
//! own. So osm never writes such a file from parsed values. It finds the place in the text, inserts there, and
//! returns what it inserted, so that it can be taken out again.

mod node;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Value, json};

pub(crate) use self::node::{Comments, Invalid};
use self::node::{Kind, Node};

/// One change in a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Edit {
    /// Where it starts, in bytes, after all changes before it were made.
    pub(crate) offset: usize,
    /// What was inserted there.
    pub(crate) inserted: String,
    /// What was replaced by it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) removed: String,
}

/// A text that is being changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    /// The text.
    pub(crate) text: String,
    /// How it came from the text before, in order.
    pub(crate) edits: Vec<Edit>,
}

impl Draft {
    /// A text without changes.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), edits: Vec::new() }
    }

    /// Inserts a text.
    pub(crate) fn insert(&mut self, offset: usize, inserted: impl Into<String>) {
        self.replace(offset, 0, inserted);
    }

    /// Replaces bytes by a text. Does nothing if both are empty.
    pub(crate) fn replace(&mut self, offset: usize, length: usize, inserted: impl Into<String>) {
        let inserted = inserted.into();
        let removed = self.text.get(offset..offset + length).unwrap_or_default().to_owned();
        if inserted == removed {
            return;
        }
        self.text.replace_range(offset..offset + removed.len(), &inserted);
        self.edits.push(Edit { offset, inserted, removed });
    }

    /// Appends an element to the list at `path`, which is created if it is missing.
    pub(crate) fn append(
        &mut self,
        comments: Comments,
        path: &[&str],
        element: &Value,
    ) -> Result<(), Invalid> {
        let Some(list) = self.find_or_add(comments, path, &json!([element]))? else {
            return Ok(());
        };
        if !matches!(list.kind, Kind::Array(_)) {
            return Err(wrong_kind(path, path.len(), "a list"));
        }
        self.add(&list, None, element);
        Ok(())
    }

    /// Sets the value at `path`, unless there is one.
    pub(crate) fn put(
        &mut self,
        comments: Comments,
        path: &[&str],
        value: &Value,
    ) -> Result<(), Invalid> {
        self.find_or_add(comments, path, value).map(drop)
    }

    /// The value at `path`; `None` if it was missing and is this one now.
    fn find_or_add(
        &mut self,
        comments: Comments,
        path: &[&str],
        value: &Value,
    ) -> Result<Option<Node>, Invalid> {
        if self.text.trim_start_matches('\u{feff}').trim().is_empty() {
            let whole = nested(path, value);
            let (unit, end) = ("  ", line_end(&self.text));
            let whole = rendered(&whole, unit, end, "") + end;
            self.insert(self.text.len(), whole);
            return Ok(None);
        }
        let root = Node::parse(&self.text, comments)?;
        let mut node = &root;
        for (depth, key) in path.iter().enumerate() {
            let Kind::Object(members) = &node.kind else {
                return Err(wrong_kind(path, depth, "an object"));
            };
            // As in every agent, the last of two members with one name counts.
            let Some(member) = members.iter().rev().find(|it| it.key == *key) else {
                let value = nested(path.get(depth + 1..).unwrap_or_default(), value);
                let node = node.clone();
                self.add(&node, Some(key), &value);
                return Ok(None);
            };
            node = &member.value;
        }
        Ok(Some(node.clone()))
    }

    /// Whether the list at `path` has an element with this value.
    pub(crate) fn contains(
        &self,
        comments: Comments,
        path: &[&str],
        element: &Value,
    ) -> Result<bool, Invalid> {
        if self.text.trim_start_matches('\u{feff}').trim().is_empty() {
            return Ok(false);
        }
        let root = Node::parse(&self.text, comments)?;
        let list = path.iter().try_fold(&root, |node, key| node.member(key));
        let Some(Kind::Array(items)) = list.map(|list| &list.kind) else { return Ok(false) };
        // An element that osm wrote has no comments.
        let value =
            |item: &Node| serde_json::from_str::<Value>(self.text.get(item.span.clone())?).ok();
        Ok(items.iter().any(|item| value(item).as_ref() == Some(element)))
    }

    /// Adds a member or an element at the end of an object or a list.
    fn add(&mut self, node: &Node, key: Option<&str>, value: &Value) {
        let end = line_end(&self.text);
        let unit = unit(&self.text);
        let outer = line_indent(&self.text, node.span.start);
        let inner = node
            .first()
            .and_then(|first| own_line_indent(&self.text, first))
            .map_or_else(|| format!("{outer}{unit}"), str::to_owned);
        let is_flat = !self.text.trim().contains('\n');
        let name = key.map(|key| format!("{}: ", Value::from(key))).unwrap_or_default();
        let (gap, item) = if is_flat {
            (String::new(), format!("{name}{value}"))
        } else {
            (format!("{end}{inner}"), format!("{name}{}", rendered(value, &unit, end, &inner)))
        };
        match node.last() {
            None => {
                let content = self.text.get(node.span.start + 1..node.span.end - 1);
                let closes = if is_flat || content.is_some_and(|it| it.contains('\n')) {
                    String::new()
                } else {
                    format!("{end}{outer}")
                };
                self.insert(node.span.start + 1, format!("{gap}{item}{closes}"));
            }
            Some(_) if let Some(comma) = node.comma => {
                self.insert(comma + 1, format!("{gap}{item}"));
            }
            Some(last) => {
                // A comment that ends the line of the last item stays there.
                let after = last + node::comment_on_line(&self.text, last);
                if after == last {
                    self.insert(last, format!(",{gap}{item}"));
                } else {
                    self.insert(last, ",");
                    let gap = if gap.is_empty() { " ".to_owned() } else { gap };
                    self.insert(after + 1, format!("{gap}{item}"));
                }
            }
        }
    }

    /// Removes the member at `path` if it has this value, and the object around it if that is then empty and
    /// `with_parent` says so.
    pub(crate) fn remove_member(
        &mut self,
        comments: Comments,
        path: &[&str],
        value: &Value,
        with_parent: bool,
    ) -> Result<(), Invalid> {
        let root = Node::parse(&self.text, comments)?;
        let [outer @ .., key] = path else { return Ok(()) };
        let Some(parent) = outer.iter().try_fold(&root, |node, key| node.member(key)) else {
            return Ok(());
        };
        let Some(member) = parent.member(key) else { return Ok(()) };
        let text = self.text.get(member.span.clone()).unwrap_or_default();
        if serde_json::from_str::<Value>(text).ok().as_ref() != Some(value) {
            return Ok(());
        }
        let cut = match outer {
            [around @ .., name] if with_parent && parent.spans().len() == 1 => around
                .iter()
                .try_fold(&root, |node, key| node.member(key))
                .and_then(|it| it.cut_member(name)),
            _ => parent.cut_member(key),
        };
        if let Some((start, end)) = cut {
            self.replace(start, end - start, "");
        }
        Ok(())
    }

    /// Removes every element of the lists in `hooks` that `is_ours`, and the lists that are then empty.
    pub(crate) fn remove_hooks(
        &mut self,
        comments: Comments,
        is_ours: fn(&str) -> bool,
    ) -> Result<(), Invalid> {
        loop {
            let root = Node::parse(&self.text, comments)?;
            let Some((start, end)) = node::removable(&self.text, &root, is_ours) else {
                return Ok(());
            };
            self.replace(start, end - start, "");
        }
    }
}

/// The text before the changes, if `text` is what they led to.
pub(crate) fn undone(text: &str, edits: &[Edit]) -> Option<String> {
    let mut text = text.to_owned();
    for edit in edits.iter().rev() {
        let range = edit.offset..edit.offset.checked_add(edit.inserted.len())?;
        (text.get(range.clone())? == edit.inserted).then_some(())?;
        text.replace_range(range, &edit.removed);
    }
    Some(text)
}

/// The text without what was inserted, if every inserted text is still there exactly once.
pub(crate) fn withdrawn(text: &str, edits: &[Edit]) -> Option<String> {
    let mut text = text.to_owned();
    for edit in edits.iter().rev() {
        let mut places = text.match_indices(&edit.inserted).map(|(at, _)| at);
        let at = places.next().filter(|_| places.next().is_none() && !edit.inserted.is_empty())?;
        text.replace_range(at..at + edit.inserted.len(), &edit.removed);
    }
    Some(text)
}

/// Whether a text is JSON.
pub(crate) fn check(text: &str, comments: Comments) -> Result<(), Invalid> {
    Node::parse(text, comments).map(drop)
}

/// A value inside objects: what the value at `path` looks like.
fn nested(path: &[&str], value: &Value) -> Value {
    path.iter().rev().fold(value.clone(), |value, key| {
        let mut object = serde_json::Map::new();
        object.insert((*key).to_owned(), value);
        object.into()
    })
}

fn wrong_kind(path: &[&str], depth: usize, expected: &str) -> Invalid {
    let name = path.get(..depth).unwrap_or_default().join(".");
    let name = if name.is_empty() { "the file".into() } else { format!("`{name}`") };
    Invalid { line: None, reason: format!("{name} must be {expected}") }
}

/// A value over several lines.
fn rendered(value: &Value, unit: &str, end: &str, indent: &str) -> String {
    let mut bytes = Vec::new();
    let formatter = PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = Serializer::with_formatter(&mut bytes, formatter);
    value.serialize(&mut serializer).expect("a value is JSON");
    let text = String::from_utf8(bytes).expect("JSON is UTF-8");
    text.replace('\n', &format!("{end}{indent}"))
}

/// How the lines of a text end.
fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// One step of indentation: that of the first line that has one.
fn unit(text: &str) -> String {
    let indents = text.lines().map(|line| line.get(..indent_length(line)).unwrap_or_default());
    indents.into_iter().find(|it| !it.is_empty()).unwrap_or("  ").to_owned()
}

fn indent_length(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// The indentation of the line that contains a place.
fn line_indent(text: &str, at: usize) -> String {
    let start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |it| it + 1);
    let line = text.get(start..).unwrap_or_default();
    line.get(..indent_length(line)).unwrap_or_default().to_owned()
}

/// The indentation of an item that begins its line.
fn own_line_indent(text: &str, at: usize) -> Option<&str> {
    let before = text.get(..at)?;
    let indent = before.get(before.rfind('\n')? + 1..)?;
    indent.chars().all(|c| c == ' ' || c == '\t').then_some(indent)
}

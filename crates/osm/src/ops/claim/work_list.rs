//! What can be claimed, from the text of a list: lines, a Markdown checklist, or JSON.
//!
//! A name in a plain list is its whole line, so nothing is guessed. Of a task in a checklist only the first
//! word is the name, and of a JSON object one field: two tasks of one name are refused there, because the
//! second one could never be claimed, and the wrong field shows itself so.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

/// A name that can be claimed, and its place in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) place: Place,
    pub(super) name: Vec<u8>,
}

/// A place in a list, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Line(usize),
    /// In a JSON array.
    Item(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(number) => write!(f, "line {number}"),
            Self::Item(number) => write!(f, "item {number}"),
        }
    }
}

/// Why a list has no meaning, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Malformed {
    pub(super) place: Place,
    pub(super) reason: Reason,
}

/// Why an entry is no candidate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Reason {
    #[error("invalid JSON: {0}")]
    Json(String),
    #[error("not a JSON object")]
    NotAnObject,
    #[error("the object has no field {0:?}")]
    NoField(String),
    #[error("the field {0:?} is neither a text nor a whole number")]
    NoName(String),
    #[error("the list is JSON, and no field is named")]
    NoFieldNamed,
    #[error("the task has no name")]
    NoTask,
    #[error("{name:?} is also on {first}")]
    Repeated { name: String, first: Place },
}

impl Reason {
    /// What to do about it.
    pub(super) fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoFieldNamed => Some("name the field that has the resource: --field id"),
            Self::NoField(_) | Self::NoName(_) => Some("name another field: --field NAME"),
            Self::NoTask => Some("begin the task with a name: - [ ] TASK-7 text"),
            Self::Repeated { .. } => {
                Some("give every task a name of its own: its first word, or the field of --field")
            }
            Self::Json(_) | Self::NotAnObject => None,
        }
    }
}

type Entries = Result<Vec<Entry>, Malformed>;

/// The entries of a list in their order. With a field it is JSON: an array of objects, or an object on each line.
/// Otherwise it is a checklist if it has a checkbox, and else one name on each line.
pub(super) fn parse(text: &[u8], field: Option<&str>) -> Entries {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let Some(field) = field else {
        if is_json(text) {
            return Err(at(Place::Line(1), Reason::NoFieldNamed));
        }
        let tasks = tasks(text);
        return if tasks.is_empty() { Ok(names(text)) } else { checklist(&tasks) };
    };
    let objects =
        if text.trim_ascii_start().starts_with(b"[") { array(text) } else { json_lines(text) };
    let named = objects?.into_iter().map(|(place, value)| {
        let name = name(&value, field).map_err(|reason| at(place, reason))?;
        Ok(Entry { place, name: name.into_bytes() })
    });
    distinct(named.collect::<Entries>()?)
}

fn at(place: Place, reason: Reason) -> Malformed {
    Malformed { place, reason }
}

fn lines(text: &[u8]) -> impl Iterator<Item = (Place, &[u8])> {
    let lines = text.split(|byte| *byte == b'\n');
    lines
        .zip(1..)
        .map(|(line, number)| (Place::Line(number), line.strip_suffix(b"\r").unwrap_or(line)))
}

/// Whether a text that is read as lines is JSON.
fn is_json(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    match text.first() {
        Some(b'[') => serde_json::from_slice::<Vec<IgnoredAny>>(text).is_ok(),
        Some(b'{') => {
            let mut values = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
            matches!(values.next(), Some(Ok(_)))
        }
        _ => false,
    }
}

fn names(text: &[u8]) -> Vec<Entry> {
    let lines = lines(text).filter(|(_, line)| !line.is_empty());
    lines.map(|(place, line)| Entry { place, name: line.to_owned() }).collect()
}

/// A line of a checklist.
struct Task<'a> {
    place: Place,
    is_done: bool,
    text: &'a [u8],
}

/// The checkboxes of a Markdown text, but not those in its blocks of code.
fn tasks(text: &[u8]) -> Vec<Task<'_>> {
    let (mut tasks, mut is_code) = (Vec::new(), false);
    for (place, line) in lines(text) {
        let line = line.trim_ascii_start();
        is_code ^= line.starts_with(b"```") || line.starts_with(b"~~~");
        let (is_done, text) = match after_bullet(line).filter(|_| !is_code) {
            Some([b'[', b' ', b']', text @ ..]) => (false, text),
            Some([b'[', b'x' | b'X', b']', text @ ..]) => (true, text),
            _ => continue,
        };
        if text.first().is_none_or(u8::is_ascii_whitespace) {
            tasks.push(Task { place, is_done, text });
        }
    }
    tasks
}

/// What follows the bullet or the number of an entry of a Markdown list.
fn after_bullet(line: &[u8]) -> Option<&[u8]> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let ((0, [b'-' | b'*' | b'+', rest @ ..]) | (1.., [b'.' | b')', rest @ ..])) =
        (digits, &line[digits..])
    else {
        return None;
    };
    rest.first().is_some_and(u8::is_ascii_whitespace).then(|| rest.trim_ascii_start())
}

/// The tasks that are not done. The first word of a task is its name, without emphasis and a colon.
fn checklist(tasks: &[Task]) -> Entries {
    let is_blank = |byte: &u8| byte.is_ascii_whitespace();
    let named = tasks.iter().filter(|task| !task.is_done).map(|task| {
        let word = task.text.trim_ascii_start().split(is_blank).next().unwrap_or_default();
        let name = without_marks(word);
        match name {
            [] => Err(at(task.place, Reason::NoTask)),
            name => Ok(Entry { place: task.place, name: name.to_owned() }),
        }
    });
    distinct(named.collect::<Entries>()?)
}

fn without_marks(mut word: &[u8]) -> &[u8] {
    while let [rest @ .., b'*' | b'`' | b':'] = word {
        word = rest;
    }
    while let [b'*' | b'`', rest @ ..] = word {
        word = rest;
    }
    word
}

/// The values of an array.
fn array(text: &[u8]) -> Result<Vec<(Place, Value)>, Malformed> {
    let values: Vec<Value> = serde_json::from_slice(text)
        .map_err(|error| at(Place::Line(error.line()), Reason::Json(reason_of(&error))))?;
    Ok(values.into_iter().zip(1..).map(|(value, number)| (Place::Item(number), value)).collect())
}

/// The values on the lines that are not blank.
fn json_lines(text: &[u8]) -> Result<Vec<(Place, Value)>, Malformed> {
    let lines = lines(text).filter(|(_, line)| !line.trim_ascii().is_empty());
    let value = |(place, line)| match serde_json::from_slice(line) {
        Ok(value) => Ok((place, value)),
        Err(error) => Err(at(place, Reason::Json(reason_of(&error)))),
    };
    lines.map(value).collect()
}

/// What is wrong, with the column; the line is that of the place.
fn reason_of(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or_default();
    format!("{reason} at column {}", error.column())
}

fn name(value: &Value, field: &str) -> Result<String, Reason> {
    let object: &Map<_, _> = value.as_object().ok_or(Reason::NotAnObject)?;
    match object.get(field).ok_or_else(|| Reason::NoField(field.to_owned()))? {
        Value::String(name) => Ok(name.clone()),
        Value::Number(number) if !number.is_f64() => Ok(number.to_string()),
        _ => Err(Reason::NoName(field.to_owned())),
    }
}

/// The entries, if no two have one name.
fn distinct(entries: Vec<Entry>) -> Entries {
    let mut first = BTreeMap::new();
    for Entry { place, name } in &entries {
        if let Some(first) = first.insert(name, *place) {
            let name = String::from_utf8_lossy(name).into_owned();
            return Err(at(*place, Reason::Repeated { name, first }));
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests;

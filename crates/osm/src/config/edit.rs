//! Changes a setting in the file and keeps every other byte of it.
//!
//! The parser gives the position of each value, and only these bytes are replaced: comments, order,
//! spacing, quotes and line endings stay. Every result is parsed again before it is returned, so a
//! mistake here is an error and never a broken file.

mod list;

use std::ops::Range;

use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike};

use super::file::parse;
use super::identity;
use super::keys::Value;
use super::reading::{Problem, find};

/// The text with a setting set.
pub(crate) fn set(text: &str, name: &str, value: &Value) -> Result<String, Problem> {
    let edited = place(text, name, value)?;
    let holds = find(parse(&edited)?.as_table(), name).is_some_and(|item| match value {
        // The order of names has no meaning.
        Value::Names(names) => identity::names(item).is_ok_and(|read| {
            read.len() == names.len() && read.iter().all(|name| names.contains(name))
        }),
        _ => item.to_string().trim() == value.to_toml().to_string().trim(),
    });
    let comments = list::comments_in(&edited, name);
    let keeps = list::comments_in(text, name).iter().all(|comment| comments.contains(comment));
    if holds && keeps { Ok(edited) } else { Err(by_hand(text, None)) }
}

/// The text without a setting; `None` if the text does not set it. Its comments stay.
pub(crate) fn unset(text: &str, name: &str) -> Result<Option<String>, Problem> {
    let document = parse(text)?;
    let Some(item) = find(document.as_table(), name) else { return Ok(None) };
    let (Some(value), Some(span)) = (item.as_value(), item.span()) else {
        return Err(by_hand(text, item.span()));
    };
    let edited = if let Some(braces) = Braces::around(document.as_table(), name) {
        braces.edit(text, |table, name| drop(table_in(table, name).remove(leaf(name))))?
    } else {
        let comments = value.as_array().map(|_| list::comments_in(text, name)).unwrap_or_default();
        without_line(text, &span, &comments)
    };
    match find(parse(&edited)?.as_table(), name) {
        None => Ok(Some(edited)),
        Some(_) => Err(by_hand(text, Some(span))),
    }
}

/// The text with a value, which replaces the old one or is added.
fn place(text: &str, name: &str, value: &Value) -> Result<String, Problem> {
    let document = parse(text)?;
    let root = document.as_table();
    if let Some(item) = find(root, name) {
        let (true, Some(span)) = (item.is_value(), item.span()) else {
            return Err(by_hand(text, item.span()));
        };
        let new = match (value, item.as_array()) {
            (Value::Names(names), Some(_)) if text[span.clone()].contains('#') => {
                let list = list::with_names(text, name, names);
                list.replace("\r\n", "\n").replace('\n', newline(text))
            }
            _ => value.to_toml().to_string(),
        };
        return Ok(splice(text, span, new.trim()));
    }
    if let Some(braces) = Braces::around(root, name) {
        return braces.edit(text, |table, name| {
            drop(table_in(table, name).insert(leaf(name), value.to_toml().into()));
        });
    }
    let line = format!("{} = {}", leaf(name), value.to_toml().to_string().trim());
    match parent(text, root, name)? {
        Some(Place { prefix, end }) => Ok(with_line(text, end, &format!("{prefix}{line}"))),
        None => Ok(with_section(text, group(name), &line)),
    }
}

/// Where a line can be added to a table.
struct Place {
    /// The text before the name: indentation, and the table if it has no header.
    prefix: String,
    /// The end of the item before the new line.
    end: usize,
}

/// Where a line can be added to the table of a setting; `None` if there is no such table.
fn parent(text: &str, root: &Table, name: &str) -> Result<Option<Place>, Problem> {
    let mut table = root;
    for part in group(name).split('.') {
        match table.get(part) {
            None => return Ok(None),
            Some(Item::Table(next)) => table = next,
            Some(item) => return Err(by_hand(text, item.span())),
        }
    }
    let entries = table.iter().filter(|(_, item)| stands_here(item));
    let last = entries.max_by_key(|(_, item)| end_of(item));
    if let Some((name, item)) = last
        && let Some(key) = table.key(name).and_then(toml_edit::Key::span)
    {
        let prefix = text[line_start(text, key.start)..key.start].to_owned();
        return Ok(Some(Place { prefix, end: end_of(item) }));
    }
    let header = table.span().filter(|_| !table.is_implicit() && !table.is_dotted());
    Ok(header.map(|header| Place { prefix: String::new(), end: header.end }))
}

/// Whether an item is written below the header of its table, and has no header itself.
fn stands_here(item: &Item) -> bool {
    item.is_value() || item.as_table().is_some_and(Table::is_dotted)
}

/// Where an item ends.
fn end_of(item: &Item) -> usize {
    match item {
        Item::Table(table) => {
            let items = table.iter().filter(|(_, item)| stands_here(item));
            items.map(|(_, item)| end_of(item)).max().unwrap_or(0)
        }
        item => item.span().map_or(0, |span| span.end),
    }
}

/// An inline table (in braces) around a setting.
struct Braces<'a> {
    /// Its own name, and that of the setting in it.
    names: (&'a str, &'a str),
    span: Option<Range<usize>>,
}

impl<'a> Braces<'a> {
    /// The outermost inline table that contains a setting, or would.
    fn around(root: &Table, name: &'a str) -> Option<Self> {
        name.match_indices('.').find_map(|(dot, _)| {
            let item = find(root, &name[..dot])?;
            item.as_inline_table()?;
            Some(Self { names: (&name[..dot], &name[dot + 1..]), span: item.span() })
        })
    }

    /// Rewrites the inline table, unless it contains a comment, which would be lost.
    fn edit(
        &self,
        text: &str,
        edit: impl FnOnce(&mut InlineTable, &str),
    ) -> Result<String, Problem> {
        let (outer, inner) = self.names;
        let document: DocumentMut = text.parse().expect("it was parsed before");
        let table = find(document.as_table(), outer).and_then(Item::as_inline_table).cloned();
        match (table, self.span.clone()) {
            (Some(mut table), Some(span)) if !text[span.clone()].contains('#') => {
                edit(&mut table, inner);
                table.decor_mut().clear();
                Ok(splice(text, span, table.to_string().trim()))
            }
            _ => Err(by_hand(text, self.span.clone())),
        }
    }
}

/// The table for the last part of a name, created if it is missing.
fn table_in<'a>(table: &'a mut InlineTable, name: &str) -> &'a mut dyn TableLike {
    let mut table: &mut dyn TableLike = table;
    for part in group(name).split('.').filter(|part| !part.is_empty()) {
        let item = table.entry(part).or_insert(InlineTable::new().into());
        if !item.is_table_like() {
            // The check of the result refuses this.
            *item = InlineTable::new().into();
        }
        table = item.as_table_like_mut().expect("a table was put there");
    }
    table
}

/// Removes the lines of a value. Comments after and within it stay.
fn without_line(text: &str, value: &Range<usize>, comments: &[String]) -> String {
    // The value may go over several lines; its name stands on the first.
    let start = line_start(text, value.start);
    let rest = &text[value.end..];
    let line = rest.find('\n').map_or(rest, |end| &rest[..=end]);
    let indentation: String =
        text[start..].chars().take_while(|letter| matches!(letter, ' ' | '\t')).collect();
    let mut new = String::new();
    for comment in comments {
        new = new + &indentation + comment + newline(text);
    }
    if line.trim().is_empty() {
        return splice(text, start..value.end + line.len(), &new);
    }
    let comment = line.len() - line.trim_start().len();
    splice(text, start..value.end + comment, &(new + &indentation))
}

/// Adds a line after the one in which `end` lies.
fn with_line(text: &str, end: usize, line: &str) -> String {
    let newline = newline(text);
    match text[end..].find('\n') {
        Some(at) => splice(text, end + at + 1..end + at + 1, &format!("{line}{newline}")),
        None => format!("{text}{newline}{line}{newline}"),
    }
}

/// Adds a table at the end.
fn with_section(text: &str, table: &str, line: &str) -> String {
    let newline = newline(text);
    let gap = match text {
        "" => String::new(),
        text if text.ends_with('\n') => newline.to_owned(),
        _ => newline.repeat(2),
    };
    format!("{text}{gap}[{table}]{newline}{line}{newline}")
}

fn splice(text: &str, range: Range<usize>, new: &str) -> String {
    format!("{}{new}{}", &text[..range.start], &text[range.end..])
}

/// Where a line begins, after a byte order mark.
fn line_start(text: &str, offset: usize) -> usize {
    let before = &text[..offset];
    let mark = if before.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    before.rfind('\n').map_or(mark, |newline| newline + 1)
}

/// The line ending of the file.
fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// `a.b` of `a.b.c`.
fn group(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(group, _)| group)
}

/// `c` of `a.b.c`.
fn leaf(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, leaf)| leaf)
}

fn by_hand(text: &str, span: Option<Range<usize>>) -> Problem {
    Problem::at(text, span, "osm cannot change this entry: edit the file")
}

#[cfg(test)]
mod tests;

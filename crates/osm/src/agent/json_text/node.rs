//! Where the values of a JSON text are.

use std::ops::Range;

/// Deeper files are refused: no settings are, and the reader calls itself.
const DEEPEST: usize = 100;

/// Whether a file may contain comments, and commas after a last item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comments {
    Allowed,
    Refused,
}

/// Why a text is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Invalid {
    /// The line, from 1.
    pub(crate) line: Option<usize>,
    /// What is wrong.
    pub(crate) reason: String,
}

impl std::fmt::Display for Invalid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

/// A value and its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
    /// The comma after the last item.
    pub(super) comma: Option<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Scalar,
}

#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) key: String,
    start: usize,
    pub(super) value: Node,
}

impl Node {
    /// Reads a whole text.
    pub(super) fn parse(text: &str, comments: Comments) -> Result<Self, Invalid> {
        let mut reader = Reader { text, at: 0, comments };
        if text.starts_with('\u{feff}') {
            reader.at = '\u{feff}'.len_utf8();
        }
        reader.space()?;
        let node = reader.value(0)?;
        reader.space()?;
        if reader.at < text.len() { Err(reader.wrong("text after the end")) } else { Ok(node) }
    }

    /// Where its first item begins.
    pub(super) fn first(&self) -> Option<usize> {
        self.spans().first().map(|it| it.start)
    }

    /// Where its last item ends.
    pub(super) fn last(&self) -> Option<usize> {
        self.spans().last().map(|it| it.end)
    }

    /// The places of its items; that of a member includes its name.
    pub(super) fn spans(&self) -> Vec<Range<usize>> {
        match &self.kind {
            Kind::Object(members) => members.iter().map(|it| it.start..it.value.span.end).collect(),
            Kind::Array(items) => items.iter().map(|it| it.span.clone()).collect(),
            Kind::Scalar => Vec::new(),
        }
    }

    /// The value of a member; as in every agent, the last of two with one name counts.
    pub(super) fn member(&self, key: &str) -> Option<&Self> {
        let Kind::Object(members) = &self.kind else { return None };
        members.iter().rev().find(|it| it.key == key).map(|it| &it.value)
    }

    /// The place of a member with the comma that it does not need any more.
    pub(super) fn cut_member(&self, key: &str) -> Option<(usize, usize)> {
        let Kind::Object(members) = &self.kind else { return None };
        self.cut(members.iter().rposition(|it| it.key == key)?)
    }

    /// The place of an item with the comma that it does not need any more.
    fn cut(&self, index: usize) -> Option<(usize, usize)> {
        let spans = self.spans();
        let span = spans.get(index)?;
        Some(match (index.checked_sub(1).and_then(|it| spans.get(it)), spans.get(index + 1)) {
            (Some(before), _) => {
                (before.end, self.comma.filter(|_| index + 1 == spans.len()).unwrap_or(span.end))
            }
            (None, Some(after)) => (span.start, after.start),
            (None, None) => (self.span.start + 1, self.span.end - 1),
        })
    }
}

/// The first thing below `hooks` to remove: an element that is ours, or a group or list that has nothing else.
pub(super) fn removable(
    text: &str,
    root: &Node,
    is_ours: fn(&str) -> bool,
) -> Option<(usize, usize)> {
    let ours = |node: &Node| text.get(node.span.clone()).is_some_and(is_ours);
    let hooks = root.member("hooks")?;
    let Kind::Object(events) = &hooks.kind else { return None };
    for (at, event) in events.iter().enumerate() {
        let Kind::Array(groups) = &event.value.kind else { continue };
        let Some((index, group)) = groups.iter().enumerate().find(|(_, group)| ours(group)) else {
            continue;
        };
        let inner = group.member("hooks").filter(|it| matches!(it.kind, Kind::Array(_)));
        let entries: &[Node] = match inner.map(|it| &it.kind) {
            Some(Kind::Array(entries)) => entries,
            _ => &[],
        };
        if entries.iter().any(|entry| !ours(entry)) {
            return inner?.cut(entries.iter().position(ours)?);
        }
        if groups.len() > 1 {
            return event.value.cut(index);
        }
        if events.len() > 1 {
            return hooks.cut(at);
        }
        let Kind::Object(members) = &root.kind else { return None };
        return root.cut(members.iter().rposition(|it| it.key == "hooks")?);
    }
    None
}

/// The length of a comment, with the space before it, on the rest of a line; 0 without a comment.
pub(super) fn comment_on_line(text: &str, at: usize) -> usize {
    let line = text.get(at..).unwrap_or_default();
    let line = line.split('\n').next().unwrap_or_default().trim_end_matches('\r');
    let rest = line.trim_start_matches([' ', '\t']);
    let space = line.len() - rest.len();
    if rest.starts_with("//") {
        return line.len();
    }
    match rest.strip_prefix("/*").and_then(|it| it.find("*/")) {
        Some(end) => space + end + 4,
        None => 0,
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    comments: Comments,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn wrong(&self, reason: &str) -> Invalid {
        let line = self.text.get(..self.at).unwrap_or_default().matches('\n').count() + 1;
        Invalid { line: Some(line), reason: reason.into() }
    }

    /// Skips space and comments.
    fn space(&mut self) -> Result<(), Invalid> {
        loop {
            let rest = self.rest();
            let space = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
            self.at += space;
            let rest = self.rest();
            let length = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if let Some(comment) = rest.strip_prefix("/*") {
                comment
                    .find("*/")
                    .map(|it| it + 4)
                    .ok_or_else(|| self.wrong("a comment without an end"))?
            } else {
                return Ok(());
            };
            if self.comments == Comments::Refused {
                return Err(self.wrong("a comment, which this agent does not accept"));
            }
            self.at += length;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Invalid> {
        if depth > DEEPEST {
            return Err(self.wrong("nested too deeply"));
        }
        let start = self.at;
        let (kind, comma) = match self.peek() {
            Some(b'{') => self.items(depth, b'}')?,
            Some(b'[') => self.items(depth, b']')?,
            Some(b'"') => {
                self.string()?;
                (Kind::Scalar, None)
            }
            _ => {
                let rest = self.rest();
                let length = rest
                    .find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)))
                    .unwrap_or(rest.len());
                let word = rest.get(..length).unwrap_or_default();
                if serde_json::from_str::<serde_json::Value>(word).is_err() {
                    return Err(self.wrong("a value is missing or invalid"));
                }
                self.at += length;
                (Kind::Scalar, None)
            }
        };
        Ok(Node { span: start..self.at, kind, comma })
    }

    /// The items of an object or a list, up to `close`.
    fn items(&mut self, depth: usize, close: u8) -> Result<(Kind, Option<usize>), Invalid> {
        self.at += 1;
        let (mut members, mut elements, mut comma) = (Vec::new(), Vec::new(), None);
        loop {
            self.space()?;
            let is_first = members.is_empty() && elements.is_empty();
            if self.peek() == Some(close) {
                if comma.is_some() && self.comments == Comments::Refused {
                    return Err(self.wrong("a comma after the last item"));
                }
                self.at += 1;
                let kind =
                    if close == b'}' { Kind::Object(members) } else { Kind::Array(elements) };
                return Ok((kind, comma));
            }
            if !is_first && comma.is_none() {
                return Err(self.wrong("a comma is missing"));
            }
            if close == b'}' {
                let start = self.at;
                let key = self.string()?;
                self.space()?;
                if self.peek() != Some(b':') {
                    return Err(self.wrong("a colon is missing"));
                }
                self.at += 1;
                self.space()?;
                members.push(Member { key, start, value: self.value(depth + 1)? });
            } else {
                elements.push(self.value(depth + 1)?);
            }
            self.space()?;
            comma = (self.peek() == Some(b',')).then_some(self.at);
            self.at += usize::from(comma.is_some());
        }
    }

    fn string(&mut self) -> Result<String, Invalid> {
        if self.peek() != Some(b'"') {
            return Err(self.wrong("a name or a text in quotes is missing"));
        }
        let bytes = self.text.as_bytes();
        let mut end = self.at + 1;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
                None => return Err(self.wrong("a text without an end")),
            }
        }
        let text = self.text.get(self.at..=end).unwrap_or_default();
        let text = serde_json::from_str(text).map_err(|_| self.wrong("an invalid text"))?;
        self.at = end + 1;
        Ok(text)
    }
}

//! Text for people: spans, each with a style.
//!
//! Styles are data until the text is written. So the escaper sees every character that came from
//! outside, and no style code has to be told from an escape sequence in a file's name.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

use super::escape;

/// How a piece of text is set off on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// What the eye should find first.
    Strong,
    /// What may be passed over.
    Faint,
    /// A state that is as it should be.
    Good,
    /// A state to look at.
    Caution,
    /// A state that is wrong.
    Bad,
}

impl Style {
    /// The number of the terminal's style.
    fn code(self) -> u8 {
        match self {
            Self::Strong => 1,
            Self::Faint => 2,
            Self::Good => 32,
            Self::Caution => 33,
            Self::Bad => 31,
        }
    }

    /// A text in this style.
    pub(crate) fn of<'a>(self, text: impl Into<Cow<'a, str>>) -> Text<'a> {
        Text { first: Span { style: Some(self), text: text.into() }, more: Vec::new() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Span<'a> {
    style: Option<Style>,
    text: Cow<'a, str>,
}

/// A text whose parts may be styled. Most have one part, which needs no list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text<'a> {
    first: Span<'a>,
    more: Vec<Span<'a>>,
}

impl<'a> Text<'a> {
    /// The same text, with more after it.
    pub(crate) fn then(mut self, more: impl Into<Text<'a>>) -> Self {
        let Text { first, more } = more.into();
        self.more.push(first);
        self.more.extend(more);
        self
    }

    /// Writes the text, escaped, on one line, within `width` columns: what is longer ends with `…`.
    pub(super) fn write(&self, to: &mut String, color: bool, width: usize) {
        let mut left = width;
        let is_longer = self.is_longer_than(width);
        for span in std::iter::once(&self.first).chain(&self.more) {
            let safe = escape::one_line(&span.text);
            let part = if is_longer { cut(&safe, left.saturating_sub(1)) } else { &safe };
            left = left.saturating_sub(columns(part));
            span.style_around(to, color, part);
            if is_longer && part.len() < safe.len() {
                to.push('…');
                return;
            }
        }
        if is_longer {
            to.push('…');
        }
    }

    /// Writes the text, escaped, on as many lines as it has.
    pub(super) fn write_lines(&self, to: &mut String, color: bool) {
        for span in std::iter::once(&self.first).chain(&self.more) {
            span.style_around(to, color, &escape::lines(&span.text));
        }
    }

    fn is_longer_than(&self, width: usize) -> bool {
        width != usize::MAX && self.width() > width
    }

    /// The columns that the text takes on a terminal.
    pub(super) fn width(&self) -> usize {
        let spans = std::iter::once(&self.first).chain(&self.more);
        spans.map(|span| columns(&escape::one_line(&span.text))).sum()
    }
}

impl Span<'_> {
    fn style_around(&self, to: &mut String, color: bool, text: &str) {
        match self.style.filter(|_| color && !text.is_empty()) {
            Some(style) => {
                to.push_str("\x1b[");
                to.push_str(itoa(style.code()));
                to.push('m');
                to.push_str(text);
                to.push_str("\x1b[0m");
            }
            None => to.push_str(text),
        }
    }
}

/// The few numbers that styles have, without an allocation.
fn itoa(code: u8) -> &'static str {
    match code {
        1 => "1",
        2 => "2",
        31 => "31",
        32 => "32",
        _ => "33",
    }
}

impl<'a, T: Into<Cow<'a, str>>> From<T> for Text<'a> {
    fn from(text: T) -> Self {
        Self { first: Span { style: None, text: text.into() }, more: Vec::new() }
    }
}

/// What can be shown as a text.
pub(crate) trait ToText {
    fn to_text(&self) -> Text<'_>;
}

impl<T: AsRef<str> + ?Sized> ToText for T {
    fn to_text(&self) -> Text<'_> {
        self.as_ref().into()
    }
}

impl ToText for Text<'_> {
    fn to_text(&self) -> Text<'_> {
        self.clone()
    }
}

/// The columns that a text takes, which has no control characters.
pub(super) fn columns(text: &str) -> usize {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.len();
    }
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// As much of a text as fits into some columns.
fn cut(text: &str, width: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > width {
            return &text[..at];
        }
    }
    text
}

/// A text on one line, cut to a number of columns.
pub(crate) fn brief(text: &str, width: usize) -> String {
    let flat = text.replace('\n', "↵");
    let mut short = String::new();
    Text::from(flat.as_str()).write(&mut short, false, width);
    short
}

/// A size in at most three digits and a unit.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut unit = 0;
    let mut whole = bytes;
    while whole >= 1000 && unit + 1 < UNITS.len() {
        whole /= 1000;
        unit += 1;
    }
    format!("{whole} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &Text, color: bool, width: usize) -> String {
        let mut to = String::new();
        text.write(&mut to, color, width);
        to
    }

    #[test]
    fn styles_are_around_what_is_escaped() {
        let text = Style::Strong.of("a\x1b[1mb").then(" and ").then(Style::Bad.of("c"));
        assert_eq!(written(&text, false, usize::MAX), r"a\u{1b}[1mb and c");
        assert_eq!(
            written(&text, true, usize::MAX),
            "\x1b[1ma\\u{1b}[1mb\x1b[0m and \x1b[31mc\x1b[0m"
        );
    }

    #[test]
    fn what_is_too_long_ends_with_an_ellipsis() {
        let text = Text::from("日本語").then("abc");
        assert_eq!(text.width(), 9);
        for (width, expected) in
            [(9, "日本語abc"), (8, "日本語a…"), (7, "日本語…"), (6, "日本…"), (1, "…")]
        {
            assert_eq!(written(&text, false, width), expected, "{width}");
        }
        assert_eq!(brief("a\nb\x1b[1m and more", 8), "a↵b\\u{1…");
    }

    #[test]
    fn sizes() {
        let shown: Vec<String> = [0, 999, 1000, 1_500_000, 20_000_000_000].map(size).into();
        assert_eq!(shown, ["0 B", "999 B", "1 kB", "1 MB", "20 GB"]);
    }
}

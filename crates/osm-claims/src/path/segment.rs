//! One name of a path, or the names that a glob without slashes fits.

use super::sequence::{Element, meet};
use super::{Case, InvalidPattern};

/// A set of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    tokens: Vec<Token>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// One of these characters.
    One(Characters),
    /// Any characters, also none.
    Any,
}

/// A set of characters: sorted ranges that do not touch, ends included.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Characters(Vec<(char, char)>);

impl Segment {
    /// Exactly this name.
    pub(super) fn name(name: &str, case: Case) -> Self {
        Self { tokens: name.chars().map(|it| Token::One(Characters::only(it, case))).collect() }
    }

    /// The names that a glob fits.
    pub(super) fn glob(text: &str, case: Case) -> Result<Self, InvalidPattern> {
        let mut tokens = Vec::new();
        let mut rest = text.chars();
        while let Some(character) = rest.next() {
            tokens.push(match character {
                '*' if tokens.last() == Some(&Token::Any) => continue,
                '*' => Token::Any,
                '?' => Token::One(Characters::all()),
                '[' => {
                    let (class, length) = Characters::class(rest.as_str(), case)?;
                    rest = rest.as_str()[length..].chars();
                    Token::One(class)
                }
                character => Token::One(Characters::only(character, case)),
            });
        }
        Ok(Self { tokens })
    }

    /// The only name in the set.
    pub(super) fn literal(&self) -> Option<String> {
        let only = |token: &Token| match token {
            Token::One(Characters(ranges)) => match ranges[..] {
                [(first, last)] if first == last => Some(first),
                _ => None,
            },
            Token::Any => None,
        };
        self.tokens.iter().map(only).collect()
    }

    /// Whether some name is in both sets.
    pub(super) fn meets(&self, other: &Self) -> bool {
        meet(&self.tokens, &other.tokens)
    }
}

impl Element for Token {
    fn is_any(&self) -> bool {
        *self == Self::Any
    }

    fn meets(&self, other: &Self) -> bool {
        matches!((self, other), (Self::One(one), Self::One(other)) if one.meets(other))
    }
}

impl Characters {
    /// Every character of a name.
    fn all() -> Self {
        Self(vec![('\0', '.'), ('0', char::MAX)])
    }

    fn only(character: char, case: Case) -> Self {
        let character = folded(character, case);
        Self(vec![(character, character)])
    }

    /// What stands behind `[`, and its length with the closing bracket.
    fn class(text: &str, case: Case) -> Result<(Self, usize), InvalidPattern> {
        let inner = text.strip_prefix(['!', '^']).unwrap_or(text);
        let start = text.len() - inner.len();
        // A closing bracket that comes first is a character of the class.
        let first = inner.chars().next().map_or(0, char::len_utf8);
        let length = inner[first..].find(']').ok_or(InvalidPattern::NotClosed('['))? + first;
        let mut ranges = Vec::new();
        let mut rest = inner[..length].chars();
        while let Some(low) = rest.next() {
            let high = match rest.as_str().strip_prefix('-').and_then(|it| it.chars().next()) {
                Some(high) => {
                    rest = rest.as_str()[1 + high.len_utf8()..].chars();
                    high
                }
                None => low,
            };
            if high < low {
                return Err(InvalidPattern::ReversedRange(low, high));
            }
            add_range(&mut ranges, low, high, case);
        }
        let class = Self::of(ranges);
        let class = if start > 0 { class.complement() } else { class };
        Ok((class, start + length + 1))
    }

    /// Sorts ranges, and joins those that touch.
    fn of(mut ranges: Vec<(char, char)>) -> Self {
        ranges.sort_unstable();
        let mut joined: Vec<(char, char)> = Vec::with_capacity(ranges.len());
        for (low, high) in ranges {
            match joined.last_mut() {
                Some(last) if next(last.1).is_none_or(|it| low <= it) => last.1 = last.1.max(high),
                _ => joined.push((low, high)),
            }
        }
        Self(joined)
    }

    /// All characters of a name but these.
    fn complement(&self) -> Self {
        let mut ranges = self.0.clone();
        ranges.push(('/', '/'));
        let without = Self::of(ranges);
        let mut left = Vec::new();
        let mut from = Some('\0');
        for &(low, high) in &without.0 {
            if let Some((first, last)) =
                from.zip(previous(low)).filter(|(first, last)| first <= last)
            {
                left.push((first, last));
            }
            from = next(high);
        }
        left.extend(from.map(|first| (first, char::MAX)));
        Self(left)
    }

    fn meets(&self, other: &Self) -> bool {
        let (mut one, mut other) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(a), Some(b)) = (one.peek(), other.peek()) {
            if a.0 <= b.1 && b.0 <= a.1 {
                return true;
            }
            if a.1 < b.1 {
                one.next()
            } else {
                other.next()
            };
        }
        false
    }
}

/// Adds a range. Where case does not count, its letters are added as they are compared.
fn add_range(ranges: &mut Vec<(char, char)>, low: char, high: char, case: Case) {
    ranges.push((low, high));
    if case == Case::Folded {
        ranges.extend((low..=high).map(|it| folded(it, case)).map(|it| (it, it)));
    }
}

fn folded(character: char, case: Case) -> char {
    let mut lower = character.to_lowercase();
    match (case, lower.next(), lower.next()) {
        (Case::Folded, Some(lower), None) => lower,
        _ => character,
    }
}

fn next(character: char) -> Option<char> {
    (character..=char::MAX).nth(1)
}

fn previous(character: char) -> Option<char> {
    ('\0'..character).next_back()
}

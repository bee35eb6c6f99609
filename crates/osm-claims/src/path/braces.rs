//! `{a,b}`: one text for several.

use super::{InvalidPattern, PathPattern};

/// The texts that a text with braces stands for. Braces within brackets are characters.
pub(super) fn expand(text: &str) -> Result<Vec<String>, InvalidPattern> {
    let mut done = Vec::new();
    let mut left = vec![text.to_owned()];
    while let Some(text) = left.pop() {
        if done.len() + left.len() >= PathPattern::MOST_ALTERNATIVES {
            return Err(InvalidPattern::TooManyAlternatives);
        }
        match innermost(&text)? {
            None => done.push(text),
            Some((start, end)) => {
                let (before, after) = (&text[..start], &text[end + 1..]);
                let choices = text[start + 1..end].split(',');
                left.extend(choices.map(|choice| format!("{before}{choice}{after}")));
            }
        }
    }
    done.sort_unstable();
    done.dedup();
    Ok(done)
}

/// The first pair of braces with no brace between them.
fn innermost(text: &str) -> Result<Option<(usize, usize)>, InvalidPattern> {
    let mut start = None;
    let mut bracket = None;
    for (at, character) in text.char_indices() {
        if let Some(opened) = bracket {
            // `[]` and `[!]` start with the character itself.
            if character == ']' && at > opened + 1 && &text[opened..at] != "[!" {
                bracket = None;
            }
            continue;
        }
        match (character, start) {
            ('[', _) => bracket = Some(at),
            ('{', _) => start = Some(at),
            ('}', Some(start)) => return Ok(Some((start, at))),
            _ => {}
        }
    }
    match (bracket, start) {
        (Some(_), _) => Err(InvalidPattern::NotClosed('[')),
        (None, Some(_)) => Err(InvalidPattern::NotClosed('{')),
        (None, None) => Ok(None),
    }
}

//! What somebody who types is shown, and what they can type.

use std::rc::Rc;

use super::complete::Suggestion;

/// Completes a line at a place.
pub(crate) type Complete = Rc<dyn Fn(&str, usize) -> Vec<Suggestion>>;

/// The invitation to type a line.
#[derive(Clone, Default)]
pub(crate) struct Prompt {
    /// What stands before the line.
    pub(crate) text: String,
    /// The mode, whose lines have a history of their own.
    pub(crate) mode: String,
    /// Every command there is, for the eye.
    pub(crate) commands: Vec<String>,
    /// Keys that scripts have bound, as they name them.
    pub(crate) keys: Vec<String>,
    /// What Tab asks.
    pub(crate) complete: Option<Complete>,
}

/// The prompt of a mode: its own, or one made of its name. Control characters would confuse the
/// terminal, or worse.
pub(crate) fn text(own: &str, mode: &str) -> String {
    let text = if own.is_empty() { format!("({mode}) > ") } else { own.to_owned() };
    text.chars().filter(|it| !it.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts() {
        assert_eq!(text("", "code-review"), "(code-review) > ");
        assert_eq!(text("» ", "x"), "» ");
        assert_eq!(text("a\x1b[2J\nb> ", "x"), "a[2Jb> ");
    }
}

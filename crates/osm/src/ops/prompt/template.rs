//! Renders a prompt template around a context.

use std::hash::{BuildHasher, RandomState};

use osm_context::Prompt;
use serde_json::{Value, json};

/// The names of the context in a template.
const NAMES: [&str; 2] = ["context", "contextTxtar"];

/// A template and the name that errors call it by.
#[derive(Clone, Copy)]
pub(crate) struct Template<'a> {
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
}

impl Template<'_> {
    /// The name of a template that has no other.
    pub(crate) const NAME: &'static str = "template";

    /// Renders the template and inserts the context where the template places it.
    pub(super) fn wrap(self, context: Prompt, data: Value) -> Result<Prompt, String> {
        let mut data = match data {
            Value::Null => json!({}),
            Value::Object(_) => data,
            _ => return Err("the data of a template must be an object".into()),
        };
        let mut render = |context: &str| {
            for name in NAMES {
                data[name] = context.into();
            }
            osm_script::template::render(self.name, self.text, &data)
        };
        if context.sections().is_empty() {
            return Ok(Prompt::default().within(render("")?, ""));
        }
        let mark = placeholder();
        let text = render(&mark)?;
        let mut parts = text.split(mark.as_str());
        match (parts.next(), parts.next(), parts.next()) {
            (Some(head), Some(tail), None) => Ok(context.within(head, tail)),
            // The template filters the context, or uses it twice: then its text is rendered.
            _ => Ok(Prompt::default().within(render(&context.to_string())?, "")),
        }
    }
}

/// A placeholder that no template contains and every filter changes.
fn placeholder() -> String {
    format!(" \u{f0000}Aa\n{}\u{f0001} ", RandomState::new().hash_one(std::process::id()))
}

#[cfg(test)]
mod tests {
    use osm_context::{Block, Section, Subject};

    use super::*;

    fn wrap(context: Prompt, text: &str, data: Value) -> Result<Prompt, String> {
        Template { name: "t", text }.wrap(context, data)
    }

    fn context() -> Prompt {
        let note = Block::new(Subject::Note, "note", "{{ not a template }}\n");
        Prompt::new(vec![Section::Block(note)])
    }

    #[test]
    fn where_the_context_goes() {
        let text = context().to_string();
        for (template, expected) in [
            ("a {{ context }} b", format!("a {text} b")),
            ("a {{ contextTxtar }}", format!("a {text}")),
            ("{% if context %}yes{% endif %}", "yes".into()),
            ("{{ context }}{{ context }}", format!("{text}{text}")),
            ("{{ context | upper }}", text.to_uppercase()),
            ("{{ context | trim }}.", format!("{}.", text.trim())),
            ("{{ context | length > 30 }}", "True".into()),
            ("nothing", "nothing".into()),
        ] {
            let prompt = wrap(context(), template, Value::Null).unwrap();
            assert_eq!(prompt.to_string(), expected, "{template}");
        }
    }

    #[test]
    fn the_context_is_cut_in_and_not_copied() {
        let prompt = wrap(context(), "a {{ context }} b", json!({ "x": 1 })).unwrap();
        assert_eq!(prompt.sections(), context().sections());
        let empty = wrap(Prompt::default(), "{% if context %}no{% endif %}.", json!({})).unwrap();
        assert_eq!(empty.to_string(), ".");
        assert!(wrap(context(), "{{ missing }}", json!({})).is_err());
        assert!(wrap(context(), "x", json!(7)).is_err());
    }
}

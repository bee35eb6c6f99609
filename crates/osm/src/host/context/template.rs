//! A template around a context.

use std::hash::{BuildHasher, RandomState};

use osm_context::Prompt;
use serde_json::{Value, json};

/// The names that a template may call the context by.
const NAMES: [&str; 2] = ["context", "contextTxtar"];

/// Renders a template, with the context in the place that it gives it.
pub(super) fn around(context: Prompt, template: &str, data: Value) -> Result<Prompt, String> {
    let mut data = match data {
        Value::Null => json!({}),
        Value::Object(_) => data,
        _ => return Err("the data of a template is an object".into()),
    };
    let mut render = |context: &str| {
        for name in NAMES {
            data[name] = context.into();
        }
        osm_script::template::render("template", template, &data)
    };
    if context.sections().is_empty() {
        return Ok(Prompt::default().within(render("")?, ""));
    }
    let mark = mark();
    let text = render(&mark)?;
    let mut parts = text.split(mark.as_str());
    match (parts.next(), parts.next(), parts.next()) {
        (Some(head), Some(tail), None) => Ok(context.within(head, tail)),
        // It is not just put somewhere, or in several places: then it has to pass through.
        _ => Ok(Prompt::default().within(render(&context.to_string())?, "")),
    }
}

/// What nobody writes, and every filter changes.
fn mark() -> String {
    format!(" \u{f0000}Aa\n{}\u{f0001} ", RandomState::new().hash_one(std::process::id()))
}

#[cfg(test)]
mod tests {
    use osm_context::{Block, Section, Subject};

    use super::*;

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
            let prompt = around(context(), template, Value::Null).unwrap();
            assert_eq!(prompt.to_string(), expected, "{template}");
        }
    }

    #[test]
    fn the_context_is_cut_in_and_not_copied() {
        let prompt = around(context(), "a {{ context }} b", json!({ "x": 1 })).unwrap();
        assert_eq!(prompt.sections(), context().sections());
        let empty = around(Prompt::default(), "{% if context %}no{% endif %}.", json!({})).unwrap();
        assert_eq!(empty.to_string(), ".");
        assert!(around(context(), "{{ missing }}", json!({})).is_err());
        assert!(around(context(), "x", json!(7)).is_err());
    }
}

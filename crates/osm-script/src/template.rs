//! Renders `MiniJinja` templates, with limits.
//!
//! Prompts are plain text, so output is not escaped. An undefined name is an error: a prompt with a
//! missing part is worse than none. The program renders templates here, too, so that both agree.

mod depth;
mod metered;

use std::io;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior};
use serde_json::Value;

pub use depth::too_deep;
pub use metered::Metered;

use metered::{MAX_MEMORY, MAX_TIME, Stop};

/// The most steps: enough for a loop over 100 000 items.
const MAX_STEPS: u64 = 5_000_000;

/// The most output, in bytes.
const MAX_OUTPUT: usize = 64 << 20;

/// Renders a template. An error contains the line; `name` is the template's name in it.
pub fn render(name: &str, template: &str, data: &Value) -> Result<String, String> {
    refuse_too_deep(name, template)?;
    // The thread may outlive this call, so it has its own copies.
    let (own_name, template, data) = (name.to_owned(), template.to_owned(), data.clone());
    metered::run(move || render_here(&own_name, &template, &data))
        .unwrap_or_else(|stop| Err(format!("{name}: {}", explain_stop(&stop))))
}

/// Why a template was stopped from outside, where its line is not known.
fn explain_stop(stop: &Stop) -> String {
    match stop {
        Stop::Memory => {
            format!("more than {} MB of memory; does a value grow in a loop?", MAX_MEMORY >> 20)
        }
        Stop::Time => format!("takes longer than {} seconds", MAX_TIME.as_secs()),
        Stop::TooMany => "too many templates were stopped; restart osm".into(),
        Stop::Panicked => "the template engine failed".into(),
    }
}

fn render_here(name: &str, template: &str, data: &Value) -> Result<String, String> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_fuel(Some(MAX_STEPS));
    let syntax = SyntaxConfig::builder().keep_trailing_newline(true).build();
    environment.set_syntax(syntax.map_err(|error| explain(name, template, &error))?);
    let mut rendered = Bounded(Vec::new());
    let parsed = environment.template_from_named_str(name, template);
    parsed
        .and_then(|parsed| parsed.render_captured_to(Serde(data), &mut rendered).map(drop))
        .map_err(|error| explain(name, template, &error))?;
    String::from_utf8(rendered.0).map_err(|_| format!("{name}: the output is not valid UTF-8"))
}

/// Checks that a template can be parsed.
pub fn check(name: &str, template: &str) -> Result<(), String> {
    refuse_too_deep(name, template)?;
    let environment = Environment::new();
    let parsed = environment.template_from_named_str(name, template);
    parsed.map(drop).map_err(|error| explain(name, template, &error))
}

/// The reason why an expression of a template is refused.
pub const TOO_DEEP: &str = "an expression has too many operators";

fn refuse_too_deep(name: &str, template: &str) -> Result<(), String> {
    too_deep(template).map_or(Ok(()), |line| Err(format!("{name}:{line}: {TOO_DEEP}")))
}

/// The message, the line number and the line.
fn explain(name: &str, template: &str, error: &Error) -> String {
    let said = match error.kind() {
        ErrorKind::OutOfFuel => "too many steps; is there a loop in a loop?".to_owned(),
        ErrorKind::WriteFailure => format!("more than {} MB of output", MAX_OUTPUT >> 20),
        kind => match error.detail() {
            Some(detail) => format!("{kind}: {detail}"),
            None => kind.to_string(),
        },
    };
    let Some(line) = error.line() else { return format!("{name}: {said}") };
    let excerpt = template.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    let excerpt: String = excerpt.chars().take(200).collect();
    format!("{name}:{line}: {said}\n  {excerpt}")
}

/// A buffer with a maximum size.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_OUTPUT {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn templates() {
        let data = json!({ "name": "a <b>", "items": ["x", "y"], "none": null, "map": { "k": 1 } });
        for (template, text) in [
            ("", ""),
            ("**{{ name | upper }}**\n", "**A <B>**\n"),
            ("{% for it in items %}{{ loop.index }}{{ it }} {% endfor %}", "1x 2y "),
            ("{% if nothing %}a{% else %}b{% endif %}", "b"),
            ("{{ nothing | default('d') }}{{ map.k }}{# note #}", "d1"),
            ("{% raw %}{{ x }}{% endraw %}", "{{ x }}"),
        ] {
            assert_eq!(render("t", template, &data).as_deref(), Ok(text), "{template}");
        }
    }

    proptest::proptest! {
        /// Every template gives a text or an error.
        #[test]
        fn nothing_panics(parts in proptest::collection::vec("\\{\\{|\\}\\}|\\{%|%\\}|if|for|in|endif|endfor|macro|set|[a-c(){}|.,*~='\"0-9 \n]", 0..24)) {
            let data = json!({ "a": 1, "b": [1, 2], "c": { "a": "x" } });
            if let Err(error) = render("t", &parts.concat(), &data) {
                proptest::prop_assert!(error.starts_with("t:"), "{}", error);
            }
        }
    }

    #[test]
    fn errors_name_the_line() {
        let data = json!({ "a": 1 });
        for (template, message) in [
            ("one\n{{ nothing }}", "t:2: undefined value"),
            ("one\ntwo {% if %}\n", "t:2: syntax error"),
            ("{{ a | nonsense }}", "t:1: unknown filter"),
            (
                "{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}",
                "too many steps",
            ),
            (
                "{% set big = 'x' * 1000000 %}{% for i in range(999) %}{{ big }}{% endfor %}",
                "more than 64 MB",
            ),
            ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "t:1: "),
        ] {
            let error = render("t", template, &data).unwrap_err();
            assert!(error.contains(message), "{template}: {error}");
        }
        assert_eq!(
            render("t", "a\n  {{ nothing }}", &data).unwrap_err().lines().nth(1),
            Some("    {{ nothing }}")
        );
        assert!(check("t", "{{ nothing }}").is_ok());
        assert!(check("t", "{% if").is_err());
    }
}

//! The trust that Codex wants for each hook: an entry in `config.toml` with the hash of what the hook is.
//!
//! The key of an entry has the place of the hook in its file. So osm appends hooks and never inserts them before
//! others, and keeps their command lines stable.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::codex_config::{add_table, parse};
use super::files::is_ours;
use super::json_text::{Draft, Invalid};
use crate::trust::digest;

/// The time limit of a hook that names none, in seconds.
const TIMEOUT: u64 = 600;

/// A hook, and the hash of what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trusted {
    key: String,
    hash: String,
}

/// Our hooks in a file of hooks.
pub(crate) fn hooks(path: &Path, text: &str) -> Vec<Trusted> {
    let file: Value = serde_json::from_str(text).unwrap_or_default();
    let mut trusted = Vec::new();
    for (event, groups) in file["hooks"].as_object().into_iter().flatten() {
        for (at, group) in groups.as_array().into_iter().flatten().enumerate() {
            for (index, hook) in group["hooks"].as_array().into_iter().flatten().enumerate() {
                if hook["command"].as_str().is_some_and(is_ours) {
                    let event = snake_case(event);
                    trusted.push(Trusted {
                        key: format!("{}:{event}:{at}:{index}", path.display()),
                        hash: hash(&event, group.get("matcher"), hook),
                    });
                }
            }
        }
    }
    trusted
}

/// Whether osm wrote trust with this text.
pub(crate) fn is_in(inserted: &str) -> bool {
    inserted.contains("[hooks.state.")
}

/// The hash of a hook: of its JSON with sorted keys, no spaces, and defaults filled in.
fn hash(event: &str, matcher: Option<&Value>, hook: &Value) -> String {
    let timeout = hook["timeout"].as_u64().unwrap_or(TIMEOUT);
    // The keys are in their order already.
    let hook = json!({ "async": false, "command": hook["command"], "timeout": timeout, "type": "command" });
    let mut whole = Map::new();
    whole.insert("event_name".to_owned(), event.into());
    whole.insert("hooks".to_owned(), json!([hook]));
    if let Some(matcher) = matcher {
        whole.insert("matcher".to_owned(), matcher.clone());
    }
    format!("sha256:{}", digest(Value::from(whole).to_string().as_bytes()))
}

fn snake_case(event: &str) -> String {
    let mut text = String::new();
    for letter in event.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

/// Adds the trust in these hooks to the configuration.
pub(super) fn apply(draft: &mut Draft, trusted: &[Trusted]) -> Result<(), Invalid> {
    for Trusted { key, hash } in trusted {
        let document = parse(&draft.text)?;
        let state = document.get("hooks").and_then(|hooks| hooks.get("state"));
        let old = state.and_then(|state| state.get(key)).and_then(|hook| hook.get("trusted_hash"));
        match old.map(|old| (old.as_str().map(str::to_owned), old.span())) {
            Some((Some(old), _)) if old == *hash => {}
            Some((_, Some(span))) => draft.replace(span.start, span.len(), format!("\"{hash}\"")),
            Some((_, None)) => {
                let reason = format!("the trust in {key} has no place in the text");
                return Err(Invalid { line: None, reason });
            }
            None => {
                let name = toml_edit::Value::from(key.as_str()).to_string();
                add_table(draft, &format!("[hooks.state.{name}]\ntrusted_hash = \"{hash}\"\n"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::json_text::undone;

    fn trusted() -> Vec<Trusted> {
        let text = r#"{"hooks":{"PreToolUse":[{"hooks":[{"command":"theirs"}]},
            {"matcher":"Edit","hooks":[{"type":"command","command":"osm agent hook before-tool","timeout":30}]}]}}"#;
        hooks(Path::new("/h/.codex/hooks.json"), text)
    }

    #[test]
    fn only_our_hooks_are_trusted() {
        let [ours] = &trusted()[..] else { panic!("one hook") };
        assert_eq!(ours.key, "/h/.codex/hooks.json:pre_tool_use:1:0");
        let text = r#"{"event_name":"pre_tool_use","hooks":[{"async":false,"command":"osm agent hook before-tool","timeout":30,"type":"command"}],"matcher":"Edit"}"#;
        assert_eq!(ours.hash, format!("sha256:{}", digest(text.as_bytes())));
    }

    #[test]
    fn the_rest_of_the_configuration_stays() {
        for config in [
            "",
            "a = 1",
            "# mine\r\na = 1\r\n",
            "[hooks]\n[hooks.state.\"x\"]\ntrusted_hash = \"y\"\n",
        ] {
            let applied = |config: &str| {
                let mut draft = Draft::new(config);
                apply(&mut draft, &trusted()).map(|()| draft)
            };
            let draft = applied(config).unwrap();
            assert!(draft.text.starts_with(config), "{}", draft.text);
            assert_eq!(undone(&draft.text, &draft.edits).as_deref(), Some(config));
            assert_eq!(applied(&draft.text).unwrap().edits, []);
            let old = draft.text.replace(&trusted()[0].hash, "sha256:old");
            let renewed = applied(&old).unwrap();
            assert_eq!(renewed.text, draft.text);
            assert_eq!(undone(&renewed.text, &renewed.edits), Some(old));
        }
        for config in ["a = ", "hooks = 3", "hooks = { state = {} }"] {
            let mut draft = Draft::new(config);
            let added = apply(&mut draft, &trusted()).and_then(|()| parse(&draft.text).map(drop));
            assert!(added.is_err(), "{config}");
        }
    }
}

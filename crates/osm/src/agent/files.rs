//! The files that an agent gets: its hooks, and a skill that tells the model about osm.

use serde_json::{Value, json};

use super::codex_trust::{self, Trusted};
use super::json_text::{Comments, Draft, Invalid};
use super::table::{Agent, Format, Hook};

/// The skill of every agent that has skills.
const SKILL: &str = include_str!("../../assets/agents/SKILL.md");
/// What the modules of JavaScript have in common.
const ASK: &str = include_str!("../../assets/agents/ask.js");

/// What marks a hook as ours.
pub(crate) const MARK: &str = "osm agent hook";

/// A file that an agent gets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct File {
    /// Its path below the agent's folder, with slashes.
    pub(crate) path: String,
    /// What is in it.
    pub(crate) content: Content,
}

/// What is in a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    /// This text; the file is osm's own.
    Own {
        /// The text.
        text: String,
        /// The agent runs it as a program.
        is_program: bool,
    },
    /// These elements of lists below `hooks`; the file is the user's.
    Hooks {
        /// Whether the agent accepts comments.
        comments: Comments,
        /// A new file begins with this.
        base: &'static str,
        /// The name of each list, and the element.
        elements: Vec<(&'static str, Value)>,
    },
    /// The trust of Codex in these hooks; the file is the user's.
    Trust(Vec<Trusted>),
}

/// The command line of a hook. An agent that cannot find `osm` continues without it: to some agents a
/// command that is missing is a refusal of every tool.
pub(crate) fn command(hook: &Hook) -> String {
    format!("command -v osm >/dev/null 2>&1 || exit 0; {MARK} {}", hook.moment.word())
}

/// Every file of an agent.
pub(crate) fn of(agent: &Agent) -> Vec<File> {
    let mut files = hooks(agent);
    if let Some(skills) = agent.skill {
        let content = Content::Own { text: SKILL.to_owned(), is_program: false };
        files.push(File { path: format!("{skills}/osm/SKILL.md"), content });
    }
    files
}

fn hooks(agent: &Agent) -> Vec<File> {
    let elements = |element: &dyn Fn(&Hook) -> Value| {
        agent.hooks.iter().map(|hook| (hook.event, element(hook))).collect::<Vec<_>>()
    };
    let shared = |file: &str, comments, base, elements| {
        vec![File { path: file.to_owned(), content: Content::Hooks { comments, base, elements } }]
    };
    let own =
        |path: String, text, is_program| File { path, content: Content::Own { text, is_program } };
    match agent.format {
        Format::Groups { file, comments, timeout } => {
            let comments = if comments { Comments::Allowed } else { Comments::Refused };
            let group = |hook: &Hook| {
                let entry =
                    json!({ "type": "command", "command": command(hook), "timeout": timeout });
                match hook.matcher {
                    "" => json!({ "hooks": [entry] }),
                    matcher => json!({ "matcher": matcher, "hooks": [entry] }),
                }
            };
            shared(file, comments, "", elements(&group))
        }
        Format::Cursor { file } => {
            shared(file, Comments::Refused, "{\n  \"version\": 1\n}\n", elements(&plain))
        }
        Format::Crush { file } => shared(file, Comments::Allowed, "", elements(&plain)),
        Format::Copilot { file } => {
            let entry =
                |hook: &Hook| json!({ "type": "command", "bash": command(hook), "timeoutSec": 30 });
            let lists =
                agent.hooks.iter().map(|hook| (hook.event.to_owned(), json!([entry(hook)])));
            let hooks: serde_json::Map<String, Value> = lists.collect();
            let whole = json!({ "version": 1, "hooks": hooks });
            let text = serde_json::to_string_pretty(&whole).expect("a value is JSON") + "\n";
            vec![own(file.to_owned(), text, false)]
        }
        Format::Programs { folder } => {
            let program = |hook: &Hook| {
                let text = format!(
                    "#!/bin/sh\n# Written by `osm agent install {}`.\n{}\n",
                    agent.name,
                    command(hook)
                );
                own(format!("{folder}/{}", hook.event), text, true)
            };
            agent.hooks.iter().map(program).collect()
        }
        Format::Module { file, text } => vec![own(file.to_owned(), format!("{ASK}{text}"), false)],
    }
}

/// A hook without a group.
fn plain(hook: &Hook) -> Value {
    match hook.matcher {
        "" => json!({ "command": command(hook), "timeout": 30 }),
        matcher => json!({ "command": command(hook), "matcher": matcher, "timeout": 30 }),
    }
}

impl Content {
    /// The text of the file, made from the text before osm changed it.
    pub(crate) fn apply(&self, before: &str) -> Result<Draft, Invalid> {
        let mut draft = Draft::new(before);
        match self {
            Self::Trust(trusted) => return codex_trust::apply(before, trusted),
            Self::Own { text, .. } => draft.replace(0, before.len(), text.clone()),
            Self::Hooks { comments, base, elements } => {
                if before.trim().is_empty() {
                    draft.insert(before.len(), *base);
                }
                for (event, element) in elements {
                    // Another user of the project may have installed the same hooks.
                    if !draft.contains(*comments, &["hooks", event], element)? {
                        draft.append(*comments, &["hooks", event], element)?;
                    }
                }
            }
        }
        Ok(draft)
    }

    /// Whether the file is osm's own.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self, Self::Own { .. })
    }
}

/// The file in which Codex keeps its trust in hooks, below its folder.
pub(crate) const TRUST: &str = "config.toml";

/// Whether a text is a hook of ours.
pub(crate) fn is_ours(text: &str) -> bool {
    text.contains(MARK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::table::AGENTS;

    #[test]
    fn every_agent_has_hooks_that_do_nothing_without_osm() {
        for agent in AGENTS {
            let files = of(agent);
            assert!(!files.is_empty(), "{}", agent.name);
            let first = files[0].content.apply("").unwrap();
            let guarded =
                first.text.contains("command -v osm >/dev/null 2>&1 || exit 0; osm agent hook");
            let module = matches!(agent.format, Format::Module { .. });
            assert!(guarded || module, "{}: {}", agent.name, first.text);
        }
    }

    #[test]
    fn applying_twice_changes_nothing() {
        for agent in AGENTS {
            for file in of(agent) {
                let once = file.content.apply("").unwrap();
                let twice = file.content.apply(&once.text).unwrap();
                assert_eq!(twice.edits, [], "{}: {}", agent.name, file.path);
            }
        }
    }
}

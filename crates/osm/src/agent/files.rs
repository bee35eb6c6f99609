//! The files that an agent gets: its hooks, the MCP server, and a skill that tells the model about osm.

use serde_json::{Value, json};

use super::codex_config::{self, CodexConfig};
use super::json_text::{Comments, Draft, Invalid};
use super::table::{Agent, Format, Hook, Server, Spot};

/// The skill of every agent that has skills.
const SKILL: &str = include_str!("../../assets/agents/SKILL.md");
/// What the modules of JavaScript have in common.
const ASK: &str = include_str!("../../assets/agents/ask.js");

/// What marks a hook as ours.
pub(crate) const MARK: &str = "osm agent hook";

/// A file that an agent gets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct File {
    /// Where it is, with slashes.
    pub(crate) place: Place,
    /// What is in it.
    pub(crate) content: Content,
}

/// Where a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Below the agent's folder.
    Folder(String),
    /// One of the places that the table of agents names.
    Spot(Spot),
}

/// A change in a file of JSON that the user writes, too.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    /// An element of a list below `hooks`.
    Hook(&'static str, Value),
    /// The MCP server, in this object.
    Server(&'static str, Value),
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
    /// These changes; the file is the user's.
    Settings {
        /// Whether the agent accepts comments.
        comments: Comments,
        /// A new file begins with this.
        base: &'static str,
        /// What is added.
        changes: Vec<Change>,
    },
    /// The configuration of Codex; the file is the user's.
    Codex(CodexConfig),
}

/// The command line of a hook. An agent that cannot find `osm` continues without it: to some agents a
/// command that is missing is a refusal of every tool.
pub(crate) fn command(hook: &Hook) -> String {
    format!("command -v osm >/dev/null 2>&1 || exit 0; {MARK} {}", hook.moment.word())
}

/// Every file of an agent, for the user, or for a project. `home` is the folder of the ledger.
pub(crate) fn of(agent: &Agent, for_user: bool, home: Option<&str>) -> Vec<File> {
    let mut files = hooks(agent);
    if let Some(server) = agent.server {
        add_server(&mut files, server, for_user, home);
    }
    if let Some(skills) = agent.skill {
        let content = Content::Own { text: SKILL.to_owned(), is_program: false };
        files.push(File { place: Place::Folder(format!("{skills}/osm/SKILL.md")), content });
    }
    files
}

/// Adds the MCP server to the file that has the hooks, or as a file of its own.
fn add_server(files: &mut Vec<File>, server: Server, for_user: bool, home: Option<&str>) {
    match server {
        Server::Module => {}
        Server::Codex => {
            let roots = home.filter(|_| for_user).map(str::to_owned).into_iter().collect();
            let content = Content::Codex(CodexConfig { roots, trusted: Vec::new() });
            files.push(File { place: Place::Spot(codex_config::FILE), content });
        }
        Server::Json { user, project, comments, key, entry } => {
            let Some(spot) = (if for_user { Some(user) } else { project }) else { return };
            let change = Change::Server(key, server_entry(entry));
            let place = match spot {
                Spot::Folder(name) => Place::Folder(name.to_owned()),
                spot => Place::Spot(spot),
            };
            let mut same = files.iter_mut().filter(|file| file.place == place);
            if let Some(Content::Settings { changes, .. }) = same.next().map(|it| &mut it.content) {
                return changes.push(change);
            }
            let comments = if comments { Comments::Allowed } else { Comments::Refused };
            let content = Content::Settings { comments, base: "", changes: vec![change] };
            files.push(File { place, content });
        }
    }
}

/// The entry of the MCP server.
pub(crate) fn server_entry(entry: &str) -> Value {
    serde_json::from_str(entry).expect("a test reads the entry of every agent")
}

fn hooks(agent: &Agent) -> Vec<File> {
    let elements = |element: &dyn Fn(&Hook) -> Value| {
        agent.hooks.iter().map(|hook| Change::Hook(hook.event, element(hook))).collect::<Vec<_>>()
    };
    let shared = |file: &str, comments, base, changes| {
        let content = Content::Settings { comments, base, changes };
        vec![File { place: Place::Folder(file.to_owned()), content }]
    };
    let own = |path: String, text, is_program| File {
        place: Place::Folder(path),
        content: Content::Own { text, is_program },
    };
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
            Self::Codex(config) => config.apply(&mut draft)?,
            Self::Own { text, .. } => draft.replace(0, before.len(), text.clone()),
            Self::Settings { comments, base, changes } => {
                if before.trim().is_empty() {
                    draft.insert(before.len(), *base);
                }
                for change in changes {
                    match change {
                        // Another user of the project may have installed the same hooks.
                        Change::Hook(event, element)
                            if draft.contains(*comments, &["hooks", event], element)? => {}
                        Change::Hook(event, element) => {
                            draft.append(*comments, &["hooks", event], element)?;
                        }
                        // A server of that name is the user's own.
                        Change::Server(key, entry) => {
                            draft.put(*comments, &[key, SERVER], entry)?;
                        }
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

/// What agents call the MCP server.
pub(crate) const SERVER: &str = "osm";

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
            let files = of(agent, true, Some("/h/osm"));
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
            for file in of(agent, true, Some("/h/osm")) {
                let once = file.content.apply("").unwrap();
                let twice = file.content.apply(&once.text).unwrap();
                assert_eq!(twice.edits, [], "{}: {:?}", agent.name, file.place);
            }
        }
    }
}

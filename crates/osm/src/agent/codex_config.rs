//! What osm writes into Codex's `config.toml`: the MCP server, the ledger's folder, and the trust in hooks.
//!
//! Codex gives a server few variables, so the entry names those that decide which session and which ledger it is.
//! Its sandbox lets commands write only below the working directory, so the folder of the ledger is one of its
//! writable roots. The file is a person's: osm inserts text and never writes it from parsed values.

use toml_edit::{Document, DocumentMut, Item, Value};

use super::codex_trust::{self, Trusted};
use super::files::SERVER;
use super::json_text::{Draft, Invalid};
use super::table::Spot;

/// The file, below Codex's folder.
pub(crate) const FILE: Spot = Spot::Folder("config.toml");

/// The variables that the server needs.
const VARIABLES: [&str; 7] = [
    "OSM_HOME",
    "OSM_SESSION",
    "OSM_SESSION_ID",
    "OSM_SCOPE",
    "OSM_STORE",
    "XDG_CONFIG_HOME",
    "APPDATA",
];

const SANDBOX: &str = "sandbox_workspace_write";
const ROOTS: &str = "writable_roots";

/// What osm adds to the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CodexConfig {
    /// Folders that commands may write to.
    pub(crate) roots: Vec<String>,
    /// Hooks that Codex should trust.
    pub(crate) trusted: Vec<Trusted>,
}

impl CodexConfig {
    /// Adds it.
    pub(crate) fn apply(&self, draft: &mut Draft) -> Result<(), Invalid> {
        let servers = parse(&draft.text)?.get("mcp_servers").cloned();
        // A server of that name is the user's own.
        if servers.is_none_or(|servers| servers.get(SERVER).is_none()) {
            let variables = VARIABLES.map(|name| format!("\"{name}\"")).join(", ");
            let table = format!(
                "[mcp_servers.{SERVER}]\ncommand = \"osm\"\nargs = [\"mcp\"]\nenv_vars = [{variables}]\n"
            );
            add_table(draft, &table);
        }
        for root in &self.roots {
            add_root(draft, root)?;
        }
        codex_trust::apply(draft, &self.trusted)?;
        parse(&draft.text).map(drop)
    }
}

/// Makes a folder writable for commands.
fn add_root(draft: &mut Draft, root: &str) -> Result<(), Invalid> {
    let invalid = |reason: &str| Invalid { line: None, reason: format!("{SANDBOX}: {reason}") };
    let document = parse(&draft.text)?;
    let value = Value::from(root).to_string();
    let Some(sandbox) = document.get(SANDBOX) else {
        drop(document);
        add_table(draft, &format!("[{SANDBOX}]\n{ROOTS} = [{value}]\n"));
        return Ok(());
    };
    let (at, inserted) = match sandbox.get(ROOTS).map(Item::as_array) {
        Some(Some(roots)) if roots.iter().any(|it| it.as_str() == Some(root)) => return Ok(()),
        Some(Some(roots)) => match roots.iter().last().map(Value::span) {
            Some(last) => (last.map(|it| it.end), format!(", {value}")),
            None => (roots.span().map(|it| it.start + 1), value),
        },
        Some(None) => return Err(invalid("writable_roots is not a list")),
        None => match sandbox.as_table().filter(|table| !table.is_dotted()) {
            Some(table) => {
                let header = table.span().map(|it| it.start);
                let line =
                    header.and_then(|at| draft.text.get(at..)?.find('\n').map(|it| at + it + 1));
                (line, format!("{ROOTS} = [{value}]{}", line_end(&draft.text)))
            }
            None => return Err(invalid("osm adds writable_roots only to a table with a header")),
        },
    };
    let at = at.ok_or_else(|| invalid("writable_roots has no place in the text"))?;
    drop(document);
    draft.insert(at, inserted);
    Ok(())
}

fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Adds a table at the end, after an empty line.
pub(super) fn add_table(draft: &mut Draft, table: &str) {
    let end = line_end(&draft.text);
    let gap = match draft.text.as_str() {
        "" => String::new(),
        text if text.ends_with('\n') => end.to_owned(),
        _ => end.repeat(2),
    };
    draft.insert(draft.text.len(), gap + &table.replace('\n', end));
}

/// The configuration without the server, for one that was changed since.
pub(crate) fn without_server(text: &str) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    let servers = document.get_mut("mcp_servers")?.as_table_like_mut()?;
    let is_ours = servers.get(SERVER)?.get("command").and_then(Item::as_str) == Some("osm");
    is_ours.then(|| servers.remove(SERVER))?;
    if servers.is_empty() {
        document.remove("mcp_servers");
    }
    Some(document.to_string())
}

/// Whether a text is TOML.
pub(crate) fn check(text: &str) -> Result<(), Invalid> {
    parse(text).map(drop)
}

pub(super) fn parse(text: &str) -> Result<Document<&str>, Invalid> {
    Document::parse(text).map_err(|error| {
        let line = error.span().and_then(|span| text.get(..span.start));
        let reason = error.message().lines().next().unwrap_or("not TOML").to_owned();
        Invalid { line: line.map(|before| before.matches('\n').count() + 1), reason }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::json_text::undone;

    fn applied(text: &str) -> Result<Draft, Invalid> {
        let mut draft = Draft::new(text);
        let config = CodexConfig { roots: vec!["/h/osm".into()], trusted: Vec::new() };
        config.apply(&mut draft).map(|()| draft)
    }

    #[test]
    fn the_rest_of_the_configuration_stays() {
        for config in [
            "",
            "a = 1",
            "# mine\r\na = 1\r\n",
            "[mcp_servers.other]\ncommand = \"x\"\n",
            "[sandbox_workspace_write] # mine\nnetwork_access = true\n[z]\n",
            "[sandbox_workspace_write]\nwritable_roots = []\n",
            "[sandbox_workspace_write]\nwritable_roots = [\n  \"/a\", # mine\n]\n",
            "sandbox_workspace_write = { writable_roots = [\"/a\"] }\n",
        ] {
            let draft = applied(config).unwrap_or_else(|error| panic!("{config}: {error}"));
            let document = parse(&draft.text).unwrap();
            let roots = document["sandbox_workspace_write"]["writable_roots"].as_array().unwrap();
            assert_eq!(roots.iter().last().unwrap().as_str(), Some("/h/osm"), "{}", draft.text);
            assert_eq!(document["mcp_servers"]["osm"]["command"].as_str(), Some("osm"));
            assert_eq!(undone(&draft.text, &draft.edits).as_deref(), Some(config));
            assert_eq!(applied(&draft.text).unwrap().edits, [], "{}", draft.text);
        }
        for config in ["a = ", "sandbox_workspace_write = {}", "sandbox_workspace_write.a = 1"] {
            assert!(applied(config).is_err(), "{config}");
        }
    }

    #[test]
    fn a_server_of_the_users_is_left_alone() {
        let theirs = "[mcp_servers.osm]\ncommand = \"/opt/osm\"\n";
        let draft = applied(theirs).unwrap();
        assert!(!draft.text.contains("args"), "{}", draft.text);
        assert_eq!(without_server(theirs), None);
        let ours = applied("# mine\n[mcp_servers.a]\ncommand = \"x\"\n").unwrap().text;
        let left = without_server(&ours).unwrap();
        assert!(left.starts_with("# mine\n[mcp_servers.a]\ncommand = \"x\"\n"), "{left}");
        assert!(!left.contains("mcp_servers.osm"), "{left}");
    }
}

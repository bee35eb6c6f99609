//! The configuration file.
//!
//! Identity must work whatever is in it: a file that cannot be read or parsed is a warning with
//! its place and the reason, and the built-in tables stand.

use std::path::Path;

use osm_identity::Catalogue;
use osm_identity::catalogue::Agent;
use toml_edit::{Document, Item, TableLike};

use crate::World;
use crate::ui::Ui;

/// More than anybody writes by hand.
const MOST_BYTES: u64 = 1 << 20;

/// The catalogue with the user's additions.
pub(crate) fn catalogue(world: &World, ui: &mut Ui) -> Catalogue {
    let mut catalogue = Catalogue::new();
    if let Some(shells) = world.environment.get("OSM_EXTRA_SHELLS") {
        let shells = shells.to_string_lossy();
        for shell in shells.split(';').map(str::trim).filter(|shell| !shell.is_empty()) {
            catalogue.add_shell(shell);
        }
    }
    let Some(path) = world.config_file() else {
        return catalogue;
    };
    match read(&path) {
        Ok(None) => {}
        Ok(Some(text)) => {
            for complaint in extend(&mut catalogue, &text) {
                ui.warn(&format!("{}: {complaint}", path.display()));
            }
        }
        Err(reason) => ui.warn(&format!("{}: {reason}; it is ignored", path.display())),
    }
    catalogue
}

/// The file's text, if there is a file.
fn read(path: &Path) -> Result<Option<String>, String> {
    // Opening a FIFO would wait for ever, so look before.
    let about = match std::fs::metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if !about.is_file() {
        return Err("not a file".into());
    }
    if about.len() > MOST_BYTES {
        return Err(format!("larger than {MOST_BYTES} bytes"));
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map(Some).map_err(|_| "not UTF-8".into())
}

/// Adds what the `[identity]` table says, and returns what is wrong with it.
fn extend(catalogue: &mut Catalogue, text: &str) -> Vec<String> {
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            let reason = error.message().lines().next().unwrap_or("not TOML");
            return vec![format!("line {line}: {reason}; the file is ignored")];
        }
    };
    let mut complaints = Vec::new();
    let mut complain = |item: Option<std::ops::Range<usize>>, reason: &str| {
        let line = item.map_or(1, |span| line_of(text, span.start));
        complaints.push(format!("line {line}: {reason}"));
    };
    let Some(identity) = document.get("identity") else {
        return complaints;
    };
    let Some(table) = identity.as_table_like() else {
        complain(identity.span(), "`identity` must be a table");
        return complaints;
    };
    for (key, item) in table.iter() {
        match key {
            "wrappers" | "shells" => match names(item) {
                Some(names) => {
                    for name in names {
                        if key == "shells" {
                            catalogue.add_shell(name);
                        } else {
                            catalogue.add_wrapper(name);
                        }
                    }
                }
                None => complain(
                    item.span(),
                    &format!("`identity.{key}` must be a list of program names"),
                ),
            },
            "agents" => match tables(item) {
                Some(agents) => {
                    for entry in agents {
                        match agent(entry) {
                            Ok(agent) => catalogue.add_agent(agent),
                            Err(reason) => complain(item.span(), &reason),
                        }
                    }
                }
                None => complain(item.span(), "`identity.agents` must be a list of tables"),
            },
            _ => complain(item.span(), &format!("`identity.{key}` is not known")),
        }
    }
    complaints
}

fn tables(item: &Item) -> Option<Vec<&dyn TableLike>> {
    if let Some(tables) = item.as_array_of_tables() {
        return Some(tables.iter().map(|table| table as &dyn TableLike).collect());
    }
    let array = item.as_array()?;
    array.iter().map(|value| value.as_inline_table().map(|table| table as &dyn TableLike)).collect()
}

/// One `[[identity.agents]]`.
fn agent(table: &dyn TableLike) -> Result<Agent, String> {
    let name = table.get("name").and_then(Item::as_str).unwrap_or_default();
    let spelled = (1..=20).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if !spelled {
        return Err("an agent needs a `name` of 1 to 20 lower-case letters, digits and `-`".into());
    }
    let list = |key: &str| match table.get(key) {
        None => Ok(Vec::new()),
        Some(item) => {
            names(item).ok_or_else(|| format!("agent {name}: `{key}` must be a list of names"))
        }
    };
    if let Some((key, _)) =
        table.iter().find(|(key, _)| !["name", "programs", "session", "owner"].contains(key))
    {
        return Err(format!("agent {name}: `{key}` is not known"));
    }
    let programs = list("programs")?;
    if programs.is_empty() {
        return Err(format!("agent {name}: `programs` names no program"));
    }
    let owner = table.get("owner").and_then(Item::as_str).map(str::to_owned);
    Ok(Agent::defined(name.to_owned(), programs, list("session")?, owner))
}

/// A list of names; one alone need not stand in brackets.
fn names(item: &Item) -> Option<Vec<String>> {
    if let Some(name) = item.as_str() {
        return Some(vec![name.to_owned()]);
    }
    item.as_array()?.iter().map(|value| value.as_str().map(str::to_owned)).collect()
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use osm_identity::catalogue::Kind;

    fn extended(text: &str) -> (Catalogue, Vec<String>) {
        let mut catalogue = Catalogue::new();
        let complaints = extend(&mut catalogue, text);
        (catalogue, complaints)
    }

    #[test]
    fn additions() {
        let (catalogue, complaints) = extended(
            "[identity]\nwrappers = ['mywrap']\nshells = 'mysh'\n\
             [[identity.agents]]\nname = 'my-agent'\nprograms = ['my-agent', 'mya']\n\
             session = ['MY_SESSION']\nowner = 'MY_PID'\n[other]\nx = 1\n",
        );
        assert_eq!(complaints, [""; 0]);
        assert!(matches!(catalogue.look_up("mywrap"), Some(Kind::Wrapper)));
        assert!(matches!(catalogue.look_up("mysh"), Some(Kind::Shell)));
        let Some(Kind::Agent(agent)) = catalogue.look_up("mya") else { panic!("no agent") };
        assert_eq!(
            (agent.name, agent.session, agent.owner),
            ("my-agent", &["MY_SESSION"][..], Some("MY_PID"))
        );
    }

    #[test]
    fn complaints_have_their_line() {
        for (text, complaint) in [
            (
                "[identity]\nwrappers = 7",
                "line 2: `identity.wrappers` must be a list of program names",
            ),
            ("\n\n[identity]\nwraps = []", "line 4: `identity.wraps` is not known"),
            (
                "[[identity.agents]]\nname = 'A b'",
                "line 1: an agent needs a `name` of 1 to 20 lower-case letters, digits and `-`",
            ),
            ("[[identity.agents]]\nname = 'x'", "line 1: agent x: `programs` names no program"),
            ("identity = 3", "line 1: `identity` must be a table"),
        ] {
            assert_eq!(extended(text).1, [complaint], "{text}");
        }
        let (_, complaints) = extended("[identity]\nwrappers = [");
        assert!(complaints[0].starts_with("line 2: "), "{complaints:?}");
        assert!(complaints[0].ends_with("; the file is ignored"), "{complaints:?}");
    }
}

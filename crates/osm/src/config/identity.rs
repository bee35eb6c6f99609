//! The table `[identity]`: programs that the built-in catalogue does not know.

use osm_identity::catalogue::Agent;
use osm_identity::{Catalogue, Environment, UnlistedAgent};
use toml_edit::{Document, Item, TableLike};

use super::Problem;

/// The variable that adds shells, for machines without a file.
pub(super) const EXTRA_SHELLS: &str = "OSM_EXTRA_SHELLS";

/// The longest name of an agent, which is part of ids.
const MOST_NAME: usize = 20;

/// The catalogue without a file.
pub(super) fn built_in(environment: &Environment) -> Catalogue {
    let mut catalogue = Catalogue::new();
    for shell in extra_shells(environment) {
        catalogue.add_shell(shell);
    }
    catalogue
}

/// The shells that the variable names.
pub(super) fn extra_shells(environment: &Environment) -> Vec<String> {
    let Some(shells) = environment.get(EXTRA_SHELLS) else { return Vec::new() };
    let shells = shells.to_string_lossy();
    shells.split(';').map(str::trim).filter(|shell| !shell.is_empty()).map(str::to_owned).collect()
}

/// Adds the entries of the table, and returns the problems in it.
pub(super) fn extend(
    catalogue: &mut Catalogue,
    text: &str,
    document: &Document<&str>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut report = |item: &Item, reason: &str| {
        problems.push(Problem::at(text, item.span(), reason));
    };
    let Some(identity) = document.get("identity") else {
        return problems;
    };
    let Some(table) = identity.as_table_like() else {
        report(identity, "`identity` must be a table");
        return problems;
    };
    for (key, item) in table.iter() {
        match key {
            "wrappers" | "shells" => match programs(item) {
                Ok(names) => {
                    for name in names {
                        if key == "shells" {
                            catalogue.add_shell(name);
                        } else {
                            catalogue.add_wrapper(name);
                        }
                    }
                }
                Err(reason) => report(item, &format!("`identity.{key}` {reason}")),
            },
            "agents" => match tables(item) {
                Some(agents) => {
                    for entry in agents {
                        match agent(entry) {
                            Ok(agent) => catalogue.add_agent(agent),
                            Err(reason) => report(item, &reason),
                        }
                    }
                }
                None => report(item, "`identity.agents` must be a list of tables"),
            },
            _ => report(item, &format!("unknown setting {:?}", format!("identity.{key}"))),
        }
    }
    problems
}

/// How many valid agents an item describes.
pub(super) fn count_agents(item: &Item) -> Option<usize> {
    Some(tables(item)?.into_iter().filter(|entry| agent(*entry).is_ok()).count())
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
    let spelled = (1..=MOST_NAME).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if !spelled {
        return Err("an agent needs a `name` of 1 to 20 lower-case letters, digits and `-`".into());
    }
    let list = |key: &str| match table.get(key) {
        None => Ok(Vec::new()),
        Some(item) => {
            names(item).map_err(|_| format!("agent {name}: `{key}` must be a list of names"))
        }
    };
    if let Some((key, _)) =
        table.iter().find(|(key, _)| !["name", "programs", "session", "owner"].contains(key))
    {
        return Err(format!("agent {name}: unknown key {key:?}"));
    }
    let programs = list("programs")?;
    if programs.is_empty() {
        return Err(format!("agent {name}: `programs` is empty"));
    }
    let owner = table.get("owner").and_then(Item::as_str).map(str::to_owned);
    Ok(Agent::defined(name.to_owned(), programs, list("session")?, owner))
}

/// The entry that makes a program an agent.
pub(crate) fn describe_agent(agent: &UnlistedAgent) -> String {
    let UnlistedAgent { program, session, owner, .. } = agent;
    let stem = program.rsplit_once('.').map_or(program.as_str(), |(stem, _)| stem);
    let mut name: String = stem.to_lowercase().replace([' ', '_', '.'], "-");
    name.retain(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-');
    name.truncate(MOST_NAME);
    let name = if name.is_empty() { "my-agent" } else { &name };
    let quoted = |text: &str| toml_edit::Value::from(text).to_string();
    let mut entry = format!("[[identity.agents]]\nname = {}\n", quoted(name));
    let mut add = |key: &str, value: String| entry.extend([key, " = ", &value, "\n"]);
    add("programs", format!("[{}]", quoted(program)));
    if !session.is_empty() {
        let names: Vec<String> = session.iter().map(|name| quoted(name)).collect();
        add("session", format!("[{}]", names.join(", ")));
    }
    if let Some(owner) = owner {
        add("owner", quoted(owner));
    }
    entry
}

/// A list of names of programs.
pub(super) fn programs(item: &Item) -> Result<Vec<String>, String> {
    let names = names(item)?;
    if names.iter().any(|name| name.trim().is_empty()) {
        return Err("must be a list of program names".into());
    }
    match names.iter().find(|name| has_folder(name)) {
        Some(name) => Err(format!("must be names without a folder, not {name:?}")),
        None => Ok(names),
    }
}

/// Whether a name contains a folder, which no process name does.
pub(super) fn has_folder(name: &str) -> bool {
    name.contains('/') || (cfg!(windows) && name.contains('\\'))
}

/// A list of names. A single name needs no brackets.
pub(super) fn names(item: &Item) -> Result<Vec<String>, String> {
    let names = match item.as_str() {
        Some(name) => Some(vec![name.to_owned()]),
        None => item.as_array().and_then(|array| {
            array.iter().map(|value| value.as_str().map(str::to_owned)).collect()
        }),
    };
    names.ok_or_else(|| "must be a list of program names".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::file::parse;
    use osm_identity::catalogue::Kind;

    fn extended(text: &str) -> (Catalogue, Vec<String>) {
        let mut catalogue = Catalogue::new();
        let problems = extend(&mut catalogue, text, &parse(text).unwrap());
        (catalogue, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn additions() {
        let (catalogue, problems) = extended(
            "[identity]\nwrappers = ['mywrap']\nshells = 'mysh'\n\
             [[identity.agents]]\nname = 'my-agent'\nprograms = ['my-agent', 'mya']\n\
             session = ['MY_SESSION']\nowner = 'MY_PID'\n[other]\nx = 1\n",
        );
        assert_eq!(problems, [""; 0]);
        assert!(matches!(catalogue.look_up("mywrap"), Some(Kind::Wrapper)));
        assert!(matches!(catalogue.look_up("mysh"), Some(Kind::Shell(_))));
        let Some(Kind::Agent(agent)) = catalogue.look_up("mya") else { panic!("no agent") };
        assert_eq!(
            (agent.name, agent.session, agent.owner),
            ("my-agent", &["MY_SESSION"][..], Some("MY_PID"))
        );
    }

    #[test]
    fn an_entry_that_is_suggested_makes_an_agent() {
        for (program, name) in
            [("robo.js", "robo"), ("A \"b\" c", "a-b-c"), ("Łódź", "d"), ("机器", "my-agent")]
        {
            let agent = UnlistedAgent {
                pid: osm_identity::Pid(7),
                program: program.to_owned(),
                session: vec!["ROBO_SESSION_ID".to_owned()],
                owner: Some("ROBO_PID".to_owned()),
                behaviour: Vec::new(),
            };
            let (catalogue, problems) = extended(&describe_agent(&agent));
            assert_eq!(problems, [""; 0], "{program}");
            let Some(Kind::Agent(agent)) = catalogue.look_up(program) else { panic!("{program}") };
            assert_eq!((agent.name, agent.owner), (name, Some("ROBO_PID")));
        }
    }

    #[test]
    fn problems_have_their_line() {
        for (text, reportt) in [
            (
                "[identity]\nwrappers = 7",
                "line 2: `identity.wrappers` must be a list of program names",
            ),
            ("\n\n[identity]\nwraps = []", "line 4: unknown setting \"identity.wraps\""),
            ("[identity]\n\"\\u001b\" = 1", "line 2: unknown setting \"identity.\\u{1b}\""),
            (
                "[[identity.agents]]\nname = 'A b'",
                "line 1: an agent needs a `name` of 1 to 20 lower-case letters, digits and `-`",
            ),
            ("[[identity.agents]]\nname = 'x'", "line 1: agent x: `programs` is empty"),
            ("identity = 3", "line 1: `identity` must be a table"),
        ] {
            assert_eq!(extended(text).1, [reportt], "{text}");
        }
    }
}

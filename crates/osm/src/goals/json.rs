//! Goals as JSON, with the field names of the upstream tool.
//!
//! This form exists for goals with code: a command of type `custom` has a handler, which is a
//! JavaScript function. A goal without code is easier to write as `.prompt.md`.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::front_matter::Mistake;
use super::{COMMANDS, FRAME, Goal, Handler, Snippet, Variable, go_template, template};
use crate::config::nearest::nearest;

/// The fields that mean something.
const FIELDS: [&str; 19] = [
    "name",
    "description",
    "category",
    "usage",
    "tuiTitle",
    "tuiPrompt",
    "stateVars",
    "variables",
    "promptInstructions",
    "promptTemplate",
    "promptFooter",
    "promptOptions",
    "contextHeader",
    "bannerTemplate",
    "usageTemplate",
    "notableVariables",
    "postCopyHint",
    "hotSnippets",
    "commands",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    #[serde(default)]
    name: String,
    #[serde(default)]
    description: String,
    category: Option<String>,
    usage: Option<String>,
    tui_title: Option<String>,
    tui_prompt: Option<String>,
    #[serde(default)]
    state_vars: Map<String, Value>,
    #[serde(default)]
    variables: Map<String, Value>,
    prompt_instructions: Option<String>,
    prompt_template: Option<String>,
    prompt_footer: Option<String>,
    #[serde(default)]
    prompt_options: Map<String, Value>,
    context_header: Option<String>,
    banner_template: Option<String>,
    usage_template: Option<String>,
    #[serde(default)]
    notable_variables: Vec<String>,
    post_copy_hint: Option<String>,
    #[serde(default)]
    hot_snippets: Vec<HotSnippet>,
    #[serde(default)]
    commands: Vec<Command>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

#[derive(Deserialize)]
struct HotSnippet {
    name: String,
    text: String,
    #[serde(default)]
    description: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Command {
    name: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    usage: String,
    #[serde(default)]
    arg_completers: Vec<String>,
    #[serde(default)]
    flag_defs: Value,
    handler: Option<String>,
}

/// Reads a file: the goal, and a remark about each unknown field.
pub(crate) fn parse(text: &str) -> Result<(Goal, Vec<String>), Mistake> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file: File = serde_json::from_str(text).map_err(|error| {
        let reason = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        Mistake::new(error.line().max(1), reason.replace(&place, ""))
    })?;
    let unknown = file.others.keys().map(|name| remark(name)).collect();
    let line_of = |part: &str| {
        let begin: String = part.lines().next().unwrap_or_default().chars().take(20).collect();
        text.lines().position(|line| line.contains(&begin)).unwrap_or(0) + 1
    };
    let templates = [
        &file.prompt_instructions,
        &file.prompt_template,
        &file.prompt_footer,
        &file.banner_template,
        &file.usage_template,
    ];
    for part in templates.into_iter().flatten() {
        if let Some(mistake) = go_template::find(part) {
            return Err(Mistake::new(line_of(part), mistake.reason));
        }
    }
    let goal = goal(file).map_err(|reason| Mistake::new(1, reason))?;
    goal.check().map_err(|reason| Mistake::new(1, reason))?;
    template::check(&goal).map_err(|mistake| Mistake::new(1, mistake.reason))?;
    Ok((goal, unknown))
}

fn remark(name: &str) -> String {
    match nearest(name, FIELDS.into_iter()) {
        Some(meant) => format!("unknown field {name:?} (did you mean {meant:?}?)"),
        None => format!("unknown field {name:?}"),
    }
}

fn goal(file: File) -> Result<Goal, String> {
    let mut goal = Goal::new(&file.name, &file.description);
    goal.category = file.category.unwrap_or(goal.category);
    goal.title = file.tui_title.unwrap_or(goal.title);
    goal.prompt = file.tui_prompt.unwrap_or(goal.prompt);
    goal.post_copy_hint = file.post_copy_hint;
    goal.banner = file.banner_template;
    goal.usage = file.usage_template.or(file.usage);
    goal.snippets = file.hot_snippets.into_iter().map(Snippet::from).collect();
    goal.variables = variables(file.state_vars, file.variables)?;
    if !file.commands.is_empty() {
        goal.commands.clear();
    }
    for command in file.commands {
        add(command, &mut goal)?;
    }
    let header = file.context_header.unwrap_or_else(|| "Context".into());
    goal.data.insert("contextHeader".into(), json!(header));
    goal.data.insert("tuiTitle".into(), json!(goal.title));
    goal.data.insert("notableVariables".into(), json!(file.notable_variables));
    goal.data.insert("promptOptions".into(), json!(file.prompt_options));
    goal.options = file.prompt_options;
    if file.prompt_instructions.is_none() && file.prompt_template.is_none() {
        return Err("missing `promptInstructions`: write what the model should do".into());
    }
    let instructions = file.prompt_instructions.unwrap_or_default();
    let footer = file.prompt_footer.unwrap_or_default();
    let frame = file.prompt_template.unwrap_or_else(|| {
        if footer.is_empty() {
            FRAME.into()
        } else {
            format!("{FRAME}\n\n{{{{ promptFooter }}}}\n")
        }
    });
    // They see what the instructions and the footer came to, which see everything else.
    goal.template = format!(
        "{{% set promptInstructions %}}{instructions}{{% endset %}}\
         {{% set promptFooter %}}{footer}{{% endset %}}{frame}"
    );
    Ok(goal)
}

/// What is remembered: anything that handlers set, or a choice as in a front matter.
fn variables(
    plain: Map<String, Value>,
    chosen: Map<String, Value>,
) -> Result<Vec<Variable>, String> {
    let plain = plain.into_iter().filter(|(name, _)| name != "contextItems");
    let mut all: Vec<Variable> = plain
        .map(|(name, default)| Variable { setter: None, ..Variable::text(&name, default) })
        .collect();
    for (name, said) in chosen {
        let choices: Option<Vec<String>> = match &said {
            Value::Array(items) => {
                items.iter().map(|item| item.as_str().map(str::to_owned)).collect()
            }
            _ => None,
        };
        all.push(match (said, choices) {
            (Value::String(_) | Value::Null, _) => Variable::text(&name, json!("")),
            (_, Some(choices)) if !choices.is_empty() => Variable::choice(&name, choices),
            _ => return Err(format!("`variables.{name}` must be a list of strings or a string")),
        });
    }
    Ok(all)
}

fn add(command: Command, goal: &mut Goal) -> Result<(), String> {
    let name = command.name.as_str();
    let kind = command.kind.as_deref().unwrap_or(match command.handler {
        Some(_) => "custom",
        None => "contextManager",
    });
    match (kind, command.handler) {
        ("help", _) => {}
        ("contextManager", _) if command.name == "help" => {}
        ("contextManager", _) if COMMANDS.contains(&command.name.as_str()) => {
            goal.commands.push(command.name);
        }
        ("contextManager", _) => {
            let known = COMMANDS.join(", ");
            return Err(format!("unknown command {name:?}; use {known}"));
        }
        ("custom", Some(handler)) => goal.handlers.push(Handler {
            name: command.name,
            description: command.description,
            usage: command.usage,
            arg_completers: command.arg_completers,
            flag_defs: if command.flag_defs.is_array() { command.flag_defs } else { json!([]) },
            code: handler,
        }),
        ("custom", None) => {
            return Err(format!("command {name:?} needs a `handler`: function (args) {{ … }}"));
        }
        (kind, _) => {
            return Err(format!(
                "command {name:?} has the unknown type {kind:?}; use contextManager, custom or help"
            ));
        }
    }
    Ok(())
}

impl From<HotSnippet> for Snippet {
    fn from(it: HotSnippet) -> Self {
        Self { name: it.name, description: it.description, text: it.text }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fails(value: &Value) -> String {
        parse(&value.to_string()).unwrap_err().reason
    }

    #[test]
    fn everything_that_can_be_said() {
        let (goal, unknown) = parse(
            r#"{"name": "a", "description": "b", "category": "c", "tuiTitle": "T", "tuiPrompt": "> ",
            "stateVars": {"contextItems": [], "kind": "x"}, "variables": {"depth": ["low", "high"]},
            "promptInstructions": "Do {{ stateKeys.kind }} {{ depth }}. {{ kindInstructions }}",
            "promptTemplate": "**{{ description | upper }}**\n{{ promptInstructions }}\n{{ contextTxtar }}\n{{ promptFooter }}",
            "promptFooter": "end", "promptOptions": {"kindInstructions": {"x": "y"}},
            "hotSnippets": [{"name": "h", "text": "t"}], "comands": [],
            "commands": [{"name": "add", "type": "contextManager"}, {"name": "help", "type": "help"},
              {"name": "go", "type": "custom", "handler": "function (args) {}"}]}"#,
        )
        .unwrap();
        assert_eq!(goal.commands, ["add"]);
        assert!(goal.has_code());
        assert_eq!(goal.variables.len(), 2);
        assert_eq!(goal.variables[0].setter, None);
        assert_eq!(goal.variables[1].choices, ["low", "high"]);
        assert_eq!(unknown, ["unknown field \"comands\" (did you mean \"commands\"?)"]);
    }

    #[test]
    fn mistakes() {
        let base = json!({"name": "a", "description": "b", "promptInstructions": "c"});
        let with = |field: &str, value: Value| {
            let mut base = base.clone();
            base[field] = value;
            fails(&base)
        };
        assert!(parse(&base.to_string()).is_ok());
        for (field, value, expected) in [
            ("name", json!(""), "invalid name \"\": use"),
            ("name", json!("a b"), "invalid name \"a b\": use"),
            ("description", json!(" "), "missing `description`"),
            ("promptInstructions", Value::Null, "missing `promptInstructions`"),
            (
                "promptInstructions",
                json!("{{.x}}"),
                "`{{.x}}` is Go template syntax; write `{{ x }}`",
            ),
            ("promptInstructions", json!("{{ x }}"), "unknown name `x`"),
            ("promptTemplate", json!("nothing"), "the template does not contain the context"),
            ("commands", json!([{"name": "fly"}]), "unknown command \"fly\""),
            (
                "commands",
                json!([{"name": "x", "type": "custom"}]),
                "command \"x\" needs a `handler`",
            ),
            (
                "commands",
                json!([{"name": "x", "type": "y"}]),
                "command \"x\" has the unknown type \"y\"",
            ),
            ("commands", json!([{"name": "a b", "handler": "f"}]), "command: invalid name \"a b\""),
            ("variables", json!({"x": 1}), "`variables.x` must be"),
            ("commands", json!("add"), "invalid type: string"),
        ] {
            let found = with(field, value.clone());
            assert!(found.starts_with(expected), "{field} {value}: {found}");
        }
        let broken = parse("{\n \"name\": \"a\",\n}").unwrap_err();
        assert_eq!(broken.line, 3, "{broken}");
    }

    proptest! {
        #[test]
        fn never_panics(text in any::<String>(), name in any::<String>(), body in "[{}%.a |\"-]{0,30}") {
            drop(parse(&text));
            let value = json!({"name": name, "description": text, "promptInstructions": body,
                "hotSnippets": [{"name": name, "text": ""}], "variables": {name.clone(): [text]}});
            drop(parse(&value.to_string()));
        }
    }
}

//! Goals as `NAME.prompt.md`: a front matter, and the instructions as a template.
//!
//! Prompt files of editors (`.github/prompts`) are read by the same rules, with two differences: keys
//! of editors are ignored, and the text is not a template, because its author did not write one.

use serde_json::{Value as Json, json};

use super::front_matter::{Field, Mistake, Value, part};
use super::{FRAME, Goal, Run, Snippet, Variable, template};
use crate::config::nearest::nearest;

/// How the names of these files end.
pub(crate) const SUFFIX: &str = ".prompt.md";

/// The keys of a front matter.
pub(crate) const KEYS: [(&str, &str); 13] = [
    ("name", "letters, digits and hyphens; default: the file's name"),
    ("description", "what the goal is for, in one sentence (required)"),
    ("title", "the heading at the start; default: made from the name"),
    ("category", "the group in `osm goal list`"),
    ("commands", "commands for the context; default: all except `exec`"),
    ("variables", "`name: [choices]`, the first is the default; or `name: default text`"),
    ("setters", "`variable: command` that sets it; default: the variable's name"),
    ("run", "`files` or `diff`: `run ARGUMENTS` adds files or a diff and shows the prompt"),
    ("hot-snippets", "`name: text` that the command `hot-name` copies"),
    ("post-copy-hint", "a line that `copy` shows"),
    ("banner", "the text at the start, a template"),
    ("context-header", "the heading above the context"),
    ("template", "`false`: the instructions are not a template"),
];

/// Keys that editors know.
const FOREIGN: [&str; 5] = ["agent", "argument-hint", "mode", "model", "tools"];

/// The program that a file was written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// For osm.
    ForUs,
    /// For an editor.
    ForEditors,
}

/// Reads a file; `stem` is its name without the ending.
pub(crate) fn parse(text: &str, stem: &str, written: Written) -> Result<Goal, Mistake> {
    let parted = part(text)?;
    let mut goal = Goal::new(&named_after(stem), "");
    let mut is_template = written == Written::ForUs;
    let mut header = "Context".to_owned();
    if written == Written::ForEditors {
        goal.category = "prompt-file".into();
    }
    for field in &parted.fields {
        match field.key.as_str() {
            "name" => {
                let name = text_of(field)?;
                goal = Goal {
                    title: super::titled(&name),
                    prompt: format!("({name}) > "),
                    name,
                    ..goal
                };
            }
            "description" => goal.description = text_of(field)?,
            "category" => goal.category = text_of(field)?,
            "commands" => goal.commands = list_of(field)?,
            "variables" => goal.variables = variables(field)?,
            "run" => goal.run = Some(run(field)?),
            "hot-snippets" => goal.snippets = snippets(field)?,
            "post-copy-hint" => goal.post_copy_hint = Some(text_of(field)?),
            "banner" => goal.banner = Some(text_of(field)?),
            "context-header" => header = text_of(field)?,
            "template" => is_template = switch(field)?,
            "title" | "setters" => {}
            name if FOREIGN.contains(&name) || written == Written::ForEditors => {}
            name => {
                let meant = nearest(name, KEYS.iter().map(|(name, _)| *name));
                let hint = meant.map_or(String::new(), |it| format!(" (did you mean `{it}`?)"));
                return Err(Mistake::new(field.line, format!("unknown key `{name}`{hint}")));
            }
        }
    }
    // These depend on other keys, whose order is free.
    for field in &parted.fields {
        match field.key.as_str() {
            "title" => goal.title = text_of(field)?,
            "setters" => setters(field, &mut goal.variables)?,
            _ => {}
        }
    }
    if written == Written::ForEditors && goal.description.is_empty() {
        goal.description.clone_from(&goal.title);
    }
    goal.data.insert("contextHeader".into(), json!(header));
    if parted.body.trim().is_empty() {
        let reason = "missing instructions: write them below the front matter";
        return Err(Mistake::new(parted.body_line, reason));
    }
    goal.template = framed(&parted, is_template, &mut goal.data);
    goal.check().map_err(|reason| Mistake::new(1, reason))?;
    template::check(&goal)
        .map_err(|mistake| Mistake { line: mistake.line + parted.body_line - 1, ..mistake })?;
    Ok(goal)
}

/// The template of the whole prompt.
fn framed(
    parted: &super::front_matter::Parted,
    is_template: bool,
    data: &mut serde_json::Map<String, Json>,
) -> String {
    if is_template {
        return template::framed(parted.body, FRAME);
    }
    data.insert("promptInstructions".into(), json!(parted.body));
    FRAME.to_owned()
}

/// A name made from a file's name: other characters become hyphens.
fn named_after(stem: &str) -> String {
    let good = |it: char| if it.is_ascii_alphanumeric() { it } else { '-' };
    let name: String = stem.chars().map(good).collect();
    let name: Vec<&str> = name.split('-').filter(|part| !part.is_empty()).collect();
    if name.is_empty() { "unnamed-prompt".into() } else { name.join("-") }
}

fn expected<T>(field: &Field, what: &str) -> Result<T, Mistake> {
    Err(Mistake::new(field.line, format!("`{}` must be {what}", field.key)))
}

fn text_of(field: &Field) -> Result<String, Mistake> {
    match &field.value {
        Value::Text(text) => Ok(text.clone()),
        _ => expected(field, "a text"),
    }
}

fn list_of(field: &Field) -> Result<Vec<String>, Mistake> {
    match &field.value {
        Value::List(list) => Ok(list.clone()),
        _ => expected(field, "a list: [one, two]"),
    }
}

fn map_of<'a>(field: &'a Field, what: &str) -> Result<&'a [Field], Mistake> {
    match &field.value {
        Value::Map(fields) => Ok(fields),
        _ => expected(field, what),
    }
}

fn switch(field: &Field) -> Result<bool, Mistake> {
    match text_of(field)?.as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => expected(field, "true or false"),
    }
}

fn run(field: &Field) -> Result<Run, Mistake> {
    match text_of(field)?.as_str() {
        "files" => Ok(Run::Files),
        "diff" => Ok(Run::Diff),
        _ => expected(field, "files or diff"),
    }
}

fn variables(field: &Field) -> Result<Vec<Variable>, Mistake> {
    let one = |field: &Field| match &field.value {
        Value::Text(default) => Ok(Variable::text(&field.key, default.clone().into())),
        Value::List(choices) if !choices.is_empty() => {
            Ok(Variable::choice(&field.key, choices.clone()))
        }
        _ => expected(field, "a list of choices or a text"),
    };
    map_of(field, "a map: one `name: [choices]` on each line below")?.iter().map(one).collect()
}

fn setters(field: &Field, variables: &mut [Variable]) -> Result<(), Mistake> {
    for setter in map_of(field, "a map: one `variable: command` on each line below")? {
        let Some(variable) = variables.iter_mut().find(|it| it.name == setter.key) else {
            let reason = format!("unknown variable `{}`", setter.key);
            return Err(Mistake::new(setter.line, reason));
        };
        variable.setter = Some(text_of(setter)?);
    }
    Ok(())
}

fn snippets(field: &Field) -> Result<Vec<Snippet>, Mistake> {
    let one = |field: &Field| {
        let text = text_of(field)?;
        Ok(Snippet { name: field.key.clone(), description: String::new(), text })
    };
    map_of(field, "a map: one `name: text` on each line below")?.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fails(text: &str) -> String {
        parse(text, "x", Written::ForUs).unwrap_err().to_string()
    }

    #[test]
    fn everything_that_can_be_said() {
        let text = "---\nname: my-goal\ntitle: Mine\ndescription: Does it\ncategory: own\n\
            commands: [add, copy]\nsetters:\n  out-put: set-out\nvariables:\n  out-put: [a, b]\n  \
            free: \"\"\nrun: files\nhot-snippets:\n  one: text\npost-copy-hint: next\n\
            context-header: Stuff\n---\nSay {{ out_put }} {{ free }}.\n";
        let goal = parse(text, "x", Written::ForUs).unwrap();
        assert_eq!((goal.name.as_str(), goal.title.as_str()), ("my-goal", "Mine"));
        assert_eq!(goal.commands, ["add", "copy"]);
        let shown: Vec<_> =
            goal.variables.iter().map(|it| (&it.key, &it.setter, &it.default)).collect();
        assert_eq!(
            shown,
            [
                (&"out_put".to_owned(), &Some("set-out".to_owned()), &json!("a")),
                (&"free".to_owned(), &Some("free".to_owned()), &json!("")),
            ]
        );
        assert_eq!(goal.run, Some(Run::Files));
        assert_eq!(goal.snippets[0].name, "one");
        assert!(!goal.has_code());
    }

    #[test]
    fn mistakes() {
        for (text, expected) in [
            (
                "---\nname: a\n---\nb\n",
                "line 1: missing `description`: write one sentence about what the goal is for",
            ),
            (
                "---\ndescripton: a\n---\nb\n",
                "line 2: unknown key `descripton` (did you mean `description`?)",
            ),
            (
                "---\ndescription: a\n---\n\n",
                "line 4: missing instructions: write them below the front matter",
            ),
            (
                "---\ndescription: a\ncommands: add\n---\nb",
                "line 3: `commands` must be a list: [one, two]",
            ),
            (
                "---\ndescription: a\nvariables: [b]\n---\nb",
                "line 3: `variables` must be a map: one `name: [choices]` on each line below",
            ),
            (
                "---\ndescription: a\nvariables:\n  b: []\n---\nb",
                "line 4: `b` must be a list of choices or a text",
            ),
            ("---\ndescription: a\nrun: all\n---\nb", "line 3: `run` must be files or diff"),
            (
                "---\ndescription: a\nname: ../a\n---\nb",
                "line 1: invalid name \"../a\": use at most 64 letters, digits and hyphens, and no hyphen first",
            ),
            ("---\ndescription: a\nsetters:\n  b: c\n---\nb", "line 4: unknown variable `b`"),
        ] {
            assert_eq!(fails(text), expected, "{text}");
        }
        let unknown = fails("---\ndescription: a\n---\none\n{{ tpye }}\n");
        assert!(unknown.starts_with("line 5: unknown name `tpye`"), "{unknown}");
        let syntax = fails("---\ndescription: a\n---\none\n{% if %}\n");
        assert!(syntax.starts_with("line 5: "), "{syntax}");
    }

    #[test]
    fn files_of_editors_are_taken_as_they_are() {
        let text = "---\nmode: agent\ntools: ['a', 'b']\nwhatever: x\n---\nUse {{.Name}} and ${input:x}.\n";
        let goal = parse(text, "My prompt.v2", Written::ForEditors).unwrap();
        assert_eq!(
            (goal.name.as_str(), goal.description.as_str()),
            ("My-prompt-v2", "My Prompt V2")
        );
        assert_eq!(goal.data["promptInstructions"], "Use {{.Name}} and ${input:x}.\n");
        assert_eq!(parse("text", "☃", Written::ForEditors).unwrap().name, "unnamed-prompt");
        assert!(fails("---\ndescription: a\n---\n{{.Name}}").contains("write `{{ Name }}`"));
    }

    proptest! {
        #[test]
        fn never_panics(text in any::<String>(), stem in any::<String>()) {
            drop(parse(&text, &stem, Written::ForUs));
            drop(parse(&format!("---\n{text}\n---\n{stem}"), &stem, Written::ForEditors));
        }
    }
}

//! Checks a goal's templates when the goal is read, so that a mistake does not show up only after the
//! user has collected the context.

use minijinja::{Environment, ErrorKind};
use osm_script::template::{TOO_DEEP, too_deep};

use super::front_matter::Mistake;
use super::{GIVEN, Goal, go_template};

/// Puts instructions into a frame: both are templates, and see the same names.
pub(super) fn framed(instructions: &str, frame: &str) -> String {
    if mentions_context(instructions) {
        return instructions.to_owned();
    }
    format!("{{% set promptInstructions %}}{instructions}{{% endset %}}{frame}")
}

/// Whether a template contains the context.
pub(super) fn mentions_context(text: &str) -> bool {
    let environment = Environment::new();
    too_deep(text).is_none()
        && environment.template_from_str(text).is_ok_and(|template| {
            let names = template.undeclared_variables(false);
            names.contains("context") || names.contains("contextTxtar")
        })
}

/// The first mistake in a goal's templates.
pub(super) fn check(goal: &Goal) -> Result<(), Mistake> {
    let texts = [Some(&goal.template), goal.banner.as_ref(), goal.usage.as_ref()];
    for text in texts.into_iter().flatten() {
        check_one(goal, text)?;
    }
    if !mentions_context(&goal.template) {
        return Err(Mistake::new(
            1,
            "the template does not contain the context: add `{{ context }}`",
        ));
    }
    Ok(())
}

fn check_one(goal: &Goal, text: &str) -> Result<(), Mistake> {
    if let Some(mistake) = go_template::find(text) {
        return Err(mistake);
    }
    if let Some(line) = too_deep(text) {
        return Err(Mistake::new(line, TOO_DEEP));
    }
    let environment = Environment::new();
    let template = environment.template_from_str(text).map_err(|error| {
        let detail = error.detail().map(str::to_owned);
        let reason = match error.kind() {
            ErrorKind::SyntaxError => detail.unwrap_or_else(|| "invalid syntax".into()),
            kind => detail.unwrap_or_else(|| kind.to_string()),
        };
        Mistake::new(error.line().unwrap_or(1), reason)
    })?;
    let mut unknown: Vec<String> = template
        .undeclared_variables(false)
        .into_iter()
        .filter(|name| !is_known(goal, name))
        .collect();
    unknown.sort();
    let Some(name) = unknown.first() else { return Ok(()) };
    let line = text.lines().position(|line| line.contains(name.as_str())).unwrap_or(0) + 1;
    let mut known: Vec<&str> = goal.variables.iter().map(|it| it.key.as_str()).collect();
    known.push("context");
    let reason = format!("unknown name `{name}`; the template can use {}", known.join(", "));
    Err(Mistake::new(line, reason))
}

fn is_known(goal: &Goal, name: &str) -> bool {
    GIVEN.contains(&name)
        || goal.variables.iter().any(|it| it.key == name || it.name == name)
        || goal.data.contains_key(name)
        || goal.options.contains_key(name)
        // Functions that every template has.
        || matches!(name, "range" | "dict" | "namespace" | "debug" | "loop")
}

//! `osm agent`: hooks in coding agents.

use std::ffi::OsString;
use std::io::{IsTerminal, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::World;
use crate::agent::event::MOST_BYTES;
use crate::agent::{Answer, Moment};
use crate::cli::{Agent as Line, AgentWhich as Which, Format};
use crate::error::{CommandError, Exit};
use crate::invocation::Invocation;
use crate::ops::agent::{
    self, AgentRequest, AgentStatus, CODEX, Change, ChangedFile, Chosen, HookState, Reach, hook,
};
use crate::render::{Style, Text, Ui};

pub(super) fn run(line: &Line, invocation: &Invocation, ui: &mut Ui) -> Result<(), CommandError> {
    match line {
        Line::Install { which, check, trust, yes } => {
            let request = AgentRequest {
                dry_run: which.dry_run || *check,
                trust: *trust,
                yes: *yes,
                ..request(which)
            };
            let files = agent::install(invocation, &request, ui)?;
            show(&files, which, "installed", ui);
            let is_changed = |file: &ChangedFile| file.change != Change::Unchanged;
            if *check && files.iter().any(is_changed) {
                return Err(CommandError::Told(Exit::Failure));
            }
            if !request.dry_run {
                let codex = files.iter().any(|file| file.agent == CODEX && is_changed(file));
                remind(codex && !trust, invocation, ui);
            }
        }
        Line::Remove { which } => {
            let files = agent::remove(invocation, &request(which))?;
            show(&files, which, "removed", ui);
        }
        Line::Status { format } => status(&agent::status(invocation)?, *format, ui),
        Line::Check { format } => return check(invocation, *format, ui),
        // Typed by a person: there is no payload.
        Line::Hook { event } => {
            return Err(CommandError::failed(
                "usage",
                format!("no event {event:?} on standard input: agents run this command"),
            )
            .with_hint("install it with: osm agent install")
            .exiting(Exit::Usage));
        }
    }
    Ok(())
}

fn check(invocation: &Invocation, format: Format, ui: &mut Ui) -> Result<(), CommandError> {
    let checked = agent::check(invocation.world)?;
    if format.json {
        ui.json(&checked);
    } else {
        for step in &checked.steps {
            let state = if step.ok { "ok" } else { "FAILED" };
            ui.line(format!("{state}  {}", step.what));
            ui.line(format!("    {}", step.result));
        }
    }
    if checked.ok { Ok(()) } else { Err(CommandError::Told(Exit::Failure)) }
}

/// Says what else the hooks need.
fn remind(needs_trust: bool, invocation: &Invocation, ui: &mut Ui) {
    if invocation.world.program_on_path().is_none() {
        ui.warn("no `osm` in PATH: the hooks do nothing until an agent can find it");
    }
    if needs_trust {
        ui.note("Codex runs a hook only after you trust it");
        ui.hint("type /hooks in Codex, or run: osm agent install codex --trust");
    }
}

fn request(which: &Which) -> AgentRequest {
    AgentRequest {
        agents: match which.names.as_slice() {
            _ if which.all => Chosen::All,
            [] => Chosen::Found,
            names => Chosen::Named(names.to_vec()),
        },
        reach: if which.project { Reach::Project } else { Reach::User },
        dry_run: which.dry_run,
        trust: false,
        yes: false,
    }
}

fn show(files: &[ChangedFile], which: &Which, done: &str, ui: &mut Ui) {
    if which.format.json {
        return ui.json(files);
    }
    if files.is_empty() {
        return ui.line("nothing is installed");
    }
    for file in files {
        if let Some(diff) = &file.diff {
            ui.document(diff);
        }
    }
    if which.dry_run {
        return;
    }
    let rows: Vec<[Text; 3]> = files
        .iter()
        .map(|file| {
            let what = match file.change {
                Change::Created => "created",
                Change::Changed => "changed",
                Change::Removed => "removed",
                Change::Unchanged => "unchanged",
            };
            [file.agent.into(), what.into(), file.path.display().to_string().into()]
        })
        .collect();
    ui.aligned(&rows);
    if files.iter().all(|file| file.change == Change::Unchanged) {
        ui.line(format!("already {done}"));
    }
}

fn status(agents: &[AgentStatus], format: Format, ui: &mut Ui) {
    if format.json {
        return ui.json(agents);
    }
    let word = |state: HookState| match state {
        HookState::Installed => "installed",
        HookState::Outdated => "outdated",
        HookState::Absent => "-",
        HookState::Unreadable => "unreadable",
    };
    let heading =
        ["AGENT", "FOUND", "USER", "PROJECT", "MCP", "LIMITS"].map(|name| Style::Faint.of(name));
    let mut table = vec![heading.to_vec()];
    for agent in agents {
        let mut limits = agent.limits.join("; ");
        if !agent.tried {
            limits = format!(
                "{}not tried with the real agent",
                if limits.is_empty() { String::new() } else { limits + "; " }
            );
        }
        table.push(vec![
            agent.name.into(),
            if agent.found { "yes" } else { "no" }.into(),
            word(agent.user).into(),
            agent.project.map_or("-", word).into(),
            if agent.mcp { "yes" } else { "-" }.into(),
            limits.into(),
        ]);
    }
    ui.aligned(&table);
}

/// Whether the command line is a hook. It is known before the arguments are parsed: an error of the parser
/// would exit with 2, which every agent takes for a refusal.
pub(crate) fn is_hook(arguments: &[OsString]) -> bool {
    matches!(arguments, [agent, hook, event, ..]
        if agent == "agent" && hook == "hook" && !event.as_encoded_bytes().starts_with(b"-"))
        && !std::io::stdin().is_terminal()
}

/// Answers a hook. It cannot fail: whatever goes wrong lets the tool run.
pub(crate) fn answer_hook(world: &World, ui: &mut Ui) {
    let answered = catch_unwind(AssertUnwindSafe(|| answered(world)));
    let answer = answered.unwrap_or_else(|_| Answer {
        warning: Some("osm let the tool run unchecked, because of an error in osm".into()),
        ..Answer::default()
    });
    if let Some(warning) = &answer.warning {
        ui.warn(warning);
    }
    ui.payload(&answer.output);
}

fn answered(world: &World) -> Answer {
    let warning = |text: String| Answer { warning: Some(text), ..Answer::default() };
    let word = world.arguments.get(2).map(|it| it.to_string_lossy()).unwrap_or_default();
    let Some(moment) = Moment::named(&word) else {
        let words: Vec<&str> = Moment::TABLE.iter().map(|(_, word)| *word).collect();
        return warning(format!(
            "unknown event {word:?} of a hook; osm knows {}",
            words.join(", ")
        ));
    };
    let mut payload = Vec::new();
    match std::io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut payload) {
        Err(error) => return warning(format!("cannot read the payload of a hook: {error}")),
        Ok(_) if payload.len() as u64 > MOST_BYTES => {
            return warning(
                "osm let the tool run unchecked: its payload is larger than 64 MB".into(),
            );
        }
        Ok(_) => {}
    }
    hook::answer(world, moment, &payload)
}

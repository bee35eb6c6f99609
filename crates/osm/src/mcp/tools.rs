//! The tools: a row for each, which names its arguments and the operation.

use std::ffi::OsString;

use osm_claims::Mode;
use serde_json::{Value, json};

use super::arguments::{Parameter, seconds, switch, text, texts, values};
use super::call::{Answer, Call};
use crate::documents::{self, session::Report};
use crate::ops::claim::{
    self, AskRequest, ClaimAllRequest, GrantOptions, HeldRequest, NextRequest, OfferRequest,
    ReleaseRequest, Resources,
};
use crate::ops::prompt::{self, AddRequest, BuildRequest, NewItem};
use crate::ops::{goal, identity, prime};

/// A tool.
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) parameters: &'static [Parameter],
    /// Whether it changes nothing.
    pub(super) only_reads: bool,
    pub(super) run: fn(&mut Call) -> Answer,
}

const SCOPE: Parameter =
    text("scope", "where the claim counts, instead of the Git repository around the server");
const NOTE: Parameter = text("note", "a note that other sessions read");
const WAIT: Parameter =
    seconds("wait_seconds", "wait so long until it is free [default: do not wait]");
const TTL: Parameter =
    seconds("ttl_seconds", "the term of the lease, if osm cannot see the process of the session");
const RESOURCE: Parameter =
    text("resource", "the name of the claim, or `path:` and a path from the top of the worktree")
        .required();

/// Every tool. A test compares the names with the page about agents.
pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "whoami",
        about: "Show the session of this conversation: its id, its handle, and how osm found it.",
        parameters: &[],
        only_reads: true,
        run: |call| Ok(json!(Report::new(&identity::explain(call.invocation)))),
    },
    Tool {
        name: "status",
        about: "Show what this session holds, what was offered to it, and what other sessions hold. With a \
                resource: who holds that, the evidence, and how to get it.",
        parameters: &[
            text(
                "resource",
                "a claim: its name, or `path:` and a path from the top of the worktree",
            ),
            SCOPE,
        ],
        only_reads: true,
        run: status,
    },
    Tool {
        name: "claim",
        about: "Claim work or files, so that no other session takes them: all of them, or none. Before you edit a \
                file with a tool of your own, osm claims it for you.",
        parameters: &[
            texts("resources", "names of your choice, such as TASK-7"),
            texts("paths", "files, folders or globs, from the working directory of the server"),
            NOTE,
            WAIT,
            TTL,
            switch(
                "shared",
                "other sessions may also claim the paths as shared; none of them may change them",
            ),
            switch("everywhere", "exclude the same paths in other worktrees, too"),
            switch("reopen", "claim it even if the work is done"),
            text("request", "an id: a repeated call with it gets the same claim"),
            SCOPE,
        ],
        only_reads: false,
        run: claim_all,
    },
    Tool {
        name: "next",
        about: "Claim the first of several candidates that is free.",
        parameters: &[
            texts("candidates", "names, in the order of preference").required(),
            NOTE,
            WAIT,
            TTL,
            SCOPE,
        ],
        only_reads: false,
        run: next,
    },
    Tool {
        name: "release",
        about: "Release claims of this session.",
        parameters: &[
            texts("resources", "the claims: names, or `path:` and a path"),
            switch("all", "all claims of this session in the repository, instead of `resources`"),
            switch("done", "the work is done, so that no other session does it again"),
            SCOPE,
        ],
        only_reads: false,
        run: release,
    },
    Tool {
        name: "note",
        about: "Change the note of a claim of this session. Other sessions read it.",
        parameters: &[
            RESOURCE,
            text("text", "the note; an empty text removes it").required(),
            SCOPE,
        ],
        only_reads: false,
        run: note,
    },
    Tool {
        name: "handoff",
        about: "Offer a claim of this session to another session, which then may accept it. Without `to`, withdraw \
                the offer.",
        parameters: &[
            RESOURCE,
            text("to", "the other session: its id, a unique prefix of it, or its handle"),
            text("note", "a note for that session"),
            seconds("term_seconds", "how long the offer stands [default: 1 hour]"),
            SCOPE,
        ],
        only_reads: false,
        run: handoff,
    },
    Tool {
        name: "ask",
        about: "Send a message to the sessions that hold something, or to one session. They read it at their next \
                contact with osm, until they acknowledge it.",
        parameters: &[
            text(
                "target",
                "a claim, a path from the working directory of the server, or a session: its id, a unique prefix \
                 of it, or its handle",
            )
            .required(),
            text("text", "the message").required(),
            SCOPE,
        ],
        only_reads: false,
        run: ask,
    },
    Tool {
        name: "inbox",
        about: "Read the messages to this session, and the requests that wait for its claims. This acknowledges the \
                messages.",
        parameters: &[SCOPE],
        only_reads: false,
        run: inbox,
    },
    Tool {
        name: "context_add",
        about: "Add items to the prompt of this session: files, notes, and diffs that are taken when the prompt is \
                built. All of them, or none.",
        parameters: &[
            texts("paths", "files, folders or globs, from the working directory of the server"),
            texts("notes", "texts"),
            texts("diff", "the arguments of one `git diff`; an empty list is the working tree"),
        ],
        only_reads: false,
        run: context_add,
    },
    Tool {
        name: "context_list",
        about: "List the items of the prompt of this session, with their sizes.",
        parameters: &[],
        only_reads: true,
        run: |call| {
            let items = Call::done(prompt::list(call.invocation, &mut call.voice))?;
            Ok(json!({ "items": items }))
        },
    },
    Tool {
        name: "prompt",
        about: "Build the prompt of this session from its items: plain, or around a goal such as code-review.",
        parameters: &[
            text(
                "goal",
                "the name of a goal; `osm goal list` and the prompts of this server name them",
            ),
            values("values", "values for the variables of the goal"),
        ],
        only_reads: true,
        run: build,
    },
];

/// The tool of that name.
pub(super) fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// The refusal of arguments that contradict each other.
fn usage(message: &str) -> Value {
    json!({ "reason": "usage", "exit": crate::Exit::Usage.code(), "message": message, "hints": [] })
}

fn options(call: &Call) -> GrantOptions {
    let arguments = call.arguments;
    GrantOptions {
        wait: arguments.seconds("wait_seconds"),
        ttl: arguments.seconds("ttl_seconds"),
        note: arguments.owned("note"),
        request_id: arguments.owned("request"),
        reopen: arguments.is("reopen"),
        mode: Mode {
            shared: arguments.is("shared"),
            everywhere: arguments.is("everywhere"),
            automatic: false,
        },
    }
}

fn held(call: &Call) -> Result<HeldRequest, Value> {
    Ok(HeldRequest { resource: call.resource()?, epoch: None, scope: call.scope() })
}

fn status(call: &mut Call) -> Answer {
    if call.arguments.text("resource").is_none() {
        return Ok(json!(prime::prime(call.invocation)));
    }
    let (resource, scope) = (call.resource()?, call.scope());
    let found = claim::why(call.invocation, scope.as_deref(), &resource, &mut call.voice);
    let found = call.answered(found)?;
    call.tell(&found.notices);
    Ok(documents::claim::status(&resource, &found))
}

fn claim_all(call: &mut Call) -> Answer {
    let (names, paths) = (call.resources("resources")?, call.paths("paths")?);
    let options = options(call);
    if names.is_empty() && paths.is_empty() {
        return Err(usage("nothing to claim: name `resources` or `paths`"));
    }
    if !names.is_empty() && (options.mode.shared || options.mode.everywhere) {
        return Err(usage("`shared` and `everywhere` are for paths: leave out `resources`"));
    }
    let resources = [names, paths].concat();
    if resources.len() > 1 && options.request_id.is_some() {
        return Err(usage(
            "`request` is for one resource: a request id is answered with one claim",
        ));
    }
    let request = ClaimAllRequest { resources, options, scope: call.scope() };
    let claimed = claim::claim_all(call.invocation, &request, &mut call.voice);
    let claimed = call.answered(claimed)?;
    if let Some(last) = claimed.last() {
        claim::tell_resumable(&last.outcome.notices, call.invocation, &mut call.voice);
    }
    Ok(documents::claim::claimed_all(&claimed))
}

fn next(call: &mut Call) -> Answer {
    let candidates = call.resources("candidates")?;
    let request = NextRequest { candidates, options: options(call), scope: call.scope() };
    let claimed = claim::next(call.invocation, &request, &mut call.voice);
    let claimed = call.answered(claimed)?;
    claim::tell_resumable(&claimed.outcome.notices, call.invocation, &mut call.voice);
    Ok(documents::claim::claimed(&claimed))
}

fn release(call: &mut Call) -> Answer {
    let named = call.resources("resources")?;
    let resources = match (named.is_empty(), call.arguments.is("all")) {
        (true, true) => Resources::All,
        (false, false) => Resources::Named(named),
        _ => return Err(usage("name `resources`, or set `all`")),
    };
    let (done, scope) = (call.arguments.is("done"), call.scope());
    let request = ReleaseRequest { resources, epoch: None, done, scope };
    let batch = claim::release(call.invocation, &request, &mut call.voice);
    let batch = call.answered(batch)?;
    call.tell(&batch.notices);
    match (documents::claim::batch(&batch, "released"), batch.failed) {
        (Some(document), None) => Ok(document),
        (Some(document), Some(_)) => Err(document),
        (None, Some(error)) => Err(documents::failure(error)),
        (None, None) => Ok(json!({ "released": [] })),
    }
}

fn note(call: &mut Call) -> Answer {
    let (held, text) = (held(call)?, call.arguments.owned("text").unwrap_or_default());
    let noted = claim::note(call.invocation, &held, &text, &mut call.voice);
    let noted = call.answered(noted)?;
    call.tell(&noted.outcome.notices);
    Ok(documents::claim::claimed(&noted))
}

fn handoff(call: &mut Call) -> Answer {
    let request = OfferRequest {
        held: held(call)?,
        to: call.arguments.text("to").map(OsString::from),
        term: call.arguments.seconds("term_seconds"),
        note: call.arguments.owned("note"),
    };
    let offered = claim::offer(call.invocation, &request, &mut call.voice);
    let offered = call.answered(offered)?;
    call.tell(&offered.outcome.notices);
    Ok(documents::claim::claimed(&offered))
}

fn ask(call: &mut Call) -> Answer {
    let arguments = call.arguments;
    let request = AskRequest {
        target: arguments.text("target").unwrap_or_default().into(),
        text: arguments.owned("text").unwrap_or_default(),
        scope: call.scope(),
    };
    let sent = claim::ask(call.invocation, &request, &mut call.voice);
    Ok(documents::message::sent(&call.answered(sent)?))
}

fn inbox(call: &mut Call) -> Answer {
    let found = claim::inbox(call.invocation, call.scope().as_deref(), &mut call.voice);
    let found = call.answered(found)?;
    call.tell(&found.notices);
    let shown: Vec<u64> = found.messages.iter().map(|it| it.number).collect();
    let acknowledged = claim::acknowledge(call.invocation, &shown);
    call.answered(acknowledged)?;
    Ok(documents::message::inbox(&found))
}

fn context_add(call: &mut Call) -> Answer {
    let arguments = call.arguments;
    let paths = arguments.texts("paths").map(|path| NewItem::Path(path.into()));
    let notes = arguments.texts("notes").map(|text| NewItem::Note(text.into()));
    let words = || arguments.texts("diff").map(str::to_owned).collect();
    let diff = arguments.has("diff").then(|| NewItem::Diff(words()));
    let items: Vec<NewItem> = paths.chain(notes).chain(diff).collect();
    if items.is_empty() {
        return Err(usage("nothing to add: name `paths`, `notes` or `diff`"));
    }
    let added = prompt::add(call.invocation, &AddRequest { items }, &mut call.voice);
    Ok(json!(Call::done(added)?))
}

fn build(call: &mut Call) -> Answer {
    let values = call.arguments.values("values");
    let Some(name) = call.arguments.text("goal") else {
        if !values.is_empty() {
            return Err(usage("`values` are for a goal: name `goal`"));
        }
        let built = prompt::build(call.invocation, &BuildRequest::default(), &mut call.voice);
        return Ok(json!(Call::done(built)?));
    };
    Ok(json!(Call::done(goal::build(call.invocation, name, &values, &mut call.voice))?))
}

#[cfg(test)]
mod tests {
    use super::super::arguments::schema;
    use super::*;

    #[test]
    fn names_are_words_and_have_one_tool() {
        for (place, tool) in TOOLS.iter().enumerate() {
            assert!(tool.name.bytes().all(|it| it.is_ascii_lowercase() || it == b'_'));
            assert!(TOOLS[..place].iter().all(|it| it.name != tool.name), "{}", tool.name);
            assert_eq!(schema(tool.parameters)["type"], "object");
            let page = include_str!("../../../../docs/agents.md");
            assert!(
                page.contains(&format!("| `{}` |", tool.name)),
                "docs/agents.md lacks {}",
                tool.name
            );
        }
    }
}

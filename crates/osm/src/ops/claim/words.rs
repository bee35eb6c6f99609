//! How reasons and errors of claims are worded: exit code, sentence and remedy of each.

use std::time::Duration;

use jiff::Timestamp;
use osm_claims::error::Writer;
use osm_claims::rules::collision::Waiter;
use osm_claims::{Claim, End, Error, Hold, Message, MessageKind, Mode, Reason, Refused, Resource};
use osm_identity::Liveness;

use super::Elsewhere;
use crate::ops::identity::name::handle_of;
use crate::ops::server;
use crate::render::escape;

/// One reason.
struct Row {
    reason: Reason,
    exit: u8,
    meaning: &'static str,
}

const fn row(reason: Reason, exit: u8, meaning: &'static str) -> Row {
    Row { reason, exit, meaning }
}

/// Every reason, once; `docs/exit-codes.md` is checked against it.
const TABLE: &[Row] = &[
    row(Reason::Held, 10, "already claimed by a running session"),
    row(Reason::Suspended, 11, "already claimed by a session whose process is stopped"),
    row(Reason::Unknown, 12, "already claimed, and it is not known whether the holder is running"),
    row(Reason::Reserved, 13, "reserved for the session that it was offered to"),
    row(Reason::Completed, 14, "the work is done"),
    row(Reason::Stale, 15, "that epoch is over"),
    row(Reason::UnknownEpoch, 16, "the ledger never granted that epoch"),
    row(Reason::NotHeld, 17, "this session does not hold it"),
    row(Reason::NotOffered, 18, "no such offer"),
    row(Reason::LeaseOver, 19, "the lease has run out"),
    row(
        Reason::HolderAlive,
        20,
        "the holder is still running; add --even-if-alive to take it anyway",
    ),
    row(Reason::NoIdentity, 21, "this session has no stable id: it is random at every call"),
    row(Reason::Unconfirmed, 22, "cannot see this session's process"),
    row(Reason::SessionElsewhere, 23, "another running process has this session"),
    row(
        Reason::SessionUnknown,
        24,
        "it is not known whether the process that had this session is running",
    ),
    row(Reason::AnchorGone, 25, "this session's process has ended"),
    row(Reason::NothingFree, 26, "no candidate is free"),
    row(Reason::RequestReused, 27, "that request id was used before"),
    row(Reason::ProcessOver, 28, "the command that held it has ended"),
    row(Reason::WriterWaits, 29, "a session that waits to change it comes first"),
];

fn find(reason: Reason) -> &'static Row {
    TABLE.iter().find(|row| row.reason == reason).expect("the table has every reason")
}

/// The exit code of a command that is refused for a reason.
pub(crate) fn exit(reason: Reason) -> u8 {
    find(reason).exit
}

/// What a reason means, in general.
pub(crate) fn meaning(reason: Reason) -> &'static str {
    find(reason).meaning
}

/// A refusal in one sentence, with its evidence.
pub(crate) fn refusal(refused: &Refused) -> String {
    one_line(&sentence(refused))
}

fn sentence(refused: &Refused) -> String {
    let subject = refused.resource.as_ref().map(|it| format!("{it}: ")).unwrap_or_default();
    let sentence = format!("{subject}{}", meaning(refused.reason));
    match refused.reason {
        Reason::Held
        | Reason::Suspended
        | Reason::Unknown
        | Reason::HolderAlive
        | Reason::Reserved => format!("{sentence}: {}; {}", holder(refused), evidence(refused)),
        Reason::Completed | Reason::Stale | Reason::NotHeld | Reason::RequestReused => {
            match &refused.claim {
                _ if is_resumable(refused) => {
                    format!("{sentence}: an earlier process of this session held it, and died")
                }
                Some(claim) => format!("{sentence}: {}", fate(claim)),
                None => sentence,
            }
        }
        Reason::SessionElsewhere | Reason::SessionUnknown => {
            format!("{sentence}: {}", evidence(refused))
        }
        Reason::NothingFree => {
            let all: usize = refused.tally.iter().map(|(_, count)| count).sum();
            let noun = if all == 1 { "candidate" } else { "candidates" };
            let parts = refused.tally.iter().map(|(it, count)| format!(", {count} {}", it.code()));
            format!("{sentence}: {all} {noun}{}", parts.collect::<String>())
        }
        _ => sentence,
    }
}

/// What a refused request waits for: who has it, and since when.
pub(crate) fn waiting(refused: &Refused) -> String {
    let wanted = refused.resource.as_ref().map_or("a claim".into(), quoted);
    let Some(claim) = &refused.claim else { return format!("waiting for {wanted}") };
    let agent = claim.owner.agent.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
    let (session, since) = (handle_of(&claim.owner.session), to_the_second(claim.since));
    one_line(&format!("waiting for {wanted}: {session}{agent} has it since {since}"))
}

/// The holder of the claim.
fn holder(refused: &Refused) -> String {
    let Some(claim) = &refused.claim else { return "another session".into() };
    let agent = claim.owner.agent.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
    let (session, epoch) = (handle_of(&claim.owner.session), claim.epoch);
    // Another path that overlaps.
    let other = Some(&claim.resource).filter(|it| Some(*it) != refused.resource.as_ref());
    let other = other.map(|it| format!(" holds {it}")).unwrap_or_default();
    let note = claim
        .note
        .as_ref()
        .map(|it| format!(" ({it})"))
        .filter(|_| claim.resource.path().is_some());
    let note = note.unwrap_or_default();
    format!("{session}{agent}{other}, epoch {epoch}, since {}{note}", to_the_second(claim.since))
}

fn evidence(refused: &Refused) -> String {
    if let (Reason::Reserved, Some(claim)) = (refused.reason, &refused.claim) {
        let to = claim.offer.as_ref().map(|offer| handle_of(&offer.to));
        let to = to.unwrap_or_else(|| "another session".into());
        let time = refused.left.map(|left| format!(" for another {}", time_left(left)));
        return format!("reserved for {to}{}", time.unwrap_or_default());
    }
    let while_used =
        matches!(&refused.claim, Some(claim) if matches!(claim.hold, Hold::WhileUsed(_)));
    let left = refused.left.filter(|_| !while_used);
    match (refused.holders.first(), &refused.verdict, left) {
        (_, _, Some(left)) => format!("its lease runs for another {}", time_left(left)),
        (Some(process), Some(verdict), None) => format!("{process}: {}", verdict.evidence()),
        (None, Some(verdict), None) => verdict.evidence().to_owned(),
        (_, None, None) => "no evidence".into(),
    }
}

/// The next command, or what else would change a refusal.
pub(crate) fn remedy(refused: &Refused) -> String {
    let name = refused.resource.as_ref().map(quoted).unwrap_or_default();
    match refused.reason {
        Reason::Held => {
            // What overlaps is the holder's to hand off.
            let held =
                refused.claim.as_ref().map_or_else(|| name.clone(), |it| quoted(&it.resource));
            format!(
                "wait for it: osm claim --wait 10m {name}; or ask the holder to run: osm claim handoff \
                 {held} --to SESSION"
            )
        }
        Reason::Suspended => {
            format!("continue its process, or take it: osm claim take {name} --reason WHY")
        }
        Reason::Unknown => {
            format!("ask the holder, or take it: osm claim take {name} --reason WHY")
        }
        Reason::Reserved => {
            format!("wait until the offer ends, or take it: osm claim take {name} --reason WHY")
        }
        Reason::Completed => format!("to do it again: osm claim --reopen {name}"),
        Reason::Stale => format!(
            "stop working on it; see what happened: osm claim why {name}; acknowledge the loss: osm \
             release {name}"
        ),
        Reason::UnknownEpoch => {
            format!("stop working on it; see what happened: osm claim why {name}")
        }
        Reason::NotHeld if is_resumable(refused) => {
            format!("take it over: osm claim resume {name}")
        }
        Reason::NotHeld => "list what this session holds: osm claim mine".into(),
        Reason::NotOffered => "list claims and offers: osm claims".into(),
        Reason::LeaseOver => format!("renew it: osm claim renew {name}"),
        Reason::HolderAlive => {
            format!("ask the holder for it, or: osm claim take {name} --reason WHY --even-if-alive")
        }
        Reason::NoIdentity => {
            "name the session: OSM_SESSION=NAME osm claim …; `osm whoami` explains the id".into()
        }
        Reason::Unconfirmed => {
            "run osm outside the sandbox, or use another session: OSM_SESSION=NAME".into()
        }
        Reason::SessionElsewhere | Reason::SessionUnknown => {
            "end the other process, or use another session: OSM_SESSION=NAME".into()
        }
        Reason::AnchorGone => "run osm from a terminal or an agent that is running".into(),
        Reason::NothingFree => "see who holds them: osm claims".into(),
        Reason::RequestReused => "use another --request for another claim".into(),
        Reason::ProcessOver => format!("claim it again: osm claim {name}"),
        Reason::WriterWaits => {
            format!("wait for it: osm claim path --shared --wait 10m {}", path_of(refused))
        }
    }
}

/// The path that was refused, as `osm claim path` takes it at the top of the worktree.
fn path_of(refused: &Refused) -> String {
    let path = refused.resource.as_ref().and_then(Resource::path);
    path.map(|it| shell_word(&one_line(&it.to_string()))).unwrap_or_default()
}

/// Whether an earlier process of the session, which died, held what is refused.
fn is_resumable(refused: &Refused) -> bool {
    let scope = refused.claim.as_ref().map(|claim| claim.scope);
    let mut resumable = refused.notices.resumable.iter();
    resumable.any(|it| Some(&it.resource) == refused.resource.as_ref() && Some(it.scope) == scope)
}

/// What a claim of paths excludes, if it is not the default.
pub(crate) fn mode(mode: Mode) -> String {
    let parts = [
        (mode.shared, ", shared"),
        (mode.everywhere, ", in all worktrees"),
        (mode.automatic, ", automatic"),
    ];
    parts.into_iter().filter(|it| it.0).map(|it| it.1).collect()
}

/// A claim of the same paths in another worktree: whose it is, and on which branch.
pub(crate) fn elsewhere(other: &Elsewhere) -> String {
    let claim = &other.claim;
    let agent = claim.owner.agent.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
    let place = other.worktree.as_ref().map_or_else(String::new, |it| match &it.branch {
        Some(branch) => format!(", branch {branch}"),
        None => format!(", worktree {}", it.path),
    });
    one_line(&format!("{} of {}{agent}{place}", claim.resource, handle_of(&claim.owner.session)))
}

/// A message, in one line. The text of another session is quoted.
pub(crate) fn message(message: &Message) -> String {
    let from = handle_of(&message.from);
    let about = message.about.as_ref().map(|it| format!(" about {it}")).unwrap_or_default();
    one_line(&match message.kind {
        MessageKind::Asked => format!("{from} asks{about}: \"{}\"", message.text),
        MessageKind::Told => format!("{from} says{about}: \"{}\"", message.text),
        // The sentence is osm's own.
        MessageKind::Changed => message.text.clone(),
    })
}

/// A request that waits for a claim, in one line.
pub(crate) fn waiter(waiter: &Waiter) -> String {
    one_line(&format!("{} waits for {}", handle_of(&waiter.session), waiter.resource))
}

/// What became of a claim, in one sentence.
pub(crate) fn fate(claim: &Claim) -> String {
    one_line(&ending(claim))
}

fn ending(claim: &Claim) -> String {
    let (epoch, session) = (claim.epoch, handle_of(&claim.owner.session));
    let Some(ended) = &claim.ended else {
        let since = to_the_second(claim.since);
        return format!("{session} holds it, epoch {epoch}, since {since}");
    };
    let why = ended.evidence.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
    let (at, by) = (to_the_second(ended.at), handle_of(&ended.by));
    match ended.how {
        End::Released => format!("{session} released epoch {epoch} at {at}"),
        End::Completed => format!("{session} completed it with epoch {epoch} at {at}"),
        End::Died => {
            let who = match claim.hold {
                Hold::Process(_) | Hold::ProcessLease(..) => "the command of ",
                _ => "",
            };
            format!("{by} found {who}{session} (epoch {epoch}) dead at {at}{why}")
        }
        End::Expired => {
            let what = match claim.hold {
                Hold::WhileUsed(_) => {
                    format!("the automatic claim of {session} (epoch {epoch}) idle")
                }
                _ => format!("the lease of {session} (epoch {epoch}) over"),
            };
            format!("{by} found {what} at {at}")
        }
        End::HandedOff => format!("{session} handed epoch {epoch} to {by} at {at}"),
        End::Taken => format!("{by} took epoch {epoch} from {session} at {at}{why}"),
    }
}

/// An error of the ledger at a place.
pub(crate) fn ledger(place: &str, error: &Error) -> String {
    match error {
        Error::Busy { writer: Some(Writer { pid, name, is_suspended }) } => {
            let stopped = if *is_suspended { ", which is stopped" } else { "" };
            one_line(&format!("{name} (pid {pid}){stopped} is writing to the ledger ({place})"))
        }
        // It names its server.
        Error::Server(error) => one_line(&error.to_string()),
        error => one_line(&format!("{error} ({place})")),
    }
}

/// The stable name of an error of the ledger, for programs.
pub(crate) fn ledger_reason(error: &Error) -> &'static str {
    match error {
        Error::Refused(refused) => refused.reason.code(),
        Error::Busy { .. } => "ledger_busy",
        Error::Corrupt(_) => "ledger_damaged",
        Error::Newer { .. } => "ledger_newer",
        Error::Unsafe(_) => "ledger_unsafe",
        Error::Replaced => "ledger_replaced",
        Error::CommitUnknown(_) => "commit_unknown",
        Error::Processes(_) => "no_process_table",
        Error::Server(error) => server::reason(error.kind()),
        _ => "ledger_failed",
    }
}

/// What to do about an error of the ledger.
pub(crate) fn ledger_hint(place: &str, error: &Error) -> Option<String> {
    Some(match error {
        Error::Refused(refused) => remedy(refused),
        Error::Busy { .. } => "continue or end that process, and try again".into(),
        Error::Corrupt(_) => format!(
            "see what can be read: osm claim repair --dry-run; or restore a backup of {place} with its \
             -wal file and claims.mark"
        ),
        Error::Newer { .. } => "use the version of osm that made it, or a later one".into(),
        Error::Unsafe(_) => {
            format!("look at {place}, or set OSM_HOME to a local folder of this user")
        }
        Error::Replaced => "nothing was changed; try again".into(),
        Error::CommitUnknown(_) => {
            "run the same command again, with the same --request if it had one: the answer tells"
                .into()
        }
        Error::Clock => "set the system clock, and try again".into(),
        Error::Processes(_) => return None,
        Error::Server(error) => {
            let known =
                "nothing is known of the claims there, so consider what you need as claimed";
            match server::hint(error.kind()) {
                Some(hint) => format!("{known}; {hint}"),
                None => known.into(),
            }
        }
        _ => "nothing was changed; check that the disk has room and the folder is writable".into(),
    })
}

/// The name of a resource as a shell takes it.
pub(crate) fn quoted(resource: &Resource) -> String {
    shell_word(&one_line(&resource.to_string()))
}

/// A text as a shell takes it.
fn shell_word(shown: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:@%+=,".contains(c);
    if shown.chars().all(is_plain) && !shown.starts_with('-') {
        return shown.to_owned();
    }
    format!("'{}'", shown.replace('\'', r"'\''"))
}

/// Text of others inside a sentence: a line end in it must not start a line that looks like ours.
pub(crate) fn one_line(text: &str) -> String {
    escape::one_line(text).into_owned()
}

/// A time to the second, as people read it.
pub(crate) fn to_the_second(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

/// The rest of a lease.
fn time_left(left: Duration) -> String {
    match left.as_secs() {
        0 => "moment".into(),
        seconds @ 1..=119 => format!("{seconds} s"),
        seconds => format!("{} min", seconds / 60),
    }
}

/// The verdict and what it rests on, for a table.
pub(crate) fn verdict(verdict: &Liveness) -> String {
    match verdict {
        Liveness::Alive | Liveness::Suspended => verdict.name().to_owned(),
        Liveness::Dead(_) | Liveness::Unknown(_) => {
            format!("{}: {}", verdict.name(), verdict.evidence())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_reason_has_its_own_exit_code_and_a_row_in_the_documentation() {
        let page = include_str!("../../../../../docs/exit-codes.md");
        let mut exits = BTreeSet::new();
        for reason in Reason::ALL {
            let (exit, code, meaning) = (exit(*reason), reason.code(), meaning(*reason));
            assert!(exits.insert(exit), "{code}");
            let row = format!("| {exit} | `{code}` | {meaning} |");
            assert!(page.contains(&row), "docs/exit-codes.md lacks {row}");
        }
        assert_eq!(TABLE.len(), Reason::ALL.len());
    }

    #[test]
    fn names_are_quoted_for_a_shell() {
        let shown = |name: &str| quoted(&Resource::new(name).unwrap());
        assert_eq!(shown("TASK-7"), "TASK-7");
        assert_eq!(shown("-x"), "'-x'");
        assert_eq!(shown("a b'c"), r"'a b'\''c'");
    }
}

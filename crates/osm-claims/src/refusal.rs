//! Refusals: each reason with its code, its exit code, a sentence and what would change it.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;

use crate::claim::{Claim, End, Hold};
use crate::plain::plain;
use crate::resource::Resource;
use osm_identity::{Liveness, ProcessInstance};

/// Why something was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A live owner has it.
    Held,
    /// Its owner is stopped and may go on.
    Suspended,
    /// Nobody can tell whether its owner lives.
    Unknown,
    /// It is kept for a session that it was offered to.
    Reserved,
    /// The work is done.
    Completed,
    /// The epoch is not the present one.
    Stale,
    /// The ledger never granted that epoch.
    UnknownEpoch,
    /// The caller does not hold it.
    NotHeld,
    /// It was not offered to the caller.
    NotOffered,
    /// The lease of the caller ran out.
    LeaseOver,
    /// The owner lives, and the caller did not say that it knows.
    HolderAlive,
    /// The session is random.
    NoIdentity,
    /// The process of the session cannot be seen from here.
    Unconfirmed,
    /// Another live process has this session.
    SessionElsewhere,
    /// Nobody can tell whether the process that had this session lives.
    SessionUnknown,
    /// The process of the session ended.
    AnchorGone,
    /// Nothing of what was asked for is free.
    NothingFree,
    /// The request was answered before, and cannot be answered so again.
    RequestReused,
    /// The process that was to hold it ended.
    ProcessOver,
}

/// What is known of a reason.
struct Row {
    reason: Reason,
    code: &'static str,
    exit: u8,
    meaning: &'static str,
}

const fn row(reason: Reason, code: &'static str, exit: u8, meaning: &'static str) -> Row {
    Row { reason, code, exit, meaning }
}

/// Every reason, once.
const TABLE: &[Row] = &[
    row(Reason::Held, "held", 10, "a live owner has it"),
    row(Reason::Suspended, "suspended", 11, "its owner is stopped and may go on"),
    row(Reason::Unknown, "unknown_holder", 12, "nobody can tell from here whether its owner lives"),
    row(Reason::Reserved, "reserved", 13, "it is kept for the session that it was offered to"),
    row(Reason::Completed, "completed", 14, "the work is done"),
    row(Reason::Stale, "stale", 15, "that epoch is over"),
    row(Reason::UnknownEpoch, "unknown_epoch", 16, "the ledger never granted that epoch"),
    row(Reason::NotHeld, "not_held", 17, "this session does not hold it"),
    row(Reason::NotOffered, "not_offered", 18, "there is no such offer"),
    row(Reason::LeaseOver, "lease_over", 19, "the lease ran out"),
    row(
        Reason::HolderAlive,
        "holder_alive",
        20,
        "its owner lives, so more than a reason is needed",
    ),
    row(Reason::NoIdentity, "no_identity", 21, "this session is random, another one at every call"),
    row(Reason::Unconfirmed, "unconfirmed", 22, "the process of this session is out of sight"),
    row(Reason::SessionElsewhere, "session_elsewhere", 23, "another live process has this session"),
    row(
        Reason::SessionUnknown,
        "session_unknown",
        24,
        "nobody can tell whether the process that had this session lives",
    ),
    row(Reason::AnchorGone, "anchor_gone", 25, "the process of this session ended"),
    row(Reason::NothingFree, "nothing_free", 26, "nothing of what was asked for is free"),
    row(Reason::RequestReused, "request_reused", 27, "that request was answered before"),
    row(Reason::ProcessOver, "process_over", 28, "the command that held it ended"),
];

impl Reason {
    /// Every reason: its code, exit code and meaning, for the documentation.
    pub fn all() -> impl Iterator<Item = (Self, &'static str, u8, &'static str)> {
        TABLE.iter().map(|row| (row.reason, row.code, row.exit, row.meaning))
    }

    fn row(self) -> &'static Row {
        TABLE.iter().find(|row| row.reason == self).expect("the table has every reason")
    }

    /// The stable code, for machines.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.row().code
    }

    /// The exit code of a command that is refused for it.
    #[must_use]
    pub fn exit(self) -> u8 {
        self.row().exit
    }

    /// What it means, in general.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        self.row().meaning
    }
}

/// A refusal, with its evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub reason: Reason,
    /// What was asked for.
    pub resource: Option<Resource>,
    /// The claim that is in the way, or that the caller lost.
    pub claim: Option<Box<Claim>>,
    /// The processes behind it.
    pub holders: Vec<ProcessInstance>,
    /// What is known of the first of them.
    pub verdict: Option<Liveness>,
    /// How long its lease, or its offer, still runs.
    pub left: Option<Duration>,
    /// How many candidates were looked at, and what became of them.
    pub tally: Vec<(Reason, usize)>,
}

impl Refused {
    /// A refusal without evidence.
    #[must_use]
    pub fn because(reason: Reason) -> Self {
        Self {
            reason,
            resource: None,
            claim: None,
            holders: Vec::new(),
            verdict: None,
            left: None,
            tally: Vec::new(),
        }
    }

    /// The processes whose end would change it: one that has ended changes nothing any more.
    pub(crate) fn living(&self) -> &[ProcessInstance] {
        match self.verdict {
            Some(Liveness::Dead(_)) => &[],
            _ => &self.holders,
        }
    }

    /// The owner in the way, for people.
    fn holder(&self) -> String {
        let Some(claim) = &self.claim else { return "another session".into() };
        let agent = claim.owner.agent.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
        format!(
            "{}{agent}, epoch {}, since {}",
            claim.owner.session,
            claim.epoch,
            shown(claim.since)
        )
    }

    /// What it rests on.
    fn evidence(&self) -> String {
        if let (Reason::Reserved, Some(claim)) = (self.reason, &self.claim) {
            let to = claim.offer.as_ref().map_or("another session", |offer| &offer.to);
            let time = self.left.map(|left| format!(" for another {}", seconds(left)));
            return format!("kept for {to}{}", time.unwrap_or_default());
        }
        match (self.holders.first(), &self.verdict, self.left) {
            (_, _, Some(left)) => format!("its lease runs for another {}", seconds(left)),
            (Some(process), Some(verdict), None) => format!("{process}: {}", verdict.evidence()),
            (None, Some(verdict), None) => verdict.evidence().to_owned(),
            (_, None, None) => "no evidence".into(),
        }
    }

    /// What would change it.
    #[must_use]
    pub fn remedy(&self) -> String {
        let name = self.resource.as_ref().map(Resource::quoted).unwrap_or_default();
        match self.reason {
            Reason::Held => format!(
                "`osm claim --wait 10m {name}` waits for it; its owner can `osm claim handoff {name} --to \
                 SESSION`"
            ),
            Reason::Suspended => format!(
                "continue its process, or take it away: osm claim take {name} --reason WHY"
            ),
            Reason::Unknown => format!(
                "ask its owner, or take it away: osm claim take {name} --reason WHY"
            ),
            Reason::Reserved => format!(
                "it is free for all when the offer ends, or: osm claim take {name} --reason WHY"
            ),
            Reason::Completed => format!("to do it again: osm claim --reopen {name}"),
            Reason::Stale => format!(
                "stop working on it; `osm claim why {name}` tells what happened, `osm release {name}` \
                 takes note of it"
            ),
            Reason::UnknownEpoch => format!(
                "stop working on it; `osm claim why {name}` tells what happened"
            ),
            Reason::NotHeld => "`osm claim mine` lists what this session holds".into(),
            Reason::NotOffered => "`osm claims` shows what is offered to whom".into(),
            Reason::LeaseOver => format!("take it up again: osm claim renew {name}"),
            Reason::HolderAlive => format!(
                "ask for it, or add --even-if-alive: osm claim take {name} --reason WHY --even-if-alive"
            ),
            Reason::NoIdentity => {
                "name the session: OSM_SESSION=NAME osm claim …; `osm whoami` tells why it is random"
                    .into()
            }
            Reason::Unconfirmed => {
                "run it outside the sandbox, or name a session of its own: OSM_SESSION=NAME".into()
            }
            Reason::SessionElsewhere | Reason::SessionUnknown => {
                "end the other process, or name a session of its own: OSM_SESSION=NAME".into()
            }
            Reason::AnchorGone => "run it from the terminal or agent that lives now".into(),
            Reason::NothingFree => "`osm claims` shows who has them".into(),
            Reason::RequestReused => "use another --request for another claim".into(),
            Reason::ProcessOver => format!("take it up again: osm claim {name}"),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(resource) = &self.resource {
            write!(f, "{resource}: ")?;
        }
        write!(f, "{}", self.reason.meaning())?;
        match self.reason {
            Reason::Held
            | Reason::Suspended
            | Reason::Unknown
            | Reason::HolderAlive
            | Reason::Reserved => write!(f, ": {}; {}", self.holder(), self.evidence())?,
            Reason::Completed | Reason::Stale | Reason::NotHeld | Reason::RequestReused => {
                if let Some(claim) = &self.claim {
                    write!(f, ": {}", fate(claim))?;
                }
            }
            Reason::SessionElsewhere | Reason::SessionUnknown => {
                write!(f, ": {}", self.evidence())?;
            }
            Reason::NothingFree => {
                let all: usize = self.tally.iter().map(|(_, count)| count).sum();
                let parts: Vec<String> =
                    self.tally.iter().map(|(it, count)| format!("{count} {}", it.code())).collect();
                write!(f, ": {all} candidates")?;
                if !parts.is_empty() {
                    write!(f, ", {}", parts.join(", "))?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// What became of a claim, in one sentence.
#[must_use]
pub fn fate(claim: &Claim) -> String {
    let (epoch, session) = (claim.epoch, &claim.owner.session);
    let Some(ended) = &claim.ended else {
        return format!("{session} has it, epoch {epoch}, since {}", shown(claim.since));
    };
    let why = ended.evidence.as_ref().map(|it| format!(" ({})", plain(it))).unwrap_or_default();
    let (at, by) = (shown(ended.at), &ended.by);
    match ended.how {
        End::Released => format!("{session} released epoch {epoch} at {at}"),
        End::Completed => format!("{session} completed it with epoch {epoch} at {at}"),
        End::Died => {
            let who = match claim.hold {
                Hold::Process(_) => "the command of ",
                Hold::Session | Hold::Lease(_) => "",
            };
            format!("{who}{session} (epoch {epoch}) was found dead by {by} at {at}{why}")
        }
        End::Expired => format!("the lease of {session} (epoch {epoch}) was found over at {at}"),
        End::HandedOff => format!("{session} handed epoch {epoch} to {by} at {at}"),
        End::Taken => format!("{by} took epoch {epoch} from {session} at {at}{why}"),
    }
}

/// A time to the second, as people read it.
#[must_use]
pub fn shown(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

/// A time that is left, in whole seconds.
fn seconds(left: Duration) -> String {
    match left.as_secs() {
        0 => "moment".into(),
        seconds @ 1..=119 => format!("{seconds} s"),
        seconds => format!("{} min", seconds / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_a_code_of_its_own() {
        let mut codes: Vec<_> = TABLE.iter().map(|row| row.code).collect();
        let mut exits: Vec<_> = TABLE.iter().map(|row| row.exit).collect();
        codes.sort_unstable();
        codes.dedup();
        exits.sort_unstable();
        exits.dedup();
        assert_eq!((codes.len(), exits.len()), (TABLE.len(), TABLE.len()));
        // Which has them all: a reason that is not in the table would panic when it is told.
        assert_eq!(TABLE.len(), Reason::ProcessOver as usize + 1);
    }
}

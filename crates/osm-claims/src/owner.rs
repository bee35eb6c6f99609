//! Who owns claims: a session in one incarnation, and how a caller proves to be it.
//!
//! An incarnation is the life of the session's process. A session that continues in another process
//! (a conversation that is resumed, a pane whose shell is respawned) is another owner, which inherits
//! nothing: it is told what its predecessor held and resumes it by an explicit step. A process whose conversation gets another id (it was cleared or compacted) is
//! the same owner under a new name.

use serde::{Deserialize, Serialize};

use crate::refusal::Reason;
use osm_identity::{Liveness, ProcessInstance};

/// The number of an owner in its ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OwnerId(pub i64);

/// A session in one incarnation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its number.
    pub id: OwnerId,
    /// Who it is.
    pub who: Caller,
}

impl std::ops::Deref for Owner {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.who
    }
}

/// The session that makes a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The session.
    pub session: String,
    /// The session's process; `None` if none can be seen.
    pub process: Option<ProcessInstance>,
    /// The agent, for people.
    pub agent: Option<String>,
    /// The machine's name, for people.
    pub host: String,
    /// The session is random, another one at every call.
    #[serde(skip)]
    pub is_random: bool,
    /// The process has one conversation at a time, so that another id means that it was renamed.
    #[serde(skip)]
    pub is_sole: bool,
    /// The session is named after its process alone, so that an owner with the same process is this
    /// one, as what the process was seen as before.
    #[serde(skip)]
    pub is_process: bool,
}

/// What a ledger does to know a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registration {
    /// It is this owner.
    Known(OwnerId),
    /// It is this owner, whose session has another name now.
    Renamed(OwnerId),
    /// It is a new owner.
    New,
}

/// Decides who a caller is.
///
/// `process` is the owner that hangs on the caller's own process, `session` the last one of the
/// caller's session, `verdict` what is known of that one's process.
pub fn register(
    caller: &Caller,
    process: Option<&Owner>,
    session: Option<&Owner>,
    verdict: &Liveness,
) -> Result<Registration, Reason> {
    if caller.is_random {
        return Err(Reason::NoIdentity);
    }
    if let Some(known) = process.filter(|it| it.session == caller.session) {
        return Ok(Registration::Known(known.id));
    }
    let elsewhere = match (session.map(|it| &it.who.process), &caller.process) {
        (None, _) | (Some(None), Some(_)) => Ok(()),
        (Some(None), None) => {
            return Ok(Registration::Known(session.map_or(OwnerId(0), |it| it.id)));
        }
        (Some(Some(_)), ours) => match (verdict, ours) {
            (Liveness::Dead(_), _) => Ok(()),
            (_, None) => Err(Reason::Unconfirmed),
            (Liveness::Alive | Liveness::Suspended, _) => Err(Reason::SessionElsewhere),
            (Liveness::Unknown(_), _) => Err(Reason::SessionUnknown),
        },
    };
    elsewhere?;
    match process {
        Some(known) if caller.is_sole => Ok(Registration::Renamed(known.id)),
        Some(known) if caller.is_process => Ok(Registration::Known(known.id)),
        _ => Ok(Registration::New),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use osm_identity::{Proof, ReadError, UnknownReason};

    fn caller(session: &str, pid: Option<u32>) -> Caller {
        Caller {
            session: session.into(),
            process: pid.map(crate::testing::process),
            agent: None,
            host: "here".into(),
            is_random: false,
            is_sole: true,
            is_process: false,
        }
    }

    fn owner(id: i64, session: &str, pid: Option<u32>) -> Owner {
        Owner { id: OwnerId(id), who: caller(session, pid) }
    }

    const DEAD: Liveness = Liveness::Dead(Proof::Gone);

    #[test]
    fn a_process_does_not_take_over_a_session() {
        let (one, old) = (owner(1, "s", Some(1)), owner(1, "s", Some(2)));
        let me = caller("s", Some(1));
        let known = Ok(Registration::Known(OwnerId(1)));
        assert_eq!(register(&me, Some(&one), Some(&one), &Liveness::Alive), known);
        assert_eq!(register(&me, None, None, &Liveness::Alive), Ok(Registration::New));
        assert_eq!(register(&me, None, Some(&old), &DEAD), Ok(Registration::New));
        for (verdict, reason) in [
            (Liveness::Alive, Reason::SessionElsewhere),
            (Liveness::Suspended, Reason::SessionElsewhere),
            (
                Liveness::Unknown(UnknownReason::Unreadable(ReadError::Denied)),
                Reason::SessionUnknown,
            ),
        ] {
            assert_eq!(register(&me, None, Some(&old), &verdict), Err(reason), "{verdict}");
        }
    }

    #[test]
    fn a_conversation_that_is_cleared_keeps_its_owner() {
        let one = owner(1, "before", Some(1));
        let me = caller("after", Some(1));
        let renamed = Ok(Registration::Renamed(OwnerId(1)));
        assert_eq!(register(&me, Some(&one), None, &DEAD), renamed);
        let rival = owner(2, "after", Some(2));
        assert_eq!(
            register(&me, Some(&one), Some(&rival), &Liveness::Alive),
            Err(Reason::SessionElsewhere)
        );
        let many = Caller { is_sole: false, ..me };
        assert_eq!(register(&many, Some(&one), None, &DEAD), Ok(Registration::New));
    }

    #[test]
    fn a_process_that_renamed_itself_keeps_its_owner() {
        let agent = owner(1, "agent--claude-code", Some(1));
        let me = Caller { is_sole: false, is_process: true, ..caller("anchor--1", Some(1)) };
        let known = Ok(Registration::Known(OwnerId(1)));
        assert_eq!(register(&me, Some(&agent), None, &DEAD), known);
        assert_eq!(register(&me, None, None, &DEAD), Ok(Registration::New));
        // A session that is not named after its process may be one of several.
        let other = Caller { is_process: false, ..me };
        assert_eq!(register(&other, Some(&agent), None, &DEAD), Ok(Registration::New));
    }

    #[test]
    fn a_name_without_a_process_is_its_own_proof() {
        let one = owner(1, "s", None);
        let me = caller("s", None);
        let unknown = Liveness::Unknown(UnknownReason::NoProcess);
        let known = Ok(Registration::Known(OwnerId(1)));
        assert_eq!(register(&me, None, Some(&one), &unknown), known);
        let lives = owner(1, "s", Some(1));
        assert_eq!(register(&me, None, Some(&lives), &Liveness::Alive), Err(Reason::Unconfirmed));
        assert_eq!(register(&me, None, Some(&lives), &DEAD), Ok(Registration::New));
        let random = Caller { is_random: true, ..me };
        assert_eq!(register(&random, None, None, &DEAD), Err(Reason::NoIdentity));
    }

    #[test]
    fn rows_of_earlier_versions_are_read() {
        let process = r#"{"pid":7,"start":50,"boot":"b","namespace":"pid:[1]","inode":900,"machine":"m","clock":null,"name":"claude"}"#;
        let row = format!(
            r#"{{"session":"s","process":{process},"agent":"claude-code","host":"laptop"}}"#
        );
        let caller: Caller = serde_json::from_str(&row).unwrap();
        let owner = caller.process.unwrap();
        assert_eq!((owner.key(), owner.to_string()), ("b:900".into(), "claude (pid 7)".into()));
        assert_eq!((owner.machine.as_deref(), &owner.clock), (Some("m"), &None));
        let hold: crate::Hold =
            serde_json::from_str(&format!(r#"{{"process":{process}}}"#)).unwrap();
        assert_eq!(hold, crate::Hold::Process(owner));
    }
}

mod properties;

use super::*;

const DAY: i64 = 24 * 60 * 60;
const MEGABYTE: u64 = 1024 * 1024;
const NOW: i64 = 1_800_000_000;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn days_ago(days: i64) -> Timestamp {
    at(NOW - days * DAY)
}

fn id(name: &str) -> SessionId {
    SessionId::explicit(name.as_ref())
}

fn session(name: &str, days: i64) -> Candidate {
    Candidate {
        id: id(name),
        size: 10,
        modified: days_ago(days),
        last_used: None,
        active: false,
        readable: true,
        damaged: false,
        anchor: AnchorLife::Unknown,
        stamp: Stamp([0; 4]),
    }
}

fn archived(kind: ArchiveKind, name: &str, days: i64) -> ArchivedCandidate {
    ArchivedCandidate { kind, name: name.into(), size: 10, modified: days_ago(days) }
}

fn survey(sessions: Vec<Candidate>) -> Survey {
    Survey { sessions, archived: Vec::new(), current: Vec::new(), leap: None, now: at(NOW) }
}

/// What goes, and why, in words.
fn words(survey: &Survey, policy: &Policy) -> Vec<String> {
    let plan = plan(survey, policy, Mode::Clean);
    let removals = plan.removals.iter().map(|it| format!("{}: {}", it.id, it.reason));
    let discards =
        plan.discards.iter().map(|it| format!("{}/{}: {}", it.kind.name(), it.name, it.reason));
    removals.chain(discards).collect()
}

#[test]
fn the_limits_on_time() {
    let mut opened = session("opened", 80);
    opened.last_used = Some(days_ago(3));
    let mut gone = session("gone", 15);
    gone.anchor = AnchorLife::Gone;
    let mut gone_but_used = session("gone-but-used", 20);
    gone_but_used.anchor = AnchorLife::Gone;
    gone_but_used.last_used = Some(days_ago(13));
    let mut alive = session("alive", 40);
    alive.anchor = AnchorLife::Alive;
    let survey = survey(vec![
        session("old", 91),
        opened,
        gone,
        gone_but_used,
        alive,
        session("edge", 90),
        session("new", 0),
        session("future", -4000),
    ]);
    assert_eq!(
        words(&survey, &Policy::default()),
        [
            "ex--old_cb: not changed for 91 days (limit 90)".to_owned(),
            format!("{}: its terminal or agent ended, not used for 15 days (limit 14)", id("gone")),
        ]
    );
    let idle = Policy { max_idle_days: 30, ..Policy::default() };
    assert_eq!(
        words(&survey, &idle),
        [
            format!("{}: not changed for 91 days (limit 90)", id("old")),
            format!("{}: not used for 90 days (limit 30)", id("edge")),
            format!("{}: not used for 40 days (limit 30)", id("alive")),
            format!("{}: its terminal or agent ended, not used for 15 days (limit 14)", id("gone")),
        ]
    );
}

#[test]
fn count_and_size_take_the_oldest_and_count_the_protected() {
    let mut active = session("active", 50);
    active.active = true;
    active.size = 2 * MEGABYTE;
    let mut survey = survey(vec![
        session("a", 10),
        session("b", 20),
        active,
        session("mine", 60),
        session("c", 30),
    ]);
    survey.current = vec![id("mine")];
    let four = Policy { max_count: 4, max_size_mb: 0, ..Policy::default() };
    assert_eq!(words(&survey, &four), [format!("{}: the oldest of 5 sessions (limit 4)", id("c"))]);
    // What is protected takes more than is allowed: no other session goes for that.
    let one = Policy { max_count: 4, max_size_mb: 1, ..Policy::default() };
    assert_eq!(words(&survey, &one), [format!("{}: the oldest of 5 sessions (limit 4)", id("c"))]);
    let two = Policy { max_count: 0, max_size_mb: 2, ..Policy::default() };
    survey.sessions[2].size -= 30;
    assert_eq!(
        words(&survey, &two),
        [format!("{}: the oldest of 2.0 MB of sessions (limit 2.0 MB)", id("c"))]
    );
}

#[test]
fn archives_have_limits_of_their_own() {
    let mut survey = survey(vec![session("s", 40)]);
    survey.archived = vec![
        archived(ArchiveKind::Archive, "a31", 31),
        archived(ArchiveKind::Archive, "a3", 3),
        archived(ArchiveKind::Archive, "a2", 2),
        archived(ArchiveKind::Archive, "a1", 1),
        archived(ArchiveKind::Quarantine, "q31", 31),
        archived(ArchiveKind::Quarantine, "q29", 29),
        archived(ArchiveKind::Recovered, "r91", 91),
        archived(ArchiveKind::Recovered, "r89", 89),
        archived(ArchiveKind::Trash, "t8", 8),
        archived(ArchiveKind::Trash, "t6", 6),
    ];
    survey.archived[2].size = MEGABYTE;
    let policy = Policy { archive_max_count: 2, archive_max_size_mb: 1, ..Policy::default() };
    assert_eq!(
        words(&survey, &policy),
        [
            "archive/a31: there for 31 days (limit 30)",
            "archive/a3: the oldest of 3 there (limit 2)",
            "archive/a2: the oldest of 1.0 MB there (limit 1.0 MB)",
            "quarantine/q31: there for 31 days (limit 30)",
            "recovered/r91: there for 91 days (limit 90)",
            "trash/t8: there for 8 days (limit 7)",
        ]
    );
    assert_eq!(words(&survey, &Policy::keep_everything()), [""; 0]);
}

#[test]
fn purge_takes_all_that_is_not_in_use_and_the_trash() {
    let mut active = session("active", 0);
    active.active = true;
    let mut survey = survey(vec![session("new", 0), active, session("mine", 99), session("b", 3)]);
    survey.current = vec![id("mine")];
    survey.archived = vec![
        archived(ArchiveKind::Trash, "t", 0),
        archived(ArchiveKind::Archive, "a", 1),
        archived(ArchiveKind::Archive, "old", 99),
        archived(ArchiveKind::Recovered, "r", 1),
    ];
    let plan = plan(&survey, &Policy::default(), Mode::Purge);
    assert!(plan.removals.iter().all(|removal| removal.reason == Reason::Purged));
    let gone: Vec<&str> = plan.removals.iter().map(|removal| removal.id.as_str()).collect();
    assert_eq!(gone, [id("b").as_str(), id("new").as_str()]);
    let gone: Vec<&str> = plan.discards.iter().map(|discard| discard.name.as_str()).collect();
    assert_eq!(gone, ["old", "t"]);
}

#[test]
fn a_clock_in_doubt_makes_nothing_old_and_deletes_nothing_for_good() {
    let sessions: Vec<Candidate> =
        (0..5).map(|n| session(&n.to_string(), 400 + i64::from(n))).collect();
    let mut survey = survey(sessions);
    survey.archived = vec![
        archived(ArchiveKind::Trash, "t", 400),
        archived(ArchiveKind::Archive, "a", 400),
        archived(ArchiveKind::Archive, "b", 1),
    ];
    let policy = Policy { max_count: 4, archive_max_count: 1, ..Policy::default() };
    assert_eq!(words(&survey, &policy).len(), 5 + 2);

    survey.leap = Some(Leap { from: days_ago(100), to: at(NOW) });
    let careful = plan(&survey, &policy, Mode::Clean);
    assert_eq!(careful.removals.len(), 1, "into the trash, from which nothing goes");
    assert_eq!(careful.removals[0].reason, Reason::Count { held: 5, limit: 4 });
    assert_eq!(careful.discards, []);
    assert_eq!(plan(&survey, &policy, Mode::Purge).discards.len(), 1, "the user's word counts");
}

#[test]
fn what_cannot_be_read_counts_for_nothing_and_stays() {
    let mut huge = session("huge", 400);
    (huge.size, huge.readable) = (1 << 40, false);
    let mut archive = archived(ArchiveKind::Archive, "huge", 1);
    archive.size = 1 << 40;
    let mut survey = survey(vec![huge, session("a", 1), session("b", 1)]);
    survey.archived = vec![archived(ArchiveKind::Archive, "kept", 1), archive];
    assert_eq!(words(&survey, &Policy { max_count: 2, ..Policy::default() }), [""; 0]);
    assert_eq!(plan(&survey, &Policy::default(), Mode::Purge).removals.len(), 3);
}

#[test]
fn nothing_goes_for_a_limit_that_cannot_be_kept() {
    let mut open = session("open", 0);
    (open.size, open.active) = (2 * MEGABYTE, true);
    let mut large = session("large", 0);
    large.size = 2 * MEGABYTE;
    let policy = Policy { max_size_mb: 1, max_count: 0, ..Policy::default() };
    let others = [session("a", 2), session("b", 1)];
    let of = |first: Candidate| survey([vec![first], others.to_vec()].concat());
    assert_eq!(words(&of(open.clone()), &policy), [""; 0]);
    let gone = plan(&of(large), &policy, Mode::Clean).removals;
    assert_eq!(gone.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), [id("large").as_str()]);

    let mut second = session("second", 0);
    second.active = true;
    let policy = Policy { max_count: 1, ..Policy::default() };
    assert_eq!(words(&survey(vec![open, second, session("a", 1)]), &policy), [""; 0]);
}

#[test]
fn sums_do_not_overflow() {
    let mut sessions = vec![session("a", 3), session("b", 2), session("c", 1)];
    for session in &mut sessions {
        session.size = u64::MAX;
    }
    sessions[2].size = MEGABYTE;
    let policy = Policy { max_size_mb: 1, ..Policy::keep_everything() };
    let plan = plan(&survey(sessions), &policy, Mode::Clean);
    assert_eq!(plan.removals.len(), 2);
}

//! What holds for every survey and every policy.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

prop_compose! {
    fn any_session()(
        name in 0u8..40,
        size in prop_oneof![0u64..2000, 0u64..3 * MEGABYTE],
        modified in -30i64..120,
        second in 0i64..3,
        last_used in proptest::option::of(-30i64..120),
        active in proptest::bool::weighted(0.2),
        readable in proptest::bool::weighted(0.9),
        anchor in prop_oneof![
            Just(AnchorLife::Gone), Just(AnchorLife::Alive), Just(AnchorLife::Unknown)
        ],
    ) -> Candidate {
        Candidate {
            size,
            modified: at(NOW - modified * DAY - second),
            last_used: last_used.map(days_ago),
            active,
            readable,
            damaged: false,
            anchor,
            ..session(&name.to_string(), 0)
        }
    }
}

prop_compose! {
    fn any_archived()(
        kind in proptest::sample::select(&ArchiveKind::ALL[..]),
        name in 0u16..500,
        size in 0u64..2 * MEGABYTE,
        days in -10i64..120,
    ) -> ArchivedCandidate {
        ArchivedCandidate { kind, name: name.to_string(), size, modified: days_ago(days) }
    }
}

prop_compose! {
    fn any_survey()(
        sessions in proptest::collection::vec(any_session(), 0..40),
        archived in proptest::collection::vec(any_archived(), 0..40),
        current in proptest::collection::vec(0u8..40, 0..3),
        leap in proptest::option::weighted(0.3, 4i64..500),
    ) -> Survey {
        let mut seen = BTreeSet::new();
        let mut named = BTreeSet::new();
        Survey {
            sessions: sessions.into_iter().filter(|it| seen.insert(it.id.clone())).collect(),
            archived: archived.into_iter().filter(|it| named.insert(it.name.clone())).collect(),
            current: current.iter().map(|name| id(&name.to_string())).collect(),
            leap: leap.map(|days| Leap { from: days_ago(days), to: at(NOW) }),
            now: at(NOW),
        }
    }
}

prop_compose! {
    fn any_policy()(
        days in proptest::array::uniform7(prop_oneof![Just(0u32), 1u32..100]),
        counts in proptest::array::uniform2(0u32..20),
        sizes in proptest::array::uniform2(0u32..5),
    ) -> Policy {
        Policy {
            max_age_days: days[0],
            max_idle_days: days[1],
            defunct_age_days: days[2],
            archive_max_age_days: days[3],
            quarantine_days: days[4],
            recovered_days: days[5],
            trash_days: days[6],
            max_count: counts[0],
            archive_max_count: counts[1],
            max_size_mb: sizes[0],
            archive_max_size_mb: sizes[1],
            ..Policy::default()
        }
    }
}

fn any_mode() -> impl Strategy<Value = Mode> {
    prop_oneof![4 => Just(Mode::Clean), 1 => Just(Mode::Purge)]
}

/// The survey as it is once the plan was carried out.
fn carried_out(survey: &Survey, plan: &Plan) -> Survey {
    let gone: BTreeSet<&SessionId> = plan.removals.iter().map(|removal| &removal.id).collect();
    let discarded: BTreeSet<&str> = plan.discards.iter().map(|it| it.name.as_str()).collect();
    let mut left = survey.clone();
    left.sessions.retain(|session| !gone.contains(&session.id));
    left.archived.retain(|item| !discarded.contains(item.name.as_str()));
    left
}

fn total(sizes: impl Iterator<Item = u64>) -> u64 {
    sizes.sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_in_use_never_goes(
        survey in any_survey(), policy in any_policy(), mode in any_mode(),
    ) {
        let plan = plan(&survey, &policy, mode);
        for removal in &plan.removals {
            prop_assert!(!survey.current.contains(&removal.id));
            let session = survey.sessions.iter().find(|it| it.id == removal.id).unwrap();
            prop_assert!(!session.active);
            prop_assert!(session.readable || mode == Mode::Purge, "it cannot be kept in the trash");
            prop_assert_eq!(
                (removal.size, removal.modified, removal.stamp),
                (session.size, session.modified, session.stamp)
            );
        }
        let gone: BTreeSet<_> = plan.removals.iter().map(|removal| &removal.id).collect();
        prop_assert_eq!(gone.len(), plan.removals.len(), "each goes once");
        let gone: BTreeSet<_> = plan.discards.iter().map(|discard| &discard.name).collect();
        prop_assert_eq!(gone.len(), plan.discards.len(), "each goes once");
        let for_good = plan.discards.iter().filter(|it| it.reason != Reason::Purged).count();
        prop_assert!(plan.leap.is_none() || for_good == 0, "the clock is in doubt");
    }

    #[test]
    fn afterwards_the_limits_hold(survey in any_survey(), policy in any_policy()) {
        let plan = plan(&survey, &policy, Mode::Clean);
        let left = carried_out(&survey, &plan);
        let counted: Vec<_> = left.sessions.iter().filter(|it| it.readable).collect();
        let free: Vec<_> = counted.iter().filter(|it| !left.is_protected(it)).collect();
        if plan.leap.is_none() {
            for session in &free {
                let age = (NOW - session.modified.as_second()) / DAY;
                prop_assert!(policy.max_age_days == 0 || age <= policy.max_age_days.into());
                let used = session.last_used.map_or(session.modified, |it| it.max(session.modified));
                let idle = (NOW - used.as_second()) / DAY;
                prop_assert!(policy.max_idle_days == 0 || idle <= policy.max_idle_days.into());
                if session.anchor == AnchorLife::Gone {
                    prop_assert!(
                        policy.defunct_age_days == 0 || idle <= policy.defunct_age_days.into()
                    );
                }
            }
        }
        // A limit holds, or nothing goes for it, and it could not hold.
        let kept: Vec<_> = counted.iter().filter(|it| left.is_protected(it)).collect();
        let goes = |rule: &str| plan.removals.iter().any(|it| it.reason.name() == rule);
        let limit = policy.max_count as usize;
        prop_assert!(
            limit == 0 || counted.len() <= limit || (kept.len() > limit && !goes("count"))
        );
        let limit = u64::from(policy.max_size_mb) * MEGABYTE;
        let size = total(counted.iter().map(|session| session.size));
        let kept = total(kept.iter().map(|session| session.size));
        prop_assert!(limit == 0 || size <= limit || (kept > limit && !goes("size")));
    }

    #[test]
    fn archives_keep_to_their_own_limits(survey in any_survey(), policy in any_policy()) {
        let plan = plan(&survey, &policy, Mode::Clean);
        let left = carried_out(&survey, &plan);
        let on = |kind| left.archived.iter().filter(move |item| item.kind == kind);
        let limits = [
            (ArchiveKind::Archive, policy.archive_max_age_days),
            (ArchiveKind::Quarantine, policy.quarantine_days),
            (ArchiveKind::Recovered, policy.recovered_days),
            (ArchiveKind::Trash, policy.trash_days),
        ];
        for (kind, limit) in limits {
            let is_young = |item: &ArchivedCandidate| {
                (NOW - item.modified.as_second()) / DAY <= i64::from(limit)
            };
            prop_assert!(limit == 0 || plan.leap.is_some() || on(kind).all(is_young));
        }
        let archives = on(ArchiveKind::Archive).count();
        prop_assert!(plan.leap.is_some() || policy.archive_max_count == 0 || archives <= policy.archive_max_count as usize);
        let size = total(on(ArchiveKind::Archive).map(|item| item.size));
        prop_assert!(
            plan.leap.is_some()
                || policy.archive_max_size_mb == 0
                || size <= u64::from(policy.archive_max_size_mb) * MEGABYTE
        );
        // Sessions and archives know nothing of each other.
        let mut without = survey.clone();
        without.sessions.clear();
        prop_assert_eq!(
            plan.discards,
            super::plan(&without, &policy, Mode::Clean).discards
        );
    }

    #[test]
    fn the_oldest_go_first(survey in any_survey(), policy in any_policy(), mode in any_mode()) {
        let plan = plan(&survey, &policy, mode);
        let order: Vec<_> = plan.removals.iter().map(|it| (it.modified, it.id.clone())).collect();
        prop_assert!(order.is_sorted());
        let left = carried_out(&survey, &plan);
        let oldest = left
            .sessions
            .iter()
            .filter(|session| session.readable && !left.is_protected(session))
            .map(|session| (session.modified, session.id.clone()))
            .min();
        // What alone exceeds the limit goes whatever its age.
        let is_too_large = |it: &&Removal| {
            matches!(it.reason, Reason::Size { limit, .. } if it.size > limit)
        };
        for removal in plan.removals.iter().filter(|it| !is_too_large(it)) {
            if let (Reason::Count { .. } | Reason::Size { .. }, Some(oldest)) =
                (removal.reason, &oldest)
            {
                prop_assert!((removal.modified, removal.id.clone()) < *oldest);
            }
        }
    }

    #[test]
    fn no_more_goes_than_must(survey in any_survey(), policy in any_policy()) {
        let plan = plan(&survey, &policy, Mode::Clean);
        // Putting back the newest that went for the count or the size breaks that limit again.
        let last = plan.removals.iter().rfind(|removal| {
            matches!(removal.reason, Reason::Count { .. } | Reason::Size { .. })
        });
        if let Some(last) = last {
            let left = carried_out(&survey, &plan);
            let counted = || left.sessions.iter().filter(|session| session.readable);
            let count = counted().count() + 1;
            let size = total(counted().map(|session| session.size)) + last.size;
            prop_assert!(
                (policy.max_count > 0 && count > policy.max_count as usize)
                    || (policy.max_size_mb > 0 && size > u64::from(policy.max_size_mb) * MEGABYTE)
            );
        }
        for removal in &plan.removals {
            prop_assert!(removal.modified <= survey.now || matches!(
                removal.reason, Reason::Count { .. } | Reason::Size { .. }
            ), "the future is not old");
        }
    }

    #[test]
    fn planning_again_gives_nothing(
        survey in any_survey(), policy in any_policy(), mode in any_mode(),
    ) {
        let first = plan(&survey, &policy, mode);
        let mut left = carried_out(&survey, &first);
        let again = plan(&left, &policy, mode);
        prop_assert_eq!((again.removals, again.discards), (vec![], vec![]));
        // Nor does what the plan moved into the trash.
        left.archived.push(archived(ArchiveKind::Trash, "new", 0));
        if mode == Mode::Clean {
            prop_assert_eq!(plan(&left, &policy, mode).discards, vec![]);
        }
    }

    #[test]
    fn purge_leaves_what_is_in_use(survey in any_survey(), policy in any_policy()) {
        let left = carried_out(&survey, &plan(&survey, &policy, Mode::Purge));
        prop_assert!(left.sessions.iter().all(|session| left.is_protected(session)));
        prop_assert!(left.archived.iter().all(|item| item.kind != ArchiveKind::Trash));
    }

    #[test]
    fn zero_is_off(survey in any_survey()) {
        let plan = plan(&survey, &Policy::keep_everything(), Mode::Clean);
        prop_assert_eq!((plan.removals, plan.discards), (vec![], vec![]));
    }

    #[test]
    fn each_limit_alone(survey in any_survey(), limit in 1u32..40, which in 0usize..11) {
        let mut policy = Policy::keep_everything();
        let key = KEYS.iter().filter(|key| matches!(key.default_value(), Setting::Number(_)));
        let key = key.take(11).nth(which).unwrap();
        key.set(&mut policy, &limit.to_string()).unwrap();
        let rule = match key.name {
            "session.max_age_days" => "age",
            "session.max_idle_days" => "idle",
            "session.defunct_age_days" => "defunct",
            "session.max_count" => "count",
            "session.max_size_mb" => "size",
            "session.archive_max_count" => "archive-count",
            "session.archive_max_size_mb" => "archive-size",
            _ => "archive-age",
        };
        let plan = plan(&survey, &policy, Mode::Clean);
        let reasons = plan.removals.iter().map(|it| it.reason);
        for reason in reasons.chain(plan.discards.iter().map(|it| it.reason)) {
            prop_assert_eq!(reason.name(), rule);
        }
    }
}

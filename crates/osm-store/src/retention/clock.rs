//! Whether the clock can be believed when it says that something is old.
//!
//! A clock that runs ahead makes everything old at once, and a machine that was off for a month
//! looks the same from inside. So a cleanup remembers when it ran, by the wall clock and by how long
//! the machine was up. Time that passed while the machine was up is proven; a jump beyond that is
//! believed only when it is seen again after another [`CONFIRMING`] of uptime. Until then nothing is
//! removed for its age, and nothing is deleted for good. A clock that was wrong for an hour has cost
//! nothing, and a machine that lay in a drawer is cleaned a day later.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::Leap;

/// How far the wall clock may run ahead of what is proven: a machine that is off over a weekend.
const UNPROVEN: Duration = Duration::from_hours(72);
/// The same while a jump is in doubt: a machine that is used now and then would stay in doubt.
const UNPROVEN_IN_DOUBT: Duration = Duration::from_hours(30 * 24);
/// The uptime after which a jump is believed.
const CONFIRMING: Duration = Duration::from_hours(24);

/// How long the machine has been up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uptime {
    /// The boot since which it is up.
    pub boot: String,
    /// For how long.
    #[serde(rename = "seconds", with = "seconds")]
    pub elapsed: Duration,
}

/// What a cleanup remembers of the clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockRecord {
    /// What the wall clock said when a cleanup last ran.
    pub at: Timestamp,
    /// How long the machine had been up.
    pub uptime: Uptime,
    /// A jump that is not believed yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<Doubt>,
}

/// A jump of the clock that is not believed yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubt {
    /// The last time before it.
    pub from: Timestamp,
    /// The first time after it.
    pub to: Timestamp,
    /// How long the machine was up since it was first seen.
    #[serde(rename = "seconds_up", with = "seconds")]
    pub up: Duration,
}

impl ClockRecord {
    /// Looks at the clock again. Without a record of it, `before` is the last time that is known.
    /// Cleanups that run rarely, every `interval`, expect longer gaps.
    #[must_use]
    pub fn observe(
        known: Option<&Self>,
        before: Option<Timestamp>,
        at: Timestamp,
        uptime: &Uptime,
        interval: Duration,
    ) -> Self {
        let allowed = UNPROVEN.max(interval * 2);
        let leapt = |from: Timestamp, proven: Duration, allowed: Duration| {
            let ahead = SignedDuration::try_from(proven.saturating_add(allowed));
            ahead.is_ok_and(|ahead| at.duration_since(from) > ahead)
        };
        let doubted = |from| Doubt { from, to: at, up: Duration::ZERO };
        let doubt = match known {
            None => before.filter(|from| leapt(*from, uptime.elapsed, allowed)).map(doubted),
            Some(known) => {
                let proven = if known.uptime.boot == uptime.boot {
                    uptime.elapsed.saturating_sub(known.uptime.elapsed)
                } else {
                    uptime.elapsed
                };
                match known.doubt {
                    None => leapt(known.at, proven, allowed).then(|| doubted(known.at)),
                    Some(doubt) => {
                        let up = doubt.up.saturating_add(proven);
                        if at < doubt.to {
                            // It was set back: the jump is another one, or none.
                            leapt(doubt.from, up, allowed).then(|| doubted(doubt.from))
                        } else if leapt(known.at, proven, allowed.max(UNPROVEN_IN_DOUBT)) {
                            Some(doubted(doubt.from))
                        } else {
                            (up < CONFIRMING).then_some(Doubt { up, ..doubt })
                        }
                    }
                }
            }
        };
        Self { at, uptime: uptime.clone(), doubt }
    }

    /// The jump that is in doubt.
    #[must_use]
    pub fn leap(&self) -> Option<Leap> {
        self.doubt.map(|doubt| Leap { from: doubt.from, to: doubt.to })
    }
}

/// Durations as whole seconds.
mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        duration: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(duration.as_secs())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_secs)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOUR: u64 = 60 * 60;
    const DAY: u64 = 24 * HOUR;
    const INTERVAL: Duration = Duration::from_secs(DAY);

    /// A machine with a clock that can be set.
    struct Machine {
        wall: i64,
        boot: u32,
        up: u64,
        record: Option<ClockRecord>,
    }

    impl Machine {
        fn new() -> Self {
            Self { wall: 1_800_000_000, boot: 0, up: 0, record: None }
        }

        fn run(&mut self, seconds: u64) {
            self.up += seconds;
            self.wall += i64::try_from(seconds).unwrap();
        }

        fn off(&mut self, seconds: u64) {
            self.wall += i64::try_from(seconds).unwrap();
            (self.boot, self.up) = (self.boot + 1, 0);
        }

        fn set_ahead(&mut self, seconds: i64) {
            self.wall += seconds;
        }

        /// Whether a cleanup now finds the clock in doubt.
        fn is_in_doubt(&mut self) -> bool {
            let at = Timestamp::from_second(self.wall).unwrap();
            let uptime =
                Uptime { boot: self.boot.to_string(), elapsed: Duration::from_secs(self.up) };
            let seen = ClockRecord::observe(self.record.as_ref(), None, at, &uptime, INTERVAL);
            let text = serde_json::to_string(&seen).unwrap();
            assert_eq!(serde_json::from_str::<ClockRecord>(&text).unwrap(), seen, "{text}");
            self.record.insert(seen).leap().is_some()
        }
    }

    #[test]
    fn a_jump_is_believed_when_it_is_seen_again_after_a_day_of_uptime() {
        let mut machine = Machine::new();
        assert!(!machine.is_in_doubt());
        machine.set_ahead(100 * DAY.cast_signed());
        for _ in 0..24 {
            assert!(machine.is_in_doubt(), "however often it is asked");
            machine.run(HOUR - 1);
        }
        assert!(machine.is_in_doubt());
        machine.run(30);
        assert!(!machine.is_in_doubt());
    }

    #[test]
    fn a_clock_that_is_set_right_again_has_cost_nothing() {
        let mut machine = Machine::new();
        assert!(!machine.is_in_doubt());
        machine.set_ahead(100 * DAY.cast_signed());
        assert!(machine.is_in_doubt());
        machine.run(HOUR);
        machine.set_ahead(-100 * DAY.cast_signed());
        assert!(!machine.is_in_doubt());
    }

    #[test]
    fn without_a_record_the_last_known_time_counts() {
        let at = |days: u64| Timestamp::from_second((days * DAY).cast_signed()).unwrap();
        let doubt = |before, up| {
            let uptime = Uptime { boot: "b".into(), elapsed: Duration::from_secs(up) };
            ClockRecord::observe(None, before, at(1000), &uptime, INTERVAL).doubt
        };
        assert_eq!(doubt(None, 0), None, "an empty store");
        assert_eq!(doubt(Some(at(998)), 0), None);
        assert_eq!(doubt(Some(at(1400)), 0), None, "the future makes nothing old");
        assert!(doubt(Some(at(990)), 0).is_some());
        assert_eq!(doubt(Some(at(990)), 10 * DAY), None, "the machine was up all the time");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn uptime_and_short_pauses_are_never_in_doubt(
            steps in proptest::collection::vec((0u64..400 * DAY, proptest::option::of(0u64..2 * DAY)), 0..20),
        ) {
            let mut machine = Machine::new();
            for (up, off) in steps {
                if let Some(off) = off {
                    machine.off(off);
                }
                machine.run(up);
                prop_assert!(!machine.is_in_doubt());
            }
        }

        /// Whatever is asked in between, no day that the clock skipped counts before a day of uptime.
        #[test]
        fn no_jump_is_believed_early(
            jump in 4i64..4000,
            steps in proptest::collection::vec((0u64..3 * HOUR, proptest::bool::ANY), 1..20),
        ) {
            let mut machine = Machine::new();
            machine.run(DAY);
            prop_assert!(!machine.is_in_doubt());
            machine.set_ahead(jump * DAY.cast_signed());
            prop_assert!(machine.is_in_doubt());
            let mut up = 0;
            for (run, restarts) in steps {
                if restarts {
                    machine.off(HOUR);
                }
                machine.run(run);
                up += run;
                prop_assert_eq!(machine.is_in_doubt(), up < DAY);
                if up >= DAY {
                    break;
                }
            }
        }
    }
}

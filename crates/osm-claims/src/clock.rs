//! The clock of leases: time since the machine started, which cannot be set.
//!
//! A wall clock jumps, so it is only shown to people. Time since boot, counted through sleep,
//! cannot go backwards, but means something in one boot of one machine alone; a [`Moment`] says
//! which. After a reboot a lease has its whole term again from the start of the new boot: it was
//! granted before, by the wall clock, so it has certainly run that long. Another boot id alone does
//! not say so: a container can have one of its own while the machine runs on.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

std::cfg_select! {
    any(target_os = "linux", target_os = "android") => {
        mod linux;
        use linux as platform;
    }
    unix => {
        mod unix;
        use unix as platform;
    }
    windows => {
        mod windows;
        use windows as platform;
    }
}

/// A point in time that can be compared with others of its machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// The machine; `None` if it has no name of its own.
    pub machine: Option<String>,
    /// The boot.
    pub boot: String,
    /// How long the machine ran.
    pub uptime: Duration,
    /// The wall clock, in seconds since 1970: the one clock that two boots have in common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall: Option<i64>,
}

impl Moment {
    /// When the machine started, by the wall clock.
    fn started(&self) -> Option<i64> {
        self.wall?.checked_sub_unsigned(self.uptime.as_secs())
    }
}

/// The time, for deciding and for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Now {
    /// For deciding.
    pub moment: Moment,
    /// For people.
    pub wall: Timestamp,
}

/// Tells the time.
pub trait Clock: Send + Sync {
    /// The time; an error if the clock is set to one that cannot be written.
    fn now(&self) -> Result<Now>;
}

impl<C: Clock + ?Sized> Clock for std::sync::Arc<C> {
    fn now(&self) -> Result<Now> {
        (**self).now()
    }
}

/// The clock of this machine.
#[derive(Clone, Debug)]
pub struct SystemClock {
    machine: Option<String>,
    boot: String,
}

impl SystemClock {
    /// The clock of the machine that `source` reads.
    pub fn new(
        source: &dyn osm_identity::ProcessSource,
    ) -> std::result::Result<Self, osm_identity::ReadError> {
        Ok(Self { machine: source.machine(), boot: source.host()?.boot })
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that a world is given")]
    fn now(&self) -> Result<Now> {
        let wall = wall(SystemTime::now())?;
        Ok(Now {
            moment: Moment {
                machine: self.machine.clone(),
                boot: self.boot.clone(),
                uptime: platform::uptime(),
                wall: Some(wall.as_second()),
            },
            wall,
        })
    }
}

/// The time of the system's clock, which can be set to years of more than four digits.
fn wall(time: SystemTime) -> Result<Timestamp> {
    Timestamp::try_from(time).map_err(|_| Error::Clock)
}

/// A right that ends by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Its whole term.
    pub term: Duration,
    /// When it was last given.
    pub since: Moment,
}

/// How long a lease still runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// So long.
    Some(Duration),
    /// It is over.
    Nothing,
    /// Its clock cannot be read here.
    Unknown,
}

impl Left {
    /// The time, if there is some and it is known.
    #[must_use]
    pub fn known(self) -> Option<Duration> {
        match self {
            Self::Some(left) => Some(left),
            Self::Nothing | Self::Unknown => None,
        }
    }
}

impl Lease {
    /// How long it still runs.
    #[must_use]
    pub fn left(&self, now: &Moment) -> Left {
        let elapsed = if now.boot == self.since.boot {
            now.uptime.saturating_sub(self.since.uptime)
        } else if now.machine.is_some()
            && now.machine == self.since.machine
            && self.since.wall.zip(now.started()).is_some_and(|(since, started)| since < started)
        {
            now.uptime
        } else {
            return Left::Unknown;
        };
        match self.term.checked_sub(elapsed) {
            None | Some(Duration::ZERO) => Left::Nothing,
            Some(left) => Left::Some(left),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(machine: &str, boot: &str, uptime: u64) -> Moment {
        Moment {
            machine: Some(machine.into()),
            boot: boot.into(),
            uptime: Duration::from_secs(uptime),
            wall: None,
        }
    }

    /// The same in a boot that started at this time by the wall clock.
    fn on(moment: Moment, started: i64) -> Moment {
        Moment { wall: started.checked_add_unsigned(moment.uptime.as_secs()), ..moment }
    }

    #[test]
    fn a_year_of_five_digits_is_an_error() {
        let last = Timestamp::MAX.as_second().unsigned_abs();
        let at = |seconds| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
        let before = wall(at(last - 1).unwrap()).unwrap();
        assert_eq!(before.as_second().unsigned_abs(), last - 1);
        // A system may have no such time at all.
        let late = [last + 1_000_000, 1 << 40, 1 << 62].into_iter().filter_map(at);
        assert!(late.map(wall).all(|wall| matches!(wall, Err(Error::Clock))));
    }

    #[test]
    fn a_lease_runs_in_the_time_of_its_machine() {
        let lease = Lease { term: Duration::from_mins(1), since: moment("m", "b", 100) };
        assert_eq!(lease.left(&moment("m", "b", 159)), Left::Some(Duration::from_secs(1)));
        assert_eq!(lease.left(&moment("m", "b", 160)), Left::Nothing);
        assert_eq!(lease.left(&moment("m", "b", 90)), Left::Some(Duration::from_mins(1)));
        assert_eq!(lease.left(&moment("other", "c", 999)), Left::Unknown);
        let nameless = Moment { machine: None, ..moment("", "c", 999) };
        assert_eq!(lease.left(&nameless), Left::Unknown);
    }

    #[test]
    fn after_a_reboot_a_lease_has_run_at_least_as_long_as_the_machine() {
        let since = on(moment("m", "b", 100), 1000);
        let lease = Lease { term: Duration::from_mins(1), since };
        let left = |uptime, started| lease.left(&on(moment("m", "c", uptime), started));
        assert_eq!(left(20, 2000), Left::Some(Duration::from_secs(40)));
        assert_eq!(left(60, 2000), Left::Nothing);
        assert_eq!(left(60, 1100), Left::Unknown, "it was granted after this boot started");
        assert_eq!(left(999, 1000), Left::Unknown, "a container with a boot id of its own");
        assert_eq!(lease.left(&moment("m", "c", 60)), Left::Unknown, "no clock in common");
        let stored: Lease =
            serde_json::from_str(r#"{"term":{"secs":60,"nanos":0},"since":{"machine":"m","boot":"b","uptime":{"secs":100,"nanos":0}}}"#)
                .unwrap();
        assert_eq!(stored.left(&on(moment("m", "c", 60), 2000)), Left::Unknown);
        assert_eq!(stored.left(&moment("m", "b", 160)), Left::Nothing);
    }

    #[test]
    fn the_clock_of_this_machine_goes_on() {
        let one = platform::uptime();
        assert!(one > Duration::ZERO);
        assert!(platform::uptime() >= one);
    }
}

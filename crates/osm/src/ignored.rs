//! The signals that whoever started us wants to be ignored.
//!
//! `nohup`, and a shell that starts a job behind a script, say so by how they start a program. Whoever
//! catches such a signal undoes that, also for what it starts itself. Only Linux tells; elsewhere
//! nothing counts as ignored.

/// A mask of signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ignored(u64);

impl Ignored {
    /// What we ignore now: to be asked before anything is caught.
    pub(crate) fn now() -> Self {
        if !cfg!(target_os = "linux") {
            return Self(0);
        }
        // Read as bytes: the status begins with our name, which can be any.
        let status = std::fs::read("/proc/self/status").unwrap_or_default();
        Self::parse(&String::from_utf8_lossy(&status)).unwrap_or(Self(0))
    }

    /// Whether a signal is among them.
    pub(crate) fn has(self, number: i32) -> bool {
        let place = number.checked_sub(1).and_then(|it| u32::try_from(it).ok());
        place.and_then(|place| self.0.checked_shr(place)).is_some_and(|mask| mask & 1 == 1)
    }

    fn parse(status: &str) -> Option<Self> {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(mask.trim(), 16).ok().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks() {
        let status = "Name:\tosm\nSigBlk:\t0000000000000004\nSigIgn:\t0000000000001001\n";
        let ignored = Ignored::parse(status).unwrap();
        let all: Vec<i32> = (-1..100).filter(|number| ignored.has(*number)).collect();
        assert_eq!(all, [1, 13]);
        for strange in ["", "SigIgn:", "SigIgn:\tx\n", "SigIgn:\t11111111111111111\n"] {
            assert_eq!(Ignored::parse(strange), None, "{strange:?}");
        }
    }
}

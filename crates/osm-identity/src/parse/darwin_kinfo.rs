//! macOS: where `struct kinfo_proc` keeps what we need.
//!
//! The structure is two, one after the other: `struct extern_proc` (`bsd/sys/proc.h` of XNU) and
//! `struct eproc` (`bsd/sys/sysctl.h`), together 648 bytes in a 64-bit process, on Intel and on
//! Apple silicon alike. The kernel fills it through a twin of its own (`user64_kinfo_proc`), so it
//! is part of the system's ABI and has not changed since 64-bit processes came.

use super::kinfo::{Layout, Number};

/// `struct kinfo_proc` of a 64-bit process.
///
/// | field | offset | C type |
/// |---|---|---|
/// | `kp_proc.p_starttime.tv_sec` | 0 | `long` (in a union with two pointers) |
/// | `kp_proc.p_starttime.tv_usec` | 8 | `int` |
/// | `kp_proc.p_stat` | 36 | `char`, after two pointers and `int p_flag` |
/// | `kp_proc.p_pid` | 40 | `pid_t` |
/// | `kp_proc.p_comm` | 243 | `char[17]`, after three bytes of priorities |
/// | `kp_eproc.e_ppid` | 560 | `pid_t`; `kp_eproc` itself starts at 296 |
/// | `kp_eproc.e_tdev` | 572 | `dev_t`, which is 32 bits here |
///
/// The session is only there as a kernel address, so `getsid` tells it. Start times are the wall
/// clock's at the moment of the fork and stay what they are.
pub const LAYOUT: Layout = Layout {
    size: 648,
    pid: Number { offset: 40, width: 4 },
    parent: Number { offset: 560, width: 4 },
    session: None,
    terminal: Number { offset: 572, width: 4 },
    start_seconds: Number { offset: 0, width: 8 },
    start_micros: Number { offset: 8, width: 4 },
    state: Number { offset: 36, width: 1 },
    stopped: &[4],
    ended: &[5],
    name: 243,
    name_length: 17,
};

#[cfg(test)]
mod tests {
    use super::super::kinfo::{parse, rows};
    use super::*;
    use crate::process::{Pid, Process, StartTime, State, Terminal};

    /// A row put together by hand, byte by byte, as Terminal's `-zsh` has it on `ttys003`.
    fn zsh() -> Vec<u8> {
        let mut bytes = vec![0; 648];
        bytes[0..8].copy_from_slice(&1_763_230_000_i64.to_ne_bytes());
        bytes[8..12].copy_from_slice(&987_654_i32.to_ne_bytes());
        bytes[32..36].copy_from_slice(&0x4006_i32.to_ne_bytes());
        bytes[36] = 2;
        bytes[40..44].copy_from_slice(&501_i32.to_ne_bytes());
        bytes[243..246].copy_from_slice(b"zsh");
        bytes[560..564].copy_from_slice(&500_i32.to_ne_bytes());
        bytes[572..576].copy_from_slice(&0x1000_0003_i32.to_ne_bytes());
        bytes
    }

    #[test]
    fn a_login_shell() {
        assert_eq!(
            parse(&zsh(), Pid(501), &LAYOUT),
            Ok(Process {
                pid: Pid(501),
                parent: Pid(500),
                start: StartTime(1_763_230_000_987_654),
                name: "zsh".into(),
                terminal: Some(Terminal(0x1000_0003)),
                session: None,
                state: State::Active,
            })
        );
    }

    #[test]
    fn a_daemon_has_no_terminal() {
        let mut bytes = zsh();
        bytes[572..576].copy_from_slice(&(-1_i32).to_ne_bytes());
        assert_eq!(parse(&bytes, Pid(501), &LAYOUT).unwrap().terminal, None);
    }

    #[test]
    fn states_that_matter() {
        for (number, state) in
            [(1, State::Active), (3, State::Active), (4, State::Suspended), (5, State::Zombie)]
        {
            let mut bytes = zsh();
            rows::put(&mut bytes, LAYOUT.state, number);
            assert_eq!(parse(&bytes, Pid(501), &LAYOUT).unwrap().state, state);
        }
    }

    #[test]
    fn a_long_name_is_cut_at_16_bytes() {
        let mut bytes = zsh();
        bytes[243..260].copy_from_slice(b"com.apple.Virtua\0");
        assert_eq!(parse(&bytes, Pid(501), &LAYOUT).unwrap().name, "com.apple.Virtua");
    }
}

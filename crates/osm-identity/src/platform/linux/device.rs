//! Device numbers, as the process table spells them.

use crate::process::Terminal;

/// `/dev/null`, `/dev/zero` and the like.
const MEMORY: u32 = 1;

/// `/dev/ptmx`: the other side of a terminal.
const PTY_MASTER: (u32, u32) = (5, 2);

/// The terminal that a character device is.
pub(super) fn terminal(device: u64) -> Option<Terminal> {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    if major == MEMORY || (major, minor) == PTY_MASTER {
        return None;
    }
    // `new_encode_dev` of the kernel.
    let number = (minor & 0xff) | (major << 8) | ((minor & !0xff) << 12);
    Some(Terminal(u64::from(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_process_table() {
        let name = |major, minor| {
            let device = rustix::fs::makedev(major, minor);
            terminal(device).map(|terminal| terminal.to_string())
        };
        assert_eq!(name(136, 3), Some("pts/3".into()));
        assert_eq!(name(136, 300), Some("pts/300".into()));
        assert_eq!(name(4, 1), Some("tty1".into()));
        assert_eq!(name(1, 3), None);
        assert_eq!(name(5, 2), None);
    }
}

//! `/proc/PID/status`: the pids that a process has in its pid namespaces.

use crate::process::{Pid, ReadError};

/// The pids of a process, in the namespace of the table and in each one below it.
///
/// ```text
/// NSpid:  4711    7
/// ```
pub fn nested_pids(text: &[u8]) -> Result<Vec<Pid>, ReadError> {
    let missing = ReadError::Malformed("no NSpid in status");
    // A name comes before it, in a line of its own, with its line ends escaped.
    let line = text.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"NSpid:"));
    let line = std::str::from_utf8(line.ok_or(missing)?).map_err(|_| missing)?;
    let pids = line.split_ascii_whitespace().map(|word| word.parse().map(Pid));
    pids.collect::<Result<_, _>>().map_err(|_| ReadError::Malformed("NSpid is not numbers"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pids_of_all_namespaces() {
        let text = b"Name:\tsh \xff\\nNSpid: 9\nUmask:\t0022\nPid:\t4711\nNSpid:\t4711\t7\t1\nNSpgid:\t3\n";
        assert_eq!(nested_pids(text), Ok(vec![Pid(4711), Pid(7), Pid(1)]));
        for text in [&b""[..], b"Pid:\t1\n", b"NSpid:\t1\tx\n", b"NSpid:\t-1\n", b"NSpid:\t\xff\n"]
        {
            assert!(nested_pids(text).is_err(), "{text:?}");
        }
    }
}

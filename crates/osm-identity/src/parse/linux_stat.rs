//! `/proc/PID/stat`: one line that holds nearly everything, and one trap.
//!
//! The second field is the process's name in parentheses, and a process names itself: `a) S 1 (b`
//! is a legal name. The kernel escapes nothing but newlines, so the only sound rule is that the
//! name ends at the *last* closing parenthesis of the line.
//!
//! The state is that of the main thread. A process whose main thread ended while others run shows
//! `Z` and is alive; only a zombie without another thread has ended.

use crate::process::{Pid, Process, ReadError, StartTime, State, Terminal};

/// Reads one line, which must be about the process that was asked for.
pub fn parse(line: &[u8], pid: Pid) -> Result<Process, ReadError> {
    let open = line.iter().position(|byte| *byte == b'(').ok_or(ReadError::Malformed("no name"))?;
    let close = last(line, b')').ok_or(ReadError::Malformed("no end of name"))?;
    if close < open {
        return Err(ReadError::Malformed("no end of name"));
    }
    let digits = line[..open].strip_suffix(b" ").filter(|it| it.iter().all(u8::is_ascii_digit));
    if number::<u32>(digits.ok_or(ReadError::Malformed("no pid"))?)? != pid.0 {
        return Err(ReadError::Malformed("another process's line"));
    }

    // Counted from the field after the name: state is 0, and start time, field 22, is 19.
    let mut rest = &line[close + 1..];
    let mut fields = std::iter::from_fn(|| {
        let start = rest.iter().position(|byte| *byte > b' ')?;
        let length = rest[start..].iter().position(|byte| *byte <= b' ');
        let (field, after) = rest[start..].split_at(length.unwrap_or(rest.len() - start));
        rest = after;
        Some(field)
    });
    let mut field = |skipped: usize| fields.nth(skipped).ok_or(ReadError::Malformed("cut short"));
    let letter = match field(0)? {
        [letter] if letter.is_ascii_alphabetic() => *letter,
        _ => return Err(ReadError::Malformed("no state")),
    };
    let parent = number::<u32>(field(0)?)?;
    let session = number::<i64>(field(1)?)?;
    let terminal = number::<i64>(field(0)?)?;
    let threads = number::<i64>(field(12)?)?;
    let start = number::<u64>(field(1)?)?;
    let state = match letter {
        // The kernel shows no thread at all for a main thread that was just collected, also by
        // another thread of its process, which took its place to execute a program.
        b'Z' | b'X' | b'x' if threads == 1 => State::Zombie,
        b'T' | b't' => State::Suspended,
        _ => State::Active,
    };

    Ok(Process {
        pid,
        parent: Pid(parent),
        start: StartTime(start),
        name: text(&line[open + 1..close]),
        // The kernel prints the device number as a signed int; 0 (and -1) mean none.
        terminal: (terminal > 0).then(|| Terminal(terminal.unsigned_abs())),
        session: u32::try_from(session).ok().filter(|pid| *pid != 0).map(Pid),
        state,
    })
}

/// The last place of a byte. A line is some hundred bytes, and read for every ancestor: most pieces of it are passed over
/// at a glance.
fn last(line: &[u8], byte: u8) -> Option<usize> {
    let mut end = line.len();
    line.rchunks(32).find_map(|piece| {
        end -= piece.len();
        let at = || piece.iter().rposition(|it| *it == byte);
        if piece.contains(&byte) { at().map(|at| end + at) } else { None }
    })
}

fn text(name: &[u8]) -> String {
    match std::str::from_utf8(name) {
        Ok(name) => name.to_owned(),
        Err(_) => String::from_utf8_lossy(name).into_owned(),
    }
}

fn number<T: TryFrom<i128>>(field: &[u8]) -> Result<T, ReadError> {
    let (is_negative, digits) = match field {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let append = |sum: u64, digit: &u8| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    };
    let value = digits.iter().try_fold(0, append).filter(|_| !digits.is_empty()).map(i128::from);
    let value = value.map(|value| if is_negative { -value } else { value });
    value
        .and_then(|value| T::try_from(value).ok())
        .ok_or(ReadError::Malformed("not a number in range"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TAIL: &[u8] = b" S 41 42 43 34816 42 4194304 1 0 0 0 0 0 0 0 20 0 1 0 987654 0 0 ";

    fn line(name: &[u8]) -> Vec<u8> {
        [b"42 (", name, b")", TAIL].concat()
    }

    #[test]
    fn every_number_of_the_kernel_is_in_range() {
        for start in [0, u64::MAX] {
            let line =
                format!("42 (a) S 41 42 43 -2147483648 42 0 1 0 0 0 0 0 0 0 20 0 1 0 {start} 0");
            assert_eq!(parse(line.as_bytes(), Pid(42)).unwrap().start, StartTime(start));
        }
        for strange in ["18446744073709551616", "-1", "-", "1x"] {
            let line = format!("42 (a) S 41 42 43 0 42 0 1 0 0 0 0 0 0 0 20 0 1 0 {strange} 0");
            assert!(parse(line.as_bytes(), Pid(42)).is_err(), "{strange}");
        }
    }

    #[test]
    fn an_ordinary_line() {
        let process = parse(&line(b"bash"), Pid(42)).unwrap();
        assert_eq!(
            process,
            Process {
                pid: Pid(42),
                parent: Pid(41),
                start: StartTime(987_654),
                name: "bash".into(),
                terminal: Some(Terminal(34816)),
                session: Some(Pid(43)),
                state: State::Active,
            }
        );
        if cfg!(target_os = "linux") {
            assert_eq!(process.terminal.unwrap().to_string(), "pts/0");
        }
    }

    #[test]
    fn a_name_cannot_forge_a_field() {
        for name in [&b"a) S 1 (b"[..], b"tmux: server", b"(sd-pam)", b"))))", b"", b"x\\n 1 2 3"] {
            let process = parse(&line(name), Pid(42)).unwrap();
            assert_eq!((process.name.as_bytes(), process.parent), (name, Pid(41)));
        }
        assert_eq!(parse(&line(b"\xff\xfe"), Pid(42)).unwrap().name, "\u{fffd}\u{fffd}");
    }

    #[test]
    fn damaged_lines_are_refused() {
        let cut = &line(b"bash")[..40];
        for bytes in
            [&b""[..], b"42", b"42 bash S 1", b"42 (bash", b"42 )bash( S 1", b"42 (bash)", cut]
        {
            assert!(matches!(parse(bytes, Pid(42)), Err(ReadError::Malformed(_))), "{bytes:?}");
        }
        assert_eq!(
            parse(&line(b"bash"), Pid(7)),
            Err(ReadError::Malformed("another process's line"))
        );
        let huge = b"42 (bash) S 99999999999999999999 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0";
        assert_eq!(parse(huge, Pid(42)), Err(ReadError::Malformed("not a number in range")));
    }

    #[test]
    fn states_that_matter() {
        for (letter, threads, state) in [
            (b'R', b'1', State::Active),
            (b'T', b'1', State::Suspended),
            (b't', b'2', State::Suspended),
            (b'Z', b'1', State::Zombie),
            (b'Z', b'2', State::Active),
            (b'Z', b'0', State::Active),
            (b'X', b'0', State::Active),
        ] {
            let mut bytes = line(b"x");
            bytes[7] = letter;
            let count = bytes.len() - b"1 0 987654 0 0 ".len();
            bytes[count] = threads;
            let seen = parse(&bytes, Pid(42)).unwrap().state;
            assert_eq!(seen, state, "{} {}", char::from(letter), char::from(threads));
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            drop(parse(&bytes, Pid(42)));
        }

        #[test]
        fn any_name_round_trips(name in "[ -~]{0,15}") {
            prop_assert_eq!(parse(&line(name.as_bytes()), Pid(42)).unwrap().name, name);
        }
    }
}

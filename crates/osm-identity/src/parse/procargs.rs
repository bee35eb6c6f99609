//! What `sysctl` says of a process's arguments and environment, on macOS and OpenBSD.
//!
//! FreeBSD and NetBSD answer with a plain [list of strings](super::nul_list); these two do not.

use crate::process::ReadError;

/// What `KERN_PROCARGS2` of macOS holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcArgs<'a> {
    /// The path that was handed to `exec`.
    pub executable: &'a [u8],
    /// The arguments, the process's own name first.
    pub arguments: Vec<&'a [u8]>,
    /// The rest: the environment, a list of strings. Empty where the kernel keeps it to itself,
    /// as it does for the programs that come with the system.
    pub environment: &'a [u8],
}

/// Reads `KERN_PROCARGS2`: a copy of what the kernel put on the new process's stack.
///
/// A count of arguments (an `int`), the path of the executable, NULs up to the next multiple of
/// the pointer size, the arguments, the environment; strings end in NUL. The process may have
/// written over all of it but the count.
pub fn darwin(bytes: &[u8]) -> Result<ProcArgs<'_>, ReadError> {
    let (count, rest) =
        bytes.split_first_chunk::<4>().ok_or(ReadError::Malformed("no count of arguments"))?;
    let count = usize::try_from(i32::from_ne_bytes(*count))
        .map_err(|_| ReadError::Malformed("negative count of arguments"))?;
    let (executable, rest) = string(rest).ok_or(ReadError::Malformed("no executable"))?;
    let padding = rest.iter().position(|byte| *byte != 0).unwrap_or(rest.len());
    // An empty first argument would look like one more byte of padding. Nothing tells them apart,
    // and programs are started without a name of their own only to attack something.
    let mut rest = &rest[padding..];
    let mut arguments = Vec::new();
    while arguments.len() < count {
        let Some((argument, behind)) = string(rest) else {
            break;
        };
        arguments.push(argument);
        rest = behind;
    }
    let padding = rest.iter().position(|byte| *byte != 0).unwrap_or(rest.len());
    Ok(ProcArgs { executable, arguments, environment: &rest[padding..] })
}

/// Reads what `KERN_PROC_ARGV` and `KERN_PROC_ENV` of OpenBSD write: a `char **`, its pointers
/// aiming at strings in the same buffer.
///
/// `base` is the address that the buffer had when the kernel wrote it.
#[must_use]
pub fn openbsd(bytes: &[u8], base: usize) -> Vec<&[u8]> {
    bytes
        .chunks_exact(size_of::<usize>())
        .map_while(|word| Some(usize::from_ne_bytes(word.try_into().ok()?)))
        .take_while(|pointer| *pointer != 0)
        .map_while(|pointer| bytes.get(pointer.checked_sub(base)?..))
        .map_while(|text| string(text).map(|(text, _)| text))
        .collect()
}

/// The string in front, without its NUL, and what follows; a last one needs no NUL.
fn string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    if bytes.is_empty() {
        return None;
    }
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    Some((&bytes[..end], bytes.get(end + 1..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::super::nul_list;
    use super::*;
    use proptest::prelude::*;

    fn procargs(count: i32, rest: &[u8]) -> Vec<u8> {
        [&count.to_ne_bytes()[..], rest].concat()
    }

    #[test]
    fn arguments_and_environment_are_told_apart() {
        let bytes = procargs(
            3,
            b"/usr/local/bin/node\0\0\0\0\0node\0\0/opt/gemini\0TERM_SESSION_ID=w0t1p0\0HOME=/\0\0\0",
        );
        let found = darwin(&bytes).unwrap();
        assert_eq!(found.executable, b"/usr/local/bin/node");
        assert_eq!(found.arguments, [&b"node"[..], b"", b"/opt/gemini"]);
        assert_eq!(nul_list::variable(found.environment, "TERM_SESSION_ID"), Some(&b"w0t1p0"[..]));
        assert_eq!(nul_list::variable(found.environment, "HOME"), Some(&b"/"[..]));
    }

    #[test]
    fn an_argument_is_no_variable() {
        let bytes = procargs(2, b"/bin/sh\0\0sh\0TMUX=forged\0TMUX=real\0");
        let found = darwin(&bytes).unwrap();
        assert_eq!(nul_list::variable(found.environment, "TMUX"), Some(&b"real"[..]));
    }

    #[test]
    fn a_withheld_environment_is_empty() {
        for rest in [&b"/bin/zsh\0\0\0\0-zsh\0"[..], b"/bin/zsh\0\0\0\0-zsh\0\0\0\0\0"] {
            let bytes = procargs(1, rest);
            let found = darwin(&bytes).unwrap();
            assert_eq!(found.arguments, [b"-zsh"]);
            assert_eq!(found.environment, b"");
        }
    }

    #[test]
    fn damaged_blocks_are_survived() {
        assert!(darwin(b"").is_err());
        assert!(darwin(&[1, 0]).is_err());
        assert!(darwin(&procargs(-1, b"/bin/sh\0sh\0")).is_err());
        assert!(darwin(&procargs(1, b"")).is_err());
        // More arguments promised than there are, and a string without an end.
        let bytes = procargs(9, b"/bin/sh\0sh\0-c");
        let found = darwin(&bytes).unwrap();
        assert_eq!(found.arguments, [&b"sh"[..], b"-c"]);
        assert_eq!(found.environment, b"");
    }

    /// Lays a list out as the OpenBSD kernel does: pointers, a null, strings.
    fn vector(strings: &[&[u8]], base: usize) -> Vec<u8> {
        let mut pointers = Vec::new();
        let mut text: Vec<u8> = Vec::new();
        let table = (strings.len() + 1) * size_of::<usize>();
        for string in strings {
            pointers.extend((base + table + text.len()).to_ne_bytes());
            text.extend(*string);
            text.push(0);
        }
        pointers.extend(0_usize.to_ne_bytes());
        [pointers, text].concat()
    }

    #[test]
    fn pointers_into_the_buffer_are_followed() {
        let bytes = vector(&[b"ksh", b"", b"-c", b"osm session id"], 0x7f00_1000);
        assert_eq!(openbsd(&bytes, 0x7f00_1000), [&b"ksh"[..], b"", b"-c", b"osm session id"]);
        assert!(openbsd(&vector(&[], 0x1000), 0x1000).is_empty());
    }

    #[test]
    fn pointers_elsewhere_end_the_list() {
        let bytes = vector(&[b"ksh", b"-l"], 0x1000);
        assert!(openbsd(&bytes, 0x2000).is_empty());
        assert!(openbsd(&bytes, 0).is_empty());
        assert!(openbsd(b"short", 0).is_empty());
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), base in any::<usize>()) {
            drop(darwin(&bytes));
            drop(openbsd(&bytes, base));
        }

        #[test]
        fn any_list_round_trips(
            strings in proptest::collection::vec("[ -~]{0,12}", 0..6),
            base in 1..usize::MAX / 2,
        ) {
            let strings: Vec<&[u8]> = strings.iter().map(String::as_bytes).collect();
            let bytes = vector(&strings, base);
            prop_assert_eq!(openbsd(&bytes, base), strings);
        }
    }
}

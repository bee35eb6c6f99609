//! The pseudo terminals of `MinTTY`: named pipes whose names say so.
//!
//! A program that runs in Git Bash, MSYS2 or Cygwin without a Windows console has pipes for
//! standard streams. The emulation layer names them after itself:
//!
//! ```text
//! \msys-1888ae32e00d56aa-pty0-to-master
//!  ^^^^ ^^^^^^^^^^^^^^^^ ^^^^ ^^
//!  |    |                |    which way the bytes flow
//!  |    |                number of the pseudo terminal
//!  |    key of the installation
//!  msys, cygwin or mingw
//! ```
//!
//! The pipes for programs that are not of the emulation layer end in `-nat` besides.

/// The pseudo terminal that a pipe belongs to: `msys-1888ae32e00d56aa-pty0`, in lower case.
///
/// The direction is left out, so that all three streams of a program agree; the key stays in,
/// because Git Bash and Cygwin beside each other both have a `pty0`.
#[must_use]
pub fn pseudo_terminal(pipe: &str) -> Option<String> {
    // Whatever directory the system shows in front, the name is the last part.
    let name = pipe.rsplit('\\').next()?.to_ascii_lowercase();
    let mut parts = name.split('-');
    let layer = parts.next().filter(|layer| matches!(*layer, "msys" | "cygwin" | "mingw"))?;
    let key = parts
        .next()
        .filter(|key| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    let terminal = parts.next()?;
    let number = terminal.strip_prefix("pty")?;
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if !matches!(parts.next()?, "to" | "from") || parts.next()? != "master" {
        return None;
    }
    Some(format!("{layer}-{key}-{terminal}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pipes_of_pseudo_terminals() {
        for (pipe, terminal) in [
            (r"\msys-1888ae32e00d56aa-pty0-to-master", "msys-1888ae32e00d56aa-pty0"),
            (r"\msys-1888ae32e00d56aa-pty0-from-master", "msys-1888ae32e00d56aa-pty0"),
            (r"\cygwin-e022582115c10879-pty12-from-master", "cygwin-e022582115c10879-pty12"),
            (r"\msys-dd50a72ab4668b33-pty1-to-master-nat", "msys-dd50a72ab4668b33-pty1"),
            (r"\MSYS-1888AE32E00D56AA-PTY0-TO-MASTER", "msys-1888ae32e00d56aa-pty0"),
            (r"\Device\NamedPipe\mingw-0f-pty3-to-master", "mingw-0f-pty3"),
            ("msys-1888ae32e00d56aa-pty0-to-master", "msys-1888ae32e00d56aa-pty0"),
        ] {
            assert_eq!(pseudo_terminal(pipe).as_deref(), Some(terminal), "{pipe}");
        }
    }

    #[test]
    fn other_pipes_and_files() {
        for pipe in [
            "",
            r"\",
            r"\Win32Pipes.00001a2c.00000001",
            r"\msys-1888ae32e00d56aa-pty0",
            r"\msys-1888ae32e00d56aa-pty0-to",
            r"\msys-1888ae32e00d56aa-pty0-to-slave",
            r"\msys-1888ae32e00d56aa-pty-to-master",
            r"\msys-1888ae32e00d56aa-ptyx-to-master",
            r"\msys-1888ae32e00d56aa-pipe-to-master",
            r"\msys-xyz-pty0-to-master",
            r"\msys--pty0-to-master",
            r"\xmsys-1888ae32e00d56aa-pty0-to-master",
            r"\msys-1888ae32e00d56aa-pty0-to-masterful",
            r"\msys-1888ae32e00d56aa-pty0-to-master\log.txt",
            r"\Users\me\msys.txt",
        ] {
            assert_eq!(pseudo_terminal(pipe), None, "{pipe}");
        }
    }

    proptest! {
        #[test]
        fn no_name_panics(pipe in "\\PC*") {
            drop(pseudo_terminal(&pipe));
        }

        #[test]
        fn both_directions_agree(key in "[0-9a-f]{1,16}", number in 0..10_000_u32) {
            let to = pseudo_terminal(&format!("\\cygwin-{key}-pty{number}-to-master"));
            let from = pseudo_terminal(&format!("\\cygwin-{key}-pty{number}-from-master-nat"));
            prop_assert_eq!(&to, &from);
            prop_assert_eq!(to, Some(format!("cygwin-{key}-pty{number}")));
        }
    }
}

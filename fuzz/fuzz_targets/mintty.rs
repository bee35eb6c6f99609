//! Names of MinTTY's pipes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use osm_identity::parse::mintty::pseudo_terminal;

fuzz_target!(|input: (&str, u64, u16, u8)| {
    let (free, key, number, choice) = input;
    drop(pseudo_terminal(free));

    // A name as the emulation layer makes it, and one that is nearly so.
    let layer = ["msys", "cygwin", "mingw", "MSYS"][usize::from(choice % 4)];
    let terminal = format!("{layer}-{key:016x}-pty{number}");
    let expected = Some(terminal.to_ascii_lowercase());
    for pipe in [
        format!("\\{terminal}-to-master"),
        format!("\\Device\\NamedPipe\\{terminal}-from-master-nat"),
        format!("{free}\\{}-TO-MASTER", terminal.to_ascii_uppercase()),
    ] {
        assert_eq!(pseudo_terminal(&pipe), expected, "{pipe}");
        let mut broken = pipe.into_bytes();
        let at = usize::from(choice) % broken.len();
        broken[at] = choice;
        if let Some(found) = std::str::from_utf8(&broken).ok().and_then(pseudo_terminal) {
            assert!(found.split('-').count() == 3 && found.is_ascii(), "{found}");
        }
    }
});

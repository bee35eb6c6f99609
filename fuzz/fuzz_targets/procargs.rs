//! Arguments and environments as macOS and OpenBSD hand them out.

#![no_main]

use libfuzzer_sys::fuzz_target;
use osm_identity::parse::procargs::{darwin, openbsd};

fuzz_target!(|input: (usize, &[u8])| {
    let (base, bytes) = input;
    if let Ok(found) = darwin(bytes) {
        let total: usize = found.arguments.iter().map(|argument| argument.len()).sum();
        assert!(found.executable.len() + total + found.environment.len() < bytes.len());
        assert!(found.arguments.iter().all(|argument| !argument.contains(&0)));
    }
    // Pointers that lead into the buffer, and pointers that lead anywhere.
    for base in [base, 0] {
        let arguments = openbsd(bytes, base);
        assert!(arguments.len() <= bytes.len() / size_of::<usize>());
        assert!(arguments.iter().all(|argument| !argument.contains(&0)));
    }
});

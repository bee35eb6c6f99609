//! `/proc/PID/cmdline` and `/proc/PID/environ`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use osm_identity::parse::nul_list::{items, variable};

fuzz_target!(|input: (Vec<(&str, &[u8])>, &[u8])| {
    let (pairs, free) = input;
    check(free);

    // An environment: the first of a name counts, and its value is all up to the NUL.
    let pairs: Vec<(&str, &[u8])> = pairs
        .into_iter()
        .filter(|(name, value)| !name.contains(['\0', '=']) && !value.contains(&0))
        .collect();
    let block: Vec<u8> = pairs
        .iter()
        .flat_map(|(name, value)| [name.as_bytes(), b"=", value, b"\0"].concat())
        .collect();
    check(&block);
    for (name, _) in &pairs {
        let first = pairs.iter().find(|(other, _)| other == name).map(|(_, value)| *value);
        assert_eq!(variable(&block, name), first);
    }
});

/// Joined again, the items are the list, up to the NULs at its end.
fn check(bytes: &[u8]) {
    let list: Vec<&[u8]> = items(bytes).collect();
    assert!(list.iter().all(|item| !item.contains(&0)));
    let joined = list.join(&0);
    assert!(bytes.starts_with(&joined) && bytes[joined.len()..].iter().all(|byte| *byte == 0));
}

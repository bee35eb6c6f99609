//! The grammar of ids: any value makes an id, and every id means itself.

#![no_main]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use libfuzzer_sys::fuzz_target;
use osm_identity::{MAX_LENGTH, SessionId};

const EXTENSION: &str = "session.json";

/// What an id may begin with, besides anything.
const NAMESPACES: &[&str] =
    &["ex", "uuid", "tmux", "agent", "anchor", "ssh", "terminal", "ci", "screen", "my-own", ""];

fuzz_target!(|input: (u8, &[u8])| {
    let (choice, bytes) = input;
    about(bytes);
    // The forms that need more luck: a known namespace, a hash, a UUID, two numbers.
    let namespace = NAMESPACES[usize::from(choice) % NAMESPACES.len()];
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let short = hex.get(..16).unwrap_or(&hex);
    about(&[namespace.as_bytes(), b"--", bytes].concat());
    about(format!("{namespace}--{short}").as_bytes());
    about(format!("{namespace}--{hex}_{short}").as_bytes());
    about(format!("{namespace}--{choice}_{}", bytes.len()).as_bytes());
    if let [a, b, c, d, e, ..] = hex.as_bytes().chunks(8).collect::<Vec<_>>()[..] {
        let part =
            |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(4)]).into_owned();
        let (a, e) = (String::from_utf8_lossy(a), String::from_utf8_lossy(e));
        let (b, c, d) = (part(b), part(c), part(d));
        about(format!("{namespace}--{a}-{b}-{c}-{d}-{e}{b}").as_bytes());
    }
});

fn about(bytes: &[u8]) {
    let id = SessionId::explicit(OsStr::from_bytes(bytes));
    check(&id);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // A text parses exactly if it means itself.
    match text.parse::<SessionId>() {
        Ok(parsed) => assert_eq!((parsed.as_str(), &parsed), (text, &id)),
        Err(_) => assert_ne!(id.as_str(), text),
    }
    if let Some(id) = SessionId::from_file_name(text, EXTENSION) {
        assert_eq!(id.file_name(EXTENSION), text);
    }
}

fn check(id: &SessionId) {
    let text = id.as_str();
    assert!(text.len() <= MAX_LENGTH, "{text}");
    assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte)));
    assert_eq!(text.parse().as_ref(), Ok(id), "it is an id");
    assert_eq!(&SessionId::explicit(text.as_ref()), id, "it means itself");
    let name = id.file_name(EXTENSION);
    assert_eq!(SessionId::from_file_name(&name, EXTENSION).as_ref(), Some(id));
}

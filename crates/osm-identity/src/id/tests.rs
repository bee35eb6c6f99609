//! The grammar against its published vectors, and as properties over any value.

use std::ffi::OsStr;

use proptest::prelude::*;

use super::*;

/// Value and id, one pair a line; `\` escapes are Rust's.
const VECTORS: &str = include_str!("vectors.txt");

fn explicit(value: &str) -> String {
    SessionId::explicit(OsStr::new(value)).as_str().to_owned()
}

/// The value of a vector, without its escapes.
fn unescape(text: &str) -> String {
    let mut value = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        value.push_str(before);
        let (character, used) = match after.as_bytes()[0] {
            b'n' => ('\n', 1),
            b't' => ('\t', 1),
            b'\\' => ('\\', 1),
            b'u' => {
                let (code, _) = after[2..].split_once('}').unwrap();
                let code_point = u32::from_str_radix(code, 16).unwrap();
                (char::from_u32(code_point).unwrap(), code.len() + 3)
            }
            other => panic!("escape {other}"),
        };
        value.push(character);
        rest = &after[used..];
    }
    value + rest
}

#[test]
fn every_vector_byte_for_byte() {
    let mut count = 0;
    for line in VECTORS.lines().filter(|line| !line.starts_with('#')) {
        let (value, id) = line.split_once('\t').unwrap();
        assert_eq!(explicit(&unescape(value)), id, "{line}");
        count += 1;
    }
    assert_eq!(count, 46);
}

#[test]
fn printed_ids_mean_themselves() {
    for id in [
        "ex--foo_2c",
        "ex--user_name_94d046a42abcfaae",
        "ex--caf__850f7dc43910ff89",
        "foo--_e3",
        "foo--bar--baz_cc",
        "uuid--0b0f5a1e-7f3c-4a55-9d1b-2c4f6a8e0d12",
        "agent--claude-code_0123456789abcdef",
        "agent--codex_4242_0123456789abcdef",
        "tmux--0_12345_0123456789abcdef",
        "tmux--0_12345",
        "ssh--0123456789abcdef",
        "zellij--3_0123456789abcdef",
    ] {
        assert_eq!(explicit(id), id);
    }
}

#[test]
fn an_invalid_namespace_belongs_to_the_payload() {
    assert!(explicit("a/b--x").starts_with("ex--a_b--x_"));
    assert_ne!(explicit("a/b--x"), explicit("a_b--x"));
    assert!(explicit("--x").starts_with("ex----x_"));
    let long = format!("{}--x", "n".repeat(41));
    assert!(explicit(&long).starts_with("ex--nnn"));
    assert!(explicit(&format!("{}--x", "n".repeat(40))).starts_with("nnn"));
}

#[test]
fn texts_that_are_not_ids() {
    for (text, error) in [
        ("", InvalidId::Namespace),
        ("plain", InvalidId::Namespace),
        ("--x", InvalidId::Namespace),
        ("a.b--x", InvalidId::Namespace),
        ("ex--a b", InvalidId::Alphabet(' ')),
        ("ex--../x", InvalidId::Alphabet('/')),
        ("ex--", InvalidId::Suffix),
        ("ex--evil_00", InvalidId::Suffix),
        ("ex--evil_", InvalidId::Suffix),
        ("ex--evil_0123456789abcdeF", InvalidId::Suffix),
        ("ex--0123456789abcdef", InvalidId::Suffix),
        ("anchor--0123456789abcde", InvalidId::Suffix),
        ("uuid--0b0f5a1e-7f3c-4a55-9d1b", InvalidId::Suffix),
        ("screen--0_12345", InvalidId::Suffix),
    ] {
        assert_eq!(text.parse::<SessionId>(), Err(error), "{text:?}");
    }
    let long = format!("ex--{}", "a".repeat(77));
    assert_eq!(long.parse::<SessionId>(), Err(InvalidId::Length(81)));
}

#[cfg(unix)]
#[test]
fn bytes_that_are_no_text() {
    use std::os::unix::ffi::OsStrExt;
    let id = SessionId::explicit(OsStr::from_bytes(b"a\xff\xfeb"));
    assert!(id.as_str().starts_with("ex--a__b_"), "{id}");
    assert_ne!(id, SessionId::explicit(OsStr::from_bytes(b"a\xfe\xffb")));
}

/// Texts near the grammar: valid and invalid namespaces, payloads and suffixes.
fn near_ids() -> impl Strategy<Value = String> {
    let namespace = "(ex|uuid|tmux|anchor|screen|agent|[a-z_-]{0,42}|[a-z.]{1,3})";
    let payload = "([A-Za-z0-9._-]{0,12}|[a-z]{60,80})";
    let suffix = "(|_[0-9a-f]{2}|_[0-9a-f]{16}|[0-9a-f]{16}|_[0-9]{1,5}|_[0-9a-f]{15})";
    (namespace, payload, suffix)
        .prop_map(|(namespace, payload, suffix)| format!("{namespace}--{payload}{suffix}"))
}

proptest! {
    #[test]
    fn parsing_accepts_exactly_what_means_itself(
        text in prop_oneof![any::<String>(), near_ids(), near_ids().prop_map(|it| explicit(&it))]
    ) {
        let parsed = text.parse::<SessionId>();
        prop_assert_eq!(parsed.is_ok(), explicit(&text) == text);
        if let Ok(id) = parsed {
            prop_assert_eq!(id.to_string(), text);
        }
    }

    #[test]
    fn every_id_parses_as_itself(value in prop_oneof![any::<String>(), near_ids()]) {
        let id = SessionId::explicit(OsStr::new(&value));
        prop_assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn any_value_gives_an_id(value in any::<String>()) {
        let id = SessionId::explicit(OsStr::new(&value));
        prop_assert_eq!(check(id.as_str()), Ok(()));
    }

    #[test]
    fn an_id_given_back_means_itself(value in "(([a-z0-9_/-]{0,50})--)?[ -~é]{0,120}") {
        let id = explicit(&value);
        prop_assert_eq!(explicit(&id), id);
    }

    #[test]
    fn id_and_file_name_map_one_to_one(value in any::<String>()) {
        let id = SessionId::explicit(OsStr::new(&value));
        let name = id.file_name("session.json");
        prop_assert!(!name.contains(['/', '\\', ':', '\0']));
        prop_assert_eq!(SessionId::from_file_name(&name, "session.json"), Some(id));
    }

    #[test]
    fn different_values_give_different_ids(one in "[ -~]{0,100}", other in "[ -~]{0,100}") {
        // An id means itself, and `ex--x` means `x`; nothing else may coincide.
        let plain = |value: &str| !value.contains("--");
        prop_assume!(one != other && plain(&one) && plain(&other));
        prop_assert_ne!(explicit(&one), explicit(&other));
    }

    #[test]
    fn namespaces_keep_values_apart(one in "[a-z]{1,4}(-[a-z]{1,3})?", other in "[a-z]{1,4}(-[a-z]{1,3})?", value in "[a-z]{1,9}") {
        prop_assume!(one != other);
        prop_assert_ne!(explicit(&format!("{one}--{value}")), explicit(&format!("{other}--{value}")));
    }
}

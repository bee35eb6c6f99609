//! Handles never change: the lists and a few handles are pinned.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn handle(id: &str) -> String {
    Handle::of(&id.parse().expect("an id")).to_string()
}

#[test]
fn the_lists_are_fixed() {
    for (list, expected) in [
        (ADJECTIVES, "dca5a3f0056d4298e6aada54bdc0116a3b7bd97b797ecd15c16340b1f0a91ba0"),
        (NOUNS, "6e2edd4570f4729a74f085f9999564521223975a9fb456c3ab8060bc00dcac94"),
    ] {
        assert_eq!(digest::hex(list.as_bytes(), 64), expected, "handles must never change");
    }
}

#[test]
fn handles_of_these_ids_are_fixed() {
    for (id, expected) in [
        ("ex--foo_2c", "tawny-hare"),
        ("ex--test_9f", "poetic-helmet"),
        ("ex--user_name_94d046a42abcfaae", "elusive-dace"),
        ("uuid--0b0f5a1e-7f3c-4a55-9d1b-2c4f6a8e0d12", "sapient-bulldog"),
        ("agent--claude-code_0123456789abcdef", "lettered-vessel"),
        ("tmux--0_12345_0123456789abcdef", "fine-monsoon"),
        ("ssh--0123456789abcdef", "trusted-obelisk"),
        ("anchor--0123456789abcdef", "copious-ragtime"),
    ] {
        assert_eq!(handle(id), expected, "{id}");
    }
}

#[test]
fn words_are_plain_and_cannot_be_confused() {
    let all: Vec<&str> = ADJECTIVES.lines().chain(NOUNS.lines()).collect();
    assert_eq!(all.len(), 2048);
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 2048, "no word twice");
    for list in [ADJECTIVES, NOUNS] {
        let words: BTreeSet<&str> = list.lines().collect();
        assert_eq!((words.len(), list.lines().is_sorted()), (1 << BITS, true));
        for word in &words {
            assert!((3..=8).contains(&word.len()), "{word}");
            assert!(word.bytes().all(|byte| byte.is_ascii_lowercase()), "{word}");
            // One letter less, or one that differs.
            for at in 0..word.len() {
                let (before, after) = (&word[..at], &word[at + 1..]);
                assert!(!words.contains(&*[before, after].concat()), "{word}");
                for letter in 'a'..='z' {
                    let other = format!("{before}{letter}{after}");
                    assert!(other == **word || !words.contains(&*other), "{word} and {other}");
                }
            }
        }
    }
}

#[test]
fn texts_that_are_not_handles() {
    for text in
        ["", "-", "swift", "swift-", "-otter", "otter-swift", "Swift-otter", "swift-otter-x"]
    {
        assert_eq!(text.parse::<Handle>(), Err(InvalidHandle), "{text:?}");
    }
    assert!("swift-otter".parse::<Handle>().is_ok());
}

proptest! {
    #[test]
    fn a_handle_is_read_as_it_is_printed(value in any::<String>()) {
        let handle = Handle::of(&SessionId::explicit(value.as_ref()));
        prop_assert_eq!(handle.to_string().parse(), Ok(handle));
        prop_assert!(handle.to_string().parse::<SessionId>().is_err(), "never taken for an id");
    }
}

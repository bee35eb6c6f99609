//! Names as people type them, and as properties over any sessions.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn id(value: &str) -> SessionId {
    SessionId::explicit(value.as_ref())
}

fn ids(values: &[&str]) -> Vec<SessionId> {
    values.iter().map(|value| id(value)).collect()
}

#[test]
fn ids_values_prefixes_and_handles() {
    let known = ids(&["build", "build-2", "review", "tmux--0_12345"]);
    let handle = Handle::of(&id("review")).to_string();
    for (name, expected) in [
        ("build", "build"),
        ("ex--build_44", "build"),
        ("ex--build-", "build-2"),
        ("ex--r", "review"),
        ("tmux", "tmux--0_12345"),
        (&handle, "review"),
    ] {
        assert_eq!(resolve(name, &known), Resolution::Found(id(expected)), "{name}");
    }
    let both = Resolution::Ambiguous(ids(&["build", "build-2"]));
    assert_eq!(resolve("ex--bu", &known), both);
    assert_eq!(resolve("biuld", &known), Resolution::Unknown(ids(&["build"])));
    for name in ["", "screen--", "swift", "quite another name"] {
        assert!(matches!(resolve(name, &known), Resolution::Unknown(_)), "{name:?}");
    }
}

/// Two sessions with one handle.
fn twins() -> (SessionId, SessionId) {
    let mut seen = BTreeMap::new();
    for number in 0.. {
        let one = id(&number.to_string());
        if let Some(other) = seen.insert(Handle::of(&one), one.clone()) {
            return (other, one);
        }
    }
    unreachable!("there are fewer handles than numbers")
}

#[test]
fn digits_tell_sessions_with_one_handle_apart() {
    let (one, other) = twins();
    let handle = Handle::of(&one);
    let known = [one.clone(), other.clone()];
    assert_eq!(resolve(&handle.to_string(), &known), Resolution::Ambiguous(known.to_vec()));
    for id in [&one, &other] {
        let name = format!("{handle}-{}", &Handle::digits(id)[..4]);
        assert_eq!(resolve(&name, &known), Resolution::Found(id.clone()), "{name}");
        assert_eq!(found(&name, &known), Ok(id.clone()));
    }
    for id in [&one, &other] {
        assert_eq!(resolve(&with_digits(id), &known), Resolution::Found(id.clone()));
    }
    let error = found(&handle.to_string(), &known).unwrap_err();
    assert_eq!((error.reason(), error.exit()), ("ambiguous_session", Exit::Usage));
    assert!(error.to_string().contains(one.as_str()) && error.to_string().contains(other.as_str()));
}

#[test]
fn refusals_name_the_nearest() {
    let known = ids(&["build"]);
    let error = found("biuld", &known).unwrap_err();
    assert_eq!((error.reason(), error.exit()), ("session_not_found", Exit::NotFound));
    assert!(error.hints().iter().any(|hint| hint.contains("ex--build_44")), "{:?}", error.hints());
}

proptest! {
    #[test]
    fn only_known_sessions_are_found(name in any::<String>(), values in prop::collection::btree_set("[a-c]{0,4}", 0..6)) {
        let known: Vec<SessionId> = values.iter().map(|value| id(value)).collect();
        match resolve(&name, &known) {
            Resolution::Found(id) => prop_assert!(known.contains(&id)),
            Resolution::Ambiguous(all) => {
                prop_assert!(all.len() > 1 && all.iter().all(|id| known.contains(id)));
            }
            Resolution::Unknown(near) => prop_assert!(near.iter().all(|id| known.contains(id))),
        }
    }

    #[test]
    fn every_id_and_value_means_its_session(values in prop::collection::btree_set("[a-c-]{1,4}", 1..8)) {
        let known: Vec<SessionId> = values.iter().map(|value| id(value)).collect();
        for value in &values {
            prop_assert_eq!(resolve(value, &known), Resolution::Found(id(value)));
            prop_assert_eq!(resolve(id(value).as_str(), &known), Resolution::Found(id(value)));
        }
    }
}

//! Operations on settings, goals and trust, called without a terminal: they return values.

use osm::ops::config::{self, SetRequest, Source};
use osm::ops::goal::{self, CreateRequest};
use osm::ops::trust::{self, State};
use osm::{Exit, Failure, Invocation, Options, Silence, World};
use osm_identity::Environment;

/// A world whose home is a folder, and in which no other variable is set.
fn world(home: &std::path::Path) -> World {
    let variables = [("OSM_HOME".into(), home.into())];
    World { environment: Environment::new(std::process::id(), variables), ..World::capture() }
}

#[test]
fn settings_are_changed_and_read() {
    let home = tempfile::tempdir().unwrap();
    let world = world(home.path());
    let invocation = Invocation::new(&world, Options::default());
    let request =
        |key: &str, value: &str| SetRequest { key: key.into(), values: vec![value.into()] };
    let changed =
        config::set(&invocation, &request("session.max_count", "7"), &mut Silence).unwrap();
    assert_eq!((changed.value, changed.before), (7.into(), Some(100.into())));
    assert!(changed.was_default);
    let setting = config::get(&invocation, "session.max_count").unwrap();
    assert_eq!((setting.source, setting.line), (Source::Config, Some(2)));
    let unset = config::unset(&invocation, "session.max_count", &mut Silence).unwrap();
    assert!(unset.was_set && unset.default == Some(100.into()));

    let error = config::get(&invocation, "session.max_cuont").unwrap_err();
    assert_eq!((error.reason(), error.exit()), ("unknown_setting", Exit::NotFound));
    assert_eq!(error.hints(), ["did you mean session.max_count?"]);
    let error =
        config::set(&invocation, &request("session.max_count", "x"), &mut Silence).unwrap_err();
    assert_eq!((error.reason(), error.exit()), ("invalid_value", Exit::Usage));
}

#[test]
fn goals_are_created_and_listed() {
    let home = tempfile::tempdir().unwrap();
    let world = world(home.path());
    let invocation = Invocation::new(&world, Options::default());
    let request =
        CreateRequest { name: "release-notes".into(), description: None, here: false, json: false };
    let created = goal::create(&invocation, &request).unwrap();
    assert_eq!(created.file, home.path().join("goals/release-notes.prompt.md"));
    let error = goal::create(&invocation, &request).unwrap_err();
    assert_eq!(error.reason(), "exists");
    let goals = goal::list(&invocation, &mut Silence);
    assert!(goals.iter().any(|goal| goal.call == "release-notes" && goal.origin == "user"));
    let (name, _) = goal::open(&invocation, "release-notes", &mut Silence).unwrap();
    assert_eq!(name, "release-notes");
    let error = goal::show(&invocation, "relaese-notes", &mut Silence).unwrap_err();
    assert_eq!((error.reason(), error.exit()), ("unknown_goal", Exit::NotFound));
    assert_eq!(error.hints(), ["did you mean release-notes?"]);
}

#[test]
fn files_are_trusted_by_their_content() {
    let home = tempfile::tempdir().unwrap();
    let world = world(home.path());
    let invocation = Invocation::new(&world, Options::default());
    let file = home.path().join("deploy.json");
    std::fs::write(&file, "{}").unwrap();
    let paths = [file.clone()];
    assert_eq!(trust::add(&invocation, &paths).unwrap()[0].state, State::Trusted);
    std::fs::write(&file, "{ }").unwrap();
    assert_eq!(trust::list(&invocation).unwrap()[0].state, State::Changed);
    assert_eq!(trust::revoke(&invocation, &paths).unwrap()[0].state, State::Revoked);
    let error = trust::revoke(&invocation, &paths).unwrap_err();
    assert_eq!((error.reason(), error.exit()), ("not_trusted", Exit::NotFound));
}

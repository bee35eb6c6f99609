//! Operations, called without a terminal: they return values, and print nothing.

use std::process::Command;

use osm::ops::claim::{self, ClaimRequest, GrantOptions};
use osm::ops::config::{self, SetRequest, Source};
use osm::ops::goal::{self, CreateRequest};
use osm::ops::prompt::{self, AddRequest, BuildRequest, NewItem};
use osm::ops::session::{self, ListRequest};
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
    let goals = goal::list(&invocation, &mut Silence).goals;
    assert!(goals.iter().any(|goal| goal.call == "release-notes" && goal.origin == "user"));
    let name = goal::open(&invocation, "release-notes", &mut Silence).unwrap().name;
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

/// A claim, a prompt and a list of sessions in one run.
#[test]
fn one_story() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("main.rs");
    std::fs::write(&file, "fn main() {}\n").unwrap();
    let world = world(home.path());
    let options = Options { session: Some("story".into()), store: None };
    let invocation = Invocation::new(&world, options);

    let request = ClaimRequest {
        resource: osm_claims::Resource::new(b"TASK-7").unwrap(),
        options: GrantOptions::default(),
        scope: Some("story".into()),
    };
    let claimed = claim::claim(&invocation, &request, &mut Silence).unwrap();
    assert_eq!(claimed.outcome.claim.epoch.0, 1);
    let other = Options { session: Some("other".into()), store: None };
    let refused = claim::claim(&Invocation::new(&world, other), &request, &mut Silence);
    assert_eq!(refused.unwrap_err().reason(), "held");

    let path = NewItem::Path(file.display().to_string());
    let items = vec![path, NewItem::Note("is it safe?".into())];
    let added = prompt::add(&invocation, &AddRequest { items }, &mut Silence).unwrap();
    assert_eq!(added.ids, [1, 2]);
    let built = prompt::build(&invocation, &BuildRequest::code_review(), &mut Silence).unwrap();
    assert!(built.text.contains("fn main() {}") && built.text.contains("is it safe?"));

    let sessions = session::list(&invocation, &ListRequest::default()).unwrap();
    assert_eq!(sessions.len(), 1);
    assert!(sessions[0].id.as_str().starts_with("ex--story"), "{}", sessions[0].id);
}

/// The story in a process of its own, whose streams hold the words of the test harness alone.
#[test]
fn operations_print_nothing() {
    let story = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "ops::one_story"])
        .output()
        .unwrap();
    let said = String::from_utf8(story.stdout).unwrap();
    let of_harness = |line: &&str| line.starts_with("running 1") || line.starts_with("test ");
    let others: Vec<&str> =
        said.lines().filter(|line| !line.is_empty() && !of_harness(line)).collect();
    assert!(story.status.success(), "{said}");
    assert_eq!((others, story.stderr), (Vec::new(), Vec::new()));
}

//! Operations without a terminal: they return values, print nothing and ask nothing.

use std::sync::Arc;

use jiff::Timestamp;
use osm_identity::{Environment, SessionId, System};
use osm_store::retention::Mode;
use tempfile::TempDir;

use super::*;
use crate::interaction::{CannotAsk, Progress, Silence, Unconfirmed};
use crate::invocation::{Invocation, Options};
use crate::{Exit, Failure as _, World};

/// The world of a program that was started with its own home.
fn world(home: &TempDir) -> World {
    let home = home.path().to_str().unwrap();
    let variables = [("OSM_HOME", home), ("OSM_SESSION", "mine")];
    World {
        arguments: Vec::new(),
        environment: Environment::new(
            std::process::id(),
            variables.map(|(name, value)| (name.into(), value.into())),
        ),
        clock: Arc::new(|| "2026-01-02T03:04:05Z".parse::<Timestamp>().unwrap()),
        processes: &System,
    }
}

/// Says yes, and remembers the questions.
#[derive(Default)]
struct Yes(Vec<String>);

impl Interaction for Yes {
    fn begin(&mut self, _what: &str) -> Progress {
        Progress::unseen()
    }

    fn confirm(&mut self, question: &str) -> Result<bool, CannotAsk> {
        self.0.push(question.to_owned());
        Ok(true)
    }

    fn note(&mut self, message: &str) {
        panic!("{message}");
    }

    fn warn(&mut self, message: &str) {
        panic!("{message}");
    }

    fn hint(&mut self, _message: &str) {}
}

fn import_session(invocation: &Invocation, home: &TempDir, id: &str) {
    let file = home.path().join("session.json");
    let document = r#"{"version":"0.2.0","id":"upstream","createTime":"2025-01-01T00:00:00Z","updateTime":"2025-01-01T00:00:00Z","sharedState":{"k":"v"}}"#;
    std::fs::write(&file, document).unwrap();
    let request =
        ImportRequest { files: vec![file], id: Some(id.to_owned()), ..ImportRequest::default() };
    let result = import(invocation, &request, &mut Silence).unwrap();
    assert!(result.failure.is_none(), "{result:?}");
    assert_eq!(result.imported[0].id, SessionId::explicit(id.as_ref()));
}

#[test]
fn a_session_from_its_import_to_its_end() {
    let home = tempfile::tempdir().unwrap();
    let world = world(&home);
    let invocation = Invocation::new(&world, Options::default());
    assert!(list(&invocation, &ListRequest::default()).unwrap().is_empty());
    import_session(&invocation, &home, "x");
    let rows = list(&invocation, &ListRequest::default()).unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].id, SessionId::explicit("x".as_ref()));
    let found = info(&invocation, Some("x")).unwrap();
    assert_eq!(found.session.unwrap().state.value().unwrap()["shared"]["k"], "v");
    assert_eq!(found.file, Some(path(&invocation, Some("x")).unwrap()));

    let request = ResetRequest { id: Some("x".into()), ..ResetRequest::default() };
    let (_, name) = reset(&invocation, &request, &mut Silence).unwrap().archived.unwrap();
    let request = DiffRequest { one: Some(name.clone()), other: Some("x".into()) };
    assert_eq!(diff(&invocation, &request).unwrap().len(), 1);
    let request = RestoreRequest { name: name.clone(), ..RestoreRequest::default() };
    assert_eq!(restore(&invocation, &request, &mut Silence).unwrap().id, rows[0].id);
    assert!(archives(&invocation).unwrap().iter().any(|it| it.document.name == name));

    let mut request = DeleteRequest { ids: vec!["x".into()], ..DeleteRequest::default() };
    let refused = delete(&invocation, &request, &mut Silence).unwrap_err();
    assert!(matches!(refused, SessionError::Unconfirmed(Unconfirmed::CannotAsk)));
    assert_eq!((refused.exit(), refused.reason()), (Exit::Refused, "cannot_ask"));
    request.consent.dry_run = true;
    assert!(delete(&invocation, &request, &mut Silence).unwrap().dry_run);
    request.consent.dry_run = false;
    let mut yes = Yes::default();
    assert_eq!(
        delete(&invocation, &request, &mut yes).unwrap().deleted,
        [DeletedItem::Session(rows[0].id.clone())]
    );
    assert_eq!(yes.0, [format!("Delete session {}?", rows[0].id.label())]);
    let missing = delete(&invocation, &request, &mut Silence).unwrap_err();
    assert_eq!((missing.exit(), missing.reason()), (Exit::NotFound, "session_not_found"));
}

#[test]
fn a_store_in_memory_has_no_files() {
    let home = tempfile::tempdir().unwrap();
    let world = world(&home);
    let options = Options { store: Some("memory".into()), ..Options::default() };
    let invocation = Invocation::new(&world, options);
    for id in [None, Some("x")] {
        let refused = path(&invocation, id).unwrap_err();
        assert!(matches!(refused, SessionError::NoFiles), "{refused}");
    }
    assert!(list(&invocation, &ListRequest::default()).unwrap().is_empty());
}

#[test]
fn a_purge_asks_first() {
    let home = tempfile::tempdir().unwrap();
    let world = world(&home);
    let invocation = Invocation::new(&world, Options::default());
    import_session(&invocation, &home, "x");
    let request = CleanRequest { mode: Mode::Purge, consent: Consent::default() };
    let refused = clean(&invocation, &request, &mut Silence).unwrap_err();
    assert!(matches!(refused, SessionError::Unconfirmed(_)), "{refused}");
    let mut yes = Yes::default();
    let report = clean(&invocation, &request, &mut yes).unwrap().report;
    assert_eq!((report.removed.len(), yes.0.len()), (1, 1));
    assert!(list(&invocation, &ListRequest::default()).unwrap().is_empty());
}

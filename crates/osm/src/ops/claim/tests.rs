//! Claims without a terminal: every front end calls what is called here.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use osm_claims::rules::Change;
use osm_claims::{End, Reason, Resource};
use osm_identity::{Environment, System};

use super::*;
use crate::World;
use crate::error::{Exit, Failure};
use crate::interaction::Silence;
use crate::invocation::{Invocation, Options};

/// The world of a session that was named.
fn world(home: &Path, session: &str) -> World {
    let home = home.as_os_str().to_owned();
    let variables = [
        ("OSM_HOME".into(), home),
        ("OSM_SESSION".into(), session.into()),
        ("OSM_SCOPE".into(), "test".into()),
    ];
    World {
        arguments: Vec::new(),
        environment: Environment::new(std::process::id(), variables),
        clock: Arc::new(|| Timestamp::UNIX_EPOCH),
        processes: &System,
    }
}

fn claim_of(name: &str) -> ClaimRequest {
    let resource = Resource::new(name).unwrap();
    ClaimRequest { resource, options: GrantOptions::default(), scope: None }
}

#[test]
fn a_claim_is_a_value_and_so_is_a_refusal() {
    let home = tempfile::tempdir().unwrap();
    let (ann, ben) = (world(home.path(), "ann"), world(home.path(), "ben"));
    let (ann, ben) =
        (Invocation::new(&ann, Options::default()), Invocation::new(&ben, Options::default()));
    let quiet = &mut Silence;
    let granted = claim(&ann, &claim_of("TASK-7"), quiet).unwrap();
    assert_eq!(
        (granted.outcome.change, granted.scope.as_str()),
        (Change::Grant(None), "name:test")
    );

    let error = claim(&ben, &claim_of("TASK-7"), quiet).unwrap_err();
    assert_eq!((error.reason(), error.exit()), ("held", Exit::Claim(Reason::Held)));
    let message = error.to_string();
    assert!(message.starts_with("TASK-7: already claimed by a running session: "), "{message}");
    assert!(error.hints()[0].contains("osm claim --wait 10m TASK-7"), "{:?}", error.hints());

    let candidates = ["TASK-7", "TASK-8"].map(|it| Resource::new(it).unwrap()).to_vec();
    let request = NextRequest { candidates, options: GrantOptions::default(), scope: None };
    assert_eq!(next(&ben, &request, quiet).unwrap().outcome.claim.resource.text(), Some("TASK-8"));
    assert_eq!(list(&ann, None, false, quiet).unwrap().claims.len(), 2);
    assert_eq!(mine(&ben, None, quiet).unwrap().owned.held.len(), 1);

    let take_it = TakeRequest {
        resource: Resource::new("TASK-7").unwrap(),
        reason: "urgent".into(),
        even_if_alive: true,
        dry_run: false,
        scope: None,
    };
    let Taken::Done(taken) = take(&ben, &take_it, quiet).unwrap() else { panic!("no dry run") };
    assert_eq!(taken.outcome.change, Change::Grant(Some(End::Taken)));
    let told = list(&ann, None, false, quiet).unwrap().notices;
    assert_eq!(told.losses.len(), 1, "the session that lost it learns it");
    mark_told(&ann).unwrap();
    assert!(list(&ann, None, false, quiet).unwrap().notices.losses.is_empty(), "once");

    let request = HistoryRequest::default();
    let events = log(&ann, &request, quiet).unwrap().events;
    let kinds: Vec<_> = events.iter().map(|it| it.transition.name()).collect();
    assert_eq!(kinds, ["granted", "granted", "taken", "granted"]);
    let resources = Resources::All;
    let request = ReleaseRequest { resources, epoch: None, done: true, scope: None };
    let released = release(&ben, &request, quiet).unwrap();
    assert_eq!((released.outcomes.len(), released.failed.is_none()), (2, true));
}

/// Names that others chose cannot start a line, or an escape sequence, in a message.
#[test]
fn names_of_others_stay_on_their_line() {
    let home = tempfile::tempdir().unwrap();
    let (ann, ben) = (world(home.path(), "ann"), world(home.path(), "ben"));
    let (ann, ben) =
        (Invocation::new(&ann, Options::default()), Invocation::new(&ben, Options::default()));
    let request = claim_of("x\nosm: error: forged\u{1b}[2J");
    claim(&ann, &request, &mut Silence).unwrap();
    let error = claim(&ben, &request, &mut Silence).unwrap_err();
    let said = format!("{error}{:?}", error.hints());
    assert!(!said.contains(['\n', '\u{1b}']), "{said}");
}

#[test]
fn a_damaged_ledger_is_named_with_its_file() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("claims.db"), "no ledger").unwrap();
    let world = world(home.path(), "ann");
    let invocation = Invocation::new(&world, Options::default());
    let error = claim(&invocation, &claim_of("x"), &mut Silence).unwrap_err();
    assert_eq!(error.reason(), "ledger_damaged");
    assert!(error.to_string().contains("claims.db"), "{error}");
    assert!(error.hints()[0].contains("claims.db"), "{:?}", error.hints());
}

/// What a hook asks before an edit: in a repository, with and without a scope that was named.
#[test]
fn files_are_held_for_an_edit_and_ours_cost_no_write() {
    let home = tempfile::tempdir().unwrap();
    let repository = home.path().join("repository");
    for folder in [".git/objects", ".git/refs", "src"] {
        std::fs::create_dir_all(repository.join(folder)).unwrap();
    }
    std::fs::write(repository.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let (ann, ben) = (world(home.path(), "ann"), world(home.path(), "ben"));
    let (ann, ben) =
        (Invocation::new(&ann, Options::default()), Invocation::new(&ben, Options::default()));
    let quiet = &mut Silence;
    let outside = home.path().join("outside");
    let paths = vec!["src/a.rs".into(), outside.clone(), repository.join("new/b.rs")];
    let folder = Some(repository.clone());
    let request = HoldRequest { paths, folder, note: Some("an edit".into()), caller: None };
    let first = hold_paths(&ann, &request, quiet).unwrap();
    assert_eq!((first.paths.len(), first.outside), (2, vec![outside]));
    assert!(first.paths.iter().all(|it| it.is_new && it.claim.mode.automatic));

    let events = || log(&ann, &HistoryRequest::default(), &mut Silence).unwrap().events.len();
    let before = events();
    let caller = Some(caller(&ann));
    let second = hold_paths(&ann, &HoldRequest { caller, ..request.clone() }, quiet).unwrap();
    assert!(second.paths.iter().all(|it| !it.is_new));

    let error = hold_paths(&ben, &request, quiet).unwrap_err();
    let refused = error.refusal().unwrap();
    let claim = refused.claim.as_ref().unwrap();
    assert_eq!((refused.reason, claim.note.as_deref()), (Reason::Held, Some("an edit")));
    assert_eq!(claim.owner.session, first.paths[0].claim.owner.session);
    assert_eq!(events(), before, "neither wrote anything");

    assert_eq!(paths_of_others(&ben, Some(&repository), None).unwrap().len(), 2);
    assert!(paths_of_others(&ann, Some(&repository), None).unwrap().is_empty());
    assert!(paths_of_others(&ann, Some(home.path()), None).unwrap().is_empty());
}

//! Prompts without a terminal and without a script.

use std::sync::Arc;

use osm_identity::{Environment, System};

use super::*;
use crate::{Exit, Options, Silence, World};

fn world(home: &std::path::Path) -> World {
    let variables = [("OSM_HOME", home), ("HOME", home)];
    let variables = variables.map(|(name, value)| (name.into(), value.into()));
    World {
        arguments: Vec::new(),
        environment: Environment::new(std::process::id(), variables),
        clock: Arc::new(|| jiff::Timestamp::UNIX_EPOCH),
        processes: &System,
    }
}

fn invocation(world: &World) -> Invocation<'_> {
    let session = Some("prompt-test".into());
    Invocation::new(world, Options { session, ..Options::default() })
}

#[test]
fn a_prompt_from_the_items_of_a_session() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("one.rs");
    std::fs::write(&file, "fn one() {}\n").unwrap();
    let path = file.display().to_string();
    let world = world(home.path());
    let request = AddRequest {
        items: vec![
            NewItem::Path(path.clone()),
            NewItem::Note("Look at one.".into()),
            NewItem::Path(path.clone()),
        ],
    };
    let added = add(&invocation(&world), &request, &mut Silence).unwrap();
    assert_eq!((added.ids, added.known), (vec![1, 2], vec![1]));

    // Another run of the program sees them.
    let run = invocation(&world);
    let listed = list(&run, &mut Silence).unwrap();
    let about = |it: &Listed| (it.item.id, it.item.type_name.clone(), it.item.lines);
    let listed: Vec<_> = listed.iter().map(about).collect();
    assert_eq!(listed, [(Some(1), "file".into(), 1), (Some(2), "note".into(), 1)]);
    let plain = build(&run, &BuildRequest::default(), &mut Silence).unwrap();
    assert!(plain.text.contains("fn one() {}\n") && plain.text.contains("Look at one."));
    let review = build(&run, &BuildRequest::code_review(), &mut Silence).unwrap();
    assert!(review.text.contains(plain.text.trim_end()) && review.text.len() > plain.text.len());
    let stats = review.stats;
    assert_eq!((stats.stats.files, stats.stats.bytes), (1, review.text.len() as u64));
    assert!(stats.stats.tokens.is_some() && stats.warnings.is_empty(), "{stats:?}");

    // A diff that git does not take is not added; a file that is gone is reported in the prompt.
    std::fs::write(&file, [0, 1, 2]).unwrap();
    let more = AddRequest { items: vec![NewItem::Diff(vec!["a b".into()])] };
    assert_eq!(add(&run, &more, &mut Silence).unwrap_err().reason(), "context");
    let built = build(&run, &BuildRequest::default(), &mut Silence).unwrap();
    assert_eq!(built.skipped.len(), 1, "{built:?}");
}

#[test]
fn what_fails_changes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let world = world(home.path());
    let run = invocation(&world);
    let items = vec![NewItem::Note("kept?".into()), NewItem::Path("/no/such/file".into())];
    let error = add(&run, &AddRequest { items }, &mut Silence).unwrap_err();
    assert_eq!((error.reason(), error.exit()), ("not_found", Exit::NotFound));
    assert!(error.to_string().starts_with("nothing added: /no/such/file: "), "{error}");
    assert_eq!(list(&run, &mut Silence).unwrap(), []);
    let request = BuildRequest { template: "{{ missing }}".into(), data: Value::Null };
    let error = build(&run, &request, &mut Silence).unwrap_err();
    assert_eq!(error.reason(), "invalid_template", "{error}");
}

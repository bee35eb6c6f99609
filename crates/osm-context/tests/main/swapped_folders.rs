//! A folder that another process replaces by a link while its files are read.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use osm_context::git::changed;
use osm_context::{Item, build, resolve};

use crate::harness::{Lab, labels};

/// Content that is in no folder of the user.
const SECRET: &str = "content of another folder";
/// How often a prompt is built.
const ROUNDS: usize = 300;

/// Exchanges two paths in one step.
fn exchange(one: &Path, other: &Path) {
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
}

#[test]
fn no_content_of_a_swapped_folder_is_read() {
    let names: Vec<String> = (0..20).map(|number| format!("inner/deep/{number}")).collect();
    let lab = Lab::new();
    for name in &names {
        lab.write(&format!("tree/{name}"), "inside");
        lab.write(&name.replace("inner", "outside"), SECRET);
    }
    symlink(lab.path("outside"), lab.path("link")).unwrap();
    let is_over = AtomicBool::new(false);
    let mut leaked = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                exchange(&lab.path("tree/inner"), &lab.path("link"));
            }
        });
        for _ in 0..ROUNDS {
            let prompt = lab.prompt(&["tree"]);
            leaked += prompt.blocks().filter(|block| block.body().contains(SECRET)).count();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(leaked, 0);
}

#[test]
fn a_link_that_the_user_named_is_followed_and_a_found_one_is_not() {
    let lab = Lab::with(&[("tree/a", "inside"), ("outside/a", SECRET)]);
    symlink(lab.path("outside"), lab.path("tree/link")).unwrap();
    let prompt = lab.prompt(&["tree"]);
    assert_eq!(labels(&prompt), ["tree/a"]);
    let named = lab.prompt(&["tree/link", "tree/link/a"]);
    assert_eq!(labels(&named), ["tree/link/a"]);
    assert_eq!(named.blocks().next().unwrap().body(), SECRET);
}

/// Items for what was typed, as a session keeps them.
fn added(lab: &Lab, typed: &[&str]) -> Vec<Item> {
    let found = typed.iter().flat_map(|it| resolve(it, &lab.setting()).unwrap().found);
    (1..).zip(found).map(|(id, found)| Item::found(id, &found)).collect()
}

#[test]
fn a_link_that_took_the_place_of_what_was_added_is_not_followed() {
    let files = ["a", "tree/a", "tree/deep/a", "pattern/a.txt", "pattern/deep/a.txt"];
    let lab = Lab::with(&files.map(|name| (name, "inside")));
    lab.git(&["init"]);
    lab.git(&["add", "."]);
    lab.git(&["commit", "-m", "x"]);
    for name in files {
        lab.write(name, "inside!");
        lab.write(
            &format!("outside/{}", name.replace("tree/", "").replace("pattern/", "")),
            SECRET,
        );
    }
    let changed = changed(&[], &lab.folder, &lab.setting()).unwrap().found;
    let ways = [
        added(&lab, &["a", "tree/a", "tree/deep/a"]),
        added(&lab, &["tree", "tree/deep"]),
        added(&lab, &["pattern/*.txt", "pattern/**/*.txt"]),
        changed.iter().map(|found| Item::found(1, found)).collect(),
    ];
    let secrets = |items: &[Item]| {
        let prompt = build(items, &lab.setting()).unwrap();
        let skipped: Vec<String> = prompt.skipped().map(|it| it.reason.clone()).collect();
        (prompt.blocks().filter(|it| it.body().contains(SECRET)).count(), skipped)
    };
    for items in &ways {
        let items: Vec<Item> = items.clone();
        assert_eq!(secrets(&items).0, 0, "{items:?}");
    }
    // A checkout turns each of them into a link, or a folder above it.
    for (name, to) in [
        ("a", "outside/a"),
        ("tree/a", "outside/a"),
        ("tree/deep", "outside/deep"),
        ("tree", "outside"),
        ("pattern/deep", "outside/deep"),
        ("pattern/a.txt", "outside/a.txt"),
        ("pattern", "outside"),
    ] {
        let aside = lab.path(&format!("aside-{}", name.replace('/', "-")));
        symlink(lab.path(to), &aside).unwrap();
        exchange(&lab.path(name), &aside);
        let mut refused = 0;
        for items in &ways {
            let (found, skipped) = secrets(items);
            assert_eq!(found, 0, "{name}: {items:?}");
            refused += skipped.iter().filter(|it| it.contains("when it was added")).count();
        }
        assert!(refused > 0, "{name}");
        exchange(&lab.path(name), &aside);
    }
    // What was a link when it was added stays one.
    symlink(lab.path("outside"), lab.path("named")).unwrap();
    let named = added(&lab, &["named/a", "named"]);
    assert!(secrets(&named).0 > 1);
}

//! A folder that another process replaces by a link while its files are read.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};

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

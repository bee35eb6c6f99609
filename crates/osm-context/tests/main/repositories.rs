//! Diffs of real repositories.

use std::path::Path;

use osm_context::git::{changed, check, diff, refs};
use osm_context::{Error, Item, Outcome, Result, Setting, build};

use crate::harness::{Lab, left_out};

fn repository(files: &[(&str, &str)]) -> Lab {
    let lab = Lab::with(files);
    lab.git(&["init"]);
    lab
}

fn commit(lab: &Lab, subject: &str) {
    lab.git(&["add", "-A"]);
    lab.git(&["commit", "--allow-empty", "-m", subject]);
}

fn diff_of(lab: &Lab, arguments: &[&str]) -> Result<String> {
    diff(&owned(arguments), &lab.folder, &lab.setting()).map(|diff| diff.text)
}

fn changed_of(lab: &Lab, arguments: &[&str]) -> Vec<String> {
    let found = changed(&owned(arguments), &lab.folder, &lab.setting()).unwrap().found;
    let below = |path: &str| Path::new(path).strip_prefix(&lab.folder).unwrap().to_owned();
    found.iter().map(|it| below(&it.path).to_str().unwrap().to_owned()).collect()
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[test]
fn by_default_what_is_not_committed_then_the_last_commit() {
    let lab = repository(&[("a", "one\n")]);
    assert!(matches!(diff_of(&lab, &[]), Err(Error::NoCommits(_))));
    lab.git(&["add", "a"]);
    assert!(matches!(diff_of(&lab, &[]), Err(Error::NoCommits(_))));
    assert!(diff_of(&lab, &["--staged"]).unwrap().contains("+one"));
    commit(&lab, "first");
    assert!(diff_of(&lab, &[]).unwrap().contains("+one"), "against nothing");
    assert_eq!(changed_of(&lab, &[]), ["a"]);
    lab.write("a", "two\n");
    commit(&lab, "second");
    assert!(diff_of(&lab, &[]).unwrap().contains("-one\n+two"), "against the commit before");
    lab.write("a", "three\n");
    assert!(diff_of(&lab, &[]).unwrap().contains("-two\n+three"), "what is not committed");
    lab.git(&["add", "a"]);
    assert!(diff_of(&lab, &[]).unwrap().contains("-two\n+three"), "also if it is staged");
    assert_eq!(diff_of(&lab, &["HEAD", "HEAD"]).unwrap(), "");
}

#[test]
fn arguments_that_git_does_not_take() {
    let lab = repository(&[("a", "one\n"), ("b", "x\n")]);
    let takes = |arguments: &[&str]| check(&owned(arguments), &lab.folder, &lab.setting());
    assert!(matches!(takes(&[]), Err(Error::NoCommits(_))));
    commit(&lab, "first");
    lab.write("a", "two \n");
    lab.git(&["rm", "-q", "b"]);
    for good in [
        &[][..],
        &["HEAD"],
        &["HEAD", "HEAD"],
        &["a"],
        &["--staged"],
        &["--check"],
        &["--exit-code"],
        &["--", "a"],
        &["--", "."],
        // Only the diff has it.
        &["HEAD", "--", "b"],
    ] {
        takes(good).unwrap_or_else(|error| panic!("{good:?}: {error}"));
    }
    for bad in [
        &["none"][..],
        &["HEAD", "none"],
        &["--none"],
        &["--", "a", "none"],
        &["--", "b"],
        &["--output=x"],
    ] {
        assert!(takes(bad).is_err(), "{bad:?}");
    }
    assert!(matches!(check(&[], &Lab::new().folder, &lab.setting()), Err(Error::NoRepository(_))));
}

#[test]
fn renamed_and_deleted_and_strange_names() {
    let long = "line\n".repeat(50);
    let lab = repository(&[("old", &long), ("gone", "x\n"), ("sub/s", "s\n"), ("sub/ü \"q\"", "")]);
    commit(&lab, "first");
    lab.git(&["mv", "old", "new"]);
    lab.git(&["rm", "gone"]);
    lab.write("sub/s", "changed\n");
    lab.write("sub/ü \"q\"", "changed\n");
    assert!(diff_of(&lab, &[]).unwrap().contains("rename from old\nrename to new"));
    let expected = ["new", "sub/s", "sub/ü \"q\""];
    assert_eq!(changed_of(&lab, &[]), expected);
    assert_eq!(changed_of(&lab, &["HEAD", "--", "sub/s"]), ["sub/s"]);
    // From a folder below, they are the same.
    let below = lab.path("sub");
    let setting = Setting::new(&below);
    lab.git(&["config", "diff.relative", "true"]);
    let found = changed(&[], &below, &setting).unwrap().found;
    let paths: Vec<String> = found.into_iter().map(|it| it.path).collect();
    assert_eq!(paths, expected.map(|name| lab.text_path(name)));
}

#[test]
fn a_repository_cannot_make_git_run_anything() {
    let lab = repository(&[("a", "one\n"), (".gitattributes", "a diff=own\n")]);
    commit(&lab, "first");
    lab.write("a", "two\n");
    let trap = format!("touch {}", lab.text_path("trapped"));
    for key in
        ["diff.external", "diff.own.command", "diff.own.textconv", "core.fsmonitor", "core.pager"]
    {
        lab.git(&["config", key, &trap]);
    }
    assert!(diff_of(&lab, &[]).unwrap().contains("-one\n+two"));
    assert_eq!(changed_of(&lab, &[]), ["a"]);
    refs(&lab.folder, &lab.setting()).unwrap();
    assert!(!lab.path("trapped").exists());
    for refused in ["--output=x", "--ext-diff", "--textconv", "-Ox"] {
        for error in [
            diff_of(&lab, &[refused]).unwrap_err(),
            changed(&owned(&[refused]), &lab.folder, &lab.setting()).unwrap_err(),
        ] {
            assert!(matches!(error, Error::Refused { .. }), "{error}");
        }
    }
    assert!(!lab.path("x").exists());
    // After a double dash it is a path.
    assert_eq!(diff_of(&lab, &["HEAD", "--", "--output=x"]).unwrap(), "");
}

/// A branch that someone else wrote must not put the user's files into a prompt.
#[cfg(unix)]
#[test]
fn links_that_a_branch_brings_along() {
    use std::os::unix::fs::symlink;

    let lab = repository(&[("a", "a\n"), ("sub/b", "b\n"), ("dir/creds", "theirs\n")]);
    let outside = lab.folder.with_file_name("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("creds"), "secret\n").unwrap();
    commit(&lab, "first");
    symlink(outside.join("creds"), lab.path("notes.md")).unwrap();
    symlink("../outside/creds", lab.path("relative")).unwrap();
    symlink(&outside, lab.path("folder")).unwrap();
    symlink("sub", lab.path("inside")).unwrap();
    symlink(".git/config", lab.path("config")).unwrap();
    symlink("nothing", lab.path("nowhere")).unwrap();
    symlink("sub/b", lab.path("fine")).unwrap();
    lab.write("a", "changed\n");
    // The diff names dir/creds, and dir leads elsewhere by now.
    lab.write("dir/creds", "theirs, changed\n");
    commit(&lab, "second");
    std::fs::remove_dir_all(lab.path("dir")).unwrap();
    symlink(&outside, lab.path("dir")).unwrap();

    let arguments = owned(&["HEAD~1", "HEAD"]);
    let changed = changed(&arguments, &lab.folder, &lab.setting()).unwrap();
    let found = |name, real| (lab.text_path(name), lab.text_path(real));
    let all: Vec<_> = changed.found.iter().map(|it| (it.path.clone(), it.real.clone())).collect();
    assert_eq!(all, [found("a", "a"), found("fine", "sub/b")]);
    let skipped = changed.skipped.iter().map(|it| format!("{}: {}", it.path, it.reason));
    insta::assert_snapshot!(skipped.collect::<Vec<_>>().join("\n"), @r"
    config: in a .git folder
    dir/creds: symbolic link out of the folder
    folder: symbolic link out of the folder
    inside: symbolic link to a folder
    notes.md: symbolic link out of the folder
    nowhere: broken symbolic link
    relative: symbolic link out of the folder
    ");
}

#[test]
fn what_is_wrong_is_told() {
    let lab = Lab::with(&[("a", "")]);
    for error in [
        diff_of(&lab, &[]).unwrap_err(),
        diff_of(&lab, &["a", "b"]).unwrap_err(),
        refs(&lab.folder, &lab.setting()).unwrap_err(),
        changed(&[], &lab.folder, &lab.setting()).unwrap_err(),
    ] {
        assert!(matches!(error, Error::NoRepository(_)), "{error}");
    }
    let nowhere = lab.path("bin/git");
    let setting = Setting { git: &nowhere, ..lab.setting() };
    let error = diff(&[], &lab.folder, &setting).unwrap_err();
    assert!(matches!(error, Error::Start { .. }), "{error}");
    assert_eq!(error.hint(), Some("install the program, or check PATH"));
    lab.git(&["init"]);
    commit(&lab, "first");
    let error = diff_of(&lab, &["no-such-branch"]).unwrap_err();
    assert!(error.to_string().starts_with("git: ambiguous argument 'no-such-branch'"), "{error}");
    // In a prompt, the complaint is in its place.
    let folder = lab.folder.to_str().unwrap();
    let items =
        [Item::lazy_diff(1, "git diff x", &["x"], folder), Item::note(2, "n", "still here")];
    let prompt = build(&items, &lab.setting()).unwrap();
    let outcomes: Vec<Outcome> = prompt.blocks().map(|block| block.outcome).collect();
    assert_eq!(outcomes, [Outcome::Failed, Outcome::Fine]);
    assert!(prompt.to_string().starts_with("### Diff (failed): git diff x\n\n```text\ngit: ambig"));
}

#[test]
fn a_huge_diff_is_cut_and_counted() {
    let lab = repository(&[("a", "")]);
    commit(&lab, "first");
    lab.write("a", "a line of some length\n".repeat(100_000));
    let setting = lab.limited(|limits| limits.diff = 1000);
    let cut = diff(&[], &lab.folder, &setting).unwrap();
    let whole = diff(&[], &lab.folder, &lab.setting()).unwrap();
    assert!(whole.text.starts_with(&cut.text));
    assert_eq!((cut.text.len(), whole.beyond), (1000, 0));
    assert_eq!(cut.beyond + 1000, whole.text.len() as u64);
    let items = [Item::lazy_diff(1, "git diff", &[], lab.folder.to_str().unwrap())];
    let prompt = build(&items, &setting).unwrap();
    assert_eq!(left_out(&prompt), ["git diff: the last 2.1 MiB, beyond the limit"]);
}

#[test]
fn bytes_that_are_no_text_are_replaced_and_told() {
    let lab = repository(&[("a", "")]);
    commit(&lab, "first");
    lab.write("a", b"caf\xe9\n");
    let items = [Item::lazy_diff(1, "git diff", &[], lab.folder.to_str().unwrap())];
    let prompt = build(&items, &lab.setting()).unwrap();
    assert!(prompt.to_string().contains("+caf\u{fffd}\n"));
    assert_eq!(left_out(&prompt).len(), 1);
}

#[test]
fn names_to_compare_with() {
    let lab = repository(&[("a", "")]);
    assert!(refs(&lab.folder, &lab.setting()).unwrap().is_empty());
    for number in 1..=12 {
        commit(&lab, &format!("commit {number}"));
    }
    lab.git(&["branch", "feature/x"]);
    lab.git(&["tag", "v1"]);
    lab.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let refs = refs(&lab.folder, &lab.setting()).unwrap();
    let (named, commits) = refs.split_at(refs.len() - 10);
    let named: Vec<String> = named.iter().map(|it| format!("{}: {}", it.name, it.about)).collect();
    insta::assert_snapshot!(named.join("\n"), @r"
    HEAD: commit 12
    HEAD~1: commit 11
    HEAD~2: commit 10
    HEAD~3: commit 9
    feature/x: branch
    main: branch
    origin/main: remote
    v1: tag
    ");
    assert_eq!(commits[0].about, "commit 12");
    assert!(diff_of(&lab, &[&commits[9].name]).is_ok());
}

//! What users type.

use osm_context::{Error, Found, Item, Setting, build, resolve};

use crate::harness::Lab;

fn labels(typed: &str, setting: &Setting) -> Vec<String> {
    let found = resolve(typed, setting).unwrap().found;
    found.into_iter().map(|found| found.label).collect()
}

#[test]
fn files_folders_and_where_they_are() {
    let lab = Lab::with(&[("src/a.rs", ""), ("b.rs", "")]);
    let one = |typed: &str| resolve(typed, &lab.setting()).unwrap().found.remove(0);
    let found = |name: &str, label: &str, folder| Found {
        path: lab.text_path(name),
        real: lab.text_path(name),
        label: label.to_owned(),
        folder,
    };
    let absolute = lab.text_path("src/a.rs");
    for typed in ["src/a.rs", "./src/./a.rs", "src/../src/a.rs", "src//a.rs", &absolute] {
        assert_eq!(one(typed), found("src/a.rs", "src/a.rs", false), "{typed}");
    }
    for typed in ["src", "src/", "./src"] {
        assert_eq!(one(typed), found("src", "src", true), "{typed}");
    }
    let path = lab.folder.to_str().unwrap().to_owned();
    let here = Found { path: path.clone(), real: path, label: ".".into(), folder: true };
    assert_eq!((one("."), one("src/..")), (here.clone(), here));
    // From a folder below, it is not.
    let below = lab.path("src");
    let setting = Setting::new(&below);
    let up = resolve("../b.rs", &setting).unwrap().found.remove(0);
    assert_eq!((up.path, up.label), (lab.text_path("b.rs"), lab.text_path("b.rs")));
}

#[test]
fn home_is_what_was_given() {
    let lab = Lab::with(&[("home/a", ""), ("~x", "")]);
    let home = lab.path("home");
    let setting = Setting { home: Some(&home), ..lab.setting() };
    assert_eq!(labels("~/a", &setting), ["home/a"]);
    assert_eq!(labels("~", &setting), ["home"]);
    assert_eq!(labels("~x", &setting), ["~x"]);
    assert!(matches!(resolve("~/a", &lab.setting()), Err(Error::NoHome)));
}

#[test]
fn patterns() {
    let lab = Lab::with(&[
        (".gitignore", "*.log\n"),
        (".env", ""),
        (".github/ci.yml", ""),
        ("a.rs", ""),
        ("b.log", ""),
        ("src/c.rs", ""),
        ("src/deep/d.rs", ""),
        ("src/deep/e.txt", ""),
    ]);
    let setting = lab.setting();
    for (typed, expected) in [
        ("*.rs", vec!["a.rs"]),
        ("**/*.rs", vec!["a.rs", "src/c.rs", "src/deep/d.rs"]),
        ("src/**", vec!["src/c.rs", "src/deep/d.rs", "src/deep/e.txt"]),
        ("src/*/d.rs", vec!["src/deep/d.rs"]),
        ("src/*", vec!["src/c.rs"]),
        ("src/deep/?.{rs,txt}", vec!["src/deep/d.rs", "src/deep/e.txt"]),
        ("src/../*.rs", vec!["a.rs"]),
        (".github/*", vec![".github/ci.yml"]),
        (".e*", vec![".env"]),
    ] {
        assert_eq!(labels(typed, &setting), expected, "{typed}");
    }
    for typed in ["*.log", "*.none", "*/.git*/x", "src/deep/deeper/*"] {
        let error = resolve(typed, &setting).unwrap_err();
        assert!(matches!(error, Error::NoMatch(_) | Error::NotFound(_)), "{typed}: {error}");
    }
    insta::assert_snapshot!(resolve("*.log", &setting).unwrap_err(), @"no file matches *.log (ignored and hidden files are not searched)");
    insta::assert_snapshot!(resolve("a[", &setting).unwrap_err(), @"invalid pattern a[: unclosed character class; missing ']'");
}

#[test]
fn a_name_that_exists_is_no_pattern() {
    let lab = Lab::with(&[("app/[id].tsx", ""), ("app/i.tsx", "")]);
    assert_eq!(labels("app/[id].tsx", &lab.setting()), ["app/[id].tsx"]);
    assert_eq!(labels("app/[ij].tsx", &lab.setting()), ["app/i.tsx"]);
}

#[test]
fn what_is_not_there_is_told() {
    let lab = Lab::with(&[("a", "")]);
    for typed in ["none", "a/b", "none/../a/x"] {
        let error = resolve(typed, &lab.setting()).unwrap_err();
        assert!(matches!(error, Error::NotFound(_)), "{typed}: {error}");
    }
    assert!(matches!(resolve("", &lab.setting()), Err(Error::EmptyPath)));
}

#[test]
fn from_within_a_repository_all_of_it_is_seen() {
    let lab = Lab::with(&[("r/src/a.rs", ""), ("r/sub/deep/b.rs", ""), ("other/c.rs", "")]);
    std::fs::create_dir(lab.path("r/.git")).unwrap();
    let folder = lab.path("r/sub");
    let setting = Setting { folder: &folder, ..lab.setting() };
    for (typed, label) in [
        ("deep", "deep"),
        ("../src/a.rs", "../src/a.rs"),
        ("../src", "../src"),
        ("..", ".."),
        (".", "."),
    ] {
        assert_eq!(labels(typed, &setting), [label]);
    }
    // Further up, only the whole path says where it is.
    assert!(labels("../../other/c.rs", &setting)[0].ends_with("/other/c.rs"));
    assert!(!labels("../../other/c.rs", &setting)[0].starts_with(".."));
    let found = resolve("../src/a.rs", &setting).unwrap().found;
    let items = [Item::file(1, &found[0].label, &found[0].path)];
    assert!(build(&items, &setting).unwrap().to_string().contains("### File: ../src/a.rs\n"));
}

#[test]
fn names_that_no_file_can_have() {
    let lab = Lab::with(&[("a", "")]);
    assert!(resolve("a\0b", &lab.setting()).is_err());
    assert!(resolve(&"x/".repeat(5000), &lab.setting()).is_err());
}

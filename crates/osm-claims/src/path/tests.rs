//! Overlaps, by examples and against all short paths.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;

fn file(text: &str) -> PathPattern {
    PathPattern::file(text, Case::Distinct).unwrap()
}

fn folder(text: &str) -> PathPattern {
    PathPattern::folder(text, Case::Distinct).unwrap()
}

fn glob(text: &str) -> PathPattern {
    PathPattern::glob(text, Case::Distinct).unwrap()
}

/// A glob, or a file if it has an extension, or else a folder.
fn typed(text: &str) -> PathPattern {
    match text {
        "[x" | "]" => file(text),
        _ if PathPattern::looks_like_glob(text) => glob(text),
        _ if text.contains('.') => file(text),
        _ => folder(text),
    }
}

#[test]
fn what_meets_and_what_does_not() {
    for (one, other, expected) in [
        ("src/a.rs", "src/a.rs", true),
        ("src/a.rs", "src/b.rs", false),
        ("src", "src/a.rs", true),
        ("src", "srcs/a.rs", false),
        ("src/auth", "src/auth/deep/er.rs", true),
        ("", "anything/at/all", true),
        ("src//auth/", "src/auth", true),
        ("*.rs", "*.md", false),
        ("src/*.rs", "src/a.rs", true),
        ("src/*.rs", "src/deep/a.rs", false),
        ("src/**/tests/**", "src/a.rs", false),
        ("src/*.rs", "src", true),
        ("src/**/*.rs", "src/deep/er/a.rs", true),
        ("src/**/*.rs", "src/a.rs", true),
        ("**/*.rs", "src/*.md", false),
        ("**/migrations/**", "app/migrations", true),
        ("**/migrations/**", "app/migration/1.sql", false),
        ("a*", "*b", true),
        ("a*a", "*b", false),
        ("a*/x", "*b/y", false),
        ("a*/", "ab/y", true),
        ("*/", "a/b/c", true),
        ("*", "a/b", false),
        ("**", "a/b/c", true),
        ("a/**/b", "a/b", true),
        ("a/**/b", "a/c/**/d", false),
        ("a/**/b", "**/c/*", true),
        ("[a-c]x", "[c-e]x", true),
        ("[a-c]x", "[d-e]x", false),
        ("[!a]", "a", false),
        ("[!a]", "b", true),
        ("[]]", "]", true),
        ("[[]x", "[x", true),
        ("?", "ä", true),
        ("?", "ab", false),
        ("src/{a,b}.rs", "src/b.rs", true),
        ("src/{a,b}.rs", "src/c.rs", false),
        ("{src,lib}/**", "lib/a/b", true),
        ("{a,{b,c}d}", "cd", true),
        ("{a,{b,c}d}", "c", false),
    ] {
        assert_eq!(typed(one).meets(&typed(other)), expected, "{one} and {other}");
        assert_eq!(typed(other).meets(&typed(one)), expected, "{other} and {one}");
    }
}

#[test]
fn names_are_compared_as_their_folder_compares_them() {
    let folded = |text| PathPattern::glob(text, Case::Folded).unwrap();
    for (one, other) in [("README.md", "readme.MD"), ("[A-C]x", "bX"), ("ÄRGER", "ärger")] {
        assert!(folded(one).meets(&folded(other)), "{one} and {other}");
        assert!(!glob(one).meets(&glob(other)), "{one} and {other}");
    }
    assert!(!folded("[!A]").meets(&folded("a")));
}

#[test]
fn what_is_no_pattern_is_refused() {
    let refused = |text: &str| PathPattern::glob(text, Case::Distinct).unwrap_err();
    assert_eq!(refused("a/../b"), InvalidPattern::NotPlain("..".into()));
    assert_eq!(refused("./a"), InvalidPattern::NotPlain(".".into()));
    assert_eq!(refused("a[b"), InvalidPattern::NotClosed('['));
    assert_eq!(refused("a{b"), InvalidPattern::NotClosed('{'));
    assert_eq!(refused("[z-a]"), InvalidPattern::ReversedRange('z', 'a'));
    assert_eq!(refused(&"{a,b}".repeat(7)), InvalidPattern::TooManyAlternatives);
    assert_eq!(refused(&"a".repeat(1025)), InvalidPattern::TooLong(1025));
}

#[test]
fn a_prefix_is_what_all_paths_start_with() {
    for (text, prefix) in [
        ("src/auth", "src/auth"),
        ("src/*.rs", "src"),
        ("**/a", ""),
        ("src/{a,b}/c", "src"),
        ("src/{a/x,a/y}/c", "src/a"),
        ("", ""),
    ] {
        assert_eq!(typed(text).prefix(), prefix, "{text}");
    }
}

/// The names of the small world in which patterns are compared one path after the other.
fn names() -> Vec<String> {
    let letters = ["a", "b"];
    let mut names: Vec<String> = letters.map(str::to_owned).into();
    for _ in 0..2 {
        let longer: Vec<String> =
            names.iter().flat_map(|name| letters.map(|it| format!("{name}{it}"))).collect();
        names.extend(longer);
        names.sort();
        names.dedup();
    }
    names
}

/// Every path of at most four of these names.
static PATHS: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
    let mut paths: Vec<Vec<String>> = vec![vec![]];
    let mut last = paths.clone();
    for _ in 0..4 {
        let longer = |path: &Vec<String>| {
            let path = path.clone();
            names().into_iter().map(move |name| [path.clone(), vec![name]].concat())
        };
        last = last.iter().flat_map(longer).collect();
        paths.extend(last.clone());
    }
    paths
});

/// Whether a name fits a glob: the obvious way, without sets.
fn name_fits(glob: &[char], name: &[char]) -> bool {
    match (glob, name) {
        ([], []) => true,
        (['*', rest @ ..], _) => {
            name_fits(rest, name) || (!name.is_empty() && name_fits(glob, &name[1..]))
        }
        (['?', rest @ ..], [_, name @ ..]) => name_fits(rest, name),
        ([one, rest @ ..], [first, name @ ..]) => one == first && name_fits(rest, name),
        _ => false,
    }
}

fn path_fits(parts: &[&str], names: &[String]) -> bool {
    match (parts, names) {
        ([], []) => true,
        (["**", rest @ ..], _) => {
            path_fits(rest, names) || (!names.is_empty() && path_fits(parts, &names[1..]))
        }
        ([one, rest @ ..], [first, names @ ..]) => {
            let characters = |text: &str| text.chars().collect::<Vec<_>>();
            name_fits(&characters(one), &characters(first)) && path_fits(rest, names)
        }
        _ => false,
    }
}

fn part() -> impl Strategy<Value = String> {
    prop_oneof![1 => Just("**".to_owned()), 4 => "[ab*?]{1,2}"]
}

fn parts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(part(), 1..=2)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Two globs meet if and only if one of all short paths fits both. Short ones are enough: a
    /// shortest common path has no more names than both globs, and no longer ones.
    #[test]
    fn globs_meet_where_a_path_fits_both(one in parts(), other in parts()) {
        let fits = |parts: &[String], path: &[String]| {
            path_fits(&parts.iter().map(String::as_str).collect::<Vec<_>>(), path)
        };
        let common = PATHS.iter().find(|path| fits(&one, path) && fits(&other, path));
        let meets = glob(&one.join("/")).meets(&glob(&other.join("/")));
        prop_assert_eq!(meets, common.is_some(), "{:?} {:?} {:?}", one, other, common);
    }

    /// What is found by the prefix of a pattern includes everything that the pattern meets.
    #[test]
    fn patterns_that_meet_have_prefixes_that_contain_each_other(one in parts(), other in parts()) {
        let (one, other) = (glob(&one.join("/")), glob(&other.join("/")));
        if one.meets(&other) {
            let [one, other] = [one, other].map(|it| folder(&it.prefix()));
            prop_assert!(one.meets(&other));
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,40}", other in "\\PC{0,40}") {
        if let Ok(one) = PathPattern::glob(&text, Case::Folded)
            && let Ok(other) = PathPattern::folder(&other, Case::Distinct)
        {
            prop_assert_eq!(one.meets(&other), other.meets(&one));
        }
    }
}

//! The page about security: every test that it names exists.

use std::path::Path;

use crate::sources;

#[test]
fn every_promise_has_its_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = sources::all();
    let is_module = |name: &str| files.iter().any(|it| it.name.ends_with(&format!("/{name}.rs")));
    let is_function = |name: &str| files.iter().any(|it| it.text.contains(&format!("fn {name}(")));
    let page = std::fs::read_to_string(root.join("docs/security.md")).unwrap();
    let mut promises = 0;
    for row in page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| promise"))
    {
        let tests = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let names: Vec<_> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test: {row}");
        for name in names {
            assert!(is_module(name) || is_function(name), "there is no test {name:?}: {row}");
        }
        promises += 1;
    }
    assert!(promises > 15, "{promises} promises were found");
}

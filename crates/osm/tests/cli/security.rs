//! The page about security: every test that it names exists.
#![expect(clippy::unwrap_used, reason = "a harness that fails is a failed test")]

use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_promise_has_its_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    sources(&root.join("crates"), &mut files);
    let modules: Vec<_> = files.iter().filter_map(|file| file.file_stem()?.to_str()).collect();
    let texts: Vec<_> = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let page = std::fs::read_to_string(root.join("docs/security.md")).unwrap();
    let mut promises = 0;
    for row in page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| promise"))
    {
        let tests = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let names: Vec<_> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test: {row}");
        for name in names {
            let function = format!("fn {name}(");
            let exists =
                modules.contains(&name) || texts.iter().any(|text| text.contains(&function));
            assert!(exists, "there is no test {name:?}: {row}");
        }
        promises += 1;
    }
    assert!(promises > 15, "{promises} promises were found");
}

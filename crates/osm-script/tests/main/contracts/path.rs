//! `osm:path`, with the paths of Unix.

use osm_script::{CONTEXT, Options};
use serde_json::json;

use super::check;
use crate::harness::Stage;

#[test]
fn path_contract() {
    let stage = Stage::with(Options { extensions: vec![CONTEXT], ..Options::default() });
    stage.seen.borrow_mut().answers.insert("folder", |_| Ok(json!("/home/dir")));
    check(
        &stage,
        "osm:path",
        &[
            ("[it.separator, it.listSeparator]", json!(["/", ":"])),
            (
                "[it.join('a', '', 'b/../c', '/d'), it.join(), it.join('', ''), it.join('/', 'a'), it.join('a', 5)]",
                json!(["a/c/d", "", "", "/a", "a/5"]),
            ),
            (
                "['/a/b/', '/a', 'a', '', '/', 'a//b'].map((x) => it.dir(x))",
                json!(["/a/b", "/", ".", ".", "/", "a"]),
            ),
            (
                "['/a/b/', '/a', 'a', '', '/', '//', 'x.tar.gz'].map((x) => it.base(x))",
                json!(["b", "a", "a", ".", "/", "/", "x.tar.gz"]),
            ),
            (
                "['x.tar.gz', '.rc', 'a.b/c', 'a.', ''].map((x) => it.ext(x))",
                json!([".gz", ".rc", "", ".", ""]),
            ),
            (
                "['', '.', 'a//b/./c/..', '/../a', '../../a', 'a/../..', '/'].map((x) => it.clean(x))",
                json!([".", ".", "a/b", "/a", "../../a", "..", "/"]),
            ),
            ("['/a', 'a', '', './a'].map((x) => it.isAbs(x))", json!([true, false, false, false])),
            (
                "[it.abs('x/../y'), it.abs('/a/./b'), it.abs()]",
                json!([{ "result": "/home/dir/y", "error": null }, { "result": "/a/b", "error": null }, { "result": "/home/dir", "error": null }]),
            ),
            (
                "[it.rel('/a/b', '/a/c/d'), it.rel('a', 'a/b'), it.rel('.', 'x'), it.rel('a/b', 'a/b'), it.rel('../a', '../../b')].map((x) => x.result)",
                json!(["../c/d", "b", "x", ".", "../../b"]),
            ),
            (
                "it.rel('/a', 'b')",
                json!({ "result": "", "error": "Rel: can't make b relative to /a" }),
            ),
            (
                "it.rel('..', 'b')",
                json!({ "result": "", "error": "Rel: can't make b relative to .." }),
            ),
            ("it.match('*.[jt]s', 'a.ts')", json!({ "matched": true, "error": null })),
            (
                "[['*', 'a/b'], ['a*b*c', 'abxbc'], ['a?c', 'a/c'], ['[^a-c]x', 'dx'], ['[^a-c]x', 'bx'], ['\\\\*', '*'], ['\\\\*', 'a'], ['', ''], ['a', 'ab'], ['*b', 'a'], ['a/*/c', 'a/b/c'], ['[a\\\\-z]', '-'], ['ä?', 'äö'], ['**', 'x']].map(([p, n]) => it.match(p, n).matched)",
                json!([
                    false, true, false, true, false, true, false, true, false, false, true, true,
                    true, true
                ]),
            ),
            (
                "['[', '[]a]', '[a', '[-x]', '[x-]', 'a\\\\', 'x[', '[a-]'].map((p) => it.match(p, 'zzz').error)",
                json!(vec!["syntax error in pattern"; 8]),
            ),
            // Each star takes as little as it can, so this takes no time.
            ("it.match('*a'.repeat(30) + 'b', 'a'.repeat(5000)).matched", json!(false)),
        ],
    );
}

#[test]
fn path_glob() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.rs", "b.rs", ".c.rs", "sub/d.rs", "sub/deep/e.rs", "other/f.rs", "x*y"] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    let root = folder.path().display().to_string();
    let stage = Stage::new();
    for (pattern, expected) in [
        ("*.rs", json!([".c.rs", "a.rs", "b.rs"])),
        ("*/*.rs", json!(["other/f.rs", "sub/d.rs"])),
        ("s*", json!(["sub"])),
        ("*/deep/?.rs", json!(["sub/deep/e.rs"])),
        ("a.rs", json!(["a.rs"])),
        ("sub", json!(["sub"])),
        ("x\\\\**", json!(["x*y"])),
        ("nothing*", json!(null)),
        ("nothing", json!(null)),
        ("a.rs/*", json!(null)),
    ] {
        let source = format!(
            "const {{ matches, error }} = require('osm:path').glob('{root}/{pattern}'); [matches && matches.map((x) => x.slice({})), error]",
            root.len() + 1
        );
        assert_eq!(stage.value(&format!("{{ {source} }}")), json!([expected, null]), "{pattern}");
    }
    let bad = stage.value(&format!("require('osm:path').glob('{root}/none/[')"));
    assert_eq!(bad, json!({ "matches": null, "error": "syntax error in pattern" }));
}

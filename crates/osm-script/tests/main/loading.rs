//! `require`, with real files.

use std::path::Path;

use osm_script::{Options, ScriptError};

use crate::harness::Stage;

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn run(stage: &Stage, folder: &Path) -> Result<Vec<String>, ScriptError> {
    stage.runtime.run(&folder.join("main.js"))?;
    Ok(stage.printed())
}

#[test]
fn files_are_found_run_once_and_may_need_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(
        folder,
        &[
            (
                "main.js",
                "#!/usr/bin/env osm\nconst a = require('./lib/a');\nconst again = require('./lib/../lib/a.js');\n\
                 output.print(a === again, a.name, a.data.n, require('./pkg').here, require('shared').who);\n\
                 output.print(__filename.endsWith('main.js'), require('./lib/a').b.late());",
            ),
            (
                "lib/a.js",
                "output.print('a runs'); exports.name = 'a'; exports.data = require('../data');\nexports.b = require('./b');",
            ),
            ("lib/b.js", "const a = require('./a'); exports.late = () => a.name;"),
            ("data.json", "{\"n\": 5}"),
            ("pkg/index.js", "module.exports = { here: true };"),
            ("paths/shared.js", "module.exports = { who: 'shared' };"),
        ],
    );
    let module_paths = vec![folder.join("paths")];
    let stage = Stage::with(Options { module_paths, ..Options::default() });
    assert_eq!(run(&stage, folder).unwrap(), ["a runs", "true a 5 true shared", "true a"]);
}

#[test]
fn what_cannot_be_loaded_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let stage = Stage::new();
    for (source, message) in [
        ("require('./nothing')", "module not found: './nothing'; tried"),
        ("require('bare')", "or set module paths"),
        ("require('osm:nothing')", "module not found: 'osm:nothing'; built-in modules: osm:argv"),
        ("require(7)", "require takes the name of a module"),
        ("require('')", "the name of a module is empty"),
        ("require('./binary')", "is not valid UTF-8"),
        ("require('./bad.json')", "JSON"),
    ] {
        write(folder, &[("main.js", source), ("bad.json", "{"), ("binary.js", "")]);
        std::fs::write(folder.join("binary.js"), [0xff, 0xfe]).unwrap();
        let error = run(&stage, folder).unwrap_err();
        assert!(error.message.contains(message), "{source}: {error}");
        assert_eq!(error.place.map(|place| place.line), Some(1), "{source}");
    }
}

#[test]
fn the_first_line_of_a_module_has_its_own_columns() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, &[("main.js", "null.x;\n")]);
    let error = run(&Stage::new(), folder).unwrap_err();
    let place = error.place.unwrap();
    assert_eq!((place.line, place.excerpt.as_deref()), (1, Some("null.x;")));
    assert!(place.column <= 7, "{place:?}");
}

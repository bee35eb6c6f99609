//! `osm:os`, with the paths of Unix.

use serde_json::json;

use super::{check, refuse};
use crate::harness::Stage;

#[test]
fn os_contract() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("binary"), [0xff]).unwrap();
    let root = folder.path().display().to_string();
    let stage = Stage::new();
    check(
        &stage,
        "osm:os",
        &[
            ("it.readFile('')", json!({ "content": "", "error": true, "message": "empty path" })),
            ("it.readFile().error", json!(true)),
            (
                &format!("it.readFile('{root}/binary')"),
                json!({ "content": "", "error": true, "message": format!("{root}/binary: not valid UTF-8") }),
            ),
            (
                &format!(
                    "[it.fileExists('{root}'), it.fileExists('{root}/binary'), it.fileExists('{root}/none'), it.fileExists(''), it.fileExists()]"
                ),
                json!([true, true, false, false, false]),
            ),
            (
                "['/a', 'a', '', '~/a', '~', '~a'].map((x) => it.isAbsolute(x))",
                json!([true, false, false, true, true, false]),
            ),
            (
                "[it.join('/a', '/b', '..', 'c'), it.join('a', null, undefined, 'b'), it.join()]",
                json!(["/a/c", "a/b", ""]),
            ),
            (
                "it.platform()",
                json!(if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS }),
            ),
            (
                "[it.getenv('HOME'), it.getenv('NONE'), it.getenv(), it.getenv(null)]",
                json!(["/home/ada", "", "", ""]),
            ),
            (
                &format!(
                    "it.writeFile('{root}/new', 'a'); it.appendFile('{root}/new', 'b'); it.appendFile('{root}/new'); it.readFile('{root}/new').content"
                ),
                json!("ab"),
            ),
            (
                &format!(
                    "it.writeFile('{root}/x/y/z', 'a', {{ createDirs: true, mode: 0o600 }}); it.readFile('{root}/x/y/z').content"
                ),
                json!("a"),
            ),
            (&format!("typeof it.writeFile('{root}/new', null)"), json!("object")),
            ("it.clipboardCopy('kept'); it.clipboardPaste()", json!("kept")),
            ("it.openEditor('note', 'a')", json!("a, edited as note")),
        ],
    );
    refuse(
        &stage,
        "osm:os",
        &[
            ("it.writeFile('', 'x')", "Error", "writeFile: the path is empty"),
            ("it.appendFile()", "Error", "appendFile: the path is empty"),
            ("it.readFile(7)", "Error", "readFile: argument 1 must be a string"),
        ],
    );
    let mode = |name: &str| {
        let about = std::fs::metadata(folder.path().join(name)).unwrap();
        std::os::unix::fs::MetadataExt::mode(&about) & 0o777
    };
    assert_eq!(mode("new") & !0o644, 0, "{:o}", mode("new"));
    assert_eq!(mode("x/y/z"), 0o600);
}

/// A folder called `~` in the working directory would take the place of the home.
#[test]
fn without_a_home_a_tilde_is_an_error() {
    let stage = Stage::new();
    stage.seen.borrow_mut().has_no_home = true;
    let message = "cannot expand ~: HOME is not set";
    assert_eq!(stage.value("require('osm:os').readFile('~/x').message"), json!(message));
    for call in
        ["fileExists('~')", "isAbsolute('~/x')", "writeFile('~/x', '')", "appendFile('~/x', '')"]
    {
        assert_eq!(stage.error(&format!("require('osm:os').{call}")).message, message, "{call}");
    }
}

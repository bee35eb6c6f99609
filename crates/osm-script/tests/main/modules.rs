//! What modules give, seen from a script.

use serde_json::json;

use crate::harness::Stage;

#[test]
fn every_module_can_be_required() {
    let stage = Stage::new();
    for module in osm_script::modules::MODULES {
        let kind = stage.value(&format!("typeof require({:?})", module.name));
        assert!(kind == "object" || kind == "function", "{}: {kind}", module.name);
        for (function, _) in module.functions {
            let kind = format!("typeof require({:?})[{function:?}]", module.name);
            assert_eq!(stage.value(&kind), "function", "{}.{function}", module.name);
        }
    }
}

#[test]
fn answers() {
    let stage = Stage::new();
    for (source, expected) in [
        ("require('osm:argv').parseArgv('a \"b c\"')", json!(["a", "b c"])),
        ("require('osm:argv').formatArgv(['a', 'b c', \"it's\"])", json!("a 'b c' \"it's\"")),
        ("require('osm:format').formatBytes(1536)", json!("1.5 kB")),
        ("require('osm:encoding').base64Encode('héllo')", json!("aMOpbGxv")),
        ("require('osm:encoding').base64Decode('aMOpbGxv')", json!("héllo")),
        ("require('osm:nextIntegerId')([{ id: 3 }, { id: 1 }, {}])", json!(4)),
        ("require('osm:nextIntegerID')([])", json!(1)),
        ("require('osm:os').fileExists('~/nothing')", json!(false)),
        (
            "require('osm:exec').exec('sh', '-c', 'echo out; echo err >&2; exit 3').stdout",
            json!("out\n"),
        ),
        ("require('osm:exec').execv(['sh', '-c', 'exit 3']).code", json!(3)),
        ("require('osm:exec').exec('/no/such/program').error", json!(true)),
        (
            "require('osm:sharedStateSymbols').contextItems.description",
            json!("osm:shared/contextItems"),
        ),
        (
            "require('osm:template').render('Hi {{ who | upper }}!\\n', { who: 'ada' })",
            json!("Hi ADA!\n"),
        ),
        (
            "const t = require('osm:template').new('greeting').parse('{{ n }}'); [t.execute({ n: 1 }), t.execute({ n: 2 })]",
            json!(["1", "2"]),
        ),
        ("require('osm:tokenizer').byteCount('héllo')", json!(6)),
        ("require('osm:tokenizer').lineCount('a\\nb')", json!(2)),
        (
            "const s = require('osm:sharedStateSymbols'); s.define('x') === s.define('x')",
            json!(true),
        ),
    ] {
        assert_eq!(stage.value(source), expected, "{source}");
    }
}

#[test]
fn wrong_arguments_are_errors_that_name_them() {
    let stage = Stage::new();
    for (source, message) in [
        ("require('osm:argv').parseArgv(7)", "parseArgv: argument 1 must be a string"),
        ("require('osm:argv').formatArgv(['a', 1])", "argument 1 must be an array of strings"),
        ("require('osm:encoding').base64Decode('*')", "argument 1 must be well-formed"),
        ("require('osm:format').formatNum('x')", "must be a number"),
        ("require('osm:time').sleep(1e9)", "0 to 60000 milliseconds"),
        ("require('osm:exec').execv([])", "exec: missing program"),
        ("require('osm:template').render('{{ a }}', 'data')", "argument 2 must be an object"),
        ("require('osm:template').render('one\\n{{ nobody }}', {})", "template:2: undefined value"),
        ("require('osm:template').new('greeting').parse('{% if %}')", "greeting:1: syntax error"),
        ("require('osm:template').new('greeting').execute({})", "'greeting' has no text"),
        ("require('osm:os').writeFile('/tmp/x', 'y', { mode: 4096 })", "a mode of 0 to 0o777"),
        ("require('osm:tokenizer').count(1)", "count: argument 1 must be a string"),
        ("require('osm:text/template')", "use MiniJinja templates: require('osm:template')"),
        ("require('osm:fetch')", "module 'osm:fetch' is not available"),
        ("require('osm:lipgloss')", "there is no terminal toolkit"),
        ("require('osm:sharedStateSymbols').define('a:b')", "the name of a shared key"),
        ("require('osm:json').mergePatch({}, JSON.parse('{\"__proto__\": {\"x\": 1}}')).x", ""),
    ] {
        if message.is_empty() {
            assert_eq!(stage.value(source), json!(null), "{source}");
        } else {
            let error = stage.error(source);
            assert!(error.message.contains(message), "{source}: {error}");
        }
    }
}

#[test]
fn files_are_written_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deep/er/a.txt");
    let source = format!(
        "const os = require('osm:os'); const file = {:?};
         os.writeFile(file, 'one\\n', {{ createDirs: true, mode: 0o640 }}); os.appendFile(file, 'two\\n');
         os.readFile(file).content",
        file.display().to_string()
    );
    let stage = Stage::new();
    assert_eq!(stage.value(&source), json!("one\ntwo\n"));
    #[cfg(unix)]
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
    #[cfg(unix)]
    assert_eq!(mode & 0o777, 0o640);
    let error = stage.error("os.appendFile('/no/such/folder/x', 'y')");
    assert!(error.message.starts_with("/no/such/folder/x: "), "{error}");
}

//! `osm.d.ts` says what is there: everything, and nothing else. Examples are held to it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use osm_script::words::text_after_first;
use osm_script::{CONTEXT, Modes, Options, TYPES, modules};
use osm_testkit::{tools, trials};

use crate::harness::Stage;
use crate::project;

type Names = BTreeSet<String>;

fn word(text: &str) -> String {
    text.chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect()
}

/// The blocks that begin so, by what follows, with their lines; a block ends at a brace of its own.
fn blocks(start: &str) -> BTreeMap<String, Vec<&'static str>> {
    let mut blocks = BTreeMap::new();
    let mut lines = TYPES.lines();
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix(start) {
            let name = rest.trim_end_matches('{').trim().trim_matches('\'').to_owned();
            let inside: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").collect();
            assert_eq!(blocks.insert(name.clone(), inside), None, "{name} is declared twice");
        }
    }
    blocks
}

/// What a declared module exports.
fn exports(lines: &[&str]) -> Names {
    let one = |line: &&str| {
        let line = line.strip_prefix("    export ")?;
        if line.starts_with('=') {
            return Some("default".to_owned());
        }
        let name = line
            .strip_prefix("function ")
            .or_else(|| line.strip_prefix("const "))
            .or_else(|| line.split_once(" as ").map(|(_, name)| name))?;
        Some(word(name))
    };
    lines.iter().filter_map(one).collect()
}

fn keys(stage: &Stage, object: &str) -> Names {
    serde_json::from_value(stage.value(&format!("Object.keys({object})"))).unwrap()
}

#[test]
fn every_module_and_function_is_declared_and_nothing_else() {
    let stage = project::stage();
    let declared = blocks("declare module ");
    let names: Names = declared.keys().cloned().collect();
    let mut there: Names = modules::MODULES.iter().map(|it| it.name.to_owned()).collect();
    there.insert(CONTEXT.name.to_owned());
    assert_eq!(names, there);
    for (name, lines) in declared {
        assert_eq!(exports(&lines), keys(&stage, &format!("require('{name}')")), "{name}");
    }
}

#[test]
fn every_global_is_declared_and_nothing_else() {
    let stage = project::stage();
    let bare = {
        let engine = rquickjs::Runtime::new().unwrap();
        let context = rquickjs::Context::full(&engine).unwrap();
        context.with(|ctx| {
            ctx.eval::<Vec<String>, _>("Object.getOwnPropertyNames(globalThis)").unwrap()
        })
    };
    let all = stage.value("Object.getOwnPropertyNames(globalThis)");
    let all: Names = serde_json::from_value(all).unwrap();
    let ours: Names = all.into_iter().filter(|it| !bare.contains(it) && it != "__osm").collect();
    let mut declared = BTreeMap::new();
    for line in TYPES.lines() {
        let kinds = ["const ", "var ", "function "];
        let rest = line.strip_prefix("declare ");
        let Some(rest) = rest.and_then(|it| kinds.iter().find_map(|kind| it.strip_prefix(kind)))
        else {
            continue;
        };
        let kind = rest.split_once(": ").map(|(_, kind)| kind.trim_end_matches(';').to_owned());
        declared.insert(word(rest), kind);
    }
    // What the engine brings is there too, but only what editors do not know needs a declaration.
    let of_ours: Names = declared.keys().filter(|it| !bare.contains(it)).cloned().collect();
    assert_eq!(of_ours, ours);

    let interfaces = blocks("interface ");
    for (name, kind) in declared {
        let Some(lines) = kind.and_then(|kind| interfaces.get(&kind)) else { continue };
        let member = |line: &&str| {
            let name = word(line.strip_prefix("    ")?);
            (!name.is_empty()).then_some(name)
        };
        let members: Names = lines.iter().filter_map(member).collect();
        assert_eq!(members, keys(&stage, &name), "{name}");
    }
}

#[test]
fn what_functions_give_has_the_members_that_are_declared() {
    let stage = project::stage();
    for (interface, object) in [
        ("OsmState", "tui.createState('x', {})"),
        ("Manager", "require('osm:ctxutil').contextManager()"),
        ("FlagSet", "require('osm:flag').newFlagSet('x')"),
        ("Template", "require('osm:template').new('x')"),
        ("OsmDocument", "__osm.makeDocument({ text: '', cursor: 0 })"),
    ] {
        assert_eq!(members(interface), keys(&stage, object), "{interface}");
    }
}

/// The members that an interface declares itself.
fn members(interface: &str) -> Names {
    let start = format!("interface {interface} ");
    let mut lines = TYPES.lines().skip_while(|line| !line.trim().starts_with(&start));
    let first = lines.next().expect("it is declared");
    let indent = first.len() - first.trim_start().len();
    lines
        .take_while(|line| !line[indent..].starts_with('}'))
        .map(|line| word(line.trim().trim_start_matches("readonly ")))
        .filter(|name| !name.is_empty() && name != "new")
        .collect()
}

#[test]
fn classes_have_the_members_that_are_declared() {
    let stage = project::stage();
    let own = |object: &str, but: &[&str]| -> Names {
        let names = stage.value(&format!("Object.getOwnPropertyNames({object})"));
        let names: Vec<String> = serde_json::from_value(names).unwrap();
        names.into_iter().filter(|it| !but.contains(&it.as_str())).collect()
    };
    for class in [
        "AbortController",
        "AbortSignal",
        "Event",
        "EventTarget",
        "TextDecoder",
        "TextEncoder",
        "URL",
        "URLSearchParams",
    ] {
        assert_eq!(
            members(&format!("Osm{class}")),
            own(&format!("{class}.prototype"), &["constructor"])
        );
        let fixed = ["length", "name", "prototype"];
        assert_eq!(members(&format!("Osm{class}Constructor")), own(class, &fixed), "{class}");
    }
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/js")
}

/// A stage on which an example was run.
fn example(name: &str, arguments: &[&str]) -> Stage {
    let options = Options {
        arguments: arguments.iter().map(|it| (*it).to_owned()).collect(),
        extensions: vec![CONTEXT],
        test: true,
        ..Options::default()
    };
    let stage = Stage::with(options);
    stage.seen.borrow_mut().answers = project::answers();
    stage.runtime.run(&examples().join(name)).unwrap();
    stage
}

/// What lines print in the mode of an example.
fn played(stage: &Stage, mode: &str, lines: &[&str]) -> String {
    let modes = Modes::new(&stage.runtime);
    modes.enter(mode).unwrap();
    for line in lines {
        let mut words = line.split(' ').map(str::to_owned);
        let command = words.next().unwrap();
        if let Err(error) =
            modes.dispatch(&command, &words.collect::<Vec<_>>(), text_after_first(line))
        {
            stage.seen.borrow_mut().printed.push(error.message);
        }
    }
    stage.printed().join("\n")
}

#[test]
fn examples_do_what_they_say() {
    let stage = example("counter.js", &[]);
    assert_eq!(
        played(&stage, "counter", &["up", "up 4", "up x", "zero", "up"]),
        "The count is 0.\n1\n5\n'x' is no whole number\n1"
    );
    let stage = example("explain.js", &[]);
    assert_eq!(
        played(&stage, "explain", &["add src/a.rs", "audience nobody", "audience expert", "copy"]),
        "Added file: src/a.rs [1]\nthere is no audience 'nobody'; there are: beginner, expert\n\
         Audience set to expert\nCopied │ 1,204 tokens · 88 lines · 4.2 kB │\n\
         Warning: 1,204 tokens, over the budget of 1,000; remove items with 'remove'\n\
         Paste it where you ask."
    );
    let stage = example("todo.js", &[]);
    assert_eq!(
        played(&stage, "todo", &["add buy milk", "add rest", "done 1", "done 7", "list"]),
        "Added [1]\nAdded [2]\nthere is no task [7]\n[1] x buy milk\n[2]   rest"
    );
    Modes::new(&stage.runtime)
        .changed(&[osm_script::StateKey::Shared("example.tasks".into())])
        .unwrap();
    assert_eq!(stage.printed(), ["Somebody else changed the list: 2 tasks now."]);
    let stage = example("report.js", &["-title", "Files", "-loud", "a", "b c"]);
    assert_eq!(stage.printed(), ["# FILES\n- a: 2 B\n- b c: 4 B"]);
    let stage = example("self_test.js", &[]);
    assert_eq!(
        stage.printed(),
        [
            "[script] Sub-test patches passed",
            "[script] Sub-test paths passed",
            "[script] 2 parts",
            "cleaned up"
        ]
    );
}

/// The errors of the TypeScript compiler in a project.
fn compile(project: &Path) -> String {
    let (node, compiler) =
        (trials::need(tools::program("node")), trials::need(tools::typescript()));
    let output = Command::new(node).arg(compiler).arg("-p").arg(project).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn examples_pass_the_compiler_of_typescript() {
    assert_eq!(compile(&examples().join("jsconfig.json")), "");
}

#[test]
fn a_mistake_does_not_pass_the_compiler() {
    let folder = tempfile::tempdir().unwrap();
    let types = Path::new(env!("CARGO_MANIFEST_DIR")).join("types/osm.d.ts");
    let config = std::fs::read_to_string(examples().join("jsconfig.json")).unwrap();
    let config = config.replace("../../types/osm.d.ts", &types.display().to_string());
    std::fs::write(folder.path().join("jsconfig.json"), config).unwrap();
    let mistakes = [
        "tui.registerMode({ name: 7 });",
        "tui.registerModes({ name: 'm' });",
        "require('osm:argv').parse('x');",
        "const { sha512 } = require('osm:crypto');",
        "new URL('http://a').searchParams.get(7);",
        "new TextDecoder().decode('text');",
        "output.print(args[0].length()); ",
        "require('osm:ctxutil').contextManager({ getItem: () => [] });",
    ];
    std::fs::write(folder.path().join("wrong.js"), mistakes.join("\n")).unwrap();
    let complaints = compile(&folder.path().join("jsconfig.json"));
    for line in 1..=mistakes.len() {
        assert!(complaints.contains(&format!("wrong.js({line},")), "{line}: {complaints}");
    }
}

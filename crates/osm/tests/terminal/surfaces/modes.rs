//! Modes: files, notes, diffs, output of programs, scripts.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use super::Surface;
use crate::site::Site;

pub(super) const SURFACES: &[Surface] = &[
    ("files, notes and output in a prompt", prompt),
    ("names of files", names),
    ("a repository", repository),
    ("scripts", scripts),
    ("lines of a pipe", lines),
];

fn play(site: &Site, mode: &[&str], commands: &[String], words: &[&str]) {
    let mut arguments = mode.to_vec();
    for command in commands {
        arguments.extend(["-c", command]);
    }
    site.shows(&arguments, words);
}

/// A text in single quotes.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace(['\'', '\0'], ""))
}

fn prompt(site: &mut Site) {
    site.write("tree/a.txt", site.hostile.long("content"));
    site.write("tree/raw.txt", site.hostile.bytes("bytes").into_encoded_bytes());
    let note = quoted(&site.hostile.text("note"));
    let commands = [
        "add a.txt raw.txt".to_owned(),
        format!("note {note}"),
        "exec cat a.txt raw.txt".into(),
        format!("exec no{note}"),
        "list".into(),
        "show".into(),
        "show --json".into(),
        "history".into(),
        format!("nonsense{note}"),
        format!("help {note}"),
        format!("js {note} + undefined.x"),
    ];
    play(site, &["code-review"], &commands, &["content", "note"]);
    play(site, &["prompt-flow"], &[format!("goal {note}"), "show".into()], &["note"]);
    // `show` writes the exact text into a pipe.
    let exact = site.exact(&["code-review", "-c", "show"]);
    let content = site.hostile.long("content");
    assert!(exact.windows(content.len()).any(|it| it == content.as_bytes()));
}

fn names(site: &mut Site) {
    let name = site.hostile.name("file");
    site.write(format!("tree/{name}"), "x\n");
    site.write(format!("tree/sub/{name}"), b"\0");
    site.write(site.tree().join("sub").join(site.hostile.raw_name("raw")), "x\n");
    let commands = [
        format!("add {}", quoted(&name)),
        "add sub".into(),
        format!("add {}", quoted(&site.hostile.argument("missing"))),
        format!("remove {}", quoted(&name)),
        format!("edit {}", quoted(&name)),
        format!("diff {}", quoted(&name)),
        "list".into(),
        "show".into(),
    ];
    for command in &commands[..6] {
        play(site, &["code-review"], std::slice::from_ref(command), &[]);
    }
    play(site, &["code-review"], &commands[..2], &["file"]);
    play(site, &["code-review"], &commands[6..], &["file"]);
}

fn repository(site: &mut Site) {
    site.git(&["init", "-q"]);
    let name = site.hostile.name("file");
    site.write(format!("tree/{name}"), "x\n");
    site.write("tree/a.txt", "x\n");
    site.git(&["add", "-A"]);
    site.git(&["commit", "-q", "-m", &site.hostile.argument("subject")]);
    site.write(format!("tree/{name}"), site.hostile.argument("changed"));
    site.write("tree/a.txt", site.hostile.argument("changed"));
    let commands = ["diff", "list", "show", "review-chunks --lines 1", "add --from-diff", "list"];
    let commands = commands.map(str::to_owned);
    play(site, &["code-review"], &commands, &["changed"]);
    let wrong = quoted(&site.hostile.argument("revision"));
    play(site, &["code-review"], &[format!("diff {wrong}")], &[]);
    play(site, &["goal", "commit-message"], &["run".into()], &["changed"]);
}

fn scripts(site: &mut Site) {
    let text = |word: &str| serde_json::to_string(&site.hostile.text(word)).unwrap();
    let printing = format!(
        "output.print({}); output.tell({}); console.log({}); console.error({});
        throw new TypeError({});",
        text("print"),
        text("tell"),
        text("log"),
        text("errors"),
        text("thrown"),
    );
    let name = site.hostile.name("script");
    let file = site.write(format!("home/{name}.js"), printing);
    site.shows(&["script", file.to_str().unwrap()], &["print", "tell", "thrown", "script"]);
    // The line is shown below the error.
    let file = site
        .write(format!("home/{name}.js"), site.hostile.argument("let x = undefined.y; // line"));
    site.shows(&["script", file.to_str().unwrap()], &["script"]);
    let file = site.write("home/bytes.js", site.hostile.bytes("// line").into_encoded_bytes());
    site.shows(&["script", file.to_str().unwrap()], &[]);
    let require = format!("require({});", text("./module"));
    let file = site.write("home/require.js", require);
    site.shows(&["script", file.to_str().unwrap()], &["module"]);
    let mode = format!(
        "tui.registerMode({{ name: {}, tui: {{ title: {}, prompt: 'p> ' }}, onEnter() {{}},
        commands: {{ [{}]: {{ description: {}, usage: {}, handler() {{}} }} }} }});",
        text("mode"),
        text("title"),
        "'command\\u202e\\u009b'", // A name has no spaces.
        text("described"),
        text("used"),
    );
    let file = site.write("home/mode.js", mode);
    let commands = ["-c", "help", "-c", "modes", "-c", "nonsense"];
    let words = [&["script"], &commands[..], &[file.to_str().unwrap()]].concat();
    site.shows(&words, &["mode", "described"]);
}

/// Commands from a file, while results go to a terminal.
fn lines(site: &mut Site) {
    let lines = format!(
        "note {}\nlist\n{}\n",
        quoted(&site.hostile.text("note")),
        site.hostile.text("word")
    );
    let file = site.write("home/lines", lines);
    site.script_shows("$OSM code-review < \"$1\"", &[file.into()], &["word"]);
    let file = site.write("home/lines", site.hostile.bytes("note").into_encoded_bytes());
    site.script_shows("$OSM code-review < \"$1\"", &[file.into()], &[]);
}

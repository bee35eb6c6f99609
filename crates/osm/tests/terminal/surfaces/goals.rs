//! Goals: all texts of a goal, files that are no goals, and links.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use serde_json::{Value, json};

use super::Surface;
use crate::site::Site;

pub(super) const SURFACES: &[Surface] = &[
    ("texts of a goal", texts),
    ("banners and usage, which are templates", templates),
    ("mistakes in goals", mistakes),
    ("names of goals' files", names),
];

/// A goal with hostile text in each field that can have some.
fn goal(site: &Site) -> Value {
    let text = |word: &str| site.hostile.text(word);
    // Control characters are refused in what is shown of every goal.
    let line = |word: &str| site.hostile.without_controls(word);
    json!({
        "name": "hostile", "description": line("description"), "category": line("category"),
        "tuiTitle": line("title"), "tuiPrompt": line("prompt"), "postCopyHint": line("hint"),
        "variables": { "depth": [text("choice"), text("other")], "any": "" },
        "hotSnippets": [
            { "name": "one", "text": text("snippet"), "description": text("about") },
            { "name": "two", "text": text("second") },
        ],
        "promptInstructions": text("instructions"), "promptFooter": text("footer"),
        "contextHeader": text("header"), "notableVariables": [text("notable")],
        "promptOptions": { "depthInstructions": { text("choice"): text("option") } },
        "commands": [
            { "name": "show", "type": "contextManager" }, { "name": "copy", "type": "contextManager" },
            { "name": "list", "type": "contextManager" },
            { "name": "go", "type": "custom", "description": text("command"), "usage": text("usage"),
              "flagDefs": [{ "name": "flag", "description": text("flag") }],
              "handler": "function (args) { output.print(args.join(' ')); throw new Error(goalText); }" },
        ],
    })
}

fn texts(site: &mut Site) {
    site.write("home/goals/hostile.json", goal(site).to_string());
    site.shows(&["goal"], &["description", "category"]);
    site.shows(&["goal", "list", "--json"], &["description", "category", "title", "choice"]);
    let parts = ["description", "category", "choice", "snippet", "instructions"];
    site.shows(&["goal", "show", "hostile"], &[&parts[..], &["command"]].concat());
    site.shows(&["goal", "show", "hostile", "--json"], &parts);
    let list_and_enter = ["code-review", "-c", "mode", "-c", "mode hostile"];
    site.shows(&list_and_enter, &["description", "title"]);
    let commands = ["show", "copy", "depth", "snippets", "help", "help go", "list", "go x"];
    let mut arguments = vec!["goal", "hostile"];
    for command in commands {
        arguments.extend(["-c", command]);
    }
    let parts = [
        "instructions",
        "header",
        "footer",
        "hint",
        "choice",
        "about",
        "second",
        "command",
        "usage",
    ];
    site.shows(&arguments, &parts);
    let wrong = site.hostile.argument("value").replace('\'', "");
    site.shows(&["goal", "hostile", "-c", &format!("depth '{wrong}'")], &["value", "choice"]);
    // What it shows on a terminal, it writes exactly into a pipe.
    let exact = site.exact(&["goal", "hostile", "-c", "show"]);
    let exact = String::from_utf8(exact).unwrap();
    assert!(exact.contains(&site.hostile.text("instructions")), "{exact:?}");
}

fn templates(site: &mut Site) {
    let mut goal = goal(site);
    goal["bannerTemplate"] = json!(site.hostile.text("{{ title }} banner"));
    goal["usageTemplate"] = json!(site.hostile.text("{{ depth }} lines"));
    site.write("home/goals/hostile.json", goal.to_string());
    site.shows(&["goal", "hostile", "-c", "usage"], &["choice", "lines"]);
    let text = site.hostile.text("word");
    for (name, code) in [
        ("unclosed", "{% if '@'"),
        ("unknown", "{{ '@' | nonsense }}"),
        ("raised", "{{ '@' + 1 }}"),
    ] {
        goal["name"] = json!(name);
        goal["usageTemplate"] = json!(code.replace('@', &text.replace('\\', "")));
        site.write(format!("home/goals/{name}.json"), goal.to_string());
        site.shows(&["goal", name, "-c", "usage"], &[]);
    }
    let mut mode = site.mode(&["goal", "hostile"]);
    mode.types("prompt", "");
    mode.shows(&["title", "banner", "prompt"]);
}

fn mistakes(site: &mut Site) {
    let text = |word: &str| site.hostile.text(word);
    let front = |line: String| format!("---\nname: x\ndescription: y\n{line}\n---\nz\n");
    site.write("home/goals/key.prompt.md", front(format!("{}: 1", text("key"))));
    site.write("home/goals/name.prompt.md", front(format!("name: {}", text("word"))));
    site.write("home/goals/run.prompt.md", front(format!("run: {}", text("word"))));
    site.write("home/goals/variables.prompt.md", front(format!("variables: {}", text("word"))));
    site.write("home/goals/body.prompt.md", front(String::new()) + "{{ " + &text("body"));
    let mut goal = goal(site);
    goal[text("field")] = json!(1);
    site.write("home/goals/field.json", goal.to_string());
    goal["commands"] = json!([{ "name": text("command"), "handler": "f" }]);
    site.write("home/goals/command.json", goal.to_string());
    goal["name"] = json!(text("goal"));
    site.write("home/goals/goal.json", goal.to_string());
    site.write("home/goals/json.json", text("json"));
    site.write("home/goals/bytes.json", site.hostile.bytes("bytes").into_encoded_bytes());
    let words = ["field", "command", "goal"];
    site.shows(&["goal"], &words);
    site.shows(&["goal", "list", "--json"], &words);
    for name in ["command", "goal", "json", "key"] {
        site.shows(&["goal", name, "-c", "list"], &[]);
    }
}

fn names(site: &mut Site) {
    let name = site.hostile.name("file");
    let goal = "---\ndescription: d\nname: named\n---\nSee [it](missing.md)\n";
    site.write(format!("tree/osm-goals/{name}.prompt.md"), goal);
    site.write(format!("tree/osm-goals/{name}/broken.prompt.md"), "---\n");
    site.write(format!("tree/osm-goals/{name}.json"), "{");
    let raw = site.tree().join("osm-goals").join(site.hostile.raw_name("raw"));
    site.write(raw.with_extension("json"), "{");
    site.shows(&["goal"], &["file"]);
    site.shows(&["goal", "list", "--json"], &["file"]);
    site.shows(&["goal", "show", "named"], &["file"]);
    site.shows(&["goal", &name, "-c", "show"], &["file"]);
    site.shows(&["goal", "named", "-c", "show"], &[]);
    site.shows(&["goal", "paths"], &[]);
}

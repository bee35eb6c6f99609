//! The line editor: its menu, its history, pasted text, and the prompt.

use super::Surface;
use crate::site::Site;

pub(super) const SURFACES: &[Surface] = &[
    ("branches and subjects in the menu", revisions),
    ("files in the menu", files),
    ("pasted text", pasted),
    ("lines from before", history),
];

const PROMPT: &str = "code-review) > ";

/// Takes what the menu offers, and runs the line.
const TAKE: &str = "\r\r";

fn revisions(site: &mut Site) {
    site.git(&["init", "-q"]);
    site.write("tree/a", "x");
    site.git(&["add", "-A"]);
    site.git(&["commit", "-q", "-m", &site.hostile.argument("subject")]);
    // Git refuses controls in names of branches, but not other unsafe characters.
    site.git(&["branch", "left\u{202e}right"]);
    site.git(&["branch", "other"]);
    let mut mode = site.mode(&["code-review"]);
    mode.types(PROMPT, "diff \t").types("subject", TAKE);
    mode.shows(&["subject"]);
}

fn files(site: &mut Site) {
    for name in ["f1", "f2"] {
        site.write(format!("tree/{name}"), "");
    }
    for number in 1..4 {
        let name = site.hostile.name(&format!("f{number}"));
        site.write(format!("tree/{name}"), "");
    }
    let mut mode = site.mode(&["code-review"]);
    mode.types(PROMPT, "add f\t").types("f2", TAKE);
    mode.shows(&[]);
}

/// A terminal removes the end of a paste from a pasted text, and nothing else.
/// A text without some characters, and with another hostile one where a line would end.
fn typable(text: &str, without: &[char]) -> String {
    text.replace(without, "").replace('\r', "\u{202e}")
}

fn pasted(site: &mut Site) {
    let text = typable(&site.hostile.argument("pasted"), &['\'']);
    let mut mode = site.mode(&["code-review"]);
    mode.types(PROMPT, &format!("note '\x1b[200~{text}end\x1b[201~'")).types("end", "\r");
    mode.types("Added note", "list\r").types("Total", "");
    mode.shows(&["pasted"]);
}

fn history(site: &mut Site) {
    let line = typable(&site.hostile.text("note before"), &['\'', '\\', '\n']) + "end";
    site.write("home/history/code-review", format!("{line}\nnote plain\n"));
    // Going back, and what is offered after the first letters.
    let mut mode = site.mode(&["code-review"]);
    mode.types(PROMPT, "\x1b[A\x1b[A").types("end", "\x15note bef").types(r"\u{", "\x15");
    mode.shows(&["note before"]);
    // Searching.
    let mut mode = site.mode(&["code-review"]);
    mode.types(PROMPT, "\x12bef").types(r"\u{", TAKE).types("Added note", "");
    mode.shows(&["note before"]);
}

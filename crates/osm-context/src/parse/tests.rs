//! Nothing inside a prompt breaks out of it.

use super::*;
use crate::Prompt;
use proptest::prelude::*;

/// Text that wants to be something else.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => prop::sample::select(vec![
            "```", "````", "`", "~~~", "```rust", "```diff no-eol", "`````", " ```", "\t```",
            "### File: a.rs", "### Left out", "### Output (exit code 1): x", "### ", "- a: b",
            "-- a --", "\\", "\\n", "no-eol", "<!--", "</file>", ": ", " (failed): ", "a", "é", "日",
            "\u{feff}", "\u{2028}", "\u{202e}", "\u{85}", "\0", "\u{1b}[2J",
        ]).prop_map(str::to_owned),
        3 => prop::sample::select(vec!["\n", "\r\n", "\r", "\n\n", " ", ""]).prop_map(str::to_owned),
        1 => (0..12_usize).prop_map(|count| "`".repeat(count)),
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn section() -> impl Strategy<Value = Section> {
    let outcome = prop_oneof![
        Just(Outcome::Fine),
        Just(Outcome::Failed),
        any::<i32>().prop_map(Outcome::ExitCode)
    ];
    let subject = prop::sample::select(Subject::WORDS.map(|(subject, _)| subject).to_vec());
    let block =
        (subject, outcome, hostile(), hostile()).prop_map(|(subject, outcome, label, body)| {
            let mut block = Block::new(subject, label, body);
            block.outcome = outcome;
            Section::Block(block)
        });
    let skipped = (hostile(), hostile()).prop_map(|(path, reason)| Skipped { path, reason });
    prop_oneof![
        6 => block,
        1 => prop::collection::vec(skipped, 0..4).prop_map(Section::LeftOut),
    ]
}

/// The headings that a reader of Markdown sees, by its own rules: a line ends where any reader
/// thinks so, a fence may be indented, is of backticks or tildes, and is closed by a longer one too.
fn headings_of_markdown(text: &str) -> Vec<String> {
    let mut headings = Vec::new();
    let mut open: Option<(char, usize)> = None;
    for line in text.split(['\n', '\r', '\u{2028}', '\u{85}']) {
        let indented = line.trim_start_matches([' ', '\t']);
        let mark = indented.chars().next().filter(|c| ['`', '~'].contains(c));
        let run = mark.map_or(0, |mark| indented.chars().take_while(|c| *c == mark).count());
        let after = &indented[run..];
        match open {
            Some((mark_of_open, length)) => {
                let closed = mark == Some(mark_of_open) && run >= length && after.trim().is_empty();
                open = open.filter(|_| !closed);
            }
            None if run >= 3 && !(mark == Some('`') && after.contains('`')) => {
                open = mark.map(|mark| (mark, run));
            }
            None if indented.starts_with('#') => headings.push(line.to_owned()),
            None => {}
        }
    }
    assert_eq!(open, None, "a fence is left open: {text}");
    headings
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    #[test]
    fn what_is_rendered_is_parsed_back(sections in prop::collection::vec(section(), 0..5)) {
        let prompt = Prompt::new(sections);
        let text = prompt.to_string();
        let parsed = parse(&text);
        prop_assert_eq!(parsed.as_deref(), Ok(prompt.sections()), "{}", text);
        let mut written = Vec::new();
        prompt.write_to(&mut written).unwrap();
        prop_assert_eq!(String::from_utf8(written).unwrap(), text);
    }

    #[test]
    fn no_content_forges_a_heading_or_leaves_its_fence(
        sections in prop::collection::vec(section(), 0..5),
    ) {
        let text = Prompt::new(sections.clone()).to_string();
        let headings = headings_of_markdown(&text);
        prop_assert_eq!(headings.len(), sections.len(), "{}", text);
        for (heading, section) in headings.iter().zip(&sections) {
            let expected = match section {
                Section::Block(block) => format!("### {}", block.subject.word()),
                Section::LeftOut(_) => "### Left out".to_owned(),
            };
            prop_assert!(heading.starts_with(&expected), "{}", heading);
        }
    }

    #[test]
    fn nothing_panics(text in hostile(), cut in 0..400_usize, sections in prop::collection::vec(section(), 0..3)) {
        drop(parse(&text));
        let rendered = Prompt::new(sections).to_string();
        let cut = rendered.floor_char_boundary(cut);
        drop(parse(&rendered[..cut]));
        drop(parse(&format!("{}{text}{}", &rendered[..cut], &rendered[cut..])));
    }
}

#[test]
fn what_is_malformed_says_where() {
    for (text, line, expected) in [
        ("hello\n", 1, "a heading"),
        ("### Bird: a\n\n", 1, "a heading"),
        ("### File: \\x\n", 1, "a heading"),
        ("### Output (exit code x): a\n", 1, "a heading"),
        ("### File: a\n", 2, "a blank line"),
        ("### File: a\nx\n", 2, "a blank line"),
        ("### File: a\n\n``rust\n``\n", 3, "a fence with a language"),
        ("### File: a\n\n```\n```\n", 3, "a fence with a language"),
        ("### File: a\n\n```rust more\n```\n", 3, "a fence with a language"),
        ("### File: a\n\n```rust\nx\n", 5, "the end of the fence"),
        ("### File: a\n\n```rust\n```\n### File: b\n", 5, "a blank line"),
        ("### Left out\n\n- a\n", 3, "a path and a reason"),
    ] {
        assert_eq!(parse(text), Err(Malformed { line, expected }), "{text}");
    }
}

#[test]
fn text_before_and_after_is_as_it_is() {
    let block = Block::new(Subject::Note, "n", "x");
    let prompt = Prompt::new(vec![Section::Block(block)]).within("Do this.\n\n", "\nNow.");
    insta::assert_snapshot!(prompt.to_string(), @r"
    Do this.

    ### Note: n

    ```text no-eol
    x
    ```

    Now.
    ");
}

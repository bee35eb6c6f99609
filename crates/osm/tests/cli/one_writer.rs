//! Only the renderers write to the program's streams, so that everything is escaped in one place.

use crate::sources;

/// The renderers.
const RENDERERS: &str = "osm/src/render";

/// What gives a stream, or writes to one. `use_stderr()` and the like are other functions.
const WRITERS: [&str; 11] = [
    "print!(",
    "println!(",
    "eprint!(",
    "eprintln!(",
    "dbg!(",
    "::stdout()",
    "::stderr()",
    " stdout()",
    " stderr()",
    "(stdout()",
    "(stderr()",
];
/// What reads a property of a stream and writes nothing.
const READERS: [&str; 3] = [".is_terminal()", "tcgetpgrp(", "tcgetwinsize("];

/// Lines outside the renderers that may write: the file, the text, the reason.
const EXCEPTIONS: [(&str, &str, &str); 1] = [(
    "osm/src/repl/source.rs",
    "let mut stderr = io::stderr().lock();",
    "the prompt of a terminal that edits its own lines: a constant of the mode, flushed at once",
)];

fn writes(line: &&str) -> bool {
    WRITERS.iter().any(|writer| line.contains(writer))
        && !READERS.iter().any(|reader| line.contains(reader))
}

#[test]
fn nothing_prints_outside_the_renderers() {
    let (mut seen, mut excused, mut wrong) = (0, Vec::new(), Vec::new());
    for source in sources::shipped() {
        for line in source.code().filter(writes) {
            seen += 1;
            let exception = EXCEPTIONS.iter().find(|it| it.0 == source.name && it.1 == line);
            match exception {
                _ if source.name.starts_with(RENDERERS) => {}
                Some(exception) => excused.push(exception.1),
                None => wrong.push(format!("{}: {line}", source.name)),
            }
        }
    }
    assert!(wrong.is_empty(), "give it to render/ui.rs: {wrong:#?}");
    assert!(seen > excused.len(), "the renderers write nothing? Is the list of WRITERS right?");
    assert_eq!(excused.len(), EXCEPTIONS.len(), "an exception is not needed any more");
}

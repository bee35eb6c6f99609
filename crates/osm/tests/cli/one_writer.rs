//! Only the renderers write to the program's streams, so that everything is escaped in one place.

use std::path::{Path, PathBuf};

/// The renderers.
const RENDERERS: &str = "osm/src/render";
/// Crates that are not shipped.
const TEST_CRATES: [&str; 2] = ["osm-testkit/", "osm-testkit-macros/"];

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
const READERS: [&str; 2] = [".is_terminal()", "tcgetwinsize("];

/// Lines outside the renderers that may write: the file, the text, the reason.
const EXCEPTIONS: [(&str, &str, &str); 1] = [(
    "osm/src/repl/source.rs",
    "let mut stderr = io::stderr().lock();",
    "the prompt of a terminal that edits its own lines: a constant of the mode, flushed at once",
)];

/// The lines of a crate's own code that write.
fn writing_lines(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()));
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let writes = |line: &&str| {
        !line.starts_with("//")
            && WRITERS.iter().any(|writer| line.contains(writer))
            && !READERS.iter().any(|reader| line.contains(reader))
    };
    code.lines().map(str::trim).filter(writes).map(str::to_owned).collect()
}

/// Every file with Rust below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let cannot = |error| -> ! { panic!("cannot read {}: {error}", folder.display()) };
    let entries = folder.read_dir().unwrap_or_else(|error| cannot(error));
    let paths = entries.map(|entry| entry.unwrap_or_else(|error| cannot(error)).path());
    let below = paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    below.filter(|path| path.extension().is_some_and(|it| it == "rs")).collect()
}

#[test]
fn nothing_prints_outside_the_renderers() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates/");
    let (mut seen, mut excused, mut wrong) = (0, Vec::new(), Vec::new());
    for folder in crates.read_dir().unwrap() {
        for file in sources(&folder.unwrap().path().join("src")) {
            let name = file.strip_prefix(crates).unwrap().to_string_lossy().replace('\\', "/");
            let is_test = name.ends_with("/tests.rs") || name.contains("/tests/");
            if is_test || TEST_CRATES.iter().any(|it| name.starts_with(it)) {
                continue;
            }
            for line in writing_lines(&file) {
                seen += 1;
                let exception = EXCEPTIONS.iter().find(|it| it.0 == name && it.1 == line);
                match exception {
                    _ if name.starts_with(RENDERERS) => {}
                    Some(exception) => excused.push(exception.1),
                    None => wrong.push(format!("{name}: {line}")),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "give it to render/ui.rs: {wrong:#?}");
    assert!(seen > excused.len(), "the renderers write nothing? Is the list of WRITERS right?");
    assert_eq!(excused.len(), EXCEPTIONS.len(), "an exception is not needed any more");
}

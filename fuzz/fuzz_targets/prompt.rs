//! A prompt that was read back, and archives: whatever a text claims to be, it is what it was.

#![no_main]

use libfuzzer_sys::fuzz_target;
use osm_context::{Block, Prompt, Section, Subject, parse, txtar};

fuzz_target!(|text: &str| {
    // As a prompt from an untrusted source.
    if let Ok(sections) = parse(text) {
        assert_eq!(Prompt::new(sections).to_string(), text, "what can be read has one spelling");
    }
    // As the content of one that we make: it cannot break out.
    let (label, body) = text.split_once('\n').unwrap_or((text, ""));
    let made = |subject| Section::Block(Block::new(subject, label, body));
    let sections = vec![made(Subject::File), made(Subject::Note), made(Subject::File)];
    let prompt = Prompt::new(sections);
    assert_eq!(parse(&prompt.to_string()).as_deref(), Ok(prompt.sections()));
    // As an archive, and as a file in one.
    drop(txtar::read(text));
    let files = txtar::read(&txtar::write([("file", text)]));
    assert_eq!((files.len(), files[0].content.as_str()), (1, text));
});

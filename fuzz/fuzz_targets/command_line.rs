//! Command lines of Windows.

#![no_main]

use libfuzzer_sys::fuzz_target;
use osm_identity::parse::command_line::{counted, split};

fuzz_target!(|input: (usize, &[u8])| {
    let (base, bytes) = input;
    for base in [base, 0] {
        if let Ok(text) = counted(bytes, base) {
            assert!(text.len() * 2 <= bytes.len());
        }
    }
    let line: Vec<u16> =
        bytes.chunks_exact(2).map(|pair| u16::from_ne_bytes([pair[0], pair[1]])).collect();
    let words = split(&line);
    assert_eq!(words.is_empty(), line.first().is_none_or(|unit| *unit == 0));
    assert!(words.iter().map(Vec::len).sum::<usize>() <= line.len());

    // Quoted by the rules, any words come back as they were.
    let mut quoted: Vec<u16> = "program".encode_utf16().collect();
    for word in &words {
        quoted.push(u16::from(b' '));
        quote(word, &mut quoted);
    }
    assert_eq!(split(&quoted)[1..], words);
});

/// One word in quotes, as a careful program writes it.
fn quote(word: &[u16], line: &mut Vec<u16>) {
    const QUOTE: u16 = b'"' as u16;
    const BACKSLASH: u16 = b'\\' as u16;
    line.push(QUOTE);
    let mut backslashes = 0;
    for unit in word {
        match *unit {
            BACKSLASH => backslashes += 1,
            QUOTE => {
                line.extend(std::iter::repeat_n(BACKSLASH, backslashes + 1));
                backslashes = 0;
            }
            _ => backslashes = 0,
        }
        line.push(*unit);
    }
    line.extend(std::iter::repeat_n(BACKSLASH, backslashes));
    line.push(QUOTE);
}

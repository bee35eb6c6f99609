//! Text that does something to a terminal, or that looks like another text.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use proptest::sample::subsequence;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestRunner};

/// Each begins with a character that must not reach a terminal. None is a sequence that osm or its line
/// editor emits.
const PIECES: &[&str] = &[
    // CSI: erase the screen, conceal, scroll, another screen, report the title, reset.
    "\x1b[2J",
    "\x1b[8m",
    "\x1b[3;4r",
    "\x1b[?1049h",
    "\x1b[21t",
    "\x1b[!p",
    // Other escapes: reset, another character set.
    "\x1bc",
    "\x1b(0",
    "\x1b#8",
    // OSC: the clipboard, a link, the title. DCS, APC, PM, SOS.
    "\x1b]52;c;cHduZWQ=\x07",
    "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
    "\x1b]0;title\x07",
    "\x1bP$qm\x1b\\",
    "\x1b_Gx\x1b\\",
    "\x1b^pm\x1b\\",
    "\x1bXsos\x1b\\",
    // C1 controls in UTF-8.
    "\u{80}",
    "\u{84}\u{85}\u{8d}",
    "\u{90}q\u{9c}",
    "\u{9b}2J",
    "\u{9d}0;title\u{9c}",
    "\u{9e}\u{9f}",
    // C0 controls and DEL.
    "\0",
    "\x07",
    "\x08\x08\x08",
    "\rfake",
    "\x0b\x0c",
    "\x0e\x0f",
    "\x7f",
    // Bidirectional controls.
    "\u{202a}\u{202b}\u{202c}",
    "\u{202d}\u{202e}",
    "\u{2066}\u{2067}\u{2068}\u{2069}",
    "\u{200e}\u{200f}",
    "\u{61c}",
    // Invisible characters, other line ends.
    "\u{200b}\u{200c}\u{200d}",
    "\u{2060}\u{feff}\u{ad}",
    "\u{2028}\u{2029}",
    "\u{e0041}\u{e007f}",
    "\u{3164}\u{115f}\u{34f}",
    "\u{fff9}\u{fffb}",
];

/// Bytes that are not UTF-8; the second would be a control of eight bits.
const INVALID: &[u8] = b"\xff\x9b2J\xc3";

/// The longest file name that any file system takes, with room for an extension.
const LONGEST_NAME: usize = 200;

/// A choice of pieces.
#[derive(Clone, Debug)]
pub(crate) struct Hostile(Vec<&'static str>);

impl Hostile {
    /// All of them after a word, by which a test finds the place.
    pub(crate) fn text(&self, word: &str) -> String {
        format!("{word}{}", self.0.concat())
    }

    /// Some of them, for a text that shares a line with others.
    pub(crate) fn short(&self, word: &str) -> String {
        format!("{word}{}", self.0[..3].concat())
    }

    /// Those without control characters, for a text in which osm refuses them.
    pub(crate) fn without_controls(&self, word: &str) -> String {
        let pieces = self.0.iter().filter(|piece| !piece.contains(char::is_control));
        format!("{word}\u{202e}{}", pieces.copied().collect::<String>())
    }

    /// A text that is longer than a screen.
    pub(crate) fn long(&self, word: &str) -> String {
        self.text(word) + &self.0.concat().repeat(200)
    }

    /// What fits into a variable or an argument.
    pub(crate) fn argument(&self, word: &str) -> String {
        self.text(word).replace('\0', "")
    }

    /// The same with bytes that are no text.
    pub(crate) fn bytes(&self, word: &str) -> OsString {
        OsString::from_vec([self.argument(word).as_bytes(), INVALID].concat())
    }

    /// A file name.
    pub(crate) fn name(&self, word: &str) -> String {
        let mut name = word.to_owned();
        for piece in &self.0 {
            let piece = piece.replace(['\0', '/', '\\'], "");
            if name.len() + piece.len() <= LONGEST_NAME {
                name.push_str(&piece);
            }
        }
        name
    }

    /// A file name that is no text.
    pub(crate) fn raw_name(&self, word: &str) -> OsString {
        OsString::from_vec([self.name(word).as_bytes(), INVALID].concat())
    }
}

/// Tests with all pieces in order, and with a random choice of them in a random order.
pub(crate) fn for_each(test: impl Fn(&Hostile)) {
    test(&Hostile(PIECES.to_vec()));
    let choice = subsequence(PIECES.to_vec(), PIECES.len() / 2..PIECES.len());
    let config =
        Config { cases: 1, failure_persistence: None, max_shrink_iters: 0, ..Config::default() };
    let ran = TestRunner::new(config).run(&choice.prop_shuffle(), |pieces| {
        test(&Hostile(pieces));
        Ok(())
    });
    if let Err(error) = ran {
        panic!("{error}");
    }
}

//! How many tokens a text is to a model.
//!
//! The vocabularies are large, and loaded when something is counted for the first time. A long text is
//! cut where no token can reach across, and the parts are counted by all processors at once.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

use bpe_openai::Tokenizer;
use serde::{Deserialize, Serialize};

/// Parts are cut at the first good place after this many bytes.
const PART: usize = 64 << 10;
/// Less than this is counted faster than a thread is started.
const WORTH_A_THREAD: usize = 256 << 10;
/// More threads than this only wait for each other.
const MOST_THREADS: usize = 16;

/// A vocabulary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Encoding {
    /// That of the newer models.
    #[default]
    #[serde(rename = "o200k_base")]
    O200k,
    /// That of the older ones.
    #[serde(rename = "cl100k_base")]
    Cl100k,
}

impl Encoding {
    /// Both, by name.
    pub const NAMES: [(&'static str, Self); 2] =
        [("o200k_base", Self::O200k), ("cl100k_base", Self::Cl100k)];

    /// The encoding of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, encoding)| *encoding)
    }

    fn tokenizer(self) -> &'static Tokenizer {
        match self {
            Self::O200k => bpe_openai::o200k_base(),
            Self::Cl100k => bpe_openai::cl100k_base(),
        }
    }
}

/// The number of tokens of a text.
#[must_use]
pub fn count(text: &str, encoding: Encoding) -> u64 {
    count_all(&[text], encoding)
}

/// The number of tokens of some texts, each by itself.
#[must_use]
pub fn count_all<T: AsRef<str>>(texts: &[T], encoding: Encoding) -> u64 {
    let size: usize = texts.iter().map(|text| text.as_ref().len()).sum();
    let parts: Vec<&str> = texts.iter().flat_map(|text| parts(text.as_ref())).collect();
    let threads = if size < WORTH_A_THREAD { 1 } else { processors().min(size / PART) };
    let next = AtomicUsize::new(0);
    let work = || {
        let mut sum = 0;
        while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            sum += count_here(part, encoding);
        }
        sum
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mine = work();
        let join = |other: std::thread::ScopedJoinHandle<u64>| {
            other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        mine + others.into_iter().map(join).sum::<u64>()
    })
}

/// The number of tokens of a text, by this thread alone.
pub(crate) fn count_here(text: &str, encoding: Encoding) -> u64 {
    encoding.tokenizer().count(text) as u64
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS)
}

/// A text in parts of bearable size.
fn parts(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let (part, rest) = text.split_at(cut(text));
        text = rest;
        (!part.is_empty()).then_some(part)
    })
}

/// Where to cut: before a line that begins with a letter or digit. A line end is never one token
/// with these, in both vocabularies.
fn cut(text: &str) -> usize {
    if text.len() <= PART {
        return text.len();
    }
    let bytes = text.as_bytes();
    let from = PART - 1;
    let mut line_ends = memchr::memchr_iter(b'\n', &bytes[from..]).map(|at| from + at + 1);
    let good = line_ends.find(|&at| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric));
    good.unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_counts() {
        // As the vocabularies' own program counts them.
        for (text, new, old) in [("", 0, 0), ("hello world", 2, 2), ("tiktoken is great!", 6, 6)] {
            assert_eq!(count(text, Encoding::O200k), new, "{text}");
            assert_eq!(count(text, Encoding::Cl100k), old, "{text}");
        }
        assert_eq!(Encoding::named("cl100k_base"), Some(Encoding::Cl100k));
        assert_eq!(Encoding::named("p50k"), None);
    }

    #[test]
    fn what_is_hard_is_counted_too() {
        let size = 3 * PART;
        for hard in ["a", " ", "\n", "é", "ab", " \n", "}\n/", "\u{300}"] {
            let text = hard.repeat(size / hard.len());
            assert_eq!(
                count(&text, Encoding::O200k),
                count_here(&text, Encoding::O200k),
                "{hard:?}"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10))]

        #[test]
        fn a_cut_changes_nothing(
            lines in prop::collection::vec(r"[ \t]{0,3}(fn |x1|//|\}|日本|'s|\r|\PC){0,6}", 50..100),
        ) {
            let text = lines.join("\n").repeat(200);
            for encoding in [Encoding::O200k, Encoding::Cl100k] {
                prop_assert_eq!(count(&text, encoding), count_here(&text, encoding));
            }
        }
    }
}

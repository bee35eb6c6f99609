//! How many tokens a text is to a model.
//!
//! A vocabulary is loaded when something is counted for the first time. There is one, that of the newer
//! models: each makes the program larger by many megabytes, and their counts differ by a few per cent.
//! A long text is cut where no token can reach across, and the parts are counted by all processors at
//! once.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

use bpe_openai::Tokenizer;

/// Parts are cut at the first good place after this many bytes.
const PART: usize = 64 << 10;
/// Less than this is counted faster than a thread is started.
const WORTH_A_THREAD: usize = 256 << 10;
/// More threads than this only wait for each other.
const MOST_THREADS: usize = 16;

/// A vocabulary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// That of the newer models.
    #[default]
    O200k,
}

impl Encoding {
    fn tokenizer(self) -> &'static Tokenizer {
        match self {
            Self::O200k => bpe_openai::o200k_base(),
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
/// with these.
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
        // As the vocabulary's own program counts them.
        for (text, tokens) in [("", 0), ("hello world", 2), ("tiktoken is great!", 6)] {
            assert_eq!(count(text, Encoding::O200k), tokens, "{text}");
        }
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
            prop_assert_eq!(count(&text, Encoding::O200k), count_here(&text, Encoding::O200k));
        }
    }
}

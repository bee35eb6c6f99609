//! Counts the tokens of a text, as a model of the o200k vocabulary sees it.
//!
//! There is one vocabulary, that of the newer models: the counts of others differ by a few per cent,
//! and each table makes the program larger. The build script makes the tables; they are used as they
//! lie in the program's file.
//!
//! | for | see |
//! |---|---|
//! | how a text is split into pieces | `split.rs`, `class.rs` |
//! | how a piece becomes tokens | `merge.rs`, `place.rs` |
//! | how counts of pieces are remembered | `counter.rs` |
//! | how the tables are made | `build/` |

mod class;
mod counter;
mod merge;
#[expect(dead_code, reason = "the build script fills the table by the rest")]
mod place;
mod split;

use std::cell::RefCell;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, Result};
use crate::progress::{Progress, Step, UNHEARD, is_due};
use crate::setting::Interrupted;
use counter::Counter;

/// A long text is split into parts of about so many bytes, which threads count independently.
const PART: usize = 64 << 10;
/// Less than this is counted faster than a thread is started.
const WORTH_A_THREAD: usize = 256 << 10;
/// The most threads.
const MOST_THREADS: usize = 16;

/// A vocabulary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// That of the newer models.
    #[default]
    O200k,
}

thread_local! {
    static COUNTER: RefCell<Counter> = RefCell::new(Counter::new());
}

/// The number of tokens of a text.
///
/// Counting stops with [`Error::Interrupted`] soon after `interrupted` returns true. It is asked after
/// every 64 KiB, and by several threads.
pub fn count(text: &str, encoding: Encoding, interrupted: Interrupted) -> Result<u64> {
    count_all(&[text], encoding, interrupted, UNHEARD)
}

/// The sum of the numbers of tokens of some texts.
pub fn count_all<T: AsRef<str>>(
    texts: &[T],
    encoding: Encoding,
    interrupted: Interrupted,
    progress: Progress,
) -> Result<u64> {
    let size: usize = texts.iter().map(|text| text.as_ref().len()).sum();
    let parts: Vec<&str> = texts.iter().flat_map(|text| parts(text.as_ref())).collect();
    let threads = if size < WORTH_A_THREAD { 1 } else { processors().min(size / PART) };
    let next = AtomicUsize::new(0);
    let work = || {
        let mut sum = 0;
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = parts.get(at) else { return Ok(sum) };
            if is_due(at) {
                progress(Step::Counting { done: at, total: parts.len() });
            }
            sum += count_here(part, encoding, interrupted)?;
        }
    };
    std::thread::scope(|scope| {
        // Where no more threads can be had, fewer do the same.
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads).map_while(start).collect();
        let mut sum = work()?;
        for other in others {
            sum += other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        Ok(sum)
    })
}

/// The number of tokens of a text, counted by the calling thread alone.
pub(crate) fn count_here(text: &str, encoding: Encoding, interrupted: Interrupted) -> Result<u64> {
    let Encoding::O200k = encoding;
    let count = COUNTER.with_borrow_mut(|counter| counter.count(text, interrupted));
    count.ok_or(Error::Interrupted)
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS)
}

/// The parts of a text; the tokens of the text are those of its parts.
fn parts(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let (part, rest) = text.split_at(end_of_part(text));
        text = rest;
        (!part.is_empty()).then_some(part)
    })
}

/// The end of the first part: before a line that begins with a letter or digit. No piece contains
/// both a line end and one of these after it.
fn end_of_part(text: &str) -> usize {
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
mod tests;

//! Many files, read by several threads, in order, and not more of them than fit.

use std::mem;
use std::num::NonZero;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::body::Body;
use crate::error;
use crate::huge_pages;
use crate::plan::Wanted;
use crate::progress::Step;
use crate::read;
use crate::reason::Reason;
use crate::setting::Setting;

/// Fewer files than this are read faster than a thread is started.
const WORTH_A_THREAD: usize = 64;
/// More threads than this only wait for each other.
const MOST_THREADS: usize = 16;

/// A thread reads files into texts, of which the first has this size, and each further one twice that
/// of the one before, so that few files take little memory and many few page faults.
const FIRST_CHUNK: usize = 512 << 10;
/// No text is larger, unless for one file.
const LARGEST_CHUNK: usize = 16 << 20;
/// With less room than this behind what it reads, the standard library asks first whether there is more.
const SPARE: usize = 32;

/// What became of a file.
#[derive(Debug)]
pub(crate) enum Fate<T> {
    /// It was read, and this was made of it.
    Read(T),
    /// It cannot be read.
    Skipped(Reason),
    /// It did not fit any more.
    Beyond,
}

/// What the threads share.
#[derive(Default)]
struct Claims {
    next: AtomicUsize,
    /// The size of what was read.
    total: AtomicU64,
}

impl Claims {
    /// Adds the size of what was read, and claims the next file.
    ///
    /// The total is taken first: it counts only files before the claimed one. So if it is over the
    /// limit, that file is over the limit in every order of threads.
    fn next(&self, size: u64) -> (usize, u64) {
        let total = self.total.fetch_add(size, Ordering::SeqCst) + size;
        (self.next.fetch_add(1, Ordering::SeqCst), total)
    }
}

/// Reads files, together of no more than so many bytes. Notes something of each while its text is in
/// the processor's cache, and makes something of the note and the text.
///
/// From the first one that does not fit, all are beyond.
pub(crate) fn read_all<N, T: Send>(
    wanted: &[Wanted],
    total: u64,
    setting: &Setting,
    note: impl Fn(&str) -> N + Sync,
    make: impl Fn(N, Body) -> T + Sync,
) -> error::Result<Vec<Fate<T>>> {
    let claims = Claims::default();
    let work = || {
        let mut reader = Reader {
            few: wanted.len() < WORTH_A_THREAD,
            note: &note,
            make: &make,
            text: String::new(),
            next_size: FIRST_CHUNK,
            parts: Vec::new(),
            fates: Vec::new(),
        };
        let mut size = 0;
        loop {
            let (at, so_far) = claims.next(mem::take(&mut size));
            let Some(file) = wanted.get(at).filter(|_| !(setting.interrupted)()) else {
                return reader.finish();
            };
            if so_far > total {
                return reader.finish();
            }
            // The caller reports single files, by their items.
            if wanted.len() > 1 {
                setting.report(at, Step::Reading { done: at, total: wanted.len() });
            }
            match reader.read(at, file) {
                Ok(read) => size = read as u64,
                Err(reason) => reader.fates.push((at, 0, Fate::Skipped(reason))),
            }
        }
    };
    let threads = threads_for(wanted.len());
    let shares = std::thread::scope(|scope| {
        // Where no more threads can be had, fewer do the same.
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads).map_while(start).collect();
        let mut shares = vec![work()];
        for other in others {
            shares.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        shares
    });
    setting.go_on()?;
    Ok(in_order(shares, wanted.len(), total))
}

/// What one thread reads.
struct Reader<'a, N, T, F, M> {
    /// There are so few files that a text is as large as a file.
    few: bool,
    note: &'a F,
    make: &'a M,
    /// The files since the last that something was made of, one after the other.
    text: String,
    /// The size of the next text.
    next_size: usize,
    /// Which file is where in it.
    parts: Vec<(usize, Range<usize>, N)>,
    fates: Vec<(usize, u64, Fate<T>)>,
}

impl<N, T, F: Fn(&str) -> N, M: Fn(N, Body) -> T> Reader<'_, N, T, F, M> {
    /// Reads the file with this number; returns its size.
    fn read(&mut self, at: usize, file: &Wanted) -> Result<usize, Reason> {
        let opened = read::open(&file.path, file.most)?;
        let room = opened.room() + SPARE;
        if self.text.capacity() - self.text.len() < room {
            self.make_all();
            if self.text.capacity() < room {
                self.text = self.next_text(room);
            }
        }
        let range = opened.read_to(&mut self.text)?;
        let size = range.len();
        let note = (self.note)(&self.text[range.clone()]);
        self.parts.push((at, range, note));
        Ok(size)
    }

    /// An empty text with room for so many bytes.
    fn next_text(&mut self, room: usize) -> String {
        if self.few {
            return String::with_capacity(room);
        }
        let text = String::with_capacity(room.max(self.next_size));
        huge_pages::advise(&text, text.capacity());
        self.next_size = (self.next_size * 2).min(LARGEST_CHUNK);
        text
    }

    /// Makes something of each file that was read since the last time.
    fn make_all(&mut self) {
        let text = Arc::new(mem::take(&mut self.text));
        for (at, range, note) in self.parts.drain(..) {
            let size = range.len() as u64;
            let made = (self.make)(note, Body::part(&text, range));
            self.fates.push((at, size, Fate::Read(made)));
        }
        // A text that no body is a part of is filled once more.
        if let Ok(mut text) = Arc::try_unwrap(text) {
            text.clear();
            self.text = text;
        }
    }

    fn finish(mut self) -> Vec<(usize, u64, Fate<T>)> {
        self.make_all();
        self.fates
    }
}

fn in_order<T>(shares: Vec<Vec<(usize, u64, Fate<T>)>>, count: usize, total: u64) -> Vec<Fate<T>> {
    let mut fates: Vec<(u64, Fate<T>)> = Vec::with_capacity(count);
    fates.resize_with(count, || (0, Fate::Beyond));
    for (at, size, fate) in shares.into_iter().flatten() {
        fates[at] = (size, fate);
    }
    let mut so_far = 0;
    let fates = fates.into_iter().map(|(size, fate)| {
        so_far += size;
        if so_far > total { Fate::Beyond } else { fate }
    });
    fates.collect()
}

fn threads_for(files: usize) -> usize {
    let threads = (files / WORTH_A_THREAD).clamp(1, MOST_THREADS);
    // Asked last: to tell how many processors there are takes a look at several files.
    if threads < 2 {
        return 1;
    }
    threads.min(std::thread::available_parallelism().map_or(1, NonZero::get))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_does_not_depend_on_who_is_faster() {
        let folder = tempfile::tempdir().unwrap();
        let wanted: Vec<Wanted> = (0..300)
            .map(|at| {
                let path = folder.path().join(at.to_string());
                std::fs::write(&path, "x".repeat(at % 7)).unwrap();
                Wanted { path, label: at.to_string(), most: 100 }
            })
            .collect();
        let setting = Setting::new(folder.path());
        for total in [0, 1, 2, 100, 500, 10_000] {
            let mut so_far = 0;
            let fits = |at: usize| {
                so_far += at as u64 % 7;
                so_far <= total
            };
            let expected: Vec<bool> = (0..300).map(fits).collect();
            let fates = read_all(&wanted, total, &setting, |_| (), |(), body| body).unwrap();
            for (at, (fate, expected)) in fates.iter().zip(expected).enumerate() {
                match fate {
                    Fate::Read(body) => assert!(expected && body.len() == at % 7),
                    Fate::Beyond => assert!(!expected, "{at} of {total}"),
                    Fate::Skipped(reason) => panic!("{reason}"),
                }
            }
        }
    }

    #[test]
    fn files_that_share_a_text_keep_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let body = |at: usize| match at % 50 {
            0 => format!("{at}").repeat(FIRST_CHUNK / 2),
            1 => "\0".to_owned(),
            _ => format!("é{at}\n").repeat(at * 20),
        };
        let wanted: Vec<Wanted> = (0..200)
            .map(|at| {
                let path = folder.path().join(at.to_string());
                std::fs::write(&path, body(at)).unwrap();
                Wanted { path, label: at.to_string(), most: u64::MAX }
            })
            .collect();
        let setting = Setting::new(folder.path());
        let fates =
            read_all(&wanted, u64::MAX, &setting, str::len, |size, body| (size, body)).unwrap();
        for (at, fate) in fates.iter().enumerate() {
            match fate {
                Fate::Read((size, read)) => {
                    assert!(*size == read.len() && **read == body(at), "{at}");
                }
                Fate::Skipped(reason) => assert!(*reason == Reason::Binary && at % 50 == 1),
                Fate::Beyond => panic!("{at} is beyond"),
            }
        }
    }
}

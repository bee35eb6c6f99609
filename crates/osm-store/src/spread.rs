//! Work on many things, spread over the processors.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// Fewer things than this are not worth a thread.
const WORTH_A_THREAD: usize = 250;
/// More threads than this only wait for each other.
const MOST_THREADS: usize = 16;

static PROCESSORS: LazyLock<usize> =
    LazyLock::new(|| std::thread::available_parallelism().map_or(1, NonZero::get));

/// Hands each processor its share of some items; what comes of the shares is in their order.
pub fn spread<T: Send, R: Send>(mut items: Vec<T>, work: impl Fn(Vec<T>) -> R + Sync) -> Vec<R> {
    let threads = (items.len() / WORTH_A_THREAD).min(MOST_THREADS);
    // Asked last, and once: to tell how many processors there are takes a look at several files.
    let threads = if threads < 2 { 1 } else { threads.min(*PROCESSORS) };
    if threads < 2 {
        return vec![work(items)];
    }
    let share = items.len().div_ceil(threads);
    let mut later = Vec::with_capacity(threads);
    while items.len() > share {
        later.push(items.split_off(items.len() - share));
    }
    let mut shares = vec![items];
    shares.extend(later.into_iter().rev());
    let shares: Vec<_> = shares.into_iter().map(|share| Mutex::new(Some(share))).collect();
    let results: Vec<_> = shares.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let take_turns = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(share) = shares.get(at) else { return };
            let share = lock(share).take().unwrap_or_default();
            *lock(&results[at]) = Some(work(share));
        }
    };
    std::thread::scope(|scope| {
        // A thread that cannot be had leaves its share to the others.
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, take_turns).ok();
        let others: Vec<_> = (1..threads).map_while(start).collect();
        take_turns();
        for other in others {
            other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
    let result = |it: Mutex<Option<R>>| it.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().filter_map(result).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_and_all_is_in_order() {
        for count in [0, 1, WORTH_A_THREAD, 2 * WORTH_A_THREAD, 10 * WORTH_A_THREAD + 1] {
            let items: Vec<usize> = (0..count).collect();
            assert_eq!(spread(items.clone(), |share| share).concat(), items);
        }
    }
}

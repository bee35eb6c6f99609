//! Work on many things, spread over the processors.

use std::num::NonZero;
use std::sync::LazyLock;

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
    let work = &work;
    std::thread::scope(|scope| {
        let others: Vec<_> =
            later.into_iter().rev().map(|share| scope.spawn(move || work(share))).collect();
        let mut results = vec![work(items)];
        for other in others {
            results.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results
    })
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

//! Counts the tokens of one piece by byte-pair encoding.
//!
//! The tokens of a piece are at first its bytes. Again and again the two adjacent tokens merge whose
//! merged token has the lowest number, the leftmost of several, until no two merge.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::place::{self, BUCKETS, SLOTS};

/// A table in the program's file, where a lookup never crosses a cache line.
#[repr(align(64))]
struct Aligned<T>(T);

static PILOTS: &[u8; BUCKETS] = include_bytes!(concat!(env!("OUT_DIR"), "/pilots.bin"));
static PAIRS: Aligned<[u8; SLOTS * 8]> =
    Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/pairs.bin")));

/// In place of a merged token: the two do not merge.
const NONE: u32 = u32::MAX;
/// Pieces of at most so many bytes are merged by looking at all of their tokens each time, which is
/// faster than a heap and would take time quadratic in the length of longer ones.
const SHORT: usize = 32;
/// So many merges of a long piece happen between two questions whether to stop.
const BETWEEN_QUESTIONS: usize = 1 << 14;

/// The number of tokens of a piece that is not empty; `None` if it was interrupted.
pub(super) fn count(piece: &[u8], interrupted: &dyn Fn() -> bool) -> Option<u64> {
    if piece.len() <= SHORT { Some(count_short(piece)) } else { count_long(piece, interrupted) }
}

/// The token that two adjacent ones merge into.
#[inline]
fn merged(left: u32, right: u32) -> u32 {
    let key = place::key(left, right);
    let slot = place::slot(key, PILOTS[place::bucket(key)]);
    let entry = u64::from_le_bytes(PAIRS.0.as_chunks().0[slot]);
    place::merged(entry, key).unwrap_or(NONE)
}

/// The number of tokens of a piece of at most [`SHORT`] bytes.
pub(super) fn count_short(piece: &[u8]) -> u64 {
    // What belongs to a token stands at its first byte.
    let mut tokens = [0; SHORT];
    // What each token merges into with the next one.
    let mut merges = [NONE; SHORT];
    // Where the tokens after and before each one begin. Links spare moving the rest at each merge.
    let (mut after, mut before) = ([0; SHORT], [0; SHORT]);
    let size = piece.len();
    for (at, byte) in piece.iter().enumerate() {
        tokens[at] = u32::from(*byte);
        (after[at], before[at]) = (at + 1, at.saturating_sub(1));
    }
    for at in 1..size {
        merges[at - 1] = merged(tokens[at - 1], tokens[at]);
    }
    let mut count = size as u64;
    loop {
        let (mut best, mut at) = (NONE, 0);
        for (place, &merge) in merges[..size].iter().enumerate() {
            if merge < best {
                (best, at) = (merge, place);
            }
        }
        if best == NONE {
            return count;
        }
        count -= 1;
        let second = after[at];
        let next = after[second];
        tokens[at] = best;
        after[at] = next;
        merges[second] = NONE;
        merges[at] = NONE;
        if next < size {
            before[next] = at;
            merges[at] = merged(best, tokens[next]);
        }
        if at > 0 {
            merges[before[at]] = merged(tokens[before[at]], best);
        }
    }
}

/// The tokens of a long piece; what belongs to a token stands at its first byte.
struct Long {
    tokens: Vec<u32>,
    /// How many bytes each token has; 0 inside of a token.
    lengths: Vec<u8>,
    /// How many bytes the token before each one has.
    lengths_before: Vec<u8>,
    /// Merges by number and place. Some of them are no longer possible.
    merges: BinaryHeap<Reverse<(u32, usize)>>,
}

fn count_long(piece: &[u8], interrupted: &dyn Fn() -> bool) -> Option<u64> {
    let size = piece.len();
    let mut long = Long {
        tokens: piece.iter().map(|&byte| u32::from(byte)).collect(),
        lengths: vec![1; size],
        lengths_before: vec![1; size],
        merges: BinaryHeap::new(),
    };
    let mut merges = Vec::new();
    for at in 0..size - 1 {
        if at % BETWEEN_QUESTIONS == BETWEEN_QUESTIONS - 1 && interrupted() {
            return None;
        }
        merges.extend(long.merge_at(at));
    }
    long.merges = merges.into();
    let mut count = size as u64;
    let mut looked_at = 0_usize;
    while let Some(Reverse((merge, at))) = long.merges.pop() {
        looked_at += 1;
        if looked_at.is_multiple_of(BETWEEN_QUESTIONS) && interrupted() {
            return None;
        }
        if long.merge_at(at) == Some(Reverse((merge, at))) {
            long.apply(merge, at);
            count -= 1;
        }
    }
    Some(count)
}

impl Long {
    /// The merge of the token at a place with the next one.
    fn merge_at(&self, at: usize) -> Option<Reverse<(u32, usize)>> {
        let length = usize::from(self.lengths[at]);
        let next = *self.tokens.get(at + length)?;
        let merge = merged(self.tokens[at], next);
        (length > 0 && merge != NONE).then_some(Reverse((merge, at)))
    }

    fn apply(&mut self, merge: u32, at: usize) {
        let next = at + usize::from(self.lengths[at]);
        self.tokens[at] = merge;
        self.lengths[at] += self.lengths[next];
        self.lengths[next] = 0;
        let after = at + usize::from(self.lengths[at]);
        if let Some(before) = self.lengths_before.get_mut(after) {
            *before = self.lengths[at];
        }
        self.merges.extend(self.merge_at(at));
        if at > 0 {
            self.merges.extend(self.merge_at(at - usize::from(self.lengths_before[at])));
        }
    }
}

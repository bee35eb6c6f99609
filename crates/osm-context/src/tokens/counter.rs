//! Counts the tokens of texts, piece by piece, and remembers the counts of short pieces.
//!
//! Code repeats itself: most pieces have been seen before. A counter keeps their counts in a table of
//! fixed size, in which a new piece replaces whichever had its slot.

use super::{merge, split};

/// Slots of the table.
const SLOTS: usize = 1 << SLOT_BITS;
const SLOT_BITS: u32 = 16;
/// Longer pieces are not remembered: a slot has room for so many bytes.
const LONGEST: usize = 15;
/// A slot has its lowest 15 bytes for the piece, then 4 bits for its length and 4 for its count.
const LENGTH_AT: u32 = 120;
const COUNT_AT: u32 = 124;
/// So many bytes are counted between two questions whether to stop.
const BETWEEN_QUESTIONS: usize = 64 << 10;

/// Counts tokens, and is faster the more it has counted.
pub(super) struct Counter {
    known: Box<[u128]>,
}

impl Counter {
    pub(super) fn new() -> Self {
        Self { known: vec![0; SLOTS].into_boxed_slice() }
    }

    /// The number of tokens of a text; `None` if it was interrupted.
    pub(super) fn count(&mut self, text: &str, interrupted: &dyn Fn() -> bool) -> Option<u64> {
        let (mut count, mut at, mut question) = (0, 0, BETWEEN_QUESTIONS);
        while at < text.len() {
            let end = split::end_of_piece(text, at);
            count += match end - at {
                1 => 1,
                ..=LONGEST => self.count_short(text.as_bytes(), at, end),
                _ => merge::count(&text.as_bytes()[at..end], interrupted)?,
            };
            at = end;
            if at >= question {
                if interrupted() {
                    return None;
                }
                question = at + BETWEEN_QUESTIONS;
            }
        }
        Some(count)
    }

    #[inline]
    fn count_short(&mut self, text: &[u8], start: usize, end: usize) -> u64 {
        let key = key(text, start, end);
        let known = &mut self.known[slot(key)];
        if *known << (u128::BITS - COUNT_AT) != key << (u128::BITS - COUNT_AT) {
            let count = merge::count_short(&text[start..end]);
            *known = key | u128::from(count) << COUNT_AT;
        }
        (*known >> COUNT_AT) as u64
    }
}

/// The bytes and the length of a piece as one number, which is never 0.
#[inline]
fn key(text: &[u8], start: usize, end: usize) -> u128 {
    let length = end - start;
    let bytes = if let Some(bytes) = text[start..].first_chunk() {
        u128::from_le_bytes(*bytes) & ((1 << (length * 8)) - 1)
    } else {
        let mut bytes = [0; 16];
        bytes[..length].copy_from_slice(&text[start..end]);
        u128::from_le_bytes(bytes)
    };
    bytes | (length as u128) << LENGTH_AT
}

#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "both halves are taken, and few bits of the hash"
)]
fn slot(key: u128) -> usize {
    let low = (key as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let high = ((key >> 64) as u64).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let hash = (low ^ high.rotate_left(32)).wrapping_mul(0xa076_1d64_78bd_642f);
    (hash >> (u64::BITS - SLOT_BITS)) as usize
}

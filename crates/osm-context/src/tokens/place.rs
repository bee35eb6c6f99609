//! Where the table of token pairs keeps each pair.
//!
//! The build script fills the table and the program reads it, so both compile this file. The hash is
//! perfect: the build script chooses a number, the pilot, for each bucket of pairs such that no two
//! pairs share a slot. A lookup therefore reads one pilot and one slot, and never probes further.

/// Bits of a token's number.
pub(crate) const TOKEN_BITS: u32 = 18;
/// Buckets of pairs; each has one pilot.
pub(crate) const BUCKETS: usize = 1 << BUCKET_BITS;
/// Slots of the table; each holds one pair or nothing.
pub(crate) const SLOTS: usize = 1 << SLOT_BITS;

const BUCKET_BITS: u32 = 16;
const SLOT_BITS: u32 = 18;
/// Odd numbers whose bits are spread well.
const FACTORS: [u64; 3] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93, 0xa076_1d64_78bd_642f];

/// Two adjacent tokens as one number.
pub(crate) const fn key(left: u32, right: u32) -> u64 {
    (left as u64) << TOKEN_BITS | right as u64
}

/// The content of a slot without a pair; no key is as large as what stands there.
pub(crate) const EMPTY: u64 = u64::MAX;

/// The content of a slot: two tokens, and the token that they merge into.
pub(crate) const fn entry(key: u64, merged: u32) -> u64 {
    key << TOKEN_BITS | merged as u64
}

/// The token that two tokens merge into, if a slot holds this pair.
#[allow(clippy::cast_possible_truncation, reason = "a token has 18 bits")]
pub(crate) const fn merged(entry: u64, key: u64) -> Option<u32> {
    if entry >> TOKEN_BITS == key { Some(entry as u32 & ((1 << TOKEN_BITS) - 1)) } else { None }
}

/// The bucket of a pair.
#[allow(clippy::cast_possible_truncation, reason = "16 bits fit in every usize")]
pub(crate) const fn bucket(key: u64) -> usize {
    (hash(key) >> (u64::BITS - BUCKET_BITS)) as usize
}

/// The slot of a pair, given the pilot of its bucket.
#[allow(clippy::cast_possible_truncation, reason = "18 bits fit in every usize")]
pub(crate) const fn slot(key: u64, pilot: u8) -> usize {
    let moved = hash(key) ^ (pilot as u64).wrapping_mul(FACTORS[1]);
    (moved.wrapping_mul(FACTORS[2]) >> (u64::BITS - SLOT_BITS)) as usize
}

const fn hash(key: u64) -> u64 {
    key.wrapping_mul(FACTORS[0])
}

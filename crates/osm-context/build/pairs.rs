//! The table of token pairs, from the ranks of the vocabulary.
//!
//! Byte-pair encoding merges the adjacent tokens whose merged token has the lowest rank, until no two
//! merge. A text can reach a token by one pair only: every other way to split it would have merged
//! differently before. So the table has one entry for each token of more than one byte.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::path::Path;

use bpe_openai::byte_pair_encoding::BytePairEncoding;

#[expect(dead_code, reason = "the program reads the table by the rest")]
#[path = "../src/tokens/place.rs"]
mod place;

use place::{BUCKETS, EMPTY, SLOTS, TOKEN_BITS};

/// Tokens with lower ranks are the single bytes.
const BYTES: u32 = 256;
/// The program keeps the length of a token in one byte.
const LONGEST: usize = u8::MAX as usize;

/// Writes `pilots.bin`, a byte for each bucket, and `pairs.bin`, a little-endian number for each slot.
pub(crate) fn write(folder: &Path) -> Result<(), Box<dyn Error>> {
    let pairs = pairs(&bpe_openai::o200k_base().bpe)?;
    let (pilots, slots) = arrange(&pairs)?;
    let slots: Vec<u8> = slots.into_iter().flat_map(u64::to_le_bytes).collect();
    fs::write(folder.join("pilots.bin"), pilots)?;
    Ok(fs::write(folder.join("pairs.bin"), slots)?)
}

/// The key of each pair that merges, and the token that it merges into.
///
/// A token's number is its rank, except that a single byte is its own number. So the program needs no
/// table from bytes to tokens.
fn pairs(vocabulary: &BytePairEncoding) -> Result<Vec<(u64, u32)>, Box<dyn Error>> {
    let count = u32::try_from(vocabulary.num_tokens())?;
    if count >> TOKEN_BITS != 0 {
        return Err(format!("{count} tokens do not fit in {TOKEN_BITS} bits").into());
    }
    let mut ranks = HashMap::new();
    for rank in 0..count {
        let bytes = vocabulary.token_bytes(rank);
        if (rank < BYTES) != (bytes.len() == 1) || bytes.len() > LONGEST {
            return Err(format!("token {rank} has {} bytes", bytes.len()).into());
        }
        let number = if rank < BYTES { u32::from(bytes[0]) } else { rank };
        ranks.insert(bytes, number);
    }
    let split = |rank| split(vocabulary.token_bytes(rank), rank, &ranks);
    (BYTES..count).map(|rank| Ok((split(rank)?, rank))).collect()
}

/// The pair that a token is merged from: what is left of its bytes after all merges of lower rank.
fn split(token: &[u8], rank: u32, ranks: &HashMap<&[u8], u32>) -> Result<u64, Box<dyn Error>> {
    // Where each part begins, and where the last one ends.
    let mut bounds: Vec<usize> = (0..=token.len()).collect();
    while bounds.len() > 3 {
        let merges = bounds.windows(3).enumerate().filter_map(|(at, bounds)| {
            let merged = ranks.get(&token[bounds[0]..bounds[2]])?;
            (*merged < rank).then_some((*merged, at))
        });
        let (_, at) = merges.min().ok_or_else(|| format!("no two tokens merge into {rank}"))?;
        bounds.remove(at + 1);
    }
    let [start, middle, end] = bounds[..] else {
        return Err(format!("token {rank} is not a pair").into());
    };
    Ok(place::key(ranks[&token[start..middle]], ranks[&token[middle..end]]))
}

/// Chooses the pilots, largest bucket first, and fills the slots.
fn arrange(pairs: &[(u64, u32)]) -> Result<(Vec<u8>, Vec<u64>), Box<dyn Error>> {
    let mut buckets: Vec<Vec<(u64, u32)>> = vec![Vec::new(); BUCKETS];
    for pair in pairs {
        buckets[place::bucket(pair.0)].push(*pair);
    }
    let mut order: Vec<usize> = (0..BUCKETS).collect();
    order.sort_by_key(|bucket| std::cmp::Reverse(buckets[*bucket].len()));
    let (mut pilots, mut slots) = (vec![0; BUCKETS], vec![EMPTY; SLOTS]);
    for bucket in order {
        let pairs = &buckets[bucket];
        let fits = |pilot: &u8| {
            let mut places: Vec<usize> =
                pairs.iter().map(|pair| place::slot(pair.0, *pilot)).collect();
            places.sort_unstable();
            places.is_sorted_by(|one, other| one < other)
                && places.iter().all(|place| slots[*place] == EMPTY)
        };
        let pilot = (0..=u8::MAX).find(fits).ok_or("a bucket fits nowhere")?;
        pilots[bucket] = pilot;
        for (key, merged) in pairs {
            slots[place::slot(*key, pilot)] = place::entry(*key, *merged);
        }
    }
    Ok((pilots, slots))
}

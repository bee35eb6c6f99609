//! Documents on a server: in pieces, each stored once for its session.
//!
//! Two versions of a document have most bytes in common, but not at the same place. So a document is cut where a
//! rolling sum over the last bytes says so: the same content is cut in the same places wherever it stands, and a
//! change makes one or two new pieces. A small document is one piece.

use std::collections::HashSet;

use osm_identity::SessionId;
use osm_postgres::{Connection, Row, Transaction, Type};
use sha2::{Digest, Sha256};

use super::{CHANNEL, Current, Stamp};
use crate::error::{Damage, Damaged, Error, Result};

const SMALLEST: usize = 8 << 10;
const LARGEST: usize = 128 << 10;
/// A cut is made where these bits of the sum are zero: every 32 KiB on average.
const MASK: u64 = (32 << 10) - 1;
/// The most bytes that are sent in one statement.
const BATCH: usize = 16 << 20;
/// A first line that is longer is not part of lists.
const LONGEST_SUMMARY: usize = 64 << 10;

pub(super) type Hash = [u8; 32];

/// The version of a document that has this revision and size.
pub(super) fn stamp(revision: i64, size: i64) -> Stamp {
    Stamp([revision.unsigned_abs(), size.unsigned_abs(), 0, 0])
}

/// What a session is looked at with; `$1` is its id, `$2` and `$3` are the revision and the size that are known.
const LOOK: &str =
    "SELECT revision, size, pieces, CASE WHEN revision = $2 AND size = $3 THEN NULL ELSE coalesce((
        SELECT string_agg(content, ''::bytea ORDER BY place)
        FROM unnest(pieces) WITH ORDINALITY AS wanted (hash, place)
        JOIN osm.piece ON piece.session = id AND piece.hash = wanted.hash), ''::bytea) END
    FROM osm.session WHERE id = $1";

fn known_numbers(known: Option<Stamp>) -> (i64, i64) {
    let number = |it: u64| i64::try_from(it).unwrap_or(-1);
    known.map_or((-1, -1), |Stamp([revision, size, ..])| (number(revision), number(size)))
}

/// Reads a document outside of a transaction.
pub(super) fn read(
    connection: &mut Connection,
    id: &SessionId,
    known: Option<Stamp>,
) -> Result<Current> {
    let (revision, size) = known_numbers(known);
    let parameters =
        [(&id.as_str() as _, Type::TEXT), (&revision as _, Type::INT8), (&size as _, Type::INT8)];
    found(id, connection.read(LOOK, &parameters)?.first()).map(|(current, _)| current)
}

/// Reads a document.
pub(super) fn look(
    transaction: &mut Transaction<'_>,
    id: &SessionId,
    known: Option<Stamp>,
) -> Result<Current> {
    look_with_pieces(transaction, id, known).map(|(current, _)| current)
}

/// Reads a document and the hashes of its pieces.
pub(super) fn look_with_pieces(
    transaction: &mut Transaction<'_>,
    id: &SessionId,
    known: Option<Stamp>,
) -> Result<(Current, Vec<Vec<u8>>)> {
    let (revision, size) = known_numbers(known);
    let parameters =
        [(&id.as_str() as _, Type::TEXT), (&revision as _, Type::INT8), (&size as _, Type::INT8)];
    found(id, transaction.query(LOOK, &parameters)?.first())
}

fn found(id: &SessionId, row: Option<&Row>) -> Result<(Current, Vec<Vec<u8>>)> {
    let Some(row) = row else { return Ok((Current::Missing, Vec::new())) };
    let (revision, size, pieces): (i64, i64, _) = (row.get(0), row.get(1), row.get(2));
    let current = match row.get::<_, Option<Vec<u8>>>(3) {
        None => Current::Unchanged,
        Some(bytes) if i64::try_from(bytes.len()) == Ok(size) => {
            Current::Found(bytes, stamp(revision, size))
        }
        Some(_) => {
            return Err(Error::Corrupt {
                what: Damaged::Session,
                place: format!("session {}", id.label()),
                reason: Damage::MissingPieces,
            });
        }
    };
    Ok((current, pieces))
}

/// Replaces a document, of which these pieces are stored already.
pub(super) fn replace(
    transaction: &mut Transaction<'_>,
    id: &SessionId,
    document: &[u8],
    stored: &[Vec<u8>],
) -> Result<Stamp> {
    let pieces: Vec<(Hash, &[u8])> =
        cut(document).map(|piece| (Sha256::digest(piece).into(), piece)).collect();
    let hashes: Vec<&[u8]> = pieces.iter().map(|(hash, _)| hash.as_slice()).collect();
    let size = i64::try_from(document.len()).unwrap_or(i64::MAX);
    let first = document.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let summary = Some(first).filter(|first| first.len() <= LONGEST_SUMMARY);
    let sql = "INSERT INTO osm.session (id, size, summary, pieces) VALUES ($1, $2, $3, $4)
        ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, size = excluded.size,
            summary = excluded.summary, modified_at = excluded.modified_at, pieces = excluded.pieces
        RETURNING revision, pg_notify($5, id)";
    let id = (&id.as_str() as _, Type::TEXT);
    let rows = transaction.query(
        sql,
        &[
            id.clone(),
            (&size, Type::INT8),
            (&summary, Type::BYTEA),
            (&hashes, Type::BYTEA_ARRAY),
            (&CHANNEL, Type::TEXT),
        ],
    )?;
    let revision = rows[0].get(0);

    let mut there: HashSet<&[u8]> = stored.iter().map(Vec::as_slice).collect();
    let obsolete: Vec<&[u8]> = {
        let wanted: HashSet<&[u8]> = hashes.iter().copied().collect();
        there.iter().copied().filter(|hash| !wanted.contains(hash)).collect()
    };
    let new: Vec<&(Hash, &[u8])> =
        pieces.iter().filter(|(hash, _)| there.insert(hash.as_slice())).collect();
    for batch in batches(&new) {
        let hashes: Vec<&[u8]> = batch.iter().map(|(hash, _)| hash.as_slice()).collect();
        let contents: Vec<&[u8]> = batch.iter().map(|(_, piece)| *piece).collect();
        let sql = "INSERT INTO osm.piece (session, hash, content)
            SELECT $1, hash, content FROM unnest($2, $3) AS new (hash, content)";
        let parameters =
            [id.clone(), (&hashes as _, Type::BYTEA_ARRAY), (&contents as _, Type::BYTEA_ARRAY)];
        transaction.execute(sql, &parameters)?;
    }
    if !obsolete.is_empty() {
        let sql = "DELETE FROM osm.piece WHERE session = $1 AND hash = ANY ($2)";
        transaction.execute(sql, &[id, (&obsolete, Type::BYTEA_ARRAY)])?;
    }
    Ok(stamp(revision, size))
}

/// Removes a session with its pieces.
pub(super) fn remove(transaction: &mut Transaction<'_>, id: &SessionId) -> Result<()> {
    let sql = "WITH gone AS (DELETE FROM osm.session WHERE id = $1 RETURNING id)
        SELECT pg_notify($2, id) FROM gone";
    transaction.query(sql, &[(&id.as_str(), Type::TEXT), (&CHANNEL, Type::TEXT)])?;
    Ok(())
}

fn batches<'a, 'b>(pieces: &'b [&'a (Hash, &'a [u8])]) -> Vec<&'b [&'a (Hash, &'a [u8])]> {
    let (mut batches, mut begin, mut size) = (Vec::new(), 0, 0);
    for (at, (_, piece)) in pieces.iter().enumerate() {
        if size + piece.len() > BATCH && at > begin {
            batches.push(&pieces[begin..at]);
            (begin, size) = (at, 0);
        }
        size += piece.len();
    }
    if begin < pieces.len() {
        batches.push(&pieces[begin..]);
    }
    batches
}

/// Cuts a document; an empty one has no pieces.
fn cut(document: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = document;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at(end_of_piece(rest));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Where the first piece of some bytes ends. The sum forgets a byte after 64 others: each shifts it out by one bit.
fn end_of_piece(bytes: &[u8]) -> usize {
    let most = bytes.len().min(LARGEST);
    let mut sum: u64 = 0;
    for (at, byte) in bytes[..most].iter().enumerate().skip(SMALLEST) {
        sum = (sum << 1).wrapping_add(RANDOM[usize::from(*byte)]);
        // The upper bits: they depend on all of the last 64 bytes.
        if (sum >> 49) & MASK == 0 {
            return at + 1;
        }
    }
    most
}

/// A random number for each byte, made by a small generator. To change it would make every piece new.
static RANDOM: [u64; 256] = {
    let mut table = [0; 256];
    let mut state: u64 = 0x6f73_6d2d_7069_6563;
    let mut at = 0;
    while at < 256 {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        table[at] = mixed ^ (mixed >> 31);
        at += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that do not repeat.
    fn noise(size: usize) -> Vec<u8> {
        let numbers = (0..=size as u64 / 8).map(|at| Sha256::digest(at.to_le_bytes()));
        numbers.flat_map(|hash| hash[..8].to_vec()).take(size).collect()
    }

    #[test]
    fn pieces_are_the_document() {
        for size in [0, 1, SMALLEST, SMALLEST + 1, LARGEST, 3 * LARGEST, 1_000_000] {
            for document in [noise(size), vec![b'x'; size]] {
                let pieces: Vec<&[u8]> = cut(&document).collect();
                assert_eq!(pieces.concat(), document);
                assert!(pieces.iter().all(|piece| piece.len() <= LARGEST && !piece.is_empty()));
                let whole = pieces.len().saturating_sub(1);
                assert!(pieces[..whole].iter().all(|piece| piece.len() > SMALLEST));
            }
        }
    }

    #[test]
    fn a_change_makes_few_new_pieces() {
        let old = noise(4_000_000);
        let mut new = b"a longer head".to_vec();
        new.extend_from_slice(&old);
        new.splice(2_000_000..2_000_001, *b"several");
        let before: HashSet<&[u8]> = cut(&old).collect();
        assert!((60..250).contains(&before.len()), "{}", before.len());
        let fresh = cut(&new).filter(|piece| !before.contains(piece)).count();
        assert!((2..8).contains(&fresh), "{fresh}");
    }
}

//! A document in pieces: what is new, and what stands in the document that was read.
//!
//! A save changes little of a session. To copy all of it once more, only to have it in one place,
//! would cost about as much as to write it; so what did not change is pointed at, and a file takes
//! the pieces as they are.

use std::io::{self, IoSlice, Write};
use std::ops::Range;
use std::sync::Arc;

/// The bytes of a document, in order.
#[derive(Clone, Debug, Default)]
pub struct Pieces(Vec<Piece>);

#[derive(Clone, Debug)]
enum Piece {
    New(Vec<u8>),
    Shared(Arc<Vec<u8>>, Range<usize>),
}

impl Piece {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::New(bytes) => bytes,
            Self::Shared(whole, range) => &whole[range.clone()],
        }
    }
}

impl Pieces {
    /// Adds a copy of some bytes.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        match self.0.last_mut() {
            Some(Piece::New(last)) => last.extend_from_slice(bytes),
            _ => self.0.push(Piece::New(bytes.to_vec())),
        }
    }

    /// Adds bytes that stand elsewhere; what stands side by side there is one piece.
    pub(crate) fn share(&mut self, whole: &Arc<Vec<u8>>, range: Range<usize>) {
        match self.0.last_mut() {
            Some(Piece::Shared(last, so_far))
                if Arc::ptr_eq(last, whole) && so_far.end == range.start =>
            {
                so_far.end = range.end;
            }
            _ => self.0.push(Piece::Shared(Arc::clone(whole), range)),
        }
    }

    /// Adds all pieces of another document.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// How many bytes there are.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.0.iter().map(|piece| piece.bytes().len() as u64).sum()
    }

    /// Writes all of them.
    pub fn write_to(&self, file: &mut impl Write) -> io::Result<()> {
        let mut slices: Vec<IoSlice> =
            self.0.iter().map(|piece| IoSlice::new(piece.bytes())).collect();
        let mut left = slices.as_mut_slice();
        // Writing nothing is no progress, so what is empty is passed over first.
        IoSlice::advance_slices(&mut left, 0);
        while !left.is_empty() {
            match file.write_vectored(left) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => IoSlice::advance_slices(&mut left, written),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// All of them in one place.
    #[must_use]
    pub fn join(mut self) -> Vec<u8> {
        match self.0.as_mut_slice() {
            [Piece::New(bytes)] => std::mem::take(bytes),
            pieces => pieces.iter().map(Piece::bytes).collect::<Vec<_>>().concat(),
        }
    }
}

impl From<Vec<u8>> for Pieces {
    fn from(bytes: Vec<u8>) -> Self {
        Self(vec![Piece::New(bytes)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a few bytes at a time, and is interrupted every time.
    struct Slow(Vec<u8>, bool);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let some = bytes.len().min(3);
            self.0.extend_from_slice(&bytes[..some]);
            Ok(some)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn all_bytes_in_order_however_they_are_written() {
        let (one, other) = (Arc::new(b"0123456789".to_vec()), Arc::new(b"0123456789".to_vec()));
        let mut pieces = Pieces::default();
        pieces.add(b"");
        pieces.add(b"head ");
        pieces.add(b"more ");
        pieces.share(&one, 2..5);
        pieces.share(&one, 5..7);
        pieces.share(&other, 7..9);
        pieces.share(&other, 0..0);
        pieces.add(b" end");
        assert_eq!(pieces.0.len(), 5, "neighbours are one piece");
        let whole = b"head more 2345678 end";
        let mut slow = Slow(Vec::new(), false);
        pieces.write_to(&mut slow).expect("memory takes all");
        assert_eq!(slow.0, whole);
        assert_eq!(pieces.size(), whole.len() as u64);
        assert_eq!(pieces.join(), whole);
    }

    #[test]
    fn nothing_is_written_without_end() {
        let none = Pieces::from(Vec::new());
        none.write_to(&mut Slow(Vec::new(), false)).expect("there is nothing to write");
        let full = &mut [0_u8; 4][..];
        let refused = Pieces::from(b"too long".to_vec()).write_to(&mut &mut *full);
        assert_eq!(refused.expect_err("it does not fit").kind(), io::ErrorKind::WriteZero);
    }
}

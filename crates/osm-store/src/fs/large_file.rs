//! Large files: one thread copies while another one waits for the disk.
//!
//! A document of twenty megabytes is read and written within some milliseconds, of which a good part
//! is copying. So two threads copy what is read, and the disk is given the beginning of a file while
//! the rest is being written. A short file is not worth a thread.

use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::sync::mpsc;
use std::thread;

use crate::pieces::Pieces;

/// From how many bytes on a file is long.
pub(super) const LONG: u64 = 8 << 20;

/// How much is written before the disk is given it.
const STRIDE: usize = 4 << 20;

/// Reads a long file; `None` if it is not of that size any more.
///
/// `read_at` reads once, from a place on.
pub(super) fn read(
    size: u64,
    read_at: impl Fn(&mut [u8], u64) -> io::Result<usize> + Sync,
) -> io::Result<Option<Vec<u8>>> {
    let size = usize::try_from(size).map_err(|_| io::ErrorKind::FileTooLarge)?;
    // Memory that cannot be had is an error, not the end of the program. It is given back at once,
    // since only memory that comes as zeros costs nothing to fill.
    Vec::<u8>::new().try_reserve_exact(size).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut bytes = vec![0; size];
    let middle = size / 2;
    let (head, tail) = bytes.split_at_mut(middle);
    let whole = thread::scope(|scope| {
        let Ok(other) = thread::Builder::new().spawn_scoped(scope, || fill(head, 0, &read_at))
        else {
            return Ok(None);
        };
        let tail = fill(tail, middle as u64, &read_at)?;
        let head = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        io::Result::Ok(Some(head && tail))
    })?;
    // Without a second thread, this one reads both halves.
    let whole = whole.map_or_else(|| fill(&mut bytes, 0, &read_at), Ok)?;
    let ends = whole && read_at(&mut [0], size as u64)? == 0;
    Ok(ends.then_some(bytes))
}

/// Fills a buffer from a place on; `false` if the file ends before.
fn fill(
    mut bytes: &mut [u8],
    mut place: u64,
    read_at: &impl Fn(&mut [u8], u64) -> io::Result<usize>,
) -> io::Result<bool> {
    while !bytes.is_empty() {
        match read_at(bytes, place) {
            Ok(0) => return Ok(false),
            Ok(count) => {
                bytes = &mut bytes[count..];
                place += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// Writes all pieces. The sync that counts is the caller's, and has less left to do.
pub(super) fn write(pieces: &Pieces, mut file: &File) -> io::Result<()> {
    if pieces.size() < LONG {
        return pieces.write_to(&mut file);
    }
    thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        // Whether this succeeds is of no interest, nor whether there is a thread to be had.
        let early = move || while told.recv().is_ok_and(|()| file.sync_data().is_ok()) {};
        let _begun = thread::Builder::new().spawn_scoped(scope, early);
        pieces.write_to(&mut Told { file, tell, untold: 0 })
    })
}

/// A file whose writer tells when there is something for the disk to do.
struct Told<'a> {
    file: &'a File,
    tell: mpsc::Sender<()>,
    untold: usize,
}

impl Told<'_> {
    fn wrote(&mut self, written: usize) -> usize {
        self.untold += written;
        if self.untold >= STRIDE {
            self.untold = 0;
            // There is no receiver if no thread could be started.
            let _told = self.tell.send(());
        }
        written
    }
}

impl Write for Told<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(&bytes[..bytes.len().min(STRIDE)])?;
        Ok(self.wrote(written))
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut size = 0;
        let fits = |slice: &&IoSlice| {
            size += slice.len();
            size <= STRIDE
        };
        match slices.iter().take_while(fits).count() {
            0 => slices.first().map_or(Ok(0), |first| self.write(first)),
            count => {
                let written = self.file.write_vectored(&slices[..count])?;
                Ok(self.wrote(written))
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    /// Bytes of which no two stretches are alike.
    fn sample(size: u64) -> Vec<u8> {
        (0..size).map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[2]).collect()
    }

    /// Gives a few bytes at a time.
    fn reader(file: &[u8]) -> impl Fn(&mut [u8], u64) -> io::Result<usize> + Sync {
        move |bytes, place| {
            let rest = file.get(usize::try_from(place).unwrap()..).unwrap_or_default();
            let some = rest.len().min(bytes.len()).min(1 << 20);
            bytes[..some].copy_from_slice(&rest[..some]);
            Ok(some)
        }
    }

    #[test]
    fn a_long_file_is_read_whole_or_not_at_all() {
        let file = sample(LONG + 3);
        let size = file.len() as u64;
        assert_eq!(read(size, reader(&file)).unwrap(), Some(file.clone()));
        assert_eq!(read(size - 1, reader(&file)).unwrap(), None, "it grew");
        assert_eq!(read(size + 1, reader(&file)).unwrap(), None, "it shrank");
        let broken = |_: &mut [u8], _| Err(io::ErrorKind::BrokenPipe.into());
        assert_eq!(read(size, broken).unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn all_pieces_are_written_in_order() {
        let whole = sample(3 * LONG);
        let shared = std::sync::Arc::new(whole.clone());
        let mut pieces = Pieces::default();
        for (count, start) in (0..whole.len()).step_by(STRIDE / 2 + 7).enumerate() {
            let range = start..whole.len().min(start + STRIDE / 2 + 7);
            if count % 2 == 0 {
                pieces.share(&shared, range);
            } else {
                pieces.add(&whole[range]);
            }
        }
        let mut file = tempfile::tempfile().unwrap();
        write(&pieces, &file).unwrap();
        let mut read = Vec::new();
        io::Seek::rewind(&mut file).unwrap();
        file.read_to_end(&mut read).unwrap();
        assert!(read == whole);
    }
}

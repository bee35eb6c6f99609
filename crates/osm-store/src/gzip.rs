//! Compression of archives, bounded in both directions.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

/// Packs. Speed counts more than the last percent: a cleanup packs thousands.
pub(crate) fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
    encoder
        .write_all(bytes)
        .and_then(|()| encoder.finish())
        .expect("writing to memory does not fail")
}

/// Unpacks at most `most` bytes; more is an error, for a few packed bytes can stand for a disk full
/// of zeros.
pub(crate) fn unpack(packed: &[u8], most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    MultiGzDecoder::new(packed).take(most + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > most {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("more than {most} bytes when unpacked"),
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_back_whole_or_not_at_all() {
        let text = b"{\"a\":1}\n".repeat(1000);
        let packed = pack(&text);
        assert!(packed.len() < text.len() / 10);
        assert_eq!(unpack(&packed, 8000).expect("it fits"), text);
        assert!(unpack(&packed, 7999).is_err(), "too much");
        assert!(unpack(&packed[..packed.len() - 1], 8000).is_err(), "torn");
        assert!(unpack(b"no gzip", 8000).is_err());
        assert_eq!(unpack(&pack(b""), 0).expect("nothing is something"), b"");
    }
}

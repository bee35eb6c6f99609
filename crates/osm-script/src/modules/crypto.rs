//! `osm:crypto`: digests and authentication codes, as hexadecimal text.
//!
//! SHA-1 and MD5 are for checksums of other tools; they protect nothing.

use hmac::digest::Digest;
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use serde_json::{Value, json};
use sha1::Sha1;
use sha2::Sha256;

use super::{Arguments, Native};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("sha256", |_, it| Ok(digest::<Sha256>(&bytes(it, 0)?))),
    ("sha1", |_, it| Ok(digest::<Sha1>(&bytes(it, 0)?))),
    ("md5", |_, it| Ok(digest::<Md5>(&bytes(it, 0)?))),
    ("hmacSHA256", |_, it| Ok(hmac::<Hmac<Sha256>>(&bytes(it, 0)?, &bytes(it, 1)?))),
    ("hmacSHA1", |_, it| Ok(hmac::<Hmac<Sha1>>(&bytes(it, 0)?, &bytes(it, 1)?))),
];

/// A text in UTF-8, or bytes as `{ hex }`.
fn bytes(arguments: &Arguments, place: usize) -> Result<Vec<u8>, String> {
    let value = arguments.value(place);
    let bytes = match (value, value["hex"].as_str()) {
        (Value::String(text), _) => Some(text.as_bytes().to_vec()),
        (_, Some(hex)) => hex::decode(hex).ok(),
        _ => None,
    };
    bytes.ok_or_else(|| arguments.wrong(place, "text or bytes"))
}

fn digest<D: Digest>(bytes: &[u8]) -> Value {
    json!(hex::encode(D::digest(bytes)))
}

fn hmac<M: Mac + KeyInit>(key: &[u8], text: &[u8]) -> Value {
    let mut mac = <M as KeyInit>::new_from_slice(key).expect("HMAC takes a key of any length");
    mac.update(text);
    json!(hex::encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231 and RFC 2202, test cases 2; keys that are longer than a block; RFC 1321; FIPS 180.
    #[test]
    fn known_answers() {
        let (key, text) = (b"Jefe", b"what do ya want for nothing?");
        assert_eq!(
            hmac::<Hmac<Sha256>>(key, text),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(hmac::<Hmac<Sha1>>(key, text), "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
        assert_eq!(
            hmac::<Hmac<Sha256>>(&[b'k'; 131], b"longer than a block"),
            "efef64cd4cb084b87adcca8ac75922f47fa480615003556fa435513f3593a9f8"
        );
        assert_eq!(digest::<Md5>(b"abc"), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(digest::<Sha1>(b"abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert_eq!(
            digest::<Sha256>(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}

//! `osm:encoding`: base64 and hexadecimal, of text.

use serde_json::json;

use super::{Arguments, Native};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("base64Encode", |_, it| Ok(json!(base64(it.text(0)?.as_bytes(), STANDARD, true)))),
    ("base64Decode", |_, it| Ok(json!(text(it, from_base64(it.text(0)?, STANDARD))?))),
    ("base64URLEncode", |_, it| Ok(json!(base64(it.text(0)?.as_bytes(), FOR_URLS, false)))),
    ("base64URLDecode", |_, it| Ok(json!(text(it, from_base64(it.text(0)?, FOR_URLS))?))),
    ("hexEncode", |_, it| Ok(json!(hex(it.text(0)?.as_bytes())))),
    ("hexDecode", |_, it| Ok(json!(text(it, from_hex(it.text(0)?))?))),
];

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const FOR_URLS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// What was decoded, if it is text.
fn text(arguments: &Arguments, bytes: Option<Vec<u8>>) -> Result<String, String> {
    let bytes = bytes.ok_or_else(|| arguments.wrong(0, "well-formed"))?;
    String::from_utf8(bytes).map_err(|_| arguments.wrong(0, "the encoding of a text"))
}

/// RFC 4648.
pub(crate) fn base64(bytes: &[u8], alphabet: &[u8; 64], padded: bool) -> String {
    let mut encoded = String::new();
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte));
        let group = group << (8 * (3 - chunk.len()));
        for place in 0..4 {
            if place <= chunk.len() {
                let digit = (group >> (18 - 6 * place)) & 63;
                encoded.push(char::from(alphabet[digit as usize]));
            } else if padded {
                encoded.push('=');
            }
        }
    }
    encoded
}

fn from_base64(text: &str, alphabet: &[u8; 64]) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    if digits.len() % 4 == 1 || text.len() - digits.len() > 2 {
        return None;
    }
    let mut bytes = Vec::new();
    for chunk in digits.chunks(4) {
        let mut group = 0_u32;
        for digit in chunk {
            let value = alphabet.iter().position(|it| it == digit)?;
            group = group << 6 | u32::try_from(value).ok()?;
        }
        group <<= 6 * (4 - chunk.len());
        bytes.extend(&group.to_be_bytes()[1..chunk.len()]);
    }
    Some(bytes)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    let value = |digit: u8| char::from(digit).to_digit(16);
    text.as_bytes()
        .chunks(2)
        .map(|pair| u8::try_from(value(pair[0])? << 4 | value(pair[1])?).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        for (text, encoded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(text.as_bytes(), STANDARD, true), encoded);
            assert_eq!(from_base64(encoded, STANDARD), Some(text.into()), "{encoded}");
        }
        assert_eq!(base64(&[0xfb, 0xff], FOR_URLS, false), "-_8");
        for text in ["A", "A===", "Zm9*", "-_8"] {
            assert_eq!(from_base64(text, STANDARD), None, "{text}");
        }
        assert_eq!(from_hex(&hex(b"\x00\xff ok")), Some(b"\x00\xff ok".to_vec()));
        assert_eq!((from_hex("0"), from_hex("0g"), from_hex("ü")), (None, None, None));
    }
}

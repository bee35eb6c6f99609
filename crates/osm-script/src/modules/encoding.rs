//! `osm:encoding`: base64 and hexadecimal encoding of text.

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::json;

use super::{Arguments, Native};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("base64Encode", |_, it| Ok(json!(BASE64.encode(it.text(0)?)))),
    ("base64Decode", |_, it| Ok(json!(text(it, BASE64.decode(it.text(0)?).ok())?))),
    ("base64URLEncode", |_, it| Ok(json!(BASE64_URL.encode(it.text(0)?)))),
    ("base64URLDecode", |_, it| Ok(json!(text(it, BASE64_URL.decode(it.text(0)?).ok())?))),
    ("hexEncode", |_, it| Ok(json!(hex::encode(it.text(0)?)))),
    ("hexDecode", |_, it| Ok(json!(text(it, hex::decode(it.text(0)?).ok())?))),
];

/// Decoding accepts text with or without padding, because scripts get both.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const BASE64: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
const BASE64_URL: GeneralPurpose =
    GeneralPurpose::new(&URL_SAFE, LENIENT.with_encode_padding(false));

/// The decoded bytes as text.
fn text(arguments: &Arguments, bytes: Option<Vec<u8>>) -> Result<String, String> {
    let bytes = bytes.ok_or_else(|| arguments.wrong(0, "well-formed"))?;
    String::from_utf8(bytes).map_err(|_| arguments.wrong(0, "the encoding of a text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_accepted() {
        for (text, encoded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foobar", "Zm9vYmFy")] {
            assert_eq!(BASE64.encode(text), encoded);
            assert_eq!(BASE64.decode(encoded).as_deref(), Ok(text.as_bytes()));
            let bare = encoded.trim_end_matches('=');
            assert_eq!(BASE64.decode(bare).as_deref(), Ok(text.as_bytes()), "without padding");
        }
        assert_eq!(BASE64_URL.encode([0xfb, 0xff]), "-_8");
        assert_eq!(BASE64_URL.decode("-_8=").as_deref(), Ok(&[0xfb, 0xff][..]), "with padding");
        for text in ["A", "A===", "Zm9*", "-_8"] {
            assert!(BASE64.decode(text).is_err(), "{text}");
        }
    }
}

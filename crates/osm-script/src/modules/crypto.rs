//! `osm:crypto`: SHA-256 and HMAC-SHA256, as hexadecimal text.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::Native;

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("sha256", |_, arguments| Ok(json!(hex::encode(Sha256::digest(arguments.text(0)?))))),
    ("hmacSHA256", |_, arguments| Ok(json!(hmac(arguments.text(0)?, arguments.text(1)?)))),
];

fn hmac(key: &str, text: &str) -> String {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("HMAC takes a key of any length");
    mac.update(text.as_bytes());
    hex::encode(mac.finalize().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test case 2; and a key that is longer than a block.
    #[test]
    fn known_answers() {
        assert_eq!(
            hmac("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            hmac(&"k".repeat(131), "longer than a block"),
            "efef64cd4cb084b87adcca8ac75922f47fa480615003556fa435513f3593a9f8"
        );
    }
}

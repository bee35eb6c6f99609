//! `osm:crypto`: digests, in hexadecimal.

use serde_json::json;
use sha2::{Digest, Sha256};

use super::Native;
use super::encoding::hex;

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("sha256", |_, arguments| Ok(json!(hex(&Sha256::digest(arguments.text(0)?))))),
    ("hmacSHA256", |_, arguments| {
        let (key, text) = (arguments.text(0)?, arguments.text(1)?);
        Ok(json!(hex(&hmac(key.as_bytes(), text.as_bytes()))))
    }),
];

/// RFC 2104.
fn hmac(key: &[u8], text: &[u8]) -> Vec<u8> {
    let mut block = [0; 64];
    let digest = Sha256::digest(key);
    let key = if key.len() > block.len() { digest.as_slice() } else { key };
    block[..key.len()].copy_from_slice(key);
    let padded = |with: u8| block.map(|byte| byte ^ with);
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(text).finalize();
    Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        assert_eq!(
            hex(&hmac(b"Jefe", b"what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            hex(&hmac(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }
}

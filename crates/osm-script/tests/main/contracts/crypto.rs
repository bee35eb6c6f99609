//! `osm:crypto`.

use serde_json::json;

use super::check;
use crate::harness::Stage;

#[test]
fn crypto_contract() {
    check(
        &Stage::new(),
        "osm:crypto",
        &[
            ("Object.keys(it).sort()", json!(["hmacSHA1", "hmacSHA256", "md5", "sha1", "sha256"])),
            (
                "it.sha256('abc')",
                json!("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            ),
            ("it.sha1('abc')", json!("a9993e364706816aba3e25717850c26c9cd0d89d")),
            ("it.md5('héllo')", json!("be50e8478cf24ff3595bc7307fb91b50")),
            (
                "[it.md5(), it.md5(null), it.md5('')]",
                json!(vec!["d41d8cd98f00b204e9800998ecf8427e"; 3]),
            ),
            (
                "it.hmacSHA1('Jefe', 'what do ya want for nothing?')",
                json!("effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
            ),
            (
                "it.hmacSHA256([74, 101, 102, 101], new Uint8Array([...'what do ya want for nothing?'].map((x) => x.charCodeAt(0))))",
                json!("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
            ),
            (
                "const bytes = new Uint8Array([0, 97, 98, 99, 255]); [it.sha1(bytes.subarray(1, 4)), it.sha1(bytes.buffer.slice(1, 4))].map((x) => x === it.sha1('abc'))",
                json!([true, true]),
            ),
            ("it.md5(new Uint8Array([255]))", json!("00594fd4f42ba43fc1ca0427a0576295")),
            ("it.md5(5) === it.md5('5')", json!(true)),
        ],
    );
}

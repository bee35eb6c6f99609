//! `TextEncoder` and `TextDecoder`.

use serde_json::json;

use super::{check, refuse};
use crate::harness::Stage;

#[test]
fn text_encoder() {
    let stage = Stage::new();
    check(
        &stage,
        &[
            (
                "const it = new TextEncoder(); [it.encoding, [...it.encode('aé€😀')], it.encode().length, [...it.encode('\\ud800x')]]",
                json!([
                    "utf-8",
                    [97, 195, 169, 226, 130, 172, 240, 159, 152, 128],
                    0,
                    [239, 191, 189, 120]
                ]),
            ),
            ("new TextEncoder().encode('x') instanceof Uint8Array", json!(true)),
            (
                "const to = new Uint8Array(6); [new TextEncoder().encodeInto('a€😀', to), [...to]]",
                json!([{ "read": 2, "written": 4 }, [97, 226, 130, 172, 0, 0]]),
            ),
            (
                "const to = new Uint8Array(4); [new TextEncoder().encodeInto('😀b', to), [...to]]",
                json!([{ "read": 2, "written": 4 }, [240, 159, 152, 128]]),
            ),
            ("String(new TextEncoder())", json!("[object TextEncoder]")),
        ],
    );
    refuse(&stage, &[("new TextEncoder().encodeInto('a', [])", "TypeError")]);
}

#[test]
fn text_decoder() {
    let stage = Stage::new();
    let bytes = |source: &str| format!("new TextDecoder().decode(new Uint8Array([{source}]))");
    check(
        &stage,
        &[
            (&bytes("97, 195, 169, 226, 130, 172, 240, 159, 152, 128"), json!("aé€😀")),
            (&bytes("97, 255, 98, 226, 130"), json!("a\u{fffd}b\u{fffd}")),
            (&bytes("237, 160, 128"), json!("\u{fffd}\u{fffd}\u{fffd}")),
            (&bytes("239, 187, 191, 97"), json!("a")),
            (&bytes("0, 127, 92"), json!("\u{0}\u{7f}\\")),
            (
                "new TextDecoder('UTF8', { ignoreBOM: true }).decode(new Uint8Array([239, 187, 191, 97]))",
                json!("\u{feff}a"),
            ),
            ("new TextDecoder().decode()", json!("")),
            (
                "const b = new Uint8Array([0, 97, 98, 0]); const it = new TextDecoder(); [it.decode(b.subarray(1, 3)), it.decode(new DataView(b.buffer, 1, 1)), it.decode(b.buffer)]",
                json!(["ab", "a", "\u{0}ab\u{0}"]),
            ),
            (
                "const it = new TextDecoder(); const part = (...x) => it.decode(new Uint8Array(x), { stream: true }); [part(239, 187), part(191, 240, 159), part(152), part(128, 226), it.decode()]",
                json!(["", "", "", "😀", "\u{fffd}"]),
            ),
            (
                "const it = new TextDecoder(); it.decode(new Uint8Array([97]), { stream: true }); [it.decode(new Uint8Array([239, 187, 191])), it.decode(new Uint8Array([239, 187, 191]))]",
                json!(["\u{feff}", ""]),
            ),
            (
                "const it = new TextDecoder('utf-8', { fatal: true }); [it.fatal, it.ignoreBOM, it.encoding, it.decode(new Uint8Array([97]))]",
                json!([true, false, "utf-8", "a"]),
            ),
            (
                "const it = new TextDecoder('utf-8', { fatal: true }); try { it.decode(new Uint8Array([226]), { stream: true }); it.decode(new Uint8Array([97])); } catch {} it.decode(new Uint8Array([98]))",
                json!("b"),
            ),
            (
                "new TextDecoder().decode(new TextEncoder().encode('x€'.repeat(50_000))) === 'x€'.repeat(50_000)",
                json!(true),
            ),
        ],
    );
    refuse(
        &stage,
        &[
            ("new TextDecoder('latin1')", "RangeError"),
            ("new TextDecoder().decode('text')", "TypeError"),
            (
                "new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255]))",
                "TypeError",
            ),
            (
                "new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([226, 130]))",
                "TypeError",
            ),
        ],
    );
}

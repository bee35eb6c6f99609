//! `osm:flag`.

use serde_json::{Value, json};

use super::{check, refuse};
use crate::harness::Stage;

#[test]
fn flag_values() {
    let parsed = |words: &str| {
        format!(
        "const f = it.newFlagSet('t').string('s', 'd', 'text').int('i', 7).bool('b', false).float64('f', 1.5);
         const {{ error }} = f.parse({words}); [f.get('s'), f.get('i'), f.get('b'), f.get('f'), f.args(), f.nFlag(), error]"
    )
    };
    let rows: Vec<(String, Value)> = [
        ("[]", json!(["d", 7, false, 1.5, [], 0, null])),
        ("['-s', 'x', '--i=3', '-b', '-f', '2']", json!(["x", 3, true, 2, [], 4, null])),
        ("['-b', 'rest', '-i', '3']", json!(["d", 7, true, 1.5, ["rest", "-i", "3"], 1, null])),
        ("['-b=false', '--', '-s']", json!(["d", 7, false, 1.5, ["-s"], 1, null])),
        ("['-', '-b']", json!(["d", 7, false, 1.5, ["-", "-b"], 0, null])),
        ("['-s=', '-s', '-b']", json!(["-b", 7, false, 1.5, [], 1, null])),
        ("['-s=a=b\\nc']", json!(["a=b\nc", 7, false, 1.5, [], 1, null])),
        (
            "['-i', '0x1F', '-i', '-0b11', '-i=0o17', '-i', '017', '-i', '1_000']",
            json!(["d", 1000, false, 1.5, [], 1, null]),
        ),
        ("['-i=017']", json!(["d", 15, false, 1.5, [], 1, null])),
        ("['-f', '-1_0.5e1']", json!(["d", 7, false, -105, [], 1, null])),
        ("['-b=T']", json!(["d", 7, true, 1.5, [], 1, null])),
        (
            "['-zzz', 'x']",
            json!(["d", 7, false, 1.5, ["x"], 0, "flag provided but not defined: -zzz"]),
        ),
        ("['-h']", json!(["d", 7, false, 1.5, [], 0, "flag: help requested"])),
        ("['--help', 'x']", json!(["d", 7, false, 1.5, ["x"], 0, "flag: help requested"])),
        ("['-i']", json!(["d", 7, false, 1.5, [], 0, "flag needs an argument: -i"])),
        (
            "['-s', 'x', '-i', 'y', 'z']",
            json!(["x", 7, false, 1.5, ["z"], 1, "invalid value \"y\" for flag -i: parse error"]),
        ),
        (
            "['-i=9223372036854775808']",
            json!([
                "d",
                7,
                false,
                1.5,
                [],
                0,
                "invalid value \"9223372036854775808\" for flag -i: value out of range"
            ]),
        ),
        (
            "['-i=08']",
            json!(["d", 7, false, 1.5, [], 0, "invalid value \"08\" for flag -i: parse error"]),
        ),
        (
            "['-f=1e999']",
            json!([
                "d",
                7,
                false,
                1.5,
                [],
                0,
                "invalid value \"1e999\" for flag -f: value out of range"
            ]),
        ),
        (
            "['-b=yes']",
            json!(["d", 7, false, 1.5, [], 0, "invalid boolean value \"yes\" for -b: parse error"]),
        ),
        ("['---b']", json!(["d", 7, false, 1.5, ["---b"], 0, "bad flag syntax: ---b"])),
        ("['-=b', 'x']", json!(["d", 7, false, 1.5, ["-=b", "x"], 0, "bad flag syntax: -=b"])),
    ]
    .into_iter()
    .map(|(words, expected)| (parsed(words), expected))
    .collect();
    let rows: Vec<(&str, Value)> =
        rows.iter().map(|(it, value)| (it.as_str(), value.clone())).collect();
    check(&Stage::new(), "osm:flag", &rows);
}

#[test]
fn flag_sets() {
    let stage = Stage::new();
    check(
        &stage,
        "osm:flag",
        &[
            ("const f = it.newFlagSet(); f.string('a') === f && f.int('b') === f && f.bool('c') === f && f.float64('d') === f", json!(true)),
            ("const f = it.newFlagSet().string('s').int('i').bool('b').float64('f'); ['s', 'i', 'b', 'f'].map(f.get)", json!(["", 0, false, 0])),
            ("const f = it.newFlagSet().int('i', '12.9').bool('b', 1).string('s', 5); ['i', 'b', 's'].map(f.get)", json!([12, true, "5"])),
            ("typeof it.newFlagSet().get('none')", json!("undefined")),
            ("it.newFlagSet().lookup('none')", json!(null)),
            (
                "const f = it.newFlagSet().int('i', 3, 'how many'); f.parse(['-i', '4']); f.lookup('i')",
                json!({ "name": "i", "usage": "how many", "defValue": "3", "value": "4" }),
            ),
            (
                "const f = it.newFlagSet(); [0, 0.5, 100000, 1e6, 1e-5, -2.5e30].map((x, i) => f.float64('f' + i, x).lookup('f' + i).value)",
                json!(["0", "0.5", "100000", "1e+06", "1e-05", "-2.5e+30"]),
            ),
            ("const f = it.newFlagSet().float64('f'); f.parse(['-f', '-INF']); [f.lookup('f').value, f.nArg()]", json!(["-Inf", 0])),
            (
                "it.newFlagSet().string('out', 'a.txt', 'write to `FILE`').bool('v', false, 'talk').int('count', 0, 'how many\\ntimes').float64('ratio', 1.5, 'r').string('s', '', 'text').defaults()",
                json!("  -count int\n    \thow many\n    \ttimes\n  -out FILE\n    \twrite to FILE (default \"a.txt\")\n  -ratio float\n    \tr (default 1.5)\n  -s string\n    \ttext\n  -v\ttalk\n"),
            ),
            (
                "const f = it.newFlagSet().bool('z').bool('a').bool('m'); f.parse(['-z', '-a']);
                 const [set, all] = [[], []]; f.visit((x) => set.push(x.name + x.value)); f.visitAll((x) => all.push(x.name + x.value)); [set, all]",
                json!([["atrue", "ztrue"], ["atrue", "mfalse", "ztrue"]]),
            ),
        ],
    );
    refuse(
        &stage,
        "osm:flag",
        &[
            ("it.newFlagSet('t').int('a').bool('a')", "Error", "t flag redefined: a"),
            ("it.newFlagSet().int('-a')", "Error", "flag \"-a\" begins with -"),
            ("it.newFlagSet().int('a=b')", "Error", "flag \"a=b\" contains ="),
            (
                "it.newFlagSet().parse('-a')",
                "TypeError",
                "parse: argument 1 must be an array of strings",
            ),
            ("it.newFlagSet().visit()", "TypeError", "visit: argument 1 must be a function"),
        ],
    );
}

//! Templates that a stranger wrote: each gives a text or an error that names the template, within its
//! limits.
//!
//! A template that is stopped for its memory keeps it until the process ends, as its thread cannot be
//! ended. So numbers have one digit here, and nothing grows in a loop; `a_template_that_grows_is_stopped`
//! tests the limits themselves.

#![no_main]

use libfuzzer_sys::fuzz_target;
use osm_script::template::{check, render, too_deep};
use serde_json::json;

/// Templates with a place for anything.
const FRAMES: &[&str] = &[
    "@",
    "{{ @ }}",
    "{% @ %}",
    "{{ text | @ }}",
    "{{ list | @ }}{{ map | @ }}",
    "{% for it in @ %}{{ it }}{% endfor %}",
    "{% if @ %}a{% else %}b{% endif %}",
    "{% set x %}@{% endset %}{{ x }}",
    "{% macro m(a) %}@{% endmacro %}{{ m(text) }}",
    "{# @ #}{% raw %}@{% endraw %}{{ map.@ }}",
];

fuzz_target!(|input: (u8, &str)| {
    let (choice, text) = input;
    // Powers and long products are large with one digit, too, and so are numbers like 9e9: a list that
    // is repeated a million times is written for longer than a run may take.
    let is_large = |pair: &[u8]| pair[0].is_ascii_digit() && pair[1].eq_ignore_ascii_case(&b'e');
    let grows = text.matches('*').count() > 4 || text.as_bytes().windows(2).any(is_large);
    if text.len() > 512 || text.contains("namespace") || text.contains("**") || grows {
        return;
    }
    let mut after_digit = false;
    let text: String = text
        .chars()
        .filter(|it| !std::mem::replace(&mut after_digit, it.is_numeric()) || !it.is_numeric())
        .collect();
    let template = FRAMES[usize::from(choice) % FRAMES.len()].replace('@', &text);
    let data = json!({ "text": "a b\n", "list": [1, "b", null], "map": { "k": [2] } });
    let rendered = render("t", &template, &data);
    for error in rendered.err().into_iter().chain(check("t", &template).err()) {
        assert!(error.starts_with("t:"), "{error}");
    }
    if let Some(line) = too_deep(&template) {
        assert!((1..=template.lines().count().max(1)).contains(&line), "{line}");
    }
});

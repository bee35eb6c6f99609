//! Counts are those of `bpe-openai`, which the tables are made from and which counts differently.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

const NEVER: Interrupted = &|| false;

fn count_of(text: &str) -> u64 {
    count(text, Encoding::O200k, NEVER).unwrap()
}

fn expected(text: &str) -> u64 {
    bpe_openai::o200k_base().count(text) as u64
}

#[test]
fn known_counts() {
    // As the vocabulary's own program counts them.
    for (text, tokens) in [("", 0), ("hello world", 2), ("tiktoken is great!", 6)] {
        assert_eq!(count_of(text), tokens, "{text}");
    }
}

#[test]
fn every_token_is_one_token_if_it_is_one_piece() {
    let vocabulary = bpe_openai::o200k_base();
    let mut compared = 0;
    for token in 0..u32::try_from(vocabulary.bpe.num_tokens()).unwrap() {
        let bytes = vocabulary.bpe.token_bytes(token);
        assert_eq!(merge::count(bytes, NEVER), Some(1), "{token}");
        if let Ok(text) = std::str::from_utf8(bytes) {
            assert_eq!(count_of(text), expected(text), "{text:?}");
            compared += 1;
        }
    }
    assert!(compared > 190_000, "{compared}");
}

#[test]
fn long_pieces_and_runs() {
    for hard in
        ["a", " ", "\n", "é", "ab", " \n", "}\n/", "\u{300}", "=", "日本", "Zz", "\0", "aaaaaaab"]
    {
        for size in [1, 15, 16, 17, 31, 32, 33, 34, 100, 1000, 3 * PART] {
            let text = hard.repeat(size.div_ceil(hard.len()));
            assert_eq!(count_of(&text), expected(&text), "{hard:?} {size}");
        }
    }
}

#[test]
fn a_long_piece_takes_time_linear_in_its_length() {
    let time = |size: usize| {
        let text = "a".repeat(size);
        let measure = |_| {
            let started = Instant::now();
            assert!(count_of(&text) > 0);
            started.elapsed()
        };
        (0..3).map(measure).min().unwrap()
    };
    let (short, long) = (time(1 << 16), time(1 << 20));
    // 16 times as much would take 256 times as long if it were quadratic.
    assert!(long < (short * 80).max(Duration::from_millis(50)), "{short:?} {long:?}");
}

#[test]
fn counting_stops_when_it_is_interrupted() {
    for text in ["word ".repeat(1 << 20), "a".repeat(1 << 20), "a\n".repeat(1 << 20)] {
        let asked = AtomicUsize::new(0);
        let interrupted = || asked.fetch_add(1, Ordering::Relaxed) >= 2;
        let end = count(&text, Encoding::O200k, &interrupted);
        assert!(matches!(end, Err(Error::Interrupted)), "{end:?}");
        assert!(asked.into_inner() < 20, "it went on");
    }
}

/// About so many files, evenly chosen from this workspace and the sources that cargo has fetched.
fn sources(count: usize) -> Vec<PathBuf> {
    fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort_unstable();
        for path in paths {
            if path.is_dir() { walk(&path, files) } else { files.push(path) }
        }
    }
    let mut files = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut files);
    let cargo = option_env!("CARGO_HOME").map(PathBuf::from);
    if let Some(cargo) = cargo.or_else(|| Some(std::env::home_dir()?.join(".cargo"))) {
        walk(&cargo.join("registry/src"), &mut files);
    }
    let step = (files.len() / count).max(1);
    files.into_iter().step_by(step).collect()
}

#[test]
fn counts_of_real_code() {
    let mut size = 0;
    for path in sources(600) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let text = &text[..text.floor_char_boundary(200 << 10)];
        assert_eq!(count_of(text), expected(text), "{}", path.display());
        size += text.len();
    }
    assert!(size > 100 << 10, "{size}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn any_text(text in r"(\PC|\pC|\pM|\pZ|\pN|\pL|[a-zA-Z ]{0,12}){0,24}") {
        prop_assert_eq!(count_of(&text), expected(&text));
    }

    #[test]
    fn one_piece(piece in r"[a-z]{1,200}|[日本語中文字]{1,60}|[!-/:-@]{1,100}|[ \t]{1,100}") {
        prop_assert_eq!(count_of(&piece), expected(&piece));
    }

    #[test]
    fn any_bytes_of_one_piece(piece in prop::collection::vec(any::<u8>(), 1..120)) {
        let expected = bpe_openai::o200k_base().bpe.count(&piece) as u64;
        prop_assert_eq!(merge::count(&piece, NEVER), Some(expected));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn parts_have_the_tokens_of_the_whole(
        lines in prop::collection::vec(r"[ \t]{0,3}(fn |x1|//|\}|日本|'s|\r|\PC){0,6}", 50..100),
    ) {
        // A text is cut before a line that begins with a letter: there is one in each repetition.
        let text = format!("{}\nx1", lines.join("\n")).repeat(200);
        prop_assert!(parts(&text).count() > 1 || text.len() < 2 * PART);
        prop_assert_eq!(count_of(&text), count_here(&text, Encoding::O200k, NEVER).unwrap());
    }
}

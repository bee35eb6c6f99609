//! Configuration files: whatever they hold, each command answers, and changing a key keeps the file
//! one that can be read.

#![no_main]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use osm::{Exit, World};
use osm_identity::{Environment, System};

/// A home for this process alone, never removed: it is one small file. In memory if possible,
/// for each change is synced.
static HOME: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let folder = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let home = folder.join(format!("osm-fuzz-config-{}", std::process::id()));
    std::fs::create_dir_all(&home).expect("a folder for one file");
    home
});

/// Files with a place for anything.
const FRAMES: &[&str] = &[
    "@",
    "[session]\nmax_count = @\n",
    "[session]\n@\n[store]\nbackend = \"fs\"\n",
    "session.max_age_days = 5 # @\n@",
    "[identity]\nshells = [@]\nagents = @\n",
    "[[identity.agents]]\n@\n",
];

fuzz_target!(|input: (u8, &[u8])| {
    let (choice, bytes) = input;
    let frame = FRAMES[usize::from(choice) % FRAMES.len()].as_bytes();
    let parts: Vec<&[u8]> = frame.split(|byte| *byte == b'@').collect();
    let file = HOME.join("config.toml");
    std::fs::write(&file, parts.join(bytes)).expect("a file can be written");

    let valid = run(&["config", "validate"]);
    run(&["config", "list", "--json"]);
    run(&["config", "get", "session.max_count"]);
    let set = run(&["config", "set", "session.max_count", "7"]);
    if valid == Exit::Success {
        assert_eq!(set, Exit::Success, "a good file can be changed");
    }
    if set == Exit::Success {
        assert_eq!(run(&["config", "get", "session.max_count"]), Exit::Success);
        let text = read(&file);
        assert_eq!(run(&["config", "set", "session.max_count", "7"]), Exit::Success);
        assert_eq!(read(&file), text, "the same again changes nothing");
    }
});

fn read(file: &Path) -> Vec<u8> {
    std::fs::read(file).expect("it was written")
}

fn run(words: &[&str]) -> Exit {
    let home = ("OSM_HOME".into(), HOME.clone().into_os_string());
    let variables: [(OsString, OsString); 1] = [home];
    osm::run(&World {
        arguments: words.iter().map(OsString::from).collect(),
        environment: Environment::new(std::process::id(), variables),
        clock: Arc::new(|| Timestamp::UNIX_EPOCH),
        processes: &System,
    })
}

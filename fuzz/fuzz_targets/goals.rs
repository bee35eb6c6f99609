//! Files of goals that a stranger wrote: whatever they hold, each is a goal or a line with its error, and
//! the goals beside it can be used.

#![no_main]

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use osm::ops::goal;
use osm::{Invocation, Options, Silence, World};
use osm_identity::{Environment, System};

/// A home for this process alone, in memory if possible; never removed: it is a few small files.
static HOME: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let folder = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let home = folder.join(format!("osm-fuzz-goals-{}", std::process::id()));
    std::fs::create_dir_all(home.join("goals")).expect("a folder");
    std::fs::write(home.join("goals/linked.md"), "text {{ x }}\n").expect("a file");
    let good = "---\ndescription: d\n---\n{{ context }}\n";
    std::fs::write(home.join("goals/good.prompt.md"), good).expect("a file");
    home
});

/// Files with a place for anything: what is before `@`, what is after it, and how the file ends.
const FRAMES: &[(&str, &str)] = &[
    (".prompt.md", "@"),
    (".prompt.md", "---\ndescription: d\n@\n---\n{{ context }}\n"),
    (".prompt.md", "---\ndescription: d\nvariables: @\n---\n{{ context }}\n"),
    (".prompt.md", "---\ndescription: d\n---\n@\n"),
    (".prompt.md", "---\ndescription: d\n---\n{{ @ }} {{ context }} [a](linked.md)\n"),
    (".prompt.md", "---\ndescription: d\n---\n{% @ %} [@](@)\n"),
    (".json", "@"),
    (".json", r#"{"Name":"fuzzed","Description":"d","PromptTemplate":"{{ context }} @"}"#),
    (".json", r#"{"Name":"fuzzed","Description":"d","PromptTemplate":"{{ context }}",@}"#),
];

fuzz_target!(|input: (u8, &[u8])| {
    let (choice, bytes) = input;
    let (suffix, frame) = FRAMES[usize::from(choice) % FRAMES.len()];
    let parts: Vec<&[u8]> = frame.as_bytes().split(|byte| *byte == b'@').collect();
    for ending in [".prompt.md", ".json"] {
        let text = if ending == suffix { parts.join(bytes) } else { b"{".to_vec() };
        std::fs::write(HOME.join("goals/fuzzed").with_extension(&ending[1..]), text)
            .expect("it can be written");
    }
    let home = ("OSM_HOME".into(), HOME.clone().into_os_string());
    let world = World {
        arguments: Vec::new(),
        environment: Environment::new(std::process::id(), [home]),
        clock: Arc::new(|| Timestamp::UNIX_EPOCH),
        processes: &System,
    };
    let invocation = Invocation::new(&world, Options::default());
    let list = goal::list(&invocation, &mut Silence);
    let files = list.goals.iter().filter_map(|it| it.file.as_ref());
    let files = files.chain(list.broken.iter().map(|it| &it.file));
    let fuzzed = files.filter(|it| it.to_string_lossy().contains("fuzzed"));
    assert_eq!(fuzzed.count(), 2, "each file is a goal or a line: {list:?}");
    for goal in list.goals.iter().filter(|it| it.file.is_some()) {
        goal::show(&invocation, &goal.call, &mut Silence).expect("what is listed is shown");
        // Code of the user's own goals needs no trust.
        goal::open(&invocation, &goal.call, &mut Silence).expect("what is listed is opened");
    }
    goal::open(&invocation, "good@user", &mut Silence).expect("nothing disturbs another goal");
});

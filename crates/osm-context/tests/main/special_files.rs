//! Files that are no files: links, FIFOs, devices, sockets, and very large ones.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::process::Command;

use osm_context::{Error, resolve};

use crate::harness::{Lab, labels, left_out};

#[test]
fn what_is_no_file_is_never_opened() {
    let lab = Lab::with(&[("d/a", "a")]);
    assert!(Command::new("mkfifo").arg(lab.path("d/fifo")).status().unwrap().success());
    let _listener = UnixListener::bind(lab.path("d/socket")).unwrap();
    symlink("/dev/zero", lab.path("d/zero")).unwrap();
    let prompt = lab.prompt(&["d"]);
    assert_eq!(labels(&prompt), ["d/a"]);
    assert_eq!(
        left_out(&prompt),
        [
            "d/fifo: not a regular file: FIFO",
            "d/socket: not a regular file: socket",
            "d/zero: symbolic link out of the folder"
        ]
    );
    let prompt = lab.prompt(&["d/fifo", "d/socket", "d/zero"]);
    assert_eq!(
        left_out(&prompt),
        [
            "d/fifo: not a regular file: FIFO",
            "d/socket: not a regular file: socket",
            "d/zero: not a regular file: device"
        ]
    );
    for name in ["d/fifo", "d/zero"] {
        assert!(matches!(resolve(name, &lab.setting()), Err(Error::Unusable { .. })));
    }
}

#[test]
fn links_stay_within_the_folder() {
    let lab = Lab::with(&[
        ("d/real/a", "a"),
        ("d/.hidden", "h"),
        ("d/.git/config", "secret"),
        ("outside", "o"),
        ("outer/x", "x"),
    ]);
    let links = [
        ("d/real/a", "d/to_a"),
        (".hidden", "d/to_hidden"),
        (".git/config", "d/to_git"),
        ("../outside", "d/to_outside"),
        ("../outer", "d/to_outer"),
        ("real", "d/to_real"),
        ("..", "d/real/up"),
        (".", "d/self"),
        ("ring_b", "d/ring_a"),
        ("ring_a", "d/ring_b"),
        ("nowhere", "d/to_nowhere"),
    ];
    for (target, link) in links {
        let target = if target == "d/real/a" { "real/a" } else { target };
        symlink(target, lab.path(link)).unwrap();
    }
    let prompt = lab.prompt(&["d"]);
    assert_eq!(labels(&prompt), ["d/real/a", "d/to_hidden"]);
    assert_eq!(
        left_out(&prompt),
        [
            "d/real/up: symbolic link loop",
            "d/ring_a: symbolic link loop",
            "d/ring_b: symbolic link loop",
            "d/self: symbolic link loop",
            "d/to_git: in a .git folder",
            "d/to_nowhere: broken symbolic link",
            "d/to_outer: symbolic link out of the folder",
            "d/to_outside: symbolic link out of the folder",
            "d/to_real: symbolic link to a folder",
            "d: 1 of its files is already in the prompt",
        ]
    );
    // A link that is named itself is followed.
    let prompt = lab.prompt(&["d/to_outside", "d/to_outer", "outside"]);
    assert_eq!(labels(&prompt), ["d/to_outside", "d/to_outer/x"]);
    assert_eq!(left_out(&prompt), ["outside: already in the prompt"]);
    let prompt = lab.prompt(&["d/ring_a", "d/to_nowhere"]);
    assert_eq!(
        left_out(&prompt),
        ["d/ring_a: symbolic link loop", "d/to_nowhere: broken symbolic link"]
    );
}

#[test]
fn a_sparse_file_costs_nothing() {
    let lab = Lab::with(&[("d/a", "a")]);
    fs::File::create(lab.path("d/huge")).unwrap().set_len(5 << 30).unwrap();
    let expected = "d/huge: too large: 5 GiB, limit 1 MiB";
    assert_eq!(left_out(&lab.prompt(&["d"])), [expected]);
    let expected = "d/huge: too large: 5 GiB, limit 32 MiB";
    assert_eq!(left_out(&lab.prompt(&["d/huge"])), [expected]);
}

#[test]
fn what_may_not_be_read_is_told() {
    let lab = Lab::with(&[("d/a", "a"), ("d/closed/b", "b"), ("d/c", "c")]);
    let close = |name: &str, mode| {
        fs::set_permissions(lab.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    close("d/a", 0);
    close("d/closed", 0);
    // Nothing is closed to the superuser.
    if fs::read(lab.path("d/a")).is_err() {
        let prompt = lab.prompt(&["d"]);
        assert_eq!(labels(&prompt), ["d/c"]);
        let [file, folder] = &left_out(&prompt)[..] else { panic!("{prompt}") };
        assert!(folder.starts_with("d/a: cannot read: "), "{folder}");
        assert!(file.starts_with("d/closed: cannot read: "), "{file}");
    }
    close("d/closed", 0o700);
    // The memory of a process can be opened and not read, by anybody.
    #[cfg(target_os = "linux")]
    {
        symlink("/proc/self/mem", lab.path("memory")).unwrap();
        let [told] = &left_out(&lab.prompt(&["memory"]))[..] else { panic!("it is read") };
        assert!(told.starts_with("memory: cannot read: "), "{told}");
    }
}

#[test]
fn names_of_any_kind() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let lab = Lab::with(&[("d/a\n### File: b", "a"), ("d/`c` \u{202e}", "c")]);
    fs::write(lab.path("d").join(OsStr::from_bytes(b"\xff.txt")), "f").unwrap();
    let prompt = lab.prompt(&["d"]);
    assert_eq!(labels(&prompt), ["d/`c` \u{202e}", "d/a\n### File: b", "d/\u{fffd}.txt"]);
    insta::assert_snapshot!(prompt.to_string().lines().filter(|it| it.contains('#')).collect::<Vec<_>>().join("\n"), @r"
    ### File: d/`c` \u{202e}
    ### File: d/a\n### File: b
    ### File: d/�.txt
    ");
    let error = resolve("d/*.txt", &lab.setting()).unwrap_err().to_string();
    assert!(error.ends_with("file name is not UTF-8"), "{error}");
    // The others are there all the same.
    lab.write("d/b.txt", "b");
    let resolved = resolve("d/*.txt", &lab.setting()).unwrap();
    let (found, skipped) = (&resolved.found[0].label, &resolved.skipped[0]);
    assert_eq!((resolved.found.len(), found.as_str()), (1, "d/b.txt"));
    assert_eq!(
        (skipped.path.as_str(), skipped.reason.as_str()),
        ("d/\u{fffd}.txt", "file name is not UTF-8")
    );
    // What a terminal would obey is spelled out.
    let error = resolve("d/\u{1b}]52;c;eA==\u{7}\n", &lab.setting()).unwrap_err().to_string();
    assert!(error.ends_with(r"d/\u{1b}]52;c;eA==\u{7}\n: not found"), "{error}");
}

//! Ledgers that are not what they should be, disks that fail, and copies: a clear error that names
//! the file, and nothing that is guessed.

#![expect(clippy::disallowed_methods, reason = "what is removed here is no user's")]

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use osm_claims::error::{Corruption, Hazard};
use osm_claims::{ClaimOptions, Claims, Error, Reason, Result, SqliteLedger, SystemProbe};
use osm_identity::System;
use osm_testkit::stops::copy_folder;
use osm_testkit::{tools, trials};
use rusqlite::Connection;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::claimant::{Claimant, in_namespaces, program, run, said, say};
use crate::harness::{refused, replayed, resource, without_process};

const ANOTHER_USER: u32 = 65534;

fn open(folder: &Path) -> Result<Claims> {
    let ledger = SqliteLedger::open(folder, &System)?;
    Ok(Claims::new(Box::new(ledger), Box::new(SystemProbe(System))))
}

/// A folder with a ledger in which something is claimed.
fn used() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    say(folder.path(), &["owner", "claim", "task"]);
    let file = folder.path().canonicalize().unwrap().join("claims.db");
    (folder, file)
}

/// That a ledger was not opened, and what was said about it.
#[track_caller]
fn not_opened(folder: &Path) -> (Error, String) {
    let Err(error) = open(folder) else { panic!("it was opened") };
    let said = error.to_string();
    (error, said)
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().mode() & 0o7777
}

#[test]
fn missing_folders_are_made_and_everything_is_private() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().join("some/where");
    let mut shell = Command::new("sh");
    shell.args(["-c", "umask 000; exec \"$0\" \"$@\""]).arg(program()).arg(&folder);
    let output = shell.args(["owner", "claim", "task"]).stdin(Stdio::null()).output().unwrap();
    assert!(said(&output).starts_with("Grant(None) 1."));
    assert_eq!(mode(&folder), 0o700);
    let mut names = Vec::new();
    for file in folder.read_dir().unwrap() {
        let path = file.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        names.push(path.file_name().unwrap().to_str().unwrap().to_owned());
    }
    names.sort();
    assert_eq!(names, ["claims.db", "claims.db-shm", "claims.db-wal", "claims.mark"]);
}

#[test]
fn what_is_no_file_of_ours_is_refused() {
    let elsewhere = tempfile::tempdir().unwrap();
    for what in ["folder", "link", "dangling link", "FIFO", "hard link"] {
        let (folder, file) = used();
        let target = elsewhere.path().join(what);
        match what {
            "hard link" => std::fs::hard_link(&file, &target).unwrap(),
            _ => std::fs::rename(&file, &target).unwrap(),
        }
        match what {
            "folder" => std::fs::create_dir(&file).unwrap(),
            "link" => symlink(&target, &file).unwrap(),
            "dangling link" => symlink(elsewhere.path().join("nowhere"), &file).unwrap(),
            "FIFO" => assert!(Command::new("mkfifo").arg(&file).status().unwrap().success()),
            _ => {}
        }
        let (error, said) = not_opened(folder.path());
        let expected = match what {
            "folder" | "FIFO" => Hazard::NotAFile,
            "hard link" => Hazard::HardLink,
            _ => Hazard::SymbolicLink,
        };
        assert!(matches!(error, Error::Unsafe(hazard) if hazard == expected), "{what}: {said}");
    }
}

#[test]
fn a_file_of_another_user_is_refused() {
    trials::need(tools::root());
    let (folder, file) = used();
    chown(&file, Some(ANOTHER_USER), None).unwrap();
    let (error, said) = not_opened(folder.path());
    assert!(matches!(error, Error::Unsafe(Hazard::AnotherUser)), "{said}");
}

#[test]
fn a_ledger_that_others_can_read_is_closed_to_them() {
    let (folder, file) = used();
    std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    open(folder.path()).unwrap();
    assert_eq!(mode(&file), 0o600);
}

#[test]
fn what_is_no_ledger_is_left_alone() {
    let garbage = vec![b'x'; 8192];
    for what in ["empty", "garbage", "truncated", "newer", "foreign", "torn"] {
        let (folder, file) = used();
        let pragma = |sql: &str| Connection::open(&file).unwrap().execute_batch(sql).unwrap();
        pragma("PRAGMA wal_checkpoint(TRUNCATE)");
        let bytes = std::fs::read(&file).unwrap();
        match what {
            "empty" => std::fs::write(&file, "").unwrap(),
            "garbage" => std::fs::write(&file, &garbage).unwrap(),
            "truncated" => std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap(),
            "newer" => pragma("PRAGMA user_version = 99"),
            "foreign" => {
                for name in ["claims.db", "claims.db-wal", "claims.db-shm"] {
                    drop(std::fs::remove_file(folder.path().join(name)));
                }
                pragma("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)");
            }
            _ => {
                let mut torn = bytes.clone();
                torn[100..4096].fill(0xa5);
                std::fs::write(&file, torn).unwrap();
            }
        }
        let before = std::fs::read(&file).unwrap();
        let outcome = open(folder.path()).and_then(|claims| {
            claims.claim(&without_process("next"), &resource("task"), &ClaimOptions::default())
        });
        let Err(error) = outcome else { panic!("{what} was used") };
        let said = error.to_string();
        match (&error, what) {
            (Error::Newer { version: 99 }, "newer")
            | (Error::Corrupt(Corruption::Foreign), "foreign") => {}
            (Error::Corrupt(_), _) if what != "newer" => {}
            _ => panic!("{what}: {said}"),
        }
        assert_eq!(std::fs::read(&file).unwrap(), before, "{what}: it was written to");
    }
}

#[test]
fn many_processes_make_it_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let start = |number: usize| {
        let mut command = Command::new(program());
        command.arg(folder.path()).arg(format!("session-{number}"));
        command.args(["claim", &format!("task-{number}")]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let children: Vec<_> = (0..20).map(start).collect();
    for child in children {
        said(&child.wait_with_output().unwrap());
    }
    let claims = open(folder.path()).unwrap();
    let reader = without_process("reader");
    assert_eq!(claims.list(&reader, true).unwrap().len(), 20);
    replayed(&claims, &reader);
    let names: Vec<_> =
        folder.path().read_dir().unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names.len(), 4, "{names:?}");
}

#[test]
fn a_ledger_that_was_replaced_grants_nothing() {
    let (folder, file) = used();
    let (claims, requester, options) =
        (open(folder.path()).unwrap(), without_process("a"), ClaimOptions::default());
    std::fs::rename(&file, folder.path().join("aside")).unwrap();
    let error = claims.claim(&requester, &resource("new"), &options).unwrap_err();
    assert!(matches!(&error, Error::Replaced), "{error}");
    assert!(matches!(claims.check(&requester, &resource("new"), None), Err(Error::Replaced)));
}

#[test]
fn a_log_without_its_ledger_is_refused() {
    let (folder, file) = used();
    assert!(file.with_extension("db-wal").exists());
    std::fs::remove_file(&file).unwrap();
    let (error, said) = not_opened(folder.path());
    assert!(matches!(error, Error::Corrupt(Corruption::LogWithoutLedger)), "{said}");
    assert!(!file.exists(), "nothing was made");
    // Without its log it is still missed; without its mark, too, nothing is known of it.
    std::fs::remove_file(file.with_extension("db-wal")).unwrap();
    let (error, said) = not_opened(folder.path());
    assert!(matches!(error, Error::Corrupt(Corruption::Missing { recorded: 1 })), "{said}");
    std::fs::remove_file(file.with_extension("mark")).unwrap();
    assert!(open(folder.path()).is_ok());
}

#[test]
fn the_log_does_not_grow_for_ever() {
    let (folder, file) = used();
    let length = || file.with_extension("db-wal").metadata().map_or(0, |log| log.len());
    let claim = |number| {
        let claims = open(folder.path()).unwrap();
        let resource = resource(&format!("task {number}"));
        claims.claim(&without_process("owner"), &resource, &ClaimOptions::default()).unwrap();
    };
    (0..200).for_each(|number| {
        claim(number);
        assert!(length() < 1 << 20, "after {number} claims: {} bytes", length());
    });
    // It is used again from its start, without being made again.
    let kept = length();
    assert!(kept > 0);
    (200..300).for_each(claim);
    assert_eq!(length(), kept);
    // So it is while a process has the ledger open, which loses nothing by it.
    let reader = open(folder.path()).unwrap();
    (300..400).for_each(claim);
    assert!(length() < 1 << 20, "{} bytes", length());
    assert_eq!(reader.list(&without_process("reader"), true).unwrap().len(), 401);
    drop(reader);
    replayed(&open(folder.path()).unwrap(), &without_process("reader"));
}

#[test]
fn a_writer_that_is_stopped_is_named() {
    let (folder, _) = used();
    let mut writer = Claimant::start(folder.path(), &["writer", "lock"]);
    let pid = Pid::from_raw(i32::try_from(writer.pid()).unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    waitid(WaitId::Pid(pid), WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT).unwrap();
    let claims = open(folder.path()).unwrap();
    let owner = without_process("owner");
    assert_eq!(claims.list(&owner, true).unwrap().len(), 1, "reading waits for no writer");
    // This waits as long as a writer may take, and not for ever.
    let error = claims.claim(&owner, &resource("more"), &ClaimOptions::default()).unwrap_err();
    let Error::Busy { writer: Some(named) } = &error else { panic!("{error}") };
    assert_eq!((named.pid, named.is_suspended), (writer.pid(), true));
    writer.kill();
    writer.collect();
    claims.claim(&owner, &resource("more"), &ClaimOptions::default()).unwrap();
}

/// Runs a script on a small disk of its own, in which `claimant` stands for the program and its
/// folder.
fn on_disk(options: &str, script: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let script = format!(
        "mount -t tmpfs -o mode=0700,{options} tmpfs \"$1\"
         claimant() {{ \"$program\" \"$folder\" \"$@\"; }}
         fails() {{ if claimant \"$@\" 2>\"$folder.said\"; then echo \"$@ did not fail\"; exit 9; fi; }}
         says() {{ grep -q \"$@\" \"$folder.said\" || {{ cat \"$folder.said\"; exit 9; }}; }}
         program=$0; folder=$1
         {script}"
    );
    said(&in_namespaces(&["--mount"], &script, &[path]));
    drop(std::fs::remove_file(format!("{path}.said")));
}

#[test]
fn a_disk_that_is_full() {
    on_disk(
        "size=512k",
        "claimant owner claim task
         dd if=/dev/zero of=\"$folder/filler\" bs=1k count=1000 2>&1 || true
         i=0; while claimant owner claim more-$i 2>\"$folder.said\"; do i=$((i+1)); done
         says -i full
         rm \"$folder/filler\"
         claimant owner claim again
         claimant reader look task",
    );
}

#[test]
fn a_disk_that_cannot_be_written() {
    on_disk(
        "size=2m",
        "claimant owner claim task
         mount -o remount,ro \"$folder\"
         fails rival claim other; says -i 'read-only\\|readonly'
         fails owner release task
         mount -o remount,rw \"$folder\"
         claimant owner release task",
    );
}

/// A FUSE file system with an empty folder, mounted at the first argument.
const FUSE: &str = r"
import ctypes, os, struct, sys
fuse = os.open('/dev/fuse', os.O_RDWR)
options = f'fd={fuse},rootmode=40755,user_id=0,group_id=0'.encode()
libc = ctypes.CDLL(None, use_errno=True)
if libc.mount(b'test', sys.argv[1].encode(), b'fuse', 0, options) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))
attributes = struct.pack('<QII6Q10I', 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0o40700, 2, 0, 0, 0, 4096, 0)
answers = {26: struct.pack('<II', 7, 31) + bytes(56), 3: attributes, 17: bytes(80)}
while True:
    try:
        request = os.read(fuse, 1 << 20)
    except OSError:
        break
    operation, unique = struct.unpack_from('<IQ', request, 4)
    answer = answers.get(operation)
    head = struct.pack('<IiQ', 16 + len(answer or b''), 0 if answer else -38, unique)
    os.write(fuse, head + (answer or b''))
";

#[test]
fn a_file_system_that_other_machines_may_share_is_refused() {
    let python = trials::need(tools::program("python3"));
    if !Path::new("/dev/fuse").exists() {
        trials::skip(tools::Skipped("this machine has no FUSE (/dev/fuse)".into()));
    }
    let folder = tempfile::tempdir().unwrap();
    let server = folder.path().join("server.py");
    std::fs::write(&server, FUSE).unwrap();
    let mounted = folder.path().join("mounted");
    std::fs::create_dir(&mounted).unwrap();
    let script = format!(
        "'{}' '{}' \"$1\" & server=$!
         until [ \"$(stat -f -c %T \"$1\")\" = fuseblk ] || [ \"$(stat -f -c %T \"$1\")\" = fuse ]; do
             kill -0 $server; sleep 0.01
         done
         code=0; \"$0\" \"$@\" || code=$?
         umount \"$1\"; wait $server || true; exit $code",
        python.display(),
        server.display()
    );
    let arguments = [mounted.to_str().unwrap(), "owner", "claim", "task"];
    let output = in_namespaces(&["--mount"], &script, &arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("network or FUSE file system"), "{said}");
}

#[test]
fn a_copy_is_another_ledger() {
    let (folder, _) = used();
    let there = folder.path().join("copy");
    let from = tempfile::tempdir().unwrap();
    let backup = from.path().join("backup");
    copy_folder(folder.path(), &backup).unwrap();
    copy_folder(&backup, &there).unwrap();
    say(&there, &["owner", "release", "task"]);
    assert_eq!(run(folder.path(), &["rival", "claim", "task"]).status.code(), Some(10));
}

#[test]
fn a_copy_on_another_machine_sees_no_owner() {
    let folder = tempfile::tempdir().unwrap();
    let owner = Claimant::start(folder.path(), &["owner@self", "hold", "task"]);
    say(folder.path(), &["leased", "claim", "leased task"]);
    let path = folder.path().to_str().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let boot = file("boot", "11111111-2222-3333-4444-555555555555\n");
    let machine = file("machine", "0123456789abcdef0123456789abcdef\n");
    let script = format!(
        "mount --bind '{boot}' /proc/sys/kernel/random/boot_id
         mount --bind '{machine}' /etc/machine-id
         exec \"$0\" \"$@\""
    );
    for task in ["task", "leased task"] {
        let arguments = [path, "rival@self", "claim", task];
        let output = in_namespaces(&["--mount"], &script, &arguments);
        assert_eq!(output.status.code(), Some(12), "{output:?}");
    }
    owner.finish();
}

#[test]
fn a_backup_that_is_restored_grants_an_epoch_twice_and_knows_it() {
    let (folder, _) = used();
    let outside = tempfile::tempdir().unwrap();
    let backup = outside.path().join("backup");
    copy_folder(folder.path(), &backup).unwrap();
    let (early, late) = (without_process("early"), without_process("late"));
    let (options, task) = (ClaimOptions::default(), resource("second"));
    let before = open(folder.path()).unwrap().claim(&early, &task, &options).unwrap().claim;
    std::fs::remove_dir_all(folder.path()).unwrap();
    copy_folder(&backup, folder.path()).unwrap();
    let claims = open(folder.path()).unwrap();
    let token = Some(before.token());
    assert_eq!(refused(claims.check(&early, &task, token)), Reason::NotHeld);
    let after = claims.claim(&late, &task, &options).unwrap().claim;
    assert_eq!(after.epoch, before.epoch, "the ledger counts from an older number again");
    for lost in [
        claims.check(&early, &task, token).map(drop),
        claims.renew(&early, &task, token, &options).map(drop),
        claims.release(&early, &task, token, false).map(drop),
        claims.offer(&early, &task, token, Some("late"), &options).map(drop),
    ] {
        assert_eq!(refused(lost), Reason::UnknownEpoch);
    }
    assert!(claims.check(&late, &task, Some(after.token())).is_ok());
}

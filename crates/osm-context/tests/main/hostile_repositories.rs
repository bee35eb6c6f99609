//! Repositories that try to run a program: each way is proven with plain git, and none works with ours.
#![expect(clippy::disallowed_methods, reason = "tests remove what they made")]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use osm_context::Error;
use osm_context::git::{changed, diff, hooks, refs, uncommitted};

use crate::harness::{Lab, git};

/// A repository with two commits and a change, and a program that must not run.
struct Trap {
    lab: Lab,
    /// The program; it leaves a mark, and its input unchanged.
    program: String,
    mark: PathBuf,
}

impl Trap {
    fn new() -> Self {
        let lab = Lab::with(&[("a", "zero\n")]);
        let (mark, program) =
            (lab.folder.with_file_name("mark"), lab.folder.with_file_name("trap"));
        let server = lab.folder.with_file_name("trap-server");
        for (path, rest) in [(&program, "cat"), (&server, "exit 1")] {
            let text = format!("#!/bin/sh\ntouch {}\n{rest}\n", mark.display());
            std::fs::write(path, text).unwrap();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).unwrap();
        }
        lab.git(&["init"]);
        let trap = Self { program: program.to_str().unwrap().to_owned(), lab, mark };
        trap.commit();
        trap.lab.write("a", "one\n");
        trap.commit();
        trap.lab.write("a", "two!\n");
        trap
    }

    fn commit(&self) {
        self.lab.git(&["add", "-A"]);
        self.lab.git(&["commit", "--no-verify", "-m", "x"]);
    }

    fn set(&self, key: &str) {
        self.lab.git(&["config", key, &self.program]);
    }

    fn attributes(&self, text: &str) {
        self.lab.write(".gitattributes", text);
    }

    /// A configuration file that the repository includes.
    fn settings(&self, name: &str, text: &str) {
        self.lab.write(name, text.replace("TRAP", &self.program));
    }

    fn hook(&self, folder: &str, name: &str) {
        std::fs::create_dir_all(self.lab.path(folder)).unwrap();
        symlink(&self.program, self.lab.path(folder).join(name)).unwrap();
    }

    /// A partial clone without the object of `HEAD~1:a`.
    fn promises(&self, settings: &[(&str, &str)]) {
        let missing = self.lab.git(&["rev-parse", "HEAD~1:a"]);
        let (folder, file) = missing.trim().split_at(2);
        std::fs::remove_file(self.lab.path(&format!(".git/objects/{folder}/{file}"))).unwrap();
        for (key, value) in settings {
            // It ends at once: a server that repeats what it hears would keep git waiting.
            let program = format!("{}-server", self.program);
            self.lab.git(&["config", key, &value.replace("TRAP", &program)]);
        }
        self.lab.git(&["config", "remote.origin.promisor", "true"]);
        self.lab.git(&["config", "extensions.partialClone", "origin"]);
        self.lab.git(&["config", "core.repositoryFormatVersion", "1"]);
    }

    /// A submodule `sub`, and its path.
    fn submodule(&self) -> PathBuf {
        self.lab.write("sub/s", "s\n");
        let sub = self.lab.path("sub");
        git(&sub, &["init"]);
        git(&sub, &["add", "-A"]);
        git(&sub, &["commit", "-m", "x"]);
        self.lab.git(&["add", "sub"]);
        self.lab.git(&["commit", "-m", "sub"]);
        // As long as before: git must look at the content.
        self.lab.write("sub/s", "t\n");
        sub
    }

    /// Makes `HEAD` a commit with a signature.
    fn signed(&self) {
        let tree = self.lab.git(&["rev-parse", "HEAD^{tree}"]);
        let text = format!(
            "tree {}\nauthor t <t@example.org> 1 +0000\ncommitter t <t@example.org> 1 +0000\n\
             gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n",
            tree.trim()
        );
        self.lab.write("signed", text);
        let commit = self.lab.git(&["hash-object", "-w", "-t", "commit", "signed"]);
        self.lab.git(&["update-ref", "HEAD", commit.trim()]);
    }

    fn plain(&self, arguments: &[&str]) {
        let mut command = Command::new("git");
        command.current_dir(&self.lab.folder).args(arguments).env("GIT_CONFIG_GLOBAL", "");
        command.env("GIT_TERMINAL_PROMPT", "0").stdin(Stdio::null());
        // It may fail: the trap is no real program of its kind.
        drop(command.output().unwrap());
    }

    /// Everything that we ask git.
    fn ours(&self) {
        let (folder, setting) = (&self.lab.folder, self.lab.setting());
        let words = |words: &[&str]| -> Vec<String> {
            words.iter().map(|word| (*word).to_owned()).collect()
        };
        for arguments in
            [words(&[]), words(&["HEAD~1"]), words(&["--staged"]), words(&["HEAD~1", "HEAD"])]
        {
            drop(diff(&arguments, folder, &setting));
            drop(changed(&arguments, folder, &setting));
        }
        drop(refs(folder, &setting));
        drop(uncommitted(folder, &setting));
        drop(hooks(folder, &setting));
    }
}

/// A way to run a program.
struct Way {
    name: &'static str,
    plant: fn(&Trap),
    /// The command of plain git that runs it.
    proof: &'static [&'static str],
    /// Whether there is a diff nevertheless.
    works: bool,
}

const fn way(name: &'static str, plant: fn(&Trap), proof: &'static [&'static str]) -> Way {
    Way { name, plant, proof, works: true }
}

const fn broken(name: &'static str, plant: fn(&Trap), proof: &'static [&'static str]) -> Way {
    Way { name, plant, proof, works: false }
}

const WAYS: &[Way] = &[
    way("core.fsmonitor", |it| it.set("core.fsmonitor"), &["diff"]),
    way("diff.external", |it| it.set("diff.external"), &["diff"]),
    way(
        "diff.NAME.command",
        |it| {
            it.attributes("a diff=own\n");
            it.set("diff.own.command");
        },
        &["diff"],
    ),
    way(
        "diff.NAME.textconv",
        |it| {
            it.attributes("a diff=own\n");
            it.set("diff.own.textconv");
        },
        &["diff"],
    ),
    way(
        "filter.NAME.clean",
        |it| {
            it.attributes("a filter=own\n");
            it.set("filter.own.clean");
            it.lab.git(&["config", "filter.own.required", "true"]);
        },
        &["diff"],
    ),
    way(
        "filter.NAME.process",
        |it| {
            it.attributes("a filter=own\n");
            it.set("filter.own.process");
        },
        &["diff"],
    ),
    way(
        "filter.NAME.smudge",
        |it| {
            it.attributes("a filter=own\n");
            it.set("filter.own.smudge");
        },
        &["checkout", "--", "a"],
    ),
    way(
        "a filter with an equals sign in its name",
        |it| {
            it.attributes("a filter=x=y.Z\n");
            it.set("filter.x=y.Z.clean");
        },
        &["diff"],
    ),
    way(
        "a filter in info/attributes",
        |it| {
            it.lab.write(".git/info/attributes", "a filter=own\n");
            it.set("filter.own.clean");
        },
        &["diff"],
    ),
    way(
        "a filter in core.attributesFile",
        |it| {
            it.lab.write("attributes", "a filter=own\n");
            it.lab.git(&["config", "core.attributesFile", "attributes"]);
            it.set("filter.own.clean");
        },
        &["diff"],
    ),
    way(
        "include.path",
        |it| {
            it.attributes("a filter=own\n");
            it.settings("settings", "[filter \"own\"]\n\tclean = TRAP\n");
            it.lab.git(&["config", "include.path", "../settings"]);
        },
        &["diff"],
    ),
    way(
        "includeIf",
        |it| {
            it.attributes("a filter=own\n");
            it.settings(
                "settings",
                "[filter \"own\"]\n\tclean = TRAP\n[core]\n\tfsmonitor = TRAP\n",
            );
            it.lab.git(&["config", "includeIf.gitdir:**.path", "../settings"]);
        },
        &["diff"],
    ),
    way(
        "config.worktree",
        |it| {
            it.attributes("a filter=own\n");
            it.lab.git(&["config", "extensions.worktreeConfig", "true"]);
            it.settings(".git/config.worktree", "[filter \"own\"]\n\tclean = TRAP\n");
        },
        &["diff"],
    ),
    way("hooks", |it| it.hook(".git/hooks", "post-index-change"), &["add", "a"]),
    way(
        "core.hooksPath",
        |it| {
            it.hook("hooks", "post-index-change");
            it.lab.git(&["config", "core.hooksPath", "hooks"]);
        },
        &["add", "a"],
    ),
    way(
        "gpg.program",
        |it| {
            it.signed();
            it.set("gpg.program");
            it.lab.git(&["config", "log.showSignature", "true"]);
        },
        &["log", "-1"],
    ),
    way(
        "alias",
        |it| it.lab.git(&["config", "alias.x", &format!("!{}", it.program)]).clear(),
        &["x"],
    ),
    way(
        "a submodule's core.fsmonitor",
        |it| drop(git(&it.submodule(), &["config", "core.fsmonitor", &it.program])),
        &["diff"],
    ),
    way(
        "a submodule's filter, ignored by nothing",
        |it| {
            let sub = it.submodule();
            it.lab.write("sub/.gitattributes", "s filter=own\n");
            git(&sub, &["config", "filter.own.clean", &it.program]);
            it.lab.git(&["config", "diff.ignoreSubmodules", "none"]);
            it.lab.git(&["config", "submodule.sub.ignore", "none"]);
        },
        &["diff"],
    ),
    way(
        "a submodule's textconv by diff.submodule",
        |it| {
            let sub = it.submodule();
            it.lab.write("sub/.gitattributes", "s diff=own\n");
            git(&sub, &["config", "diff.own.textconv", &it.program]);
            it.lab.git(&["config", "diff.submodule", "diff"]);
        },
        &["diff"],
    ),
    broken(
        "a lazy fetch by ext::",
        |it| {
            it.promises(&[("remote.origin.url", "ext::TRAP"), ("protocol.ext.allow", "always")]);
        },
        &["diff", "HEAD~1"],
    ),
    broken(
        "a lazy fetch by core.sshCommand",
        |it| {
            it.promises(&[
                ("remote.origin.url", "ssh://example.invalid/x"),
                ("core.sshCommand", "TRAP"),
                ("protocol.ssh.allow", "always"),
            ]);
        },
        &["diff", "HEAD~1"],
    ),
    broken(
        "a lazy fetch by core.gitProxy",
        |it| {
            it.promises(&[
                ("remote.origin.url", "git://example.invalid/x"),
                ("core.gitProxy", "TRAP"),
                ("protocol.git.allow", "always"),
            ]);
        },
        &["diff", "HEAD~1"],
    ),
    broken(
        "a lazy fetch by remote.NAME.uploadpack",
        |it| {
            it.promises(&[("remote.origin.url", "."), ("remote.origin.uploadpack", "TRAP")]);
        },
        &["diff", "HEAD~1"],
    ),
    way(
        "core.alternateRefsCommand",
        |it| {
            let other = it.lab.folder.with_file_name("other");
            git(it.lab.folder.parent().unwrap(), &["clone", "-q", "lab", "other"]);
            let objects = other.join(".git/objects");
            it.lab.write(".git/objects/info/alternates", format!("{}\n", objects.display()));
            it.set("core.alternateRefsCommand");
        },
        &["diff", "--alternate-refs"],
    ),
];

#[test]
fn plain_git_runs_what_a_repository_names() {
    for way in WAYS {
        let trap = Trap::new();
        (way.plant)(&trap);
        drop(std::fs::remove_file(&trap.mark));
        trap.plain(way.proof);
        assert!(trap.mark.exists(), "{}: git {:?} did not run it", way.name, way.proof);
    }
}

#[test]
fn ours_runs_nothing() {
    for way in WAYS {
        let trap = Trap::new();
        (way.plant)(&trap);
        drop(std::fs::remove_file(&trap.mark));
        trap.ours();
        assert!(!trap.mark.exists(), "{} ran", way.name);
        if way.works {
            let diff = diff(&["HEAD".to_owned()], &trap.lab.folder, &trap.lab.setting());
            let text = diff.map(|diff| diff.text);
            assert!(text.as_ref().is_ok_and(|it| it.contains("+two!")), "{}: {text:?}", way.name);
        }
    }
}

#[test]
fn a_folder_that_looks_like_a_bare_repository_is_none() {
    let trap = Trap::new();
    let bare = trap.lab.path("looks/bare");
    git(&trap.lab.folder, &["init", "-q", "--bare", bare.to_str().unwrap()]);
    for (key, value) in
        [("core.bare", "false"), ("core.worktree", ".."), ("core.fsmonitor", &trap.program)]
    {
        git(&bare, &["config", key, value]);
    }
    let mut plain = Command::new("git");
    drop(plain.arg("status").current_dir(&bare).env("GIT_CONFIG_GLOBAL", "").output().unwrap());
    assert!(trap.mark.exists(), "plain git runs it");
    std::fs::remove_file(&trap.mark).unwrap();
    let error = diff(&["HEAD".to_owned()], &bare, &trap.lab.setting()).unwrap_err();
    assert!(!trap.mark.exists());
    assert!(error.to_string().contains("bare"), "{error}");
}

#[test]
fn a_working_tree_elsewhere_is_refused() {
    let trap = Trap::new();
    let outside = trap.lab.folder.with_file_name("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("a"), "my secret\n").unwrap();
    trap.lab.git(&["config", "core.worktree", outside.to_str().unwrap()]);
    let plain = trap.lab.git(&["diff", "HEAD"]);
    assert!(plain.contains("my secret"), "plain git reads it: {plain}");
    for error in [
        diff(&[], &trap.lab.folder, &trap.lab.setting()).unwrap_err(),
        changed(&[], &trap.lab.folder, &trap.lab.setting()).map(drop).unwrap_err(),
    ] {
        assert!(error.to_string().contains("core.worktree leads out"), "{error}");
    }
    // Of a submodule and a linked worktree, the working tree is where it must be.
    let trap = Trap::new();
    let linked = trap.lab.folder.with_file_name("linked");
    trap.lab.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    std::fs::write(linked.join("a"), "linked\n").unwrap();
    let below = diff(&[], &linked, &trap.lab.setting()).unwrap();
    assert!(below.text.contains("+linked"), "{below:?}");
}

#[test]
fn files_out_of_the_repository_are_not_compared() {
    let trap = Trap::new();
    let secret = trap.lab.folder.with_file_name("secret");
    std::fs::write(&secret, "my secret\n").unwrap();
    std::fs::create_dir(trap.lab.path("sub")).unwrap();
    let secret = secret.to_str().unwrap();
    for words in [
        vec!["/dev/null", secret],
        vec![secret, "a"],
        vec!["--stat", "--", "/dev/null", secret],
        vec!["../secret", "a"],
        vec!["a", "sub/../../secret"],
    ] {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let error = diff(&words, &trap.lab.folder, &trap.lab.setting()).unwrap_err();
        assert!(matches!(error, Error::Refused { .. }), "{words:?}: {error}");
    }
    let inside = trap.lab.text_path("a");
    let own = diff(&["HEAD".into(), "--".into(), inside], &trap.lab.folder, &trap.lab.setting());
    assert!(own.unwrap().text.contains("+two!"));
}

//! The guard in real repositories: whatever hooks are there, and whatever git calls it with.

use osm_claims::Reason;
use osm_testkit::tools;

use super::release::{COMMIT, GIT, PUSH};
use super::row::{Outcome, Test, test};
use super::site::{Owner, Site};

pub(crate) const TESTS: &[Test] = &[
    test!(a_hook_that_git_does_not_run_stays_so),
    test!(a_hook_that_is_a_link_stays_one),
    test!(a_guard_without_its_end_is_left_alone),
    test!(a_repository_whose_path_is_no_text_is_guarded),
    test!(a_lease_that_is_over_is_no_claim),
    test!(what_a_killed_command_held_is_not_held),
    test!(what_a_command_was_given_counts),
    test!(a_session_without_claims_is_told_what_to_do),
    test!(a_loss_blocks_until_it_is_taken_note_of),
    test!(a_loss_elsewhere_blocks_nothing),
    test!(a_work_tree_apart_from_its_repository_is_guarded),
    test!(worktrees_are_guarded_as_one_repository),
    test!(a_merge_is_refused_too),
    test!(hooks_of_every_repository_are_not_changed),
    test!(git_without_a_path_finds_the_program),
];

const INSTALL: &str = "osm claim guard install";
const REMOVE: &str = "osm claim guard remove";

/// Every hook of a folder with its mode, its text and where it leads.
const HOOKS: &str = "for it in .git/hooks/*; do stat -c '%a %N' $it; cat $it; done";

/// Takes a claim from its holder.
const TAKE: &str = "claim take work --reason urgent --even-if-alive";

#[track_caller]
fn assert_fails(owner: &mut Owner, command: &str, because: &str) -> Outcome {
    let answer = owner.sh(command)?;
    assert_ne!(answer.code, 0, "{command}: {answer:#?}");
    assert!(answer.errors.contains(because), "{command}: {answer:#?}");
    Ok(())
}

fn a_hook_that_git_does_not_run_stays_so(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    owner.sh(GIT)?.ok()?;
    site.lab.file("repo/.git/hooks/pre-commit", "#!/bin/sh\ntouch LAB/ran\n")?;
    site.lab.file("repo/.git/hooks/pre-push", "#!/usr/bin/env python3\nopen('LAB/ran', 'w')\n")?;
    owner.sh("chmod 644 .git/hooks/pre-commit .git/hooks/pre-push")?.ok()?;
    let before = owner.sh(HOOKS)?.output;
    for _ in 0..2 {
        owner.sh(INSTALL)?.ok()?;
        owner.sh(&format!("{COMMIT} && {PUSH}"))?.ok()?;
    }
    assert!(!site.path("ran").exists(), "it ran");
    owner.sh(REMOVE)?.ok()?;
    assert_eq!(owner.sh(HOOKS)?.output, before);
    // Once it may run, it does, and may refuse.
    owner.sh(INSTALL)?.ok()?;
    site.lab.file("repo/.git/hooks/pre-commit.before-osm", "#!/bin/sh\ntouch LAB/ran\nexit 3\n")?;
    assert_ne!(owner.sh(COMMIT)?.code, 0);
    assert!(site.path("ran").exists(), "it did not run");
    Ok(())
}

fn a_hook_that_is_a_link_stays_one(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    owner.sh(GIT)?.ok()?;
    owner.sh("mkdir scripts; ln -s ../../scripts/pc.sh .git/hooks/pre-commit")?.ok()?;
    owner.sh("ln -s ../../scripts/nothing .git/hooks/pre-push")?.ok()?;
    site.lab.file("repo/scripts/pc.sh", "#!/bin/sh\necho old >>LAB/ran\n")?;
    let before = owner.sh(HOOKS)?.output;
    for _ in 0..2 {
        owner.sh(INSTALL)?.ok()?;
    }
    owner.sh(&format!("{COMMIT} && {PUSH}"))?.ok()?;
    // What it leads to is edited later.
    site.lab.file("repo/scripts/pc.sh", "#!/bin/sh\necho new >>LAB/ran\n")?;
    owner.sh(COMMIT)?.ok()?;
    assert_eq!(owner.sh("cat LAB/ran")?.output, "old\nnew");
    site.lab.file("repo/scripts/pc.sh", "#!/bin/sh\necho old >>LAB/ran\n")?;
    owner.sh(REMOVE)?.ok()?;
    assert_eq!(owner.sh(HOOKS)?.output, before);
    Ok(())
}

fn a_guard_without_its_end_is_left_alone(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    owner.sh(GIT)?.ok()?;
    site.lab.file("repo/.git/hooks/pre-push", "#!/bin/sh\necho mine\n")?;
    owner.sh(INSTALL)?.ok()?;
    owner.sh("sed -i '/<<< osm/d' .git/hooks/pre-push")?.ok()?;
    let before = owner.sh(HOOKS)?.output;
    for command in ["osm claim guard install --require", REMOVE] {
        assert_fails(&mut owner, command, "hooks/pre-push contains the first line of the guard")?;
        assert_fails(&mut owner, command, "# <<< osm claim guard <<<")?;
        assert_eq!(owner.sh(HOOKS)?.output, before, "the other hooks stay as well");
    }
    Ok(())
}

fn a_repository_whose_path_is_no_text_is_guarded(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    let folder = "$(printf 'LAB/caf\\351 ')";
    owner.sh(&format!("mkdir \"{folder}\"; cd \"{folder}\"; git init -q; {GIT}"))?.ok()?;
    rival.sh(&format!("cd \"{folder}\""))?.ok()?;
    owner.sh(INSTALL)?.ok()?;
    owner.sh("grep -l 'guard check' .git/hooks/pre-commit .git/hooks/pre-push")?.ok()?;
    assert_eq!(owner.sh("set -- LAB/caf*; echo $#")?.output, "1", "no other folder is made");
    owner.claim("work")?;
    owner.sh(COMMIT)?.ok()?;
    rival.ok(TAKE)?;
    assert_fails(&mut owner, COMMIT, "urgent")?;
    owner.sh(REMOVE)?.ok()?;
    owner.sh(COMMIT)?.ok()?;
    Ok(())
}

fn a_lease_that_is_over_is_no_claim(site: &Site) -> Outcome {
    let mut owner = site.named("bob")?;
    owner.sh(GIT)?.ok()?;
    owner.ok("claim work --ttl 1s")?;
    // Another one that runs does not make up for it.
    owner.ok("claim more")?;
    owner.sh("sleep 1.1")?.ok()?;
    for install in [INSTALL, "osm claim guard install --require"] {
        owner.sh(install)?.ok()?;
        assert_fails(&mut owner, COMMIT, "work: the lease has run out")?;
    }
    let refused = owner.refused("claim guard check", Reason::LeaseOver)?;
    assert_eq!(refused["claim"]["resource"], "work");
    owner.ok("claim renew work")?;
    owner.sh(COMMIT)?.ok()?;
    Ok(())
}

fn what_a_killed_command_held_is_not_held(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    owner.sh(GIT)?.ok()?;
    owner.sh("osm claim guard install --require")?.ok()?;
    owner.sh("mkfifo LAB/never")?.ok()?;
    owner.sh("(OSM claim run work -- sh -c 'echo $$ >LAB/up; read x <LAB/never' & echo $! >LAB/osm; wait) 2>/dev/null &")?.ok()?;
    site.lab.wait_for(&site.path("up"))?;
    owner.sh(COMMIT)?.ok()?;
    owner.sh("kill -9 $(cat LAB/osm) $(cat LAB/up); wait")?.ok()?;
    assert_eq!(owner.sees("work")?["free"], true);
    owner.ok("claim guard check")?;
    owner.refused("claim guard check --require", Reason::NotHeld)?;
    assert_fails(&mut owner, COMMIT, "holds no claim")?;
    owner.claim("other")?;
    owner.sh(COMMIT)?.ok()?;
    Ok(())
}

fn what_a_command_was_given_counts(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    owner.sh(GIT)?.ok()?;
    owner.sh("osm claim guard install --require")?.ok()?;
    // Also for what it starts, whatever session that is.
    owner.sh(&format!("OSM claim run work -- env OSM_SESSION=other {COMMIT}"))?.ok()?;
    // But only where it was claimed.
    let elsewhere = format!("OSM claim run work --scope team -- env -u OSM_SCOPE {COMMIT}");
    assert_fails(&mut owner, &elsewhere, "holds no claim")?;
    owner.sh(INSTALL)?.ok()?;
    owner.sh(&elsewhere)?.ok()?;
    Ok(())
}

fn a_session_without_claims_is_told_what_to_do(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    owner.refused("claim guard check --require", Reason::NotHeld)?;
    let told = owner.sh("OSM claim guard check --require")?;
    assert_eq!(told.code, i32::from(osm::Exit::Claim(Reason::NotHeld).code()));
    let folder = site.path("repo").display().to_string();
    assert!(told.errors.contains(&format!("holds no claim in {folder}")), "{told:#?}");
    assert!(told.errors.contains("osm claim NAME"), "{told:#?}");
    // What is held elsewhere is not held here.
    owner.ok("claim work --scope elsewhere")?;
    owner.refused("claim guard check --require", Reason::NotHeld)?;
    owner.ok("claim guard check --require --scope elsewhere")?;
    Ok(())
}

fn a_loss_blocks_until_it_is_taken_note_of(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    owner.sh(GIT)?.ok()?;
    owner.sh(INSTALL)?.ok()?;
    owner.claim("work")?;
    rival.ok(TAKE)?;
    for command in [COMMIT, COMMIT] {
        assert_fails(&mut owner, command, "work: ")?;
    }
    // That it is lost is told once more; then it is known.
    owner.osm("release work")?;
    owner.sh(COMMIT)?.ok()?;
    Ok(())
}

fn a_loss_elsewhere_blocks_nothing(site: &Site) -> Outcome {
    let git = tools::program("git")?;
    site.repository(&git, "r2")?;
    site.repository(&git, "r3")?;
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    owner.sh("cd LAB/r2")?.ok()?;
    rival.sh("cd LAB/r2")?.ok()?;
    owner.claim("work")?;
    rival.ok(TAKE)?;
    owner.sh(&format!("cd LAB/r3; {GIT}; {INSTALL}"))?.ok()?;
    owner.sh(&format!("{COMMIT} && {PUSH}"))?.ok()?;
    owner.ok("claim guard check")?;
    owner.sh("cd LAB/r2")?.ok()?;
    owner.refused("claim guard check", Reason::Stale)?;
    Ok(())
}

fn a_work_tree_apart_from_its_repository_is_guarded(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    owner.sh("mkdir -p LAB/home/dot; cd LAB/home; git init -q --bare dot.git")?.ok()?;
    owner.sh("git -C dot.git config core.bare false")?.ok()?;
    owner.sh(&format!("export GIT_DIR=LAB/home/dot.git; {GIT}; {INSTALL}; unset GIT_DIR"))?.ok()?;
    let commit = &COMMIT.replace("git", "git --git-dir=dot.git --work-tree=dot");
    owner.sh(commit)?.ok()?;
    for agent in [&mut owner, &mut rival] {
        agent.sh("cd LAB/home/dot.git")?.ok()?;
    }
    owner.claim("work")?;
    rival.ok(TAKE)?;
    owner.sh("cd LAB/home")?.ok()?;
    assert_fails(&mut owner, commit, "urgent")?;
    // Nor does the repository around the work tree stand for the one that git works on.
    owner.sh("git init -q LAB/home/dot; cd LAB/home")?.ok()?;
    assert_fails(&mut owner, commit, "urgent")?;
    // A scope that is named stands for all.
    let named = owner.osm_with("GIT_DIR=dot.git", "claim guard check --scope team")?;
    assert_eq!(named.code, 0, "{named:#?}");
    Ok(())
}

fn worktrees_are_guarded_as_one_repository(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    owner.sh(GIT)?.ok()?;
    owner.sh(&format!("{INSTALL}; {COMMIT}; git worktree add -q LAB/second"))?.ok()?;
    owner.claim("work")?;
    owner.sh("cd LAB/second")?.ok()?;
    owner.sh(COMMIT)?.ok()?;
    rival.ok(TAKE)?;
    assert_fails(&mut owner, COMMIT, "urgent")?;
    Ok(())
}

fn a_merge_is_refused_too(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    owner.sh(GIT)?.ok()?;
    owner.sh(&format!("git checkout -q -b main; {COMMIT}; git checkout -q -b topic"))?.ok()?;
    owner.sh("echo x >x; git add x; git commit -q -m topic; git checkout -q main")?.ok()?;
    owner.sh(INSTALL)?.ok()?;
    owner.claim("work")?;
    let merge = "git merge -q --no-ff -m merge topic";
    owner.sh(&format!("{merge} && git reset -q --hard HEAD^"))?.ok()?;
    rival.ok(TAKE)?;
    assert_fails(&mut owner, merge, "urgent")?;
    owner.sh("git merge --abort")?.ok()?;
    assert_eq!(owner.sh("git rev-list --count HEAD")?.output, "1", "nothing came of it");
    // For these git asks no hook, as docs/claims.md says; they do not get far.
    owner.sh("git cherry-pick topic && git revert --no-edit HEAD")?.ok()?;
    assert_fails(&mut owner, PUSH, "urgent")?;
    owner.osm("release work")?;
    owner.sh(PUSH)?.ok()?;
    Ok(())
}

fn hooks_of_every_repository_are_not_changed(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    owner.sh(GIT)?.ok()?;
    owner.sh("mkdir LAB/everywhere; echo '#!/bin/sh' >LAB/everywhere/pre-commit")?.ok()?;
    let hooks = |folder: &str| format!("cd {folder}; cat *; ls; cd LAB/repo");
    let before = owner.sh(&hooks("LAB/everywhere"))?.output;
    let for_one = "export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=LAB/everywhere";
    for (set, scope, unset) in [
        ("git config --global core.hooksPath LAB/everywhere", "global", "true"),
        ("git config --global core.hooksPath '~/everywhere'", "global", "rm LAB/.gitconfig"),
        (for_one, "command", "unset GIT_CONFIG_COUNT"),
    ] {
        owner.sh(set)?.ok()?;
        let refused = owner.sh(INSTALL)?;
        assert_eq!(refused.code, 1, "{set}: {refused:#?}");
        for said in
            [scope, "LAB/everywhere", "every repository", "git config --local core.hooksPath"]
        {
            assert!(refused.errors.contains(&site.lab.spell(said)), "{said}: {refused:#?}");
        }
        assert_eq!(owner.sh(&hooks("LAB/everywhere"))?.output, before);
        owner.sh(unset)?.ok()?;
    }
    // A relative path is a folder of each repository.
    owner.sh("git config --global core.hooksPath .hooks")?.ok()?;
    owner.sh(INSTALL)?.ok()?;
    owner.sh("test -x .hooks/pre-commit && rm -r .hooks")?.ok()?;
    // The way out that is named is one.
    owner.sh("git config --global core.hooksPath LAB/everywhere")?.ok()?;
    let refused = owner.sh(INSTALL)?.errors;
    let (_, hint) = refused.split_once("git config --local").unwrap_or_default();
    let arguments = hint.split(';').next().unwrap_or_default();
    owner.sh(&format!("git config --local {arguments}"))?.ok()?;
    owner.sh("osm claim guard install --require")?.ok()?;
    assert_fails(&mut owner, COMMIT, "holds no claim")?;
    assert_eq!(owner.sh(&hooks("LAB/everywhere"))?.output, before);
    Ok(())
}

fn git_without_a_path_finds_the_program(site: &Site) -> Outcome {
    const BARE: &str = "env -i HOME=LAB PATH=/usr/bin:/bin";
    let mut owner = site.agent()?;
    owner.sh(GIT)?.ok()?;
    // A folder that a shell would take apart, and a link, as package managers make them.
    let odd = "\"LAB/it's \\$(touch hit) before-osm\"";
    owner.sh(&format!("mkdir {odd}; mv LAB/bin/osm {odd}; PATH={odd}:$PATH"))?.ok()?;
    owner.sh("osm claim guard install --require")?.ok()?;
    let bare = format!("{BARE} {COMMIT}");
    assert_fails(&mut owner, &bare, "holds no claim")?;
    owner.claim("work")?;
    owner.sh(&bare)?.ok()?;
    owner.sh("grep -q 'before-osm' .git/hooks/pre-commit; test ! -e hit")?.ok()?;
    // The program was moved: it is found in PATH, if it is there.
    owner.sh(&format!("mv {odd}/osm LAB/bin/osm; hash -r"))?.ok()?;
    owner.sh(COMMIT)?.ok()?;
    assert_fails(&mut owner, &bare, "cannot check claims: ")?;
    assert_fails(&mut owner, &bare, "/osm is gone, and osm is not in PATH")?;
    assert_fails(&mut owner, &bare, "osm claim guard install")?;
    owner.sh(&format!("{INSTALL} && {bare} && {REMOVE} && {bare}"))?.ok()?;
    Ok(())
}

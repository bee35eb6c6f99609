//! Paths of real worktrees: every spelling of a file is one file, and what overlaps is excluded.

use osm_claims::Reason;
use osm_testkit::tools;

use super::release::GIT;
use super::row::{Outcome, Test, test};
use super::site::{Owner, Site};

pub(crate) const TESTS: &[Test] = &[
    test!(every_spelling_of_a_file_is_one_file),
    test!(every_overlap_is_excluded),
    test!(a_glob_is_what_no_file_is_called),
    test!(paths_are_resources_of_every_command),
    test!(readers_share_and_a_waiting_writer_comes_first),
    test!(a_killed_holder_frees_its_folder),
    test!(another_worktree_is_told_and_not_stopped),
    test!(what_is_not_in_the_worktree_is_refused),
    test!(a_file_of_two_names_is_one),
    test!(a_commit_does_not_sweep_up_what_others_hold),
];

/// A worktree with a file, a link to its folder, and a second name of the file.
fn prepare(owner: &mut Owner) -> Outcome {
    let files = "mkdir -p src/auth/deep && echo 1 >src/auth/x.rs && ln -s src/auth link && ln -s x.rs src/auth/y.rs";
    Ok(owner.sh(files)?.ok()?)
}

/// `osm claim path` with a word, in a folder of the repository.
fn claim_in(owner: &mut Owner, folder: &str, word: &str) -> Result<super::site::Said, tools::Stop> {
    owner.osm_with(&format!("cd LAB/repo/{folder} &&"), &format!("claim path {word}"))
}

fn every_spelling_of_a_file_is_one_file(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    prepare(&mut owner)?;
    assert_eq!(owner.ok("claim path src/auth/x.rs")?["claim"]["resource"], "path:src/auth/x.rs");
    for (folder, word) in [
        (".", "src/auth/x.rs"),
        (".", "./src/auth/x.rs"),
        (".", "src//auth///x.rs"),
        (".", "src/auth/deep/../x.rs"),
        (".", "missing/../src/auth/x.rs"),
        (".", "LAB/repo/src/auth/x.rs"),
        (".", "link/x.rs"),
        (".", "link/deep/../x.rs"),
        (".", "src/auth/y.rs"),
        ("src/auth", "x.rs"),
        ("src/auth/deep", "../x.rs"),
    ] {
        let said = claim_in(&mut rival, folder, word)?;
        said.assert_refused(Reason::Held);
        assert_eq!(said.json["resource"], "path:src/auth/x.rs", "{word} in {folder}");
        let own = claim_in(&mut owner, folder, word)?;
        assert_eq!((own.code, &own.json["fresh"]), (0, &false.into()), "{word} in {folder}");
    }
    // A new file below a link is where the link leads.
    let made = claim_in(&mut owner, ".", "link/new.rs")?;
    assert_eq!(made.json["claim"]["resource"], "path:src/auth/new.rs");
    Ok(())
}

fn every_overlap_is_excluded(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    prepare(&mut owner)?;
    for (held, wanted) in [
        ("src/auth/x.rs", "src/auth"),
        ("src", "src/auth/new/er.rs"),
        ("src/auth/", "'src/*/x.rs'"),
        ("'src/auth/*.rs'", "'src/auth/x*'"),
        ("'**/x.rs'", "link/"),
        (".", "anything"),
        ("src/auth", "src"),
    ] {
        let claim = owner.ok(&format!("claim path {held}"))?;
        let resource = claim["claim"]["resource"].as_str().unwrap_or_default().to_owned();
        let no = rival.refused(&format!("claim path {wanted}"), Reason::Held)?;
        assert_eq!(no["claim"]["resource"], resource.as_str(), "{held} and {wanted}");
        let message = no["message"].as_str().unwrap_or_default();
        assert!(message.contains(&format!("holds {resource}")), "{message}");
        owner.ok(&format!("release '{resource}'"))?;
    }
    let both = owner.ok("claim path 'src/*.rs' docs/")?;
    assert_eq!(both["claims"].as_array().map(Vec::len), Some(2), "{both:#}");
    rival.refused("claim path free.txt docs/a.md", Reason::Held)?;
    assert_eq!(rival.ok("claim mine")?["held"].as_array().map(Vec::len), Some(0), "all or none");
    rival.ok("claim path 'src/*.md'")?;
    Ok(())
}

fn a_glob_is_what_no_file_is_called(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    owner.sh("mkdir -p 'app/[id]' && touch 'app/[id]/page.tsx'")?.ok()?;
    let page = owner.ok("claim path 'app/[id]/page.tsx'")?;
    assert_eq!(page["claim"]["path"], "app/[id]/page.tsx");
    let mut rival = site.agent()?;
    rival.ok("claim path app/i/page.tsx")?;
    rival.refused("claim path 'app/[[]id]/*'", Reason::Held)?;
    let said = rival.osm("claim path 'src/[a'")?;
    assert_eq!((said.code, &said.json["reason"]), (2, &"invalid_path".into()), "{said:#?}");
    Ok(())
}

fn paths_are_resources_of_every_command(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    prepare(&mut owner)?;
    owner.ok("claim path:src/auth/ --note 'the login'")?;
    let seen = rival.sees("path:src/auth/")?;
    assert_eq!((&seen["path"], &seen["worktree"]), (&"src/auth/".into(), &().into()), "{seen:#}");
    owner.ok("claim check path:src/auth/")?;
    // What osm prints means the same in every folder.
    let below = owner.osm_with("cd LAB/repo/src &&", "claim check path:src/auth/")?;
    assert_eq!(below.code, 0, "{below:#?}");
    owner.ok("claim renew path:src/auth/")?;
    owner.ok("claim note path:src/auth/ 'half done'")?;
    let why = rival.ok("claim why path:src/auth/x.rs")?;
    assert_eq!(why["claim"]["resource"], "path:src/auth/", "{why:#}");
    let to = rival.session()?;
    owner.ok(&format!("claim handoff path:src/auth/ --to {to}"))?;
    rival.ok("claim accept path:src/auth/")?;
    owner.ok("claim take path:src/auth/ --reason mine --even-if-alive --dry-run")?;
    owner.ok("claim take path:src/auth/ --reason mine --even-if-alive")?;
    rival.ok("release path:src/auth/")?;
    owner.ok("release path:src/auth/")?;
    assert_eq!(
        owner.story("path:src/auth/")?,
        ["granted", "noted", "offered", "handed_off", "granted", "taken", "granted", "released"]
    );
    owner.ok("claim next path:src/auth/ TASK-1")?;
    let ran =
        owner.sh("OSM claim run path:src/ -- sh -c 'OSM claim check \"$OSM_CLAIM_RESOURCE\"'")?;
    assert_eq!(ran.code, 0, "{ran:#?}");
    Ok(())
}

fn readers_share_and_a_waiting_writer_comes_first(site: &Site) -> Outcome {
    let (mut reader, mut writer, mut late) = (site.agent()?, site.agent()?, site.agent()?);
    reader.ok("claim path --shared src/")?;
    late.ok("claim path --shared src/")?;
    late.ok("release path:src/")?;
    let begun = writer.begin("OSM claim path src/a.rs --wait 60s --json")?;
    writer.await_watch()?;
    late.refused("claim path --shared src/", Reason::WriterWaits)?;
    reader.ok("release path:src/")?;
    assert_eq!(writer.finish(&begun)?.code, 0);
    late.refused("claim path --shared src/", Reason::Held)?;
    writer.ok("release path:src/a.rs")?;
    late.ok("claim path --shared src/")?;
    // A writer that gave up is forgotten.
    assert_ne!(writer.sh("OSM claim path src/ --wait 0s")?.code, 0);
    reader.ok("claim path --shared src/")?;
    Ok(())
}

fn a_killed_holder_frees_its_folder(site: &Site) -> Outcome {
    let (mut one, mut other, mut waiter) = (site.agent()?, site.agent()?, site.agent()?);
    one.ok("claim path --shared src/")?;
    other.ok("claim path --shared src/auth/")?;
    let begun = waiter.begin("OSM claim path src/auth/x.rs --wait 60s --json")?;
    waiter.await_watch()?;
    one.kill()?;
    waiter.await_watch()?;
    other.kill()?;
    let answer = waiter.finish(&begun)?;
    assert_eq!(answer.code, 0, "the last colliding claim ended: {answer:#?}");
    Ok(())
}

fn another_worktree_is_told_and_not_stopped(site: &Site) -> Outcome {
    let (mut owner, mut other) = (site.agent()?, site.agent()?);
    owner
        .sh("git config user.name x; git config user.email x@x; git commit -q --allow-empty -m x")?
        .ok()?;
    owner.sh("git worktree add -q -b feature LAB/second")?.ok()?;
    owner.ok("claim path src/a.rs")?;
    other.sh("cd LAB/second")?.ok()?;
    let answer = other.sh("OSM claim path src/a.rs")?;
    assert_eq!(answer.code, 0, "{answer:#?}");
    assert!(answer.output.contains("meets yours at merge: path:src/a.rs of "), "{answer:#?}");
    other.ok("release path:src/a.rs")?;
    let json = other.ok("claim path src/")?;
    let met = &json["meets_at_merge"][0];
    assert_eq!(met["resource"], "path:src/a.rs", "{json:#}");
    assert_eq!(json["claim"]["worktree"], "second");
    other.ok("release path:src/")?;
    other.refused("claim path --everywhere src/a.rs", Reason::Held)?;
    owner.ok("release path:src/a.rs")?;
    other.ok("claim path --everywhere src/a.rs")?;
    owner.refused("claim path src/a.rs", Reason::Held)?;
    Ok(())
}

fn what_is_not_in_the_worktree_is_refused(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    site.repository(&tools::program("git")?, "other")?;
    owner.sh("ln -s LAB/other out")?.ok()?;
    for word in ["..", "../other/x", "/etc/passwd", "out/x", "src/../../x"] {
        let said = owner.osm(&format!("claim path {word}"))?;
        assert_eq!((said.code, &said.json["reason"]), (2, &"invalid_path".into()), "{said:#?}");
        assert!(said.errors.contains("is not in the worktree"), "{said:#?}");
    }
    let said = owner.osm_with("cd LAB &&", "claim path x")?;
    assert!(said.errors.contains("not in a Git repository"), "{said:#?}");
    let bytes = owner.osm("claim path \"$(printf 'a\\377')\"")?;
    assert!(bytes.errors.contains("UTF-8"), "{bytes:#?}");
    Ok(())
}

fn a_file_of_two_names_is_one(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    owner.sh("mkdir a b; echo 1 >a/one; ln a/one b/two; echo 2 >b/three")?.ok()?;
    owner.ok("claim path a/one")?;
    rival.refused("claim path b/two", Reason::Held)?;
    rival.ok("claim path b/three")?;
    Ok(())
}

fn a_commit_does_not_sweep_up_what_others_hold(site: &Site) -> Outcome {
    let (mut owner, mut other) = (site.agent()?, site.agent()?);
    owner.sh(GIT)?.ok()?;
    other.sh("export PATH=LAB/bin:$PATH")?.ok()?;
    owner
        .sh(
            "mkdir src docs; echo 1 >src/a.rs; echo 1 >docs/b.md; git add -A; git commit -qm first",
        )?
        .ok()?;
    owner.sh("osm claim guard install")?.ok()?;
    owner.ok("claim path src/")?;
    // Both changed something; one of them takes all of it.
    other.sh("echo 2 >src/a.rs; echo 2 >docs/b.md; git add -A")?.ok()?;
    let swept = other.sh("git commit -qm sweep")?;
    assert_ne!(swept.code, 0, "{swept:#?}");
    assert!(swept.errors.contains("path:src/a.rs: already claimed"), "{swept:#?}");
    other.sh("git restore --staged src && git commit -qm mine")?.ok()?;
    owner.sh("git add src && git commit -qm mine")?.ok()?;
    // Both ends of a rename, and a deletion, are changes.
    for command in ["git mv docs/b.md src/b.md", "git mv src/a.rs a.rs", "git rm -q src/a.rs"] {
        other.sh(command)?.ok()?;
        let refused = other.sh("git commit -qm moved")?;
        assert_ne!(refused.code, 0, "{command}: {refused:#?}");
        other.sh("git reset -q --hard")?.ok()?;
    }
    // What is given to the commit on its command line counts, and nothing else.
    other.sh("echo 3 >src/a.rs; echo 3 >docs/b.md; git add -A")?.ok()?;
    other.sh("git commit -qm partly docs/b.md")?.ok()?;
    assert_ne!(other.sh("git commit -qam all")?.code, 0);
    owner.kill()?;
    other.sh("git commit -qam all")?.ok()?;
    Ok(())
}

//! What people and models type at `osm claim`, and what a session leaves to the next one: losses,
//! notes, the worktree with its uncommitted files.

use osm_claims::Reason;
use serde_json::{Value, json};

use super::release::GIT;
use super::row::{Outcome, Test, test};
use super::site::{Site, epoch, token};

pub(crate) const TESTS: &[Test] = &[
    test!(verbs_of_other_tools_are_no_resources),
    test!(several_resources_are_claimed_together_or_not_at_all),
    test!(a_loss_is_acknowledged_once),
    test!(a_note_is_changed_and_handed_over),
    test!(a_successor_sees_what_a_dead_owner_left),
    test!(a_check_after_a_crash_names_resume),
];

fn verbs_of_other_tools_are_no_resources(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    for (words, meant) in [
        ("list", "osm claims"),
        ("ls", "osm claims"),
        ("status", "osm claim why RESOURCE"),
        ("show TASK-7", "osm claim why RESOURCE"),
        ("help", "osm claim --help"),
        ("--json list", "osm claims"),
        ("release TASK-7", "osm release RESOURCE"),
        ("TASK-7 release", "osm release RESOURCE"),
        ("acquire TASK-7", "osm claim RESOURCE"),
        ("start TASK-7", "osm claim RESOURCE"),
        ("history", "osm claim log"),
        ("TASK-7 next", "osm claim next …"),
    ] {
        let refused = owner.sh(&format!("OSM claim {words}"))?;
        assert_eq!(refused.code, 2, "{words}: {refused:#?}");
        let told = refused.errors + &refused.output;
        assert!(told.contains(&format!("{meant}; a resource of that name")), "{words}: {told}");
    }
    assert_eq!(owner.ok("claims --all")?, json!([]), "nothing was claimed");
    owner.sh("OSM claim -- list && OSM claim start && OSM release list start")?.ok()?;
    Ok(())
}

fn several_resources_are_claimed_together_or_not_at_all(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    let both = owner.ok("claim a b --note together")?;
    let names: Vec<&Value> = both["claims"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| &it["claim"]["resource"])
        .collect();
    assert_eq!(names, ["a", "b"], "{both:#}");
    let refused = rival.refused("claim c b d", Reason::Held)?;
    assert_eq!(refused["resource"], "b", "{refused:#}");
    assert_eq!(rival.ok("claim mine")?["held"], json!([]));
    assert_eq!(rival.ok("claim log c")?, json!([]), "it was never granted");
    assert_eq!(owner.osm("claim e f --request r")?.code, 2, "one id cannot name two claims");
    // All of them are waited for.
    let waiting = rival.begin("OSM claim c b d --wait 10m --json")?;
    rival.await_watch()?;
    owner.ok("release b")?;
    super::site::said(rival.finish(&waiting)?).json["claims"][2]["granted"]
        .as_bool()
        .filter(|it| *it)
        .expect("the third is granted, too");
    let text = owner.sh("OSM claim e f e")?;
    assert_eq!(text.output.lines().count(), 3, "{text:#?}");
    Ok(())
}

fn a_loss_is_acknowledged_once(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    let take = "claim take work --reason 'more urgent' --even-if-alive";
    let old = token(&owner.ok("claim work")?["claim"]);
    rival.ok(take)?;
    // Work that was lost is not completed, and an old epoch releases nothing.
    owner.refused(&format!("release work --epoch {old}"), Reason::Stale)?;
    rival.ok("release work")?;
    owner.claim("work")?;
    rival.ok(take)?;
    owner.refused("release work --done", Reason::Stale)?;
    rival.ok("claim check work")?;
    rival.ok("release work")?;
    owner.claim("work")?;
    rival.ok(take)?;
    let told = owner.sh("OSM release work")?;
    assert_eq!((told.code, told.errors.as_str()), (0, ""), "{told:#?}");
    assert!(told.output.contains("work was no longer yours: "), "{told:#?}");
    assert!(told.output.contains("more urgent"), "{told:#?}");
    owner.refused("release work", Reason::Stale)?;
    rival.ok("claim check work")?;
    Ok(())
}

fn a_note_is_changed_and_handed_over(site: &Site) -> Outcome {
    let (mut owner, mut other) = (site.agent()?, site.agent()?);
    owner.ok("claim work --note first")?;
    other.refused("claim note work mine", Reason::NotHeld)?;
    let noted = owner.ok(r#"claim note work 'a\tb \"c\"'"#)?;
    assert_eq!(noted["claim"]["note"], r#"a\tb \"c\""#);
    assert_eq!(other.sees("work")?["note"], noted["claim"]["note"]);
    owner.ok("claim note work ''")?;
    assert_eq!(other.sees("work")?["note"], Value::Null);
    owner.ok("claim note work 'tests are red'")?;
    assert_eq!(owner.story("work")?, ["granted", "noted", "noted", "noted"]);
    let session = other.session()?;
    owner.ok(&format!("claim handoff work --to {session} --note 'see branch x'"))?;
    let told = other.sh("OSM claim accept work")?;
    told.ok()?;
    for note in ["note: tests are red", "note: see branch x"] {
        assert!(told.output.contains(note), "{told:#?}");
    }
    assert_eq!(other.sees("work")?["note"], "tests are red", "it stays with the work");
    owner.refused("claim note work late", Reason::Stale)?;
    Ok(())
}

fn a_successor_sees_what_a_dead_owner_left(site: &Site) -> Outcome {
    let (mut owner, mut other) = (site.agent()?, site.agent()?);
    owner.sh(GIT)?.ok()?;
    owner.sh("git commit -q --allow-empty -m x && git worktree add -q -b fix LAB/tree")?.ok()?;
    owner.sh("cd LAB/tree")?.ok()?;
    owner.ok("claim work swept --note 'half done'")?;
    // The branch is made after the claim.
    owner
        .sh("git switch -q -c fix-7 && echo x >new.txt && echo y >'b c' && git add 'b c'")?
        .ok()?;
    owner.kill()?;
    let next = other.ok("claim work")?;
    let left = &next["predecessor"]["left"];
    assert_eq!(left["worktree"], site.path("tree").display().to_string().as_str(), "{next:#}");
    assert_eq!(left["branch"], "fix-7");
    assert_eq!(left["uncommitted"], json!([r#"A  "b c""#, "?? new.txt"]));
    assert_eq!(next["predecessor"]["note"], "half done");
    assert_eq!(next["claim"]["note"], Value::Null, "it is not the successor's note");
    // A claim that was swept has a successor, too.
    assert_eq!(other.ok("claim sweep")?["counts"]["freed"], 1);
    let text = other.sh("OSM claim swept")?;
    for line in ["  note: half done", ", branch fix-7: 2 uncommitted files", "    ?? new.txt"] {
        assert!(text.output.contains(line), "{line}: {text:#?}");
    }
    // What is released leaves nothing, and a worktree that is gone is said to be gone.
    other.ok("release work swept")?;
    assert_eq!(other.ok("claim work")?["predecessor"], Value::Null);
    let mut third = site.agent()?;
    third.sh("cd LAB/tree")?.ok()?;
    third.claim("other")?;
    third.kill()?;
    other.sh("git worktree remove --force LAB/tree")?.ok()?;
    let text = other.sh("OSM claim other")?;
    assert!(text.output.contains("tree, branch fix-7, which is gone"), "{text:#?}");
    Ok(())
}

fn a_check_after_a_crash_names_resume(site: &Site) -> Outcome {
    let mut agent = site.conversation("talk")?;
    agent.ok("claim work --note 'half done'")?;
    agent.kill()?;
    let mut resumed = site.conversation("talk")?;
    for words in ["claim check work", "release work"] {
        let refused = resumed.refused(words, Reason::NotHeld)?;
        assert_eq!(refused["remedy"], "take it over: osm claim resume work", "{refused:#}");
        let message = refused["message"].as_str().unwrap_or_default();
        assert!(message.contains("an earlier process of this session held it"), "{message}");
    }
    let refused = resumed.refused("claim check other", Reason::NotHeld)?;
    assert_eq!(refused["remedy"], "list what this session holds: osm claim mine");
    let taken = resumed.ok("claim resume work")?;
    assert_eq!(taken["resumed"][0]["note"], "half done", "{taken:#}");
    assert_eq!(taken["resumed"][0]["predecessor"]["left"]["exists"], true, "{taken:#}");
    assert_eq!(epoch(&resumed.ok("claim check work")?["claim"]), 2);
    Ok(())
}

//! `osm claim next` from lists of work: files, commands, settings; and what of it is finished.

use osm_claims::Reason;
use serde_json::Value;

use super::row::{Outcome, Test, test};
use super::site::{Owner, Site};

pub(crate) const TESTS: &[Test] = &[
    test!(open_tasks_of_a_checklist_are_claimed_in_their_order),
    test!(a_command_that_prints_json_is_a_work_list),
    test!(a_list_that_cannot_be_used_claims_nothing),
    test!(a_list_in_the_settings_is_enough),
    test!(a_repository_names_no_command),
    test!(finished_work_is_listed_until_it_is_claimed_again),
];

/// What `osm claim next` got.
#[track_caller]
fn next(owner: &mut Owner, options: &str) -> Result<String, osm_testkit::tools::Stop> {
    let granted = owner.ok(&format!("claim next {options}"))?;
    Ok(granted["claim"]["resource"].as_str().unwrap_or_default().to_owned())
}

/// That a command fails with this code and message, and leaves nothing claimed.
#[track_caller]
fn assert_fails(owner: &mut Owner, words: &str, code: u8, because: &str) -> Outcome {
    let said = owner.osm(words)?;
    assert_eq!(said.code, i32::from(code), "osm {words}: {said:#?}");
    let text = said.json.to_string() + &owner.sh(&format!("OSM {words}"))?.errors;
    assert!(text.contains(because), "osm {words}: {text}");
    assert_eq!(owner.ok("claims")?, Value::Array(Vec::new()));
    Ok(())
}

fn open_tasks_of_a_checklist_are_claimed_in_their_order(site: &Site) -> Outcome {
    let (mut one, mut other) = (site.agent()?, site.agent()?);
    let list = "# Plan\n\n- [x] TASK-1 begin\n- [ ] TASK-2: log in\n- [ ] **TASK-3** log out\n";
    site.lab.file("TASKS.md", list)?;
    assert_eq!(next(&mut one, "--from LAB/TASKS.md")?, "TASK-2");
    assert_eq!(next(&mut other, "--from LAB/TASKS.md")?, "TASK-3");
    other.refused("claim next --from LAB/TASKS.md", Reason::NothingFree)?;
    // A list in which everything is done is a list.
    other.sh("sed -i 's/ \\[ \\]/ [x]/' LAB/TASKS.md")?.ok()?;
    other.refused("claim next --from - <LAB/TASKS.md", Reason::NothingFree)?;
    Ok(())
}

fn a_command_that_prints_json_is_a_work_list(site: &Site) -> Outcome {
    let (mut one, mut other) = (site.agent()?, site.agent()?);
    site.lab.file("ready.json", "[\n {\"id\": \"bd-1\", \"title\": \"x\"},\n {\"id\": 2}\n]\n")?;
    let ready = "--from-command 'cat LAB/ready.json; echo noise >&2' --field id";
    assert_eq!(next(&mut one, ready)?, "bd-1");
    assert_eq!(next(&mut other, ready)?, "2");
    other.refused(&format!("claim next {ready}"), Reason::NothingFree)?;
    // It runs in a shell, in the working directory; without a field it prints lines.
    site.lab.file("repo/lines", "x\n")?;
    assert_eq!(next(&mut one, "bd-1 --from-command 'sort lines | tail -n 1'")?, "x");
    Ok(())
}

fn a_list_that_cannot_be_used_claims_nothing(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    site.lab.file("twice.md", "- [ ] Write docs\n- [ ] Write tests\n")?;
    site.lab.file("lines.json", "{\"id\":\"a\"}\n{\"name\":\"b\"}\n")?;
    for (words, code, because) in [
        ("--from LAB/twice.md", 2, "invalid candidate on line 2 of "),
        ("--from LAB/lines.json --field id", 2, "invalid candidate on line 2 of "),
        ("--from LAB/lines.json", 2, "--field id"),
        ("--from LAB/none", 1, "cannot read the candidates in "),
        ("--from-command 'echo no database >&2; exit 3'", 1, "exit code 3: no database"),
        ("--from-command true", 1, "printed no candidates"),
        ("--from-command 'echo oops' --field id", 2, "invalid JSON"),
        ("--from-command ''", 2, ""),
        ("--from LAB/twice.md --from-command true", 2, ""),
        ("a --field id", 2, ""),
    ] {
        assert_fails(&mut owner, &format!("claim next {words}"), code, because)?;
    }
    Ok(())
}

fn a_list_in_the_settings_is_enough(site: &Site) -> Outcome {
    let (mut one, mut other) = (site.agent()?, site.agent()?);
    assert_fails(&mut one, "claim next", 2, "osm config set claims.next.from")?;
    site.lab.file("repo/TASKS.md", "- [ ] TASK-1\n- [ ] TASK-2\n")?;
    one.sh("OSM config set claims.next.from TASKS.md; mkdir -p below; cd below")?.ok()?;
    assert_eq!(next(&mut one, "")?, "TASK-1", "from the top of the worktree");
    assert_eq!(next(&mut other, "")?, "TASK-2");
    assert_eq!(next(&mut other, "other")?, "other", "candidates come in place of the list");
    one.sh("OSM config set claims.next.from_command \"echo '[{\\\"n\\\":9}]'\"")?.ok()?;
    one.sh("OSM config set claims.next.field n")?.ok()?;
    let both = one.sh("OSM claim next")?;
    assert!(both.code == 1 && both.errors.contains("are both set"), "{both:#?}");
    one.sh("OSM config unset claims.next.from")?.ok()?;
    assert_eq!(next(&mut one, "")?, "9");
    Ok(())
}

fn a_repository_names_no_command(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    let text =
        "claims.next.from_command = 'touch LAB/ran; echo a'\nclaims.next.from = 'TASKS.md'\n";
    owner.sh("mkdir .osm")?.ok()?;
    site.lab.file("repo/.osm/config.toml", text)?;
    site.lab.file("repo/TASKS.md", "a\n")?;
    assert_fails(&mut owner, "claim next", 2, "no work list is set")?;
    assert!(!site.path("ran").exists(), "a command of the repository ran");
    Ok(())
}

fn finished_work_is_listed_until_it_is_claimed_again(site: &Site) -> Outcome {
    let (mut one, mut other) = (site.agent()?, site.agent()?);
    assert_eq!(other.ok("claims --done")?, Value::Array(Vec::new()));
    for name in ["b", "a", "dropped"] {
        one.ok(&format!("claim {name} --note 'of {name}'"))?;
    }
    one.ok("release a b --done")?;
    one.ok("release dropped")?;
    let done = |owner: &mut Owner| -> Result<Vec<String>, osm_testkit::tools::Stop> {
        let rows = owner.ok("claims --done")?;
        let rows = rows.as_array().cloned().unwrap_or_default();
        assert!(rows.iter().all(|it| it["ended"]["how"] == "completed"), "{rows:#?}");
        Ok(rows.iter().filter_map(|it| Some(it["resource"].as_str()?.to_owned())).collect())
    };
    assert_eq!(done(&mut other)?, ["a", "b"]);
    let shown = other.sh("OSM claims --done")?.output;
    assert!(shown.contains("of a") && shown.contains("DONE"), "{shown}");
    other.ok("claim a --reopen")?;
    assert_eq!(done(&mut other)?, ["b"]);
    other.ok("claim next c --scope elsewhere")?;
    other.ok("release c --done --scope elsewhere")?;
    assert_eq!(done(&mut other)?, ["b"]);
    let all = other.ok("claims --done --all")?;
    assert_eq!(all.as_array().map(Vec::len), Some(2), "{all:#}");
    Ok(())
}

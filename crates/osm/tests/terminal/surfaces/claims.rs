//! Claims: resources, notes, reasons, owners, repositories, and the hooks of the guard.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;

use super::Surface;
use crate::site::Site;

pub(super) const SURFACES: &[Surface] = &[
    ("resources and notes", resources),
    ("reasons", reasons),
    ("owners", owners),
    ("the repository", repository),
    ("hooks", hooks),
];

fn texts(site: &Site, words: &[&str]) -> Vec<OsString> {
    words.iter().map(|word| site.hostile.argument(word).into()).collect()
}

fn resources(site: &mut Site) {
    site.git(&["init", "-q"]);
    let texts = texts(site, &["resource", "note", "scope"]);
    for command in [
        "$OSM claim \"$1\" --note \"$2\"; $OSM claims; $OSM claims --json; $OSM claim why \"$1\"",
        "$OSM claim \"$1\" --note \"$2\"; $OSM --session other claim \"$1\"; $OSM claim mine; $OSM claim log",
        "$OSM claim \"$1\" --note \"$2\"; $OSM release \"$1\" --done; $OSM claim \"$1\"; $OSM claims --all; $OSM claims --done",
        "$OSM claim \"$1\" --note \"$2\" --scope \"$3\"; $OSM claims --all; $OSM claim log --scope \"$3\"",
        "$OSM claim check \"$1\"; $OSM claim renew \"$1\"; $OSM release \"$1\"; $OSM claim accept \"$1\"",
        "$OSM claim next \"$1\" \"$2\"; $OSM claim run \"$1\" -- true; $OSM claim why \"$1\" --json",
        "$OSM claim run R -- \"$1\"; $OSM claim handoff R --to \"$1\"",
        "$OSM claim \"$1\" --note \"$2\"; $OSM; $OSM --json; $OSM --short; $OSM --session other; $OSM doctor",
    ] {
        site.script_shows(command, &texts, &["resource"]);
    }
}

fn reasons(site: &mut Site) {
    site.git(&["init", "-q"]);
    let texts = texts(site, &["why", "resource"]);
    site.script_shows(
        "$OSM claim R; $OSM --session other claim take R --reason \"$1\" --even-if-alive
        $OSM claim mine; $OSM claim log; $OSM claim guard check; $OSM claim why R",
        &texts,
        &["why"],
    );
}

fn owners(site: &mut Site) {
    site.git(&["init", "-q"]);
    let texts = texts(site, &["name"]);
    site.script_shows(
        "$OSM --session \"$1\" claim R; $OSM claim R; $OSM claims; $OSM claim why R",
        &texts,
        &[],
    );
    // A program whose name is hostile, so that it is the process that owns the claim.
    let program = site.tree().join(site.hostile.name("shell"));
    std::fs::copy("/bin/sh", &program).unwrap();
    site.unset("OSM_SESSION");
    site.script_shows(
        "\"$1\" -c '$OSM whoami; $OSM claim R; $OSM claims; $OSM session id --explain; $OSM claim why R; :'",
        &[program.into_os_string()],
        &["shell"],
    );
}

fn repository(site: &mut Site) {
    let name = site.hostile.name("folder");
    let folder = site.tree().join(&name);
    std::fs::create_dir(&folder).unwrap();
    site.git(&["init", "-q", &name]);
    site.script_shows(
        "cd \"$1\" && $OSM claim R; $OSM claims --all; $OSM whoami; $OSM claim why R; $OSM claim guard install",
        &[folder.into_os_string()],
        &["folder"],
    );
}

fn hooks(site: &mut Site) {
    site.git(&["init", "-q"]);
    let hook = site.write("tree/.git/hooks/pre-commit", site.hostile.text("#!/bin/sh\n# hook"));
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    site.shows(&["claim", "guard", "install"], &[]);
    site.shows(&["claim", "guard", "install"], &[]);
    site.shows(&["claim", "guard", "remove"], &[]);
    let folder = site.tree().join(site.hostile.name("hooks"));
    site.git(&["config", "core.hooksPath", folder.to_str().unwrap()]);
    site.shows(&["claim", "guard", "install"], &["hooks"]);
    std::fs::create_dir_all(&folder).unwrap();
    site.shows(&["claim", "guard", "install"], &["hooks"]);
    site.shows(&["claim", "guard", "remove"], &["hooks"]);
    // What Git says of its configuration.
    site.write("tree/.git/config", site.hostile.text("[core]\n\tworktree = word"));
    site.shows(&["claim", "guard", "install"], &[]);
    site.shows(&["claim", "R"], &[]);
}

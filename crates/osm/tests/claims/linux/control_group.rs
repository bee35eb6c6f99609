//! Commands that run under a claim in a control group of their own: one that is delegated to an ordinary
//! user, as systemd does it for terminals and services.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use osm_testkit::tools::{Skipped, Stop, root};

use super::child::{DETACHED, await_state, inner, pids, state};
use super::row::{Outcome, Test, test};
use super::site::{Owner, Site};

pub(crate) const TESTS: &[Test] = &[
    test!(a_lost_claim_stops_what_became_another_user),
    test!(what_a_command_leaves_behind_goes_on),
];

const AS_USER: &str = "setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=LAB/n";

struct Delegated(PathBuf);

impl Delegated {
    fn new(owner: &mut Owner<'_>, name: &str) -> Result<Self, Stop> {
        let mounts = fs::read_to_string("/proc/self/mountinfo")?;
        let mount = mounts.lines().find(|line| line.contains(" - cgroup2 "));
        let mount = mount.and_then(|line| line.split(' ').nth(4));
        let mount = mount.ok_or_else(|| Skipped("no control groups (version 2)".into()))?;
        let group = Self(format!("{mount}/osm-test-{}-{name}", std::process::id()).into());
        owner.sh("mkdir LAB/n && chown 65534:65534 LAB/n && chmod 1777 LAB")?.ok()?;
        owner.sh(&format!("mkdir {0} && chown -R 65534:65534 {0}", group.0.display()))?.ok()?;
        Ok(group)
    }

    /// The command line that runs `osm claim run` for the user, inside this group.
    fn run(&self) -> String {
        let enter = format!("echo 0 >{}/cgroup.procs; exec \"$@\"", self.0.display());
        format!("sh -c '{enter}' sh {DETACHED} {AS_USER} OSM claim run work -- sh LAB/script.sh")
    }

    /// The groups of commands that are there.
    fn commands(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten().map(|it| it.path());
        entries.filter(|it| it.is_dir()).collect()
    }
}

impl Drop for Delegated {
    fn drop(&mut self) {
        let _killed = fs::write(self.0.join("cgroup.kill"), "1");
        for _ in 0..200 {
            for group in self.commands() {
                let _busy = fs::remove_dir(group);
            }
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// A user may send no signal to it, and it ignores those of others.
fn a_lost_claim_stops_what_became_another_user(site: &Site) -> Outcome {
    root()?;
    let mut owner = site.agent()?;
    let group = Delegated::new(&mut owner, "lost")?;
    owner.sh("cp \"$(command -v setpriv)\" LAB/become && chmod 4755 LAB/become")?.ok()?;
    let told = "echo $$ >LAB/inner.tmp; mv LAB/inner.tmp LAB/inner";
    site.lab
        .file("inner.sh", &format!("trap '' TERM HUP\n{told}\nwhile :; do sleep 0.1; done\n"))?;
    site.lab.file(
        "script.sh",
        "LAB/become --reuid 0 --regid 0 --clear-groups setsid sh LAB/inner.sh &\nexec sleep 1000\n",
    )?;
    let run = owner.begin(&group.run())?;
    let inner = inner(site)?;
    assert_eq!(group.commands().len(), 1);
    let take = "claim take work --reason mine --even-if-alive";
    let taken = site.agent()?.osm_with(AS_USER, take)?;
    assert_eq!(taken.code, 0, "{taken:#?}");
    let ended = owner.finish(&run)?;
    assert_eq!(ended.code, 7, "{ended:#?}");
    await_state(inner, 'Z')?;
    assert_eq!(group.commands(), [] as [PathBuf; 0], "the group ends with its command");
    Ok(())
}

fn what_a_command_leaves_behind_goes_on(site: &Site) -> Outcome {
    root()?;
    let mut owner = site.agent()?;
    let group = Delegated::new(&mut owner, "left")?;
    // Of one that was killed, and had no time to remove it.
    fs::create_dir(group.0.join("osm-claim-4194305"))?;
    let told = "echo $$ $PPID >LAB/pids.tmp; mv LAB/pids.tmp LAB/pids";
    site.lab.file("left.sh", &format!("{told}\nexec sleep 1000\n"))?;
    site.lab.file(
        "script.sh",
        "(setsid sh LAB/left.sh &)\nwhile ! test -e LAB/pids; do sleep 0.1; done\n",
    )?;
    let run = owner.begin(&group.run())?;
    let ended = owner.finish(&run)?;
    assert_eq!(ended.code, 0, "{ended:#?}");
    let (left, _) = pids(site)?;
    assert_eq!(state(left), 'S');
    assert_eq!(group.commands(), [] as [PathBuf; 0]);
    let members = fs::read_to_string(group.0.join("cgroup.procs"))?;
    assert_eq!(members.trim(), left.to_string());
    Ok(())
}

//! The power fails while the configuration is written: it is the old one or the new one.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use std::path::Path;

use osm_testkit::disk::Disk;
use osm_testkit::power_loss::{Found, PowerLoss, home};
use osm_testkit::stops::FolderBy;
use osm_testkit::{tools, trials};

const KEY: &str = "session.max_age_days";

fn osm(disk: &Disk, arguments: &[&str]) -> String {
    let mut command = disk.command("env");
    command.arg("-i").arg(format!("OSM_HOME={}", home(disk).display()));
    let output = command.arg(env!("CARGO_BIN_EXE_osm")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn in_a_change_of_the_configuration() {
    trials::need(tools::program("strace"));
    let disk = trials::need(Disk::new());
    osm(&disk, &["config", "set", KEY, "70"]);
    let program = Path::new(env!("CARGO_BIN_EXE_osm")).to_owned();
    let arguments = ["config", "set", KEY, "80"];
    let folder_by = FolderBy::Variable("OSM_HOME");
    let change = PowerLoss { program, folder_by, arguments: &arguments };
    let (mut before, mut after) = (0, 0);
    let mut show =
        |Found { disk, acknowledged, point }: &Found| match osm(disk, &["config", "get", KEY])
            .as_str()
        {
            "70" if !acknowledged => before += 1,
            "80" => after += 1,
            other => panic!("{point}, acknowledged {acknowledged}: {other}"),
        };
    let points = change.everywhere(&disk, &mut show).unwrap();
    assert!(points > 3 && before > 0 && after > 0, "{points}: {before} before, {after} after");
}

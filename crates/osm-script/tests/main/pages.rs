//! The scripts on the page about scripts run as they stand there.

use osm_script::Modes;

use crate::project;

const PAGE: &str = include_str!("../../../../docs/scripting.md");

#[test]
fn scripts_of_the_page_run() {
    let scripts: Vec<&str> = PAGE
        .split("\n```js\n")
        .skip(1)
        .map(|rest| rest.split_once("\n```").expect("a fence is closed").0)
        .collect();
    assert_eq!(scripts.len(), 3);
    let stage = project::stage();
    for (at, script) in scripts.iter().enumerate() {
        let run = stage.runtime.run_source(&format!("script {at}"), script);
        run.unwrap_or_else(|error| panic!("{error}"));
    }
    let modes = Modes::new(&stage.runtime);
    modes.enter("counter").unwrap();
    modes.dispatch("up", &["4".to_owned()], "4").unwrap();
    modes.dispatch("up", &[], "").unwrap();
    modes.enter("counter").unwrap();
    assert_eq!(stage.printed(), ["The count is 0.", "The count is 5."]);
}

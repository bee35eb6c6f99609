//! Lines that are being typed, and what can follow.

use super::*;
use crate::completion::WhichClaims;

fn place(line: &str) -> Place {
    let root = crate::cli::command();
    let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
    read(&root, &words)
}

fn offered(line: &str) -> Vec<String> {
    place(line).offered.into_iter().map(|it| it.value).collect()
}

#[test]
fn what_an_argument_takes() {
    const ALL: Kind = Kind::Claims(WhichClaims::All);
    for (line, kind) in [
        ("session info ", Kind::Sessions),
        ("session info --json sw", Kind::Sessions),
        ("session delete one ", Kind::SessionsAndArchives),
        ("session info one ", Kind::Text),
        ("session restore ", Kind::Archives),
        ("session restore x --as ", Kind::Sessions),
        ("--session ", Kind::Sessions),
        ("-session ", Kind::Sessions),
        ("claims --session=", Kind::Sessions),
        ("goal ", Kind::Goals),
        ("goal show ", Kind::Goals),
        ("goal new ", Kind::Text),
        ("config get ", Kind::Settings),
        ("config set log.level ", Kind::SettingValues),
        ("claim ", ALL),
        ("claim next one ", ALL),
        ("claim run ", ALL),
        ("claim run x -- ", Kind::Programs),
        ("claim run x -- make ", Kind::Files),
        ("claim run x -- make --session ", Kind::Files),
        ("release ", Kind::Claims(WhichClaims::Mine)),
        ("release --done one ", Kind::Claims(WhichClaims::Mine)),
        ("claim handoff x --to ", Kind::Sessions),
        ("claim x --wait ", Kind::Words(&["30s", "10m", "1h"])),
        ("trust ", Kind::Files),
        ("script ", Kind::Files),
        ("script it.js --json ", Kind::Files),
        ("help session ", Kind::Commands),
    ] {
        assert_eq!(place(line).kind, kind, "{line}");
    }
}

#[test]
fn what_the_argument_parser_knows() {
    for (line, expected) in [
        ("who", &["whoami"][..]),
        ("trust ", &["list", "revoke"]),
        ("claim guard ", &["install", "remove", "check", "committed"]),
        ("claim -- ", &[]),
        ("claim x re", &[]),
        ("completion ", &["bash", "elvish", "fish", "nushell", "powershell", "zsh"]),
        ("session list --sort ", &["default", "active"]),
        ("session list --sort=a", &["active"]),
        ("session list --so", &["--sort"]),
        ("session list --sort active --so", &[]),
        ("claim run x -- ls --", &[]),
        ("script it.js --te", &[]),
        ("nonsense ", &[]),
    ] {
        assert_eq!(offered(line), expected, "{line}");
    }
    assert!(
        offered("").iter().any(|it| it == "claim") && offered("").iter().all(|it| it != "complete")
    );
    assert!(offered("claim ").iter().any(|it| it == "handoff"));
    assert!(offered("whoami ").iter().any(|it| it == "--json"), "an option is all that is left");
}

#[test]
fn what_was_typed_before_counts() {
    let place = place("claim check --scope work --session=build TA");
    assert_eq!((place.option("scope"), place.option("session")), (Some("work"), Some("build")));
    assert_eq!(place.prefix, "TA");
    assert_eq!(super::tests::place("claims --session=bu").before, "--session=");
}

#[test]
fn no_line_is_a_panic() {
    for line in
        ["", "-", "--", "-- --", "--=", "-=x", "--session", "claim run -- --", "\u{1b}[2J", "-é"]
    {
        place(line);
        place(&format!("{line} "));
        place(&format!("claim {line} "));
    }
}

//! Verbs of other tools that are not commands of `osm claim`.
//!
//! People and models type them. As resources they would be claimed without an error, so osm refuses
//! them and names the command that was meant. A resource with such a name is claimed after `--`.

/// Words, and the command that they mean.
struct Verb {
    words: &'static [&'static str],
    meant: &'static str,
    /// The word alone is a plausible resource: it is a verb only if more words follow.
    needs_more: bool,
}

const fn verb(words: &'static [&'static str], meant: &'static str) -> Verb {
    Verb { words, meant, needs_more: false }
}

const fn followed(words: &'static [&'static str], meant: &'static str) -> Verb {
    Verb { words, meant, needs_more: true }
}

const VERBS: &[Verb] = &[
    verb(&["list", "ls"], "osm claims"),
    verb(&["status", "show", "info", "who", "inspect"], "osm claim why RESOURCE"),
    verb(&["help", "usage"], "osm claim --help"),
    verb(&["release", "unclaim", "unlock", "relinquish"], "osm release RESOURCE"),
    verb(&["acquire", "claim"], "osm claim RESOURCE"),
    verb(&["steal"], "osm claim take RESOURCE --reason WHY"),
    verb(&["transfer", "reassign"], "osm claim handoff RESOURCE --to SESSION"),
    verb(&["history", "events"], "osm claim log"),
    verb(&["heartbeat", "keepalive"], "osm claim renew RESOURCE"),
    verb(&["verify"], "osm claim check RESOURCE"),
    verb(&["whoami"], "osm whoami"),
    followed(&["owner", "holder"], "osm claim why RESOURCE"),
    followed(&["wait"], "osm claim RESOURCE --wait 10m"),
    followed(&["paths", "file", "files", "folder", "glob"], "osm claim path PATH"),
    followed(
        &["add", "new", "create", "start", "get", "pick", "lock", "grab"],
        "osm claim RESOURCE",
    ),
    followed(&["complete", "finish", "done"], "osm release RESOURCE --done"),
    followed(
        &["drop", "free", "delete", "remove", "rm", "end", "stop", "close"],
        "osm release RESOURCE",
    ),
    followed(&["give", "offer", "pass"], "osm claim handoff RESOURCE --to SESSION"),
    followed(&["force", "override"], "osm claim take RESOURCE --reason WHY"),
    followed(&["refresh", "extend"], "osm claim renew RESOURCE"),
    followed(&["recover", "continue"], "osm claim resume"),
    followed(&["clean", "gc", "prune", "expire"], "osm claim sweep"),
    followed(&["comment", "annotate", "describe"], "osm claim note RESOURCE TEXT"),
    followed(&["exec", "with"], "osm claim run RESOURCE -- COMMAND"),
];

/// The command that a word means, if it is no resource.
pub(super) fn meant(word: &str, has_more: bool) -> Option<&'static str> {
    let is_it = |verb: &&Verb| {
        (has_more || !verb.needs_more) && verb.words.iter().any(|it| it.eq_ignore_ascii_case(word))
    };
    VERBS.iter().find(is_it).map(|verb| verb.meant)
}

#[cfg(test)]
mod tests {
    use clap::Subcommand;

    use super::*;
    use crate::cli::ClaimCommand;

    #[test]
    fn verbs_have_one_meaning_each_and_are_no_commands() {
        let words: Vec<&str> = VERBS.iter().flat_map(|verb| verb.words).copied().collect();
        for (place, word) in words.iter().enumerate() {
            assert!(!words[..place].contains(word), "{word} is there twice");
            assert!(!ClaimCommand::has_subcommand(word), "{word} is a command");
            assert!(meant(word, true).is_some(), "{word}");
        }
        for resource in ["TASK-7", "docs", "test", "deploy", "add", "clean", "wait"] {
            assert_eq!(meant(resource, false), None, "{resource}");
        }
        assert_eq!(meant("LS", false), Some("osm claims"));
    }
}

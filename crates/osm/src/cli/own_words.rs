//! Which words of a command line are osm's own.
//!
//! Some of them must be known before the line is parsed: whether errors are JSON, whether output has
//! colours. The parser itself is too slow for that, since `osm session id` needs none.

use std::ffi::OsString;

/// The options, before and after `script`, whose value is the next word.
const WITH_VALUE: [&str; 9] =
    ["session", "session-id", "store", "color", "c", "command", "budget", "log-file", "log-level"];

/// The words of osm itself. What follows `--` belongs to another program, and what follows the FILE of
/// `osm script` to the script.
pub(crate) fn own_words(arguments: &[OsString]) -> &[OsString] {
    let end = arguments.iter().position(|word| word == "--").unwrap_or(arguments.len());
    let mut words = arguments[..end].iter().enumerate();
    let mut is_script = false;
    while let Some((at, word)) = words.next() {
        match word.to_str() {
            Some(option) if option.starts_with('-') => {
                if WITH_VALUE.contains(&option.trim_start_matches('-')) {
                    words.next();
                }
            }
            _ if is_script => return &arguments[..=at],
            Some("script") => is_script = true,
            _ => break,
        }
    }
    &arguments[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_osms_own() {
        for (line, own) in [
            ("session id", "session id"),
            ("claim run x -- ls --json", "claim run x"),
            ("script it.js --json", "script it.js"),
            (
                "--store fs script -c X --budget=7 it.js --color=always",
                "--store fs script -c X --budget=7 it.js",
            ),
            ("script -- it.js --json", "script"),
            ("goal show script --json", "goal show script --json"),
            ("--session script claims --json", "--session script claims --json"),
            ("", ""),
        ] {
            let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            let found: Vec<_> = own_words(&words).iter().map(|it| it.to_str().unwrap()).collect();
            assert_eq!(found.join(" "), own, "{line}");
        }
    }

    /// The parser knows no other option with a value there.
    #[test]
    fn every_option_with_a_value_is_known() {
        let root = super::super::command();
        let script = root.find_subcommand("script").unwrap();
        let options = root.get_arguments().chain(script.get_arguments());
        let with_value = options.filter(|it| !it.is_positional() && it.get_action().takes_values());
        let mut names: Vec<String> = with_value
            .flat_map(|it| {
                let long = it.get_long().map(str::to_owned);
                let aliases = it.get_all_aliases().unwrap_or_default();
                let aliases = aliases.into_iter().map(str::to_owned);
                long.into_iter().chain(it.get_short().map(String::from)).chain(aliases)
            })
            .collect();
        names.sort();
        // Every command has the options that all of them share.
        names.dedup();
        let mut known = WITH_VALUE.map(str::to_owned);
        known.sort();
        assert_eq!(names, known);
    }
}

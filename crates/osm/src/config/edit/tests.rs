use osm_store::retention::Setting;

use super::*;
use crate::config::keys::{self, Kind};

fn number(number: u32) -> Value {
    Value::Number(number)
}

fn names(names: &[&str]) -> Value {
    Value::Names(names.iter().map(ToString::to_string).collect())
}

#[track_caller]
fn sets(text: &str, name: &str, value: &Value, expected: &str) {
    assert_eq!(set(text, name, value).as_deref(), Ok(expected), "{text}");
}

#[track_caller]
fn unsets(text: &str, name: &str, expected: &str) {
    assert_eq!(unset(text, name), Ok(Some(expected.into())), "{text}");
}

#[test]
fn a_value_is_replaced_where_it_stands() {
    let count = "session.max_count";
    sets(
        "# top\n[session] # mine\n  max_count =  5 # five\n\n# end",
        count,
        &number(7),
        "# top\n[session] # mine\n  max_count =  7 # five\n\n# end",
    );
    sets("session.max_count = '5'\r\n", count, &number(7), "session.max_count = 7\r\n");
    sets("session = { max_count = 5 }", count, &number(7), "session = { max_count = 7 }");
    sets("\u{feff}session.max_count=5", count, &number(7), "\u{feff}session.max_count=7");
}

#[test]
fn a_line_is_added_to_a_table() {
    let count = "session.max_count";
    for (text, expected) in [
        ("[session]\n", "[session]\nmax_count = 7\n"),
        ("[session]", "[session]\nmax_count = 7\n"),
        ("[session] # mine\n[identity]\n", "[session] # mine\nmax_count = 7\n[identity]\n"),
        (
            "[session]\n\tmax_age_days = 1 # one\n\n# about it\n[identity]\n",
            "[session]\n\tmax_age_days = 1 # one\n\tmax_count = 7\n\n# about it\n[identity]\n",
        ),
        (
            "[session]\r\nmax_age_days = 1\r\n[session.reset]\r\nkeep_archives = true\r\n",
            "[session]\r\nmax_age_days = 1\r\nmax_count = 7\r\n[session.reset]\r\nkeep_archives = true\r\n",
        ),
        ("session.max_age_days = 1", "session.max_age_days = 1\nsession.max_count = 7\n"),
        (
            "\u{feff}session . max_age_days = 1\nx = 1\n",
            "\u{feff}session . max_age_days = 1\nsession . max_count = 7\nx = 1\n",
        ),
        (
            "session.reset.keep_archives = true\nother = 1\n",
            "session.reset.keep_archives = true\nsession.max_count = 7\nother = 1\n",
        ),
        (
            "[session]\nreset.keep_archives = true\n",
            "[session]\nreset.keep_archives = true\nmax_count = 7\n",
        ),
    ] {
        sets(text, count, &number(7), expected);
    }
}

#[test]
fn a_table_is_begun_at_the_end() {
    let (count, archives) = ("session.max_count", "session.reset.keep_archives");
    sets("", count, &number(7), "[session]\nmax_count = 7\n");
    sets("# mine", count, &number(7), "# mine\n\n[session]\nmax_count = 7\n");
    sets("# mine\n", count, &number(7), "# mine\n\n[session]\nmax_count = 7\n");
    sets(
        "[session]\nmax_count = 7\n",
        archives,
        &Value::Switch(false),
        "[session]\nmax_count = 7\n\n[session.reset]\nkeep_archives = false\n",
    );
    sets(
        "session.max_count = 7\n",
        archives,
        &Value::Switch(false),
        "session.max_count = 7\n\n[session.reset]\nkeep_archives = false\n",
    );
    sets(
        "[session.reset]\nkeep_archives = false\n",
        count,
        &number(7),
        "[session.reset]\nkeep_archives = false\n\n[session]\nmax_count = 7\n",
    );
    sets("", "store.backend", &Value::Word("memory"), "[store]\nbackend = \"memory\"\n");
}

#[test]
fn tables_in_braces() {
    let archives = "session.reset.keep_archives";
    sets(
        "session = { max_age_days = 1 } # c\n",
        "session.max_count",
        &number(7),
        "session = { max_age_days = 1 , max_count = 7 } # c\n",
    );
    sets(
        "session = {}\n",
        archives,
        &Value::Switch(true),
        "session = { reset = { keep_archives = true } }\n",
    );
    sets(
        "[session]\nreset = { keep_archives = false }\n",
        archives,
        &Value::Switch(true),
        "[session]\nreset = { keep_archives = true }\n",
    );
    unsets(
        "session = { max_age_days = 1, max_count = 2 } # c\n",
        "session.max_age_days",
        "session = { max_count = 2 } # c\n",
    );
    unsets("[session]\nreset = { keep_archives = false }\n", archives, "[session]\nreset = {}\n");
    let commented = "session = { max_age_days = 1, # one\n max_count = 2 }\n";
    assert!(set(commented, "session.max_size_mb", &number(7)).is_err());
    assert!(unset(commented, "session.max_count").is_err());
}

#[test]
fn lists_keep_their_comments() {
    let wrappers = "identity.wrappers";
    sets(
        "[identity]\nwrappers = [ 'a','b' ] # two\n",
        wrappers,
        &names(&["c"]),
        "[identity]\nwrappers = [\"c\"] # two\n",
    );
    sets(
        "[identity]\nwrappers = 'a'\n",
        wrappers,
        &names(&["a", "it's"]),
        "[identity]\nwrappers = [\"a\", \"it's\"]\n",
    );
    let list = "wrappers = [\n  # all\n  'a', # one\n  'b', # two\n]\n";
    let file = |list: &str| format!("[identity]\n{list}");
    sets(
        &file(list),
        wrappers,
        &names(&["a", "b", "c"]),
        &file("wrappers = [\n  # all\n  'a', # one\n  'b', # two\n  \"c\",\n]\n"),
    );
    sets(
        &file(list),
        wrappers,
        &names(&["b"]),
        &file("wrappers = [\n  # all\n   # one\n  'b', # two\n]\n"),
    );
    for wanted in [&["c"][..], &["a"], &["c", "a"], &["b", "d", "c"]] {
        let edited = set(&file(list), wrappers, &names(wanted)).unwrap();
        for comment in ["# all\n", "# one\n", "# two\n"] {
            assert!(edited.contains(comment), "{edited}");
        }
    }
    let windows = file(list).replace('\n', "\r\n");
    let edited = set(&windows, wrappers, &names(&["b", "c"])).unwrap();
    assert_eq!(edited.matches('\n').count(), edited.matches("\r\n").count(), "{edited:?}");
    assert!(edited.contains("# one\r\n") && edited.contains("\r\n  \"c\",\r\n"), "{edited:?}");
    unsets(&file(list), wrappers, &file("# all\n# one\n# two\n"));
}

#[test]
fn a_setting_is_taken_out_and_its_comments_stay() {
    let count = "session.max_count";
    for (text, expected) in [
        ("[session]\nmax_count = 5\n", "[session]\n"),
        ("[session]\nmax_count = 5", "[session]\n"),
        (
            "# a\n[session]\n# b\n\tmax_count = 5 # c\nmax_age_days = 1\n",
            "# a\n[session]\n# b\n\t# c\nmax_age_days = 1\n",
        ),
        ("\u{feff}session.max_count = 5\r\nx = 1\r\n", "\u{feff}x = 1\r\n"),
        ("session.max_count = 5 # c\r\nx = 1\r\n", "# c\r\nx = 1\r\n"),
    ] {
        unsets(text, count, expected);
    }
    assert_eq!(unset("[session]\n", count), Ok(None));
    assert_eq!(unset("", count), Ok(None));
    assert_eq!(unset("session = 3", count), Ok(None));
}

#[test]
fn what_is_no_value_is_left_to_people() {
    for text in ["session = 3", "[[session]]\n", "[session.max_count]\n", "session = ["] {
        assert!(set(text, "session.max_count", &number(7)).is_err(), "{text}");
    }
    assert!(unset("[session.max_count]\n", "session.max_count").is_err());
    assert!(unset("[session", "session.max_count").is_err());
}

/// Every setting in every layout: nothing else moves, no comment goes.
#[test]
fn every_setting_in_every_layout() {
    let layouts = [
        "",
        "#c1\n",
        "#c1\n[session] #c2\nmax_count = 1 #c3\n#c4\n[identity] #c5\nshells = [ #c6\n 'x' #c7\n , 'y', #c8\n]\n#c9",
        "#c1\r\nsession.max_count = 1 #c2\r\nsession.reset.keep_archives = true #c3\r\n#c4\r\n",
        "session = { max_count = 1, reset = { keep_archives = true } } #c1\nidentity.shells = 'x' #c2",
        "[session.reset]\nkeep_archives = false #c1\n[session] #c2\nmax_count = 1\n[store]\n#c3",
        "[[identity.agents]] #c1\nname = 'x' #c2\nprograms = 'x'\n[identity.more] #c3\ny = 1",
        "\u{feff}  session.trash_days = 1 #c1\n\t'session'.\"max_count\" = 1\n[other]\nz = '#not a comment'\n",
    ];
    let value = |kind| match kind {
        Kind::Choice(words) => Value::Word(words[1]),
        Kind::Names | Kind::Paths => names(&["x", "z"]),
        Kind::RootedPaths => names(&["~/x", "~/z"]),
        Kind::Path | Kind::Text => Value::Path("a/b.log".into()),
        Kind::Server => Value::Path("postgres://user@host/database".into()),
        Kind::Number(number) => Value::Number(number + 1),
        Kind::Switch(switch) => Value::Switch(!switch),
        Kind::Retention(key) => match key.default_value() {
            Setting::Number(_) => number(77),
            Setting::Switch(switch) => Value::Switch(!switch),
        },
        Kind::Agents => unreachable!("not set from here"),
    };
    let settable = || keys::all().filter(|key| !matches!(key.kind, Kind::Agents));
    let others = |text: &str, name: &str| -> Vec<Option<String>> {
        let document = parse(text).unwrap();
        let others = keys::all().filter(|key| key.name != name);
        let read =
            |name| find(document.as_table(), name).map(|item| item.to_string().trim().to_owned());
        others.map(|key| read(key.name)).collect()
    };
    for layout in layouts {
        let comments: Vec<String> = (1..=9).map(|at| format!("#c{at}")).collect();
        for key in settable() {
            let set = set(layout, key.name, &value(key.kind)).expect(layout);
            let unset = unset(&set, key.name).expect(&set).expect(&set);
            for edited in [&set, &unset] {
                assert_eq!(others(edited, key.name), others(layout, key.name), "{edited}");
                for comment in comments.iter().filter(|comment| layout.contains(*comment)) {
                    assert!(edited.contains(comment), "{} in {layout}:\n{edited}", key.name);
                }
                assert_eq!(edited.contains("\r\n"), layout.contains("\r\n"), "{edited}");
            }
            assert!(find(parse(&unset).unwrap().as_table(), key.name).is_none(), "{unset}");
        }
        // All of them, one after the other.
        let all = settable().fold(layout.to_owned(), |text, key| {
            super::set(&text, key.name, &value(key.kind)).expect(&text)
        });
        for key in settable() {
            assert!(find(parse(&all).unwrap().as_table(), key.name).is_some(), "{all}");
        }
    }
}

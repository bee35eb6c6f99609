//! Situations in namespaces that do not fit together: whose process table is it, and whose clock?

use osm_testkit::lab::Lab;
use osm_testkit::tmux::Tmux;
use osm_testkit::tools::{program, root};

use super::situation::{Ids, Situation, ask, in_one_terminal};

/// A shell of one command in a pid namespace of its own that sees the process table outside.
const OTHER_TABLE: &str = "unshare --pid --fork --kill-child sh -c 'OSM session id; true'";

pub(crate) const SITUATIONS: &[Situation] = &[
    Situation::same("a pid namespace that sees the processes outside", &["anchor"], |lab| {
        root()?;
        in_one_terminal(
            lab,
            &[
                "OSM session id",
                "unshare --pid --fork OSM session id",
                OTHER_TABLE,
                "unshare --pid --fork unshare --pid --fork sh -c 'OSM session id; true'",
                "unshare --pid --fork --kill-child sleep 100 & P=$!; \
                 until C=$(pgrep -P $P sleep); do sleep 0.05; done; \
                 nsenter -t $C --pid OSM session id; kill -9 $P",
            ],
        )
    }),
    Situation::same("the same, without rights to look at the first process", &["anchor"], |lab| {
        root()?;
        in_one_terminal(
            lab,
            &[
                "OSM session id",
                "setpriv --reuid 65534 --regid 65534 --clear-groups \
                 unshare --user --pid --fork sh -c 'OSM session id; true'",
            ],
        )
    }),
    Situation::differ(
        "two terminals, each with a pid namespace that sees all",
        &["anchor"],
        |lab| {
            root()?;
            let mut ids = in_one_terminal(lab, &[OTHER_TABLE])?;
            ids.extend(in_one_terminal(lab, &[OTHER_TABLE])?);
            Ok(ids)
        },
    ),
    Situation::differ(
        "two containers' shells that see the processes outside",
        &["anchor"],
        |lab| {
            root()?;
            let shell = ["unshare", "--pid", "--fork", "--kill-child", "bash", "--norc", "-i"];
            let (mut one, mut other) =
                (lab.terminal_running(&shell)?, lab.terminal_running(&shell)?);
            let mut ids = ask(lab, &mut one, "OSM session id")?;
            ids.extend(ask(lab, &mut other, "OSM session id")?);
            Ok(ids)
        },
    ),
    Situation::same("a time namespace", &["anchor"], shifted_in_a_terminal),
    Situation::same("a time namespace in a tmux pane", &["multiplexer tmux"], |lab| {
        root()?;
        program("tmux")?;
        let (tmux, first) = Tmux::start(lab, &[])?;
        let mut pane = tmux.pane(first);
        ask(
            lab,
            &mut pane,
            "OSM session id; unshare --time --boottime 100000 --fork sh -c 'OSM session id; true'",
        )
    }),
];

fn shifted_in_a_terminal(lab: &Lab) -> Ids {
    root()?;
    in_one_terminal(
        lab,
        &[
            "OSM session id",
            "unshare --time --boottime 100000 --fork OSM session id",
            "unshare --time --boottime 100000 --fork sh -c 'OSM session id; true'",
            "unshare --time --boottime 100000 OSM session id",
        ],
    )
}

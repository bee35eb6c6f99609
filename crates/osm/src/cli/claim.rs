//! What can be typed after `osm claim`, `osm release` and `osm claims`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use osm_claims::Token;

use super::Format;

/// `osm claim RESOURCE`, or something else that is done with claims.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:
  osm claim TASK-7                       have it, or learn who has it
  osm claim TASK-7 --wait 10m            wait until it is free
  osm claim next TASK-7 TASK-8 TASK-9    the first that is free
  osm claim run TASK-7 -- make deploy    have it while a command runs
  osm claim -- next                      a resource that is called like a command

A claim hangs on this session's process and is free when that ends. A session without one (such as
OSM_SESSION=NAME) has it for 15 minutes, or --ttl, and renews it."
)]
pub(crate) struct Claim {
    #[command(subcommand)]
    pub(crate) command: Option<ClaimCommand>,
    /// What to claim: any name that others use for it too
    #[arg(required = true, value_name = "RESOURCE")]
    pub(crate) resource: Option<OsString>,
    #[command(flatten)]
    pub(crate) grant: Grant,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// Where claims count, and how they are shown.
#[derive(Args, Clone, Debug)]
pub(crate) struct Place {
    /// Where claims count, instead of the repository around this folder
    #[arg(long, value_name = "NAME")]
    pub(crate) scope: Option<String>,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// What goes with a new claim.
#[derive(Args, Clone, Debug)]
pub(crate) struct Grant {
    /// Wait so long for it to become free: 30s, 10m, 1h
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) wait: Option<Duration>,
    /// Have it for so long, if no process stands behind this session [default: 15m]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) ttl: Option<Duration>,
    /// What others shall know about it
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// A name for this request: trying again with the same one gives the same claim
    #[arg(long, value_name = "ID")]
    pub(crate) request: Option<String>,
    /// Claim it even if the work is done
    #[arg(long)]
    pub(crate) reopen: bool,
}

/// One claim, and which grant of it.
#[derive(Args, Clone, Debug)]
pub(crate) struct Held {
    /// The resource
    pub(crate) resource: OsString,
    /// The epoch that the caller was given; any that it has now if none is named
    #[arg(long, value_name = "EPOCH")]
    pub(crate) epoch: Option<Token>,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClaimCommand {
    /// Claim the first of several resources that is free
    #[command(after_help = "Examples:
  osm claim next TASK-7 TASK-8 TASK-9
  git ls-files 'docs/*.md' | osm claim next --from -
  osm claim next --from tasks.txt --wait 1h --json")]
    Next {
        /// What to choose from, in this order
        #[arg(required_unless_present = "from")]
        candidates: Vec<OsString>,
        /// Read more of them from this file, one each line; - is standard input
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
        #[command(flatten)]
        grant: Grant,
        #[command(flatten)]
        place: Place,
    },
    /// Make sure that this session still has a claim
    #[command(after_help = "Examples:
  osm claim check TASK-7 --epoch 7.1f9c03ab && git push")]
    Check(Held),
    /// Begin the lease of a claim anew
    Renew {
        #[command(flatten)]
        held: Held,
        /// For so long
        #[arg(long, value_name = "DURATION", value_parser = duration)]
        ttl: Option<Duration>,
    },
    /// Have a claim while a command runs
    #[command(after_help = "Examples:
  osm claim run deploy -- make deploy
  osm claim run TASK-7 --wait 1h -- sh -c 'git push && osm release TASK-7 --done'

The command finds OSM_CLAIM_RESOURCE, OSM_CLAIM_EPOCH and OSM_CLAIM_SCOPE in its environment, and is
stopped if the claim is taken away. The exit code is the command's.")]
    Run {
        /// The resource
        resource: OsString,
        #[command(flatten)]
        grant: Grant,
        #[command(flatten)]
        place: Place,
        /// The command and its arguments
        #[arg(last = true, required = true, value_name = "COMMAND")]
        command: Vec<OsString>,
    },
    /// Offer a claim to another session
    #[command(after_help = "Examples:
  osm claim handoff TASK-7 --to agent--claude-code_0123456789abcdef --note 'tests are red'
  osm claim handoff TASK-7 --cancel")]
    Handoff {
        #[command(flatten)]
        held: Held,
        /// The session that may take it up
        #[arg(long, value_name = "SESSION", required_unless_present = "cancel")]
        to: Option<OsString>,
        /// Take the offer back
        #[arg(long, conflicts_with = "to")]
        cancel: bool,
        /// How long the offer stands [default: 1h]
        #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
        term: Option<Duration>,
        /// What the other session shall know
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
    /// Take up a claim that was offered to this session
    Accept {
        /// The resource
        resource: OsString,
        #[command(flatten)]
        grant: Grant,
        #[command(flatten)]
        place: Place,
    },
    /// Take up what this session had before its process died
    Resume {
        /// The resources; all if none is named
        resources: Vec<OsString>,
        #[command(flatten)]
        place: Place,
    },
    /// Take a claim away from whoever has it
    #[command(after_help = "Examples:
  osm claim take TASK-7 --reason 'its machine is gone' --dry-run
  osm claim take TASK-7 --reason 'stuck in a prompt since noon' --even-if-alive")]
    Take {
        /// The resource
        resource: OsString,
        /// Why; it is told to the owner and stays in the log
        #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
        reason: String,
        /// Even if its owner is proven alive
        #[arg(long)]
        even_if_alive: bool,
        /// Only tell what would be done
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Show what this session holds, may take up, was offered and has lost
    Mine {
        #[command(flatten)]
        place: Place,
    },
    /// Tell who has a resource, on what evidence, and what would free it
    Why {
        /// The resource
        resource: OsString,
        #[command(flatten)]
        place: Place,
    },
    /// Show what happened
    #[command(after_help = "Examples:
  osm claim log TASK-7
  osm claim log --kind taken --since 24h
  osm claim log TASK-7 --at 2026-11-15T14:03:00Z    who owned it then")]
    Log {
        /// Only this resource
        resource: Option<OsString>,
        /// Only by or about this session
        #[arg(long, value_name = "SESSION")]
        by: Option<String>,
        /// Only this kind of event
        #[arg(long, value_name = "KIND", value_parser = clap::builder::PossibleValuesParser::new(osm_claims::event::KINDS))]
        kind: Option<String>,
        /// Only since then: a time, or how long ago
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        /// Only until then
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
        /// Tell who owned the resource at that time
        #[arg(long, value_name = "TIME", requires = "resource", conflicts_with_all = ["by", "kind", "since", "until", "last", "all"])]
        at: Option<String>,
        /// Only the last so many
        #[arg(long, value_name = "NUMBER")]
        last: Option<usize>,
        /// In all scopes
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Free what the dead hold
    #[command(
        after_help = "A claim of the dead is free for whoever claims it, swept or not. Examples:
  osm claim sweep --dry-run
  osm claim sweep --all --json"
    )]
    Sweep {
        /// In all scopes
        #[arg(long)]
        all: bool,
        /// Only tell what would be done
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Let git refuse what is done with a claim that was lost
    #[command(subcommand, arg_required_else_help = true)]
    Guard(Guard),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Guard {
    /// Add the guard to this repository's hooks, beside whatever is there
    Install {
        /// Refuse commits, merges and pushes of sessions that hold nothing here
        #[arg(long)]
        require: bool,
    },
    /// Take the guard out of the hooks again
    Remove,
    /// What the hooks run: refuse if this session lost a claim, or its epoch is stale
    Check {
        /// Refuse if this session holds nothing here
        #[arg(long)]
        require: bool,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  osm release TASK-7
  osm release TASK-7 --done      nobody needs to do it again
  osm release --all

Releasing a claim that was taken away takes note of the loss.")]
pub(crate) struct Release {
    /// The resources
    #[arg(required_unless_present = "all")]
    pub(crate) resources: Vec<OsString>,
    /// Everything that this session holds here
    #[arg(long, conflicts_with = "resources")]
    pub(crate) all: bool,
    /// The epoch that the caller was given
    #[arg(long, value_name = "EPOCH", conflicts_with = "all")]
    pub(crate) epoch: Option<Token>,
    /// The work is done
    #[arg(long)]
    pub(crate) done: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  osm claims
  osm claims --all                                   in every repository
  osm claims --json | jq '.[] | select(.verdict == \"dead\") | .resource'")]
pub(crate) struct List {
    /// In all scopes
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// Reads `90s`, `10m`, `1h30m`, or a number of seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<u64>().ok().map(Duration::from_secs);
    let friendly = || text.parse::<jiff::SignedDuration>().ok()?.try_into().ok();
    match seconds.or_else(friendly) {
        Some(duration) if duration <= LONGEST => Ok(duration),
        Some(_) => Err("it is longer than a year".into()),
        None => Err("a duration is a number of seconds, or such as 90s, 10m, 1h30m".into()),
    }
}

/// Longer than anybody means.
const LONGEST: Duration = Duration::from_hours(24 * 366);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1h30m"), Ok(Duration::from_mins(90)));
        assert_eq!(duration("0"), Ok(Duration::ZERO));
        for text in ["", "-1s", "soon", "1d", "99999999999", "400d", "1e3"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}

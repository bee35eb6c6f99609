//! The arguments of `osm claim`, `osm release` and `osm claims`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use osm_claims::Token;

use super::{Format, Sure};

/// `osm claim RESOURCE`, or a command about claims.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:
  osm claim TASK-7                       claim it, or see who holds it
  osm claim TASK-7 TASK-8                claim both, or none
  osm claim TASK-7 --wait 10m            wait until it is free
  osm claim next TASK-7 TASK-8 TASK-9    claim the first one that is free
  osm claim path src/auth/               claim a folder with everything below it
  osm claim run TASK-7 -- make deploy    hold it while a command runs
  osm claim -- next                      claim a resource with the name of a command

A claim lasts as long as this session's process: the agent, or the shell of the terminal. A session
without a process (OSM_SESSION=NAME) holds a lease of 15 minutes, or --ttl, and renews it."
)]
pub(crate) struct Claim {
    #[command(subcommand)]
    pub(crate) command: Option<ClaimCommand>,
    /// The resources: any names that the sessions agree on. osm claims all of them, or none
    #[arg(required = true, value_name = "RESOURCE")]
    pub(crate) resources: Vec<OsString>,
    #[command(flatten)]
    pub(crate) grant: Grant,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// The scope, and the output format.
#[derive(Args, Clone, Debug)]
pub(crate) struct Place {
    /// Use this scope instead of the repository around the working directory
    #[arg(long, value_name = "NAME")]
    pub(crate) scope: Option<String>,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// The options of a new claim.
#[derive(Args, Clone, Debug)]
pub(crate) struct Grant {
    /// Wait up to this long until it is free: 30s, 10m, 1h [default: do not wait]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) wait: Option<Duration>,
    /// Set the term of the lease, for a session without a process [default: 15m]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) ttl: Option<Duration>,
    /// Store a note that other sessions see
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// Set an id for this request: a retry with the same id returns the same claim
    #[arg(long, value_name = "ID")]
    pub(crate) request: Option<String>,
    /// Claim it even if the work is done
    #[arg(long)]
    pub(crate) reopen: bool,
}

/// One claim, and its epoch.
#[derive(Args, Clone, Debug)]
pub(crate) struct Held {
    /// The resource
    pub(crate) resource: OsString,
    /// Require this epoch, as `osm claim` printed it [default: the current one]
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
  osm claim next --from TASKS.md --wait 1h --json
  osm claim next --from-command 'bd ready --json' --field id
  osm config set claims.next.from TASKS.md    from now on `osm claim next` is enough

A list has one resource per line. In a Markdown list with checkboxes, the first word of each task that is not
done is a resource: `- [ ] TASK-7 login form`. With --field, a list is JSON: an array of objects, or one object
per line. Without candidates and options osm reads the list that is named in your configuration
(claims.next.from or claims.next.from_command, and claims.next.field).")]
    Next {
        /// The resources, in the order of preference
        candidates: Vec<OsString>,
        /// Read more resources from this file: lines, tasks of a Markdown list, or JSON; - is stdin
        #[arg(long, value_name = "FILE", group = "list")]
        from: Option<PathBuf>,
        /// Run this shell command, for at most a minute, and read more resources from what it prints
        #[arg(long, value_name = "COMMAND", group = "list", value_parser = clap::builder::NonEmptyStringValueParser::new())]
        from_command: Option<String>,
        /// Read the list as JSON, and take this field of each object
        #[arg(long, value_name = "NAME", requires = "list")]
        field: Option<String>,
        #[command(flatten)]
        grant: Grant,
        #[command(flatten)]
        place: Place,
    },
    /// Claim files, folders or globs of this worktree
    #[command(after_help = "Examples:
  osm claim path src/auth/ 'src/*.rs'    a folder with everything below it, and a glob; both or none
  osm claim path --shared src/           keep others from changing it while you test
  osm claim path --everywhere Cargo.lock exclude sessions in other worktrees of the repository, too
  osm release path:src/auth/             what osm prints is what its commands take

Two claims collide if a path can belong to both and one of them is not shared, whether a file of that
path exists or not. A path ends with a slash, or is an existing folder: everything below it. A path with
* ? [ or { is a glob, unless a file has that name. In other commands a path is `path:` and the path from
the top of the worktree.")]
    Path {
        /// The paths, relative to the working directory. osm claims all of them, or none
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<OsString>,
        /// Let other sessions share them, and let none change them
        #[arg(long)]
        shared: bool,
        /// Exclude other sessions in all worktrees of the repository
        #[arg(long)]
        everywhere: bool,
        #[command(flatten)]
        grant: Grant,
        #[command(flatten)]
        place: Place,
    },
    /// Check that this session still holds a claim
    #[command(after_help = "Examples:
  osm claim check TASK-7 --epoch 7.1f9c03ab && git push")]
    Check(Held),
    /// Restart the lease of a claim
    Renew {
        #[command(flatten)]
        held: Held,
        /// Set the term of the lease [default: the current term]
        #[arg(long, value_name = "DURATION", value_parser = duration)]
        ttl: Option<Duration>,
    },
    /// Change the note of a claim that this session holds
    #[command(after_help = "Examples:
  osm claim note TASK-7 'tests are green, docs are missing'
  osm claim note TASK-7 ''               remove the note

The note stays with the claim when the session hands it off or resumes it. A session that continues the work
of another session is shown the other's note.")]
    Note {
        #[command(flatten)]
        held: Held,
        /// The note; an empty text removes it
        text: String,
    },
    /// Hold a claim while a command runs
    #[command(after_help = "Examples:
  osm claim run deploy -- make deploy
  osm claim run TASK-7 --wait 1h -- sh -c 'git push && osm release TASK-7 --done'

The command's environment has OSM_CLAIM_RESOURCE, OSM_CLAIM_EPOCH and OSM_CLAIM_SCOPE. osm stops the
command if the claim is taken away. The exit code is the command's.")]
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
  osm claim handoff TASK-7 --to swift-otter --note 'tests are red'
  osm claim handoff TASK-7 --cancel")]
    Handoff {
        #[command(flatten)]
        held: Held,
        /// The session that may accept it, by id, unique prefix of an id, or handle
        #[arg(long, value_name = "SESSION", required_unless_present = "cancel")]
        to: Option<OsString>,
        /// Withdraw the offer
        #[arg(long, conflicts_with = "to")]
        cancel: bool,
        /// Let the offer end after this long [default: 1h]
        #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
        term: Option<Duration>,
        /// Store a note for the other session
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
    /// Accept a claim that was offered to this session
    Accept {
        /// The resource
        resource: OsString,
        #[command(flatten)]
        grant: Grant,
        #[command(flatten)]
        place: Place,
    },
    /// Take over the claims that an earlier process of this session held when it died
    Resume {
        /// The resources [default: all]
        resources: Vec<OsString>,
        #[command(flatten)]
        place: Place,
    },
    /// Take a claim away from its holder
    #[command(after_help = "Examples:
  osm claim take TASK-7 --reason 'its machine is gone' --dry-run
  osm claim take TASK-7 --reason 'stuck in a prompt since noon' --even-if-alive")]
    Take {
        /// The resource
        resource: OsString,
        /// Give the reason; osm shows it to the holder and keeps it in the log
        #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
        reason: String,
        /// Take it even if the holder is still running
        #[arg(long)]
        even_if_alive: bool,
        /// Show what would be done, and change nothing
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        place: Place,
    },
    /// List the claims that this session holds, can resume, was offered and lost
    Mine {
        #[command(flatten)]
        place: Place,
    },
    /// Show who holds a resource, the evidence, and what would free it
    Why {
        /// The resource
        resource: OsString,
        #[command(flatten)]
        place: Place,
    },
    /// Show the log of claims
    #[command(after_help = "Examples:
  osm claim log TASK-7
  osm claim log --kind taken --since 24h
  osm claim log TASK-7 --at 2026-11-15T14:03:00Z    its owner at that time")]
    Log {
        /// Show events of this resource only
        resource: Option<OsString>,
        /// Show events by or about this session only: an id, unique prefix of an id, or handle
        #[arg(long, value_name = "SESSION")]
        by: Option<String>,
        /// Show events of this kind only
        #[arg(long, value_name = "KIND", value_parser = clap::builder::PossibleValuesParser::new(osm_claims::event::KINDS))]
        kind: Option<String>,
        /// Show events since this time only: 2026-11-15T14:03:00Z, or 90s, 10m, 24h ago
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        /// Show events until this time only
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
        /// Show the owner of the resource at this time
        #[arg(long, value_name = "TIME", requires = "resource", conflicts_with_all = ["by", "kind", "since", "until", "last", "all"])]
        at: Option<String>,
        /// Show only this many events, the latest
        #[arg(long, value_name = "NUMBER")]
        last: Option<usize>,
        /// Show events of all scopes
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Free the claims of dead owners
    #[command(
        after_help = "A claim of a dead owner can be claimed at any time, swept or not. Examples:
  osm claim sweep --dry-run
  osm claim sweep --all --json"
    )]
    Sweep {
        /// Sweep all scopes
        #[arg(long)]
        all: bool,
        /// Show what would be done, and change nothing
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Repair a damaged ledger: keep what can be read, and continue with higher epochs
    #[command(after_help = "Examples:
  osm claim repair --dry-run       show the damage, and the claims that can be read
  osm claim repair --yes --json

osm keeps a copy of the damaged files. Claims that can be read stay held. The others are lost: tell
their owners, whose epochs `osm claim check` no longer accepts.")]
    Repair {
        #[command(flatten)]
        sure: Sure,
        #[command(flatten)]
        format: Format,
    },
    /// Add Git hooks that refuse commits and pushes after a claim was lost, and release claims after commits
    #[command(subcommand, arg_required_else_help = true)]
    Guard(Guard),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Guard {
    /// Add the guard to this repository's hooks; existing hooks stay
    Install {
        /// Refuse commits, merges and pushes of sessions that hold no claim in this repository
        #[arg(long)]
        require: bool,
    },
    /// Remove the guard from the hooks
    Remove,
    /// Fail if this session lost a claim or its lease has expired; the hooks run this
    Check {
        /// Fail if this session holds no claim in this repository
        #[arg(long)]
        require: bool,
        /// Fail if another session holds a file that the next commit would change
        #[arg(long)]
        staged: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Release this session's automatic claims of files that the last commit contains; a hook runs this
    Committed {
        #[command(flatten)]
        format: Format,
    },
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  osm release TASK-7
  osm release TASK-7 --done      the work is finished
  osm release --all

Releasing a claim that was taken away succeeds once: it prints what happened and acknowledges the loss. With
--done or --epoch it is refused.")]
pub(crate) struct Release {
    /// The resources
    #[arg(required_unless_present = "all")]
    pub(crate) resources: Vec<OsString>,
    /// Release every claim that this session holds in this scope
    #[arg(long, conflicts_with = "resources")]
    pub(crate) all: bool,
    /// Require this epoch, as `osm claim` printed it
    #[arg(long, value_name = "EPOCH", conflicts_with = "all")]
    pub(crate) epoch: Option<Token>,
    /// Mark the work as done, so that it is not claimed again
    #[arg(long)]
    pub(crate) done: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  osm claims
  osm claims --all                                   all repositories
  osm claims --done                                  the work that is finished
  osm claims --json | jq '.[] | select(.verdict == \"dead\") | .resource'")]
pub(crate) struct List {
    /// List the claims of all scopes
    #[arg(long)]
    pub(crate) all: bool,
    /// List what was released with --done and not claimed again, instead of open claims
    #[arg(long)]
    pub(crate) done: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// Reads `90s`, `10m`, `1h30m`, or a number of seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<u64>().ok().map(Duration::from_secs);
    let friendly = || text.parse::<jiff::SignedDuration>().ok()?.try_into().ok();
    match seconds.or_else(friendly) {
        Some(duration) if duration <= LONGEST => Ok(duration),
        Some(_) => Err("longer than a year".into()),
        None => Err("expected a number of seconds, or a duration such as 90s, 10m, 1h30m".into()),
    }
}

/// The longest duration that is accepted.
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

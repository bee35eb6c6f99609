//! `osm claim guard`: Git hooks that refuse to commit or push under a lost claim, and one that releases
//! automatic claims after a commit.

mod hook;
mod script;
mod step;

use std::path::{Path, PathBuf};

use osm_claims::rules::Standing;
use osm_claims::{End, Hold, Notices, Reason, Refused, Resource, Scope};
use osm_context::Setting;
use osm_context::git::{self, Hooks};
use osm_identity::Repository;

use self::hook::{Hook, Plan};
use self::script::{Call, Task};
use super::client::{Client, boot};
use super::{Error, paths, release_committed};
use crate::interaction::Interaction;
use crate::invocation::Invocation;

/// The hooks that are guarded: those that run before a change becomes part of a history, and the one after a
/// commit.
const HOOKS: [&str; 4] = ["pre-commit", "pre-merge-commit", "pre-push", "post-commit"];

/// Why hooks cannot be guarded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GuardError {
    /// Git does not say where its hooks are.
    #[error("cannot find the hooks folder: {0}")]
    Git(String),
    /// Git does not say what the next commit contains.
    #[error("cannot find the files of the next commit: {0}")]
    Staged(String),
    /// Git takes the hooks of every repository from one folder.
    #[error(
        "core.hooksPath in the {scope} Git configuration is {}: a hook there runs in every repository",
        folder.display()
    )]
    SharedHooks {
        /// Whose configuration it is, as git calls it.
        scope: String,
        /// The folder of all hooks.
        folder: PathBuf,
        /// The folder that this repository has without the setting.
        own: PathBuf,
    },
    /// A hook that calls another one was edited.
    #[error(
        "{} contains more than the guard, so {} cannot be put back in its place",
        hook.display(), aside.display()
    )]
    Edited {
        /// The hook.
        hook: PathBuf,
        /// The hook that it calls.
        aside: PathBuf,
    },
    /// The name for a hook that is set aside is taken.
    #[error("{} already exists", .0.display())]
    AsideExists(PathBuf),
    /// The guard has no end.
    #[error(
        "{} contains the first line of the guard but not the last one: {}",
        .0.display(), script::END
    )]
    Endless(PathBuf),
    /// The system refused.
    #[error("cannot {action} the hook {}: {source}", hook.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The hook.
        hook: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl GuardError {
    /// What to do about it.
    pub(super) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::SharedHooks { folder, own, .. } => {
                return Some(format!(
                    "give this repository its own hooks, which then run instead of those in {}: \
                     git config --local core.hooksPath {}; or call `osm claim guard check` from a \
                     hook there yourself",
                    folder.display(),
                    script::word(&own.display().to_string()),
                ));
            }
            Self::Staged(_) => "see what Git says: git diff --cached --name-only",
            Self::Git(_) => "run this inside a repository, with git installed",
            Self::Edited { .. } => "move what is not the guard elsewhere, and try again",
            Self::AsideExists(_) => "move it away, or back to its old name, and try again",
            Self::Endless(_) => "add that line where the guard ends; nothing was changed",
            Self::Io { .. } => return None,
        };
        Some(hint.into())
    }
}

/// A hook after an operation on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardedHook {
    /// The file.
    pub path: PathBuf,
    /// What it is now.
    pub state: &'static str,
}

/// A hook that the guard is in, and the `osm` that it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guarded {
    /// The hook.
    pub hook: PathBuf,
    /// The program; `None` if it is the one in `PATH`.
    pub program: Option<PathBuf>,
}

/// The hooks of this repository that the guard is in.
pub fn guarded(invocation: &Invocation) -> Result<Vec<Guarded>, Error> {
    let folder = hooks(invocation)?.folder;
    let guarded = |name: &str| {
        let hook = folder.join(name);
        let text = std::fs::read_to_string(&hook).ok()?;
        let program = script::program(&text)?.map(PathBuf::from);
        Some(Guarded { hook, program })
    };
    Ok(HOOKS.into_iter().filter_map(guarded).collect())
}

/// Adds the guard to this repository's hooks.
pub fn install(invocation: &Invocation, require: bool) -> Result<Vec<GuardedHook>, Error> {
    let hooks = hooks(invocation)?;
    let folder = hooks.folder.clone();
    refuse_shared(hooks)?;
    let program = invocation.world.program();
    each(&folder, |hook| {
        let task = match hook.path.file_name().and_then(|name| name.to_str()) {
            Some("post-commit") => Task::Release,
            Some("pre-push") => Task::Check { require, staged: false },
            _ => Task::Check { require, staged: true },
        };
        hook.install(&Call { task, program: program.clone() })
    })
}

/// Removes the guard from this repository's hooks.
pub fn remove(invocation: &Invocation) -> Result<Vec<GuardedHook>, Error> {
    each(&hooks(invocation)?.folder, Hook::remove)
}

fn each(
    folder: &Path,
    plan: impl Fn(&Hook) -> Result<Plan, GuardError>,
) -> Result<Vec<GuardedHook>, Error> {
    let hooks = HOOKS.map(|name| Hook { path: folder.join(name) });
    // If one hook is refused, none is changed.
    let plans = hooks.iter().map(plan).collect::<Result<Vec<_>, _>>()?;
    let mut done = Vec::new();
    for (hook, plan) in hooks.into_iter().zip(plans) {
        hook.carry_out(&plan)?;
        done.push(GuardedHook { path: hook.path, state: plan.state });
    }
    Ok(done)
}

/// Where the hooks are: only git knows.
fn hooks(invocation: &Invocation) -> Result<Hooks, Error> {
    let folder = invocation.folder()?;
    let hooks = git::hooks(&folder, &Setting::new(&folder));
    Ok(hooks.map_err(|error| GuardError::Git(error.to_string()))?)
}

/// Refuses a folder of hooks that the user's or the system's configuration names: every repository
/// has it. A relative path there is another folder in each repository.
fn refuse_shared(hooks: Hooks) -> Result<(), GuardError> {
    match hooks.setting {
        Some((scope, folder))
            if folder.is_absolute() && !["local", "worktree"].contains(&scope.as_str()) =>
        {
            Err(GuardError::SharedHooks { scope, folder, own: hooks.own })
        }
        _ => Ok(()),
    }
}

/// Releases this session's automatic claims of files that the last commit contains; returns them.
pub fn committed(invocation: &Invocation) -> Result<Vec<Resource>, Error> {
    release_committed(invocation, &invocation.folder()?)
}

/// What the guard checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckRequest {
    /// Refuse a session that holds no claim in the repository.
    pub require: bool,
    /// Refuse if the next commit would contain files that another session holds.
    pub staged: bool,
    /// The scope, instead of the repository around the folder.
    pub scope: Option<String>,
}

/// Refuses if this session lost a claim in the repository that git works on, or for what the request
/// names.
pub fn check(
    invocation: &Invocation,
    request: &CheckRequest,
    interaction: &mut dyn Interaction,
) -> Result<Notices, Error> {
    let CheckRequest { require, staged, scope } = request;
    let scope = scope.as_deref();
    let client = open(invocation, scope, interaction)?;
    if *staged {
        refuse_held(&client, scope)?;
    }
    let given = under(&client)?;
    let losses = match client.claims.losses(&client.requester, false) {
        // A session without an identity has lost nothing.
        Err(error) if error.refusal().is_some_and(|it| it.reason == Reason::NoIdentity) => {
            Vec::new()
        }
        losses => client.answer(losses)?,
    };
    let mut lost = losses.into_iter().map(|loss| (loss.claim, Reason::Stale));
    let mut mine = client.answer(client.claims.list(&client.requester, false))?;
    mine.retain(|it| it.is_mine);
    // No session has claimed them yet; but any may.
    let mut expired = mine
        .iter()
        // An automatic claim that is idle is still the session's, and used by the commit.
        .filter(|it| !matches!(it.claim.hold, Hold::WhileUsed(_)))
        .filter(|it| it.standing == Standing::Free(End::Expired))
        .map(|it| (it.claim.clone(), Reason::LeaseOver));
    if let Some((claim, reason)) = lost.next().or_else(|| expired.next()) {
        let refused = Refused {
            resource: Some(claim.resource.clone()),
            claim: Some(Box::new(claim)),
            ..Refused::because(reason)
        };
        return client.answer(Err(refused.into()));
    }
    let holds = given || mine.iter().any(|it| !matches!(it.standing, Standing::Free(_)));
    if *require && !holds {
        return Err(Error::NothingHeld { scope: client.requester.scope.name().to_owned() });
    }
    Ok(client.notices())
}

/// Refuses if another session holds a file that the next commit would change: `git add -A` takes the
/// work of all sessions of a worktree.
fn refuse_held(client: &Client, scope: Option<&str>) -> Result<(), Error> {
    let folder = client.invocation.folder()?;
    // Where no path can be claimed, none is held.
    let Ok(site) = paths::Site::around(client.invocation, &folder, scope) else { return Ok(()) };
    let top = site.top();
    let staged = git::staged(top, &Setting::new(top));
    let staged = staged.map_err(|error| GuardError::Staged(error.to_string()))?;
    let files: Vec<Resource> = staged.iter().filter_map(|name| site.file(name)).collect();
    client.answer(client.claims.check_free(&client.requester, &files))
}

/// The client in the repository that git works on.
///
/// The folder that a hook runs in need not be in it: `git --git-dir=A --work-tree=B`.
fn open<'a>(
    invocation: &'a Invocation<'a>,
    scope: Option<&str>,
    interaction: &mut dyn Interaction,
) -> Result<Client<'a>, Error> {
    let is_named = scope.is_some() || invocation.world.claim_scope().is_some();
    match elsewhere(invocation).filter(|_| !is_named) {
        Some(repository) => {
            let scope = Scope::of(&repository, &boot());
            Client::open_in(invocation, scope, Some(&repository), None)
        }
        None => Client::open(invocation, scope, interaction),
    }
}

/// The repository that git names to its hooks, if it is not the one around the folder.
fn elsewhere(invocation: &Invocation) -> Option<Repository> {
    let git = invocation.world.environment.get("GIT_DIR").map(Path::new)?;
    let named = Repository::around(git)?;
    let here = invocation.repository();
    here.is_none_or(|here| here.common != named.common).then_some(named)
}

/// Whether git works under a claim of `osm claim run`; refused if that is over.
fn under(client: &Client) -> Result<bool, Error> {
    let Some((name, _)) = client.invocation.world.given_claim() else { return Ok(false) };
    let scope = client.scope_name.as_deref();
    let Ok(resource) = paths::resource(client.invocation, name, scope) else {
        return client.answer(Err(Reason::UnknownEpoch.into()));
    };
    let Some(token) = client.given(&resource) else { return Ok(false) };
    client.answer(client.claims.check(&client.requester, &resource, Some(token)))?;
    Ok(true)
}

//! Paths that sessions claim: what a word means, and claims for an edit.
//!
//! A path is claimed in the worktree that it is in, by its real name (`paths/real.rs`). In the scope of a
//! repository a worktree has the name that Git gave it, so that moving the repository changes nothing;
//! in a scope that was named, which several repositories may share, it is its folder.

mod case;
mod real;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use osm_claims::path::{PathPattern, SPELLING};
use osm_claims::rules::{Change, Standing};
use osm_claims::{
    Caller, Case, Claim, ClaimOptions, ClaimedPath, InvalidPattern, Link, Listed, Mode, Notices,
    PathKind, Requester, Resource, Scope,
};
use osm_identity::Repository;

use self::real::Real;
use super::client::{self, Client, boot};
use super::{Error, keeper, legacy};
use crate::bare::repository_around;
use crate::interaction::Interaction;
use crate::invocation::Invocation;

/// Why a word is not a path that can be claimed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It is in no repository.
    #[error("not in a Git repository: {}", .0.display())]
    NoRepository(PathBuf),
    /// The repository has no files of its own.
    #[error("a bare repository has no worktree: {}", .0.display())]
    Bare(PathBuf),
    /// It is not in the worktree.
    #[error("{} is not in the worktree {}", path.display(), worktree.display())]
    Outside {
        /// The path, as it really is.
        path: PathBuf,
        /// The top of the worktree.
        worktree: PathBuf,
    },
    /// It is not text.
    #[error("a path in a claim must be UTF-8: {}", .0.display())]
    NotText(PathBuf),
    /// It is no pattern.
    #[error(transparent)]
    Pattern(#[from] InvalidPattern),
}

impl PathError {
    /// What to do about it.
    pub(super) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoRepository(_) => "run osm in the worktree whose files you want to claim",
            Self::Bare(_) => "run osm in a worktree: git worktree list",
            Self::Outside { .. } => {
                "run osm in the worktree that the path is in, or claim a name: osm claim NAME"
            }
            Self::NotText(_) => "claim the folder that it is in",
            Self::Pattern(_) => return None,
        };
        Some(hint.into())
    }
}

/// The resource that a word means: a name, or paths if it starts with `path:`, from the top of the
/// worktree.
pub fn resource(
    invocation: &Invocation,
    word: &OsStr,
    scope: Option<&str>,
) -> Result<Resource, Error> {
    resource_of_bytes(invocation, word.as_encoded_bytes(), scope)
}

/// The same for a line of a file.
pub fn resource_of_bytes(
    invocation: &Invocation,
    word: &[u8],
    scope: Option<&str>,
) -> Result<Resource, Error> {
    match word.strip_prefix(SPELLING.as_bytes()) {
        Some(rest) => {
            let shown = || String::from_utf8_lossy(rest).into_owned();
            let rest = std::str::from_utf8(rest).map_err(|_| PathError::NotText(shown().into()))?;
            let site = Site::around(invocation, &invocation.folder()?, scope)?;
            let top = site.repository.worktree.clone();
            Ok(site.resource(&top, rest, Reading::Typed)?)
        }
        None => Ok(Resource::new(word)?),
    }
}

/// The resource that a path means, from the working directory.
pub fn path_resource(
    invocation: &Invocation,
    path: &OsStr,
    scope: Option<&str>,
) -> Result<Resource, Error> {
    let text = path.to_str().ok_or_else(|| PathError::NotText(path.into()))?;
    let folder = invocation.folder()?;
    Ok(Site::around(invocation, &folder, scope)?.resource(&folder, text, Reading::Typed)?)
}

/// The session of the run, as ledgers know it. A hook changes what its payload knows better.
#[must_use]
pub fn caller(invocation: &Invocation) -> Caller {
    client::caller(invocation.detection(), invocation)
}

/// Files that a session is about to change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HoldRequest {
    /// The files, as they are: never globs. They are absolute, or relative to `folder`.
    pub paths: Vec<PathBuf>,
    /// Where relative paths start [default: the working directory].
    pub folder: Option<PathBuf>,
    /// Who changes them [default: the session of the run].
    pub caller: Option<Caller>,
    /// A note for others.
    pub note: Option<String>,
}

/// Files that a session may change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldPaths {
    /// The files in worktrees, with the claims that they are under.
    pub paths: Vec<HeldPath>,
    /// The files that are in no worktree, and are not claimed.
    pub outside: Vec<PathBuf>,
    /// What the session must be told.
    pub notices: Notices,
}

/// A file that a session may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldPath {
    /// The file, as it was asked for.
    pub path: PathBuf,
    /// The claim: of the file, of a folder or of a glob.
    pub claim: Claim,
    /// The claim was made now.
    pub is_new: bool,
}

/// Claims files for an edit: all of a repository, or none.
///
/// If the session holds all of them already, nothing is written. What is free is claimed automatically:
/// such a claim ends when its session does not use it for a while.
pub fn hold_paths(
    invocation: &Invocation,
    request: &HoldRequest,
    interaction: &mut dyn Interaction,
) -> Result<HeldPaths, Error> {
    let folder = request.folder.clone().map_or_else(|| invocation.folder(), Ok)?;
    let mut held = HeldPaths::default();
    let mut sites: Vec<(Site, Vec<(PathBuf, Resource)>)> = Vec::new();
    for path in &request.paths {
        let found = Site::of_file(invocation, &folder, path);
        let Some((site, resource)) = found else {
            held.outside.push(path.clone());
            continue;
        };
        let file = (path.clone(), resource);
        match sites.iter_mut().find(|(it, _)| it.repository == site.repository) {
            Some((_, files)) => files.push(file),
            None => sites.push((site, vec![file])),
        }
    }
    for (site, files) in sites {
        site.hold(invocation, request, files, interaction, &mut held)?;
    }
    Ok(held)
}

/// What other sessions hold in the worktree around a folder. A folder in no worktree has nothing.
pub fn paths_of_others(
    invocation: &Invocation,
    folder: Option<&Path>,
    caller: Option<&Caller>,
) -> Result<Vec<Listed>, Error> {
    let folder = folder.map_or_else(|| invocation.folder(), |it| Ok(it.to_owned()))?;
    let Ok(site) = Site::around(invocation, &folder, None) else { return Ok(Vec::new()) };
    let client = site.client(invocation, caller)?;
    let mut listed = client.answer(client.claims.list(&client.requester, false))?;
    listed.retain(|it| {
        let counts =
            |path: &ClaimedPath| it.claim.mode.everywhere || path.worktree == site.worktree;
        let is_free = matches!(it.standing, Standing::Free(_));
        !it.is_mine && !is_free && it.claim.resource.path().is_some_and(counts)
    });
    Ok(listed)
}

/// A worktree, and its name in a scope.
#[derive(Debug)]
pub(super) struct Site {
    repository: Repository,
    worktree: String,
}

/// How a path is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// A person typed it: it may be a glob, unless there is a file of that name.
    Typed,
    /// It is a file.
    File,
}

impl Site {
    /// The worktree around a folder, in a scope that was named or in that of its repository.
    pub(super) fn around(
        invocation: &Invocation,
        folder: &Path,
        scope: Option<&str>,
    ) -> Result<Self, PathError> {
        let found = repository_around(folder);
        let repository = found.ok_or_else(|| PathError::NoRepository(folder.to_owned()))?;
        if repository.worktree == repository.common {
            return Err(PathError::Bare(repository.common));
        }
        Ok(Self::of(invocation, repository, scope))
    }

    fn of(invocation: &Invocation, repository: Repository, scope: Option<&str>) -> Self {
        let is_named = scope.is_some() || invocation.world.claim_scope().is_some();
        let worktree = if is_named {
            repository.worktree.to_string_lossy().into_owned()
        } else {
            repository.worktree_name()
        };
        Self { repository, worktree }
    }

    /// The top of the worktree.
    pub(super) fn top(&self) -> &Path {
        &self.repository.worktree
    }

    /// A file of the worktree by the name that Git has for it; `None` if that cannot be claimed.
    pub(super) fn file(&self, name: &str) -> Option<Resource> {
        let case = case::of(self.top(), self.top());
        let path = ClaimedPath::new(&self.worktree, PathKind::File, name, case).ok()?;
        Some(Resource::of_path(path, None))
    }

    /// The worktree that a file is in, and the file; `None` if it is in none, or has no name that
    /// can be claimed.
    fn of_file(invocation: &Invocation, folder: &Path, path: &Path) -> Option<(Self, Resource)> {
        let real = Real::of(&folder.join(path));
        let repository = repository_around(&real.existing)?;
        // What Git itself keeps is not work.
        if repository.worktree == repository.common || real.path.starts_with(&repository.common) {
            return None;
        }
        let site = Self::of(invocation, repository, None);
        let resource = site.resource(folder, path.to_str()?, Reading::File).ok()?;
        Some((site, resource))
    }

    /// The resource that a path means.
    fn resource(&self, folder: &Path, text: &str, reading: Reading) -> Result<Resource, PathError> {
        let top = &self.repository.worktree;
        let is_glob = reading == Reading::Typed
            && PathPattern::looks_like_glob(text)
            && folder.join(text).symlink_metadata().is_err();
        let (plain, glob) = if is_glob { split(text) } else { (text, "") };
        let real = Real::of(&folder.join(plain));
        let case = case::of(top, &real.existing);
        let real = if case == Case::Folded { real.as_stored() } else { real };
        let below = real
            .path
            .strip_prefix(top)
            .map_err(|_| PathError::Outside { path: real.path.clone(), worktree: top.clone() })?;
        let mut names = Vec::new();
        for name in below {
            names.push(name.to_str().ok_or_else(|| PathError::NotText(real.path.clone()))?);
        }
        let kind = match (is_glob, reading) {
            (true, _) => PathKind::Glob,
            (_, Reading::Typed) if real.is_folder || is_folder(text) => PathKind::Folder,
            _ => PathKind::File,
        };
        names.push(glob);
        let path = ClaimedPath::new(&self.worktree, kind, &names.join("/"), case)?;
        let link = real.link.map(|(device, inode)| Link { device, inode });
        Ok(Resource::of_path(path, link.filter(|_| kind == PathKind::File)))
    }

    pub(super) fn client<'a>(
        &self,
        invocation: &'a Invocation<'a>,
        caller: Option<&Caller>,
    ) -> Result<Client<'a>, Error> {
        let name = invocation.world.claim_scope();
        let scope = match &name {
            Some(name) => Scope::named(name),
            None => Scope::of(&self.repository, &boot()),
        };
        let client = Client::open_in(invocation, scope, Some(&self.repository), name)?;
        let caller = caller.unwrap_or(&client.requester.caller).clone();
        let requester = Requester { scope: client.requester.scope.clone(), caller };
        Ok(Client { requester, ..client })
    }

    /// Claims files of this worktree, unless the session holds them.
    fn hold(
        &self,
        invocation: &Invocation,
        request: &HoldRequest,
        files: Vec<(PathBuf, Resource)>,
        interaction: &mut dyn Interaction,
        held: &mut HeldPaths,
    ) -> Result<(), Error> {
        let client = self.client(invocation, request.caller.as_ref())?;
        let (paths, resources): (Vec<PathBuf>, Vec<Resource>) = files.into_iter().unzip();
        let ours = client.claims.holding(&client.requester, &resources);
        if let Some(claims) = client.answer(ours)? {
            let ours = paths.into_iter().zip(claims);
            held.paths.extend(ours.map(|(path, claim)| HeldPath { path, claim, is_new: false }));
            return Ok(());
        }
        client::mention_foreign(&self.repository, interaction);
        let options = ClaimOptions {
            mode: Mode { automatic: true, ..Mode::default() },
            note: request.note.clone(),
            worktree: legacy::worktree(&self.repository),
            ..ClaimOptions::default()
        };
        let claimed = client.claims.claim_all(&client.requester, &resources, &options);
        for (path, outcome) in paths.into_iter().zip(client.answer(claimed)?) {
            let is_new = matches!(outcome.change, Change::Grant(_));
            keeper::start(&client, &outcome.claim, interaction);
            held.paths.push(HeldPath { path, claim: outcome.claim, is_new });
            held.notices = outcome.notices;
        }
        Ok(())
    }
}

/// Whether a text names a folder that need not exist.
fn is_folder(text: &str) -> bool {
    let last = text.rsplit('/').next().unwrap_or_default();
    matches!(last, "" | "." | "..")
}

/// The folders in front of the first name of a glob that is not plain, and the rest.
fn split(text: &str) -> (&str, &str) {
    let special = text.find(['*', '?', '[', '{']).unwrap_or(text.len());
    // A brace may contain slashes, but not before it starts.
    let start = text[..special].rfind('/').map_or(0, |slash| slash + 1);
    text.split_at(start)
}

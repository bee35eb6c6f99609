//! The ledger, this session as its caller, and the scope: what every operation on claims needs.

use osm_claims::ledger::Presence;
use osm_claims::{
    Caller, Claim, ClaimOptions, Claims, End, Notices, Refused, Requester, Resource, Scope,
    SharedScope, Token,
};
use osm_identity::{Detection, ProcessSource, Repository, Source, System};

use super::{Error, GrantOptions, legacy, words};
use crate::interaction::Interaction;
use crate::invocation::Invocation;

pub(super) struct Client<'a> {
    pub(super) invocation: &'a Invocation<'a>,
    pub(super) claims: Claims,
    pub(super) requester: Requester,
    /// The scope that was named, for commands that are started under a claim.
    pub(super) scope_name: Option<String>,
}

impl<'a> Client<'a> {
    /// The client in a scope that was named, or in the repository around the folder.
    pub(super) fn open(
        invocation: &'a Invocation<'a>,
        scope: Option<&str>,
        interaction: &mut dyn Interaction,
    ) -> Result<Self, Error> {
        let name = scope.map(str::to_owned).or_else(|| invocation.world.claim_scope());
        let scope = find_scope(name.as_deref(), invocation, interaction)?;
        Self::open_in(invocation, scope, invocation.repository(), name)
    }

    /// The same for an operation on all scopes, which can be run outside a repository, too.
    pub(super) fn open_anywhere(
        invocation: &'a Invocation<'a>,
        scope: Option<&str>,
        interaction: &mut dyn Interaction,
    ) -> Result<Self, Error> {
        let name = scope.map(str::to_owned).or_else(|| invocation.world.claim_scope());
        let scope = find_scope(name.as_deref(), invocation, interaction);
        let scope = scope.unwrap_or_else(|_| Scope::nowhere());
        match Self::open_in(invocation, scope, invocation.repository(), name.clone()) {
            Err(Error::NoSharedScope { .. }) => {
                Self::open_in(invocation, Scope::nowhere(), None, name)
            }
            opened => opened,
        }
    }

    /// The client in a scope, which may be that of a repository.
    pub(super) fn open_in(
        invocation: &'a Invocation<'a>,
        scope: Scope,
        repository: Option<&Repository>,
        scope_name: Option<String>,
    ) -> Result<Self, Error> {
        let caller = caller(invocation.detection(), invocation);
        let claims = invocation.claims()?;
        let scope = shared(scope, &claims, repository)?;
        Ok(Self { invocation, claims, requester: Requester { scope, caller }, scope_name })
    }

    /// The answer of the ledger; an error says which ledger it was.
    pub(super) fn answer<T>(&self, answer: osm_claims::Result<T>) -> Result<T, Error> {
        answer.map_err(|error| match error {
            osm_claims::Error::Refused(refused) => Error::Refused(self.notify(refused)),
            source => Error::ledger(self.invocation, source),
        })
    }

    /// A refusal with what the session must be told, if it does not have that already.
    fn notify(&self, mut refused: Box<Refused>) -> Box<Refused> {
        if refused.notices.is_empty() {
            refused.notices = self.notices();
        }
        refused
    }

    /// What the session must be told. A look that fails is repeated by the next operation.
    pub(super) fn notices(&self) -> Notices {
        self.claims.notices(&self.requester).unwrap_or_default()
    }

    /// The grant of a resource under which `osm claim run` started this process.
    pub(super) fn given(&self, resource: &Resource) -> Option<Token> {
        let (name, token) = self.invocation.world.given_claim()?;
        let scope = self.invocation.world.given_scope();
        let here = scope.is_none_or(|it| it == self.requester.scope.key);
        (here && name.as_encoded_bytes() == resource.as_bytes()).then_some(token)
    }

    /// The claim that the command around this process runs under, if it is one of this resource. It
    /// is refused if that is lost; `None` if the command released it.
    pub(super) fn under(&self, resource: &Resource) -> osm_claims::Result<Option<Claim>> {
        let Some(token) = self.given(resource) else { return Ok(None) };
        let is_released = |refused: &Refused| {
            let claim = refused.claim.as_ref().filter(|claim| claim.epoch == token.epoch);
            let how = claim.and_then(|claim| claim.ended.as_ref()).map(|ended| ended.how);
            matches!(how, Some(End::Released | End::Completed))
        };
        match self.claims.check(&self.requester, resource, Some(token)) {
            Ok(claim) => Ok(Some(claim)),
            Err(error) if error.refusal().is_some_and(is_released) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The options of a new claim.
    pub(super) fn options(
        &self,
        grant: &GrantOptions,
        interaction: &mut dyn Interaction,
    ) -> ClaimOptions {
        self.mention_term(grant.ttl.is_some(), interaction);
        ClaimOptions {
            term: grant.ttl,
            note: grant.note.clone(),
            request: grant.request_id.clone(),
            reopen: grant.reopen,
            mode: grant.mode,
            ..self.plain_options()
        }
    }

    /// The options of a claim that changes hands.
    pub(super) fn plain_options(&self) -> ClaimOptions {
        ClaimOptions { worktree: legacy::here(self), ..ClaimOptions::default() }
    }

    /// Warns of a term that has no effect.
    pub(super) fn mention_term(&self, is_named: bool, interaction: &mut dyn Interaction) {
        if is_named && self.requester.caller.process.is_some() {
            interaction
                .warn("--ttl changes nothing: the claim lasts as long as this session's process");
        }
    }
}

/// This session, as a ledger knows it.
pub(super) fn caller(detection: &Detection, invocation: &Invocation) -> Caller {
    let agent = detection.agent.as_ref();
    let by_agent = matches!(detection.source, Source::AgentConversation | Source::AgentProcess);
    Caller {
        session: detection.id.to_string(),
        process: detection.anchor.clone().map(|it| it.with_clock(&System).with_machine(&System)),
        agent: agent.map(|agent| agent.name.to_owned()),
        host: invocation.world.host_name(),
        is_random: detection.source == Source::Random,
        is_sole: by_agent && detection.context.is_none() && agent.is_some_and(|it| !it.concurrent),
        is_process: detection.source == Source::Anchor && detection.context.is_none(),
    }
}

fn find_scope(
    name: Option<&str>,
    invocation: &Invocation,
    interaction: &mut dyn Interaction,
) -> Result<Scope, Error> {
    if let Some(name) = name {
        return Ok(Scope::named(name));
    }
    let folder = invocation.folder()?;
    let repository = invocation.repository().ok_or(Error::NoRepository(folder))?;
    mention_foreign(repository, interaction);
    Ok(Scope::of(repository, &boot()))
}

/// The scope with what clones on other machines have in common, if the ledger is one of several machines.
fn shared(scope: Scope, claims: &Claims, repository: Option<&Repository>) -> Result<Scope, Error> {
    let is_named = scope.shared.is_some() || scope == Scope::nowhere();
    let Some(repository) = repository.filter(|_| !is_named) else { return Ok(scope) };
    if claims.presence() == Presence::Process {
        return Ok(scope);
    }
    let shared = SharedScope::of(repository).map_err(|source| {
        let folder = repository.folder().to_owned();
        Error::NoSharedScope { folder, source }
    })?;
    Ok(Scope { shared: Some(shared), ..scope })
}

/// Warns of a repository of another user.
pub(super) fn mention_foreign(repository: &Repository, interaction: &mut dyn Interaction) {
    if repository.is_foreign() {
        let path = words::one_line(&repository.common.display().to_string());
        interaction
            .warn(&format!("{path} belongs to another user, whose claims are not visible here"));
    }
}

/// The boot of this machine, by which folders are told apart.
pub(super) fn boot() -> String {
    System.host().map(|host| host.boot).unwrap_or_default()
}

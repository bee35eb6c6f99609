//! Where a command about claims works: the ledger, the caller and its scope.

use std::ffi::OsStr;
use std::time::Duration;

use osm_claims::{Asker, Caller, Claim, Claims, End, Error, Refused, Resource, Scope, Token, Wish};
use osm_identity::{Detection, ProcessSource, Source, System};

use super::report;
use crate::cli::{ClaimGrant, ClaimPlace};
use crate::error::{CommandError, Exit};
use crate::invocation::Invocation;
use crate::render::Ui;

pub(super) struct Desk<'a> {
    pub(super) invocation: &'a Invocation<'a>,
    pub(super) claims: Claims,
    pub(super) asker: Asker,
    pub(super) json: bool,
    /// `--scope`, for the commands that are started here.
    pub(super) scope: Option<String>,
}

/// What commands about claims end with.
pub(super) type Answer = Result<(), CommandError>;

impl<'a> Desk<'a> {
    pub(super) fn open(
        place: &ClaimPlace,
        invocation: &'a Invocation<'a>,
        ui: &mut Ui,
    ) -> Result<Self, CommandError> {
        Self::open_for(false, place, invocation, ui)
    }

    /// The same for a command that may concern all scopes, and then can be given anywhere.
    pub(super) fn open_for(
        everywhere: bool,
        place: &ClaimPlace,
        invocation: &'a Invocation<'a>,
        ui: &mut Ui,
    ) -> Result<Self, CommandError> {
        let name = place.scope.clone().or_else(|| invocation.world.claim_scope());
        let scope = match find_scope(name.as_deref(), invocation, ui) {
            Err(_) if everywhere => Scope::nowhere(),
            found => found?,
        };
        let asker = Asker { scope, caller: caller(invocation.detection(), invocation) };
        let (claims, json) = (invocation.claims()?, place.format.json);
        Ok(Self { claims, invocation, asker, json, scope: name })
    }

    /// The grant of a resource that `osm claim run` gave this command.
    pub(super) fn given(&self, name: &OsStr) -> Option<Token> {
        let (resource, token) = self.invocation.world.given_claim()?;
        let here = self.invocation.world.given_scope().is_none_or(|it| it == self.asker.scope.key);
        (here && resource == name).then_some(token)
    }

    /// The claim that the command around this one runs under, if it is this one. It is refused if
    /// that is lost, and nobody's if the command let go of it.
    pub(super) fn under(&self, name: &OsStr, resource: &Resource) -> Result<Option<Claim>, Error> {
        let Some(token) = self.given(name) else { return Ok(None) };
        let let_go = |refused: &Refused| {
            let claim = refused.claim.as_ref().filter(|claim| claim.epoch == token.epoch);
            let how = claim.and_then(|claim| claim.ended.as_ref()).map(|ended| ended.how);
            matches!(how, Some(End::Released | End::Completed))
        };
        match self.claims.check(&self.asker, resource, Some(token)) {
            Ok(claim) => Ok(Some(claim)),
            Err(error) if error.refusal().is_some_and(let_go) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The resource that a word names.
    pub(super) fn resource(word: &OsStr) -> Result<Resource, CommandError> {
        Ok(Resource::new(word.as_encoded_bytes())?)
    }

    /// What goes with a new claim.
    pub(super) fn wish(&self, grant: &ClaimGrant, ui: &mut Ui) -> Wish {
        self.mention_term(grant.ttl, ui);
        Wish {
            term: grant.ttl,
            note: grant.note.clone(),
            request: grant.request.clone(),
            reopen: grant.reopen,
            ..Wish::default()
        }
    }

    /// Says so if a term was named that means nothing.
    pub(super) fn mention_term(&self, term: Option<Duration>, ui: &mut Ui) {
        if term.is_some() && self.asker.caller.process.is_some() {
            ui.warn("--ttl changes nothing: this session's process holds the claim while it lives");
        }
    }

    /// Ends a command: a refusal is an answer too, for people and for programs.
    pub(super) fn close(&self, answer: Answer, ui: &mut Ui) -> Result<(), CommandError> {
        self.tell_losses(ui);
        match answer {
            Err(CommandError::Claim(refused)) if self.json => {
                ui.json(&report::refused(&refused));
                Err(CommandError::Told(Exit::Claim(refused.reason)))
            }
            answer => answer,
        }
    }

    /// Whoever lost a claim learns it at its next command, whatever that is.
    fn tell_losses(&self, ui: &mut Ui) {
        let Ok(losses) = self.claims.losses(&self.asker, true) else { return };
        let untold: Vec<_> = losses.iter().filter(|loss| !loss.told).collect();
        if untold.is_empty() {
            return;
        }
        for loss in untold {
            let fate = osm_claims::refusal::fate(&loss.claim);
            ui.warn(&format!("{} is no longer yours: {fate}", loss.claim.resource));
        }
        ui.hint("stop working on it, then `osm release` it to take note");
        // If this fails, it is told again.
        drop(self.claims.told(&self.asker));
    }
}

/// Who asks, as a ledger knows it.
fn caller(detection: &Detection, invocation: &Invocation) -> Caller {
    let agent = detection.agent.as_ref();
    let by_agent = matches!(detection.source, Source::AgentConversation | Source::AgentProcess);
    Caller {
        session: detection.id.to_string(),
        process: detection.anchor.clone().map(|it| it.with_clock(&System).with_machine(&System)),
        agent: agent.map(|agent| agent.name.to_owned()),
        host: invocation.world.host_name(),
        is_random: detection.source == Source::Random,
        is_sole: by_agent && detection.context.is_none() && agent.is_some_and(|it| !it.concurrent),
    }
}

fn find_scope(
    name: Option<&str>,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<Scope, CommandError> {
    if let Some(name) = name {
        return Ok(Scope::named(name));
    }
    let folder = invocation.folder()?;
    let repository = invocation.repository().ok_or_else(|| {
        CommandError::failed(format!("not a Git repository: {}", folder.display()))
            .with_hint("run osm in a repository, or name a scope with --scope NAME")
    })?;
    if repository.is_foreign() {
        ui.warn(&format!(
            "{} belongs to another user, whose claims are not seen from here",
            repository.common.display()
        ));
    }
    let boot = System.host().map(|host| host.boot).unwrap_or_default();
    Ok(Scope::of(repository, &boot))
}

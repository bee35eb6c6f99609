//! Sending messages, reading them, and saying that they are known.

use jiff::{SignedDuration, Timestamp};

use super::attempt::Attempt;
use super::{Claims, Requester, registration};
use crate::claim::{Claim, Mode};
use crate::error::Result;
use crate::message::{DELIVERED_FOR, Draft, Message, MessageKind};
use crate::resource::Resource;
use crate::rules::collision::{self, Waiter};
use crate::rules::{self, Standing};
use osm_identity::Liveness;

impl Claims {
    /// Asks each session that holds a resource, or paths that overlap it. No message is sent, and none
    /// returned, if no other running session does.
    pub fn ask(
        &self,
        requester: &Requester,
        resource: &Resource,
        text: &str,
    ) -> Result<Vec<Message>> {
        self.write(|transaction| {
            let mut attempt = self.begin(transaction, requester)?;
            let mut sessions: Vec<String> = Vec::new();
            for claim in attempt.holding(resource)? {
                let session = &claim.owner.session;
                if *session != requester.caller.session && !sessions.contains(session) {
                    sessions.push(session.clone());
                }
            }
            let send = |to| attempt.send(Some(to), MessageKind::Asked, Some(resource), text);
            sessions.into_iter().map(send).collect()
        })
    }

    /// Sends a message to a session, or to every other session of the scope.
    pub fn send(
        &self,
        requester: &Requester,
        to: Option<&str>,
        kind: MessageKind,
        about: Option<&Resource>,
        text: &str,
    ) -> Result<Message> {
        self.write(|transaction| {
            let mut attempt = self.begin(transaction, requester)?;
            attempt.send(to.map(str::to_owned), kind, about, text)
        })
    }

    /// The messages to the caller that it has not acknowledged.
    pub fn unread(&self, requester: &Requester) -> Result<Vec<Message>> {
        self.read(|transaction| {
            let me =
                registration::find(transaction, &*self.probe, self.ledger.presence(), requester)?;
            let here = transaction.scope(&requester.scope)?;
            let since = delivered_since(transaction.now()?.wall);
            transaction.unread(&me.session, here, since)
        })
    }

    /// Records that the caller knows messages.
    pub fn acknowledge(&self, requester: &Requester, messages: &[u64]) -> Result<()> {
        self.write(|transaction| {
            let me =
                registration::find(transaction, &*self.probe, self.ledger.presence(), requester)?;
            transaction.mark_read(&me.session, messages)
        })
    }

    /// The messages of the caller's scope, or those about a resource, whether they are known or not.
    pub fn messages(
        &self,
        requester: &Requester,
        about: Option<&Resource>,
    ) -> Result<Vec<Message>> {
        self.read(|transaction| match transaction.scope(&requester.scope)? {
            Some(scope) => transaction.messages(scope, about),
            None => Ok(Vec::new()),
        })
    }
}

impl Attempt<'_> {
    fn send(
        &mut self,
        to: Option<String>,
        kind: MessageKind,
        about: Option<&Resource>,
        text: &str,
    ) -> Result<Message> {
        self.transaction.send(&Draft {
            scope: self.scope,
            at: self.now.wall,
            from: self.me.session.clone(),
            to,
            kind,
            about: about.cloned(),
            text: text.to_owned(),
        })
    }

    /// What the caller has not acknowledged.
    pub(super) fn unread(&mut self) -> Result<Vec<Message>> {
        let since = delivered_since(self.now.wall);
        self.transaction.unread(&self.me.session, Some(self.scope), since)
    }

    /// The requests of other sessions that wait for a claim of the caller, in its scope.
    pub(super) fn waiting_for_me(&mut self) -> Result<Vec<Waiter>> {
        let mut waiting = Vec::new();
        for (waiter, verdict) in self.waiters()? {
            if matches!(verdict, Liveness::Dead(_)) || waiter.session == self.me.session {
                continue;
            }
            let open = self.overlapping(&waiter.resource, waiter.mode)?;
            if open.iter().any(|claim| claim.owner.id == self.me.id) {
                waiting.push(waiter);
            }
        }
        Ok(waiting)
    }

    /// The claims that keep others from a resource.
    fn holding(&mut self, resource: &Resource) -> Result<Vec<Claim>> {
        let mut open = self.overlapping(resource, Mode::default())?;
        open.retain(|claim| {
            let verdict = self.verdicts.of(claim);
            !matches!(rules::standing(&self.now, claim, &verdict), Standing::Free(_))
        });
        Ok(open)
    }

    /// The open claims that a request for a resource collides with.
    fn overlapping(&mut self, resource: &Resource, mode: Mode) -> Result<Vec<Claim>> {
        let mut open = if resource.path().is_some() {
            self.transaction.near(self.scope, resource)?
        } else {
            let latest = self.transaction.latest(self.scope, std::slice::from_ref(resource))?;
            latest.into_iter().flatten().filter(Claim::is_open).collect()
        };
        open.retain(|it| collision::collide((&it.resource, it.mode), (resource, mode)));
        Ok(open)
    }
}

/// Since when messages to all are delivered.
fn delivered_since(now: Timestamp) -> Timestamp {
    let term = SignedDuration::try_from(DELIVERED_FOR).unwrap_or(SignedDuration::MAX);
    now.checked_sub(term).unwrap_or(Timestamp::MIN)
}

//! A command under a claim that other machines know by a lease.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use osm_claims::clock::Lease;
use osm_claims::{Claims, Ends, Requester, Resource, SystemProbe, Token};
use osm_identity::{ProcessInstance, System};

use super::super::{Error, keeper, words};
use super::child::Child;
use super::{GRACE, Held, stop};

/// How often the command and the clock are looked at: a call to the server may take longer than there is time, so it
/// is made by another thread.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A renewal: the uptime when it was sent, and its answer.
type Renewal = (Duration, osm_claims::Result<()>);

/// What the other thread needs.
struct Renewer<'a> {
    claims: &'a Claims,
    requester: &'a Requester,
    resource: &'a Resource,
    token: Token,
    term: Duration,
    process: &'a ProcessInstance,
    /// The claim does not last as long as the command yet. The server may be away before it does.
    is_unassigned: AtomicBool,
}

impl Held<'_> {
    /// How long the command has to end by itself: with a lease, until that is over.
    pub(super) fn grace(&self) -> Duration {
        let left = |lease: &Lease| lease.term.saturating_sub(keeper::limit(lease.term)) / 2;
        self.claim.hold.presence().map_or(GRACE, |lease| GRACE.min(left(lease)))
    }

    /// Waits for the end of the command, and renews the lease meanwhile.
    pub(super) fn follow_lease(
        &self,
        child: &mut Child,
        process: &ProcessInstance,
        lease: &Lease,
    ) -> Result<u8, Error> {
        let (client, resource, token) = (self.client, self.resource, self.claim.token());
        let (claims, requester) = (&client.claims, &client.requester);
        let (term, is_unassigned) = (lease.term, AtomicBool::new(self.is_new));
        let renewer = Renewer { claims, requester, resource, token, term, process, is_unassigned };
        let is_over = AtomicBool::new(false);
        let (tell, renewals) = channel();
        std::thread::scope(|scope| {
            let renewing = std::thread::Builder::new()
                .spawn_scoped(scope, || renewer.renew(&is_over, &tell))
                .map_err(|source| Error::Keeper { action: "start a thread", source });
            let followed =
                renewing.and_then(|_| self.follow_renewals(child, process, lease.term, &renewals));
            if followed.is_err() {
                // Not after the other thread has ended, which may wait for the server.
                stop(child, self.grace());
            }
            is_over.store(true, Ordering::SeqCst);
            followed
        })
    }

    fn follow_renewals(
        &self,
        child: &mut Child,
        process: &ProcessInstance,
        term: Duration,
        renewals: &Receiver<Renewal>,
    ) -> Result<u8, Error> {
        let probe = SystemProbe(System);
        let ends = Ends::of(&[process], &probe);
        let mut renewed = self.asked;
        loop {
            if let Some(code) = child.ended()? {
                return Ok(code);
            }
            match renewals.try_recv() {
                Ok((sent, Ok(()))) => renewed = sent,
                Ok((_, Err(error))) => {
                    if let Some(why) = self.loss(&error) {
                        return Err(Error::Lost(why));
                    }
                }
                Err(_) => {}
            }
            if self.client.answer(keeper::uptime())? >= renewed + keeper::limit(term) {
                return Err(Error::Lost(self.unrenewed()));
            }
            self.client.answer(ends.wait(&probe, LOOK_EVERY))?;
        }
    }

    fn unrenewed(&self) -> String {
        let place = self.client.invocation.ledger_place();
        let name = words::quoted(self.resource);
        format!("{name}: the lease is almost over, and could not be renewed at {place}")
    }
}

impl Renewer<'_> {
    /// Renews the lease and looks at the claim, at a third of its term and after each change.
    fn renew(&self, is_over: &AtomicBool, tell: &Sender<Renewal>) {
        let probe = SystemProbe(System);
        let (mut watch, mut pause) = (self.claims.watch().ok(), Duration::ZERO);
        while !is_over.load(Ordering::SeqCst) {
            let heard =
                watch.as_mut().map(|it| self.claims.watch_for(&mut **it, self.process, pause));
            if !matches!(heard, Some(Ok(()))) {
                // The server is away; the end of the command ends this pause, too.
                drop(Ends::of(&[self.process], &probe).wait(&probe, pause));
                watch = self.claims.watch().ok();
            }
            let Ok(sent) = keeper::uptime() else { return };
            let answer = self.look();
            pause = match answer {
                Ok(()) => keeper::pause(self.term),
                Err(_) => keeper::retry(self.term),
            };
            if tell.send((sent, answer)).is_err() {
                return;
            }
        }
    }

    /// Makes the claim last as long as the command, renews the lease, and checks the claim.
    fn look(&self) -> osm_claims::Result<()> {
        if self.is_unassigned.load(Ordering::SeqCst) {
            let (requester, process) = (self.requester, self.process);
            self.claims.assign_process(requester, self.resource, self.token, process)?;
            self.is_unassigned.store(false, Ordering::SeqCst);
        }
        self.claims.keep(&self.requester.caller)?;
        self.claims.check(self.requester, self.resource, Some(self.token)).map(drop)
    }
}

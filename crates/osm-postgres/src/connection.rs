//! A connection, and the small runtime that it is driven by.
//!
//! The runtime runs only inside a call: nothing happens in the background, and a connection that is not used costs
//! nothing. A connection that ended (the server was restarted) is opened again by the next call, as long as nothing was
//! sent that could have been carried out.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{AsyncMessage, Client, NoTls, Row, Socket};

use crate::Parameter;
use crate::error::{Error, Kind, OfServer, Result};
use crate::server::{Server, SslMode};
use crate::tls::Tls;
use crate::transaction::{Limits, Transaction};

/// How long to wait for the reply to what ends a connection or a statement: it may well be that none comes.
const FAREWELL: Duration = Duration::from_millis(200);
/// How often a socket is looked at before something is sent that counts.
const LOOKS: u32 = 3;
/// How often a transaction that conflicts with others is tried.
const ATTEMPTS: u32 = 10;

/// A connection to a server. It is opened when it is first used.
pub struct Connection {
    server: Arc<Server>,
    link: Option<Link>,
}

/// An open connection.
pub(crate) struct Link {
    /// There until the end.
    client: Option<Client>,
    runtime: Runtime,
    driver: JoinHandle<()>,
    /// Why the server ended the connection, if it said so.
    end: Arc<OnceLock<Error>>,
    pub(crate) messages: UnboundedReceiver<AsyncMessage>,
    /// Something was answered: an error after that may only mean that the connection grew old.
    was_used: bool,
}

impl Connection {
    /// A connection that is opened by the first call.
    #[must_use]
    pub fn new(server: &Arc<Server>) -> Self {
        Self { server: Arc::clone(server), link: None }
    }

    /// A connection that is open.
    pub fn open(server: &Arc<Server>) -> Result<Self> {
        let link = Some(Link::open(server)?);
        Ok(Self { server: Arc::clone(server), link })
    }

    /// The server.
    #[must_use]
    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// Runs one statement that only reads. If the connection is found closed, it is run again on a new one.
    pub fn read(&mut self, sql: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Row>> {
        self.again_if_stale(|link, server| {
            link.call(server, Limits::USUAL.reply(), link.client().query_typed(sql, parameters))
        })
    }

    /// Runs one statement that changes something, as a transaction of its own: one round trip.
    ///
    /// Its time limit is ours alone; after it the outcome is unknown.
    pub fn write(&mut self, sql: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Row>> {
        // A connection that is stale must be found out before something is sent that counts.
        self.again_if_stale(Link::check)?;
        let link = self.take_link()?;
        let done = link.call(
            &self.server,
            Limits::USUAL.reply(),
            link.client().query_typed(sql, parameters),
        );
        self.put_back(link);
        done.map_err(Error::of_unacknowledged)
    }

    /// Runs a transaction. `body` is called again if the transaction conflicts with another one; only its last call
    /// counts. What `body` returns as an error rolls the transaction back.
    ///
    /// [`Kind::OutcomeUnknown`] if the reply to the commit is lost.
    pub fn transaction<T, E: OfServer>(
        &mut self,
        limits: Limits,
        mut body: impl FnMut(&mut Transaction<'_>) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let mut attempt = 1;
        loop {
            self.again_if_stale(|link, server| link.begin(server, limits))?;
            // Taken out: if the body panics, the connection is closed, and the server rolls back.
            let mut link = self.take_link()?;
            let mut transaction = Transaction::new(&mut link, &self.server, limits);
            let result = match body(&mut transaction) {
                Ok(value) => transaction.commit().map(|()| value).map_err(E::from),
                Err(error) => {
                    transaction.roll_back();
                    Err(error)
                }
            };
            self.put_back(link);
            match result {
                Err(error)
                    if attempt < ATTEMPTS && error.of_server().is_some_and(Error::is_conflict) =>
                {
                    // So that those that conflict do not go on in step.
                    let step = Duration::from_millis(u64::from(attempt * attempt));
                    std::thread::sleep(step + jitter(step));
                    attempt += 1;
                }
                result => return result,
            }
        }
    }

    /// Does something that may be done twice; if a connection that was used before is closed, on a new one.
    fn again_if_stale<T>(
        &mut self,
        attempt: impl Fn(&mut Link, &Server) -> Result<T>,
    ) -> Result<T> {
        let mut link = self.take_link()?;
        let was_used = link.was_used;
        let first = attempt(&mut link, &self.server);
        // The server may say farewell in place of an answer, before the connection is seen to be closed.
        let is_over = link.is_closed() || first.as_ref().is_err_and(Error::ends_connection);
        link.was_used |= first.is_ok();
        if !is_over {
            self.put_back(link);
        }
        match first {
            Err(error) if error.kind() == Kind::Unreachable && was_used && is_over => {
                let mut link = self.take_link()?;
                let second = attempt(&mut link, &self.server);
                link.was_used |= second.is_ok();
                self.put_back(link);
                second
            }
            first => first,
        }
    }

    fn take_link(&mut self) -> Result<Link> {
        match self.link.take() {
            Some(link) if !link.is_closed() => Ok(link),
            _ => Link::open(&self.server),
        }
    }

    fn put_back(&mut self, link: Link) {
        if !link.is_closed() {
            self.link = Some(link);
        }
    }
}

/// Something between nothing and so much.
fn jitter(most: Duration) -> Duration {
    // A fresh random state is cheaper than a generator of random numbers.
    let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0);
    most.mul_f64(f64::from(u32::try_from(random >> 32).unwrap_or_default()) / f64::from(u32::MAX))
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Connection({}, open: {})", self.server, self.link.is_some())
    }
}

impl Link {
    pub(crate) fn open(server: &Server) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| Error::new(Kind::Unreachable, server, error.to_string()))?;
        let (sender, messages) = unbounded_channel();
        let end = Arc::default();
        let limit = server.connect_timeout();
        let connecting = async {
            let connecting = async {
                if server.ssl_mode() == SslMode::Disable {
                    connect(server, NoTls, sender, &end).await
                } else {
                    connect(server, Tls::new(server)?, sender, &end).await
                }
            };
            timeout(limit, connecting).await
        };
        let connected = runtime.block_on(connecting).map_err(|_| {
            let reason = format!("no answer within {} seconds", limit.as_secs());
            Error::new(Kind::Unreachable, server, reason)
        });
        let (client, driver) = connected??;
        Ok(Self { client: Some(client), runtime, driver, end, messages, was_used: false })
    }

    pub(crate) fn client(&self) -> &Client {
        self.client.as_ref().expect("only the end takes it")
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.client().is_closed() || self.driver.is_finished()
    }

    /// Waits for something that the server does, for so long at most.
    pub(crate) fn call<T>(
        &self,
        server: &Server,
        limit: Duration,
        request: impl Future<Output = std::result::Result<T, tokio_postgres::Error>>,
    ) -> Result<T> {
        let reply = self.runtime.block_on(async { timeout(limit, request).await });
        let Ok(reply) = reply else {
            // What is sent later must not be taken for the reply to something else.
            self.driver.abort();
            // The server may still be at work, and hold locks.
            self.cancel(server);
            let reason = format!("no reply within {} seconds", limit.as_secs());
            return Err(Error::new(Kind::Unreachable, server, reason));
        };
        reply.map_err(|error| match self.end.get() {
            Some(end) if error.is_closed() => end.clone(),
            _ => Error::of(server, &error),
        })
    }

    /// Asks the server to stop what this connection waits for; nothing is promised.
    fn cancel(&self, server: &Server) {
        let token = self.client().cancel_token();
        let cancelling = async {
            if server.ssl_mode() == SslMode::Disable {
                drop(token.cancel_query(NoTls).await);
            } else if let Ok(tls) = Tls::new(server) {
                drop(token.cancel_query(tls).await);
            }
        };
        drop(self.runtime.block_on(async { timeout(FAREWELL, cancelling).await }));
    }

    /// Whether the connection still works, before something is sent that counts: what is not sent is not of unknown
    /// outcome.
    pub(crate) fn check(&mut self, server: &Server) -> Result<()> {
        // The driver has to run to notice that the server closed the connection: each turn looks at the socket.
        self.runtime.block_on(async {
            for _ in 0..LOOKS {
                tokio::task::yield_now().await;
            }
        });
        if self.is_closed() {
            let closed = || Error::new(Kind::Unreachable, server, "the connection was closed");
            return Err(self.end.get().cloned().unwrap_or_else(closed));
        }
        Ok(())
    }

    fn begin(&mut self, server: &Server, limits: Limits) -> Result<()> {
        self.call(server, limits.reply(), self.client().batch_execute(&limits.begin()))
    }

    /// Waits for the next message that nothing asked for; `None` if none comes in time.
    pub(crate) fn next_message(
        &mut self,
        server: &Server,
        limit: Duration,
    ) -> Result<Option<AsyncMessage>> {
        let Self { runtime, messages, end, .. } = self;
        match runtime.block_on(async { timeout(limit, messages.recv()).await }) {
            Err(_) => Ok(None),
            Ok(Some(message)) => Ok(Some(message)),
            Ok(None) => {
                let closed = || Error::new(Kind::Unreachable, server, "the connection was closed");
                Err(end.get().cloned().unwrap_or_else(closed))
            }
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // The driver says goodbye when there is no client any more, and has to run for that.
        let Some(client) = self.client.take() else { return };
        drop(client);
        if !self.driver.is_finished() {
            let Self { runtime, driver, .. } = self;
            drop(runtime.block_on(async { timeout(FAREWELL, driver).await }));
        }
    }
}

/// Connects, and drives the connection in the background of the runtime.
async fn connect<T>(
    server: &Server,
    tls: T,
    messages: UnboundedSender<AsyncMessage>,
    end: &Arc<OnceLock<Error>>,
) -> Result<(Client, JoinHandle<()>)>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    let connected = server.config()?.connect(tls).await;
    let (client, mut connection) = connected.map_err(|error| Error::of(server, &error))?;
    let (end, place) = (Arc::clone(end), server.to_string());
    let driver = tokio::spawn(async move {
        loop {
            match std::future::poll_fn(|context| connection.poll_message(context)).await {
                // Without a receiver notifications go nowhere.
                Some(Ok(message)) => drop(messages.send(message)),
                Some(Err(error)) => {
                    drop(end.set(Error::of(&place, &error)));
                    return;
                }
                None => return,
            }
        }
    });
    Ok((client, driver))
}

//! A model that does as it is told, so that real coding agents can be driven without a network.
//!
//! An agent runs a shell command because a model asks it to. [`ScriptedModel`] is that model: an
//! HTTP server on the loopback interface that speaks the four wire formats which agents speak. What
//! it asks for is written down beforehand: [`ScriptedModel::script`] takes the commands and gives
//! the prompt that stands for them. Whoever is started with that prompt is asked for the first
//! command, then, once its result is in the conversation, for the next, and at last is told that
//! all is done.
//!
//! Each answer follows from the conversation in the request and from nothing else. So a request
//! that is sent twice gets the same answer twice, a resumed conversation goes on with its new
//! prompt, and several agents may share one model, one inside the other if need be.

mod anthropic;
mod chat;
mod conversation;
mod gemini;
mod http;
mod responses;
mod route;
mod schema;
mod script;
mod sse;

use std::collections::VecDeque;
use std::io::{self, Read};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub use script::{Script, call_tool, delegate, write_file};

use http::{Request, Response};
use script::Scripts;

/// How long a client may take over one request, and we over sending the answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// How many exchanges are remembered; the oldest make room.
const REMEMBERED: usize = 256;

/// One request and its answer: what you need to find out why an agent failed.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// `POST`, `GET` or `HEAD`.
    pub method: String,
    /// The path with its query.
    pub target: String,
    /// What the client sent.
    pub request: String,
    /// The status of the answer.
    pub status: u16,
    /// The body of the answer.
    pub answer: String,
}

/// What the connections share.
#[derive(Default)]
struct Shared {
    scripts: Mutex<Scripts>,
    exchanges: Mutex<VecDeque<Exchange>>,
    answers: AtomicU64,
    stopping: AtomicBool,
}

impl Shared {
    fn scripts(&self) -> MutexGuard<'_, Scripts> {
        self.scripts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn exchanges(&self) -> MutexGuard<'_, VecDeque<Exchange>> {
        self.exchanges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let (request, response) = match Request::read(&mut stream)? {
            Ok(request) => {
                let number = self.answers.fetch_add(1, Ordering::Relaxed);
                let response = route::answer(&request, number, &mut self.scripts());
                (request, response)
            }
            Err(refusal) => (Request::default(), refusal),
        };
        self.remember(&request, &response);
        response.write(&mut stream, request.method == "HEAD")?;
        // A connection closed on unread bytes is reset, and the answer may be lost with it.
        stream.shutdown(Shutdown::Write)?;
        io::copy(&mut stream.take(http::MAX_BODY), &mut io::sink())?;
        Ok(())
    }

    fn remember(&self, request: &Request, response: &Response) {
        let mut exchanges = self.exchanges();
        if exchanges.len() == REMEMBERED {
            exchanges.pop_front();
        }
        exchanges.push_back(Exchange {
            method: request.method.clone(),
            target: request.target.clone(),
            request: String::from_utf8_lossy(&request.body).into_owned(),
            status: response.status,
            answer: response.body.clone(),
        });
    }
}

/// The server. It stops when the value is dropped.
pub struct ScriptedModel {
    address: SocketAddr,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

impl ScriptedModel {
    /// Starts to listen on a free port of 127.0.0.1.
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let for_listener = Arc::clone(&shared);
        let listener = thread::Builder::new()
            .name("scripted-model".into())
            .spawn(move || listen(&listener, &for_listener))?;
        Ok(Self { address, shared, listener: Some(listener) })
    }

    /// Where it listens, without a slash at the end: `http://127.0.0.1:40123`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Writes down what the next conversation shall do. Start the agent with [`Script::prompt`].
    #[must_use]
    pub fn script<S: AsRef<str>>(&self, commands: &[S]) -> Script {
        self.shared.scripts().add(commands.iter().map(|c| c.as_ref().to_owned()).collect())
    }

    /// What the agent reported back for each command so far.
    #[must_use]
    pub fn results(&self, script: &Script) -> Vec<String> {
        self.shared.scripts().results(script).to_vec()
    }

    /// What was asked and answered, oldest first: the last 256 exchanges.
    #[must_use]
    pub fn exchanges(&self) -> Vec<Exchange> {
        self.shared.exchanges().iter().cloned().collect()
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Relaxed);
        // The listener sits in accept; a connection makes it look at the flag.
        let woken = TcpStream::connect_timeout(&self.address, Duration::from_secs(1)).is_ok();
        if let Some(listener) = self.listener.take()
            && woken
        {
            // A listener that panicked has stopped too, which is all that is wanted.
            drop(listener.join());
        }
    }
}

fn listen(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stopping.load(Ordering::Relaxed) {
            return;
        }
        // A connection that fails is its client's to report: it sees no answer, or half of one.
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        let spawned = thread::Builder::new()
            .name("scripted-model-connection".into())
            .spawn(move || drop(shared.serve(stream)));
        drop(spawned);
    }
}

//! A proxy between a client and a server that loses what it is told to lose.
//!
//! A [`Proxy`] forwards TCP connections. On command it delays everything, forwards nothing (a partition: connections
//! stay open and are silent), or loses one request or one reply and closes that connection. It looks for a request by
//! its text, so the connection must not be encrypted.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How a server of PostgreSQL ends its answer when no transaction is open: `ReadyForQuery`, idle.
const IDLE: &[u8] = b"Z\0\0\0\x05I";

/// What is lost, once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The request with this text does not arrive at the server.
    LoseRequest(&'static str),
    /// The request with this text arrives and is carried out, and its reply does not come back.
    LoseReply(&'static str),
}

/// What is lost again and again.
struct Regular {
    text: &'static str,
    /// One in so many of these requests is lost, and the reply to another one.
    period: usize,
    seen: usize,
    lost: usize,
}

impl Regular {
    fn next(&mut self) -> Option<Fault> {
        self.seen += 1;
        let fault = match self.seen % self.period {
            0 => Fault::LoseReply(self.text),
            at if at == self.period / 2 => Fault::LoseRequest(self.text),
            _ => return None,
        };
        self.lost += 1;
        Some(fault)
    }
}

#[derive(Default)]
struct State {
    fault: Option<Fault>,
    regular: Option<Regular>,
    is_partitioned: bool,
    delay: Duration,
    connections: Vec<TcpStream>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    server: SocketAddr,
    is_over: AtomicBool,
}

/// A proxy on loopback. Its connections end when it is dropped.
pub struct Proxy {
    shared: Arc<Shared>,
    address: SocketAddr,
}

impl Proxy {
    /// A proxy that forwards to a server.
    pub fn new(server: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let (state, changed) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { state, changed, server, is_over: AtomicBool::new(false) });
        let acceptor = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if acceptor.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&acceptor);
                // A connection that fails is one that the client sees closed.
                std::thread::spawn(move || shared.connect(&client));
            }
        });
        Ok(Self { shared, address })
    }

    /// Where clients connect.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Loses one request or reply.
    pub fn lose(&self, fault: Fault) {
        self.shared.state().fault = Some(fault);
    }

    /// From now on loses one in so many requests with this text, and the reply to another one.
    pub fn lose_regularly(&self, text: &'static str, period: usize) {
        self.shared.state().regular = Some(Regular { text, period, seen: 0, lost: 0 });
    }

    /// How many requests and replies were lost regularly.
    #[must_use]
    pub fn lost(&self) -> usize {
        self.shared.state().regular.as_ref().map_or(0, |regular| regular.lost)
    }

    /// Whether what was to be lost is lost.
    #[must_use]
    pub fn has_lost(&self) -> bool {
        self.shared.state().fault.is_none()
    }

    /// Begins or ends a partition, in which nothing is forwarded. What was sent meanwhile is forwarded at its end.
    pub fn partition(&self, is_partitioned: bool) {
        self.shared.state().is_partitioned = is_partitioned;
        self.shared.changed.notify_all();
    }

    /// Delays all that is forwarded, in each direction.
    pub fn delay(&self, delay: Duration) {
        self.shared.state().delay = delay;
    }

    /// Closes every connection.
    pub fn disconnect(&self) {
        for connection in self.shared.state().connections.drain(..) {
            drop(connection.shutdown(Shutdown::Both));
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        self.partition(false);
        self.disconnect();
        // The thread that accepts looks up.
        drop(TcpStream::connect(self.address));
    }
}

/// A connection whose reply is to be lost.
type Muted = Arc<AtomicBool>;

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the end of a partition, and for the delay.
    fn pass(&self) {
        let mut state = self.state();
        while state.is_partitioned {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let delay = state.delay;
        drop(state);
        if !delay.is_zero() {
            std::thread::sleep(delay);
        }
    }

    fn connect(self: Arc<Self>, client: &TcpStream) -> io::Result<()> {
        self.pass();
        let server = TcpStream::connect(self.server)?;
        for stream in [client, &server] {
            stream.set_nodelay(true)?;
            self.state().connections.push(stream.try_clone()?);
        }
        let muted = Muted::default();
        let (shared, is_muted) = (Arc::clone(&self), Arc::clone(&muted));
        let (from, to) = (server.try_clone()?, client.try_clone()?);
        let replies = std::thread::spawn(move || shared.forward_replies(&from, &to, &is_muted));
        let result = self.forward_requests(client, &server, &muted);
        if !muted.load(Ordering::SeqCst) {
            drop(server.shutdown(Shutdown::Write));
        }
        drop(replies.join());
        result
    }

    fn forward_requests(
        &self,
        mut client: &TcpStream,
        mut server: &TcpStream,
        muted: &Muted,
    ) -> io::Result<()> {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let size = client.read(&mut buffer)?;
            if size == 0 {
                return Ok(());
            }
            self.pass();
            match self.fault_of(&buffer[..size]) {
                Some(Fault::LoseRequest(_)) => {
                    client.shutdown(Shutdown::Both)?;
                    return server.shutdown(Shutdown::Both);
                }
                Some(Fault::LoseReply(_)) => muted.store(true, Ordering::SeqCst),
                None => {}
            }
            server.write_all(&buffer[..size])?;
        }
    }

    fn forward_replies(
        &self,
        mut server: &TcpStream,
        mut client: &TcpStream,
        muted: &Muted,
    ) -> io::Result<()> {
        let mut buffer = vec![0; 1 << 16];
        let mut lost = Vec::new();
        loop {
            let size = server.read(&mut buffer)?;
            if size == 0 {
                return client.shutdown(Shutdown::Both);
            }
            if muted.load(Ordering::SeqCst) {
                lost.extend_from_slice(&buffer[..size]);
                if contains(&lost, IDLE) {
                    client.shutdown(Shutdown::Both)?;
                    return server.shutdown(Shutdown::Both);
                }
                continue;
            }
            self.pass();
            client.write_all(&buffer[..size])?;
        }
    }

    /// The fault that is about this request; it happens once.
    fn fault_of(&self, request: &[u8]) -> Option<Fault> {
        let mut state = self.state();
        if let Some(regular) = &mut state.regular
            && contains(request, regular.text.as_bytes())
        {
            return regular.next();
        }
        let (Fault::LoseRequest(text) | Fault::LoseReply(text)) = state.fault.as_ref()?;
        let is_it = contains(request, text.as_bytes());
        state.fault.take_if(|_| is_it)
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

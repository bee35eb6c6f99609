//! `osm mcp`: the Model Context Protocol on standard input and output, for agents.
//!
//! A front end like the command line: a tool names an operation of `ops/`, and its result is the document that
//! `--json` prints. The session is found again for every call, because one server outlives the conversations of
//! an agent. The protocol library is asynchronous and operations are not, so each call runs on a thread of its own;
//! nothing outside this folder knows of that.
//!
//! | for | see |
//! |---|---|
//! | lines and messages, and what is wrong with a line | `wire.rs` |
//! | which request is answered by what | `server.rs` |
//! | the tools | `tools.rs`, their arguments: `arguments.rs` |
//! | the resources | `resources.rs`, their subscriptions: `subscriptions.rs` |
//! | whose call it is | `caller.rs` |

mod arguments;
mod call;
mod caller;
mod resources;
mod server;
mod subscriptions;
mod tools;
mod wire;

use std::io::BufRead;
use std::sync::Arc;

use rmcp::ServiceExt;
use tokio::runtime::{Builder, Handle};
use tokio::sync::mpsc;

use self::server::Server;
use self::wire::Wire;
use crate::World;
use crate::invocation::Options;

/// How many messages wait for a client that does not read; then osm answers no more until it does.
const WAITING: usize = 64;

/// Serves the protocol until the client closes its side. Every line that it is to read goes to `write`.
pub(crate) fn serve<E>(
    world: &World,
    options: Options,
    input: impl BufRead + Send + 'static,
    mut write: impl FnMut(&str) -> Result<(), E>,
) -> Result<(), E>
where
    E: From<std::io::Error>,
{
    let (outgoing, mut lines) = mpsc::channel(WAITING);
    let wire = Wire::start(input, outgoing)?;
    let world = Arc::new(world.clone());
    // The caller's thread writes, so that only it needs the writer.
    std::thread::Builder::new().name("mcp".into()).spawn(move || {
        let Ok(runtime) = Builder::new_current_thread().enable_time().build() else { return };
        runtime.block_on(async {
            let server = Server::new(world, options, Handle::current());
            // A client that leaves before it said anything needs no answer.
            if let Ok(running) = server.serve(wire).await {
                drop(running.waiting().await);
            }
        });
        // A call that waits for a claim must not keep the process.
        runtime.shutdown_background();
    })?;
    while let Some(line) = lines.blocking_recv() {
        write(&line)?;
    }
    Ok(())
}

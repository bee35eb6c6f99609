//! Notifications of a server (`LISTEN`).
//!
//! A listener has a connection of its own, and is state of the server's session. Behind a pooler that gives each
//! transaction to another process, no notification arrives. So a notification only says that it is worth looking now;
//! who must not miss a change looks from time to time in any case.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_postgres::AsyncMessage;

use crate::connection::Link;
use crate::error::Result;
use crate::server::Server;
use crate::transaction::Limits;

/// What was sent to a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    /// The channel.
    pub channel: String,
    /// The text that was sent with it.
    pub payload: String,
}

/// Listens to channels from now on.
pub struct Listener {
    link: Link,
    server: Arc<Server>,
}

impl Listener {
    /// Connects and listens.
    pub fn open(server: &Arc<Server>, channels: &[&str]) -> Result<Self> {
        let link = Link::open(server)?;
        let quoted = |channel: &&str| format!("LISTEN \"{}\";", channel.replace('"', "\"\""));
        let sql: String = channels.iter().map(quoted).collect();
        link.call(server, Limits::USUAL.reply(), link.client().batch_execute(&sql))?;
        Ok(Self { link, server: Arc::clone(server) })
    }

    /// Waits for the next notification; `None` if none comes in time. After an error the listener is of no use.
    pub fn wait(&mut self, limit: Duration) -> Result<Option<Notification>> {
        let began = Instant::now();
        loop {
            let left = limit.saturating_sub(began.elapsed());
            match self.link.next_message(&self.server, left)? {
                None => return Ok(None),
                Some(AsyncMessage::Notification(it)) => {
                    let (channel, payload) = (it.channel().to_owned(), it.payload().to_owned());
                    return Ok(Some(Notification { channel, payload }));
                }
                // A notice of the server, for people.
                Some(_) => {}
            }
        }
    }
}

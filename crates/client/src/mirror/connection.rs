//! A stream that is opened again when it was lost.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use crate::client::Client;
use crate::error::Error;
use crate::socket::{Opening, Socket};

/// The first and the longest pause before a lost stream is opened again.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));

/// A stream of an instance, open or not at the moment.
pub(super) struct Connection {
    client: Client,
    path: String,
    socket: Option<Socket>,
    is_subscribed: bool,
    pause: Duration,
    /// Nothing is asked before this moment.
    rests_until: Option<Instant>,
}

/// What a connection has for its mirror.
pub(super) enum Received {
    /// It is open, and nothing is subscribed on it.
    Opened,
    /// The text of a message.
    Message(String),
}

impl Connection {
    /// A stream of a surface, at `below` its path. It is opened by [`Self::next`].
    ///
    /// # Errors
    /// [`Error::Address`]: the client has no key in its path.
    pub(super) fn new(client: &Client, surface: &str, below: &str) -> Result<Self, Error> {
        let path = client.surface_path(surface)? + below;
        let client = client.clone();
        Ok(Self { client, path, socket: None, is_subscribed: false, pause: PAUSES.0, rests_until: None })
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// The next message, or that the stream was opened. Lost connections and refusals for a while are waited out. May be dropped and called
    /// again.
    ///
    /// # Errors
    /// The instance refuses for good, or [`Error::AuthUnavailable`].
    pub(super) async fn next(&mut self) -> Result<Received, Error> {
        loop {
            if let Some(socket) = &mut self.socket {
                if !self.is_subscribed {
                    return Ok(Received::Opened);
                }
                match socket.next().await {
                    Ok(text) => return Ok(Received::Message(text)),
                    Err(error) => self.lose_by(error)?,
                }
            }
            self.rest().await;
            match Socket::open(&self.client, &self.path).await {
                Ok(Opening::Open(socket)) => self.socket = Some(*socket),
                Ok(Opening::Later(wait)) => self.rest_for(wait),
                Err(error) => self.lose_by(error)?,
            }
        }
    }

    /// Subscribes, or waits for a first message where there is nothing to send. Without a connection the next one is subscribed on.
    pub(super) async fn subscribe(&mut self, message: Option<&Value>) {
        let Some(socket) = &mut self.socket else { return };
        let sent = match message {
            Some(message) => socket.send(message).await,
            None => Ok(()),
        };
        match sent {
            Ok(()) => self.is_subscribed = true,
            Err(_) => self.lose(),
        }
    }

    /// Notes that the subscription is to be made again on the same connection.
    pub(super) fn unsubscribed(&mut self) {
        self.is_subscribed = false;
    }

    /// Notes that what came was of use: the next loss begins with the shortest pause.
    pub(super) fn works(&mut self) {
        self.pause = PAUSES.0;
    }

    /// Closes the stream. It is opened again after a pause, longer each time until something of use comes.
    pub(super) fn lose(&mut self) {
        self.rest_for(None);
    }

    /// As [`Self::lose`], after an error.
    ///
    /// # Errors
    /// The error, where waiting does not help.
    pub(super) fn lose_by(&mut self, error: Error) -> Result<(), Error> {
        self.lose();
        if error.is_temporary() { Ok(()) } else { Err(error) }
    }

    /// Waits until something may be asked again.
    pub(super) async fn rest(&self) {
        if let Some(until) = self.rests_until {
            sleep_until(until).await;
        }
    }

    /// Rests as long as the instance asks for, or for the next pause of its own.
    fn rest_for(&mut self, asked_for: Option<Duration>) {
        self.socket = None;
        self.is_subscribed = false;
        self.rests_until = Some(Instant::now() + asked_for.unwrap_or(self.pause));
        self.pause = (self.pause * 2).min(PAUSES.1);
    }
}

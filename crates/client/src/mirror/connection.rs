//! A stream that reconnects.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use crate::client::Client;
use crate::error::Error;
use crate::socket::{Opening, Socket};

/// The first and the longest pause before a reconnect.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));

/// A stream of an instance, connected or not.
pub(super) struct Connection {
    client: Client,
    path: String,
    socket: Option<Socket>,
    is_subscribed: bool,
    pause: Duration,
    /// No request is sent before this time.
    rests_until: Option<Instant>,
}

/// An event of a connection.
pub(super) enum Received {
    /// It was opened, without a subscription.
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

    /// The next message, or that the stream was opened. Reconnects after lost connections and temporary refusals. Cancel-safe.
    ///
    /// # Errors
    /// The instance refuses permanently, or [`Error::AuthUnavailable`].
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

    /// Subscribes, or waits for a first message if `message` is `None`. Without a connection the subscription is made on the next one.
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

    /// Records that the subscription must be made again on the same connection.
    pub(super) fn unsubscribed(&mut self) {
        self.is_subscribed = false;
    }

    /// Records that a message was useful: the next loss starts with the shortest pause.
    pub(super) fn works(&mut self) {
        self.pause = PAUSES.0;
    }

    /// Closes the stream. It reconnects after a pause that doubles until a useful message arrives.
    pub(super) fn lose(&mut self) {
        self.rest_for(None);
    }

    /// As [`Self::lose`], after an error.
    ///
    /// # Errors
    /// The error, if a retry cannot succeed.
    pub(super) fn lose_by(&mut self, error: Error) -> Result<(), Error> {
        self.lose();
        if error.is_temporary() { Ok(()) } else { Err(error) }
    }

    /// Waits until requests may be sent again.
    pub(super) async fn rest(&self) {
        if let Some(until) = self.rests_until {
            sleep_until(until).await;
        }
    }

    /// Sets the pause to `Retry-After` of the instance, or to the next pause of its own.
    fn rest_for(&mut self, retry_after: Option<Duration>) {
        self.socket = None;
        self.is_subscribed = false;
        self.rests_until = Some(Instant::now() + retry_after.unwrap_or(self.pause));
        self.pause = (self.pause * 2).min(PAUSES.1);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;

    /// The port of a server that answers each connection with the next status and body.
    fn server(answers: Vec<(&'static str, &'static str)>) -> u16 {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for (head, body) in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    stream.read_exact(&mut byte).unwrap();
                    request.push(byte[0]);
                }
                let length = body.len();
                let answer = format!("HTTP/1.1 {head}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}");
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        port
    }

    fn next_of(answers: Vec<(&'static str, &'static str)>) -> (Option<Error>, Duration) {
        let client = Client::new(&format!("http://127.0.0.1:{}", server(answers))).unwrap().with_key("key").unwrap();
        let mut connection = Connection::new(&client, "events", "").unwrap();
        let begun = Instant::now();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let next = runtime.block_on(connection.next());
        (next.err(), begun.elapsed())
    }

    #[test]
    fn a_temporary_refusal_is_retried_and_an_unavailable_key_store_is_not() {
        let away = r#"{"statusCode":503,"code":"AUTH_UNAVAILABLE","error":"away"}"#;
        let (error, elapsed) = next_of(vec![
            ("429 Too Many Requests\r\nRetry-After: 2", r#"{"statusCode":429,"code":"RATE_LIMITED","error":"x"}"#),
            ("503 Service Unavailable", r#"{"statusCode":503,"code":"TOO_MANY_STREAMS","error":"x"}"#),
            ("503 Service Unavailable\r\nRetry-After: 30", away),
        ]);
        assert_eq!(error, Some(Error::AuthUnavailable));
        assert!(elapsed >= Duration::from_millis(2_500) && elapsed < Duration::from_secs(20), "{elapsed:?}");
    }

    #[test]
    fn a_permanent_refusal_ends_a_stream_at_once() {
        let refused = r#"{"statusCode":401,"code":"INVALID_API_KEY","error":"no such key"}"#;
        let (error, _) = next_of(vec![("401 Unauthorized", refused)]);
        assert!(
            matches!(&error, Some(Error::Refused(refusal)) if refusal.word.as_deref() == Some("INVALID_API_KEY")),
            "{error:?}"
        );
    }
}

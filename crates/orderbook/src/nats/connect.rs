//! The connection to a NATS server.

use std::sync::Arc;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::jetstream::Context;
use async_nats::jetstream::context::ContextBuilder;
use async_nats::{ConnectOptions, Event, ServerAddr};
use parking_lot::Mutex;

use super::publish::WINDOW;
use super::{Login, NatsOptions, StreamError};

/// Longest name of a stream.
const STREAM_BYTES_MAX: usize = 100;
/// Longest wait for one answer of the server.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// Longest wait for a connection to one server.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);
/// Longest pause between two tries to connect.
const RECONNECT_EVERY: Duration = Duration::from_secs(1);
/// Time between two signs of life; a connection on which two are not answered is given up.
const PING_EVERY: Duration = Duration::from_secs(5);

/// A connection, or the attempt to have one.
#[derive(Debug, Clone)]
pub(super) struct Server {
    pub(super) context: Context,
    /// Why the last attempt failed, as far as the library reports it.
    trouble: Arc<Mutex<Option<String>>>,
}

impl Server {
    pub(super) fn is_connected(&self) -> bool {
        self.context.client().connection_state() == State::Connected
    }

    /// Why there is no connection.
    pub(super) fn why_away(&self) -> String {
        let trouble = self.trouble.lock().clone();
        trouble.map_or_else(
            || "no NATS server can be reached".to_owned(),
            |trouble| format!("no NATS server can be reached ({trouble})"),
        )
    }
}

/// Begins to connect, and reconnects in the background until the context is dropped.
pub(super) async fn connect(options: &NatsOptions) -> Result<Server, StreamError> {
    check_name(&options.stream)?;
    let wrong = |reason: String| StreamError::Settings { reason };
    let mut servers = Vec::with_capacity(options.servers.len());
    for server in &options.servers {
        // The text of the error could show a password in the URL.
        let address: ServerAddr = server.trim().parse().map_err(|_| {
            wrong("the address of a NATS server must be nats://host:port or tls://host:port".to_owned())
        })?;
        servers.push(address);
    }
    if servers.is_empty() {
        return Err(wrong("no NATS server is named".to_owned()));
    }
    let trouble = Arc::new(Mutex::new(None));
    let mut connect = ConnectOptions::new()
        .name("paraffin orderbook")
        .retry_on_initial_connect()
        .connection_timeout(CONNECT_WITHIN)
        .ping_interval(PING_EVERY)
        .reconnect_delay_callback(|attempts| {
            RECONNECT_EVERY.min(Duration::from_millis(50).saturating_mul(u32::try_from(attempts).unwrap_or(u32::MAX)))
        })
        .event_callback({
            let trouble = Arc::clone(&trouble);
            move |event| {
                note(&event, &mut trouble.lock());
                std::future::ready(())
            }
        });
    if servers.iter().any(ServerAddr::tls_required) {
        connect = connect.require_tls(true);
    }
    if let Some(file) = &options.tls.authorities {
        readable(file)?;
        connect = connect.add_root_certificates(file.clone()).require_tls(true);
    }
    if let Some((certificate, key)) = &options.tls.certificate {
        readable(certificate)?;
        readable(key)?;
        connect = connect.add_client_certificate(certificate.clone(), key.clone());
    }
    connect = match &options.login {
        Login::None => connect,
        Login::Password { user, password } => connect.user_and_password(user.clone(), password.clone()),
        Login::Token(token) => connect.token(token.clone()),
        Login::CredentialsFile(file) => {
            let read = connect.credentials_file(file).await;
            read.map_err(|error| wrong(format!("the credentials file {}: {error}", file.display())))?
        }
    };
    let client = connect.connect(servers).await.map_err(|error| wrong(error.to_string()))?;
    let builder = ContextBuilder::new().timeout(ANSWER_WITHIN).ack_timeout(ANSWER_WITHIN);
    // Never the bound that counts: publishers that hold some of it and wait for more would wait for each other.
    Ok(Server { context: builder.max_ack_inflight(16 * WINDOW).build(client), trouble })
}

fn check_name(stream: &str) -> Result<(), StreamError> {
    let is_good = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    if stream.is_empty() || stream.len() > STREAM_BYTES_MAX || !stream.chars().all(is_good) {
        let reason = "the name of the stream must be 1 to 100 letters, digits, - and _".to_owned();
        return Err(StreamError::Settings { reason });
    }
    Ok(())
}

/// The library would report a missing file only as a connection that fails.
fn readable(file: &std::path::Path) -> Result<(), StreamError> {
    let opened = std::fs::File::open(file).map(drop);
    opened.map_err(|error| StreamError::Settings { reason: format!("the file {}: {error}", file.display()) })
}

/// The library's own lines are switched off: while a server is away it writes one for every attempt.
fn note(event: &Event, trouble: &mut Option<String>) {
    match event {
        Event::Connected => {
            *trouble = None;
            tracing::info!("connected to the NATS server of the orderbook");
        }
        Event::Disconnected => tracing::warn!("the NATS server of the orderbook is away"),
        Event::LameDuckMode => tracing::info!("the NATS server of the orderbook is about to stop"),
        Event::SlowConsumer(_) => tracing::warn!("the NATS server of the orderbook sends faster than is read"),
        Event::ServerError(error) => {
            *trouble = Some(error.to_string());
            tracing::warn!(%error, "the NATS server of the orderbook refuses");
        }
        Event::ClientError(error) => {
            *trouble = Some(error.to_string());
            tracing::debug!(%error, "the NATS server of the orderbook cannot be reached");
        }
        Event::Draining | Event::Closed => {}
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::nats::TlsFiles;

    fn reason(options: &NatsOptions) -> String {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(connect(options)).unwrap_err().to_string()
    }

    #[test]
    fn settings_that_cannot_work_are_told_without_their_secrets() {
        let good = NatsOptions::new("nats://127.0.0.1:4222");
        let of = |server: &str| reason(&NatsOptions { servers: vec![server.to_owned()], ..good.clone() });
        assert!(of("nats://user:hunter2@host:port").contains("nats://host:port"));
        assert!(!of("nats://user:hunter2@host:port").contains("hunter2"));
        assert!(of("http://127.0.0.1").contains("nats://host:port"));
        assert!(reason(&NatsOptions { servers: Vec::new(), ..good.clone() }).contains("no NATS server"));
        for stream in ["", "a.b", "a b", "*", "ä", &"x".repeat(101)] {
            assert!(reason(&NatsOptions { stream: stream.to_owned(), ..good.clone() }).contains("letters"), "{stream}");
        }
        let missing = PathBuf::from("/nowhere/x.creds");
        let login = Login::CredentialsFile(missing.clone());
        assert!(reason(&NatsOptions { login, ..good.clone() }).contains("/nowhere/x.creds"));
        let tls = TlsFiles { authorities: Some(missing), certificate: None };
        assert!(reason(&NatsOptions { tls, ..good.clone() }).contains("/nowhere/x.creds"));
        let login = Login::Password { user: "bookkeeper".to_owned(), password: "hunter2".to_owned() };
        let shown = format!("{:?}", NatsOptions { login, ..good });
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

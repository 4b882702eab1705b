//! WebSocket streams (RFC 6455): the handshake, and what all streams share: heartbeats, limits, and that a stream ends when its
//! caller's key does.

mod joined;

use data_encoding::BASE64;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bitcoin::hashes::{Hash as _, sha1};
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::header::{CONNECTION, HeaderName, HeaderValue, UPGRADE};
use hyper::http::request::Parts;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper::{HeaderMap, StatusCode};
use hyper_util::rt::TokioIo;
use paraffin_access::Plan;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use crate::byte_budget::{HeldBytes, HeldFor};
use crate::errors::{ApiError, ErrorKind};
use crate::fairness::CallerId;
use crate::respond::Reply;
use crate::routes::Credential;
use crate::state::{BoxFuture, Caller, RequestContext, Shared, unix_millis};
pub use joined::join;

const KEY: HeaderName = HeaderName::from_static("sec-websocket-key");
const VERSION: HeaderName = HeaderName::from_static("sec-websocket-version");
const ACCEPT: HeaderName = HeaderName::from_static("sec-websocket-accept");
/// Appended to the key of a handshake before hashing (RFC 6455, section 4.2.2).
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Time between two pings of ours (docs/mempool.md).
const PING_EVERY: Duration = Duration::from_secs(20);
/// A client that was silent for so long counts as disconnected (docs/mempool.md).
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// Time between two checks that the caller's key is still valid.
const STANDING_EVERY: Duration = Duration::from_secs(1);
/// How long it may take to send the close frame and to receive that of the client.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// Bytes that may wait to be sent to a client that reads slowly.
const WAITING_BYTES_MAX: usize = 4 << 20;
/// Buffers of a stream, bytes. Larger data is counted among the bytes that the process holds.
const READ_BUFFER_BYTES: usize = 8 << 10;
const WRITE_BUFFER_BYTES: usize = 16 << 10;
/// Streams of an account on the seeded plans `free` and `pro`, on every other plan, and of an anonymous client by
/// address.
const OF_FREE_MAX: usize = 20;
const OF_PRO_MAX: usize = 100;
const OF_OTHER_PLANS_MAX: usize = 500;
const OF_CLIENT_MAX: usize = 20;
/// Burst of commands of a client; one token is refilled every second. A client of the order book names 256 markets.
const COMMANDS_MAX: u32 = 300;
/// Cost of a command that requests data again that was sent before: a replay, or a market that was shown.
pub const REPEAT_COST: u32 = 25;

/// Reasons for the end of a stream (docs/mempool.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The server stops.
    Shutdown,
    /// The client broke a rule of the stream.
    Policy(&'static str),
    /// There is no memory for what waits for a slow client.
    Overloaded,
    /// An internal failure, or the key store is unavailable.
    Internal,
    /// The key was revoked.
    KeyRevoked,
}

impl End {
    fn frame(self) -> CloseFrame {
        let (code, reason) = match self {
            Self::Shutdown => (CloseCode::Away, "the server stops"),
            Self::Policy(reason) => (CloseCode::Policy, reason),
            Self::Overloaded => (CloseCode::Again, "the memory for what waits to be sent is in use"),
            Self::Internal => (CloseCode::Error, "internal error"),
            Self::KeyRevoked => (CloseCode::Library(4001), "the key was revoked"),
        };
        CloseFrame { code, reason: Utf8Bytes::from_static(reason) }
    }
}

/// The client has disconnected, or was disconnected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stream has ended")]
pub struct Gone;

/// All open streams of an instance.
pub struct Streams {
    open: Mutex<OpenStreams>,
    stopping: watch::Sender<bool>,
}

#[derive(Default)]
struct OpenStreams {
    total: usize,
    by_caller: HashMap<CallerId, usize>,
}

impl Default for Streams {
    fn default() -> Self {
        Self { open: Mutex::default(), stopping: watch::Sender::new(false) }
    }
}

/// How many streams a caller may have.
fn streams_max(caller: &Caller) -> usize {
    match caller {
        Caller::Key(record) if record.admin => usize::MAX,
        Caller::Key(record) if record.plan == Plan::FREE => OF_FREE_MAX,
        Caller::Key(record) if record.plan == Plan::PRO => OF_PRO_MAX,
        Caller::Key(_) => OF_OTHER_PLANS_MAX,
        Caller::Alias(_) | Caller::Origin(_) | Caller::Keyless => OF_CLIENT_MAX,
    }
}

impl Streams {
    /// How many are open.
    pub fn open(&self) -> usize {
        self.open.lock().total
    }

    /// Signals all streams to end and waits until they have.
    pub async fn stop(&self) {
        self.stopping.send_replace(true);
        while self.open() > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Counts one more; `None` when there are too many of all, or of the caller.
    fn enter(context: &RequestContext) -> Option<StreamPermit> {
        let (shared, caller) = (Arc::clone(context.shared_handle()), context.caller_id());
        {
            let mut open = shared.streams.open.lock();
            let OpenStreams { total, by_caller } = &mut *open;
            let own = by_caller.get(&caller).copied().unwrap_or(0);
            if *total >= shared.config.limits.websockets_max || own >= streams_max(context.caller()) {
                return None;
            }
            *total += 1;
            by_caller.insert(caller, own + 1);
        }
        Some(StreamPermit { shared, caller })
    }
}

/// Held while a stream is open.
struct StreamPermit {
    shared: Arc<Shared>,
    caller: CallerId,
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut open = self.shared.streams.open.lock();
        open.total -= 1;
        if let Some(own) = open.by_caller.get_mut(&self.caller) {
            *own -= 1;
            if *own == 0 {
                open.by_caller.remove(&self.caller);
            }
        }
    }
}

/// Counts a stream that is not a WebSocket.
pub struct StreamTicket {
    shared: Arc<Shared>,
    credential: Credential,
    stopping: watch::Receiver<bool>,
    standing: Interval,
    _permit: StreamPermit,
}

impl StreamTicket {
    /// Counts a stream of a caller.
    ///
    /// # Errors
    /// 503 when too many streams are open.
    pub fn enter(context: &RequestContext, credential: Credential) -> Result<Self, ApiError> {
        let permit = Streams::enter(context).ok_or_else(too_many_streams)?;
        let shared = Arc::clone(context.shared_handle());
        let stopping = shared.streams.stopping.subscribe();
        Ok(Self { shared, credential, stopping, standing: every(STANDING_EVERY), _permit: permit })
    }

    /// Resolves when the server stops or the caller's key is no longer valid; may be dropped and called again.
    pub async fn ended(&mut self) {
        loop {
            tokio::select! {
                _ = self.standing.tick() => if standing(&self.shared, &self.credential).await.is_err() { return },
                () = stopped(&mut self.stopping) => return,
            }
        }
    }
}

fn every(period: Duration) -> Interval {
    let mut interval = tokio::time::interval_at(Instant::now() + period, period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

/// The command bucket of a client: the time at which it is full again.
struct Commands(Instant);

impl Commands {
    /// Takes `cost` tokens; `false` when there are fewer.
    fn spend(&mut self, cost: u32, now: Instant) -> bool {
        let rested = self.0.max(now) + Duration::from_secs(u64::from(cost));
        let is_allowed = rested - now <= Duration::from_secs(u64::from(COMMANDS_MAX));
        if is_allowed {
            self.0 = rested;
        }
        is_allowed
    }
}

/// The open stream of one client.
pub struct Socket {
    stream: WebSocketStream<TokioIo<Upgraded>>,
    shared: Arc<Shared>,
    credential: Credential,
    stopping: watch::Receiver<bool>,
    pings: Interval,
    standing: Interval,
    heard: Instant,
    commands: Commands,
    /// Bytes that wait to be sent.
    held: HeldBytes,
    is_over: bool,
    _permit: StreamPermit,
}

/// A WebSocket upgrade request.
#[derive(Debug)]
pub struct Upgrade {
    connection: OnUpgrade,
    credential: Credential,
}

impl Upgrade {
    /// Of a request's head; `None` when it asks for no WebSocket.
    pub fn of(head: &Parts, credential: &Credential, key_headers: &[String]) -> Option<Self> {
        let upgrade = head.headers.get(UPGRADE)?;
        if !upgrade.as_bytes().eq_ignore_ascii_case(b"websocket") {
            return None;
        }
        let connection = head.extensions.get::<OnUpgrade>()?.clone();
        Some(Self { connection, credential: standing_credential(head, credential, key_headers) })
    }
}

/// The credential that a stream depends on: the key or the alias in the path, or the key in a header.
pub fn standing_credential(head: &Parts, credential: &Credential, key_headers: &[String]) -> Credential {
    let in_header = || {
        let values = key_headers.iter().filter_map(|name| head.headers.get(name.as_str())?.to_str().ok());
        values.filter_map(|value| value.trim().parse().ok()).map(Credential::PathKey).next()
    };
    match credential {
        Credential::PathKey(_) | Credential::PathAlias(_) => credential.clone(),
        other => in_header().unwrap_or_else(|| other.clone()),
    }
}

/// Answers a handshake; `serve` runs once the client has the answer.
///
/// # Errors
/// 400 for an invalid handshake, 426 for another version, 503 when too many streams are open.
pub fn accept(
    context: &RequestContext,
    headers: &HeaderMap,
    upgrade: Option<Upgrade>,
    serve: impl FnOnce(Socket) -> BoxFuture<'static, ()> + Send + 'static,
) -> Result<Reply, ApiError> {
    let Some(Upgrade { connection, credential }) = upgrade else { return Err(upgrade_required()) };
    if headers.get(VERSION).is_none_or(|version| version.as_bytes() != b"13") {
        return Err(ApiError::invalid("the WebSocket version must be 13"));
    }
    let key = headers.get(KEY).ok_or_else(|| ApiError::invalid("sec-websocket-key is required"))?;
    let answer = sha1::Hash::hash(&[key.as_bytes(), GUID.as_bytes()].concat());
    let answer = BASE64.encode(answer.as_byte_array());
    let shared = Arc::clone(context.shared_handle());
    let permit = Streams::enter(context).ok_or_else(too_many_streams)?;
    let stopping = shared.streams.stopping.subscribe();
    let held = context.held_bytes(HeldFor::Streams);
    tokio::spawn(async move {
        // The client disconnected before it had the answer.
        let Ok(upgraded) = connection.await else { return };
        let limit = shared.config.limits.websocket_message_bytes_max;
        let config = WebSocketConfig::default()
            .max_message_size(Some(limit))
            .max_frame_size(Some(limit))
            .read_buffer_size(READ_BUFFER_BYTES)
            .write_buffer_size(WRITE_BUFFER_BYTES)
            .max_write_buffer_size(WAITING_BYTES_MAX);
        let stream = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(config)).await;
        let socket = Socket {
            stream,
            shared,
            credential,
            stopping,
            pings: every(PING_EVERY),
            standing: every(STANDING_EVERY),
            heard: Instant::now(),
            commands: Commands(Instant::now()),
            held,
            is_over: false,
            _permit: permit,
        };
        serve(socket).await;
    });
    let answer = HeaderValue::from_str(&answer).map_err(|error| ApiError::internal(&error))?;
    Ok(switching_protocols(answer))
}

/// The headers of a handshake, forwarded to the instance that answers it.
pub fn handshake(headers: &HeaderMap) -> impl Iterator<Item = (HeaderName, HeaderValue)> + '_ {
    let ours = [(UPGRADE, "websocket"), (CONNECTION, "upgrade")];
    let ours = ours.into_iter().map(|(name, value)| (name, HeaderValue::from_static(value)));
    ours.chain([KEY, VERSION].into_iter().filter_map(|name| Some((name.clone(), headers.get(&name)?.clone()))))
}

pub(crate) fn upgrade_required() -> ApiError {
    let how = "this is a WebSocket: connect with ws:// or wss://";
    ApiError::new(ErrorKind::new("UPGRADE_REQUIRED", StatusCode::UPGRADE_REQUIRED), how)
}

fn too_many_streams() -> ApiError {
    let words = "too many streams are open: try again later";
    ApiError::new(ErrorKind::new("TOO_MANY_STREAMS", StatusCode::SERVICE_UNAVAILABLE), words)
}

fn switching_protocols(accepted: HeaderValue) -> Reply {
    let mut reply = Reply::empty(StatusCode::SWITCHING_PROTOCOLS);
    reply.headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    reply.headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    reply.headers.insert(ACCEPT, accepted);
    reply
}

impl Socket {
    /// The next command of the client; may be dropped and called again without losing any. Pings are sent and answered meanwhile.
    ///
    /// # Errors
    /// The stream has ended; the client has been notified.
    pub async fn receive(&mut self) -> Result<Utf8Bytes, Gone> {
        let text = self.receive_uncharged().await?;
        self.charge(1).await?;
        Ok(text)
    }

    /// As [`Socket::receive`] for a protocol that accounts for its requests itself.
    ///
    /// # Errors
    /// The stream has ended; the client has been notified.
    pub async fn receive_uncharged(&mut self) -> Result<Utf8Bytes, Gone> {
        loop {
            if self.is_over {
                return Err(Gone);
            }
            let end = tokio::select! {
                message = self.stream.next() => match message {
                    Some(Ok(message)) => {
                        self.heard = Instant::now();
                        match message {
                            Message::Text(text) => return Ok(text),
                            Message::Binary(_) => Some(End::Policy("send text, not binary")),
                            Message::Close(_) => return self.over(),
                            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => None,
                        }
                    }
                    Some(Err(tokio_tungstenite::tungstenite::Error::Capacity(_))) => Some(End::Policy("the message is too large")),
                    Some(Err(_)) | None => return self.over(),
                },
                _ = self.pings.tick() => {
                    if self.heard.elapsed() > SILENCE_MAX {
                        Some(End::Policy("nothing was heard of the client"))
                    } else if self.stream.send(Message::Ping(bytes::Bytes::new())).await.is_err() {
                        return self.over();
                    } else {
                        None
                    }
                }
                _ = self.standing.tick() => standing(&self.shared, &self.credential).await.err(),
                () = stopped(&mut self.stopping) => Some(End::Shutdown),
            };
            if let Some(end) = end {
                self.end(end).await;
                return Err(Gone);
            }
        }
    }

    /// Counts the additional cost of a command.
    ///
    /// # Errors
    /// The client has used up its commands, and the stream has ended.
    pub async fn charge(&mut self, cost: u32) -> Result<(), Gone> {
        if self.commands.spend(cost, Instant::now()) {
            return Ok(());
        }
        self.end(End::Policy("too many commands")).await;
        Err(Gone)
    }

    /// Sends a text. A client that reads nothing is disconnected after a while.
    ///
    /// # Errors
    /// The stream has ended.
    pub async fn send(&mut self, text: Utf8Bytes) -> Result<(), Gone> {
        if self.is_over || *self.stopping.borrow() {
            self.end(End::Shutdown).await;
            return Err(Gone);
        }
        self.hold(text.len()).await?;
        let sent = self.stream.send(Message::Text(text)).await;
        self.held.shrink(0);
        match sent {
            Ok(()) => Ok(()),
            Err(_) => self.over(),
        }
    }

    /// Counts bytes that are about to wait for the client.
    async fn hold(&mut self, bytes: usize) -> Result<(), Gone> {
        if self.held.reach_now(bytes) {
            return Ok(());
        }
        self.end(End::Overloaded).await;
        Err(Gone)
    }

    /// As [`Socket::send`] for several, written together.
    ///
    /// # Errors
    /// The stream has ended.
    pub async fn send_all(&mut self, texts: impl Iterator<Item = Utf8Bytes>) -> Result<(), Gone> {
        // One text waits beside the buffer: it is not accepted before the previous one has been sent.
        for text in texts {
            self.hold(text.len()).await?;
            if self.is_over || self.stream.feed(Message::Text(text)).await.is_err() {
                return self.over();
            }
        }
        let sent = self.stream.flush().await;
        self.held.shrink(0);
        match sent {
            Ok(()) => Ok(()),
            Err(_) => self.over(),
        }
    }

    /// As [`Socket::send`] for one long text in parts, of which only a few are in memory at any time.
    ///
    /// # Errors
    /// The stream has ended.
    pub async fn send_parts(&mut self, parts: impl Iterator<Item = bytes::Bytes>) -> Result<(), Gone> {
        let mut parts = parts.peekable();
        let mut kind = Data::Text;
        while let Some(part) = parts.next() {
            self.hold(part.len()).await?;
            let frame = Frame::message(part, OpCode::Data(kind), parts.peek().is_none());
            if self.is_over || self.stream.feed(Message::Frame(frame)).await.is_err() {
                return self.over();
            }
            kind = Data::Continue;
        }
        let sent = self.stream.flush().await;
        self.held.shrink(0);
        match sent {
            Ok(()) => Ok(()),
            Err(_) => self.over(),
        }
    }

    /// Sends a part of a fragmented text.
    ///
    /// # Errors
    /// The stream has ended.
    pub async fn send_part(&mut self, part: bytes::Bytes, is_first: bool, is_last: bool) -> Result<(), Gone> {
        if self.is_over || *self.stopping.borrow() {
            self.end(End::Shutdown).await;
            return Err(Gone);
        }
        self.hold(part.len()).await?;
        let kind = if is_first { Data::Text } else { Data::Continue };
        let sent = self.stream.send(Message::Frame(Frame::message(part, OpCode::Data(kind), is_last))).await;
        self.held.shrink(0);
        match sent {
            Ok(()) => Ok(()),
            Err(_) => self.over(),
        }
    }

    /// Ends the stream: sends the reason and reads what the client still sends, until it closes too. A connection
    /// that is closed with bytes unread is reset, and then the client may lose the reason.
    pub async fn end(&mut self, end: End) {
        if self.is_over {
            return;
        }
        self.is_over = true;
        let closing = async {
            if self.stream.close(Some(end.frame())).await.is_ok() {
                while let Some(Ok(_)) = self.stream.next().await {}
            }
        };
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, closing).await;
    }

    fn over<T>(&mut self) -> Result<T, Gone> {
        self.is_over = true;
        Err(Gone)
    }
}

/// Whether the caller may still be served.
async fn standing(shared: &Shared, credential: &Credential) -> Result<(), End> {
    let keys = &shared.keys;
    match credential {
        Credential::PathKey(key) => {
            if keys.recall_key(key, unix_millis()).is_some() {
                return Ok(());
            }
            match keys.authenticate(key, unix_millis()).await {
                Ok(Some(_)) => Ok(()),
                Ok(None) => Err(End::KeyRevoked),
                Err(_) => Err(End::Internal),
            }
        }
        Credential::PathAlias(name) => match keys.find_alias(name).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(End::KeyRevoked),
            Err(_) => Err(End::Internal),
        },
        _ => keys.available().await.map_err(|_| End::Internal),
    }
}

async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // The sender lives as long as the server.
    let _ = stopping.wait_for(|stopping| *stopping).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_may_send_300_commands_at_once_and_one_a_second() {
        let start = Instant::now();
        let mut commands = Commands(start);
        assert_eq!((0..1_000).filter(|_| commands.spend(1, start)).count(), 300);
        let later = start + Duration::from_secs(REPEAT_COST.into());
        assert!(commands.spend(REPEAT_COST, later) && !commands.spend(1, later));
        let rested = start + Duration::from_secs(10_000);
        assert_eq!((0..1_000).filter(|_| commands.spend(REPEAT_COST, rested)).count(), 12);
    }
}

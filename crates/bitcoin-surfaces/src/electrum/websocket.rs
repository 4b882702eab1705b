//! `/v4/<KEY>/electrum`: the protocol over WebSocket, a message for each line (docs/electrum.md).

use std::any::Any;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::{Buf as _, Bytes, BytesMut};
use http::Method;
use paraffin_electrum::{Api, Caller as Client, ElectrumSettings, Sessions};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

use super::{Instance, SessionApi};
use paraffin_gateway::errors::{ApiError, kind};
use paraffin_gateway::respond::Reply;
use paraffin_gateway::state::{BoxFuture, Caller, Connection, RequestContext};
use paraffin_gateway::surface::{HttpRequest, HttpSurface, KeyedSurface};
use paraffin_gateway::websocket::{self, End, Gone, Socket};

/// Bodies of requests that are refused for their verb are read up to this, bytes, so that the answer arrives.
const REFUSED_BODY_BYTES_MAX: usize = 64 << 10;
/// Bytes between the WebSocket and the session, in each direction.
const PIPE_BYTES: usize = 8 << 10;

/// Returns the number of open sessions and of their script subscriptions.
type Counts = Box<dyn Fn() -> (usize, usize) + Send + Sync>;

/// The sessions; also makes those of WebSocket connections.
pub(super) struct ElectrumSessions {
    pub(super) instance: Arc<Instance>,
    pub(super) sessions: Sessions,
    pub(super) counts: Counts,
    /// Memory that its sessions and subscriptions may take, bytes.
    pub(super) bytes_max: usize,
}

impl paraffin_gateway::sessions::Sessions for ElectrumSessions {
    fn counts(&self) -> (usize, usize) {
        (self.counts)()
    }

    fn bytes(&self) -> (usize, usize) {
        let (sessions, subscriptions) = (self.counts)();
        (self.bytes_max, ElectrumSettings::used_bytes(sessions, subscriptions))
    }
}

/// `/v4/<KEY>/electrum`.
pub static SURFACE: KeyedSurface = KeyedSurface::http("electrum");

/// The protocol over WebSocket.
pub(crate) struct ElectrumHttp;

impl HttpSurface for ElectrumHttp {
    fn body_limit(&self, _: &Method, segments: &[String]) -> Option<usize> {
        segments.is_empty().then_some(REFUSED_BODY_BYTES_MAX)
    }

    fn handle<'a>(
        &'a self,
        context: &'a RequestContext,
        request: HttpRequest,
    ) -> BoxFuture<'a, Result<Reply, ApiError>> {
        Box::pin(async move {
            if request.verb != Method::GET {
                let words = "this is a WebSocket: connect with ws:// or wss://";
                return Err(ApiError::new(kind::METHOD_NOT_ALLOWED, words));
            }
            let shared = Arc::clone(context.shared_handle());
            let electrum = shared.electrum.get().and_then(|sessions| {
                let sessions: &dyn Any = &**sessions;
                sessions.downcast_ref::<ElectrumSessions>()
            });
            let electrum = electrum.ok_or_else(ApiError::starting)?;
            let (instance, sessions) = (Arc::clone(&electrum.instance), electrum.sessions.clone());
            let (caller, client) = (context.caller().clone(), context.client());
            let counted = match &caller {
                Caller::Key(key) => Client::Account(key.account),
                Caller::Alias(_) | Caller::Origin(_) | Caller::Keyless => Client::client(client),
            };
            let connection = Arc::new(Connection::new(Arc::clone(&shared), SocketAddr::new(client, 0)));
            let api: Arc<dyn Api> = Arc::new(SessionApi { instance, connection, caller, client });
            websocket::accept(context, &request.headers, request.upgrade, move |socket| {
                Box::pin(serve(sessions, counted, api, socket))
            })
        })
    }
}

/// Serves one client until it disconnects, exceeds a limit, or the server stops.
async fn serve(sessions: Sessions, counted: Client, api: Arc<dyn Api>, mut socket: Socket) {
    let (near, far) = tokio::io::duplex(PIPE_BYTES);
    // Each side ends when the other drops its end of the pipe.
    let (is_served, carried) = tokio::join!(sessions.join(counted, api, far), carry(&mut socket, near));
    if carried.is_ok() {
        let reason = if is_served { "the session has ended" } else { "too many sessions, or excessive resource usage" };
        socket.end(End::Policy(reason)).await;
    }
}

/// Forwards lines between the client and the session, until the session has ended.
///
/// # Errors
/// The client has gone.
async fn carry(socket: &mut Socket, near: DuplexStream) -> Result<(), Gone> {
    let (mut lines, mut requests) = tokio::io::split(near);
    // Bytes that the session has not read yet; meanwhile nothing more is read from the client.
    let mut request = Bytes::new();
    let mut line = BytesMut::new();
    let mut is_first = true;
    loop {
        line.reserve(PIPE_BYTES);
        tokio::select! {
            read = lines.read_buf(&mut line) => {
                if !matches!(read, Ok(bytes) if bytes > 0) {
                    return Ok(());
                }
                while let Some(end) = line.iter().position(|byte| *byte == b'\n') {
                    let mut last = line.split_to(end + 1);
                    last.truncate(end);
                    socket.send_part(last.freeze(), is_first, true).await?;
                    is_first = true;
                }
                if !line.is_empty() {
                    socket.send_part(line.split().freeze(), is_first, false).await?;
                    is_first = false;
                }
            }
            written = requests.write(&request), if !request.is_empty() => match written {
                Ok(bytes) => request.advance(bytes),
                // The session has ended: its last lines are still sent.
                Err(_) => request.clear(),
            },
            text = socket.receive_uncharged(), if request.is_empty() => {
                request = [text?.as_bytes(), b"\n"].concat().into();
            }
        }
    }
}

//! The node as a peer: it accepts connections, serves blocks and transactions, and takes them from others.

mod intake;
mod peer;
mod serving;
mod wire;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bitcoin::p2p::ServiceFlags;
use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use crate::node::Node;

/// The version of the protocol that is spoken: with `wtxidrelay` (BIP339).
pub(crate) const PROTOCOL_VERSION: u32 = 70_016;
/// How the node names itself.
pub(crate) const USER_AGENT: &str = concat!("/Paraffin:", env!("CARGO_PKG_VERSION"), "(devnet)/");

/// What the node offers to peers.
pub(crate) fn our_services() -> ServiceFlags {
    ServiceFlags::NETWORK | ServiceFlags::WITNESS | ServiceFlags::NETWORK_LIMITED
}

/// Names of the services of a peer that have one.
pub(crate) fn service_names(services: ServiceFlags) -> Vec<&'static str> {
    let known = [
        (ServiceFlags::NETWORK, "NETWORK"),
        (ServiceFlags::BLOOM, "BLOOM"),
        (ServiceFlags::WITNESS, "WITNESS"),
        (ServiceFlags::COMPACT_FILTERS, "COMPACT_FILTERS"),
        (ServiceFlags::NETWORK_LIMITED, "NETWORK_LIMITED"),
        (ServiceFlags::P2P_V2, "P2P_V2"),
    ];
    known.into_iter().filter(|(flag, _)| services.has(*flag)).map(|(_, name)| name).collect()
}

/// How many peers there may be and how long they may be silent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) peers_max: usize,
    /// Time from the connection to the end of the handshake.
    pub(crate) handshake: Duration,
    /// Time without a message after which a peer is dropped.
    pub(crate) idle: Duration,
    /// Time between two pings.
    pub(crate) ping: Duration,
    /// Time that a peer may take to read one message of ours.
    pub(crate) write: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            peers_max: 64,
            handshake: Duration::from_mins(1),
            idle: Duration::from_mins(20),
            ping: Duration::from_mins(2),
            write: Duration::from_mins(1),
        }
    }
}

/// State of a connected peer; times are Unix seconds.
#[derive(Debug, Clone)]
pub(crate) struct PeerInfo {
    pub(crate) id: u64,
    pub(crate) addr: SocketAddr,
    pub(crate) services: ServiceFlags,
    pub(crate) version: u32,
    pub(crate) user_agent: String,
    pub(crate) start_height: i32,
    pub(crate) relay: bool,
    pub(crate) connected: u64,
    pub(crate) last_send: u64,
    pub(crate) last_receive: u64,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
    /// Highest block that the peer was sent or sent us.
    pub(crate) synced_height: u32,
    /// Lowest feerate that the peer wants to hear of, in satoshis per 1,000 virtual bytes.
    pub(crate) fee_filter: u64,
    /// Round trip of the last ping, as decimal seconds.
    pub(crate) ping_seconds: Option<String>,
}

/// A connected peer, as the rest of the node sees it.
pub(crate) struct PeerHandle {
    pub(crate) info: Mutex<PeerInfo>,
    ping: Notify,
}

/// All connected peers.
#[derive(Default)]
pub(crate) struct Peers {
    next_id: AtomicU64,
    connected: Mutex<BTreeMap<u64, Arc<PeerHandle>>>,
}

impl Peers {
    /// The state of every peer, in order of connection.
    pub(crate) fn list(&self) -> Vec<PeerInfo> {
        self.connected.lock().values().map(|peer| peer.info.lock().clone()).collect()
    }

    /// Pings every peer soon.
    pub(crate) fn ping_all(&self) {
        for peer in self.connected.lock().values() {
            peer.ping.notify_one();
        }
    }

    /// Registers a new peer, unless there are as many as may be.
    fn join(&self, addr: SocketAddr, peers_max: usize) -> Option<Arc<PeerHandle>> {
        let mut connected = self.connected.lock();
        if connected.len() >= peers_max {
            return None;
        }
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let now = unix_now();
        let info = PeerInfo {
            id,
            addr,
            services: ServiceFlags::NONE,
            version: 0,
            user_agent: String::new(),
            start_height: -1,
            relay: false,
            connected: now,
            last_send: 0,
            last_receive: 0,
            bytes_sent: 0,
            bytes_received: 0,
            synced_height: 0,
            fee_filter: 0,
            ping_seconds: None,
        };
        let handle = Arc::new(PeerHandle { info: Mutex::new(info), ping: Notify::new() });
        connected.insert(id, Arc::clone(&handle));
        Some(handle)
    }

    fn leave(&self, id: u64) {
        self.connected.lock().remove(&id);
    }
}

pub(crate) fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs())
}

/// Accepts peers until `stop` turns true, then drops them all.
pub(crate) async fn serve(
    listener: TcpListener,
    node: Arc<Node>,
    peers: Arc<Peers>,
    limits: Limits,
    mut stop: watch::Receiver<bool>,
) {
    let mut tasks = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = tasks.join_next() => continue,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let (stream, addr) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "the devnet could not accept a peer");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Some(handle) = peers.join(addr, limits.peers_max) else {
            tracing::debug!(%addr, "a peer was refused: the limit of connections is reached");
            continue;
        };
        let (node, peers) = (Arc::clone(&node), Arc::clone(&peers));
        tasks.spawn(async move {
            let id = handle.info.lock().id;
            if let Err(error) = peer::run(stream, node, handle, limits).await {
                tracing::debug!(%addr, %error, "a peer disconnected");
            }
            peers.leave(id);
        });
    }
    tasks.shutdown().await;
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Instant;

    use bitcoin::p2p::message::NetworkMessage;
    use bitcoin::p2p::message_network::VersionMessage;
    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpStream;

    use super::*;

    fn version() -> VersionMessage {
        let nowhere = bitcoin::p2p::Address::new(&(Ipv4Addr::UNSPECIFIED, 0).into(), ServiceFlags::NONE);
        VersionMessage {
            version: PROTOCOL_VERSION,
            services: ServiceFlags::NONE,
            timestamp: 0,
            receiver: nowhere.clone(),
            sender: nowhere,
            nonce: 1,
            user_agent: String::new(),
            start_height: 0,
            relay: false,
        }
    }

    /// Serves with `limits`, sends `messages`, and gives the time until the node closes the connection.
    async fn time_to_live(limits: Limits, messages: Vec<NetworkMessage>) -> Duration {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let addr = listener.local_addr().unwrap();
        let (stop, stopping) = watch::channel(false);
        let serving = tokio::spawn(serve(listener, Arc::new(Node::default()), Arc::default(), limits, stopping));
        let mut stream = TcpStream::connect(addr).await.unwrap();
        let started = Instant::now();
        for message in messages {
            stream.write_all(&wire::encode(message)).await.unwrap();
        }
        while wire::read_message(&mut stream).await.is_ok() {}
        let elapsed = started.elapsed();
        stop.send(true).unwrap();
        serving.await.unwrap();
        elapsed
    }

    #[tokio::test]
    async fn a_peer_that_does_not_finish_the_handshake_is_dropped() {
        let limits = Limits { handshake: Duration::from_millis(100), ..Limits::default() };
        for messages in [vec![], vec![NetworkMessage::Version(version())], vec![NetworkMessage::Verack]] {
            let elapsed = time_to_live(limits, messages).await;
            assert!(elapsed >= limits.handshake && elapsed < Duration::from_secs(20), "{elapsed:?}");
        }
    }

    #[tokio::test]
    async fn a_peer_that_falls_silent_is_pinged_and_then_dropped() {
        let limits = Limits { idle: Duration::from_millis(300), ping: Duration::from_millis(50), ..Limits::default() };
        let elapsed = time_to_live(limits, vec![NetworkMessage::Version(version()), NetworkMessage::Verack]).await;
        assert!(elapsed >= limits.idle && elapsed < Duration::from_secs(20), "{elapsed:?}");
    }
}

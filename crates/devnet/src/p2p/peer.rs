//! The conversation with one peer.

use std::collections::{HashSet, VecDeque};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bitcoin::p2p::Address;
use bitcoin::p2p::message::NetworkMessage;
use bitcoin::p2p::message_network::VersionMessage;
use bitcoin::{BlockHash, Transaction, Wtxid};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::{broadcast, mpsc};
use tokio::time::Instant;

use super::wire::{self, Received, WireError};
use super::{Limits, PROTOCOL_VERSION, PeerHandle, USER_AGENT, our_services, unix_now};
use crate::node::{MIN_RELAY_SATS_PER_KVB, Node, NodeEvent, Rejection};

/// Most entries of an inventory message.
pub(super) const INVENTORY_MAX: usize = 50_000;
/// Most headers in one message.
pub(super) const HEADERS_MAX: usize = 2000;
/// Messages that are read ahead.
const READ_AHEAD: usize = 1;

/// Why the conversation ended.
#[derive(Debug, thiserror::Error)]
pub(super) enum PeerError {
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error("the peer did not finish the handshake in time")]
    Handshake,
    #[error("the peer was silent for too long")]
    Silent,
    #[error("the peer does not read what it is sent")]
    NotReading,
    #[error("the peer broke the protocol: {0}")]
    Protocol(&'static str),
    #[error("the peer sent an invalid block: {0}")]
    InvalidBlock(Rejection),
    #[error("the node is stopping")]
    Stopping,
}

/// How far the handshake has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing but `version` counts.
    Waiting,
    /// The versions are exchanged.
    Greeted,
    /// Both sides have agreed.
    Ready,
}

pub(super) struct Peer {
    pub(super) node: Arc<Node>,
    pub(super) handle: Arc<PeerHandle>,
    writer: OwnedWriteHalf,
    pub(super) limits: Limits,
    stage: Stage,
    pub(super) by_wtxid: bool,
    pub(super) wants_headers: bool,
    pub(super) relay: bool,
    pub(super) known: HashSet<Wtxid>,
    pub(super) orphans: VecDeque<Arc<Transaction>>,
    /// Blocks asked for and not yet received.
    pub(super) requested: HashSet<BlockHash>,
    /// Blocks that the peer sent, which need no announcement to it.
    pub(super) given: HashSet<BlockHash>,
    ping: Option<(u64, Instant)>,
    next_nonce: u64,
}

/// Talks with a peer until one side ends it.
pub(super) async fn run(
    stream: TcpStream,
    node: Arc<Node>,
    handle: Arc<PeerHandle>,
    limits: Limits,
) -> Result<(), PeerError> {
    let _ = stream.set_nodelay(true);
    let events = node.subscribe();
    let (mut reader, writer) = stream.into_split();
    let (sender, incoming) = mpsc::channel(READ_AHEAD);
    let reading = tokio::spawn(async move {
        loop {
            let received = wire::read_message(&mut reader).await;
            let ended = received.is_err();
            if sender.send(received).await.is_err() || ended {
                break;
            }
        }
    });
    let mut peer = Peer {
        node,
        handle,
        writer,
        limits,
        stage: Stage::Waiting,
        by_wtxid: false,
        wants_headers: false,
        relay: false,
        known: HashSet::new(),
        orphans: VecDeque::new(),
        requested: HashSet::new(),
        given: HashSet::new(),
        ping: None,
        next_nonce: 1,
    };
    let ended = peer.converse(incoming, events).await;
    reading.abort();
    ended
}

impl Peer {
    async fn converse(
        &mut self,
        mut incoming: mpsc::Receiver<Result<Received, WireError>>,
        mut events: broadcast::Receiver<NodeEvent>,
    ) -> Result<(), PeerError> {
        let handshake_ends = Instant::now() + self.limits.handshake;
        let mut silent_until = Instant::now() + self.limits.idle;
        let mut pings = tokio::time::interval_at(Instant::now() + self.limits.ping, self.limits.ping);
        let handle = Arc::clone(&self.handle);
        loop {
            let deadline = if self.stage == Stage::Ready { silent_until } else { handshake_ends };
            tokio::select! {
                received = incoming.recv() => {
                    let Some(received) = received else { return Ok(()) };
                    let received = received?;
                    silent_until = Instant::now() + self.limits.idle;
                    {
                        let mut info = self.handle.info.lock();
                        info.bytes_received += received.size as u64;
                        info.last_receive = unix_now();
                    }
                    if let Some(message) = received.message {
                        self.receive(message).await?;
                    }
                }
                event = events.recv(), if self.stage == Stage::Ready => match event {
                    Ok(event) => self.announce(event).await?,
                    Err(broadcast::error::RecvError::Lagged(_)) => self.announce_all().await?,
                    Err(broadcast::error::RecvError::Closed) => return Err(PeerError::Stopping),
                },
                _ = pings.tick(), if self.stage == Stage::Ready => self.send_ping().await?,
                () = handle.ping.notified(), if self.stage == Stage::Ready => self.send_ping().await?,
                () = tokio::time::sleep_until(deadline) => {
                    return Err(if self.stage == Stage::Ready { PeerError::Silent } else { PeerError::Handshake });
                }
            }
        }
    }

    pub(super) async fn write(&mut self, bytes: Vec<u8>) -> Result<(), PeerError> {
        match tokio::time::timeout(self.limits.write, self.writer.write_all(&bytes)).await {
            Ok(Ok(())) => {
                let mut info = self.handle.info.lock();
                info.bytes_sent += bytes.len() as u64;
                info.last_send = unix_now();
                Ok(())
            }
            Ok(Err(error)) => Err(WireError::Closed(error).into()),
            Err(_) => Err(PeerError::NotReading),
        }
    }

    pub(super) async fn send(&mut self, message: NetworkMessage) -> Result<(), PeerError> {
        self.write(wire::encode(message)).await
    }

    async fn send_ping(&mut self) -> Result<(), PeerError> {
        let nonce = self.next_nonce;
        self.next_nonce += 1;
        self.ping = Some((nonce, Instant::now()));
        self.send(NetworkMessage::Ping(nonce)).await
    }

    async fn receive(&mut self, message: NetworkMessage) -> Result<(), PeerError> {
        match message {
            NetworkMessage::Version(version) if self.stage == Stage::Waiting => self.greet(version).await,
            _ if self.stage == Stage::Waiting => Ok(()),
            NetworkMessage::WtxidRelay if self.stage == Stage::Greeted => {
                self.by_wtxid = true;
                Ok(())
            }
            NetworkMessage::Verack if self.stage == Stage::Greeted => self.finish_handshake().await,
            _ if self.stage == Stage::Greeted => Ok(()),
            message => self.serve(message).await,
        }
    }

    async fn greet(&mut self, version: VersionMessage) -> Result<(), PeerError> {
        const OLDEST: u32 = 31_800;
        if version.version < OLDEST {
            return Err(PeerError::Protocol("the protocol version is too old"));
        }
        self.stage = Stage::Greeted;
        self.relay = version.relay;
        let (addr, id) = {
            let mut info = self.handle.info.lock();
            info.services = version.services;
            info.version = version.version;
            info.relay = version.relay;
            info.start_height = version.start_height;
            info.user_agent =
                version.user_agent.chars().filter(|c| c.is_ascii_graphic() || *c == ' ').take(256).collect();
            (info.addr, info.id)
        };
        let unspecified = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let ours = VersionMessage {
            version: PROTOCOL_VERSION,
            services: our_services(),
            timestamp: i64::try_from(unix_now()).unwrap_or(i64::MAX),
            receiver: Address::new(&addr, version.services),
            sender: Address::new(&unspecified, our_services()),
            // Only a node that connects to itself looks at the nonce, and this one never connects.
            nonce: 0x5041_5241_4646_494e ^ id,
            user_agent: USER_AGENT.to_owned(),
            start_height: i32::try_from(self.node.tip().height).unwrap_or(i32::MAX),
            relay: true,
        };
        self.send(NetworkMessage::Version(ours)).await?;
        if version.version >= 70_016 {
            self.send(NetworkMessage::WtxidRelay).await?;
        }
        self.send(NetworkMessage::Verack).await
    }

    async fn finish_handshake(&mut self) -> Result<(), PeerError> {
        self.stage = Stage::Ready;
        self.send(NetworkMessage::SendHeaders).await?;
        self.send_ping().await?;
        self.ask_for_headers().await?;
        let feerate = i64::try_from(MIN_RELAY_SATS_PER_KVB).unwrap_or(i64::MAX);
        self.send(NetworkMessage::FeeFilter(feerate)).await
    }

    async fn serve(&mut self, message: NetworkMessage) -> Result<(), PeerError> {
        match message {
            NetworkMessage::Ping(nonce) => self.send(NetworkMessage::Pong(nonce)).await,
            NetworkMessage::Pong(nonce) => {
                self.take_pong(nonce);
                Ok(())
            }
            NetworkMessage::SendHeaders => {
                self.wants_headers = true;
                Ok(())
            }
            NetworkMessage::FeeFilter(feerate) => {
                self.handle.info.lock().fee_filter = u64::try_from(feerate).unwrap_or(0);
                Ok(())
            }
            NetworkMessage::GetAddr => self.send(NetworkMessage::Addr(Vec::new())).await,
            NetworkMessage::GetHeaders(question) => {
                self.send_headers(&question.locator_hashes, question.stop_hash).await
            }
            NetworkMessage::GetBlocks(question) => self.send_hashes(&question.locator_hashes, question.stop_hash).await,
            NetworkMessage::GetData(wanted) => self.send_data(wanted).await,
            NetworkMessage::MemPool => self.announce_mempool().await,
            NetworkMessage::Inv(offered) => self.take_inventory(offered).await,
            NetworkMessage::Headers(headers) => self.take_headers(&headers).await,
            NetworkMessage::Tx(tx) => self.take_transaction(Arc::new(tx)).await,
            NetworkMessage::Block(block) => self.take_block(block).await,
            NetworkMessage::FilterLoad(_)
            | NetworkMessage::FilterAdd(_)
            | NetworkMessage::FilterClear
            | NetworkMessage::GetCFilters(_)
            | NetworkMessage::GetCFHeaders(_)
            | NetworkMessage::GetCFCheckpt(_) => Err(PeerError::Protocol("it asks for a service that is not offered")),
            _ => Ok(()),
        }
    }

    fn take_pong(&mut self, nonce: u64) {
        if let Some((expected, sent)) = self.ping
            && expected == nonce
        {
            self.ping = None;
            let elapsed: Duration = sent.elapsed();
            let seconds = format!("{}.{:06}", elapsed.as_secs(), elapsed.subsec_micros());
            self.handle.info.lock().ping_seconds = Some(seconds);
        }
    }
}

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bitcoin::block::Header;
use bitcoin::consensus::serialize;
use bitcoin::hashes::Hash;
use bitcoin::p2p::Magic;
use bitcoin::p2p::message::{MAX_INV_SIZE, NetworkMessage};
use bitcoin::p2p::message_blockdata::{GetHeadersMessage, Inventory};
use bitcoin::{Block, BlockHash, Transaction};
use bytes::BytesMut;
use paraffin_primitives::Network;
use parking_lot::Mutex;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};

use super::frame::{self, FrameError};
use super::handshake::{PeerInfo, read_message, shake_hands};
use crate::block_check::check_block;

/// Messages waiting to be sent.
const OUTGOING_MAX: usize = 64;
/// Events waiting to be taken.
const EVENTS_MAX: usize = 256;
/// A peer that is silent for longer is gone: Bitcoin Core pings every two minutes.
const SILENCE_MAX: Duration = Duration::from_mins(5);

/// Options of a connection to a peer.
#[derive(Debug, Clone)]
pub struct PeerOptions {
    /// Network whose magic is expected.
    pub network: Network,
    /// Longest time for connecting with its handshake, for each answer, and for each write.
    pub timeout: Duration,
    /// Name and release that we give, such as `/paraffin:0.1.0/`.
    pub user_agent: String,
    /// Height of our best block.
    pub start_height: i32,
    /// Whether the peer shall announce transactions.
    pub relay: bool,
    /// Unix seconds now, for the `version` message.
    pub unix_time: i64,
}

/// Errors of a connection to a peer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PeerError {
    /// No connection.
    #[error("cannot connect to the peer: {0}")]
    Connect(String),
    /// The peer and we have no protocol in common.
    #[error("the peer's handshake failed: {0}")]
    Handshake(String),
    /// The connection ended.
    #[error("the connection to the peer ended: {0}")]
    Closed(String),
    /// The peer breaks the protocol.
    #[error("the peer breaks the protocol: {0}")]
    Frame(#[from] FrameError),
    /// No answer in time.
    #[error("the peer did not answer {0} in time")]
    Timeout(&'static str),
    /// The peer does not have the block.
    #[error("the peer does not have block {0}")]
    NotFound(BlockHash),
    /// The peer sent a block that does not match its hash.
    #[error("the peer sent a broken block: {0}")]
    BadBlock(String),
    /// The request has more entries than one message may hold.
    #[error("a request of {0} entries is larger than the protocol allows")]
    TooMany(usize),
}

/// Unsolicited messages of a peer, and answers to [`Peer::request`].
#[derive(Debug)]
pub enum PeerEvent {
    /// Hashes of transactions and blocks that the peer has.
    Inventory(Vec<Inventory>),
    /// A transaction.
    Transaction(Box<Transaction>),
    /// A block that no request waits for; unchecked.
    Block(Box<Block>),
    /// Headers that no request waits for; unverified.
    Headers(Vec<Header>),
    /// Requested entries that the peer does not have.
    NotFound(Vec<Inventory>),
    /// The peer will not announce transactions below this feerate, in satoshi per 1000 vbytes.
    FeeFilter(u64),
    /// The connection ended; nothing follows.
    Closed(PeerError),
}

/// The events of one connection. They must be taken: when 256 wait, nothing more is read from the peer.
pub type PeerEvents = mpsc::Receiver<PeerEvent>;

/// A connection to one peer; it closes when this is dropped.
pub struct Peer {
    info: PeerInfo,
    timeout: Duration,
    outgoing: mpsc::Sender<NetworkMessage>,
    waiting: Arc<Mutex<Waiting>>,
    one_headers_request: tokio::sync::Mutex<()>,
    one_ping: tokio::sync::Mutex<()>,
    tasks: [AbortHandle; 2],
}

/// Pending requests.
#[derive(Default)]
struct Waiting {
    headers: Option<oneshot::Sender<Vec<Header>>>,
    blocks: HashMap<BlockHash, Vec<oneshot::Sender<Result<Block, PeerError>>>>,
    pong: Option<(u64, oneshot::Sender<()>)>,
    next_nonce: u64,
}

impl Peer {
    /// Connects and shakes hands.
    ///
    /// # Errors
    /// `Connect`, `Handshake`, `Closed`, `Frame` (another network) or `Timeout`.
    pub async fn connect(address: SocketAddr, options: PeerOptions) -> Result<(Self, PeerEvents), PeerError> {
        let opened = timeout(options.timeout, async {
            let mut stream =
                TcpStream::connect(address).await.map_err(|error| PeerError::Connect(error.kind().to_string()))?;
            let _ = stream.set_nodelay(true);
            let (info, buffer) = shake_hands(&mut stream, address, &options).await?;
            Ok::<_, PeerError>((stream, info, buffer))
        });
        let (stream, info, buffer) = opened.await.map_err(|_| PeerError::Timeout("the handshake"))??;
        let (read, write) = stream.into_split();
        let (outgoing, messages) = mpsc::channel(OUTGOING_MAX);
        let (events, receiver) = mpsc::channel(EVENTS_MAX);
        let waiting = Arc::<Mutex<Waiting>>::default();
        let magic = Magic::from(options.network.bitcoin());
        let writer = tokio::spawn(write_messages(write, messages, magic, options.timeout));
        let reader = Reader { read, buffer, magic, waiting: Arc::clone(&waiting), outgoing: outgoing.clone(), events };
        let tasks = [writer.abort_handle(), tokio::spawn(reader.run(writer.abort_handle())).abort_handle()];
        let peer = Self {
            info,
            timeout: options.timeout,
            outgoing,
            waiting,
            one_headers_request: tokio::sync::Mutex::default(),
            one_ping: tokio::sync::Mutex::default(),
            tasks,
        };
        Ok((peer, receiver))
    }

    /// The peer's `version` message.
    pub fn info(&self) -> &PeerInfo {
        &self.info
    }

    /// Headers of the peer's best chain after the first hash of `locator` (newest first) that it has, at most 2000, up to
    /// `stop` if given. Unverified. A peer that is still catching up may not answer.
    ///
    /// # Errors
    /// `Timeout` or `Closed`.
    pub async fn headers(&self, locator: Vec<BlockHash>, stop: Option<BlockHash>) -> Result<Vec<Header>, PeerError> {
        let _one_at_a_time = self.one_headers_request.lock().await;
        let (sender, receiver) = oneshot::channel();
        self.waiting.lock().headers = Some(sender);
        let stop = stop.unwrap_or_else(BlockHash::all_zeros);
        let question = NetworkMessage::GetHeaders(GetHeadersMessage::new(locator, stop));
        let outcome = self.ask(question, receiver, "getheaders").await;
        self.waiting.lock().headers = None;
        outcome
    }

    /// The block `hash` with its witnesses; hash, merkle root and witness commitment have been checked.
    ///
    /// # Errors
    /// `NotFound`, `BadBlock`, `Timeout` or `Closed`.
    pub async fn block(&self, hash: BlockHash) -> Result<Block, PeerError> {
        let (sender, receiver) = oneshot::channel();
        self.waiting.lock().blocks.entry(hash).or_default().push(sender);
        let question = NetworkMessage::GetData(vec![Inventory::WitnessBlock(hash)]);
        let outcome = self.ask(question, receiver, "getdata").await;
        if outcome.is_err() {
            let mut waiting = self.waiting.lock();
            if let Some(senders) = waiting.blocks.get_mut(&hash) {
                senders.retain(|sender| !sender.is_closed());
                if senders.is_empty() {
                    waiting.blocks.remove(&hash);
                }
            }
        }
        let block = outcome??;
        let checked = tokio::task::spawn_blocking(move || {
            check_block(&serialize(&block), hash, false).map(|checked| checked.block)
        });
        match checked.await {
            Ok(outcome) => outcome.map_err(|fault| PeerError::BadBlock(fault.to_string())),
            Err(_) => Err(PeerError::Closed("the instance is shutting down".to_owned())),
        }
    }

    /// Requests transactions or blocks; they come as events, or in [`PeerEvent::NotFound`].
    ///
    /// # Errors
    /// `TooMany` above 50,000 entries, `Timeout` or `Closed`.
    pub async fn request(&self, inventory: Vec<Inventory>) -> Result<(), PeerError> {
        if inventory.len() > MAX_INV_SIZE {
            return Err(PeerError::TooMany(inventory.len()));
        }
        self.send(NetworkMessage::GetData(inventory)).await
    }

    /// Requests the inventory of the peer's mempool (BIP35). Bitcoin Core disconnects unless it gave us the `mempool` permission
    /// or serves bloom filters.
    ///
    /// # Errors
    /// `Timeout` or `Closed`.
    pub async fn request_mempool(&self) -> Result<(), PeerError> {
        self.send(NetworkMessage::MemPool).await
    }

    /// How long the peer takes to answer a ping.
    ///
    /// # Errors
    /// `Timeout` or `Closed`.
    pub async fn ping(&self) -> Result<Duration, PeerError> {
        let _one_at_a_time = self.one_ping.lock().await;
        let (sender, receiver) = oneshot::channel();
        let nonce = {
            let mut waiting = self.waiting.lock();
            waiting.next_nonce += 1;
            waiting.pong = Some((waiting.next_nonce, sender));
            waiting.next_nonce
        };
        let start = Instant::now();
        self.ask(NetworkMessage::Ping(nonce), receiver, "ping").await?;
        Ok(start.elapsed())
    }

    /// Sends any message.
    ///
    /// # Errors
    /// `Timeout` when the peer does not read, or `Closed`.
    pub async fn send(&self, message: NetworkMessage) -> Result<(), PeerError> {
        match timeout(self.timeout, self.outgoing.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(ended()),
            Err(_) => Err(PeerError::Timeout("a message")),
        }
    }

    async fn ask<T>(
        &self,
        question: NetworkMessage,
        answer: oneshot::Receiver<T>,
        name: &'static str,
    ) -> Result<T, PeerError> {
        self.send(question).await?;
        match timeout(self.timeout, answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(ended()),
            Err(_) => Err(PeerError::Timeout(name)),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

fn ended() -> PeerError {
    PeerError::Closed("it is closed".to_owned())
}

async fn write_messages(
    mut stream: OwnedWriteHalf,
    mut messages: mpsc::Receiver<NetworkMessage>,
    magic: Magic,
    limit: Duration,
) {
    while let Some(message) = messages.recv().await {
        let bytes = frame::encode(message, magic);
        if !matches!(timeout(limit, stream.write_all(&bytes)).await, Ok(Ok(()))) {
            return;
        }
    }
}

struct Reader {
    read: OwnedReadHalf,
    buffer: BytesMut,
    magic: Magic,
    waiting: Arc<Mutex<Waiting>>,
    outgoing: mpsc::Sender<NetworkMessage>,
    events: mpsc::Sender<PeerEvent>,
}

impl Reader {
    async fn run(mut self, writer: AbortHandle) {
        let reason = loop {
            let read = read_message(&mut self.read, &mut self.buffer, self.magic);
            let message = tokio::select! {
                read = timeout(SILENCE_MAX, read) => match read {
                    Ok(Ok(message)) => message,
                    Ok(Err(error)) => break error,
                    Err(_) => break PeerError::Timeout("anything"),
                },
                () = self.outgoing.closed() => break PeerError::Timeout("a message"),
            };
            if self.dispatch(message).await.is_err() {
                break ended();
            }
        };
        writer.abort();
        *self.waiting.lock() = Waiting::default();
        let _ = self.events.send(PeerEvent::Closed(reason)).await;
    }

    /// Passes a message to its receiver. An error means that the receiver was dropped.
    async fn dispatch(&mut self, message: NetworkMessage) -> Result<(), ()> {
        let event = match message {
            NetworkMessage::Ping(nonce) => {
                return self.outgoing.send(NetworkMessage::Pong(nonce)).await.map_err(|_| ());
            }
            NetworkMessage::Pong(nonce) => {
                let mut waiting = self.waiting.lock();
                if let Some((_, sender)) = waiting.pong.take_if(|(expected, _)| *expected == nonce) {
                    let _ = sender.send(());
                }
                return Ok(());
            }
            NetworkMessage::Headers(headers) => {
                let waiter = self.waiting.lock().headers.take();
                let unheard = match waiter {
                    Some(sender) => sender.send(headers).err(),
                    None => Some(headers),
                };
                match unheard {
                    Some(headers) => PeerEvent::Headers(headers),
                    None => return Ok(()),
                }
            }
            NetworkMessage::Block(block) => {
                let mut waiters = self.waiting.lock().blocks.remove(&block.block_hash()).unwrap_or_default();
                let Some(last) = waiters.pop() else {
                    return self.emit(PeerEvent::Block(Box::new(block))).await;
                };
                for waiter in waiters {
                    let _ = waiter.send(Ok(block.clone()));
                }
                let _ = last.send(Ok(block));
                return Ok(());
            }
            NetworkMessage::NotFound(mut inventory) => {
                inventory.retain(|entry| !self.fail_block(entry));
                if inventory.is_empty() {
                    return Ok(());
                }
                PeerEvent::NotFound(inventory)
            }
            NetworkMessage::Inv(inventory) => PeerEvent::Inventory(inventory),
            NetworkMessage::Tx(transaction) => PeerEvent::Transaction(Box::new(transaction)),
            NetworkMessage::FeeFilter(feerate) => PeerEvent::FeeFilter(feerate.unsigned_abs()),
            _ => return Ok(()),
        };
        self.emit(event).await
    }

    async fn emit(&self, event: PeerEvent) -> Result<(), ()> {
        self.events.send(event).await.map_err(|_| ())
    }

    /// Fails pending requests for a block that the peer does not have; false when there are none.
    fn fail_block(&self, entry: &Inventory) -> bool {
        let (Inventory::Block(hash) | Inventory::WitnessBlock(hash)) = entry else { return false };
        let Some(waiters) = self.waiting.lock().blocks.remove(hash) else { return false };
        for waiter in waiters {
            let _ = waiter.send(Err(PeerError::NotFound(*hash)));
        }
        true
    }
}

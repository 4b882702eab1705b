//! `/v4/<KEY>/mempool/ws`: every change of the set, with replay (docs/mempool.md).
//!
//! A client's position is a sequence number. Earlier frames are replayed from the ring buffer as far back as it reaches; all
//! clients share the same rendered frames.

use std::sync::Arc;

use paraffin_mempool::{Change, Frame, Mempool, Subscription};
use serde::Deserialize;
use serde_json::json;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use paraffin_gateway::websocket::{Gone, REPEAT_COST, Socket};

/// Frames that are written together.
const BATCH: usize = 512;

/// What a client sends.
#[derive(Debug, Deserialize)]
struct Command {
    op: String,
    #[serde(default)]
    channels: Option<Vec<String>>,
    #[serde(default)]
    since_seq: Option<u64>,
    #[serde(default)]
    instance: Option<String>,
    #[serde(default)]
    include_hex: Option<bool>,
}

/// The channels a client has subscribed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Channels {
    transactions: bool,
    blocks: bool,
}

impl Channels {
    /// The named channels; all when none is named.
    fn named(names: Option<&[String]>) -> Result<Self, String> {
        let all = Self { transactions: true, blocks: true };
        let Some(names) = names.filter(|names| !names.is_empty()) else { return Ok(all) };
        let mut channels = Self::default();
        for name in names {
            match name.as_str() {
                "*" | "all" => channels = all,
                "tx" => channels.transactions = true,
                "block" => channels.blocks = true,
                // Reserved; nothing is sent on it.
                "info" => {}
                _ => return Err("unknown_channel".to_owned()),
            }
        }
        Ok(channels)
    }

    fn takes(self, frame: &Frame) -> bool {
        match frame.change {
            Change::Block { .. } => self.blocks,
            Change::Add(_) | Change::Update(_) | Change::Remove { .. } => self.transactions,
        }
    }
}

/// One client.
struct Client {
    subscription: Subscription,
    channels: Option<Channels>,
    /// Sequence number of the newest change sent to it.
    position: u64,
    hex: bool,
}

/// Serves one client until it disconnects.
pub(super) async fn serve(mempool: Arc<Mempool>, mut socket: Socket) {
    let subscription = mempool.subscribe();
    let position = mempool.read(|pool| pool.ring().newest());
    let mut client = Client { subscription, channels: None, position, hex: false };
    // The client has been notified of the end already.
    let _ = client.run(&mut socket).await;
}

impl Client {
    async fn run(&mut self, socket: &mut Socket) -> Result<(), Gone> {
        socket.send(self.hello(false)).await?;
        loop {
            let waits = self.channels.is_some();
            self.subscription.has_heard(waits.then_some(self.position));
            let text = tokio::select! {
                biased;
                text = socket.receive() => Some(text?),
                () = self.subscription.changed(self.position), if waits => None,
            };
            match text {
                Some(text) => self.command(socket, &text).await?,
                None => self.send_changes(socket).await?,
            }
        }
    }

    fn mempool(&self) -> &Arc<Mempool> {
        self.subscription.mempool()
    }

    fn hello(&self, replayed: bool) -> Utf8Bytes {
        let summary = self.mempool().read(paraffin_mempool::TransactionSet::summary);
        let hello = json!({
            "type": "hello",
            "instance": self.mempool().instance(),
            "seq": summary.seq,
            "count": summary.count,
            "oldest_seq": summary.oldest_seq,
            "checksum": format!("{:016x}", summary.checksum),
            "replayed": replayed,
        });
        hello.to_string().into()
    }

    async fn reset(&mut self, socket: &mut Socket, reason: &str) -> Result<(), Gone> {
        self.position = self.mempool().read(|pool| pool.ring().newest());
        self.mempool().figures().add_reset(reason);
        let reset = json!({ "type": "reset", "seq": self.position, "reason": reason, "action": "resync" });
        socket.send(reset.to_string().into()).await
    }

    async fn command(&mut self, socket: &mut Socket, text: &str) -> Result<(), Gone> {
        let Ok(command) = serde_json::from_str::<Command>(text) else {
            return self.reset(socket, "malformed_message").await;
        };
        match command.op.as_str() {
            "ping" => {
                let seq = self.mempool().read(|pool| pool.ring().newest());
                socket.send(json!({ "type": "pong", "seq": seq }).to_string().into()).await
            }
            "subscribe" => self.subscribe(socket, command).await,
            "unsubscribe" => match Channels::named(command.channels.as_deref()) {
                Err(reason) => self.reset(socket, &reason).await,
                Ok(left) => {
                    self.channels = self.channels.and_then(|now| {
                        let rest = Channels {
                            transactions: now.transactions && !left.transactions,
                            blocks: now.blocks && !left.blocks,
                        };
                        (rest != Channels::default()).then_some(rest)
                    });
                    Ok(())
                }
            },
            _ => self.reset(socket, "unknown_op").await,
        }
    }

    async fn subscribe(&mut self, socket: &mut Socket, command: Command) -> Result<(), Gone> {
        let channels = match Channels::named(command.channels.as_deref()) {
            Ok(channels) => channels,
            Err(reason) => return self.reset(socket, &reason).await,
        };
        self.hex = command.include_hex.unwrap_or(self.hex);
        let is_new = self.channels.is_none();
        self.channels = Some(match self.channels {
            Some(now) => Channels {
                transactions: now.transactions || channels.transactions,
                blocks: now.blocks || channels.blocks,
            },
            None => channels,
        });
        if command.instance.is_some_and(|instance| instance != self.mempool().instance()) {
            return self.reset(socket, "unknown_instance").await;
        }
        let newest = self.mempool().read(|pool| pool.ring().newest());
        match command.since_seq {
            None if is_new => self.position = newest,
            None => {}
            // A position in the future is one of another process.
            Some(since) if since >= newest => self.position = newest,
            Some(since) => {
                socket.charge(REPEAT_COST).await?;
                if self.mempool().read(|pool| pool.ring().after(since, 1)).is_err() {
                    return self.reset(socket, "too_old").await;
                }
                self.position = since;
                socket.send(self.hello(true)).await?;
                return self.send_changes(socket).await;
            }
        }
        Ok(())
    }

    /// Sends changes after its position, one batch at a time so that its messages are read in between.
    async fn send_changes(&mut self, socket: &mut Socket) -> Result<(), Gone> {
        let Some(channels) = self.channels else { return Ok(()) };
        let Ok(frames) = self.mempool().read(|pool| pool.ring().after(self.position, BATCH)) else {
            return self.reset(socket, "lagged").await;
        };
        if let Some(last) = frames.last() {
            self.position = last.seq;
        }
        let hex = self.hex;
        let taken = frames.iter().filter(|frame| channels.takes(frame)).count();
        self.mempool().figures().add_frames_sent(taken as u64);
        let texts = frames.iter().filter(|frame| channels.takes(frame)).filter_map(|frame| {
            // Frames are JSON, which is UTF-8.
            Utf8Bytes::try_from(frame.text(hex)).ok()
        });
        socket.send_all(texts).await
    }
}

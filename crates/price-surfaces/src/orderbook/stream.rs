//! `/v4/<KEY>/orderbook/ws`: every change of the markets that a client names, with replay (docs/orderbook.md).
//!
//! A client has one position in all changes, and for each of its markets the number after which changes are sent: a snapshot
//! taken later than the position already contains the changes in between.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use paraffin_orderbook::{Change, Market, Name, Orderbook, Subscription};
use serde::Deserialize;
use serde_json::json;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::reads;
use paraffin_gateway::websocket::{Gone, REPEAT_COST, Socket};

/// Changes read in one batch.
const BATCH: usize = 512;
/// Markets of one client at most.
const MARKETS_MAX: usize = 256;
/// Interval of keep-alive messages.
const PING_EVERY: Duration = Duration::from_secs(25);

/// What a client sends.
#[derive(Debug, Deserialize)]
struct Command {
    action: String,
    #[serde(default)]
    market: Option<String>,
    #[serde(default)]
    since_seq: Option<u64>,
}

struct Client {
    subscription: Subscription,
    /// Its markets, each with the number of the newest change already contained in its snapshot.
    markets: HashMap<Name, u64>,
    /// Markets subscribed to so far, up to [`MARKETS_MAX`]: repeated snapshots are charged.
    requested: HashSet<Name>,
    /// Number of the newest change sent to it.
    position: u64,
    pings: Interval,
}

/// Serves one client until it disconnects.
pub(super) async fn serve(orderbook: Arc<Orderbook>, mut socket: Socket) {
    let subscription = orderbook.subscribe();
    let position = orderbook.read(paraffin_orderbook::MarketBook::newest);
    let mut pings = interval_at(Instant::now() + PING_EVERY, PING_EVERY);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut client = Client { subscription, markets: HashMap::new(), requested: HashSet::new(), position, pings };
    // The client has been notified of the end already.
    let _ = client.run(&mut socket).await;
}

enum Next {
    Message(Utf8Bytes),
    Changed,
    Ping,
}

impl Client {
    async fn run(&mut self, socket: &mut Socket) -> Result<(), Gone> {
        loop {
            let waits = !self.markets.is_empty();
            let next = tokio::select! {
                biased;
                text = socket.receive() => Next::Message(text?),
                _ = self.pings.tick() => Next::Ping,
                () = self.subscription.changed(self.position), if waits => Next::Changed,
            };
            match next {
                Next::Message(text) => self.command(socket, &text).await?,
                Next::Changed => self.send_changes(socket).await?,
                Next::Ping => socket.send(json!({ "type": "ping", "seq": self.position }).to_string().into()).await?,
            }
        }
    }

    fn orderbook(&self) -> &Arc<Orderbook> {
        self.subscription.orderbook()
    }

    fn newest(&self) -> u64 {
        self.orderbook().read(paraffin_orderbook::MarketBook::newest)
    }

    async fn error(&self, socket: &mut Socket, code: &str, message: &str) -> Result<(), Gone> {
        let error = json!({ "type": "error", "seq": self.position, "code": code, "message": message });
        socket.send(error.to_string().into()).await
    }

    async fn command(&mut self, socket: &mut Socket, text: &str) -> Result<(), Gone> {
        let Ok(command) = serde_json::from_str::<Command>(text) else {
            let how = "send {\"action\":\"subscribe\",\"market\":…}";
            return self.error(socket, "MALFORMED_MESSAGE", how).await;
        };
        if command.action == "ping" {
            return socket.send(json!({ "type": "pong", "seq": self.newest() }).to_string().into()).await;
        }
        if !["subscribe", "unsubscribe"].contains(&command.action.as_str()) {
            return self.error(socket, "UNKNOWN_ACTION", "action must be subscribe, unsubscribe or ping").await;
        }
        let name = command.market.unwrap_or_default();
        if let Err(error) = Market::parse(&name) {
            return self.error(socket, "INVALID_MARKET", &error.to_string()).await;
        }
        let name = Name::from(name);
        if command.action == "unsubscribe" {
            self.markets.remove(&name);
            return Ok(());
        }
        if self.markets.len() >= MARKETS_MAX && !self.markets.contains_key(&name) {
            return self.error(socket, "TOO_MANY_MARKETS", "a connection may have 256 markets").await;
        }
        if self.markets.is_empty() {
            // No changes were sent while there was no market.
            self.position = self.newest();
        }
        if command.since_seq.is_some() || self.requested.contains(&name) || self.requested.len() >= MARKETS_MAX {
            socket.charge(REPEAT_COST).await?;
        } else {
            self.requested.insert(name.clone());
        }
        match command.since_seq {
            Some(since) => self.resume(socket, name, since).await,
            None => self.snapshot(socket, name).await,
        }
    }

    /// Sends a snapshot of the market.
    async fn snapshot(&mut self, socket: &mut Socket, name: Name) -> Result<(), Gone> {
        let snapshot = self.orderbook().read(|book| book.snapshot(&name));
        self.markets.insert(name.clone(), snapshot.seq);
        socket.send_parts(reads::parts(&json!({ "type": "snapshot" }), &name, snapshot)).await
    }

    /// Sends the changes of the market after `since`, or a snapshot where these are no longer available.
    async fn resume(&mut self, socket: &mut Socket, name: Name, since: u64) -> Result<(), Gone> {
        let (newest, oldest) = self.orderbook().read(|book| (book.newest(), book.oldest()));
        // A position in the future is one of another log.
        if since > newest || since + 1 < oldest {
            return self.snapshot(socket, name).await;
        }
        let resumed = json!({ "type": "resumed", "seq": since, "market": name });
        socket.send(resumed.to_string().into()).await?;
        let mut sent = since;
        while sent < self.position {
            let Ok(changes) = self.orderbook().read(|book| book.after(sent, BATCH)) else {
                return self.snapshot(socket, name).await;
            };
            let Some(last) = changes.last() else { break };
            let position = self.position;
            let missed = changes.iter().filter(|change| change.seq <= position);
            let texts: Vec<Utf8Bytes> = missed.flat_map(|change| texts(change, |market| *market == name)).collect();
            sent = last.seq;
            socket.send_all(texts.into_iter()).await?;
        }
        self.markets.insert(name, sent.min(self.position).max(since));
        Ok(())
    }

    /// Sends changes after its position, one batch at a time so that its messages are read in between.
    async fn send_changes(&mut self, socket: &mut Socket) -> Result<(), Gone> {
        let Ok(changes) = self.orderbook().read(|book| book.after(self.position, BATCH)) else {
            return self.start_over(socket).await;
        };
        if let Some(last) = changes.last() {
            self.position = last.seq;
        }
        let markets = &self.markets;
        let texts = changes
            .iter()
            .flat_map(|change| texts(change, |market| markets.get(market).is_some_and(|newest| change.seq > *newest)));
        socket.send_all(texts).await
    }

    /// Sends snapshots of all its markets, as it was too slow for the changes.
    async fn start_over(&mut self, socket: &mut Socket) -> Result<(), Gone> {
        let names: Vec<Name> = self.markets.keys().cloned().collect();
        self.position = self.newest();
        for name in names {
            self.snapshot(socket, name).await?;
        }
        Ok(())
    }
}

/// The parts of a change that concern wanted markets.
fn texts(change: &Change, is_wanted: impl Fn(&Name) -> bool) -> impl Iterator<Item = Utf8Bytes> {
    let wanted = change.parts.iter().filter(move |part| is_wanted(&part.market));
    // Changes are JSON, which is UTF-8.
    wanted.filter_map(|part| Utf8Bytes::try_from(change.text(part)).ok())
}

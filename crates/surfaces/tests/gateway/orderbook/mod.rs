//! The orderbook surface: reads of any key, ingest by admins, and the stream.

mod rest;
mod stream;

use std::sync::Arc;

use paraffin_access::{KeyStore as _, NewKey, Plan};
use paraffin_orderbook::{Limits, Options, Orderbook, Tables};
use paraffin_surfaces::handlers;
use serde_json::{Value, json};

use crate::client::Response;
use crate::instance::{Instance, Setup};

pub(super) const BOOK: &str = "orbitals:mainnet:book:*";
pub(crate) const FIRE: &str = "orbitals:mainnet:module:fire-pos";

/// An instance with an orderbook, and an admin key.
pub(crate) struct OrderbookFixture {
    pub(crate) instance: Instance,
    pub(super) orderbook: Arc<Orderbook>,
    pub(super) admin: String,
    _folder: tempfile::TempDir,
}

impl OrderbookFixture {
    pub(super) async fn with(limits: Limits) -> Self {
        Self::of(limits, Setup::default()).await
    }

    pub(super) async fn of(limits: Limits, setup: Setup) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { limits, ..Options::new(folder.path().to_owned(), Tables::on("mainnet")) };
        let orderbook = Orderbook::open(options).unwrap();
        let keyed = vec![
            handlers::orderbook(Arc::clone(&orderbook)),
            handlers::udf(),
            handlers::dexscreener(),
            handlers::coingecko(),
        ];
        let instance = Instance::with(Setup { keyed, ..setup }).await;
        let new = NewKey { admin: true, ..NewKey::on_plan("admin", Plan::BUSINESS) };
        let admin = instance.keys.create(new, "test", 0).await.unwrap().key.reveal().as_str().to_owned();
        Self { instance, orderbook, admin, _folder: folder }
    }

    pub(crate) async fn start() -> Self {
        Self::with(Limits::default()).await
    }

    pub(super) async fn post(&self, body: &str) -> Response {
        self.instance.post(&format!("/v4/{}/orderbook/ingest", self.admin), body).await
    }

    /// Ingests events, which must be accepted.
    pub(crate) async fn ingest(&self, events: &Value) {
        let answer = self.post(&events.to_string()).await;
        let count = events.as_array().map_or(1, Vec::len);
        assert_eq!((answer.status, answer.json()), (202, json!({ "status": "queued", "events": count })));
    }

    pub(super) async fn get(&self, below: &str) -> Response {
        self.instance.get(&self.instance.keyed(&format!("/orderbook{below}"))).await
    }
}

/// A listing in a state at a position.
pub(crate) fn listing(id: &str, status: &str, price: u64, lsn: u64) -> Value {
    json!({
        "op": "u",
        "source": { "table": "orbital_listings", "lsn": lsn },
        "after": {
            "id": id, "module": "fire-pos", "collection": "2:100", "price": price.to_string(), "status": status,
        },
    })
}

/// CRC-32 over orders by ascending id, as a client computes it.
pub(super) fn checksum<'o>(orders: impl IntoIterator<Item = &'o Value>) -> String {
    let word = |order: &Value, name: &str| order[name].as_str().unwrap().to_owned();
    let mut lines: Vec<(String, String)> = orders
        .into_iter()
        .map(|order| {
            (word(order, "id"), format!("{} {} {}\n", word(order, "id"), word(order, "status"), word(order, "price")))
        })
        .collect();
    lines.sort();
    let text: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    format!("{:08x}", crc32(text.concat().as_bytes()))
}

/// CRC-32 bit by bit (IEEE 802.3).
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

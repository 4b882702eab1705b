//! NATS JetStream as the durable stream, with a real server that is killed, paused and taken away.
#![allow(clippy::unwrap_used)] // a failed `unwrap` fails the test

mod away;
mod login;
mod server;
mod shared;
#[path = "../support/mod.rs"]
mod support;

use std::path::Path;
use std::sync::Arc;

use async_nats::jetstream;
use paraffin_orderbook::{IngestError, JournalError, NatsOptions, Options, Orderbook, SUBJECT};
use serde_json::Value;
use support::{NOW, tables};
use tokio::runtime::Runtime;

const BOOK: &str = "orbitals:mainnet:book:*";

/// Orderbooks of several gateways with one runtime, and a client of the server.
struct Harness {
    runtime: Runtime,
}

impl Harness {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        Self { runtime }
    }

    fn try_open(&self, folder: &Path, nats: NatsOptions) -> Result<Arc<Orderbook>, JournalError> {
        let _entered = self.runtime.enter();
        Orderbook::open(Options { nats: Some(nats), ..Options::new(folder.to_owned(), tables()) })
    }

    fn open(&self, folder: &Path, nats: NatsOptions) -> Arc<Orderbook> {
        self.try_open(folder, nats).unwrap()
    }

    fn ingest(&self, orderbook: &Orderbook, events: &Value) -> Result<usize, IngestError> {
        self.runtime.block_on(orderbook.ingest(events.to_string().into(), NOW))
    }

    /// All that the durable stream holds, with the number of each.
    fn stored(&self, orderbook: &Orderbook) -> Vec<(u64, String)> {
        let (mut all, mut since) = (Vec::new(), 0);
        loop {
            let page = self.runtime.block_on(orderbook.events(since, 10_000)).unwrap();
            all.extend(page.events.into_iter().map(|event| (event.seq, event.text)));
            since = page.next;
            if !page.has_more {
                return all;
            }
        }
    }

    /// The server as another program sees it.
    fn jetstream(&self, url: &str) -> jetstream::Context {
        self.runtime.block_on(async { jetstream::new(async_nats::connect(url).await.unwrap()) })
    }

    /// Writes to the subject beside the gateways.
    fn publish(&self, url: &str, payloads: &[&[u8]]) {
        let context = self.jetstream(url);
        self.runtime.block_on(async {
            for payload in payloads {
                context.publish(SUBJECT, payload.to_vec().into()).await.unwrap().await.unwrap();
            }
        });
    }

    fn stream_info(&self, url: &str) -> jetstream::stream::Info {
        let context = self.jetstream(url);
        self.runtime.block_on(async { context.get_stream("orderbook").await.unwrap().get_info().await.unwrap() })
    }
}

/// A stream that an operator creates.
fn stream_settings() -> jetstream::stream::Config {
    let subjects = vec![SUBJECT.to_owned()];
    jetstream::stream::Config { name: "orderbook".to_owned(), subjects, ..Default::default() }
}

/// All that readers of a book see of it: the number of the newest change, the orders, the checksum.
fn view(orderbook: &Orderbook) -> (u64, Vec<String>, u32) {
    orderbook.read(|book| {
        let snapshot = book.snapshot(BOOK);
        let texts = snapshot.orders.iter().map(|order| String::from_utf8(order.text().to_vec()).unwrap()).collect();
        (snapshot.seq, texts, snapshot.checksum)
    })
}

//! Change events that become durable and are applied to the book: how many in a second, in requests of 1,000.
//!
//! Catches: a flush for every event or request where one serves many; an event parsed twice; a market walked for its checksum.
//! `cargo bench -p paraffin-orderbook --bench ingest`; `--test` runs a small one.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)] // a bench stops at the first failure and rounds its figures

use std::sync::Arc;
use std::time::Instant;

use paraffin_orderbook::{Options, Orderbook, Tables};

const BAR_PER_SECOND: f64 = 50_000.0;
/// Events of one request.
const BATCH: u64 = 1_000;
/// Senders at once.
const SENDERS: u64 = 4;

fn main() {
    let small = std::env::args().any(|argument| argument == "--test");
    let (batches, rounds) = if small { (5, 1) } else { (200, 5) };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut rates = Vec::new();
    let (mut active, mut bytes, mut reopened) = (0, 0, 0.0);
    for _ in 0..rounds {
        let folder = tempfile::tempdir().unwrap();
        let options = Options::new(folder.path().to_owned(), Tables::on("mainnet"));
        let orderbook = Orderbook::open(options.clone()).unwrap();
        let bodies: Vec<Vec<bytes::Bytes>> = (0..SENDERS)
            .map(|sender| (0..batches / SENDERS.min(batches)).map(|number| body(sender, number)).collect())
            .collect();
        bytes = bodies[0][0].len() as u64 / BATCH;
        let count = bodies.iter().map(Vec::len).sum::<usize>() as u64 * BATCH;
        let started = Instant::now();
        runtime.block_on(async {
            let tasks: Vec<_> = bodies
                .into_iter()
                .map(|bodies| {
                    let orderbook = Arc::clone(&orderbook);
                    tokio::spawn(async move {
                        for body in bodies {
                            assert_eq!(orderbook.ingest(body, 1).await.unwrap() as u64, BATCH);
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
        });
        rates.push(count as f64 / started.elapsed().as_secs_f64());
        let (checksum, newest) =
            orderbook.read(|book| (book.snapshot("orbitals:mainnet:book:*").checksum, book.newest()));
        active = orderbook.read(paraffin_orderbook::MarketBook::active);
        orderbook.close();
        drop(orderbook);
        let started = Instant::now();
        let again = Orderbook::open(options).unwrap();
        reopened = started.elapsed().as_secs_f64();
        assert_eq!(
            again.read(|book| (book.snapshot("orbitals:mainnet:book:*").checksum, book.newest())),
            (checksum, newest)
        );
    }
    let mut sorted = rates.clone();
    sorted.sort_by(f64::total_cmp);
    let rate = sorted[sorted.len() / 2];
    println!(
        "{{\"bar\":\"orderbook ingest\",\"value\":{rate:.0},\"at_least\":{BAR_PER_SECOND},\"how\":\"events a second that are on the disk and in the book, {SENDERS} senders with requests of {BATCH} events of {bytes} bytes, {active} active orders in the end, median of {rounds} rounds; opened again in {reopened:.2} s\"}}"
    );
    println!("round,events_per_second");
    for (round, rate) in (1..).zip(&rates) {
        println!("{round},{rate:.0}");
    }
}

/// Events of one sender: orders that open, and orders that change.
fn body(sender: u64, number: u64) -> bytes::Bytes {
    let events: Vec<String> = (0..BATCH)
        .map(|one| {
            let lsn = number * BATCH + one + 1;
            // Four of five events are about an order that there is already.
            let order = lsn.wrapping_mul(0x9e37_79b9) % (number * BATCH / 5 + 200);
            let status = ["open", "open", "matched", "pending", "filled"][(lsn % 5) as usize];
            format!(
                r#"{{"before":null,"after":{{"id":"clx{sender}{order:08}","network":"mainnet","module":"fire-pos","collection":"2:{}","token_id":"2:{order}","amount":"1","price":"{}","price_unit":"DIESEL","maker_address":"bc1p5d7rjq7g6rdk2yhzks9smlaqtedr4dekq08ge8ztwac72sfr9rusxg3297","status":"{status}","psbt":null,"created_at":1784592000000,"updated_at":{}}},"source":{{"version":"2.7.0","connector":"postgresql","name":"market","ts_ms":1784592000000,"snapshot":"false","db":"market","schema":"public","table":"orbital_listings","txId":{lsn},"lsn":{lsn}}},"op":"u","ts_ms":1784592000123,"transaction":null}}"#,
                order % 50,
                1_000_000 + lsn,
                1_784_592_000_000 + lsn
            )
        })
        .collect();
    format!("[{}]", events.join(",")).into()
}

//! Webhooks of the running program: a receiver that fails now and then, a program that is killed, blocks that leave.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver as Requests, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::Client;
use super::follow_to;
use super::receiver::Receiver;
use crate::support::http;
use crate::support::served::{Backend, Numbers, Served};

/// Steps before and after the program is killed.
const STEPS: u32 = 5;
/// A lease of the program that was killed has to run out, and messages that failed wait for some seconds.
const DELIVERED_WITHIN: Duration = Duration::from_secs(150);

/// A server that takes messages: their ids and bodies. Of eight requests it takes one without saying so, and refuses one.
fn server() -> (String, Requests<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/in", listener.local_addr().unwrap());
    let (sender, requests) = channel();
    let count = AtomicU64::new(0);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut stream = BufReader::new(stream);
            let (mut id, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if stream.read_line(&mut line).unwrap_or(0) <= 2 {
                    break;
                }
                match line.trim().split_once(": ") {
                    Some(("webhook-id", value)) => value.clone_into(&mut id),
                    Some(("content-length", value)) => length = value.parse().unwrap(),
                    _ => {}
                }
            }
            let mut body = vec![0; length];
            if length == 0 || stream.read_exact(&mut body).is_err() {
                // The program was killed on the way.
                continue;
            }
            let number = count.fetch_add(1, Ordering::Relaxed);
            if number % 8 != 5 && sender.send((id, serde_json::from_slice(&body).unwrap())).is_err() {
                return;
            }
            let status = if matches!(number % 8, 1 | 5) { "500 Internal Server Error" } else { "204 No Content" };
            let _ = stream.get_mut().write_all(format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n").as_bytes());
        }
    });
    (url, requests)
}

#[test]
fn a_receiver_of_webhooks_ends_with_the_events_of_the_chain_through_failures_kills_and_reorganisations() {
    let mut numbers = Numbers::new(0x77_6562);
    let settings = "[webhooks]\nallow_private = true\nallow_http = true\n";
    let mut served = Served::start_with(Backend::devnet(), settings);
    served.backend.mine(101, &served.scripts[0]);
    served.wait_for_tip();
    let (url, requests) = server();
    let made =
        http::call(&served.address, &served.keyed("/webhooks"), "webhooks_create", json!({ "url": url, "from": 1 }));
    assert!(made["result"]["secret"].as_str().unwrap().starts_with("whsec_"), "{made}");
    let id = made["result"]["id"].clone();
    let mut receiver = Receiver::default();
    let mut known = HashSet::new();
    let mut repeated = 0;
    for step in 0..=2 * STEPS {
        if step == STEPS {
            served.restart();
        } else if numbers.below(2) == 0 {
            served.mine_traffic(&mut numbers, 2);
        } else {
            served.reorganise(&mut numbers, 3);
        }
        std::thread::sleep(Duration::from_millis(500 + numbers.below(600)));
        for (id, message) in requests.try_iter() {
            take(&mut receiver, &mut known, &mut repeated, id, &message);
        }
    }
    served.mine_mempool();
    served.wait_for_tip();
    // What a stream has from there on is what was delivered.
    let mut stream = Client::sent(&served.address, &served.keyed("/events?from_height=1"));
    let mut replayed = Receiver::default();
    let height = served.backend.height();
    follow_to(&mut stream, &mut replayed, &format!("{height}-{}-{}", served.backend.hash(height), (1_u64 << 53) - 1));
    let begun = Instant::now();
    while receiver.blocks != replayed.blocks {
        let state = || http::call(&served.address, &served.keyed("/webhooks"), "webhooks_get", json!({ "id": id }));
        assert!(
            begun.elapsed() < DELIVERED_WITHIN,
            "{} of {} blocks: {}",
            receiver.blocks.len(),
            replayed.blocks.len(),
            state()
        );
        if let Ok((id, message)) = requests.recv_timeout(Duration::from_millis(200)) {
            take(&mut receiver, &mut known, &mut repeated, id, &message);
        }
    }
    assert!(receiver.undone > 0 && repeated > 0, "{} undone, {repeated} repeated", receiver.undone);
}

/// Applies a message that was not seen before.
fn take(receiver: &mut Receiver, known: &mut HashSet<String>, repeated: &mut u32, id: String, message: &Value) {
    assert_eq!(message["type"], "events", "{message}");
    if !known.insert(id) {
        *repeated += 1;
        return;
    }
    for event in message["data"]["events"].as_array().unwrap() {
        receiver.take(&event.to_string());
    }
}

//! A receiver that drops repeated ids and applies and undoes events, behind a connection with scripted faults.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use paraffin_testkit::Random;
use paraffin_webhooks::{Attempt, BoxFuture, SigningSecret, Transport, signature};
use serde::Deserialize;
use tokio::sync::oneshot;

use super::chain::Event;

#[derive(Deserialize)]
struct Body {
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    events: Vec<Event>,
}

/// State of a receiver.
#[derive(Default)]
struct State {
    ids: HashSet<String>,
    repeated: u64,
    events: Vec<Event>,
    secrets: Vec<SigningSecret>,
}

/// One receiver.
#[derive(Clone, Default)]
pub struct Receiver(Arc<Mutex<State>>);

impl Receiver {
    /// From now on messages may be signed with this secret, too.
    pub fn trust(&self, secret: SigningSecret) {
        self.0.lock().unwrap().secrets.push(secret);
    }

    pub fn events(&self) -> Vec<Event> {
        self.0.lock().unwrap().events.clone()
    }

    pub fn messages(&self) -> usize {
        self.0.lock().unwrap().ids.len()
    }

    pub fn repeated(&self) -> u64 {
        self.0.lock().unwrap().repeated
    }

    /// Takes a message.
    ///
    /// # Panics
    /// It is not signed, or its events do not follow on those before.
    pub fn take(&self, attempt: &Attempt) {
        let mut state = self.0.lock().unwrap();
        let signed = |secret: &SigningSecret| {
            let own = signature(std::slice::from_ref(secret), &attempt.id, attempt.timestamp_seconds, &attempt.body);
            attempt.signature.split(' ').any(|signature| signature == own)
        };
        assert!(state.secrets.iter().any(signed), "a message without a signature of ours");
        if !state.ids.insert(attempt.id.clone()) {
            state.repeated += 1;
            return;
        }
        let body: Body = serde_json::from_slice(&attempt.body).unwrap();
        for event in body.data.events {
            state.apply(event);
        }
    }
}

impl State {
    fn apply(&mut self, event: Event) {
        let last = self.events.last().cloned();
        match (event.kind.as_str(), last) {
            ("undone", Some(last)) => {
                assert_eq!(last.hash, event.hash, "the newest block is undone first");
                self.events.retain(|other| other.hash != event.hash);
            }
            ("block", None) => self.events.push(event),
            ("block", Some(last)) => {
                assert_eq!((event.parent, event.index), (last.hash, 0), "a block follows on its parent");
                self.events.push(event);
            }
            ("event", Some(last)) => {
                assert_eq!((event.hash, event.index), (last.hash, last.index + 1), "events come in their order");
                self.events.push(event);
            }
            (kind, last) => panic!("{kind} after {last:?}"),
        }
    }
}

/// Fate of an attempt: whether the receiver takes it when it arrives, whether it does when the connection ends, and the result for the
/// sender.
struct Fate {
    early: bool,
    late: bool,
    answer: Result<u16, String>,
}

/// An attempt in flight, and the channel for its fate.
type Flight = (Attempt, oneshot::Sender<Fate>);

/// Attempts in flight to one receiver; each ends when the test decides.
#[derive(Clone, Default)]
pub struct Network {
    receiver: Receiver,
    flights: Arc<Mutex<Vec<Flight>>>,
}

impl Network {
    pub fn to(receiver: &Receiver) -> Self {
        Self { receiver: receiver.clone(), flights: Arc::default() }
    }

    pub fn in_flight(&self) -> usize {
        self.flights.lock().unwrap().len()
    }

    /// Ends one attempt in one of the ways in which attempts end.
    pub fn end_one(&self, random: &mut Random, is_good: bool) {
        let (attempt, sender) = {
            let mut flights = self.flights.lock().unwrap();
            if flights.is_empty() {
                return;
            }
            let index = random.below(flights.len() as u64) as usize;
            flights.swap_remove(index)
        };
        let kind = if is_good { 0 } else { random.below(8) };
        let fate = match kind {
            0..=3 => Fate { early: true, late: false, answer: Ok(204) },
            // Received and not acknowledged.
            4 => Fate { early: true, late: false, answer: Err("no answer".to_owned()) },
            // Received twice by the same attempt, the second time after the answer.
            5 => Fate { early: true, late: true, answer: Ok(200) },
            6 => Fate { early: false, late: false, answer: Ok(500) },
            _ => Fate { early: false, late: false, answer: Err("cannot connect".to_owned()) },
        };
        if fate.early {
            self.receiver.take(&attempt);
        }
        if fate.late {
            self.receiver.take(&attempt);
        }
        // The sender may have been killed.
        let _ = sender.send(fate);
    }
}

impl Transport for Network {
    fn post(&self, attempt: Attempt) -> BoxFuture<'static, Result<u16, String>> {
        let (sender, fate) = oneshot::channel();
        self.flights.lock().unwrap().push((attempt, sender));
        Box::pin(async move { fate.await.map_or_else(|_| Err("the connection broke".to_owned()), |fate| fate.answer) })
    }
}

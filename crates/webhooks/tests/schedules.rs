//! Random schedules of blocks, reorganisations, failing receivers, instances that are killed, and owners that change things.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use paraffin_testkit::Random;
use paraffin_webhooks::{Deliverer, EndpointId, LEASE_MS, Progress, SigningSecret, WebhookError, WebhookSettings};
use support::chain::Chain;
use support::receiver::{Network, Receiver};
use support::{BY, HOUR, SECOND, TestDatabase, Time, database, endpoint, settings};
use tokio::task::JoinHandle;

/// One process that delivers.
struct Instance {
    deliverer: Arc<Deliverer>,
    task: Option<JoinHandle<Result<Progress, WebhookError>>>,
}

/// Settings with which a message has few events.
fn small_messages() -> WebhookSettings {
    WebhookSettings { message_bytes_max: 300, ..settings() }
}

struct World<'a> {
    database: &'a TestDatabase,
    chain: Chain,
    time: Time,
    receiver: Receiver,
    /// Of each instance.
    networks: [Network; 2],
    id: EndpointId,
    instances: Vec<Instance>,
    random: Random,
    kills: u64,
}

impl<'a> World<'a> {
    async fn new(database: &'a TestDatabase, seed: u64) -> World<'a> {
        let (chain, receiver) = (Chain::new(), Receiver::default());
        let store = database.open().await;
        let settings = WebhookSettings { endpoints_per_account_max: 10_000, ..settings() };
        let new = endpoint("http://receiver.example/", &chain.first());
        let (made, secret) = store.create(BY, &new, &settings, support::NOW).await.unwrap();
        receiver.trust(secret);
        store.close().await;
        let networks = [Network::to(&receiver), Network::to(&receiver)];
        let mut world = World {
            database,
            chain,
            time: Time::default(),
            receiver,
            networks,
            id: made.id,
            instances: Vec::new(),
            random: Random(seed),
            kills: 0,
        };
        for which in 0..2 {
            let instance = world.instance(which).await;
            world.instances.push(instance);
        }
        world
    }

    async fn instance(&self, which: usize) -> Instance {
        let (source, transport) = (Arc::new(self.chain.clone()), Arc::new(self.networks[which].clone()));
        let deliverer =
            Deliverer::new(self.database.open().await, source, transport, small_messages(), self.time.clock());
        Instance { deliverer: Arc::new(deliverer), task: None }
    }

    /// Lets an instance look at the endpoint, if it does not yet.
    async fn work(&mut self, which: usize) {
        let id = self.id;
        let instance = &mut self.instances[which];
        if instance.task.as_ref().is_some_and(|task| !task.is_finished()) {
            return;
        }
        if let Some(task) = instance.task.take() {
            match task.await.unwrap() {
                // Both write at the same moment for longer than the database waits.
                Ok(_) | Err(WebhookError::Unavailable(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
        let deliverer = Arc::clone(&instance.deliverer);
        instance.task = Some(tokio::spawn(async move { deliverer.deliver(id).await }));
    }

    /// Kills an instance at any point, and starts another one.
    async fn kill(&mut self, which: usize) {
        if let Some(task) = self.instances[which].task.take() {
            task.abort();
            // Its result is ignored.
            let _ = task.await;
        }
        self.kills += 1;
        self.instances[which] = self.instance(which).await;
    }

    /// An operation of the owner; none loses an event.
    async fn change(&mut self) {
        let (store, now) = (self.database.open().await, self.time.now());
        let secret: Option<SigningSecret> = match self.random.below(3) {
            0 => Some(store.rotate_secret(BY, self.id, now).await.unwrap().1),
            1 => {
                store.pause(BY, self.id, now).await.unwrap();
                None
            }
            _ => {
                let changes = paraffin_webhooks::EndpointChanges {
                    url: Some("http://elsewhere.example/".to_owned()),
                    ..Default::default()
                };
                store.update(BY, self.id, &changes, now).await.unwrap();
                None
            }
        };
        if let Some(secret) = secret {
            self.receiver.trust(secret);
        }
        store.resume(BY, self.id, now).await.unwrap();
        store.close().await;
    }

    async fn step(&mut self) {
        let which = self.random.below(2) as usize;
        match self.random.below(100) {
            0..=14 => self.chain.add(self.random.below(6)),
            15..=21 => {
                let depth = 1 + self.random.below(4) as usize;
                self.chain.reorganise(depth, &mut self.random);
            }
            22..=49 => self.work(which).await,
            50..=71 => self.networks[which].end_one(&mut self.random, false),
            72..=74 => self.stall(which).await,
            75..=84 => self.time.forward(self.random.below(20).cast_signed() * SECOND),
            85..=88 => self.time.forward(LEASE_MS),
            89..=91 => self.time.forward(7 * HOUR),
            92..=97 => self.kill(which).await,
            _ => self.change().await,
        }
        // Now and then the next step comes while the database still works.
        match self.random.below(4) {
            0 => tokio::task::yield_now().await,
            1 => tokio::time::sleep(Duration::from_micros(self.random.below(1_500))).await,
            _ => self.settle().await,
        }
    }

    /// An instance waits for an answer until its lease has run out; meanwhile the other one goes on.
    async fn stall(&mut self, which: usize) {
        self.work(which).await;
        self.settle().await;
        self.time.forward(LEASE_MS);
        for _ in 0..2 + self.random.below(4) {
            self.chain.add(self.random.below(6));
            self.work(1 - which).await;
            self.settle().await;
            self.networks[1 - which].end_one(&mut self.random, true);
            self.settle().await;
        }
        self.networks[which].end_one(&mut self.random, true);
        self.settle().await;
    }

    fn in_flight(&self) -> usize {
        self.networks.iter().map(Network::in_flight).sum()
    }

    /// Until each instance waits for an answer, or for nothing.
    async fn settle(&self) {
        for _ in 0..200 {
            let working = self.instances.iter().filter_map(|one| one.task.as_ref()).filter(|task| !task.is_finished());
            if working.count() <= self.in_flight() {
                return;
            }
            tokio::time::sleep(Duration::from_micros(300)).await;
        }
    }

    /// From now on nothing fails: the receiver has to reach the state of the chain.
    async fn finish(&mut self) {
        for _ in 0..2_000 {
            if self.receiver.events() == self.chain.all_events() {
                return;
            }
            self.time.forward(LEASE_MS / 4);
            let which = self.random.below(2) as usize;
            self.work(which).await;
            self.settle().await;
            for network in &self.networks {
                while network.in_flight() > 0 {
                    network.end_one(&mut self.random, true);
                }
            }
            self.settle().await;
            if self.random.below(20) == 0 {
                self.time.forward(7 * HOUR);
            }
        }
        assert_eq!(self.receiver.events(), self.chain.all_events());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_drops_repeated_ids_ends_with_the_state_of_the_chain() {
    let Some(database) = database() else { return };
    let is_server = env!("CARGO_CRATE_NAME") == "postgres";
    let is_long = std::env::var_os("PARAFFIN_LONG").is_some();
    let schedules = match (is_long, is_server) {
        (true, false) => 1_000,
        (true, true) => 200,
        (false, false) => 40,
        (false, true) => 15,
    };
    let (mut kills, mut messages, mut repeated) = (0, 0, 0);
    for seed in 0..schedules {
        let mut world = World::new(&database, seed).await;
        for _ in 0..40 + world.random.below(60) {
            world.step().await;
        }
        world.finish().await;
        kills += world.kills;
        messages += world.receiver.messages();
        repeated += world.receiver.repeated();
        for instance in &mut world.instances {
            if let Some(task) = instance.task.take() {
                task.abort();
            }
        }
    }
    println!("{schedules} schedules: {messages} messages, {repeated} of them repeated, {kills} kills");
    assert!(kills > schedules && repeated > schedules && messages > 5 * schedules as usize);
}

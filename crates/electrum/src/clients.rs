//! Sessions, subscriptions and recent cost of each client, so that no client exhausts shared resources.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use paraffin_access::{AccountId, ClientNet};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::settings::ElectrumSettings;

/// Prefix length of an IPv6 address that counts as one client, since one customer may have all addresses below it.
const SITE_BITS: u8 = 48;
/// Seconds in which the whole of [`ElectrumSettings::cost_hard`] decays.
const FORGIVEN_IN_SECONDS: f64 = 3_600.0;
/// Longest delay of one request.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// Clients in the table beyond which those without a session and without a cost are removed.
const CLIENTS_MAX: usize = 100_000;

/// The unit by which sessions are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Caller {
    /// Callers without a key, by their network.
    Client(ClientNet),
    /// The keys of an account.
    Account(AccountId),
}

impl Caller {
    /// A caller without a key.
    pub fn client(address: IpAddr) -> Self {
        Self::Client(ClientNet::with_prefix(address, SITE_BITS))
    }
}

/// Consequence of the cost of a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Charged {
    /// No consequence.
    Free,
    /// Delay the next request.
    Wait(Duration),
    /// Close the session.
    TooMuch,
}

/// All clients of an instance.
pub(crate) struct Clients(Mutex<Table>);

#[derive(Default)]
struct Table {
    sessions: usize,
    subscriptions: usize,
    clients: HashMap<Caller, Client>,
}

struct Client {
    sessions: usize,
    subscriptions: usize,
    cost: f64,
    at: Instant,
}

impl Client {
    fn cost_at(&self, now: Instant, settings: &ElectrumSettings) -> f64 {
        let forgiven = now.saturating_duration_since(self.at).as_secs_f64() * per_second(settings);
        (self.cost - forgiven).max(0.0)
    }
}

fn per_second(settings: &ElectrumSettings) -> f64 {
    f64::from(settings.cost_hard) / FORGIVEN_IN_SECONDS
}

impl Clients {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::default()))
    }

    /// Counts a session; `None` when there are too many of the caller or of all.
    pub(crate) fn enter(
        self: &Arc<Self>,
        caller: Caller,
        settings: &Arc<ElectrumSettings>,
        now: Instant,
    ) -> Option<SessionPermit> {
        let mut table = self.0.lock();
        if table.sessions >= settings.sessions_max {
            return None;
        }
        if table.clients.len() >= CLIENTS_MAX {
            table.clients.retain(|_, client| client.sessions > 0 || client.cost_at(now, settings) > 0.0);
        }
        let new = Client { sessions: 0, subscriptions: 0, cost: 0.0, at: now };
        let client = table.clients.entry(caller).or_insert(new);
        let is_over = settings.cost_soft > 0 && client.cost_at(now, settings) >= f64::from(settings.cost_hard);
        if client.sessions >= settings.sessions_per_client_max || is_over {
            return None;
        }
        client.sessions += 1;
        table.sessions += 1;
        drop(table);
        Some(SessionPermit { clients: Arc::clone(self), settings: Arc::clone(settings), caller, subscriptions: 0 })
    }

    /// Open sessions and subscribed scripts.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let table = self.0.lock();
        (table.sessions, table.subscriptions)
    }
}

/// Held while a session is open.
pub(crate) struct SessionPermit {
    clients: Arc<Clients>,
    settings: Arc<ElectrumSettings>,
    caller: Caller,
    subscriptions: usize,
}

impl SessionPermit {
    /// Adds one subscription; returns whether it is within the limits.
    pub(crate) fn subscribe(&mut self) -> bool {
        let mut table = self.clients.0.lock();
        let Table { subscriptions, clients, .. } = &mut *table;
        let Some(client) = clients.get_mut(&self.caller) else { return false };
        let is_full = *subscriptions >= self.settings.subscriptions_max
            || client.subscriptions >= self.settings.subscriptions_per_client_max
            || self.subscriptions >= self.settings.subscriptions_per_session_max;
        if is_full {
            return false;
        }
        *subscriptions += 1;
        client.subscriptions += 1;
        self.subscriptions += 1;
        true
    }

    /// Removes one subscription.
    pub(crate) fn unsubscribe(&mut self) {
        self.give_back(1);
    }

    fn give_back(&mut self, count: usize) {
        let mut table = self.clients.0.lock();
        table.subscriptions = table.subscriptions.saturating_sub(count);
        if let Some(client) = table.clients.get_mut(&self.caller) {
            client.subscriptions = client.subscriptions.saturating_sub(count);
        }
        self.subscriptions = self.subscriptions.saturating_sub(count);
    }

    /// Adds to the cost of the client.
    pub(crate) fn charge(&self, cost: f64, now: Instant) -> Charged {
        let settings = &self.settings;
        if settings.cost_soft == 0 {
            return Charged::Free;
        }
        let mut table = self.clients.0.lock();
        let Some(client) = table.clients.get_mut(&self.caller) else { return Charged::Free };
        client.cost = client.cost_at(now, settings) + cost;
        client.at = now;
        let (soft, hard) = (f64::from(settings.cost_soft), f64::from(settings.cost_hard));
        if client.cost >= hard {
            return Charged::TooMuch;
        }
        if client.cost <= soft {
            return Charged::Free;
        }
        // Near the hard limit a request waits until its own cost has decayed, so that a client that waits never reaches it.
        let part = (client.cost - soft) / (hard - soft);
        let wait = Duration::try_from_secs_f64(cost / per_second(settings) * part).unwrap_or(WAIT_MAX);
        Charged::Wait(wait.min(WAIT_MAX))
    }
}

impl Drop for SessionPermit {
    fn drop(&mut self) {
        self.give_back(self.subscriptions);
        let mut table = self.clients.0.lock();
        table.sessions = table.sessions.saturating_sub(1);
        if let Some(client) = table.clients.get_mut(&self.caller) {
            client.sessions = client.sessions.saturating_sub(1);
            let is_done = client.sessions == 0 && client.cost_at(Instant::now(), &self.settings) <= 0.0;
            if is_done {
                table.clients.remove(&self.caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(change: fn(&mut ElectrumSettings)) -> Arc<ElectrumSettings> {
        let mut settings = ElectrumSettings::default();
        change(&mut settings);
        Arc::new(settings)
    }

    fn caller(address: &str) -> Caller {
        Caller::client(address.parse().unwrap())
    }

    #[test]
    fn sessions_and_subscriptions_are_bounded_for_each_client_and_for_all() {
        let clients = Clients::new();
        let settings = settings(|settings| {
            settings.sessions_max = 3;
            settings.sessions_per_client_max = 2;
            settings.subscriptions_max = 5;
            settings.subscriptions_per_client_max = 3;
            settings.subscriptions_per_session_max = 2;
        });
        let enter = |address| clients.enter(caller(address), &settings, Instant::now());
        let (mut first, mut second) = (enter("2001:db8:1:1::1").unwrap(), enter("2001:db8:1:2::1").unwrap());
        assert!(enter("2001:db8:1:3::1").is_none(), "a /48 is one client");
        let mut third = enter("192.0.2.1").unwrap();
        assert!(enter("192.0.2.2").is_none());
        assert_eq!([first.subscribe(), first.subscribe(), first.subscribe()], [true, true, false]);
        assert_eq!([second.subscribe(), second.subscribe()], [true, false]);
        first.unsubscribe();
        assert!(second.subscribe());
        assert_eq!([third.subscribe(), third.subscribe(), third.subscribe()], [true, true, false]);
        assert_eq!(clients.counts(), (3, 5));
        drop((first, second, third));
        assert_eq!(clients.counts(), (0, 0));
        assert!(clients.0.lock().clients.is_empty());
    }

    #[test]
    fn a_client_is_delayed_then_closed_and_its_cost_decays() {
        let clients = Clients::new();
        let settings = settings(|settings| {
            settings.cost_soft = 100;
            settings.cost_hard = 3_600;
        });
        let now = Instant::now();
        let enter = |address, now| clients.enter(caller(address), &settings, now);
        let session = enter("192.0.2.1", now).unwrap();
        assert_eq!(session.charge(100.0, now), Charged::Free);
        assert!(matches!(session.charge(1_000.0, now), Charged::Wait(wait) if wait == WAIT_MAX));
        assert!(matches!(session.charge(1.0, now), Charged::Wait(wait) if wait < Duration::from_millis(400)));
        assert_eq!(session.charge(2_600.0, now), Charged::TooMuch);
        drop(session);
        assert!(enter("192.0.2.1", now).is_none(), "a new session does not help");
        assert!(enter("192.0.2.2", now).is_some());
        let later = now + Duration::from_secs(3_650);
        let session = enter("192.0.2.1", later).unwrap();
        assert_eq!(session.charge(1.0, later), Charged::Free);
    }
}

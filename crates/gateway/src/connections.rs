//! The open connections: the limit of each client, and which idle ones are closed near the limit of all.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use paraffin_access::ClientNet;
use parking_lot::Mutex;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::clients::is_trusted;
use crate::server::serve_connection;
use crate::state::Shared;

/// Limited networks: prefix length of an IPv6 address, and the multiple of a client's connections that each may have. An
/// IPv4 address is the same in all of them, so that the first applies.
const NETS: [(u8, usize); 3] = [(64, 1), (56, 2), (48, 4)];
/// Prefix length of the sites that are compared when idle connections are closed.
const SITE_BITS: u8 = 48;
/// Idle connections that a site always keeps.
const IDLE_MIN: usize = 4;
/// Percent of the limit of connections above which idle ones are closed.
const PRESSURE_PERCENT: usize = 80;

/// Ends a connection from outside: `Ok` when it is closed near the limit of connections, an error when the server stops.
pub(crate) type Closing = oneshot::Receiver<NoPlaces>;

/// The limit of connections is nearly reached.
#[derive(Debug)]
pub(crate) struct NoPlaces;

/// Whether a connection is answering a request.
#[derive(Debug)]
pub(crate) struct Activity {
    has_begun: AtomicBool,
    idle_since: Mutex<Option<Instant>>,
}

impl Activity {
    fn new() -> Arc<Self> {
        Arc::new(Self { has_begun: AtomicBool::new(false), idle_since: Mutex::new(Some(Instant::now())) })
    }

    /// Whether it ever carried a request.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed)
    }

    /// Records that a request has arrived; it ends when the returned guard is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> ActiveRequest {
        self.has_begun.store(true, Ordering::Relaxed);
        *self.idle_since.lock() = None;
        ActiveRequest(Arc::clone(self))
    }
}

/// Held while a request is answered.
pub(crate) struct ActiveRequest(Arc<Activity>);

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        *self.0.idle_since.lock() = Some(Instant::now());
    }
}

/// The connections that are served.
#[derive(Default)]
pub(crate) struct OpenConnections {
    tasks: JoinSet<()>,
    /// One closing signal for each connection; a shared one would be polled by all of them.
    open: HashMap<tokio::task::Id, OpenConnection>,
    clients: Arc<ConnectionsByClient>,
}

struct OpenConnection {
    closer: Option<oneshot::Sender<NoPlaces>>,
    activity: Arc<Activity>,
    /// `None` for a trusted proxy, which represents many clients.
    site: Option<ClientNet>,
}

impl OpenConnections {
    pub(crate) fn serve(
        &mut self,
        shared: &Arc<Shared>,
        stream: TcpStream,
        peer: SocketAddr,
        permit: OwnedSemaphorePermit,
    ) {
        let is_proxy = is_trusted(&shared.access.trusted_proxies, peer.ip());
        let max = if is_proxy { usize::MAX } else { shared.config.limits.connections_per_client_max };
        let Some(of_client) = self.clients.enter(peer.ip(), max) else {
            // Closed without an answer: a client with this many connections does not wait for one.
            shared.metrics.connection_refused();
            return;
        };
        if self.open.len() * 100 >= shared.config.limits.connections_max * PRESSURE_PERCENT {
            self.close_idle();
        }
        let (closer, closing) = oneshot::channel();
        let (shared, activity) = (Arc::clone(shared), Activity::new());
        let requests = Arc::clone(&activity);
        let task = self.tasks.spawn(async move {
            let _held = (permit, of_client);
            serve_connection(shared, stream, peer, requests, closing).await;
        });
        let site = (!is_proxy).then(|| ClientNet::with_prefix(peer.ip(), SITE_BITS));
        self.open.insert(task.id(), OpenConnection { closer: Some(closer), activity, site });
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Forgets a connection once it has ended.
    pub(crate) async fn one_ended(&mut self) {
        if let Some(ended) = self.tasks.join_next_with_id().await {
            self.open.remove(&ended.map_or_else(|error| error.id(), |(id, ())| id));
        }
    }

    /// Closes one idle connection: of the site that has most, the one that has been idle for longest.
    pub(crate) fn close_idle(&mut self) {
        let mut of_site: HashMap<ClientNet, usize> = HashMap::new();
        for site in self.open.values().filter_map(|one| one.site) {
            *of_site.entry(site).or_default() += 1;
        }
        let candidates = self.open.values_mut().filter(|one| one.closer.is_some()).filter_map(|one| {
            let count = of_site.get(&one.site?).copied().filter(|count| *count > IDLE_MIN)?;
            let idle_since = (*one.activity.idle_since.lock())?;
            Some(((count, std::cmp::Reverse(idle_since)), one))
        });
        if let Some((_, one)) = candidates.max_by_key(|(rank, _)| *rank)
            && let Some(closer) = one.closer.take()
        {
            // It may have ended meanwhile.
            let _ = closer.send(NoPlaces);
        }
    }

    /// Ends each connection after its request in flight.
    pub(crate) fn close(self) -> JoinSet<()> {
        self.tasks
    }
}

/// Open connections by client, so that one of them cannot take all.
#[derive(Default)]
struct ConnectionsByClient(Mutex<HashMap<(u8, ClientNet), usize>>);

impl ConnectionsByClient {
    /// Counts one more connection; `None` when the client, or a network around it, has too many.
    fn enter(self: &Arc<Self>, address: IpAddr, per_client_max: usize) -> Option<ClientPermit> {
        let mut open = self.0.lock();
        for (bits, multiple) in NETS {
            let count = open.get(&(bits, ClientNet::with_prefix(address, bits))).copied().unwrap_or(0);
            if count >= per_client_max.saturating_mul(multiple) {
                return None;
            }
        }
        for (bits, _) in NETS {
            *open.entry((bits, ClientNet::with_prefix(address, bits))).or_default() += 1;
        }
        Some(ClientPermit { clients: Arc::clone(self), address })
    }
}

/// Held while a connection is open.
struct ClientPermit {
    clients: Arc<ConnectionsByClient>,
    address: IpAddr,
}

impl Drop for ClientPermit {
    fn drop(&mut self) {
        let mut open = self.clients.0.lock();
        for (bits, _) in NETS {
            let net = (bits, ClientNet::with_prefix(self.address, bits));
            if let Some(count) = open.get_mut(&net) {
                *count -= 1;
                if *count == 0 {
                    open.remove(&net);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_of_ipv6_have_bounds_that_grow_slower_than_they() {
        let clients = Arc::new(ConnectionsByClient::default());
        let mut held = Vec::new();
        let mut open = |address: String| {
            let permit = clients.enter(address.parse().unwrap(), 10);
            let is_open = permit.is_some();
            held.extend(permit);
            is_open
        };
        assert_eq!((0..20).filter(|host| open(format!("2001:db8:1:100::{host}"))).count(), 10);
        assert_eq!((0..40).filter(|net| open(format!("2001:db8:1:1{net:02}::1"))).count(), 10, "a /56 has 20");
        assert_eq!((0..99).filter(|net| open(format!("2001:db8:1:{net}00::1"))).count(), 20, "a /48 has 40");
        assert!(open("2001:db8:2::1".to_owned()));
        assert_eq!((0..20).filter(|_| open("192.0.2.1".to_owned())).count(), 10);
        assert!(open("192.0.2.2".to_owned()));
        held.clear();
        assert!(clients.0.lock().is_empty());
    }

    /// A connection that is open for tests of the choice, idle for `seconds`.
    fn connection(open: &mut OpenConnections, address: &str, seconds: Option<u64>) -> Closing {
        let (closer, closing) = oneshot::channel();
        let since = seconds.map(|seconds| Instant::now() - std::time::Duration::from_secs(seconds));
        let activity = Arc::new(Activity { has_begun: AtomicBool::new(true), idle_since: Mutex::new(since) });
        let site = Some(ClientNet::with_prefix(address.parse().unwrap(), SITE_BITS));
        let task = open.tasks.spawn(std::future::pending());
        open.open.insert(task.id(), OpenConnection { closer: Some(closer), activity, site });
        closing
    }

    #[tokio::test]
    async fn the_longest_idle_connection_of_the_site_with_most_is_closed_first() {
        let mut open = OpenConnections::default();
        let mut few: Vec<_> = (0..4).map(|_| connection(&mut open, "192.0.2.1", Some(90))).collect();
        let mut busy: Vec<_> = (0..9).map(|_| connection(&mut open, "192.0.2.2", None)).collect();
        let mut many: Vec<_> =
            (0..6).map(|index| connection(&mut open, &format!("2001:db8:1:{index}::1"), Some(index))).collect();
        for expected in [5, 4, 3] {
            open.close_idle();
            for (index, closing) in many.iter_mut().enumerate() {
                let is_closed = matches!(closing.try_recv(), Ok(NoPlaces));
                assert_eq!(is_closed, index == expected, "{index}");
            }
        }
        assert!(few.iter_mut().chain(&mut busy).all(|closing| closing.try_recv().is_err()));
    }
}

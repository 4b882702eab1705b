//! A Bitcoin node on regtest inside this process, with a wallet and a seeded scenario of traders.
//!
//! It speaks the node's JSON-RPC, REST and peer-to-peer protocols, mines blocks with proof of work and witness commitment,
//! verifies scripts with Bitcoin Core's interpreter, and keeps a mempool. The same options give the same chain, byte for
//! byte. Invariant: it answers as Bitcoin Core 31 does, so that clients need no code for it alone; only its user agent
//! identifies it.
#![forbid(unsafe_code)]

pub mod evm;
mod inscribers;
pub mod market;
mod node;
mod p2p;
mod rest;
mod rpc;
mod scenario;
mod traffic;
mod wallet;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bitcoin::Txid;
use paraffin_primitives::BlockId;
use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use inscribers::{Inscribers, InscribersSummary};
use market::{Market, MarketError, MarketSummary};
pub use node::{
    BLOCK_SPACING, BLOCK_TIME_EPOCH, BlockOutcome, BlockTime, Clock, Coin, MEMPOOL_HEIGHT, Node, NodeEvent, Rejection,
    RejectionKind, UnknownBlock,
};
use p2p::{Limits, Peers};
use rpc::{RpcContext, server};
pub use scenario::{Scenario, ScenarioError};
use traffic::MempoolTraffic;
pub use wallet::{ACCOUNT_NAMES, Account, OutputKind, Wallet, WalletError};

/// User name and password when none are given.
const DEFAULT_CREDENTIAL: &str = "dev";

/// What kind of devnet to start.
#[derive(Debug, Clone)]
pub struct DevnetOptions {
    /// Decides keys and traffic.
    pub seed: u64,
    /// Blocks mined before the node answers; traffic starts when the first coinbases are mature, at height 101.
    pub blocks: u32,
    /// Time between two blocks mined by itself, with traders and with unconfirmed payments that are sent and replaced in
    /// between; `None` or zero mines only on demand.
    pub interval: Option<Duration>,
    /// Where JSON-RPC and REST are served; port 0 takes a free one.
    pub rpc_listen: SocketAddr,
    /// Where peers are accepted; port 0 takes a free one.
    pub p2p_listen: SocketAddr,
    /// User name of the RPC server; `dev` if none is given.
    pub user: Option<String>,
    /// Password of the RPC server; `dev` if none is given.
    pub password: Option<String>,
    /// Seeded payments that are left unconfirmed at the start.
    pub pending_transactions: u32,
}

impl Default for DevnetOptions {
    fn default() -> Self {
        let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self {
            seed: 1,
            blocks: 160,
            interval: None,
            rpc_listen: loopback,
            p2p_listen: loopback,
            user: None,
            password: None,
            pending_transactions: 3,
        }
    }
}

/// Why a devnet could not start.
#[derive(Debug, thiserror::Error)]
pub enum DevnetError {
    /// An address is taken or not allowed.
    #[error("the devnet cannot listen on {addr}: {source}; choose another address or port 0")]
    Listen {
        /// The address.
        addr: SocketAddr,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The seeded chain could not be made.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The market could not be founded or cannot go on.
    #[error(transparent)]
    Market(#[from] MarketError),
    /// The task that makes the chain was stopped, because the runtime ends.
    #[error("the devnet was stopped while it made its chain")]
    Stopped,
}

/// A running devnet. Dropping it stops it as well, without waiting.
#[derive(Debug)]
pub struct Devnet {
    node: Arc<Node>,
    wallet: Arc<Wallet>,
    market: MarketSummary,
    inscribers: InscribersSummary,
    traders: Arc<Mutex<Traders>>,
    rpc_addr: SocketAddr,
    p2p_addr: SocketAddr,
    user: String,
    password: String,
    stop: watch::Sender<bool>,
    context: Arc<RpcContext>,
    tasks: Vec<JoinHandle<()>>,
}

async fn listen(addr: SocketAddr) -> Result<(TcpListener, SocketAddr), DevnetError> {
    let refused = |source| DevnetError::Listen { addr, source };
    let listener = TcpListener::bind(addr).await.map_err(refused)?;
    let bound = listener.local_addr().map_err(refused)?;
    Ok((listener, bound))
}

/// Makes the seeded chain.
fn make_chain(options: &DevnetOptions, node: &Node, wallet: &Arc<Wallet>) -> Result<Traders, DevnetError> {
    let mut scenario = Scenario::new(options.seed, Arc::clone(wallet));
    let mut market = Market::new(options.seed, Arc::clone(wallet)).with_triangle();
    let mut inscribers = Inscribers::new(options.seed, Arc::clone(wallet));
    for height in 1..=options.blocks {
        market.observe(node)?;
        market.step(node)?;
        inscribers.step(node)?;
        scenario.step(node)?;
        node.mine_block(&scenario.miner_script(height)).map_err(ScenarioError::from)?;
    }
    market.observe(node)?;
    scenario.leave_pending(node, options.pending_transactions)?;
    Ok(Traders { scenario, market, inscribers, traffic: MempoolTraffic::new(options.seed, Arc::clone(wallet)) })
}

/// All sources of transactions.
#[derive(Debug)]
struct Traders {
    scenario: Scenario,
    market: Market,
    inscribers: Inscribers,
    traffic: MempoolTraffic,
}

impl Traders {
    /// Mines a block and makes the transactions of the next one.
    fn round(&mut self, node: &Node) -> Result<(), DevnetError> {
        let script = self.scenario.miner_script(node.tip().height + 1);
        node.mine_block(&script).map_err(ScenarioError::from)?;
        self.market.observe(node)?;
        self.market.step(node)?;
        self.inscribers.step(node)?;
        self.scenario.step(node)?;
        Ok(())
    }
}

/// A request to a devnet. Boxed, so that it is compiled here alone.
pub type DevnetFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl Devnet {
    /// Makes the chain, then serves it.
    ///
    /// # Errors
    /// An address cannot be listened on, or the chain cannot be made.
    pub fn start(options: DevnetOptions) -> DevnetFuture<'static, Result<Self, DevnetError>> {
        Box::pin(async move {
            let (rpc_listener, rpc_addr) = listen(options.rpc_listen).await?;
            let (p2p_listener, p2p_addr) = listen(options.p2p_listen).await?;
            let user = options.user.clone().unwrap_or_else(|| DEFAULT_CREDENTIAL.to_owned());
            let password = options.password.clone().unwrap_or_else(|| DEFAULT_CREDENTIAL.to_owned());
            let interval = options.interval.filter(|interval| !interval.is_zero());

            let node = Arc::new(Node::new(Some(Arc::new(p2p::unix_now))));
            let wallet = Arc::new(Wallet::new(options.seed, &ACCOUNT_NAMES));
            let making = tokio::task::spawn_blocking({
                let (node, wallet) = (Arc::clone(&node), Arc::clone(&wallet));
                move || make_chain(&options, &node, &wallet)
            });
            let traders = making.await.map_err(|_| DevnetError::Stopped)??;
            let (market, inscribers) = (traders.market.summary()?, traders.inscribers.summary());
            let traders = Arc::new(Mutex::new(traders));

            let (stop, stopping) = watch::channel(false);
            let peers = Arc::new(Peers::default());
            let context = Arc::new(RpcContext {
                node: Arc::clone(&node),
                peers: Arc::clone(&peers),
                p2p_addr,
                started: Instant::now(),
                stopping: AtomicBool::new(false),
            });
            let authorization = server::basic_authorization(&user, &password);
            let mut tasks = vec![
                tokio::spawn(server::serve(rpc_listener, Arc::clone(&context), authorization, stopping.clone())),
                tokio::spawn(p2p::serve(p2p_listener, Arc::clone(&node), peers, Limits::default(), stopping.clone())),
            ];
            if let Some(interval) = interval {
                node.set_block_time(BlockTime::ByClock);
                tasks.push(tokio::spawn(trade(Arc::clone(&node), Arc::clone(&traders), interval, stopping)));
            }
            Ok(Self {
                node,
                wallet,
                market,
                inscribers,
                traders,
                rpc_addr,
                p2p_addr,
                user,
                password,
                stop,
                context,
                tasks,
            })
        })
    }

    /// The address of the JSON-RPC server and of REST.
    pub fn rpc_url(&self) -> String {
        format!("http://{}", self.rpc_addr)
    }

    /// User name of the RPC server.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// Password of the RPC server.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// Where peers are accepted.
    pub fn p2p_addr(&self) -> SocketAddr {
        self.p2p_addr
    }

    /// The newest block of the best chain.
    pub fn tip(&self) -> BlockId {
        self.node.tip()
    }

    /// The accounts of the traders.
    pub fn accounts(&self) -> Vec<Account> {
        self.wallet.accounts().to_vec()
    }

    /// The keys of the traders.
    pub fn wallet(&self) -> Arc<Wallet> {
        Arc::clone(&self.wallet)
    }

    /// Contracts, pools and tokens of the market when the devnet started.
    pub fn market(&self) -> &MarketSummary {
        &self.market
    }

    /// Inscriptions, rune and token of the inscribers when the devnet started.
    pub fn inscribers(&self) -> &InscribersSummary {
        &self.inscribers
    }

    /// The newest confirmed payment, else the newest coinbase; `None` while there is only the genesis block.
    pub fn sample_txid(&self) -> Option<Txid> {
        let tip = self.node.tip();
        let mut blocks = (1..=tip.height).rev().filter_map(|height| self.node.block(&self.node.block_hash(height)?));
        let payment = blocks.find_map(|block| block.txdata.get(1).map(bitcoin::Transaction::compute_txid));
        let coinbase = || self.node.block(&tip.hash).map(|block| block.txdata[0].compute_txid());
        payment.or_else(|| coinbase().filter(|_| tip.height > 0))
    }

    /// The node itself, for calls without the network.
    pub fn node(&self) -> Arc<Node> {
        Arc::clone(&self.node)
    }

    /// Sends a few payments that stay unconfirmed; the same ones on the same chain.
    ///
    /// # Errors
    /// The node refuses a transaction, for example because another one spends the same coins.
    pub fn send_unconfirmed(&self) -> DevnetFuture<'_, Result<(), DevnetError>> {
        Box::pin(async move { self.run_traffic(MempoolTraffic::open).await })
    }

    /// Replaces some of the payments of [`Devnet::send_unconfirmed`].
    ///
    /// # Errors
    /// The node refuses a transaction.
    pub fn replace_unconfirmed(&self) -> DevnetFuture<'_, Result<(), DevnetError>> {
        Box::pin(async move { self.run_traffic(MempoolTraffic::replace_first).await })
    }

    async fn run_traffic(
        &self,
        act: fn(&mut MempoolTraffic, &Node) -> Result<(), ScenarioError>,
    ) -> Result<(), DevnetError> {
        let (node, traders) = (Arc::clone(&self.node), Arc::clone(&self.traders));
        let done = tokio::task::spawn_blocking(move || act(&mut traders.lock().traffic, &node));
        Ok(done.await.map_err(|_| DevnetError::Stopped)??)
    }

    /// Stops mining, answering and accepting; returns when all of it has ended.
    pub fn shutdown(mut self) -> DevnetFuture<'static, ()> {
        Box::pin(async move {
            self.signal_stop();
            for task in std::mem::take(&mut self.tasks) {
                let _ = task.await;
            }
        })
    }

    fn signal_stop(&self) {
        self.context.stopping.store(true, Ordering::Relaxed);
        let _ = self.stop.send(true);
    }
}

impl Drop for Devnet {
    fn drop(&mut self) {
        self.signal_stop();
    }
}

/// Longest time between two unconfirmed transactions where blocks are mined at intervals.
const TRAFFIC_INTERVAL_MAX: Duration = Duration::from_secs(2);
/// Unconfirmed transactions between two blocks, unless the interval would exceed the maximum.
const TRAFFIC_PER_BLOCK: u32 = 8;

/// Mines a block at every interval and lets the traders trade for the next one, with unconfirmed payments in between.
async fn trade(node: Arc<Node>, traders: Arc<Mutex<Traders>>, interval: Duration, mut stop: watch::Receiver<bool>) {
    let every = (interval / TRAFFIC_PER_BLOCK).min(TRAFFIC_INTERVAL_MAX);
    let mut next_block = tokio::time::Instant::now() + interval;
    loop {
        let next = next_block.min(tokio::time::Instant::now() + every);
        tokio::select! {
            () = tokio::time::sleep_until(next) => {}
            _ = stop.wait_for(|stop| *stop) => return,
        }
        let is_block = next == next_block;
        let (node, traders) = (Arc::clone(&node), Arc::clone(&traders));
        let work = tokio::task::spawn_blocking(move || {
            let mut traders = traders.lock();
            if is_block { traders.round(&node) } else { Ok(traders.traffic.step(&node)?) }
        });
        match work.await {
            Ok(Ok(())) => {}
            // Manual changes to the chain can conflict with the traders; the next round starts from the state then.
            Ok(Err(error)) => tracing::warn!(%error, "the traders could not trade"),
            Err(_) => return,
        }
        if is_block {
            next_block = tokio::time::Instant::now() + interval;
        }
    }
}

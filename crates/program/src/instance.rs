//! What `serve`, `index` and `dev` share: the store, the node client and the thread that indexes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use paraffin_access::{AccessError, DatabaseKeyStore, KeyStore as _};
use paraffin_bitcoin_index::{ADDRESSES_SCHEMA, AddressModule, BitcoinModule, RawTransactions, SCHEMA};
use paraffin_chain::{Follower, FollowerOptions, NodeClient, NodeError};
use paraffin_forex::{ForexError, ForexFeed};
use paraffin_gateway::{
    ChainState, Gateway, GatewayConfig, GatewayError, GatewayParts, IndexingStatus, Metrics, ShadowState, WebhooksParts,
};
use paraffin_indexer::{FollowOptions, IndexState, IndexStatus, Indexer, IndexerError, IndexerOptions, follow};
use paraffin_mempool::Mempool;
use paraffin_orderbook::{JournalError, Orderbook};
use paraffin_otlp::{ExportError, Exporter};
use paraffin_prices::{PriceFeed, PricesError};
use paraffin_primitives::Network;
use paraffin_spans::Tracer;
use paraffin_store::{
    MemorySplit, Module, ModuleError, ModuleSchema, ReadCounts, Snapshot, Store, StoreError, StoreOptions,
};
use paraffin_verify::Verifier;
use paraffin_webhooks::WebhookStore;
use tokio::sync::watch;

use crate::config::{Config, RawTransactionsSetting};
use crate::console::Console;
use crate::contracts::{Contracts, ContractsError};
use crate::control::Control;
use crate::disk_need::DiskNeed;
use crate::hosted::Shadow;
use crate::memory::MemorySection;
use crate::mempool::LiveSet;
use crate::program::{KeyedSources, Program};
use crate::rows_file::Origin;
use crate::{accounts, forex, log, markets, orderbook, prices, scripts, verify};

/// How often the tables of webhooks are opened before the instance starts without them.
const WEBHOOK_OPENS_MAX: u32 = 3;

/// An instance cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InstanceError {
    /// The users of the console cannot be opened.
    #[error(transparent)]
    Users(#[from] paraffin_users::UsersError),
    /// The state of the indexer program cannot be read.
    #[error(transparent)]
    Hosted(#[from] paraffin_hosted::ReadError),
    /// A gateway without a store was to have one.
    #[error("the configuration has [upstream]: this is a gateway without a store, and only `serve` runs it")]
    NoStore,
    /// The program cannot find itself, to start processes for scripts.
    #[error("the path of this program is unknown, so scripts cannot run ([lua] enabled = false goes without): {0}")]
    Scripts(std::io::Error),
    /// The data folder cannot be used.
    #[error("the data folder {folder}: {source}")]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The I/O error.
        source: std::io::Error,
    },
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A module refuses the store's settings.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// The built-in contracts or the indexer program cannot be had.
    #[error(transparent)]
    Contracts(#[from] ContractsError),
    /// The bitcoin price cannot be read.
    #[error(transparent)]
    Prices(#[from] PricesError),
    /// The rates between currencies cannot be read as configured.
    #[error(transparent)]
    Forex(#[from] ForexError),
    /// The orderbook cannot be rebuilt.
    #[error("the orderbook: {0}")]
    Orderbook(#[from] JournalError),
    /// The records of verification cannot be opened.
    #[error(transparent)]
    Verify(#[from] paraffin_verify::OpenError),
    /// The key store refused.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The node's address or credentials cannot be used.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// The gateway cannot start.
    #[error(transparent)]
    Gateway(#[from] GatewayError),
    /// Spans cannot be exported.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// Indexing stopped.
    #[error(transparent)]
    Indexer(#[from] IndexerError),
    /// The indexing thread ended without a result.
    #[error("the indexing thread ended unexpectedly")]
    ThreadEnded,
}

/// File of the accounts in a data folder.
pub(crate) fn accounts_file(data_dir: &Path) -> PathBuf {
    data_dir.join("accounts.sqlite")
}

/// What modules are made from.
struct ModuleSources<'a> {
    config: &'a Config,
    contracts: Option<&'a Contracts>,
    store: &'a Store,
}

/// A module of the index: its schema, whether the configuration asks for it, and how it is made (`None` without the contracts that
/// it needs).
type IndexModule = (ModuleSchema, fn(&Config) -> bool, fn(&ModuleSources<'_>) -> Option<Box<dyn Module>>);

/// All modules, in the order in which they see a block. A new module is one line here.
const MODULES: &[IndexModule] = &[
    (SCHEMA, |_| true, |from| Some(Box::new(bitcoin_module(from)))),
    (ADDRESSES_SCHEMA, Config::address_search, |from| Some(Box::new(AddressModule::new(from.config.network)))),
    (paraffin_hosted::SCHEMA, Config::runs_program, |from| Some(Box::new(from.contracts?.hosted_module()?))),
    (paraffin_alkanes::SCHEMA, Config::indexes_alkanes, |from| Some(Box::new(from.contracts?.module(from.store)))),
    (paraffin_amm::SCHEMA, Config::indexes_alkanes, |_| Some(Box::new(markets::module()))),
    (paraffin_cryptoswap::SCHEMA, Config::indexes_alkanes, |from| {
        Some(Box::new(from.config.pools.module(from.contracts?.probe())))
    }),
    (
        paraffin_ordinals_index::SCHEMA,
        |config| config.ordinals.enabled,
        |from| Some(Box::new(from.config.ordinals.module(from.config.network))),
    ),
];

/// The modules that the configuration asks for.
pub(crate) fn modules(config: &Config, contracts: Option<&Contracts>, store: &Store) -> Vec<Box<dyn Module>> {
    let from = ModuleSources { config, contracts, store };
    let indexed = MODULES.iter().filter(|(_, is_indexed, _)| is_indexed(config));
    indexed.filter_map(|(_, _, make)| make(&from)).collect()
}

/// Their schemas.
pub(crate) fn schemas(config: &Config) -> Vec<ModuleSchema> {
    MODULES.iter().filter(|(_, is_indexed, _)| is_indexed(config)).map(|(schema, ..)| *schema).collect()
}

fn bitcoin_module(from: &ModuleSources<'_>) -> BitcoinModule {
    let memory = usize::try_from(from.store.memory().modules).unwrap_or(usize::MAX);
    BitcoinModule::new(raw_transactions(from.config.raw_transactions())).with_memory(memory)
}

/// The endpoints beside the accounts, where webhooks are on. Without their tables everything else is served all the same.
async fn webhooks(config: &Config) -> Option<WebhooksParts> {
    if !config.webhooks.enabled {
        return None;
    }
    let place = accounts::place(&config.access, &config.data_dir());
    for attempt in 1..=WEBHOOK_OPENS_MAX {
        match WebhookStore::open(&place).await {
            Ok(store) => return Some(WebhooksParts { store, settings: config.webhooks.clone() }),
            Err(error) if attempt == WEBHOOK_OPENS_MAX => {
                tracing::error!(%error, "webhooks are off until the next start: nothing is delivered, and nothing of it is lost");
            }
            Err(error) => {
                tracing::warn!(%error, "the endpoints of webhooks could not be opened: once more in a second");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
    None
}

const fn raw_transactions(setting: RawTransactionsSetting) -> RawTransactions {
    match setting {
        RawTransactionsSetting::Node => RawTransactions::Node,
        RawTransactionsSetting::Store => RawTransactions::Store,
    }
}

/// The settings of the store.
pub(crate) fn store_options(config: &Config) -> StoreOptions {
    StoreOptions {
        network: config.network,
        undo_blocks: config.undo_blocks(),
        memory_bytes: config.index.memory_mib << 20,
    }
}

/// Starts to export spans, where the configuration asks for it.
///
/// # Errors
/// A setting is wrong.
pub(crate) fn start_exporter(config: &Config) -> Result<Option<Exporter>, ExportError> {
    Exporter::start(&config.tracing, env!("CARGO_PKG_VERSION"))
}

/// Opens the store of an instance.
///
/// # Errors
/// The folder cannot be created, or the store refuses.
pub(crate) fn open_store(config: &Config) -> Result<Store, InstanceError> {
    if config.upstream.is_used() {
        return Err(InstanceError::NoStore);
    }
    let folder = config.data_dir();
    create_folder(&folder)?;
    let store = Store::open(&folder.join("store"), &store_options(config), &schemas(config))?;
    check_settings(config, &store.snapshot())?;
    Ok(store)
}

/// Compares the settings that are fixed when a store is created with the configuration.
///
/// # Errors
/// They differ, or the store cannot be read.
pub(crate) fn check_settings(config: &Config, snapshot: &Snapshot) -> Result<(), InstanceError> {
    BitcoinModule::new(raw_transactions(config.raw_transactions())).check_settings(snapshot)?;
    if config.ordinals.enabled {
        config.ordinals.module(config.network).check_settings(snapshot)?;
    }
    Ok(())
}

/// Creates the data folder, for the user of this process alone; one that exists stays as it is.
///
/// # Errors
/// The system refuses.
pub(crate) fn create_folder(folder: &Path) -> Result<(), InstanceError> {
    use std::os::unix::fs::DirBuilderExt as _;
    let created = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    created.map_err(|source| InstanceError::Folder { folder: folder.to_owned(), source })
}

/// The limits of the indexer.
pub(crate) fn indexer_options(config: &Config, store: &Store) -> IndexerOptions {
    let memory = store.memory();
    let run_bytes = config.index.import_kib.map_or(memory.run, |kib| (kib << 10).min(memory.run));
    IndexerOptions {
        commit_bytes: (config.index.commit_kib << 10).clamp(1, memory.pending.max(1)),
        commit_interval: Duration::from_secs(2),
        run_bytes: (run_bytes > 0).then_some(run_bytes),
        ..IndexerOptions::default()
    }
}

/// What the index of the `blocks` blocks of a chain of `chain_bytes` will take on the disk.
pub(crate) fn disk_need(config: &Config, chain_bytes: u64, blocks: u32) -> DiskNeed {
    let run = MemorySplit::of(config.index.memory_mib << 20).map_or(0, |split| split.run);
    let run = config.index.import_kib.map_or(run, |kib| (kib << 10).min(run));
    DiskNeed::of(
        chain_bytes,
        blocks,
        config.undo_blocks(),
        config.raw_transactions(),
        run,
        config.ordinals.disk(config.network),
    )
}

/// The indexing thread of an instance.
pub(crate) struct Indexing {
    status: watch::Receiver<IndexStatus>,
    stop: watch::Sender<bool>,
    thread: JoinHandle<Result<(), IndexerError>>,
}

impl Indexing {
    /// Starts to follow `client`'s node into `store`.
    ///
    /// # Errors
    /// The store has a writer already, or the system gives no thread.
    pub(crate) fn start(
        config: &Config,
        contracts: Option<&Contracts>,
        store: &Store,
        client: &NodeClient,
        options: FollowOptions,
        tracer: Option<Tracer>,
    ) -> Result<Self, InstanceError> {
        let indexer = Indexer::new(store.clone(), modules(config, contracts, store), indexer_options(config, store))?;
        let mut indexer = indexer.with_tracer(tracer);
        let follower_options =
            FollowerOptions { prefetch: config.index.prefetch_blocks, spent_outputs: true, poll: config.poll() };
        let mut follower = Follower::new(client.clone(), follower_options);
        let client = client.clone();
        let (status_sender, status) = watch::channel(IndexStatus::starting());
        let (stop, stop_receiver) = watch::channel(false);
        let runtime = tokio::runtime::Handle::current();
        let thread = std::thread::Builder::new()
            .name("indexer".to_owned())
            .spawn(move || {
                let caught_up = catch_up(&mut indexer, &client, &runtime, &status_sender, &stop_receiver);
                if let Err(error) = caught_up {
                    tracing::error!(%error, "indexing has stopped; reads go on");
                    status_sender
                        .send_modify(|status| status.state = IndexState::Stopped { reason: error.to_string() });
                    return Err(error);
                }
                follow(&mut indexer, &mut follower, options, &runtime, &status_sender, stop_receiver)
            })
            .map_err(|source| InstanceError::Folder { folder: config.data_dir(), source })?;
        Ok(Self { status, stop, thread })
    }

    /// Status of the index.
    pub(crate) fn status(&self) -> watch::Receiver<IndexStatus> {
        self.status.clone()
    }

    /// Asks the thread to end and waits for it.
    ///
    /// # Errors
    /// Indexing had stopped before with this error.
    pub(crate) async fn stop(self) -> Result<(), InstanceError> {
        self.stop.send_replace(true);
        self.ended().await
    }

    /// Waits until the thread ends by itself.
    ///
    /// # Errors
    /// Indexing stopped with this error.
    pub(crate) async fn ended(self) -> Result<(), InstanceError> {
        let thread = self.thread;
        match tokio::task::spawn_blocking(move || thread.join()).await {
            Ok(Ok(result)) => Ok(result?),
            _ => Err(InstanceError::ThreadEnded),
        }
    }
}

/// Hands blocks that the index has to modules that have not seen them, until all modules are level.
///
/// # Errors
/// The store or a module refused. While the node is away it is asked again.
pub(crate) fn catch_up(
    indexer: &mut Indexer,
    client: &NodeClient,
    runtime: &tokio::runtime::Handle,
    status: &watch::Sender<IndexStatus>,
    stop: &watch::Receiver<bool>,
) -> Result<(), IndexerError> {
    /// Time between two tries while the node is away.
    const RETRY: Duration = Duration::from_secs(2);
    while let Some((module, id)) = indexer.next_missing()? {
        if *stop.borrow() {
            break;
        }
        match runtime.block_on(client.connected_block(id)) {
            Ok(block) => {
                indexer.catch_up(module, &block)?;
                status.send_modify(|status| {
                    status.state = IndexState::Importing;
                    status.blocks_applied += 1;
                    status.bytes_applied += u64::from(block.size);
                });
            }
            Err(error) if error.is_retryable() => {
                tracing::warn!(%error, block = %id, "waiting for the node");
                let mut stop = stop.clone();
                runtime.block_on(async {
                    let _ = tokio::time::timeout(RETRY, stop.wait_for(|stopped| *stopped)).await;
                });
            }
            Err(error) => return Err(error.into()),
        }
    }
    indexer.commit()
}

/// The chain of an instance as the gateway sees it.
struct InstanceChain {
    network: Network,
    store: Store,
    status: watch::Receiver<IndexStatus>,
    shadow: Option<Shadow>,
}

impl ChainState for InstanceChain {
    fn shadow(&self) -> Option<ShadowState> {
        self.shadow.as_ref().map(Shadow::state)
    }

    fn network(&self) -> Network {
        self.network
    }

    fn snapshot(&self) -> Snapshot {
        self.store.snapshot()
    }

    fn store_reads(&self) -> Option<ReadCounts> {
        Some(self.store.reads())
    }

    fn indexing(&self) -> IndexingStatus {
        let status = self.status.borrow();
        match status.state {
            IndexState::Starting => IndexingStatus::Starting,
            IndexState::Synced => IndexingStatus::Synced,
            IndexState::Stopped { .. } => IndexingStatus::Stopped,
            IndexState::Importing => {
                let height = status.tip.map_or(0, |tip| tip.height);
                IndexingStatus::Importing { blocks_left: status.target_height.unwrap_or(height).saturating_sub(height) }
            }
        }
    }
}

/// A complete instance: store, keys, node client, indexing thread and gateway.
pub(crate) struct Instance {
    store: Store,
    keys: Arc<DatabaseKeyStore>,
    console: Option<Console>,
    control: Option<Control>,
    indexing: Indexing,
    prices: Option<PriceFeed>,
    forex: ForexFeed,
    live: Option<LiveSet>,
    orderbook: Option<Arc<Orderbook>>,
    verifier: Option<Arc<Verifier>>,
    exporter: Option<Exporter>,
    gateway: Gateway,
}

impl Instance {
    /// Opens everything, starts indexing and listens. Requests are answered once [`Instance::serve`] runs.
    ///
    /// # Errors
    /// See [`InstanceError`].
    pub(crate) async fn start(
        config: &Config,
        gateway: GatewayConfig,
        program: &Program,
    ) -> Result<Self, InstanceError> {
        let contracts = Contracts::of(config)?;
        let store = open_store(config)?;
        if let Some(contracts) = &contracts {
            contracts.warn_of_unknown_keys(&store)?;
        }
        let keys = Arc::new(accounts::open(config).await?);
        let console = Console::open(config).await?;
        let client = NodeClient::new(config.node_config())?;
        let exporter = start_exporter(config)?;
        let tracer = exporter.as_ref().map(Exporter::tracer);
        let options = FollowOptions::default();
        let indexing = Indexing::start(config, contracts.as_ref(), &store, &client, options, tracer.clone())?;
        let prices = prices::start(&config.prices, &config.data_dir())?;
        let forex = forex::start(&config.forex, config.network, &config.data_dir())?;
        let pools = contracts.as_ref().map(|_| config.pools.rules());
        let live = LiveSet::start(&config.mempool, config.network, &store, &client);
        let orderbook = orderbook::open(&config.orderbook, config.network, &config.data_dir()).await?;
        let verifier = verify::open(config, contracts.is_some()).await?;
        let chain = InstanceChain {
            network: config.network,
            store: store.clone(),
            status: indexing.status(),
            shadow: contracts.as_ref().and_then(Contracts::shadow),
        };
        let metrics = Metrics::default();
        MemorySection::measure(config, &metrics);
        let parts = GatewayParts {
            chain: Arc::new(chain),
            node: Arc::new(client),
            alkanes: contracts.as_ref().map(Contracts::parts),
            hosted: contracts.as_ref().and_then(|contracts| contracts.hosted_views(&gateway.limits)),
            markets: contracts.as_ref().map(|_| config.markets.parts(config.pools.known())),
            prices: prices::source(config, prices.as_ref(), &store, pools.as_ref(), markets::WRAPPED_BITCOIN),
            mempool: live.as_ref().filter(|_| config.mempool.esplora).map(|live| Arc::clone(live.mempool())),
            surfaces: program.surfaces,
            electrum: live.as_ref().map(|live| (program.electrum)(config.electrum.clone(), Arc::clone(live.mempool()))),
            webhooks: webhooks(config).await,
            families: config.ordinals.families().map_err(GatewayError::Config)?,
            upstreams: None,
            scripts: scripts::parts(&config.lua, &keys).map_err(InstanceError::Scripts)?,
            keys: Arc::clone(&keys) as Arc<dyn paraffin_access::KeyStore>,
            windows: Arc::clone(&keys) as Arc<dyn paraffin_access::Windows>,
            plans: config.plans.clone(),
            access: config.access.clone(),
            keyed: (program.keyed)(KeyedSources {
                forex: forex.board(),
                pools: config.pools.rules(),
                electrum: config.electrum.websocket,
                mempool: live.as_ref().map(|live| Arc::clone(live.mempool())),
                orderbook: orderbook.clone(),
                verifier: verifier.clone(),
            }),
            site: console.as_ref().map(|console| console.site(config, &keys)),
            metrics,
            access_log: log::of_requests(),
            tracer,
        };
        let gateway = Gateway::bind(gateway, parts).await?;
        let control = Control::start(
            &config.data_dir(),
            Origin { store: store.clone(), network: config.network, version: program.version },
        );
        Ok(Self {
            store,
            keys,
            console,
            control,
            indexing,
            prices,
            forex,
            live,
            orderbook,
            verifier,
            exporter,
            gateway,
        })
    }

    /// The store, for reads.
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// The keys.
    pub(crate) fn keys(&self) -> &DatabaseKeyStore {
        &self.keys
    }

    /// The console, where it is served.
    pub(crate) fn console(&self) -> Option<&Console> {
        self.console.as_ref()
    }

    /// The book of orders, where there is one.
    pub(crate) fn orderbook(&self) -> Option<&Arc<Orderbook>> {
        self.orderbook.as_ref()
    }

    /// The live set of unconfirmed transactions, where there is one.
    pub(crate) fn mempool(&self) -> Option<&Arc<Mempool>> {
        self.live.as_ref().map(LiveSet::mempool)
    }

    /// The gateway, for its addresses.
    pub(crate) fn gateway(&self) -> &Gateway {
        &self.gateway
    }

    /// Status of the index.
    pub(crate) fn status(&self) -> watch::Receiver<IndexStatus> {
        self.indexing.status()
    }

    /// Answers requests until `shutdown`, then stops everything in order.
    ///
    /// # Errors
    /// What had stopped the indexing, or what failed while stopping.
    pub(crate) async fn serve(self, shutdown: impl Future<Output = ()> + Send + 'static) -> Result<(), InstanceError> {
        self.serve_until(shutdown, std::future::pending()).await
    }

    /// As [`Instance::serve`], but goes on for `[gateway] drain_seconds` after `leave`, unless `stop` ends before.
    ///
    /// # Errors
    /// As [`Instance::serve`].
    pub(crate) async fn serve_until(
        self,
        leave: impl Future<Output = ()> + Send + 'static,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), InstanceError> {
        self.gateway.serve_until(leave, stop).await;
        if let Some(control) = self.control {
            control.stop().await;
        }
        if let Some(prices) = self.prices {
            prices.stop().await;
        }
        self.forex.stop().await;
        if let Some(live) = self.live {
            live.stop().await;
        }
        if let Some(orderbook) = self.orderbook {
            orderbook::close(orderbook).await;
        }
        if let Some(verifier) = self.verifier {
            verifier.close().await;
        }
        let indexed = self.indexing.stop().await;
        flush(&self.store).await;
        if let Some(console) = &self.console {
            console.users.close().await;
        }
        if let Some(exporter) = self.exporter {
            exporter.close().await;
        }
        self.keys.close().await?;
        indexed
    }
}

/// Writes what the journal holds into tables, so that the next start need not read it back. A failure costs that time and
/// nothing else.
pub(crate) async fn flush(store: &Store) {
    let store = store.clone();
    match tokio::task::spawn_blocking(move || store.flush()).await {
        Ok(Ok(())) | Err(_) => {}
        Ok(Err(error)) => tracing::warn!(%error, "the store could not be flushed"),
    }
}

/// Waits for `SIGTERM` or `SIGINT`.
///
/// # Errors
/// The system gives no signal handler.
pub(crate) fn shutdown_signal() -> std::io::Result<impl Future<Output = ()> + Send + 'static> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

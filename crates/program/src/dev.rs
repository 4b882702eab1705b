//! `paraffin dev`: the whole platform on its own regtest chain, in one process.

mod chain_file;
mod manifest;
mod orders;
mod rates;

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use paraffin_access::{AccessError, ApiKey, DatabaseKeyStore, KeyStore, NewAlias, NewKey, Plan, Plans};
use paraffin_devnet::evm::{EvmEndpoint, EvmOptions};
use paraffin_devnet::{Devnet, DevnetError, DevnetOptions};
use paraffin_electrum::ElectrumSettings;
use paraffin_gateway::{AccessConfig, GatewayConfig};
use paraffin_indexer::IndexState;
use paraffin_primitives::{BlockId, Network};
use paraffin_site::ExplorerAccess;
use paraffin_webhooks::WebhookSettings;
use tempfile::TempDir;

use crate::command_line::DevArguments;
use crate::config::{Config, IndexSection, LogSection, NodeSection};
use crate::console::{Console, ConsoleSection};
use crate::contracts::AlkanesSection;
use crate::instance::{Instance, InstanceError, create_folder, shutdown_signal};
use crate::keys::now;
use crate::markets::MarketsSection;
use crate::memory::MemorySection;
use crate::mempool::MempoolSection;
use crate::orderbook::OrderbookSection;
use crate::ordinals::OrdinalsSection;
use crate::pools::PoolsSection;
use crate::prices::PricesSection;
use crate::program::Program;
use crate::upstream::UpstreamSection;
use crate::verify::VerifySection;
use chain_file::ChainFile;
use manifest::{DevConsole, DevKeys, Manifest, ManifestError, WaysIn};
use orders::Orders;
use rates::Rates;

/// Longest time for the index to take in the chain before the start counts as failed.
const READY_TIMEOUT: Duration = Duration::from_secs(120);
/// Addresses used by the index for nothing but development need little memory.
const STORE_MEMORY_MIB: u64 = 256;
/// The alias that `dev` makes, for the account of the business key.
const ALIAS: &str = "dev-app";
/// The origin that `dev` registers, for the same account.
const ORIGIN: &str = "http://localhost:3000";

/// `dev` cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DevError {
    /// The temporary folder cannot be made.
    #[error("a temporary folder cannot be made: {0}")]
    Temporary(std::io::Error),
    /// Leftovers of an earlier run cannot be removed.
    #[error("{path} cannot be removed: {source}")]
    Remove {
        /// Path of the leftovers.
        path: PathBuf,
        /// The I/O error.
        source: std::io::Error,
    },
    /// The folder holds another chain.
    #[error(
        "{folder} holds the chain of --seed {seed} --blocks {blocks}: use these, another folder, or --fresh to start anew"
    )]
    OtherChain {
        /// The folder.
        folder: PathBuf,
        /// Seed of the chain in the folder.
        seed: u64,
        /// Blocks of its scenario.
        blocks: u32,
    },
    /// dev.json.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The file of blocks.
    #[error(transparent)]
    Chain(#[from] chain_file::ChainFileError),
    /// The feed of rates.
    #[error("the feed of rates cannot be written: {0}")]
    Rates(std::io::Error),
    /// The node cannot start.
    #[error(transparent)]
    Devnet(#[from] DevnetError),
    /// The platform cannot start.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// The keys cannot be made.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The owner of the console cannot be made.
    #[error(transparent)]
    Users(#[from] paraffin_users::UsersError),
    /// Indexing stopped or takes too long.
    #[error("the index did not reach the tip of the chain: {0}")]
    NotReady(String),
    /// The file with the section of verification.
    #[error(transparent)]
    Verify(#[from] crate::config::ConfigError),
    /// No signal handler.
    #[error("no signal handler: {0}")]
    Signal(std::io::Error),
}

/// Runs until `SIGTERM` or `SIGINT`.
///
/// # Errors
/// See [`DevError`].
pub(crate) async fn run(arguments: DevArguments, program: &Program) -> Result<(), DevError> {
    let shutdown = shutdown_signal().map_err(DevError::Signal)?;
    let temporary = match &arguments.data_dir {
        Some(_) => None,
        None => Some(tempfile::Builder::new().prefix("paraffin-dev-").tempdir().map_err(DevError::Temporary)?),
    };
    let folder = match (&arguments.data_dir, &temporary) {
        (Some(folder), _) => folder.clone(),
        (None, Some(temporary)) => temporary.path().to_owned(),
        (None, None) => PathBuf::from("."),
    };
    create_folder(&folder)?;
    if arguments.fresh {
        remove_leftovers(&folder)?;
    }
    let earlier = Manifest::read(&folder)?;
    check_same_chain(&folder, earlier.as_ref(), &arguments)?;

    let verify = VerifySection::of_dev(arguments.verify_config.as_deref())?;
    eprintln!("making {} blocks from seed {} …", arguments.blocks, arguments.seed);
    let devnet = Devnet::start(DevnetOptions {
        seed: arguments.seed,
        blocks: arguments.blocks,
        interval: (arguments.interval > 0).then(|| Duration::from_secs(arguments.interval)),
        ..DevnetOptions::default()
    })
    .await?;
    let chain_file = ChainFile::attach(&folder, &devnet)?;
    let evm = EvmEndpoint::start(EvmOptions::new(arguments.seed, crate::prices::clock())).await?;
    let goes_on = arguments.interval > 0;
    let rates = Rates::start(&folder, arguments.seed, goes_on).map_err(DevError::Rates)?;
    let config = config(&folder, &devnet, &evm, &arguments, verify);
    let instance = Instance::start(&config, config.gateway.clone(), program).await?;
    let (earlier_keys, earlier_console) = earlier.map(|manifest| (manifest.keys, manifest.console)).unzip();
    let keys = keys(instance.keys(), earlier_keys).await?;
    let ways_in = ways_in(instance.keys(), &keys).await?;
    let orders = Orders::start(instance.orderbook().cloned(), &devnet, arguments.seed, goes_on).await;
    let tip = wait_until_indexed(&instance, &devnet).await?;
    send_unconfirmed(&instance, &devnet, tip).await;

    let console = owner(instance.console(), earlier_console.flatten()).await?;
    let base_url = format!("http://{}", instance.gateway().local_addr());
    let electrum = instance.gateway().electrum_addr();
    let manifest = Manifest::describe(&base_url, &devnet, tip, &arguments, keys, ways_in)
        .with_order(orders.example.clone())
        .with_console(console)
        .with_electrum(electrum);
    let serving = tokio::spawn(instance.serve(shutdown));
    manifest.write(&folder)?;
    manifest.print(&folder);
    println!("ready");

    let served = serving.await.map_err(|_| InstanceError::ThreadEnded)?;
    orders.stop();
    rates.stop();
    chain_file.close().await;
    devnet.shutdown().await;
    evm.shutdown().await;
    served?;
    if let Some(temporary) = temporary {
        remove(temporary).await;
    }
    Ok(())
}

/// Removes the temporary folder. Threads of the store that are about to end may still write into it, so it is looked at again.
async fn remove(temporary: TempDir) {
    const TRIES: u32 = 50;
    let folder = temporary.keep();
    for _ in 0..TRIES {
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
            Ok(()) | Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
    eprintln!("{} is left: it cannot be removed", folder.display());
}

/// What earlier runs left in the folder, and nothing else.
fn remove_leftovers(folder: &Path) -> Result<(), DevError> {
    const NAMES: [&str; 12] = [
        "dev.json",
        chain_file::NAME,
        "accounts.sqlite",
        "accounts.sqlite-wal",
        "accounts.sqlite-shm",
        "store",
        crate::prices::FOLDER,
        crate::orderbook::FOLDER,
        crate::forex::FOLDER,
        rates::FILE,
        crate::verify::FOLDER,
        crate::control::NAME,
    ];
    for name in NAMES {
        let path = folder.join(name);
        let removed = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        match removed {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                return Err(DevError::Remove { path, source });
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_same_chain(folder: &Path, earlier: Option<&Manifest>, arguments: &DevArguments) -> Result<(), DevError> {
    match earlier {
        Some(earlier) if earlier.seed != arguments.seed || earlier.blocks != arguments.blocks => {
            Err(DevError::OtherChain { folder: folder.to_owned(), seed: earlier.seed, blocks: earlier.blocks })
        }
        _ => Ok(()),
    }
}

fn config(
    folder: &Path,
    devnet: &Devnet,
    evm: &EvmEndpoint,
    arguments: &DevArguments,
    verify: VerifySection,
) -> Config {
    Config {
        network: Network::Regtest,
        data_dir: Some(folder.to_owned()),
        node: NodeSection {
            url: devnet.rpc_url(),
            user: Some(devnet.user().to_owned()),
            password: Some(devnet.password().to_owned()),
            cookie_file: None,
            p2p: Some(devnet.p2p_addr()),
            timeout_seconds: 30,
        },
        upstream: UpstreamSection::default(),
        gateway: GatewayConfig {
            listen: arguments.listen,
            metrics_listen: arguments.metrics_listen,
            drain_seconds: 0,
            ..GatewayConfig::default()
        },
        access: AccessConfig::default(),
        plans: Plans::default(),
        console: ConsoleSection { explorer: ExplorerAccess::Open, ..ConsoleSection::default() },
        memory: MemorySection::default(),
        index: IndexSection { memory_mib: STORE_MEMORY_MIB, poll_milliseconds: Some(50), ..IndexSection::default() },
        alkanes: AlkanesSection::default(),
        markets: MarketsSection::default(),
        pools: PoolsSection::default(),
        prices: PricesSection::of_devnet(evm.url()),
        mempool: MempoolSection::default(),
        electrum: ElectrumSettings {
            listen: Some((Ipv4Addr::LOCALHOST, 0).into()),
            websocket: true,
            ..ElectrumSettings::default()
        },
        webhooks: WebhookSettings { allow_private: true, allow_http: true, ..WebhookSettings::default() },
        lua: paraffin_lua::LuaSettings::default(),
        forex: Rates::section(folder),
        orderbook: OrderbookSection::default(),
        ordinals: OrdinalsSection::default(),
        verify,
        log: LogSection::default(),
        tracing: paraffin_otlp::TracingSettings::default(),
    }
}

/// The owner of the console of an earlier run, or a new one with a password of its own.
async fn owner(console: Option<&Console>, earlier: Option<DevConsole>) -> Result<Option<DevConsole>, DevError> {
    let Some(console) = console else { return Ok(None) };
    let link = match (console.users.setup_link(now()).await?, earlier) {
        (Some(link), _) => link,
        (None, Some(earlier)) => return Ok(Some(earlier)),
        // An earlier run ended before it had written what the owner's password is.
        (None, None) => console.users.reset_owner(now()).await?,
    };
    let owner = DevConsole { name: "owner".to_owned(), password: link.token.reveal().chars().take(16).collect() };
    console.users.accept_link(&link.token, &owner.name, &owner.password, "dev", now()).await?;
    Ok(Some(owner))
}

/// The keys of an earlier run as long as they still work, else new ones.
async fn keys(store: &DatabaseKeyStore, earlier: Option<DevKeys>) -> Result<DevKeys, DevError> {
    if let Some(earlier) = earlier
        && all_active(store, &earlier).await?
    {
        return Ok(earlier);
    }
    Ok(DevKeys {
        free: create(store, "dev free", Plan::FREE, false, false).await?,
        pro: create(store, "dev pro", Plan::PRO, false, false).await?,
        business: create(store, "dev business", Plan::BUSINESS, false, true).await?,
        admin: create(store, "dev admin", Plan::BUSINESS, true, true).await?,
    })
}

async fn all_active(store: &DatabaseKeyStore, keys: &DevKeys) -> Result<bool, DevError> {
    for key in [&keys.free, &keys.pro, &keys.business, &keys.admin] {
        let Ok(key) = key.parse::<ApiKey>() else { return Ok(false) };
        if store.authenticate(&key, now()).await?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

async fn create(
    store: &DatabaseKeyStore,
    name: &str,
    plan: Plan,
    admin: bool,
    management: bool,
) -> Result<String, DevError> {
    let new = NewKey { admin, management, ..NewKey::on_plan(name, plan) };
    Ok(store.create(new, "dev", now()).await?.key.reveal())
}

/// The alias and the origin, of an earlier run or new.
async fn ways_in(store: &DatabaseKeyStore, keys: &DevKeys) -> Result<WaysIn, DevError> {
    let business: ApiKey = keys.business.parse().map_err(|_| AccessError::NoSuchKey)?;
    let account = store.authenticate(&business, now()).await?.ok_or(AccessError::NoSuchKey)?.account;
    if store.find_alias(ALIAS).await?.is_none() {
        store.create_alias(NewAlias::named(account, ALIAS), "dev", now()).await?;
    }
    if store.find_origin(ORIGIN).await?.is_none() {
        store.register_origin(account, ORIGIN.parse()?, true, "dev", now()).await?;
    }
    Ok(WaysIn { alias: ALIAS, origin: ORIGIN })
}

/// Sends a few unconfirmed transactions once the live set follows the node, so that its stream contains a replacement.
async fn send_unconfirmed(instance: &Instance, devnet: &Devnet, tip: BlockId) {
    /// Longest wait for the live set. After it the transactions are sent anyway.
    const PATIENCE: Duration = Duration::from_secs(5);
    let agreement = instance.mempool().map(|mempool| mempool.agreement());
    if let Some(agreement) = agreement {
        agreement.wait_at(tip.hash, PATIENCE).await;
    }
    let mut sent = devnet.send_unconfirmed().await;
    if let Some(agreement) = agreement {
        // What is replaced must have been seen before.
        agreement.refresh(PATIENCE).await;
    }
    if sent.is_ok() {
        sent = devnet.replace_unconfirmed().await;
    }
    if let Err(error) = sent {
        tracing::warn!(%error, "the unconfirmed transactions of development were not sent");
    }
}

/// Waits until the index equals the node's chain.
async fn wait_until_indexed(instance: &Instance, devnet: &Devnet) -> Result<BlockId, DevError> {
    let mut status = instance.status();
    let reached = async {
        loop {
            let now = status.borrow_and_update().clone();
            match (now.state, now.tip) {
                (IndexState::Stopped { reason }, _) => return Err(reason),
                (_, Some(tip)) if tip == devnet.tip() => return Ok(tip),
                _ => {}
            }
            if status.changed().await.is_err() {
                return Err("the indexing thread ended".to_owned());
            }
        }
    };
    match tokio::time::timeout(READY_TIMEOUT, reached).await {
        Ok(reached) => reached.map_err(DevError::NotReady),
        Err(_) => Err(DevError::NotReady(format!("not within {} s", READY_TIMEOUT.as_secs()))),
    }
}

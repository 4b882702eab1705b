//! `dev.json`: what scripts need to know about a running `dev`, and the summary for people.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use paraffin_devnet::{Devnet, market};
use paraffin_primitives::BlockId;
use serde::{Deserialize, Serialize};

use crate::command_line::DevArguments;

/// Name of the file.
const NAME: &str = "dev.json";

/// What the inscription shows that stands for all: it has a child.
const SAMPLE_INSCRIPTION: &str = "image";

/// dev.json cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ManifestError {
    /// I/O.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The I/O error.
        source: std::io::Error,
    },
    /// It is there but not ours.
    #[error("{path} is not the dev.json of an earlier run ({reason}): use another folder, or --fresh to start anew")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

/// The whole file. Members may be added, never taken away; what this build cannot fill is `null` or `[]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Manifest {
    network: String,
    base_url: String,
    explorer_url: String,
    console_url: Option<String>,
    /// Where wallets speak the Electrum protocol.
    #[serde(default)]
    electrum_url: Option<String>,
    height: u32,
    tip_hash: String,
    /// Seed of the chain.
    pub seed: u64,
    /// Blocks of the scenario.
    pub blocks: u32,
    node: DevNode,
    /// The keys.
    pub keys: DevKeys,
    /// Credentials for the console.
    #[serde(default)]
    pub console: Option<DevConsole>,
    alias: Option<String>,
    origin: Option<String>,
    accounts: Vec<DevAccount>,
    alkanes: DevAlkanes,
    samples: DevSamples,
}

/// Address and credentials of the node.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct DevNode {
    rpc_url: String,
    user: String,
    password: String,
    p2p_addr: String,
}

/// One key of each plan, and an admin key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DevKeys {
    /// Plan Free.
    pub free: String,
    /// Plan Pro.
    pub pro: String,
    /// Plan Business, with management access.
    pub business: String,
    /// Admin.
    pub admin: String,
}

/// The owner of the console.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DevConsole {
    /// Name to sign in with.
    pub name: String,
    /// Password to sign in with.
    pub password: String,
}

/// Credentials other than a key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaysIn {
    /// Segment of the path.
    pub alias: &'static str,
    /// `Origin` of a page.
    pub origin: &'static str,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct DevAccount {
    name: String,
    address: String,
    /// Script of the address, in hexadecimal digits.
    #[serde(default)]
    script: String,
    wif: String,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct DevAlkanes {
    diesel: Option<String>,
    frbtc: Option<String>,
    factory: Option<String>,
    pools: Vec<String>,
    usd: Option<String>,
    btcusd_pool: Option<String>,
    btcusd_impl: Option<String>,
    tokens: Vec<String>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct DevSamples {
    txid: Option<String>,
    block_hash: Option<String>,
    inscription_id: Option<String>,
    /// Ids by what each one shows.
    #[serde(default)]
    inscriptions: BTreeMap<String, String>,
    rune: Option<String>,
    brc20_ticker: Option<String>,
    unwrap_txid: Option<String>,
    order: Option<DevOrder>,
    market: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct DevOrder {
    source: String,
    id: String,
}

impl Manifest {
    /// What a run reports once `tip` is indexed.
    pub(crate) fn describe(
        base_url: &str,
        devnet: &Devnet,
        tip: BlockId,
        arguments: &DevArguments,
        keys: DevKeys,
        ways_in: WaysIn,
    ) -> Self {
        let accounts = devnet.accounts().into_iter();
        let inscriptions = devnet.inscribers().inscriptions.iter();
        let inscriptions: BTreeMap<String, String> =
            inscriptions.map(|(name, txid)| ((*name).to_owned(), format!("{txid}i0"))).collect();
        Self {
            network: "regtest".to_owned(),
            base_url: base_url.to_owned(),
            explorer_url: base_url.to_owned(),
            console_url: Some(format!("{base_url}/console")),
            electrum_url: None,
            console: None,
            height: tip.height,
            tip_hash: tip.hash.to_string(),
            seed: arguments.seed,
            blocks: arguments.blocks,
            node: DevNode {
                rpc_url: devnet.rpc_url(),
                user: devnet.user().to_owned(),
                password: devnet.password().to_owned(),
                p2p_addr: devnet.p2p_addr().to_string(),
            },
            keys,
            alias: Some(ways_in.alias.to_owned()),
            origin: Some(ways_in.origin.to_owned()),
            accounts: accounts
                .map(|account| DevAccount {
                    name: account.name,
                    script: account.address.script_pubkey().to_hex_string(),
                    address: account.address.to_string(),
                    wif: account.wif,
                })
                .collect(),
            alkanes: DevAlkanes {
                diesel: Some(market::DIESEL.to_string()),
                frbtc: Some(market::WRAPPED_BITCOIN.to_string()),
                factory: devnet.market().factory.map(|id| id.to_string()),
                pools: devnet.market().pools.iter().map(ToString::to_string).collect(),
                usd: devnet.market().usd_token.map(|id| id.to_string()),
                btcusd_pool: devnet.market().btc_usd_pool.map(|id| id.to_string()),
                btcusd_impl: devnet.market().btc_usd_pool.map(|_| market::BTC_USD_POOL_CODE.to_string()),
                tokens: devnet.market().tokens.iter().map(ToString::to_string).collect(),
            },
            samples: DevSamples {
                txid: devnet.sample_txid().map(|txid| txid.to_string()),
                block_hash: Some(tip.hash.to_string()),
                inscription_id: inscriptions.get(SAMPLE_INSCRIPTION).cloned(),
                inscriptions,
                rune: devnet.inscribers().rune.clone(),
                brc20_ticker: devnet.inscribers().ticker.map(str::to_owned),
                unwrap_txid: devnet.market().unwrap.map(|txid| txid.to_string()),
                ..DevSamples::default()
            },
        }
    }

    /// The same with an order that is active and its market.
    pub(crate) fn with_order(mut self, example: Option<(String, String, String)>) -> Self {
        if let Some((source, id, market)) = example {
            self.samples.order = Some(DevOrder { source, id });
            self.samples.market = Some(market);
        }
        self
    }

    /// The manifest with credentials for the console.
    pub(crate) fn with_console(self, console: Option<DevConsole>) -> Self {
        Self { console, ..self }
    }

    /// The same with where wallets speak the Electrum protocol.
    pub(crate) fn with_electrum(self, address: Option<SocketAddr>) -> Self {
        Self { electrum_url: address.map(|address| format!("tcp://{address}")), ..self }
    }

    /// The file of an earlier run, `None` when there is none.
    ///
    /// # Errors
    /// It cannot be read or is not ours.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>, ManifestError> {
        let path = folder.join(NAME);
        match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|error| ManifestError::Foreign { path, reason: error.to_string() }),
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(ManifestError::Io { path, source }),
        }
    }

    /// Writes the file in one step, readable by its owner only: it holds private keys.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), ManifestError> {
        let path = folder.join(NAME);
        let next = folder.join("dev.json.next");
        let written = serde_json::to_vec_pretty(self).map_err(std::io::Error::from).and_then(|text| {
            let mut file =
                std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&next)?;
            file.write_all(&text)?;
            file.write_all(b"\n")?;
            std::fs::rename(&next, &path)
        });
        written.map_err(|source| ManifestError::Io { path, source })
    }

    /// The summary for people, with lines to paste.
    pub(crate) fn print(&self, folder: &Path) {
        let base = &self.base_url;
        let key = &self.keys.pro;
        let node = &self.node;
        println!();
        println!("Paraffin dev: a regtest chain of {} blocks, indexed and served.", self.height);
        println!();
        println!("  API        {base}");
        if let (Some(url), Some(owner)) = (&self.console_url, &self.console) {
            println!("  explorer   {base}/explorer");
            println!("  console    {url}  (name {}, password {})", owner.name, owner.password);
        }
        println!("  keys       free {}  pro {}", self.keys.free, self.keys.pro);
        println!("             business {}  admin {}", self.keys.business, self.keys.admin);
        if let (Some(alias), Some(origin)) = (&self.alias, &self.origin) {
            println!("  alias      {base}/v4/{alias}  pages of {origin} at {base}/v4/api");
        }
        println!(
            "  node       {} (user {}, password {}), peers {}",
            node.rpc_url, node.user, node.password, node.p2p_addr
        );
        println!("  all of it  {}", folder.join(NAME).display());
        println!();
        println!("Paste:");
        println!();
        println!("  curl -s {base}/v4/api/health");
        println!("  curl -s {base}/v4/api/indexer/height");
        println!(
            "  curl -s {base}/v4/{key} -d '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"btc_getblockcount\",\"params\":[]}}'"
        );
        if let Some(account) = self.accounts.first() {
            let address = &account.address;
            println!(
                "  curl -s {base}/v4/{key} -d '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"esplora_address\",\"params\":[\"{address}\"]}}'"
            );
            println!("  curl -s {base}/v4/api/get-address-balance -d '{{\"address\":\"{address}\"}}'");
        }
        if let Some(txid) = &self.samples.txid {
            println!(
                "  curl -s {base}/v4/jsonrpc -d '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"esplora_tx\",\"params\":[\"{txid}\"]}}'"
            );
        }
        for (method, sample) in [("ord_inscription", &self.samples.inscription_id), ("ord_rune", &self.samples.rune)] {
            if let Some(sample) = sample {
                println!(
                    "  curl -s {base}/v4/{key} -d '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\",\"params\":[\"{sample}\"]}}'"
                );
            }
        }
        if let (Some(ticker), Some(account)) = (&self.samples.brc20_ticker, self.accounts.first()) {
            println!("  curl -s '{base}/v4/opi/v1/brc20/balance?ticker={ticker}&address={}'", account.address);
        }
        if let Some(account) = self.accounts.first() {
            println!(
                "  curl -s --user {}:{} {} -d '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"generatetoaddress\",\"params\":[1,\"{}\"]}}'",
                node.user, node.password, node.rpc_url, account.address
            );
        }
        println!();
    }
}

//! One running instance with its chain, node and keys.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bitcoin::{Block, OutPoint, Txid};
use paraffin_access::{CreatedKey, DatabaseKeyStore, KeyStore as _, NewKey, Plan, Plans, ThrottleSettings, Windows};
use paraffin_alkanes::NativeEngine;
use paraffin_bitcoin_index::RawTransactions;
use paraffin_gateway::{
    AccessConfig, AlkanesParts, ChainState, Families, Gateway, GatewayConfig, GatewayParts, IndexingStatus,
    KeyedHandler, LogWriter, Metrics, ScriptParts, ShadowState,
};
use paraffin_ordinals_index::OrdinalsOptions;
use paraffin_primitives::Network;
use paraffin_store::{Module, Snapshot, Store};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::chain::{COIN, Chain, payment, script_of, taproot};
use crate::client::{Response, request};
use crate::market_chain;
use crate::node::{TestNode, shared};

pub(crate) struct TestState {
    network: Network,
    store: Store,
    pub(crate) indexing: Mutex<IndexingStatus>,
    pub(crate) shadow: Mutex<Option<ShadowState>>,
}

impl ChainState for TestState {
    fn network(&self) -> Network {
        self.network
    }

    fn snapshot(&self) -> Snapshot {
        self.store.snapshot()
    }

    fn indexing(&self) -> IndexingStatus {
        *self.indexing.lock().unwrap()
    }

    fn shadow(&self) -> Option<ShadowState> {
        *self.shadow.lock().unwrap()
    }
}

/// Makes what runs scripts.
pub(crate) type MakeScripts = Box<dyn FnOnce(&DatabaseKeyStore) -> ScriptParts + Send>;

pub(crate) struct Setup {
    pub(crate) network: Network,
    pub(crate) raw: RawTransactions,
    pub(crate) config: GatewayConfig,
    pub(crate) access: AccessConfig,
    pub(crate) keyed: Vec<KeyedHandler>,
    pub(crate) empty_chain: bool,
    /// Serves the handler with nothing around it.
    pub(crate) alone: bool,
    /// The contract index.
    pub(crate) alkanes: Option<AlkanesParts>,
    /// A program that answers instead of the contract index.
    pub(crate) hosted: Option<Arc<dyn paraffin_gateway::HostedProgram>>,
    /// How inscriptions and runes are indexed, where they are.
    pub(crate) ordinals: Option<OrdinalsOptions>,
    /// These blocks instead of the small chain, with contracts and markets indexed ([`crate::market_chain`]).
    pub(crate) market: Option<Vec<Block>>,
    /// A module behind the others.
    pub(crate) last_module: Option<Box<dyn Module>>,
    /// The bitcoin price.
    pub(crate) prices: Option<Arc<dyn paraffin_prices::BitcoinPrices>>,
    /// The live set.
    pub(crate) mempool: Option<Arc<paraffin_mempool::Mempool>>,
    /// Servers that answer families instead of the index.
    pub(crate) families: Families,
    /// Scripts, saved in the key store.
    pub(crate) scripts: Option<MakeScripts>,
    /// Webhooks with these settings.
    pub(crate) webhooks: Option<paraffin_webhooks::WebhookSettings>,
    /// Where a line about each request goes.
    pub(crate) access_log: Option<LogWriter>,
    /// What records spans of requests.
    pub(crate) tracer: Option<paraffin_spans::Tracer>,
}

impl Default for Setup {
    fn default() -> Self {
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut config = GatewayConfig { listen, drain_seconds: 0, ..GatewayConfig::default() };
        config.metrics_listen = Some(config.listen);
        Self {
            network: Network::Regtest,
            raw: RawTransactions::Store,
            config,
            // Most tests are not about limits and send more than a client without a key may.
            access: AccessConfig {
                keyless: ThrottleSettings { burst: 100_000, ..ThrottleSettings::default() },
                ..AccessConfig::default()
            },
            keyed: Vec::new(),
            empty_chain: false,
            alone: false,
            alkanes: None,
            hosted: None,
            ordinals: None,
            market: None,
            last_module: None,
            prices: None,
            mempool: None,
            families: Families::default(),
            scripts: None,
            webhooks: None,
            access_log: None,
            tracer: None,
        }
    }
}

pub(crate) struct Instance {
    pub(crate) address: SocketAddr,
    pub(crate) metrics: SocketAddr,
    pub(crate) chain: Chain,
    pub(crate) node: Arc<TestNode>,
    pub(crate) state: Arc<TestState>,
    pub(crate) keys: DatabaseKeyStore,
    pub(crate) keys_path: std::path::PathBuf,
    pub(crate) key: CreatedKey,
    /// Two addresses: the first mined blocks 1 and 2, the second got a payment in block 3.
    pub(crate) miner: String,
    pub(crate) payee: String,
    /// The payment in block 3.
    pub(crate) payment: Txid,
    pub(crate) stop: Option<oneshot::Sender<()>>,
    pub(crate) served: Option<JoinHandle<()>>,
    _folder: tempfile::TempDir,
}

impl Instance {
    pub(crate) async fn start() -> Self {
        Self::with(Setup::default()).await
    }

    pub(crate) async fn with(mut setup: Setup) -> Self {
        let market = setup.market.take();
        if market.is_some() {
            setup.alkanes = Some(market_chain::alkanes_parts(setup.network));
        }
        let (miner, payee) = (taproot(setup.network, 0), taproot(setup.network, 1));
        let engine = setup.alkanes.as_ref().map(|parts| {
            let engine = NativeEngine::new(setup.network, Arc::clone(&parts.builtins), Arc::clone(&parts.codes));
            engine.with_parameters(parts.parameters)
        });
        let last = setup.last_module.take();
        let mut chain = Chain::new(setup.network, setup.raw, engine, market.is_some(), setup.ordinals, last);
        let mut paid = bitcoin::hashes::Hash::all_zeros();
        let markets = market.is_some().then(market_chain::markets_parts);
        if let Some(blocks) = market {
            for block in blocks {
                chain.add(block);
            }
        } else if !setup.empty_chain {
            let script = script_of(setup.network, &miner);
            chain.mine(script.clone(), vec![]);
            let first = chain.mine(script.clone(), vec![]);
            chain.mine(script.clone(), vec![]);
            let outputs = [(1_000_000, script_of(setup.network, &payee)), (COIN - 1_000_500, script.clone())];
            let transaction = payment(&[OutPoint { txid: first, vout: 0 }], &outputs);
            paid = transaction.compute_txid();
            chain.mine(script_of(setup.network, &taproot(setup.network, 2)), vec![transaction]);
        }
        let node = Arc::new(TestNode::default());
        for block in &chain.blocks {
            node.add_block(block);
        }
        let state = Arc::new(TestState {
            network: setup.network,
            store: chain.store.clone(),
            indexing: Mutex::new(IndexingStatus::Synced),
            shadow: Mutex::new(None),
        });
        let folder = tempfile::tempdir().unwrap();
        let keys_path = folder.path().join("access.sqlite");
        let keys = DatabaseKeyStore::open(&keys_path).await.unwrap();
        let key = keys.create(NewKey::on_plan("test", Plan::BUSINESS), "test", 0).await.unwrap();
        let webhooks = match setup.webhooks {
            Some(settings) => {
                let place = paraffin_access::DatabaseLocation::File(keys_path.clone());
                let store = paraffin_webhooks::WebhookStore::open(&place).await.unwrap();
                Some(paraffin_gateway::WebhooksParts { store, settings })
            }
            None => None,
        };
        let parts = GatewayParts {
            chain: Arc::clone(&state) as Arc<dyn ChainState>,
            node: shared(&node),
            alkanes: setup.alkanes,
            hosted: setup.hosted,
            markets,
            prices: setup.prices,
            mempool: setup.mempool,
            surfaces: &paraffin_surfaces::SURFACES,
            electrum: None,
            webhooks,
            families: setup.families,
            upstreams: None,
            scripts: setup.scripts.map(|parts| parts(&keys)),
            keys: Arc::new(keys.clone()),
            windows: Arc::new(keys.clone()) as Arc<dyn Windows>,
            plans: Plans::default(),
            access: setup.access,
            keyed: setup.keyed,
            site: None,
            metrics: Metrics::new(),
            access_log: setup.access_log,
            tracer: setup.tracer,
        };
        let gateway = Gateway::bind(setup.config, parts).await.unwrap();
        let (address, metrics) = (gateway.local_addr(), gateway.metrics_addr().unwrap());
        let (stop, stopped) = oneshot::channel();
        let served = tokio::spawn(async move {
            if setup.alone {
                return gateway.serve_handler_alone().await;
            }
            let stopped = async move {
                let _ = stopped.await;
            };
            gateway.serve(stopped).await;
        });
        Self {
            address,
            metrics,
            chain,
            node,
            state,
            keys,
            keys_path,
            key,
            miner,
            payee,
            payment: paid,
            stop: Some(stop),
            served: Some(served),
            _folder: folder,
        }
    }

    /// Adds a block of these transactions, which the node then has as well; answers the id of the first.
    pub(crate) fn mine(&mut self, transactions: Vec<bitcoin::Transaction>) -> Txid {
        let first = transactions[0].compute_txid();
        self.chain.mine(script_of(self.chain.network, &taproot(self.chain.network, 2)), transactions);
        self.node.add_block(self.chain.blocks.last().unwrap());
        first
    }

    /// `/v4/<KEY>` and what follows.
    pub(crate) fn keyed(&self, below: &str) -> String {
        format!("/v4/{}{below}", self.key.key.reveal())
    }

    pub(crate) async fn post(&self, path: &str, body: impl AsRef<[u8]>) -> Response {
        request(self.address, "POST", path, &[], body.as_ref()).await
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        request(self.address, "GET", path, &[], b"").await
    }

    pub(crate) async fn send(&self, verb: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
        request(self.address, verb, path, headers, body.as_bytes()).await
    }

    /// One call of the main JSON-RPC with the key in the path.
    pub(crate) async fn call(&self, method: &str, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let response = self.post(&self.keyed(""), body).await;
        assert_eq!(response.status, 200, "{}", response.text());
        response.json()
    }

    pub(crate) async fn result(&self, method: &str, params: Value) -> Value {
        let answer = self.call(method, params).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    pub(crate) async fn error(&self, method: &str, params: Value) -> (i64, String) {
        let answer = self.call(method, params).await;
        let error = &answer["error"];
        (
            error["code"].as_i64().unwrap_or_else(|| panic!("{method}: {answer}")),
            error["message"].as_str().unwrap().to_owned(),
        )
    }
}

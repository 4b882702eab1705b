//! `paraffin serve` beside a node whose chain the test makes, with payments of many kinds; and what the chain's raw blocks
//! say, recomputed without the index.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bitcoin::consensus::encode::{deserialize_hex, serialize_hex};
use bitcoin::hashes::Hash as _;
use bitcoin::{Address, Amount, Block, BlockHash, Network, OutPoint, ScriptBuf, Transaction, TxOut, Txid};
use paraffin_devnet::{Devnet, DevnetOptions, OutputKind, Wallet};
use serde_json::{Value, json};

use super::bitcoind::Bitcoind;
use super::node::TestNode as _;
use super::process::{Running, paraffin, write_config};
use super::{free_port, http, wait_for};

/// The node: ours in this process, or a real Bitcoin Core.
pub enum Backend {
    Devnet { devnet: Box<Devnet>, runtime: tokio::runtime::Runtime },
    Core { node: Bitcoind, blocks: Mutex<HashMap<BlockHash, Block>> },
}

impl Backend {
    pub fn devnet() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let options = DevnetOptions { blocks: 0, pending_transactions: 0, ..DevnetOptions::default() };
        let devnet = Box::new(runtime.block_on(Devnet::start(options)).unwrap());
        Self::Devnet { devnet, runtime }
    }

    /// `None` where there is no executable.
    pub fn core() -> Option<Self> {
        Bitcoind::start().map(|node| Self::Core { node, blocks: Mutex::default() })
    }

    /// Lines of configuration that name the node.
    pub fn config(&self) -> String {
        match self {
            Self::Core { node, .. } => node.config(),
            Self::Devnet { devnet, .. } => format!(
                "[node]\nurl = \"{}\"\nuser = \"{}\"\npassword = \"{}\"\np2p = \"{}\"\n",
                devnet.rpc_url(),
                devnet.user(),
                devnet.password(),
                devnet.p2p_addr()
            ),
        }
    }

    pub fn mine(&self, count: u32, script: &ScriptBuf) {
        match self {
            Self::Devnet { devnet, .. } => drop(devnet.node().mine(count, script).unwrap()),
            Self::Core { node, .. } => drop(node.mine(count, &address(script))),
        }
    }

    pub fn submit(&self, transaction: &Transaction) {
        match self {
            Self::Devnet { devnet, .. } => drop(devnet.node().submit_transaction(transaction.clone()).unwrap()),
            Self::Core { node, .. } => drop(node.rpc("sendrawtransaction", json!([serialize_hex(transaction)]))),
        }
    }

    pub fn height(&self) -> u32 {
        match self {
            Self::Devnet { devnet, .. } => devnet.tip().height,
            Self::Core { node, .. } => u32::try_from(node.rpc("getblockcount", json!([])).as_u64().unwrap()).unwrap(),
        }
    }

    pub fn hash(&self, height: u32) -> BlockHash {
        match self {
            Self::Devnet { devnet, .. } => devnet.node().block_hash(height).unwrap(),
            Self::Core { node, .. } => node.rpc("getblockhash", json!([height])).as_str().unwrap().parse().unwrap(),
        }
    }

    pub fn block(&self, hash: &BlockHash) -> Block {
        match self {
            Self::Devnet { devnet, .. } => Block::clone(&devnet.node().block(hash).unwrap()),
            Self::Core { node, .. } => {
                deserialize_hex(node.rpc("getblock", json!([hash, 0])).as_str().unwrap()).unwrap()
            }
        }
    }

    /// The best chain from the genesis block up. A real node is asked once for each block.
    pub fn chain(&self) -> Vec<Block> {
        let mut hash = self.hash(self.height());
        let mut chain = Vec::new();
        loop {
            let block = match self {
                Self::Devnet { .. } => self.block(&hash),
                Self::Core { blocks, .. } => {
                    blocks.lock().unwrap().entry(hash).or_insert_with(|| self.block(&hash)).clone()
                }
            };
            hash = block.header.prev_blockhash;
            let is_first = hash == BlockHash::all_zeros();
            chain.push(block);
            if is_first {
                break;
            }
        }
        chain.reverse();
        chain
    }

    pub fn mempool(&self) -> HashSet<Txid> {
        match self {
            Self::Devnet { devnet, .. } => devnet.node().mempool_txids().into_iter().collect(),
            Self::Core { node, .. } => serde_json::from_value(node.rpc("getrawmempool", json!([]))).unwrap(),
        }
    }

    /// Drops the newest `depth` blocks.
    pub fn drop_blocks(&self, depth: u32) {
        let first = self.hash(self.height() + 1 - depth);
        match self {
            Self::Devnet { devnet, .. } => devnet.node().invalidate(&first).unwrap(),
            Self::Core { node, .. } => drop(node.rpc("invalidateblock", json!([first]))),
        }
    }

    /// Runs a future where the node lives, or on a runtime of its own.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        match self {
            Self::Devnet { runtime, .. } => runtime.block_on(future),
            Self::Core { .. } => {
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
            }
        }
    }
}

/// The regtest address of a script.
pub fn address(script: &ScriptBuf) -> String {
    Address::from_script(script, Network::Regtest).unwrap().to_string()
}

/// Numbers that follow from a seed.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// One below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// The program, its node, and the people who pay each other.
pub struct Served {
    // Stopped before the node is.
    process: Running,
    pub backend: Backend,
    pub address: String,
    pub key: String,
    pub wallet: Arc<Wallet>,
    pub scripts: Vec<ScriptBuf>,
    config: std::path::PathBuf,
    _folder: tempfile::TempDir,
}

impl Served {
    pub fn start(backend: Backend) -> Self {
        Self::start_with(backend, "")
    }

    /// With further lines of configuration.
    pub fn start_with(backend: Backend, further: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let created = paraffin()
            .args(["keys", "create", "test", "--plan", "business", "--data-dir"])
            .arg(&data)
            .output()
            .unwrap();
        let key = String::from_utf8(created.stdout).unwrap().trim().to_owned();
        assert_eq!(key.len(), 32, "{}", String::from_utf8_lossy(&created.stderr));
        let address = format!("127.0.0.1:{}", free_port());
        let text = format!(
            "network = \"regtest\"\ndata_dir = \"{}\"\n{}\n[gateway]\nlisten = \"{address}\"\n[index]\n\
             memory_mib = 256\npoll_milliseconds = 50\n{further}\n",
            data.display(),
            backend.config()
        );
        let config = write_config(folder.path(), &text);
        let mut process = Running::start(paraffin().args(["serve", "--config"]).arg(&config));
        process.wait_for_output("listening on", Duration::from_secs(30));
        let wallet = Arc::new(Wallet::new(7, &["one", "two", "three", "four"]));
        let scripts =
            (0..4).flat_map(|account| OutputKind::ALL.map(|kind| wallet.script(account, kind))).collect::<Vec<_>>();
        Self { process, backend, address, key, wallet, scripts, config, _folder: folder }
    }

    /// `SIGKILL`.
    pub fn stop(&mut self) {
        self.process.kill();
    }

    /// Starts the program again after [`Served::stop`].
    pub fn launch(&mut self) {
        self.process = Running::start(paraffin().args(["serve", "--config"]).arg(&self.config));
        self.process.wait_for_output("listening on", Duration::from_secs(60));
    }

    /// Kills the program and starts it again.
    pub fn restart(&mut self) {
        self.stop();
        self.launch();
    }

    /// Runs `paraffin keys` on the accounts of this instance; what it wrote.
    pub fn keys(&self, words: &[&str]) -> String {
        let data = self.config.parent().unwrap().join("data");
        let output = paraffin().arg("keys").args(words).arg("--data-dir").arg(data).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub fn keyed(&self, below: &str) -> String {
        format!("/v4/{}{below}", self.key)
    }

    /// JSON of an Esplora path.
    pub fn esplora(&self, path: &str) -> Value {
        let answer = http::get(&self.address, &self.keyed(&format!("/esplora{path}")));
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()
    }

    /// Waits until the index is at the node's tip.
    pub fn wait_for_tip(&mut self) {
        let hash = json!(self.backend.hash(self.backend.height()));
        wait_for("the index to reach the node's tip", Duration::from_secs(120), || {
            assert!(self.process.is_running(), "the program ended");
            (http::call(&self.address, &self.keyed(""), "btc_getbestblockhash", json!([]))["result"] == hash)
                .then_some(())
        });
    }

    /// Mines `count` blocks, each with a few payments between the scripts.
    pub fn mine_traffic(&self, numbers: &mut Numbers, count: u32) {
        for _ in 0..count {
            // The first script mines most, so that it is busy.
            let miner = if numbers.below(3) > 0 { 0 } else { numbers.below(self.scripts.len() as u64) as usize };
            for _ in 0..numbers.below(3) {
                self.pay(numbers);
            }
            self.backend.mine(1, &self.scripts[miner]);
        }
    }

    /// One payment of confirmed coins that nothing spends yet, to one to four of the scripts.
    pub fn pay(&self, numbers: &mut Numbers) {
        let coins = self.spendable();
        if coins.is_empty() {
            return;
        }
        let first = numbers.below(coins.len() as u64) as usize;
        let count = 1 + numbers.below(3) as usize;
        let chosen: Vec<_> = coins.iter().cycle().skip(first).take(count.min(coins.len())).cloned().collect();
        let mut left = chosen.iter().map(|(_, output)| output.value.to_sat()).sum::<u64>() / 2;
        let mut outputs = Vec::new();
        for _ in 0..=numbers.below(4) {
            let value = left / 2;
            if value < 20_000 {
                break;
            }
            left -= value;
            let script_pubkey = self.scripts[numbers.below(self.scripts.len() as u64) as usize].clone();
            outputs.push(TxOut { value: Amount::from_sat(value), script_pubkey });
        }
        let change = &self.scripts[numbers.below(self.scripts.len() as u64) as usize];
        if let Ok(transaction) = self.wallet.pay(&chosen, &outputs, change, 5_000) {
            self.backend.submit(&transaction);
        }
    }

    /// Mature confirmed coins of the scripts that no unconfirmed transaction spends.
    pub fn spendable(&self) -> Vec<(OutPoint, TxOut)> {
        match &self.backend {
            Backend::Devnet { devnet, .. } => {
                let tip = devnet.tip().height;
                let scripts = self.scripts.iter().cloned().collect();
                let coins = devnet.node().spendable(&scripts).into_iter();
                coins
                    .filter(|(_, coin)| !coin.coinbase || coin.height + 100 <= tip)
                    .map(|(outpoint, coin)| (outpoint, coin.output))
                    .collect()
            }
            Backend::Core { node, .. } => {
                let ledger = Ledger::of(&self.backend);
                let tip = self.backend.height();
                let mut coins: Vec<(OutPoint, TxOut)> = ledger
                    .unspent()
                    .filter(|(_, made)| {
                        self.scripts.contains(&made.output.script_pubkey)
                            && (made.index > 0 || made.height + 100 <= tip)
                    })
                    .map(|(outpoint, made)| (*outpoint, made.output.clone()))
                    .collect();
                coins.sort_by_key(|(outpoint, _)| *outpoint);
                if coins.is_empty() {
                    return coins;
                }
                let asked: Vec<Value> =
                    coins.iter().map(|(outpoint, _)| json!({ "txid": outpoint.txid, "vout": outpoint.vout })).collect();
                let response = node.rpc("gettxspendingprevout", json!([asked]));
                let response = response.as_array().unwrap().iter().map(|entry| entry.get("spendingtxid").is_none());
                coins.into_iter().zip(response).filter(|(_, is_free)| *is_free).map(|(coin, _)| coin).collect()
            }
        }
    }

    /// Mines until nothing is unconfirmed.
    pub fn mine_mempool(&self) {
        for _ in 0..20 {
            if self.backend.mempool().is_empty() {
                return;
            }
            self.backend.mine(1, &self.scripts[0]);
        }
        panic!("the mempool does not empty: {:?}", self.backend.mempool());
    }

    /// Replaces the newest `depth` blocks by others, one more of them.
    pub fn reorganise(&self, numbers: &mut Numbers, depth: u32) {
        let height = self.backend.height();
        self.backend.drop_blocks(depth);
        assert_eq!(self.backend.height(), height - depth);
        // Paid to a script of its own: a node refuses a block that it has invalidated, and the same coinbase may make it
        // again.
        let mut hash = [0; 32];
        hash[..8].copy_from_slice(&numbers.below(u64::MAX).to_le_bytes());
        self.backend.mine(1, &ScriptBuf::new_p2wsh(&bitcoin::WScriptHash::from_byte_array(hash)));
        self.mine_traffic(numbers, depth);
        assert_eq!(self.backend.height(), height + 1);
    }
}

/// An output and where it was made.
pub struct Made {
    pub output: TxOut,
    pub height: u32,
    /// Position of its transaction in the block.
    pub index: usize,
}

/// What the raw blocks of the best chain say.
pub struct Ledger {
    pub blocks: Vec<Block>,
    /// Every output but those of the genesis block, in no order.
    pub outputs: HashMap<OutPoint, Made>,
    /// Who spends an output: transaction, input, height.
    pub spends: HashMap<OutPoint, (Txid, u32, u32)>,
    /// Transactions of each script, oldest first, as (height, position, txid).
    pub histories: BTreeMap<ScriptBuf, Vec<(u32, usize, Txid)>>,
}

impl Ledger {
    pub fn of(backend: &Backend) -> Self {
        Self::of_blocks(backend.chain())
    }

    /// What a chain from the genesis block up says.
    pub fn of_blocks(blocks: Vec<Block>) -> Self {
        let mut ledger =
            Self { blocks: Vec::new(), outputs: HashMap::new(), spends: HashMap::new(), histories: BTreeMap::new() };
        for (height, block) in (0..).zip(&blocks).skip(1) {
            for (index, transaction) in block.txdata.iter().enumerate() {
                ledger.add(transaction, height, index);
            }
        }
        ledger.blocks = blocks;
        ledger
    }

    fn add(&mut self, transaction: &Transaction, height: u32, index: usize) {
        let txid = transaction.compute_txid();
        let mut touched = HashSet::new();
        if index > 0 {
            for (vin, input) in (0..).zip(&transaction.input) {
                let spent = &self.outputs[&input.previous_output];
                touched.insert(spent.output.script_pubkey.clone());
                assert!(self.spends.insert(input.previous_output, (txid, vin, height)).is_none(), "spent twice");
            }
        }
        for (vout, output) in (0..).zip(&transaction.output) {
            if !output.script_pubkey.is_op_return() {
                touched.insert(output.script_pubkey.clone());
            }
            self.outputs.insert(OutPoint { txid, vout }, Made { output: output.clone(), height, index });
        }
        for script in touched {
            self.histories.entry(script).or_default().push((height, index, txid));
        }
    }

    pub fn unspent(&self) -> impl Iterator<Item = (&OutPoint, &Made)> {
        self.outputs.iter().filter(|(outpoint, _)| !self.spends.contains_key(outpoint))
    }

    /// Satoshis that are unspent on any of the scripts.
    pub fn balance(&self, scripts: &HashSet<ScriptBuf>) -> u64 {
        let ours = self.unspent().filter(|(_, made)| scripts.contains(&made.output.script_pubkey));
        ours.map(|(_, made)| made.output.value.to_sat()).sum()
    }

    /// The totals of a script as Esplora's `chain_stats` gives them.
    pub fn chain_stats(&self, script: &ScriptBuf) -> Value {
        let funded: Vec<_> = self.outputs.iter().filter(|(_, made)| made.output.script_pubkey == *script).collect();
        let spent = || funded.iter().filter(|(outpoint, _)| self.spends.contains_key(outpoint));
        json!({
            "funded_txo_count": funded.len(),
            "funded_txo_sum": funded.iter().map(|(_, made)| made.output.value.to_sat()).sum::<u64>(),
            "spent_txo_count": spent().count(),
            "spent_txo_sum": spent().map(|(_, made)| made.output.value.to_sat()).sum::<u64>(),
            "tx_count": self.histories.get(script).map_or(0, Vec::len),
        })
    }

    /// The unspent outputs of a script as Esplora lists them, newest first.
    pub fn utxo_records(&self, script: &ScriptBuf) -> Value {
        let mut unspent: Vec<_> = self.unspent().filter(|(_, made)| made.output.script_pubkey == *script).collect();
        unspent.sort_by_key(|(outpoint, made)| std::cmp::Reverse((made.height, made.index, outpoint.vout)));
        let record = |(outpoint, made): &(&OutPoint, &Made)| {
            json!({
                "txid": outpoint.txid, "vout": outpoint.vout, "status": self.status(made.height),
                "value": made.output.value.to_sat(),
            })
        };
        unspent.iter().map(record).collect()
    }

    /// The `status` of what is in the block at `height`.
    pub fn status(&self, height: u32) -> Value {
        let block = &self.blocks[height as usize];
        json!({
            "confirmed": true, "block_height": height, "block_hash": block.block_hash(), "block_time": block.header.time,
        })
    }
}

//! A short chain with our own contracts, run by the engine and indexed by both modules into one store.
#![allow(dead_code)] // each test program uses a part of it

use std::sync::Arc;

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version};
use bitcoin::hashes::Hash as _;
use bitcoin::script::Builder;
use bitcoin::transaction::Version as TransactionVersion;
use bitcoin::{
    Amount, Block, BlockHash, CompactTarget, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode, TxOut,
    Txid, Witness,
};
use paraffin_alkanes::codec::{
    ALKANES_PROTOCOL, Cellpack, Protostone, Runestone, append_envelope, encode_protostones, gzip,
};
use paraffin_alkanes::views::ViewError;
use paraffin_alkanes::{
    AlkanesModule, Builtins, ChainState, CodeCache, NativeEngine, Parameters, SavedSheet, StateKey, StateReader as _,
};
use paraffin_cryptoswap::proto::{self, GetPoolRequest};
use paraffin_cryptoswap::views::{PoolContracts, PoolViews, call};
use paraffin_cryptoswap::{CanonicalPool, CryptoSwapModule, PoolIndex, PoolProbe, PoolRules};
use paraffin_devnet::market::MarketChain;
use paraffin_primitives::{AlkaneId, ConnectedBlock, Height, Network};
use paraffin_store::{Module, Store, StoreOptions, Writer};
use prost::Message;
use tempfile::TempDir;

pub(crate) const fn id(block: u128, tx: u128) -> AlkaneId {
    AlkaneId { block, tx }
}

/// Stands for the USD token: the lower id, the contract's coin 1.
pub(crate) const USD: AlkaneId = id(2, 1);
/// Stands for the BTC token: the higher id, the contract's coin 0.
pub(crate) const BTC: AlkaneId = id(4, 32);
/// Its holder owns the pool.
pub(crate) const OWNER: AlkaneId = id(4, 33);
/// The pool behind its proxy.
pub(crate) const POOL: AlkaneId = id(4, 1778);
/// Its code.
pub(crate) const POOL_CODE: AlkaneId = id(4, 1786);

/// BTC tokens per USD token, times 1e18: 64,084 dollars.
pub(crate) const PRICE: u128 = 15_604_533_105_145;
pub(crate) const ANN: u128 = 400_000;
pub(crate) const GAMMA: u128 = 145_000_000_000_000;
/// Fees, fee gamma, the owner's part, extra profit, step and half time, in the order of the calldata.
pub(crate) const SETTINGS: [u128; 7] =
    [20_000_000, 80_000_000, 230_000_000_000_000, 5_000_000_000, 2_000_000_000_000, 146_000_000_000_000, 6];

/// Time of block 0; blocks follow every ten minutes.
pub(crate) const BEGIN: u32 = 1_786_700_000;

/// A message that takes everything that the one purse of this chain holds, and gives back what it does not keep.
pub(crate) struct Deed {
    pub(crate) target: AlkaneId,
    pub(crate) inputs: Vec<u128>,
    pub(crate) code: Option<&'static str>,
}

pub(crate) fn deed(target: AlkaneId, inputs: &[u128]) -> Deed {
    Deed { target, inputs: inputs.to_vec(), code: None }
}

/// Deploys a contract as 4:`tx`.
pub(crate) fn deploy(tx: u128, code: &'static str, inputs: &[u128]) -> Deed {
    Deed { target: id(3, tx), inputs: inputs.to_vec(), code: Some(code) }
}

pub(crate) fn init(coins: [AlkaneId; 2]) -> Vec<u128> {
    let coins = [0, coins[0].block, coins[0].tx, coins[1].block, coins[1].tx, 8, 8];
    [&coins[..], &[PRICE, ANN, GAMMA], &SETTINGS, &[6]].concat()
}

/// Up to 16 bytes of text as the integer that contracts read names from.
fn text(text: &str) -> u128 {
    let mut bytes = [0; 16];
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    u128::from_le_bytes(bytes)
}

fn contract(name: &str) -> Vec<u8> {
    let path = format!("{}/../../contracts/wasm/{name}.wasm", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub(crate) fn probe() -> PoolProbe {
    let builtins = Builtins::given([
        (id(2, 0), contract("genesis-token")),
        (id(32, 0), contract("wrapped-bitcoin")),
        (id(32, 1), contract("auth-token")),
    ]);
    PoolProbe {
        parameters: Parameters::of(Network::Regtest),
        builtins: Arc::new(builtins),
        codes: Arc::new(CodeCache::default()),
    }
}

pub(crate) fn rules() -> PoolRules {
    PoolRules { canonical: vec![CanonicalPool { id: POOL, coins: [BTC, USD] }], ..PoolRules::default() }
}

pub(crate) struct Chain {
    pub(crate) store: Store,
    pub(crate) writer: Writer,
    pub(crate) blocks: Vec<ConnectedBlock>,
    pub(crate) probe: PoolProbe,
    pub(crate) rules: PoolRules,
    modules: Vec<Box<dyn Module>>,
    /// Output that holds everything.
    purse: OutPoint,
    purses: Vec<OutPoint>,
    _folder: TempDir,
}

impl Chain {
    pub(crate) fn new(rules: PoolRules) -> Self {
        Self::with(rules, probe())
    }

    /// The development network's market up to a height.
    pub(crate) fn of_market(seed: u64, height: Height) -> Self {
        let builtins = Arc::new(paraffin_devnet::market::builtins());
        let mut chain = Self::with(PoolRules::default(), PoolProbe { builtins, ..probe() });
        let mut town = MarketChain::new(seed);
        town.grow(height).unwrap();
        for connected in town.blocks() {
            chain.add(connected.block);
        }
        chain
    }

    fn with(rules: PoolRules, probe: PoolProbe) -> Self {
        let engine = NativeEngine::new(Network::Regtest, Arc::clone(&probe.builtins), Arc::clone(&probe.codes));
        let modules: Vec<Box<dyn Module>> = vec![
            Box::new(AlkanesModule::new(Box::new(engine), Network::Regtest)),
            Box::new(CryptoSwapModule::new(rules.clone(), probe.clone())),
        ];
        let folder = TempDir::new().unwrap();
        let options = StoreOptions { network: Network::Regtest, undo_blocks: None, memory_bytes: 256 << 20 };
        let schemas: Vec<_> = modules.iter().map(|module| module.schema()).collect();
        let store = Store::open(folder.path(), &options, &schemas).unwrap();
        let writer = store.writer().unwrap();
        let purse = OutPoint { txid: Txid::from_byte_array([9; 32]), vout: 0 };
        Self { store, writer, blocks: Vec::new(), probe, rules, modules, purse, purses: Vec::new(), _folder: folder }
    }

    /// Both tokens, the pool's code and its proxy, not yet initialized: blocks 0 to 2.
    pub(crate) fn deployed(rules: PoolRules) -> Self {
        let mut chain = Self::new(rules);
        chain.mine(&[]);
        let units = 1_000_000_000_000_000_000;
        let token = |name| vec![0, units, 1, 5, text(name), 0, text(name)];
        chain.mine(&[
            Deed { target: id(1, 0), inputs: token("USD"), code: Some("free-mint") },
            deploy(BTC.tx, "free-mint", &token("BTC")),
            deploy(OWNER.tx, "free-mint", &token("OWNER")),
        ]);
        chain.mine(&[
            deploy(POOL_CODE.tx, "cryptoswap-pool", &[50]),
            deploy(POOL.tx, "upgradeable-proxy", &[0x7ffc, POOL_CODE.block, POOL_CODE.tx, OWNER.block, OWNER.tx]),
        ]);
        chain
    }

    /// The same, initialized in block 3, with one bitcoin and its worth since block 4.
    pub(crate) fn founded(rules: PoolRules) -> Self {
        let mut chain = Self::deployed(rules);
        chain.mine(&[deed(POOL, &init([BTC, USD]))]);
        chain.mine(&[deed(POOL, &[1, 100_000_000, 6_408_394_000_000, 0])]);
        chain
    }

    pub(crate) fn tip(&self) -> Height {
        self.blocks.len() as Height - 1
    }

    /// Mines a block with one transaction for each message; returns their ids.
    pub(crate) fn mine(&mut self, deeds: &[Deed]) -> Vec<Txid> {
        let time = BEGIN + self.blocks.len() as u32 * 600;
        self.mine_at(time, deeds)
    }

    pub(crate) fn mine_at(&mut self, time: u32, deeds: &[Deed]) -> Vec<Txid> {
        self.purses.push(self.purse);
        let mut txdata = vec![self.coinbase(time)];
        for deed in deeds {
            let transaction = self.transaction(deed);
            self.purse = OutPoint { txid: transaction.compute_txid(), vout: 0 };
            txdata.push(transaction);
        }
        let previous = self.blocks.last().map_or(BlockHash::all_zeros(), |block| block.id.hash);
        let mut block = Block {
            header: Header {
                version: Version::from_consensus(0x2000_0000),
                prev_blockhash: previous,
                merkle_root: TxMerkleNode::all_zeros(),
                time,
                bits: CompactTarget::from_consensus(0x207f_ffff),
                nonce: 0,
            },
            txdata,
        };
        block.header.merkle_root = block.compute_merkle_root().unwrap();
        self.add(block)
    }

    /// Indexes a block; returns the ids of its transactions but the first.
    fn add(&mut self, block: Block) -> Vec<Txid> {
        let connected = ConnectedBlock::new(self.blocks.len() as Height, block);
        let txids = connected.txids[1..].to_vec();
        self.connect(&connected);
        self.blocks.push(connected);
        txids
    }

    fn connect(&mut self, block: &ConnectedBlock) {
        self.writer.begin_block(block.id, block.block.header.prev_blockhash, block.block.header.time).unwrap();
        for module in &mut self.modules {
            let id = module.schema().id;
            module.connect(block, &mut self.writer.module(id).unwrap()).unwrap();
        }
        self.writer.end_block().unwrap();
        self.writer.commit(false).unwrap();
    }

    /// Undoes the newest block.
    pub(crate) fn undo(&mut self) {
        self.writer.undo_block().unwrap();
        self.writer.commit(false).unwrap();
        self.blocks.pop().unwrap();
        self.purse = self.purses.pop().unwrap();
    }

    fn coinbase(&self, time: u32) -> Transaction {
        let script_sig =
            Builder::new().push_int(i64::from(self.blocks.len() as u32)).push_int(i64::from(time)).into_script();
        let input =
            TxIn { previous_output: OutPoint::null(), script_sig, sequence: Sequence::MAX, witness: Witness::new() };
        let output = TxOut { value: Amount::from_sat(5_000_000_000), script_pubkey: script() };
        Transaction {
            version: TransactionVersion::TWO,
            lock_time: LockTime::ZERO,
            input: vec![input],
            output: vec![output],
        }
    }

    fn transaction(&self, deed: &Deed) -> Transaction {
        let stone = Protostone {
            protocol_tag: ALKANES_PROTOCOL,
            message: Cellpack { target: deed.target, inputs: deed.inputs.clone() }.encode(),
            pointer: Some(0),
            refund: Some(0),
            ..Protostone::default()
        };
        let runestone = Runestone { protocol: encode_protostones(&[stone]).unwrap(), ..Runestone::default() };
        let mut witness = Witness::new();
        if let Some(code) = deed.code {
            witness.push(append_envelope(Builder::new(), &gzip(&contract(code))).into_script());
            witness.push([0xc0; 33]);
        }
        let input = TxIn {
            previous_output: self.purse,
            script_sig: ScriptBuf::new(),
            sequence: Sequence::ENABLE_RBF_NO_LOCKTIME,
            witness,
        };
        let output = |value, script_pubkey| TxOut { value: Amount::from_sat(value), script_pubkey };
        Transaction {
            version: TransactionVersion::TWO,
            lock_time: LockTime::ZERO,
            input: vec![input],
            output: vec![output(546, script()), output(0, runestone.encode(2).unwrap())],
        }
    }

    pub(crate) fn state(&self, height: Height) -> ChainState {
        ChainState::at(&self.store.snapshot(), height)
    }

    pub(crate) fn index(&self) -> PoolIndex {
        PoolIndex::at(&self.store.snapshot(), Height::MAX)
    }

    /// Alkanes of the purse.
    pub(crate) fn held(&self, what: AlkaneId) -> u128 {
        let sheet: SavedSheet = self.state(Height::MAX).sheet(&self.purse).unwrap();
        sheet.entries.iter().find(|entry| entry.0 == what).map_or(0, |entry| entry.1)
    }

    /// A view as of a height.
    pub(crate) fn bytes_at(&self, height: Height, name: &str, payload: &[u8]) -> Result<Vec<u8>, ViewError> {
        let (state, index) = (self.state(height), PoolIndex::at(&self.store.snapshot(), height));
        let contracts = Contracts(state);
        let views = PoolViews { index: &index, rules: &self.rules, contracts: &contracts, is_over: &|| false };
        call(name, payload, &views)
    }

    /// A view as of a height, with messages.
    pub(crate) fn view_at<T: Message + Default>(&self, height: Height, name: &str, request: &impl Message) -> T {
        T::decode(&self.bytes_at(height, name, &request.encode_to_vec()).unwrap()[..]).unwrap()
    }

    /// A view as of the newest block.
    pub(crate) fn view<T: Message + Default>(&self, name: &str, request: &impl Message) -> T {
        self.view_at(self.tip(), name, request)
    }
}

/// The code is the text of the id, which is all that these tests need of it.
struct Contracts(ChainState);

impl PoolContracts for Contracts {
    fn code(&self, id: AlkaneId) -> Result<Vec<u8>, ViewError> {
        Ok(id.to_string().into_bytes())
    }

    fn storage(&self, id: AlkaneId, name: &[u8]) -> Result<Option<Vec<u8>>, ViewError> {
        Ok(self.0.get(&StateKey::Storage(id, name.to_vec()))?)
    }
}

fn script() -> ScriptBuf {
    let mut script = vec![0x51, 0x20];
    script.extend([7; 32]);
    ScriptBuf::from_bytes(script)
}

/// An answer in which everything has its default.
pub(crate) const NOTHING: [u8; 0] = [];

/// The request that most views take.
pub(crate) const OF_POOL: GetPoolRequest = GetPoolRequest { pool: Some(proto::AlkaneId { block: 4, tx: 1778 }) };

pub(crate) fn pool() -> Option<proto::AlkaneId> {
    OF_POOL.pool
}

pub(crate) fn sell_btc(amount: u128) -> Deed {
    deed(POOL, &[5, 0, 1, amount, 1])
}

pub(crate) fn sell_usd(amount: u128) -> Deed {
    deed(POOL, &[5, 1, 0, amount, 1])
}

/// A pool with two days of trade: it is killed and revived, ramped, its parameters set, its fees claimed, and some of what is
/// tried is refused.
pub(crate) fn traded(rules: PoolRules) -> Chain {
    let mut chain = Chain::founded(rules);
    chain.mine(&[sell_btc(1_000_000), sell_usd(64_000_000_000)]);
    chain.mine(&[deed(POOL, &[1, 10_000_000, 640_000_000_000, 1])]);
    chain.mine(&[sell_usd(900_000_000_000), deed(POOL, &[5, 0, 1, 1_000, u128::from(u64::MAX)])]);
    chain.mine(&[]);
    // Four hours later, in another bucket.
    chain.mine_at(BEGIN + 20_000, &[sell_btc(3_000_000), deed(POOL, &[2, 1_000_000_000_000_000_000, 1, 1])]);
    chain.mine(&[deed(POOL, &[3, 1_000_000_000_000_000_000, 1, 1]), deed(POOL, &[10])]);
    let tip = u128::from(chain.tip());
    chain.mine(&[deed(POOL, &[11, 500_000, GAMMA, tip + 20])]);
    chain.mine(&[sell_usd(100_000_000_000)]);
    chain.mine(&[deed(POOL, &[14])]);
    chain.mine(&[sell_usd(1_000_000_000)]);
    chain.mine(&[deed(POOL, &[15]), deed(POOL, &[12])]);
    chain.mine(&[deed(POOL, &[&[13, 25_000_000][..], &SETTINGS[1..]].concat())]);
    // The next day.
    chain.mine_at(BEGIN + 100_000, &[sell_btc(2_000_000)]);
    chain.mine_at(BEGIN + 187_000, &[sell_usd(5), sell_btc(1_500_000), sell_usd(77_000_000_000)]);
    chain
}

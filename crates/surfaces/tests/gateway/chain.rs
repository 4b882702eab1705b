//! A short regtest chain, indexed by the real module into a real store.

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version};
use bitcoin::hashes::Hash as _;
use bitcoin::script::Builder;
use bitcoin::{
    Amount, Block, BlockHash, CompactTarget, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode, TxOut,
    Txid, Witness, transaction,
};
use paraffin_alkanes::{AlkanesModule, NativeEngine};
use paraffin_amm::{AmmModule, Parameters};
use paraffin_bitcoin_index::{BitcoinModule, MODULE, RawTransactions, SCHEMA};
use paraffin_ordinals_index::{OrdinalsModule, OrdinalsOptions};
use paraffin_primitives::{ConnectedBlock, Network};
use paraffin_store::{Module, Store, StoreOptions, Writer};

pub(crate) const COIN: u64 = 5_000_000_000;
const EPOCH: u32 = 1_700_000_000;

/// A taproot address of the network, different for every `seed`.
pub(crate) fn taproot(network: Network, seed: u8) -> String {
    // The x coordinates of small multiples of the generator; any valid point does.
    const POINTS: [&str; 4] = [
        "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
        "c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5",
        "f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9",
        "e493dbf1c10d80f3581e4904930b1404cc6c13900ee0758474fa94abe8c4cd13",
    ];
    let script = ScriptBuf::from_hex(&format!("5120{}", POINTS[usize::from(seed)])).unwrap();
    bitcoin::Address::from_script(&script, network.bitcoin()).unwrap().to_string()
}

pub(crate) fn script_of(network: Network, address: &str) -> ScriptBuf {
    network.parse_address(address).unwrap().script_pubkey()
}

pub(crate) fn payment(spends: &[OutPoint], outputs: &[(u64, ScriptBuf)]) -> Transaction {
    Transaction {
        version: transaction::Version::TWO,
        lock_time: LockTime::ZERO,
        input: spends
            .iter()
            .map(|outpoint| TxIn {
                previous_output: *outpoint,
                script_sig: ScriptBuf::new(),
                sequence: Sequence::ENABLE_RBF_NO_LOCKTIME,
                witness: Witness::from_slice(&[vec![7_u8; 64]]),
            })
            .collect(),
        output: outputs
            .iter()
            .map(|(value, script)| TxOut { value: Amount::from_sat(*value), script_pubkey: script.clone() })
            .collect(),
    }
}

fn coinbase(height: u32, script: ScriptBuf) -> Transaction {
    Transaction {
        version: transaction::Version::ONE,
        lock_time: LockTime::ZERO,
        input: vec![TxIn {
            previous_output: OutPoint::null(),
            script_sig: Builder::new().push_int(i64::from(height)).push_int(77).into_script(),
            sequence: Sequence::MAX,
            witness: Witness::new(),
        }],
        output: vec![TxOut { value: Amount::from_sat(COIN), script_pubkey: script }],
    }
}

pub(crate) struct Chain {
    pub(crate) network: Network,
    pub(crate) store: Store,
    pub(crate) blocks: Vec<Block>,
    writer: Writer,
    module: BitcoinModule,
    contracts: Vec<Box<dyn Module>>,
    _folder: tempfile::TempDir,
}

impl Chain {
    /// An empty store; with an engine for contracts, or without contracts, and one more module behind the others.
    pub(crate) fn new(
        network: Network,
        raw: RawTransactions,
        engine: Option<NativeEngine>,
        markets: bool,
        ordinals: Option<OrdinalsOptions>,
        last: Option<Box<dyn Module>>,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = StoreOptions { network, undo_blocks: None, memory_bytes: 256 << 20 };
        let mut contracts: Vec<Box<dyn Module>> = Vec::new();
        if let Some(engine) = engine {
            let module = AlkanesModule::new(Box::new(engine), network);
            contracts.push(Box::new(module.with_parameters(crate::market_chain::parameters(network))));
        }
        if markets {
            contracts.push(Box::new(AmmModule::new(Parameters::default())));
            contracts.push(Box::new(crate::market_chain::pools_module(network)));
        }
        if let Some(options) = ordinals {
            contracts.push(Box::new(OrdinalsModule::new(network, options)));
        }
        contracts.extend(last);
        let schemas: Vec<_> = std::iter::once(SCHEMA).chain(contracts.iter().map(|module| module.schema())).collect();
        let store = Store::open(folder.path(), &options, &schemas).unwrap();
        let writer = store.writer().unwrap();
        Self { network, store, blocks: Vec::new(), writer, module: BitcoinModule::new(raw), contracts, _folder: folder }
    }

    /// Adds a block with a coinbase to `script` and these transactions; answers the coinbase's txid.
    pub(crate) fn mine(&mut self, script: ScriptBuf, transactions: Vec<Transaction>) -> Txid {
        let height = u32::try_from(self.blocks.len()).unwrap();
        let block = if height == 0 {
            bitcoin::blockdata::constants::genesis_block(self.network.bitcoin())
        } else {
            let mut txdata = vec![coinbase(height, script)];
            txdata.extend(transactions);
            let mut block = Block {
                header: Header {
                    version: Version::from_consensus(0x2000_0000),
                    prev_blockhash: self.blocks.last().unwrap().block_hash(),
                    merkle_root: TxMerkleNode::all_zeros(),
                    time: EPOCH + height * 600,
                    bits: CompactTarget::from_consensus(0x207f_ffff),
                    nonce: 0,
                },
                txdata,
            };
            block.header.merkle_root = block.compute_merkle_root().unwrap();
            block
        };
        let coinbase = block.txdata[0].compute_txid();
        self.connect(height, &block);
        self.blocks.push(block);
        coinbase
    }

    /// Adds a whole block.
    pub(crate) fn add(&mut self, block: Block) {
        self.connect(u32::try_from(self.blocks.len()).unwrap(), &block);
        self.blocks.push(block);
    }

    /// Removes the newest block.
    pub(crate) fn undo(&mut self) {
        self.writer.undo_block().unwrap();
        self.blocks.pop();
    }

    fn connect(&mut self, height: u32, block: &Block) {
        let connected = ConnectedBlock::new(height, block.clone());
        let id = connected.id;
        self.writer.begin_block(id, block.header.prev_blockhash, block.header.time).unwrap();
        self.module.connect(&connected, &mut self.writer.module(MODULE).unwrap()).unwrap();
        for module in &mut self.contracts {
            module.connect(&connected, &mut self.writer.module(module.schema().id).unwrap()).unwrap();
        }
        self.writer.end_block().unwrap();
        self.writer.commit(false).unwrap();
    }

    pub(crate) fn tip_height(&self) -> u32 {
        u32::try_from(self.blocks.len() - 1).unwrap()
    }

    pub(crate) fn tip_hash(&self) -> BlockHash {
        self.blocks.last().unwrap().block_hash()
    }
}

//! A regtest chain in a temporary store, with the real module, the real engine and our own contracts.

use std::cell::Cell;
use std::sync::Arc;

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version as BlockVersion};
use bitcoin::hashes::Hash as _;
use bitcoin::script::Builder;
use bitcoin::transaction::Version;
use bitcoin::{
    Amount, Block, BlockHash, CompactTarget, OutPoint, Script, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode,
    TxOut, Txid, Witness,
};
use paraffin_alkanes::codec::{
    ALKANES_PROTOCOL, Cellpack, Protostone, Runestone, append_envelope, encode_protostones, gzip,
};
use paraffin_alkanes::views::{self, PlacedOutput, ViewChain, ViewContext, ViewError, ViewLimits};
use paraffin_alkanes::{AlkanesModule, Builtins, ChainState, CodeCache, MODULE, NativeEngine, Parameters, SCHEMA};
use paraffin_primitives::{AlkaneId, ConnectedBlock, Height, Network};
use paraffin_store::{Module as _, Store, StoreOptions, Writer};
use prost::Message;

pub(crate) const DIESEL: AlkaneId = id(2, 0);
pub(crate) const BITCOIN: AlkaneId = id(32, 0);
/// The token that [`Stage::with_token`] deploys.
pub(crate) const TOKEN: AlkaneId = id(2, 1);

pub(crate) const fn id(block: u128, tx: u128) -> AlkaneId {
    AlkaneId { block, tx }
}

/// A committed contract.
pub(crate) fn contract(name: &str) -> Vec<u8> {
    let path = format!("{}/../../contracts/wasm/{name}.wasm", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Script of a taproot output, different for every number.
pub(crate) fn script(number: u8) -> ScriptBuf {
    let mut bytes = vec![0x51, 0x20];
    bytes.extend_from_slice(&[number; 32]);
    ScriptBuf::from_bytes(bytes)
}

pub(crate) fn address(number: u8) -> String {
    bitcoin::Address::from_script(&script(number), Network::Regtest.bitcoin()).unwrap().to_string()
}

/// Up to 16 bytes of text as the integer that contracts read names from.
pub(crate) fn text(text: &str) -> u128 {
    let mut bytes = [0; 16];
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    u128::from_le_bytes(bytes)
}

/// A protostone that calls a contract; all goes to the first output.
pub(crate) fn call(target: AlkaneId, inputs: &[u128]) -> Protostone {
    Protostone {
        protocol_tag: ALKANES_PROTOCOL,
        message: Cellpack { target, inputs: inputs.to_vec() }.encode(),
        pointer: Some(0),
        refund: Some(0),
        ..Protostone::default()
    }
}

pub(crate) fn output(script_pubkey: ScriptBuf, value: u64) -> TxOut {
    TxOut { value: Amount::from_sat(value), script_pubkey }
}

/// A transaction whose last output carries the protostones. `code` stands in the witness of its first input.
pub(crate) fn transaction(
    spends: &[OutPoint],
    mut outputs: Vec<TxOut>,
    stones: &[Protostone],
    code: Option<&[u8]>,
) -> Transaction {
    let mut witness = Witness::new();
    if let Some(code) = code {
        witness.push(append_envelope(Builder::new(), &gzip(code)).into_script());
        witness.push([0xc0; 33]);
    }
    let spend = |previous_output: &OutPoint| TxIn {
        previous_output: *previous_output,
        script_sig: ScriptBuf::new(),
        sequence: Sequence::MAX,
        witness: Witness::new(),
    };
    let mut input: Vec<TxIn> = spends.iter().map(spend).collect();
    input[0].witness = witness;
    if !stones.is_empty() {
        let runestone = Runestone { protocol: encode_protostones(stones).unwrap(), ..Runestone::default() };
        let script = runestone.encode(outputs.len() + 1).unwrap();
        outputs.push(output(script, 0));
    }
    Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input, output: outputs }
}

/// Shadow output of the first protostone.
pub(crate) fn shadow(transaction: &Transaction) -> OutPoint {
    OutPoint { txid: transaction.compute_txid(), vout: u32::try_from(transaction.output.len()).unwrap() + 1 }
}

pub(crate) fn first_output(transaction: &Transaction) -> OutPoint {
    OutPoint { txid: transaction.compute_txid(), vout: 0 }
}

pub(crate) struct Stage {
    pub(crate) parameters: Parameters,
    pub(crate) builtins: Arc<Builtins>,
    pub(crate) codes: Arc<CodeCache>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) limits: ViewLimits,
    /// Number of checks of the clock before the time of a view is over.
    pub(crate) patience: Cell<u64>,
    store: Store,
    writer: Writer,
    module: AlkanesModule,
    _folder: tempfile::TempDir,
}

impl Stage {
    /// The first block, in which the built-in contracts are deployed.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = StoreOptions { network: Network::Regtest, undo_blocks: None, memory_bytes: 256 << 20 };
        let store = Store::open(folder.path(), &options, &[SCHEMA]).unwrap();
        let writer = store.writer().unwrap();
        let builtins = Arc::new(Builtins::given([
            (DIESEL, contract("genesis-token")),
            (BITCOIN, contract("wrapped-bitcoin")),
            (id(32, 1), contract("auth-token")),
        ]));
        let codes = Arc::new(CodeCache::default());
        let engine = NativeEngine::new(Network::Regtest, Arc::clone(&builtins), Arc::clone(&codes));
        let mut stage = Self {
            parameters: Parameters::of(Network::Regtest),
            builtins,
            codes,
            blocks: Vec::new(),
            limits: ViewLimits::default(),
            patience: Cell::new(u64::MAX),
            store,
            writer,
            module: AlkanesModule::new(Box::new(engine), Network::Regtest),
            _folder: folder,
        };
        stage.mine(vec![]);
        stage
    }

    /// Block 1 deploys a free mint as 2:1: 1,000 units to address 1, then 100 for each of 5 mints.
    pub(crate) fn with_token() -> (Self, Transaction) {
        let mut stage = Self::new();
        let inputs = [0, 1_000, 100, 5, text("Paraffin Wax"), 0, text("WAX")];
        let outputs = vec![output(script(1), 10_000)];
        let deploy = transaction(&[stage.coin(0)], outputs, &[call(id(1, 0), &inputs)], Some(&contract("free-mint")));
        stage.mine(vec![deploy.clone()]);
        (stage, deploy)
    }

    /// The coinbase output of a block.
    pub(crate) fn coin(&self, height: usize) -> OutPoint {
        first_output(&self.blocks[height].txdata[0])
    }

    pub(crate) fn height(&self) -> Height {
        u32::try_from(self.blocks.len() - 1).unwrap()
    }

    /// The next block with these transactions, not connected.
    pub(crate) fn next_block(&self, transactions: Vec<Transaction>) -> Block {
        let height = u32::try_from(self.blocks.len()).unwrap();
        let mut coinbase = transaction(&[OutPoint::null()], vec![output(script(200), 5_000_000_000)], &[], None);
        coinbase.input[0].script_sig = Builder::new().push_int(i64::from(height)).push_int(7).into_script();
        let mut txdata = vec![coinbase];
        txdata.extend(transactions);
        let header = Header {
            version: BlockVersion::TWO,
            prev_blockhash: self.blocks.last().map_or_else(BlockHash::all_zeros, Block::block_hash),
            merkle_root: TxMerkleNode::all_zeros(),
            time: 1_700_000_000 + height * 600,
            bits: CompactTarget::from_consensus(0x207f_ffff),
            nonce: 0,
        };
        let mut block = Block { header, txdata };
        block.header.merkle_root = block.compute_merkle_root().unwrap();
        block
    }

    pub(crate) fn mine(&mut self, transactions: Vec<Transaction>) {
        let block = self.next_block(transactions);
        let connected = ConnectedBlock::new(u32::try_from(self.blocks.len()).unwrap(), block.clone());
        let id = connected.id;
        self.writer.begin_block(id, block.header.prev_blockhash, block.header.time).unwrap();
        self.module.connect(&connected, &mut self.writer.module(MODULE).unwrap()).unwrap();
        self.writer.end_block().unwrap();
        self.writer.commit(false).unwrap();
        self.blocks.push(block);
    }

    /// Runs something with the context of a view at a height.
    pub(crate) fn at<T>(&self, height: Height, work: impl FnOnce(&ViewContext<'_>) -> T) -> T {
        let state = ChainState::at(&self.store.snapshot(), height);
        let chain = Blocks { blocks: &self.blocks[..=height as usize] };
        let is_over = || {
            let left = self.patience.get();
            self.patience.set(left.saturating_sub(1));
            left == 0
        };
        work(&ViewContext {
            parameters: &self.parameters,
            builtins: &self.builtins,
            codes: &self.codes,
            height,
            state: &state,
            chain: &chain,
            block: None,
            limits: &self.limits,
            is_over: &is_over,
        })
    }

    /// A view at the newest block.
    pub(crate) fn view(&self, name: &str, payload: &[u8]) -> Result<Vec<u8>, ViewError> {
        self.view_at(self.height(), name, payload)
    }

    pub(crate) fn view_at(&self, height: Height, name: &str, payload: &[u8]) -> Result<Vec<u8>, ViewError> {
        let wanted = views::block_wanted(name, payload).filter(|_| views::runs_contracts(name));
        let wanted = wanted.and_then(|wanted| self.blocks.get(wanted as usize));
        let block = wanted.map(bitcoin::consensus::serialize);
        self.at(height, |context| views::call(name, payload, &ViewContext { block: block.as_deref(), ..*context }))
    }

    /// A view whose request and answer are messages.
    pub(crate) fn ask<T: Message + Default>(&self, name: &str, request: &impl Message) -> T {
        self.ask_at(self.height(), name, request)
    }

    pub(crate) fn ask_at<T: Message + Default>(&self, height: Height, name: &str, request: &impl Message) -> T {
        T::decode(&self.view_at(height, name, &request.encode_to_vec()).unwrap()[..]).unwrap()
    }
}

/// The chain, by linear search.
struct Blocks<'a> {
    blocks: &'a [Block],
}

impl Blocks<'_> {
    fn find(&self, txid: &Txid) -> Option<(Height, u32, &Transaction)> {
        (0..).zip(self.blocks).find_map(|(height, block)| {
            let mut placed = (0..).zip(&block.txdata);
            placed.find(|(_, one)| one.compute_txid() == *txid).map(|(index, one)| (height, index, one))
        })
    }

    fn is_spent(&self, outpoint: &OutPoint) -> bool {
        let mut inputs = self.blocks.iter().flat_map(|block| &block.txdata).flat_map(|transaction| &transaction.input);
        inputs.any(|input| input.previous_output == *outpoint)
    }
}

impl ViewChain for Blocks<'_> {
    fn output(&self, outpoint: &OutPoint) -> Result<Option<PlacedOutput>, ViewError> {
        let Some((height, index, transaction)) = self.find(&outpoint.txid) else { return Ok(None) };
        let output = transaction.output.get(outpoint.vout as usize).cloned();
        Ok(output.map(|output| PlacedOutput { output, height, index }))
    }

    fn unspent(&self, script: &Script) -> Result<Vec<OutPoint>, ViewError> {
        let mut unspent = Vec::new();
        for transaction in self.blocks.iter().flat_map(|block| &block.txdata) {
            for (vout, output) in (0..).zip(&transaction.output) {
                let outpoint = OutPoint { txid: transaction.compute_txid(), vout };
                if output.script_pubkey.as_script() == script && !self.is_spent(&outpoint) {
                    unspent.push(outpoint);
                }
            }
        }
        Ok(unspent)
    }

    fn is_unspent(&self, outpoint: &OutPoint) -> Result<bool, ViewError> {
        Ok(self.output(outpoint)?.is_some() && !self.is_spent(outpoint))
    }
}

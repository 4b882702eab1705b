//! A chain of nine blocks in which every rule of this test is used, and view requests over it.

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version as BlockVersion};
use bitcoin::hashes::Hash as _;
use bitcoin::key::Secp256k1;
use bitcoin::script::{Builder, PushBytesBuf};
use bitcoin::transaction::Version;
use bitcoin::{
    Amount, Block, BlockHash, CompactTarget, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode, TxOut,
    Txid, Witness, XOnlyPublicKey,
};
use paraffin_alkanes::codec::{
    ALKANES_PROTOCOL, Cellpack, Protostone, Runestone, append_envelope, encode_protostones, gzip,
};
use paraffin_alkanes::proto::alkanes::{AlkaneStorageRequest, MessageContextParcel, Outpoint};
use paraffin_alkanes::proto::protorune::OutpointWithProtocol;
use paraffin_primitives::{AlkaneId, ConnectedBlock, Height};
use prost::Message as _;

use crate::odd::Odd;

const FREE_MINT: &[u8] = include_bytes!("../../../../contracts/wasm/free-mint.wasm");
const WRAPPED_BITCOIN: AlkaneId = id(32, 0);
const TOKEN: AlkaneId = id(2, 1);
/// The contract of this test.
pub(crate) const ODD: AlkaneId = id(2, 2);
/// Block in which a base rune is etched: the first that is deep enough.
const ETCHING: Height = 5;

/// The newest block.
pub(crate) const TIP: Height = 8;

const fn id(block: u128, tx: u128) -> AlkaneId {
    AlkaneId { block, tx }
}

/// A view request at a height.
pub(crate) struct Question {
    pub(crate) name: String,
    pub(crate) height: Height,
    pub(crate) view: &'static str,
    pub(crate) payload: Vec<u8>,
    /// Whether the answer is the same whatever the built-in contracts are.
    pub(crate) is_recorded: bool,
}

/// The chain, and its view requests.
pub(crate) struct Chain {
    pub(crate) blocks: Vec<ConnectedBlock>,
    pub(crate) questions: Vec<Question>,
}

impl Chain {
    /// The chain on which this key signs for wrapped bitcoin.
    pub(crate) fn new(signer: &str) -> Self {
        let mut chain = Self { blocks: Vec::new(), questions: Vec::new() };
        let signer: XOnlyPublicKey = signer.parse().unwrap();
        let keeper = ScriptBuf::new_p2tr(&Secp256k1::verification_only(), signer, None);
        chain.mine(vec![]);

        let odd = Odd::new();
        let words = |text: &str| {
            let mut bytes = [0; 16];
            bytes[..text.len()].copy_from_slice(text.as_bytes());
            u128::from_le_bytes(bytes)
        };
        let terms = [0, 1_000, 100, 5, words("Wax"), 0, words("WAX")];
        let token = deployment(chain.coin(0), FREE_MINT, &terms);
        let contract = deployment(chain.coin(0), &odd.module(), &[0, odd.answer.into()]);
        chain.mine(vec![token.clone(), contract]);

        let mints = [11, 12].map(|payee| message(&[], vec![output(script(payee))], TOKEN, &[77]));
        let paid = TxOut { value: Amount::from_sat(100_000_000), script_pubkey: keeper.clone() };
        let wrap = message(&[], vec![output(script(13)), paid], WRAPPED_BITCOIN, &[77]);
        chain.mine(vec![mints[0].clone(), mints[1].clone(), wrap.clone()]);

        // A payment that is open until the second output is spent.
        let owed = vec![output(script(14)), output(keeper)];
        let unwrap = message(&[first(&wrap)], owed, WRAPPED_BITCOIN, &[78, 1, 50_000_000]);
        chain.mine(vec![unwrap.clone()]);

        let mut calls = Vec::new();
        for case in &odd.cases {
            let mut call = message(&[], vec![output(script(20))], ODD, &[case.operation, case.pointer.into()]);
            // Messages of one block are different transactions.
            call.lock_time = LockTime::from_consensus(calls.len() as u32);
            chain.ask_trace(case.name, &call);
            calls.push(call);
        }
        chain.mine(calls);

        let etching = etching();
        chain.mine(vec![etching.clone()]);

        let paying = transaction(&[OutPoint { txid: unwrap.compute_txid(), vout: 1 }], vec![output(script(15))], &[]);
        let rune = message(&[], vec![output(script(16))], ODD, &[0, odd.rune.into()]);
        chain.ask_trace("a base rune that is not held", &rune);
        chain.mine(vec![paying, rune]);

        // With protostones and without: the first is cleared, the second is not.
        let moved = message(&[first(&token)], vec![output(script(17))], TOKEN, &[77]);
        let lost = transaction(&[first(&mints[0])], vec![output(script(18))], &[]);
        let spent_rune = transaction(&[first(&etching)], vec![output(script(19))], &[]);
        chain.mine(vec![moved.clone(), lost, spent_rune]);
        chain.mine(vec![]);
        assert_eq!(chain.blocks.len(), TIP as usize + 1);

        for height in 0..=TIP {
            let request = AlkaneStorageRequest { id: Some(WRAPPED_BITCOIN.into()), path: b"/last_block".to_vec() };
            chain.ask(format!("/last_block after block {height}"), height, "getstorageat", request.encode_to_vec());
        }
        for (name, outpoint) in [
            ("spent with protostones", first(&token)),
            ("spent without protostones", first(&mints[0])),
            ("not spent", first(&mints[1])),
            ("of the new owner", first(&moved)),
            ("without alkanes", chain.coin(3)),
            ("that is unknown", OutPoint { txid: Txid::from_byte_array([7; 32]), vout: 0 }),
        ] {
            chain.ask(format!("an output {name}"), TIP, "protorunesbyoutpoint", with_protocol(&outpoint));
        }
        chain.ask("before it was spent".to_owned(), TIP - 2, "protorunesbyoutpoint", with_protocol(&first(&token)));
        for (name, height) in [("is there", TIP - 2), ("was spent", TIP)] {
            let outpoint = plain(&first(&etching)).encode_to_vec();
            chain.ask(format!("a base rune that {name}"), height, "runesbyoutpoint", outpoint);
        }
        for (name, operation) in [("its fuel", Odd::FUEL), ("the fuel of a call", Odd::CALLED_FUEL)] {
            let calldata = Cellpack { target: ODD, inputs: vec![operation, 0] }.encode();
            let parcel = MessageContextParcel { calldata, height: TIP.into(), ..MessageContextParcel::default() };
            chain.ask(format!("simulate: {name}"), TIP, "simulate", parcel.encode_to_vec());
        }
        // What depends on the code of the built-in contracts.
        let genesis = paraffin_alkanes::Parameters::of(paraffin_primitives::Network::Regtest).genesis_outpoint();
        for (name, outpoint) in [("of the genesis", genesis), ("unwrapped", first(&wrap)), ("left", first(&unwrap))] {
            let payload = with_protocol(&outpoint);
            let name = format!("an output {name}");
            chain.questions.push(Question {
                name,
                height: TIP,
                view: "protorunesbyoutpoint",
                payload,
                is_recorded: false,
            });
        }
        chain
    }

    fn ask(&mut self, name: String, height: Height, view: &'static str, payload: Vec<u8>) {
        self.questions.push(Question { name, height, view, payload, is_recorded: true });
    }

    /// Requests the trace of a transaction's message.
    fn ask_trace(&mut self, name: &str, transaction: &Transaction) {
        let vout = u32::try_from(transaction.output.len()).unwrap() + 1;
        let shadow = plain(&OutPoint { txid: transaction.compute_txid(), vout });
        self.ask(format!("trace: {name}"), TIP, "trace", shadow.encode_to_vec());
    }

    fn coin(&self, height: usize) -> OutPoint {
        OutPoint { txid: self.blocks[height].txids[0], vout: 0 }
    }

    fn mine(&mut self, transactions: Vec<Transaction>) {
        let height = u32::try_from(self.blocks.len()).unwrap();
        let mut coinbase = transaction(&[OutPoint::null()], vec![output(script(200))], &[]);
        coinbase.input[0].script_sig = Builder::new().push_int(i64::from(height)).push_int(7).into_script();
        let mut txdata = vec![coinbase];
        txdata.extend(transactions);
        let header = Header {
            version: BlockVersion::TWO,
            prev_blockhash: self.blocks.last().map_or_else(BlockHash::all_zeros, |block| block.id.hash),
            merkle_root: TxMerkleNode::all_zeros(),
            time: 1_700_000_000 + height * 600,
            bits: CompactTarget::from_consensus(0x207f_ffff),
            nonce: 0,
        };
        let mut block = Block { header, txdata };
        block.header.merkle_root = block.compute_merkle_root().unwrap();
        self.blocks.push(ConnectedBlock::new(height, block));
    }
}

fn plain(outpoint: &OutPoint) -> Outpoint {
    Outpoint { txid: outpoint.txid.to_byte_array().to_vec(), vout: outpoint.vout }
}

fn with_protocol(outpoint: &OutPoint) -> Vec<u8> {
    let Outpoint { txid, vout } = plain(outpoint);
    OutpointWithProtocol { txid, vout, protocol: Some(1.into()) }.encode_to_vec()
}

fn first(transaction: &Transaction) -> OutPoint {
    OutPoint { txid: transaction.compute_txid(), vout: 0 }
}

fn script(number: u8) -> ScriptBuf {
    ScriptBuf::from_bytes([&[0x51, 0x20][..], &[number; 32]].concat())
}

fn output(script_pubkey: ScriptBuf) -> TxOut {
    TxOut { value: Amount::from_sat(10_000), script_pubkey }
}

/// A transaction whose last output carries the protostones. Without inputs it spends one that is on no chain.
fn transaction(spends: &[OutPoint], mut outputs: Vec<TxOut>, stones: &[Protostone]) -> Transaction {
    let foreign = OutPoint { txid: Txid::from_byte_array([0xfe; 32]), vout: 0 };
    let spends = if spends.is_empty() { vec![foreign] } else { spends.to_vec() };
    let input = spends.into_iter().map(|previous_output| TxIn {
        previous_output,
        script_sig: ScriptBuf::new(),
        sequence: Sequence::MAX,
        witness: Witness::new(),
    });
    if !stones.is_empty() {
        let runestone = Runestone { protocol: encode_protostones(stones).unwrap(), ..Runestone::default() };
        let script_pubkey = runestone.encode(outputs.len() + 1).unwrap();
        outputs.push(TxOut { value: Amount::ZERO, script_pubkey });
    }
    Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input: input.collect(), output: outputs }
}

/// A transaction with one message, which gives all to the first output.
fn message(spends: &[OutPoint], outputs: Vec<TxOut>, target: AlkaneId, inputs: &[u128]) -> Transaction {
    let stone = Protostone {
        protocol_tag: ALKANES_PROTOCOL,
        message: Cellpack { target, inputs: inputs.to_vec() }.encode(),
        pointer: Some(0),
        refund: Some(0),
        ..Protostone::default()
    };
    transaction(spends, outputs, &[stone])
}

fn deployment(coin: OutPoint, code: &[u8], inputs: &[u128]) -> Transaction {
    let mut deployment = message(&[coin], vec![output(script(1))], id(1, 0), inputs);
    let envelope = append_envelope(Builder::new(), &gzip(code)).into_script();
    deployment.input[0].witness = Witness::from_slice(&[envelope.as_bytes(), &[0xc0; 33]]);
    deployment
}

/// Etches a base rune and gives all of it to the first output. The commitment is in an output that no block has, which counts
/// as one of height 0.
fn etching() -> Transaction {
    let rune: ordinals::Rune = "PARAFFINWAXES".parse().unwrap();
    let etching =
        ordinals::Etching { rune: Some(rune), premine: Some(777), symbol: Some('W'), ..ordinals::Etching::default() };
    let base = ordinals::Runestone { etching: Some(etching), pointer: Some(0), ..ordinals::Runestone::default() };
    let mut etch = transaction(&[], vec![output(script(5))], &[]);
    let commitment = PushBytesBuf::try_from(rune.commitment()).unwrap();
    etch.input[0].witness.push(Builder::new().push_slice(commitment).into_script());
    etch.input[0].witness.push([0xc0; 33]);
    let script_pubkey = Runestone { base, protocol: vec![] }.encode(2).unwrap();
    etch.output.push(TxOut { value: Amount::ZERO, script_pubkey });
    etch
}

/// The id of what [`etching`] etches: its block, its index there.
pub(crate) const RUNE: AlkaneId = id(ETCHING as u128, 1);

//! An attacker that sends anything that the network relays: an account with coins, and transactions of any shape.

use bitcoin::absolute::LockTime;
use bitcoin::opcodes::all::{OP_CHECKSIG, OP_PUSHNUM_13, OP_RETURN};
use bitcoin::script::{Builder, PushBytesBuf};
use bitcoin::transaction::Version;
use bitcoin::{Amount, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxOut, Txid, Witness};
use paraffin_alkanes::codec::{
    ALKANES_PROTOCOL, Cellpack, Edict, Protostone, Runestone, append_envelope, encode_protostones,
};
use paraffin_devnet::{Node, OutputKind, Wallet};
use paraffin_primitives::{AlkaneId, Amount as Units};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore as _, SeedableRng as _};

/// What each transaction pays, in satoshis: enough for the largest.
const FEE_SAT: u64 = 200_000;
const DUST_SAT: u64 = 1_000;
const MATURITY: u32 = 100;

pub(super) struct Vandal {
    wallet: Wallet,
    random: ChaCha8Rng,
}

impl Vandal {
    pub(super) fn new(seed: u64) -> Self {
        let own = seed ^ 0x0bad_5eed;
        Self { wallet: Wallet::new(own, &["vandal"]), random: ChaCha8Rng::seed_from_u64(own) }
    }

    pub(super) fn script(&self) -> ScriptBuf {
        self.wallet.script(0, OutputKind::Taproot)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.random.next_u64() % bound
    }

    fn bytes(&mut self, length: u64) -> Vec<u8> {
        let mut bytes = vec![0; length as usize];
        self.random.fill_bytes(&mut bytes);
        bytes
    }

    /// An integer of any size.
    pub(super) fn integer(&mut self) -> u128 {
        match self.below(8) {
            0..=3 => u128::from(self.below(16)),
            4 => u128::from(self.below(1 << 20)),
            5 => u128::from(self.random.next_u64()),
            6 => u128::MAX - u128::from(self.below(4)),
            _ => u128::from(self.random.next_u64()) << 64 | u128::from(self.random.next_u64()),
        }
    }

    /// Confirmed coins that nothing spends.
    pub(super) fn coins(&self, node: &Node) -> Vec<(OutPoint, TxOut)> {
        let next = node.tip().height + 1;
        let coins = node.spendable(&[self.script()].into()).into_iter();
        coins
            .filter(|(_, coin)| !coin.coinbase || next - coin.height >= MATURITY)
            .map(|(outpoint, coin)| (outpoint, coin.output))
            .collect()
    }

    /// Large coins first.
    pub(super) fn largest(&self, node: &Node) -> (OutPoint, TxOut) {
        self.coins(node).into_iter().max_by_key(|(outpoint, output)| (output.value, *outpoint)).unwrap()
    }

    pub(super) fn own(&self) -> TxOut {
        TxOut { value: Amount::from_sat(DUST_SAT), script_pubkey: self.script() }
    }

    /// Spends `coins` to `outputs` and the change; signed.
    pub(super) fn spend(&self, coins: &[(OutPoint, TxOut)], mut outputs: Vec<TxOut>) -> Option<Transaction> {
        let sum = |outputs: &[TxOut]| outputs.iter().map(|output| output.value.to_sat()).sum::<u64>();
        let spent: Vec<TxOut> = coins.iter().map(|(_, output)| output.clone()).collect();
        let change = sum(&spent).checked_sub(sum(&outputs) + FEE_SAT).filter(|change| *change > DUST_SAT)?;
        outputs.push(TxOut { value: Amount::from_sat(change), script_pubkey: self.script() });
        let mut transaction = unsigned(coins.iter().map(|(outpoint, _)| *outpoint), outputs);
        self.wallet.sign(&mut transaction, &spent).unwrap();
        Some(transaction)
    }

    /// Two transactions: one commits to a script with `payload` in its envelope, the other reveals it with these outputs.
    pub(super) fn reveal(&self, node: &Node, payload: &[u8], mut outputs: Vec<TxOut>) -> Txid {
        let key = self.wallet.internal_key(0);
        let start = Builder::new().push_x_only_key(&key).push_opcode(OP_CHECKSIG);
        let leaf = append_envelope(start, payload).into_script();
        let coin = self.largest(node);
        let value = coin.1.value.to_sat().min(100_000_000) - FEE_SAT;
        let commitment = TxOut { value: Amount::from_sat(value), script_pubkey: self.wallet.script_path(0, &leaf) };
        let commit = self.spend(&[coin], vec![commitment.clone()]).unwrap();
        let paid: u64 = outputs.iter().map(|output| output.value.to_sat()).sum();
        outputs.push(TxOut { value: Amount::from_sat(value - paid - FEE_SAT), script_pubkey: self.script() });
        let mut reveal = unsigned([OutPoint { txid: commit.compute_txid(), vout: 0 }], outputs);
        self.wallet.sign_script_path(&mut reveal, 0, &[commitment], &leaf).unwrap();
        node.submit_transaction(commit).unwrap();
        node.submit_transaction(reveal).unwrap()
    }

    /// A contract of these bytes, set up with `inputs`.
    pub(super) fn deploy(&self, node: &Node, packed: &[u8], inputs: &[u128]) -> Txid {
        let create = call(AlkaneId { block: 1, tx: 0 }, inputs);
        self.reveal(node, packed, vec![self.own(), runestone(&[create], 3)])
    }

    /// A call of a contract, with a plain coin.
    pub(super) fn send(&self, node: &Node, target: AlkaneId, inputs: &[u128]) -> Txid {
        let outputs = vec![self.own(), runestone(&[call(target, inputs)], 3)];
        node.submit_transaction(self.spend(&[self.largest(node)], outputs).unwrap()).unwrap()
    }

    /// Outputs with something that looks like a message to contracts, more or less.
    pub(super) fn garbage(&mut self, targets: &[AlkaneId]) -> Vec<TxOut> {
        let mut outputs: Vec<TxOut> = (0..self.below(4)).map(|_| self.own()).collect();
        let index = self.below(outputs.len() as u64 + 1) as usize;
        // One more for the change.
        let count = outputs.len() + 2;
        let script = match self.below(4) {
            0 => {
                let length = self.below(76);
                let bytes = PushBytesBuf::try_from(self.bytes(length)).unwrap();
                Some(Builder::new().push_opcode(OP_RETURN).push_opcode(OP_PUSHNUM_13).push_slice(bytes).into_script())
            }
            1 => {
                let protocol = (0..self.below(40)).map(|_| self.integer()).collect();
                Runestone { protocol, ..Runestone::default() }.encode(count).ok()
            }
            _ => {
                let stones: Vec<_> = (0..=self.below(5)).map(|_| self.stone(targets)).collect();
                let protocol = encode_protostones(&stones).unwrap();
                Runestone { protocol, ..Runestone::default() }.encode(count).ok()
            }
        };
        if let Some(script_pubkey) = script {
            outputs.insert(index, TxOut { value: Amount::ZERO, script_pubkey });
        }
        outputs
    }

    fn stone(&mut self, targets: &[AlkaneId]) -> Protostone {
        let strange = [(0, 0), (1, 0), (3, 7), (4, 0), (5, 2), (6, 65_522), (7, 1), (800_000_000, 1)];
        let target = match self.below(3) {
            0 => {
                let (block, tx) = strange[self.below(strange.len() as u64) as usize];
                AlkaneId { block, tx }
            }
            _ => targets[self.below(targets.len() as u64) as usize],
        };
        let message = match self.below(5) {
            0 => Vec::new(),
            1 => {
                let length = self.below(60);
                self.bytes(length)
            }
            2 => Cellpack { target, inputs: vec![77] }.encode(),
            _ => Cellpack { target, inputs: (0..self.below(9)).map(|_| self.integer()).collect() }.encode(),
        };
        let edicts = (0..self.below(4)).map(|_| Edict {
            id: targets[self.below(targets.len() as u64) as usize],
            amount: Units(self.integer()),
            output: if self.below(4) > 0 { u128::from(self.below(9)) } else { self.integer() },
        });
        let edicts = edicts.collect();
        let tag = if self.below(6) > 0 { ALKANES_PROTOCOL } else { self.integer().max(1) };
        Protostone {
            protocol_tag: tag,
            message,
            pointer: self.vout(),
            refund: self.vout(),
            burn: (self.below(8) == 0).then(|| self.integer()),
            from: (self.below(8) == 0).then(|| self.below(9) as u32),
            edicts,
        }
    }

    fn vout(&mut self) -> Option<u32> {
        match self.below(8) {
            0 => None,
            1 => Some(self.random.next_u32()),
            2 => Some(u32::MAX),
            _ => Some(self.below(9) as u32),
        }
    }
}

pub(super) fn call(target: AlkaneId, inputs: &[u128]) -> Protostone {
    Protostone {
        protocol_tag: ALKANES_PROTOCOL,
        message: Cellpack { target, inputs: inputs.to_vec() }.encode(),
        pointer: Some(0),
        refund: Some(0),
        ..Protostone::default()
    }
}

pub(super) fn runestone(stones: &[Protostone], output_count: usize) -> TxOut {
    let runestone = Runestone { protocol: encode_protostones(stones).unwrap(), ..Runestone::default() };
    TxOut { value: Amount::ZERO, script_pubkey: runestone.encode(output_count).unwrap() }
}

fn unsigned(inputs: impl IntoIterator<Item = OutPoint>, output: Vec<TxOut>) -> Transaction {
    let input = inputs.into_iter().map(|previous_output| TxIn {
        previous_output,
        script_sig: ScriptBuf::new(),
        sequence: Sequence::ENABLE_RBF_NO_LOCKTIME,
        witness: Witness::new(),
    });
    Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input: input.collect(), output }
}

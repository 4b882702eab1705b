//! People who do everything on markets that can be done, wisely or not.
//!
//! ```text
//!  outputs  0 the purse   1 runestone   2… what the plan asks for   last: change
//!  stones   0 sends each message what it brings, the rest to the purse   1… the messages, then what the plan adds
//! ```

mod orders;
mod view;

use bitcoin::absolute::LockTime;
use bitcoin::opcodes::all::OP_CHECKSIG;
use bitcoin::script::Builder;
use bitcoin::transaction::Version;
use bitcoin::{Amount, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxOut, Witness};
use paraffin_alkanes::codec::{
    ALKANES_PROTOCOL, Cellpack, Edict, Protostone, Runestone, append_envelope, encode_protostones, gzip, shadow_vout,
};
use paraffin_alkanes::{ChainState, Sheet, Transfer};
use paraffin_devnet::{Node, OutputKind, Wallet};
use paraffin_primitives::{AlkaneId, Amount as Units};

use self::view::View;
use crate::chance::Chance;

const PROBE: &[u8] = include_bytes!("../../../../contracts/wasm/probe.wasm");
const UPGRADEABLE_PROXY: &[u8] = include_bytes!("../../../../contracts/wasm/upgradeable-proxy.wasm");
const NAMES: [&str; 6] = ["owner", "ann", "ben", "cid", "dot", "eve"];
/// Index of the owner of the second factory in [`NAMES`].
const OWNER: usize = 0;
const PURSE_SAT: u64 = 1_000;
const MATURITY: u32 = 100;
/// First block with a transaction of the crowd, and how many blocks it needs before it trades.
pub(crate) const FIRST_HEIGHT: u32 = 116;
const FOUNDING: u32 = 5;

/// A second factory, with the code of the first.
pub(crate) const SECOND_FACTORY: AlkaneId = AlkaneId { block: 4, tx: 70_000 };
const FACTORY_CODE: u128 = 65_524;
const POOL_TEMPLATE: u128 = 0xbeac1;
const BEACON: AlkaneId = AlkaneId { block: 4, tx: 0xbeac0 };
const PROXY_INITIALIZE: u128 = 0x7fff;

/// Where the results of a message go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aim {
    Purse,
    Change,
    /// The output of the runestone: what goes there is lost.
    Runestone,
    /// An output that the plan adds.
    Added(u32),
    /// The shadow output of the stone behind.
    Next,
    /// The number after that of the last output, which is allowed and names none.
    Nowhere,
    /// Beyond all shadow outputs: the transaction is void.
    Beyond,
    /// Not written: the transaction is void.
    Missing,
}

struct Message {
    sends: Vec<Transfer>,
    call: Cellpack,
    aim: Aim,
}

#[derive(Default)]
struct Plan {
    messages: Vec<Message>,
    outputs: Vec<TxOut>,
    /// Whether a last stone moves what is no alkane.
    ends_void: bool,
}

/// Outputs that one account can spend.
#[derive(Default)]
struct Purse {
    coins: Vec<(OutPoint, TxOut)>,
    alkanes: Vec<(OutPoint, TxOut)>,
    held: Sheet,
}

pub(crate) struct Crowd {
    wallet: Wallet,
    chance: Chance,
}

impl Crowd {
    pub(crate) fn new(seed: u64) -> Self {
        Self { wallet: Wallet::new(seed ^ 0xc0_0d, &NAMES), chance: Chance(seed) }
    }

    fn script(&self, account: usize) -> ScriptBuf {
        self.wallet.script(account, OutputKind::Taproot)
    }

    /// The recipient of the coinbase at a height while the first coins are mined.
    pub(crate) fn miner(&self, height: u32) -> ScriptBuf {
        self.script(height as usize % NAMES.len())
    }

    /// Sends the transactions of the next block. `state` is that at the node's tip; any account
    /// can mint and copy `token`.
    pub(crate) fn step(&mut self, node: &Node, state: &ChainState, token: Option<AlkaneId>) {
        let height = node.tip().height + 1;
        let (Some(step), Some(token)) = (height.checked_sub(FIRST_HEIGHT), token) else { return };
        let view = View::of(state, height, token);
        if step < FOUNDING {
            return self.found(node, state, &view, step);
        }
        for account in 0..NAMES.len() {
            if self.chance.one_in(5) {
                continue;
            }
            let purse = self.purse(node, state, account);
            let own = self.script(account);
            if let Some(plan) = orders::plan(&mut self.chance, &view, &purse, account == OWNER, &own) {
                self.send(node, account, &purse, plan);
            }
        }
    }

    /// The probe and the second factory; tokens for everybody; something that looks like a pool.
    fn found(&mut self, node: &Node, state: &ChainState, view: &View, step: u32) {
        let call = |target: AlkaneId, inputs: &[u128]| Cellpack { target, inputs: inputs.to_vec() };
        for account in 0..NAMES.len() {
            let purse = self.purse(node, state, account);
            let (sends, cellpack) = match (step, account) {
                (0, OWNER) => {
                    self.deploy(node, &purse, 0, PROBE, &call(AlkaneId { block: 3, tx: view::PROBE.tx }, &[0]));
                    let create = AlkaneId { block: 3, tx: SECOND_FACTORY.tx };
                    self.deploy(
                        node,
                        &purse,
                        1,
                        UPGRADEABLE_PROXY,
                        &call(create, &[PROXY_INITIALIZE, 4, FACTORY_CODE, 1]),
                    );
                    continue;
                }
                // Each has a token of his own.
                (0, _) => {
                    let name = 0x4f4f + account as u128;
                    let copy = AlkaneId { block: 5, tx: view.token.tx };
                    // One token is so plentiful that its amounts need all their bits.
                    let supply = if account == 5 { 1 << 120 } else { 5_000_000_000 };
                    (Vec::new(), call(copy, &[0, supply, 1_000_000_000, 0, name, 0, name]))
                }
                (1, OWNER) => {
                    let inputs = [0, POOL_TEMPLATE, BEACON.block, BEACON.tx];
                    (purse.held.transfers(), call(SECOND_FACTORY, &inputs))
                }
                (1 | 2, _) => (Vec::new(), call(if account % 2 == 0 { view::DIESEL } else { view.token }, &[77])),
                (3, 1) => {
                    // The probe makes a copy of a pool, as a factory would.
                    let inputs = [40, 6, POOL_TEMPLATE, 3, PROXY_INITIALIZE, BEACON.block, BEACON.tx];
                    (Vec::new(), call(view::PROBE, &inputs))
                }
                (3, _) => {
                    let plan = orders::wrap(&mut self.chance, view, 300_000_000);
                    self.send(node, account, &purse, plan);
                    continue;
                }
                (_, 1) => {
                    let sends: Vec<_> = purse
                        .held
                        .transfers()
                        .into_iter()
                        .map(|held| Transfer { value: held.value / 2, ..held })
                        .collect();
                    let (Some(bare), [a, b, ..]) = (view.bare, &sends[..]) else { panic!("nothing to make a pool of") };
                    let (a, b) = (*a, *b);
                    let pool = [0, a.id.block, a.id.tx, b.id.block, b.id.tx, view::PROBE.block, view::PROBE.tx];
                    (vec![a, b], orders::through_probe(bare, &pool))
                }
                _ => continue,
            };
            let message = Message { sends, call: cellpack, aim: Aim::Purse };
            self.send(node, account, &purse, Plan { messages: vec![message], ..Plan::default() });
        }
    }

    fn purse(&self, node: &Node, state: &ChainState, account: usize) -> Purse {
        let next = node.tip().height + 1;
        let mut purse = Purse::default();
        for (outpoint, coin) in node.spendable(&[self.script(account)].into()) {
            if coin.coinbase && next - coin.height < MATURITY {
                continue;
            }
            let held = view::sheet(state, outpoint);
            if held.is_empty() {
                purse.coins.push((outpoint, coin.output));
            } else {
                purse.alkanes.push((outpoint, coin.output));
                purse.held.merge(&held).unwrap();
            }
        }
        purse.coins.sort_by_key(|(outpoint, output)| (std::cmp::Reverse(output.value), *outpoint));
        purse
    }

    /// Carries out a plan with everything that has alkanes and the largest coin.
    fn send(&mut self, node: &Node, account: usize, purse: &Purse, plan: Plan) {
        let Some(coin) = purse.coins.first() else { return };
        let spent: Vec<_> = purse.alkanes.iter().chain([coin]).collect();
        let own = |sat: u64| TxOut { value: Amount::from_sat(sat), script_pubkey: self.script(account) };
        let mut output = vec![own(PURSE_SAT), TxOut::NULL];
        output.extend(plan.outputs);
        let count = output.len() + 1;
        let protocol = encode_protostones(&stones(&plan.messages, plan.ends_void, count)).unwrap();
        let stone = Runestone { protocol, ..Runestone::default() }.encode(count).unwrap();
        output[1] = TxOut { value: Amount::ZERO, script_pubkey: stone };
        let available: u64 = spent.iter().map(|(_, output)| output.value.to_sat()).sum();
        let paid: u64 = output.iter().map(|output| output.value.to_sat()).sum();
        let fee = 20_000 + self.chance.below(100_000);
        let Some(change) = available.checked_sub(paid + fee).filter(|change| *change > PURSE_SAT) else { return };
        output.push(TxOut { value: Amount::from_sat(change), script_pubkey: self.script(account) });
        let mut transaction = unsigned(spent.iter().map(|(outpoint, _)| *outpoint), output);
        let outputs: Vec<TxOut> = spent.iter().map(|(_, output)| output.clone()).collect();
        self.wallet.sign(&mut transaction, &outputs).unwrap();
        node.submit_transaction(transaction).unwrap();
    }

    /// Commits to a script with the code, then reveals it with a message.
    fn deploy(&self, node: &Node, purse: &Purse, coin: usize, code: &[u8], call: &Cellpack) {
        const FEE: u64 = 200_000;
        let key = self.wallet.internal_key(OWNER);
        let leaf = Builder::new().push_x_only_key(&key).push_opcode(OP_CHECKSIG);
        let leaf = append_envelope(leaf, &gzip(code)).into_script();
        let (outpoint, coin) = purse.coins[coin].clone();
        let value = coin.value - Amount::from_sat(FEE);
        let commitment = TxOut { value, script_pubkey: self.wallet.script_path(OWNER, &leaf) };
        let mut commit = unsigned([outpoint], vec![commitment.clone()]);
        self.wallet.sign(&mut commit, &[coin]).unwrap();
        let message = Message { sends: Vec::new(), call: call.clone(), aim: Aim::Purse };
        let protocol = encode_protostones(&stones(&[message], false, 3)).unwrap();
        let script_pubkey = Runestone { protocol, ..Runestone::default() }.encode(3).unwrap();
        let own = |value: Amount| TxOut { value, script_pubkey: self.script(OWNER) };
        let change = value - Amount::from_sat(FEE + PURSE_SAT);
        let outputs = vec![own(Amount::from_sat(PURSE_SAT)), TxOut { value: Amount::ZERO, script_pubkey }, own(change)];
        let mut reveal = unsigned([OutPoint { txid: commit.compute_txid(), vout: 0 }], outputs);
        self.wallet.sign_script_path(&mut reveal, OWNER, &[commitment], &leaf).unwrap();
        node.submit_transaction(commit).unwrap();
        node.submit_transaction(reveal).unwrap();
    }
}

fn stones(messages: &[Message], ends_void: bool, output_count: usize) -> Vec<Protostone> {
    let shadow = |index: usize| shadow_vout(output_count, index);
    let count = output_count as u32;
    let sends = messages.iter().enumerate().flat_map(|(index, message)| {
        let output = u128::from(shadow(index + 1));
        message.sends.iter().map(move |send| Edict { id: send.id, amount: Units(send.value), output })
    });
    let plain = |edicts: Vec<Edict>| Protostone {
        protocol_tag: ALKANES_PROTOCOL,
        pointer: Some(0),
        edicts,
        ..Protostone::default()
    };
    let mut stones = vec![plain(sends.collect())];
    for (index, message) in messages.iter().enumerate() {
        let pointer = match message.aim {
            Aim::Purse => Some(0),
            Aim::Change => Some(count - 1),
            Aim::Runestone => Some(1),
            Aim::Added(index) => Some(2 + index),
            Aim::Next => Some(shadow(index + 2)),
            Aim::Nowhere => Some(count),
            Aim::Beyond => Some(count + 90),
            Aim::Missing => None,
        };
        let message = message.call.encode();
        let refund = Some(0);
        stones.push(Protostone { protocol_tag: ALKANES_PROTOCOL, message, pointer, refund, ..Protostone::default() });
    }
    // What the last message aimed at the stone behind it arrives here.
    if messages.last().is_some_and(|message| message.aim == Aim::Next) {
        stones.push(plain(Vec::new()));
    }
    if ends_void {
        stones.push(plain(vec![Edict { id: AlkaneId { block: 0, tx: 7 }, amount: Units(1), output: 0 }]));
    }
    stones
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

//! Contracts of the chain: an exchange is deployed in the first block that has contracts, tokens are created and distributed, and then
//! users mint, trade and transfer.
//!
//! ```text
//!  founding    one transaction for each step; its first output keeps the founder's alkanes for the next step
//!  traders     one output each, that holds all of its alkanes; an order spends it and makes it again
//!  mints       ordinary transactions; what they mint moves with their outputs, whoever spends them
//! ```
//! No engine runs while the chain is made: orders name amounts that a trader mostly has. An order for more ends with a revert, as
//! on mainnet.

use std::sync::LazyLock;

use bitcoin::key::Secp256k1;
use bitcoin::script::Builder;
use bitcoin::{ScriptBuf, XOnlyPublicKey};
use paraffin_alkanes::codec::{
    ALKANES_PROTOCOL, Cellpack, Edict, Protostone, append_envelope, encode_protostones, gzip, shadow_vout,
};
use paraffin_primitives::{AlkaneId, Amount};

use super::message::{made_at, varint};
use super::random::Random;

/// Interval in blocks at which a token that anyone can mint is created.
pub(crate) const TOKEN_EVERY: u32 = 64;
/// Outputs that hold what traders have.
pub(crate) const TRADERS: u16 = 32;
/// Traders that one transaction hands tokens to.
const HANDED_TO: u16 = 4;
/// Satoshis that the founder wraps.
const WRAPPED_SAT: u64 = 10_000_000;
/// Units of each token, and those that each trader gets of them.
const SUPPLY: u128 = 1 << 60;
const SHARE: u128 = SUPPLY / 128;
/// Units of a token and of wrapped bitcoin that a pool begins with.
const LIQUIDITY: u128 = SUPPLY / 16;
const WRAPPED_LIQUIDITY: u128 = 9_000_000;
/// Units of a token and of wrapped bitcoin that one order sells on average.
const SOLD: u64 = (SHARE / 512) as u64;
const SOLD_WRAPPED: u64 = 4_000;

const GENESIS_TOKEN: AlkaneId = AlkaneId { block: 2, tx: 0 };
const WRAPPED_BITCOIN: AlkaneId = AlkaneId { block: 32, tx: 0 };
const FACTORY: AlkaneId = AlkaneId { block: 4, tx: 65_522 };
const AUTH_TOKEN: u128 = 65_517;
const POOL: u128 = 65_520;
const FACTORY_CODE: u128 = 65_524;
const BEACON: u128 = 0xbeac0;
const POOL_TEMPLATE: u128 = 0xbeac1;
/// Templates of tokens, which `6:n` copies.
const FREE_MINT: u128 = 65_600;
const OWNED_TOKEN: u128 = 65_601;

/// Opcodes: of proxies, of factory, of tokens.
const PROXY_INITIALIZE: u128 = 0x7fff;
const PROXY_FORWARD: u128 = 0x8fff;
const FORWARD: u128 = 50;
const SET_UP: u128 = 0;
const CREATE_POOL: u128 = 1;
const SWAP_EXACT_IN: u128 = 13;
const SWAP_IMPLICIT: u128 = 29;
const MINT: u128 = 77;
const NAME: u128 = 99;

/// Beacon and proxy of the factory make an ownership token each, as does every token with an owner, right after the token.
const fn token(number: u128) -> AlkaneId {
    AlkaneId { block: 2, tx: 3 + 2 * number }
}
/// Tokens with an owner.
const TOKENS: u128 = 4;
/// The pairs of the pools; a trade of any token for any other goes through two of them at most.
const PAIRS: [[AlkaneId; 2]; 4] =
    [[token(0), WRAPPED_BITCOIN], [token(0), token(1)], [token(0), token(2)], [token(0), token(3)]];
/// Contracts `2:n` of the founding: ownership tokens, tokens, pools.
const FOUNDED: u128 = 2 + 2 * TOKENS + PAIRS.len() as u128;

/// Code that is deployed, with the call that deploys it, in this order.
const DEPLOYED: [(&[u8], u128, &[u128]); 8] = [
    (include_bytes!("../../../contracts/wasm/auth-token.wasm"), AUTH_TOKEN, &[NAME]),
    (include_bytes!("../../../contracts/wasm/amm-pool.wasm"), POOL, &[FORWARD]),
    (include_bytes!("../../../contracts/wasm/amm-factory.wasm"), FACTORY_CODE, &[FORWARD]),
    (include_bytes!("../../../contracts/wasm/beacon-proxy.wasm"), POOL_TEMPLATE, &[PROXY_FORWARD]),
    (include_bytes!("../../../contracts/wasm/upgradeable-beacon.wasm"), BEACON, &[PROXY_INITIALIZE, 4, POOL, 1]),
    (
        include_bytes!("../../../contracts/wasm/upgradeable-proxy.wasm"),
        FACTORY.tx,
        &[PROXY_INITIALIZE, 4, FACTORY_CODE, 1],
    ),
    (include_bytes!("../../../contracts/wasm/free-mint.wasm"), FREE_MINT, &[NAME]),
    (include_bytes!("../../../contracts/wasm/owned-token.wasm"), OWNED_TOKEN, &[NAME]),
];

/// Steps of the founding after code is deployed.
const SET_UP_STEP: u16 = DEPLOYED.len() as u16;
const FIRST_TOKEN: u16 = SET_UP_STEP + 1;
const WRAP: u16 = FIRST_TOKEN + TOKENS as u16;
const FIRST_POOL: u16 = WRAP + 1;
const FIRST_HANDED: u16 = FIRST_POOL + PAIRS.len() as u16;
/// Steps of the founding, the transactions 1 and following of its block.
pub(crate) const STEPS: u16 = FIRST_HANDED + TRADERS / HANDED_TO;

/// Inputs that the founder pays a step with, beside the output of the step before; the wrapped bitcoin is in them.
pub(crate) const fn paid_with(step: u16) -> u16 {
    if step == WRAP { 40 } else { 1 }
}

/// Outputs of a step that can be spent. The first is the founder's, the others those of traders.
pub(crate) const fn outputs(step: u16) -> u16 {
    if step >= FIRST_HANDED { 1 + HANDED_TO } else { 1 }
}

/// The trader whose output is number `vout`, above 0, of a step.
pub(crate) const fn trader(step: u16, vout: u16) -> u16 {
    (step - FIRST_HANDED) * HANDED_TO + vout - 1
}

/// Satoshis of a payment to the signer of wrapped bitcoin, which comes after the outputs that can be spent; 0 for none.
pub(crate) const fn wrapped_value(step: u16) -> u64 {
    if step == WRAP { WRAPPED_SAT } else { 0 }
}

/// The script of the signer of wrapped bitcoin on development networks: its key is public (`contracts/wrapped-bitcoin`).
pub(crate) fn signer() -> &'static ScriptBuf {
    static SIGNER: LazyLock<ScriptBuf> = LazyLock::new(|| {
        let key: XOnlyPublicKey = "971c2b4ad911ce5754adc623104d0f65f4b51a1a96972071c926c98bc298c142"
            .parse()
            .expect("the key of the contract is one");
        ScriptBuf::new_p2tr(&Secp256k1::verification_only(), key, None)
    });
    &SIGNER
}

/// The script that holds the code which a step deploys.
pub(crate) fn code(step: u16) -> Option<ScriptBuf> {
    let (code, ..) = DEPLOYED.get(usize::from(step))?;
    Some(append_envelope(Builder::new(), &gzip(code)).into_script())
}

fn cellpack(block: u128, tx: u128, inputs: &[u128]) -> Cellpack {
    Cellpack { target: AlkaneId { block, tx }, inputs: inputs.to_vec() }
}

/// Text of up to 15 bytes as a contract takes it in one integer, the first byte lowest and a zero behind the last.
fn word(text: &str) -> u128 {
    text.bytes().rev().fold(0, |word, byte| word << 8 | u128::from(byte))
}

/// What a transaction does: what it sends into its call, the call, what it gives to outputs.
#[derive(Default)]
struct Action {
    sent: Vec<(AlkaneId, u128)>,
    call: Option<Cellpack>,
    given: Vec<(AlkaneId, u128, u16)>,
}

/// The step of the founding; an amount of 0 is all that there is.
fn founding(step: u16) -> Action {
    if let Some((_, number, inputs)) = DEPLOYED.get(usize::from(step)) {
        return Action { call: Some(cellpack(3, *number, inputs)), ..Action::default() };
    }
    match step {
        SET_UP_STEP => Action {
            sent: vec![(AlkaneId { block: 2, tx: 1 }, 1), (AlkaneId { block: 2, tx: 2 }, 1)],
            call: Some(cellpack(FACTORY.block, FACTORY.tx, &[SET_UP, POOL_TEMPLATE, 4, BEACON])),
            ..Action::default()
        },
        FIRST_TOKEN..WRAP => {
            let name = word(&format!("Token {}", step - FIRST_TOKEN));
            Action { call: Some(cellpack(6, OWNED_TOKEN, &[1, 1, SUPPLY, name, name])), ..Action::default() }
        }
        WRAP => Action { call: Some(Cellpack { target: WRAPPED_BITCOIN, inputs: vec![MINT] }), ..Action::default() },
        FIRST_POOL..FIRST_HANDED => {
            let [a, b] = PAIRS[usize::from(step - FIRST_POOL)];
            let amount = |id| if id == WRAPPED_BITCOIN { WRAPPED_LIQUIDITY } else { LIQUIDITY };
            let inputs = [CREATE_POOL, a.block, a.tx, b.block, b.tx, amount(a), amount(b)];
            Action {
                sent: vec![(a, amount(a)), (b, amount(b))],
                call: Some(cellpack(FACTORY.block, FACTORY.tx, &inputs)),
                ..Action::default()
            }
        }
        _ => {
            let given = (0..TOKENS).flat_map(|number| (1..=HANDED_TO).map(move |vout| (token(number), SHARE, vout)));
            Action { given: given.collect(), ..Action::default() }
        }
    }
}

fn mint(target: AlkaneId) -> Action {
    Action { call: Some(Cellpack { target, inputs: vec![MINT] }), ..Action::default() }
}

/// One of the newest tokens that anyone can mint; before there is one, the genesis token. Contracts began at height `from`.
fn new_one(random: &mut Random, height: u32, from: u32) -> AlkaneId {
    let first = (from / TOKEN_EVERY + 1) * TOKEN_EVERY;
    let blocks = made_at(random, height, TOKEN_EVERY).checked_sub(first);
    blocks.map_or(GENESIS_TOKEN, |blocks| AlkaneId { block: 2, tx: FOUNDED + 1 + u128::from(blocks / TOKEN_EVERY) })
}

/// A new token that anyone can mint.
fn new_token(height: u32) -> Action {
    let name = word(&format!("Mint {height}"));
    Action { call: Some(cellpack(6, FREE_MINT, &[0, 0, 100_000_000, 0, name, 0, name])), ..Action::default() }
}

/// An order of a trader: through one pool or two, for an exact amount or for all that is sent; one in eight passes tokens on.
fn order(random: &mut Random) -> Action {
    let ids = |path: &[AlkaneId]| path.iter().flat_map(|id| [id.block, id.tx]).collect::<Vec<_>>();
    let [mut from, mut to] = PAIRS[random.below(PAIRS.len() as u64) as usize];
    if random.below(2) == 0 {
        std::mem::swap(&mut from, &mut to);
    }
    let mean = if from == WRAPPED_BITCOIN { SOLD_WRAPPED } else { SOLD };
    let sold = (from, u128::from(mean / 2 + random.below(mean)));
    let kind = random.below(8);
    if kind == 0 {
        return Action { given: vec![(from, sold.1, 1)], ..Action::default() };
    }
    let mut path = vec![from, to];
    let onward = PAIRS[random.below(PAIRS.len() as u64) as usize][1];
    if kind == 1 && to == token(0) && onward != from {
        path.push(onward);
    }
    let inputs = if kind < 5 {
        let hops = path.len() as u128;
        [vec![SWAP_EXACT_IN, hops], ids(&path), vec![sold.1, 1, 0]].concat()
    } else {
        [vec![SWAP_IMPLICIT, path.len() as u128 - 1], ids(&path[1..]), vec![1, 0]].concat()
    };
    Action { sent: vec![sold], call: Some(Cellpack { target: FACTORY, inputs }), ..Action::default() }
}

/// Kind of a transaction with contracts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calls {
    Founding(u16),
    NewToken,
    /// Of the genesis token, and of a rune by the same runestone, as nearly all of mainnet's are.
    GenesisMint,
    Mint,
    Order,
}

/// Appends the payload of the runestone of a transaction with `outputs` outputs, this one among them.
pub(crate) fn write(
    calls: Calls,
    random: &mut Random,
    (height, from): (u32, u32),
    outputs: u16,
    payload: &mut Vec<u8>,
) {
    let action = match calls {
        Calls::Founding(step) => founding(step),
        Calls::NewToken => new_token(height),
        Calls::GenesisMint => mint(GENESIS_TOKEN),
        Calls::Mint => mint(new_one(random, height, from)),
        Calls::Order => order(random),
    };
    let message = u128::from(shadow_vout(usize::from(outputs), 1));
    let sent = action.sent.into_iter().map(|(id, amount)| (id, amount, message));
    let given = action.given.into_iter().map(|(id, amount, vout)| (id, amount, u128::from(vout)));
    let edicts: Vec<Edict> =
        sent.chain(given).map(|(id, amount, output)| Edict { id, amount: Amount(amount), output }).collect();
    let stone = |stone: Protostone| Protostone { protocol_tag: ALKANES_PROTOCOL, pointer: Some(0), ..stone };
    let mut stones = Vec::new();
    if let Some(call) = action.call {
        stones.push(stone(Protostone { message: call.encode(), refund: Some(0), ..Protostone::default() }));
    }
    // The message of a mint is the only stone, and so the one that takes what the inputs hold.
    if !edicts.is_empty() {
        stones.insert(0, stone(Protostone { edicts, ..Protostone::default() }));
    }
    let protocol = encode_protostones(&stones).expect("the tag of every stone is that of alkanes");
    for integer in protocol {
        varint(16_383, payload);
        varint(integer, payload);
    }
}

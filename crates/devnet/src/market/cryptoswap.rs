//! Bitcoin against dollars: the USD token and the `CryptoSwap` pool, founded block by block behind the rest of the market, and
//! the dealers who trade there.
//!
//! The founder owns both contracts and pays the dealers out of his own coins, so that everybody else does what he would do
//! without them.

use bitcoin::{Amount, TxOut, Txid};
use paraffin_alkanes::Transfer;
use paraffin_alkanes::codec::Cellpack;
use paraffin_primitives::AlkaneId;
use rand_chacha::rand_core::RngCore as _;

use super::compose::Order;
use super::founding::string;
use super::{FOUNDER, Market, MarketError, NAMES, Purse, WRAPPED_BITCOIN, postage};
use crate::node::Node;

/// The USD token, behind its proxy.
pub const USD_TOKEN: AlkaneId = AlkaneId { block: 4, tx: 1776 };
/// The pool of wrapped bitcoin (coin 0) and dollars (coin 1), behind its proxy; also its liquidity token.
pub const BTC_USD_POOL: AlkaneId = AlkaneId { block: 4, tx: 1778 };
/// The code of the pool.
pub const BTC_USD_POOL_CODE: AlkaneId = AlkaneId { block: 4, tx: 1786 };
/// The code of the token.
const USD_TOKEN_CODE: AlkaneId = AlkaneId { block: 4, tx: 1777 };

/// Those who deal in dollars. Their accounts follow those of the other traders.
pub(super) const DEALERS: [&str; 3] = ["banker", "broker", "hedger"];
/// Account of the banker, who founds the pool.
const BANKER: usize = NAMES.len();

const USD_TOKEN_MODULE: &[u8] = include_bytes!("../../../../contracts/wasm/usd-token.wasm");
const POOL_MODULE: &[u8] = include_bytes!("../../../../contracts/wasm/cryptoswap-pool.wasm");
const PROXY_MODULE: &[u8] = include_bytes!("../../../../contracts/wasm/upgradeable-proxy.wasm");

/// Opcodes (docs/contracts.md).
mod opcode {
    pub(super) const PROXY_INITIALIZE: u128 = 0x7fff;
    pub(super) const INITIALIZE: u128 = 0;
    pub(super) const FORWARD: u128 = 50;
    pub(super) const MINT: u128 = 77;
    pub(super) const ADD_LIQUIDITY: u128 = 1;
    pub(super) const REMOVE_LIQUIDITY: u128 = 2;
    pub(super) const REMOVE_LIQUIDITY_ONE_COIN: u128 = 3;
    pub(super) const EXCHANGE: u128 = 5;
    pub(super) const CLAIM_ADMIN_FEES: u128 = 10;
    pub(super) const RAMP: u128 = 11;
    pub(super) const STOP_RAMP: u128 = 12;
    pub(super) const SET_PARAMETERS: u128 = 13;
    pub(super) const KILL: u128 = 14;
    pub(super) const UNKILL: u128 = 15;
}

/// Units of each ownership token.
const OWNER_UNITS: u128 = 5;
/// What the banker gets in each of two coins and the others in one, in satoshis.
const DEALER_SAT: u64 = 45_000_000;
/// What a dealer wraps of each coin, in satoshis.
const WRAPPED_SAT: u64 = 40_000_000;
/// Dollars that are minted, in base units: 200,000.
const MINTED: u128 = 20_000_000_000_000;
/// Parts of the mint, in hundredths: of the banker, of each other dealer, of each guest.
const BANKER_SHARE: u128 = 35;
const DEALER_SHARE: u128 = 15;
const GUEST_SHARE: u128 = 5;

/// Bitcoin per dollar over 1e18 at the start: 64,084 dollars.
const PRICE: u128 = 15_604_533_105_145;
const DECIMALS: u128 = 8;
/// A times 40,000, and gamma over 1e18, as the live pool has them.
const A: u128 = 400_000;
const GAMMA: u128 = 145_000_000_000_000;
/// Fee in balance, fee away from it, fee gamma, the owner's part, extra profit, step of the price scale, half time of the
/// average in blocks: as in the live pool, where its settings are public.
const SETTINGS: [u128; 7] =
    [20_000_000, 80_000_000, 230_000_000_000_000, 5_000_000_000, 2_000_000_000_000, 146_000_000_000_000, 6];
/// The fewest blocks of a ramp, and how many one takes here.
const RAMP_MIN: u128 = 6;
const RAMP_BLOCKS: u128 = 12;

fn call(target: AlkaneId, inputs: &[u128]) -> Cellpack {
    Cellpack { target, inputs: inputs.to_vec() }
}

/// The cellpack that deploys code as `id`.
fn creation(id: AlkaneId, inputs: &[u128]) -> Cellpack {
    call(AlkaneId { block: 3, tx: id.tx }, inputs)
}

impl Market {
    /// The transactions of the block `step` blocks after the founding of the other market.
    pub(super) fn deal(&mut self, node: &Node, step: u32) -> Result<Vec<Txid>, MarketError> {
        match step {
            0 => self.deploy_dollars(node),
            1 => {
                let mut sent = self.set_up_dollars(node)?;
                sent.extend(self.wrap_for(node, &[BANKER, BANKER + 1, BANKER + 2])?);
                Ok(sent)
            }
            2 => {
                let mint = [opcode::MINT, MINTED];
                let mut sent = self.as_owner(node, USD_TOKEN, &mint)?;
                sent.extend(self.wrap_for(node, &[BANKER])?);
                Ok(sent)
            }
            3 => self.distribute_dollars(node),
            4 => self.first_deposit(node),
            _ if self.has_dollar_liquidity()? => {
                let mut sent = self.manage(node)?;
                for dealer in 0..DEALERS.len() {
                    sent.extend(self.deal_once(node, BANKER + dealer)?);
                }
                Ok(sent)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Whether the pool can be traded with.
    pub(super) fn has_dollar_liquidity(&self) -> Result<bool, MarketError> {
        Ok(self.dollar_slot("/D")? != 0)
    }

    /// The lower 128 bits of a number that the pool stores; 0 when it does not.
    fn dollar_slot(&self, name: &str) -> Result<u128, MarketError> {
        let stored = self.state.storage(BTC_USD_POOL, name.as_bytes())?.unwrap_or_default();
        Ok(stored.first_chunk().map_or(0, |low| u128::from_le_bytes(*low)))
    }

    /// Codes and proxies; and the founder pays the dealers.
    fn deploy_dollars(&self, node: &Node) -> Result<Vec<Txid>, MarketError> {
        let purse = self.purse(node, FOUNDER)?;
        let behind = |code: AlkaneId| [opcode::PROXY_INITIALIZE, code.block, code.tx, OWNER_UNITS];
        let contracts = [
            (USD_TOKEN_MODULE, creation(USD_TOKEN_CODE, &[opcode::FORWARD])),
            (POOL_MODULE, creation(BTC_USD_POOL_CODE, &[opcode::FORWARD])),
            (PROXY_MODULE, creation(USD_TOKEN, &behind(USD_TOKEN_CODE))),
            (PROXY_MODULE, creation(BTC_USD_POOL, &behind(BTC_USD_POOL_CODE))),
        ];
        let mut sent = Vec::new();
        let deployments = contracts.len();
        for (coin, (code, call)) in contracts.into_iter().enumerate() {
            sent.push(self.deploy(node, &purse, coin, code, call)?);
        }
        let payees = [BANKER, BANKER, BANKER + 1, BANKER + 2];
        for (payee, coin) in payees.into_iter().zip(purse.coins.into_iter().skip(deployments)) {
            let purse = Purse { coins: vec![coin], ..Purse::default() };
            let output = TxOut { value: Amount::from_sat(DEALER_SAT), script_pubkey: self.script(payee) };
            let order = Order { outputs: vec![output], ..Order::default() };
            sent.extend(self.send(node, FOUNDER, &purse, &order)?);
        }
        Ok(sent)
    }

    /// The founder names the token and gives the pool its numbers, each with the ownership token that the proxy created.
    fn set_up_dollars(&self, node: &Node) -> Result<Vec<Txid>, MarketError> {
        let token = [&[opcode::INITIALIZE][..], &string("Dollar"), &string("USD")].concat();
        let coins = [WRAPPED_BITCOIN.block, WRAPPED_BITCOIN.tx, USD_TOKEN.block, USD_TOKEN.tx, DECIMALS, DECIMALS];
        let pool = [&[opcode::INITIALIZE][..], &coins, &[PRICE, A, GAMMA], &SETTINGS, &[RAMP_MIN]].concat();
        let purse = self.purse(node, FOUNDER)?;
        let mut coins = purse.coins.into_iter();
        let mut sent = Vec::new();
        for (contract, inputs) in [(USD_TOKEN, token), (BTC_USD_POOL, pool)] {
            let owner = self.owner_of(contract)?;
            // Two transactions of one block: each spends the outputs that hold its own ownership token.
            let mut own = Purse { coins: coins.next().into_iter().collect(), ..Purse::default() };
            for (outpoint, output) in &purse.alkanes {
                let held = self.state.sheet(*outpoint)?;
                if held.get(owner) > 0 {
                    own.alkanes.push((*outpoint, output.clone()));
                    own.held.merge(&held)?;
                }
            }
            sent.extend(self.send(node, FOUNDER, &own, &owned_call(owner, contract, &inputs))?);
        }
        Ok(sent)
    }

    /// The ownership token of a proxy.
    fn owner_of(&self, contract: AlkaneId) -> Result<AlkaneId, MarketError> {
        let owner = self.state.stored_id(contract, b"/auth")?;
        owner.ok_or_else(|| MarketError::Inconsistent(format!("{contract} has no owner")))
    }

    /// A call that only the owner may make.
    fn as_owner(&self, node: &Node, contract: AlkaneId, inputs: &[u128]) -> Result<Vec<Txid>, MarketError> {
        let purse = self.purse(node, FOUNDER)?;
        let order = owned_call(self.owner_of(contract)?, contract, inputs);
        Ok(self.send(node, FOUNDER, &purse, &order)?.into_iter().collect())
    }

    fn wrap_for(&self, node: &Node, dealers: &[usize]) -> Result<Vec<Txid>, MarketError> {
        let mut sent = Vec::new();
        for dealer in dealers {
            let purse = self.purse(node, *dealer)?;
            sent.extend(self.send(node, *dealer, &purse, &self.wrap(WRAPPED_SAT)?)?);
        }
        Ok(sent)
    }

    /// The founder hands out dollars: to the dealers, and to the scenario's accounts.
    fn distribute_dollars(&self, node: &Node) -> Result<Vec<Txid>, MarketError> {
        let dealers = (0..DEALERS.len()).map(|dealer| {
            let share = if dealer == 0 { BANKER_SHARE } else { DEALER_SHARE };
            (self.script(BANKER + dealer), share)
        });
        let guests = self.guests.iter().map(|guest| (guest.clone(), GUEST_SHARE));
        let shares: Vec<_> = dealers.chain(guests).collect();
        let order = Order {
            gifts: shares.iter().map(|(_, share)| Transfer { id: USD_TOKEN, value: MINTED / 100 * share }).collect(),
            outputs: shares.into_iter().map(|(script, _)| postage(script)).collect(),
            ..Order::default()
        };
        let purse = self.purse(node, FOUNDER)?;
        Ok(self.send(node, FOUNDER, &purse, &order)?.into_iter().collect())
    }

    /// The banker's bitcoin and as many dollars as they are worth.
    fn first_deposit(&self, node: &Node) -> Result<Vec<Txid>, MarketError> {
        let purse = self.purse(node, BANKER)?;
        let bitcoin = purse.held.get(WRAPPED_BITCOIN) / 10 * 9;
        // Both have eight decimals; less than 2^27 times 10^18.
        let dollars = bitcoin * 1_000_000_000_000_000_000 / PRICE;
        let order = deposit(&purse, [bitcoin, dollars]);
        Ok(self.send(node, BANKER, &purse, &order)?.into_iter().collect())
    }

    /// What the owner does, by the clock of the chain: a short ramp now and then, now and then a block in which the pool is
    /// killed, and what an owner does besides.
    fn manage(&self, node: &Node) -> Result<Vec<Txid>, MarketError> {
        let height = node.tip().height + 1;
        let is_killed = self.dollar_slot("/is_killed")? != 0;
        let inputs = match (height % 16, height % 64) {
            _ if is_killed => vec![opcode::UNKILL],
            (5, _) => vec![opcode::KILL],
            (_, 9 | 41) => {
                let (a, gamma) = if height % 64 == 9 { (A / 4 * 5, GAMMA / 10 * 11) } else { (A, GAMMA) };
                vec![opcode::RAMP, a, gamma, u128::from(height) + RAMP_BLOCKS]
            }
            (_, 48) => vec![opcode::STOP_RAMP],
            (12, _) => vec![opcode::CLAIM_ADMIN_FEES],
            (_, 13) => {
                let mut settings = SETTINGS;
                settings[6] += u128::from(height / 64 % 3);
                [&[opcode::SET_PARAMETERS][..], &settings].concat()
            }
            _ => return Ok(Vec::new()),
        };
        self.as_owner(node, BTC_USD_POOL, &inputs)
    }

    /// Something that a dealer does, or nothing.
    fn deal_once(&mut self, node: &Node, dealer: usize) -> Result<Option<Txid>, MarketError> {
        let choice = self.dealing.next_u64() % 16;
        let part = u128::from(1 + self.dealing.next_u64() % 1_000);
        let purse = self.purse(node, dealer)?;
        let order = match choice {
            0..=3 => None,
            10 => {
                // Of both a part that need not fit the pool's proportion.
                let bitcoin = some_of(&purse, WRAPPED_BITCOIN, part);
                Some(deposit(&purse, [bitcoin, some_of(&purse, USD_TOKEN, 1 + part * 7 % 1_000)]))
            }
            11 if part % 2 == 0 => Some(deposit(&purse, [some_of(&purse, WRAPPED_BITCOIN, part), 0])),
            11 => Some(deposit(&purse, [0, some_of(&purse, USD_TOKEN, part)])),
            12 => withdrawal(&purse, part, |liquidity| vec![opcode::REMOVE_LIQUIDITY, liquidity, 0, 0]),
            13 => withdrawal(&purse, part, |liquidity| vec![opcode::REMOVE_LIQUIDITY_ONE_COIN, liquidity, part % 2, 0]),
            14 => exchange(&purse, part % 2, part, u128::MAX),
            // One trade in three has a random direction; the others trade towards the initial price.
            _ if part % 3 == 0 => exchange(&purse, part % 2, part, 1),
            _ => exchange(&purse, u128::from(self.dollar_slot("/last_prices")? > PRICE), part, 1),
        };
        order.map_or(Ok(None), |order| self.send(node, dealer, &purse, &order))
    }
}

/// A call with a unit of the ownership token.
fn owned_call(owner: AlkaneId, contract: AlkaneId, inputs: &[u128]) -> Order {
    let sends = vec![Transfer { id: owner, value: 1 }];
    Order { sends, call: Some(call(contract, inputs)), ..Order::default() }
}

/// At most an eighth of what is held: `part` thousandths of that.
fn some_of(purse: &Purse, id: AlkaneId, part: u128) -> u128 {
    purse.held.get(id) / 8 * part / 1_000
}

/// A deposit of bitcoin and dollars.
fn deposit(purse: &Purse, amounts: [u128; 2]) -> Order {
    let coins = [WRAPPED_BITCOIN, USD_TOKEN].into_iter().zip(amounts);
    let sends: Vec<Transfer> = coins.filter_map(|(id, value)| purse.some(id, value)).collect();
    let inputs = [opcode::ADD_LIQUIDITY, amounts[0], amounts[1], 0];
    Order { sends, call: Some(call(BTC_USD_POOL, &inputs)), ..Order::default() }
}

fn withdrawal(purse: &Purse, part: u128, inputs: impl Fn(u128) -> Vec<u128>) -> Option<Order> {
    let burned = purse.some(BTC_USD_POOL, some_of(purse, BTC_USD_POOL, part))?;
    let call = call(BTC_USD_POOL, &inputs(burned.value));
    Some(Order { sends: vec![burned], call: Some(call), ..Order::default() })
}

/// Sells coin `i`. A limit that no pool can meet makes it fail.
fn exchange(purse: &Purse, i: u128, part: u128, smallest: u128) -> Option<Order> {
    let coin = if i == 0 { WRAPPED_BITCOIN } else { USD_TOKEN };
    let sold = purse.some(coin, some_of(purse, coin, part))?;
    let inputs = [opcode::EXCHANGE, i, 1 - i, sold.value, smallest];
    Some(Order { sends: vec![sold], call: Some(call(BTC_USD_POOL, &inputs)), ..Order::default() })
}

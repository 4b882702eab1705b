//! A market on the devnet: contracts are deployed, tokens minted and wrapped, pools founded and traded, all by real
//! transactions of accounts of its own.
//!
//! The market runs the engine beside the node, because traders must know their balances. What it does
//! follows from the seed and the chain alone. It never touches the coins of the [`Scenario`](crate::Scenario)'s accounts,
//! but pays them some tokens at the end of its founding.

mod chain;
mod compose;
mod cryptoswap;
mod founding;
mod orders;
mod state;
mod trades;

use std::sync::Arc;

use bitcoin::{Amount, OutPoint, ScriptBuf, TxOut, Txid};
use paraffin_alkanes::Transfer;
use paraffin_primitives::AlkaneId;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

pub use self::chain::MarketChain;
pub use self::cryptoswap::{BTC_USD_POOL, BTC_USD_POOL_CODE, USD_TOKEN};
use self::state::EngineState;
pub use self::state::MarketError;
use crate::node::Node;
use crate::wallet::{OutputKind, Wallet};
pub use paraffin_builtin_contracts::{DIESEL, WRAPPED_BITCOIN, builtins};

/// First height whose block holds a transaction of the market: the first coinbase is mature.
const FIRST_HEIGHT: u32 = 102;
/// The account that deploys, and then those that trade.
const NAMES: [&str; 5] = ["founder", "maker", "taker", "miner", "holder"];
/// Index of the founder among [`NAMES`].
const FOUNDER: usize = 0;
/// Value in satoshis of an output that holds alkanes and nothing else.
const POSTAGE_SAT: u64 = 1_000;

/// The factory of pools, behind its proxy.
pub const FACTORY: AlkaneId = AlkaneId { block: 4, tx: 65_522 };

/// Contracts, pools and tokens that the market has made so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MarketSummary {
    /// The factory, once it is deployed and set up.
    pub factory: Option<AlkaneId>,
    /// Pools, oldest first.
    pub pools: Vec<AlkaneId>,
    /// Tokens that the founder has deployed.
    pub tokens: Vec<AlkaneId>,
    /// The USD token, once it is deployed and set up.
    pub usd_token: Option<AlkaneId>,
    /// The BTC/USD pool, once it has liquidity.
    pub btc_usd_pool: Option<AlkaneId>,
    /// The newest transaction that unwraps bitcoin.
    pub unwrap: Option<Txid>,
}

/// The market with its accounts, its engine state and its random numbers.
pub struct Market {
    wallet: Wallet,
    /// Scripts of the scenario's accounts, which get tokens when the market is founded; the first pays for everything.
    guests: Vec<ScriptBuf>,
    patron: Arc<Wallet>,
    state: EngineState,
    random: ChaCha8Rng,
    /// Random numbers of the dollar traders, so that the others trade as they would without them.
    dealing: ChaCha8Rng,
    /// Transactions of the founding whose contracts are the tokens.
    deployed: Vec<Txid>,
    tokens: Vec<AlkaneId>,
    unwrap: Option<Txid>,
    is_triangle: bool,
}

impl std::fmt::Debug for Market {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Market").field("tokens", &self.tokens).finish_non_exhaustive()
    }
}

impl Market {
    /// A market paid for by the first account of `patron`.
    pub fn new(seed: u64, patron: Arc<Wallet>) -> Self {
        let own = seed ^ u64::from_le_bytes(*b"market\0\0");
        let guests = (0..patron.accounts().len()).map(|account| patron.script(account, OutputKind::Taproot)).collect();
        Self {
            wallet: Wallet::new(own, &[&NAMES[..], &cryptoswap::DEALERS].concat()),
            guests,
            patron,
            state: EngineState::new(builtins()),
            random: ChaCha8Rng::seed_from_u64(own),
            dealing: ChaCha8Rng::seed_from_u64(own ^ u64::from_le_bytes(*b"dollars\0")),
            deployed: Vec::new(),
            tokens: Vec::new(),
            unwrap: None,
            is_triangle: false,
        }
    }

    /// This market with a fourth pool, which closes a triangle: once traders have moved its prices apart, there is a cycle of trades that
    /// pays. Without it the price of every token follows from one pool.
    #[must_use]
    pub fn with_triangle(self) -> Self {
        Self { is_triangle: true, ..self }
    }

    /// Applies new blocks of the best chain, after undoing those that have left it.
    ///
    /// # Errors
    /// The engine halts.
    pub fn observe(&mut self, node: &Node) -> Result<(), MarketError> {
        self.state.follow(node)
    }

    /// Makes the market's transactions of the next block and hands them to the node. The engine state must be at the node's tip
    /// ([`Market::observe`]).
    ///
    /// # Errors
    /// The node refuses a transaction, or the state cannot be read.
    pub fn step(&mut self, node: &Node) -> Result<Vec<Txid>, MarketError> {
        let height = node.tip().height + 1;
        match height.checked_sub(FIRST_HEIGHT) {
            None => Ok(Vec::new()),
            Some(step) if step < founding::STEPS => self.found(node, step),
            Some(step) => {
                let mut sent = self.trade(node)?;
                sent.extend(self.deal(node, step - founding::STEPS)?);
                Ok(sent)
            }
        }
    }

    /// What exists now.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn summary(&self) -> Result<MarketSummary, MarketError> {
        let pools = self.state.pools()?;
        let factory = (!pools.is_empty()).then_some(FACTORY);
        let ids = pools.iter().map(|pool| pool.id).collect();
        let usd_token = self.state.storage(USD_TOKEN, b"/symbol")?.map(|_| USD_TOKEN);
        let btc_usd_pool = self.has_dollar_liquidity()?.then_some(BTC_USD_POOL);
        Ok(MarketSummary {
            factory,
            pools: ids,
            tokens: self.tokens.clone(),
            usd_token,
            btc_usd_pool,
            unwrap: self.unwrap,
        })
    }

    fn script(&self, trader: usize) -> ScriptBuf {
        self.wallet.script(trader, OutputKind::Taproot)
    }

    /// What a trader has: plain coins, largest first, and outputs with alkanes.
    fn purse(&self, node: &Node, trader: usize) -> Result<Purse, MarketError> {
        let mut purse = Purse::default();
        for (outpoint, coin) in node.spendable(&[self.script(trader)].into()) {
            let held = self.state.sheet(outpoint)?;
            if held.is_empty() {
                if coin.output.value.to_sat() > POSTAGE_SAT {
                    purse.coins.push((outpoint, coin.output));
                }
            } else {
                purse.alkanes.push((outpoint, coin.output));
                purse.held.merge(&held).map_err(|error| MarketError::Inconsistent(error.to_string()))?;
            }
        }
        purse.coins.sort_by_key(|(outpoint, output)| (std::cmp::Reverse(output.value), *outpoint));
        purse.alkanes.sort_by_key(|(outpoint, _)| *outpoint);
        Ok(purse)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.random.next_u64() % bound.max(1)
    }
}

/// What a trader can use in the next block.
#[derive(Debug, Default)]
struct Purse {
    coins: Vec<(OutPoint, TxOut)>,
    alkanes: Vec<(OutPoint, TxOut)>,
    held: paraffin_alkanes::Sheet,
}

impl Purse {
    /// At most `value` of `id`, and only what is held; `None` for nothing.
    fn some(&self, id: AlkaneId, value: u128) -> Option<Transfer> {
        let value = value.min(self.held.get(id));
        (value > 0).then_some(Transfer { id, value })
    }
}

/// An output that holds alkanes and nothing else.
fn postage(script: ScriptBuf) -> TxOut {
    TxOut { value: Amount::from_sat(POSTAGE_SAT), script_pubkey: script }
}

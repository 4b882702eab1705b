//! The mathematics of the first two-coin `CryptoSwap`, in exact integers.
//!
//! ## What it is for
//!
//! A pool is a handful of numbers: two balances, the invariant `D`, the supply of its liquidity token, three prices and
//! two profit counters ([`Pool`]). Every view is a function of these numbers and every operation turns them into others.
//! The functions here give the same digits as the contract: each division is floored where the contract floors it, and
//! in the same order, because the sixth digit of a quote already depends on it.
//!
//! ## Numbers and units
//!
//! | quantity | unit |
//! |---|---|
//! | balances, amounts of a coin | base units of that coin |
//! | `D`, normalised balances, liquidity tokens | 1e18 per coin 0 |
//! | `price_scale`, `price_oracle`, `last_prices` | coin 0 per coin 1 between normalised balances, 1e18 |
//! | `virtual_price`, `xcp_profit`, `xcp_profit_a` | 1e18 |
//! | fees | 1e10 |
//! | `ann` | A times 4 times 10,000, not the A of a stable pool |
//! | times | any clock that does not run backwards; on alkanes the block height |
//!
//! Coin 0 and coin 1 are the *contract's* coins. For the BTC/USD pool coin 0 is the BTC token and coin 1 the USD token,
//! which is the reverse of the token order in the pool index.
//!
//! ## Two warnings
//!
//! * Quote from the stored `D`. Recomputing it from the balances gives a number that may differ in the last digit.
//! * While a ramp moves the curve a quote holds for the block it was computed for and for no other.
//!
//! ## Where it runs
//!
//! In the index and, compiled from these very files without the standard library, in the pool contract of `contracts/`. A
//! change here is a change of that contract: `cargo xtask contracts --write` rebuilds it.
//!
//! ## Errors
//!
//! Nothing here panics. Products are formed with 512 bits before they are divided; a result that does not fit into 256
//! bits, a division by zero, a value outside the curve's bounds and an iteration that does not settle are each a
//! [`MathError`]. An operation that fails leaves the pool as it was.
#![forbid(unsafe_code)]

mod error;
mod exact;
mod invariant;
mod oracle;
mod parameters;
mod pool;
mod ramp;
mod short;
mod transition;
mod views;

pub use error::MathError;
pub use invariant::{geometric_mean, newton_d, newton_y};
pub use oracle::{half_power, lp_price, moving_average, square_root};
pub use parameters::{Coin, Curve, Parameters};
pub use pool::Pool;
pub use ramp::Ramp;
pub use ruint::aliases::U256;
pub use transition::Traded;
pub use views::{PricedTrade, deposit_fee, fee, virtual_price};

/// One, in the fixed point of prices, profits and the invariant.
pub const PRECISION: U256 = U256::from_limbs([1_000_000_000_000_000_000, 0, 0, 0]);
/// One, in the fixed point of fees.
pub const FEE_PRECISION: U256 = U256::from_limbs([10_000_000_000, 0, 0, 0]);
/// `ann` is A times 4 times this number.
pub const A_MULTIPLIER: u64 = 10_000;
/// The smallest `ann`: A is 0.1.
pub const ANN_MIN: u64 = 4_000;
/// The largest `ann`: A is 100,000.
pub const ANN_MAX: u64 = 4_000_000_000;
/// The smallest `gamma`.
pub const GAMMA_MIN: u64 = 10_000_000_000;
/// The largest `gamma`.
pub const GAMMA_MAX: u64 = 20_000_000_000_000_000;
/// What a deposit pays on top of the fee for its imbalance, over 1e10: a thousandth of a percent.
pub const NOISE_FEE: u64 = 100_000;
/// A trade or a mint must be larger than this many base units for its price to be recorded.
pub const PRICED_ABOVE: u64 = 100_000;

//! Why a figure cannot be given.

use ruint::aliases::U256;

/// Why a figure cannot be given or an operation is refused. The contract refuses in the same cases.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MathError {
    /// A result is larger than 256 bits.
    #[error("a result does not fit into 256 bits: the amounts are far outside what a pool can hold")]
    Overflow,
    /// A difference would be negative.
    #[error("a difference is negative: more is taken than there is")]
    Underflow,
    /// A denominator is zero: an empty pool, or parameters that are not set.
    #[error("a denominator is zero: the pool is empty or a parameter is missing")]
    DivisionByZero,
    /// `ann` outside 4,000 to 4e9.
    #[error("ann {0} is outside 4000 to 4000000000")]
    AnnOutOfRange(U256),
    /// `gamma` outside 1e10 to 2e16.
    #[error("gamma {0} is outside 10000000000 to 20000000000000000")]
    GammaOutOfRange(U256),
    /// A normalised balance outside what the curve can take, for itself or beside the other one.
    #[error("a normalised balance of {0} is outside the curve: the pool is too small, too large or too one-sided")]
    BalanceOutOfRange(U256),
    /// `D` outside 1e17 to 1e33.
    #[error("the invariant {0} is outside 1e17 to 1e33")]
    InvariantOutOfRange(U256),
    /// An iteration did not settle within 255 rounds.
    #[error("{0} did not settle: the state is not one that a pool reaches")]
    NotConverged(&'static str),
    /// A parameter is outside its range.
    #[error("{name} {value} is out of range: {allowed}")]
    ParameterOutOfRange {
        /// The parameter's name.
        name: &'static str,
        /// Its value.
        value: U256,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A coin index other than 0 and 1.
    #[error("there is no coin {0}: the pool has coins 0 and 1")]
    NoSuchCoin(u128),
    /// Selling a coin for itself.
    #[error("coin {0} cannot be exchanged for itself")]
    SameCoin(u128),
    /// An amount of zero.
    #[error("the amount is zero")]
    AmountZero,
    /// The pool refuses trades, deposits and one-sided withdrawals.
    #[error("the pool is killed: only a withdrawal of both coins is possible")]
    Killed,
    /// The outcome is below the caller's limit.
    #[error("the outcome is {outcome}, below the limit of {limit}")]
    Slippage {
        /// What would have come out.
        outcome: U256,
        /// The least that the caller accepts.
        limit: U256,
    },
    /// More liquidity tokens are given back than there are.
    #[error("{burned} liquidity tokens cannot be given back: only {supply} exist")]
    BurnAboveSupply {
        /// What was to be burned.
        burned: U256,
        /// What exists.
        supply: U256,
    },
    /// A deposit too small to mint anything.
    #[error("the deposit mints nothing")]
    NothingMinted,
    /// The operation would make every liquidity token worth less.
    #[error("the virtual price would fall from {before} to {after}")]
    Loss {
        /// The virtual price before.
        before: U256,
        /// The virtual price after.
        after: U256,
    },
    /// A ramp that ends before it begins, or that lasts too short.
    #[error("a ramp from {begin} to {end} is shorter than {shortest}")]
    RampTooShort {
        /// When it would begin.
        begin: u64,
        /// When it would end.
        end: u64,
        /// The shortest that is allowed.
        shortest: u64,
    },
    /// A ramp to less than a tenth or more than ten times the value of now.
    #[error("{name} cannot move from {from} to {to}: at most ten times up or down")]
    RampTooSteep {
        /// `ann` or `gamma`.
        name: &'static str,
        /// The value of now.
        from: U256,
        /// The value asked for.
        to: U256,
    },
}

//! What the pool stores, and the way from there to the numbers of the mathematics and back.

use cryptoswap_math::{Curve, MathError, Parameters, Pool, Ramp};
use paraffin_contract::{AlkaneId, Environment, Response, Revert, Slot, U256, ensure, standard};

/// The numbers of a pool, each 32 bytes little-endian under its name. The two curves hold A in the upper 128 bits and gamma in
/// the lower ones, flags are 0 and 1, times are block heights.
const SLOTS: [&str; 25] = [
    "/balances/0",
    "/balances/1",
    "/precisions/0",
    "/precisions/1",
    "/D",
    "/price_scale",
    "/price_oracle",
    "/last_prices",
    "/last_prices_height",
    "/virtual_price",
    "/xcp_profit",
    "/xcp_profit_a",
    "/not_adjusted",
    "/is_killed",
    "/initial_A_gamma",
    "/future_A_gamma",
    "/initial_A_gamma_height",
    "/future_A_gamma_height",
    "/mid_fee",
    "/out_fee",
    "/fee_gamma",
    "/admin_fee",
    "/allowed_extra_profit",
    "/adjustment_step",
    "/ma_half_time",
];

/// The price scale goes at least this part of its distance to the average in one step.
const ADJUSTMENT_DIVISOR: u64 = 10;

const NOT_INITIALIZED: &str = "the pool is not initialized";
const OUT_OF_RANGE: &str = "a stored number is out of range";

/// Slots `/coins/0` and `/coins/1`.
pub(crate) fn coin(index: usize) -> Slot<AlkaneId> {
    Slot::new(["/coins/0", "/coins/1"][index])
}

/// Slot `/claimable_fees`: liquidity that the owner earned and did not collect.
fn claimable_fees() -> Slot<u128> {
    Slot::new("/claimable_fees")
}

/// Slot `/shortest_ramp`: the fewest blocks that a ramp may last.
pub(crate) fn shortest_ramp() -> Slot<u128> {
    Slot::new("/shortest_ramp")
}

/// A pool during one call.
pub(crate) struct Stored {
    pub(crate) coins: [AlkaneId; 2],
    pub(crate) pool: Pool,
    before: Option<[U256; SLOTS.len()]>,
}

impl Stored {
    /// A pool that nothing is stored of.
    pub(crate) const fn new(coins: [AlkaneId; 2], pool: Pool) -> Self {
        Self { coins, pool, before: None }
    }

    /// The pool as it is stored, and what it holds beyond its balances.
    pub(crate) fn load(env: &Environment) -> Result<Self, Revert> {
        let coins = [coin(0).require(env, NOT_INITIALIZED)?, coin(1).require(env, NOT_INITIALIZED)?];
        let mut numbers = [U256::ZERO; SLOTS.len()];
        for (number, name) in numbers.iter_mut().zip(SLOTS) {
            *number = Slot::new(name).get(env)?;
        }
        let mut pool = pool(&numbers, standard::total_supply().get(env)?)?;
        for (index, id) in coins.into_iter().enumerate() {
            // What came in with this call is no surplus. A view may claim to bring what it does not.
            let held = env.balance(env.myself(), id).saturating_sub(env.incoming().amount_of(id));
            pool.surplus[index] = U256::from(held).saturating_sub(pool.balances[index]);
        }
        Ok(Self { coins, pool, before: Some(numbers) })
    }

    /// Stores what has changed. Liquidity that exists now and that neither existed before nor is `minted` for the caller was
    /// claimed for the owner; `burned` is what the caller gave back.
    pub(crate) fn store(&self, env: &mut Environment, minted: U256, burned: U256) -> Result<(), Revert> {
        let after = numbers(&self.pool);
        for (index, number) in after.iter().enumerate() {
            if self.before.is_none_or(|before| before[index] != *number) {
                Slot::new(SLOTS[index]).set(env, number);
            }
        }
        let supply_before = standard::total_supply().get(env)?;
        let supply = amount(self.pool.total_supply)?;
        if supply != supply_before {
            standard::total_supply().set(env, &supply);
        }
        let explained = (U256::from(supply_before) + minted).checked_sub(burned).ok_or(OUT_OF_RANGE)?;
        let claimed = amount(self.pool.total_supply.checked_sub(explained).ok_or(OUT_OF_RANGE)?)?;
        if claimed != 0 {
            let claimable = claimable_fees().get(env)?.checked_add(claimed).ok_or("the owner's part overflows")?;
            claimable_fees().set(env, &claimable);
        }
        Ok(())
    }
}

/// Empties what was put aside for the owner and answers how much it was.
pub(crate) fn collect_fees(env: &mut Environment) -> Result<u128, Revert> {
    let claimable = claimable_fees().get(env)?;
    if claimable != 0 {
        claimable_fees().set(env, &0);
    }
    Ok(claimable)
}

/// The numbers in the order of [`SLOTS`].
fn numbers(pool: &Pool) -> [U256; SLOTS.len()] {
    let Pool { parameters, ramp, .. } = pool;
    let time = |height: u64| U256::from(height);
    [
        pool.balances[0],
        pool.balances[1],
        parameters.precisions[0],
        parameters.precisions[1],
        pool.d,
        pool.price_scale,
        pool.price_oracle,
        pool.last_prices,
        time(pool.last_prices_time),
        pool.virtual_price,
        pool.xcp_profit,
        pool.xcp_profit_a,
        U256::from(u8::from(pool.not_adjusted)),
        U256::from(u8::from(pool.is_killed)),
        packed(ramp.initial),
        packed(ramp.future),
        time(ramp.begin),
        time(ramp.end),
        parameters.mid_fee,
        parameters.out_fee,
        parameters.fee_gamma,
        parameters.admin_fee,
        parameters.allowed_extra_profit,
        parameters.adjustment_step,
        time(parameters.ma_half_time),
    ]
}

fn pool(numbers: &[U256; SLOTS.len()], total_supply: u128) -> Result<Pool, Revert> {
    let [
        balance_0,
        balance_1,
        precision_0,
        precision_1,
        d,
        price_scale,
        price_oracle,
        last_prices,
        last_prices_time,
        virtual_price,
        xcp_profit,
        xcp_profit_a,
        not_adjusted,
        is_killed,
        initial,
        future,
        begin,
        end,
        mid_fee,
        out_fee,
        fee_gamma,
        admin_fee,
        allowed_extra_profit,
        adjustment_step,
        ma_half_time,
    ] = *numbers;
    Ok(Pool {
        parameters: Parameters {
            precisions: [precision_0, precision_1],
            mid_fee,
            out_fee,
            fee_gamma,
            admin_fee,
            admin_fee_is_paid: true,
            allowed_extra_profit,
            adjustment_step,
            adjustment_divisor: ADJUSTMENT_DIVISOR,
            ma_half_time: height(ma_half_time)?,
        },
        ramp: Ramp { initial: unpacked(initial), future: unpacked(future), begin: height(begin)?, end: height(end)? },
        balances: [balance_0, balance_1],
        surplus: [U256::ZERO; 2],
        d,
        total_supply: U256::from(total_supply),
        price_scale,
        price_oracle,
        last_prices,
        last_prices_time: height(last_prices_time)?,
        virtual_price,
        xcp_profit,
        xcp_profit_a,
        not_adjusted: !not_adjusted.is_zero(),
        is_killed: !is_killed.is_zero(),
    })
}

fn packed(curve: Curve) -> U256 {
    curve.ann << 128 | curve.gamma
}

fn unpacked(number: U256) -> Curve {
    Curve { ann: number >> 128, gamma: number & U256::from(u128::MAX) }
}

fn height(number: U256) -> Result<u64, Revert> {
    u64::try_from(number).map_err(|_| Revert::from(OUT_OF_RANGE))
}

/// A number that shall move as an amount of an alkane.
pub(crate) fn amount(number: U256) -> Result<u128, Revert> {
    u128::try_from(number).map_err(|_| Revert::from("an amount is beyond 128 bits"))
}

/// A parameter as a time in blocks.
pub(crate) fn blocks(number: u128) -> Result<u64, Revert> {
    u64::try_from(number).map_err(|_| Revert::from("a height is beyond 64 bits"))
}

/// The parameters that the owner may set, in the order of the calldata.
pub(crate) struct Settings {
    pub(crate) mid_fee: u128,
    pub(crate) out_fee: u128,
    pub(crate) fee_gamma: u128,
    pub(crate) admin_fee: u128,
    pub(crate) allowed_extra_profit: u128,
    pub(crate) adjustment_step: u128,
    pub(crate) ma_half_time: u128,
}

impl Settings {
    /// The parameters of a pool whose coins count as `precisions`, each within its bounds.
    pub(crate) fn checked(&self, precisions: [U256; 2]) -> Result<Parameters, Revert> {
        let parameters = Parameters {
            precisions,
            mid_fee: U256::from(self.mid_fee),
            out_fee: U256::from(self.out_fee),
            fee_gamma: U256::from(self.fee_gamma),
            admin_fee: U256::from(self.admin_fee),
            admin_fee_is_paid: true,
            allowed_extra_profit: U256::from(self.allowed_extra_profit),
            adjustment_step: U256::from(self.adjustment_step),
            adjustment_divisor: ADJUSTMENT_DIVISOR,
            ma_half_time: blocks(self.ma_half_time)?,
        };
        parameters.checked().map_err(refusal)
    }
}

/// A response that sends back what came in, less `kept`.
pub(crate) fn all_but(env: &Environment, kept: &[(AlkaneId, u128)]) -> Result<Response, Revert> {
    let mut response = env.forward();
    for (id, value) in kept {
        if *value != 0 {
            ensure!(response.alkanes.amount_of(*id) >= *value, "too little of a coin came in");
            response.alkanes.take(*id, *value)?;
        }
    }
    Ok(response)
}

/// The reason of a refusal as the trace shows it, without numbers: writing them would cost every caller.
pub(crate) fn refusal(error: MathError) -> Revert {
    Revert::from(match error {
        MathError::Overflow => "a number is beyond 256 bits",
        MathError::Underflow => "more is taken than there is",
        MathError::DivisionByZero => "the pool is empty",
        MathError::AnnOutOfRange(_) => "A is out of range",
        MathError::GammaOutOfRange(_) => "gamma is out of range",
        MathError::BalanceOutOfRange(_) => "the pool is too small, too large or too one-sided",
        MathError::InvariantOutOfRange(_) => "the invariant is out of range",
        MathError::NotConverged(_) => "the curve does not settle",
        MathError::ParameterOutOfRange { name, .. } => return parameter_refusal(name),
        MathError::NoSuchCoin(_) => "there is no such coin",
        MathError::SameCoin(_) => "a coin cannot be exchanged for itself",
        MathError::AmountZero => "the amount is zero",
        MathError::Killed => "the pool is killed",
        MathError::Slippage { .. } => "the outcome is below the limit",
        MathError::BurnAboveSupply { .. } => "more liquidity than there is",
        MathError::NothingMinted => "the deposit is too small",
        MathError::Loss { .. } => "the liquidity would lose",
        MathError::RampTooShort { .. } => "the ramp is too short",
        MathError::RampTooSteep { .. } => "the ramp is too steep",
    })
}

fn parameter_refusal(name: &'static str) -> Revert {
    let mut reason = paraffin_contract::prelude::String::from(name);
    reason.push_str(" is out of range");
    Revert::from(reason)
}

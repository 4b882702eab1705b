//! One pool on an EVM chain as a source of prices.
//!
//! A reading is taken at the end of one block, some confirmations behind the newest, so that all its numbers belong together. A
//! reading is accepted when:
//!
//! 1. The pool trades exactly the two configured tokens, on the configured chain.
//! 2. The pool has liquidity, and the tick that it returns is that of the square root that it returns.
//! 3. The price is the geometric mean over `mean_seconds` where the pool has one, else the spot price.
//! 4. The spot price is within `spread_percent_max` of that mean: a manipulated pool gives no price.
//! 5. The price is between 1 and 10^9 US dollars.

use crate::abi::{self, AbiError};
use crate::activity::Activity;
use crate::address::EvmAddress;
use crate::endpoint::{Endpoint, EvmBlock};
use crate::error::SourceError;
use crate::price::{PricePoint, UsdPrice};
use crate::rate::{Sides, is_farther, tick_fits};

/// Which pool is read, and how.
#[derive(Debug, Clone)]
pub(crate) struct PoolRules {
    pub(crate) chain_id: u64,
    pub(crate) pool: EvmAddress,
    pub(crate) bitcoin_token: EvmAddress,
    pub(crate) usd_token: EvmAddress,
    /// Blocks between the newest and the one that is read.
    pub(crate) confirmations: u64,
    /// Span of the mean, seconds; 0 for none.
    pub(crate) mean_seconds: u32,
    /// Greatest distance of the spot price from the mean, percent.
    pub(crate) spread_percent_max: u32,
}

/// What kind of contract a pool is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// With `slot0()` and `observe(uint32[])`; the fee in parts per million where the pool reports it.
    V3 { fee_ppm: Option<u32> },
    /// With `getReserves()`.
    V2,
}

/// Kind and tokens of a pool, once they are checked.
#[derive(Debug, Clone, Copy)]
struct PoolIdentity {
    kind: Kind,
    sides: Sides,
}

/// The state of a pool at the end of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) point: PricePoint,
    /// Running sums of the pool's fees, where it has them.
    pub(crate) activity: Option<Activity>,
}

/// A pool behind an endpoint.
pub(crate) struct PoolSource {
    endpoint: Endpoint,
    rules: PoolRules,
    identity: Option<PoolIdentity>,
}

impl PoolSource {
    pub(crate) fn new(endpoint: Endpoint, rules: PoolRules) -> Self {
        Self { endpoint, rules, identity: None }
    }

    /// Name of the source as answers state it; `None` before the first reading.
    pub(crate) fn name(&self) -> Option<String> {
        let kind = match self.identity?.kind {
            Kind::V3 { .. } => "uniswap-v3",
            Kind::V2 => "uniswap-v2",
        };
        Some(format!("{kind}:{}", self.rules.pool))
    }

    /// Forgets the identity of the pool, so that the next reading checks chain and tokens again.
    pub(crate) fn forget(&mut self) {
        self.identity = None;
    }

    /// The newest block that has its confirmations.
    pub(crate) async fn newest_block(&self) -> Result<EvmBlock, SourceError> {
        let head = self.endpoint.block_number().await?;
        self.block(head.saturating_sub(self.rules.confirmations)).await
    }

    /// A block by its number.
    pub(crate) async fn block(&self, number: u64) -> Result<EvmBlock, SourceError> {
        let block = self.endpoint.block(number).await?;
        block.ok_or_else(|| SourceError::Unavailable(format!("it has no block {number} yet")))
    }

    /// Reads the pool at the end of a block.
    pub(crate) async fn read(&mut self, block: EvmBlock) -> Result<Reading, SourceError> {
        let identity = match self.identity {
            Some(identity) => identity,
            None => *self.identity.insert(self.identify(block.number).await?),
        };
        let (price, activity) = match identity.kind {
            Kind::V3 { fee_ppm } => self.read_v3(identity.sides, fee_ppm, block.number).await?,
            Kind::V2 => {
                let reserves = self.ask("getReserves()", &abi::GET_RESERVES, block.number, abi::reserves).await?;
                (identity.sides.of_reserves(reserves).ok_or_else(out_of_range)?, None)
            }
        };
        Ok(Reading { point: PricePoint { time: block.time, price }, activity })
    }

    async fn identify(&self, block: u64) -> Result<PoolIdentity, SourceError> {
        let served = self.endpoint.chain_id().await?;
        if served != self.rules.chain_id {
            return Err(SourceError::WrongChain { configured: self.rules.chain_id, served });
        }
        let token0 = self.ask("token0()", &abi::TOKEN0, block, abi::address).await?;
        let token1 = self.ask("token1()", &abi::TOKEN1, block, abi::address).await?;
        let bitcoin_is_token0 = match (self.rules.bitcoin_token, self.rules.usd_token) {
            tokens if tokens == (token0, token1) => true,
            tokens if tokens == (token1, token0) => false,
            _ => return Err(SourceError::OtherTokens { token0, token1 }),
        };
        let sides = Sides {
            bitcoin_is_token0,
            bitcoin_decimals: self.decimals(self.rules.bitcoin_token, block).await?,
            usd_decimals: self.decimals(self.rules.usd_token, block).await?,
        };
        let kind = match self.ask("slot0()", &abi::SLOT0, block, abi::slot0).await {
            Ok(_) => Kind::V3 { fee_ppm: self.optional(self.ask("fee()", &abi::FEE, block, abi::fee).await)? },
            // A contract without that function answers nothing or fails.
            Err(SourceError::Refused { .. } | SourceError::Contract { source: AbiError::Empty, .. }) => Kind::V2,
            Err(error) => return Err(error),
        };
        Ok(PoolIdentity { kind, sides })
    }

    async fn decimals(&self, token: EvmAddress, block: u64) -> Result<u8, SourceError> {
        let answer = self.endpoint.contract(token, &abi::DECIMALS, block).await?;
        abi::decimals(&answer).map_err(|source| SourceError::Contract {
            function: "decimals()",
            contract: token,
            source,
        })
    }

    async fn read_v3(
        &self,
        sides: Sides,
        fee_ppm: Option<u32>,
        block: u64,
    ) -> Result<(UsdPrice, Option<Activity>), SourceError> {
        let slot0 = self.ask("slot0()", &abi::SLOT0, block, abi::slot0).await?;
        if !tick_fits(slot0.tick, slot0.sqrt_price) {
            return Err(SourceError::Implausible("the tick and the square root of the price disagree".to_owned()));
        }
        let liquidity = self.ask("liquidity()", &abi::LIQUIDITY, block, abi::liquidity).await?;
        if liquidity == 0 {
            return Err(SourceError::Implausible("the pool has no liquidity at its price".to_owned()));
        }
        let spot = sides.of_sqrt_price(slot0.sqrt_price).ok_or_else(out_of_range)?;
        let price = match self.mean(sides, block).await? {
            Some(mean) if is_farther(spot, mean, self.rules.spread_percent_max) => {
                return Err(SourceError::Implausible(format!(
                    "the pool stands at {} USD, its mean of {} s at {} USD",
                    spot.to_f64(),
                    self.rules.mean_seconds,
                    mean.to_f64()
                )));
            }
            Some(mean) => mean,
            None => spot,
        };
        let activity = match fee_ppm {
            Some(fee_ppm) => {
                let growth0 =
                    self.optional(self.ask("feeGrowthGlobal0X128()", &abi::FEE_GROWTH_0, block, abi::word).await)?;
                let growth1 =
                    self.optional(self.ask("feeGrowthGlobal1X128()", &abi::FEE_GROWTH_1, block, abi::word).await)?;
                growth0
                    .zip(growth1)
                    .and_then(|growth| Activity::new(sides, growth, liquidity, fee_ppm, slot0.fee_protocol))
            }
            None => None,
        };
        Ok((price, activity))
    }

    /// The mean over the configured span; `None` when none is wanted or the pool does not remember as much.
    async fn mean(&self, sides: Sides, block: u64) -> Result<Option<UsdPrice>, SourceError> {
        let seconds = self.rules.mean_seconds;
        if seconds == 0 {
            return Ok(None);
        }
        let call = abi::observe_call(seconds);
        let Some([before, now]) = self.optional(self.ask("observe(uint32[])", &call, block, abi::observe).await)?
        else {
            return Ok(None);
        };
        // Both are values of 56 bits.
        sides.of_mean_tick(now - before, seconds).map(Some).ok_or_else(out_of_range)
    }

    /// An optional function of a pool: `None` for a refusal or an empty answer.
    fn optional<T>(&self, answer: Result<T, SourceError>) -> Result<Option<T>, SourceError> {
        match answer {
            Ok(value) => Ok(Some(value)),
            Err(SourceError::Refused { method, code, message }) => {
                tracing::debug!(method, code, message, pool = %self.rules.pool, "the pool does not answer this function");
                Ok(None)
            }
            Err(SourceError::Contract { source: AbiError::Empty, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Calls a function of the pool.
    async fn ask<T>(
        &self,
        function: &'static str,
        call: &[u8],
        block: u64,
        read: fn(&[u8]) -> Result<T, AbiError>,
    ) -> Result<T, SourceError> {
        let contract = self.rules.pool;
        let answer = self.endpoint.contract(contract, call, block).await?;
        read(&answer).map_err(|source| SourceError::Contract { function, contract, source })
    }
}

fn out_of_range() -> SourceError {
    SourceError::Implausible("it is below 1 or above 1,000,000,000 USD".to_owned())
}

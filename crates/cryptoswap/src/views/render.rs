//! Records of the index as messages.

use bitcoin::Txid;
use bitcoin::hashes::Hash as _;
use paraffin_primitives::AlkaneId;
use ruint::aliases::U256;

use super::PoolViews;
use crate::proto;
use crate::{Candle, PoolRecord, PoolState, Slot, Swap, Totals};

/// Ids that do not fit are never indexed, so none is cut short here.
impl From<AlkaneId> for proto::AlkaneId {
    fn from(id: AlkaneId) -> Self {
        Self { block: id.block as u32, tx: id.tx as u64 }
    }
}

impl From<proto::AlkaneId> for AlkaneId {
    fn from(id: proto::AlkaneId) -> Self {
        Self { block: id.block.into(), tx: id.tx.into() }
    }
}

/// An id in its message.
pub(super) fn id(id: AlkaneId) -> proto::AlkaneId {
    id.into()
}

/// A txid as it is displayed.
pub(super) fn displayed(txid: &Txid) -> Vec<u8> {
    txid.as_byte_array().iter().rev().copied().collect()
}

pub(super) fn pool(
    record: &PoolRecord,
    state: Option<&PoolState>,
    totals: &Totals,
    views: &PoolViews<'_>,
) -> proto::Pool {
    let identity = &record.identity;
    let [token0, token1] = identity.tokens();
    let number = |slot| state.map_or(U256::ZERO, |state| state.number(slot)).to_string();
    let curve = state.map(|state| state.curve(views.index.height().into()));
    let of_curve = |number: Option<U256>| number.unwrap_or_default().to_string();
    proto::Pool {
        pool: Some(id(record.id)),
        token0: Some(id(token0)),
        token1: Some(id(token1)),
        first_seen_height: record.first_height,
        first_seen_ts: record.first_time.into(),
        is_canonical: views.rules.canonical(record.id).is_some(),
        from_init: record.from_init,
        coin0_is_token0: identity.coin0_is_token0(),
        precision_coin0: identity.precisions[0].to_string(),
        precision_coin1: identity.precisions[1].to_string(),
        ann: of_curve(curve.map(|curve| curve.ann)),
        gamma: of_curve(curve.map(|curve| curve.gamma)),
        mid_fee: number(Slot::MidFee),
        out_fee: number(Slot::OutFee),
        admin_fee: number(Slot::AdminFee),
        swap_count: totals.swaps.to_string(),
        volume0: totals.volumes[0].to_string(),
        volume1: totals.volumes[1].to_string(),
    }
}

/// Balances in the order of the tokens.
pub(super) fn reserves(record: &PoolRecord, state: &PoolState) -> [String; 2] {
    let balances = [Slot::Balance0, Slot::Balance1].map(|slot| state.number(slot).to_string());
    record.identity.to_tokens(balances)
}

pub(super) fn state(record: &PoolRecord, state: &PoolState, views: &PoolViews<'_>) -> proto::PoolState {
    let [reserve0, reserve1] = reserves(record, state);
    let number = |slot| state.number(slot).to_string();
    let price_q = |slot| record.identity.price_q(state.number(slot)).map(|price| price.to_string());
    proto::PoolState {
        height: state.height,
        timestamp: state.time.into(),
        reserve0,
        reserve1,
        total_supply: number(Slot::TotalSupply),
        price_scale: number(Slot::PriceScale),
        price_oracle: number(Slot::PriceOracle),
        last_prices: number(Slot::LastPrices),
        last_prices_height: state.long(Slot::LastPricesHeight),
        marginal_price_q: price_q(Slot::PriceScale),
        oracle_price_q: price_q(Slot::PriceOracle),
        last_price_q: price_q(Slot::LastPrices),
        d: number(Slot::D),
        virtual_price: number(Slot::VirtualPrice),
        xcp_profit: number(Slot::XcpProfit),
        is_killed: state.is_killed(),
        ramping: state.is_ramping(views.index.height()),
        future_ag_height: state.long(Slot::FutureAGammaHeight),
    }
}

pub(super) fn swap(record: &PoolRecord, swap: &Swap) -> proto::Swap {
    let [token0, token1] = record.identity.tokens();
    let (token_in, token_out) = if swap.zero_for_one { (token0, token1) } else { (token1, token0) };
    proto::Swap {
        timestamp: swap.time.into(),
        height: swap.height,
        txid: displayed(&swap.txid),
        vout: swap.vout,
        token_in: Some(id(token_in)),
        amount_in: swap.amount_in.to_string(),
        token_out: Some(id(token_out)),
        amount_out: swap.amount_out.to_string(),
        price_q: swap.price_q.unwrap_or_default().to_string(),
        zero_for_one: swap.zero_for_one,
    }
}

pub(super) fn candle(candle: &Candle) -> proto::Candle {
    proto::Candle {
        bucket_start: candle.start,
        open: candle.open.to_string(),
        high: candle.high.to_string(),
        low: candle.low.to_string(),
        close: candle.close.to_string(),
        volume0: candle.volumes[0].to_string(),
        volume1: candle.volumes[1].to_string(),
        trades: candle.trades,
    }
}

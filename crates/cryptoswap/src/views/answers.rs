//! One function for each view.

use paraffin_alkanes::views::ViewError;
use paraffin_primitives::AlkaneId;
use ruint::aliases::U256;

use super::{PAGE_ITEMS_MAX, PRICE_Q_SCALE, PoolViews, render};
use crate::index::quote as quoted;
use crate::proto::{
    self, GetBlockSummaryRequest, GetBlockSummaryResponse, GetCandleAtRequest, GetCandleAtResponse, GetCandlesRequest,
    GetCandlesResponse, GetPoolRequest, GetPoolResponse, GetPoolStateRequest, GetPoolStateResponse, GetPoolsRequest,
    GetPoolsResponse, GetPriceRequest, GetPriceResponse, GetRawValueRequest, GetRawValueResponse, GetReservesRequest,
    GetReservesResponse, GetSwapsRequest, GetSwapsResponse, IndexHeightResponse, PingResponse, QuoteRequest,
    QuoteResponse,
};
use crate::{BUCKET_WIDTHS, PoolRecord, PoolState};

/// Decimal digits of an amount; more are no amount of 256 bits.
const AMOUNT_DIGITS_MAX: usize = 78;

/// The requested page of a list.
struct Pages {
    page: u32,
    limit: u32,
}

impl Pages {
    fn new(page: Option<u32>, limit: Option<u32>) -> Self {
        Self { page: page.unwrap_or(0), limit: limit.unwrap_or(PAGE_ITEMS_MAX).min(PAGE_ITEMS_MAX) }
    }

    fn offset(&self) -> u64 {
        u64::from(self.page) * u64::from(self.limit)
    }

    /// Whether there is more behind `items` items of this page.
    fn has_more(&self, items: usize, total: u32) -> bool {
        self.offset().saturating_add(items as u64) < u64::from(total)
    }
}

fn known(pool: Option<proto::AlkaneId>, views: &PoolViews<'_>) -> Result<Option<PoolRecord>, ViewError> {
    let Some(pool) = pool else { return Ok(None) };
    Ok(views.index.pool(pool.into())?)
}

/// A pool with its state, where there are both.
fn with_state(
    pool: Option<proto::AlkaneId>,
    views: &PoolViews<'_>,
) -> Result<Option<(PoolRecord, PoolState)>, ViewError> {
    let Some(record) = known(pool, views)? else { return Ok(None) };
    Ok(views.index.state(record.id)?.map(|state| (record, state)))
}

fn scale() -> String {
    PRICE_Q_SCALE.to_owned()
}

pub(super) fn ping() -> PingResponse {
    PingResponse { message: "pong".to_owned() }
}

pub(super) fn index_height(views: &PoolViews<'_>) -> IndexHeightResponse {
    IndexHeightResponse { height: Some(views.index.height()) }
}

/// The genesis block has no operations, so a request without a height finds nothing.
pub(super) fn block_summary(
    request: GetBlockSummaryRequest,
    views: &PoolViews<'_>,
) -> Result<GetBlockSummaryResponse, ViewError> {
    let height = request.height;
    if height == 0 {
        return Ok(GetBlockSummaryResponse::default());
    }
    let Some((hash, summary)) = views.index.summary(height)? else {
        return Ok(GetBlockSummaryResponse::default());
    };
    Ok(GetBlockSummaryResponse {
        found: true,
        height,
        blockhash: hash.to_string(),
        tx_count: summary.transactions,
        swap_count: summary.swaps,
        new_pool_count: summary.new_pools,
        add_liquidity_count: summary.deposits,
        remove_liquidity_count: summary.withdrawals,
        claim_fees_count: summary.claims,
        admin_count: summary.admin,
    })
}

/// Writes that a contract passes to another call leave no trace, so the value is read from the contract's own storage.
pub(super) fn raw_value(request: &GetRawValueRequest, views: &PoolViews<'_>) -> Result<GetRawValueResponse, ViewError> {
    let Some(record) = known(request.pool, views)? else { return Ok(GetRawValueResponse::default()) };
    let slot = views.index.slot(record.id, &request.key)?;
    let stored = views.contracts.storage(record.id, &request.key)?;
    let (txid, watched) = slot.map_or((None, None), |slot| (slot.txid, Some(slot.value)));
    let Some(value) = stored.or(watched) else { return Ok(GetRawValueResponse::default()) };
    let txid = txid.map_or_else(Vec::new, |txid| render::displayed(&txid));
    Ok(GetRawValueResponse { found: true, txid, value })
}

pub(super) fn pools(request: GetPoolsRequest, views: &PoolViews<'_>) -> Result<GetPoolsResponse, ViewError> {
    let pages = Pages::new(request.page, request.limit);
    let (mut total, mut pools) = (0u32, Vec::new());
    for record in views.index.pools()? {
        views.check()?;
        let record = record?;
        let is_canonical = views.rules.canonical(record.id).is_some();
        if request.canonical.is_some_and(|wanted| wanted != is_canonical) {
            continue;
        }
        if u64::from(total) >= pages.offset() && pools.len() < pages.limit as usize {
            let state = views.index.state(record.id)?;
            let totals = views.index.totals(record.id)?;
            pools.push(render::pool(&record, state.as_ref(), &totals, views));
        }
        total += 1;
    }
    let has_more = pages.has_more(pools.len(), total);
    let Pages { page, limit } = pages;
    Ok(GetPoolsResponse { ok: true, page, limit, total, has_more, price_q_scale: scale(), pools })
}

pub(super) fn pool(request: GetPoolRequest, views: &PoolViews<'_>) -> Result<GetPoolResponse, ViewError> {
    let Some(record) = known(request.pool, views)? else { return Ok(GetPoolResponse::default()) };
    let state = views.index.state(record.id)?;
    let totals = views.index.totals(record.id)?;
    Ok(GetPoolResponse {
        found: true,
        pool: Some(render::pool(&record, state.as_ref(), &totals, views)),
        state: state.map(|state| render::state(&record, &state, views)),
        price_q_scale: scale(),
    })
}

pub(super) fn pool_state(
    request: GetPoolStateRequest,
    views: &PoolViews<'_>,
) -> Result<GetPoolStateResponse, ViewError> {
    let Some((record, state)) = with_state(request.pool, views)? else { return Ok(GetPoolStateResponse::default()) };
    let [token0, token1] = record.identity.tokens().map(|token| Some(render::id(token)));
    Ok(GetPoolStateResponse {
        found: true,
        pool: Some(render::id(record.id)),
        token0,
        token1,
        state: Some(render::state(&record, &state, views)),
        price_q_scale: scale(),
    })
}

pub(super) fn reserves(request: GetReservesRequest, views: &PoolViews<'_>) -> Result<GetReservesResponse, ViewError> {
    let Some((record, state)) = with_state(request.pool, views)? else { return Ok(GetReservesResponse::default()) };
    let [token0, token1] = record.identity.tokens().map(|token| Some(render::id(token)));
    let [reserve0, reserve1] = render::reserves(&record, &state);
    Ok(GetReservesResponse {
        found: true,
        pool: Some(render::id(record.id)),
        token0,
        token1,
        height: state.height,
        timestamp: state.time.into(),
        reserve0,
        reserve1,
        total_supply: state.number(crate::Slot::TotalSupply).to_string(),
    })
}

pub(super) fn swaps(request: GetSwapsRequest, views: &PoolViews<'_>) -> Result<GetSwapsResponse, ViewError> {
    let Some(record) = known(request.pool, views)? else { return Ok(GetSwapsResponse::default()) };
    let pages = Pages::new(request.page, request.limit);
    let found = views.index.swaps(record.id, pages.offset(), pages.limit)?;
    Ok(GetSwapsResponse {
        ok: true,
        pool: Some(render::id(record.id)),
        page: pages.page,
        limit: pages.limit,
        total: found.total,
        has_more: pages.has_more(found.items.len(), found.total),
        price_q_scale: scale(),
        swaps: found.items.iter().map(|swap| render::swap(&record, swap)).collect(),
    })
}

pub(super) fn price(request: GetPriceRequest, views: &PoolViews<'_>) -> Result<GetPriceResponse, ViewError> {
    let Some(record) = known(request.pool, views)? else { return Ok(GetPriceResponse::default()) };
    let executed = views.index.newest_priced_swap(record.id)?;
    let state = views.index.state(record.id)?.map(|state| render::state(&record, &state, views));
    let [token0, token1] = record.identity.tokens().map(|token| Some(render::id(token)));
    Ok(GetPriceResponse {
        found: true,
        pool: Some(render::id(record.id)),
        token0,
        token1,
        price_q_scale: scale(),
        executed_price_q: executed.and_then(|swap| swap.price_q).map(|price| price.to_string()),
        executed_timestamp: executed.map(|swap| swap.time.into()),
        executed_height: executed.map(|swap| swap.height),
        executed_txid: executed.map_or_else(Vec::new, |swap| render::displayed(&swap.txid)),
        marginal_price_q: state.as_ref().and_then(|state| state.marginal_price_q.clone()),
        oracle_price_q: state.as_ref().and_then(|state| state.oracle_price_q.clone()),
        state_height: state.map(|state| state.height),
    })
}

pub(super) fn candles(request: GetCandlesRequest, views: &PoolViews<'_>) -> Result<GetCandlesResponse, ViewError> {
    let GetCandlesRequest { pool, bucket, .. } = request;
    let supported_buckets = BUCKET_WIDTHS.to_vec();
    if !BUCKET_WIDTHS.contains(&bucket) {
        return Ok(GetCandlesResponse { pool, bucket, supported_buckets, ..GetCandlesResponse::default() });
    }
    let Some(record) = known(pool, views)? else { return Ok(GetCandlesResponse::default()) };
    let pages = Pages::new(request.page, request.limit);
    let range = (request.from.unwrap_or(0), request.to.unwrap_or(u64::MAX));
    let found = views.index.candles(record.id, bucket, range, pages.offset(), pages.limit)?;
    Ok(GetCandlesResponse {
        ok: true,
        pool,
        bucket,
        page: pages.page,
        limit: pages.limit,
        total: found.total,
        has_more: pages.has_more(found.items.len(), found.total),
        price_q_scale: scale(),
        candles: found.items.iter().map(render::candle).collect(),
        supported_buckets,
    })
}

pub(super) fn candle_at(request: GetCandleAtRequest, views: &PoolViews<'_>) -> Result<GetCandleAtResponse, ViewError> {
    let GetCandleAtRequest { pool, bucket, at } = request;
    let supported_buckets = BUCKET_WIDTHS.to_vec();
    if !BUCKET_WIDTHS.contains(&bucket) {
        return Ok(GetCandleAtResponse { pool, bucket, supported_buckets, ..GetCandleAtResponse::default() });
    }
    let Some(record) = known(pool, views)? else { return Ok(GetCandleAtResponse::default()) };
    let Some(candle) = views.index.candle_at(record.id, bucket, at)? else {
        return Ok(GetCandleAtResponse::default());
    };
    Ok(GetCandleAtResponse {
        found: true,
        pool,
        bucket,
        candle: Some(render::candle(&candle)),
        price_q_scale: scale(),
        supported_buckets,
    })
}

pub(super) fn quote(request: &QuoteRequest, views: &PoolViews<'_>) -> Result<QuoteResponse, ViewError> {
    let Some(record) = known(request.pool, views)? else { return Ok(QuoteResponse::default()) };
    let state = views.index.state(record.id)?;
    let height = views.index.height();
    let mut answer = QuoteResponse {
        found: true,
        pool: request.pool,
        token_in: request.token_in,
        amount_in: request.amount_in.clone(),
        price_q_scale: scale(),
        for_height: height.saturating_add(1),
        ..QuoteResponse::default()
    };
    if let Some(state) = &state {
        answer.is_killed = state.is_killed();
        answer.ramping = state.is_ramping(height);
        answer.marginal_price_q =
            record.identity.price_q(state.number(crate::Slot::PriceScale)).map(|price| price.to_string());
    }
    let Some(amount_in) = amount(&request.amount_in) else {
        "the amount must be decimal digits of at most 256 bits".clone_into(&mut answer.refusal);
        answer.amount_in.clear();
        return Ok(answer);
    };
    let token_in = request.token_in.map_or_else(AlkaneId::default, AlkaneId::from);
    match quoted(&record.identity, state.as_ref(), height, token_in, amount_in) {
        Err(refusal) => answer.refusal = refusal.to_string(),
        Ok(quote) => {
            answer.ok = true;
            answer.token_out = Some(render::id(quote.token_out));
            answer.amount_out = quote.amount_out.to_string();
            answer.fee_amount = quote.fee_amount.to_string();
            answer.fee = quote.fee.to_string();
            answer.effective_price_q = quote.effective_price_q.map(|price| price.to_string());
            answer.spot_price_q = quote.spot_price_q.map(|price| price.to_string());
            answer.price_impact = quote.price_impact.to_string();
            answer.conversion_cap = quote.conversion_cap.map(|cap| cap.to_string());
            answer.exceeds_conversion_cap = quote.exceeds_conversion_cap;
        }
    }
    Ok(answer)
}

fn amount(text: &str) -> Option<U256> {
    if text.is_empty() || text.len() > AMOUNT_DIGITS_MAX || !text.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    U256::from_str_radix(text, 10).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// row PI21
    #[test]
    fn pages_count_from_zero_and_hold_at_most_twenty_thousand() {
        let pages = |page, limit| Pages::new(page, limit);
        assert_eq!((pages(None, None).page, pages(None, None).limit), (0, 20_000));
        assert_eq!(pages(Some(1), Some(30_000)).limit, 20_000);
        assert_eq!(pages(Some(3), Some(7)).offset(), 21);
        assert_eq!(pages(Some(u32::MAX), None).offset(), u64::from(u32::MAX) * 20_000);
        let nothing = pages(None, Some(0));
        assert!(nothing.has_more(0, 1) && !nothing.has_more(0, 0));
        assert!(pages(Some(1), Some(5)).has_more(5, 11) && !pages(Some(1), Some(5)).has_more(5, 10));
    }

    /// row PI16
    #[test]
    fn amounts_are_decimal_digits_and_nothing_else() {
        assert_eq!(amount("0"), Some(U256::ZERO));
        assert_eq!(amount(&U256::MAX.to_string()), Some(U256::MAX));
        let above = format!("{}6", &U256::MAX.to_string()[..77]);
        let long = "9".repeat(79);
        for text in ["", "-1", "+1", " 1", "1.0", "0x1", "1e3", above.as_str(), long.as_str()] {
            assert_eq!(amount(text), None, "{text}");
        }
    }
}

//! `CryptoSwap` pools, which no factory lists, beside those of factories (docs/api.md, "Markets").

use paraffin_alkanes::views::ViewError;
use paraffin_amm::routing::FormulaPool;
use paraffin_amm::{EventKind, EventList, Markets, PoolIdentity, Scope, Status};
use paraffin_cryptoswap::{PoolIndex, PoolRecord};
use paraffin_primitives::AlkaneId;

use super::{MarketMoment, failed};

/// A pool that a request names, with the events and candles it is part of.
pub struct NamedPool {
    /// The pool; of factory 0:0 when none lists it.
    pub identity: PoolIdentity,
    /// Where its events and candles are.
    pub markets: Markets,
    /// How the pool index knows it; `None` for a pool of a factory.
    pub cryptoswap: Option<PoolRecord>,
}

impl MarketMoment<'_> {
    /// The index of pools that no factory lists; `None` where it is not kept.
    ///
    /// # Errors
    /// The index cannot be read, or the view took too long.
    pub fn cryptoswap(&self) -> Result<Option<PoolIndex>, ViewError> {
        let snapshot = self.markets.snapshot();
        let newest = PoolIndex::newest(snapshot)?;
        Ok(newest.map(|_| PoolIndex::at(snapshot, self.chain.view.height)))
    }

    /// The pool with an id, whichever factory lists it.
    ///
    /// # Errors
    /// The index cannot be read, or the view took too long.
    pub fn named_pool(&self, id: AlkaneId) -> Result<Option<NamedPool>, ViewError> {
        if let Some(record) = self.markets.pool(id).map_err(failed)? {
            let markets = self.markets.clone();
            return Ok(Some(NamedPool { identity: record.pool, markets, cryptoswap: None }));
        }
        let Some(index) = self.cryptoswap()? else { return Ok(None) };
        let record = index.pool(id)?;
        Ok(record.map(|record| {
            let identity = PoolIdentity { id, factory: AlkaneId::default(), tokens: record.identity.tokens() };
            NamedPool { identity, markets: index.markets(), cryptoswap: Some(record) }
        }))
    }

    /// The same list of pools that no factory lists.
    ///
    /// # Errors
    /// The index cannot be read, or the view took too long.
    pub fn cryptoswap_list(
        &self,
        scope: Scope,
        kind: EventKind,
        status: Status,
    ) -> Result<Option<EventList>, ViewError> {
        let Some(index) = self.cryptoswap()? else { return Ok(None) };
        index.markets().list(scope, Some(kind), status).map(Some).map_err(failed)
    }

    /// Those that routes may go through, of the ones in this instance's configuration.
    ///
    /// # Errors
    /// The index cannot be read, or the view took too long.
    pub fn cryptoswap_routes(&self) -> Result<Vec<FormulaPool>, ViewError> {
        let Some(index) = self.cryptoswap()? else { return Ok(Vec::new()) };
        Ok(index.routes(&self.parts.cryptoswap_pools)?)
    }
}

//! Handlers of the surfaces below a key, and the listener of the Electrum protocol.

use std::collections::BTreeMap;
use std::sync::Arc;

use paraffin_bitcoin_surfaces::ElectrumParts;
use paraffin_electrum::ElectrumSettings;
use paraffin_gateway::{KeyedHandler, KeyedSurface, ListenerParts};
use paraffin_mempool::Mempool;
use paraffin_program::KeyedSources;

pub use paraffin_bitcoin_surfaces::handlers::*;
pub use paraffin_contract_surfaces::handlers::*;
pub use paraffin_data_surfaces::handlers::*;
pub use paraffin_price_surfaces::handlers::*;
pub use paraffin_service_surfaces::handlers::*;

/// Those that an instance with these sources has. A new surface is one line here.
pub fn keyed(from: KeyedSources) -> BTreeMap<KeyedSurface, KeyedHandler> {
    let mut surfaces = BTreeMap::from([
        (KeyedSurface::Esplora, esplora()),
        (KeyedSurface::Reorg, reorg()),
        (KeyedSurface::Espo, espo()),
        (KeyedSurface::Udf, udf()),
        (KeyedSurface::Events, events()),
        (KeyedSurface::Dexscreener, dexscreener()),
        (KeyedSurface::Coingecko, coingecko()),
        (KeyedSurface::Forex, forex(from.forex)),
        (KeyedSurface::Btcusd, btcusd(from.pools)),
    ]);
    if from.electrum {
        surfaces.insert(KeyedSurface::Electrum, electrum());
    }
    let with_parts = [
        (KeyedSurface::Mempool, from.mempool.map(mempool)),
        (KeyedSurface::Orderbook, from.orderbook.map(orderbook)),
        (KeyedSurface::Explorer, from.verifier.map(verify)),
    ];
    surfaces.extend(with_parts.into_iter().filter_map(|(surface, handler)| Some((surface, handler?))));
    surfaces
}

/// The listener of the Electrum protocol.
pub fn electrum_listener(settings: ElectrumSettings, mempool: Arc<Mempool>) -> Box<dyn ListenerParts> {
    Box::new(ElectrumParts { settings, mempool })
}

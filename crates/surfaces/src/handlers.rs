//! Handlers of the surfaces below a key, and the listener of the Electrum protocol.

use std::sync::Arc;

use paraffin_bitcoin_surfaces::ElectrumParts;
use paraffin_electrum::ElectrumSettings;
use paraffin_gateway::{KeyedHandler, ListenerParts};
use paraffin_mempool::Mempool;
use paraffin_program::KeyedSources;

pub use paraffin_bitcoin_surfaces::handlers::*;
pub use paraffin_contract_surfaces::handlers::*;
pub use paraffin_data_surfaces::handlers::*;
pub use paraffin_price_surfaces::handlers::*;
pub use paraffin_service_surfaces::handlers::*;

/// Those that an instance with these sources has. A new surface is one line here.
pub fn keyed(from: KeyedSources) -> Vec<KeyedHandler> {
    let mut surfaces = vec![
        esplora(),
        reorg(),
        espo(),
        udf(),
        events(),
        dexscreener(),
        coingecko(),
        forex(from.forex),
        btcusd(from.pools),
    ];
    surfaces.extend(from.electrum.then(electrum));
    surfaces.extend(from.mempool.map(mempool));
    surfaces.extend(from.orderbook.map(orderbook));
    surfaces.extend(from.verifier.map(verify));
    surfaces
}

/// The listener of the Electrum protocol.
pub fn electrum_listener(settings: ElectrumSettings, mempool: Arc<Mempool>) -> Box<dyn ListenerParts> {
    Box::new(ElectrumParts { settings, mempool })
}

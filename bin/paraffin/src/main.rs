//! The program: its version, its allocator, and the surfaces that it answers with. Its commands are in `paraffin-program`.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::process::ExitCode;

use paraffin_gateway::{KeyedHandler, KeyedSurface};
use paraffin_program::{KeyedSources, Program};
use paraffin_surfaces::{ElectrumParts, SURFACES, handlers};

/// Large allocations are mappings of their own (docs/decisions/0050).
#[global_allocator]
static ALLOCATOR: paraffin_allocator::Allocator = paraffin_allocator::Allocator;

/// The build script finds the commit.
static PROGRAM: Program = Program {
    version: concat!(env!("CARGO_PKG_VERSION"), " (commit ", env!("PARAFFIN_COMMIT"), ")"),
    surfaces: &SURFACES,
    keyed,
    electrum: |settings, mempool| Box::new(ElectrumParts { settings, mempool }),
};

fn main() -> ExitCode {
    paraffin_program::run(&PROGRAM)
}

/// The surfaces below a key. A new one is one line here.
fn keyed(from: KeyedSources) -> BTreeMap<KeyedSurface, KeyedHandler> {
    let mut surfaces = BTreeMap::from([
        (KeyedSurface::Esplora, handlers::esplora()),
        (KeyedSurface::Reorg, handlers::reorg()),
        (KeyedSurface::Espo, handlers::espo()),
        (KeyedSurface::Udf, handlers::udf()),
        (KeyedSurface::Events, handlers::events()),
        (KeyedSurface::Dexscreener, handlers::dexscreener()),
        (KeyedSurface::Coingecko, handlers::coingecko()),
        (KeyedSurface::Forex, handlers::forex(from.forex)),
        (KeyedSurface::Btcusd, handlers::btcusd(from.pools)),
    ]);
    if from.electrum {
        surfaces.insert(KeyedSurface::Electrum, handlers::electrum());
    }
    let with_parts = [
        (KeyedSurface::Mempool, from.mempool.map(handlers::mempool)),
        (KeyedSurface::Orderbook, from.orderbook.map(handlers::orderbook)),
        (KeyedSurface::Explorer, from.verifier.map(handlers::verify)),
    ];
    surfaces.extend(with_parts.into_iter().filter_map(|(surface, handler)| Some((surface, handler?))));
    surfaces
}

//! The program: its version, its allocator, and the surfaces that it answers with. Its commands are in `paraffin-program`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use paraffin_gateway::KeyedHandler;
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
fn keyed(from: KeyedSources) -> Vec<KeyedHandler> {
    let mut surfaces = vec![
        handlers::esplora(),
        handlers::reorg(),
        handlers::espo(),
        handlers::udf(),
        handlers::events(),
        handlers::dexscreener(),
        handlers::coingecko(),
        handlers::forex(from.forex),
        handlers::btcusd(from.pools),
    ];
    surfaces.extend(from.electrum.then(handlers::electrum));
    surfaces.extend(from.mempool.map(handlers::mempool));
    surfaces.extend(from.orderbook.map(handlers::orderbook));
    surfaces.extend(from.verifier.map(handlers::verify));
    surfaces
}

//! The contracts that are never on the chain, in our own build, as networks for development have them (docs/contracts.md).
#![forbid(unsafe_code)]

use paraffin_alkanes::Builtins;
use paraffin_primitives::AlkaneId;

/// The genesis token.
pub const DIESEL: AlkaneId = AlkaneId { block: 2, tx: 0 };
/// Wrapped bitcoin.
pub const WRAPPED_BITCOIN: AlkaneId = AlkaneId { block: 32, tx: 0 };
/// The token of a right to call an owner's operations.
const AUTH_TOKEN: AlkaneId = AlkaneId { block: 32, tx: 1 };

/// The contracts that are never on the chain, in our own build (protocol B18).
pub fn builtins() -> Builtins {
    Builtins::given([
        (DIESEL, include_bytes!("../../../contracts/wasm/genesis-token.wasm").to_vec()),
        (WRAPPED_BITCOIN, include_bytes!("../../../contracts/wasm/wrapped-bitcoin.wasm").to_vec()),
        (AUTH_TOKEN, include_bytes!("../../../contracts/wasm/auth-token.wasm").to_vec()),
    ])
}

//! The virtual machine (protocol B7, B9 to B11, B13, B14, B18).
//!
//! ```text
//!  target ─▶ resolve ─▶ builtins | stored code ─▶ cache (compiled) ─▶ instance ─▶ __execute
//!                                                                        │  ▲
//!                                             balances, overlay ◀─ host ─┘  └─ call: the same again, one layer deeper
//! ```
//!
//! Invariants: untrusted code ends, by fuel, by the limits of its instance or by the work of its block; no contract can end
//! the process; a cached module behaves and costs like one that was just compiled.

mod balances;
mod block_codes;
mod builtins;
mod cache;
mod call;
mod guard;
mod host;
mod instance;
mod limits;
#[cfg(feature = "machine-code")]
mod machine_code;
mod memory_section;
mod module_size;
mod precompile;
mod resolve;
mod sequence;
mod session;
mod simulate;
mod speculation;
mod stop;
mod wire;

pub use block_codes::BLOCK_CODE_BYTES;
pub(crate) use block_codes::BlockCodes;
pub use builtins::{Builtins, BuiltinsError, ReleasedModule};
pub use cache::CodeCache;
pub(crate) use cache::PackedCode;
#[cfg(all(test, feature = "machine-code"))]
pub(crate) use cache::{Code, Compiled};
pub use simulate::{
    META_FUEL, SIMULATION_FUEL, SimulatedCall, Simulation, deploy_builtins, meta, simulate, simulate_within,
};

pub(crate) use balances::{credit, debit};
pub(crate) use call::store;
pub(crate) use guard::guarded;
pub(crate) use instance::Outcome;
pub(crate) use resolve::{Resolved, resolve};
pub(crate) use session::{Frame, Session};
pub(crate) use speculation::{Queue, Run, Speculating, Speculation, execute_in_turn};
pub(crate) use stop::Stop;
pub(crate) use wire::{ReturnedData, revert_data};

use paraffin_primitives::AlkaneId;

use crate::work::CodeLimit;
use crate::{Halt, Overlay};

/// The longest module that is shown, in bytes.
pub(crate) const SHOWN_CODE_LEN_MAX_BYTES: usize = 64 << 20;

/// The module that a call to `id` runs at `height`, templates followed: what the view `getbytecode` shows.
///
/// # Errors
/// Reading failed, a built-in is missing, or the module is too long to be shown. `Ok(Err(_))`: there is no such contract, or its code is damaged.
pub fn contract_code(
    state: &Overlay<'_>,
    builtins: &Builtins,
    id: AlkaneId,
    height: u64,
) -> Result<Result<Vec<u8>, String>, Halt> {
    let unpacked = match resolve::find(state, builtins, id, height)? {
        resolve::CodeLocation::Builtin(code) => return Ok(Ok(code.bytes.to_vec())),
        resolve::CodeLocation::Stored(_, payload) => {
            let limit = CodeLimit { len_max: SHOWN_CODE_LEN_MAX_BYTES, beyond: Halt::CodeTooLarge };
            cache::unpack(&payload, limit)
        }
    };
    match unpacked {
        Ok(code) => Ok(Ok(code)),
        Err(Stop::Revert(text)) => Ok(Err(text)),
        Err(Stop::Halt(halt)) => Err(halt),
    }
}

/// A stored integer of 128 bits; nothing stored is 0 (protocol B22.5).
pub(crate) fn integer(stored: &[u8], what: &'static str) -> Result<u128, Halt> {
    if stored.is_empty() {
        return Ok(0);
    }
    let bytes: [u8; 16] =
        stored.try_into().map_err(|_| Halt::WrongLength { what, length: stored.len(), expected: 16 })?;
    Ok(u128::from_le_bytes(bytes))
}

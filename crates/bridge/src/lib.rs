//! The payloads that carry the USD token between Bitcoin and an EVM chain: built, parsed and validated before they are signed.
//!
//! The bridge has two legs. A **deposit** locks a stablecoin in a vault on the EVM chain together with *bridgeData*, which
//! names the recipient of the USD token on Bitcoin. A **burn** destroys the USD token on Bitcoin together with *burnData*,
//! which orders what is done with the stablecoin on the EVM chain. A coordinator reads both; neither can be corrected later.
//!
//! ```
//! use paraffin_bridge::{Deposit, script_of_address};
//!
//! let recipient = script_of_address("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4")?;
//! let bridge_data = Deposit::direct(recipient).bridge_data()?.encode()?;
//! assert_eq!(bridge_data[..2], [0x12, 22]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where money is lost, and what this crate does about it
//!
//! * **A malformed bridgeData does not fail.** The EVM transaction succeeds, and the coordinator pays the *operator's*
//!   fallback recipient. Validate the bytes before signing: [`check_bridge_data`] refuses everything that is not a canonical
//!   encoding of a payload with a payable recipient.
//! * **A burn of the BTC token does not check the script.** Against an unspendable script, the supply is gone.
//!   [`check_script`] accepts the forms of the specification and never repairs one.
//! * **An address of a test network is a well-formed script**, and funds paid to it on mainnet are lost. [`script_of_address`] takes
//!   mainnet addresses alone.
//! * **Over the conversion cap nothing fails either.** A deposit that asks to convert more than a tenth of the pool's USD
//!   reserve is paid in plain USD token. [`ConversionCap::check`] detects that beforehand and names the largest share that passes.
//!   A trade on the pool itself has no cap.
//! * **`amountOutMin` of 0 gives the swap away.** The coordinator sets no floor on that leg; the block's producer takes
//!   the difference. [`RouterSwap::encode`] refuses it unless the caller allows it.
//! * **Any call but the one on the allow-list is dropped**, and the burn is paid out plainly: [`BurnData::effect`] shows it.
//! * **Two calls, in order**: a token `approve` for exactly the deposit, then `depositAndBridge`. [`deposit_calls`] makes both,
//!   and no unlimited approval.
//! * **`max_slippage_bps` only tightens.** It can lower the coordinator's own bound, never raise it.
//!
//! # Shape
//!
//! Pure functions over bytes: no network, no clock, no keys. Nothing is clamped, repaired or normalised; what cannot be
//! right is refused with an error that names the rule. Decoding takes arbitrary bytes, never panics, and its memory is in
//! proportion to its input, which is limited.
//!
//! Invariant: this crate depends on no other crate of the workspace.
#![forbid(unsafe_code)]

mod abi;
mod address;
mod bridge_data;
mod burn_cellpack;
mod burn_data;
mod calldata;
mod conversion_cap;
mod deployment;
mod deposit;
pub mod report;
mod router_swap;
mod script;
mod wire;

pub use address::{AddressError, script_of_address, script_of_text};
pub use alloy_primitives::{Address as EvmAddress, U256};
pub use bridge_data::{BridgeData, BtcConversion, Decoded, Dispatch, Refusal, Warning, check_bridge_data};
pub use burn_cellpack::{BurnCellpack, BurnError, BurnNote, USD_TOKEN};
pub use burn_data::{BurnData, BurnEffect, Degradation};
pub use calldata::{Calldata, CalldataError, CalldataNote};
pub use conversion_cap::{CapError, ConversionCap};
pub use deployment::{Asset, EvmDeployment, UnknownAsset};
pub use deposit::{Deposit, DepositError, EvmCall, deposit_calls};
pub use router_swap::{RouterSwap, SwapError, ZeroMinimum};
pub use script::{Role, ScriptKind, ScriptRefusal, check_script};

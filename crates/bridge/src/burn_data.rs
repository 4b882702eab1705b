//! burnData: what a burn on Bitcoin passes to the EVM chain. Raw bytes, not protobuf.

use alloy_primitives::Address;

use crate::deployment::EvmDeployment;
use crate::router_swap::{RouterSwap, SwapError, ZeroMinimum};

const VERSION: u8 = 1;
const KIND_TRANSFER: u8 = 0;
const KIND_CALL: u8 = 1;

/// burnData as read (docs/bridge.md). Reading never fails: anything unknown is a plain payout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BurnData {
    /// A plain payout: no bytes, or `0100`.
    Transfer,
    /// A call: `0101`, the target's 20 bytes, the calldata.
    Call {
        /// The contract to call.
        target: Address,
        /// The calldata.
        calldata: Vec<u8>,
    },
    /// Anything else.
    Other(Vec<u8>),
}

/// What a burn does on the EVM chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BurnEffect {
    /// The stablecoin is paid out, as requested.
    Payout,
    /// The stablecoin is swapped on the router.
    Swap(RouterSwap),
    /// Another payout was requested, and the stablecoin is paid out instead.
    DegradedToPayout(Degradation),
}

/// Why a call is not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Degradation {
    /// Neither of the two encodings.
    #[error("the bytes are neither a transfer nor a call of version 1")]
    NotUnderstood,
    /// Not the router.
    #[error("the target {0} is not on the allow-list")]
    Target(Address),
    /// Another function of the router.
    #[error("the function is not swapExactTokensForETH")]
    Call {
        /// The first four bytes, if there are so many.
        selector: Option<[u8; 4]>,
    },
    /// The function with arguments that are not its canonical encoding.
    #[error("the arguments are not those of swapExactTokensForETH in their canonical encoding")]
    Arguments,
    /// Another path.
    #[error("the path is not [stablecoin, wrapped native token]")]
    Path,
}

impl BurnData {
    /// A call of the router.
    ///
    /// # Errors
    /// As [`RouterSwap::encode`].
    pub fn swap(swap: &RouterSwap, deployment: &EvmDeployment, zero_minimum: ZeroMinimum) -> Result<Self, SwapError> {
        Ok(BurnData::Call { target: deployment.router, calldata: swap.encode(deployment, zero_minimum)? })
    }

    /// Reads any bytes.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Self {
        match bytes {
            [] | [VERSION, KIND_TRANSFER] => BurnData::Transfer,
            [VERSION, KIND_CALL, rest @ ..] => match rest.split_first_chunk::<20>() {
                Some((target, calldata)) => {
                    BurnData::Call { target: Address::from(*target), calldata: calldata.to_vec() }
                }
                None => BurnData::Other(bytes.to_vec()),
            },
            _ => BurnData::Other(bytes.to_vec()),
        }
    }

    /// The bytes; a transfer as `0100`.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        match self {
            BurnData::Transfer => vec![VERSION, KIND_TRANSFER],
            BurnData::Call { target, calldata } => {
                [&[VERSION, KIND_CALL], target.as_slice(), calldata.as_slice()].concat()
            }
            BurnData::Other(bytes) => bytes.clone(),
        }
    }

    /// How the coordinator executes it.
    #[must_use]
    pub fn effect(&self, deployment: &EvmDeployment) -> BurnEffect {
        match self {
            BurnData::Transfer => BurnEffect::Payout,
            BurnData::Other(_) => BurnEffect::DegradedToPayout(Degradation::NotUnderstood),
            BurnData::Call { target, .. } if *target != deployment.router => {
                BurnEffect::DegradedToPayout(Degradation::Target(*target))
            }
            BurnData::Call { calldata, .. } => match RouterSwap::decode(calldata, deployment) {
                Ok(swap) => BurnEffect::Swap(swap),
                Err(degradation) => BurnEffect::DegradedToPayout(degradation),
            },
        }
    }
}

//! The one call that a burn may request: selling the stablecoin for the native coin on the allow-listed router.

use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall as _;

use crate::abi::swapExactTokensForETHCall;
use crate::burn_data::Degradation;
use crate::deployment::{Asset, EvmDeployment};

/// `swapExactTokensForETH` with the path [stablecoin, wrapped native token].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouterSwap {
    /// The stablecoin amount, 6 decimals. The coordinator replaces it by the real payout.
    pub amount_in: U256,
    /// The least of the native coin, 18 decimals. **0 is an unbounded loss**: there is no other floor on this leg.
    pub amount_out_min: U256,
    /// The stablecoin sold; the one that the burn pays out.
    pub asset: Asset,
    /// Who receives the native coin.
    pub to: Address,
    /// Unix seconds; the swap fails afterwards.
    pub deadline: U256,
}

/// Whether a swap without a floor may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZeroMinimum {
    /// Refuse it.
    Refuse,
    /// The caller has been warned and insists.
    Allow,
}

/// Why a swap is not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SwapError {
    /// Nothing to sell.
    #[error("amountIn is zero")]
    AmountInZero,
    /// No floor.
    #[error("amountOutMin is 0: the coordinator has no floor on this leg, so any loss would be accepted")]
    AmountOutMinZero,
    /// The zero address.
    #[error("the receiver is the zero address: what is paid to it is lost")]
    ReceiverZero,
    /// A deadline that has always passed.
    #[error("the deadline is 0: the swap could never be executed")]
    DeadlineZero,
}

impl RouterSwap {
    /// The calldata of the swap (260 bytes).
    ///
    /// # Errors
    /// [`SwapError`]; an `amount_out_min` of 0 is refused unless allowed.
    pub fn encode(&self, deployment: &EvmDeployment, zero_minimum: ZeroMinimum) -> Result<Vec<u8>, SwapError> {
        if self.amount_in.is_zero() {
            return Err(SwapError::AmountInZero);
        }
        if self.is_unbounded() && zero_minimum == ZeroMinimum::Refuse {
            return Err(SwapError::AmountOutMinZero);
        }
        if self.to.is_zero() {
            return Err(SwapError::ReceiverZero);
        }
        if self.deadline.is_zero() {
            return Err(SwapError::DeadlineZero);
        }
        let call = swapExactTokensForETHCall {
            amountIn: self.amount_in,
            amountOutMin: self.amount_out_min,
            path: vec![deployment.token(self.asset), deployment.wrapped_native],
            to: self.to,
            deadline: self.deadline,
        };
        Ok(call.abi_encode())
    }

    /// Reads the calldata of a swap, as the coordinator recognises it.
    ///
    /// # Errors
    /// [`Degradation`]: what makes it another call, and the burn a plain payout.
    pub fn decode(calldata: &[u8], deployment: &EvmDeployment) -> Result<Self, Degradation> {
        let selector = calldata.first_chunk().copied();
        if selector != Some(swapExactTokensForETHCall::SELECTOR) {
            return Err(Degradation::Call { selector });
        }
        let call = swapExactTokensForETHCall::abi_decode(calldata).map_err(|_| Degradation::Arguments)?;
        if call.abi_encode() != calldata {
            return Err(Degradation::Arguments);
        }
        let asset = match call.path[..] {
            [token, last] if last == deployment.wrapped_native => deployment.asset_of(token),
            _ => None,
        };
        Ok(RouterSwap {
            amount_in: call.amountIn,
            amount_out_min: call.amountOutMin,
            asset: asset.ok_or(Degradation::Path)?,
            to: call.to,
            deadline: call.deadline,
        })
    }

    /// Whether any loss is accepted.
    #[must_use]
    pub fn is_unbounded(&self) -> bool {
        self.amount_out_min.is_zero()
    }
}

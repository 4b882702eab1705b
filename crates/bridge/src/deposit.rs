//! A deposit from the EVM chain: its bridgeData, and the two calls that make it.

use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall as _;

use crate::abi::{approveCall, depositAndBridgeCall};
use crate::bridge_data::{BridgeData, BtcConversion, Refusal, check_bridge_data};
use crate::deployment::{Asset, EvmDeployment};

/// What a depositor wants, before it is put into bridgeData.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deposit {
    recipient_script: Vec<u8>,
    protostone: Option<Vec<u8>>,
    conversion: Option<BtcConversion>,
}

impl Deposit {
    /// The whole deposit in the USD token to one script.
    #[must_use]
    pub fn direct(recipient_script: Vec<u8>) -> Self {
        Deposit { recipient_script, protostone: None, conversion: None }
    }

    /// Acts on the minted tokens with a protostone. Excludes a conversion.
    #[must_use]
    pub fn with_protostone(mut self, protostone: Vec<u8>) -> Self {
        self.protostone = Some(protostone);
        self
    }

    /// Converts a part into BTC. Excludes a protostone. Check it against the [`crate::ConversionCap`] of the moment.
    ///
    /// 0 basis points without a destination is a direct transfer.
    #[must_use]
    pub fn with_conversion(mut self, convert_bps: u32, btc_destination: Vec<u8>, max_slippage_bps: u32) -> Self {
        self.conversion = Some(BtcConversion { convert_bps, btc_destination, max_slippage_bps });
        self
    }

    /// The payload, validated.
    ///
    /// # Errors
    /// The first [`Refusal`]; nothing is repaired.
    pub fn bridge_data(self) -> Result<BridgeData, Refusal> {
        let nothing = BtcConversion::default();
        let data = BridgeData {
            action: 0,
            recipient_script: self.recipient_script,
            recipient_protostone: self.protostone,
            btc_conversion: self.conversion.filter(|conversion| *conversion != nothing),
        };
        match data.refusals().into_iter().next() {
            Some(refusal) => Err(refusal),
            None => Ok(data),
        }
    }
}

/// A call to be signed on the EVM chain, without value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvmCall {
    /// Name of the function, for display.
    pub function: &'static str,
    /// The contract to call.
    pub to: Address,
    /// The calldata.
    pub data: Vec<u8>,
}

/// Why a deposit is not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DepositError {
    /// A deposit of nothing.
    #[error("the amount is zero")]
    AmountZero,
    /// bridgeData that would pay another recipient.
    #[error(transparent)]
    BridgeData(#[from] Refusal),
}

/// The two calls of a deposit, to be sent in this order: the token's `approve` for exactly `amount`, then the vault's
/// `depositAndBridge` (docs/bridge.md). `amount` is in base units of the stablecoin, 6 decimals.
///
/// Token 1 refuses an `approve` while an earlier one is left: set that one to 0 first.
///
/// # Errors
/// [`DepositError::AmountZero`]; [`DepositError::BridgeData`] for bytes that may not be signed, the empty ones included.
pub fn deposit_calls(
    deployment: &EvmDeployment,
    asset: Asset,
    amount: U256,
    bridge_data: &[u8],
) -> Result<[EvmCall; 2], DepositError> {
    if amount.is_zero() {
        return Err(DepositError::AmountZero);
    }
    check_bridge_data(bridge_data)?;
    let approve = approveCall { spender: deployment.vault, amount };
    let deposit = depositAndBridgeCall { assetId: asset.index(), amount, bridgeData: bridge_data.to_vec().into() };
    Ok([
        EvmCall { function: "approve", to: deployment.token(asset), data: approve.abi_encode() },
        EvmCall { function: "depositAndBridge", to: deployment.vault, data: deposit.abi_encode() },
    ])
}

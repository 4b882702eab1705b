//! Reading calldata: what is about to be signed on the EVM chain.

use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;

use crate::abi::{approveCall, depositAndBridgeCall, swapExactTokensForETHCall};
use crate::bridge_data::{Refusal, check_bridge_data};
use crate::burn_data::Degradation;
use crate::deployment::{Asset, EvmDeployment};
use crate::router_swap::RouterSwap;

/// A call that this crate knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Calldata {
    /// A token's `approve`.
    Approve {
        /// Who may take the tokens.
        spender: Address,
        /// How many, in base units.
        amount: U256,
    },
    /// The vault's `depositAndBridge`.
    DepositAndBridge {
        /// The vault asset index.
        asset_id: u8,
        /// Base units of the stablecoin.
        amount: U256,
        /// bridgeData.
        bridge_data: Vec<u8>,
    },
    /// The router's `swapExactTokensForETH`.
    SwapExactTokensForEth {
        /// Base units of the first token of the path.
        amount_in: U256,
        /// The least of the native coin.
        amount_out_min: U256,
        /// The tokens in turn.
        path: Vec<Address>,
        /// Who receives the native coin.
        to: Address,
        /// Unix seconds.
        deadline: U256,
    },
}

/// Why calldata is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CalldataError {
    /// Longer than [`Calldata::BYTES_MAX`].
    #[error("the calldata has {0} bytes, more than {max}", max = Calldata::BYTES_MAX)]
    TooLong(usize),
    /// Fewer than the four bytes of a selector.
    #[error("the calldata has fewer than the four bytes that name a function")]
    TooShort,
    /// Another function.
    #[error("the function {0:02x?} is none of approve, depositAndBridge and swapExactTokensForETH")]
    OtherFunction([u8; 4]),
    /// Arguments that cannot be read.
    #[error("the arguments of {function} cannot be read: {reason}")]
    Arguments {
        /// The function.
        function: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// Arguments in a non-canonical encoding, or bytes after them.
    #[error("the arguments of {0} are not in their canonical encoding, or bytes follow them")]
    NotCanonical(&'static str),
}

/// A warning about a call before it is signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CalldataNote {
    /// An approval of everything.
    #[error("the approval is unlimited: approve exactly the deposit")]
    UnlimitedApproval,
    /// An approval for another address than the vault.
    #[error("the approval is for {0}, which is not the vault")]
    SpenderIsNotTheVault(Address),
    /// Nothing is deposited.
    #[error("the amount is zero")]
    AmountZero,
    /// No such stablecoin.
    #[error("vault asset {0} does not exist: 0 is usdc, 1 is usdt")]
    UnknownAsset(u8),
    /// The deposit would pay another recipient.
    #[error("{0}")]
    BridgeData(Refusal),
    /// The swap has no floor.
    #[error("amountOutMin is 0: any loss is accepted")]
    ZeroMinimum,
    /// As burnData this call would not be made.
    #[error("as burnData this degrades to a plain payout: {0}")]
    Degraded(Degradation),
}

impl CalldataNote {
    /// Whether the call must not be signed; otherwise it is a warning.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, CalldataNote::AmountZero | CalldataNote::UnknownAsset(_) | CalldataNote::BridgeData(_))
    }
}

impl Calldata {
    /// The longest calldata that is read.
    pub const BYTES_MAX: usize = 131_072;

    /// Reads the calldata of one of the three functions.
    ///
    /// # Errors
    /// [`CalldataError`]; only canonical encodings are read, because another one may be shown differently elsewhere.
    pub fn decode(bytes: &[u8]) -> Result<Self, CalldataError> {
        if bytes.len() > Self::BYTES_MAX {
            return Err(CalldataError::TooLong(bytes.len()));
        }
        match *bytes.first_chunk::<4>().ok_or(CalldataError::TooShort)? {
            approveCall::SELECTOR => {
                let call = read::<approveCall>("approve", bytes)?;
                Ok(Calldata::Approve { spender: call.spender, amount: call.amount })
            }
            depositAndBridgeCall::SELECTOR => {
                let call = read::<depositAndBridgeCall>("depositAndBridge", bytes)?;
                Ok(Calldata::DepositAndBridge {
                    asset_id: call.assetId,
                    amount: call.amount,
                    bridge_data: call.bridgeData.to_vec(),
                })
            }
            swapExactTokensForETHCall::SELECTOR => {
                let call = read::<swapExactTokensForETHCall>("swapExactTokensForETH", bytes)?;
                Ok(Calldata::SwapExactTokensForEth {
                    amount_in: call.amountIn,
                    amount_out_min: call.amountOutMin,
                    path: call.path,
                    to: call.to,
                    deadline: call.deadline,
                })
            }
            selector => Err(CalldataError::OtherFunction(selector)),
        }
    }

    /// The function's name.
    #[must_use]
    pub fn function(&self) -> &'static str {
        match self {
            Calldata::Approve { .. } => "approve",
            Calldata::DepositAndBridge { .. } => "depositAndBridge",
            Calldata::SwapExactTokensForEth { .. } => "swapExactTokensForETH",
        }
    }

    /// Warnings before it is signed; may be empty.
    #[must_use]
    pub fn notes(&self, deployment: &EvmDeployment) -> Vec<CalldataNote> {
        let mut notes = Vec::new();
        match self {
            Calldata::Approve { spender, amount } => {
                if *spender != deployment.vault {
                    notes.push(CalldataNote::SpenderIsNotTheVault(*spender));
                }
                // Wallets write "unlimited" in several ways; no token has 2^128 base units.
                if *amount > U256::from(u128::MAX) {
                    notes.push(CalldataNote::UnlimitedApproval);
                }
            }
            Calldata::DepositAndBridge { asset_id, amount, bridge_data } => {
                if amount.is_zero() {
                    notes.push(CalldataNote::AmountZero);
                }
                if Asset::from_index((*asset_id).into()).is_err() {
                    notes.push(CalldataNote::UnknownAsset(*asset_id));
                }
                notes.extend(check_bridge_data(bridge_data).err().map(CalldataNote::BridgeData));
            }
            Calldata::SwapExactTokensForEth { amount_in, amount_out_min, path, to, deadline } => {
                if amount_out_min.is_zero() {
                    notes.push(CalldataNote::ZeroMinimum);
                }
                let call = swapExactTokensForETHCall {
                    amountIn: *amount_in,
                    amountOutMin: *amount_out_min,
                    path: path.clone(),
                    to: *to,
                    deadline: *deadline,
                };
                let degraded = RouterSwap::decode(&call.abi_encode(), deployment).err();
                notes.extend(degraded.map(CalldataNote::Degraded));
            }
        }
        notes
    }
}

fn read<Call: SolCall>(function: &'static str, bytes: &[u8]) -> Result<Call, CalldataError> {
    let call =
        Call::abi_decode(bytes).map_err(|error| CalldataError::Arguments { function, reason: error.to_string() })?;
    if call.abi_encode() == bytes { Ok(call) } else { Err(CalldataError::NotCanonical(function)) }
}

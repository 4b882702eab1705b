//! The message to the USD token that burns it: a cellpack of 128-bit numbers.

use alloy_primitives::Address;

use crate::burn_data::{BurnData, BurnEffect, Degradation};
use crate::deployment::{Asset, EvmDeployment, UnknownAsset};

/// The USD token's contract (block, tx), the target of the cellpack.
pub const USD_TOKEN: (u128, u128) = (4, 1776);

/// Burn without data: `[5, hi, lo, asset]`.
const BURN: u128 = 5;
/// Burn with data: `[14, hi, lo, asset, bytes, words, …]`.
const BURN_WITH_DATA: u128 = 14;

const WORD_BYTES: usize = 16;

/// A burn of the USD token towards the EVM chain. The amount is that of the message's incoming tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BurnCellpack {
    /// Who is paid on the EVM chain.
    pub evm_address: Address,
    /// In which stablecoin.
    pub asset: Asset,
    /// burnData; empty for a plain payout.
    pub burn_data: Vec<u8>,
}

/// Why a burn is not written or not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BurnError {
    /// The zero address.
    #[error("the EVM address is zero: what is paid to it is lost")]
    ZeroAddress,
    /// Longer than [`BurnCellpack::BURN_DATA_BYTES_MAX`].
    #[error("burnData has {0} bytes, more than {max}", max = BurnCellpack::BURN_DATA_BYTES_MAX)]
    BurnDataTooLong(usize),
    /// Another opcode.
    #[error("the inputs do not begin with opcode 5 or 14: this is no burn")]
    NotABurn,
    /// Too few or too many inputs.
    #[error("a burn of this form has {expected} inputs, not {found}")]
    InputCount {
        /// How many there must be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// The first four bytes of the EVM address are one input below 2^32.
    #[error("the upper part {0} of the EVM address does not fit into four bytes")]
    AddressUpper(u128),
    /// No such stablecoin.
    #[error(transparent)]
    Asset(#[from] UnknownAsset),
    /// The numbers of bytes and words are inconsistent.
    #[error("{bytes} bytes of burnData do not fill {words} words")]
    DataLength {
        /// The stated byte count.
        bytes: u128,
        /// The stated word count.
        words: u128,
    },
    /// Bytes beyond the end of burnData.
    #[error("the last word of burnData is not padded with zeros")]
    Padding,
}

/// A warning about a burn before it is signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BurnNote {
    /// The call is not made.
    #[error("burnData degrades to a plain payout: {0}")]
    Degraded(Degradation),
    /// The swap has no floor.
    #[error("amountOutMin is 0: any loss is accepted on the swap")]
    ZeroMinimum,
    /// The swap sells another stablecoin than the burn pays.
    #[error("the swap sells {swapped}, but the burn pays {paid}", swapped = .swapped.name(), paid = .paid.name())]
    OtherAsset {
        /// The stablecoin in the swap's path.
        swapped: Asset,
        /// The stablecoin of the burn.
        paid: Asset,
    },
    /// The swap pays another address than the burn.
    #[error("the swap pays {0}, which is not the EVM address of the burn")]
    OtherReceiver(Address),
}

impl BurnCellpack {
    /// The longest burnData that is written or read.
    pub const BURN_DATA_BYTES_MAX: usize = 65_536;

    /// The opcode and its arguments, as the contract reads them.
    ///
    /// # Errors
    /// [`BurnError::ZeroAddress`], [`BurnError::BurnDataTooLong`].
    pub fn inputs(&self) -> Result<Vec<u128>, BurnError> {
        if self.evm_address.is_zero() {
            return Err(BurnError::ZeroAddress);
        }
        if self.burn_data.len() > Self::BURN_DATA_BYTES_MAX {
            return Err(BurnError::BurnDataTooLong(self.burn_data.len()));
        }
        let (upper, lower) = split(self.evm_address);
        let asset = u128::from(self.asset.index());
        if self.burn_data.is_empty() {
            return Ok(vec![BURN, upper, lower, asset]);
        }
        let words = self.burn_data.chunks(WORD_BYTES).map(|chunk| {
            let mut word = [0; WORD_BYTES];
            word[..chunk.len()].copy_from_slice(chunk);
            u128::from_be_bytes(word)
        });
        let (bytes, count) = (self.burn_data.len() as u128, self.burn_data.len().div_ceil(WORD_BYTES) as u128);
        Ok([BURN_WITH_DATA, upper, lower, asset, bytes, count].into_iter().chain(words).collect())
    }

    /// The whole cellpack: the USD token's id, then [`BurnCellpack::inputs`].
    ///
    /// # Errors
    /// As [`BurnCellpack::inputs`].
    pub fn cellpack(&self) -> Result<Vec<u128>, BurnError> {
        let inputs = self.inputs()?;
        Ok([USD_TOKEN.0, USD_TOKEN.1].into_iter().chain(inputs).collect())
    }

    /// Reads the opcode and its arguments.
    ///
    /// # Errors
    /// [`BurnError`] for anything that [`BurnCellpack::inputs`] does not write.
    pub fn from_inputs(inputs: &[u128]) -> Result<Self, BurnError> {
        let count = |expected| BurnError::InputCount { expected, found: inputs.len() };
        let (upper, lower, asset, burn_data) = match *inputs {
            [BURN, upper, lower, asset] => (upper, lower, asset, Vec::new()),
            [BURN, ..] => return Err(count(4)),
            [BURN_WITH_DATA, upper, lower, asset, bytes, words, ref data @ ..] => {
                (upper, lower, asset, bytes_of(bytes, words, data)?)
            }
            [BURN_WITH_DATA, ..] => return Err(count(6)),
            _ => return Err(BurnError::NotABurn),
        };
        let evm_address = join(upper, lower)?;
        if evm_address.is_zero() {
            return Err(BurnError::ZeroAddress);
        }
        Ok(BurnCellpack { evm_address, asset: Asset::from_index(asset)?, burn_data })
    }

    /// Warnings before it is signed; empty when the burn does exactly what it states.
    #[must_use]
    pub fn notes(&self, deployment: &EvmDeployment) -> Vec<BurnNote> {
        let mut notes = Vec::new();
        match BurnData::decode(&self.burn_data).effect(deployment) {
            BurnEffect::Payout => {}
            BurnEffect::DegradedToPayout(degradation) => notes.push(BurnNote::Degraded(degradation)),
            BurnEffect::Swap(swap) => {
                if swap.is_unbounded() {
                    notes.push(BurnNote::ZeroMinimum);
                }
                if swap.asset != self.asset {
                    notes.push(BurnNote::OtherAsset { swapped: swap.asset, paid: self.asset });
                }
                if swap.to != self.evm_address {
                    notes.push(BurnNote::OtherReceiver(swap.to));
                }
            }
        }
        notes
    }
}

/// The first 4 bytes and the last 16 of an address, as big-endian numbers.
fn split(address: Address) -> (u128, u128) {
    let bytes = address.into_array();
    let mut lower = [0; WORD_BYTES];
    lower.copy_from_slice(&bytes[4..]);
    (u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]).into(), u128::from_be_bytes(lower))
}

fn join(upper: u128, lower: u128) -> Result<Address, BurnError> {
    let upper = u32::try_from(upper).map_err(|_| BurnError::AddressUpper(upper))?;
    let mut bytes = [0; 20];
    bytes[..4].copy_from_slice(&upper.to_be_bytes());
    bytes[4..].copy_from_slice(&lower.to_be_bytes());
    Ok(Address::from(bytes))
}

fn bytes_of(bytes: u128, words: u128, data: &[u128]) -> Result<Vec<u8>, BurnError> {
    let mismatch = BurnError::DataLength { bytes, words };
    let length = usize::try_from(bytes).map_err(|_| mismatch.clone())?;
    if length > BurnCellpack::BURN_DATA_BYTES_MAX {
        return Err(BurnError::BurnDataTooLong(length));
    }
    if length == 0 || length.div_ceil(WORD_BYTES) as u128 != words {
        return Err(mismatch);
    }
    if data.len() as u128 != words {
        return Err(BurnError::InputCount { expected: length.div_ceil(WORD_BYTES) + 6, found: data.len() + 6 });
    }
    let mut read: Vec<u8> = data.iter().flat_map(|word| word.to_be_bytes()).collect();
    if read[length..].iter().any(|byte| *byte != 0) {
        return Err(BurnError::Padding);
    }
    read.truncate(length);
    Ok(read)
}

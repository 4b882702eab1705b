//! bridgeData: what a deposit passes to the coordinator.

use prost::Message as _;

use crate::script::{Role, ScriptKind, ScriptRefusal, check_script};
use crate::wire::{BridgeDataMessage, BtcConversionMessage};

/// Basis points of a whole.
pub(crate) const BPS_WHOLE: u32 = 10_000;

/// bridgeData (docs/bridge.md). Field numbers: action 1, `recipient_script` 2, `recipient_protostone` 3,
/// `btc_conversion` 4.
///
/// The effect is determined by which fields are present, never by `action`: see [`BridgeData::dispatch`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BridgeData {
    /// Always 0 (direct transfer).
    pub action: i32,
    /// The Bitcoin script where the USD token settles. Empty means unspecified: the operator's fallback is paid.
    pub recipient_script: Vec<u8>,
    /// A protostone that acts on the minted tokens; excludes `btc_conversion`.
    pub recipient_protostone: Option<Vec<u8>>,
    /// Converts a part into BTC; excludes `recipient_protostone`.
    pub btc_conversion: Option<BtcConversion>,
}

/// The part of a deposit that is converted into BTC. Field numbers: `convert_bps` 1, `btc_destination` 2,
/// `max_slippage_bps` 3.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BtcConversion {
    /// How much is converted, 0 to 10000 basis points. 0 is a direct transfer.
    pub convert_bps: u32,
    /// The Bitcoin script that receives the BTC; required when `convert_bps` is above 0.
    pub btc_destination: Vec<u8>,
    /// The most that the price may be worse, in basis points; 0 leaves it to the coordinator, whose own bound it can lower
    /// and never raise.
    pub max_slippage_bps: u32,
}

impl BtcConversion {
    /// The bound in force when the coordinator's own is `coordinator_bps`: honoured downwards only.
    #[must_use]
    pub fn slippage_in_force(&self, coordinator_bps: u32) -> u32 {
        match self.max_slippage_bps {
            0 => coordinator_bps,
            requested => requested.min(coordinator_bps),
        }
    }
}

/// What the coordinator does with a payload, determined by the fields that are present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dispatch {
    /// No recipient: the operator's fallback is paid, and the depositor gets nothing.
    OperatorFallback,
    /// The USD token goes to the recipient.
    DirectTransfer,
    /// The USD token goes to the recipient through a protostone.
    Protostone,
    /// A part is converted into BTC.
    Conversion {
        /// 1 to 10000 basis points.
        convert_bps: u32,
    },
}

/// Why a payload must not be signed. Each is a rule of the specification or of this crate's encoder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Not protobuf: the coordinator would pay the operator's fallback.
    #[error("bridgeData is not a BridgeData message ({0}); the deposit would succeed and pay the operator's fallback")]
    Malformed(String),
    /// Protobuf, but not the one encoding of its content: unknown or repeated fields, a default written out, a long varint.
    #[error("bridgeData is not encoded canonically: another reader may understand it differently; encode it anew")]
    NotCanonical,
    /// Longer than [`BridgeData::BYTES_MAX`].
    #[error("bridgeData has {0} bytes, more than {max}", max = BridgeData::BYTES_MAX)]
    TooLong(usize),
    /// An action other than 0.
    #[error("action {0} does not exist: it is always 0, and the other fields decide what happens")]
    Action(i32),
    /// No recipient script.
    #[error("recipient_script is missing: the operator's fallback recipient would be paid")]
    RecipientMissing,
    /// A recipient script that is not accepted.
    #[error("recipient_script: {0}")]
    Recipient(ScriptRefusal),
    /// Fields 3 and 4 together.
    #[error("recipient_protostone and btc_conversion exclude each other")]
    ProtostoneWithConversion,
    /// Field 3 without content.
    #[error("recipient_protostone is empty: leave it out")]
    ProtostoneEmpty,
    /// `convert_bps` above 10000.
    #[error("convert_bps {0} is out of range: 0 to 10000")]
    ConvertBps(u32),
    /// `convert_bps` above 0 without a destination.
    #[error("btc_destination is missing: it is required when convert_bps is above 0")]
    DestinationMissing,
    /// A destination that nothing is paid to.
    #[error("btc_destination is given, but convert_bps is 0: leave it out or say how much to convert")]
    DestinationUnused,
    /// A destination script that is not accepted.
    #[error("btc_destination: {0}")]
    Destination(ScriptRefusal),
    /// `max_slippage_bps` above 10000.
    #[error("max_slippage_bps {0} is out of range: 0 to 10000")]
    MaxSlippageBps(u32),
}

/// What a reader of a payload should know although it is accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Warning {
    /// An action other than 0; it changes nothing.
    #[error("action is {0} instead of 0; the other fields decide what happens")]
    Action(i32),
    /// Not the canonical encoding of what was read.
    #[error("the encoding is not canonical: it holds more, or writes it otherwise, than what is shown")]
    NotCanonical,
    /// Converted BTC goes to a script that is anyone-can-spend today.
    #[error("btc_destination is a witness program without a rule today: anyone can spend what is paid to it")]
    DestinationForAnyone,
    /// A message without effect.
    #[error("btc_conversion with convert_bps 0 is a direct transfer")]
    ConversionOfNothing,
    /// The rest of a conversion, and all of it when the pool refuses, still goes to the recipient.
    #[error("should the coordinator refuse the conversion, all of it is paid to recipient_script in the USD token")]
    ConversionMayBeRefused,
}

/// A parsed payload with its warnings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The payload.
    pub data: BridgeData,
    /// Why the bytes must not be signed. Empty when they may be.
    pub refusals: Vec<Refusal>,
    /// Warnings that apply in any case.
    pub warnings: Vec<Warning>,
}

impl BridgeData {
    /// The longest payload that is read or written: an EVM transaction carries no more than 128 KiB.
    pub const BYTES_MAX: usize = 65_536;

    /// Reads a payload and reports faults without refusing it, for payloads that a third party has signed.
    ///
    /// # Errors
    /// [`Refusal::TooLong`], or [`Refusal::Malformed`] when the bytes are not such a message.
    pub fn decode(bytes: &[u8]) -> Result<Decoded, Refusal> {
        if bytes.len() > Self::BYTES_MAX {
            return Err(Refusal::TooLong(bytes.len()));
        }
        let message = BridgeDataMessage::decode(bytes).map_err(|error| Refusal::Malformed(error.to_string()))?;
        let canonical = message.encode_to_vec() == bytes;
        let data = BridgeData::from(message);
        let mut refusals = data.refusals();
        let mut warnings = data.warnings();
        if !canonical {
            refusals.push(Refusal::NotCanonical);
            warnings.push(Warning::NotCanonical);
        }
        Ok(Decoded { data, refusals, warnings })
    }

    /// The bytes of a payload that may be signed.
    ///
    /// # Errors
    /// The first of [`BridgeData::refusals`].
    pub fn encode(&self) -> Result<Vec<u8>, Refusal> {
        if let Some(refusal) = self.refusals().into_iter().next() {
            return Err(refusal);
        }
        let bytes = BridgeDataMessage::from(self.clone()).encode_to_vec();
        if bytes.len() > Self::BYTES_MAX { Err(Refusal::TooLong(bytes.len())) } else { Ok(bytes) }
    }

    /// Every reason not to sign this, in the order of the fields. Empty when there is none.
    #[must_use]
    pub fn refusals(&self) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        if self.action != 0 {
            refusals.push(Refusal::Action(self.action));
        }
        match check_script(&self.recipient_script, Role::Recipient) {
            Ok(_) => {}
            Err(ScriptRefusal::Empty) => refusals.push(Refusal::RecipientMissing),
            Err(refusal) => refusals.push(Refusal::Recipient(refusal)),
        }
        if self.recipient_protostone.as_ref().is_some_and(Vec::is_empty) {
            refusals.push(Refusal::ProtostoneEmpty);
        }
        if let Some(conversion) = &self.btc_conversion {
            if self.recipient_protostone.is_some() {
                refusals.push(Refusal::ProtostoneWithConversion);
            }
            refusals.extend(conversion.refusals());
        }
        refusals
    }

    /// Warnings about a payload that may be signed.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if self.action != 0 {
            warnings.push(Warning::Action(self.action));
        }
        if let Some(conversion) = &self.btc_conversion {
            if conversion.convert_bps == 0 {
                warnings.push(Warning::ConversionOfNothing);
            } else {
                warnings.push(Warning::ConversionMayBeRefused);
            }
            let destination = check_script(&conversion.btc_destination, Role::Destination);
            if destination.is_ok_and(ScriptKind::anyone_can_spend) {
                warnings.push(Warning::DestinationForAnyone);
            }
        }
        warnings
    }

    /// The action of a payload, by the presence of its fields. Whether it may be signed is checked elsewhere.
    #[must_use]
    pub fn dispatch(&self) -> Dispatch {
        match (&self.recipient_protostone, &self.btc_conversion) {
            _ if self.recipient_script.is_empty() => Dispatch::OperatorFallback,
            (_, Some(conversion)) if conversion.convert_bps > 0 => {
                Dispatch::Conversion { convert_bps: conversion.convert_bps }
            }
            (Some(_), _) => Dispatch::Protostone,
            _ => Dispatch::DirectTransfer,
        }
    }
}

impl BtcConversion {
    fn refusals(&self) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        if self.convert_bps > BPS_WHOLE {
            refusals.push(Refusal::ConvertBps(self.convert_bps));
        }
        match check_script(&self.btc_destination, Role::Destination) {
            Err(ScriptRefusal::Empty) if self.convert_bps == 0 => {}
            Err(ScriptRefusal::Empty) => refusals.push(Refusal::DestinationMissing),
            _ if self.convert_bps == 0 => refusals.push(Refusal::DestinationUnused),
            Err(refusal) => refusals.push(Refusal::Destination(refusal)),
            Ok(_) => {}
        }
        if self.max_slippage_bps > BPS_WHOLE {
            refusals.push(Refusal::MaxSlippageBps(self.max_slippage_bps));
        }
        refusals
    }
}

/// Validates the bytes that are about to be signed: canonical, complete, and payable.
///
/// # Errors
/// The first refusal; [`BridgeData::decode`] gives all of them.
pub fn check_bridge_data(bytes: &[u8]) -> Result<BridgeData, Refusal> {
    let decoded = BridgeData::decode(bytes)?;
    match decoded.refusals.into_iter().next() {
        Some(refusal) => Err(refusal),
        None => Ok(decoded.data),
    }
}

impl From<BridgeDataMessage> for BridgeData {
    fn from(message: BridgeDataMessage) -> Self {
        BridgeData {
            action: message.action,
            recipient_script: message.recipient_script,
            recipient_protostone: message.recipient_protostone,
            btc_conversion: message.btc_conversion.map(|conversion| BtcConversion {
                convert_bps: conversion.convert_bps,
                btc_destination: conversion.btc_destination,
                max_slippage_bps: conversion.max_slippage_bps,
            }),
        }
    }
}

impl From<BridgeData> for BridgeDataMessage {
    fn from(data: BridgeData) -> Self {
        BridgeDataMessage {
            action: data.action,
            recipient_script: data.recipient_script,
            recipient_protostone: data.recipient_protostone,
            btc_conversion: data.btc_conversion.map(|conversion| BtcConversionMessage {
                convert_bps: conversion.convert_bps,
                btc_destination: conversion.btc_destination,
                max_slippage_bps: conversion.max_slippage_bps,
            }),
        }
    }
}

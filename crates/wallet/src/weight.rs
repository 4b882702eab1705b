//! Weights of signed inputs, predicted.

use bitcoin::transaction::{InputWeightPrediction, predict_weight};
use bitcoin::{Script, TxOut};

use crate::plan::SpendPath;

/// Bytes of a signature under the default signature hash of taproot.
const SCHNORR_BYTES: usize = 64;

/// The prediction for one input. Signatures of the old kind may come out a byte or two shorter, never longer.
pub(crate) fn of_input(path: &SpendPath) -> InputWeightPrediction {
    match path {
        SpendPath::WitnessKey => InputWeightPrediction::P2WPKH_MAX,
        SpendPath::TaprootKey { .. } => InputWeightPrediction::P2TR_KEY_DEFAULT_SIGHASH,
        SpendPath::TaprootScript { script, control_block, .. } => {
            InputWeightPrediction::new(0, [SCHNORR_BYTES, script.len(), control_block.size()])
        }
    }
}

/// Weight units of a signed transaction.
pub(crate) fn of_transaction<'a>(
    inputs: impl Iterator<Item = &'a SpendPath>,
    outputs: impl Iterator<Item = &'a TxOut>,
) -> u64 {
    predict_weight(inputs.map(of_input), outputs.map(|output| output.script_pubkey.len())).to_wu()
}

/// The least that an output may hold to be relayed, in satoshis.
pub(crate) fn dust_limit(script: &Script) -> u64 {
    script.minimal_non_dust().to_sat()
}

//! Partially signed transactions (PSBT), for other signers.

use std::collections::BTreeMap;

use bitcoin::bip32::{DerivationPath, Fingerprint};
use bitcoin::taproot::{LeafVersion, TapLeafHash};
use bitcoin::{Psbt, Transaction, Txid, XOnlyPublicKey};

use crate::plan::{Plan, SpendPath};

impl Plan {
    /// The transaction for a signer (BIP174, BIP371), with the spent outputs and, where they are given, the transactions that
    /// made them. `key` is the owner's untweaked taproot key, if available.
    pub fn psbt(&self, previous: &BTreeMap<Txid, Transaction>, key: Option<XOnlyPublicKey>) -> Psbt {
        let mut psbt =
            Psbt::from_unsigned_tx(self.transaction()).expect("the planned transaction has no scripts or witnesses");
        for (planned, input) in self.inputs.iter().zip(&mut psbt.inputs) {
            input.witness_utxo = Some(planned.coin.output.clone());
            match &planned.path {
                SpendPath::WitnessKey => {
                    input.non_witness_utxo = previous.get(&planned.coin.outpoint.txid).cloned();
                }
                SpendPath::TaprootKey { merkle_root } => {
                    input.tap_internal_key = key;
                    input.tap_merkle_root = *merkle_root;
                }
                SpendPath::TaprootScript { script, control_block, key, merkle_root } => {
                    let leaf_hash = TapLeafHash::from_script(script, LeafVersion::TapScript);
                    let origin = (Fingerprint::default(), DerivationPath::default());
                    input.tap_internal_key = Some(*key);
                    input.tap_merkle_root = *merkle_root;
                    input.tap_scripts.insert(control_block.clone(), (script.clone(), LeafVersion::TapScript));
                    input.tap_key_origins.insert(*key, (vec![leaf_hash], origin));
                }
            }
        }
        psbt
    }
}

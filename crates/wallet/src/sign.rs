//! Keys in wallet import format, and their signatures.

use std::fmt;
use std::str::FromStr as _;

use bitcoin::hashes::Hash as _;
use bitcoin::key::{Keypair, Secp256k1, TapTweak as _};
use bitcoin::secp256k1::{All, Message};
use bitcoin::sighash::{EcdsaSighashType, Prevouts, SighashCache, TapSighashType, TaprootError};
use bitcoin::taproot::{LeafVersion, TapLeafHash};
use bitcoin::{
    CompressedPublicKey, NetworkKind, OutPoint, PrivateKey, ScriptBuf, Transaction, TxOut, Witness, XOnlyPublicKey,
    ecdsa, taproot,
};
use paraffin_primitives::Network;

use crate::plan::{Plan, SpendPath};

/// Longest text that is read as a key.
const WIF_LEN_MAX: usize = 64;

/// The kind of address of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressKind {
    /// Pay to taproot, by key alone (BIP86).
    Taproot,
    /// Pay to witness public key hash (BIP84).
    WitnessKey,
}

/// Why a text is no key for this network. The text itself is never repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Not wallet import format.
    #[error("the key is not in wallet import format (WIF): check for missing or additional characters")]
    Malformed,
    /// Of mainnet where a test network is used, or the reverse.
    #[error("the key belongs to another network than {0}: nothing was signed")]
    OtherNetwork(Network),
    /// For a public key in the long form, which witness programs forbid.
    #[error("the key is marked as uncompressed, which taproot and witness addresses do not allow")]
    Uncompressed,
}

/// Why a plan cannot be signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    /// The coin pays another key.
    #[error("the coin {0} does not belong to this key")]
    Foreign(OutPoint),
    /// The message to sign could not be made.
    #[error("the transaction cannot be signed: {0}")]
    Sighash(String),
}

impl From<TaprootError> for SignError {
    fn from(error: TaprootError) -> Self {
        Self::Sighash(error.to_string())
    }
}

/// A private key; its text form is never shown.
pub struct Key {
    secp: Secp256k1<All>,
    private: PrivateKey,
    public: CompressedPublicKey,
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Key").field("public", &self.public).finish_non_exhaustive()
    }
}

impl Key {
    /// Reads a key in wallet import format.
    ///
    /// # Errors
    /// It is malformed, of another network, or uncompressed.
    pub fn from_wif(text: &str, network: Network) -> Result<Self, KeyError> {
        let text = text.trim();
        if text.len() > WIF_LEN_MAX {
            return Err(KeyError::Malformed);
        }
        let private = PrivateKey::from_wif(text).map_err(|_| KeyError::Malformed)?;
        if private.network != NetworkKind::from(network.bitcoin()) {
            return Err(KeyError::OtherNetwork(network));
        }
        let secp = Secp256k1::new();
        let public = CompressedPublicKey::from_private_key(&secp, &private).map_err(|_| KeyError::Uncompressed)?;
        Ok(Self { secp, private, public })
    }

    /// The untweaked taproot key.
    pub fn x_only(&self) -> XOnlyPublicKey {
        self.public.into()
    }

    /// The script of one of its addresses.
    pub fn script(&self, kind: AddressKind) -> ScriptBuf {
        match kind {
            AddressKind::Taproot => ScriptBuf::new_p2tr(&self.secp, self.x_only(), None),
            AddressKind::WitnessKey => ScriptBuf::new_p2wpkh(&self.public.wpubkey_hash()),
        }
    }

    /// Signs every input of a plan; without randomness, so that the same plan gives the same bytes.
    ///
    /// # Errors
    /// A coin belongs to another key.
    pub fn sign(&self, plan: &Plan) -> Result<Transaction, SignError> {
        let mut transaction = plan.transaction();
        let unsigned = transaction.clone();
        let mut cache = SighashCache::new(&unsigned);
        let spent: Vec<TxOut> = plan.inputs.iter().map(|input| input.coin.output.clone()).collect();
        for (index, planned) in plan.inputs.iter().enumerate() {
            let foreign = || SignError::Foreign(planned.coin.outpoint);
            let script = &planned.coin.output.script_pubkey;
            transaction.input[index].witness = match &planned.path {
                SpendPath::WitnessKey => {
                    if *script != self.script(AddressKind::WitnessKey) {
                        return Err(foreign());
                    }
                    let value = planned.coin.output.value;
                    let sighash = cache
                        .p2wpkh_signature_hash(index, script, value, EcdsaSighashType::All)
                        .map_err(|error| SignError::Sighash(error.to_string()))?;
                    let message = Message::from_digest(sighash.to_byte_array());
                    let signature = self.secp.sign_ecdsa_low_r(&message, &self.private.inner);
                    let signature = ecdsa::Signature { signature, sighash_type: EcdsaSighashType::All };
                    Witness::p2wpkh(&signature, &self.public.0)
                }
                SpendPath::TaprootKey { merkle_root } => {
                    let (output_key, _) = self.x_only().tap_tweak(&self.secp, *merkle_root);
                    if *script != ScriptBuf::new_p2tr_tweaked(output_key) {
                        return Err(foreign());
                    }
                    let prevouts = Prevouts::All(&spent);
                    let sighash = cache.taproot_key_spend_signature_hash(index, &prevouts, TapSighashType::Default)?;
                    let pair = self.pair().tap_tweak(&self.secp, *merkle_root).to_keypair();
                    Witness::p2tr_key_spend(&self.schnorr(sighash.to_byte_array(), &pair))
                }
                SpendPath::TaprootScript { script: leaf, control_block, key, .. } => {
                    if *key != self.x_only() {
                        return Err(foreign());
                    }
                    let leaf_hash = TapLeafHash::from_script(leaf, LeafVersion::TapScript);
                    let (prevouts, sighash_type) = (Prevouts::All(&spent), TapSighashType::Default);
                    let sighash =
                        cache.taproot_script_spend_signature_hash(index, &prevouts, leaf_hash, sighash_type)?;
                    let signature = self.schnorr(sighash.to_byte_array(), &self.pair());
                    Witness::from_slice(&[signature.to_vec(), leaf.to_bytes(), control_block.serialize()])
                }
            };
        }
        Ok(transaction)
    }

    fn pair(&self) -> Keypair {
        Keypair::from_secret_key(&self.secp, &self.private.inner)
    }

    fn schnorr(&self, sighash: [u8; 32], pair: &Keypair) -> taproot::Signature {
        let signature = self.secp.sign_schnorr_no_aux_rand(&Message::from_digest(sighash), pair);
        taproot::Signature { signature, sighash_type: TapSighashType::Default }
    }
}

/// Reads an untweaked taproot key: 32 bytes, or a compressed public key of 33, in hexadecimal.
///
/// # Errors
/// The text is neither.
pub fn parse_public_key(text: &str) -> Result<XOnlyPublicKey, String> {
    let refused = || "a public key is 64 or 66 hexadecimal digits".to_owned();
    match text.len() {
        64 => XOnlyPublicKey::from_str(text).map_err(|_| refused()),
        66 => CompressedPublicKey::from_str(text).map(XOnlyPublicKey::from).map_err(|_| refused()),
        _ => Err(refused()),
    }
}

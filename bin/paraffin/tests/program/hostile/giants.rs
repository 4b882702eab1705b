//! A mempool of conflicting giants: transactions of nearly 100,000 bytes that spend the same coins.

use bitcoin::absolute::LockTime;
use bitcoin::consensus::encode::serialize_hex;
use bitcoin::hashes::Hash as _;
use bitcoin::key::TapTweak as _;
use bitcoin::secp256k1::{Keypair, Secp256k1};
use bitcoin::sighash::{EcdsaSighashType, Prevouts, SighashCache, TapSighashType};
use bitcoin::transaction::Version;
use bitcoin::{Amount, OutPoint, PrivateKey, ScriptBuf, Sequence, Transaction, TxIn, TxOut, Witness, ecdsa, taproot};
use serde_json::json;

use crate::support::dev::Dev;
use crate::support::http;

/// A coin of one of the accounts, and what signs for it.
pub(super) struct Coin {
    outpoint: OutPoint,
    output: TxOut,
    key: PrivateKey,
}

impl Coin {
    /// The largest of the account; its address must pay to a key alone.
    fn of(dev: &Dev, account: usize) -> Option<Self> {
        let text = |member: &str| dev.text(&format!("/accounts/{account}/{member}"));
        let found = dev.call("esplora_address::utxo", json!([text("address")]));
        let largest = found.as_array()?.iter().max_by_key(|coin| coin["value"].as_u64())?;
        let txid = largest["txid"].as_str()?.parse().ok()?;
        let outpoint = OutPoint { txid, vout: u32::try_from(largest["vout"].as_u64()?).ok()? };
        let script_pubkey = ScriptBuf::from_hex(text("script")).ok()?;
        let output = TxOut { value: Amount::from_sat(largest["value"].as_u64()?), script_pubkey };
        Some(Self { outpoint, output, key: text("wif").parse().ok()? })
    }

    /// A transaction of nearly 100,000 bytes that spends the coin and pays so much for each of them.
    fn giant(&self, sats_per_byte: u64) -> Option<String> {
        const OUTPUTS: u64 = 2_200;
        const BYTES: u64 = OUTPUTS * 43 + 200;
        let change = self.output.value.to_sat().checked_sub(OUTPUTS * 1_000 + BYTES * sats_per_byte)?;
        let script = ScriptBuf::new_p2wsh(&bitcoin::WScriptHash::all_zeros());
        let mut output = vec![TxOut { value: Amount::from_sat(1_000), script_pubkey: script }; OUTPUTS as usize];
        output.push(TxOut { value: Amount::from_sat(change), script_pubkey: self.output.script_pubkey.clone() });
        let input =
            TxIn { previous_output: self.outpoint, sequence: Sequence::ENABLE_RBF_NO_LOCKTIME, ..TxIn::default() };
        let mut transaction =
            Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input: vec![input], output };
        let secp = Secp256k1::new();
        let mut hashes = SighashCache::new(&transaction);
        let witness = if self.output.script_pubkey.is_p2tr() {
            let keys = Keypair::from_secret_key(&secp, &self.key.inner).tap_tweak(&secp, None);
            let hash =
                hashes.taproot_key_spend_signature_hash(0, &Prevouts::All(&[&self.output]), TapSighashType::Default);
            let signature = secp.sign_schnorr_no_aux_rand(&hash.ok()?.into(), &keys.to_keypair());
            Witness::p2tr_key_spend(&taproot::Signature { signature, sighash_type: TapSighashType::Default })
        } else {
            let (script, value) = (&self.output.script_pubkey, self.output.value);
            let hash = hashes.p2wpkh_signature_hash(0, script, value, EcdsaSighashType::All).ok()?;
            let signature = secp.sign_ecdsa(&hash.into(), &self.key.inner);
            let signature = ecdsa::Signature { signature, sighash_type: EcdsaSighashType::All };
            Witness::p2wpkh(&signature, &self.key.public_key(&secp).inner)
        };
        transaction.input[0].witness = witness;
        Some(serialize_hex(&transaction))
    }
}

/// The coins of some accounts, looked for before the attack.
pub(super) fn coins(dev: &Dev) -> Vec<Coin> {
    (1..4).filter_map(|account| Coin::of(dev, account)).collect()
}

/// Sends giants that spend one coin, each paying more than the one that it pushes out, as far as the node takes them; how many it
/// took.
pub(super) fn sent(coins: &[Coin], address: &str, path: &str) -> u32 {
    let mut taken = 0;
    for coin in coins {
        for giant in [2, 4, 8, 16].into_iter().filter_map(|feerate| coin.giant(feerate)) {
            let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "btc_sendrawtransaction", "params": [giant] });
            // The other attackers use up the connections of their address.
            let answer = http::connect_from([127, 0, 0, 3], address).and_then(|stream| {
                let headers = [("content-type", "application/json")];
                http::try_request_on(stream, address, "POST", path, &headers, body.to_string().as_bytes())
            });
            taken +=
                u32::from(answer.is_some_and(|answer| answer.status == 200 && answer.json()["result"].is_string()));
        }
    }
    taken
}

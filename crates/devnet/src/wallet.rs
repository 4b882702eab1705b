//! Keys of the traders, derived from the seed, and signatures that are the same every time.

use std::collections::{HashMap, HashSet};

use bitcoin::absolute::LockTime;
use bitcoin::bip32::{ChildNumber, Xpriv};
use bitcoin::hashes::{Hash, sha256};
use bitcoin::key::{Keypair, Secp256k1, TapTweak};
use bitcoin::opcodes::all::OP_CHECKSIG;
use bitcoin::script::{Builder, PushBytesBuf};
use bitcoin::secp256k1::{All, Message, SecretKey};
use bitcoin::sighash::{EcdsaSighashType, Prevouts, SighashCache, TapSighashType};
use bitcoin::taproot::{LeafVersion, TapLeafHash, TaprootBuilder, TaprootSpendInfo};
use bitcoin::{
    Address, Amount, CompressedPublicKey, Network, OutPoint, PrivateKey, ScriptBuf, Sequence, Transaction, TxIn, TxOut,
    Witness, XOnlyPublicKey, ecdsa, taproot, transaction,
};

/// Names of the accounts of a devnet, in order.
pub const ACCOUNT_NAMES: [&str; 5] = ["alice", "bob", "carol", "dave", "erin"];

/// Smallest change that is worth an output, in satoshis.
const DUST: u64 = 1_000;

/// An account as users see it: everything needed to spend from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Short name.
    pub name: String,
    /// Taproot address, spent by key alone (BIP86).
    pub address: Address,
    /// The untweaked private key; `tr(<wif>)` is the descriptor of the address.
    pub wif: String,
}

/// The kinds of outputs that an account can receive and spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutputKind {
    /// Pay to taproot, by key.
    Taproot,
    /// Pay to witness public key hash.
    WitnessKey,
    /// Pay to public key hash.
    Legacy,
    /// Pay to witness script hash of a single-signature script.
    WitnessScript,
    /// Pay to witness public key hash inside pay to script hash.
    Nested,
}

impl OutputKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Taproot, Self::WitnessKey, Self::Legacy, Self::WitnessScript, Self::Nested];

    /// The purpose number of the derivation path.
    fn purpose(self) -> u32 {
        match self {
            Self::Taproot => 86,
            Self::WitnessKey => 84,
            Self::Legacy => 44,
            Self::WitnessScript => 48,
            Self::Nested => 49,
        }
    }
}

/// Why a transaction could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WalletError {
    /// The inputs do not cover the outputs and the fee.
    #[error("the inputs hold {available} satoshis, {needed} are needed: add inputs or pay less")]
    InsufficientFunds {
        /// Value of the inputs, in satoshis.
        available: u64,
        /// Outputs and fee, in satoshis.
        needed: u64,
    },
    /// An input pays a script that no account of this wallet owns.
    #[error("input {0} is not owned by this wallet")]
    ForeignInput(usize),
}

struct Key {
    kind: OutputKind,
    secret: SecretKey,
    public: CompressedPublicKey,
}

/// All accounts of a devnet.
pub struct Wallet {
    secp: Secp256k1<All>,
    accounts: Vec<Account>,
    scripts: Vec<HashMap<OutputKind, ScriptBuf>>,
    keys: HashMap<ScriptBuf, Key>,
}

impl std::fmt::Debug for Wallet {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Wallet").field("accounts", &self.accounts.len()).finish_non_exhaustive()
    }
}

impl Wallet {
    /// The accounts called `names`, with keys that follow from `seed` alone.
    pub fn new(seed: u64, names: &[&str]) -> Self {
        let secp = Secp256k1::new();
        let entropy = sha256::Hash::hash(format!("paraffin devnet {seed}").as_bytes());
        let master = Xpriv::new_master(Network::Regtest, entropy.as_byte_array())
            .expect("a hash is a valid seed but for one chance in 2^127");
        let mut wallet = Self { secp, accounts: Vec::new(), scripts: Vec::new(), keys: HashMap::new() };
        for (index, name) in (0..).zip(names) {
            wallet.add_account(&master, index, name);
        }
        wallet
    }

    fn add_account(&mut self, master: &Xpriv, index: u32, name: &str) {
        let mut scripts = HashMap::new();
        for kind in OutputKind::ALL {
            let path = [
                ChildNumber::Hardened { index: kind.purpose() },
                ChildNumber::Hardened { index: 1 },
                ChildNumber::Hardened { index },
                ChildNumber::Normal { index: 0 },
                ChildNumber::Normal { index: 0 },
            ];
            let private =
                master.derive_priv(&self.secp, &path).expect("derivation fails but for one chance in 2^127").to_priv();
            let public = CompressedPublicKey::from_private_key(&self.secp, &private)
                .expect("keys derived by BIP32 are compressed");
            let script = match kind {
                OutputKind::Taproot => {
                    let internal = bitcoin::XOnlyPublicKey::from(public);
                    let address = Address::p2tr(&self.secp, internal, None, Network::Regtest);
                    let script = address.script_pubkey();
                    let wif = PrivateKey::new(private.inner, Network::Regtest).to_wif();
                    self.accounts.push(Account { name: name.to_owned(), address, wif });
                    script
                }
                OutputKind::WitnessKey => ScriptBuf::new_p2wpkh(&public.wpubkey_hash()),
                OutputKind::Legacy => ScriptBuf::new_p2pkh(&public.pubkey_hash()),
                OutputKind::WitnessScript => witness_script(&public).to_p2wsh(),
                OutputKind::Nested => ScriptBuf::new_p2wpkh(&public.wpubkey_hash()).to_p2sh(),
            };
            self.keys.insert(script.clone(), Key { kind, secret: private.inner, public });
            scripts.insert(kind, script);
        }
        self.scripts.push(scripts);
    }

    /// The accounts, in order.
    pub fn accounts(&self) -> &[Account] {
        &self.accounts
    }

    /// The script that pays account number `account`.
    ///
    /// # Panics
    /// There is no such account.
    pub fn script(&self, account: usize, kind: OutputKind) -> ScriptBuf {
        self.scripts[account][&kind].clone()
    }

    /// Every script of account number `account`.
    ///
    /// # Panics
    /// There is no such account.
    pub fn scripts(&self, account: usize) -> HashSet<ScriptBuf> {
        self.scripts[account].values().cloned().collect()
    }

    /// A signed transaction that spends `coins`, makes `outputs` and returns the rest to `change`, at `feerate` satoshis
    /// per 1,000 virtual bytes. Inputs and outputs are sorted.
    ///
    /// # Errors
    /// The coins do not suffice or are not ours.
    pub fn pay(
        &self,
        coins: &[(OutPoint, TxOut)],
        outputs: &[TxOut],
        change: &ScriptBuf,
        feerate: u64,
    ) -> Result<Transaction, WalletError> {
        let mut coins = coins.to_vec();
        coins.sort_by_key(|(outpoint, _)| *outpoint);
        let spent: Vec<TxOut> = coins.iter().map(|(_, output)| output.clone()).collect();
        let available: u64 = spent.iter().map(|output| output.value.to_sat()).sum();
        let paid: u64 = outputs.iter().map(|output| output.value.to_sat()).sum();
        let build = |rest: u64| {
            let mut output = outputs.to_vec();
            if rest >= DUST {
                output.push(TxOut { value: Amount::from_sat(rest), script_pubkey: change.clone() });
            }
            output.sort_by(|a, b| (a.value, &a.script_pubkey).cmp(&(b.value, &b.script_pubkey)));
            let input = coins.iter().map(|(outpoint, _)| TxIn {
                previous_output: *outpoint,
                script_sig: ScriptBuf::new(),
                sequence: Sequence::ENABLE_RBF_NO_LOCKTIME,
                witness: Witness::new(),
            });
            let version = transaction::Version::TWO;
            Transaction { version, lock_time: LockTime::ZERO, input: input.collect(), output }
        };
        // Signed once to learn the size. A legacy signature may come out one byte shorter the second time.
        let mut draft = build(available.saturating_sub(paid).max(DUST));
        self.sign(&mut draft, &spent)?;
        let needed = paid + (draft.vsize() as u64 * feerate).div_ceil(1000);
        let rest = available.checked_sub(needed).ok_or(WalletError::InsufficientFunds { available, needed })?;
        let mut tx = build(rest);
        self.sign(&mut tx, &spent)?;
        Ok(tx)
    }

    /// Signs every input of `tx`, whose inputs spend `spent`, in order.
    ///
    /// # Errors
    /// An input is not ours.
    pub fn sign(&self, tx: &mut Transaction, spent: &[TxOut]) -> Result<(), WalletError> {
        self.sign_from(0, tx, spent)
    }

    /// Signs the inputs of `tx` from number `first` on.
    fn sign_from(&self, first: usize, tx: &mut Transaction, spent: &[TxOut]) -> Result<(), WalletError> {
        let unsigned = tx.clone();
        let mut cache = SighashCache::new(&unsigned);
        for (index, output) in spent.iter().enumerate().take(unsigned.input.len()).skip(first) {
            let key = self.keys.get(&output.script_pubkey).ok_or(WalletError::ForeignInput(index))?;
            let (script_sig, witness) = self.satisfy(&mut cache, index, key, spent);
            tx.input[index].script_sig = script_sig;
            tx.input[index].witness = witness;
        }
        Ok(())
    }

    /// The taproot key of account number `account`, before the tweak.
    ///
    /// # Panics
    /// There is no such account.
    pub fn internal_key(&self, account: usize) -> XOnlyPublicKey {
        self.taproot_key(account).public.into()
    }

    /// The taproot output of an account that can also be spent by satisfying `leaf`.
    ///
    /// # Panics
    /// There is no such account.
    pub fn script_path(&self, account: usize, leaf: &ScriptBuf) -> ScriptBuf {
        let spend_info = self.spend_info(account, leaf);
        ScriptBuf::new_p2tr_tweaked(spend_info.output_key())
    }

    /// Signs every input of `tx`, whose inputs spend `spent`, in order: the first through `leaf`, a script that asks for the
    /// account's signature, the others as [`Wallet::sign`] does.
    ///
    /// # Errors
    /// Another input than the first is not ours.
    ///
    /// # Panics
    /// There is no such account, or `tx` has no input.
    pub fn sign_script_path(
        &self,
        tx: &mut Transaction,
        account: usize,
        spent: &[TxOut],
        leaf: &ScriptBuf,
    ) -> Result<(), WalletError> {
        self.sign_from(1, tx, spent)?;
        let hash = TapLeafHash::from_script(leaf, LeafVersion::TapScript);
        let sighash = SighashCache::new(&*tx)
            .taproot_script_spend_signature_hash(0, &Prevouts::All(spent), hash, TapSighashType::Default)
            .expect("the transaction has a first input, and its spent outputs are given");
        let pair = Keypair::from_secret_key(&self.secp, &self.taproot_key(account).secret);
        let signature = self.secp.sign_schnorr_no_aux_rand(&Message::from_digest(sighash.to_byte_array()), &pair);
        let signature = taproot::Signature { signature, sighash_type: TapSighashType::Default };
        let control = self.spend_info(account, leaf).control_block(&(leaf.clone(), LeafVersion::TapScript));
        let control = control.expect("the tree was made of this leaf").serialize();
        tx.input[0].witness = Witness::from_slice(&[signature.to_vec(), leaf.to_bytes(), control]);
        Ok(())
    }

    fn taproot_key(&self, account: usize) -> &Key {
        &self.keys[&self.scripts[account][&OutputKind::Taproot]]
    }

    fn spend_info(&self, account: usize, leaf: &ScriptBuf) -> TaprootSpendInfo {
        let tree = TaprootBuilder::new().add_leaf(0, leaf.clone()).expect("one leaf at depth 0 is a tree");
        tree.finalize(&self.secp, self.internal_key(account)).expect("a tree of one leaf is whole")
    }

    fn satisfy(
        &self,
        cache: &mut SighashCache<&Transaction>,
        index: usize,
        key: &Key,
        spent: &[TxOut],
    ) -> (ScriptBuf, Witness) {
        const IN_RANGE: &str = "the index is that of an input, and every input has its spent output";
        let value = spent[index].value;
        let all = EcdsaSighashType::All;
        let wpkh = ScriptBuf::new_p2wpkh(&key.public.wpubkey_hash());
        match key.kind {
            OutputKind::Taproot => {
                let sighash = cache
                    .taproot_key_spend_signature_hash(index, &Prevouts::All(spent), TapSighashType::Default)
                    .expect(IN_RANGE);
                let pair = Keypair::from_secret_key(&self.secp, &key.secret).tap_tweak(&self.secp, None).to_keypair();
                let message = Message::from_digest(sighash.to_byte_array());
                let signature = self.secp.sign_schnorr_no_aux_rand(&message, &pair);
                let signature = taproot::Signature { signature, sighash_type: TapSighashType::Default };
                (ScriptBuf::new(), Witness::p2tr_key_spend(&signature))
            }
            OutputKind::WitnessKey | OutputKind::Nested => {
                let sighash = cache.p2wpkh_signature_hash(index, &wpkh, value, all).expect(IN_RANGE);
                let witness = Witness::p2wpkh(&self.ecdsa(sighash.to_byte_array(), &key.secret), &key.public.0);
                let redeem = || Builder::new().push_slice(push(wpkh.as_bytes())).into_script();
                (if key.kind == OutputKind::Nested { redeem() } else { ScriptBuf::new() }, witness)
            }
            OutputKind::WitnessScript => {
                let script = witness_script(&key.public);
                let sighash = cache.p2wsh_signature_hash(index, &script, value, all).expect(IN_RANGE);
                let signature = self.ecdsa(sighash.to_byte_array(), &key.secret).to_vec();
                (ScriptBuf::new(), Witness::from_slice(&[signature, script.into_bytes()]))
            }
            OutputKind::Legacy => {
                let script = &spent[index].script_pubkey;
                let sighash = cache.legacy_signature_hash(index, script, all.to_u32()).expect(IN_RANGE);
                let signature = self.ecdsa(sighash.to_byte_array(), &key.secret).to_vec();
                let script_sig = Builder::new().push_slice(push(&signature)).push_key(&key.public.into()).into_script();
                (script_sig, Witness::new())
            }
        }
    }

    fn ecdsa(&self, sighash: [u8; 32], secret: &SecretKey) -> ecdsa::Signature {
        let signature = self.secp.sign_ecdsa_low_r(&Message::from_digest(sighash), secret);
        ecdsa::Signature { signature, sighash_type: EcdsaSighashType::All }
    }
}

fn witness_script(public: &CompressedPublicKey) -> ScriptBuf {
    Builder::new().push_key(&(*public).into()).push_opcode(OP_CHECKSIG).into_script()
}

fn push(bytes: &[u8]) -> PushBytesBuf {
    PushBytesBuf::try_from(bytes.to_vec()).expect("signatures and programs are far below 4 GiB")
}

//! What an `account` is: an output descriptor, an extended public key, or one address (docs/decisions/0009-accounts.md).

use std::str::FromStr as _;

use bitcoin::base58;
use bitcoin::bip32::Xpub;
use bitcoin::secp256k1::{Secp256k1, VerifyOnly};
use bitcoin::{NetworkKind, ScriptBuf};
use miniscript::descriptor::Wildcard;
use miniscript::descriptor::checksum::desc_checksum;
use miniscript::{
    Descriptor, DescriptorPublicKey, ForEachKey as _, TranslatePk as _, Translator, translate_hash_clone,
};
use paraffin_primitives::Network;

/// Longest text of an account in bytes; a descriptor of 20 keys with their origins has about 3,000.
const TEXT_BYTES_MAX: usize = 8192;
/// Deepest nesting of a descriptor: brackets, and wrappers before a `:`. Those of wallets have less than ten; the library
/// reads and derives by recursion, and its own bound of some 400 is more than a thread of a debug build has stack for.
const NESTING_MAX: usize = 64;
/// Steps of a key below its master key, the last one included, which BIP32 counts in one byte.
const KEY_DEPTH_MAX: usize = 255;
/// Most steps below a key as it is written, the last one included; wallets have two.
const STEPS_MAX: usize = 10;
/// Most keys of a descriptor, each as often as it stands there. With [`STEPS_MAX`] and [`CHAINS_MAX`] it bounds what is derived
/// before any script is: 6,400 keys, some 0.2 s.
const KEYS_MAX: usize = 20;
/// Most chains of addresses in one account (`<0;1>` makes two).
const CHAINS_MAX: usize = 32;

/// The script templates that wallets make from one bare extended key, BIP44, 49, 84 and 86.
const TEMPLATES: [&str; 4] = ["pkh(K/<0;1>/*)", "sh(wpkh(K/<0;1>/*))", "wpkh(K/<0;1>/*)", "tr(K/<0;1>/*)"];

/// First bytes of extended public keys (BIP32, SLIP132): network, and the templates that they stand for.
const PUBLIC_VERSIONS: [([u8; 4], NetworkKind, &[&str]); 6] = [
    ([0x04, 0x88, 0xb2, 0x1e], NetworkKind::Main, &TEMPLATES), // xpub
    ([0x04, 0x9d, 0x7c, 0xb2], NetworkKind::Main, &[TEMPLATES[1]]), // ypub
    ([0x04, 0xb2, 0x47, 0x46], NetworkKind::Main, &[TEMPLATES[2]]), // zpub
    ([0x04, 0x35, 0x87, 0xcf], NetworkKind::Test, &TEMPLATES), // tpub
    ([0x04, 0x4a, 0x52, 0x62], NetworkKind::Test, &[TEMPLATES[1]]), // upub
    ([0x04, 0x5f, 0x1c, 0xf6], NetworkKind::Test, &[TEMPLATES[2]]), // vpub
];
/// The same of extended private keys, which must not be sent.
const PRIVATE_VERSIONS: [[u8; 4]; 6] = [
    [0x04, 0x88, 0xad, 0xe4],
    [0x04, 0x9d, 0x78, 0x78],
    [0x04, 0xb2, 0x43, 0x0c],
    [0x04, 0x35, 0x83, 0x94],
    [0x04, 0x4a, 0x4e, 0x28],
    [0x04, 0x5f, 0x18, 0xbc],
];

/// Scripts that belong together and are counted from 0, as those of receiving or of change addresses.
#[derive(Debug)]
pub struct ScriptChain(Scripts);

#[derive(Debug)]
enum Scripts {
    /// One script.
    Single(ScriptBuf),
    /// One script for each index, of keys from which that index alone is left to derive.
    Ranged {
        /// Has a wildcard.
        descriptor: Box<Descriptor<DescriptorPublicKey>>,
        /// Its keys.
        keys: usize,
    },
}

impl ScriptChain {
    /// The script at `index`; `None` past the end.
    pub fn script(&self, secp: &Secp256k1<VerifyOnly>, index: u32) -> Option<ScriptBuf> {
        match &self.0 {
            Scripts::Single(script) => (index == 0).then(|| script.clone()),
            Scripts::Ranged { descriptor, .. } => {
                let definite = descriptor.at_derivation_index(index).ok()?;
                Some(definite.derived_descriptor(secp).ok()?.script_pubkey())
            }
        }
    }

    /// Keys that are derived for one script.
    pub fn keys(&self) -> usize {
        match self.0 {
            Scripts::Single(_) => 1,
            Scripts::Ranged { keys, .. } => keys.max(1),
        }
    }
}

/// Takes all steps but the last for each key, so that they are not taken again for each index.
struct ConstantSteps<'a>(&'a Secp256k1<VerifyOnly>);

impl Translator<DescriptorPublicKey, DescriptorPublicKey, bitcoin::bip32::Error> for ConstantSteps<'_> {
    fn pk(&mut self, key: &DescriptorPublicKey) -> Result<DescriptorPublicKey, bitcoin::bip32::Error> {
        let mut key = key.clone();
        if let DescriptorPublicKey::XPub(key) = &mut key {
            let steps = std::mem::take(&mut key.derivation_path);
            key.xkey = key.xkey.derive_pub(self.0, &steps)?;
            // It led to the key as written.
            key.origin = None;
        }
        Ok(key)
    }

    translate_hash_clone!(DescriptorPublicKey, DescriptorPublicKey, bitcoin::bip32::Error);
}

/// A text is no account. Its own text never repeats what may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccountError {
    /// The text is too long.
    #[error("account has more than {} characters", TEXT_BYTES_MAX)]
    TooLong,
    /// It is, or holds, a key that must not be sent.
    #[error("account holds a private key; send public keys only, and treat this one as known to others")]
    PrivateKey,
    /// It is an address that is wrong, or of another network.
    #[error("account: {0}")]
    Address(String),
    /// The checksum of `addr(…)` does not fit.
    #[error("account: the checksum of the descriptor is wrong")]
    Checksum,
    /// An extended key with a version that stands for no template.
    #[error("account: this kind of extended key is not known")]
    UnknownKey,
    /// An extended key of another network.
    #[error("account: the extended key is not one of {0}")]
    KeyOfOtherNetwork(Network),
    /// An extended key that cannot be decoded.
    #[error("account: the extended key is damaged")]
    DamagedKey,
    /// A descriptor with an extended key of another network.
    #[error("account: an extended key of the descriptor is not one of {0}")]
    DescriptorOfOtherNetwork(Network),
    /// It is none of what an account can be.
    #[error("account must be an output descriptor, an extended public key or an address of {0}")]
    Unreadable(Network),
    /// A descriptor that nests too deep.
    #[error("account: a descriptor may nest at most {} levels deep", NESTING_MAX)]
    Nesting,
    /// A step that needs the private key.
    #[error("account: a hardened step cannot be derived from a public key")]
    Hardened,
    /// A key with too many steps behind it.
    #[error("account: a key may have at most {} steps behind it", STEPS_MAX)]
    Steps,
    /// A key that BIP32 cannot count.
    #[error("account: a key may stand at most {} steps below its master key", KEY_DEPTH_MAX)]
    KeyDepth,
    /// A descriptor of too many keys.
    #[error("account: a descriptor may have at most {} keys", KEYS_MAX)]
    Keys,
    /// A descriptor of too many chains.
    #[error("account: a descriptor may stand for at most {} chains of addresses", CHAINS_MAX)]
    Chains,
}

/// Reads an account: an output descriptor, an extended public key of receiving and change addresses, or one address.
///
/// # Errors
/// What the text is instead, or which bound it exceeds.
pub fn parse_account(network: Network, text: &str) -> Result<Vec<ScriptChain>, AccountError> {
    let text = text.trim();
    if text.len() > TEXT_BYTES_MAX {
        return Err(AccountError::TooLong);
    }
    if let Some(chains) = address(network, text)? {
        return Ok(chains);
    }
    if let Some(chains) = extended_key(network, text)? {
        return Ok(chains);
    }
    if text.split(|letter: char| !letter.is_ascii_alphanumeric()).any(is_private) {
        return Err(AccountError::PrivateKey);
    }
    descriptor(network, text)
}

/// Whether a word is a private key, extended or alone. The letters `prv` say nothing: one of some 1,800 public keys has them.
fn is_private(word: &str) -> bool {
    // Also one that was cut: most of a secret is one.
    let is_extended =
        word.len() > 20 && word.get(1..4) == Some("prv") && word.starts_with(['x', 'y', 'z', 't', 'u', 'v']);
    let is_single = || {
        // Network, 32 bytes, and one more for a compressed public key.
        let bytes = base58::decode_check(word).unwrap_or_default();
        matches!(bytes.first(), Some(0x80 | 0xef)) && matches!(bytes.len(), 33 | 34)
    };
    is_extended || (matches!(word.len(), 51 | 52) && is_single())
}

/// An address, plain or as `addr(…)`.
fn address(network: Network, text: &str) -> Result<Option<Vec<ScriptChain>>, AccountError> {
    let wrapped = text.strip_prefix("addr(").and_then(|rest| rest.split_once(')'));
    let parsed = match wrapped {
        None => match network.parse_address(text) {
            Ok(address) => address,
            // A descriptor, a key, or nothing at all; only an address of another network is known to be wrong.
            Err(sentence) if text.parse::<bitcoin::Address<_>>().is_ok() => {
                return Err(AccountError::Address(sentence));
            }
            Err(_) => return Ok(None),
        },
        Some((inner, checksum)) => {
            let expected = desc_checksum(&format!("addr({inner})")).unwrap_or_default();
            if !checksum.is_empty() && checksum.strip_prefix('#') != Some(expected.as_str()) {
                return Err(AccountError::Checksum);
            }
            network.parse_address(inner).map_err(AccountError::Address)?
        }
    };
    Ok(Some(vec![ScriptChain(Scripts::Single(parsed.script_pubkey()))]))
}

/// An extended key alone: receiving and change addresses of every template that it may stand for.
fn extended_key(network: Network, text: &str) -> Result<Option<Vec<ScriptChain>>, AccountError> {
    // Where the key comes from changes nothing.
    let text = text.strip_prefix('[').and_then(|rest| rest.split_once(']')).map_or(text, |(_, key)| key);
    // A checked key has 111 characters; anything longer is no key and not worth decoding.
    let Some(mut bytes) = (text.len() <= 120).then(|| base58::decode_check(text).ok()).flatten() else {
        return Ok(None);
    };
    if bytes.len() != 78 {
        return Ok(None);
    }
    let version: [u8; 4] = [bytes[0], bytes[1], bytes[2], bytes[3]];
    if PRIVATE_VERSIONS.contains(&version) {
        return Err(AccountError::PrivateKey);
    }
    let known = PUBLIC_VERSIONS.iter().find(|(known, ..)| *known == version);
    let Some((_, kind, templates)) = known else {
        return Err(AccountError::UnknownKey);
    };
    if *kind != NetworkKind::from(network.bitcoin()) {
        return Err(AccountError::KeyOfOtherNetwork(network));
    }
    let plain = if *kind == NetworkKind::Main { PUBLIC_VERSIONS[0].0 } else { PUBLIC_VERSIONS[3].0 };
    bytes[..4].copy_from_slice(&plain);
    let key = Xpub::decode(&bytes).map_err(|_| AccountError::DamagedKey)?;
    let mut chains = Vec::new();
    for template in *templates {
        chains.extend(descriptor(network, &template.replace('K', &key.to_string()))?);
    }
    Ok(Some(chains))
}

fn descriptor(network: Network, text: &str) -> Result<Vec<ScriptChain>, AccountError> {
    let not_readable = || AccountError::Unreadable(network);
    if !text.is_ascii() {
        return Err(not_readable());
    }
    if nests_too_deep(text) {
        return Err(AccountError::Nesting);
    }
    let descriptor = Descriptor::<DescriptorPublicKey>::from_str(text).map_err(|_| not_readable())?;
    let kind = NetworkKind::from(network.bitcoin());
    let is_ours = descriptor.for_each_key(|key| match key {
        DescriptorPublicKey::Single(_) => true,
        DescriptorPublicKey::XPub(key) => key.xkey.network == kind,
        DescriptorPublicKey::MultiXPub(key) => key.xkey.network == kind,
    });
    if !is_ours {
        return Err(AccountError::DescriptorOfOtherNetwork(network));
    }
    // The library panics when it is asked to derive them.
    let is_hardened = |key: &DescriptorPublicKey| {
        let wildcard = match key {
            DescriptorPublicKey::Single(_) => Wildcard::None,
            DescriptorPublicKey::XPub(key) => key.wildcard,
            DescriptorPublicKey::MultiXPub(key) => key.wildcard,
        };
        wildcard == Wildcard::Hardened || key.has_hardened_step()
    };
    if descriptor.for_any_key(is_hardened) {
        return Err(AccountError::Hardened);
    }
    // How deep a key stands, and the steps below it without the last.
    let depth_and_steps = |key: &DescriptorPublicKey| match key {
        DescriptorPublicKey::Single(_) => (0, 0),
        DescriptorPublicKey::XPub(key) => (usize::from(key.xkey.depth), key.derivation_path.len()),
        DescriptorPublicKey::MultiXPub(key) => {
            let longest = key.derivation_paths.paths().iter().map(bitcoin::bip32::DerivationPath::len).max();
            (usize::from(key.xkey.depth), longest.unwrap_or(0))
        }
    };
    if descriptor.for_any_key(|key| depth_and_steps(key).1 >= STEPS_MAX) {
        return Err(AccountError::Steps);
    }
    // The library panics here, too.
    let is_too_deep = |key: &DescriptorPublicKey| {
        let (depth, steps) = depth_and_steps(key);
        depth + steps >= KEY_DEPTH_MAX
    };
    if descriptor.for_any_key(is_too_deep) {
        return Err(AccountError::KeyDepth);
    }
    let mut keys = 0;
    descriptor.for_each_key(|_| {
        keys += 1;
        true
    });
    if keys > KEYS_MAX {
        return Err(AccountError::Keys);
    }
    let singles = descriptor.into_single_descriptors().map_err(|_| not_readable())?;
    if singles.len() > CHAINS_MAX {
        return Err(AccountError::Chains);
    }
    let secp = Secp256k1::verification_only();
    let mut chains = Vec::with_capacity(singles.len());
    for single in singles {
        let has_range = single.has_wildcard();
        let single = single.translate_pk(&mut ConstantSteps(&secp)).map_err(|_| not_readable())?;
        let ranged = ScriptChain(Scripts::Ranged { descriptor: Box::new(single), keys });
        let first = ranged.script(&secp, 0);
        let first = first.ok_or_else(not_readable)?;
        chains.push(if has_range { ranged } else { ScriptChain(Scripts::Single(first)) });
    }
    Ok(chains)
}

/// Whether brackets and wrappers nest deeper than [`NESTING_MAX`], seen without parsing.
fn nests_too_deep(text: &str) -> bool {
    let mut outer = vec![0_usize];
    let (mut wrappers, mut letters) = (0_usize, 0_usize);
    for letter in text.bytes() {
        let depth = outer.last().copied().unwrap_or(0) + wrappers;
        match letter {
            b'(' | b'{' if depth >= NESTING_MAX => return true,
            b'(' | b'{' => outer.push(depth + 1),
            b')' | b'}' => drop(outer.pop()),
            b':' if depth + letters > NESTING_MAX => return true,
            _ => {}
        }
        match letter {
            b':' => wrappers += letters,
            b'(' | b'{' | b')' | b'}' | b',' => wrappers = 0,
            _ => {}
        }
        letters = if letter.is_ascii_lowercase() { letters + 1 } else { 0 };
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // The account of BIP84's and BIP86's test vectors (mnemonic of eleven `abandon` and `about`).
    const ZPUB: &str = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";
    const XPUB: &str = "xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yfdDEHGCtMMj92pReUsQ";

    fn addresses(network: Network, text: &str, index: u32) -> Vec<String> {
        let secp = Secp256k1::verification_only();
        let scripts = parse_account(network, text).unwrap().into_iter().filter_map(|chain| chain.script(&secp, index));
        scripts.map(|script| bitcoin::Address::from_script(&script, network.bitcoin()).unwrap().to_string()).collect()
    }

    /// row RB08
    #[test]
    fn a_bare_key_stands_for_the_templates_of_its_kind() {
        let zpub = addresses(Network::Mainnet, ZPUB, 0);
        assert_eq!(zpub, ["bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", "bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el"]);
        let xpub = addresses(Network::Mainnet, XPUB, 0);
        assert_eq!(xpub.len(), 8);
        for (index, beginning) in ["1", "1", "3", "3", "bc1q", "bc1q", "bc1p", "bc1p"].into_iter().enumerate() {
            assert!(xpub[index].starts_with(beginning), "{xpub:?}");
        }
        assert_eq!(
            xpub[6..],
            [
                "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr",
                "bc1p3qkhfews2uk44qtvauqyr2ttdsw7svhkl9nkm9s9c3x4ax5h60wqwruhk7"
            ]
        );
    }

    #[test]
    fn descriptors_are_read_with_and_without_checksum_and_split_into_chains() {
        let text = format!("tr({XPUB}/0/*)");
        let one = addresses(Network::Mainnet, &text, 1);
        assert_eq!(one, ["bc1p4qhjn9zdvkux4e44uhx8tc55attvtyu358kutcqkudyccelu0was9fqzwh"]);
        let sum = desc_checksum(&text).unwrap();
        assert_eq!(addresses(Network::Mainnet, &format!("{text}#{sum}"), 1), one);
        assert_eq!(addresses(Network::Mainnet, &format!("[d34db33f/86h/0h/0h]{XPUB}"), 0).len(), 8);
        assert_eq!(
            parse_account(Network::Mainnet, &format!("wpkh([d34db33f/84h/0h/0h]{XPUB}/<0;1>/*)")).unwrap().len(),
            2
        );
        let address = "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu";
        assert_eq!(addresses(Network::Mainnet, address, 0), [address]);
        assert_eq!(addresses(Network::Mainnet, &format!("addr({address})"), 0), [address]);
        assert!(addresses(Network::Mainnet, address, 1).is_empty());
        let single = "wpkh(0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798)";
        assert_eq!(addresses(Network::Mainnet, single, 0), ["bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"]);
    }

    #[test]
    fn steps_that_are_taken_once_lead_to_the_same_scripts() {
        let secp = Secp256k1::verification_only();
        for text in [
            format!("wpkh({XPUB}/7/3/*)"),
            format!("wsh(sortedmulti(2,{XPUB}/0/*,[d34db33f/1]{XPUB}/5/6/*,{XPUB}/9))"),
            format!("tr({XPUB}/1/*,{{pk({XPUB}/2/*),and_v(v:pk({XPUB}/3/4),older(9))}})"),
            format!("sh(wpkh({XPUB}/{}*))", "1/".repeat(9)),
        ] {
            let plain = Descriptor::<DescriptorPublicKey>::from_str(&text).unwrap();
            let chains = parse_account(Network::Mainnet, &text).unwrap();
            for index in [0, 1, 2_147_483_647] {
                let expected = plain.at_derivation_index(index).unwrap().derived_descriptor(&secp).unwrap();
                assert_eq!(chains[0].script(&secp, index), Some(expected.script_pubkey()), "{text}");
            }
            let Scripts::Ranged { descriptor, keys } = &chains[0].0 else { panic!("{text}") };
            let mut left = 0;
            descriptor.for_each_key(|key| {
                left += 1;
                key.full_derivation_path().is_none_or(|path| path.is_empty())
            });
            assert_eq!(left, *keys, "every key has its last step alone before it");
        }
    }

    #[test]
    fn what_is_no_account_is_refused_in_a_sentence_that_names_it_and_tells_no_secret() {
        let private = "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi";
        let deep = Xpub { depth: 254, ..XPUB.parse().unwrap() };
        let chains = (0..40).map(|chain| chain.to_string()).collect::<Vec<_>>().join(";");
        for (text, word) in [
            (String::new(), "must be"),
            ("nonsense".to_owned(), "must be"),
            ("bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyv".to_owned(), "must be"),
            ("bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080".to_owned(), "mainnet"),
            ("addr(bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080)".to_owned(), "mainnet"),
            ("addr(bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu)#00000000".to_owned(), "checksum"),
            (private.to_owned(), "private key"),
            (format!("wpkh({private}/0/*)"), "private key"),
            (format!("wpkh({XPUB}/0/*)#00000000"), "must be"),
            (format!("wpkh({XPUB}/0h/*)"), "hardened"),
            (format!("wpkh({XPUB}/0/*h)"), "hardened"),
            (format!("wpkh({XPUB}/<{chains}>/*)"), "at most 32"),
            ("sh(".repeat(2000), "at most 64"),
            (
                format!("tr(79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798,{}:0)", "n".repeat(80)),
                "at most 64",
            ),
            (format!("wpkh({XPUB}/{}*)", "0/".repeat(10)), "at most 10"),
            (format!("wpkh({deep}/0/0/*)"), "at most 255"),
            (format!("wsh(multi(1{}))", format!(",{XPUB}/0/*").repeat(21)), "must be"),
            (
                format!(
                    "tr({XPUB}/0/*,multi_a(1{}))",
                    (1..=20).fold(String::new(), |keys, key| keys + &format!(",{XPUB}/{key}/*"))
                ),
                "at most 20 keys",
            ),
            ("KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn".to_owned(), "private key"),
            ("wpkh(5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ)".to_owned(), "private key"),
            ("é".repeat(50), "must be"),
            ("x".repeat(9000), "characters"),
        ] {
            let refused = parse_account(Network::Mainnet, &text).unwrap_err().to_string();
            assert!(refused.contains("account") && refused.contains(word), "{text}: {refused}");
            assert!(!refused.contains("xprv"), "{refused}");
        }
        for text in [XPUB.to_owned(), ZPUB.to_owned(), format!("wpkh({XPUB}/0/*)")] {
            assert!(parse_account(Network::Regtest, &text).unwrap_err().to_string().contains("regtest"), "{text}");
        }
    }

    #[test]
    fn nesting_counts_brackets_and_wrappers_along_one_path() {
        for (text, is_deep) in [
            ("(".repeat(64), false),
            ("(".repeat(65), true),
            ("{()}".repeat(500), false),
            (format!("tr({}", "s:pk(K),".repeat(500)), false),
            (format!("{}:(", "n".repeat(63)), false),
            (format!("{}:(", "n".repeat(64)), true),
            (format!("{}:0", "n".repeat(65)), true),
            ("or_i(0,nnn:".repeat(16), false),
            ("or_i(0,nnn:".repeat(17), true),
            (")".repeat(9), false),
        ] {
            assert_eq!(nests_too_deep(&text), is_deep, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,80}", wrapped in "[a-z(){},/*#<>;0-9]{0,60}") {
            let _ = parse_account(Network::Regtest, &text);
            let _ = parse_account(Network::Mainnet, &wrapped);
            let _ = parse_account(Network::Mainnet, &format!("tr({XPUB}{wrapped}"));
        }
    }
}

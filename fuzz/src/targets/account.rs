//! An account as a client names it: descriptor, extended key or address. Whatever is accepted can be derived, and no refusal
//! repeats what may be a secret.

use paraffin_data_surfaces::fuzzing::account;
use paraffin_primitives::Network;

pub(crate) fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    for network in [Network::Mainnet, Network::Regtest] {
        match account(network, text, &[0, 1, 19, 0x7fff_ffff, u32::MAX]) {
            Ok(scripts) => assert!(!scripts.is_empty(), "an account has a first script"),
            Err(sentence) => {
                assert!(sentence.starts_with("account"), "{sentence}");
                assert!(!sentence.contains("prv"), "{sentence}");
            }
        }
    }
}

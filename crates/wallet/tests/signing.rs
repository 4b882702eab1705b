//! Keys, signatures and PSBTs. That nodes take what is signed is shown end to end, through the program.

#![allow(clippy::unwrap_used)] // a failed `unwrap` fails the test

use std::collections::BTreeMap;

use bitcoin::hashes::Hash as _;
use bitcoin::taproot::LeafVersion;
use bitcoin::{Amount, OutPoint, Psbt, ScriptBuf, TxOut, Txid};
use paraffin_primitives::Network;
use paraffin_wallet::{
    AddressKind, Alkanes, Coin, Deployment, Funds, Intent, Key, KeyError, Ordinals, Plan, Recipient, SignError,
    parse_public_key, plan, plan_deployment,
};

/// The private key 1, in the forms of regtest, of mainnet, and of mainnet uncompressed.
const WIF: &str = "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA";
const MAINNET_WIF: &str = "KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn";
const UNCOMPRESSED_WIF: &str = "5HpHagT65TZzG1PH3CSu63k8DbpvD8s5ip4nEB3kEsreAnchuDf";

/// The x coordinate of the generator, which is the public key of 1.
const PUBLIC: &str = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";

fn key() -> Key {
    Key::from_wif(WIF, Network::Regtest).unwrap()
}

fn coin(number: u8, kind: AddressKind) -> Coin {
    Coin {
        outpoint: OutPoint { txid: Txid::from_byte_array([number; 32]), vout: 0 },
        output: TxOut { value: Amount::from_sat(100_000), script_pubkey: key().script(kind) },
        confirmations: 6,
        immature: false,
        alkanes: Some(Alkanes::default()),
        ordinals: Ordinals::None,
    }
}

fn payment(owner: ScriptBuf) -> Plan {
    let funds = Funds {
        coins: vec![coin(1, AddressKind::Taproot), coin(2, AddressKind::WitnessKey)],
        owner,
        named: Vec::new(),
        assume_plain: false,
        fee_rate: "3".parse().unwrap(),
        allow_high_fee: false,
    };
    let script = key().script(AddressKind::WitnessKey);
    plan(&Intent::Send(vec![Recipient { script, sats: 150_000, alkanes: Alkanes::default() }]), &funds).unwrap()
}

#[test]
fn keys_of_other_networks_and_forms_are_refused_without_being_repeated() {
    for (text, network, expected) in [
        (MAINNET_WIF, Network::Regtest, KeyError::OtherNetwork(Network::Regtest)),
        (WIF, Network::Mainnet, KeyError::OtherNetwork(Network::Mainnet)),
        (UNCOMPRESSED_WIF, Network::Mainnet, KeyError::Uncompressed),
        ("", Network::Regtest, KeyError::Malformed),
        ("cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcB", Network::Regtest, KeyError::Malformed),
        (&"1".repeat(1_000_000), Network::Regtest, KeyError::Malformed),
    ] {
        let error = Key::from_wif(text, network).unwrap_err();
        assert_eq!(error, expected);
        assert!(text.is_empty() || !error.to_string().contains(text));
    }
    assert!(Key::from_wif(&format!("  {WIF}\n"), Network::Signet).is_ok(), "signet and regtest share one form");
    assert!(!format!("{:?}", key()).contains("cMahea"));
}

#[test]
fn public_keys_are_read_in_both_lengths() {
    assert_eq!(parse_public_key(PUBLIC).unwrap(), key().x_only());
    assert_eq!(parse_public_key(&format!("02{PUBLIC}")).unwrap(), key().x_only());
    for text in ["", "zz", &PUBLIC[1..], &format!("04{PUBLIC}"), &"f".repeat(64)] {
        assert!(parse_public_key(text).is_err(), "{text}");
    }
}

#[test]
fn both_kinds_of_coins_are_signed_the_same_way_every_time() {
    let plan = payment(key().script(AddressKind::Taproot));
    let signed = key().sign(&plan).unwrap();
    assert_eq!(signed, key().sign(&plan).unwrap());
    assert_eq!(signed.compute_txid(), plan.txid(), "signatures do not change the id");
    assert_eq!(signed.input.iter().map(|input| input.witness.len()).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn a_coin_of_another_key_is_not_signed() {
    let mut plan = payment(key().script(AddressKind::Taproot));
    plan.inputs[0].coin.output.script_pubkey = ScriptBuf::from_bytes([&[0x51, 0x20][..], &[7; 32]].concat());
    assert_eq!(key().sign(&plan), Err(SignError::Foreign(plan.inputs[0].coin.outpoint)));
}

#[test]
fn a_psbt_holds_what_a_signer_needs_and_survives_its_text() {
    let plan = payment(key().script(AddressKind::Taproot));
    let psbt = plan.psbt(&BTreeMap::new(), Some(key().x_only()));
    let read: Psbt = psbt.to_string().parse().unwrap();
    assert_eq!(read, psbt);
    assert_eq!(read.unsigned_tx, plan.transaction());
    assert_eq!(read.fee().unwrap().to_sat(), plan.fee);
    assert_eq!(read.inputs[0].tap_internal_key, Some(key().x_only()));

    let deployment = Deployment {
        payload: vec![1, 2, 3],
        reserved: Some(9),
        inputs: vec![0],
        incoming: Alkanes::default(),
        results_to: None,
        key: key().x_only(),
    };
    let funds = Funds {
        coins: vec![coin(1, AddressKind::Taproot)],
        owner: key().script(AddressKind::Taproot),
        named: Vec::new(),
        assume_plain: false,
        fee_rate: "3".parse().unwrap(),
        allow_high_fee: false,
    };
    let plans = plan_deployment(&deployment, &funds).unwrap();
    let reveal = plans.reveal.psbt(&BTreeMap::new(), Some(deployment.key));
    let (control_block, (leaf, version)) = reveal.inputs[0].tap_scripts.first_key_value().unwrap();
    assert_eq!((leaf, *version), (&deployment.leaf(), LeafVersion::TapScript));
    let output = &plans.commit.outputs[0].output;
    let output_key = bitcoin::XOnlyPublicKey::from_slice(&output.script_pubkey.as_bytes()[2..]).unwrap();
    let secp = bitcoin::key::Secp256k1::verification_only();
    assert!(control_block.verify_taproot_commitment(&secp, output_key, leaf), "the commit commits to the leaf");
}

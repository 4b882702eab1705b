//! Routes about a whole account.

use bitcoin::bip32::{ChildNumber, Xpriv, Xpub};
use bitcoin::secp256k1::Secp256k1;
use bitcoin::{Address, NetworkKind, OutPoint, ScriptBuf};
use serde_json::{Value, json};

use crate::chain::{COIN, payment};
use crate::instance::{Instance, Setup};

/// An account with a key of its own.
struct Account {
    key: Xpub,
}

impl Account {
    fn new(seed: u8) -> Self {
        let secp = Secp256k1::new();
        let master = Xpriv::new_master(NetworkKind::Test, &[seed; 32]).unwrap();
        Self { key: Xpub::from_priv(&secp, &master) }
    }

    fn public(&self, chain: u32, index: u32) -> bitcoin::CompressedPublicKey {
        let path = [ChildNumber::Normal { index: chain }, ChildNumber::Normal { index }];
        self.key.derive_pub(&Secp256k1::verification_only(), &path).unwrap().to_pub()
    }

    fn segwit(&self, chain: u32, index: u32) -> ScriptBuf {
        ScriptBuf::new_p2wpkh(&self.public(chain, index).wpubkey_hash())
    }

    fn legacy(&self, chain: u32, index: u32) -> ScriptBuf {
        ScriptBuf::new_p2pkh(&self.public(chain, index).pubkey_hash())
    }

    fn nested(&self, chain: u32, index: u32) -> ScriptBuf {
        self.segwit(chain, index).to_p2sh()
    }

    fn taproot(&self, chain: u32, index: u32) -> ScriptBuf {
        let key = bitcoin::XOnlyPublicKey::from(self.public(chain, index));
        ScriptBuf::new_p2tr(&Secp256k1::verification_only(), key, None)
    }
}

async fn post(instance: &Instance, route: &str, body: Value) -> (u16, Value) {
    let response = instance.post(&format!("/v4/api/{route}"), body.to_string()).await;
    (response.status, response.json())
}

async fn balance(instance: &Instance, account: &str) -> Value {
    let (status, answer) = post(instance, "get-account-balance", json!({ "account": account })).await;
    assert_eq!(status, 200, "{answer}");
    answer["data"].clone()
}

async fn utxos(instance: &Instance, account: &str) -> Value {
    let (status, answer) = post(instance, "get-account-utxos", json!({ "account": account })).await;
    assert_eq!(status, 200, "{answer}");
    answer["data"].clone()
}

/// row RB08
/// row RB09
#[tokio::test]
async fn an_extended_key_is_all_its_addresses_on_both_chains_and_in_every_template() {
    let mut instance = Instance::start().await;
    let account = Account::new(1);
    let scripts = [
        account.legacy(0, 0),
        account.nested(0, 3),
        account.segwit(0, 0),
        account.segwit(0, 19),
        account.segwit(1, 5),
        account.taproot(1, 12),
    ];
    for script in &scripts {
        instance.chain.mine(script.clone(), vec![]);
    }
    let key = account.key.to_string();
    assert_eq!(balance(&instance, &key).await, json!({ "balance": 6 * COIN, "unconfirmedBalance": 0 }));
    let listed = utxos(&instance, &key).await;
    assert_eq!(listed["total"], 6);
    // Newest first, each with its address.
    for (output, script) in listed["utxos"].as_array().unwrap().iter().zip(scripts.iter().rev()) {
        let address = Address::from_script(script, bitcoin::Network::Regtest).unwrap().to_string();
        assert_eq!((&output["address"], &output["scriptPk"]), (&json!(address), &json!(script.to_hex_string())));
        assert_eq!(output["satoshis"], COIN);
    }
    for (descriptor, coins) in [
        (format!("wpkh({key}/0/*)"), 2),
        (format!("wpkh({key}/<0;1>/*)"), 3),
        (format!("wpkh({key}/0/19)"), 1),
        (format!("pkh({key}/<0;1>/*)"), 1),
        (format!("sh(wpkh({key}/0/*))"), 1),
        (format!("tr([d34db33f/86h/1h/0h]{key}/1/*)"), 1),
        (format!("tr({key}/0/*)"), 0),
        (instance.payee.clone(), 0),
    ] {
        let expected = if descriptor == instance.payee { 1_000_000 } else { coins * COIN };
        assert_eq!(balance(&instance, &descriptor).await["balance"], expected, "{descriptor}");
    }
    let (_, limited) = post(&instance, "get-account-utxos", json!({ "account": key, "limit": 2 })).await;
    assert_eq!(
        (limited["data"]["utxos"].as_array().unwrap().as_slice(), &limited["data"]["total"]),
        (&listed["utxos"].as_array().unwrap()[..2], &json!(6))
    );
}

#[tokio::test]
async fn the_gap_limit_is_twenty_unused_addresses_in_a_row() {
    let mut instance = Instance::start().await;
    let account = Account::new(2);
    let descriptor = format!("wpkh({}/0/*)", account.key);
    // Index 20 is past twenty unused ones; 19 is not.
    instance.chain.mine(account.segwit(0, 20), vec![]);
    assert_eq!(balance(&instance, &descriptor).await["balance"], 0);
    instance.chain.mine(account.segwit(0, 19), vec![]);
    assert_eq!(balance(&instance, &descriptor).await["balance"], 2 * COIN);
    instance.chain.mine(account.segwit(0, 40), vec![]);
    assert_eq!(balance(&instance, &descriptor).await["balance"], 3 * COIN);
    // An unconfirmed receipt counts as use as well.
    instance.chain.mine(account.segwit(0, 75), vec![]);
    assert_eq!(balance(&instance, &descriptor).await["balance"], 3 * COIN);
    let spent = OutPoint { txid: instance.payment, vout: 0 };
    instance.node.add_unconfirmed(&payment(&[spent], &[(999_000, account.segwit(0, 60))]));
    assert_eq!(balance(&instance, &descriptor).await, json!({ "balance": 4 * COIN, "unconfirmedBalance": 999_000 }));
}

#[tokio::test]
async fn unconfirmed_payments_between_own_addresses_move_the_balance_by_the_fee_alone() {
    let mut instance = Instance::start().await;
    let account = Account::new(3);
    let coin = OutPoint { txid: instance.chain.mine(account.segwit(0, 0), vec![]), vout: 0 };
    instance.chain.mine(account.segwit(0, 1), vec![]);
    let parent = payment(&[coin], &[(COIN / 2, account.segwit(0, 2)), (COIN / 2 - 500, account.segwit(1, 0))]);
    let child_coin = OutPoint { txid: parent.compute_txid(), vout: 0 };
    let child = payment(&[child_coin], &[(COIN / 2 - 500, account.taproot(0, 0))]);
    instance.node.add_unconfirmed(&parent);
    instance.node.add_unconfirmed(&child);
    let key = account.key.to_string();
    assert_eq!(balance(&instance, &key).await, json!({ "balance": 2 * COIN, "unconfirmedBalance": -1000 }));
    let listed = utxos(&instance, &key).await;
    let values: Vec<u64> =
        listed["utxos"].as_array().unwrap().iter().map(|one| one["value"].as_u64().unwrap()).collect();
    assert_eq!((values.iter().sum::<u64>(), &listed["total"]), (2 * COIN - 1000, &json!(3)));
    assert_eq!(values[2], COIN, "confirmed ones come last");
    assert_eq!(listed["utxos"][0]["confirmations"], 0);
    let (_, limited) = post(&instance, "get-account-utxos", json!({ "account": key, "limit": 1 })).await;
    assert_eq!((limited["data"]["utxos"].as_array().unwrap().len(), &limited["data"]["total"]), (1, &json!(3)));
    // Once confirmed nothing counts twice, though the node of the tests still lists them.
    instance.chain.mine(account.segwit(0, 0), vec![parent, child]);
    assert_eq!(balance(&instance, &key).await, json!({ "balance": 3 * COIN - 1000, "unconfirmedBalance": 0 }));
}

#[tokio::test]
async fn an_extended_key_with_10_000_used_addresses_is_answered_whole() {
    let mut instance = Instance::start().await;
    let account = Account::new(4);
    let funding = instance.chain.mine(account.segwit(1, 0), vec![]);
    let mut coin = OutPoint { txid: funding, vout: 0 };
    let mut transactions = Vec::new();
    let mut left = COIN;
    for batch in 0..200 {
        let mut outputs: Vec<_> = (0..50).map(|index| (1_000, account.segwit(0, batch * 50 + index))).collect();
        left -= 50_000;
        outputs.push((left, account.segwit(1, 0)));
        let transaction = payment(&[coin], &outputs);
        coin = OutPoint { txid: transaction.compute_txid(), vout: 50 };
        transactions.push(transaction);
    }
    instance.chain.mine(account.segwit(1, 0), transactions);
    let key = account.key.to_string();
    assert_eq!(balance(&instance, &key).await["balance"], 2 * COIN);
    let listed = utxos(&instance, &key).await;
    assert_eq!((listed["utxos"].as_array().unwrap().len(), &listed["total"]), (10_002, &json!(10_002)));

    // An account larger than the limit is refused with a message that says what to do.
    let mut setup = Setup::default();
    setup.config.limits.account_scripts_max = 100;
    let small = Instance::with(setup).await;
    let (status, answer) = post(&small, "get-account-balance", json!({ "account": key })).await;
    assert_eq!(status, 400);
    assert!(answer["error"].as_str().unwrap().contains("more than 100 addresses"), "{answer}");
    assert_eq!(balance(&small, &format!("wpkh({key}/0/*)")).await["balance"], 0);
}

#[tokio::test]
async fn what_is_no_account_is_400_and_a_private_key_is_never_repeated() {
    let instance = Instance::start().await;
    let secret = Xpriv::new_master(NetworkKind::Test, &[9; 32]).unwrap().to_string();
    let foreign = Xpriv::new_master(NetworkKind::Main, &[9; 32]).unwrap();
    let foreign = Xpub::from_priv(&Secp256k1::new(), &foreign).to_string();
    for route in ["get-account-balance", "get-account-utxos"] {
        for (account, word) in [
            (json!("nonsense"), "account must be"),
            (json!(""), "account must be"),
            (json!("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"), "regtest"),
            (json!(foreign), "regtest"),
            (json!(secret), "private key"),
            (json!(format!("wpkh({secret}/0/*)")), "private key"),
            (json!(5), "account must be a string"),
            (Value::Null, "account is required"),
            (json!("wpkh(".repeat(1000)), "account: a descriptor may nest at most 64"),
        ] {
            let (status, answer) = post(&instance, route, json!({ "account": account })).await;
            assert_eq!((status, &answer["code"]), (400, &json!("INVALID_REQUEST")), "{account}");
            let reported = answer["error"].as_str().unwrap();
            assert!(reported.contains(word) && !reported.contains("prv"), "{account}: {reported}");
        }
        let (status, _) = post(&instance, route, json!({ "account": instance.payee, "limit": 0 })).await;
        assert_eq!(status, if route == "get-account-utxos" { 400 } else { 200 });
    }
}

/// row RB10
#[tokio::test]
async fn taproot_history_begins_with_what_is_unconfirmed() {
    let instance = Instance::start().await;
    let spent = OutPoint { txid: instance.payment, vout: 0 };
    let script = crate::chain::script_of(instance.chain.network, &instance.payee);
    let pending = payment(&[spent], &[(400_000, script.clone()), (599_000, script)]);
    instance.node.add_unconfirmed(&pending);
    let history = |count: u32| {
        post(&instance, "get-taproot-history", json!({ "taprootAddress": instance.payee, "totalTxs": count }))
    };
    let (_, answer) = history(10).await;
    let rows = answer["data"]["transactions"].as_array().unwrap();
    assert_eq!(
        rows[0],
        json!({
            "txid": pending.compute_txid().to_string(), "blockHeight": null, "timestamp": null,
            "fee": 1000, "value": -1000, "confirmed": false,
        })
    );
    assert_eq!((rows.len(), &rows[1]["txid"]), (2, &json!(instance.payment.to_string())));
    assert_eq!(history(1).await.1["data"]["transactions"].as_array().unwrap().len(), 1);
    let (status, answer) = post(
        &instance,
        "get-taproot-history",
        json!({ "taprootAddress": "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080" }),
    )
    .await;
    assert_eq!(status, 400);
    assert!(answer["error"].as_str().unwrap().contains("taprootAddress must be a taproot address"));
}

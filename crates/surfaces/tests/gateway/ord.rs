//! `ord_*` over the wire.

use bitcoin::opcodes::OP_FALSE;
use bitcoin::opcodes::all::{OP_ENDIF, OP_IF};
use bitcoin::script::Builder;
use bitcoin::{OutPoint, ScriptBuf, Transaction, Txid, Witness};
use ordinals::{Etching, Runestone, Terms};
use paraffin_ordinals_index::OrdinalsOptions;
use serde_json::{Value, json};

use crate::chain::{COIN, payment, script_of};
use crate::instance::{Instance, Setup};

/// All methods of the family.
pub(crate) const METHODS: [&str; 23] = [
    "blockcount",
    "blockheight",
    "blockhash",
    "blocktime",
    "block",
    "blocks",
    "inscription",
    "inscriptions",
    "inscriptions::block",
    "children",
    "parents",
    "content",
    "metadata",
    "rune",
    "runes",
    "sat",
    "r:sat",
    "r:sat::at",
    "output",
    "outputs",
    "address",
    "address::inscriptions",
    "tx",
];
const NAME: &str = "AAAAAAAAAAAAAAAAAAAAAABLWC";

/// Block 4 reveals a text inscription with metadata and a second one that delegates to it, and etches a rune without a name.
pub(crate) async fn inscribed() -> (Instance, Txid) {
    inscribed_with(OrdinalsOptions::default()).await
}

/// The same with an index of sats.
pub(crate) async fn inscribed_with_sats() -> (Instance, Txid) {
    inscribed_with(OrdinalsOptions { sats: true, ..OrdinalsOptions::default() }).await
}

async fn inscribed_with(options: OrdinalsOptions) -> (Instance, Txid) {
    let mut instance = Instance::with(Setup { ordinals: Some(options), ..Setup::default() }).await;
    let payee = script_of(instance.chain.network, &instance.payee);
    let spent = OutPoint { txid: instance.payment, vout: 1 };
    let etching = Etching {
        premine: Some(u128::MAX - 7),
        divisibility: Some(2),
        symbol: Some('X'),
        terms: Some(Terms { amount: Some(1), cap: Some(7), ..Terms::default() }),
        ..Etching::default()
    };
    let runestone = Runestone { etching: Some(etching), pointer: Some(0), ..Runestone::default() }.encipher();
    let change = COIN - 1_000_500 - 10_000;
    let mut transaction = payment(
        &[spent],
        &[(10_000, payee), (change, script_of(instance.chain.network, &instance.miner)), (0, runestone)],
    );
    let begin = |builder: Builder| builder.push_opcode(OP_FALSE).push_opcode(OP_IF).push_slice(b"ord");
    let first = begin(Builder::new()).push_slice([1]).push_slice(b"text/plain").push_slice([5]).push_slice([0xa0]);
    let first = first.push_slice([]).push_slice(b"hello").push_opcode(OP_ENDIF);
    set_script(&mut transaction, first.into_script());
    let reveal = instance.mine(vec![transaction]);
    let spent = OutPoint { txid: reveal, vout: 1 };
    let mut second = payment(&[spent], &[(change, script_of(instance.chain.network, &instance.miner))]);
    let delegate: [u8; 32] = bitcoin::hashes::Hash::to_byte_array(reveal);
    let script = begin(Builder::new()).push_slice([11]).push_slice(delegate).push_opcode(OP_ENDIF).into_script();
    set_script(&mut second, script);
    instance.mine(vec![second]);
    (instance, reveal)
}

/// Block 4 reveals 1,500 inscriptions in the first output of one transaction, the first with a content of 40 kB.
pub(crate) async fn crowded(setup: Setup) -> (Instance, Txid) {
    let mut instance = Instance::with(setup).await;
    let payee = script_of(instance.chain.network, &instance.payee);
    let mut transaction = payment(&[OutPoint { txid: instance.payment, vout: 1 }], &[(10_000, payee)]);
    let begin = |builder: Builder| builder.push_opcode(OP_FALSE).push_opcode(OP_IF).push_slice(b"ord");
    let mut script = begin(Builder::new()).push_slice([1]).push_slice(b"text/plain").push_slice([]);
    for _ in 0..571 {
        script = script.push_slice(<&bitcoin::script::PushBytes>::from(&[b'x'; 70]));
    }
    script = script.push_opcode(OP_ENDIF);
    for _ in 1..1_500 {
        script = begin(script).push_opcode(OP_ENDIF);
    }
    set_script(&mut transaction, script.into_script());
    let reveal = instance.mine(vec![transaction]);
    (instance, reveal)
}

fn set_script(transaction: &mut Transaction, script: ScriptBuf) {
    transaction.input[0].witness = Witness::from_slice(&[script.into_bytes(), vec![0xc0; 33]]);
}

/// row MR06
#[tokio::test]
async fn an_inscription_is_answered_by_id_and_number() {
    let (instance, reveal) = inscribed().await;
    let id = format!("{reveal}i0");
    let record = instance.result("ord_inscription", json!([id])).await;
    assert_eq!(record["id"], json!(id));
    assert_eq!(record["number"], 0);
    assert_eq!(record["address"], json!(instance.payee));
    assert_eq!(record["content_type"], "text/plain");
    assert_eq!(record["content_length"], 5);
    assert_eq!(record["height"], 4);
    assert_eq!(record["satpoint"], json!(format!("{reveal}:0:0")));
    assert_eq!(record["value"], 10_000);
    assert_eq!((&record["charms"], &record["child_count"], &record["parents"]), (&json!([]), &json!(0), &json!([])));
    assert_eq!((&record["sat"], &record["previous"]), (&Value::Null, &Value::Null));
    assert_eq!(record["rune"], instance.result("ord_rune", json!(["4:1"])).await["entry"]["spaced_rune"]);
    assert_eq!(instance.result("ord_inscription", json!([0])).await, record);
    assert_eq!(instance.result("ord_inscription", json!(["0"])).await, record);
    let delegating = instance.result("ord_inscription", json!([record["next"]])).await;
    assert_eq!(
        (&delegating["content_type"], &delegating["effective_content_type"]),
        (&Value::Null, &json!("text/plain"))
    );
    assert_eq!(instance.error("ord_inscription", json!([format!("{reveal}i1")])).await.0, -32004);
    assert_eq!(instance.error("ord_inscription", json!([id, 0])).await.0, -32004);
    for bad in [
        json!([]),
        json!([""]),
        json!(["x".repeat(70)]),
        json!([{}]),
        json!([1.5]),
        json!([id, -1]),
        json!([99_999_999_999_u64]),
    ] {
        assert_eq!(instance.error("ord_inscription", bad.clone()).await.0, -32602, "{bad}");
    }
}

/// row MR07
#[tokio::test]
async fn a_rune_is_answered_by_id_number_and_name_with_all_its_digits() {
    let (instance, reveal) = inscribed().await;
    let body = instance.post(&instance.keyed(""), r#"{"method":"ord_rune","params":["4:1"],"id":1}"#).await;
    assert!(body.text().contains(r#""premine":340282366920938463463374607431768211448,"#), "{}", body.text());
    let record = instance.result("ord_rune", json!(["4:1"])).await;
    assert_eq!(record["id"], "4:1");
    assert_eq!(record["mintable"], true);
    assert_eq!(record["parent"], json!(format!("{reveal}i0")));
    let entry = &record["entry"];
    assert_eq!((&entry["etching"], &entry["number"], &entry["symbol"]), (&json!(reveal), &json!(0), &json!("X")));
    assert_eq!(entry["terms"], json!({ "amount": 1, "cap": 7, "height": [null, null], "offset": [null, null] }));
    assert_eq!(instance.result("ord_rune", json!([0])).await, record);
    assert_eq!(instance.result("ord_rune", json!([entry["spaced_rune"]])).await, record);
    let page = instance.result("ord_runes", json!([0])).await;
    assert_eq!(page, json!({ "entries": [["4:1", entry]], "more": false, "prev": null, "next": null }));
    assert_eq!(instance.error("ord_rune", json!([NAME])).await.0, -32004);
    for bad in [
        json!([""]),
        json!(["lower"]),
        json!(["A".repeat(60)]),
        json!([format!("{}•A", "A".repeat(50))]),
        json!(["1:2:3"]),
    ] {
        assert_eq!(instance.error("ord_rune", bad.clone()).await.0, -32602, "{bad}");
    }
}

/// row MR08
#[tokio::test]
async fn the_other_methods_answer() {
    let (instance, reveal) = inscribed().await;
    let id = format!("{reveal}i0");
    let tip = instance.chain.tip_hash().to_string();
    assert_eq!(instance.result("ord_blockcount", json!([])).await, 6);
    assert_eq!(instance.result("ord_blockheight", json!([])).await, 5);
    assert_eq!(instance.result("ord_blockhash", json!([])).await, json!(tip));
    assert_eq!(instance.result("ord_blockhash", json!([5])).await, json!(tip));
    assert_eq!(instance.result("ord_blocktime", json!([])).await, instance.chain.blocks[5].header.time);
    let block = instance.result("ord_block", json!([4])).await;
    assert_eq!((&block["inscriptions"], &block["best_height"]), (&json!([id]), &json!(5)));
    assert_eq!(block["transactions"].as_array().map(Vec::len), Some(2));
    assert_eq!(instance.result("ord_block", json!([block["hash"]])).await, block);
    assert_eq!(instance.result("ord_blocks", json!([])).await["last"], 5);
    let all = instance.result("ord_inscriptions", json!([0])).await;
    assert_eq!(
        (all["ids"].as_array().map(Vec::len), &all["more"], &all["page_index"]),
        (Some(2), &json!(false), &json!(0))
    );
    for method in ["ord_inscriptions::block", "ord_inscriptions_block", "ord_inscriptionsinblock"] {
        assert_eq!(instance.result(method, json!([4])).await["ids"], json!([id]), "{method}");
    }
    assert_eq!(instance.result("ord_children", json!([id])).await, json!({ "ids": [], "more": false, "page": 0 }));
    assert_eq!(instance.result("ord_parents", json!([id])).await["ids"], json!([]));
    assert_eq!(instance.result("ord_content", json!([id])).await, "aGVsbG8=");
    assert_eq!(instance.result("ord_content", json!([all["ids"][0]])).await, "aGVsbG8=");
    assert_eq!(instance.result("ord_metadata", json!([id])).await, "a0");
    let output = instance.result("ord_output", json!([format!("{reveal}:0")])).await;
    assert_eq!(
        (&output["inscriptions"], &output["value"], &output["spent"]),
        (&json!([id]), &json!(10_000), &json!(false))
    );
    assert_eq!((&output["indexed"], &output["confirmations"]), (&json!(true), &json!(2)));
    let runes = output["runes"].as_object().unwrap();
    assert_eq!(runes.values().next().unwrap()["divisibility"], 2);
    let address = instance.result("ord_address", json!([instance.payee])).await;
    assert_eq!((&address["inscriptions"], &address["sat_balance"]), (&json!([id]), &json!(1_010_000)));
    assert_eq!(address["runes_balances"][0][1], "3402823669209384634633746074317682114.48");
    assert_eq!(instance.result("ord_address::inscriptions", json!([instance.payee])).await, json!([id]));
    let outputs = instance.result("ord_outputs", json!([instance.payee])).await;
    assert_eq!(outputs.as_array().map(Vec::len), Some(2));
    assert_eq!(instance.result("ord_outputs", json!([instance.payee, "inscribed"])).await, json!([output]));
    assert_eq!(
        instance.result("ord_outputs", json!([instance.payee, "cardinal"])).await.as_array().map(Vec::len),
        Some(1)
    );
    let sat = instance.result("ord_sat", json!([0])).await;
    assert_eq!(
        (&sat["name"], &sat["rarity"], &sat["satpoint"]),
        (&json!("nvtdijuwxlp"), &json!("mythic"), &Value::Null)
    );
    assert_eq!(instance.result("ord_sat", json!(["nvtdijuwxlp"])).await, sat);
    let transaction = instance.result("ord_tx", json!([reveal])).await;
    assert_eq!((&transaction["inscription_count"], &transaction["chain"]), (&json!(1), &json!("regtest")));
    assert!(transaction["etching"].is_string());
    let missing = "00".repeat(32);
    for (method, params) in [
        ("ord_blockhash", json!([9])),
        ("ord_block", json!([9])),
        ("ord_block", json!([missing])),
        ("ord_children", json!([format!("{missing}i0")])),
        ("ord_parents", json!([format!("{missing}i0")])),
        ("ord_content", json!([format!("{missing}i0")])),
        ("ord_metadata", json!([all["ids"][0]])),
        ("ord_tx", json!(["11".repeat(32)])),
        ("ord_output", json!([format!("{}:0", "11".repeat(32))])),
    ] {
        assert_eq!(instance.error(method, params.clone()).await.0, -32004, "{method} {params}");
    }
    for (method, params) in [
        ("ord_blockcount", json!([1])),
        ("ord_blockhash", json!(["x"])),
        ("ord_block", json!([])),
        ("ord_inscriptions", json!([-1])),
        ("ord_inscriptions", json!([0, 0])),
        ("ord_inscriptions::block", json!([])),
        ("ord_sat", json!([2_099_999_997_690_000_u64])),
        ("ord_sat", json!(["A"])),
        ("ord_sat", json!(["4294967295°1′1″1‴"])),
        ("ord_sat", json!(["6930000.0"])),
        ("ord_inscriptions", json!([" "])),
        ("ord_runes", json!([""])),
        ("ord_r:children", json!([])),
        ("ord_r:sat", json!([])),
        ("ord_r:sat", json!(["nvtdijuwxlp"])),
        ("ord_r:sat", json!([0, -1])),
        ("ord_r:sat::at", json!([0])),
        ("ord_r:sat::at", json!([0, 1.5])),
        ("ord_r:sat::at", json!([0, "--1"])),
        ("ord_r:sat::at", json!([0, "9223372036854775808"])),
        ("ord_output", json!([reveal])),
        ("ord_output", json!([format!("{reveal}:+1")])),
        ("ord_address", json!(["x"])),
        ("ord_address", json!([instance.payee, "any"])),
        ("ord_outputs", json!([instance.payee, "some"])),
        ("ord_tx", json!(["x"])),
        ("ord_content", json!([])),
    ] {
        assert_eq!(instance.error(method, params.clone()).await.0, -32602, "{method} {params}");
    }
    assert_eq!(instance.error("ord_nothing", json!([])).await.0, -32601);
}

/// Clients write them so (docs/api.md, `ord_*`).
///
/// row MR08
#[tokio::test]
async fn forms_of_shipped_clients_are_read_as_ord_reads_them() {
    let (instance, reveal) = inscribed_with_sats().await;
    let first = format!("{reveal}i0");
    let newest = instance.result("ord_inscriptions", json!([""])).await;
    assert_eq!(newest, instance.result("ord_inscriptions", json!([0])).await);
    assert_eq!(newest["ids"].as_array().map(Vec::len), Some(2));
    let children = instance.result("ord_r:children", json!([first, null])).await;
    assert_eq!(children, json!({ "ids": [], "more": false, "page": 0 }));

    // One sat under each of its names.
    let record = instance.result("ord_inscription", json!([first])).await;
    let sat = record["sat"].as_u64().unwrap();
    let reported = instance.result("ord_sat", json!([sat])).await;
    for name in ["name", "decimal", "degree", "percentile"] {
        assert_eq!(instance.result("ord_sat", json!([reported[name]])).await, reported, "{name}");
    }
    let on_sat = reported["inscriptions"].as_array().unwrap();
    assert_eq!(on_sat[0], json!(first));
    let page = |page: u32, ids: &Value| json!({ "ids": ids, "more": false, "page": page });
    assert_eq!(instance.result("ord_r:sat", json!([sat])).await, page(0, &reported["inscriptions"]));
    assert_eq!(instance.result("ord_r:sat", json!([sat.to_string(), "1"])).await, page(1, &json!([])));
    // A number that no sat has is no mistake to ord.
    assert_eq!(instance.result("ord_r:sat", json!([u64::MAX])).await, page(0, &json!([])));
    for (place, expected) in [
        (json!(0), on_sat.first()),
        (json!("-1"), on_sat.last()),
        (json!(on_sat.len()), None),
        (json!(i64::MIN), None),
        (json!(i64::MAX), None),
    ] {
        let found = instance.result("ord_r:sat::at", json!([reported["decimal"], place])).await;
        assert_eq!(found, json!({ "id": expected }), "{place}");
    }

    let (without, _) = inscribed().await;
    for (method, params) in [("ord_r:sat", json!([0])), ("ord_r:sat::at", json!([0, 0]))] {
        let answer = without.call(method, params).await;
        let (code, data) = (&answer["error"]["code"], &answer["error"]["data"]["code"]);
        assert_eq!((code, data), (&json!(-32603), &json!("ORDINALS_NOT_INDEXED")), "{method}");
    }
}

/// row MR08
#[tokio::test]
async fn an_instance_without_the_index_says_so() {
    let instance = Instance::start().await;
    let answer = instance.call("ord_blockheight", json!([])).await;
    assert_eq!(
        (&answer["error"]["code"], &answer["error"]["data"]["code"]),
        (&json!(-32603), &json!("ORDINALS_NOT_INDEXED"))
    );
}

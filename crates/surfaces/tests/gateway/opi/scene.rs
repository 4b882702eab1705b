//! An instance whose blocks hold inscriptions of tests.

use bitcoin::hashes::Hash as _;
use bitcoin::{OutPoint, ScriptBuf, Txid};
use bytes::Bytes;
use paraffin_ordinals_index::brc20::{Brc20Module, MODULE, TABLES, TABLES_VERSION};
use paraffin_ordinals_index::event::{Destination, EnvelopeFields, EventKind, InscriptionEvent, InscriptionId};
use paraffin_primitives::{ConnectedBlock, Network};
use paraffin_store::{Module, ModuleError, ModuleSchema, ModuleWriter};

use crate::chain::{script_of, taproot};
use crate::client::Response;
use crate::instance::{Instance, Setup};

/// A module with scripted events of inscriptions.
struct ScriptedModule {
    tokens: Brc20Module,
    blocks: Vec<Vec<InscriptionEvent>>,
}

impl Module for ScriptedModule {
    fn schema(&self) -> ModuleSchema {
        ModuleSchema { id: MODULE, name: "ordinals", version: TABLES_VERSION, tables: &TABLES, reads: &[] }
    }

    fn connect(&mut self, block: &ConnectedBlock, rows: &mut ModuleWriter<'_>) -> Result<(), ModuleError> {
        let events = self.blocks.get(block.id.height as usize).map_or(&[][..], Vec::as_slice);
        self.tokens.connect(events, rows)
    }
}

pub(super) fn module(blocks: Vec<Vec<InscriptionEvent>>) -> Box<dyn Module> {
    Box::new(ScriptedModule { tokens: Brc20Module::new(Network::Regtest), blocks })
}

pub(super) fn address(who: u8) -> String {
    taproot(Network::Regtest, who)
}

pub(super) fn script(who: u8) -> ScriptBuf {
    script_of(Network::Regtest, &address(who))
}

pub(super) fn hex(who: u8) -> String {
    script(who).to_hex_string()
}

pub(super) fn id(number: u8) -> InscriptionId {
    InscriptionId { txid: Txid::from_byte_array([number; 32]), index: 0 }
}

/// The transaction that moves an inscription.
pub(super) fn mover(number: u8) -> Txid {
    Txid::from_byte_array([number + 100; 32])
}

pub(super) fn reveal(number: u8, owner: ScriptBuf, body: &str) -> InscriptionEvent {
    let txid = id(number).txid;
    InscriptionEvent {
        txid,
        transaction_index: 1,
        id: id(number),
        destination: Destination::Output {
            outpoint: OutPoint { txid, vout: 0 },
            offset: 0,
            script_pubkey: owner.into_boxed_script().into(),
        },
        kind: EventKind::Revealed {
            number: 0,
            is_vindicated: false,
            is_first_on_sat: true,
            parents: Vec::new(),
            envelope: Some(Box::new(EnvelopeFields {
                body: Some(Bytes::copy_from_slice(body.as_bytes())),
                content_type: Some(Bytes::from_static(b"text/plain")),
                ..EnvelopeFields::default()
            })),
        },
    }
}

pub(super) fn moved(number: u8, target: Option<ScriptBuf>) -> InscriptionEvent {
    let outpoint = OutPoint { txid: mover(number), vout: 0 };
    let destination = target.map_or(Destination::Fee, |script| Destination::Output {
        outpoint,
        offset: 0,
        script_pubkey: script.into_boxed_script().into(),
    });
    InscriptionEvent {
        txid: mover(number),
        transaction_index: 2,
        id: id(number),
        destination,
        kind: EventKind::Moved { moves: 0 },
    }
}

pub(super) fn operation(op: &str, rest: &str) -> String {
    format!(r#"{{"p":"brc-20","op":"{op}",{rest}}}"#)
}

/// The four blocks of the small chain: a deploy and two mints in block 1, transfers in block 2, their moves in block 3.
pub(super) fn blocks() -> Vec<Vec<InscriptionEvent>> {
    let mint = operation("mint", r#""tick":"ordi","amt":"100""#);
    let transfer = |amount: &str| operation("transfer", &format!(r#""tick":"OrDi","amt":"{amount}""#));
    vec![
        vec![],
        vec![
            reveal(1, script(3), &operation("deploy", r#""tick":"ORDI","max":"1000","lim":"100","dec":"2""#)),
            reveal(2, script(0), &mint),
            reveal(3, script(1), &mint),
            reveal(4, script(1), "no json"),
        ],
        vec![
            reveal(5, script(0), &transfer("30")),
            reveal(6, script(0), &transfer("20.5")),
            reveal(7, script(1), &transfer("1")),
        ],
        vec![moved(5, Some(script(1))), moved(7, None)],
    ]
}

/// An instance with these blocks.
pub(crate) async fn with_tokens() -> Instance {
    Instance::with(Setup { last_module: Some(module(blocks())), ..Setup::default() }).await
}

/// Ten owners whose scripts have 30 kB each, in block 2.
pub(crate) async fn with_long_scripts(setup: Setup) -> Instance {
    let long = |who: u8| ScriptBuf::from(vec![who; 30_000]);
    let deploy = operation("deploy", r#""tick":"long","max":"1000","lim":"100""#);
    let mint = operation("mint", r#""tick":"long","amt":"100""#);
    let transfer = operation("transfer", r#""tick":"long","amt":"1""#);
    let mints = (0..10).map(|who| reveal(10 + who, long(who), &mint));
    let notes = (0..10).map(|who| reveal(30 + who, long(who), &transfer));
    let blocks = vec![vec![], vec![reveal(1, script(3), &deploy)], mints.chain(notes).collect(), vec![]];
    Instance::with(Setup { last_module: Some(module(blocks)), ..setup }).await
}

/// The first of its mints.
pub(crate) fn long_scripts_inscription() -> InscriptionId {
    id(10)
}

/// The answer to a GET below `/v4/opi/v1/brc20/`.
pub(super) async fn get(instance: &Instance, path: &str) -> Response {
    instance.get(&format!("/v4/opi/v1/brc20/{path}")).await
}

/// The result of a request that succeeds.
pub(super) async fn result(instance: &Instance, path: &str) -> serde_json::Value {
    let response = get(instance, path).await;
    let body = response.json();
    assert_eq!((response.status, &body["error"]), (200, &serde_json::Value::Null), "{path}: {}", response.text());
    assert_eq!(body.as_object().unwrap().len(), 2, "{path}: {body}");
    body["result"].clone()
}

/// Status and message of a failed request.
pub(super) async fn refused(instance: &Instance, path: &str) -> (u16, String) {
    let response = get(instance, path).await;
    let body = response.json();
    assert_eq!(body.get("result"), Some(&serde_json::Value::Null), "{path}: {body}");
    assert_eq!(body["statusCode"], response.status, "{path}");
    (response.status, body["error"].as_str().unwrap().to_owned())
}

/// Every path with parameters that find something, and some that find nothing.
pub(crate) fn paths() -> Vec<String> {
    let (wallet, script) = (format!("address={}", address(0)), format!("pkscript={}", hex(0)));
    let mut paths: Vec<String> = ["block_height", "extras_block_height", "db_version", "event_hash_version", "ip"]
        .into_iter()
        .chain(["get_hash_of_all_current_balances", "token_summary?ticker=ORDI", "token_summary?ticker=none"])
        .chain(["holders?ticker=ordi", "holders?ticker=ordi&limit=1&offset=1", "holders?ticker=ordi&offset=9"])
        .chain(["get_valid_tx_notes_of_ticker?ticker=ordi", "history?height=1", "history?height=1&limit=1"])
        .chain(["history?height=1&cursor=1:0", "history?height=9"])
        .map(str::to_owned)
        .collect();
    for height in [0, 1, 2, 3, 4, 5] {
        for path in ["activity_on_block", "bitcoin_rpc_results_on_block", "get_hash_of_all_activity"] {
            paths.push(format!("{path}?block_height={height}"));
        }
        paths.push(format!("balance_on_block?block_height={height}&{script}&ticker=ordi"));
    }
    for who in [&wallet, &script] {
        for path in ["balance?ticker=Ordi&", "balance?ticker=none&", "get_current_balance_of_wallet?ticker=ordi&"] {
            paths.push(format!("{path}{who}"));
        }
        for path in ["get_valid_tx_notes_of_wallet?", "history?", "history?ticker=oRDI&", "history?limit=2&height=2&"] {
            paths.push(format!("{path}{who}"));
        }
    }
    paths.extend((1..8).map(|number| format!("event?inscription_id={}", id(number))));
    paths
}

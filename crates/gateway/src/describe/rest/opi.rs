//! Routes of the BRC-20 index. They stand beside `/v4/api`, not below it.

use serde_json::{Value, json};

use super::super::schema::{
    about, boolean, component, list, natural, one_of, or_null, pattern, record, record_and, text,
};
use super::{Field, Route, needed, optional};
use crate::rest::Verb;
use crate::surfaces::opi;

const TAG: &str = "BRC-20";
/// Names of the schemas of events and of what is asked for.
const EVENT: &str = "Brc20Event";
const TICKER: &str = "Brc20Ticker";
const INSCRIPTION: &str = "InscriptionId";
const SCRIPT: &str = "Script";
const HEIGHT: &str = "Brc20Height";
/// Names of all schemas of these routes.
pub(super) const SCHEMAS: [&str; 5] = [EVENT, TICKER, INSCRIPTION, SCRIPT, HEIGHT];

fn ticker() -> Field {
    needed(&["ticker"], component(TICKER))
}

fn block_height() -> Field {
    needed(&["block_height"], component(HEIGHT))
}

fn pkscript() -> Value {
    about(pattern("^([0-9a-fA-F]{2})*$"), "A script in hexadecimal digits")
}

/// `address` or `pkscript`.
fn wallet() -> [Field; 2] {
    let address = about(component("Address"), "This or `pkscript`; where both stand they must agree");
    [optional(&["address"], address), optional(&["pkscript"], component(SCRIPT))]
}

/// A part of a list that is whole otherwise.
fn part() -> [Field; 2] {
    let limit = about(component("Count"), "All when absent; a list of more than 200,000 needs one");
    [optional(&["limit"], limit), optional(&["offset"], about(component("Offset"), "Records before the part"))]
}

fn get(path: &'static str, summary: &'static str) -> Route {
    let route = Route::new(path, Verb::Get, TAG, summary);
    if opi::is_tagged(path) { route } else { route.without_tag() }
}

/// OPI's envelope.
fn enveloped(result: Value) -> Value {
    record(&[("error", json!({ "type": "null" })), ("result", result)])
}

fn amount() -> Value {
    about(component("Digits"), "In units of the 18th decimal place, whatever the token's own decimals are")
}

/// What a script has, with further members.
fn balance(further: &[(&str, Value)]) -> Value {
    let balance = [
        ("overall_balance", amount()),
        ("available_balance", about(amount(), "What no transfer inscription has set aside")),
    ];
    record(&balance.into_iter().chain(further.iter().cloned()).collect::<Vec<_>>())
}

/// A list under the name that OPI gives it, whatever is in it.
fn listed(of: Value) -> Value {
    enveloped(record(&[("unused_txes", list(of)), ("block_height", natural())]))
}

pub(super) fn routes() -> Vec<Route> {
    let digits = || about(pattern("^[0-9]+$"), "Digits, as plain text");
    let current = |path, summary| {
        get(path, summary)
            .takes([ticker()])
            .takes(wallet())
            .gives_bare(enveloped(balance(&[("block_height", natural())])))
    };
    let hash = || component("Hash");
    vec![
        get("opi/v1/brc20/block_height", "Height of the newest block of the BRC-20 index").gives_text(digits()),
        get("opi/v1/brc20/extras_block_height", "The same: nothing is indexed apart").gives_text(digits()),
        get("opi/v1/brc20/db_version", "Version of the index's rows").gives_text(digits()),
        get("opi/v1/brc20/event_hash_version", "Version of the form of event strings").gives_text(digits()),
        get("opi/v1/brc20/ip", "The address under which this request is counted").gives_text(text()),
        current("opi/v1/brc20/balance", "What a script has of a token"),
        current("opi/v1/brc20/get_current_balance_of_wallet", "The same, under OPI's name"),
        get("opi/v1/brc20/balance_on_block", "What a script had of a token when a block began")
            .takes([block_height(), needed(&["pkscript"], component(SCRIPT)), ticker()])
            .gives_bare(enveloped(balance(&[]))),
        get("opi/v1/brc20/get_hash_of_all_current_balances", "A hash over all balances; may take minutes").gives_bare(
            enveloped(record(&[
                ("current_balances_hash", hash()),
                ("indexer_version", text()),
                ("block_height", natural()),
            ])),
        ),
        get("opi/v1/brc20/history", "Events in which a script had a part, the newest first, or those of a block")
            .takes(wallet())
            .takes([
                optional(
                    &["height"],
                    about(component(HEIGHT), "One block alone; needed without `address` and `pkscript`"),
                ),
                optional(&["ticker"], about(component(TICKER), "One token alone")),
                optional(&["limit"], about(component("Count"), "50 when absent; more than 500 is taken as 500")),
                optional(&["cursor"], about(pattern("^[0-9]+:[0-9]+$"), "`cursor` of the page before")),
            ])
            .gives_bare(enveloped(record(&[
                ("events", list(component(EVENT))),
                ("cursor", or_null(text())),
                ("block_height", natural()),
            ]))),
        get("opi/v1/brc20/activity_on_block", "The events of a block in their order")
            .takes([block_height()])
            .gives_bare(enveloped(list(component(EVENT)))),
        get("opi/v1/brc20/event", "The events of an inscription")
            .takes([needed(&["inscription_id"], component(INSCRIPTION))])
            .gives_bare(enveloped(list(component(EVENT)))),
        get("opi/v1/brc20/bitcoin_rpc_results_on_block", "Always empty: the programmable module does not run here")
            .takes([block_height()])
            .gives_bare(enveloped(list(json!({ "type": "object" })))),
        get("opi/v1/brc20/get_hash_of_all_activity", "The hash of a block's events, and that of all blocks so far")
            .takes([block_height()])
            .gives_bare(enveloped(record(&[
                ("cumulative_event_hash", hash()),
                ("block_event_hash", hash()),
                ("cumulative_trace_hash", about(json!({ "const": "" }), "Of the programmable module")),
                ("block_trace_hash", about(json!({ "const": "" }), "Of the programmable module")),
                ("indexer_version", text()),
                ("block_height", natural()),
            ]))),
        get("opi/v1/brc20/token_summary", "A token").takes([ticker()]).gives_bare(enveloped(record(&[
            ("tick", about(text(), "In lower case")),
            ("original_tick", about(text(), "As deployed")),
            ("max_supply", amount()),
            ("minted_supply", amount()),
            ("remaining_supply", amount()),
            ("burned_supply", amount()),
            ("limit_per_mint", amount()),
            ("decimals", json!({ "type": "integer", "minimum": 0, "maximum": 18 })),
            ("is_self_mint", boolean()),
            ("deploy_inscription_id", text()),
            ("deploy_block_height", natural()),
            ("deployer_pkScript", pkscript()),
            ("deployer_wallet", about(text(), "Empty for a script without address")),
            ("holders", natural()),
            ("mints", natural()),
            ("transfers", natural()),
            ("block_height", natural()),
        ]))),
        get("opi/v1/brc20/holders", "Who owns a token, the richest first")
            .takes([ticker()])
            .takes(part())
            .gives_bare(listed(balance(&[("pkscript", pkscript()), ("wallet", text())]))),
        get("opi/v1/brc20/get_valid_tx_notes_of_wallet", "Transfer inscriptions of a script that have not moved")
            .takes(wallet())
            .takes(part())
            .gives_bare(listed(record(&note(&[])))),
        get("opi/v1/brc20/get_valid_tx_notes_of_ticker", "Transfer inscriptions of a token that have not moved")
            .takes([ticker()])
            .takes(part())
            .gives_bare(listed(record(&note(&[
                ("current_holder_pkscript", pkscript()),
                ("current_holder_wallet", text()),
            ])))),
    ]
}

fn note(further: &[(&'static str, Value)]) -> Vec<(&'static str, Value)> {
    let note = [("tick", text()), ("inscription_id", text()), ("amount", amount()), ("genesis_height", natural())];
    note.into_iter().chain(further.iter().cloned()).collect()
}

pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    let kinds =
        one_of(&["predeploy-inscribe", "deploy-inscribe", "mint-inscribe", "transfer-inscribe", "transfer-transfer"]);
    let always = [
        ("event_type", kinds),
        ("inscription_id", text()),
        ("height", natural()),
        ("place", about(natural(), "Which event of its block")),
        ("txid", about(component("Hash"), "All zeros for a refund that no transaction made")),
    ];
    let address = || about(text(), "Empty for a script without address");
    let at_times = [
        ("predeployer_pkScript", pkscript()),
        ("predeployer_wallet", address()),
        ("hash", about(text(), "As the inscription has it")),
        ("block_height", about(component("Digits"), "Of a predeploy, as text")),
        ("deployer_pkScript", pkscript()),
        ("deployer_wallet", address()),
        ("minted_pkScript", pkscript()),
        ("minted_wallet", address()),
        ("source_pkScript", pkscript()),
        ("source_wallet", address()),
        ("spent_pkScript", or_null(about(pkscript(), "null when the inscription was paid as a fee"))),
        ("spent_wallet", or_null(address())),
        ("tick", about(text(), "In lower case")),
        ("original_tick", about(text(), "As the inscription has it")),
        ("max_supply", amount()),
        ("decimals", about(component("Digits"), "As text")),
        ("limit_per_mint", amount()),
        ("is_self_mint", one_of(&["true", "false"])),
        ("amount", amount()),
        ("parent_id", about(text(), "The first parent of a mint; empty without one")),
        ("using_tx_id", about(component("Hash"), "The transaction that moved the inscription")),
    ];
    vec![
        (EVENT, record_and(&always, &at_times)),
        (TICKER, about(text(), "A ticker, in any case")),
        (INSCRIPTION, about(pattern("^[0-9a-fA-F]{64}i(0|[1-9][0-9]{0,9})$"), "txid, i, index")),
        (SCRIPT, pkscript()),
        (HEIGHT, about(natural(), "Height of a block")),
    ]
}

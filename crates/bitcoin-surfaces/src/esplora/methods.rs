//! The methods. A method's name is a path of Esplora's HTTP interface with `:` instead of `/`; an empty segment stands for a
//! parameter.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::records::{EsploraSpend, EsploraTransaction, TransactionStatus};
use super::{Fault, Outcome, get, mempool, render};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::jsonrpc::Params;
use paraffin_gateway::methods::{
    Declared, Form, Hash, HexText, Method, NaturalText, Object, Param, RawParam, Surface, Text, Verbatim, Written,
    all_texts, needs, takes,
};
use paraffin_gateway::state::{BoxFuture, RequestContext};
use paraffin_gateway::surface::RpcResult;

/// An unspent output.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema; its members have another order than the record's")]
struct EsploraOutput {
    txid: Hash,
    vout: u32,
    /// Satoshis.
    value: u64,
    status: TransactionStatus,
}

/// Target to feerate.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema")]
struct EsploraFees(BTreeMap<String, f64>);

/// The methods `esplora_*`.
pub static ESPLORA: Surface<()> = Surface::new("esplora", &METHODS);

const TXID: Param = needs::<Hash>("txid").that_is("The id of a transaction.");
const VOUT: Param = needs::<NaturalText>("vout").that_is("Index of the output in its transaction.");
const ADDRESS: Param = needs::<String>("address").that_is("An address of this instance's network.");
const SCRIPT_HASH: Param = needs::<Hash>("scripthash").that_is("SHA-256 of the script.");
const LAST_SEEN: Param = takes::<Hash>("last_seen_txid").that_is("The last transaction of the page before.");
const PREFIX: Param = needs::<String>("prefix").that_is("The beginning of the addresses.");
const HASH: Param = needs::<Hash>("hash").that_is("The hash of a block.");
const INDEX: Param = needs::<NaturalText>("index").that_is("Index of the transaction in its block.");
const START_INDEX: Param =
    takes::<NaturalText>("start_index").that_is("Index of the first transaction, a multiple of 25; 0 when absent.");
const HEIGHT: Param = needs::<NaturalText>("height").that_is("Height of the block.");
const START_HEIGHT: Param =
    takes::<NaturalText>("start_height").that_is("The greatest height; that of the newest block when absent.");

const NONE: &str = "[]";
const OF_TX: &str = r#"["4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"]"#;
const OF_OUTPUT: &str = r#"["4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b",0]"#;
const OF_ADDRESS: &str = r#"["bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"]"#;
const OF_SCRIPT: &str = r#"["8b01df4e368ea28f8dc0423bcf7a4923e3a12d307c875e47a0cfbf90b5c39161"]"#;
const OF_BLOCK: &str = r#"["000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"]"#;
const OF_BLOCK_TRANSACTION: &str = r#"["000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f",0]"#;

#[rustfmt::skip] // what a method is, then its parameters and an example
static METHODS: [Declared<()>; 36] = [
    at::<EsploraTransaction>("tx", "A transaction", &[TXID], OF_TX),
    at::<TransactionStatus>("tx::status", "Whether a transaction is confirmed, and in which block", &[TXID], OF_TX),
    at::<HexText>("tx::hex", "A transaction in hexadecimal digits", &[TXID], OF_TX),
    at::<HexText>("tx::raw", "A transaction in hexadecimal digits", &[TXID], OF_TX),
    at::<Vec<EsploraSpend>>("tx::outspends", "What spent the outputs of a transaction", &[TXID], OF_TX),
    at::<EsploraSpend>("tx::outspend", "What spent an output", &[TXID, VOUT], OF_OUTPUT),
    at::<Object>("tx::merkle-proof", "Proof that a block holds the transaction, as Electrum has it", &[TXID], OF_TX),
    at::<HexText>("tx::merkleblock-proof", "Proof that a block holds the transaction, as the node has it",
        &[TXID], OF_TX),
    at::<Object>("address", "Totals of an address", &[ADDRESS], OF_ADDRESS),
    at::<Vec<EsploraOutput>>("address::utxo", "Unspent outputs of an address", &[ADDRESS], OF_ADDRESS),
    at::<Vec<EsploraTransaction>>("address::txs", "Unconfirmed and the newest 25 confirmed transactions of an address",
        &[ADDRESS], OF_ADDRESS),
    at::<Vec<EsploraTransaction>>("address::txs:mempool", "Unconfirmed transactions of an address",
        &[ADDRESS], OF_ADDRESS),
    at::<Vec<EsploraTransaction>>("address::txs:chain", "25 confirmed transactions of an address, after the last one seen",
        &[ADDRESS, LAST_SEEN], OF_ADDRESS),
    at::<Object>("scripthash", "Totals of a script, by its SHA-256", &[SCRIPT_HASH], OF_SCRIPT),
    at::<Vec<EsploraOutput>>("scripthash::utxo", "Unspent outputs of a script", &[SCRIPT_HASH], OF_SCRIPT),
    at::<Vec<EsploraTransaction>>("scripthash::txs", "Unconfirmed and the newest 25 confirmed transactions of a script",
        &[SCRIPT_HASH], OF_SCRIPT),
    at::<Vec<EsploraTransaction>>("scripthash::txs:mempool", "Unconfirmed transactions of a script",
        &[SCRIPT_HASH], OF_SCRIPT),
    at::<Vec<EsploraTransaction>>("scripthash::txs:chain", "25 confirmed transactions of a script, after the last one seen",
        &[SCRIPT_HASH, LAST_SEEN], OF_SCRIPT),
    at::<Vec<String>>("address-prefix", "Up to ten addresses with this beginning", &[PREFIX], r#"["bc1qar0"]"#),
    at::<Object>("block", "A block", &[HASH], OF_BLOCK),
    at::<HexText>("block::header", "The header of a block", &[HASH], OF_BLOCK),
    at::<Object>("block::status", "Whether a block is in the best chain", &[HASH], OF_BLOCK),
    at::<HexText>("block::raw", "A whole block", &[HASH], OF_BLOCK),
    at::<Hash>("block::txid", "One txid of a block", &[HASH, INDEX], OF_BLOCK_TRANSACTION),
    at::<Vec<Hash>>("block::txids", "All txids of a block", &[HASH], OF_BLOCK),
    at::<Vec<EsploraTransaction>>("block::txs", "25 transactions of a block", &[HASH, START_INDEX], OF_BLOCK),
    at::<Hash>("block-height", "Hash of the block at a height", &[HEIGHT], "[140]"),
    at::<Vec<Object>>("blocks", "Ten blocks downwards", &[START_HEIGHT], "[140]"),
    at::<u32>("blocks:tip:height", "Height of the newest indexed block", &[], NONE),
    at::<Hash>("blocks:tip:hash", "Hash of the newest indexed block", &[], NONE),
    at::<Object>("mempool", "Totals of the mempool and a histogram of its feerates", &[], NONE),
    at::<Vec<Hash>>("mempool:txids", "All unconfirmed transactions", &[], NONE),
    at::<Vec<Object>>("mempool:recent", "The ten newest unconfirmed transactions", &[], NONE),
    at::<EsploraFees>("fee-estimates", "Feerate in sat/vB for each target in blocks", &[], NONE),
    Declared::of::<Broadcast>(),
    Declared::of::<Package>(),
];

/// A method that answers like its path, with the shape of the answer. Surplus parameters extend the path: `tx` with a txid and
/// `hex` is `tx::hex`.
const fn at<A: JsonSchema>(
    name: &'static str,
    summary: &'static str,
    params: &'static [Param],
    example: &'static str,
) -> Declared<()> {
    Declared::listed::<A>(name, summary, params, example, |context, (), method, params| {
        let (texts, is_too_many) = (method.all_texts(params), method.check_number(params));
        Box::pin(async move {
            match answer_at(context, &path_of(method.name(), &texts?)).await {
                Err(Fault::Unknown) => Err(is_too_many.err().unwrap_or_else(ApiError::method_not_found)),
                answer => render(answer?),
            }
        })
    })
}

async fn answer_at(context: &RequestContext, path: &[String]) -> Outcome {
    get(context, &path.iter().map(String::as_str).collect::<Vec<_>>()).await
}

/// Answers a name that is not a method but a path with its parameters: `tx:<txid>:hex`.
pub fn by_path<'a>(context: &'a RequestContext, name: &str, params: &Params) -> BoxFuture<'a, RpcResult> {
    let path = all_texts(params, |_| None).map(|texts| path_of(name, &texts));
    Box::pin(async move { render(answer_at(context, &path?).await?) })
}

/// The segments of the path: the name is split at `:`, every empty segment takes the next parameter (or is dropped when there is
/// none), and surplus parameters follow. A parameter is always exactly one segment.
fn path_of(name: &str, params: &[String]) -> Vec<String> {
    let mut params = params.iter();
    let mut path = Vec::new();
    for piece in name.split(':') {
        if piece.is_empty() {
            path.extend(params.next().cloned());
        } else {
            path.push(piece.to_owned());
        }
    }
    path.extend(params.cloned());
    path
}

/// Broadcasts a transaction; returns its txid.
#[derive(Deserialize, JsonSchema)]
struct Broadcast {
    /// The transaction, consensus encoding.
    #[schemars(with = "HexText")]
    transaction: Text,
}

impl Method for Broadcast {
    const NAME: &'static str = "broadcast";
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str = r#"["0200000000010000"]"#;
    type Surface = ();
    type Answer = Written<Hash>;

    async fn call(self, context: &RequestContext, (): &()) -> Result<Self::Answer, ApiError> {
        render(mempool::broadcast(context, &self.transaction.0).await?).map(Written::raw)
    }
}

/// Broadcasts several transactions as a package.
///
/// Parameters and answer are those of the node's `submitpackage`.
#[derive(Deserialize, JsonSchema)]
struct Package {
    /// The transactions, consensus encoding, parents first.
    #[schemars(with = "Vec<HexText>")]
    transactions: RawParam,
    /// The highest feerate, BTC per 1,000 virtual bytes; 0.10 when absent.
    #[schemars(with = "Option<Verbatim>")]
    maxfeerate: Option<Text>,
    /// Largest value of provably unspendable outputs, BTC.
    #[schemars(with = "Option<Verbatim>")]
    maxburnamount: Option<Text>,
}

impl Method for Package {
    const NAME: &'static str = "txs:package";
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str = r#"[["0200000000010000"],0.1]"#;
    type Surface = ();
    type Answer = Written<Object>;

    async fn call(self, context: &RequestContext, (): &()) -> Result<Self::Answer, ApiError> {
        let transactions: Vec<String> = serde_json::from_str(self.transactions.0.get())
            .map_err(|_| ApiError::invalid("transactions must be an array of strings"))?;
        let (fee_rate_max, burn_max) = (self.maxfeerate.map(|text| text.0), self.maxburnamount.map(|text| text.0));
        let package = mempool::package(context, &transactions, fee_rate_max.as_deref(), burn_max.as_deref());
        render(package.await?).map(Written::raw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, params: &[&str], expected: &str) {
        let params: Vec<String> = params.iter().map(|&param| param.to_owned()).collect();
        assert_eq!(path_of(name, &params).join("/"), expected, "{name}");
    }

    /// row MR05
    #[test]
    fn names_become_paths() {
        check("address", &["A"], "address/A");
        check("address::utxo", &["A"], "address/A/utxo");
        check("address::txs:chain", &["A", "L"], "address/A/txs/chain/L");
        check("address::txs:mempool", &["A"], "address/A/txs/mempool");
        check("tx", &["T"], "tx/T");
        check("tx::outspend", &["T", "0"], "tx/T/outspend/0");
        check("block::txid", &["H", "1"], "block/H/txid/1");
        check("block::txs", &["H", "25"], "block/H/txs/25");
        check("block-height", &["5"], "block-height/5");
        check("blocks", &[], "blocks");
        check("blocks", &["5"], "blocks/5");
        check("blocks:tip:height", &[], "blocks/tip/height");
        check("blocks::tip:height", &[], "blocks/tip/height");
        check("mempool::recent", &[], "mempool/recent");
        check("fee-estimates", &[], "fee-estimates");
        check("tx", &["T", "hex"], "tx/T/hex");
        check("tx:T:hex", &[], "tx/T/hex");
    }
}

//! `btc_*`: the node's own read methods, restricted to an allow list ([`NODE`]).

use std::future::ready;
use std::sync::Arc;

use paraffin_chain::NodeError;
use paraffin_primitives::{BlockId, Height};
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use tracing::Instrument as _;

use super::esplora::accepted;
use super::node_cost;
use paraffin_gateway::byte_budget::HeldFor;
use paraffin_gateway::errors::{ApiError, ErrorKind};
use paraffin_gateway::methods::{
    Declared, Form, Hash, HexText, Method, Natural, NaturalText, Object, Param, Surface, Text, Verbatim, needs, takes,
};
use paraffin_gateway::state::{Caller, Node, RequestContext};
use paraffin_gateway::surface::{RpcResult, integer_to_raw, to_raw};

/// Three come from the index, so that they agree with all other answers.
/// The methods `btc_*`, which are those of the node.
pub static BTC: Surface<()> = Surface::new(
    "btc",
    &[
        Declared::listed::<Hash>(
            "getbestblockhash",
            "Hash of the newest indexed block",
            &[],
            "[]",
            |context, (), method, params| {
                Box::pin(ready(method.texts(params).and_then(|_| to_raw(&tip(context)?.hash))))
            },
        ),
        Declared::listed::<Height>(
            "getblockcount",
            "Height of the newest indexed block",
            &[],
            "[]",
            |context, (), method, params| {
                Box::pin(ready(method.texts(params).and_then(|_| integer_to_raw(tip(context)?.height))))
            },
        ),
        Declared::of::<BlockHashAt>(),
    ],
)
.having(&[&NODE]);

fn tip(context: &RequestContext) -> Result<BlockId, ApiError> {
    context.tip().ok_or_else(ApiError::starting)
}

/// Methods passed to the node: its read methods, and the three that submit transactions. Never wallet, control, peer or mining
/// methods, and none that takes private keys. Excluded are reads that keep a node busy for minutes (`gettxoutsetinfo`,
/// `scantxoutset`, `scanblocks`, `verifychain`), that wait, or that reveal the node's address. Parameters and results are the
/// node's own; the node checks them.
pub(crate) static NODE: Surface<()> = Surface::new("btc", &PASSED);

/// A method that is passed to the node, with the shape of its answer.
const fn node<A: JsonSchema>(
    name: &'static str,
    summary: &'static str,
    params: &'static [Param],
    example: &'static str,
) -> Declared<()> {
    Declared::listed::<A>(name, summary, params, example, |context, (), method, params| {
        let params = params.raw().to_vec();
        Box::pin(async move {
            let sent = params.first().filter(|_| method.name() == "sendrawtransaction").cloned();
            let answer = pass(context, method.name(), params).await?;
            // The live set learns of an accepted transaction at once.
            if let Some(Ok(hex)) = sent.map(|raw| serde_json::from_str::<String>(raw.get())) {
                accepted(context, &hex).await;
            }
            Ok(answer)
        })
    })
}

const TXID: Param = needs::<Hash>("txid");
const BLOCKHASH: Param = needs::<Hash>("blockhash");
const IN_BLOCK: Param = takes::<Hash>("blockhash");
const PSBT: Param = needs::<String>("psbt");
const HEX: Param = needs::<HexText>("hexstring");
const VERBOSE: Param = takes::<bool>("verbose");
const VERBOSITY: Param = takes::<Verbatim>("verbosity");
const ISWITNESS: Param = takes::<bool>("iswitness");
const MAXFEERATE: Param = takes::<Verbatim>("maxfeerate");
const MAXBURN: Param = takes::<Verbatim>("maxburnamount");
const TARGET: Param = needs::<Natural>("conf_target");
const DESCRIPTOR: Param = needs::<String>("descriptor");
const ADDRESS: Param = needs::<String>("address");
const CREATE: &[Param] = &[
    needs::<Vec<Object>>("inputs"),
    needs::<Verbatim>("outputs"),
    takes::<Natural>("locktime"),
    takes::<bool>("replaceable"),
    takes::<Natural>("version"),
];

const OF_TX: &str = r#"["4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"]"#;
const OF_BLOCK: &str = r#"["00000000000000000007566f8f035a1dc38b351e6f54778b311fe6dbabd79b46"]"#;
const OF_PSBT: &str = r#"["cHNidP8BAAoCAAAAAAAAAAAAAA=="]"#;
const OF_HEX: &str = r#"["0200000000010000"]"#;
const OF_HEXES: &str = r#"[["0200000000010000"]]"#;
const OF_PSBTS: &str = r#"[["cHNidP8BAAoCAAAAAAAAAAAAAA==","cHNidP8BAAoCAAAAAAAAAAAAAA=="]]"#;
const OF_NEW: &str =
    r#"[[{"txid":"4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b","vout":0}],[{"data":"00"}]]"#;

#[rustfmt::skip] // description of a method, then its parameters and an example
static PASSED: [Declared<()>; 46] = [
    node::<Object>("analyzepsbt", "What a PSBT still lacks", &[PSBT], OF_PSBT),
    node::<String>("combinepsbt", "PSBTs of one transaction as one", &[needs::<Vec<String>>("txs")], OF_PSBTS),
    node::<HexText>("combinerawtransaction", "Partly signed transactions as one",
        &[needs::<Vec<HexText>>("txs")], OF_HEXES),
    node::<String>("converttopsbt", "A raw transaction as a PSBT",
        &[HEX, takes::<bool>("permitsigdata"), ISWITNESS], OF_HEX),
    node::<Object>("createmultisig", "A multi-signature address of public keys",
        &[needs::<Natural>("nrequired"), needs::<Vec<HexText>>("keys"), takes::<String>("address_type")], r#"[1,["03789ed0bb717d88f7d321a368d905e7430207ebbd82bd342cf11ae157a7ace5fd"]]"#),
    node::<String>("createpsbt", "A PSBT of inputs and outputs", CREATE, OF_NEW),
    node::<HexText>("createrawtransaction", "An unsigned transaction of inputs and outputs", CREATE, OF_NEW),
    node::<Object>("decodepsbt", "A PSBT as an object", &[PSBT], OF_PSBT),
    node::<Object>("decoderawtransaction", "A raw transaction as an object", &[HEX, ISWITNESS], OF_HEX),
    node::<Object>("decodescript", "A script as an object", &[HEX], r#"["51"]"#),
    node::<Vec<Verbatim>>("deriveaddresses", "Addresses of a descriptor",
        &[DESCRIPTOR, takes::<Verbatim>("range")], r#"["raw(51)#8lvh9jxk"]"#),
    node::<Object>("estimaterawfee", "Feerate for a target, with what it was estimated from",
        &[TARGET, takes::<f64>("threshold")], "[6]"),
    node::<Object>("estimatesmartfee", "Feerate for a target", &[TARGET, takes::<String>("estimate_mode")], "[6]"),
    node::<Object>("finalizepsbt", "A signed PSBT as a transaction", &[PSBT, takes::<bool>("extract")], OF_PSBT),
    node::<Verbatim>("getblock", "A block in hexadecimal digits, or as an object",
        &[BLOCKHASH, VERBOSITY], r#"["00000000000000000007566f8f035a1dc38b351e6f54778b311fe6dbabd79b46",1]"#),
    node::<Object>("getblockchaininfo", "State of the node's chain", &[], "[]"),
    node::<Object>("getblockfilter", "The compact filter of a block",
        &[BLOCKHASH, takes::<String>("filtertype")], OF_BLOCK),
    node::<Verbatim>("getblockheader", "A header in hexadecimal digits, or as an object",
        &[BLOCKHASH, VERBOSE], OF_BLOCK),
    node::<Object>("getblockstats", "Figures of a block",
        &[needs::<Verbatim>("hash_or_height"), takes::<Vec<String>>("stats")], r#"[800000,["avgfeerate"]]"#),
    node::<Object>("getchainstates", "The node's chain states", &[], "[]"),
    node::<Vec<Object>>("getchaintips", "All branches that the node knows", &[], "[]"),
    node::<Object>("getchaintxstats", "Transactions in a span of blocks",
        &[takes::<Natural>("nblocks"), IN_BLOCK], "[144]"),
    node::<Object>("getdeploymentinfo", "State of soft forks", &[IN_BLOCK], "[]"),
    node::<Object>("getdescriptorinfo", "A descriptor in canonical form, with its checksum",
        &[DESCRIPTOR], r#"["raw(51)"]"#),
    node::<f64>("getdifficulty", "Difficulty as a multiple of the least", &[], "[]"),
    node::<Object>("getindexinfo", "The node's own indexes", &[takes::<String>("index_name")], "[]"),
    node::<Verbatim>("getmempoolancestors", "Unconfirmed ancestors of a transaction", &[TXID, VERBOSE], OF_TX),
    node::<Object>("getmempoolcluster", "Unconfirmed transactions that belong together", &[TXID], OF_TX),
    node::<Verbatim>("getmempooldescendants", "Unconfirmed descendants of a transaction", &[TXID, VERBOSE], OF_TX),
    node::<Object>("getmempoolentry", "An unconfirmed transaction", &[TXID], OF_TX),
    node::<Object>("getmempoolinfo", "State of the node's mempool", &[], "[]"),
    node::<Vec<Verbatim>>("getorphantxs", "Transactions whose parents the node lacks",
        &[takes::<Natural>("verbosity")], "[]"),
    node::<Verbatim>("getrawmempool", "Unconfirmed transactions",
        &[VERBOSE, takes::<bool>("mempool_sequence")], "[false]"),
    node::<Verbatim>("getrawtransaction", "A transaction in hexadecimal digits, or as an object",
        &[TXID, VERBOSITY, IN_BLOCK], r#"["4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b",true]"#),
    node::<Option<Object>>("gettxout", "An unspent output",
        &[TXID, needs::<Natural>("n"), takes::<bool>("include_mempool")], r#"["4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b",0]"#),
    node::<HexText>("gettxoutproof", "Proof that a block holds transactions",
        &[needs::<Vec<Hash>>("txids"), IN_BLOCK], r#"[["4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"]]"#),
    node::<Vec<Object>>("gettxspendingprevout", "Which unconfirmed transactions spend outputs",
        &[needs::<Vec<Object>>("outputs")], r#"[[{"txid":"4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b","vout":0}]]"#),
    node::<String>("joinpsbts", "PSBTs of several transactions as one", &[needs::<Vec<String>>("txs")], OF_PSBTS),
    node::<Hash>("sendrawtransaction", "Hands a transaction to the network; its txid",
        &[HEX, MAXFEERATE, MAXBURN], OF_HEX).of_large_body(),
    node::<Object>("submitpackage", "Hands several transactions to the network together",
        &[needs::<Vec<HexText>>("package"), MAXFEERATE, MAXBURN], OF_HEXES),
    node::<Vec<Object>>("testmempoolaccept", "Whether the node would take transactions",
        &[needs::<Vec<HexText>>("rawtxs"), MAXFEERATE], OF_HEXES),
    node::<String>("utxoupdatepsbt", "A PSBT with the outputs that it spends",
        &[PSBT, takes::<Vec<Verbatim>>("descriptors")], OF_PSBT),
    node::<Object>("validateaddress", "What an address is",
        &[ADDRESS], r#"["bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"]"#),
    node::<bool>("verifymessage", "Whether a message was signed by an address",
        &[ADDRESS, needs::<String>("signature"), needs::<String>("message")], r#"["1BoatSLRHtKNngkdXEeobR76b53LETtpyT","c2lnbmF0dXJl","text"]"#),
    node::<Vec<Hash>>("verifytxoutproof", "The transactions that a proof proves",
        &[needs::<HexText>("proof")], r#"["00"]"#),
    node::<Vec<Object>>("getmempoolfeeratediagram", "Fees and sizes of the mempool, best first", &[], "[]"),
];

/// Bitcoin Core's code and message for a height that does not exist.
const OUT_OF_RANGE: (i64, &str) = (-8, "Block height out of range");

/// Hash of the indexed block at a height.
#[derive(Deserialize, JsonSchema)]
struct BlockHashAt {
    /// An integer.
    #[schemars(with = "NaturalText")]
    height: Text,
}

impl Method for BlockHashAt {
    const NAME: &'static str = "getblockhash";
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str = "[140]";
    type Surface = ();
    type Answer = Hash;

    async fn call(self, context: &RequestContext, (): &()) -> Result<Hash, ApiError> {
        let Text(text) = self.height;
        let tip = tip(context)?;
        let digits = text.strip_prefix('-').unwrap_or(&text);
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(ApiError::invalid("height must be an integer"));
        }
        let out_of_range = || ApiError::new(ErrorKind::of_node(OUT_OF_RANGE.0), OUT_OF_RANGE.1);
        let height: Height = text.parse().ok().filter(|height| *height <= tip.height).ok_or_else(out_of_range)?;
        let record = context.snapshot().block(height).map_err(|error| ApiError::internal(&error))?;
        Ok(Hash::of(record.ok_or_else(out_of_range)?.id.hash))
    }
}

/// Passes a caller's call to the node and returns its answer, with limits on concurrent calls in all and per caller.
pub(crate) async fn pass(context: &RequestContext, method: &'static str, params: Vec<Box<RawValue>>) -> RpcResult {
    node_cost::check(method, &params, matches!(context.caller(), Caller::Key(_)))?;
    let permit = context.permit(&context.shared().node_calls).await.ok_or_else(ApiError::panicked)?;
    let mut span = paraffin_spans::child(method).of_client();
    span.set("rpc.system.name", "jsonrpc");
    span.set("rpc.method", method);
    let held = Arc::new(Mutex::new(context.held_bytes(HeldFor::Node)));
    let node = Arc::clone(context.node());
    let bytes_max = context.limits().response_bytes_max;
    // A separate task holds the permit until the node has answered, as the node continues when the caller disconnects.
    let call = async move {
        let _permit = permit;
        let keep = Arc::clone(&held);
        let answer = node.rpc_at_most(method, &params, bytes_max, Arc::new(move |bytes| keep.lock().reach_now(bytes)));
        (answer.await, held)
    };
    match tokio::spawn(call.in_current_span()).await {
        Ok((Err(NodeError::NoMemory), _)) => {
            context.budget().overload();
            Err(ApiError::panicked())
        }
        Ok((answer, _held)) => answer.map_err(|error| from_node(&error)),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(ApiError::panicked()),
        },
    }
}

/// Calls the node on behalf of all callers, for answers that are shared.
pub(crate) async fn ask(node: &dyn Node, method: &str, params: &[Box<RawValue>]) -> RpcResult {
    node.rpc(method, params).await.map_err(|error| from_node(&error))
}

/// Errors reported by the node keep code and message; all others are reported only as an unavailable node.
pub(crate) fn from_node(error: &NodeError) -> ApiError {
    match error {
        NodeError::Rpc { code, message } => ApiError::new(ErrorKind::of_node(*code), message.clone()),
        NodeError::TooLarge(_) => ApiError::response_too_large(),
        NodeError::NoMemory | NodeError::Unavailable(_) | NodeError::Unauthorized | NodeError::WrongNetwork(_) => {
            ApiError::upstream_unavailable()
        }
        NodeError::Invalid(reason) => {
            tracing::warn!(reason, "the node answered something unusable");
            ApiError::upstream_unavailable()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_changes_reveals_or_blocks_a_node_is_allowed() {
        for forbidden in [
            "stop",
            "addnode",
            "setban",
            "getpeerinfo",
            "getnetworkinfo",
            "getnodeaddresses",
            "generatetoaddress",
            "generateblock",
            "invalidateblock",
            "reconsiderblock",
            "submitblock",
            "submitheader",
            "getblocktemplate",
            "prioritisetransaction",
            "preciousblock",
            "importmempool",
            "savemempool",
            "loadtxoutset",
            "dumptxoutset",
            "pruneblockchain",
            "logging",
            "getrpcinfo",
            "help",
            "signrawtransactionwithkey",
            "signmessagewithprivkey",
            "descriptorprocesspsbt",
            "getbalance",
            "sendtoaddress",
            "createwallet",
            "walletpassphrase",
            "dumpprivkey",
            "waitfornewblock",
            "waitforblock",
            "waitforblockheight",
            "scantxoutset",
            "gettxoutsetinfo",
            "getzmqnotifications",
            "echo",
            "mockscheduler",
            "setmocktime",
            "syncwithvalidationinterfacequeue",
            "getblockfrompeer",
        ] {
            assert!(BTC.names().all(|method| method != forbidden), "{forbidden}");
        }
        assert!(BTC.names().all(|method| method.bytes().all(|byte| byte.is_ascii_lowercase())));
    }

    #[test]
    fn only_errors_reported_by_the_node_keep_their_message() {
        let reported = from_node(&NodeError::Rpc { code: -26, message: "bad-txns-inputs-missingorspent".into() });
        assert_eq!((reported.kind.rpc_code, reported.message.as_ref()), (-26, "bad-txns-inputs-missingorspent"));
        for error in [
            NodeError::Unavailable("http://10.0.0.7:8332".into()),
            NodeError::Unauthorized,
            NodeError::Invalid("10.0.0.7".into()),
        ] {
            let reported = serde_json::to_string(&from_node(&error)).unwrap();
            assert!(
                reported.contains("UPSTREAM_UNAVAILABLE")
                    && reported.contains("-32603")
                    && !reported.contains("10.0.0.7"),
                "{reported}"
            );
        }
    }
}

//! Paraffin JSON-RPC.
// Written from the declarations: docs/clients.md says how.

use crate::method::{Form, Method};
#[allow(unused_imports, reason = "not every document has all")]
use crate::value::{Amount, NumberOrText, one_of};

/// Hash of the newest indexed block
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct BtcGetbestblockhash {}

impl BtcGetbestblockhash {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for BtcGetbestblockhash {
    const NAME: &'static str = "btc_getbestblockhash";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = Hash;
}

/// Height of the newest indexed block
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct BtcGetblockcount {}

impl BtcGetblockcount {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for BtcGetblockcount {
    const NAME: &'static str = "btc_getblockcount";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = u32;
}

/// Hash of the indexed block at a height.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcGetblockhash {
    /// An integer.
    pub height: NumberOrText,
}

impl BtcGetblockhash {
    /// With what must be given.
    #[must_use]
    pub fn new(height: impl Into<NumberOrText>) -> Self {
        Self { height: height.into() }
    }
}

impl Method for BtcGetblockhash {
    const NAME: &'static str = "btc_getblockhash";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["height"];
    type Answer = Hash;
}

/// What a PSBT still lacks
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcAnalyzepsbt {
    /// `psbt`.
    pub psbt: String,
}

impl BtcAnalyzepsbt {
    /// With what must be given.
    #[must_use]
    pub fn new(psbt: impl Into<String>) -> Self {
        Self { psbt: psbt.into() }
    }
}

impl Method for BtcAnalyzepsbt {
    const NAME: &'static str = "btc_analyzepsbt";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["psbt"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// PSBTs of one transaction as one
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcCombinepsbt {
    /// `txs`.
    pub txs: Vec<String>,
}

impl BtcCombinepsbt {
    /// With what must be given.
    #[must_use]
    pub fn new(txs: Vec<String>) -> Self {
        Self { txs }
    }
}

impl Method for BtcCombinepsbt {
    const NAME: &'static str = "btc_combinepsbt";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txs"];
    type Answer = String;
}

/// Partly signed transactions as one
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcCombinerawtransaction {
    /// `txs`.
    pub txs: Vec<String>,
}

impl BtcCombinerawtransaction {
    /// With what must be given.
    #[must_use]
    pub fn new(txs: Vec<String>) -> Self {
        Self { txs }
    }
}

impl Method for BtcCombinerawtransaction {
    const NAME: &'static str = "btc_combinerawtransaction";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txs"];
    type Answer = String;
}

/// A raw transaction as a PSBT
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcConverttopsbt {
    /// `hexstring`.
    pub hexstring: String,
    /// `permitsigdata`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permitsigdata: Option<bool>,
    /// `iswitness`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iswitness: Option<bool>,
}

impl BtcConverttopsbt {
    /// With what must be given.
    #[must_use]
    pub fn new(hexstring: impl Into<String>) -> Self {
        Self { hexstring: hexstring.into(), permitsigdata: None, iswitness: None }
    }
}

impl Method for BtcConverttopsbt {
    const NAME: &'static str = "btc_converttopsbt";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["hexstring", "permitsigdata", "iswitness"];
    type Answer = String;
}

/// A multi-signature address of public keys
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcCreatemultisig {
    /// `nrequired`.
    pub nrequired: u64,
    /// `keys`.
    pub keys: Vec<String>,
    /// `address_type`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address_type: Option<String>,
}

impl BtcCreatemultisig {
    /// With what must be given.
    #[must_use]
    pub fn new(nrequired: u64, keys: Vec<String>) -> Self {
        Self { nrequired, keys, address_type: None }
    }
}

impl Method for BtcCreatemultisig {
    const NAME: &'static str = "btc_createmultisig";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["nrequired", "keys", "address_type"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// A PSBT of inputs and outputs
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcCreatepsbt {
    /// `inputs`.
    pub inputs: Vec<std::collections::BTreeMap<String, serde_json::Value>>,
    /// `outputs`.
    pub outputs: serde_json::Value,
    /// `locktime`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locktime: Option<u64>,
    /// `replaceable`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaceable: Option<bool>,
    /// `version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
}

impl BtcCreatepsbt {
    /// With what must be given.
    #[must_use]
    pub fn new(inputs: Vec<std::collections::BTreeMap<String, serde_json::Value>>, outputs: serde_json::Value) -> Self {
        Self { inputs, outputs, locktime: None, replaceable: None, version: None }
    }
}

impl Method for BtcCreatepsbt {
    const NAME: &'static str = "btc_createpsbt";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["inputs", "outputs", "locktime", "replaceable", "version"];
    type Answer = String;
}

/// An unsigned transaction of inputs and outputs
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcCreaterawtransaction {
    /// `inputs`.
    pub inputs: Vec<std::collections::BTreeMap<String, serde_json::Value>>,
    /// `outputs`.
    pub outputs: serde_json::Value,
    /// `locktime`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locktime: Option<u64>,
    /// `replaceable`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaceable: Option<bool>,
    /// `version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
}

impl BtcCreaterawtransaction {
    /// With what must be given.
    #[must_use]
    pub fn new(inputs: Vec<std::collections::BTreeMap<String, serde_json::Value>>, outputs: serde_json::Value) -> Self {
        Self { inputs, outputs, locktime: None, replaceable: None, version: None }
    }
}

impl Method for BtcCreaterawtransaction {
    const NAME: &'static str = "btc_createrawtransaction";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["inputs", "outputs", "locktime", "replaceable", "version"];
    type Answer = String;
}

/// A PSBT as an object
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcDecodepsbt {
    /// `psbt`.
    pub psbt: String,
}

impl BtcDecodepsbt {
    /// With what must be given.
    #[must_use]
    pub fn new(psbt: impl Into<String>) -> Self {
        Self { psbt: psbt.into() }
    }
}

impl Method for BtcDecodepsbt {
    const NAME: &'static str = "btc_decodepsbt";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["psbt"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// A raw transaction as an object
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcDecoderawtransaction {
    /// `hexstring`.
    pub hexstring: String,
    /// `iswitness`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iswitness: Option<bool>,
}

impl BtcDecoderawtransaction {
    /// With what must be given.
    #[must_use]
    pub fn new(hexstring: impl Into<String>) -> Self {
        Self { hexstring: hexstring.into(), iswitness: None }
    }
}

impl Method for BtcDecoderawtransaction {
    const NAME: &'static str = "btc_decoderawtransaction";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["hexstring", "iswitness"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// A script as an object
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcDecodescript {
    /// `hexstring`.
    pub hexstring: String,
}

impl BtcDecodescript {
    /// With what must be given.
    #[must_use]
    pub fn new(hexstring: impl Into<String>) -> Self {
        Self { hexstring: hexstring.into() }
    }
}

impl Method for BtcDecodescript {
    const NAME: &'static str = "btc_decodescript";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["hexstring"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// Addresses of a descriptor
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcDeriveaddresses {
    /// `descriptor`.
    pub descriptor: String,
    /// `range`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<serde_json::Value>,
}

impl BtcDeriveaddresses {
    /// With what must be given.
    #[must_use]
    pub fn new(descriptor: impl Into<String>) -> Self {
        Self { descriptor: descriptor.into(), range: None }
    }
}

impl Method for BtcDeriveaddresses {
    const NAME: &'static str = "btc_deriveaddresses";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["descriptor", "range"];
    type Answer = Vec<serde_json::Value>;
}

/// Feerate for a target, with what it was estimated from
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcEstimaterawfee {
    /// `conf_target`.
    pub conf_target: u64,
    /// `threshold`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<serde_json::Number>,
}

impl BtcEstimaterawfee {
    /// With what must be given.
    #[must_use]
    pub fn new(conf_target: u64) -> Self {
        Self { conf_target, threshold: None }
    }
}

impl Method for BtcEstimaterawfee {
    const NAME: &'static str = "btc_estimaterawfee";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["conf_target", "threshold"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// Feerate for a target
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcEstimatesmartfee {
    /// `conf_target`.
    pub conf_target: u64,
    /// `estimate_mode`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate_mode: Option<String>,
}

impl BtcEstimatesmartfee {
    /// With what must be given.
    #[must_use]
    pub fn new(conf_target: u64) -> Self {
        Self { conf_target, estimate_mode: None }
    }
}

impl Method for BtcEstimatesmartfee {
    const NAME: &'static str = "btc_estimatesmartfee";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["conf_target", "estimate_mode"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// A signed PSBT as a transaction
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcFinalizepsbt {
    /// `psbt`.
    pub psbt: String,
    /// `extract`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extract: Option<bool>,
}

impl BtcFinalizepsbt {
    /// With what must be given.
    #[must_use]
    pub fn new(psbt: impl Into<String>) -> Self {
        Self { psbt: psbt.into(), extract: None }
    }
}

impl Method for BtcFinalizepsbt {
    const NAME: &'static str = "btc_finalizepsbt";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["psbt", "extract"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// A block in hexadecimal digits, or as an object
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcGetblock {
    /// `blockhash`.
    pub blockhash: Hash,
    /// `verbosity`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbosity: Option<serde_json::Value>,
}

impl BtcGetblock {
    /// With what must be given.
    #[must_use]
    pub fn new(blockhash: impl Into<Hash>) -> Self {
        Self { blockhash: blockhash.into(), verbosity: None }
    }
}

impl Method for BtcGetblock {
    const NAME: &'static str = "btc_getblock";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["blockhash", "verbosity"];
    type Answer = serde_json::Value;
}

/// State of the node's chain
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct BtcGetblockchaininfo {}

impl BtcGetblockchaininfo {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for BtcGetblockchaininfo {
    const NAME: &'static str = "btc_getblockchaininfo";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// The compact filter of a block
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcGetblockfilter {
    /// `blockhash`.
    pub blockhash: Hash,
    /// `filtertype`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filtertype: Option<String>,
}

impl BtcGetblockfilter {
    /// With what must be given.
    #[must_use]
    pub fn new(blockhash: impl Into<Hash>) -> Self {
        Self { blockhash: blockhash.into(), filtertype: None }
    }
}

impl Method for BtcGetblockfilter {
    const NAME: &'static str = "btc_getblockfilter";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["blockhash", "filtertype"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// A header in hexadecimal digits, or as an object
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcGetblockheader {
    /// `blockhash`.
    pub blockhash: Hash,
    /// `verbose`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbose: Option<bool>,
}

impl BtcGetblockheader {
    /// With what must be given.
    #[must_use]
    pub fn new(blockhash: impl Into<Hash>) -> Self {
        Self { blockhash: blockhash.into(), verbose: None }
    }
}

impl Method for BtcGetblockheader {
    const NAME: &'static str = "btc_getblockheader";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["blockhash", "verbose"];
    type Answer = serde_json::Value;
}

/// Figures of a block
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcGetblockstats {
    /// `hash_or_height`.
    pub hash_or_height: serde_json::Value,
    /// `stats`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stats: Option<Vec<String>>,
}

impl BtcGetblockstats {
    /// With what must be given.
    #[must_use]
    pub fn new(hash_or_height: serde_json::Value) -> Self {
        Self { hash_or_height, stats: None }
    }
}

impl Method for BtcGetblockstats {
    const NAME: &'static str = "btc_getblockstats";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["hash_or_height", "stats"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// The node's chain states
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct BtcGetchainstates {}

impl BtcGetchainstates {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for BtcGetchainstates {
    const NAME: &'static str = "btc_getchainstates";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// All branches that the node knows
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct BtcGetchaintips {}

impl BtcGetchaintips {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for BtcGetchaintips {
    const NAME: &'static str = "btc_getchaintips";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = Vec<std::collections::BTreeMap<String, serde_json::Value>>;
}

/// Transactions in a span of blocks
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct BtcGetchaintxstats {
    /// `nblocks`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nblocks: Option<u64>,
    /// `blockhash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blockhash: Option<Hash>,
}

impl BtcGetchaintxstats {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { nblocks: None, blockhash: None }
    }
}

impl Method for BtcGetchaintxstats {
    const NAME: &'static str = "btc_getchaintxstats";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["nblocks", "blockhash"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// State of soft forks
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct BtcGetdeploymentinfo {
    /// `blockhash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blockhash: Option<Hash>,
}

impl BtcGetdeploymentinfo {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { blockhash: None }
    }
}

impl Method for BtcGetdeploymentinfo {
    const NAME: &'static str = "btc_getdeploymentinfo";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["blockhash"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// A descriptor in canonical form, with its checksum
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcGetdescriptorinfo {
    /// `descriptor`.
    pub descriptor: String,
}

impl BtcGetdescriptorinfo {
    /// With what must be given.
    #[must_use]
    pub fn new(descriptor: impl Into<String>) -> Self {
        Self { descriptor: descriptor.into() }
    }
}

impl Method for BtcGetdescriptorinfo {
    const NAME: &'static str = "btc_getdescriptorinfo";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["descriptor"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// Difficulty as a multiple of the least
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct BtcGetdifficulty {}

impl BtcGetdifficulty {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for BtcGetdifficulty {
    const NAME: &'static str = "btc_getdifficulty";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = serde_json::Number;
}

/// The node's own indexes
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct BtcGetindexinfo {
    /// `index_name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_name: Option<String>,
}

impl BtcGetindexinfo {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { index_name: None }
    }
}

impl Method for BtcGetindexinfo {
    const NAME: &'static str = "btc_getindexinfo";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["index_name"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// Unconfirmed ancestors of a transaction
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcGetmempoolancestors {
    /// `txid`.
    pub txid: Hash,
    /// `verbose`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbose: Option<bool>,
}

impl BtcGetmempoolancestors {
    /// With what must be given.
    #[must_use]
    pub fn new(txid: impl Into<Hash>) -> Self {
        Self { txid: txid.into(), verbose: None }
    }
}

impl Method for BtcGetmempoolancestors {
    const NAME: &'static str = "btc_getmempoolancestors";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txid", "verbose"];
    type Answer = serde_json::Value;
}

/// Unconfirmed transactions that belong together
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcGetmempoolcluster {
    /// `txid`.
    pub txid: Hash,
}

impl BtcGetmempoolcluster {
    /// With what must be given.
    #[must_use]
    pub fn new(txid: impl Into<Hash>) -> Self {
        Self { txid: txid.into() }
    }
}

impl Method for BtcGetmempoolcluster {
    const NAME: &'static str = "btc_getmempoolcluster";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txid"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// Unconfirmed descendants of a transaction
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcGetmempooldescendants {
    /// `txid`.
    pub txid: Hash,
    /// `verbose`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbose: Option<bool>,
}

impl BtcGetmempooldescendants {
    /// With what must be given.
    #[must_use]
    pub fn new(txid: impl Into<Hash>) -> Self {
        Self { txid: txid.into(), verbose: None }
    }
}

impl Method for BtcGetmempooldescendants {
    const NAME: &'static str = "btc_getmempooldescendants";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txid", "verbose"];
    type Answer = serde_json::Value;
}

/// An unconfirmed transaction
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcGetmempoolentry {
    /// `txid`.
    pub txid: Hash,
}

impl BtcGetmempoolentry {
    /// With what must be given.
    #[must_use]
    pub fn new(txid: impl Into<Hash>) -> Self {
        Self { txid: txid.into() }
    }
}

impl Method for BtcGetmempoolentry {
    const NAME: &'static str = "btc_getmempoolentry";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txid"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// State of the node's mempool
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct BtcGetmempoolinfo {}

impl BtcGetmempoolinfo {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for BtcGetmempoolinfo {
    const NAME: &'static str = "btc_getmempoolinfo";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// Transactions whose parents the node lacks
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct BtcGetorphantxs {
    /// `verbosity`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbosity: Option<u64>,
}

impl BtcGetorphantxs {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { verbosity: None }
    }
}

impl Method for BtcGetorphantxs {
    const NAME: &'static str = "btc_getorphantxs";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["verbosity"];
    type Answer = Vec<serde_json::Value>;
}

/// Unconfirmed transactions
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct BtcGetrawmempool {
    /// `verbose`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbose: Option<bool>,
    /// `mempool_sequence`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mempool_sequence: Option<bool>,
}

impl BtcGetrawmempool {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { verbose: None, mempool_sequence: None }
    }
}

impl Method for BtcGetrawmempool {
    const NAME: &'static str = "btc_getrawmempool";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["verbose", "mempool_sequence"];
    type Answer = serde_json::Value;
}

/// A transaction in hexadecimal digits, or as an object
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcGetrawtransaction {
    /// `txid`.
    pub txid: Hash,
    /// `verbosity`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbosity: Option<serde_json::Value>,
    /// `blockhash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blockhash: Option<Hash>,
}

impl BtcGetrawtransaction {
    /// With what must be given.
    #[must_use]
    pub fn new(txid: impl Into<Hash>) -> Self {
        Self { txid: txid.into(), verbosity: None, blockhash: None }
    }
}

impl Method for BtcGetrawtransaction {
    const NAME: &'static str = "btc_getrawtransaction";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txid", "verbosity", "blockhash"];
    type Answer = serde_json::Value;
}

/// An unspent output
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcGettxout {
    /// `txid`.
    pub txid: Hash,
    /// `n`.
    pub n: u64,
    /// `include_mempool`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_mempool: Option<bool>,
}

impl BtcGettxout {
    /// With what must be given.
    #[must_use]
    pub fn new(txid: impl Into<Hash>, n: u64) -> Self {
        Self { txid: txid.into(), n, include_mempool: None }
    }
}

impl Method for BtcGettxout {
    const NAME: &'static str = "btc_gettxout";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txid", "n", "include_mempool"];
    type Answer = Option<std::collections::BTreeMap<String, serde_json::Value>>;
}

/// Proof that a block holds transactions
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcGettxoutproof {
    /// `txids`.
    pub txids: Vec<Hash>,
    /// `blockhash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blockhash: Option<Hash>,
}

impl BtcGettxoutproof {
    /// With what must be given.
    #[must_use]
    pub fn new(txids: Vec<Hash>) -> Self {
        Self { txids, blockhash: None }
    }
}

impl Method for BtcGettxoutproof {
    const NAME: &'static str = "btc_gettxoutproof";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txids", "blockhash"];
    type Answer = String;
}

/// Which unconfirmed transactions spend outputs
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcGettxspendingprevout {
    /// `outputs`.
    pub outputs: Vec<std::collections::BTreeMap<String, serde_json::Value>>,
}

impl BtcGettxspendingprevout {
    /// With what must be given.
    #[must_use]
    pub fn new(outputs: Vec<std::collections::BTreeMap<String, serde_json::Value>>) -> Self {
        Self { outputs }
    }
}

impl Method for BtcGettxspendingprevout {
    const NAME: &'static str = "btc_gettxspendingprevout";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["outputs"];
    type Answer = Vec<std::collections::BTreeMap<String, serde_json::Value>>;
}

/// PSBTs of several transactions as one
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcJoinpsbts {
    /// `txs`.
    pub txs: Vec<String>,
}

impl BtcJoinpsbts {
    /// With what must be given.
    #[must_use]
    pub fn new(txs: Vec<String>) -> Self {
        Self { txs }
    }
}

impl Method for BtcJoinpsbts {
    const NAME: &'static str = "btc_joinpsbts";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txs"];
    type Answer = String;
}

/// Hands a transaction to the network; its txid
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcSendrawtransaction {
    /// `hexstring`.
    pub hexstring: String,
    /// `maxfeerate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maxfeerate: Option<serde_json::Value>,
    /// `maxburnamount`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maxburnamount: Option<serde_json::Value>,
}

impl BtcSendrawtransaction {
    /// With what must be given.
    #[must_use]
    pub fn new(hexstring: impl Into<String>) -> Self {
        Self { hexstring: hexstring.into(), maxfeerate: None, maxburnamount: None }
    }
}

impl Method for BtcSendrawtransaction {
    const NAME: &'static str = "btc_sendrawtransaction";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["hexstring", "maxfeerate", "maxburnamount"];
    type Answer = Hash;
}

/// Hands several transactions to the network together
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcSubmitpackage {
    /// `package`.
    pub package: Vec<String>,
    /// `maxfeerate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maxfeerate: Option<serde_json::Value>,
    /// `maxburnamount`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maxburnamount: Option<serde_json::Value>,
}

impl BtcSubmitpackage {
    /// With what must be given.
    #[must_use]
    pub fn new(package: Vec<String>) -> Self {
        Self { package, maxfeerate: None, maxburnamount: None }
    }
}

impl Method for BtcSubmitpackage {
    const NAME: &'static str = "btc_submitpackage";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["package", "maxfeerate", "maxburnamount"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// Whether the node would take transactions
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcTestmempoolaccept {
    /// `rawtxs`.
    pub rawtxs: Vec<String>,
    /// `maxfeerate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maxfeerate: Option<serde_json::Value>,
}

impl BtcTestmempoolaccept {
    /// With what must be given.
    #[must_use]
    pub fn new(rawtxs: Vec<String>) -> Self {
        Self { rawtxs, maxfeerate: None }
    }
}

impl Method for BtcTestmempoolaccept {
    const NAME: &'static str = "btc_testmempoolaccept";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["rawtxs", "maxfeerate"];
    type Answer = Vec<std::collections::BTreeMap<String, serde_json::Value>>;
}

/// A PSBT with the outputs that it spends
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcUtxoupdatepsbt {
    /// `psbt`.
    pub psbt: String,
    /// `descriptors`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub descriptors: Option<Vec<serde_json::Value>>,
}

impl BtcUtxoupdatepsbt {
    /// With what must be given.
    #[must_use]
    pub fn new(psbt: impl Into<String>) -> Self {
        Self { psbt: psbt.into(), descriptors: None }
    }
}

impl Method for BtcUtxoupdatepsbt {
    const NAME: &'static str = "btc_utxoupdatepsbt";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["psbt", "descriptors"];
    type Answer = String;
}

/// What an address is
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcValidateaddress {
    /// `address`.
    pub address: String,
}

impl BtcValidateaddress {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<String>) -> Self {
        Self { address: address.into() }
    }
}

impl Method for BtcValidateaddress {
    const NAME: &'static str = "btc_validateaddress";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["address"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// Whether a message was signed by an address
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcVerifymessage {
    /// `address`.
    pub address: String,
    /// `signature`.
    pub signature: String,
    /// `message`.
    pub message: String,
}

impl BtcVerifymessage {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<String>, signature: impl Into<String>, message: impl Into<String>) -> Self {
        Self { address: address.into(), signature: signature.into(), message: message.into() }
    }
}

impl Method for BtcVerifymessage {
    const NAME: &'static str = "btc_verifymessage";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["address", "signature", "message"];
    type Answer = bool;
}

/// The transactions that a proof proves
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BtcVerifytxoutproof {
    /// `proof`.
    pub proof: String,
}

impl BtcVerifytxoutproof {
    /// With what must be given.
    #[must_use]
    pub fn new(proof: impl Into<String>) -> Self {
        Self { proof: proof.into() }
    }
}

impl Method for BtcVerifytxoutproof {
    const NAME: &'static str = "btc_verifytxoutproof";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["proof"];
    type Answer = Vec<Hash>;
}

/// Fees and sizes of the mempool, best first
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct BtcGetmempoolfeeratediagram {}

impl BtcGetmempoolfeeratediagram {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for BtcGetmempoolfeeratediagram {
    const NAME: &'static str = "btc_getmempoolfeeratediagram";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = Vec<std::collections::BTreeMap<String, serde_json::Value>>;
}

/// A transaction
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraTx {
    /// The id of a transaction.
    pub txid: Hash,
}

impl EsploraTx {
    /// With what must be given.
    #[must_use]
    pub fn new(txid: impl Into<Hash>) -> Self {
        Self { txid: txid.into() }
    }
}

impl Method for EsploraTx {
    const NAME: &'static str = "esplora_tx";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txid"];
    type Answer = EsploraTransaction;
}

/// Whether a transaction is confirmed, and in which block
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraTxStatus {
    /// The id of a transaction.
    pub txid: Hash,
}

impl EsploraTxStatus {
    /// With what must be given.
    #[must_use]
    pub fn new(txid: impl Into<Hash>) -> Self {
        Self { txid: txid.into() }
    }
}

impl Method for EsploraTxStatus {
    const NAME: &'static str = "esplora_tx::status";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txid"];
    type Answer = TransactionStatus;
}

/// A transaction in hexadecimal digits
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraTxHex {
    /// The id of a transaction.
    pub txid: Hash,
}

impl EsploraTxHex {
    /// With what must be given.
    #[must_use]
    pub fn new(txid: impl Into<Hash>) -> Self {
        Self { txid: txid.into() }
    }
}

impl Method for EsploraTxHex {
    const NAME: &'static str = "esplora_tx::hex";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txid"];
    type Answer = String;
}

/// A transaction in hexadecimal digits
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraTxRaw {
    /// The id of a transaction.
    pub txid: Hash,
}

impl EsploraTxRaw {
    /// With what must be given.
    #[must_use]
    pub fn new(txid: impl Into<Hash>) -> Self {
        Self { txid: txid.into() }
    }
}

impl Method for EsploraTxRaw {
    const NAME: &'static str = "esplora_tx::raw";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txid"];
    type Answer = String;
}

/// What spent the outputs of a transaction
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraTxOutspends {
    /// The id of a transaction.
    pub txid: Hash,
}

impl EsploraTxOutspends {
    /// With what must be given.
    #[must_use]
    pub fn new(txid: impl Into<Hash>) -> Self {
        Self { txid: txid.into() }
    }
}

impl Method for EsploraTxOutspends {
    const NAME: &'static str = "esplora_tx::outspends";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txid"];
    type Answer = Vec<EsploraSpend>;
}

/// What spent an output
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraTxOutspend {
    /// The id of a transaction.
    pub txid: Hash,
    /// Index of the output in its transaction.
    pub vout: NumberOrText,
}

impl EsploraTxOutspend {
    /// With what must be given.
    #[must_use]
    pub fn new(txid: impl Into<Hash>, vout: impl Into<NumberOrText>) -> Self {
        Self { txid: txid.into(), vout: vout.into() }
    }
}

impl Method for EsploraTxOutspend {
    const NAME: &'static str = "esplora_tx::outspend";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txid", "vout"];
    type Answer = EsploraSpend;
}

/// Proof that a block holds the transaction, as Electrum has it
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraTxMerkleProof {
    /// The id of a transaction.
    pub txid: Hash,
}

impl EsploraTxMerkleProof {
    /// With what must be given.
    #[must_use]
    pub fn new(txid: impl Into<Hash>) -> Self {
        Self { txid: txid.into() }
    }
}

impl Method for EsploraTxMerkleProof {
    const NAME: &'static str = "esplora_tx::merkle-proof";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txid"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// Proof that a block holds the transaction, as the node has it
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraTxMerkleblockProof {
    /// The id of a transaction.
    pub txid: Hash,
}

impl EsploraTxMerkleblockProof {
    /// With what must be given.
    #[must_use]
    pub fn new(txid: impl Into<Hash>) -> Self {
        Self { txid: txid.into() }
    }
}

impl Method for EsploraTxMerkleblockProof {
    const NAME: &'static str = "esplora_tx::merkleblock-proof";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txid"];
    type Answer = String;
}

/// Totals of an address
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraAddress {
    /// An address of this instance's network.
    pub address: String,
}

impl EsploraAddress {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<String>) -> Self {
        Self { address: address.into() }
    }
}

impl Method for EsploraAddress {
    const NAME: &'static str = "esplora_address";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["address"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// Unspent outputs of an address
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraAddressUtxo {
    /// An address of this instance's network.
    pub address: String,
}

impl EsploraAddressUtxo {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<String>) -> Self {
        Self { address: address.into() }
    }
}

impl Method for EsploraAddressUtxo {
    const NAME: &'static str = "esplora_address::utxo";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["address"];
    type Answer = Vec<EsploraOutput>;
}

/// Unconfirmed and the newest 25 confirmed transactions of an address
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraAddressTxs {
    /// An address of this instance's network.
    pub address: String,
}

impl EsploraAddressTxs {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<String>) -> Self {
        Self { address: address.into() }
    }
}

impl Method for EsploraAddressTxs {
    const NAME: &'static str = "esplora_address::txs";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["address"];
    type Answer = Vec<EsploraTransaction>;
}

/// Unconfirmed transactions of an address
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraAddressTxsMempool {
    /// An address of this instance's network.
    pub address: String,
}

impl EsploraAddressTxsMempool {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<String>) -> Self {
        Self { address: address.into() }
    }
}

impl Method for EsploraAddressTxsMempool {
    const NAME: &'static str = "esplora_address::txs:mempool";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["address"];
    type Answer = Vec<EsploraTransaction>;
}

/// 25 confirmed transactions of an address, after the last one seen
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraAddressTxsChain {
    /// An address of this instance's network.
    pub address: String,
    /// The last transaction of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen_txid: Option<Hash>,
}

impl EsploraAddressTxsChain {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<String>) -> Self {
        Self { address: address.into(), last_seen_txid: None }
    }
}

impl Method for EsploraAddressTxsChain {
    const NAME: &'static str = "esplora_address::txs:chain";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["address", "last_seen_txid"];
    type Answer = Vec<EsploraTransaction>;
}

/// Totals of a script, by its SHA-256
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraScripthash {
    /// SHA-256 of the script.
    pub scripthash: Hash,
}

impl EsploraScripthash {
    /// With what must be given.
    #[must_use]
    pub fn new(scripthash: impl Into<Hash>) -> Self {
        Self { scripthash: scripthash.into() }
    }
}

impl Method for EsploraScripthash {
    const NAME: &'static str = "esplora_scripthash";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["scripthash"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// Unspent outputs of a script
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraScripthashUtxo {
    /// SHA-256 of the script.
    pub scripthash: Hash,
}

impl EsploraScripthashUtxo {
    /// With what must be given.
    #[must_use]
    pub fn new(scripthash: impl Into<Hash>) -> Self {
        Self { scripthash: scripthash.into() }
    }
}

impl Method for EsploraScripthashUtxo {
    const NAME: &'static str = "esplora_scripthash::utxo";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["scripthash"];
    type Answer = Vec<EsploraOutput>;
}

/// Unconfirmed and the newest 25 confirmed transactions of a script
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraScripthashTxs {
    /// SHA-256 of the script.
    pub scripthash: Hash,
}

impl EsploraScripthashTxs {
    /// With what must be given.
    #[must_use]
    pub fn new(scripthash: impl Into<Hash>) -> Self {
        Self { scripthash: scripthash.into() }
    }
}

impl Method for EsploraScripthashTxs {
    const NAME: &'static str = "esplora_scripthash::txs";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["scripthash"];
    type Answer = Vec<EsploraTransaction>;
}

/// Unconfirmed transactions of a script
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraScripthashTxsMempool {
    /// SHA-256 of the script.
    pub scripthash: Hash,
}

impl EsploraScripthashTxsMempool {
    /// With what must be given.
    #[must_use]
    pub fn new(scripthash: impl Into<Hash>) -> Self {
        Self { scripthash: scripthash.into() }
    }
}

impl Method for EsploraScripthashTxsMempool {
    const NAME: &'static str = "esplora_scripthash::txs:mempool";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["scripthash"];
    type Answer = Vec<EsploraTransaction>;
}

/// 25 confirmed transactions of a script, after the last one seen
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraScripthashTxsChain {
    /// SHA-256 of the script.
    pub scripthash: Hash,
    /// The last transaction of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen_txid: Option<Hash>,
}

impl EsploraScripthashTxsChain {
    /// With what must be given.
    #[must_use]
    pub fn new(scripthash: impl Into<Hash>) -> Self {
        Self { scripthash: scripthash.into(), last_seen_txid: None }
    }
}

impl Method for EsploraScripthashTxsChain {
    const NAME: &'static str = "esplora_scripthash::txs:chain";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["scripthash", "last_seen_txid"];
    type Answer = Vec<EsploraTransaction>;
}

/// Up to ten addresses with this beginning
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraAddressPrefix {
    /// The beginning of the addresses.
    pub prefix: String,
}

impl EsploraAddressPrefix {
    /// With what must be given.
    #[must_use]
    pub fn new(prefix: impl Into<String>) -> Self {
        Self { prefix: prefix.into() }
    }
}

impl Method for EsploraAddressPrefix {
    const NAME: &'static str = "esplora_address-prefix";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["prefix"];
    type Answer = Vec<String>;
}

/// A block
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraBlock {
    /// The hash of a block.
    pub hash: Hash,
}

impl EsploraBlock {
    /// With what must be given.
    #[must_use]
    pub fn new(hash: impl Into<Hash>) -> Self {
        Self { hash: hash.into() }
    }
}

impl Method for EsploraBlock {
    const NAME: &'static str = "esplora_block";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["hash"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// The header of a block
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraBlockHeader {
    /// The hash of a block.
    pub hash: Hash,
}

impl EsploraBlockHeader {
    /// With what must be given.
    #[must_use]
    pub fn new(hash: impl Into<Hash>) -> Self {
        Self { hash: hash.into() }
    }
}

impl Method for EsploraBlockHeader {
    const NAME: &'static str = "esplora_block::header";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["hash"];
    type Answer = String;
}

/// Whether a block is in the best chain
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraBlockStatus {
    /// The hash of a block.
    pub hash: Hash,
}

impl EsploraBlockStatus {
    /// With what must be given.
    #[must_use]
    pub fn new(hash: impl Into<Hash>) -> Self {
        Self { hash: hash.into() }
    }
}

impl Method for EsploraBlockStatus {
    const NAME: &'static str = "esplora_block::status";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["hash"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// A whole block
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraBlockRaw {
    /// The hash of a block.
    pub hash: Hash,
}

impl EsploraBlockRaw {
    /// With what must be given.
    #[must_use]
    pub fn new(hash: impl Into<Hash>) -> Self {
        Self { hash: hash.into() }
    }
}

impl Method for EsploraBlockRaw {
    const NAME: &'static str = "esplora_block::raw";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["hash"];
    type Answer = String;
}

/// One txid of a block
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraBlockTxid {
    /// The hash of a block.
    pub hash: Hash,
    /// Index of the transaction in its block.
    pub index: NumberOrText,
}

impl EsploraBlockTxid {
    /// With what must be given.
    #[must_use]
    pub fn new(hash: impl Into<Hash>, index: impl Into<NumberOrText>) -> Self {
        Self { hash: hash.into(), index: index.into() }
    }
}

impl Method for EsploraBlockTxid {
    const NAME: &'static str = "esplora_block::txid";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["hash", "index"];
    type Answer = Hash;
}

/// All txids of a block
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraBlockTxids {
    /// The hash of a block.
    pub hash: Hash,
}

impl EsploraBlockTxids {
    /// With what must be given.
    #[must_use]
    pub fn new(hash: impl Into<Hash>) -> Self {
        Self { hash: hash.into() }
    }
}

impl Method for EsploraBlockTxids {
    const NAME: &'static str = "esplora_block::txids";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["hash"];
    type Answer = Vec<Hash>;
}

/// 25 transactions of a block
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraBlockTxs {
    /// The hash of a block.
    pub hash: Hash,
    /// Index of the first transaction, a multiple of 25; 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_index: Option<NumberOrText>,
}

impl EsploraBlockTxs {
    /// With what must be given.
    #[must_use]
    pub fn new(hash: impl Into<Hash>) -> Self {
        Self { hash: hash.into(), start_index: None }
    }
}

impl Method for EsploraBlockTxs {
    const NAME: &'static str = "esplora_block::txs";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["hash", "start_index"];
    type Answer = Vec<EsploraTransaction>;
}

/// Hash of the block at a height
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraBlockHeight {
    /// Height of the block.
    pub height: NumberOrText,
}

impl EsploraBlockHeight {
    /// With what must be given.
    #[must_use]
    pub fn new(height: impl Into<NumberOrText>) -> Self {
        Self { height: height.into() }
    }
}

impl Method for EsploraBlockHeight {
    const NAME: &'static str = "esplora_block-height";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["height"];
    type Answer = Hash;
}

/// Ten blocks downwards
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct EsploraBlocks {
    /// The greatest height; that of the newest block when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_height: Option<NumberOrText>,
}

impl EsploraBlocks {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { start_height: None }
    }
}

impl Method for EsploraBlocks {
    const NAME: &'static str = "esplora_blocks";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["start_height"];
    type Answer = Vec<std::collections::BTreeMap<String, serde_json::Value>>;
}

/// Height of the newest indexed block
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct EsploraBlocksTipHeight {}

impl EsploraBlocksTipHeight {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for EsploraBlocksTipHeight {
    const NAME: &'static str = "esplora_blocks:tip:height";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = u32;
}

/// Hash of the newest indexed block
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct EsploraBlocksTipHash {}

impl EsploraBlocksTipHash {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for EsploraBlocksTipHash {
    const NAME: &'static str = "esplora_blocks:tip:hash";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = Hash;
}

/// Totals of the mempool and a histogram of its feerates
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct EsploraMempool {}

impl EsploraMempool {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for EsploraMempool {
    const NAME: &'static str = "esplora_mempool";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// All unconfirmed transactions
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct EsploraMempoolTxids {}

impl EsploraMempoolTxids {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for EsploraMempoolTxids {
    const NAME: &'static str = "esplora_mempool:txids";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = Vec<Hash>;
}

/// The ten newest unconfirmed transactions
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct EsploraMempoolRecent {}

impl EsploraMempoolRecent {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for EsploraMempoolRecent {
    const NAME: &'static str = "esplora_mempool:recent";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = Vec<std::collections::BTreeMap<String, serde_json::Value>>;
}

/// Feerate in sat/vB for each target in blocks
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct EsploraFeeEstimates {}

impl EsploraFeeEstimates {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for EsploraFeeEstimates {
    const NAME: &'static str = "esplora_fee-estimates";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = EsploraFees;
}

/// Broadcasts a transaction; returns its txid.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraBroadcast {
    /// The transaction, consensus encoding.
    pub transaction: String,
}

impl EsploraBroadcast {
    /// With what must be given.
    #[must_use]
    pub fn new(transaction: impl Into<String>) -> Self {
        Self { transaction: transaction.into() }
    }
}

impl Method for EsploraBroadcast {
    const NAME: &'static str = "esplora_broadcast";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["transaction"];
    type Answer = Hash;
}

/// Broadcasts several transactions as a package.
///
/// Parameters and answer are those of the node's `submitpackage`.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EsploraTxsPackage {
    /// The transactions, consensus encoding, parents first.
    pub transactions: Vec<String>,
    /// The highest feerate, BTC per 1,000 virtual bytes; 0.10 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maxfeerate: Option<serde_json::Value>,
    /// Largest value of provably unspendable outputs, BTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maxburnamount: Option<serde_json::Value>,
}

impl EsploraTxsPackage {
    /// With what must be given.
    #[must_use]
    pub fn new(transactions: Vec<String>) -> Self {
        Self { transactions, maxfeerate: None, maxburnamount: None }
    }
}

impl Method for EsploraTxsPackage {
    const NAME: &'static str = "esplora_txs:package";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["transactions", "maxfeerate", "maxburnamount"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// Number of indexed blocks, including the genesis block.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct OrdBlockcount {}

impl OrdBlockcount {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for OrdBlockcount {
    const NAME: &'static str = "ord_blockcount";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = u32;
}

/// Height of the newest indexed block.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct OrdBlockheight {}

impl OrdBlockheight {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for OrdBlockheight {
    const NAME: &'static str = "ord_blockheight";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = u32;
}

/// Hash of a block.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct OrdBlockhash {
    /// Its height; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<NumberOrText>,
}

impl OrdBlockhash {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { height: None }
    }
}

impl Method for OrdBlockhash {
    const NAME: &'static str = "ord_blockhash";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["height"];
    type Answer = Hash;
}

/// Time of the newest indexed block in Unix seconds.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct OrdBlocktime {}

impl OrdBlocktime {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for OrdBlocktime {
    const NAME: &'static str = "ord_blocktime";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = u32;
}

/// A block with its transactions, inscriptions and runes.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct OrdBlock {
    /// Its height or hash.
    pub block: NumberOrText,
}

impl OrdBlock {
    /// With what must be given.
    #[must_use]
    pub fn new(block: impl Into<NumberOrText>) -> Self {
        Self { block: block.into() }
    }
}

impl Method for OrdBlock {
    const NAME: &'static str = "ord_block";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["block"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// The newest hundred blocks, with inscriptions of the newest five.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct OrdBlocks {}

impl OrdBlocks {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for OrdBlocks {
    const NAME: &'static str = "ord_blocks";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// An inscription.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct OrdInscription {
    /// Its id, its number, or the name of its sat.
    pub inscription: String,
    /// Index of a child, which is answered instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<NumberOrText>,
}

impl OrdInscription {
    /// With what must be given.
    #[must_use]
    pub fn new(inscription: impl Into<String>) -> Self {
        Self { inscription: inscription.into(), child: None }
    }
}

impl Method for OrdInscription {
    const NAME: &'static str = "ord_inscription";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["inscription", "child"];
    type Answer = Inscription;
}

/// A page of a hundred inscriptions, newest first.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct OrdInscriptions {
    /// Page number, from 0; 0 when absent or empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
}

impl OrdInscriptions {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { page: None }
    }
}

impl Method for OrdInscriptions {
    const NAME: &'static str = "ord_inscriptions";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["page"];
    type Answer = InscriptionsPage;
}

/// Inscriptions of a block.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct OrdInscriptionsBlock {
    /// Height of the block.
    pub height: NumberOrText,
    /// Page number, from 0; 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
}

impl OrdInscriptionsBlock {
    /// With what must be given.
    #[must_use]
    pub fn new(height: impl Into<NumberOrText>) -> Self {
        Self { height: height.into(), page: None }
    }
}

impl Method for OrdInscriptionsBlock {
    const NAME: &'static str = "ord_inscriptions::block";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["height", "page"];
    type Answer = InscriptionsPage;
}

/// Children of an inscription.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct OrdChildren {
    /// Id of the inscription.
    pub id: InscriptionId,
    /// Page number, from 0; 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
}

impl OrdChildren {
    /// With what must be given.
    #[must_use]
    pub fn new(id: impl Into<InscriptionId>) -> Self {
        Self { id: id.into(), page: None }
    }
}

impl Method for OrdChildren {
    const NAME: &'static str = "ord_children";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["id", "page"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// Parents of an inscription.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct OrdParents {
    /// Id of the inscription.
    pub id: InscriptionId,
    /// Page number, from 0; 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
}

impl OrdParents {
    /// With what must be given.
    #[must_use]
    pub fn new(id: impl Into<InscriptionId>) -> Self {
        Self { id: id.into(), page: None }
    }
}

impl Method for OrdParents {
    const NAME: &'static str = "ord_parents";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["id", "page"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// Content of an inscription in base64, its delegate's where it has one.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct OrdContent {
    /// Id of the inscription.
    pub id: InscriptionId,
}

impl OrdContent {
    /// With what must be given.
    #[must_use]
    pub fn new(id: impl Into<InscriptionId>) -> Self {
        Self { id: id.into() }
    }
}

impl Method for OrdContent {
    const NAME: &'static str = "ord_content";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["id"];
    type Answer = String;
}

/// Metadata of an inscription: CBOR in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct OrdMetadata {
    /// Id of the inscription.
    pub id: InscriptionId,
}

impl OrdMetadata {
    /// With what must be given.
    #[must_use]
    pub fn new(id: impl Into<InscriptionId>) -> Self {
        Self { id: id.into() }
    }
}

impl Method for OrdMetadata {
    const NAME: &'static str = "ord_metadata";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["id"];
    type Answer = String;
}

/// A rune.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct OrdRune {
    /// Its name, with spacers or without, its id, or its number.
    pub rune: String,
}

impl OrdRune {
    /// With what must be given.
    #[must_use]
    pub fn new(rune: impl Into<String>) -> Self {
        Self { rune: rune.into() }
    }
}

impl Method for OrdRune {
    const NAME: &'static str = "ord_rune";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["rune"];
    type Answer = Rune;
}

/// A page of fifty runes, newest first.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct OrdRunes {
    /// Page number, from 0; 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
}

impl OrdRunes {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { page: None }
    }
}

impl Method for OrdRunes {
    const NAME: &'static str = "ord_runes";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["page"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// A sat.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct OrdSat {
    /// Its number, name, decimal, degree or percentile.
    pub sat: String,
}

impl OrdSat {
    /// With what must be given.
    #[must_use]
    pub fn new(sat: impl Into<String>) -> Self {
        Self { sat: sat.into() }
    }
}

impl Method for OrdSat {
    const NAME: &'static str = "ord_sat";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["sat"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// Inscriptions on a sat, oldest first.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct OrdRSat {
    /// The number of the sat.
    pub number: NumberOrText,
    /// Page number, from 0; 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
}

impl OrdRSat {
    /// With what must be given.
    #[must_use]
    pub fn new(number: impl Into<NumberOrText>) -> Self {
        Self { number: number.into(), page: None }
    }
}

impl Method for OrdRSat {
    const NAME: &'static str = "ord_r:sat";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["number", "page"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// One inscription on a sat; null where there is none.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct OrdRSatAt {
    /// Its number, name, decimal, degree or percentile.
    pub sat: String,
    /// 0 is the oldest, -1 the newest.
    pub place: serde_json::Value,
}

impl OrdRSatAt {
    /// With what must be given.
    #[must_use]
    pub fn new(sat: impl Into<String>, place: serde_json::Value) -> Self {
        Self { sat: sat.into(), place }
    }
}

impl Method for OrdRSatAt {
    const NAME: &'static str = "ord_r:sat::at";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["sat", "place"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// An output with its inscriptions and runes.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct OrdOutput {
    /// txid:vout.
    pub outpoint: String,
}

impl OrdOutput {
    /// With what must be given.
    #[must_use]
    pub fn new(outpoint: impl Into<String>) -> Self {
        Self { outpoint: outpoint.into() }
    }
}

impl Method for OrdOutput {
    const NAME: &'static str = "ord_output";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["outpoint"];
    type Answer = OrdOutputRecord;
}

/// Unspent outputs of an address.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct OrdOutputs {
    /// An address of this instance's network.
    pub address: String,
    /// any, cardinal, inscribed or runic; any when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

impl OrdOutputs {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<String>) -> Self {
        Self { address: address.into(), kind: None }
    }
}

impl Method for OrdOutputs {
    const NAME: &'static str = "ord_outputs";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["address", "kind"];
    type Answer = Vec<OrdOutputRecord>;
}

/// Balance, outputs, inscriptions and runes of an address.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct OrdAddress {
    /// An address of this instance's network.
    pub address: String,
}

impl OrdAddress {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<String>) -> Self {
        Self { address: address.into() }
    }
}

impl Method for OrdAddress {
    const NAME: &'static str = "ord_address";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["address"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// Inscriptions that an address holds.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct OrdAddressInscriptions {
    /// An address of this instance's network.
    pub address: String,
}

impl OrdAddressInscriptions {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<String>) -> Self {
        Self { address: address.into() }
    }
}

impl Method for OrdAddressInscriptions {
    const NAME: &'static str = "ord_address::inscriptions";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["address"];
    type Answer = Vec<InscriptionId>;
}

/// A transaction, with the rune that it etched and the number of inscriptions that it revealed.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct OrdTx {
    /// Its id.
    pub txid: Hash,
}

impl OrdTx {
    /// With what must be given.
    #[must_use]
    pub fn new(txid: impl Into<Hash>) -> Self {
        Self { txid: txid.into() }
    }
}

impl Method for OrdTx {
    const NAME: &'static str = "ord_tx";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txid"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;
}

/// The height that views answer at, in decimal digits.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct MetashrewHeight {}

impl MetashrewHeight {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for MetashrewHeight {
    const NAME: &'static str = "metashrew_height";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = String;
}

/// A view: a protobuf message in and out, or for some an object in and JSON out.
///
/// The messages are those of the files at `/v4/proto/`.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct MetashrewView {
    /// The name of the view.
    pub name: String,
    /// A message in hexadecimal digits, `0x` before them or not, or an object; empty when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<ViewInput>,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl MetashrewView {
    /// With what must be given.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), input: None, tag: None }
    }
}

impl Method for MetashrewView {
    const NAME: &'static str = "metashrew_view";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["name", "input", "tag"];
    type Answer = serde_json::Value;
}

/// The answer of a view after one more block, which is executed on a copy and discarded.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct MetashrewPreview {
    /// The consensus encoding of a block.
    pub block: String,
    /// The name of the view.
    pub name: String,
    /// A message in hexadecimal digits, `0x` before them or not; empty when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl MetashrewPreview {
    /// With what must be given.
    #[must_use]
    pub fn new(block: impl Into<String>, name: impl Into<String>) -> Self {
        Self { block: block.into(), name: name.into(), input: None, tag: None }
    }
}

impl Method for MetashrewPreview {
    const NAME: &'static str = "metashrew_preview";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["block", "name", "input", "tag"];
    type Answer = String;
}

/// `0x` and the hash of a block, in display order.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct MetashrewGetblockhash {
    /// The block; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<NumberOrText>,
}

impl MetashrewGetblockhash {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { height: None }
    }
}

impl Method for MetashrewGetblockhash {
    const NAME: &'static str = "metashrew_getblockhash";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["height"];
    type Answer = String;
}

/// The digest of everything that the contract index wrote in one block: equal on two instances that agree.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct MetashrewStateroot {
    /// The block; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<NumberOrText>,
}

impl MetashrewStateroot {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { height: None }
    }
}

impl Method for MetashrewStateroot {
    const NAME: &'static str = "metashrew_stateroot";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["height"];
    type Answer = String;
}

/// Digests of one block, of each part of the index and of everything up to the block.
///
/// Two instances that agree have the same, and the first block in which they differ is found by halving.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct MetashrewBlockdigest {
    /// The block; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<NumberOrText>,
}

impl MetashrewBlockdigest {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { height: None }
    }
}

impl Method for MetashrewBlockdigest {
    const NAME: &'static str = "metashrew_blockdigest";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["height"];
    type Answer = BlockDigestAnswer;
}

/// What other hosts report about their snapshots, as JSON inside a string.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct MetashrewSnapshot {}

impl MetashrewSnapshot {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for MetashrewSnapshot {
    const NAME: &'static str = "metashrew_snapshot";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = String;
}

/// Simulates a call. One that fails has status 1 and its error message.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AlkanesSimulate {
    /// The call.
    pub call: Call,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl AlkanesSimulate {
    /// With what must be given.
    #[must_use]
    pub fn new(call: impl Into<Call>) -> Self {
        Self { call: call.into(), tag: None }
    }
}

impl Method for AlkanesSimulate {
    const NAME: &'static str = "alkanes_simulate";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["call", "tag"];
    type Answer = Simulated;
}

/// A contract's description of its operations: its own JSON, or `0x` and hexadecimal digits where it is not JSON.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AlkanesMeta {
    /// The contract.
    pub id: Target,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl AlkanesMeta {
    /// With what must be given.
    #[must_use]
    pub fn new(id: impl Into<Target>) -> Self {
        Self { id: id.into(), tag: None }
    }
}

impl Method for AlkanesMeta {
    const NAME: &'static str = "alkanes_meta";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["id", "tag"];
    type Answer = serde_json::Value;
}

/// The module of a contract: `0x` and hexadecimal digits.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AlkanesGetbytecode {
    /// The contract.
    pub id: Target,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl AlkanesGetbytecode {
    /// With what must be given.
    #[must_use]
    pub fn new(id: impl Into<Target>) -> Self {
        Self { id: id.into(), tag: None }
    }
}

impl Method for AlkanesGetbytecode {
    const NAME: &'static str = "alkanes_getbytecode";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["id", "tag"];
    type Answer = String;
}

/// The output that made a contract.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AlkanesGetdeployment {
    /// The contract.
    pub id: Target,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl AlkanesGetdeployment {
    /// With what must be given.
    #[must_use]
    pub fn new(id: impl Into<Target>) -> Self {
        Self { id: id.into(), tag: None }
    }
}

impl Method for AlkanesGetdeployment {
    const NAME: &'static str = "alkanes_getdeployment";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["id", "tag"];
    type Answer = Deployment;
}

/// Events of a message, by its shadow output.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AlkanesTrace {
    /// Outpoint of the message; the txid in either byte order, since clients of this method send it reversed.
    pub outpoint: OutpointObject,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl AlkanesTrace {
    /// With what must be given.
    #[must_use]
    pub fn new(outpoint: impl Into<OutpointObject>) -> Self {
        Self { outpoint: outpoint.into(), tag: None }
    }
}

impl Method for AlkanesTrace {
    const NAME: &'static str = "alkanes_trace";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["outpoint", "tag"];
    type Answer = Vec<TraceEvent>;
}

/// Traces of a block.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct AlkanesTraceblock {
    /// The block; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<HeightOrObject>,
    /// Block to answer as of, where `height` has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl AlkanesTraceblock {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { height: None, tag: None }
    }
}

impl Method for AlkanesTraceblock {
    const NAME: &'static str = "alkanes_traceblock";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["height", "tag"];
    type Answer = Vec<BlockTrace>;
}

/// Alkanes of an output.
///
/// With a tag the answer is an array of tokens and values, without one an object. The first parameter may also be the txid, with the
/// number of the output, a tag and the protocol tag after it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AlkanesProtorunesbyoutpoint {
    /// The output as an object `{txid, vout, protocolTag?}`, or its txid.
    pub outpoint: OutpointOrTxid,
    /// Block to answer as of; after a txid the index of the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<serde_json::Value>,
    /// After a txid: the block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_tag: Option<NumberOrText>,
    /// After a txid: the protocol tag; for any other than 1 the answer is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_tag: Option<String>,
}

impl AlkanesProtorunesbyoutpoint {
    /// With what must be given.
    #[must_use]
    pub fn new(outpoint: impl Into<OutpointOrTxid>) -> Self {
        Self { outpoint: outpoint.into(), tag: None, block_tag: None, protocol_tag: None }
    }
}

impl Method for AlkanesProtorunesbyoutpoint {
    const NAME: &'static str = "alkanes_protorunesbyoutpoint";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["outpoint", "tag", "block_tag", "protocol_tag"];
    type Answer = serde_json::Value;
}

/// Alkanes of the unspent outputs of an address.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AlkanesProtorunesbyaddress {
    /// An address, or an object `{address, protocolTag?}`.
    pub address: AddressOrObject,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
    /// After an address: the protocol tag; for any other than 1 the answer is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_tag: Option<String>,
}

impl AlkanesProtorunesbyaddress {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<AddressOrObject>) -> Self {
        Self { address: address.into(), tag: None, protocol_tag: None }
    }
}

impl Method for AlkanesProtorunesbyaddress {
    const NAME: &'static str = "alkanes_protorunesbyaddress";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["address", "tag", "protocol_tag"];
    type Answer = serde_json::Value;
}

/// Alkanes that first appeared in outputs in a block.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct AlkanesProtorunesbyheight {
    /// The block; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<HeightOrObject>,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl AlkanesProtorunesbyheight {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { height: None, tag: None }
    }
}

impl Method for AlkanesProtorunesbyheight {
    const NAME: &'static str = "alkanes_protorunesbyheight";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["height", "tag"];
    type Answer = ByHeightAnswer;
}

/// All unspent outputs of an address, for coin selection; may be called without its family.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AlkanesSpendablesbyaddress {
    /// An address, or an object `{address}`.
    pub address: AddressOrObject,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl AlkanesSpendablesbyaddress {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<AddressOrObject>) -> Self {
        Self { address: address.into(), tag: None }
    }
}

impl Method for AlkanesSpendablesbyaddress {
    const NAME: &'static str = "alkanes_spendablesbyaddress";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["address", "tag"];
    type Answer = serde_json::Value;
}

/// A value in the storage of a contract: `0x` and hexadecimal digits, empty where there is none.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AlkanesGetstorageat {
    /// The contract and the key.
    pub request: StorageRequest,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl AlkanesGetstorageat {
    /// With what must be given.
    #[must_use]
    pub fn new(request: impl Into<StorageRequest>) -> Self {
        Self { request: request.into(), tag: None }
    }
}

impl Method for AlkanesGetstorageat {
    const NAME: &'static str = "alkanes_getstorageat";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["request", "tag"];
    type Answer = String;
}

/// Alkanes that a contract holds.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AlkanesGetinventory {
    /// The contract.
    pub id: Target,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl AlkanesGetinventory {
    /// With what must be given.
    #[must_use]
    pub fn new(id: impl Into<Target>) -> Self {
        Self { id: id.into(), tag: None }
    }
}

impl Method for AlkanesGetinventory {
    const NAME: &'static str = "alkanes_getinventory";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["id", "tag"];
    type Answer = Inventory;
}

/// The number of the next contract 2:n, in decimal digits.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct AlkanesSequence {
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl AlkanesSequence {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { tag: None }
    }
}

impl Method for AlkanesSequence {
    const NAME: &'static str = "alkanes_sequence";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["tag"];
    type Answer = String;
}

/// Pending payments of the wrapped-bitcoin contract.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct AlkanesUnwrap {
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl AlkanesUnwrap {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { tag: None }
    }
}

impl Method for AlkanesUnwrap {
    const NAME: &'static str = "alkanes_unwrap";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["tag"];
    type Answer = PendingPayments;
}

/// The view in hexadecimal digits, as `metashrew_view` has it.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct AlkanesGetblock {
    /// A protobuf message in hexadecimal digits, `0x` before them or not; empty when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl AlkanesGetblock {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { input: None, tag: None }
    }
}

impl Method for AlkanesGetblock {
    const NAME: &'static str = "alkanes_getblock";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["input", "tag"];
    type Answer = String;
}

/// The view in hexadecimal digits, as `metashrew_view` has it.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct AlkanesMultisimluate {
    /// A protobuf message in hexadecimal digits, `0x` before them or not; empty when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl AlkanesMultisimluate {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { input: None, tag: None }
    }
}

impl Method for AlkanesMultisimluate {
    const NAME: &'static str = "alkanes_multisimluate";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["input", "tag"];
    type Answer = String;
}

/// The view in hexadecimal digits, as `metashrew_view` has it.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct AlkanesMultisimulate {
    /// A protobuf message in hexadecimal digits, `0x` before them or not; empty when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl AlkanesMultisimulate {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { input: None, tag: None }
    }
}

impl Method for AlkanesMultisimulate {
    const NAME: &'static str = "alkanes_multisimulate";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["input", "tag"];
    type Answer = String;
}

/// The view in hexadecimal digits, as `metashrew_view` has it.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct AlkanesRunesbyaddress {
    /// A protobuf message in hexadecimal digits, `0x` before them or not; empty when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl AlkanesRunesbyaddress {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { input: None, tag: None }
    }
}

impl Method for AlkanesRunesbyaddress {
    const NAME: &'static str = "alkanes_runesbyaddress";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["input", "tag"];
    type Answer = String;
}

/// The view in hexadecimal digits, as `metashrew_view` has it.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct AlkanesRunesbyheight {
    /// A protobuf message in hexadecimal digits, `0x` before them or not; empty when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl AlkanesRunesbyheight {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { input: None, tag: None }
    }
}

impl Method for AlkanesRunesbyheight {
    const NAME: &'static str = "alkanes_runesbyheight";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["input", "tag"];
    type Answer = String;
}

/// The view in hexadecimal digits, as `metashrew_view` has it.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct AlkanesRunesbyoutpoint {
    /// A protobuf message in hexadecimal digits, `0x` before them or not; empty when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl AlkanesRunesbyoutpoint {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { input: None, tag: None }
    }
}

impl Method for AlkanesRunesbyoutpoint {
    const NAME: &'static str = "alkanes_runesbyoutpoint";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["input", "tag"];
    type Answer = String;
}

/// The view in hexadecimal digits, as `metashrew_view` has it.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct AlkanesSimulateblock {
    /// A protobuf message in hexadecimal digits, `0x` before them or not; empty when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl AlkanesSimulateblock {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { input: None, tag: None }
    }
}

impl Method for AlkanesSimulateblock {
    const NAME: &'static str = "alkanes_simulateblock";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["input", "tag"];
    type Answer = String;
}

/// The view in hexadecimal digits, as `metashrew_view` has it.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct AlkanesSimulateprotostones {
    /// A protobuf message in hexadecimal digits, `0x` before them or not; empty when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl AlkanesSimulateprotostones {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { input: None, tag: None }
    }
}

impl Method for AlkanesSimulateprotostones {
    const NAME: &'static str = "alkanes_simulateprotostones";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["input", "tag"];
    type Answer = String;
}

/// The view in hexadecimal digits, as `metashrew_view` has it.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct AlkanesSimulatetransaction {
    /// A protobuf message in hexadecimal digits, `0x` before them or not; empty when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl AlkanesSimulatetransaction {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { input: None, tag: None }
    }
}

impl Method for AlkanesSimulatetransaction {
    const NAME: &'static str = "alkanes_simulatetransaction";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["input", "tag"];
    type Answer = String;
}

/// Many calls in one: an answer for each, in order.
///
/// Each parameter is a method and its params.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct SandshrewMulticall {
    /// A method and its params; any number of them follow each other.
    pub call: Vec<MultiCall>,
}

impl SandshrewMulticall {
    /// With what must be given.
    #[must_use]
    pub fn new(call: Vec<MultiCall>) -> Self {
        Self { call }
    }
}

impl Method for SandshrewMulticall {
    const NAME: &'static str = "sandshrew_multicall";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Variadic;
    const PARAMETERS: &'static [&'static str] = &["call"];
    type Answer = Vec<MultiAnswer>;
}

/// Unspent outputs of an address, grouped by their content.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct SandshrewBalances {
    /// The address, or an object with it.
    pub request: BalancesRequest,
}

impl SandshrewBalances {
    /// With what must be given.
    #[must_use]
    pub fn new(request: impl Into<BalancesRequest>) -> Self {
        Self { request: request.into() }
    }
}

impl Method for SandshrewBalances {
    const NAME: &'static str = "sandshrew_balances";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["request"];
    type Answer = Balances;
}

/// Runs a Lua script; what follows its source stands in its `args`, any number of parameters.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct SandshrewEvalscript {
    /// The source.
    pub script: String,
    /// What the script finds in `args`, any number of parameters.
    pub argument: Vec<serde_json::Value>,
}

impl SandshrewEvalscript {
    /// With what must be given.
    #[must_use]
    pub fn new(script: impl Into<String>, argument: Vec<serde_json::Value>) -> Self {
        Self { script: script.into(), argument }
    }
}

impl Method for SandshrewEvalscript {
    const NAME: &'static str = "sandshrew_evalscript";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Variadic;
    const PARAMETERS: &'static [&'static str] = &["script", "argument"];
    type Answer = ScriptResult;
}

/// Saves a Lua script under the SHA-256 of its source.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct SandshrewSavescript {
    /// The source.
    pub script: String,
}

impl SandshrewSavescript {
    /// With what must be given.
    #[must_use]
    pub fn new(script: impl Into<String>) -> Self {
        Self { script: script.into() }
    }
}

impl Method for SandshrewSavescript {
    const NAME: &'static str = "sandshrew_savescript";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["script"];
    type Answer = SavedScript;
}

/// Runs a saved script.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct SandshrewEvalsaved {
    /// SHA-256 of its source, with or without `0x`.
    pub hash: String,
    /// What the script finds in `args`, any number of parameters.
    pub argument: Vec<serde_json::Value>,
}

impl SandshrewEvalsaved {
    /// With what must be given.
    #[must_use]
    pub fn new(hash: impl Into<String>, argument: Vec<serde_json::Value>) -> Self {
        Self { hash: hash.into(), argument }
    }
}

impl Method for SandshrewEvalsaved {
    const NAME: &'static str = "sandshrew_evalsaved";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Variadic;
    const PARAMETERS: &'static [&'static str] = &["hash", "argument"];
    type Answer = ScriptResult;
}

/// Runs a Lua script; what follows its source stands in its `args`, any number of parameters.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct LuaEvalscript {
    /// The source.
    pub script: String,
    /// What the script finds in `args`, any number of parameters.
    pub argument: Vec<serde_json::Value>,
}

impl LuaEvalscript {
    /// With what must be given.
    #[must_use]
    pub fn new(script: impl Into<String>, argument: Vec<serde_json::Value>) -> Self {
        Self { script: script.into(), argument }
    }
}

impl Method for LuaEvalscript {
    const NAME: &'static str = "lua_evalscript";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Variadic;
    const PARAMETERS: &'static [&'static str] = &["script", "argument"];
    type Answer = ScriptResult;
}

/// Saves a Lua script under the SHA-256 of its source.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct LuaSavescript {
    /// The source.
    pub script: String,
}

impl LuaSavescript {
    /// With what must be given.
    #[must_use]
    pub fn new(script: impl Into<String>) -> Self {
        Self { script: script.into() }
    }
}

impl Method for LuaSavescript {
    const NAME: &'static str = "lua_savescript";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["script"];
    type Answer = SavedScript;
}

/// Runs a saved script.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct LuaEvalsaved {
    /// SHA-256 of its source, with or without `0x`.
    pub hash: String,
    /// What the script finds in `args`, any number of parameters.
    pub argument: Vec<serde_json::Value>,
}

impl LuaEvalsaved {
    /// With what must be given.
    #[must_use]
    pub fn new(hash: impl Into<String>, argument: Vec<serde_json::Value>) -> Self {
        Self { hash: hash.into(), argument }
    }
}

impl Method for LuaEvalsaved {
    const NAME: &'static str = "lua_evalsaved";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Variadic;
    const PARAMETERS: &'static [&'static str] = &["hash", "argument"];
    type Answer = ScriptResult;
}

/// Creates a key of the caller's account. The key itself is shown in this answer only.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AdminCreateApiKey {
    /// Name of the key in listings.
    pub name: String,
    /// Requests per minute; those of the account's plan when absent.
    #[serde(rename = "perMinute", default, skip_serializing_if = "Option::is_none")]
    pub per_minute: Option<u32>,
    /// Requests per day; those of the account's plan when absent.
    #[serde(rename = "perDay", default, skip_serializing_if = "Option::is_none")]
    pub per_day: Option<u32>,
    /// Days after which it expires, 1 to 36,500; it does not expire when absent.
    #[serde(rename = "expiresInDays", default, skip_serializing_if = "Option::is_none")]
    pub expires_in_days: Option<u32>,
}

impl AdminCreateApiKey {
    /// With what must be given.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), per_minute: None, per_day: None, expires_in_days: None }
    }
}

impl Method for AdminCreateApiKey {
    const NAME: &'static str = "admin_createApiKey";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["name", "perMinute", "perDay", "expiresInDays"];
    type Answer = CreatedApiKey;
}

/// The keys of the caller's account.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct AdminListApiKeys {}

impl AdminListApiKeys {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for AdminListApiKeys {
    const NAME: &'static str = "admin_listApiKeys";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = ListedApiKeys;
}

/// Revokes a key.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AdminRevokeApiKey {
    /// Id of the key.
    pub id: AdminRevokeApiKeyId,
}

impl AdminRevokeApiKey {
    /// With what must be given.
    #[must_use]
    pub fn new(id: impl Into<AdminRevokeApiKeyId>) -> Self {
        Self { id: id.into() }
    }
}

impl Method for AdminRevokeApiKey {
    const NAME: &'static str = "admin_revokeApiKey";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["id"];
    type Answer = RevokedApiKey;
}

/// Replaces a key by a new one with the same settings.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AdminRerollApiKey {
    /// The old key.
    pub id: AdminRevokeApiKeyId,
    /// Seconds for which the old key still works, at most 30 days; 0 when absent.
    #[serde(rename = "graceSeconds", default, skip_serializing_if = "Option::is_none")]
    pub grace_seconds: Option<u64>,
}

impl AdminRerollApiKey {
    /// With what must be given.
    #[must_use]
    pub fn new(id: impl Into<AdminRevokeApiKeyId>) -> Self {
        Self { id: id.into(), grace_seconds: None }
    }
}

impl Method for AdminRerollApiKey {
    const NAME: &'static str = "admin_rerollApiKey";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["id", "graceSeconds"];
    type Answer = CreatedApiKey;
}

/// Requests of the caller's account: by UTC day and surface, and by key, alias and origin.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct AdminGetUsage {
    /// The newest UTC days, today included, 1 to 90; 30 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
}

impl AdminGetUsage {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { days: None }
    }
}

impl Method for AdminGetUsage {
    const NAME: &'static str = "admin_getUsage";
    const SURFACE: &'static str = "";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["days"];
    type Answer = Usage;
}

one_of! {
/// An address, alone or in an object.
AddressOrObject {
    Text(String),
    AddressOrObjectCase2(AddressOrObjectCase2),
} }

/// An address in an object.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct AddressOrObjectCase2 {
    /// `address`.
    pub address: String,
    /// `protocolTag`.
    #[serde(rename = "protocolTag", default, skip_serializing_if = "Option::is_none")]
    pub protocol_tag: Option<NumberOrText>,
}

one_of! {
/// `AdminRevokeApiKeyId` of the descriptions.
AdminRevokeApiKeyId {
    Integer(i64),
    Text(String),
} }

/// The id of an alkane; numbers in decimal digits.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct AlkaneIdDigits {
    /// `block`.
    pub block: String,
    /// `tx`.
    pub tx: String,
}

/// Unspent outputs in three lists, each ascending by height.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Balances {
    /// Outputs with alkanes.
    pub assets: Vec<BalancesAssetsItem>,
    /// `metashrewHeight`.
    #[serde(rename = "metashrewHeight")]
    pub metashrew_height: u32,
    /// Always 0: inscriptions and runes are not considered.
    #[serde(rename = "ordHeight")]
    pub ord_height: u32,
    /// Unconfirmed outputs.
    pub pending: Vec<BalancesAssetsItem>,
    /// Outputs without alkanes.
    pub spendable: Vec<BalancesAssetsItem>,
}

/// An unspent output.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct BalancesAssetsItem {
    /// `height`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
    /// txid:vout.
    pub outpoint: String,
    /// `runes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runes: Option<Vec<BalancesAssetsItemRunesItem>>,
    /// Satoshis.
    pub value: u64,
}

/// An amount of an alkane, all in decimal digits.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct BalancesAssetsItemRunesItem {
    /// `amount`.
    pub amount: String,
    /// `block`.
    pub block: String,
    /// `tx`.
    pub tx: String,
}

/// Whose outputs.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct BalancesRequest {
    /// `address`.
    pub address: String,
    /// A second address.
    #[serde(rename = "assetAddress", default, skip_serializing_if = "Option::is_none")]
    pub asset_address: Option<String>,
    /// Protocol tag, 1 when absent; lists of any other are empty.
    #[serde(rename = "protocolTag", default, skip_serializing_if = "Option::is_none")]
    pub protocol_tag: Option<NumberOrText>,
}

/// Digests of a block, each `0x` and 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct BlockDigestAnswer {
    /// Of everything that was written up to the block.
    pub cumulative: String,
    /// Of everything that was written in the block.
    pub digest: String,
    /// Version of the store's format.
    pub format: u32,
    /// In display order.
    pub hash: String,
    /// `height`.
    pub height: u32,
    /// By the name of the module.
    pub modules: std::collections::BTreeMap<String, ModuleDigestAnswer>,
    /// `network`.
    pub network: String,
}

/// A message of a block, with its trace.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct BlockTrace {
    /// Its shadow output.
    pub outpoint: PlainOutpoint,
    /// `trace`.
    pub trace: Vec<TraceEvent>,
    /// Index of its transaction in the block.
    pub txindex: u32,
}

/// Alkanes of a block.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ByHeightAnswer {
    /// `runes`.
    pub runes: Vec<FirstSeen>,
}

/// A call to simulate.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Call {
    /// Incoming alkanes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alkanes: Option<Vec<CallAlkanesItem>>,
    /// The block that the call reads, consensus encoding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
    /// The height that the call reads; that of the view when absent or out of range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<NumberOrText>,
    /// The opcode and its arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Vec<NumberOrText>>,
    /// The contract.
    pub target: Target,
    /// The transaction that the call reads, consensus encoding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<String>,
    /// The shadow output of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vout: Option<NumberOrText>,
}

/// `CallAlkanesItem` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CallAlkanesItem {
    /// `id`.
    pub id: Target,
    /// `value`.
    pub value: NumberOrText,
}

/// What a call answered.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CallResponse {
    /// What it hands on.
    pub alkanes: Vec<Transfer>,
    /// `0x` and hexadecimal digits.
    pub data: String,
    /// Why it failed; absent in traces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it stored.
    pub storage: Vec<StoredItem>,
}

/// A new key. The key itself is not shown again.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CreatedApiKey {
    /// `createdAt`.
    #[serde(rename = "createdAt", default)]
    pub created_at: Option<String>,
    /// When it expires, if it does.
    #[serde(rename = "expiresAt", default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// Seconds for which the old key still works.
    #[serde(rename = "graceSeconds", default, skip_serializing_if = "Option::is_none")]
    pub grace_seconds: Option<u64>,
    /// `id`.
    pub id: String,
    /// The key as requests send it.
    pub key: String,
    /// `name`.
    pub name: String,
    /// The id of the key that it replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
}

/// The output that made a contract.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Deployment {
    /// `outpoint`.
    pub outpoint: DeploymentOutpoint,
}

/// Empty for built-in and unknown contracts.
#[derive(Default)]
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct DeploymentOutpoint {
    /// `txid`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub txid: Option<String>,
    /// `vout`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vout: Option<u32>,
}

/// Target to feerate.
pub type EsploraFees = std::collections::BTreeMap<String, serde_json::Number>;

/// An unspent output.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EsploraOutput {
    /// `status`.
    pub status: TransactionStatus,
    /// `txid`.
    pub txid: Hash,
    /// Satoshis.
    pub value: u64,
    /// `vout`.
    pub vout: u32,
}

/// What spent an output, if something did.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EsploraSpend {
    /// `spent`.
    pub spent: bool,
    /// `status`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TransactionStatus>,
    /// `txid`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub txid: Option<Hash>,
    /// `vin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vin: Option<u32>,
}

/// A transaction.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EsploraTransaction {
    /// Satoshis; absent while an output that it spends is not known yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fee: Option<u64>,
    /// `locktime`.
    pub locktime: u32,
    /// `size`.
    pub size: u32,
    /// `status`.
    pub status: TransactionStatus,
    /// `txid`.
    pub txid: Hash,
    /// `version`.
    pub version: u32,
    /// `vin`.
    pub vin: Vec<std::collections::BTreeMap<String, serde_json::Value>>,
    /// `vout`.
    pub vout: Vec<std::collections::BTreeMap<String, serde_json::Value>>,
    /// `weight`.
    pub weight: u64,
}

/// In what a contract was called.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EventContext {
    /// `caller`.
    pub caller: AlkaneIdDigits,
    /// `incomingAlkanes`.
    #[serde(rename = "incomingAlkanes")]
    pub incoming_alkanes: Vec<Transfer>,
    /// The operation first.
    pub inputs: Vec<String>,
    /// `myself`.
    pub myself: AlkaneIdDigits,
    /// `vout`.
    pub vout: u32,
}

one_of! {
/// By the event: the id of a contract that was made, a call, how it ended, or that the rest was too long.
EventData {
    AlkaneIdDigits(AlkaneIdDigits),
    EventDataCase2(EventDataCase2),
    EventDataCase3(EventDataCase3),
    EventDataCase4(EventDataCase4),
} }

/// `EventDataCase2` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EventDataCase2 {
    /// `context`.
    pub context: EventContext,
    /// `fuel`.
    pub fuel: u64,
    /// `call`, `delegatecall` or `staticcall`.
    pub r#type: String,
}

/// `EventDataCase3` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EventDataCase3 {
    /// `fuelUsed`.
    #[serde(rename = "fuelUsed")]
    pub fuel_used: u64,
    /// `response`.
    pub response: CallResponse,
    /// `success` or `revert`.
    pub status: String,
}

/// `EventDataCase4` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EventDataCase4 {
    /// Size of all events.
    pub bytes: u64,
    /// The contracts that were called.
    pub contracts: Vec<AlkaneIdDigits>,
    /// Of all events, SHA-256.
    pub digest: String,
    /// How many there were.
    pub events: u64,
    /// `success` or `revert`.
    pub status: String,
}

/// An alkane.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FirstSeen {
    /// `id`.
    pub id: AlkaneIdDigits,
    /// `name`.
    pub name: String,
    /// Alias of `id`.
    #[serde(rename = "runeId")]
    pub rune_id: AlkaneIdDigits,
    /// `symbol`.
    pub symbol: String,
}

/// 32 bytes in display order
pub type Hash = String;

one_of! {
/// `HeightOrObject` of the descriptions.
HeightOrObject {
    NumberOrText(NumberOrText),
    HeightOrObjectCase2(HeightOrObjectCase2),
} }

/// `HeightOrObjectCase2` of the descriptions.
#[derive(Default)]
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct HeightOrObjectCase2 {
    /// `block`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<NumberOrText>,
    /// `height`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<NumberOrText>,
}

/// An inscription.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Inscription {
    /// `address`.
    #[serde(default)]
    pub address: Option<String>,
    /// `charms`.
    pub charms: Vec<String>,
    /// `child_count`.
    pub child_count: u64,
    /// The first four.
    pub children: Vec<InscriptionId>,
    /// `content_length`.
    #[serde(default)]
    pub content_length: Option<u64>,
    /// `content_type`.
    #[serde(default)]
    pub content_type: Option<String>,
    /// `effective_content_type`.
    #[serde(default)]
    pub effective_content_type: Option<String>,
    /// Satoshis.
    pub fee: u64,
    /// `height`.
    pub height: u32,
    /// `id`.
    pub id: InscriptionId,
    /// `metaprotocol`.
    #[serde(default)]
    pub metaprotocol: Option<String>,
    /// `next`.
    #[serde(default)]
    pub next: Option<InscriptionId>,
    /// Negative for cursed inscriptions.
    pub number: i32,
    /// The first four.
    pub parents: Vec<InscriptionId>,
    /// `previous`.
    #[serde(default)]
    pub previous: Option<InscriptionId>,
    /// `properties`.
    pub properties: std::collections::BTreeMap<String, serde_json::Value>,
    /// `rune`.
    #[serde(default)]
    pub rune: Option<String>,
    /// `sat`.
    #[serde(default)]
    pub sat: Option<u64>,
    /// `satpoint`.
    pub satpoint: String,
    /// Unix seconds.
    pub timestamp: i64,
    /// Satoshis.
    #[serde(default)]
    pub value: Option<u64>,
}

/// `InscriptionId` of the descriptions.
pub type InscriptionId = String;

/// A page of inscriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct InscriptionsPage {
    /// `ids`.
    pub ids: Vec<InscriptionId>,
    /// `more`.
    pub more: bool,
    /// `page_index`.
    pub page_index: u32,
}

/// Alkanes that a contract holds.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Inventory {
    /// `alkanes`.
    pub alkanes: Vec<Transfer>,
}

/// A key in listings. Times are ISO 8601 in UTC.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ListedApiKey {
    /// Whether it has the rights of an operator's key.
    pub admin: bool,
    /// `createdAt`.
    #[serde(rename = "createdAt", default)]
    pub created_at: Option<String>,
    /// When it ends, if an end is set.
    #[serde(rename = "expiresAt", default)]
    pub expires_at: Option<String>,
    /// `id`.
    pub id: String,
    /// `lastUsedAt`.
    #[serde(rename = "lastUsedAt", default)]
    pub last_used_at: Option<String>,
    /// `name`.
    pub name: String,
    /// `perDay`.
    #[serde(rename = "perDay", default)]
    pub per_day: Option<u32>,
    /// `perMinute`.
    #[serde(rename = "perMinute", default)]
    pub per_minute: Option<u32>,
    /// `plan`.
    pub plan: String,
    /// First characters of the key.
    pub prefix: String,
    /// `requestCount`.
    #[serde(rename = "requestCount")]
    pub request_count: i64,
    /// `revokedAt`.
    #[serde(rename = "revokedAt", default)]
    pub revoked_at: Option<String>,
}

/// Keys, without the secret part.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ListedApiKeys {
    /// `keys`.
    pub keys: Vec<ListedApiKey>,
}

/// Digests of a module's writes in a block.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ModuleDigestAnswer {
    /// `digest`.
    pub digest: String,
    /// Version of the module's tables.
    pub version: u32,
}

one_of! {
/// The answer of one of the calls.
MultiAnswer {
    MultiAnswerCase1(MultiAnswerCase1),
    MultiAnswerCase2(MultiAnswerCase2),
} }

/// `MultiAnswerCase1` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct MultiAnswerCase1 {
    /// `result`.
    pub result: serde_json::Value,
}

/// `MultiAnswerCase2` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct MultiAnswerCase2 {
    /// `error`.
    pub error: std::collections::BTreeMap<String, serde_json::Value>,
}

/// A method and its params; any number of them follow each other.
pub type MultiCall = Vec<serde_json::Value>;

/// An output.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct OrdOutputRecord {
    /// `address`.
    #[serde(default)]
    pub address: Option<String>,
    /// `confirmations`.
    pub confirmations: u32,
    /// `indexed`.
    pub indexed: bool,
    /// `inscriptions`.
    pub inscriptions: Vec<InscriptionId>,
    /// `outpoint`.
    pub outpoint: String,
    /// By name.
    pub runes: std::collections::BTreeMap<String, serde_json::Value>,
    /// `sat_ranges`.
    #[serde(default)]
    pub sat_ranges: Option<Vec<Vec<u64>>>,
    /// `script_pubkey`.
    pub script_pubkey: String,
    /// `spent`.
    pub spent: bool,
    /// `transaction`.
    pub transaction: Hash,
    /// Satoshis.
    pub value: u64,
}

/// The shadow output of a message.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct OutpointObject {
    /// In either order of its bytes.
    pub txid: String,
    /// Its number.
    pub vout: NumberOrText,
}

one_of! {
/// An output, or its txid.
OutpointOrTxid {
    OutpointObject(OutpointObject),
    Text(String),
} }

/// The output to be paid.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PaymentOutput {
    /// In hexadecimal digits.
    pub script: String,
    /// Satoshis.
    pub value: u64,
}

/// A pending payment.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PendingPayment {
    /// `false`.
    pub fulfilled: bool,
    /// `output`.
    pub output: PaymentOutput,
    /// The output that the wrapped bitcoin was burnt with.
    pub spendable: PlainOutpoint,
}

/// Pending payments.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PendingPayments {
    /// `payments`.
    pub payments: Vec<PendingPayment>,
}

/// An output.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PlainOutpoint {
    /// In display order.
    pub txid: String,
    /// `vout`.
    pub vout: u32,
}

/// The revoked key.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RevokedApiKey {
    /// `id`.
    pub id: String,
    /// `name`.
    pub name: String,
    /// `revokedAt`.
    #[serde(rename = "revokedAt", default)]
    pub revoked_at: Option<String>,
}

/// A rune.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Rune {
    /// Integers have up to 128 bits.
    pub entry: std::collections::BTreeMap<String, serde_json::Value>,
    /// `id`.
    pub id: String,
    /// `mintable`.
    pub mintable: bool,
    /// `parent`.
    #[serde(default)]
    pub parent: Option<InscriptionId>,
}

/// The key of the saved script.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SavedScript {
    /// SHA-256 of the source, 64 hexadecimal digits.
    pub hash: String,
}

/// What a script returned.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ScriptResult {
    /// Calls of `_RPC` that the script made.
    pub calls: u32,
    /// `error`.
    #[serde(default)]
    pub error: Option<ScriptResultError>,
    /// The first value that the script returned.
    pub returns: serde_json::Value,
    /// Milliseconds.
    pub runtime: u64,
}

/// Why a script ended early.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ScriptResultError {
    /// `code`.
    pub code: i64,
    /// Machine-readable kind of the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<serde_json::Value>,
    /// `message`.
    pub message: String,
}

/// Outcome of a simulated call.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Simulated {
    /// `execution`.
    pub execution: CallResponse,
    /// Fuel used.
    #[serde(rename = "gasUsed")]
    pub gas_used: u64,
    /// 0, or 1 where it fails.
    pub status: u32,
    /// `trace`.
    pub trace: Vec<TraceEvent>,
}

/// The contract as one of `id`, `target`, `alkaneId`, or as `block` and `tx`; the key as `path` or `key`
#[derive(Default)]
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct StorageRequest {
    /// `alkaneId`.
    #[serde(rename = "alkaneId", default, skip_serializing_if = "Option::is_none")]
    pub alkane_id: Option<Target>,
    /// `block`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<NumberOrText>,
    /// `id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Target>,
    /// The same as path
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Text, or bytes in hexadecimal digits after 0x
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// `target`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// `tx`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx: Option<NumberOrText>,
}

/// A value that a contract stored.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct StoredItem {
    /// Its segments between slashes, in hexadecimal digits where they are no plain words.
    pub key: String,
    /// `0x` and hexadecimal digits.
    pub value: String,
}

one_of! {
/// An id, alone or as a member of an object
Target {
    Text(String),
    TargetCase2(TargetCase2),
    Object(std::collections::BTreeMap<String, serde_json::Value>),
} }

/// `TargetCase2` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TargetCase2 {
    /// `block`.
    pub block: NumberOrText,
    /// `tx`.
    pub tx: NumberOrText,
}

/// An event of a trace.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TraceEvent {
    /// `data`.
    pub data: EventData,
    /// `create`, `invoke`, `return` or `omitted`.
    pub event: String,
}

/// Where a transaction is.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TransactionStatus {
    /// `block_hash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_hash: Option<Hash>,
    /// `block_height`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_height: Option<u32>,
    /// Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_time: Option<u32>,
    /// `confirmed`.
    pub confirmed: bool,
}

/// An amount of an alkane.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Transfer {
    /// `id`.
    pub id: AlkaneIdDigits,
    /// Base units in decimal digits.
    pub value: String,
}

/// Requests of an account.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Usage {
    /// Most requests first; at most 1,000.
    pub callers: Vec<UsageOfCaller>,
    /// Days and then surfaces ascending; without those in which there was no request.
    pub surfaces: Vec<UsageOfSurface>,
}

/// Requests of one key, alias or origin in all of the days.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct UsageOfCaller {
    /// Answered with any other status of 400 or above.
    pub errors: i64,
    /// Its number; of a key, as `admin_listApiKeys` shows it.
    pub id: String,
    /// `key`, `alias` or `origin`.
    pub kind: String,
    /// Refused by a rate limit: 429.
    #[serde(rename = "rateLimited")]
    pub rate_limited: i64,
    /// All requests, whatever their status.
    pub requests: i64,
}

/// Requests on one surface in one UTC day.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct UsageOfSurface {
    /// Such as `2026-11-28`.
    #[serde(default)]
    pub day: Option<String>,
    /// Answered with any other status of 400 or above.
    pub errors: i64,
    /// Refused by a rate limit: 429.
    #[serde(rename = "rateLimited")]
    pub rate_limited: i64,
    /// All requests, whatever their status.
    pub requests: i64,
    /// `surface`.
    pub surface: String,
}

one_of! {
/// A message in hexadecimal digits after 0x, or an object.
ViewInput {
    Text(String),
    Object(std::collections::BTreeMap<String, serde_json::Value>),
} }

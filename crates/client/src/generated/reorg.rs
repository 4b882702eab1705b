//! Paraffin JSON-RPC: reorg.
// Written from the declarations: docs/clients.md says how.

use crate::method::{Form, Method};
#[allow(unused_imports, reason = "not every document has all")]
use crate::value::{Amount, NumberOrText, one_of};

/// The height at which the chain ends: that in the path, whatever the real one is
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getblockcount {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
}

impl Getblockcount {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32) -> Self {
        Self { reorg_height }
    }
}

impl Method for Getblockcount {
    const NAME: &'static str = "getblockcount";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = u64;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// Hash of the block at which the chain ends
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getbestblockhash {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
}

impl Getbestblockhash {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32) -> Self {
        Self { reorg_height }
    }
}

impl Method for Getbestblockhash {
    const NAME: &'static str = "getbestblockhash";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = Hash;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// Hash of the block at a height; above the end of the chain one that no block has
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getblockhash {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// An integer.
    pub height: NumberOrText,
}

impl Getblockhash {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, height: impl Into<NumberOrText>) -> Self {
        Self { reorg_height, height: height.into() }
    }
}

impl Method for Getblockhash {
    const NAME: &'static str = "getblockhash";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["height"];
    type Answer = Hash;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// What a PSBT still lacks
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Analyzepsbt {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `psbt`.
    pub psbt: String,
}

impl Analyzepsbt {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, psbt: impl Into<String>) -> Self {
        Self { reorg_height, psbt: psbt.into() }
    }
}

impl Method for Analyzepsbt {
    const NAME: &'static str = "analyzepsbt";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["psbt"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// PSBTs of one transaction as one
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Combinepsbt {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `txs`.
    pub txs: Vec<String>,
}

impl Combinepsbt {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, txs: Vec<String>) -> Self {
        Self { reorg_height, txs }
    }
}

impl Method for Combinepsbt {
    const NAME: &'static str = "combinepsbt";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txs"];
    type Answer = String;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// Partly signed transactions as one
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Combinerawtransaction {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `txs`.
    pub txs: Vec<String>,
}

impl Combinerawtransaction {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, txs: Vec<String>) -> Self {
        Self { reorg_height, txs }
    }
}

impl Method for Combinerawtransaction {
    const NAME: &'static str = "combinerawtransaction";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txs"];
    type Answer = String;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// A raw transaction as a PSBT
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Converttopsbt {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `hexstring`.
    pub hexstring: String,
    /// `permitsigdata`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permitsigdata: Option<bool>,
    /// `iswitness`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iswitness: Option<bool>,
}

impl Converttopsbt {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, hexstring: impl Into<String>) -> Self {
        Self { reorg_height, hexstring: hexstring.into(), permitsigdata: None, iswitness: None }
    }
}

impl Method for Converttopsbt {
    const NAME: &'static str = "converttopsbt";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["hexstring", "permitsigdata", "iswitness"];
    type Answer = String;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// A multi-signature address of public keys
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Createmultisig {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `nrequired`.
    pub nrequired: u64,
    /// `keys`.
    pub keys: Vec<String>,
    /// `address_type`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address_type: Option<String>,
}

impl Createmultisig {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, nrequired: u64, keys: Vec<String>) -> Self {
        Self { reorg_height, nrequired, keys, address_type: None }
    }
}

impl Method for Createmultisig {
    const NAME: &'static str = "createmultisig";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["nrequired", "keys", "address_type"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// A PSBT of inputs and outputs
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Createpsbt {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
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

impl Createpsbt {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, inputs: Vec<std::collections::BTreeMap<String, serde_json::Value>>, outputs: serde_json::Value) -> Self {
        Self { reorg_height, inputs, outputs, locktime: None, replaceable: None, version: None }
    }
}

impl Method for Createpsbt {
    const NAME: &'static str = "createpsbt";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["inputs", "outputs", "locktime", "replaceable", "version"];
    type Answer = String;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// An unsigned transaction of inputs and outputs
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Createrawtransaction {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
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

impl Createrawtransaction {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, inputs: Vec<std::collections::BTreeMap<String, serde_json::Value>>, outputs: serde_json::Value) -> Self {
        Self { reorg_height, inputs, outputs, locktime: None, replaceable: None, version: None }
    }
}

impl Method for Createrawtransaction {
    const NAME: &'static str = "createrawtransaction";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["inputs", "outputs", "locktime", "replaceable", "version"];
    type Answer = String;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// A PSBT as an object
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Decodepsbt {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `psbt`.
    pub psbt: String,
}

impl Decodepsbt {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, psbt: impl Into<String>) -> Self {
        Self { reorg_height, psbt: psbt.into() }
    }
}

impl Method for Decodepsbt {
    const NAME: &'static str = "decodepsbt";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["psbt"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// A raw transaction as an object
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Decoderawtransaction {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `hexstring`.
    pub hexstring: String,
    /// `iswitness`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iswitness: Option<bool>,
}

impl Decoderawtransaction {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, hexstring: impl Into<String>) -> Self {
        Self { reorg_height, hexstring: hexstring.into(), iswitness: None }
    }
}

impl Method for Decoderawtransaction {
    const NAME: &'static str = "decoderawtransaction";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["hexstring", "iswitness"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// A script as an object
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Decodescript {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `hexstring`.
    pub hexstring: String,
}

impl Decodescript {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, hexstring: impl Into<String>) -> Self {
        Self { reorg_height, hexstring: hexstring.into() }
    }
}

impl Method for Decodescript {
    const NAME: &'static str = "decodescript";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["hexstring"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// Addresses of a descriptor
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Deriveaddresses {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `descriptor`.
    pub descriptor: String,
    /// `range`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<serde_json::Value>,
}

impl Deriveaddresses {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, descriptor: impl Into<String>) -> Self {
        Self { reorg_height, descriptor: descriptor.into(), range: None }
    }
}

impl Method for Deriveaddresses {
    const NAME: &'static str = "deriveaddresses";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["descriptor", "range"];
    type Answer = Vec<serde_json::Value>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// Feerate for a target, with what it was estimated from
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Estimaterawfee {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `conf_target`.
    pub conf_target: u64,
    /// `threshold`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<serde_json::Number>,
}

impl Estimaterawfee {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, conf_target: u64) -> Self {
        Self { reorg_height, conf_target, threshold: None }
    }
}

impl Method for Estimaterawfee {
    const NAME: &'static str = "estimaterawfee";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["conf_target", "threshold"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// Feerate for a target
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Estimatesmartfee {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `conf_target`.
    pub conf_target: u64,
    /// `estimate_mode`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate_mode: Option<String>,
}

impl Estimatesmartfee {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, conf_target: u64) -> Self {
        Self { reorg_height, conf_target, estimate_mode: None }
    }
}

impl Method for Estimatesmartfee {
    const NAME: &'static str = "estimatesmartfee";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["conf_target", "estimate_mode"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// A signed PSBT as a transaction
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Finalizepsbt {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `psbt`.
    pub psbt: String,
    /// `extract`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extract: Option<bool>,
}

impl Finalizepsbt {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, psbt: impl Into<String>) -> Self {
        Self { reorg_height, psbt: psbt.into(), extract: None }
    }
}

impl Method for Finalizepsbt {
    const NAME: &'static str = "finalizepsbt";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["psbt", "extract"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// A block in hexadecimal digits, or as an object
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getblock {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `blockhash`.
    pub blockhash: Hash,
    /// `verbosity`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbosity: Option<serde_json::Value>,
}

impl Getblock {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, blockhash: impl Into<Hash>) -> Self {
        Self { reorg_height, blockhash: blockhash.into(), verbosity: None }
    }
}

impl Method for Getblock {
    const NAME: &'static str = "getblock";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["blockhash", "verbosity"];
    type Answer = serde_json::Value;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// State of the node's chain
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getblockchaininfo {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
}

impl Getblockchaininfo {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32) -> Self {
        Self { reorg_height }
    }
}

impl Method for Getblockchaininfo {
    const NAME: &'static str = "getblockchaininfo";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// The compact filter of a block
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getblockfilter {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `blockhash`.
    pub blockhash: Hash,
    /// `filtertype`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filtertype: Option<String>,
}

impl Getblockfilter {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, blockhash: impl Into<Hash>) -> Self {
        Self { reorg_height, blockhash: blockhash.into(), filtertype: None }
    }
}

impl Method for Getblockfilter {
    const NAME: &'static str = "getblockfilter";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["blockhash", "filtertype"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// A header in hexadecimal digits, or as an object
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getblockheader {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `blockhash`.
    pub blockhash: Hash,
    /// `verbose`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbose: Option<bool>,
}

impl Getblockheader {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, blockhash: impl Into<Hash>) -> Self {
        Self { reorg_height, blockhash: blockhash.into(), verbose: None }
    }
}

impl Method for Getblockheader {
    const NAME: &'static str = "getblockheader";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["blockhash", "verbose"];
    type Answer = serde_json::Value;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// Figures of a block
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getblockstats {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `hash_or_height`.
    pub hash_or_height: serde_json::Value,
    /// `stats`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stats: Option<Vec<String>>,
}

impl Getblockstats {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, hash_or_height: serde_json::Value) -> Self {
        Self { reorg_height, hash_or_height, stats: None }
    }
}

impl Method for Getblockstats {
    const NAME: &'static str = "getblockstats";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["hash_or_height", "stats"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// The node's chain states
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getchainstates {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
}

impl Getchainstates {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32) -> Self {
        Self { reorg_height }
    }
}

impl Method for Getchainstates {
    const NAME: &'static str = "getchainstates";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// All branches that the node knows
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getchaintips {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
}

impl Getchaintips {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32) -> Self {
        Self { reorg_height }
    }
}

impl Method for Getchaintips {
    const NAME: &'static str = "getchaintips";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = Vec<std::collections::BTreeMap<String, serde_json::Value>>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// Transactions in a span of blocks
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getchaintxstats {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `nblocks`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nblocks: Option<u64>,
    /// `blockhash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blockhash: Option<Hash>,
}

impl Getchaintxstats {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32) -> Self {
        Self { reorg_height, nblocks: None, blockhash: None }
    }
}

impl Method for Getchaintxstats {
    const NAME: &'static str = "getchaintxstats";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["nblocks", "blockhash"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// State of soft forks
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getdeploymentinfo {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `blockhash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blockhash: Option<Hash>,
}

impl Getdeploymentinfo {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32) -> Self {
        Self { reorg_height, blockhash: None }
    }
}

impl Method for Getdeploymentinfo {
    const NAME: &'static str = "getdeploymentinfo";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["blockhash"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// A descriptor in canonical form, with its checksum
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getdescriptorinfo {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `descriptor`.
    pub descriptor: String,
}

impl Getdescriptorinfo {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, descriptor: impl Into<String>) -> Self {
        Self { reorg_height, descriptor: descriptor.into() }
    }
}

impl Method for Getdescriptorinfo {
    const NAME: &'static str = "getdescriptorinfo";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["descriptor"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// Difficulty as a multiple of the least
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getdifficulty {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
}

impl Getdifficulty {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32) -> Self {
        Self { reorg_height }
    }
}

impl Method for Getdifficulty {
    const NAME: &'static str = "getdifficulty";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = serde_json::Number;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// The node's own indexes
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getindexinfo {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `index_name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_name: Option<String>,
}

impl Getindexinfo {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32) -> Self {
        Self { reorg_height, index_name: None }
    }
}

impl Method for Getindexinfo {
    const NAME: &'static str = "getindexinfo";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["index_name"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// Unconfirmed ancestors of a transaction
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getmempoolancestors {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `txid`.
    pub txid: Hash,
    /// `verbose`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbose: Option<bool>,
}

impl Getmempoolancestors {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, txid: impl Into<Hash>) -> Self {
        Self { reorg_height, txid: txid.into(), verbose: None }
    }
}

impl Method for Getmempoolancestors {
    const NAME: &'static str = "getmempoolancestors";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txid", "verbose"];
    type Answer = serde_json::Value;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// Unconfirmed transactions that belong together
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getmempoolcluster {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `txid`.
    pub txid: Hash,
}

impl Getmempoolcluster {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, txid: impl Into<Hash>) -> Self {
        Self { reorg_height, txid: txid.into() }
    }
}

impl Method for Getmempoolcluster {
    const NAME: &'static str = "getmempoolcluster";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txid"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// Unconfirmed descendants of a transaction
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getmempooldescendants {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `txid`.
    pub txid: Hash,
    /// `verbose`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbose: Option<bool>,
}

impl Getmempooldescendants {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, txid: impl Into<Hash>) -> Self {
        Self { reorg_height, txid: txid.into(), verbose: None }
    }
}

impl Method for Getmempooldescendants {
    const NAME: &'static str = "getmempooldescendants";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txid", "verbose"];
    type Answer = serde_json::Value;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// An unconfirmed transaction
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getmempoolentry {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `txid`.
    pub txid: Hash,
}

impl Getmempoolentry {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, txid: impl Into<Hash>) -> Self {
        Self { reorg_height, txid: txid.into() }
    }
}

impl Method for Getmempoolentry {
    const NAME: &'static str = "getmempoolentry";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txid"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// State of the node's mempool
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getmempoolinfo {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
}

impl Getmempoolinfo {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32) -> Self {
        Self { reorg_height }
    }
}

impl Method for Getmempoolinfo {
    const NAME: &'static str = "getmempoolinfo";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// Transactions whose parents the node lacks
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getorphantxs {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `verbosity`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbosity: Option<u64>,
}

impl Getorphantxs {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32) -> Self {
        Self { reorg_height, verbosity: None }
    }
}

impl Method for Getorphantxs {
    const NAME: &'static str = "getorphantxs";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["verbosity"];
    type Answer = Vec<serde_json::Value>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// Unconfirmed transactions
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getrawmempool {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `verbose`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbose: Option<bool>,
    /// `mempool_sequence`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mempool_sequence: Option<bool>,
}

impl Getrawmempool {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32) -> Self {
        Self { reorg_height, verbose: None, mempool_sequence: None }
    }
}

impl Method for Getrawmempool {
    const NAME: &'static str = "getrawmempool";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["verbose", "mempool_sequence"];
    type Answer = serde_json::Value;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// A transaction in hexadecimal digits, or as an object
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getrawtransaction {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `txid`.
    pub txid: Hash,
    /// `verbosity`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbosity: Option<serde_json::Value>,
    /// `blockhash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blockhash: Option<Hash>,
}

impl Getrawtransaction {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, txid: impl Into<Hash>) -> Self {
        Self { reorg_height, txid: txid.into(), verbosity: None, blockhash: None }
    }
}

impl Method for Getrawtransaction {
    const NAME: &'static str = "getrawtransaction";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txid", "verbosity", "blockhash"];
    type Answer = serde_json::Value;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// An unspent output
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Gettxout {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `txid`.
    pub txid: Hash,
    /// `n`.
    pub n: u64,
    /// `include_mempool`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_mempool: Option<bool>,
}

impl Gettxout {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, txid: impl Into<Hash>, n: u64) -> Self {
        Self { reorg_height, txid: txid.into(), n, include_mempool: None }
    }
}

impl Method for Gettxout {
    const NAME: &'static str = "gettxout";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txid", "n", "include_mempool"];
    type Answer = Option<std::collections::BTreeMap<String, serde_json::Value>>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// Proof that a block holds transactions
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Gettxoutproof {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `txids`.
    pub txids: Vec<Hash>,
    /// `blockhash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blockhash: Option<Hash>,
}

impl Gettxoutproof {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, txids: Vec<Hash>) -> Self {
        Self { reorg_height, txids, blockhash: None }
    }
}

impl Method for Gettxoutproof {
    const NAME: &'static str = "gettxoutproof";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txids", "blockhash"];
    type Answer = String;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// Which unconfirmed transactions spend outputs
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Gettxspendingprevout {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `outputs`.
    pub outputs: Vec<std::collections::BTreeMap<String, serde_json::Value>>,
}

impl Gettxspendingprevout {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, outputs: Vec<std::collections::BTreeMap<String, serde_json::Value>>) -> Self {
        Self { reorg_height, outputs }
    }
}

impl Method for Gettxspendingprevout {
    const NAME: &'static str = "gettxspendingprevout";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["outputs"];
    type Answer = Vec<std::collections::BTreeMap<String, serde_json::Value>>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// PSBTs of several transactions as one
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Joinpsbts {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `txs`.
    pub txs: Vec<String>,
}

impl Joinpsbts {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, txs: Vec<String>) -> Self {
        Self { reorg_height, txs }
    }
}

impl Method for Joinpsbts {
    const NAME: &'static str = "joinpsbts";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["txs"];
    type Answer = String;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// Hands a transaction to the network; its txid
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Sendrawtransaction {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `hexstring`.
    pub hexstring: String,
    /// `maxfeerate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maxfeerate: Option<serde_json::Value>,
    /// `maxburnamount`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maxburnamount: Option<serde_json::Value>,
}

impl Sendrawtransaction {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, hexstring: impl Into<String>) -> Self {
        Self { reorg_height, hexstring: hexstring.into(), maxfeerate: None, maxburnamount: None }
    }
}

impl Method for Sendrawtransaction {
    const NAME: &'static str = "sendrawtransaction";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["hexstring", "maxfeerate", "maxburnamount"];
    type Answer = Hash;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// Hands several transactions to the network together
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Submitpackage {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `package`.
    pub package: Vec<String>,
    /// `maxfeerate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maxfeerate: Option<serde_json::Value>,
    /// `maxburnamount`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maxburnamount: Option<serde_json::Value>,
}

impl Submitpackage {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, package: Vec<String>) -> Self {
        Self { reorg_height, package, maxfeerate: None, maxburnamount: None }
    }
}

impl Method for Submitpackage {
    const NAME: &'static str = "submitpackage";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["package", "maxfeerate", "maxburnamount"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// Whether the node would take transactions
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Testmempoolaccept {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `rawtxs`.
    pub rawtxs: Vec<String>,
    /// `maxfeerate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maxfeerate: Option<serde_json::Value>,
}

impl Testmempoolaccept {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, rawtxs: Vec<String>) -> Self {
        Self { reorg_height, rawtxs, maxfeerate: None }
    }
}

impl Method for Testmempoolaccept {
    const NAME: &'static str = "testmempoolaccept";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["rawtxs", "maxfeerate"];
    type Answer = Vec<std::collections::BTreeMap<String, serde_json::Value>>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// A PSBT with the outputs that it spends
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Utxoupdatepsbt {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `psbt`.
    pub psbt: String,
    /// `descriptors`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub descriptors: Option<Vec<serde_json::Value>>,
}

impl Utxoupdatepsbt {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, psbt: impl Into<String>) -> Self {
        Self { reorg_height, psbt: psbt.into(), descriptors: None }
    }
}

impl Method for Utxoupdatepsbt {
    const NAME: &'static str = "utxoupdatepsbt";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["psbt", "descriptors"];
    type Answer = String;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// What an address is
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Validateaddress {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `address`.
    pub address: String,
}

impl Validateaddress {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, address: impl Into<String>) -> Self {
        Self { reorg_height, address: address.into() }
    }
}

impl Method for Validateaddress {
    const NAME: &'static str = "validateaddress";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["address"];
    type Answer = std::collections::BTreeMap<String, serde_json::Value>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// Whether a message was signed by an address
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Verifymessage {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `address`.
    pub address: String,
    /// `signature`.
    pub signature: String,
    /// `message`.
    pub message: String,
}

impl Verifymessage {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, address: impl Into<String>, signature: impl Into<String>, message: impl Into<String>) -> Self {
        Self { reorg_height, address: address.into(), signature: signature.into(), message: message.into() }
    }
}

impl Method for Verifymessage {
    const NAME: &'static str = "verifymessage";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["address", "signature", "message"];
    type Answer = bool;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// The transactions that a proof proves
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Verifytxoutproof {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
    /// `proof`.
    pub proof: String,
}

impl Verifytxoutproof {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32, proof: impl Into<String>) -> Self {
        Self { reorg_height, proof: proof.into() }
    }
}

impl Method for Verifytxoutproof {
    const NAME: &'static str = "verifytxoutproof";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["proof"];
    type Answer = Vec<Hash>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// Fees and sizes of the mempool, best first
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Getmempoolfeeratediagram {
    /// In the path.
    #[serde(skip)]
    pub reorg_height: u32,
}

impl Getmempoolfeeratediagram {
    /// With what must be given.
    #[must_use]
    pub fn new(reorg_height: u32) -> Self {
        Self { reorg_height }
    }
}

impl Method for Getmempoolfeeratediagram {
    const NAME: &'static str = "getmempoolfeeratediagram";
    const SURFACE: &'static str = "reorg";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = Vec<std::collections::BTreeMap<String, serde_json::Value>>;

    fn surface(&self) -> String {
        format!("{}/{}", Self::SURFACE, self.reorg_height)
    }
}

/// 32 bytes in display order
pub type Hash = String;

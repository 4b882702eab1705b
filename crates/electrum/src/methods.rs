//! The methods: each is the struct of its parameters, by position or by name.

use bitcoin::Txid;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::api::Wanted;
use crate::message::Error;
use crate::script_hash::ScriptHash;
use crate::version::{Range, Version};

/// Parameters of a method.
trait Parameters: DeserializeOwned {
    /// As an error names them.
    const TAKES: &'static str;
}

/// A call that can be answered.
#[derive(Debug)]
pub(crate) enum Call {
    Version(Range),
    Ping,
    Banner,
    DonationAddress,
    Features,
    Peers,
    AddPeer,
    Header(HeaderAt),
    Headers(Headers),
    EstimateFee(EstimateFee),
    SubscribeHeaders,
    RelayFee,
    Script(ScriptHash, Wanted),
    Subscribe(ScriptHash),
    Unsubscribe(ScriptHash),
    Broadcast(Broadcast),
    BroadcastPackage(BroadcastPackage),
    Transaction(Transaction),
    MerkleProof(MerkleProof),
    TransactionAt(TransactionAt),
    FeeHistogram,
    MempoolInfo,
}

/// `blockchain.block.header`.
#[derive(Debug, Deserialize)]
pub(crate) struct HeaderAt {
    pub(crate) height: u32,
    /// Checkpoint; 0: none.
    #[serde(default)]
    pub(crate) cp_height: u32,
}

impl Parameters for HeaderAt {
    const TAKES: &'static str = "height, cp_height=0";
}

/// `blockchain.block.headers`.
#[derive(Debug, Deserialize)]
pub(crate) struct Headers {
    pub(crate) start_height: u32,
    pub(crate) count: u32,
    /// Checkpoint; 0: none.
    #[serde(default)]
    pub(crate) cp_height: u32,
}

impl Parameters for Headers {
    const TAKES: &'static str = "start_height, count, cp_height=0";
}

/// `blockchain.estimatefee`.
#[derive(Debug, Deserialize)]
pub(crate) struct EstimateFee {
    /// Blocks until confirmation.
    pub(crate) number: u16,
    /// The node's name of a mode.
    #[serde(default)]
    pub(crate) mode: Option<Mode>,
}

impl Parameters for EstimateFee {
    const TAKES: &'static str = "number, mode=null";
}

/// Modes of the node's estimates.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) enum Mode {
    #[serde(rename = "UNSET", alias = "unset")]
    Unset,
    #[serde(rename = "ECONOMICAL", alias = "economical")]
    Economical,
    #[serde(rename = "CONSERVATIVE", alias = "conservative")]
    Conservative,
}

impl Mode {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Unset => "unset",
            Self::Economical => "economical",
            Self::Conservative => "conservative",
        }
    }
}

/// Every method about a script.
#[derive(Debug, Deserialize)]
struct OfScript {
    scripthash: ScriptHash,
}

impl Parameters for OfScript {
    const TAKES: &'static str = "scripthash, of 64 hexadecimal digits";
}

/// `blockchain.transaction.broadcast`.
#[derive(Debug, Deserialize)]
pub(crate) struct Broadcast {
    pub(crate) raw_tx: String,
}

impl Parameters for Broadcast {
    const TAKES: &'static str = "raw_tx";
}

/// `blockchain.transaction.broadcast_package`.
#[derive(Debug, Deserialize)]
pub(crate) struct BroadcastPackage {
    pub(crate) raw_txs: Vec<String>,
    /// Whether the node's own answer is wanted.
    #[serde(default)]
    pub(crate) verbose: bool,
}

impl Parameters for BroadcastPackage {
    const TAKES: &'static str = "raw_txs, verbose=false";
}

/// `blockchain.transaction.get`.
#[derive(Debug, Deserialize)]
pub(crate) struct Transaction {
    pub(crate) tx_hash: Txid,
    /// Whether the node's own record is wanted.
    #[serde(default)]
    pub(crate) verbose: bool,
}

impl Parameters for Transaction {
    const TAKES: &'static str = "tx_hash, verbose=false";
}

/// `blockchain.transaction.get_merkle`.
#[derive(Debug, Deserialize)]
pub(crate) struct MerkleProof {
    pub(crate) tx_hash: Txid,
    pub(crate) height: u32,
}

impl Parameters for MerkleProof {
    const TAKES: &'static str = "tx_hash, height";
}

/// `blockchain.transaction.id_from_pos`.
#[derive(Debug, Deserialize)]
pub(crate) struct TransactionAt {
    pub(crate) height: u32,
    pub(crate) tx_pos: u32,
    #[serde(default)]
    pub(crate) merkle: bool,
}

impl Parameters for TransactionAt {
    const TAKES: &'static str = "height, tx_pos, merkle=false";
}

fn read<P: Parameters>(params: Option<&RawValue>) -> Result<P, Error> {
    serde_json::from_str(params.map_or("[]", RawValue::get)).map_err(|_| Error::Params(P::TAKES))
}

/// `server.version` ignores additional parameters.
fn read_version(params: Option<&RawValue>) -> Result<Range, Error> {
    #[derive(Deserialize)]
    struct ByName {
        #[serde(default)]
        protocol_version: Option<Range>,
    }
    const TAKES: &str = "client_name=\"\", protocol_version=\"1.4\"";
    let wrong = |_| Error::Params(TAKES);
    let text = params.map_or("[]", RawValue::get);
    let range = if text.starts_with('[') {
        let members: Vec<&RawValue> = serde_json::from_str(text).map_err(wrong)?;
        members.get(1).map(|raw| serde_json::from_str::<Range>(raw.get())).transpose().map_err(wrong)?
    } else {
        serde_json::from_str::<ByName>(text).map_err(wrong)?.protocol_version
    };
    Ok(range.unwrap_or_else(|| Range::Exact("1.4".to_owned())))
}

impl Call {
    /// Reads a call of a client that speaks `version`.
    pub(crate) fn read(method: &str, params: Option<&RawValue>, version: Version) -> Result<Self, Error> {
        let script = |wanted| read::<OfScript>(params).map(|of| Self::Script(of.scripthash, wanted));
        match method {
            "server.version" => read_version(params).map(Self::Version),
            "server.ping" => Ok(Self::Ping),
            "server.banner" => Ok(Self::Banner),
            "server.donation_address" => Ok(Self::DonationAddress),
            "server.features" => Ok(Self::Features),
            "server.peers.subscribe" => Ok(Self::Peers),
            "server.add_peer" => Ok(Self::AddPeer),
            "blockchain.block.header" => read(params).map(Self::Header),
            "blockchain.block.headers" => read(params).map(Self::Headers),
            "blockchain.estimatefee" => read(params).map(Self::EstimateFee),
            "blockchain.headers.subscribe" => Ok(Self::SubscribeHeaders),
            "blockchain.relayfee" if version < Version::V1_6 => Ok(Self::RelayFee),
            "blockchain.scripthash.get_balance" => script(Wanted::Balance),
            "blockchain.scripthash.get_history" => script(Wanted::History),
            "blockchain.scripthash.get_mempool" => script(Wanted::Mempool),
            "blockchain.scripthash.listunspent" => script(Wanted::Unspent),
            "blockchain.scripthash.subscribe" => read::<OfScript>(params).map(|of| Self::Subscribe(of.scripthash)),
            "blockchain.scripthash.unsubscribe" => read::<OfScript>(params).map(|of| Self::Unsubscribe(of.scripthash)),
            "blockchain.transaction.broadcast" => read(params).map(Self::Broadcast),
            "blockchain.transaction.broadcast_package" => read(params).map(Self::BroadcastPackage),
            "blockchain.transaction.get" => read(params).map(Self::Transaction),
            "blockchain.transaction.get_merkle" => read(params).map(Self::MerkleProof),
            "blockchain.transaction.id_from_pos" => read(params).map(Self::TransactionAt),
            "mempool.get_fee_histogram" => Ok(Self::FeeHistogram),
            "mempool.get_info" => Ok(Self::MempoolInfo),
            _ => Err(Error::UnknownMethod),
        }
    }

    /// The query about a script that answers the call, if it is one.
    pub(crate) fn script(&self) -> Option<(ScriptHash, Wanted)> {
        match self {
            Self::Script(script, wanted) => Some((*script, *wanted)),
            Self::Subscribe(script) => Some((*script, Wanted::Status)),
            _ => None,
        }
    }

    /// Cost of the call beside the bytes of its answer: 1 is about a millisecond of work (docs/electrum.md).
    pub(crate) const fn cost(&self) -> f64 {
        match self {
            Self::Script(..) | Self::Subscribe(_) | Self::Header(_) => 0.1,
            Self::EstimateFee(_)
            | Self::RelayFee
            | Self::MempoolInfo
            | Self::Headers(_)
            | Self::Transaction(_)
            | Self::MerkleProof(_)
            | Self::TransactionAt(_) => 0.5,
            Self::Broadcast(_) => 1.0,
            Self::BroadcastPackage(_) => 5.0,
            _ => 0.05,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(method: &str, params: &str) -> Result<Call, Error> {
        let params: Box<RawValue> = serde_json::from_str(params).unwrap();
        Call::read(method, Some(&params), Version::LEAST)
    }

    #[test]
    fn parameters_go_by_position_or_by_name_and_have_defaults() {
        let header = |params| match read("blockchain.block.header", params) {
            Ok(Call::Header(HeaderAt { height, cp_height })) => Ok((height, cp_height)),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error),
        };
        assert_eq!(header("[5]"), Ok((5, 0)));
        assert_eq!(header("[5,8]"), Ok((5, 8)));
        assert_eq!(header(r#"{"height":5,"cp_height":8}"#), Ok((5, 8)));
        for wrong in ["[]", "[-1]", "[5,8,1]", "[1.5]", "[\"5\"]", "{}", "5", "null", "[4294967296]"] {
            assert_eq!(header(wrong), Err(Error::Params("height, cp_height=0")), "{wrong}");
        }
        assert!(read("blockchain.estimatefee", r#"[6,"ECONOMICAL"]"#).is_ok());
        assert!(read("blockchain.estimatefee", "[6,null]").is_ok());
        assert!(read("blockchain.estimatefee", r#"[6,"cheap"]"#).is_err());
        assert!(read("blockchain.scripthash.subscribe", r#"["00"]"#).is_err());
        assert_eq!(read("blockchain.numblocks.subscribe", "[]").unwrap_err(), Error::UnknownMethod);
    }

    #[test]
    fn parameters_after_the_version_are_ignored() {
        let version = |params| match read("server.version", params) {
            Ok(Call::Version(range)) => Version::negotiate(&range).map(Version::text),
            _ => None,
        };
        assert_eq!(version(r#"["electrum/4.6.2",["1.4","1.6"],"garbage",9999.9]"#), Some("1.6"));
        assert_eq!(version(r#"{"client_name":"x","protocol_version":"1.4","dd":{}}"#), Some("1.4"));
        assert_eq!(version("[]"), Some("1.4"));
        assert_eq!(version(r#"["x",5]"#), None);
    }

    #[test]
    fn the_relay_fee_has_another_method_in_1_6() {
        assert!(matches!(Call::read("blockchain.relayfee", None, Version::LEAST), Ok(Call::RelayFee)));
        assert_eq!(Call::read("blockchain.relayfee", None, Version::V1_6).unwrap_err(), Error::UnknownMethod);
    }
}

//! The answer to each method.

use bitcoin::hex::DisplayHex as _;
use serde::Serialize;
use serde_json::value::RawValue;

use super::scripts::HeaderRow;
use super::{End, Session};
use crate::api::{Fault, Proof};
use crate::merkle::HeaderProof;
use crate::message::Error;
use crate::methods::{Call, HeaderAt, Headers, Transaction};
use crate::version::{Range, Version};

/// Most headers in one answer.
const HEADERS_MAX: u32 = 2_016;
/// Most transactions of a package; the node's own limit.
const PACKAGE_MAX: usize = 25;

/// Names of the server: none, it announces itself nowhere.
#[derive(Serialize)]
struct Hosts {}

#[derive(Serialize)]
struct Features<'s> {
    genesis_hash: String,
    hosts: Hosts,
    protocol_max: &'static str,
    protocol_min: &'static str,
    pruning: Option<u32>,
    server_version: &'s str,
    hash_function: &'static str,
}

#[derive(Serialize)]
struct ProvenHeader {
    header: String,
    #[serde(flatten)]
    proof: ProofRow,
}

#[derive(Serialize)]
struct ProofRow {
    branch: Vec<String>,
    root: String,
}

impl From<HeaderProof> for ProofRow {
    fn from(proof: HeaderProof) -> Self {
        Self { branch: proof.branch, root: proof.root }
    }
}

#[derive(Serialize)]
struct HeaderList {
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    headers: Option<Vec<String>>,
    max: u32,
    #[serde(flatten)]
    proof: Option<ProofRow>,
}

#[derive(Serialize)]
struct MerkleRow<'p> {
    block_height: u32,
    merkle: &'p [String],
    pos: u32,
}

#[derive(Serialize)]
struct PositionRow<'p> {
    tx_hash: bitcoin::Txid,
    merkle: &'p [String],
}

#[derive(Serialize)]
struct MempoolInfo<'f> {
    mempoolminfee: &'f RawValue,
    minrelaytxfee: &'f RawValue,
    incrementalrelayfee: &'f RawValue,
}

#[derive(Serialize)]
struct PackageError<'r> {
    txid: &'r str,
    error: &'r str,
}

#[derive(Serialize)]
struct PackageRow<'r> {
    success: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<PackageError<'r>>,
}

/// A refusal of the node, in the words of `ElectrumX`.
fn refused(what: &str) -> impl FnOnce(Fault) -> Fault + '_ {
    move |fault| match fault {
        Fault::Node(reason) => Fault::BadRequest(format!("the {what} was rejected by network rules.\n\n{reason}")),
        fault => fault,
    }
}

impl Session {
    /// Answers one call; without an id it is carried out and nothing is written.
    pub(super) async fn answer(&mut self, id: Option<&RawValue>, call: Call) -> Result<(), End> {
        match call {
            Call::Version(range) => self.negotiate(id, &range).await,
            Call::Script(..) => {
                let answer = self.next_ready();
                let Some(id) = id else { return Ok(()) };
                match answer {
                    Ok(answer) => {
                        self.output.begin(id).await?;
                        self.write_script(&answer).await?;
                        Ok(self.output.end().await?)
                    }
                    Err(fault) => Ok(self.output.error(Some(id), &fault.into()).await?),
                }
            }
            Call::Subscribe(script) => {
                let status = self.subscribe(script);
                self.write(id, status).await
            }
            Call::Transaction(Transaction { tx_hash, verbose: false }) => {
                let bytes = self.api.transaction(tx_hash).await;
                let Some(id) = id else { return Ok(()) };
                match bytes {
                    Ok(bytes) => {
                        self.output.begin(id).await?;
                        self.output.hex(&bytes).await?;
                        Ok(self.output.end().await?)
                    }
                    Err(fault) => Ok(self.output.error(Some(id), &fault.into()).await?),
                }
            }
            Call::Header(params) => {
                let header = self.header(&params).await;
                self.write(id, header).await
            }
            Call::Headers(params) => {
                let headers = self.headers(&params).await;
                self.write(id, headers).await
            }
            Call::Unsubscribe(script) => {
                let was_there = self.unsubscribe(&script);
                self.write(id, Ok(was_there)).await
            }
            Call::SubscribeHeaders => {
                let tip = self.api.tip();
                self.tip = tip.map(|tip| tip.header);
                self.write(id, tip.map(HeaderRow::from).ok_or_else(|| Error::bad_request("nothing is indexed yet")))
                    .await
            }
            Call::Ping => self.write(id, Ok(())).await,
            Call::Banner => {
                let banner = self.shared.settings.banner.clone();
                self.write(id, Ok(banner)).await
            }
            Call::DonationAddress => {
                let address = self.shared.settings.donation_address.clone();
                self.write(id, Ok(address)).await
            }
            Call::Features => {
                let shared = std::sync::Arc::clone(&self.shared);
                let features = Features {
                    genesis_hash: shared.identity.genesis.to_string(),
                    hosts: Hosts {},
                    protocol_max: Version::V1_6.text(),
                    protocol_min: Version::LEAST.text(),
                    pruning: None,
                    server_version: &shared.identity.software,
                    hash_function: "sha256",
                };
                self.write(id, Ok(features)).await
            }
            Call::Peers => self.write(id, Ok([(); 0])).await,
            Call::AddPeer => self.write(id, Ok(false)).await,
            call => self.answer_more(id, call).await,
        }
    }

    /// Calls that need the node or the live set, and proofs.
    async fn answer_more(&mut self, id: Option<&RawValue>, call: Call) -> Result<(), End> {
        match call {
            Call::Transaction(Transaction { tx_hash, .. }) => {
                let record = self.api.transaction_record(tx_hash).await;
                self.write(id, record.map_err(Error::from)).await
            }
            Call::MerkleProof(params) => {
                let proof = self.api.proof(params.tx_hash, params.height).await.map_err(Error::from);
                let row = |Proof { height, position, branch, .. }: &Proof| (*height, *position, branch.clone());
                let row = proof.as_ref().map(row).map_err(Clone::clone);
                match row {
                    Ok((block_height, pos, merkle)) => {
                        self.write(id, Ok(MerkleRow { block_height, merkle: &merkle, pos })).await
                    }
                    Err(error) => self.write(id, Err::<(), _>(error)).await,
                }
            }
            Call::TransactionAt(params) => {
                match self.api.transaction_at(params.height, params.tx_pos, params.merkle).await {
                    Ok(proof) if params.merkle => {
                        self.write(id, Ok(PositionRow { tx_hash: proof.txid, merkle: &proof.branch })).await
                    }
                    Ok(proof) => self.write(id, Ok(proof.txid)).await,
                    Err(fault) => self.write(id, Err::<(), _>(fault.into())).await,
                }
            }
            Call::EstimateFee(params) => {
                if params.number == 0 {
                    return self.write(id, Err::<(), _>(Error::bad_request("number must be at least 1"))).await;
                }
                let mode = params.mode.map(crate::methods::Mode::word);
                match self.api.estimate(params.number, mode).await {
                    Ok(Some(feerate)) => self.write(id, Ok(feerate)).await,
                    Ok(None) => self.write(id, Ok(-1)).await,
                    Err(fault) => self.write(id, Err::<(), _>(fault.into())).await,
                }
            }
            Call::RelayFee => {
                let fees = self.api.mempool_fees().await;
                self.write(id, fees.map(|fees| fees.relay).map_err(Error::from)).await
            }
            Call::MempoolInfo => match self.api.mempool_fees().await {
                Ok(fees) => {
                    let info = MempoolInfo {
                        mempoolminfee: &fees.minimum,
                        minrelaytxfee: &fees.relay,
                        incrementalrelayfee: &fees.increment,
                    };
                    self.write(id, Ok(info)).await
                }
                Err(fault) => self.write(id, Err::<(), _>(fault.into())).await,
            },
            Call::FeeHistogram => match self.api.fee_histogram().await {
                Ok(histogram) => self.write(id, Ok(histogram.as_slice())).await,
                Err(fault) => self.write(id, Err::<(), _>(fault.into())).await,
            },
            Call::Broadcast(params) => {
                let txid = self.api.broadcast(params.raw_tx).await;
                self.write(id, txid.map_err(refused("transaction")).map_err(Error::from)).await
            }
            Call::BroadcastPackage(params) => {
                if params.raw_txs.is_empty() || params.raw_txs.len() > PACKAGE_MAX {
                    let error = Error::bad_request("a package has from 1 to 25 transactions");
                    return self.write(id, Err::<(), _>(error)).await;
                }
                match self.api.broadcast_package(params.raw_txs).await.map_err(refused("tx package")) {
                    Ok(result) if params.verbose => self.write(id, Ok(result.verbose)).await,
                    Ok(result) => {
                        let errors = result.errors.iter().map(|(txid, error)| PackageError { txid, error }).collect();
                        self.write(id, Ok(PackageRow { success: result.is_accepted, errors })).await
                    }
                    Err(fault) => self.write(id, Err::<(), _>(fault.into())).await,
                }
            }
            // The others are answered above.
            _ => self.write(id, Err::<(), _>(Error::UnknownMethod)).await,
        }
    }

    async fn write<T: Serialize + Send + Sync>(
        &mut self,
        id: Option<&RawValue>,
        result: Result<T, Error>,
    ) -> Result<(), End> {
        let Some(id) = id else { return Ok(()) };
        match result {
            Ok(value) => Ok(self.output.answer(id, value).await?),
            Err(error) => Ok(self.output.error(Some(id), &error).await?),
        }
    }

    async fn negotiate(&mut self, id: Option<&RawValue>, range: &Range) -> Result<(), End> {
        if self.version.is_some() {
            return self.write(id, Err::<(), _>(Error::bad_request("server.version already sent"))).await;
        }
        let Some(version) = Version::negotiate(range) else {
            let (least, newest) = (Version::LEAST.text(), Version::V1_6.text());
            let error = Error::bad_request(format!("unsupported protocol version: {least} to {newest} are spoken"));
            self.write(id, Err::<(), _>(error)).await?;
            self.output.text("\n").await?;
            return Err(End::Closed);
        };
        self.version = Some(version);
        let software = self.shared.identity.software.clone();
        self.write(id, Ok((software, version.text()))).await
    }

    /// A checkpoint that a header may be proved against.
    fn check_checkpoint(&self, last: u32, checkpoint: u32) -> Result<(), Error> {
        let tip = self.api.tip().map_or(0, |tip| tip.height);
        if last > checkpoint || checkpoint > tip {
            let words =
                format!("header height {last} must be <= cp_height {checkpoint} which must be <= chain height {tip}");
            return Err(Error::bad_request(words));
        }
        Ok(())
    }

    async fn header(&self, params: &HeaderAt) -> Result<HeaderAnswer, Error> {
        let header = self.api.headers(params.height, 1).await?.into_iter().next();
        let header = header.ok_or_else(|| Error::bad_request(format!("no header at height {}", params.height)))?;
        let header = header.to_lower_hex_string();
        if params.cp_height == 0 {
            return Ok(HeaderAnswer::Alone(header));
        }
        self.check_checkpoint(params.height, params.cp_height)?;
        let proof = self.api.header_proof(params.height, params.cp_height).await?;
        Ok(HeaderAnswer::Proven(ProvenHeader { header, proof: proof.into() }))
    }

    async fn headers(&self, params: &Headers) -> Result<HeaderList, Error> {
        let headers = self.api.headers(params.start_height, params.count.min(HEADERS_MAX)).await?;
        let count = headers.len();
        let proof = match u32::try_from(count).unwrap_or(HEADERS_MAX).checked_sub(1) {
            Some(beyond) if params.cp_height > 0 => {
                let last = params.start_height.saturating_add(beyond);
                self.check_checkpoint(last, params.cp_height)?;
                Some(self.api.header_proof(last, params.cp_height).await?.into())
            }
            _ => None,
        };
        let texts = headers.iter().map(|header| header.to_lower_hex_string());
        let is_list = self.version.is_some_and(|version| version >= Version::V1_6);
        let (hex, headers) = if is_list { (None, Some(texts.collect())) } else { (Some(texts.collect()), None) };
        Ok(HeaderList { count, hex, headers, max: HEADERS_MAX, proof })
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum HeaderAnswer {
    Alone(String),
    Proven(ProvenHeader),
}

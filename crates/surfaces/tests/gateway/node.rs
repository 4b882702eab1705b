//! A Bitcoin node of the tests: answers from blocks and a mempool in memory, and can go away.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bitcoin::consensus::serialize;
use bitcoin::{Block, BlockHash, Transaction, Txid};
use bytes::Bytes;
use paraffin_chain::{NodeError, NodeStatus};
use paraffin_gateway::{BoxFuture, Node};
use serde_json::json;
use serde_json::value::RawValue;

/// Text in the node's own errors that must never reach a caller.
pub(crate) const SECRET_ADDRESS: &str = "http://10.9.8.7:8332";

#[derive(Default)]
pub(crate) struct TestNode {
    away: AtomicBool,
    blocks: Mutex<HashMap<BlockHash, Bytes>>,
    mempool: Mutex<BTreeMap<Txid, Transaction>>,
    pub(crate) calls: Mutex<Vec<(String, String)>>,
}

impl TestNode {
    pub(crate) fn set_away(&self, away: bool) {
        self.away.store(away, Ordering::SeqCst);
    }

    pub(crate) fn add_block(&self, block: &Block) {
        self.blocks.lock().unwrap().insert(block.block_hash(), serialize(block).into());
    }

    pub(crate) fn replace_block(&self, hash: BlockHash, bytes: Vec<u8>) {
        self.blocks.lock().unwrap().insert(hash, bytes.into());
    }

    pub(crate) fn add_unconfirmed(&self, transaction: &Transaction) {
        self.mempool.lock().unwrap().insert(transaction.compute_txid(), transaction.clone());
    }

    fn reach(&self) -> Result<(), NodeError> {
        if self.away.load(Ordering::SeqCst) {
            return Err(NodeError::Unavailable(SECRET_ADDRESS.to_owned()));
        }
        Ok(())
    }

    async fn answer(&self, method: &str, params: &str) -> Result<String, NodeError> {
        self.reach()?;
        self.calls.lock().unwrap().push((method.to_owned(), params.to_owned()));
        Ok(match method {
            "getrawmempool" if params == "[true]" => {
                let mempool = self.mempool.lock().unwrap();
                let entries = mempool.iter().zip(1..).map(|((txid, transaction), time)| {
                    let entry = json!({ "vsize": transaction.vsize(), "time": time, "fees": { "base": 0.00001 } });
                    (txid.to_string(), entry)
                });
                serde_json::Value::Object(entries.collect()).to_string()
            }
            "getrawmempool" => serde_json::to_string(&self.mempool.lock().unwrap().keys().collect::<Vec<_>>()).unwrap(),
            "getmempoolinfo" => {
                let size = self.mempool.lock().unwrap().len();
                format!(
                    r#"{{"size":{size},"bytes":777,"total_fee":0.00002000,"mempoolminfee":0.00001000,"minrelaytxfee":0.00000100}}"#
                )
            }
            "estimatesmartfee" if params == "[2]" => r#"{"feerate":0.00020000,"blocks":2}"#.to_owned(),
            "estimatesmartfee" if params == "[6]" => r#"{"feerate":0.00005000,"blocks":6}"#.to_owned(),
            // Less than the node itself accepts.
            "estimatesmartfee" if params == "[1008]" => r#"{"feerate":0.00000500,"blocks":1008}"#.to_owned(),
            "estimatesmartfee" => r#"{"errors":["Insufficient data or no feerate found"],"blocks":0}"#.to_owned(),
            // Members out of alphabetical order and a number that no float holds.
            "getblockchaininfo" => {
                r#"{"chain":"regtest","blocks":3,"difficulty":4.656542373906925e-10,"big":12345678901234567890123}"#
                    .to_owned()
            }
            "getblock" => return Err(NodeError::Rpc { code: -5, message: "Block not found".to_owned() }),
            // Of more bytes than a caller that has an answer under way may have beside it.
            "getblockstats" => format!("\"{}\"", "x".repeat(12 << 20)),
            "getdifficulty" => {
                tokio::time::sleep(Duration::from_secs(3600)).await;
                String::new()
            }
            "getchaintips" => panic!("a handler breaks, with {SECRET_ADDRESS} in its words"),
            "sendrawtransaction" if params.len() < 100 => {
                return Err(NodeError::Rpc { code: -26, message: "bad-txns".to_owned() });
            }
            "sendrawtransaction" => format!("\"{}\"", params.len()),
            _ => params.to_owned(),
        })
    }
}

impl Node for TestNode {
    fn rpc<'a>(
        &'a self,
        method: &'a str,
        params: &'a [Box<RawValue>],
    ) -> BoxFuture<'a, Result<Box<RawValue>, NodeError>> {
        Box::pin(async move {
            let answer = self.answer(method, &serde_json::to_string(params).unwrap()).await?;
            Ok(RawValue::from_string(answer).unwrap())
        })
    }

    fn block_part(&self, hash: BlockHash, offset: u32, size: u32) -> BoxFuture<'_, Result<Bytes, NodeError>> {
        Box::pin(async move {
            let block = self.block(hash).await?;
            Ok(block.slice(offset as usize..(offset + size) as usize))
        })
    }

    fn block(&self, hash: BlockHash) -> BoxFuture<'_, Result<Bytes, NodeError>> {
        Box::pin(async move {
            self.reach()?;
            let found = self.blocks.lock().unwrap().get(&hash).cloned();
            found.ok_or(NodeError::Rpc { code: -5, message: "Block not found".to_owned() })
        })
    }

    fn raw_transaction(&self, txid: Txid) -> BoxFuture<'_, Result<Option<Bytes>, NodeError>> {
        Box::pin(async move {
            self.reach()?;
            Ok(self.mempool.lock().unwrap().get(&txid).map(|transaction| serialize(transaction).into()))
        })
    }

    fn status(&self) -> NodeStatus {
        let reachable = !self.away.load(Ordering::SeqCst);
        NodeStatus {
            reachable,
            height: reachable.then_some(3),
            error: (!reachable).then(|| SECRET_ADDRESS.to_owned()),
            since_unix: 0,
        }
    }
}

pub(crate) fn shared(node: &Arc<TestNode>) -> Arc<dyn Node> {
    Arc::clone(node) as Arc<dyn Node>
}

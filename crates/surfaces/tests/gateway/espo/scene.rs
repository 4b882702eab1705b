//! A running instance over a market, with expected values read from the blocks.

use std::collections::{BTreeMap, BTreeSet};

use bitcoin::{Block, OutPoint, ScriptBuf, TxOut, Txid};
use paraffin_alkanes::ChainState;
use paraffin_primitives::AlkaneId;
use paraffin_surfaces::handlers;
use serde_json::{Value, json};

use crate::instance::{Instance, Setup};
use crate::market_chain;

/// What the outputs of a script hold, by alkane.
pub(super) type Holdings = BTreeMap<AlkaneId, u128>;

pub(super) struct Scene {
    pub(super) instance: Instance,
}

impl Scene {
    pub(super) async fn start(seed: u64, height: u32) -> Self {
        Self::over(market_chain::market_blocks(seed, height)).await
    }

    pub(super) async fn over(blocks: Vec<Block>) -> Self {
        let keyed = vec![handlers::espo()];
        Self { instance: Instance::with(Setup { market: Some(blocks), keyed, ..Setup::default() }).await }
    }

    /// The whole answer.
    pub(super) async fn call(&self, method: &str, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let response = self.instance.post(&self.instance.keyed("/espo"), body).await;
        assert_eq!(response.status, 200, "{}", response.text());
        response.json()
    }

    pub(super) async fn result(&self, method: &str, params: Value) -> Value {
        let answer = self.call(method, params.clone()).await;
        assert!(answer.get("error").is_none(), "{method} {params}: {answer}");
        answer["result"].clone()
    }

    /// A result that is an answer.
    pub(super) async fn ok(&self, method: &str, params: Value) -> Value {
        let result = self.result(method, params.clone()).await;
        assert_eq!(result["ok"], true, "{method} {params}: {result}");
        result
    }

    /// The error word of a failure result.
    pub(super) async fn refused(&self, method: &str, params: Value) -> String {
        let result = self.result(method, params.clone()).await;
        assert_eq!(result["ok"], false, "{method} {params}: {result}");
        assert!(!result["hint"].as_str().unwrap().is_empty());
        result["error"].as_str().unwrap().to_owned()
    }

    pub(super) async fn error(&self, method: &str, params: Value) -> i64 {
        let answer = self.call(method, params.clone()).await;
        answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{method} {params}: {answer}"))
    }

    pub(super) fn height(&self) -> u32 {
        self.instance.chain.tip_height()
    }

    pub(super) fn blocks(&self) -> &[Block] {
        &self.instance.chain.blocks
    }

    /// The contracts as of the end of a block.
    pub(super) fn contracts(&self, height: u32) -> ChainState {
        ChainState::at(&self.instance.chain.store.snapshot(), height)
    }

    pub(super) fn address(&self, script: &ScriptBuf) -> String {
        bitcoin::Address::from_script(script, self.instance.chain.network.bitcoin()).unwrap().to_string()
    }

    /// Every output that nothing up to a height spends.
    pub(super) fn unspent(&self, height: u32) -> BTreeMap<OutPoint, TxOut> {
        let mut unspent = BTreeMap::new();
        for transaction in self.blocks()[..=height as usize].iter().flat_map(|block| &block.txdata) {
            for input in &transaction.input {
                unspent.remove(&input.previous_output);
            }
            let txid = transaction.compute_txid();
            for (vout, output) in (0..).zip(&transaction.output) {
                unspent.insert(OutPoint { txid, vout }, output.clone());
            }
        }
        unspent
    }

    /// Balances of every script, from the sheets of unspent outputs.
    pub(super) fn holdings(&self, height: u32) -> BTreeMap<ScriptBuf, Holdings> {
        let contracts = self.contracts(height);
        let mut holdings: BTreeMap<ScriptBuf, Holdings> = BTreeMap::new();
        for (outpoint, output) in self.unspent(height) {
            for held in contracts.sheet(&outpoint).unwrap().load().transfers() {
                *holdings.entry(output.script_pubkey.clone()).or_default().entry(held.id).or_default() += held.value;
            }
        }
        holdings
    }

    /// All contracts that were ever created.
    pub(super) fn alkanes(&self) -> BTreeSet<AlkaneId> {
        let page = self.contracts(self.height()).alkanes(paraffin_alkanes::Order::Oldest, None, 10_000).unwrap();
        page.items.into_iter().map(|creation| creation.id).collect()
    }

    /// The transaction and its block.
    pub(super) fn find(&self, txid: &Txid) -> (u32, &bitcoin::Transaction) {
        (0..)
            .zip(self.blocks())
            .flat_map(|(height, block)| block.txdata.iter().map(move |transaction| (height, transaction)))
            .find(|(_, transaction)| transaction.compute_txid() == *txid)
            .unwrap()
    }
}

/// An id as requests write it.
pub(super) fn text(id: AlkaneId) -> String {
    id.to_string()
}

/// The digits of a member.
pub(super) fn number(value: &Value) -> u128 {
    value.as_str().unwrap_or_else(|| panic!("{value} is no string")).parse().unwrap()
}

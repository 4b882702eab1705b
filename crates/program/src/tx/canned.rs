//! An instance made of canned answers, for tests.

use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::{Value, json};

use super::instance::Endpoint;
use crate::client::{CallError, MethodCall, Refusal};

type Answer = Box<dyn Fn(&Value) -> Result<Value, Refusal>>;

/// Answers by method or route; what is not there is unknown.
#[derive(Default)]
pub(super) struct Canned {
    answers: HashMap<&'static str, Answer>,
    /// Every call, in order.
    pub asked: RefCell<Vec<(String, Value)>>,
}

impl Canned {
    /// Always the same answer.
    pub(super) fn with(self, method: &'static str, answer: Value) -> Self {
        self.with_fn(method, move |_| Ok(answer.clone()))
    }

    pub(super) fn with_fn(
        mut self,
        method: &'static str,
        answer: impl Fn(&Value) -> Result<Value, Refusal> + 'static,
    ) -> Self {
        self.answers.insert(method, Box::new(answer));
        self
    }

    pub(super) fn was_asked(&self, method: &str) -> bool {
        self.asked.borrow().iter().any(|(asked, _)| asked == method)
    }

    fn answer(&self, method: &str, params: &Value) -> Result<Value, Refusal> {
        self.asked.borrow_mut().push((method.to_owned(), params.clone()));
        match self.answers.get(method) {
            Some(answer) => answer(params),
            None => Err(Refusal { code: Some(-32601), word: None, message: "Method not found".to_owned() }),
        }
    }
}

impl Endpoint for Canned {
    async fn methods(&self, calls: Vec<MethodCall>) -> Result<Vec<Result<Value, Refusal>>, CallError> {
        Ok(calls.iter().map(|(method, params)| self.answer(method, params)).collect())
    }

    async fn route(&self, route: &'static str, body: Value) -> Result<Value, CallError> {
        Ok(self.answer(route, &body)?)
    }
}

/// Runs a future that waits for nothing outside.
pub(super) fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

/// The newest height of canned instances.
pub(super) const NEWEST: u64 = 1000;

/// A record of `get-address-utxos`.
pub(super) fn utxo(txid: &str, vout: u32, value: u64, confirmations: u32) -> Value {
    json!({
        "txid": txid, "vout": vout, "value": value, "confirmations": confirmations,
        "alkanes": {}, "runes": {}, "inscriptions": [], "indexed": true,
        "status": { "confirmed": confirmations > 0, "block_height": NEWEST + 1 - u64::from(confirmations) },
    })
}

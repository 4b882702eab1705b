//! What the tests ask of a node, be it Bitcoin Core or the devnet.

use serde_json::{Value, json};

/// A node on a private regtest chain.
pub trait TestNode {
    /// Starts the process again after [`TestNode::stop`], with the chain it had.
    fn launch(&mut self);
    /// Stops the node and waits for it.
    fn stop(&mut self);
    /// `[node]` of a configuration.
    fn config(&self) -> String;
    /// One call; the whole answer, `None` when the node does not answer.
    fn try_rpc(&self, method: &str, params: Value) -> Option<Value>;

    /// The result of one call; panics on an error.
    fn rpc(&self, method: &str, params: Value) -> Value {
        let answer = self.try_rpc(method, params.clone()).unwrap_or_else(|| panic!("the node did not answer {method}"));
        assert!(answer["error"].is_null(), "{method} {params}: {answer}");
        answer["result"].clone()
    }

    /// Mines `count` blocks to `address`; the hashes.
    fn mine(&self, count: u32, address: &str) -> Vec<String> {
        let hashes = self.rpc("generatetoaddress", json!([count, address]));
        hashes.as_array().unwrap().iter().map(|hash| hash.as_str().unwrap().to_owned()).collect()
    }
}

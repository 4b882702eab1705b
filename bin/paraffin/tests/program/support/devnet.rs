//! The devnet of this workspace behind the same face as the real node.

use std::net::SocketAddr;

use bitcoin::Block;
use paraffin_devnet::{Devnet, DevnetOptions};
use serde_json::{Value, json};

use super::http;
use super::node::TestNode;

/// A devnet that can be stopped and started again with the blocks that it had.
pub struct DevnetNode {
    runtime: tokio::runtime::Runtime,
    rpc: SocketAddr,
    p2p: SocketAddr,
    devnet: Option<Devnet>,
    kept: Vec<Block>,
}

impl DevnetNode {
    /// A devnet with an empty chain.
    pub fn start() -> Self {
        let local = || SocketAddr::from(([127, 0, 0, 1], super::free_port()));
        let mut node = Self {
            runtime: tokio::runtime::Runtime::new().unwrap(),
            rpc: local(),
            p2p: local(),
            devnet: None,
            kept: Vec::new(),
        };
        node.launch();
        node
    }
}

impl DevnetNode {
    /// Where it takes peers.
    pub fn p2p(&self) -> SocketAddr {
        self.p2p
    }
}

impl TestNode for DevnetNode {
    fn launch(&mut self) {
        let options = DevnetOptions {
            blocks: 0,
            pending_transactions: 0,
            rpc_listen: self.rpc,
            p2p_listen: self.p2p,
            ..DevnetOptions::default()
        };
        let devnet = self.runtime.block_on(Devnet::start(options)).unwrap();
        for block in self.kept.drain(..) {
            devnet.node().submit_block(block).unwrap();
        }
        self.devnet = Some(devnet);
    }

    fn stop(&mut self) {
        if let Some(devnet) = self.devnet.take() {
            let node = devnet.node();
            let hashes = (1..=node.tip().height).map(|height| node.block_hash(height).unwrap());
            self.kept = hashes.map(|hash| node.block(&hash).unwrap().as_ref().clone()).collect();
            self.runtime.block_on(devnet.shutdown());
        }
    }

    fn config(&self) -> String {
        format!("[node]\nurl = \"http://{}\"\nuser = \"dev\"\npassword = \"dev\"\np2p = \"{}\"\n", self.rpc, self.p2p)
    }

    fn try_rpc(&self, method: &str, params: Value) -> Option<Value> {
        let body = json!({"id": 1, "method": method, "params": params}).to_string();
        // dev:dev
        let headers = [("authorization", "Basic ZGV2OmRldg=="), ("content-type", "application/json")];
        let answer = http::try_request(&self.rpc.to_string(), "POST", "/", &headers, body.as_bytes())?;
        serde_json::from_slice(&answer.body).ok()
    }
}

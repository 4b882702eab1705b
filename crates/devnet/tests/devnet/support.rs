//! A small chain to test on, blocks to break, and a plain HTTP client.

use std::sync::Arc;

use bitcoin::absolute::LockTime;
use bitcoin::hashes::Hash;
use bitcoin::{
    Amount, Block, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode, TxOut, Witness, transaction,
};
use paraffin_devnet::{ACCOUNT_NAMES, Devnet, Node, OutputKind, Wallet};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Blocks of the small chain: the first ten coinbases can be spent in the next block.
pub(crate) const HEIGHT: u32 = 110;

/// A mature coin of an account that can pay for something. Smaller ones hold inscriptions or runes.
pub(crate) fn plain_coin(devnet: &Devnet, account: usize) -> (OutPoint, TxOut) {
    let coins = devnet.node().spendable(&devnet.wallet().scripts(account)).into_iter();
    coins
        .filter(|(_, coin)| !coin.coinbase || coin.height < 50)
        .map(|(outpoint, coin)| (outpoint, coin.output))
        .max_by_key(|(outpoint, output)| (output.value, *outpoint))
        .unwrap()
}

/// A node whose blocks all pay alice.
pub(crate) struct Ground {
    pub(crate) node: Arc<Node>,
    pub(crate) wallet: Wallet,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let ground = Self { node: Arc::new(Node::default()), wallet: Wallet::new(7, &ACCOUNT_NAMES) };
        ground.node.mine(HEIGHT, &ground.script(0)).unwrap();
        ground
    }

    pub(crate) fn script(&self, account: usize) -> ScriptBuf {
        self.wallet.script(account, OutputKind::Taproot)
    }

    /// The output of the coinbase at `height`.
    pub(crate) fn coinbase(&self, height: u32) -> (OutPoint, TxOut) {
        let block = self.node.block(&self.node.block_hash(height).unwrap()).unwrap();
        let coinbase = &block.txdata[0];
        (OutPoint { txid: coinbase.compute_txid(), vout: 0 }, coinbase.output[0].clone())
    }

    /// Alice pays `sats` to `account` out of `coins` at `feerate` satoshis per 1,000 virtual bytes.
    pub(crate) fn payment(&self, coins: &[(OutPoint, TxOut)], account: usize, sats: u64, feerate: u64) -> Transaction {
        let output = TxOut { value: Amount::from_sat(sats), script_pubkey: self.script(account) };
        self.wallet.pay(coins, &[output], &self.script(0), feerate).unwrap()
    }

    /// A signed transaction with exactly these inputs and outputs.
    pub(crate) fn exact(
        &self,
        inputs: &[(OutPoint, TxOut, Sequence)],
        output: Vec<TxOut>,
        lock_time: u32,
    ) -> Transaction {
        let input = inputs.iter().map(|(previous_output, _, sequence)| TxIn {
            previous_output: *previous_output,
            script_sig: ScriptBuf::new(),
            sequence: *sequence,
            witness: Witness::new(),
        });
        let mut tx = Transaction {
            version: transaction::Version::TWO,
            lock_time: LockTime::from_consensus(lock_time),
            input: input.collect(),
            output,
        };
        let spent: Vec<TxOut> = inputs.iter().map(|(_, output, _)| output.clone()).collect();
        self.wallet.sign(&mut tx, &spent).unwrap();
        tx
    }

    /// A valid block on top of the tip that is not submitted.
    pub(crate) fn candidate(&self) -> Block {
        Block::clone(&self.node.mine_block_with(Vec::new(), &self.script(1), false).unwrap())
    }
}

/// One output that pays `sats` to `script`.
pub(crate) fn output(sats: u64, script: ScriptBuf) -> TxOut {
    TxOut { value: Amount::from_sat(sats), script_pubkey: script }
}

/// The output at `vout` of `tx`, as something to spend.
pub(crate) fn coin_of(tx: &Transaction, script: &ScriptBuf) -> (OutPoint, TxOut) {
    let (vout, output) = (0..).zip(&tx.output).find(|(_, output)| output.script_pubkey == *script).unwrap();
    (OutPoint { txid: tx.compute_txid(), vout }, output.clone())
}

/// Renews witness commitment, merkle root and nonce after a change of the transactions.
pub(crate) fn seal(block: &mut Block) {
    let root = block.witness_root().unwrap();
    let commitment = Block::compute_witness_commitment(&root, &[0; 32]);
    let bytes = [&[0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed], commitment.as_byte_array().as_slice()].concat();
    let outputs = &mut block.txdata[0].output;
    outputs.retain(|output| !output.script_pubkey.is_op_return());
    outputs.push(output(0, ScriptBuf::from_bytes(bytes)));
    link(block);
}

/// Renews merkle root and nonce.
pub(crate) fn link(block: &mut Block) {
    block.header.merkle_root = block.compute_merkle_root().unwrap_or_else(TxMerkleNode::all_zeros);
    grind(block);
}

/// Renews the nonce.
pub(crate) fn grind(block: &mut Block) {
    block.header.nonce = 0;
    while !block.header.target().is_met_by(block.block_hash()) {
        block.header.nonce += 1;
    }
}

/// An HTTP answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: Option<String>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// One HTTP request on a connection of its own. `head` holds further header lines, each with its line end.
pub(crate) async fn http(address: &str, method: &str, path: &str, head: &str, body: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: node\r\nConnection: close\r\nContent-Length: {length}\r\n{head}\r\n"
    );
    // In one piece, so that nothing waits for an acknowledgement. A server that refuses early may close before it has read
    // everything.
    let _ = stream.write_all(&[head.as_bytes(), body].concat()).await;
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 1 << 16];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        let read = stream.read(&mut chunk).await.unwrap();
        assert!(read > 0, "an HTTP answer has a head");
        bytes.extend_from_slice(&chunk[..read]);
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let header = |wanted: &str| {
        let mut headers = head.lines().filter_map(|line| line.split_once(": "));
        headers.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.to_owned())
    };
    let content_type = header("content-type");
    let length = header("content-length").map_or(0, |length| length.parse().unwrap());
    while bytes.len() < end + 4 + length {
        let read = stream.read(&mut chunk).await.unwrap();
        assert!(read > 0, "the body is as long as announced");
        bytes.extend_from_slice(&chunk[..read]);
    }
    Answer { status, content_type, body: bytes[end + 4..].to_vec() }
}

/// `Authorization` for `dev`, `dev`.
pub(crate) const AUTHORIZATION: &str = "Authorization: Basic ZGV2OmRldg==\r\n";

/// The HTTP address of a node.
pub(crate) fn address(devnet: &Devnet) -> String {
    devnet.rpc_url().trim_start_matches("http://").to_owned()
}

/// A JSON-RPC request with any body.
pub(crate) async fn post(address: &str, body: impl AsRef<[u8]>) -> Answer {
    http(address, "POST", "/", AUTHORIZATION, body.as_ref()).await
}

/// A JSON-RPC call: the HTTP status and the reply.
pub(crate) async fn call(address: &str, method: &str, params: Value) -> (u16, Value) {
    let answer = post(address, json!({"method": method, "params": params, "id": 1}).to_string()).await;
    (answer.status, answer.json())
}

/// The result of a call that succeeds.
pub(crate) async fn result(address: &str, method: &str, params: Value) -> Value {
    let (status, mut reply) = call(address, method, params.clone()).await;
    assert_eq!((status, &reply["error"]), (200, &Value::Null), "{method} {params}");
    reply["result"].take()
}

/// Code and message of a call that fails with HTTP status 500.
pub(crate) async fn error(address: &str, method: &str, params: Value) -> (i64, String) {
    let (status, reply) = call(address, method, params.clone()).await;
    assert_eq!((status, &reply["result"]), (500, &Value::Null), "{method} {params}: {reply}");
    let error = &reply["error"];
    (error["code"].as_i64().unwrap(), error["message"].as_str().unwrap().to_owned())
}

/// A REST request.
pub(crate) async fn rest(address: &str, path: &str) -> Answer {
    http(address, "GET", path, "", b"").await
}

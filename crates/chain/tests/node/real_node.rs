//! The same code against a real Bitcoin Core, where there is one; without one these tests are counted as skipped.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use paraffin_chain::p2p::{Peer, PeerEvent, PeerOptions};
use paraffin_chain::{Follower, FollowerOptions, LocalChain, NodeAuth, NodeClient, NodeConfig};
use paraffin_primitives::Network;
use paraffin_testkit::{bitcoind, free_port};
use serde_json::json;
use tokio::process::{Child, Command};

use crate::local_chain::MemoryChain;

struct RealNode {
    program: PathBuf,
    directory: tempfile::TempDir,
    rpc_port: u16,
    p2p_port: u16,
    rest: bool,
    process: Option<Child>,
}

impl RealNode {
    fn new(rest: bool) -> Option<Self> {
        Some(Self {
            program: bitcoind()?,
            directory: tempfile::tempdir().unwrap(),
            rpc_port: free_port(),
            p2p_port: free_port(),
            rest,
            process: None,
        })
    }

    fn start(&mut self) {
        let process = Command::new(&self.program)
            .arg(format!("-datadir={}", self.directory.path().display()))
            .args(["-regtest", "-server", "-listen=1", "-discover=0", "-dnsseed=0", "-fixedseeds=0", "-listenonion=0"])
            .arg(format!("-rest={}", u8::from(self.rest)))
            .arg(format!("-rpcport={}", self.rpc_port))
            .arg(format!("-bind=127.0.0.1:{}", self.p2p_port))
            .arg("-whitelist=noban,mempool@127.0.0.1")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        self.process = Some(process);
    }

    async fn stop(&mut self, client: &NodeClient) {
        client.rpc("stop", json!([])).await.unwrap();
        if let Some(mut process) = self.process.take() {
            process.wait().await.unwrap();
        }
    }

    fn client(&self) -> NodeClient {
        let config = NodeConfig {
            network: Network::Regtest,
            url: format!("http://127.0.0.1:{}", self.rpc_port),
            auth: NodeAuth::CookieFile(self.directory.path().join("regtest/.cookie")),
            p2p: Some(SocketAddr::from(([127, 0, 0, 1], self.p2p_port))),
            timeout: Duration::from_secs(30),
        };
        NodeClient::new(config).unwrap()
    }
}

/// Mines to a script of its own each time, so that no block is mined again that was invalidated.
async fn mine(client: &NodeClient, count: u32) {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let script = CALLS.fetch_add(1, Ordering::Relaxed);
    client.rpc("generatetodescriptor", json!([count, format!("raw(04{script:08x}51)")])).await.unwrap();
}

async fn invalidate(client: &NodeClient, depth: u32) {
    let height = client.block_count().await.unwrap();
    let hash = client.block_hash(height - depth + 1).await.unwrap();
    client.rpc("invalidateblock", json!([hash])).await.unwrap();
}

#[tokio::test]
async fn a_real_node_is_followed_through_reorgs_invalidation_and_restarts() {
    for rest in [true, false] {
        let Some(mut node) = RealNode::new(rest) else { return };
        let client = node.client();
        let options =
            FollowerOptions { poll: Duration::from_millis(50), ..FollowerOptions::for_network(Network::Regtest) };
        let mut follower = Follower::new(client.clone(), options);
        let mut local = MemoryChain::default();
        node.start();
        assert_eq!(local.sync(&mut follower).await, Ok(0), "the cookie appears when the node is up");
        mine(&client, 150).await;
        assert_eq!(local.sync(&mut follower).await, Ok(150));
        assert!(local.connected.iter().all(|block| block.spent.is_some() == rest), "spenttxouts needs REST");

        for depth in [1, 10, 100] {
            let before = client.block_count().await.unwrap();
            invalidate(&client, depth).await;
            assert_eq!(
                local.sync(&mut follower).await,
                Ok(before - depth),
                "less work, but the node has dropped the rest"
            );
            mine(&client, depth + 1).await;
            assert_eq!(local.sync(&mut follower).await, Ok(before + 1));
        }
        // A reorg that is seen only when it is over.
        invalidate(&client, 5).await;
        mine(&client, 7).await;
        let tip = local.sync(&mut follower).await.unwrap();
        assert_eq!(client.block_hash(tip).await.unwrap(), local.tip().unwrap().hash);

        if !rest {
            continue;
        }
        // A node may take 30 s to stop while connections are open.
        node.stop(&client).await;
        assert!(local.is_left_alone(&mut follower, Duration::from_millis(600)).await);
        assert!(!client.status().borrow().reachable);
        node.start();
        let other = node.client();
        tokio::time::timeout(Duration::from_secs(30), async {
            while other.block_count().await.is_err() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        })
        .await
        .unwrap();
        mine(&other, 1).await;
        assert_eq!(local.sync(&mut follower).await, Ok(tip + 1), "with the new cookie");
        let block = local.connected.last().unwrap();
        let bytes = client.block(block.id.hash).await.unwrap();
        assert_eq!(client.block_part(block.id.hash, 81, 20).await.unwrap(), bytes[81..101]);
        let size = bytes.len() as u32;
        assert!(client.block_part(block.id.hash, 81, size).await.is_err());
    }
}

#[tokio::test]
async fn a_real_node_speaks_to_the_peer_client() {
    let Some(mut node) = RealNode::new(true) else { return };
    let client = node.client();
    node.start();
    let mut follower = Follower::new(client.clone(), FollowerOptions::for_network(Network::Regtest));
    let mut local = MemoryChain::default();
    local.sync(&mut follower).await.unwrap();
    mine(&client, 20).await;
    local.sync(&mut follower).await.unwrap();
    let options = PeerOptions {
        network: Network::Regtest,
        timeout: Duration::from_secs(10),
        user_agent: "/paraffin:test/".into(),
        start_height: 0,
        relay: true,
        unix_time: 1_700_000_000,
    };
    let (peer, mut events) = Peer::connect(client.config().p2p.unwrap(), options).await.unwrap();
    assert!(peer.info().user_agent.contains("Satoshi"));
    assert_eq!(peer.info().start_height, 20);
    assert!(peer.info().wtxid_relay);
    peer.ping().await.unwrap();
    let headers = peer.headers(vec![local.hash_at(0).unwrap()], None).await.unwrap();
    assert_eq!(headers.len(), 20);
    let block = peer.block(local.hash_at(7).unwrap()).await.unwrap();
    assert_eq!(block, local.connected[7].block);
    mine(&client, 1).await;
    let announced = tokio::time::timeout(Duration::from_secs(10), async {
        loop {
            match events.recv().await.expect("the connection stays open") {
                PeerEvent::Inventory(list) => return list.len(),
                PeerEvent::Headers(list) => return list.len(),
                _ => {}
            }
        }
    })
    .await
    .unwrap();
    assert_eq!(announced, 1);
    peer.request_mempool().await.unwrap();
    peer.ping().await.unwrap();
}

//! The peer-to-peer protocol, spoken by a peer written by hand.

use std::net::SocketAddr;
use std::time::Duration;

use bitcoin::consensus::{deserialize, serialize};
use bitcoin::hashes::Hash;
use bitcoin::p2p::message::{NetworkMessage, RawNetworkMessage};
use bitcoin::p2p::message_blockdata::{GetBlocksMessage, GetHeadersMessage, Inventory};
use bitcoin::p2p::message_network::VersionMessage;
use bitcoin::p2p::{Address, Magic, ServiceFlags};
use bitcoin::{Block, BlockHash, Transaction};
use paraffin_devnet::{Devnet, DevnetOptions, OutputKind};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Ground, HEIGHT, address, plain_coin, result};

struct Peer {
    stream: TcpStream,
}

impl Peer {
    async fn connect(addr: SocketAddr) -> Self {
        Self { stream: TcpStream::connect(addr).await.unwrap() }
    }

    /// Connects and shakes hands; `wtxid`: transactions are announced by wtxid.
    async fn ready(addr: SocketAddr, wtxid: bool) -> Self {
        let mut peer = Self::connect(addr).await;
        peer.send(NetworkMessage::Version(version())).await;
        if wtxid {
            peer.send(NetworkMessage::WtxidRelay).await;
        }
        peer.send(NetworkMessage::Verack).await;
        peer.wait_for(|message| matches!(message, NetworkMessage::FeeFilter(_)).then_some(())).await;
        peer
    }

    async fn send(&mut self, message: NetworkMessage) {
        self.stream.write_all(&serialize(&RawNetworkMessage::new(Magic::REGTEST, message))).await.unwrap();
    }

    /// The next message, or `None` when the node has closed the connection.
    async fn receive(&mut self) -> Option<NetworkMessage> {
        let mut frame = vec![0; 24];
        let reading = async {
            self.stream.read_exact(&mut frame).await.ok()?;
            let length = u32::from_le_bytes([frame[16], frame[17], frame[18], frame[19]]) as usize;
            frame.resize(24 + length, 0);
            self.stream.read_exact(&mut frame[24..]).await.ok()
        };
        tokio::time::timeout(Duration::from_secs(10), reading).await.expect("the node answers in time")?;
        Some(deserialize::<RawNetworkMessage>(&frame).unwrap().into_payload())
    }

    /// Reads until `pick` finds what it looks for.
    async fn wait_for<T>(&mut self, pick: impl Fn(&NetworkMessage) -> Option<T>) -> T {
        loop {
            let message = self.receive().await.expect("the node keeps the connection");
            if let Some(picked) = pick(&message) {
                return picked;
            }
        }
    }

    /// Everything that the node sends before it answers a ping.
    async fn until_pong(&mut self) -> Vec<NetworkMessage> {
        self.send(NetworkMessage::Ping(99)).await;
        let mut messages = Vec::new();
        loop {
            match self.receive().await.expect("the node keeps the connection") {
                NetworkMessage::Pong(99) => return messages,
                message => messages.push(message),
            }
        }
    }

    async fn is_dropped(&mut self) -> bool {
        while let Some(message) = self.receive().await {
            drop(message);
        }
        true
    }
}

fn version() -> VersionMessage {
    let nowhere = Address::new(&([0, 0, 0, 0], 0).into(), ServiceFlags::NONE);
    let services = ServiceFlags::NETWORK | ServiceFlags::WITNESS;
    VersionMessage {
        version: 70_016,
        services,
        timestamp: 1_700_000_000,
        receiver: nowhere.clone(),
        sender: nowhere,
        nonce: 5,
        user_agent: "/hand:1/".to_owned(),
        start_height: 0,
        relay: true,
    }
}

async fn start() -> Devnet {
    Devnet::start(DevnetOptions::default()).await.unwrap()
}

/// A payment of alice that the devnet accepts.
fn payment(devnet: &Devnet, feerate: u64) -> Transaction {
    let wallet = devnet.wallet();
    wallet.pay(&[plain_coin(devnet, 0)], &[], &wallet.script(0, OutputKind::Taproot), feerate).unwrap()
}

#[tokio::test]
async fn the_handshake_gives_version_and_features_and_the_peer_is_listed() {
    let devnet = start().await;
    let mut peer = Peer::connect(devnet.p2p_addr()).await;
    // Nothing counts before the version.
    peer.send(NetworkMessage::Ping(1)).await;
    peer.send(NetworkMessage::Version(version())).await;
    let Some(NetworkMessage::Version(theirs)) = peer.receive().await else { panic!("the version comes first") };
    assert_eq!(theirs.start_height, 160);
    assert!(theirs.relay && theirs.services.has(ServiceFlags::NETWORK | ServiceFlags::WITNESS));
    assert_eq!(peer.receive().await, Some(NetworkMessage::WtxidRelay));
    assert_eq!(peer.receive().await, Some(NetworkMessage::Verack));
    peer.send(NetworkMessage::Verack).await;
    assert_eq!(peer.receive().await, Some(NetworkMessage::SendHeaders));
    let nonce =
        peer.wait_for(|message| if let NetworkMessage::Ping(nonce) = message { Some(*nonce) } else { None }).await;
    peer.send(NetworkMessage::Pong(nonce)).await;
    peer.send(NetworkMessage::GetAddr).await;
    let sent = peer.until_pong().await;
    assert!(sent.contains(&NetworkMessage::Addr(Vec::new())));
    let node = address(&devnet);
    let peers = result(&node, "getpeerinfo", json!([])).await;
    assert_eq!(peers[0]["subver"], "/hand:1/");
    assert_eq!(peers[0]["inbound"], true);
    assert!(peers[0]["pingtime"].is_number());
    result(&node, "ping", json!([])).await;
    peer.wait_for(|message| matches!(message, NetworkMessage::Ping(_)).then_some(())).await;
    drop(peer);
    for _ in 0..100 {
        if result(&node, "getconnectioncount", json!([])).await == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("a peer that left is still listed");
}

#[tokio::test]
async fn headers_and_blocks_are_served_from_any_locator() {
    let devnet = start().await;
    let node = devnet.node();
    let mut peer = Peer::ready(devnet.p2p_addr(), true).await;
    let ask = |locator_hashes: Vec<BlockHash>, stop_hash: BlockHash| {
        NetworkMessage::GetHeaders(GetHeadersMessage { version: 70_016, locator_hashes, stop_hash })
    };
    let none = BlockHash::all_zeros();
    let at = |height: u32| node.block_hash(height).unwrap();
    let unknown = BlockHash::from_byte_array([7; 32]);
    for (locator, stop, first, last) in [
        (vec![at(0)], none, 1, 160),
        (vec![unknown, at(100), at(50)], none, 101, 160),
        (vec![at(100)], at(103), 101, 103),
        (vec![unknown], none, 1, 160),
        (vec![], at(77), 77, 77),
    ] {
        peer.send(ask(locator, stop)).await;
        let headers = peer
            .wait_for(
                |message| if let NetworkMessage::Headers(headers) = message { Some(headers.clone()) } else { None },
            )
            .await;
        let expected: Vec<BlockHash> = (first..=last).map(at).collect();
        assert_eq!(headers.iter().map(bitcoin::block::Header::block_hash).collect::<Vec<_>>(), expected);
    }
    peer.send(NetworkMessage::GetBlocks(GetBlocksMessage {
        version: 70_016,
        locator_hashes: vec![at(150)],
        stop_hash: none,
    }))
    .await;
    let hashes = peer
        .wait_for(|message| if let NetworkMessage::Inv(items) = message { Some(items.clone()) } else { None })
        .await;
    assert_eq!(hashes, (151..=160).map(|height| Inventory::Block(at(height))).collect::<Vec<_>>());

    let tip = devnet.tip().hash;
    peer.send(NetworkMessage::GetData(vec![
        Inventory::WitnessBlock(tip),
        Inventory::Block(tip),
        Inventory::Block(unknown),
    ]))
    .await;
    let pick =
        |message: &NetworkMessage| if let NetworkMessage::Block(block) = message { Some(block.clone()) } else { None };
    let whole = peer.wait_for(pick).await;
    assert_eq!(whole, *node.block(&tip).unwrap());
    let stripped = peer.wait_for(pick).await;
    assert!(stripped.txdata.iter().all(|tx| tx.input.iter().all(|input| input.witness.is_empty())));
    assert_eq!(stripped.compute_merkle_root(), whole.compute_merkle_root());
    assert_eq!(peer.receive().await, Some(NetworkMessage::NotFound(vec![Inventory::Block(unknown)])));
}

#[tokio::test]
async fn transactions_are_announced_at_once_and_served() {
    let devnet = start().await;
    let mut by_wtxid = Peer::ready(devnet.p2p_addr(), true).await;
    let mut by_txid = Peer::ready(devnet.p2p_addr(), false).await;
    let tx = payment(&devnet, 2_000);
    devnet.node().submit_transaction(tx.clone()).unwrap();
    let pick =
        |message: &NetworkMessage| if let NetworkMessage::Inv(items) = message { Some(items.clone()) } else { None };
    assert_eq!(by_wtxid.wait_for(pick).await, [Inventory::WTx(tx.compute_wtxid())]);
    assert_eq!(by_txid.wait_for(pick).await, [Inventory::Transaction(tx.compute_txid())]);
    for (peer, item) in [
        (&mut by_wtxid, Inventory::WTx(tx.compute_wtxid())),
        (&mut by_txid, Inventory::WitnessTransaction(tx.compute_txid())),
    ] {
        peer.send(NetworkMessage::GetData(vec![item])).await;
        let served =
            peer.wait_for(|message| if let NetworkMessage::Tx(tx) = message { Some(tx.clone()) } else { None }).await;
        assert_eq!(served, tx);
    }
    // The whole mempool on request; a peer with a fee filter is spared what pays less.
    by_wtxid.send(NetworkMessage::MemPool).await;
    assert_eq!(by_wtxid.wait_for(pick).await.len(), 4);
    by_wtxid.send(NetworkMessage::FeeFilter(1_000_000)).await;
    by_wtxid.until_pong().await;
    let dearer = payment(&devnet, 3_000);
    devnet.node().submit_transaction(dearer.clone()).unwrap();
    assert_eq!(by_txid.wait_for(pick).await, [Inventory::Transaction(dearer.compute_txid())]);
    assert!(!by_wtxid.until_pong().await.iter().any(|message| matches!(message, NetworkMessage::Inv(_))));
}

#[tokio::test]
async fn transactions_of_a_peer_are_fetched_admitted_and_relayed_orphans_after_their_parents() {
    let devnet = start().await;
    let mut giver = Peer::ready(devnet.p2p_addr(), true).await;
    let mut taker = Peer::ready(devnet.p2p_addr(), true).await;
    let parent = payment(&devnet, 2_000);
    let wallet = devnet.wallet();
    let coin = (bitcoin::OutPoint { txid: parent.compute_txid(), vout: 0 }, parent.output[0].clone());
    let child = wallet.pay(&[coin], &[], &wallet.script(1, OutputKind::Taproot), 2_000).unwrap();

    giver.send(NetworkMessage::Inv(vec![Inventory::WTx(child.compute_wtxid())])).await;
    let pick = |message: &NetworkMessage| {
        if let NetworkMessage::GetData(items) = message { Some(items.clone()) } else { None }
    };
    assert_eq!(giver.wait_for(pick).await, [Inventory::WTx(child.compute_wtxid())]);
    giver.send(NetworkMessage::Tx(child.clone())).await;
    assert_eq!(giver.wait_for(pick).await, [Inventory::WitnessTransaction(parent.compute_txid())]);
    giver.send(NetworkMessage::Tx(parent.clone())).await;
    giver.until_pong().await;
    let pool = devnet.node().mempool_txids();
    assert_eq!(pool[3..], [parent.compute_txid(), child.compute_txid()]);
    let pick =
        |message: &NetworkMessage| if let NetworkMessage::Inv(items) = message { Some(items.clone()) } else { None };
    assert_eq!(taker.wait_for(pick).await, [Inventory::WTx(parent.compute_wtxid())]);
    assert_eq!(taker.wait_for(pick).await, [Inventory::WTx(child.compute_wtxid())]);
    let sent = giver.until_pong().await;
    assert!(!sent.iter().any(|message| matches!(message, NetworkMessage::Inv(_))), "not back to where it came from");
}

#[tokio::test]
async fn new_blocks_are_announced_as_the_peer_wants_them() {
    let devnet = start().await;
    let node = devnet.node();
    let mut by_headers = Peer::ready(devnet.p2p_addr(), true).await;
    by_headers.send(NetworkMessage::SendHeaders).await;
    by_headers.until_pong().await;
    let mut by_hash = Peer::ready(devnet.p2p_addr(), true).await;
    let script = devnet.wallet().script(0, OutputKind::Taproot);
    let hash = node.mine_block(&script).unwrap();
    let header = node.block(&hash).unwrap().header;
    let headers = by_headers
        .wait_for(|message| if let NetworkMessage::Headers(headers) = message { Some(headers.clone()) } else { None })
        .await;
    assert_eq!(headers, [header]);
    let items = by_hash
        .wait_for(|message| if let NetworkMessage::Inv(items) = message { Some(items.clone()) } else { None })
        .await;
    assert_eq!(items, [Inventory::Block(hash)]);
}

#[tokio::test]
async fn a_peer_with_more_work_moves_the_node_to_its_chain() {
    let options = DevnetOptions { blocks: 0, ..DevnetOptions::default() };
    let devnet = Devnet::start(options).await.unwrap();
    let ground = Ground::new();
    let blocks: Vec<Block> = (1..=HEIGHT)
        .map(|height| Block::clone(&ground.node.block(&ground.node.block_hash(height).unwrap()).unwrap()))
        .collect();
    let mut peer = Peer::ready(devnet.p2p_addr(), true).await;
    peer.send(NetworkMessage::Headers(blocks.iter().map(|block| block.header).collect())).await;
    let wanted = peer
        .wait_for(|message| if let NetworkMessage::GetData(items) = message { Some(items.clone()) } else { None })
        .await;
    assert_eq!(wanted.len(), blocks.len());
    for block in blocks {
        peer.send(NetworkMessage::Block(block)).await;
    }
    let sent = peer.until_pong().await;
    assert_eq!(devnet.tip(), ground.node.tip());
    assert!(sent.iter().any(|message| matches!(message, NetworkMessage::GetHeaders(_))), "there may be more");
    assert!(!sent.iter().any(|message| matches!(message, NetworkMessage::Inv(_))), "it knows these blocks");
}

#[tokio::test]
async fn peers_that_break_the_protocol_are_dropped() {
    let devnet = start().await;
    let addr = devnet.p2p_addr();
    let ground = Ground::new();
    let mut bad_block = ground.candidate();
    bad_block.header.prev_blockhash = devnet.tip().hash;
    crate::support::grind(&mut bad_block);
    let unlinked: Vec<_> =
        [1, 3].map(|height| devnet.node().block(&devnet.node().block_hash(height).unwrap()).unwrap().header).to_vec();
    let mut without_work = vec![bad_block.header];
    while without_work[0].target().is_met_by(without_work[0].block_hash()) {
        without_work[0].nonce += 1;
    }
    for message in [
        NetworkMessage::Block(bad_block),
        NetworkMessage::Headers(unlinked),
        NetworkMessage::Headers(without_work),
        NetworkMessage::FilterClear,
        NetworkMessage::Inv(vec![Inventory::Block(devnet.tip().hash); 50_001]),
        NetworkMessage::GetData(vec![Inventory::Block(devnet.tip().hash); 50_001]),
    ] {
        let mut peer = Peer::ready(addr, true).await;
        let name = message.cmd();
        peer.send(message).await;
        assert!(peer.is_dropped().await, "{name}");
    }
    for bytes in [
        b"GET / HTTP/1.1\r\nHost: node\r\n\r\n".to_vec(),
        serialize(&RawNetworkMessage::new(Magic::BITCOIN, NetworkMessage::Version(version()))),
        [&Magic::REGTEST.to_bytes()[..], b"version\0\0\0\0\0", &u32::MAX.to_le_bytes(), &[0; 4]].concat(),
    ] {
        let mut peer = Peer::connect(addr).await;
        peer.stream.write_all(&bytes).await.unwrap();
        assert!(peer.is_dropped().await);
    }
    let mut old = Peer::connect(addr).await;
    old.send(NetworkMessage::Version(VersionMessage { version: 100, ..version() })).await;
    assert!(old.is_dropped().await);
    assert_eq!(devnet.tip().height, 160);
}

#[tokio::test]
async fn nonsense_inside_a_good_frame_is_skipped() {
    let devnet = start().await;
    let mut peer = Peer::ready(devnet.p2p_addr(), true).await;
    let unknown =
        NetworkMessage::Unknown { command: "nonsense".to_owned().try_into().unwrap(), payload: vec![1, 2, 3] };
    peer.send(unknown).await;
    let undecodable = [
        &Magic::REGTEST.to_bytes()[..],
        b"inv\0\0\0\0\0\0\0\0\0",
        &1_u32.to_le_bytes(),
        &bitcoin::hashes::sha256d::Hash::hash(&[0xff])[..4],
        &[0xff],
    ]
    .concat();
    peer.stream.write_all(&undecodable).await.unwrap();
    peer.until_pong().await;
}

#[tokio::test]
async fn at_most_64_peers_are_served_and_a_place_becomes_free_again() {
    let devnet = Devnet::start(DevnetOptions { blocks: 0, ..DevnetOptions::default() }).await.unwrap();
    let mut peers = Vec::new();
    for _ in 0..64 {
        peers.push(Peer::ready(devnet.p2p_addr(), true).await);
    }
    let mut one_more = Peer::connect(devnet.p2p_addr()).await;
    assert!(one_more.is_dropped().await);
    peers.pop();
    for _ in 0..100 {
        let mut peer = Peer::connect(devnet.p2p_addr()).await;
        let _ = peer
            .stream
            .write_all(&serialize(&RawNetworkMessage::new(Magic::REGTEST, NetworkMessage::Version(version()))))
            .await;
        if peer.receive().await.is_some() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("no connection became free");
}

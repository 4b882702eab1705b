//! The peer client against a scripted peer.

use std::net::SocketAddr;
use std::time::Duration;

use bitcoin::hashes::Hash;
use bitcoin::p2p::message::NetworkMessage;
use bitcoin::p2p::message_blockdata::Inventory;
use bitcoin::p2p::message_network::VersionMessage;
use bitcoin::p2p::{Address, Magic, ServiceFlags};
use bitcoin::{BlockHash, Txid, Wtxid};
use bytes::BytesMut;
use paraffin_chain::p2p::{FrameError, Peer, PeerError, PeerEvent, PeerOptions, decode, encode};
use paraffin_primitives::Network;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::chain_maker::Chain;

const MAGIC: Magic = Magic::REGTEST;

fn options() -> PeerOptions {
    PeerOptions {
        network: Network::Regtest,
        timeout: Duration::from_millis(500),
        user_agent: "/paraffin:test/".into(),
        start_height: 0,
        relay: true,
        unix_time: 1_700_000_000,
    }
}

fn version(protocol: u32) -> NetworkMessage {
    let address = Address::new(&SocketAddr::from(([127, 0, 0, 1], 1)), ServiceFlags::NONE);
    let services = ServiceFlags::NETWORK | ServiceFlags::WITNESS;
    let agent = "x".repeat(1000);
    let mut version = VersionMessage::new(services, 0, address.clone(), address, 7, agent, 42);
    version.version = protocol;
    NetworkMessage::Version(version)
}

/// The peer's end of one connection.
struct Remote {
    stream: TcpStream,
    buffer: BytesMut,
}

impl Remote {
    async fn send(&mut self, message: NetworkMessage) {
        self.write(&encode(message, MAGIC)).await;
    }

    async fn write(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes).await;
    }

    /// The next message; `None` when the connection is closed.
    async fn receive(&mut self) -> Option<NetworkMessage> {
        loop {
            if let Some(message) = decode(&mut self.buffer, MAGIC).unwrap() {
                return Some(message);
            }
            if self.stream.read_buf(&mut self.buffer).await.unwrap_or(0) == 0 {
                return None;
            }
        }
    }

    /// Opens the connection as Bitcoin Core does.
    async fn shake_hands(&mut self) {
        let Some(NetworkMessage::Version(theirs)) = self.receive().await else { panic!("no version") };
        assert!(theirs.relay);
        assert_eq!(theirs.user_agent, "/paraffin:test/");
        self.send(version(70_016)).await;
        self.send(NetworkMessage::WtxidRelay).await;
        self.send(NetworkMessage::SendAddrV2).await;
        self.send(NetworkMessage::Verack).await;
        assert_eq!(self.receive().await, Some(NetworkMessage::WtxidRelay));
        assert_eq!(self.receive().await, Some(NetworkMessage::SendAddrV2));
        assert_eq!(self.receive().await, Some(NetworkMessage::Verack));
    }
}

/// Listens for one connection and runs `script` on it.
async fn listen<F>(script: impl FnOnce(Remote) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        script(Remote { stream, buffer: BytesMut::new() }).await;
    });
    address
}

/// A peer that serves `chain`, then whatever the script of one test adds.
async fn serve(mut remote: Remote, chain: Chain) {
    remote.shake_hands().await;
    while let Some(message) = remote.receive().await {
        match message {
            NetworkMessage::GetHeaders(question) => {
                let known = |hash: &BlockHash| chain.blocks.iter().position(|block| block.block_hash() == *hash);
                let after = question.locator_hashes.iter().find_map(known).unwrap_or(0);
                let headers = chain.blocks[after + 1..].iter().map(|block| block.header).collect();
                remote.send(NetworkMessage::Headers(headers)).await;
            }
            NetworkMessage::GetData(inventory) => {
                for entry in inventory {
                    let Inventory::WitnessBlock(hash) = entry else { panic!("{entry:?}") };
                    match chain.blocks.iter().find(|block| block.block_hash() == hash) {
                        Some(block) => remote.send(NetworkMessage::Block(block.clone())).await,
                        None => remote.send(NetworkMessage::NotFound(vec![entry])).await,
                    }
                }
            }
            NetworkMessage::Ping(nonce) => {
                remote.send(NetworkMessage::Pong(nonce + 1)).await;
                remote.send(NetworkMessage::Pong(nonce)).await;
            }
            _ => {}
        }
    }
}

#[tokio::test]
async fn headers_and_blocks_are_fetched() {
    let chain = Chain::new(6);
    let served = chain.clone();
    let address = listen(move |remote| serve(remote, served)).await;
    let (peer, _events) = Peer::connect(address, options()).await.unwrap();
    assert_eq!(peer.info().start_height, 42);
    assert!(peer.info().wtxid_relay);
    assert!(peer.info().services.has(ServiceFlags::NETWORK));
    assert_eq!(peer.info().user_agent.len(), 256);
    let headers = peer.headers(vec![chain.hash(2)], None).await.unwrap();
    assert_eq!(headers, chain.blocks[3..].iter().map(|block| block.header).collect::<Vec<_>>());
    let (first, again, other) =
        tokio::join!(peer.block(chain.hash(4)), peer.block(chain.hash(4)), peer.block(chain.hash(5)));
    assert_eq!(first.as_ref(), Ok(&chain.blocks[4]));
    assert_eq!(again, first);
    assert_eq!(other.as_ref(), Ok(&chain.blocks[5]));
    let nowhere = BlockHash::all_zeros();
    assert_eq!(peer.block(nowhere).await, Err(PeerError::NotFound(nowhere)));
    assert!(peer.ping().await.unwrap() < Duration::from_millis(500));
}

#[tokio::test]
async fn announcements_come_as_events_and_pings_are_answered() {
    let chain = Chain::new(3);
    let transaction = chain.blocks[3].txdata[1].clone();
    let inventory = vec![Inventory::WTx(Wtxid::all_zeros()), Inventory::Block(chain.tip())];
    let (sent, announced) = (transaction.clone(), inventory.clone());
    let address = listen(move |mut remote| async move {
        remote.shake_hands().await;
        remote
            .send(NetworkMessage::SendCmpct(bitcoin::p2p::message_compact_blocks::SendCmpct {
                send_compact: false,
                version: 2,
            }))
            .await;
        remote.send(NetworkMessage::Ping(99)).await;
        assert_eq!(remote.receive().await, Some(NetworkMessage::Pong(99)));
        remote.send(NetworkMessage::FeeFilter(1000)).await;
        remote.send(NetworkMessage::Inv(announced.clone())).await;
        assert_eq!(remote.receive().await, Some(NetworkMessage::GetData(announced)));
        remote.send(NetworkMessage::Tx(sent)).await;
        remote.send(NetworkMessage::NotFound(vec![Inventory::WitnessTransaction(Txid::all_zeros())])).await;
        remote.send(NetworkMessage::Headers(vec![])).await;
    })
    .await;
    let (peer, mut events) = Peer::connect(address, options()).await.unwrap();
    assert!(matches!(events.recv().await, Some(PeerEvent::FeeFilter(1000))));
    assert!(matches!(events.recv().await, Some(PeerEvent::Inventory(list)) if list == inventory));
    peer.request(inventory).await.unwrap();
    assert!(matches!(events.recv().await, Some(PeerEvent::Transaction(tx)) if *tx == transaction));
    assert!(matches!(events.recv().await, Some(PeerEvent::NotFound(list)) if list.len() == 1));
    assert!(matches!(events.recv().await, Some(PeerEvent::Headers(list)) if list.is_empty()));
    assert!(matches!(events.recv().await, Some(PeerEvent::Closed(PeerError::Closed(_)))));
    assert!(events.recv().await.is_none());
    assert!(matches!(peer.block(chain.tip()).await, Err(PeerError::Closed(_))));
    let many = vec![Inventory::Block(chain.tip()); 50_001];
    assert_eq!(peer.request(many).await, Err(PeerError::TooMany(50_001)));
}

#[tokio::test]
async fn a_peer_of_another_network_a_silent_one_and_an_old_one_are_refused() {
    let address = listen(|mut remote| async move {
        remote.write(&encode(version(70_016), Magic::BITCOIN)).await;
        remote.receive().await;
    })
    .await;
    let refused = Peer::connect(address, options()).await.err();
    assert!(matches!(refused, Some(PeerError::Frame(FrameError::Magic(_)))), "{refused:?}");

    let address = listen(|mut remote| async move { while remote.receive().await.is_some() {} }).await;
    assert_eq!(Peer::connect(address, options()).await.err(), Some(PeerError::Timeout("the handshake")));

    let address = listen(|mut remote| async move { remote.send(version(70_001)).await }).await;
    assert!(matches!(Peer::connect(address, options()).await.err(), Some(PeerError::Handshake(_))));

    let address = listen(|mut remote| async move { remote.send(NetworkMessage::Verack).await }).await;
    assert!(matches!(Peer::connect(address, options()).await.err(), Some(PeerError::Handshake(_))));

    let address = listen(|mut remote| async move {
        remote.send(version(70_016)).await;
        loop {
            remote.send(NetworkMessage::SendAddrV2).await;
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert!(matches!(Peer::connect(address, options()).await.err(), Some(PeerError::Handshake(_))));

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    assert!(matches!(Peer::connect(address, options()).await.err(), Some(PeerError::Connect(_))));
}

#[tokio::test]
async fn a_peer_without_wtxid_relay_is_spoken_to_as_such() {
    let address = listen(|mut remote| async move {
        remote.receive().await;
        remote.send(version(70_015)).await;
        remote.send(NetworkMessage::Verack).await;
        assert_eq!(remote.receive().await, Some(NetworkMessage::Verack), "and no feature messages before it");
        remote.receive().await;
    })
    .await;
    let (peer, _events) = Peer::connect(address, options()).await.unwrap();
    assert!(!peer.info().wtxid_relay);
}

#[tokio::test]
async fn broken_messages_end_the_connection_with_the_reason() {
    let mut altered = encode(NetworkMessage::Ping(1), MAGIC);
    altered[30] ^= 1;
    let mut large = encode(NetworkMessage::Ping(1), MAGIC);
    large[16..20].copy_from_slice(&u32::MAX.to_le_bytes());
    for (bytes, reason) in [
        (altered, PeerError::Frame(FrameError::Checksum)),
        (large, PeerError::Frame(FrameError::TooLarge(u32::MAX as usize))),
        (b"HTTP/1.1 400".to_vec(), PeerError::Frame(FrameError::Magic(*b"HTTP"))),
    ] {
        let address = listen(move |mut remote| async move {
            remote.shake_hands().await;
            remote.write(&bytes).await;
            while remote.receive().await.is_some() {}
        })
        .await;
        let (peer, mut events) = Peer::connect(address, options()).await.unwrap();
        let Some(PeerEvent::Closed(cause)) = events.recv().await else { panic!("no end") };
        assert_eq!(cause, reason);
        assert!(peer.headers(vec![], None).await.is_err());
    }
}

#[tokio::test]
async fn a_block_that_is_not_whole_is_refused_and_silence_is_a_timeout() {
    let chain = Chain::new(3);
    let mut broken = chain.blocks[3].clone();
    broken.txdata.pop();
    let address = listen(move |mut remote| async move {
        remote.shake_hands().await;
        remote.receive().await;
        remote.send(NetworkMessage::Block(broken)).await;
        while remote.receive().await.is_some() {}
    })
    .await;
    let (peer, _events) = Peer::connect(address, options()).await.unwrap();
    assert!(matches!(peer.block(chain.tip()).await, Err(PeerError::BadBlock(_))));
    assert_eq!(peer.block(chain.tip()).await, Err(PeerError::Timeout("getdata")));
    assert_eq!(peer.headers(vec![], None).await, Err(PeerError::Timeout("getheaders")));
    assert_eq!(peer.ping().await, Err(PeerError::Timeout("ping")));
}

#[tokio::test]
async fn dropping_the_peer_closes_the_connection() {
    let (sender, closed) = tokio::sync::oneshot::channel();
    let address = listen(|mut remote| async move {
        remote.shake_hands().await;
        assert_eq!(remote.receive().await, None);
        let _ = sender.send(());
    })
    .await;
    let (peer, _events) = Peer::connect(address, options()).await.unwrap();
    drop(peer);
    tokio::time::timeout(Duration::from_secs(5), closed).await.unwrap().unwrap();
}

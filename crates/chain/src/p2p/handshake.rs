//! The opening of a connection: `version`, feature messages, `verack`, both ways.

use std::net::SocketAddr;

use bitcoin::p2p::message::NetworkMessage;
use bitcoin::p2p::message_network::VersionMessage;
use bitcoin::p2p::{Address, Magic, ServiceFlags};
use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::frame;
use super::peer::{PeerError, PeerOptions};

/// The protocol version that we speak: the first with `wtxidrelay` (BIP339).
const PROTOCOL_VERSION: u32 = 70_016;
/// The oldest version that we talk to: the first with `sendheaders` and witnesses around it.
const PROTOCOL_VERSION_MIN: u32 = 70_012;
/// Messages that a peer may send before its `verack`; Bitcoin Core sends four.
const OPENING_MESSAGES_MAX: usize = 32;
/// Longest stored user agent of a peer.
const USER_AGENT_CHARS_MAX: usize = 256;

/// The `version` message of a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerInfo {
    /// Protocol version.
    pub version: u32,
    /// Services offered.
    pub services: ServiceFlags,
    /// Name and release of the software, at most 256 characters.
    pub user_agent: String,
    /// Height of its best block when the connection was opened.
    pub start_height: i32,
    /// Transactions are announced by wtxid (BIP339) on this connection.
    pub wtxid_relay: bool,
}

/// Reads one message; `buffer` keeps what came beyond it.
pub(super) async fn read_message(
    stream: &mut (impl AsyncReadExt + Unpin),
    buffer: &mut BytesMut,
    magic: Magic,
) -> Result<NetworkMessage, PeerError> {
    loop {
        if let Some(message) = frame::decode(buffer, magic)? {
            return Ok(message);
        }
        buffer.reserve(16 << 10);
        let count = stream.read_buf(buffer).await.map_err(|error| PeerError::Closed(error.kind().to_string()))?;
        if count == 0 {
            return Err(PeerError::Closed("the peer closed the connection".to_owned()));
        }
    }
}

/// Performs the handshake. Bytes after the peer's `verack` are returned in the buffer.
pub(super) async fn shake_hands(
    stream: &mut TcpStream,
    address: SocketAddr,
    options: &PeerOptions,
) -> Result<(PeerInfo, BytesMut), PeerError> {
    let magic = Magic::from(options.network.bitcoin());
    let mut buffer = BytesMut::new();
    send(stream, NetworkMessage::Version(our_version(address, options)), magic).await?;
    let mut info: Option<PeerInfo> = None;
    for _ in 0..OPENING_MESSAGES_MAX {
        match (read_message(stream, &mut buffer, magic).await?, &mut info) {
            (NetworkMessage::Version(version), None) => {
                info = Some(accept(&version)?);
                if info.as_ref().is_some_and(|info| info.version >= PROTOCOL_VERSION) {
                    send(stream, NetworkMessage::WtxidRelay, magic).await?;
                    send(stream, NetworkMessage::SendAddrV2, magic).await?;
                }
                send(stream, NetworkMessage::Verack, magic).await?;
            }
            (NetworkMessage::WtxidRelay, Some(info)) => info.wtxid_relay = info.version >= PROTOCOL_VERSION,
            (NetworkMessage::Verack, Some(_)) => {
                return info.map(|info| (info, buffer)).ok_or_else(|| PeerError::Handshake("no version".to_owned()));
            }
            (NetworkMessage::Ping(nonce), Some(_)) => send(stream, NetworkMessage::Pong(nonce), magic).await?,
            (NetworkMessage::Verack | NetworkMessage::WtxidRelay, None) | (NetworkMessage::Version(_), Some(_)) => {
                return Err(PeerError::Handshake("its opening messages are out of order".to_owned()));
            }
            // `sendaddrv2`, `sendtxrcncl` and what may come.
            _ => {}
        }
    }
    Err(PeerError::Handshake("it sends messages without end before its verack".to_owned()))
}

fn accept(version: &VersionMessage) -> Result<PeerInfo, PeerError> {
    if version.version < PROTOCOL_VERSION_MIN {
        return Err(PeerError::Handshake(format!("it speaks the old protocol version {}", version.version)));
    }
    Ok(PeerInfo {
        version: version.version,
        services: version.services,
        user_agent: version.user_agent.chars().take(USER_AGENT_CHARS_MAX).collect(),
        start_height: version.start_height,
        wtxid_relay: false,
    })
}

fn our_version(address: SocketAddr, options: &PeerOptions) -> VersionMessage {
    let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
    VersionMessage {
        version: PROTOCOL_VERSION,
        services: ServiceFlags::WITNESS,
        timestamp: options.unix_time,
        receiver: Address::new(&address, ServiceFlags::NONE),
        sender: Address::new(&nowhere, ServiceFlags::NONE),
        // A nonce serves to notice a connection to oneself; we do not listen.
        nonce: 0,
        user_agent: options.user_agent.clone(),
        start_height: options.start_height,
        relay: options.relay,
    }
}

async fn send(stream: &mut TcpStream, message: NetworkMessage, magic: Magic) -> Result<(), PeerError> {
    stream.write_all(&frame::encode(message, magic)).await.map_err(|error| PeerError::Closed(error.kind().to_string()))
}

//! Frames of the peer-to-peer protocol (version 1): magic, command, length, checksum, payload.

use bitcoin::consensus::{deserialize, serialize};
use bitcoin::hashes::{Hash, sha256d};
use bitcoin::p2p::Magic;
use bitcoin::p2p::message::{NetworkMessage, RawNetworkMessage};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Largest payload that is read, in bytes; Bitcoin Core's limit.
pub(crate) const PAYLOAD_BYTES_MAX: usize = 4_000_000;
/// Bytes before the payload.
const HEADER_BYTES: usize = 24;
/// The magic of regtest.
const MAGIC: Magic = Magic::REGTEST;

/// Why a peer can no longer be read from.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WireError {
    /// The connection ended.
    #[error("the connection ended: {0}")]
    Closed(#[from] std::io::Error),
    /// The bytes are not of this network.
    #[error("the peer speaks for another network")]
    Magic,
    /// The announced payload is too large.
    #[error("the peer announced a message of {0} bytes, {PAYLOAD_BYTES_MAX} are allowed")]
    TooLarge(usize),
}

/// A message, or `None` where the bytes make none (wrong checksum, undecodable payload): such a message is skipped.
pub(crate) struct Received {
    pub(crate) message: Option<NetworkMessage>,
    /// Bytes on the wire.
    pub(crate) size: usize,
}

/// Reads one message. The payload grows as it arrives, so an announced length alone costs nothing.
pub(crate) async fn read_message(reader: &mut (impl AsyncRead + Unpin)) -> Result<Received, WireError> {
    let mut frame = vec![0; HEADER_BYTES];
    reader.read_exact(&mut frame).await?;
    if frame[..4] != MAGIC.to_bytes() {
        return Err(WireError::Magic);
    }
    let length = u32::from_le_bytes([frame[16], frame[17], frame[18], frame[19]]) as usize;
    if length > PAYLOAD_BYTES_MAX {
        return Err(WireError::TooLarge(length));
    }
    let read = reader.take(length as u64).read_to_end(&mut frame).await?;
    if read < length {
        return Err(WireError::Closed(std::io::ErrorKind::UnexpectedEof.into()));
    }
    let size = frame.len();
    let message = deserialize::<RawNetworkMessage>(&frame).ok().map(RawNetworkMessage::into_payload);
    Ok(Received { message, size })
}

/// The bytes of a message.
pub(crate) fn encode(message: NetworkMessage) -> Vec<u8> {
    serialize(&RawNetworkMessage::new(MAGIC, message))
}

/// The bytes of a message whose payload is encoded already.
pub(crate) fn frame(command: &str, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(HEADER_BYTES + payload.len());
    frame.extend_from_slice(&MAGIC.to_bytes());
    frame.extend_from_slice(command.as_bytes());
    frame.resize(16, 0);
    let length = u32::try_from(payload.len()).expect("blocks and transactions are far below 4 GiB");
    frame.extend_from_slice(&length.to_le_bytes());
    frame.extend_from_slice(&sha256d::Hash::hash(payload).as_byte_array()[..4]);
    frame.extend_from_slice(payload);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_made_by_hand_equals_that_of_the_library() {
        let by_library = encode(NetworkMessage::Ping(7));
        assert_eq!(frame("ping", &7_u64.to_le_bytes()), by_library);
    }

    #[tokio::test]
    async fn frames_that_are_foreign_too_large_or_cut_end_the_connection_and_a_wrong_checksum_is_skipped() {
        let good = encode(NetworkMessage::Ping(7));
        let received = read_message(&mut good.as_slice()).await.unwrap();
        assert_eq!((received.message, received.size), (Some(NetworkMessage::Ping(7)), 32));

        let mut foreign = good.clone();
        foreign[0] ^= 1;
        assert!(matches!(read_message(&mut foreign.as_slice()).await, Err(WireError::Magic)));

        let mut large = good.clone();
        large[16..20].copy_from_slice(&4_000_001_u32.to_le_bytes());
        assert!(matches!(read_message(&mut large.as_slice()).await, Err(WireError::TooLarge(4_000_001))));

        assert!(matches!(read_message(&mut &good[..31]).await, Err(WireError::Closed(_))));

        let mut damaged = good;
        damaged[20] ^= 1;
        assert_eq!(read_message(&mut damaged.as_slice()).await.unwrap().message, None);
    }
}

//! Framing: bytes to messages and back, without any I/O.

use bitcoin::consensus::encode::{Error as EncodeError, deserialize, serialize};
use bitcoin::p2p::Magic;
use bitcoin::p2p::message::{MAX_INV_SIZE, NetworkMessage, RawNetworkMessage};
use bytes::BytesMut;

/// Largest payload accepted, in bytes. Bitcoin Core itself sends at most 4,000,000.
pub const PAYLOAD_BYTES_MAX: usize = 4 << 20;
/// Magic, command, length, checksum.
const FRAME_HEADER_BYTES: usize = 24;
/// Most headers in one message.
const HEADERS_MAX: usize = 2000;

/// Why bytes are not a message of the expected network. The connection cannot go on after one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The peer speaks for another network, or not this protocol.
    #[error("the message begins with {0:02x?}, which is not the magic of this network")]
    Magic([u8; 4]),
    /// The announced payload is above [`PAYLOAD_BYTES_MAX`].
    #[error("a message of {0} bytes is larger than the protocol allows")]
    TooLarge(usize),
    /// The payload does not match its checksum.
    #[error("the checksum of a message is wrong")]
    Checksum,
    /// The payload does not decode, or holds more entries than the protocol allows.
    #[error("a message does not decode: {0}")]
    Undecodable(String),
}

/// Takes the first whole message off `buffer`. `None` when more bytes are needed; `buffer` is then unchanged.
///
/// # Errors
/// [`FrameError`] as soon as the bytes show it; nothing above [`PAYLOAD_BYTES_MAX`] is ever waited for.
pub fn decode(buffer: &mut BytesMut, magic: Magic) -> Result<Option<NetworkMessage>, FrameError> {
    let begin = buffer.len().min(4);
    if buffer[..begin] != magic.to_bytes()[..begin] {
        let mut received = [0; 4];
        received[..begin].copy_from_slice(&buffer[..begin]);
        return Err(FrameError::Magic(received));
    }
    let Some(length) = buffer.get(16..20).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes) else {
        return Ok(None);
    };
    let length = length as usize;
    if length > PAYLOAD_BYTES_MAX {
        return Err(FrameError::TooLarge(length));
    }
    if buffer.len() < FRAME_HEADER_BYTES + length {
        return Ok(None);
    }
    let frame = buffer.split_to(FRAME_HEADER_BYTES + length);
    let message: RawNetworkMessage = deserialize(&frame).map_err(|error| match error {
        EncodeError::InvalidChecksum { .. } => FrameError::Checksum,
        error => FrameError::Undecodable(error.to_string()),
    })?;
    let message = message.into_payload();
    check_counts(&message)?;
    Ok(Some(message))
}

fn check_counts(message: &NetworkMessage) -> Result<(), FrameError> {
    let (count, most) = match message {
        NetworkMessage::Inv(list) | NetworkMessage::GetData(list) | NetworkMessage::NotFound(list) => {
            (list.len(), MAX_INV_SIZE)
        }
        NetworkMessage::Headers(headers) => (headers.len(), HEADERS_MAX),
        _ => return Ok(()),
    };
    if count > most {
        return Err(FrameError::Undecodable(format!("{} holds {count} entries, {most} are allowed", message.cmd())));
    }
    Ok(())
}

/// The bytes of `message`.
pub fn encode(message: NetworkMessage, magic: Magic) -> Vec<u8> {
    serialize(&RawNetworkMessage::new(magic, message))
}

#[cfg(test)]
mod tests {
    use bitcoin::hashes::{Hash, sha256d};
    use bitcoin::p2p::message_blockdata::Inventory;
    use proptest::prelude::*;

    use super::*;

    const COMMANDS: [&str; 24] = [
        "version",
        "verack",
        "addr",
        "inv",
        "getdata",
        "notfound",
        "getblocks",
        "getheaders",
        "mempool",
        "block",
        "headers",
        "ping",
        "pong",
        "merkleblock",
        "tx",
        "cmpctblock",
        "getblocktxn",
        "blocktxn",
        "feefilter",
        "sendcmpct",
        "reject",
        "addrv2",
        "wtxidrelay",
        "unknown",
    ];

    fn frame(command: &str, payload: &[u8]) -> BytesMut {
        let mut bytes = BytesMut::from(&Magic::REGTEST.to_bytes()[..]);
        let mut name = [0; 12];
        name[..command.len()].copy_from_slice(command.as_bytes());
        bytes.extend_from_slice(&name);
        bytes.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&sha256d::Hash::hash(payload).as_byte_array()[..4]);
        bytes.extend_from_slice(payload);
        bytes
    }

    #[test]
    fn a_message_may_come_in_any_pieces_and_several_at_once() {
        let whole =
            [encode(NetworkMessage::Ping(7), Magic::REGTEST), encode(NetworkMessage::Verack, Magic::REGTEST)].concat();
        let mut buffer = BytesMut::new();
        let mut got = Vec::new();
        for byte in whole {
            buffer.extend_from_slice(&[byte]);
            got.extend(decode(&mut buffer, Magic::REGTEST).unwrap());
        }
        assert_eq!(got, [NetworkMessage::Ping(7), NetworkMessage::Verack]);
        assert!(buffer.is_empty());
    }

    #[test]
    fn another_network_is_refused_at_the_first_byte() {
        let mut buffer = BytesMut::from(&encode(NetworkMessage::Verack, Magic::BITCOIN)[..1]);
        assert_eq!(decode(&mut buffer, Magic::REGTEST), Err(FrameError::Magic([0xf9, 0, 0, 0])));
    }

    #[test]
    fn a_large_announcement_is_refused_before_its_payload_comes() {
        let mut buffer = frame("block", &[]);
        buffer[16..20].copy_from_slice(&(PAYLOAD_BYTES_MAX as u32 + 1).to_le_bytes());
        assert_eq!(decode(&mut buffer, Magic::REGTEST), Err(FrameError::TooLarge(PAYLOAD_BYTES_MAX + 1)));
    }

    #[test]
    fn a_wrong_checksum_is_refused() {
        let mut buffer = frame("ping", &[0; 8]);
        buffer[24] = 1;
        assert_eq!(decode(&mut buffer, Magic::REGTEST), Err(FrameError::Checksum));
    }

    #[test]
    fn unknown_commands_are_messages_too() {
        let message = decode(&mut frame("sendtxrcncl", &[1, 2, 3]), Magic::REGTEST).unwrap().unwrap();
        assert!(matches!(message, NetworkMessage::Unknown { payload, .. } if payload == [1, 2, 3]));
    }

    #[test]
    fn more_inventory_than_the_protocol_allows_is_refused() {
        let entry = Inventory::Block(bitcoin::BlockHash::all_zeros());
        for (count, fine) in [(MAX_INV_SIZE, true), (MAX_INV_SIZE + 1, false)] {
            let mut buffer = BytesMut::from(&encode(NetworkMessage::Inv(vec![entry; count]), Magic::REGTEST)[..]);
            assert_eq!(decode(&mut buffer, Magic::REGTEST).is_ok(), fine, "{count}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(noise in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = decode(&mut BytesMut::from(&noise[..]), Magic::REGTEST);
            let mut behind_magic = BytesMut::from(&Magic::REGTEST.to_bytes()[..]);
            behind_magic.extend_from_slice(&noise);
            let _ = decode(&mut behind_magic, Magic::REGTEST);
        }

        #[test]
        fn arbitrary_payloads_of_every_command_never_panic(
            command in prop::sample::select(&COMMANDS[..]),
            payload in prop::collection::vec(any::<u8>(), 0..400),
        ) {
            let mut buffer = frame(command, &payload);
            let _ = decode(&mut buffer, Magic::REGTEST);
            prop_assert!(buffer.is_empty());
        }

        #[test]
        fn pings_round_trip_and_a_cut_message_waits(nonce in any::<u64>(), cut in 0usize..32) {
            let bytes = encode(NetworkMessage::Ping(nonce), Magic::REGTEST);
            let mut buffer = BytesMut::from(&bytes[..cut]);
            prop_assert_eq!(decode(&mut buffer, Magic::REGTEST), Ok(None));
            buffer.extend_from_slice(&bytes[cut..]);
            prop_assert_eq!(decode(&mut buffer, Magic::REGTEST), Ok(Some(NetworkMessage::Ping(nonce))));
        }
    }
}

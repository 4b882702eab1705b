//! What a peer sends: frames are cut from the stream however it arrives, and a message that is understood reads back the same.

use bitcoin::p2p::Magic;
use bytes::BytesMut;
use paraffin_chain::p2p::{PAYLOAD_BYTES_MAX, decode, encode};

/// Magic, command, length, checksum.
const FRAME_HEADER_BYTES: usize = 24;

fn read_all(bytes: &[u8]) {
    let mut buffer = BytesMut::from(bytes);
    while !buffer.is_empty() {
        let before = buffer.len();
        match decode(&mut buffer, Magic::REGTEST) {
            Ok(Some(message)) => {
                assert!(buffer.len() < before);
                let mut again = BytesMut::from(encode(message.clone(), Magic::REGTEST).as_slice());
                assert_eq!(decode(&mut again, Magic::REGTEST), Ok(Some(message)));
            }
            Ok(None) => {
                // More is waited for, but never more than the protocol's largest message.
                assert_eq!(buffer.len(), before);
                assert!(before < FRAME_HEADER_BYTES + PAYLOAD_BYTES_MAX);
                break;
            }
            Err(_) => break,
        }
    }
}

pub(crate) fn run(bytes: &[u8]) {
    read_all(bytes);
    // Random bytes never carry the right magic, length and checksum: here they are only a command and a payload.
    if let Some((command, payload)) = bytes.split_at_checked(12) {
        use bitcoin::hashes::{Hash, sha256d};
        let mut framed = Magic::REGTEST.to_bytes().to_vec();
        framed.extend_from_slice(command);
        framed.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        framed.extend_from_slice(&sha256d::Hash::hash(payload).to_byte_array()[..4]);
        framed.extend_from_slice(payload);
        read_all(&framed);
    }
}

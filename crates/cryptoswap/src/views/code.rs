//! Decoding of the request of `getbytecode`.

use paraffin_primitives::AlkaneId;
use prost::Message;

use crate::proto;

/// The wrapper around an id, which may be written in two forms.
#[derive(Clone, PartialEq, Eq, Message)]
struct Wrapper {
    #[prost(bytes = "vec", optional, tag = "1")]
    id: Option<Vec<u8>>,
}

/// The contract; `None` when the bytes are not a wrapper with an id and nothing else. A bare id is none: its parts stand
/// where the wrapper has a message and nothing.
pub(super) fn wanted(payload: &[u8]) -> Option<AlkaneId> {
    let wrapper = Wrapper::decode(payload).ok()?;
    let id = wrapper.id.as_deref()?;
    // Further fields of the bytes are not in the decoded message.
    if wrapper.encoded_len() != payload.len() {
        return None;
    }
    match proto::AlkaneId::decode(id) {
        Ok(id) => Some(id.into()),
        Err(_) => paraffin_alkanes::proto::alkanes::AlkaneId::decode(id).ok().map(AlkaneId::from),
    }
}

#[cfg(test)]
mod tests {
    use bitcoin::hex::FromHex as _;
    use proptest::prelude::*;

    use super::*;

    fn read(hex: &str) -> Option<AlkaneId> {
        wanted(&Vec::from_hex(hex).unwrap())
    }

    /// row PI15
    /// row PI28
    #[test]
    fn an_id_is_read_in_both_forms_and_only_in_its_wrapper() {
        let pool = Some(AlkaneId { block: 4, tx: 1778 });
        // Published request of the alkanes index; the same id as `cryptoswap.proto` writes it.
        assert_eq!(read("0a090a020804120308f20d"), pool);
        assert_eq!(read("0a05080410f20d"), pool);
        for none in [
            "",
            // Bare ids in both forms.
            "080410f20d",
            "0a020804120308f20d",
            // Cut short, mixed, or with more behind.
            "0a05080410f2",
            "0a0708041203 08f20d".replace(' ', "").as_str(),
            "0a05080410f20d1001",
        ] {
            assert_eq!(read(none), None, "{none}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
            let _ = wanted(&bytes);
        }
    }
}

//! The fields of an inscription.

use bitcoin::Txid;
use bitcoin::hashes::Hash as _;
use bytes::Bytes;

use crate::event::InscriptionId;

/// The fields of an envelope as they were pushed. Text is not checked: the methods do that.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inscription {
    /// All pushes after the field list; `None` without one. An empty body is a body.
    pub body: Option<Bytes>,
    /// Field 1.
    pub content_type: Option<Bytes>,
    /// Field 2.
    pub pointer: Option<Bytes>,
    /// Field 3, those values that are ids, in order, duplicates included.
    pub parents: Vec<InscriptionId>,
    /// Field 5, all values joined.
    pub metadata: Option<Bytes>,
    /// Field 7.
    pub metaprotocol: Option<Bytes>,
    /// Field 9.
    pub content_encoding: Option<Bytes>,
    /// Field 11.
    pub delegate: Option<Bytes>,
    /// Field 13: the name of the rune that the transaction etches.
    pub rune: Option<Bytes>,
    /// Field 17, all values joined.
    pub properties: Option<Bytes>,
    /// Field 19.
    pub property_encoding: Option<Bytes>,
    /// Whether a field is given more than once, fields that may have several values included.
    pub has_duplicate_field: bool,
    /// Whether the last field has no value.
    pub has_incomplete_field: bool,
    /// Whether there is a field that an indexer must know and does not.
    pub has_unrecognized_even_field: bool,
}

impl Inscription {
    /// The content type, when it is text.
    pub fn content_type(&self) -> Option<&str> {
        text(self.content_type.as_ref())
    }

    /// The metaprotocol, when it is text.
    pub fn metaprotocol(&self) -> Option<&str> {
        text(self.metaprotocol.as_ref())
    }

    /// The content encoding, when it is text.
    pub fn content_encoding(&self) -> Option<&str> {
        text(self.content_encoding.as_ref())
    }

    /// The inscription whose content replaces that of this one.
    pub fn delegate(&self) -> Option<InscriptionId> {
        id_of_value(self.delegate.as_ref()?)
    }

    /// Sats of the transaction's outputs before the one inscribed: up to eight bytes, little-endian, and zeros after them.
    pub fn pointer(&self) -> Option<u64> {
        let value = self.pointer.as_ref()?;
        let (low, high) = value.split_at(value.len().min(8));
        if high.iter().any(|byte| *byte != 0) {
            return None;
        }
        let mut bytes = [0; 8];
        bytes[..low.len()].copy_from_slice(low);
        Some(u64::from_le_bytes(bytes))
    }
}

fn text(bytes: Option<&Bytes>) -> Option<&str> {
    std::str::from_utf8(bytes?).ok()
}

/// An inscription id in a field: the txid in wire order, then up to four bytes of the index, little-endian. Fewer than four
/// do not end in zero, so that there is one short form.
pub(crate) fn id_of_value(value: &[u8]) -> Option<InscriptionId> {
    let (txid, index) = value.split_first_chunk::<32>()?;
    if index.len() > 4 || (index.len() < 4 && index.last() == Some(&0)) {
        return None;
    }
    let mut bytes = [0; 4];
    bytes[..index.len()].copy_from_slice(index);
    Some(InscriptionId { txid: Txid::from_byte_array(*txid), index: u32::from_le_bytes(bytes) })
}

/// The shortest form of an id in a field.
pub fn value_of_id(id: &InscriptionId) -> Vec<u8> {
    let index = id.index.to_le_bytes();
    let used = index.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    [&id.txid.to_byte_array()[..], &index[..used]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer(bytes: &[u8]) -> Option<u64> {
        Inscription { pointer: Some(Bytes::copy_from_slice(bytes)), ..Inscription::default() }.pointer()
    }

    #[test]
    fn pointers_are_little_endian_of_any_length_when_the_rest_is_zero() {
        assert_eq!(pointer(&[]), Some(0));
        assert_eq!(pointer(&[1, 2]), Some(0x0201));
        assert_eq!(pointer(&[0xff; 8]), Some(u64::MAX));
        assert_eq!(pointer(&[1, 0, 0, 0, 0, 0, 0, 0, 0, 0]), Some(1));
        assert_eq!(pointer(&[1, 0, 0, 0, 0, 0, 0, 0, 0, 1]), None);
        assert_eq!(Inscription::default().pointer(), None);
    }

    #[test]
    fn ids_have_one_short_form_and_one_of_four_bytes() {
        let txid = [7; 32];
        let value = |index: &[u8]| [&txid[..], index].concat();
        let id = |index| Some(InscriptionId { txid: Txid::from_byte_array(txid), index });
        assert_eq!(id_of_value(&value(&[])), id(0));
        assert_eq!(id_of_value(&value(&[1])), id(1));
        assert_eq!(id_of_value(&value(&[0, 1])), id(256));
        assert_eq!(id_of_value(&value(&[0, 0, 0, 0])), id(0));
        assert_eq!(id_of_value(&value(&[1, 0, 0, 0])), id(1));
        for bad in [&[0][..], &[1, 0], &[1, 0, 0], &[1, 0, 0, 0, 0]] {
            assert_eq!(id_of_value(&value(bad)), None, "{bad:?}");
        }
        assert_eq!(id_of_value(&txid[..31]), None);
        for index in [0, 1, 255, 256, 65_536, u32::MAX] {
            let id = InscriptionId { txid: Txid::from_byte_array(txid), index };
            assert_eq!(id_of_value(&value_of_id(&id)), Some(id));
        }
    }
}

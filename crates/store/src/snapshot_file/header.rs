//! The header of a snapshot file as bytes.

use bitcoin::BlockHash;
use bitcoin::hashes::Hash as _;
use paraffin_primitives::BlockId;

/// First bytes of the file.
pub(super) const MAGIC: [u8; 8] = *b"PARASNAP";
/// Longest body of a header: 255 modules with names of 255 bytes fit.
pub(super) const HEADER_BODY_MAX: usize = 128 * 1024;

/// Header of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) store_format: u32,
    pub(super) network: String,
    pub(super) tip: BlockId,
    pub(super) cumulative: [u8; 32],
    pub(super) modules: Vec<HeaderModule>,
}

/// A module whose tables are in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HeaderModule {
    pub(super) id: u8,
    pub(super) version: u32,
    pub(super) name: String,
}

impl Header {
    /// The body of the header.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = self.store_format.to_be_bytes().to_vec();
        push_text(&mut out, &self.network);
        out.extend_from_slice(&self.tip.height.to_be_bytes());
        out.extend_from_slice(self.tip.hash.as_byte_array());
        out.extend_from_slice(&self.cumulative);
        for module in &self.modules {
            out.push(module.id);
            out.extend_from_slice(&module.version.to_be_bytes());
            push_text(&mut out, &module.name);
        }
        out
    }

    /// `None` when the bytes are not a header.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (store_format, rest) = bytes.split_first_chunk::<4>()?;
        let (network, rest) = split_text(rest)?;
        let (height, rest) = rest.split_first_chunk::<4>()?;
        let (hash, rest) = rest.split_first_chunk::<32>()?;
        let (cumulative, mut rest) = rest.split_first_chunk::<32>()?;
        let mut modules = Vec::new();
        while let Some((id, after)) = rest.split_first() {
            let (version, after) = after.split_first_chunk::<4>()?;
            let (name, after) = split_text(after)?;
            modules.push(HeaderModule { id: *id, version: u32::from_be_bytes(*version), name });
            rest = after;
        }
        Some(Self {
            store_format: u32::from_be_bytes(*store_format),
            network,
            tip: BlockId { height: u32::from_be_bytes(*height), hash: BlockHash::from_byte_array(*hash) },
            cumulative: *cumulative,
            modules,
        })
    }
}

fn push_text(out: &mut Vec<u8>, text: &str) {
    // Names of networks and modules are constants of the program, far shorter than 255 bytes.
    let bytes = &text.as_bytes()[..text.len().min(255)];
    out.push(bytes.len() as u8);
    out.extend_from_slice(bytes);
}

fn split_text(bytes: &[u8]) -> Option<(String, &[u8])> {
    let (len, rest) = bytes.split_first()?;
    let (text, rest) = rest.split_at_checked(usize::from(*len))?;
    Some((String::from_utf8(text.to_vec()).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_comes_back_and_every_cut_is_refused() {
        let header = Header {
            store_format: 1,
            network: "signet".to_owned(),
            tip: BlockId { height: 5, hash: BlockHash::from_byte_array([3; 32]) },
            cumulative: [4; 32],
            modules: vec![HeaderModule { id: 1, version: 2, name: "bitcoin".to_owned() }],
        };
        let bytes = header.encode();
        assert_eq!(Header::decode(&bytes), Some(header.clone()));
        for len in 0..bytes.len() {
            assert_ne!(Header::decode(&bytes[..len]).as_ref(), Some(&header), "{len}");
        }
    }
}

//! Who keeps the bitcoin: a public key, and the taproot output that pays to it.

use k256::elliptic_curve::ff::PrimeField;
use k256::elliptic_curve::point::{AffineCoordinates, DecompressPoint};
use k256::elliptic_curve::subtle::Choice;
use k256::{AffinePoint, ProjectivePoint, Scalar};
use paraffin_contract::prelude::*;
use sha2::{Digest, Sha256};

/// The signer of development networks until the owner names another. Its secret is SHA-256 of the text
/// `Paraffin development signer`, so everyone can spend what it keeps.
pub(crate) const DEVELOPMENT_SIGNER: [u8; 32] = [
    0x97, 0x1c, 0x2b, 0x4a, 0xd9, 0x11, 0xce, 0x57, 0x54, 0xad, 0xc6, 0x23, 0x10, 0x4d, 0x0f, 0x65, 0xf4, 0xb5, 0x1a,
    0x1a, 0x96, 0x97, 0x20, 0x71, 0xc9, 0x26, 0xc9, 0x8b, 0xc2, 0x98, 0xc1, 0x42,
];

/// The script of a taproot output that pays to this internal key without a script tree; `None` when the bytes are no key.
pub(crate) fn script_of(key: &[u8; 32]) -> Option<Vec<u8>> {
    let internal: Option<AffinePoint> = AffinePoint::decompress(&(*key).into(), Choice::from(0)).into();
    let tag = Sha256::digest(b"TapTweak");
    let hash = Sha256::new().chain_update(tag).chain_update(tag).chain_update(key).finalize();
    let tweak: Option<Scalar> = Scalar::from_repr(hash).into();
    let output = (ProjectivePoint::from(internal?) + ProjectivePoint::GENERATOR * tweak?).to_affine();
    let mut script = vec![0x51, 0x20];
    script.extend_from_slice(&output.x());
    Some(script)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> [u8; 32] {
        std::array::from_fn(|index| u8::from_str_radix(&hex[2 * index..2 * index + 2], 16).unwrap())
    }

    #[test]
    fn the_output_key_is_the_tweaked_one() {
        let key = bytes("7940ef3b659179a1371dec05793cb027cde47806fb66ce1e3d1b69d56de629dc");
        let script = script_of(&key).unwrap();
        assert_eq!(script[..2], [0x51, 0x20]);
        assert_eq!(script[2..], bytes("a7f90b8256f58c1074fe085d37b73dff3040774babc216dae106e281e020638b"));
    }

    #[test]
    fn not_every_32_bytes_are_a_key() {
        assert_eq!(script_of(&[0xff; 32]), None);
        assert_eq!(script_of(&[0; 32]), None);
    }

    #[test]
    fn the_development_signer_is_the_published_secret() {
        let secret = Scalar::from_repr(Sha256::digest(b"Paraffin development signer")).unwrap();
        let key: [u8; 32] = (ProjectivePoint::GENERATOR * secret).to_affine().x().into();
        assert_eq!(DEVELOPMENT_SIGNER, key);
    }
}

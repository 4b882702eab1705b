//! Bounds of decoded requests. A nested message of two bytes on the wire is a hundred in memory, so nested messages
//! are counted before any of them is made.

use prost::Message;

use super::{DecodeError, alkanes, protorune};

/// Nested messages in one request, all levels together.
pub const ELEMENTS_MAX: usize = 100_000;

/// The fields of a message that hold messages, by number.
pub struct Shape(&'static [(u64, &'static Shape)]);

const LEAF: Shape = Shape(&[]);
const ID: Shape = Shape(&[(1, &LEAF), (2, &LEAF)]);
const TRANSFER: Shape = Shape(&[(1, &ID), (2, &LEAF)]);
const PARCEL: Shape = Shape(&[(1, &TRANSFER)]);
const STORAGE: Shape = Shape(&[(1, &ID), (2, &LEAF)]);

/// A message that a view takes.
pub trait Request: Message + Default {
    /// Its name in errors.
    const NAME: &'static str;
    /// Where it holds other messages.
    const SHAPE: Shape;
}

macro_rules! requests {
    ($($package:ident::$name:ident: $shape:expr;)*) => {$(
        impl Request for $package::$name {
            const NAME: &'static str = stringify!($name);
            const SHAPE: Shape = $shape;
        }
    )*};
}

requests! {
    alkanes::MessageContextParcel: PARCEL;
    alkanes::MultiSimulateRequest: Shape(&[(1, &PARCEL)]);
    alkanes::SimulateProtostonesRequest: Shape(&[(2, &TRANSFER), (6, &STORAGE)]);
    alkanes::SimulateTransactionRequest: Shape(&[(3, &STORAGE)]);
    alkanes::SimulateBlockRequest: Shape(&[(3, &STORAGE)]);
    alkanes::AlkaneInventoryRequest: Shape(&[(1, &ID)]);
    alkanes::AlkaneStorageRequest: Shape(&[(1, &ID)]);
    alkanes::AlkaneIdToOutpointRequest: Shape(&[(1, &ID)]);
    alkanes::BytecodeRequest: Shape(&[(1, &ID)]);
    alkanes::BlockRequest: LEAF;
    alkanes::Outpoint: LEAF;
    protorune::OutpointWithProtocol: Shape(&[(3, &LEAF)]);
    protorune::WalletRequest: LEAF;
    protorune::ProtorunesWalletRequest: Shape(&[(2, &LEAF)]);
    protorune::RunesByHeightRequest: LEAF;
    protorune::ProtorunesByHeightRequest: Shape(&[(2, &LEAF)]);
}

/// Reads a request.
///
/// # Errors
/// The bytes are no such message, or hold more than [`ELEMENTS_MAX`] nested messages.
pub fn decode<T: Request>(bytes: &[u8]) -> Result<T, DecodeError> {
    let mut elements = 0;
    let is_malformed = match count(bytes, &T::SHAPE, &mut elements) {
        Err(Fault::TooMany) => return Err(DecodeError::TooMany),
        counted => counted.is_err(),
    };
    // What counts as malformed is so for the library too, which says why.
    let malformed = |reason| DecodeError::Malformed { name: T::NAME, reason };
    match T::decode(bytes) {
        Ok(_) if is_malformed => Err(malformed("it cannot be counted".to_owned())),
        decoded => decoded.map_err(|error| malformed(error.to_string())),
    }
}

enum Fault {
    Malformed,
    TooMany,
}

/// Counts nested messages; as deep as the shape, never deeper.
fn count(mut bytes: &[u8], shape: &Shape, elements: &mut usize) -> Result<(), Fault> {
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let (field, wire_type) = (key >> 3, key & 7);
        match wire_type {
            0 => _ = varint(&mut bytes)?,
            1 => _ = take(&mut bytes, 8)?,
            2 => {
                let length = varint(&mut bytes)?;
                let content = take(&mut bytes, length)?;
                if let Some((_, nested)) = shape.0.iter().find(|(number, _)| *number == field) {
                    *elements += 1;
                    if *elements > ELEMENTS_MAX {
                        return Err(Fault::TooMany);
                    }
                    count(content, nested, elements)?;
                }
            }
            5 => _ = take(&mut bytes, 4)?,
            // Groups are no part of proto3: the library passes over what is in them.
            3 => group(&mut bytes, field, GROUPS_DEPTH_MAX)?,
            _ => return Err(Fault::Malformed),
        }
    }
    Ok(())
}

/// Groups within groups, as deep as the library goes.
const GROUPS_DEPTH_MAX: u32 = 100;

/// Passes over a group of an unknown field.
fn group(bytes: &mut &[u8], number: u64, depth_left: u32) -> Result<(), Fault> {
    let depth_left = depth_left.checked_sub(1).ok_or(Fault::Malformed)?;
    loop {
        let key = varint(bytes)?;
        let (field, wire_type) = (key >> 3, key & 7);
        match wire_type {
            0 => _ = varint(bytes)?,
            1 => _ = take(bytes, 8)?,
            2 => {
                let length = varint(bytes)?;
                take(bytes, length)?;
            }
            3 => group(bytes, field, depth_left)?,
            4 if field == number => return Ok(()),
            5 => _ = take(bytes, 4)?,
            _ => return Err(Fault::Malformed),
        }
    }
}

fn varint(bytes: &mut &[u8]) -> Result<u64, Fault> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or(Fault::Malformed)?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(Fault::Malformed)
}

fn take<'a>(bytes: &mut &'a [u8], length: u64) -> Result<&'a [u8], Fault> {
    let length = usize::try_from(length).map_err(|_| Fault::Malformed)?;
    let (taken, rest) = bytes.split_at_checked(length).ok_or(Fault::Malformed)?;
    *bytes = rest;
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_message_of_countless_empty_parts_is_refused_before_they_are_made() {
        let parts = |count: usize| [0x0a, 0x00].repeat(count);
        assert_eq!(decode::<alkanes::MultiSimulateRequest>(&parts(ELEMENTS_MAX)).unwrap().parcels.len(), ELEMENTS_MAX);
        assert_eq!(decode::<alkanes::MultiSimulateRequest>(&parts(ELEMENTS_MAX + 1)), Err(DecodeError::TooMany));
        let mut nested = Vec::new();
        let inner = parts(ELEMENTS_MAX);
        prost::encoding::encode_key(1, prost::encoding::WireType::LengthDelimited, &mut nested);
        prost::encoding::encode_varint(inner.len() as u64, &mut nested);
        nested.extend(inner);
        assert_eq!(decode::<alkanes::MultiSimulateRequest>(&nested), Err(DecodeError::TooMany));
    }

    #[test]
    fn lengths_beyond_the_end_and_groups_are_malformed() {
        for bytes in [
            &[0x2a_u8, 0x05, 1][..],
            &[0x2a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
            &[0x80],
            &[0x0b, 0x0c],
            &[0xfb, 0x01, 0x0b],
            &[0x0f],
            &[0x2a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
        ] {
            let decoded = decode::<alkanes::MessageContextParcel>(bytes);
            assert!(matches!(decoded, Err(DecodeError::Malformed { name: "MessageContextParcel", .. })), "{bytes:?}");
        }
        // Field 5, two bytes: the call that clients send for 2:0.
        let parcel: alkanes::MessageContextParcel = decode(&[0x2a, 0x02, 0x02, 0x00]).unwrap();
        assert_eq!(parcel.calldata, [2, 0]);
        // A group of a field that the message does not have is passed over.
        let parcel: alkanes::MessageContextParcel = decode(&[0xfb, 0x01, 0xfc, 0x01, 0x2a, 0x01, 0x07]).unwrap();
        assert_eq!(parcel.calldata, [7]);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
            let _ = decode::<alkanes::MultiSimulateRequest>(&bytes);
            let _ = decode::<alkanes::SimulateProtostonesRequest>(&bytes);
            let _ = decode::<protorune::OutpointWithProtocol>(&bytes);
        }
    }
}

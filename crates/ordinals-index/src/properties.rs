//! Field 17 of an inscription: its gallery, title and traits, in CBOR (RFC 8949).
//!
//! Malformed properties count as none. They may be compressed with Brotli (RFC 7932), as field 19 states; those that would take
//! too much memory when they are decompressed count as none, as in `ord` 0.29.

use std::borrow::Cow;
use std::io::Read as _;

use bitcoin::Txid;
use bitcoin::hashes::Hash as _;
use brotli_decompressor::{BrotliDecoderParameter, Decompressor};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::event::InscriptionId;
use crate::inscription::{Inscription, id_of_value};

/// What an inscription states about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Properties {
    /// Inscriptions that it shows.
    pub gallery: Vec<Item>,
    /// Title and traits of the inscription itself.
    pub attributes: Attributes,
}

/// An inscription of a gallery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Item {
    /// The inscription.
    pub id: InscriptionId,
    /// Its title and traits in this gallery.
    pub attributes: Attributes,
}

/// Title and traits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Attributes {
    /// The title.
    pub title: Option<String>,
    /// Names with values, in order.
    pub traits: Traits,
}

/// Names with values, each name once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traits(pub Vec<(String, Trait)>);

/// A value of a trait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Trait {
    /// Yes or no.
    Bool(bool),
    /// A number.
    Integer(i64),
    /// No value.
    Null,
    /// Text.
    String(String),
}

impl Serialize for Traits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl Properties {
    /// The properties of an inscription. `may_keep` is called with the bytes of each part, its serialized form included, before
    /// it is added; when it returns false, there are none.
    pub fn of(inscription: &Inscription, may_keep: &dyn Fn(usize) -> bool) -> Self {
        let cbor = cbor(inscription, may_keep);
        cbor.and_then(|cbor| properties(&mut Decoder { rest: &cbor, may_keep })).unwrap_or_default()
    }
}

/// Value of field 19 for compressed properties.
const BROTLI: &[u8] = b"br";
/// Most bytes of unpacked properties.
const UNPACKED_BYTES_MAX: usize = 4_000_000;
/// Most bytes of unpacked properties for each byte of packed ones.
const UNPACKED_RATIO_MAX: usize = 30;
/// Bytes that are unpacked at a time.
const UNPACKING_BYTES: usize = 4096;

/// About what an item of a gallery takes beside its texts, bytes.
const ITEM_BYTES: usize = 256;
/// About what a trait takes beside its texts, bytes.
const TRAIT_BYTES: usize = 160;
/// A text is held once and serialized once, where a control character becomes six.
const TEXT_FACTOR: usize = 7;

fn cbor<'i>(inscription: &'i Inscription, may_keep: &dyn Fn(usize) -> bool) -> Option<Cow<'i, [u8]>> {
    let properties = inscription.properties.as_deref()?;
    match inscription.property_encoding.as_deref() {
        None => Some(Cow::Borrowed(properties)),
        Some(BROTLI) => unpacked(properties, may_keep).map(Cow::Owned),
        Some(_) => None,
    }
}

/// `None` for bytes that are no Brotli stream, or one that holds more than it may. The decoder's window takes up to 16 MiB.
fn unpacked(packed: &[u8], may_keep: &dyn Fn(usize) -> bool) -> Option<Vec<u8>> {
    let most = packed.len().saturating_mul(UNPACKED_RATIO_MAX).min(UNPACKED_BYTES_MAX);
    if !may_keep(most) {
        return None;
    }
    let mut unpacked = Vec::new();
    let mut decoder = Decompressor::new(packed, UNPACKING_BYTES);
    // Windows of up to a gibibyte are an extension of the format, which the reference reads; no usual encoder makes them.
    decoder.set_parameter(BrotliDecoderParameter::BROTLI_DECODER_PARAM_LARGE_WINDOW, 0);
    decoder.take(most as u64 + 1).read_to_end(&mut unpacked).ok()?;
    (unpacked.len() <= most).then_some(unpacked)
}

/// Bytes that an item takes at least, its txid included, in the item or in the list.
const ITEM_BYTES_MIN: usize = 33;

/// An item whose id may still follow in the list of all txids.
#[derive(Default)]
struct PartialItem {
    id: Option<InscriptionId>,
    index: Option<u32>,
    attributes: Attributes,
}

fn properties(decoder: &mut Decoder<'_>) -> Option<Properties> {
    let (mut items, mut attributes, mut txids) = (Vec::new(), Attributes::default(), &[][..]);
    // More items than there can be ids for: one of them has no id, so the gallery is empty.
    let items_max = decoder.rest.len() / ITEM_BYTES_MIN;
    decoder.map(|decoder, key| {
        match key {
            0 => items = decoder.list(items_max + 1, item)?,
            1 => attributes = self::attributes(decoder)?,
            2 => txids = decoder.bytes(BYTES)?,
            _ => decoder.skip()?,
        }
        Some(())
    })?;
    for (item, txid) in items.iter_mut().zip(txids.as_chunks::<32>().0) {
        let txid = Txid::from_byte_array(*txid);
        item.id = Some(InscriptionId { txid, index: item.index.unwrap_or_default() });
    }
    let identified = items.into_iter().map(|item| Some(Item { id: item.id?, attributes: item.attributes }));
    // One without an id empties the gallery.
    let gallery = identified.collect::<Option<Vec<Item>>>().unwrap_or_default();
    Some(Properties { gallery, attributes })
}

fn item(decoder: &mut Decoder<'_>) -> Option<PartialItem> {
    let mut item = PartialItem::default();
    decoder.map(|decoder, key| {
        match key {
            0 => item.id = decoder.optional(|decoder| id_of_value(decoder.bytes(BYTES)?))?,
            1 => item.attributes = attributes(decoder)?,
            2 => item.index = decoder.optional(|decoder| u32::try_from(decoder.integer()?).ok())?,
            _ => decoder.skip()?,
        }
        Some(())
    })?;
    Some(item)
}

fn attributes(decoder: &mut Decoder<'_>) -> Option<Attributes> {
    let mut attributes = Attributes::default();
    decoder.map(|decoder, key| {
        match key {
            0 => attributes.title = decoder.optional(Decoder::text)?,
            1 => attributes.traits = traits(decoder)?,
            _ => decoder.skip()?,
        }
        Some(())
    })?;
    Some(attributes)
}

fn traits(decoder: &mut Decoder<'_>) -> Option<Traits> {
    let Head { kind: MAP, argument: Some(count) } = decoder.head()? else { return None };
    let mut traits = Traits::default();
    let mut names = std::collections::HashSet::new();
    for _ in 0..count {
        let name = std::str::from_utf8(decoder.bytes(TEXT)?).ok()?;
        if !names.insert(name) {
            return None;
        }
        decoder.keep(TRAIT_BYTES.saturating_add(name.len().saturating_mul(TEXT_FACTOR)))?;
        traits.0.push((name.to_owned(), value(decoder)?));
    }
    Some(traits)
}

fn value(decoder: &mut Decoder<'_>) -> Option<Trait> {
    match decoder.rest.first()? {
        0xf4 | 0xf5 => {
            let Head { argument, .. } = decoder.head()?;
            Some(Trait::Bool(argument == Some(21)))
        }
        0xf6 => {
            decoder.head()?;
            Some(Trait::Null)
        }
        first if first >> 5 == TEXT => decoder.text().map(Trait::String),
        _ => decoder.integer().and_then(|integer| i64::try_from(integer).ok()).map(Trait::Integer),
    }
}

const UNSIGNED: u8 = 0;
const NEGATIVE: u8 = 1;
const BYTES: u8 = 2;
const TEXT: u8 = 3;
const LIST: u8 = 4;
const MAP: u8 = 5;
const TAG: u8 = 6;
/// Ends a value of indefinite length.
const BREAK: u8 = 0xff;
const NULL: u8 = 0xf6;

/// The first byte of a value and the number with it; `None` for an indefinite length.
struct Head {
    kind: u8,
    argument: Option<u64>,
}

/// A CBOR reader. `None` from any method means that the bytes do not have the expected form.
struct Decoder<'a> {
    rest: &'a [u8],
    may_keep: &'a dyn Fn(usize) -> bool,
}

impl<'a> Decoder<'a> {
    fn take(&mut self, count: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(usize::try_from(count).ok()?)?;
        self.rest = rest;
        Some(taken)
    }

    fn head(&mut self) -> Option<Head> {
        let [first] = *self.take(1)? else { return None };
        let big_endian = |bytes: &[u8]| bytes.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        let argument = match first & 31 {
            small @ 0..24 => Some(u64::from(small)),
            width @ 24..28 => Some(big_endian(self.take(1 << (width - 24))?)),
            31 => None,
            _ => return None,
        };
        Some(Head { kind: first >> 5, argument })
    }

    /// Bytes or text of definite length.
    fn bytes(&mut self, wanted: u8) -> Option<&'a [u8]> {
        let Head { kind, argument: Some(length) } = self.head()? else { return None };
        if kind == wanted { self.take(length) } else { None }
    }

    fn text(&mut self) -> Option<String> {
        let text = std::str::from_utf8(self.bytes(TEXT)?).ok()?;
        self.keep(text.len().saturating_mul(TEXT_FACTOR))?;
        Some(text.to_owned())
    }

    fn keep(&self, bytes: usize) -> Option<()> {
        (self.may_keep)(bytes).then_some(())
    }

    fn integer(&mut self) -> Option<i128> {
        match self.head()? {
            Head { kind: UNSIGNED, argument: Some(number) } => Some(i128::from(number)),
            Head { kind: NEGATIVE, argument: Some(number) } => Some(-1 - i128::from(number)),
            _ => None,
        }
    }

    #[allow(clippy::option_option)] // outer `None`: malformed bytes; inner `None`: null
    fn optional<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.rest.first() == Some(&NULL) {
            self.take(1)?;
            return Some(None);
        }
        read(self).map(Some)
    }

    /// Whether one more value of a list or map comes.
    fn has_next(&mut self, left: &mut Option<u64>) -> Option<bool> {
        match left {
            Some(0) => Some(false),
            Some(left) => {
                *left -= 1;
                Some(true)
            }
            None if self.rest.first() == Some(&BREAK) => self.take(1).map(|_| false),
            None => Some(true),
        }
    }

    /// A list, truncated to its first `max` values.
    fn list<T>(&mut self, max: usize, read: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let Head { kind: LIST, argument: mut left } = self.head()? else { return None };
        let mut values = Vec::new();
        while self.has_next(&mut left)? {
            let value = read(self)?;
            if values.len() < max {
                self.keep(ITEM_BYTES)?;
                values.push(value);
            }
        }
        Some(values)
    }

    /// A map whose keys are integers.
    fn map(&mut self, mut read: impl FnMut(&mut Self, i128) -> Option<()>) -> Option<()> {
        let Head { kind: MAP, argument: mut left } = self.head()? else { return None };
        while self.has_next(&mut left)? {
            let key = self.integer()?;
            read(self, key)?;
        }
        Some(())
    }

    /// Passes over one value, however deep it is, without recursion.
    fn skip(&mut self) -> Option<()> {
        let mut open = vec![Some(1u64)];
        while let Some(mut left) = open.pop() {
            if !self.has_next(&mut left)? {
                continue;
            }
            open.push(left);
            let Head { kind, argument } = self.head()?;
            match (kind, argument) {
                (BYTES | TEXT, Some(length)) => drop(self.take(length)?),
                (LIST, Some(count)) => open.push(Some(count)),
                (MAP, Some(count)) => open.push(Some(count.checked_mul(2)?)),
                (TAG, Some(_)) => open.push(Some(1)),
                (BYTES | TEXT | LIST | MAP, None) => open.push(None),
                (_, Some(_)) => {}
                (_, None) => return None,
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use proptest::prelude::*;

    fn read(cbor: &[u8]) -> Properties {
        let properties = Some(Bytes::copy_from_slice(cbor));
        Properties::of(&Inscription { properties, ..Inscription::default() }, &|_| true)
    }

    fn attributes(title: &str, traits: Vec<(&str, Trait)>) -> Attributes {
        let traits = Traits(traits.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
        Attributes { title: (!title.is_empty()).then(|| title.to_owned()), traits }
    }

    /// `{1: {0: "foo", 1: {"a": true, "b": -2, "c": null, "d": "x"}}}`
    const TITLE_AND_TRAITS: &[u8] = b"\xa1\x01\xa2\x00\x63foo\x01\xa4\x61a\xf5\x61b\x21\x61c\xf6\x61d\x61x";

    #[test]
    fn titles_and_traits_of_every_type_are_read() {
        let traits = vec![
            ("a", Trait::Bool(true)),
            ("b", Trait::Integer(-2)),
            ("c", Trait::Null),
            ("d", Trait::String("x".to_owned())),
        ];
        assert_eq!(read(TITLE_AND_TRAITS), Properties { gallery: Vec::new(), attributes: attributes("foo", traits) });
        let json = serde_json::to_string(&read(TITLE_AND_TRAITS)).unwrap();
        assert_eq!(json, r#"{"gallery":[],"attributes":{"title":"foo","traits":{"a":true,"b":-2,"c":null,"d":"x"}}}"#);
    }

    #[test]
    fn galleries_have_their_ids_in_place_or_together() {
        let id = |byte: u8, index| InscriptionId { txid: Txid::from_byte_array([byte; 32]), index };
        let inline = [&b"\xa1\x00\x82\xa1\x00\x58\x20"[..], &[7; 32], b"\xa1\x00\x58\x21", &[8; 32], &[5]].concat();
        let ids = |properties: Properties| properties.gallery.iter().map(|item| item.id).collect::<Vec<_>>();
        assert_eq!(ids(read(&inline)), [id(7, 0), id(8, 5)]);
        let packed = [&b"\xa2\x00\x82\xa0\xa1\x02\x05\x02\x58\x40"[..], &[7; 32], &[8; 32]].concat();
        assert_eq!(ids(read(&packed)), [id(7, 0), id(8, 5)]);
        let missing = [&b"\xa2\x00\x82\xa0\xa0\x02\x58\x20"[..], &[7; 32]].concat();
        assert!(ids(read(&missing)).is_empty());
    }

    #[test]
    fn unknown_members_are_passed_over_and_faults_leave_nothing() {
        // {5: [1, {2: h'00'}, indefinite text], 1: {0: "t"}}, of indefinite length.
        let more = b"\xbf\x05\x83\x01\xa1\x02\x41\x00\x7f\x61x\xff\x01\xa1\x00\x61t\xff";
        assert_eq!(read(more).attributes.title.as_deref(), Some("t"));
        for bad in [
            &b""[..],
            b"\xa1",
            b"\x80",
            b"\xa1\x01",
            // A trait twice, a float, a name without a value, a number beyond 64 bits with sign, a text key.
            b"\xa1\x01\xa1\x01\xa2\x61a\x01\x61a\x02",
            b"\xa1\x01\xa1\x01\xa1\x61a\xf9\x00\x00",
            b"\xa1\x01\xa1\x01\xa1\x61a",
            b"\xa1\x01\xa1\x01\xa1\x61a\x1b\xff\xff\xff\xff\xff\xff\xff\xff",
            b"\xa1\x61a\x01",
            b"\xa1\x01\xa1\x00\x62\xc3\x28",
        ] {
            assert_eq!(read(bad), Properties::default(), "{bad:?}");
        }
    }

    fn read_packed(packed: &[u8], encoding: &[u8]) -> Properties {
        let (properties, property_encoding) =
            (Some(Bytes::copy_from_slice(packed)), Some(Bytes::copy_from_slice(encoding)));
        Properties::of(&Inscription { properties, property_encoding, ..Inscription::default() }, &|_| true)
    }

    /// A Brotli stream that holds up to 64 KiB as they are.
    fn stored(bytes: &[u8]) -> Vec<u8> {
        let head = ((bytes.len() as u32 - 1) << 4 | 1 << 20).to_le_bytes();
        [&head[..3], bytes, &[3]].concat()
    }

    fn hex(digits: &str) -> Vec<u8> {
        bitcoin::hex::FromHex::from_hex(digits).unwrap()
    }

    #[test]
    fn properties_packed_with_brotli_are_unpacked() {
        assert_eq!(read_packed(&stored(TITLE_AND_TRAITS), b"br"), read(TITLE_AND_TRAITS));
        // `{1: {0: "ab" 20 times}}`, as a usual encoder packs it.
        let title = hex("1b2d00f88d94a89daff0426103aecc52fdf0270c008d76");
        assert_eq!(read_packed(&title, b"br").attributes.title, Some("ab".repeat(20)));
        // Bytes after the stream are ignored.
        assert_eq!(read_packed(&[&title[..], b"more"].concat(), b"br").attributes.title, Some("ab".repeat(20)));
        for length in 0..title.len() {
            assert_eq!(read_packed(&title[..length], b"br"), Properties::default(), "{length} bytes");
        }
        for (packed, encoding) in [
            (TITLE_AND_TRAITS, &b"br"[..]),
            (&title, b""),
            (&title, b"BR"),
            (&title, b"gzip"),
            (TITLE_AND_TRAITS, b""),
            (&[0, 1, 2, 3], b"br"),
        ] {
            assert_eq!(read_packed(packed, encoding), Properties::default(), "{packed:02x?} {encoding:?}");
        }
    }

    /// Properties with zeros after them: 34 bytes hold up to 30 times as many.
    #[test]
    fn properties_that_unpack_to_more_than_thirty_times_their_size_are_none() {
        let at_most = hex("1bfb03f80762794518e35797a699b61b806e51612060cfab47a2baf5c2c38df82423");
        assert_eq!(unpacked(&at_most, &|_| true).map(|bytes| bytes.len()), Some(30 * at_most.len()));
        assert_eq!(read_packed(&at_most, b"br"), read(TITLE_AND_TRAITS));
        let beyond = hex("1bfc03f80762794518e35797a699b61b806e516120e0cfab47a2baf5c2c38df82423");
        assert_eq!(unpacked(&beyond, &|_| true), None);
        assert_eq!(read_packed(&beyond, b"br"), Properties::default());
    }

    #[test]
    fn properties_that_unpack_to_more_than_four_million_bytes_are_none() {
        // Stored parts of 64 KiB, each with a head for itself.
        let part = |length: usize| {
            let head = ((length as u32 - 1) << 3 | 1 << 19).to_le_bytes();
            [&head[..3], &vec![0xa0; length]].concat()
        };
        let stream = |length: usize| {
            let whole = length / 65_536;
            let mut packed = stored(&vec![0xa0; 65_536]);
            packed.pop();
            packed.extend((1..whole).flat_map(|_| part(65_536)));
            packed.extend(part(length - whole * 65_536));
            packed.push(3);
            packed
        };
        assert_eq!(unpacked(&stream(UNPACKED_BYTES_MAX), &|_| true).map(|bytes| bytes.len()), Some(UNPACKED_BYTES_MAX));
        assert_eq!(unpacked(&stream(UNPACKED_BYTES_MAX + 1), &|_| true), None);
    }

    #[test]
    fn windows_larger_than_those_of_the_standard_are_not_read() {
        // A window of 2^30 bytes before what is stored otherwise.
        let length = TITLE_AND_TRAITS.len() as u64;
        let head = (1 | 1 << 4 | 30 << 8 | (length - 1) << 17 | 1 << 33_u64).to_le_bytes();
        let large = [&head[..5], TITLE_AND_TRAITS, &[3]].concat();
        let mut read = Vec::new();
        Decompressor::new(&large[..], UNPACKING_BYTES).read_to_end(&mut read).unwrap();
        assert_eq!(read, TITLE_AND_TRAITS);
        assert_eq!(unpacked(&large, &|_| true), None);
    }

    #[test]
    fn what_is_asked_for_covers_what_is_kept_and_written() {
        let ids = [
            &b"\xa1\x00\x82\xa1\x00\x58\x20"[..],
            &[7; 32],
            b"\xa2\x00\x58\x20",
            &[8; 32],
            b"\x01\xa1\x00\x62\x01\x02",
        ];
        for cbor in [TITLE_AND_TRAITS.to_vec(), ids.concat()] {
            let packed = (Some(Bytes::from(stored(&cbor))), Some(Bytes::from_static(BROTLI)));
            for (properties, property_encoding) in [(Some(Bytes::from(cbor.clone())), None), packed] {
                let inscription = Inscription { properties, property_encoding, ..Inscription::default() };
                let requested = std::cell::Cell::new(0);
                let keep = |bytes| {
                    requested.set(requested.get() + bytes);
                    true
                };
                let written = serde_json::to_string(&Properties::of(&inscription, &keep)).unwrap();
                assert!(
                    written.len() > 60 && requested.get() > written.len() + cbor.len(),
                    "{} for {written}",
                    requested.get()
                );
                // Without memory for its last part there is none of it.
                let left = std::cell::Cell::new(requested.get() - 1);
                let keep = |bytes| left.get().checked_sub(bytes).map(|rest| left.set(rest)).is_some();
                assert_eq!(Properties::of(&inscription, &keep), Properties::default());
            }
        }
    }

    proptest! {
        #[test]
        fn any_packed_bytes_are_read_without_a_panic(
            start in prop_oneof![Just(&b""[..]), Just(&b"\x1b\x2d\x00\xf8"[..]), Just(&b"\x0b"[..])],
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            let packed = [start, &bytes].concat();
            prop_assert!(unpacked(&packed, &|_| true).is_none_or(|unpacked| unpacked.len() <= 30 * packed.len()));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(prop_oneof![0xa0_u8..0xa4, 0..4_u8, 0x5f..0x82_u8, any::<u8>()], 0..60)) {
            let _ = read(&bytes);
            let _ = Decoder { rest: &bytes, may_keep: &|_| true }.skip();
        }
    }

    #[test]
    fn items_that_cannot_all_have_an_id_are_read_and_not_kept() {
        // A byte each: a list of half a million of them must not take a hundred times as much.
        let many = [&b"\xa2\x00\x9a\x00\x08\x00\x00"[..], &vec![0xa0; 1 << 19], b"\x01\xa1\x00\x61t"].concat();
        let truncated = read(&many);
        assert_eq!((truncated.gallery.len(), truncated.attributes.title.as_deref()), (0, Some("t")));
        let mut decoder = Decoder { rest: &many[2..], may_keep: &|_| true };
        let items_max = many.len() / ITEM_BYTES_MIN;
        assert_eq!(decoder.list(items_max + 1, item).unwrap().len(), items_max + 1);
        // A fault after the last item that is used still counts.
        let bad = [&b"\xa1\x00\x9a\x00\x08\x00\x00"[..], &vec![0xa0; (1 << 19) - 1], b"\x05"].concat();
        assert_eq!(read(&bad), Properties::default());
    }

    #[test]
    fn deep_nesting_costs_no_stack() {
        let deep = [&b"\xa1\x05"[..], &vec![0x81; 1_000_000], &[0x00]].concat();
        assert_eq!(read(&deep), Properties::default());
    }
}

//! Storage: byte keys, byte values, and typed places made of them.

use alloc::string::String;
use alloc::vec::Vec;
use core::marker::PhantomData;

use ruint::aliases::U256;

use crate::codec::{Reader, decimal};
use crate::environment::Environment;
use crate::id::AlkaneId;
use crate::revert::Revert;

/// Writes of a call: keys in ascending order, each with its value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StorageMap(Vec<(Vec<u8>, Vec<u8>)>);

impl StorageMap {
    /// No writes.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    fn position(&self, key: &[u8]) -> Result<usize, usize> {
        self.0.binary_search_by(|(other, _)| other.as_slice().cmp(key))
    }

    /// The value written to a key.
    pub fn get(&self, key: &[u8]) -> Option<&Vec<u8>> {
        self.position(key).ok().map(|index| &self.0[index].1)
    }

    /// Writes a value, in place of an earlier one.
    pub fn insert(&mut self, key: &[u8], value: Vec<u8>) {
        match self.position(key) {
            Ok(index) => self.0[index].1 = value,
            Err(index) => self.0.insert(index, (key.to_vec(), value)),
        }
    }

    /// Forgets all writes.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The writes in key order.
    pub fn iter(&self) -> core::slice::Iter<'_, (Vec<u8>, Vec<u8>)> {
        self.0.iter()
    }

    /// Appends the binary form: u32 count, then length and bytes of key and value, in key order.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&length_prefix(self.0.len()));
        for (key, value) in &self.0 {
            for part in [key, value] {
                bytes.extend_from_slice(&length_prefix(part.len()));
                bytes.extend_from_slice(part);
            }
        }
    }

    /// Reads the binary form and leaves the reader behind it; `None` when it is cut short or a length lies.
    pub fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let count = reader.u32()? as usize;
        if count > reader.remaining() / 8 {
            return None;
        }
        let mut map = Self::new();
        for _ in 0..count {
            let key_length = reader.u32()? as usize;
            let key = reader.bytes(key_length)?;
            let value_length = reader.u32()? as usize;
            map.insert(key, reader.bytes(value_length)?.to_vec());
        }
        Some(map)
    }
}

impl<'a> IntoIterator for &'a StorageMap {
    type Item = &'a (Vec<u8>, Vec<u8>);
    type IntoIter = core::slice::Iter<'a, (Vec<u8>, Vec<u8>)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Lengths are far below 4 GiB: a contract has 41 MiB of memory.
#[expect(clippy::cast_possible_truncation, reason = "bounded by the memory of a contract")]
const fn length_prefix(length: usize) -> [u8; 4] {
    (length as u32).to_le_bytes()
}

/// A place in storage, by its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer {
    key: Vec<u8>,
}

impl Pointer {
    /// The place with this key, by convention a path such as `/totalsupply`.
    pub fn new(keyword: &str) -> Self {
        Self { key: keyword.as_bytes().to_vec() }
    }

    /// The place whose key goes on with this text.
    #[must_use]
    pub fn keyword(&self, keyword: &str) -> Self {
        self.select(keyword.as_bytes())
    }

    /// The place whose key goes on with these bytes.
    #[must_use]
    pub fn select(&self, part: &[u8]) -> Self {
        let mut key = Vec::with_capacity(self.key.len() + part.len());
        key.extend_from_slice(&self.key);
        key.extend_from_slice(part);
        Self { key }
    }

    /// The key.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// The value here as a type.
    pub fn slot<T>(self) -> Slot<T> {
        Slot { pointer: self, kind: PhantomData }
    }

    /// The list that starts here.
    pub fn list<T>(self) -> List<T> {
        List { pointer: self, kind: PhantomData }
    }
}

/// A value that has one binary form in storage.
pub trait StorageValue: Sized {
    /// The bytes to store.
    fn encode(&self) -> Vec<u8>;
    /// Reads the bytes; `None` when they are not of this type.
    fn decode(bytes: &[u8]) -> Option<Self>;
}

macro_rules! integer {
    ($($kind:ty),*) => { $(
        impl StorageValue for $kind {
            fn encode(&self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }

            fn decode(bytes: &[u8]) -> Option<Self> {
                bytes.try_into().ok().map(<$kind>::from_le_bytes)
            }
        }
    )* };
}

integer!(u8, u32, u64, u128);

impl StorageValue for U256 {
    fn encode(&self) -> Vec<u8> {
        self.to_le_bytes::<32>().to_vec()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self::from_le_bytes::<32>)
    }
}

impl StorageValue for AlkaneId {
    fn encode(&self) -> Vec<u8> {
        self.to_bytes().to_vec()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        Self::from_bytes(bytes)
    }
}

impl StorageValue for Vec<u8> {
    fn encode(&self) -> Vec<u8> {
        self.clone()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        Some(bytes.to_vec())
    }
}

impl StorageValue for String {
    fn encode(&self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        Self::from_utf8(bytes.to_vec()).ok()
    }
}

/// One stored value of a type.
#[derive(Debug, Clone)]
pub struct Slot<T> {
    pointer: Pointer,
    kind: PhantomData<T>,
}

impl<T: StorageValue> Slot<T> {
    /// The slot with this key.
    pub fn new(keyword: &str) -> Self {
        Pointer::new(keyword).slot()
    }

    /// The value; `None` when nothing (or an empty value) is stored. Reverts when something of another type is stored.
    pub fn find(&self, env: &Environment) -> Result<Option<T>, Revert> {
        let bytes = env.load(self.pointer.key());
        if bytes.is_empty() {
            return Ok(None);
        }
        T::decode(&bytes).map(Some).ok_or_else(|| Revert::from("a stored value is not of the expected type"))
    }

    /// The value, which must be there; `missing` is the reason of the revert otherwise.
    pub fn require(&self, env: &Environment, missing: &'static str) -> Result<T, Revert> {
        self.find(env)?.ok_or_else(|| Revert::from(missing))
    }

    /// Stores a value.
    pub fn set(&self, env: &mut Environment, value: &T) {
        env.store(self.pointer.key(), value.encode());
    }

    /// True when something is stored.
    pub fn is_set(&self, env: &Environment) -> bool {
        !env.load(self.pointer.key()).is_empty()
    }
}

impl<T: StorageValue + Default> Slot<T> {
    /// The value, or the default of the type when nothing is stored.
    pub fn get(&self, env: &Environment) -> Result<T, Revert> {
        Ok(self.find(env)?.unwrap_or_default())
    }
}

/// A list in storage: `<key>/length` holds a u32, `<key>/<index in decimal>` the items.
#[derive(Debug, Clone)]
pub struct List<T> {
    pointer: Pointer,
    kind: PhantomData<T>,
}

impl<T: StorageValue> List<T> {
    fn length(&self) -> Slot<u32> {
        self.pointer.keyword("/length").slot()
    }

    fn item(&self, index: u32) -> Slot<T> {
        self.pointer.keyword("/").keyword(&decimal(index.into())).slot()
    }

    /// How many items there are.
    pub fn len(&self, env: &Environment) -> Result<u32, Revert> {
        self.length().get(env)
    }

    /// True when there is no item.
    pub fn is_empty(&self, env: &Environment) -> Result<bool, Revert> {
        Ok(self.len(env)? == 0)
    }

    /// The item at an index, `None` past the end.
    pub fn get(&self, env: &Environment, index: u32) -> Result<Option<T>, Revert> {
        if index < self.len(env)? { self.item(index).find(env) } else { Ok(None) }
    }

    /// Appends an item.
    pub fn push(&self, env: &mut Environment, value: &T) -> Result<(), Revert> {
        let length = self.len(env)?;
        self.item(length).set(env, value);
        self.length().set(env, &(length + 1));
        Ok(())
    }
}

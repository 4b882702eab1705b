//! Table, key and encoding of each value of the protocol's state.

use bitcoin::OutPoint;
use paraffin_primitives::AlkaneId;
use paraffin_store::{StoreError, Table};
use sha2::{Digest, Sha256};

use super::{OutputRow, Parser, SavedSheets, SheetKind, id_key, outpoint_key, pair_key};
use crate::codec::append_varint;
use crate::tables::{
    BALANCES, CHANGED_SHEETS, CODES, DEPLOYMENTS, ETCHED_NAMES, ETCHINGS, FIRST_SEEN, INVENTORIES, MINTS_REMAINING,
    OUTPUTS, RUNTIME, SINGLES, STORAGE,
};
use crate::{StateError, StateKey};

/// Longest key of a contract's storage that is stored as it is, bytes. The store ends at 4,096.
pub(crate) const STORAGE_KEY_LEN_MAX: usize = 4000;

/// Number of alkanes of outputs in digests.
const SHEETS: u8 = 7;
/// Number of base runes of outputs in digests.
const BASE_SHEETS: u8 = 10;

/// Where a value is.
pub(crate) struct StateRow {
    /// Number in digests: that of the table where there is one.
    pub(crate) number: u8,
    /// `None`: what an output holds is in the rows of the output.
    pub(crate) table: Option<&'static Table>,
    pub(crate) key: Vec<u8>,
}

impl StateRow {
    pub(crate) fn of(key: &StateKey) -> Self {
        let (table, key) = match key {
            StateKey::SeenGenesis => (&SINGLES, vec![1]),
            StateKey::Sequence => (&SINGLES, vec![2]),
            StateKey::PendingPayments => (&SINGLES, vec![3]),
            StateKey::Code(id) => (&CODES, id_key(*id)),
            StateKey::Storage(id, name) => (&STORAGE, storage_key(*id, name)),
            StateKey::Balance { what, who } => (&BALANCES, pair_key(*what, *who)),
            StateKey::Inventory { who, what } => (&INVENTORIES, pair_key(*who, *what)),
            StateKey::Deployment(id) => (&DEPLOYMENTS, id_key(*id)),
            StateKey::Sheet(outpoint) => return Self::of_output(SHEETS, outpoint),
            StateKey::Runtime(id) => (&RUNTIME, id_key(*id)),
            StateKey::FirstSeen(id) => (&FIRST_SEEN, id_key(*id)),
            StateKey::BaseSheet(outpoint) => return Self::of_output(BASE_SHEETS, outpoint),
            StateKey::Etching(id) => (&ETCHINGS, id_key(*id)),
            StateKey::EtchedName(name) => (&ETCHED_NAMES, name.to_be_bytes().to_vec()),
            StateKey::MintsRemaining(id) => (&MINTS_REMAINING, id_key(*id)),
        };
        Self { number: table.id, table: Some(table), key }
    }

    fn of_output(number: u8, outpoint: &OutPoint) -> Self {
        Self { number, table: None, key: outpoint_key(outpoint).to_vec() }
    }
}

/// A value of the state as of the end of the block at `height`, from rows that `get` reads.
pub(crate) fn read_state(
    key: &StateKey,
    height: u32,
    get: impl Fn(&Table, &[u8]) -> Result<Option<Vec<u8>>, StoreError>,
) -> Result<Option<Vec<u8>>, StateError> {
    if let Some((kind, outpoint)) = SheetKind::of(key) {
        return read_sheet(kind, outpoint, height, get);
    }
    let StateRow { table: Some(table), key: row_key, .. } = StateRow::of(key) else { return Ok(None) };
    get(table, &row_key)?.map(|stored| read_value(key, stored)).transpose()
}

/// A sheet of an output as of the end of the block at `height`.
fn read_sheet(
    kind: SheetKind,
    outpoint: &OutPoint,
    height: u32,
    get: impl Fn(&Table, &[u8]) -> Result<Option<Vec<u8>>, StoreError>,
) -> Result<Option<Vec<u8>>, StateError> {
    let row_key = outpoint_key(outpoint);
    let Some(stored) = get(&OUTPUTS, &row_key)? else { return Ok(None) };
    if let Some(changed) = get(&CHANGED_SHEETS, &row_key)?
        && let Some(sheet) = SavedSheets::decode(&changed)?.load(kind, outpoint, height, &get)?
    {
        return Ok(Some(sheet));
    }
    OutputRow::decode(&stored)?.sheets.load(kind, outpoint, height, get)
}

/// Key of a contract's storage. A long key is cut, and a digest of all of it replaces the rest.
pub(crate) fn storage_key(contract: AlkaneId, name: &[u8]) -> Vec<u8> {
    let mut key = id_key(contract);
    if name.len() <= STORAGE_KEY_LEN_MAX {
        key.extend_from_slice(name);
    } else {
        key.extend_from_slice(&name[..STORAGE_KEY_LEN_MAX]);
        key.extend_from_slice(&Sha256::digest(name));
    }
    key
}

/// Name and value of a row of table `storage`; `name` is its key without the contract.
pub(crate) fn storage_row(name: &[u8], stored: &[u8]) -> Result<(Vec<u8>, Vec<u8>), StateError> {
    if name.len() <= STORAGE_KEY_LEN_MAX {
        return Ok((name.to_vec(), stored.to_vec()));
    }
    let mut parser = Parser::new("storage", stored);
    let length = parser.small()?;
    Ok((parser.take(length)?.to_vec(), parser.rest().to_vec()))
}

/// An amount without its high zero bytes.
pub(crate) fn encode_amount(amount: u128) -> Vec<u8> {
    let bytes = amount.to_le_bytes();
    bytes[..16 - amount.leading_zeros() as usize / 8].to_vec()
}

/// Decodes an amount of [`encode_amount`].
pub(crate) fn decode_amount(bytes: &[u8]) -> Result<u128, StateError> {
    let mut amount = [0; 16];
    let target = amount.get_mut(..bytes.len());
    target.ok_or_else(|| StateError::Damaged("an amount has more than 16 bytes".to_owned()))?.copy_from_slice(bytes);
    Ok(u128::from_le_bytes(amount))
}

/// Whether the value is a u128 that the tables keep short.
fn is_amount(key: &StateKey) -> bool {
    matches!(key, StateKey::Sequence | StateKey::Balance { .. } | StateKey::Runtime(_) | StateKey::MintsRemaining(_))
}

/// The bytes of a row from a value of the state.
pub(crate) fn write_value(key: &StateKey, value: &[u8]) -> Result<Vec<u8>, StateError> {
    if is_amount(key) {
        let bytes = <[u8; 16]>::try_from(value)
            .map_err(|_| StateError::Damaged(format!("{key:?} has {} bytes instead of 16", value.len())))?;
        return Ok(encode_amount(u128::from_le_bytes(bytes)));
    }
    match key {
        StateKey::Storage(_, name) if name.len() > STORAGE_KEY_LEN_MAX => {
            let mut bytes = Vec::with_capacity(name.len() + value.len() + 5);
            append_varint(name.len() as u128, &mut bytes);
            bytes.extend_from_slice(name);
            bytes.extend_from_slice(value);
            Ok(bytes)
        }
        _ => Ok(value.to_vec()),
    }
}

/// The value of the state from the bytes of a row.
pub(crate) fn read_value(key: &StateKey, stored: Vec<u8>) -> Result<Vec<u8>, StateError> {
    if is_amount(key) {
        return Ok(decode_amount(&stored)?.to_le_bytes().to_vec());
    }
    match key {
        StateKey::Storage(_, name) if name.len() > STORAGE_KEY_LEN_MAX => Ok(storage_row(name, &stored)?.1),
        _ => Ok(stored),
    }
}

#[cfg(test)]
mod tests {
    use bitcoin::Txid;
    use bitcoin::hashes::Hash;
    use proptest::prelude::*;

    use super::*;

    const CONTRACT: AlkaneId = AlkaneId { block: 2, tx: 300 };

    #[test]
    fn long_storage_keys_fit_the_store_and_come_back() {
        let name: Vec<u8> = (0..100_000u32).map(|number| number as u8).collect();
        let key = StateKey::Storage(CONTRACT, name.clone());
        let row = StateRow::of(&key);
        assert!(row.key.len() <= paraffin_store::KEY_LEN_MAX);
        let stored = write_value(&key, b"value").unwrap();
        assert_eq!(storage_row(&row.key[id_key(CONTRACT).len()..], &stored).unwrap(), (name, b"value".to_vec()));
        assert_eq!(read_value(&key, stored).unwrap(), b"value");
    }

    #[test]
    fn a_cut_key_is_no_ones_own_key() {
        let long = vec![7; STORAGE_KEY_LEN_MAX + 1];
        let cut = storage_key(CONTRACT, &long)[id_key(CONTRACT).len()..].to_vec();
        // A contract that stores under the cut key itself gets another row.
        assert_ne!(storage_key(CONTRACT, &cut), storage_key(CONTRACT, &long));
        let greatest = AlkaneId { block: u128::MAX, tx: u128::MAX };
        assert!(storage_key(greatest, &long).len() <= paraffin_store::KEY_LEN_MAX);
    }

    #[test]
    fn integers_of_another_length_are_refused() {
        let key = StateKey::Balance { what: CONTRACT, who: CONTRACT };
        assert!(write_value(&key, &[1]).is_err());
        assert!(decode_amount(&[0; 17]).is_err());
        // Never set and 0 are different things to a contract.
        assert_eq!(read_value(&key, write_value(&key, &[0; 16]).unwrap()).unwrap(), vec![0; 16]);
    }

    fn key() -> impl Strategy<Value = StateKey> {
        let id = || (any::<u128>(), any::<u128>()).prop_map(|(block, tx)| AlkaneId { block, tx });
        let outpoint = || {
            (any::<[u8; 32]>(), any::<u32>())
                .prop_map(|(txid, vout)| OutPoint { txid: Txid::from_byte_array(txid), vout })
        };
        prop_oneof![
            Just(StateKey::SeenGenesis),
            Just(StateKey::Sequence),
            Just(StateKey::PendingPayments),
            id().prop_map(StateKey::Code),
            (id(), any::<Vec<u8>>()).prop_map(|(id, name)| StateKey::Storage(id, name)),
            (id(), id()).prop_map(|(what, who)| StateKey::Balance { what, who }),
            (id(), id()).prop_map(|(what, who)| StateKey::Inventory { who, what }),
            id().prop_map(StateKey::Deployment),
            outpoint().prop_map(StateKey::Sheet),
            id().prop_map(StateKey::Runtime),
            id().prop_map(StateKey::FirstSeen),
            outpoint().prop_map(StateKey::BaseSheet),
            id().prop_map(StateKey::Etching),
            any::<u128>().prop_map(StateKey::EtchedName),
            id().prop_map(StateKey::MintsRemaining),
        ]
    }

    proptest! {
        #[test]
        fn different_keys_have_different_rows(left in key(), right in key(), value: u128) {
            let rows = [&left, &right].map(StateRow::of);
            prop_assert_eq!(left == right, rows[0].number == rows[1].number && rows[0].key == rows[1].key);
            let bytes = value.to_le_bytes().to_vec();
            prop_assert_eq!(read_value(&left, write_value(&left, &bytes).unwrap()).unwrap(), bytes);
        }
    }
}

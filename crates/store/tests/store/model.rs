//! A model of the store in plain maps: every table after every block.

use std::collections::BTreeMap;

use bitcoin::BlockHash;
use bitcoin::hashes::Hash as _;
use paraffin_primitives::{BlockId, Height, Network};
use paraffin_store::{
    ModuleId, ModuleSchema, ModuleWriter, Placement, Row, Snapshot, StoreError, StoreOptions, Table, TableKind, Writer,
};
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

const fn table(module: u8, id: u8, name: &'static str, kind: TableKind, placement: Placement) -> Table {
    Table { module: ModuleId(module), id, name, kind, placement }
}

/// Tables of the first module: every kind, and some that share a keyspace.
pub(crate) const FIRST_TABLES: [Table; 6] = [
    table(1, 0, "balances", TableKind::Current, Placement::Hashed),
    table(1, 1, "owners", TableKind::Versioned, Placement::Ordered),
    table(1, 2, "ids", TableKind::WriteOnce, Placement::Hashed),
    table(1, 3, "transactions", TableKind::Sequence, Placement::Appended),
    table(1, 9, "lists", TableKind::Current, Placement::Ordered),
    table(1, 255, "numbers", TableKind::Sequence, Placement::Ordered),
];
/// Tables of the second module.
pub(crate) const SECOND_TABLES: [Table; 4] = [
    table(254, 0, "states", TableKind::Versioned, Placement::Ordered),
    table(254, 1, "spends", TableKind::WriteOnce, Placement::Ordered),
    table(254, 2, "rows", TableKind::Sequence, Placement::Bulk),
    table(254, 3, "totals", TableKind::Current, Placement::Ordered),
];

pub(crate) const FIRST: ModuleSchema =
    ModuleSchema { id: ModuleId(1), name: "first", version: 1, tables: &FIRST_TABLES, reads: &[] };
pub(crate) const SECOND: ModuleSchema =
    ModuleSchema { id: ModuleId(254), name: "second", version: 3, tables: &SECOND_TABLES, reads: &[] };

pub(crate) fn schemas() -> [ModuleSchema; 2] {
    [FIRST, SECOND]
}

pub(crate) fn tables() -> impl Iterator<Item = Table> {
    FIRST_TABLES.into_iter().chain(SECOND_TABLES)
}

pub(crate) fn options(undo_blocks: Option<u32>) -> StoreOptions {
    StoreOptions { network: Network::Regtest, undo_blocks, memory_bytes: 256 * 1024 * 1024 }
}

/// One write of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Sets, inserts or appends, by the kind of the table.
    Write { table: usize, key: Vec<u8>, value: Vec<u8> },
    /// Removes; nothing for tables that have no removal.
    Delete { table: usize, key: Vec<u8> },
}

impl Operation {
    pub(crate) fn table(&self) -> Table {
        let (Self::Write { table, .. } | Self::Delete { table, .. }) = self;
        tables().nth(*table).unwrap()
    }
}

/// Keys that collide often, with the bytes that escaping is about.
pub(crate) fn key() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(0xff)], 0..4)
}

pub(crate) fn operation() -> impl Strategy<Value = Operation> {
    let value = prop_oneof![
        4 => proptest::collection::vec(any::<u8>(), 0..4),
        1 => (0_u8..4).prop_map(|byte| vec![byte; 600]),
    ];
    let tables = tables().count();
    prop_oneof![
        3 => (0..tables, key(), value).prop_map(|(table, key, value)| Operation::Write { table, key, value }),
        1 => (0..tables, key()).prop_map(|(table, key)| Operation::Delete { table, key }),
    ]
}

/// Rows of every table, by index in [`tables`].
pub(crate) type Rows = Vec<BTreeMap<Vec<u8>, Vec<u8>>>;

/// One block of the model.
#[derive(Debug, Clone)]
pub(crate) struct ModelBlock {
    pub(crate) id: BlockId,
    pub(crate) previous: BlockHash,
    pub(crate) operations: Vec<Operation>,
    /// All tables after the block.
    pub(crate) rows: Rows,
    pub(crate) digest: [u8; 32],
    pub(crate) cumulative: [u8; 32],
}

/// The chain as it should be.
#[derive(Debug, Clone, Default)]
pub(crate) struct Model {
    pub(crate) first_height: Height,
    pub(crate) blocks: Vec<ModelBlock>,
    salt: u64,
}

impl Model {
    pub(crate) fn starting_at(first_height: Height) -> Self {
        Self { first_height, ..Self::default() }
    }

    pub(crate) fn rows(&self) -> Rows {
        self.blocks.last().map_or_else(|| tables().map(|_| BTreeMap::new()).collect(), |block| block.rows.clone())
    }

    pub(crate) fn tip_height(&self) -> Option<Height> {
        self.blocks.last().map(|block| block.id.height)
    }

    pub(crate) fn block(&self, height: Height) -> Option<&ModelBlock> {
        self.blocks.get(height.checked_sub(self.first_height)? as usize)
    }

    /// Adds a block with `operations`; operations that the kind of the table forbids are left out.
    pub(crate) fn push(&mut self, operations: Vec<Operation>) -> &ModelBlock {
        self.salt += 1;
        let height = self.tip_height().map_or(self.first_height, |height| height + 1);
        let previous = self.blocks.last().map_or(BlockHash::all_zeros(), |block| block.id.hash);
        let mut hasher = Sha256::new();
        hasher.update(previous.as_byte_array());
        hasher.update(self.salt.to_be_bytes());
        let hash = BlockHash::from_byte_array(hasher.finalize().into());
        let (rows, operations, writes) = apply(self.rows(), operations);
        let digest = digest(&writes);
        let mut hasher = Sha256::new();
        hasher.update(self.blocks.last().map_or([0; 32], |block| block.cumulative));
        hasher.update(digest);
        let cumulative = hasher.finalize().into();
        self.blocks.push(ModelBlock { id: BlockId { height, hash }, previous, operations, rows, digest, cumulative });
        self.blocks.last().unwrap()
    }
}

/// Final write of every key: index of the table, key, value or removal.
pub(crate) type Writes = BTreeMap<(usize, Vec<u8>), Option<Vec<u8>>>;

/// Applies operations. Returns the rows, the operations that are allowed (appends with the number they get as key), and
/// the final writes.
pub(crate) fn apply(mut rows: Rows, operations: Vec<Operation>) -> (Rows, Vec<Operation>, Writes) {
    let mut allowed = Vec::new();
    let mut writes = BTreeMap::new();
    for operation in operations {
        let kind = operation.table().kind;
        match operation {
            Operation::Write { table, key, value } => {
                let key = match kind {
                    TableKind::Sequence => (rows[table].len() as u32).to_be_bytes().to_vec(),
                    TableKind::WriteOnce if rows[table].contains_key(&key) => continue,
                    _ => key,
                };
                rows[table].insert(key.clone(), value.clone());
                writes.insert((table, key.clone()), Some(value.clone()));
                allowed.push(Operation::Write { table, key, value });
            }
            Operation::Delete { table, key } => {
                if matches!(kind, TableKind::Current | TableKind::Versioned) {
                    rows[table].remove(&key);
                    writes.insert((table, key.clone()), None);
                    allowed.push(Operation::Delete { table, key });
                }
            }
        }
    }
    (rows, allowed, writes)
}

/// The digest of a block, written from the design page and not from the code.
pub(crate) fn digest(writes: &Writes) -> [u8; 32] {
    let mut block = Sha256::new();
    for schema in schemas() {
        let mut module = Sha256::new();
        let mut sorted: Vec<_> = writes
            .iter()
            .map(|((index, key), value)| (tables().nth(*index).unwrap(), key, value))
            .filter(|(table, ..)| table.module == schema.id)
            .map(|(table, key, value)| (table.id, key, value))
            .collect();
        sorted.sort();
        for (id, key, value) in sorted {
            module.update([id]);
            module.update((key.len() as u32).to_be_bytes());
            module.update(key);
            match value {
                None => module.update([0]),
                Some(value) => {
                    module.update([1]);
                    module.update((value.len() as u32).to_be_bytes());
                    module.update(value);
                }
            }
        }
        block.update([schema.id.0]);
        block.update(module.finalize());
    }
    block.finalize().into()
}

/// Writes one operation.
pub(crate) fn write(rows: &mut ModuleWriter<'_>, operation: &Operation) -> Result<(), StoreError> {
    let table = operation.table();
    match operation {
        Operation::Write { key, value, .. } => match table.kind {
            TableKind::Sequence => {
                let number = rows.append(&table, value)?;
                assert_eq!(number.to_be_bytes(), key[..]);
                Ok(())
            }
            _ => rows.put(&table, key, value),
        },
        Operation::Delete { key, .. } => rows.delete(&table, key),
    }
}

/// Writes the operations of one module in the block begun.
pub(crate) fn write_module(writer: &mut Writer, module: ModuleId, operations: &[Operation]) -> Result<(), StoreError> {
    let mut rows = writer.module(module)?;
    for operation in operations.iter().filter(|operation| operation.table().module == module) {
        write(&mut rows, operation)?;
    }
    Ok(())
}

/// Begins, writes and ends a block of the model.
pub(crate) fn write_block(writer: &mut Writer, block: &ModelBlock) -> Result<(), StoreError> {
    writer.begin_block(block.id, block.previous, 1_000_000 + block.id.height)?;
    for schema in schemas() {
        write_module(writer, schema.id, &block.operations)?;
    }
    let record = writer.end_block()?;
    assert_eq!(record.digest, block.digest, "digest of block {}", block.id.height);
    assert_eq!(record.cumulative, block.cumulative, "cumulative digest of block {}", block.id.height);
    Ok(())
}

fn collect(rows: impl Iterator<Item = Result<Row, StoreError>>) -> Vec<Row> {
    rows.collect::<Result<_, _>>().unwrap()
}

/// Compares everything that can be read with the model.
pub(crate) fn check(snapshot: &Snapshot, model: &Model) {
    let tip = model.blocks.last();
    assert_eq!(snapshot.tip().map(|record| record.id), tip.map(|block| block.id), "tip");
    for block in &model.blocks {
        let record = snapshot.block(block.id.height).unwrap().expect("a record of every block");
        assert_eq!((record.id, record.previous), (block.id, block.previous));
        assert_eq!(record.time, 1_000_000 + block.id.height);
        assert_eq!(record.digest, block.digest, "digest at {}", block.id.height);
        assert_eq!(record.cumulative, block.cumulative, "cumulative digest at {}", block.id.height);
    }
    let above = model.tip_height().map_or(model.first_height, |height| height + 1);
    assert_eq!(snapshot.block(above).unwrap(), None);
    for schema in schemas() {
        assert_eq!(snapshot.module_height(schema.id).unwrap(), model.tip_height(), "height of {}", schema.name);
    }
    check_tables(snapshot, model, &tables().map(|table| table.module).collect::<Vec<_>>());
}

/// Compares the tables of some modules.
pub(crate) fn check_tables(snapshot: &Snapshot, model: &Model, modules: &[ModuleId]) {
    let rows = model.rows();
    for (index, table) in tables().enumerate().filter(|(_, table)| modules.contains(&table.module)) {
        let wanted: Vec<Row> = rows[index].clone().into_iter().collect();
        let name = table.name;
        assert_eq!(collect(snapshot.prefix(&table, &[])), wanted, "{name}");
        let mut backward = collect(snapshot.prefix(&table, &[]).rev());
        backward.reverse();
        assert_eq!(backward, wanted, "{name} backward");
        for (key, value) in &wanted {
            assert_eq!(snapshot.get(&table, key).unwrap().as_ref(), Some(value), "{name} {key:?}");
        }
        if table.kind == TableKind::Sequence {
            assert_eq!(snapshot.sequence_len(&table).unwrap() as usize, wanted.len(), "{name}");
        }
        if table.kind == TableKind::Versioned {
            check_versions(snapshot, model, index, &table);
        }
    }
}

fn check_versions(snapshot: &Snapshot, model: &Model, index: usize, table: &Table) {
    let mut keys: Vec<Vec<u8>> = model.blocks.iter().flat_map(|block| block.rows[index].keys().cloned()).collect();
    keys.push(vec![2]);
    keys.sort();
    keys.dedup();
    for block in &model.blocks {
        let height = block.id.height;
        for key in &keys {
            let found = snapshot.get_at(table, key, height).unwrap();
            assert_eq!(found.as_ref(), block.rows[index].get(key), "{} {key:?} at {height}", table.name);
        }
        let wanted: Vec<Row> = block.rows[index].clone().into_iter().collect();
        assert_eq!(collect(snapshot.prefix_at(table, &[], height).unwrap()), wanted, "{} at {height}", table.name);
        let mut backward = collect(snapshot.prefix_at(table, &[], height).unwrap().rev());
        backward.reverse();
        assert_eq!(backward, wanted, "{} at {height} backward", table.name);
    }
    for key in &keys {
        assert_eq!(snapshot.get_at(table, key, Height::MAX).unwrap().as_ref(), model.rows()[index].get(key));
        if model.first_height > 0 {
            assert_eq!(snapshot.get_at(table, key, model.first_height - 1).unwrap(), None);
        }
    }
}

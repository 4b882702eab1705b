//! Two lists as one against sorting them.

use bitcoin::hashes::Hash as _;
use bitcoin::{BlockHash, ScriptBuf, Txid};
use paraffin_alkanes::{ScriptKey, Transfer};
use paraffin_primitives::{AlkaneId, BlockId, Network};
use paraffin_store::{ModuleSchema, Store, StoreOptions, TableKind};
use proptest::prelude::*;

use super::*;
use crate::tables::{JOURNAL, SCHEMA};
use crate::{Action, PoolIdentity};

const TOKENS: [AlkaneId; 2] = [AlkaneId { block: 2, tx: 1 }, AlkaneId { block: 32, tx: 0 }];

const fn second(id: u8, table: Table) -> Table {
    Table { id, name: "of others", ..table }
}

const OTHERS: Journal = Journal {
    events: second(101, JOURNAL.events),
    lists: second(102, JOURNAL.lists),
    lengths: second(103, JOURNAL.lengths),
    candles: second(104, JOURNAL.candles),
    candle_counts: second(105, JOURNAL.candle_counts),
    candle_starts: second(106, JOURNAL.candle_starts),
    totals: second(107, JOURNAL.totals),
    of_factories: false,
};

const TABLES: &[Table] = &[
    JOURNAL.events,
    JOURNAL.lists,
    JOURNAL.lengths,
    JOURNAL.candles,
    JOURNAL.candle_counts,
    JOURNAL.candle_starts,
    JOURNAL.totals,
    OTHERS.events,
    OTHERS.lists,
    OTHERS.lengths,
    OTHERS.candles,
    OTHERS.candle_counts,
    OTHERS.candle_starts,
    OTHERS.totals,
];

/// Tables of both without the modules that they are filled from.
const ALONE: ModuleSchema = ModuleSchema { reads: &[], tables: TABLES, ..SCHEMA };

fn id(height: Height) -> BlockId {
    BlockId { height, hash: BlockHash::from_byte_array([height as u8 + 1; 32]) }
}

fn trade(pool: u128, position: ChainPosition, vout: u32) -> Event {
    let pool = PoolIdentity { id: AlkaneId { block: 4, tx: pool }, factory: AlkaneId::default(), tokens: TOKENS };
    let [sold, bought] = TOKENS.map(|id| Transfer { id, value: 5 });
    Event {
        position,
        txid: Txid::from_byte_array([position.transaction as u8; 32]),
        time: position.height * 600,
        protostone: vout - 4,
        vout,
        actor: Some(ScriptBuf::from_bytes(vec![7])),
        successful: true,
        action: Action::Swap { pool, sold, bought },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Each element is a message: how many trades of a factory's pool it made, how many of the other, and whether the next one
    /// stands in the same transaction, in another, or in another block.
    #[test]
    fn any_page_of_two_lists_is_that_of_both_sorted(
        messages in prop::collection::vec((0u32..3, 0u32..3, 0u8..3), 0..24),
        limit in 1u32..9,
    ) {
        prop_assert!(TABLES.iter().all(|table| table.kind != TableKind::Current));
        let folder = tempfile::tempdir().unwrap();
        let options = StoreOptions { network: Network::Regtest, undo_blocks: None, memory_bytes: 256 << 20 };
        let store = Store::open(folder.path(), &options, &[ALONE]).unwrap();
        let mut writer = store.writer().unwrap();
        let (mut height, mut transaction, mut vout, mut numbers) = (0, 0, 4, [0, 0]);
        let mut all: Vec<Event> = Vec::new();
        writer.begin_block(id(0), BlockHash::all_zeros(), 0).unwrap();
        for (of_factory, of_other, next) in messages {
            let mut rows = writer.module(ALONE.id).unwrap();
            for (which, (journal, count)) in [(JOURNAL, of_factory), (OTHERS, of_other)].into_iter().enumerate() {
                for _ in 0..count {
                    let event = trade(which as u128, ChainPosition { height, transaction, event: numbers[which] }, vout);
                    journal.append(&event, &mut rows).unwrap();
                    numbers[which] += 1;
                    all.push(event);
                }
            }
            vout += 1;
            if next > 0 {
                (transaction, vout, numbers) = (transaction + 1, 4, [0, 0]);
            }
            if next > 1 {
                writer.end_block().unwrap();
                (height, transaction) = (height + 1, 0);
                writer.begin_block(id(height), id(height - 1).hash, 0).unwrap();
            }
        }
        writer.end_block().unwrap();
        writer.commit(false).unwrap();
        all.reverse();

        let snapshot = store.snapshot();
        for scope in [Scope::Token(TOKENS[0]), Scope::ScriptToken(ScriptKey::of(&ScriptBuf::from_bytes(vec![7])), TOKENS[1])] {
            for until in [height / 2, height] {
                let list = |journal: Journal| {
                    journal.list(&snapshot, until, scope, Some(EventKind::Swap), Status::Successful).unwrap()
                };
                let expected: Vec<Event> = all.iter().filter(|event| event.position.height <= until).cloned().collect();
                let mut paged = Vec::new();
                for offset in (0..=expected.len() as u32 + limit).step_by(limit as usize) {
                    let page = merged(&list(JOURNAL), &list(OTHERS), offset, limit).unwrap();
                    prop_assert_eq!(page.total as usize, expected.len());
                    prop_assert!(page.items.len() <= limit as usize);
                    paged.extend(page.items);
                }
                prop_assert_eq!(&paged, &expected);
                let whole = merged(&list(JOURNAL), &list(OTHERS), 0, u32::MAX).unwrap();
                prop_assert_eq!(whole.items, expected);
                let none = merged(&list(JOURNAL), &list(OTHERS), u32::MAX, u32::MAX).unwrap();
                prop_assert!(none.items.is_empty());
            }
        }
    }
}

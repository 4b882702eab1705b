//! Exports of the development network's market, read back and compared with the readers of the index.
#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use bitcoin::BlockHash;
use bitcoin::hashes::Hash as _;
use paraffin_alkanes::{AlkanesModule, ChainState, CodeCache, Holder, NativeEngine, Order};
use paraffin_amm::{Action, AmmModule, Markets, Parameters, Scope, Timeframe};
use paraffin_bitcoin_index::{BitcoinModule, RawTransactions};
use paraffin_devnet::market::{MarketChain, builtins};
use paraffin_export::{Dataset, ExportError, ExportSummary, Selection, Source, export};
use paraffin_primitives::{Height, Network};
use paraffin_store::{Module, Snapshot, Store, StoreOptions};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;

const HEIGHT: Height = 150;

fn index(folder: &Path) -> Store {
    let mut town = MarketChain::new(6);
    town.grow(HEIGHT).unwrap();
    let engine = NativeEngine::new(Network::Regtest, Arc::new(builtins()), Arc::new(CodeCache::default()));
    let mut modules: Vec<Box<dyn Module>> = vec![
        Box::new(BitcoinModule::new(RawTransactions::Node)),
        Box::new(AlkanesModule::new(Box::new(engine), Network::Regtest)),
        Box::new(AmmModule::new(Parameters::default())),
    ];
    let schemas: Vec<_> = modules.iter().map(|module| module.schema()).collect();
    let options = StoreOptions { network: Network::Regtest, undo_blocks: None, memory_bytes: 256 << 20 };
    let store = Store::open(folder, &options, &schemas).unwrap();
    let mut writer = store.writer().unwrap();
    for block in &town.blocks() {
        let previous = writer.tip().map_or(BlockHash::all_zeros(), |tip| tip.id.hash);
        writer.begin_block(block.id, previous, block.block.header.time).unwrap();
        for module in &mut modules {
            let id = module.schema().id;
            module.connect(block, &mut writer.module(id).unwrap()).unwrap();
        }
        writer.end_block().unwrap();
        writer.commit(false).unwrap();
    }
    store
}

/// What an export gives: its rows with fields as text, nulls as `null`.
fn rows(
    snapshot: &Snapshot,
    file: &Path,
    dataset: Dataset,
    to: Option<Height>,
) -> Result<(ExportSummary, Vec<Vec<String>>), ExportError> {
    let source = Source { snapshot, network: Network::Regtest, version: "test" };
    let selection = Selection { dataset, from: 0, to, pool: None, token: None };
    let summary = export(source, &selection, file, true, &mut |_| ControlFlow::Continue(()))?;
    let reader = SerializedFileReader::new(File::open(file).unwrap()).unwrap();
    let text = |field: Field| match field {
        Field::Str(text) => text,
        Field::TimestampMillis(time) => time.to_string(),
        other => other.to_string(),
    };
    let rows = reader.get_row_iter(None).unwrap();
    let rows = rows.map(|row| row.unwrap().into_columns().into_iter().map(|(_, field)| text(field)).collect());
    Ok((summary, rows.collect()))
}

#[test]
fn rows_are_those_of_the_readers_at_every_height() {
    let folder = tempfile::tempdir().unwrap();
    let store = index(&folder.path().join("store"));
    let snapshot = store.snapshot();
    let file = folder.path().join("rows.parquet");
    let tip = snapshot.tip().unwrap().id.height;
    for height in [tip, tip - 25] {
        let markets = Markets::at(&snapshot, height);
        let (summary, swaps) = rows(&snapshot, &file, Dataset::Swaps, Some(height)).unwrap();
        assert_eq!((summary.block.height, summary.rows), (height, swaps.len() as u64));
        let events = markets.events_of_blocks(0, height, usize::MAX).unwrap().unwrap();
        let mut expected = Vec::new();
        for event in events {
            if let Action::Swap { pool, sold, bought } = event.action {
                let amounts = [sold.value.to_string(), bought.value.to_string()];
                expected.push((event.txid.to_string(), pool.id.to_string(), amounts));
            }
        }
        let exported: Vec<_> =
            swaps.iter().map(|row| (row[4].clone(), row[6].clone(), [row[10].clone(), row[13].clone()])).collect();
        assert!(expected.len() > 5);
        assert_eq!(exported, expected);

        let (_, candles) = rows(&snapshot, &file, Dataset::Candles(Timeframe::Hour), Some(height)).unwrap();
        let mut expected = Vec::new();
        for record in markets.pools(Scope::All, 0, u32::MAX).unwrap().items {
            let page = markets.candles_page(record.pool.id, Timeframe::Hour, 0, u32::MAX).unwrap();
            for candle in page.items.iter().rev() {
                let start = (u64::from(candle.start) * 1_000).to_string();
                let close = format!("{}/{}", candle.close.numerator, candle.close.denominator);
                expected.push((
                    record.pool.id.to_string(),
                    start,
                    close,
                    candle.volumes.map(|volume| volume.to_string()),
                ));
            }
        }
        let exported: Vec<_> = candles
            .iter()
            .map(|row| (row[0].clone(), row[4].clone(), row[12].clone(), [row[14].clone(), row[16].clone()]))
            .collect();
        assert_eq!(exported, expected);

        let state = ChainState::at(&snapshot, height);
        let (_, balances) = rows(&snapshot, &file, Dataset::Balances, Some(height)).unwrap();
        let mut expected = Vec::new();
        for creation in state.alkanes(Order::Oldest, None, usize::MAX).unwrap().items {
            for holding in state.holders(creation.id, None, usize::MAX - 1).unwrap().items {
                let kind = if matches!(holding.holder, Holder::Script(_)) { "script" } else { "contract" };
                expected.push([creation.id.to_string(), kind.to_owned(), holding.amount.to_string()]);
            }
        }
        let mut exported: Vec<_> =
            balances.iter().map(|row| [row[0].clone(), row[1].clone(), row[6].clone()]).collect();
        expected.sort();
        exported.sort();
        assert!(expected.len() > 10);
        assert_eq!(exported, expected);
    }
    let (_, transfers) = rows(&snapshot, &file, Dataset::Transfers, None).unwrap();
    assert!(transfers.len() > 100, "{}", transfers.len());

    let above = rows(&snapshot, &file, Dataset::Swaps, Some(tip + 1)).unwrap_err();
    assert!(matches!(above, ExportError::AboveIndex { newest, .. } if newest == tip), "{above}");
    let source = Source { snapshot: &snapshot, network: Network::Regtest, version: "test" };
    let selection = Selection { dataset: Dataset::Transfers, from: 0, to: None, pool: None, token: None };
    let given_up = folder.path().join("given-up");
    let error = export(source, &selection, &given_up, false, &mut |_| ControlFlow::Break(())).unwrap_err();
    assert!(matches!(error, ExportError::GivenUp) && !given_up.exists(), "{error}");
}

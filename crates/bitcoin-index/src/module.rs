//! Turns a block into rows.

mod history_bounds;
mod inputs;
mod recent;
mod scripts;

use std::thread;

use bitcoin::consensus::serialize;
use bitcoin::hashes::Hash;
use bitcoin::{OutPoint, Txid};
use paraffin_primitives::ConnectedBlock;
use paraffin_store::{KeysAhead, Module, ModuleError, ModuleSchema, ModuleWriter, Snapshot, StoreError};

use self::history_bounds::HistoryBounds;
use self::inputs::SpentOutputs;
use self::recent::RecentNumbers;
use self::scripts::BlockScripts;
use crate::activity::{PageCursor, RowSource};
use crate::error::ReadError;
use crate::rows::{BlockRow, PAGE_TRANSACTIONS, PageWriter, PrefixWidth, decode_numbers, is_unspendable, txid_key};
use crate::settings::{MissingPrevouts, Options, RawTransactions, stored_raw_transactions};
use crate::tables::{
    BLOCK_HEIGHTS, BLOCKS, RAW_TRANSACTIONS, RAW_TRANSACTIONS_SETTING, SCHEMA, SETTINGS, SUPERSEDED,
    TRANSACTION_NUMBERS, TRANSACTIONS,
};

/// Transactions of a block from which on its numbers are remembered while its rows are written: below, starting a thread costs more.
const BESIDE_MIN: usize = 500;

/// Memory of a module that is given none, bytes.
const DEFAULT_MEMORY: usize = 16 << 20;

/// The indexer module of Bitcoin itself: transactions, blocks, spends, script history and balances.
///
/// Undo is the store's. The caches between blocks are bounded, only save reads, and detect when they are out of date.
#[derive(Debug)]
pub struct BitcoinModule {
    options: Options,
    width: PrefixWidth,
    recent: RecentNumbers,
    bounds: HistoryBounds,
}

impl BitcoinModule {
    /// A module with a setting for raw transactions, which halts on an input whose output is unknown.
    pub fn new(raw_transactions: RawTransactions) -> Self {
        Self::with_options(Options { raw_transactions, missing_prevouts: MissingPrevouts::Refuse })
    }

    /// A module with every option given.
    pub fn with_options(options: Options) -> Self {
        let module =
            Self { options, width: PrefixWidth::FULL, recent: RecentNumbers::new(0), bounds: HistoryBounds::new(0) };
        module.with_memory(DEFAULT_MEMORY)
    }

    /// The same with `bytes` of memory for what saves reads, half of them for the newest transactions and half for
    /// bounds of histories. The latter is taken by an import from block 0 only.
    #[must_use]
    pub fn with_memory(self, bytes: usize) -> Self {
        Self { recent: RecentNumbers::new(bytes / 2), bounds: HistoryBounds::new(bytes / 2), ..self }
    }

    /// A module whose hash prefixes have `bits` bits, so that tests meet collisions.
    #[doc(hidden)]
    #[must_use]
    pub fn with_prefix_bits(mut self, bits: u32) -> Self {
        self.width = PrefixWidth::narrowed(bits);
        self
    }

    /// Compares the options with those that the store was created with; to be called at start, before the first block.
    ///
    /// # Errors
    /// [`ModuleError::Block`] with a message for the operator when they differ; [`ModuleError::Store`] when reading fails.
    pub fn check_settings(&self, snapshot: &Snapshot) -> Result<(), ModuleError> {
        self.check_raw_transactions(snapshot).map(drop)
    }

    /// Whether the store has the setting already.
    fn check_raw_transactions(&self, rows: &impl RowSource) -> Result<bool, ModuleError> {
        match stored_raw_transactions(rows)? {
            None => Ok(false),
            Some(stored) if stored == self.options.raw_transactions => Ok(true),
            Some(stored) => Err(ModuleError::Block(format!(
                "this store was created with raw_transactions = \"{stored}\" and the configuration says \"{}\": set it back, \
                 or index into a new folder",
                self.options.raw_transactions
            ))),
        }
    }

    fn check_shape(block: &ConnectedBlock) -> Result<(), ModuleError> {
        let transactions = &block.block.txdata;
        let count = transactions.len();
        let refuse = |what: String| Err(ModuleError::Block(format!("block {}: {what}", block.id)));
        if transactions.first().is_none_or(|first| !first.is_coinbase()) {
            return refuse("its first transaction is not a coinbase".to_owned());
        }
        if block.txids.len() != count || block.offsets.len() != count {
            return refuse(format!(
                "{count} transactions came with {} txids and {} offsets",
                block.txids.len(),
                block.offsets.len()
            ));
        }
        if let Some(digests) = &block.script_digests {
            let outputs: usize = transactions.iter().map(|transaction| transaction.output.len()).sum();
            let spent: usize = block.spent.iter().flatten().map(Vec::len).sum();
            if (digests.outputs.len(), digests.spent.len()) != (outputs, spent) {
                return refuse(format!(
                    "{outputs} outputs and {spent} spent ones came with {} and {} digests of scripts",
                    digests.outputs.len(),
                    digests.spent.len()
                ));
            }
        }
        if let Some(spent) = &block.spent {
            if spent.len() != count {
                return refuse(format!("{count} transactions came with the spent outputs of {}", spent.len()));
            }
            for (index, (transaction, outputs)) in transactions.iter().zip(spent).enumerate() {
                let expected = if index == 0 { 0 } else { transaction.input.len() };
                if outputs.len() != expected {
                    let supplied = outputs.len();
                    return refuse(format!(
                        "transaction {index} has {expected} inputs to explain and {supplied} spent outputs came"
                    ));
                }
            }
        }
        Ok(())
    }
}

impl Module for BitcoinModule {
    fn schema(&self) -> ModuleSchema {
        SCHEMA
    }

    fn reads_ahead(
        &self,
        next: &ConnectedBlock,
        spent: &[OutPoint],
        keys: &mut KeysAhead<'_>,
    ) -> Result<(), StoreError> {
        let scripts = scripts::drawn(next, self.width, &self.bounds);
        if !scripts.is_empty() {
            let width = self.width;
            keys.read_by(move |rows| {
                // The block meets an error in its turn.
                let _ = scripts::read_histories(rows, width, &scripts);
            });
        }
        let mut txids: Vec<&Txid> = spent.iter().map(|outpoint| &outpoint.txid).collect();
        // Inputs of a transaction often spend outputs of one.
        txids.dedup();
        let numbers = self.recent.get(txids.iter().copied());
        let mut unknown = txids.into_iter().zip(numbers).filter(|(_, number)| number.is_none());
        unknown.try_for_each(|(txid, _)| keys.add(&TRANSACTION_NUMBERS, &txid_key(txid)))
    }

    fn connect(&mut self, block: &ConnectedBlock, rows: &mut ModuleWriter<'_>) -> Result<(), ModuleError> {
        Self::check_shape(block)?;
        if !self.check_raw_transactions(rows)? {
            rows.put(&SETTINGS, RAW_TRANSACTIONS_SETTING, &[self.options.raw_transactions.stored()])?;
        }
        self.recent.follow(block.block.header.prev_blockhash);

        let first_number = first_free_number(block, rows)?;
        let spent = SpentOutputs::resolve(block, first_number, rows, &self.recent, self.options.missing_prevouts)?;
        let Self { options, width, recent, bounds } = self;
        let mut write = || write_rows(block, first_number, &spent, rows, (options, *width), bounds);
        let mut remember = || recent.remember(block.id.hash, first_number, block);
        if block.block.txdata.len() < BESIDE_MIN {
            write()?;
            remember();
            return Ok(());
        }
        // Of a block that fails after all it remembers too much, which the next block shows: it does not follow that one.
        thread::scope(|scope| {
            scope.spawn(remember);
            write()
        })
    }
}

/// Writes all rows of a block.
fn write_rows(
    block: &ConnectedBlock,
    first_number: u32,
    spent: &SpentOutputs<'_>,
    rows: &mut ModuleWriter<'_>,
    (options, width): (&Options, PrefixWidth),
    bounds: &mut HistoryBounds,
) -> Result<(), ModuleError> {
    let mut scripts = BlockScripts::new(block, first_number);
    let weight = write_transactions(block, first_number, spent, rows, &mut scripts)?;
    write_numbers(block, first_number, rows, width, &mut scripts)?;
    scripts.write(rows, width, bounds)?;
    if options.raw_transactions == RawTransactions::Store {
        for (number, transaction) in (first_number..).zip(&block.block.txdata) {
            rows.put(&RAW_TRANSACTIONS, &number.to_be_bytes(), &serialize(transaction))?;
        }
    }
    let row = BlockRow {
        header: block.block.header,
        first_number,
        transaction_count: block.block.txdata.len() as u32,
        size: block.size,
        weight,
    };
    rows.put(&BLOCKS, &block.id.height.to_be_bytes(), &row.encode())?;
    rows.put(&BLOCK_HEIGHTS, block.id.hash.as_byte_array(), &block.id.height.to_be_bytes())?;
    Ok(())
}

/// Number of the coinbase: the first of a new row of table `transactions`.
fn first_free_number(block: &ConnectedBlock, rows: &ModuleWriter<'_>) -> Result<u32, ModuleError> {
    let pages = rows.sequence_len(&TRANSACTIONS)?;
    let full = || ModuleError::Block(format!("block {}: the index has no transaction numbers left", block.id));
    let first = pages.checked_mul(PAGE_TRANSACTIONS).ok_or_else(full)?;
    let count = u32::try_from(block.block.txdata.len()).map_err(|_| full())?;
    first.checked_add(count).ok_or_else(full)?;
    Ok(first)
}

/// Writes table `transactions` and records the fundings and spends of every script. Returns the weight of the block.
fn write_transactions<'a>(
    block: &'a ConnectedBlock,
    first_number: u32,
    spent: &'a SpentOutputs<'a>,
    rows: &mut ModuleWriter<'_>,
    scripts: &mut BlockScripts<'a>,
) -> Result<u64, ModuleError> {
    let mut page = PageWriter::default();
    let mut witness_bytes = 0u64;
    let count = block.block.txdata.len();
    for (index, transaction) in block.block.txdata.iter().enumerate() {
        let number = first_number + index as u32;
        let offset = block.offsets[index];
        let end = if index + 1 < count { block.offsets[index + 1] } else { block.size };
        let base_size = transaction.base_size() as u64;
        let (size, witness_size) =
            end.checked_sub(offset).and_then(|size| Some((size, u64::from(size).checked_sub(base_size)?))).ok_or_else(
                || ModuleError::Block(format!("block {}: the offset of transaction {index} is wrong", block.id)),
            )?;
        witness_bytes += witness_size;
        if index % PAGE_TRANSACTIONS as usize == 0 {
            page.start(block.id.height, offset);
        }
        let inputs = spent.of_transaction(index);
        page.push(
            number,
            block.txids[index],
            size,
            witness_size as u32,
            inputs.iter().map(|input| input.funding),
            &transaction.output,
        );
        if page.is_full() || index + 1 == count {
            rows.append(&TRANSACTIONS, page.bytes())?;
        }
        for input in inputs {
            if let (Some(funding), Some(output)) = (input.funding, spent.output(input)) {
                scripts.spent(index, funding, output, spent.digest(input));
            }
        }
        // The outputs of the genesis block are not in the UTXO set of any node and can never be spent.
        if block.id.height > 0 {
            for (vout, output) in (0u32..).zip(&transaction.output) {
                if !is_unspendable(&output.script_pubkey) {
                    scripts.funded(index, vout, output, spent.digest_of_output(index, vout as usize));
                }
            }
        }
    }
    Ok((u64::from(block.size) * 4).saturating_sub(witness_bytes * 3))
}

/// Writes table `transaction_numbers`, and withdraws a coinbase that this block repeats (BIP30).
fn write_numbers<'a>(
    block: &'a ConnectedBlock,
    first_number: u32,
    rows: &mut ModuleWriter<'_>,
    width: PrefixWidth,
    scripts: &mut BlockScripts<'a>,
) -> Result<(), ModuleError> {
    for (index, (number, txid)) in (first_number..).zip(&block.txids).enumerate() {
        let key = txid_key(txid);
        let mut value = Vec::new();
        // A coinbase alone can repeat an id: what another transaction spends, no second one can. So nothing is looked for before it is written.
        if index == 0
            && let Some(earlier) = rows.get(&TRANSACTION_NUMBERS, &key)?
        {
            let numbers = decode_numbers(&earlier).map_err(|error| ReadError::damaged(&TRANSACTION_NUMBERS, error))?;
            withdraw_repeated_coinbase(block, &numbers.collect::<Vec<_>>(), rows, width, scripts)?;
            value = earlier;
        }
        value.extend_from_slice(&number.to_be_bytes());
        rows.put(&TRANSACTION_NUMBERS, &key, &value)?;
    }
    Ok(())
}

/// Two coinbases of mainnet (blocks 91,842 and 91,880) repeat earlier ones, whose unspent outputs they replaced in every
/// node's UTXO set. The earlier transaction then has no outputs, no history and no part in any balance.
fn withdraw_repeated_coinbase<'a>(
    block: &'a ConnectedBlock,
    earlier: &[u32],
    rows: &mut ModuleWriter<'_>,
    width: PrefixWidth,
    scripts: &mut BlockScripts<'a>,
) -> Result<(), ModuleError> {
    let coinbase = &block.block.txdata[0];
    let mut cursor = PageCursor::default();
    for number in earlier {
        let row = cursor.transaction(rows, *number)?;
        // Block 0 never had spendable outputs, so there is nothing to replace.
        if row.txid != block.txids[0] || row.height == 0 || rows.get(&SUPERSEDED, &number.to_be_bytes())?.is_some() {
            continue;
        }
        if scripts::any_output_spent(rows, width, *number, &coinbase.output)? {
            continue;
        }
        rows.put(&SUPERSEDED, &number.to_be_bytes(), &[])?;
        for (vout, output) in (0u32..).zip(&coinbase.output) {
            if !is_unspendable(&output.script_pubkey) {
                scripts.withdrawn(*number, vout, output);
            }
        }
    }
    Ok(())
}

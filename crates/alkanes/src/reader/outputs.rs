use bitcoin::{OutPoint, Script, ScriptBuf, Txid};
use paraffin_primitives::Height;

use super::{ChainState, ROWS_PER_CHECK};
use crate::StateError;
use crate::rows::{
    ActivityRow, Cursor, Listing, OutputFacts, OutputRow, Page, Parser, ScriptKey, ScriptRow, outpoint_key,
};
use crate::tables::{ACTIVITY, LIVE, OUTPUTS, SCRIPTS, SPENT};

/// An output that alkanes or base runes were sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FundedOutput {
    /// The output.
    pub outpoint: OutPoint,
    /// Satoshi.
    pub value: u64,
    /// Height of its transaction.
    pub height: Height,
    /// Index of its transaction in the block.
    pub transaction_index: u32,
    /// Its script.
    pub script: ScriptBuf,
}

/// A transaction with alkanes messages or transfers that a script had a part in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActivityEntry {
    /// The transaction.
    pub txid: Txid,
    /// Height of its block.
    pub height: Height,
    /// Its index in the block.
    pub transaction_index: u32,
    /// An input was the script's. Of outputs of earlier blocks that held no alkanes this is known only where the node reports
    /// what blocks spend.
    pub spends: bool,
    /// An output of the script is named by a pointer or holds alkanes.
    pub receives: bool,
}

impl ChainState {
    /// An output that alkanes or base runes were ever sent to, also when it is spent.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn output(&self, outpoint: &OutPoint) -> Result<Option<FundedOutput>, StateError> {
        let Some(stored) = self.snapshot.get(&OUTPUTS, &outpoint_key(outpoint))? else { return Ok(None) };
        let output = OutputRow::decode(&stored)?.output.filter(|output| output.height <= self.height);
        Ok(output.map(|OutputFacts { height, index, value, script, .. }| FundedOutput {
            outpoint: *outpoint,
            value,
            height,
            transaction_index: index,
            script,
        }))
    }

    /// The script of a key, when alkanes were ever sent to it.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn script(&self, key: ScriptKey) -> Result<Option<ScriptBuf>, StateError> {
        let row = self.snapshot.get(&SCRIPTS, &key.0)?;
        Ok(row.map(|row| ScriptRow::decode(&row)).transpose()?.map(|row| row.script))
    }

    /// Unspent outputs of a script that hold alkanes, the oldest first. Their alkanes: [`Self::sheet`].
    ///
    /// A page costs the rows that it shows, however many the script has. As of an older block it also costs those that the
    /// script has spent since, of which no more than two pages are held in memory.
    ///
    /// # Errors
    /// The store cannot be read or is damaged, or the time of [`Self::until`] is over.
    pub fn outputs_of(
        &self,
        script: &Script,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<FundedOutput>, StateError> {
        let key = ScriptKey::of(script);
        let funded = |Listing { height, index, outpoint, value }| FundedOutput {
            outpoint,
            value,
            height,
            transaction_index: index,
            script: script.to_owned(),
        };
        if self.is_newest {
            return self.page(&LIVE, &key.0, after, false, limit, |(key, value)| {
                Ok(Some(funded(Listing::parse(&key[32..], &value)?)))
            });
        }
        let mut to = key.0.to_vec();
        to.extend_from_slice(&[u8::MAX; 16]);
        let mut from = key.0.to_vec();
        from.extend_from_slice(after.map_or(&[], Cursor::bound));
        if from > to {
            return Ok(Page { items: Vec::new(), next: None });
        }
        let mut listings = Vec::new();
        for row in self.snapshot.range(&LIVE, &from, &to) {
            let (key, value) = row?;
            let listing = Listing::parse(&key[32..], &value)?;
            if listing.height > self.height || listings.len() > limit {
                break;
            }
            if after.is_none_or(|after| after.0[..] < key[32..]) {
                listings.push(listing);
            }
        }
        from.truncate(key.0.len());
        from.extend_from_slice(&self.height.saturating_add(1).to_be_bytes());
        let order = |listing: &Listing| (listing.height, listing.index, listing.outpoint.vout);
        for (index, row) in self.snapshot.range(&SPENT, &from, &to).enumerate() {
            if index.is_multiple_of(ROWS_PER_CHECK) {
                self.check()?;
            }
            let (key, value) = row?;
            let listing = Listing::parse(&key[36..], &value)?;
            if listing.height <= self.height && after.is_none_or(|after| after.0[..] < key[36..]) {
                listings.push(listing);
            }
            // One more than a page shows that there is another.
            if listings.len() > limit.saturating_mul(2).saturating_add(ROWS_PER_CHECK) {
                listings.sort_unstable_by_key(order);
                listings.truncate(limit.saturating_add(1));
            }
        }
        listings.sort_unstable_by_key(order);
        let has_more = listings.len() > limit;
        listings.truncate(limit);
        let next = listings.last().filter(|_| has_more).map(|last| Cursor(last.key(key, None)[32..].to_vec()));
        Ok(Page { items: listings.into_iter().map(funded).collect(), next })
    }

    /// Transactions with protostones that a script had a part in, the newest first.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn activity_of(
        &self,
        script: &Script,
        before: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<ActivityEntry>, StateError> {
        let first = Cursor((u64::from(self.height) << 32 | u64::from(u32::MAX)).to_be_bytes().to_vec());
        self.page(&ACTIVITY, &ScriptKey::of(script).0, before.or(Some(&first)), true, limit, |(key, value)| {
            let mut key = Parser::new("activity", &key[32..]);
            let (height, transaction_index) = (key.number()?, key.number()?);
            let ActivityRow { txid, roles, .. } = ActivityRow::decode(&value)?;
            let (spends, receives) = (roles & SPENDS != 0, roles & RECEIVES != 0);
            Ok(Some(ActivityEntry { txid, height, transaction_index, spends, receives }))
        })
    }
}

/// Roles in a row of `activity`.
pub(crate) const SPENDS: u8 = 1;
/// As [`SPENDS`].
pub(crate) const RECEIVES: u8 = 2;

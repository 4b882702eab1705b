//! Etchings: whether a name may be taken, and the entry of a new rune.

use bitcoin::hashes::Hash as _;
use bitcoin::{Transaction, Txid};
use ordinals::{Artifact, Rune, RuneId, Runestone, SpacedRune};
use paraffin_store::{ModuleError, ModuleWriter};

use super::BlockRunes;
use crate::envelope::tapscript;
use crate::rows::{RuneEntry, encode_rune_id};
use crate::tables::{ETCHINGS, RUNE_NAMES, RUNE_NUMBERS};

impl BlockRunes<'_> {
    /// Etches the rune of an artifact; `None` when it has none or its name is not available. A cenotaph takes its name and
    /// issues nothing.
    pub(super) fn etch(
        &mut self,
        index: usize,
        transaction: &Transaction,
        txid: Txid,
        artifact: &Artifact,
        rows: &mut ModuleWriter<'_>,
    ) -> Result<Option<RuneId>, ModuleError> {
        let requested = match artifact {
            Artifact::Runestone(runestone) => runestone.etching.map(|etching| etching.rune),
            Artifact::Cenotaph(cenotaph) => cenotaph.etching.map(Some),
        };
        let Some(requested) = requested else { return Ok(None) };
        let (block, tx) = (u64::from(self.block.id.height), u32::try_from(index).unwrap_or(u32::MAX));
        let id = RuneId { block, tx };
        let rune = match requested {
            None => Rune::reserved(block, tx),
            Some(rune) if self.is_free(rune, rows)? && self.is_committed(index, transaction, rune, rows)? => rune,
            Some(_) => return Ok(None),
        };
        let number = rows.append(&RUNE_NUMBERS, &encode_rune_id(id))?;
        rows.put(&RUNE_NAMES, &rune.0.to_be_bytes(), &encode_rune_id(id))?;
        rows.put(&ETCHINGS, txid.as_byte_array(), &encode_rune_id(id))?;
        self.entries.insert(id, self.new_entry(id, rune, txid, u64::from(number), artifact));
        Ok(Some(id))
    }

    fn new_entry(&self, id: RuneId, rune: Rune, etching: Txid, number: u64, artifact: &Artifact) -> RuneEntry {
        let terms = match artifact {
            Artifact::Runestone(runestone) => runestone.etching.unwrap_or_default(),
            Artifact::Cenotaph(_) => ordinals::Etching::default(),
        };
        RuneEntry {
            block: id.block,
            burned: 0,
            divisibility: terms.divisibility.unwrap_or_default(),
            etching,
            mints: 0,
            number,
            premine: terms.premine.unwrap_or_default(),
            spaced_rune: SpacedRune { rune, spacers: terms.spacers.unwrap_or_default() },
            symbol: terms.symbol,
            terms: terms.terms,
            timestamp: u64::from(self.block.block.header.time),
            turbo: terms.turbo,
        }
    }

    fn is_free(&self, rune: Rune, rows: &ModuleWriter<'_>) -> Result<bool, ModuleError> {
        let is_allowed = rune >= self.minimum && !rune.is_reserved();
        Ok(is_allowed && rows.get(&RUNE_NAMES, &rune.0.to_be_bytes())?.is_none())
    }

    /// Whether an input spends a taproot output that is six blocks old with a script that pushes the name, so that an
    /// attacker who sees the etching in the mempool cannot front-run it.
    fn is_committed(
        &self,
        index: usize,
        transaction: &Transaction,
        rune: Rune,
        rows: &ModuleWriter<'_>,
    ) -> Result<bool, ModuleError> {
        let commitment = rune.commitment();
        for (vin, input) in transaction.input.iter().enumerate() {
            let Some(script) = tapscript(&input.witness) else { continue };
            // What comes before a fault in the script counts.
            let mut pushes = script.instructions().map_while(Result::ok);
            let names = pushes.any(|push| push.push_bytes().is_some_and(|push| push.as_bytes() == commitment));
            if !names || !self.spent.script(index, vin).is_some_and(|script| script.is_p2tr()) {
                continue;
            }
            let Some(made_at) = self.spent.height(index, vin, rows)? else { continue };
            let confirmations = self.block.id.height.saturating_sub(made_at).saturating_add(1);
            if confirmations >= u32::from(Runestone::COMMIT_CONFIRMATIONS) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

//! The rune: etched by the inscriber, minted and sent by the minter.

use bitcoin::{Amount, ScriptBuf, TxOut, Txid};
use ordinals::{Edict, Etching, Rune, RuneId, Runestone, SpacedRune, Terms};

use super::inscription::InscriptionDraft;
use super::{Held, INSCRIBER, Inscribers, MINTER, postage};
use crate::node::Node;
use crate::scenario::ScenarioError;

/// `PARAFFINCANDLES`: long enough for a name that is not yet unlocked.
const RUNE: Rune = Rune(1_036_363_021_262_785_441_828);
/// A bullet after the eighth letter.
const SPACERS: u32 = 1 << 7;
const SYMBOL: char = '🕯';
/// Decimal places: 100 units are a whole one.
const DIVISIBILITY: u8 = 2;
/// What the minter has from the beginning, in units.
const PREMINE: u128 = 5_000_000;
/// What one mint gives, in units.
const MINT: u128 = 100_000;
/// How often it can be minted.
const MINTS_MAX: u128 = 1_000_000;

/// The name with its spacers.
pub(super) fn name() -> String {
    SpacedRune::new(RUNE, SPACERS).to_string()
}

/// The inscription that commits to the name.
pub(super) fn draft() -> InscriptionDraft {
    InscriptionDraft::text("Paraffin candles, minted by everybody.").etching(RUNE)
}

impl Inscribers {
    /// Etches the rune with the output that was committed to it.
    pub(super) fn etch(&mut self, node: &Node, coin: &mut Held) -> Result<Option<Txid>, ScenarioError> {
        let Some((commitment, leaf)) = self.committed.take() else { return Ok(None) };
        let terms = Terms { amount: Some(MINT), cap: Some(MINTS_MAX), ..Terms::default() };
        let etching = Etching {
            divisibility: Some(DIVISIBILITY),
            premine: Some(PREMINE),
            rune: Some(RUNE),
            spacers: Some(SPACERS),
            symbol: Some(SYMBOL),
            terms: Some(terms),
            turbo: true,
        };
        let runestone = Runestone { etching: Some(etching), pointer: Some(1), ..Runestone::default() };
        let outputs = [postage(self.script(INSCRIBER)), postage(self.script(MINTER)), carrying(&runestone)];
        let txid = self.transact(node, INSCRIBER, &[commitment], coin, &outputs, Some(&leaf))?;
        self.made.push(("rune", txid));
        self.etching = Some(txid);
        Ok(Some(txid))
    }

    /// Mints the rune once to the minter, who pays with `coin`.
    pub(super) fn mint_rune(&mut self, node: &Node, coin: &mut Held) -> Result<Option<Txid>, ScenarioError> {
        let Some(rune) = self.rune_id(node) else { return Ok(None) };
        let runestone = Runestone { mint: Some(rune), pointer: Some(0), ..Runestone::default() };
        let outputs = [postage(self.script(MINTER)), carrying(&runestone)];
        self.transact(node, MINTER, &[], coin, &outputs, None).map(Some)
    }

    /// Sends units of the rune; the rest that the minter has of it goes to one output.
    pub(super) fn send_rune(
        &mut self,
        node: &Node,
        coin: &mut Held,
        gifts: &[(u128, ScriptBuf)],
    ) -> Result<Option<Txid>, ScenarioError> {
        let Some(id) = self.rune_id(node) else { return Ok(None) };
        let mut spent = self.held(node, MINTER);
        spent.retain(|(_, output)| output.value.to_sat() < super::COIN_MIN);
        // After the rest and the runestone.
        let edicts = (2..).zip(gifts).map(|(output, (amount, _))| Edict { id, amount: *amount, output });
        let runestone = Runestone { edicts: edicts.collect(), pointer: Some(0), ..Runestone::default() };
        let mut outputs = vec![postage(self.script(MINTER)), carrying(&runestone)];
        outputs.extend(gifts.iter().map(|(_, script)| postage(script.clone())));
        self.transact(node, MINTER, &spent, coin, &outputs, None).map(Some)
    }

    /// Block and transaction index of the etching, once it is in a block.
    fn rune_id(&mut self, node: &Node) -> Option<RuneId> {
        if self.rune.is_none() {
            let etching = self.etching?;
            let tip = node.tip();
            let block = node.block(&tip.hash)?;
            let index = block.txdata.iter().position(|transaction| transaction.compute_txid() == etching)?;
            self.rune = Some(RuneId { block: tip.height.into(), tx: u32::try_from(index).ok()? });
        }
        self.rune
    }
}

/// The output with a runestone.
fn carrying(runestone: &Runestone) -> TxOut {
    TxOut { value: Amount::ZERO, script_pubkey: runestone.encipher() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_that_of_the_name() {
        assert_eq!(name(), "PARAFFIN•CANDLES");
    }
}

//! The rune: etched by the scribe, minted and sent by the minter.

use bitcoin::{Amount, ScriptBuf, TxOut, Txid};
use ordinals::{Edict, Etching, Rune, RuneId, Runestone, SpacedRune, Terms};

use super::piece::Piece;
use super::{Held, MINTER, SCRIBE, Scribes, postage};
use crate::node::Node;
use crate::scenario::ScenarioError;

/// `PARAFFINCANDLES`: long enough for a name that is not yet unlocked.
const RUNE: Rune = Rune(1_036_363_021_262_785_441_828);
/// A bullet after the eighth letter.
const SPACERS: u32 = 1 << 7;
const SYMBOL: char = '🕯';
/// Units of a whole one: two places.
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
pub(super) fn piece() -> Piece {
    Piece::text("Paraffin candles, minted by everybody.").etching(RUNE)
}

impl Scribes {
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
        let stone = Runestone { etching: Some(etching), pointer: Some(1), ..Runestone::default() };
        let outputs = [postage(self.script(SCRIBE)), postage(self.script(MINTER)), carrying(&stone)];
        let txid = self.transact(node, SCRIBE, &[commitment], coin, &outputs, Some(&leaf))?;
        self.made.push(("rune", txid));
        self.etching = Some(txid);
        Ok(Some(txid))
    }

    /// Mints the rune once to the minter, who pays with `coin`.
    pub(super) fn mint_rune(&mut self, node: &Node, coin: &mut Held) -> Result<Option<Txid>, ScenarioError> {
        let Some(rune) = self.rune_id(node) else { return Ok(None) };
        let stone = Runestone { mint: Some(rune), pointer: Some(0), ..Runestone::default() };
        let outputs = [postage(self.script(MINTER)), carrying(&stone)];
        self.transact(node, MINTER, &[], coin, &outputs, None).map(Some)
    }

    /// Sends units of the rune; all else that the minter has of it comes to lie in one output.
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
        let stone = Runestone { edicts: edicts.collect(), pointer: Some(0), ..Runestone::default() };
        let mut outputs = vec![postage(self.script(MINTER)), carrying(&stone)];
        outputs.extend(gifts.iter().map(|(_, script)| postage(script.clone())));
        self.transact(node, MINTER, &spent, coin, &outputs, None).map(Some)
    }

    /// Block and place of the etching, once it is in a block.
    fn rune_id(&mut self, node: &Node) -> Option<RuneId> {
        if self.rune.is_none() {
            let etching = self.etching?;
            let tip = node.tip();
            let block = node.block(&tip.hash)?;
            let place = block.txdata.iter().position(|transaction| transaction.compute_txid() == etching)?;
            self.rune = Some(RuneId { block: tip.height.into(), tx: u32::try_from(place).ok()? });
        }
        self.rune
    }
}

/// The output that says what happens to runes.
fn carrying(stone: &Runestone) -> TxOut {
    TxOut { value: Amount::ZERO, script_pubkey: stone.encipher() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_what_its_number_says() {
        assert_eq!(name(), "PARAFFIN•CANDLES");
    }
}

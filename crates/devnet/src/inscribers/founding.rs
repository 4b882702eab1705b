//! The first transactions of the inscribers, block by block. All of them are confirmed at height 110.

use bitcoin::{OutPoint, Txid};

use super::inscription::InscriptionDraft;
use super::{Held, INSCRIBER, Inscribers, MINTER, postage};
use crate::node::Node;
use crate::scenario::ScenarioError;

/// Blocks that the founding takes.
pub(super) const STEPS: u32 = 10;
/// The step that etches the rune, five blocks after its commitment: the first one that is old enough.
const ETCHING_STEP: u32 = COMMITMENT_STEP + 5;
const COMMITMENT_STEP: u32 = 1;
/// `{"artist": "paraffin", "wicks": 3}` in CBOR.
const METADATA: &[u8] = b"\xa2\x66artist\x68paraffin\x65wicks\x03";
/// Amount of the token that is transferred, in whole tokens.
const TRANSFERRED: u64 = 750;
/// Amount of it that is inscribed to be transferred further.
const PENDING: u64 = 250;

impl Inscribers {
    pub(super) fn found(&mut self, node: &Node, step: u32) -> Result<Vec<Txid>, ScenarioError> {
        if step == 0 {
            return Ok(self.fund(node)?.into_iter().collect());
        }
        let Some(mut coin) = self.coins(node, INSCRIBER).into_iter().next() else { return Ok(Vec::new()) };
        match step {
            COMMITMENT_STEP => self.first_pieces(node, &mut coin),
            2 => self.related_pieces(node, &mut coin),
            3 => self.second_pieces(node, &mut coin),
            4 => self.moves(node, &mut coin),
            5 => {
                // Its receiver has the amount set aside, and can send it on.
                let pending = self.inscribe(node, &mut coin, &InscriptionDraft::transfer(PENDING), self.guest(0))?;
                self.made.push(("brc20_pending", pending));
                Ok(vec![pending])
            }
            ETCHING_STEP => Ok(self.etch(node, &mut coin)?.into_iter().collect()),
            7 => self.mints(node),
            8 => self.rune_transfers(node),
            _ => Ok(vec![self.make(node, &mut coin, "last", &InscriptionDraft::text("Snuffed."))?]),
        }
    }

    /// Inscribes to the inscriber and records it under a name.
    fn make(
        &mut self,
        node: &Node,
        coin: &mut Held,
        name: &'static str,
        draft: &InscriptionDraft,
    ) -> Result<Txid, ScenarioError> {
        let txid = self.inscribe(node, coin, draft, self.script(INSCRIBER))?;
        self.made.push((name, txid));
        Ok(txid)
    }

    fn made(&self, name: &str) -> Option<Txid> {
        self.made.iter().find(|(made, _)| *made == name).map(|(_, txid)| *txid)
    }

    /// The output that holds an inscription that was never moved.
    fn unmoved(&self, name: &str) -> Option<Held> {
        let outpoint = OutPoint { txid: self.made(name)?, vout: 0 };
        Some((outpoint, postage(self.script(INSCRIBER))))
    }

    fn first_pieces(&mut self, node: &Node, coin: &mut Held) -> Result<Vec<Txid>, ScenarioError> {
        self.committed = Some(self.commit(node, coin, &super::rune::draft(), None)?);
        let mut sent = vec![
            self.make(node, coin, "text", &InscriptionDraft::text("A candle loses nothing by lighting another."))?,
            self.make(node, coin, "image", &InscriptionDraft::image())?,
            self.make(node, coin, "metadata", &InscriptionDraft::text("Three wicks.").with_metadata(METADATA))?,
        ];
        sent.push(self.make(node, coin, "brc20_deploy", &InscriptionDraft::deploy())?);
        self.has_token = true;
        Ok(sent)
    }

    /// What refers to the pieces of the block before, and the first mints of the token.
    fn related_pieces(&mut self, node: &Node, coin: &mut Held) -> Result<Vec<Txid>, ScenarioError> {
        let (Some(image), Some(parent)) = (self.made("image"), self.unmoved("image")) else { return Ok(Vec::new()) };
        let child = InscriptionDraft::text("Lit by the image.").child_of(image);
        let (commitment, leaf) = self.commit(node, coin, &child, None)?;
        let outputs = [postage(self.script(INSCRIBER)), postage(self.script(INSCRIBER))];
        let child = self.transact(node, INSCRIBER, &[commitment, parent], coin, &outputs, Some(&leaf))?;
        self.made.push(("child", child));
        let mut sent = vec![child, self.make(node, coin, "delegate", &InscriptionDraft::delegate(image))?];
        for _ in 0..3 {
            sent.push(self.inscribe(node, coin, &InscriptionDraft::mint(), self.script(INSCRIBER))?);
        }
        Ok(sent)
    }

    fn second_pieces(&mut self, node: &Node, coin: &mut Held) -> Result<Vec<Txid>, ScenarioError> {
        let Some(text) = self.unmoved("text") else { return Ok(Vec::new()) };
        let again = InscriptionDraft::text("Nor by being lit twice.");
        let (commitment, leaf) = self.commit(node, coin, &again, Some(&text))?;
        let outputs = [postage(self.script(INSCRIBER))];
        let again = self.transact(node, INSCRIBER, &[commitment], coin, &outputs, Some(&leaf))?;
        self.made.push(("reinscription", again));
        Ok(vec![
            again,
            self.make(node, coin, "transferred", &InscriptionDraft::text("For Alice."))?,
            self.make(node, coin, "brc20_transfer", &InscriptionDraft::transfer(TRANSFERRED))?,
        ])
    }

    /// An inscription and some of the token go to the first of the scenario's accounts.
    fn moves(&self, node: &Node, coin: &mut Held) -> Result<Vec<Txid>, ScenarioError> {
        let (Some(gift), Some(transfer)) = (self.unmoved("transferred"), self.unmoved("brc20_transfer")) else {
            return Ok(Vec::new());
        };
        let outputs = [postage(self.guest(0)), postage(self.guest(0))];
        Ok(vec![self.transact(node, INSCRIBER, &[gift, transfer], coin, &outputs, None)?])
    }

    /// Every coin of the minter mints the rune once.
    fn mints(&mut self, node: &Node) -> Result<Vec<Txid>, ScenarioError> {
        let mut sent = Vec::new();
        for mut coin in self.coins(node, MINTER) {
            sent.extend(self.mint_rune(node, &mut coin)?);
        }
        Ok(sent)
    }

    fn rune_transfers(&mut self, node: &Node) -> Result<Vec<Txid>, ScenarioError> {
        let Some(mut coin) = self.coins(node, MINTER).into_iter().next() else { return Ok(Vec::new()) };
        let gifts = [(12_345, self.guest(0)), (67_800, self.guest(1))];
        Ok(self.send_rune(node, &mut coin, &gifts)?.into_iter().collect())
    }
}

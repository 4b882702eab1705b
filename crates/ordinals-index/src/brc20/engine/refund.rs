//! The one refund: at the beginning of one block, what was sent to the swap module of old goes to an address, token by token,
//! as a transfer by an inscription that is on no chain.

use std::sync::Arc;

use bitcoin::hashes::Hash as _;
use bitcoin::{Script, Txid};

use super::Block;
use crate::brc20::action::Brc20Event;
use crate::brc20::amount::Amount;
use crate::brc20::ledger::{Ledger, LedgerError, Note, Token};
use crate::brc20::rules::SwapRefund;
use crate::event::InscriptionId;

/// Beginning of the made-up transaction ids; the token's name follows, then zeros.
const MARK: &[u8] = b"BRC20SWAPREFUND";

/// The inscription that stands for the refund of a token.
fn inscription(ticker: &str) -> Result<InscriptionId, LedgerError> {
    let mut shown = [0; 32];
    let name = ticker.as_bytes();
    let name_bytes = shown.get_mut(MARK.len()..MARK.len() + name.len());
    name_bytes.ok_or(LedgerError::Damaged("a ticker is longer than tickers are"))?.copy_from_slice(name);
    shown[..MARK.len()].copy_from_slice(MARK);
    // Ids are shown in reverse.
    shown.reverse();
    Ok(InscriptionId { txid: Txid::from_byte_array(shown), index: 0 })
}

impl<L: Ledger> Block<'_, L> {
    pub(super) fn refund(&mut self) -> Result<(), LedgerError> {
        let Some(refund) = self.rules.swap_refund.clone().filter(|refund| refund.height == self.height) else {
            return Ok(());
        };
        for (ticker, balance) in self.ledger.balances_of(&refund.module)? {
            if balance.overall == Amount::ZERO {
                continue;
            }
            let token = self.ledger.token(&ticker)?;
            let token = token.ok_or(LedgerError::Damaged("a balance of a token that is not there"))?;
            let id = inscription(&ticker)?;
            self.refund_token(&refund, id, token, balance.overall)?;
        }
        Ok(())
    }

    fn refund_token(
        &mut self,
        refund: &SwapRefund,
        id: InscriptionId,
        token: Token,
        amount: Amount,
    ) -> Result<(), LedgerError> {
        let Token { ticker, decimals, .. } = token;
        let source: Arc<Script> = refund.module.as_script().into();
        let note = Note { ticker: ticker.clone(), decimals, amount, source: Arc::clone(&source), height: self.height };
        let Some(inscribed) = self.inscribe_transfer(id, &source, ticker, decimals, amount)? else {
            return Ok(());
        };
        let transferred = self.transfer(id, note, Some(refund.receiver.as_script().into()))?;
        let txid = Txid::all_zeros();
        self.events.extend([inscribed, transferred].map(|action| Brc20Event { inscription: id, txid, action }));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule is that of OPI's `brc20_swap_refund`.
    #[test]
    fn the_inscription_of_a_refund_spells_its_mark_and_token() {
        let id = inscription("ordi").unwrap();
        assert_eq!(
            id.to_string(),
            format!("4252433230535741505245{}i0", "46554e446f726469".to_owned() + &"0".repeat(26))
        );
        assert!(inscription(&"x".repeat(18)).is_err());
    }
}

//! Deploys: what makes one valid, by the length of its ticker.

use std::sync::Arc;

use bitcoin::Script;
use bitcoin::hex::{DisplayHex as _, FromHex as _};

use super::Block;
use crate::brc20::action::Action;
use crate::brc20::amount::{Amount, DECIMALS_MAX, parse_decimals};
use crate::brc20::hashes::digest;
use crate::brc20::ledger::{Ledger, LedgerError, Token};
use crate::brc20::operation::DeployText;
use crate::brc20::rules::PREDEPLOY_DELAY;
use crate::brc20::ticker::Ticker;
use crate::event::InscriptionId;

/// The numbers of a deploy.
struct Terms {
    decimals: u8,
    max_supply: Amount,
    limit_per_mint: Amount,
}

impl Terms {
    /// `None` when one of them is void. A supply of 0 is left for later; a limit of 0 is void unless it is the supply's.
    fn read(text: &DeployText) -> Option<Self> {
        let decimals = match &text.decimals {
            None => DECIMALS_MAX,
            Some(decimals) => parse_decimals(decimals)?,
        };
        let max_supply = Amount::parse(&text.max, decimals)?;
        let limit_per_mint = match &text.limit {
            None => max_supply,
            Some(limit) => Amount::parse(limit, decimals).filter(|limit| *limit > Amount::ZERO)?,
        };
        Some(Self { decimals, max_supply, limit_per_mint })
    }

    /// A supply of 0 means that there is no end, where only the deployer mints.
    fn open_end(&mut self) {
        if self.max_supply == Amount::ZERO {
            self.max_supply = Amount::MAX;
            if self.limit_per_mint == Amount::ZERO {
                self.limit_per_mint = Amount::MAX;
            }
        }
    }
}

impl<L: Ledger> Block<'_, L> {
    pub(super) fn deploy(
        &mut self,
        id: InscriptionId,
        owner: &Arc<Script>,
        parent: Option<InscriptionId>,
        text: DeployText,
    ) -> Result<Option<Action>, LedgerError> {
        if !self.is_allowed(&text.ticker) || self.ledger.token(text.ticker.lower())?.is_some() {
            return Ok(None);
        }
        let Some(mut terms) = Terms::read(&text) else { return Ok(None) };
        let is_self_mint = match text.ticker.original().len() {
            5 if self.height < self.rules.self_mint || !text.is_self_mint => return Ok(None),
            5 => true,
            6 if !self.is_announced(&text.ticker, text.salt.as_deref(), parent)? => return Ok(None),
            6 => text.is_self_mint,
            _ => false,
        };
        if is_self_mint {
            terms.open_end();
        }
        if terms.max_supply == Amount::ZERO {
            return Ok(None);
        }
        let Terms { decimals, max_supply, limit_per_mint } = terms;
        let ticker = text.ticker;
        let deployed_as = u32::try_from(self.events.len()).map_err(|_| LedgerError::Damaged("too many events"))?;
        self.ledger.set_token(&Token {
            ticker: ticker.clone(),
            deployment: id,
            deployed_at: self.height,
            deployed_as,
            decimals,
            max_supply,
            remaining: max_supply,
            limit_per_mint,
            burned: Amount::ZERO,
            is_self_mint,
            holders: 0,
            mints: 0,
            transfers: 0,
        })?;
        let owner = owner.clone();
        Ok(Some(Action::Deploy { owner, ticker, decimals, max_supply, limit_per_mint, is_self_mint }))
    }

    /// Whether the parent of a deploy announced exactly this ticker, early enough. The hash is the hexadecimal text of the
    /// SHA-256 of the SHA-256 of the ticker as written, the salt and the script that announced it.
    fn is_announced(
        &self,
        ticker: &Ticker,
        salt: Option<&str>,
        parent: Option<InscriptionId>,
    ) -> Result<bool, LedgerError> {
        let (Some(salt), Some(parent)) = (salt, parent) else { return Ok(false) };
        let Some(predeploy) = self.ledger.predeploy(parent)? else { return Ok(false) };
        let Ok(salt) = Vec::from_hex(salt) else { return Ok(false) };
        if u64::from(predeploy.height) + u64::from(PREDEPLOY_DELAY) > u64::from(self.height) {
            return Ok(false);
        }
        let salted = [ticker.original().as_bytes(), &salt, predeploy.owner.as_bytes()].concat();
        Ok(predeploy.hash == digest(&digest(&salted)).to_lower_hex_string())
    }
}

//! A second opinion: everything again from the list of events alone, in the plainest way.

use std::collections::BTreeMap;

use bitcoin::{Script, ScriptBuf};

use crate::brc20::{Action, Brc20Event};
use crate::event::InscriptionId;

/// Sums by token, and balances by script and token: overall, available.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::brc20) struct Sums {
    pub(in crate::brc20) minted: BTreeMap<String, u128>,
    pub(in crate::brc20) burned: BTreeMap<String, u128>,
    pub(in crate::brc20) balances: BTreeMap<(ScriptBuf, String), (u128, u128)>,
    pub(in crate::brc20) open: BTreeMap<InscriptionId, (ScriptBuf, String, u128)>,
}

impl Sums {
    pub(in crate::brc20) fn add(&mut self, event: &Brc20Event) {
        match &event.action {
            Action::Predeploy { .. } => {}
            Action::Deploy { ticker, .. } => {
                assert_eq!(self.minted.insert(ticker.lower().to_owned(), 0), None, "deployed twice");
            }
            Action::Mint { owner, ticker, amount, .. } => {
                *self.minted.get_mut(ticker.lower()).expect("minted before it was deployed") += amount.0;
                self.give(owner, ticker.lower(), amount.0);
            }
            Action::TransferInscribe { source, ticker, amount, .. } => {
                self.of(source, ticker.lower()).1 -= amount.0;
                let open = (source.as_ref().to_owned(), ticker.lower().to_owned(), amount.0);
                assert_eq!(self.open.insert(event.inscription, open), None, "inscribed twice");
            }
            Action::TransferTransfer { source, target, ticker, amount, .. } => {
                let open = self.open.remove(&event.inscription).expect("moved before it was inscribed");
                assert_eq!(open, (source.as_ref().to_owned(), ticker.lower().to_owned(), amount.0));
                match target.as_ref().map(|target| target.as_bytes()) {
                    None | Some([]) => self.of(source, ticker.lower()).1 += amount.0,
                    Some([0x6a] | b"\x6a\x09BRC20PROG") => {
                        self.of(source, ticker.lower()).0 -= amount.0;
                        *self.burned.entry(ticker.lower().to_owned()).or_default() += amount.0;
                    }
                    Some(target) => {
                        self.of(source, ticker.lower()).0 -= amount.0;
                        self.give(Script::from_bytes(target), ticker.lower(), amount.0);
                    }
                }
            }
        }
    }

    fn of(&mut self, script: &Script, ticker: &str) -> &mut (u128, u128) {
        self.balances.entry((script.to_owned(), ticker.to_owned())).or_default()
    }

    fn give(&mut self, script: &Script, ticker: &str, amount: u128) {
        let balance = self.of(script, ticker);
        balance.0 += amount;
        balance.1 += amount;
    }
}

//! BRC-20 events, and the canonical text of which OPI's hashes are made.

use std::sync::Arc;

use bitcoin::hex::DisplayHex as _;
use bitcoin::{Script, Txid};
use paraffin_primitives::Height;

use super::amount::Amount;
use super::ticker::Ticker;
use crate::event::InscriptionId;

/// One thing that happened to tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brc20Event {
    /// The inscription that did it.
    pub inscription: InscriptionId,
    /// The transaction that revealed or moved it; all zeros for a refund, which no transaction made.
    pub txid: Txid,
    /// What happened.
    pub action: Action,
}

/// What an event did. `decimals` are those of the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// A 6-byte ticker was announced under a hash.
    Predeploy {
        /// Who announced it.
        owner: Arc<Script>,
        /// The text of the inscription, unchecked.
        hash: String,
        /// Height of the block.
        height: Height,
    },
    /// A token came to be.
    Deploy {
        /// Who deployed it.
        owner: Arc<Script>,
        /// Its name.
        ticker: Ticker,
        /// Decimal places of its amounts.
        decimals: u8,
        /// What can be minted in all.
        max_supply: Amount,
        /// The most that one mint can have.
        limit_per_mint: Amount,
        /// Whether a mint needs the deploy inscription as its parent.
        is_self_mint: bool,
    },
    /// Tokens were minted.
    Mint {
        /// Who got them.
        owner: Arc<Script>,
        /// The token, as the mint wrote it.
        ticker: Ticker,
        /// See [`Action`].
        decimals: u8,
        /// How many; fewer than requested when no more were left.
        amount: Amount,
        /// The first parent of the inscription, whether or not it mattered.
        parent: Option<InscriptionId>,
    },
    /// A part of a balance was set aside, to go where the inscription goes.
    TransferInscribe {
        /// Whose balance.
        source: Arc<Script>,
        /// The token, as the transfer wrote it.
        ticker: Ticker,
        /// See [`Action`].
        decimals: u8,
        /// How many.
        amount: Amount,
    },
    /// The inscription went, and the tokens with it.
    TransferTransfer {
        /// Who had set them aside.
        source: Arc<Script>,
        /// Where it went; `None` when it was paid as a fee.
        target: Option<Arc<Script>>,
        /// The token, as the transfer wrote it.
        ticker: Ticker,
        /// See [`Action`].
        decimals: u8,
        /// How many.
        amount: Amount,
    },
}

impl Action {
    /// OPI's name of it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Predeploy { .. } => "predeploy-inscribe",
            Self::Deploy { .. } => "deploy-inscribe",
            Self::Mint { .. } => "mint-inscribe",
            Self::TransferInscribe { .. } => "transfer-inscribe",
            Self::TransferTransfer { .. } => "transfer-transfer",
        }
    }

    /// The token, if the action is about one.
    pub const fn ticker(&self) -> Option<&Ticker> {
        match self {
            Self::Predeploy { .. } => None,
            Self::Deploy { ticker, .. }
            | Self::Mint { ticker, .. }
            | Self::TransferInscribe { ticker, .. }
            | Self::TransferTransfer { ticker, .. } => Some(ticker),
        }
    }

    /// Scripts in whose history it is: the actor, and the receiver if that is another script.
    pub fn parties(&self) -> (&Script, Option<&Script>) {
        match self {
            Self::Predeploy { owner, .. } | Self::Deploy { owner, .. } | Self::Mint { owner, .. } => (owner, None),
            Self::TransferInscribe { source, .. } => (source, None),
            Self::TransferTransfer { source, target, .. } => {
                (source, target.as_deref().filter(|target| *target != &**source))
            }
        }
    }
}

impl Brc20Event {
    /// The event as OPI's README writes it for the hash of a block.
    pub fn canonical(&self) -> String {
        let (name, id) = (self.action.name(), self.inscription);
        match &self.action {
            Action::Predeploy { owner, hash, height } => {
                format!("{name};{id};{};{hash};{height}", hex(owner))
            }
            Action::Deploy { owner, ticker, decimals, max_supply, limit_per_mint, is_self_mint } => format!(
                "{name};{id};{};{};{};{};{decimals};{};{is_self_mint}",
                hex(owner),
                ticker.lower(),
                ticker.original(),
                max_supply.canonical(*decimals),
                limit_per_mint.canonical(*decimals),
            ),
            Action::Mint { owner, ticker, decimals, amount, parent } => format!(
                "{name};{id};{};{};{};{};{}",
                hex(owner),
                ticker.lower(),
                ticker.original(),
                amount.canonical(*decimals),
                parent.map(|parent| parent.to_string()).unwrap_or_default(),
            ),
            Action::TransferInscribe { source, ticker, decimals, amount } => format!(
                "{name};{id};{};{};{};{}",
                hex(source),
                ticker.lower(),
                ticker.original(),
                amount.canonical(*decimals),
            ),
            Action::TransferTransfer { source, target, ticker, decimals, amount } => format!(
                "{name};{id};{};{};{};{};{}",
                hex(source),
                target.as_deref().map(hex).unwrap_or_default(),
                ticker.lower(),
                ticker.original(),
                amount.canonical(*decimals),
            ),
        }
    }
}

fn hex(script: &Script) -> String {
    script.as_bytes().to_lower_hex_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: u128 = 1_000_000_000_000_000_000;

    fn event(action: Action) -> String {
        let txid: Txid = "ab".repeat(32).parse().unwrap();
        Brc20Event { inscription: InscriptionId { txid, index: 7 }, txid, action }.canonical()
    }

    fn script(bytes: &[u8]) -> Arc<Script> {
        Script::from_bytes(bytes).into()
    }

    fn ticker() -> Ticker {
        Ticker::of_inscription("OrDi".into()).unwrap()
    }

    /// The forms are those of OPI's README (bestinslot-xyz/OPI).
    #[test]
    fn event_strings_have_the_published_form() {
        let id = format!("{}i7", "ab".repeat(32));
        let deploy = Action::Deploy {
            owner: script(&[0x51]),
            ticker: ticker(),
            decimals: 2,
            max_supply: Amount(21 * ONE),
            limit_per_mint: Amount(ONE / 10),
            is_self_mint: false,
        };
        assert_eq!(event(deploy), format!("deploy-inscribe;{id};51;ordi;OrDi;21.00;2;0.10;false"));
        let mint = |decimals, parent| Action::Mint {
            owner: script(&[0x52]),
            ticker: ticker(),
            decimals,
            amount: Amount(5 * ONE),
            parent,
        };
        assert_eq!(event(mint(0, None)), format!("mint-inscribe;{id};52;ordi;OrDi;5;"));
        assert_eq!(event(mint(1, id.parse().ok())), format!("mint-inscribe;{id};52;ordi;OrDi;5.0;{id}"));
        let inscribe =
            Action::TransferInscribe { source: script(&[]), ticker: ticker(), decimals: 18, amount: Amount(1) };
        assert_eq!(event(inscribe), format!("transfer-inscribe;{id};;ordi;OrDi;0.000000000000000001"));
        let transfer = |target| Action::TransferTransfer {
            source: script(&[0x53]),
            target,
            ticker: ticker(),
            decimals: 0,
            amount: Amount(ONE),
        };
        assert_eq!(event(transfer(Some(script(&[0x54])))), format!("transfer-transfer;{id};53;54;ordi;OrDi;1"));
        assert_eq!(event(transfer(None)), format!("transfer-transfer;{id};53;;ordi;OrDi;1"));
        let predeploy = Action::Predeploy { owner: script(&[0x55]), hash: "a;b|".into(), height: 9 };
        assert_eq!(event(predeploy), format!("predeploy-inscribe;{id};55;a;b|;9"));
    }

    #[test]
    fn who_sends_to_itself_is_one_party() {
        let transfer = |target| Action::TransferTransfer {
            source: script(&[1]),
            target,
            ticker: ticker(),
            decimals: 0,
            amount: Amount(1),
        };
        assert_eq!(transfer(Some(script(&[1]))).parties(), (&*script(&[1]), None));
        assert_eq!(transfer(Some(script(&[2]))).parties(), (&*script(&[1]), Some(&*script(&[2]))));
        assert_eq!(transfer(None).parties(), (&*script(&[1]), None));
    }
}

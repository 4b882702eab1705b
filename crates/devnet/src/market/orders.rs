//! Orders of callers for the market's accounts.

use bitcoin::{ScriptBuf, Txid};
use paraffin_alkanes::Transfer;
use paraffin_alkanes::codec::Cellpack;

use super::compose::Order;
use super::{Market, MarketError, NAMES};
use crate::node::Node;

impl Market {
    /// Number of accounts; the first is the founder's, the others trade.
    pub fn trader_count(&self) -> usize {
        NAMES.len()
    }

    /// Script of an account, below [`Market::trader_count`].
    pub fn trader_script(&self, trader: usize) -> ScriptBuf {
        self.script(trader)
    }

    /// What an account holds at the node's tip, in the order of the ids. The engine state must be at the tip ([`Market::observe`]).
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn held(&self, node: &Node, trader: usize) -> Result<Vec<Transfer>, MarketError> {
        Ok(self.purse(node, trader)?.held.transfers())
    }

    /// Hands the node a transaction in which an account calls a contract and sends `sends` along; everything else that it
    /// holds, and whatever comes back, goes to its first output. `None` when the account has no coin to pay with.
    ///
    /// # Errors
    /// The node refuses the transaction, or the state cannot be read.
    pub fn call(
        &self,
        node: &Node,
        trader: usize,
        sends: Vec<Transfer>,
        call: Cellpack,
    ) -> Result<Option<Txid>, MarketError> {
        let purse = self.purse(node, trader)?;
        self.send(node, trader, &purse, &Order { sends, call: Some(call), ..Order::default() })
    }
}

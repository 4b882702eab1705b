//! Queries about scripts, read together and answered one by one; and notifications.

use serde::Serialize;

use super::{End, Item, Session, StatusMark};
use crate::api::{Changes, Confirmed, Fault, ScriptAnswer, ScriptQuestion, Tip, Touched, Unconfirmed, Unspent, Wanted};
use crate::message::Error;
use crate::output::Gone;
use crate::script_hash::{ScriptHash, Status};

/// Most scripts of one read.
const TOGETHER_MAX: usize = 64;

/// A transaction of a history.
#[derive(Serialize)]
struct Row {
    tx_hash: bitcoin::Txid,
    height: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    fee: Option<u64>,
}

impl From<&Confirmed> for Row {
    fn from(one: &Confirmed) -> Self {
        Self { tx_hash: one.txid, height: one.height.into(), fee: None }
    }
}

impl From<&Unconfirmed> for Row {
    fn from(one: &Unconfirmed) -> Self {
        Self { tx_hash: one.txid, height: one.height().into(), fee: Some(one.fee) }
    }
}

#[derive(Serialize)]
struct UnspentRow {
    tx_hash: bitcoin::Txid,
    tx_pos: u32,
    height: u32,
    value: u64,
}

impl From<&Unspent> for UnspentRow {
    fn from(one: &Unspent) -> Self {
        Self { tx_hash: one.txid, tx_pos: one.vout, height: one.height, value: one.value }
    }
}

#[derive(Serialize)]
struct BalanceRow {
    confirmed: u64,
    unconfirmed: i64,
}

pub(super) fn mark(status: Option<Status>) -> Option<StatusMark> {
    let status = status?;
    let mut mark = StatusMark::default();
    mark.copy_from_slice(&status.0[..16]);
    Some(mark)
}

impl Session {
    /// Reads the answers to the next queries about scripts, unless some are buffered.
    pub(super) async fn read_ready(&mut self, items: &[Item<'_>]) {
        if !self.ready.is_empty() || items.first().is_none_or(|item| question(item).is_none()) {
            return;
        }
        let questions: Vec<ScriptQuestion> = items.iter().map_while(question).take(TOGETHER_MAX).collect();
        self.ready_held = None;
        let (answers, held) = self.api.scripts(questions).await;
        self.ready.extend(answers);
        self.ready_held = Some(held);
    }

    /// The next answer that was read.
    pub(super) fn next_ready(&mut self) -> Result<ScriptAnswer, Fault> {
        self.ready.pop_front().unwrap_or(Err(Fault::Internal))
    }

    /// Subscribes to a script whose status was read.
    pub(super) fn subscribe(&mut self, script: ScriptHash) -> Result<Option<Status>, Error> {
        let ScriptAnswer::Status(status) = self.next_ready()? else { return Err(Fault::Internal.into()) };
        if !self.scripts.contains_key(&script) && !self.permit.subscribe() {
            return Err(Error::bad_request("too many subscriptions"));
        }
        self.scripts.insert(script, mark(status));
        Ok(status)
    }

    /// Removes a subscription; returns whether there was one.
    pub(super) fn unsubscribe(&mut self, script: &ScriptHash) -> bool {
        let was_there = self.scripts.remove(script).is_some();
        if was_there {
            self.permit.unsubscribe();
            if self.scripts.capacity() > 4 * self.scripts.len() {
                self.scripts.shrink_to(2 * self.scripts.len());
            }
        }
        was_there
    }

    /// Writes the answer to a query.
    pub(super) async fn write_script(&mut self, answer: &ScriptAnswer) -> Result<(), Gone> {
        let output = &mut self.output;
        match answer {
            ScriptAnswer::History(history) => {
                let confirmed = history.confirmed.iter().map(Row::from);
                output.list(confirmed.chain(history.unconfirmed.iter().map(Row::from))).await
            }
            ScriptAnswer::Mempool(transactions) => output.list(transactions.iter().map(Row::from)).await,
            ScriptAnswer::Unspent(unspent) => output.list(unspent.iter().map(UnspentRow::from)).await,
            ScriptAnswer::Status(status) => output.json(status).await,
            ScriptAnswer::Balance(balance) => {
                output.json(&BalanceRow { confirmed: balance.confirmed, unconfirmed: balance.unconfirmed }).await
            }
        }
    }

    /// Sends notifications of changed subscriptions. Without `changes` all subscriptions are checked.
    pub(super) async fn notify(&mut self, change: Option<&Changes>) -> Result<(), End> {
        let tip = change.map_or_else(|| self.api.tip(), |change| change.tip);
        if let (Some(sent), Some(tip)) = (self.tip, tip)
            && sent != tip.header
        {
            self.tip = Some(tip.header);
            self.output.notification("blockchain.headers.subscribe", &[HeaderRow::from(tip)]).await?;
        }
        let touched: Vec<ScriptHash> = match change.map(|change| &change.touched) {
            None | Some(Touched::All) => self.scripts.keys().copied().collect(),
            Some(Touched::Scripts(touched)) if touched.len() < self.scripts.len() => {
                touched.iter().filter(|script| self.scripts.contains_key(*script)).copied().collect()
            }
            Some(Touched::Scripts(touched)) => {
                self.scripts.keys().filter(|script| touched.contains(*script)).copied().collect()
            }
        };
        if !touched.is_empty() && !self.api.may_go_on().await {
            return Err(End::Gone);
        }
        let mut left = touched.as_slice();
        while !left.is_empty() {
            let questions = left.iter().take(TOGETHER_MAX);
            let questions =
                questions.map(|script| ScriptQuestion { script: *script, wanted: Wanted::Status }).collect();
            let (answers, held) = self.api.scripts(questions).await;
            let Some((answered, rest)) = left.split_at_checked(answers.len().max(1)) else { break };
            for (script, answer) in answered.iter().zip(answers) {
                match answer {
                    Ok(ScriptAnswer::Status(status)) => self.notify_status(*script, status).await?,
                    // A subscription that cannot be updated ends the session: the client reconnects and queries again.
                    Ok(_) | Err(_) => return Err(End::Gone),
                }
            }
            drop(held);
            left = rest;
        }
        self.output.flush().await?;
        Ok(())
    }

    async fn notify_status(&mut self, script: ScriptHash, status: Option<Status>) -> Result<(), Gone> {
        let Some(sent) = self.scripts.get_mut(&script) else { return Ok(()) };
        let now = mark(status);
        if std::mem::replace(sent, now) == now {
            return Ok(());
        }
        self.output.notification("blockchain.scripthash.subscribe", &(script, status)).await
    }
}

fn question(item: &Item<'_>) -> Option<ScriptQuestion> {
    let (script, wanted) = item.call.as_ref().ok()?.script()?;
    Some(ScriptQuestion { script, wanted })
}

/// The newest block as clients see it.
#[derive(Serialize)]
pub(super) struct HeaderRow {
    hex: String,
    height: u32,
}

impl From<Tip> for HeaderRow {
    fn from(tip: Tip) -> Self {
        use bitcoin::hex::DisplayHex as _;
        Self { hex: tip.header.to_lower_hex_string(), height: tip.height }
    }
}

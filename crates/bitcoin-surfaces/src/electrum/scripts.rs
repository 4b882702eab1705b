//! Histories, balances and unspent outputs: confirmed ones from the index, unconfirmed ones from the live set.

use std::collections::HashSet;
use std::sync::Arc;

use bitcoin::{OutPoint, Txid};
use paraffin_bitcoin_index::{BitcoinIndex, ReadError, ScriptKey, WholeHistories};
use paraffin_electrum::{
    Balance, Confirmed, Fault, History, ScriptAnswer, ScriptAnswers, ScriptQuestion, Unconfirmed, Unspent, Wanted,
};
use paraffin_mempool::{Entry, Mempool, ScriptHash};

use super::{SessionApi, abandoned, unreadable};
use paraffin_gateway::interrupt::Interrupt;

/// Unconfirmed transactions of one script.
const UNCONFIRMED_MAX: usize = 25_000;
/// Transactions after which a read answers no further question; the session repeats the others after these have been sent.
const TOGETHER_MAX: usize = 20_000;
/// Unconfirmed transactions and their parents after which a read takes no further question.
const PENDING_TOGETHER_MAX: usize = 2_000;
/// Approximate memory of an unspent output while it is read, bytes.
const UNSPENT_BYTES: usize = 200;

/// The unconfirmed transactions of a script, and which of the transactions that they spend from are unconfirmed, too.
struct Pending {
    entries: Vec<Arc<Entry>>,
    parents: HashSet<Txid>,
}

impl Pending {
    fn of(mempool: &Mempool, script: &ScriptHash) -> Self {
        mempool.read(|mempool| {
            let mut entries = mempool.of_script(script, UNCONFIRMED_MAX);
            entries.retain(|entry| !entry.provisional);
            let inputs = entries.iter().flat_map(|entry| entry.inputs.iter().map(|input| input.txid));
            let parents = inputs.filter(|txid| mempool.contains(txid)).collect();
            Self { entries, parents }
        })
    }

    /// Removes transactions that are confirmed in the index and still in the mempool.
    fn without_confirmed(mut self, index: &BitcoinIndex) -> Result<Self, ReadError> {
        let mut confirmed = HashSet::new();
        for txid in self.entries.iter().map(|entry| entry.txid).chain(self.parents.iter().copied()) {
            if index.transaction_location(&txid)?.is_some() {
                confirmed.insert(txid);
            }
        }
        self.entries.retain(|entry| !confirmed.contains(&entry.txid));
        self.parents.retain(|txid| !confirmed.contains(txid));
        Ok(self)
    }

    fn rows(&self) -> Vec<Unconfirmed> {
        let mut rows: Vec<Unconfirmed> = self
            .entries
            .iter()
            .map(|entry| Unconfirmed {
                txid: entry.txid,
                has_unconfirmed_inputs: entry.inputs.iter().any(|input| self.parents.contains(&input.txid)),
                fee: entry.fee.unwrap_or(0),
            })
            .collect();
        Unconfirmed::sort(&mut rows);
        rows
    }

    /// Outputs that the unconfirmed transactions spend.
    fn spent(&self) -> HashSet<OutPoint> {
        self.entries.iter().flat_map(|entry| entry.inputs.iter().copied()).collect()
    }
}

pub(super) async fn answer(session: &SessionApi, questions: Vec<ScriptQuestion>) -> ScriptAnswers {
    let context = session.context();
    // The mempool first: a transaction that is mined meanwhile is then in both and listed once, not in neither.
    let mempool = &session.instance.mempool;
    let mut batch: Vec<(ScriptQuestion, Pending)> = Vec::new();
    let mut unconfirmed = 0;
    for question in questions {
        let pending = Pending::of(mempool, &ScriptHash(question.script.0));
        unconfirmed += pending.entries.len() + pending.parents.len();
        batch.push((question, pending));
        // The session repeats the others: rows before a read are not counted yet.
        if unconfirmed > PENDING_TOGETHER_MAX {
            break;
        }
    }
    let (network, history_max) = (context.network(), session.instance.history_max);
    let read = context.read_rows(move |snapshot, interrupt| {
        let index = BitcoinIndex::new(snapshot.clone(), network);
        let mut histories = index.whole_histories();
        let mut answers = Vec::with_capacity(batch.len());
        let mut transactions = 0;
        for (question, pending) in batch {
            let answer = answer_one(&index, &mut histories, question, pending, history_max, interrupt);
            transactions += match &answer {
                Ok(ScriptAnswer::History(history)) => history.confirmed.len(),
                Ok(ScriptAnswer::Unspent(unspent)) => unspent.len(),
                _ => 0,
            };
            answers.push(answer);
            if transactions > TOGETHER_MAX || interrupt.is_over() {
                break;
            }
        }
        answers
    });
    match read.await {
        Ok((answers, rows)) => (answers, Box::new(rows)),
        Err(error) => (vec![Err(abandoned(&context, error))], Box::new(())),
    }
}

fn answer_one(
    index: &BitcoinIndex,
    histories: &mut WholeHistories<'_>,
    question: ScriptQuestion,
    pending: Pending,
    history_max: usize,
    interrupt: &Interrupt,
) -> Result<ScriptAnswer, Fault> {
    let key = ScriptKey::from_digest(question.script.0);
    let pending = if pending.entries.is_empty() {
        pending
    } else {
        pending.without_confirmed(index).map_err(|error| unreadable(&error))?
    };
    match question.wanted {
        Wanted::Mempool => Ok(ScriptAnswer::Mempool(pending.rows())),
        Wanted::History => history(histories, &key, &pending, history_max, interrupt).map(ScriptAnswer::History),
        Wanted::Status => history(histories, &key, &pending, history_max, interrupt)
            .map(|history| ScriptAnswer::Status(history.status())),
        Wanted::Balance => balance(index, &key, question, &pending).map(ScriptAnswer::Balance),
        Wanted::Unspent => unspent(index, &key, question, &pending, history_max, interrupt).map(ScriptAnswer::Unspent),
    }
}

fn history(
    histories: &mut WholeHistories<'_>,
    key: &ScriptKey,
    pending: &Pending,
    history_max: usize,
    interrupt: &Interrupt,
) -> Result<History, Fault> {
    let confirmed = histories.of(key, history_max, |bytes| interrupt.keep(bytes));
    let confirmed = confirmed.map_err(|error| unreadable(&error))?.ok_or(Fault::HistoryTooLarge)?;
    let unconfirmed = pending.rows();
    if confirmed.len() + unconfirmed.len() > history_max {
        return Err(Fault::HistoryTooLarge);
    }
    let confirmed = confirmed.into_iter().map(|entry| Confirmed { txid: entry.txid, height: entry.height }).collect();
    Ok(History { confirmed, unconfirmed })
}

fn balance(
    index: &BitcoinIndex,
    key: &ScriptKey,
    question: ScriptQuestion,
    pending: &Pending,
) -> Result<Balance, Fault> {
    let totals = index.script_totals(key).map_err(|error| unreadable(&error))?;
    let (mut received, mut sent) = (0_i128, 0_i128);
    for entry in &pending.entries {
        let ours = entry.outputs.iter().filter(|output| output.script.0 == question.script.0);
        received += ours.map(|output| i128::from(output.value)).sum::<i128>();
        let spent = entry.prevouts.iter().flatten();
        let ours = spent.filter(|output| ScriptHash::of(&output.script_pubkey).0 == question.script.0);
        sent += ours.map(|output| i128::from(output.value.to_sat())).sum::<i128>();
    }
    Ok(Balance {
        confirmed: totals.funded_txo_sum.saturating_sub(totals.spent_txo_sum),
        unconfirmed: i64::try_from(received - sent).unwrap_or_default(),
    })
}

fn unspent(
    index: &BitcoinIndex,
    key: &ScriptKey,
    question: ScriptQuestion,
    pending: &Pending,
    unspent_max: usize,
    interrupt: &Interrupt,
) -> Result<Vec<Unspent>, Fault> {
    let totals = index.script_totals(key).map_err(|error| unreadable(&error))?;
    let count = totals.funded_txo_count.saturating_sub(totals.spent_txo_count);
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if count > unspent_max {
        return Err(Fault::HistoryTooLarge);
    }
    if !interrupt.keep(count.saturating_mul(UNSPENT_BYTES)) {
        return Err(Fault::Busy);
    }
    let mut confirmed = index.unspent(key, None, None).map_err(|error| unreadable(&error))?;
    // The index has the newest first.
    confirmed.reverse();
    let spent = pending.spent();
    let mut unspent: Vec<Unspent> = confirmed
        .iter()
        .filter(|output| !spent.contains(&output.outpoint))
        .map(|output| {
            let OutPoint { txid, vout } = output.outpoint;
            Unspent { txid, vout, height: output.confirmation.height, value: output.value }
        })
        .collect();
    for row in pending.rows() {
        let Some(entry) = pending.entries.iter().find(|entry| entry.txid == row.txid) else { continue };
        for (vout, output) in (0..).zip(entry.outputs.iter()) {
            if output.script.0 == question.script.0 && !spent.contains(&OutPoint { txid: entry.txid, vout }) {
                unspent.push(Unspent { txid: entry.txid, vout, height: 0, value: output.value });
            }
        }
    }
    Ok(unspent)
}

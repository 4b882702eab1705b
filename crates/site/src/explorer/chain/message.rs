//! The messages of a transaction, each with its trace.

use serde_json::json;

use super::calls::{Event, Tree};
use super::contracts::Contracts;
use super::stones::Stone;
use super::trace::{Line, lines};
use crate::api::Call;
use crate::explorer::{Part, Reader, text};
use crate::failure::Failure;
use crate::html::grouped;

/// Messages whose traces one page shows.
pub(super) const MESSAGES_SHOWN: usize = 2;

/// A message for contracts.
pub(super) struct Message {
    /// Number of its protostone, from 1.
    pub(super) number: String,
    pub(super) vout: String,
    pub(super) target: String,
    pub(super) name: String,
    pub(super) operation: String,
    /// `success`, `revert` or `unknown`; empty without a trace.
    pub(super) status: String,
    pub(super) is_success: bool,
    pub(super) calls: String,
    pub(super) lines: Vec<Line>,
    /// Sentence that replaces the trace.
    pub(super) sentence: String,
}

/// The messages of a transaction from `first` on, as many as a page shows.
pub(super) async fn messages(
    txid: &str,
    stones: &[Stone],
    first: usize,
    is_confirmed: bool,
    reader: &Reader,
) -> Result<Vec<Message>, Failure> {
    let shown: Vec<&Stone> = stones.iter().filter(|stone| stone.is_run).skip(first).take(MESSAGES_SHOWN).collect();
    let mut traces: Vec<Part<Tree>> = Vec::new();
    for stone in &shown {
        if is_confirmed {
            let params = json!([{ "txid": txid, "vout": stone.vout }]);
            traces.push(reader.part::<Vec<Event>>(Call::rpc("alkanes_trace", params)).await?.map(Tree::of));
        } else {
            traces.push(Err("The message is run when a block holds the transaction.".to_owned()));
        }
    }
    let trees: Vec<&Tree> = traces.iter().filter_map(|trace| trace.as_ref().ok()).collect();
    let contracts = Contracts::of(&trees, reader).await?;
    Ok(shown.iter().zip(&traces).map(|(stone, trace)| Message::of(stone, trace, &contracts)).collect())
}

impl Message {
    fn of(stone: &Stone, trace: &Part<Tree>, contracts: &Contracts) -> Self {
        let root = trace.as_ref().ok().and_then(|tree| tree.calls.first());
        let called = root.map(|call| call.invoke.context.myself.name());
        let opcode = root.and_then(|call| call.invoke.context.inputs.first());
        let name = called.as_deref().map(|id| contracts.name(id)).unwrap_or_default();
        let operation = called.as_deref().zip(opcode).map(|(id, opcode)| contracts.operation(id, opcode));
        let mut message = Self {
            number: stone.number.clone(),
            vout: stone.vout.to_string(),
            target: called.unwrap_or_else(|| stone.target.clone()),
            name,
            operation: operation.unwrap_or_default(),
            status: String::new(),
            is_success: false,
            calls: String::new(),
            lines: Vec::new(),
            sentence: String::new(),
        };
        match trace {
            Err(sentence) => sentence.clone_into(&mut message.sentence),
            Ok(tree) if tree.is_empty() && tree.roots.is_empty() => {
                "No contract was entered: the message is no call, the transaction is void, or it stands before the first block \
                 of contracts."
                    .clone_into(&mut message.sentence);
            }
            Ok(tree) => {
                message.status = text::clean(tree.outcome(), 20);
                message.is_success = tree.outcome() == "success";
                message.calls = grouped(i128::try_from(tree.calls.len()).unwrap_or_default());
                message.lines = lines(tree, &stone.number, contracts);
                if let Some(omitted) = &tree.omitted {
                    let ids: Vec<String> = omitted.contracts.iter().take(20).map(super::calls::Id::name).collect();
                    message.sentence = format!(
                        "The trace was too large to be kept: {} events of {} bytes. Contracts: {}{}.",
                        grouped(omitted.events),
                        grouped(omitted.bytes),
                        ids.join(", "),
                        if omitted.contracts.len() > ids.len() { " and more" } else { "" },
                    );
                }
            }
        }
        message
    }
}

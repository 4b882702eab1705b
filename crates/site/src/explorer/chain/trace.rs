//! A tree of calls as the lines of a page: bounded in number, depth and width.

use super::bytes::Bytes;
use super::calls::{CallNode, Child, Return, Stored, Transfer, Tree, integer};
use super::contracts::Contracts;
use super::stones::{inputs_text, left_out, to_i128};
use crate::explorer::text;
use crate::html::grouped;

/// Shown calls of a trace, and their depth.
const CALLS_SHOWN: usize = 200;
const DEPTH_SHOWN: usize = 24;
/// Depth below which calls are no longer indented, and from which they are collapsed.
const DEPTH_INDENTED: usize = 8;
const DEPTH_OPEN: usize = 3;
/// Calls below the open levels above which a trace is not fully expanded.
const CALLS_OPEN: usize = 40;
/// Amounts and stored values of one call.
const TRANSFERS_SHOWN: usize = 16;
const STORED_SHOWN: usize = 16;
/// Value that the engine reports for a message that used all of its fuel.
const ALL_FUEL: u64 = u64::MAX;

/// A line of a trace: calls open and close around what they contain.
pub(super) enum Line {
    /// A call begins.
    Open(Box<CallView>),
    /// The innermost open call ends.
    Close,
    /// A contract was created.
    Created(String),
    /// The host answers by itself: success, and data.
    Answer(bool, Bytes),
    /// A sentence about omitted lines.
    LeftOut(String),
}

/// A call.
pub(super) struct CallView {
    pub(super) id: String,
    pub(super) is_open: bool,
    pub(super) is_deep: bool,
    /// `call`, `delegatecall` or `staticcall`.
    pub(super) kind: String,
    pub(super) contract: String,
    pub(super) name: String,
    /// The contract whose code runs, if it differs.
    pub(super) implementation: String,
    /// The caller, or empty for the message.
    pub(super) caller: String,
    pub(super) opcode: String,
    pub(super) operation: String,
    /// Name and value.
    pub(super) named_inputs: Vec<(String, String)>,
    /// All inputs, the operation first.
    pub(super) inputs: String,
    pub(super) incoming: Vec<Moved>,
    pub(super) incoming_left_out: String,
    pub(super) outgoing: Vec<Moved>,
    pub(super) outgoing_left_out: String,
    pub(super) stored: Vec<(Bytes, Bytes)>,
    pub(super) stored_left_out: String,
    pub(super) fuel: String,
    pub(super) fuel_used: String,
    /// `success`, `revert` or `unknown`.
    pub(super) status: String,
    pub(super) is_success: bool,
    /// Return or revert data.
    pub(super) data: Bytes,
}

/// An amount of an alkane that moves with a call.
pub(super) struct Moved {
    pub(super) id: String,
    pub(super) symbol: String,
    pub(super) amount: String,
}

impl Moved {
    fn of(transfer: &Transfer, contracts: &Contracts) -> Self {
        let id = transfer.id.name();
        Self { amount: contracts.amount(&id, &transfer.value), symbol: contracts.symbol(&id), id }
    }
}

/// Pending work of the traversal of a tree.
enum Step<'t> {
    Child(&'t Child, usize),
    Close,
}

/// The lines of a trace. `message` makes the ids of its calls unique on the page.
pub(super) fn lines(tree: &Tree, message: &str, contracts: &Contracts) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut steps: Vec<Step<'_>> = tree.roots.iter().rev().map(|child| Step::Child(child, 0)).collect();
    let (mut shown, mut skipped) = (0_usize, 0_usize);
    while let Some(step) = steps.pop() {
        match step {
            Step::Close => lines.push(Line::Close),
            Step::Child(..) if lines.len() >= 4 * CALLS_SHOWN => skipped += 1,
            Step::Child(Child::Created(id), _) => lines.push(Line::Created(id.name())),
            Step::Child(Child::Answer(end), _) => lines.push(Line::Answer(end.is_success(), data(end))),
            Step::Child(Child::Call(index), depth) => {
                let Some(call) = tree.calls.get(*index) else { continue };
                if shown == CALLS_SHOWN {
                    skipped += 1 + call.below;
                    continue;
                }
                shown += 1;
                let is_open = depth < DEPTH_OPEN || tree.calls.len() <= CALLS_OPEN;
                let id = format!("call-{message}-{index}");
                lines.push(Line::Open(Box::new(CallView { is_open, ..CallView::of(call, id, depth, contracts) })));
                steps.push(Step::Close);
                if depth + 1 == DEPTH_SHOWN && call.below > 0 {
                    let calls = grouped(to_i128(call.below));
                    lines.push(Line::LeftOut(format!("{calls} deeper calls are left out.")));
                } else {
                    steps.extend(call.children.iter().rev().map(|child| Step::Child(child, depth + 1)));
                }
            }
        }
    }
    if skipped > 0 {
        lines.push(Line::LeftOut(format!("{} more steps are left out.", grouped(to_i128(skipped)))));
    }
    lines
}

fn data(end: &Return) -> Bytes {
    if end.is_success() { Bytes::of(&end.response.data) } else { Bytes::of_revert(&end.response.data) }
}

impl CallView {
    fn of(call: &CallNode, id: String, depth: usize, contracts: &Contracts) -> Self {
        let context = &call.invoke.context;
        let contract = context.myself.name();
        let caller = context.caller.name();
        let opcode = context.inputs.first().map(|digits| integer(digits)).unwrap_or_default();
        let end = call.end.as_ref();
        let outgoing = end.map_or(&[][..], |end| &end.response.alkanes);
        let stored = end.map_or(&[][..], |end| &end.response.storage);
        let inputs: Vec<u128> = context.inputs.iter().filter_map(|digits| digits.parse().ok()).collect();
        let delegates = call.invoke.kind == "delegatecall";
        Self {
            id,
            is_open: false,
            is_deep: depth > DEPTH_INDENTED,
            kind: text::clean(&call.invoke.kind, 20),
            name: contracts.name(&contract),
            implementation: if delegates { contracts.implementation(&contract) } else { String::new() },
            operation: contracts.operation(&contract, &opcode),
            named_inputs: contracts.named_inputs(&contract, &context.inputs),
            contract,
            caller: if caller == "0:0" { String::new() } else { caller },
            opcode,
            inputs: inputs_text(&inputs),
            incoming: moved(&context.incoming_alkanes, contracts),
            incoming_left_out: left_out(context.incoming_alkanes.len(), TRANSFERS_SHOWN, "amounts"),
            outgoing: moved(outgoing, contracts),
            outgoing_left_out: left_out(outgoing.len(), TRANSFERS_SHOWN, "amounts"),
            stored: stored.iter().take(STORED_SHOWN).map(stored_value).collect(),
            stored_left_out: left_out(stored.len(), STORED_SHOWN, "values"),
            fuel: grouped(call.invoke.fuel),
            fuel_used: match end {
                None => "—".to_owned(),
                Some(end) if end.fuel_used == ALL_FUEL => "all".to_owned(),
                Some(end) => grouped(end.fuel_used),
            },
            status: end.map_or_else(|| "unknown".to_owned(), |end| text::clean(&end.status, 20)),
            is_success: end.is_some_and(Return::is_success),
            data: end.map(data).unwrap_or_default(),
        }
    }
}

fn moved(transfers: &[Transfer], contracts: &Contracts) -> Vec<Moved> {
    transfers.iter().take(TRANSFERS_SHOWN).map(|transfer| Moved::of(transfer, contracts)).collect()
}

fn stored_value(stored: &Stored) -> (Bytes, Bytes) {
    (Bytes { text: text::clean(&stored.key, 200), ..Bytes::default() }, Bytes::of(&stored.value))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::calls::tests::{end, invoke, tree};
    use super::*;

    fn opened(lines: &[Line]) -> Vec<&CallView> {
        lines.iter().filter_map(|line| if let Line::Open(call) = line { Some(&**call) } else { None }).collect()
    }

    fn sentences(lines: &[Line]) -> Vec<&str> {
        lines.iter().filter_map(|line| if let Line::LeftOut(text) = line { Some(&**text) } else { None }).collect()
    }

    fn balanced(lines: &[Line]) -> bool {
        let closed = lines.iter().filter(|line| matches!(line, Line::Close)).count();
        closed == opened(lines).len()
    }

    #[test]
    fn deep_traces_are_bounded() {
        let mut events: Vec<Value> = (0..1_000).map(|_| invoke("call", "1", 9)).collect();
        events.extend((0..1_000).map(|_| end("success", 1, "0x")));
        let lines = lines(&tree(&events), "0", &Contracts::default());
        assert!(balanced(&lines));
        assert_eq!(opened(&lines).len(), DEPTH_SHOWN);
        assert_eq!(sentences(&lines), ["976 deeper calls are left out."]);
        assert!(opened(&lines)[2].is_open && !opened(&lines)[3].is_open && opened(&lines)[9].is_deep);
    }

    #[test]
    fn wide_traces_are_bounded() {
        let mut events = vec![invoke("call", "1", 9)];
        for _ in 0..5_000 {
            events.extend([invoke("staticcall", "2", 9), end("success", 1, "0x")]);
        }
        events.push(end("success", 2, "0x"));
        let lines = lines(&tree(&events), "0", &Contracts::default());
        assert!(balanced(&lines));
        assert_eq!((opened(&lines).len(), sentences(&lines)), (CALLS_SHOWN, vec!["4,801 more steps are left out."]));
        let mut answers = vec![invoke("call", "1", 9)];
        answers.extend((0..5_000).map(|_| end("success", 0, "0x")));
        answers.push(end("success", 2, "0x"));
        assert!(super::lines(&tree(&answers), "0", &Contracts::default()).len() < 5 * CALLS_SHOWN);
    }

    #[test]
    fn a_call_has_what_it_moved_stored_and_answered() {
        let mut begin = invoke("call", "1", 3_500_000);
        begin["data"]["context"]["inputs"] = json!(["77", "<b>", "5"]);
        begin["data"]["context"]["incomingAlkanes"] = json!([{ "id": { "block": "2", "tx": "0" }, "value": "150" }]);
        let mut over = end("revert", u64::MAX, "0x08c379a0414c4b414e45533a20726576657274");
        over["data"]["response"]["storage"] =
            json!([{ "key": "/k\u{202e}", "value": "0x0200000000000000000000000000000000" }]);
        let lines = lines(&tree(&[begin, over]), "0", &Contracts::default());
        let call = opened(&lines)[0];
        assert_eq!((&*call.contract, &*call.opcode, &*call.inputs, &*call.caller), ("2:1", "77", "77, 5", ""));
        assert_eq!((&*call.incoming[0].amount, &*call.incoming[0].symbol), ("150 base units of", "2:0"));
        assert_eq!((&*call.data.text, &*call.fuel_used, call.is_success), ("ALKANES: revert", "all", false));
        assert_eq!((&*call.stored[0].0.text, &*call.stored[0].1.length), ("/k", "17"));
    }

    #[test]
    fn lists_of_a_call_are_bounded() {
        let mut begin = invoke("call", "1", 9);
        let transfer = json!({ "id": { "block": "2", "tx": "0" }, "value": "1" });
        begin["data"]["context"]["incomingAlkanes"] = Value::Array(vec![transfer; 1_000]);
        let mut over = end("success", 1, &format!("0x{}", "ab".repeat(100_000)));
        over["data"]["response"]["storage"] =
            Value::Array(vec![json!({ "key": "k".repeat(100_000), "value": "0x" }); 100]);
        let lines = lines(&tree(&[begin, over]), "0", &Contracts::default());
        let call = opened(&lines)[0];
        assert_eq!((call.incoming.len(), &*call.incoming_left_out), (16, "984 more amounts are left out."));
        assert_eq!((call.stored.len(), &*call.stored_left_out), (16, "84 more values are left out."));
        assert!(call.data.digits.len() < 600 && call.stored[0].0.text.len() < 300);
    }
}

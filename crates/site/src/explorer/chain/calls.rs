//! The events of a trace as a tree of calls.

use serde::Deserialize;

use crate::explorer::text;

/// An id in decimal digits.
#[derive(Deserialize, Clone)]
pub(super) struct Id {
    pub(super) block: String,
    pub(super) tx: String,
}

impl Id {
    /// `block:tx`, or a dash for an invalid id.
    pub(super) fn name(&self) -> String {
        match (self.block.parse::<u128>(), self.tx.parse::<u128>()) {
            (Ok(block), Ok(tx)) => format!("{block}:{tx}"),
            _ => "—".to_owned(),
        }
    }
}

/// An amount of an alkane.
#[derive(Deserialize)]
pub(super) struct Transfer {
    pub(super) id: Id,
    pub(super) value: String,
}

/// A value that a contract stores.
#[derive(Deserialize)]
pub(super) struct Stored {
    pub(super) key: String,
    pub(super) value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Context {
    pub(super) myself: Id,
    pub(super) caller: Id,
    pub(super) inputs: Vec<String>,
    pub(super) incoming_alkanes: Vec<Transfer>,
}

/// A contract is entered.
#[derive(Deserialize)]
pub(super) struct Invoke {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) context: Context,
    pub(super) fuel: u64,
}

#[derive(Deserialize)]
pub(super) struct Response {
    pub(super) alkanes: Vec<Transfer>,
    pub(super) storage: Vec<Stored>,
    pub(super) data: String,
}

/// A contract is left.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Return {
    pub(super) status: String,
    pub(super) response: Response,
    pub(super) fuel_used: u64,
}

impl Return {
    pub(super) fn is_success(&self) -> bool {
        self.status == "success"
    }
}

/// A trace that was too large to be stored.
#[derive(Deserialize)]
pub(super) struct Omitted {
    pub(super) status: String,
    pub(super) events: u64,
    pub(super) bytes: u64,
    pub(super) contracts: Vec<Id>,
}

/// A step of a trace as the API returns it.
#[derive(Deserialize)]
#[serde(tag = "event", content = "data", rename_all = "lowercase")]
pub(super) enum Event {
    Create(Id),
    Invoke(Invoke),
    Return(Return),
    Omitted(Omitted),
}

/// Events within a call, in their order.
pub(super) enum Child {
    /// The call with this index.
    Call(usize),
    /// A contract is created.
    Created(Id),
    /// The host answers by itself, or refuses a call before a contract is entered.
    Answer(Return),
}

/// A call and the events within it.
pub(super) struct CallNode {
    pub(super) invoke: Invoke,
    pub(super) children: Vec<Child>,
    /// Its end; `None` where the trace has none.
    pub(super) end: Option<Return>,
    /// Calls below it, at any depth.
    pub(super) below: usize,
}

/// The calls of a message.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) calls: Vec<CallNode>,
    /// Events outside of all calls, and the top-level calls.
    pub(super) roots: Vec<Child>,
    pub(super) omitted: Option<Omitted>,
}

impl Tree {
    /// Builds the tree from events. Answers of the host, and calls that failed before a contract was entered, have a return
    /// without an invocation and with fuel 0 (protocol B17); the last return is that of the message.
    pub(super) fn of(events: Vec<Event>) -> Self {
        let mut tree = Self::default();
        let mut open: Vec<usize> = Vec::new();
        let last = events.len().saturating_sub(1);
        for (index, event) in events.into_iter().enumerate() {
            match event {
                Event::Create(id) => tree.append(&open, Child::Created(id)),
                Event::Omitted(omitted) => tree.omitted = Some(omitted),
                Event::Invoke(invoke) => {
                    let index = tree.calls.len();
                    tree.append(&open, Child::Call(index));
                    for above in &open {
                        if let Some(call) = tree.calls.get_mut(*above) {
                            call.below += 1;
                        }
                    }
                    open.push(index);
                    tree.calls.push(CallNode { invoke, children: Vec::new(), end: None, below: 0 });
                }
                Event::Return(end) => {
                    let fuel = open.last().and_then(|top| tree.calls.get(*top)).map_or(0, |call| call.invoke.fuel);
                    let is_answer = index != last && (open.len() <= 1 || (end.fuel_used == 0 && fuel != 0));
                    let top = if is_answer { None } else { open.pop() };
                    match top.and_then(|top| tree.calls.get_mut(top)) {
                        Some(call) => call.end = Some(end),
                        None => tree.append(&open, Child::Answer(end)),
                    }
                }
            }
        }
        tree
    }

    fn append(&mut self, open: &[usize], child: Child) {
        match open.last().and_then(|top| self.calls.get_mut(*top)) {
            Some(call) => call.children.push(child),
            None => self.roots.push(child),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.omitted.is_none()
    }

    /// Status of the message.
    pub(super) fn outcome(&self) -> &str {
        if let Some(omitted) = &self.omitted {
            return &omitted.status;
        }
        let root = self.calls.first().and_then(|call| call.end.as_ref());
        root.map_or("unknown", |end| &end.status)
    }
}

/// A plain number of the chain, such as an opcode.
pub(super) fn integer(digits: &str) -> String {
    digits.parse::<u128>().map_or_else(|_| text::clean(digits, 40), |number| number.to_string())
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{Value, json};

    use super::*;

    pub(in super::super) fn invoke(kind: &str, tx: &str, fuel: u64) -> Value {
        json!({ "event": "invoke", "data": { "type": kind, "context": { "myself": { "block": "2", "tx": tx },
            "caller": { "block": "0", "tx": "0" }, "inputs": ["1"], "incomingAlkanes": [], "vout": 5 }, "fuel": fuel } })
    }

    pub(in super::super) fn end(status: &str, fuel: u64, data: &str) -> Value {
        json!({ "event": "return", "data": { "status": status, "fuelUsed": fuel,
            "response": { "alkanes": [], "storage": [], "data": data } } })
    }

    pub(in super::super) fn tree(events: &[Value]) -> Tree {
        Tree::of(events.iter().map(|event| serde_json::from_value(event.clone()).unwrap()).collect())
    }

    #[test]
    fn calls_nest() {
        let tree = tree(&[
            json!({ "event": "create", "data": { "block": "2", "tx": "9" } }),
            invoke("call", "1", 100),
            invoke("staticcall", "2", 90),
            end("success", 5, "0x02"),
            invoke("delegatecall", "3", 80),
            // The host answers, then the call ends.
            end("success", 0, "0x00"),
            end("revert", 7, "0x03"),
            end("success", 50, "0x01"),
        ]);
        let data = |index: usize| tree.calls[index].end.as_ref().map(|end| end.response.data.as_str());
        assert_eq!([data(0), data(1), data(2)], [Some("0x01"), Some("0x02"), Some("0x03")]);
        assert!(matches!(tree.roots[..], [Child::Created(_), Child::Call(0)]));
        assert!(matches!(tree.calls[0].children[..], [Child::Call(1), Child::Call(2)]));
        assert!(matches!(tree.calls[2].children[..], [Child::Answer(_)]));
        assert_eq!((tree.calls[0].below, tree.calls[2].below, tree.outcome()), (2, 0, "success"));
    }

    #[test]
    fn traces_without_their_ends_are_trees_as_well() {
        let open = tree(&[invoke("call", "1", 1), invoke("call", "2", 1)]);
        assert_eq!((open.calls.len(), open.outcome()), (2, "unknown"));
        let only_end = tree(&[end("revert", 0, "0x")]);
        assert!(only_end.is_empty() && matches!(only_end.roots[..], [Child::Answer(_)]));
        assert_eq!(tree(&[]).outcome(), "unknown");
        let omitted = tree(&[json!({ "event": "omitted", "data": { "status": "revert", "digest": "ab", "events": 9,
            "bytes": 1, "contracts": [] } })]);
        assert_eq!((omitted.outcome(), omitted.is_empty()), ("revert", false));
    }

    #[test]
    fn ids_that_are_none_are_no_links() {
        let id = |block: &str| Id { block: block.to_owned(), tx: "1".to_owned() }.name();
        assert_eq!((id("2"), id("<b>")), ("2:1".to_owned(), "—".to_owned()));
    }
}

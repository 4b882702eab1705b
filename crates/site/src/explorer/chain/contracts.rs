//! Names of contracts and of their operations on a page: only a few are looked up, so that a page makes few calls.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::json;

use super::bytes::contract_id;
use super::calls::{Child, Tree, integer};
use crate::api::Call;
use crate::explorer::{Reader, text};
use crate::failure::Failure;

/// Tokens and contracts that one page looks up.
const TOKENS_ASKED: usize = 3;
const MANIFESTS_ASKED: usize = 3;
const IMPLEMENTATIONS_ASKED: usize = 2;
/// Operation by which a proxy queries its beacon for the implementation.
const BEACON_IMPLEMENTATION: &str = "32765";
/// Candidate ids for these look-ups.
const IDS_MAX: usize = 32;
/// Most decimals of an amount: those of a byte.
const DECIMALS_MAX: u32 = 255;
/// Longest name that is shown, characters.
const NAME_MAX: usize = 60;

#[derive(Deserialize)]
struct TokenDetails {
    name: Option<String>,
    symbol: Option<String>,
    decimals: Option<u32>,
}

/// Names of a token.
#[derive(Default)]
pub(super) struct Token {
    pub(super) name: String,
    symbol: String,
    decimals: u32,
}

/// The manifest of a contract: its operations.
#[derive(Deserialize)]
struct Manifest {
    #[serde(default)]
    contract: String,
    #[serde(default)]
    methods: Vec<Method>,
}

#[derive(Deserialize)]
struct Method {
    #[serde(default)]
    name: String,
    /// Contracts write a number, or digits.
    opcode: serde_json::Value,
    #[serde(default)]
    params: Vec<Parameter>,
}

#[derive(Deserialize)]
struct Parameter {
    #[serde(default)]
    name: String,
    #[serde(default, rename = "type")]
    kind: String,
}

/// Names of the contracts on a page.
#[derive(Default)]
pub(super) struct Contracts {
    tokens: HashMap<String, Token>,
    manifests: HashMap<String, Manifest>,
    /// Implementations by their proxies.
    implementations: HashMap<String, String>,
}

impl Contracts {
    /// Looks up names of contracts and tokens in traces.
    pub(super) async fn of(trees: &[&Tree], reader: &Reader) -> Result<Self, Failure> {
        let mut contracts = Self::default();
        let calls = || trees.iter().flat_map(|tree| &tree.calls);
        let mut wanted = Vec::new();
        for call in calls() {
            let out = call.end.iter().flat_map(|end| &end.response.alkanes);
            for transfer in call.invoke.context.incoming_alkanes.iter().chain(out) {
                note(&mut wanted, transfer.id.name());
            }
        }
        let mut called = Vec::new();
        for call in calls() {
            note(&mut called, call.invoke.context.myself.name());
        }
        for id in called.iter().cloned() {
            note(&mut wanted, id);
        }
        for id in wanted.into_iter().take(TOKENS_ASKED) {
            let answer =
                reader.part::<TokenDetails>(Call::rest("get-alkane-details", &json!({ "alkaneId": id }))).await?;
            if let Ok(details) = answer {
                contracts.tokens.insert(id, Token::of(details));
            }
        }
        for id in called.iter().take(MANIFESTS_ASKED) {
            contracts.ask_manifest(id, reader).await?;
        }
        contracts.ask_implementations(trees, reader).await?;
        Ok(contracts)
    }

    async fn ask_manifest(&mut self, id: &str, reader: &Reader) -> Result<(), Failure> {
        if !self.manifests.contains_key(id)
            && let Ok(manifest) = reader.part::<Manifest>(Call::rpc("alkanes_meta", json!([id]))).await?
        {
            self.manifests.insert(id.to_owned(), manifest);
        }
        Ok(())
    }

    /// A proxy runs the code of another contract in its own context: the one that its beacon returns, or that its storage names.
    async fn ask_implementations(&mut self, trees: &[&Tree], reader: &Reader) -> Result<(), Failure> {
        let mut proxies: Vec<(String, Option<String>)> = Vec::new();
        for call in trees.iter().flat_map(|tree| &tree.calls) {
            let id = call.invoke.context.myself.name();
            let opcode = call.invoke.context.inputs.first().map_or("", String::as_str);
            if call.invoke.kind == "delegatecall"
                && self.method(&id, opcode).is_none()
                && !proxies.iter().any(|(proxy, _)| *proxy == id)
            {
                proxies.push((id.clone(), beacon_answer(trees, &id)));
            }
        }
        for (proxy, answered) in proxies.into_iter().take(IMPLEMENTATIONS_ASKED) {
            let implementation = match answered {
                Some(implementation) => Some(implementation),
                None => {
                    let params = json!([{ "id": proxy, "path": "/implementation" }]);
                    let stored = reader.part::<String>(Call::rpc("alkanes_getstorageat", params)).await?;
                    stored.ok().as_deref().and_then(contract_id)
                }
            };
            if let Some(implementation) = implementation {
                self.ask_manifest(&implementation, reader).await?;
                self.implementations.insert(proxy, implementation);
            }
        }
        Ok(())
    }

    /// Name of a contract, or empty: of its token, else of its manifest.
    pub(super) fn name(&self, id: &str) -> String {
        let token = self.tokens.get(id).map(|token| token.name.as_str()).filter(|name| !name.is_empty());
        let manifest = || self.manifests.get(id).map(|manifest| manifest.contract.as_str());
        text::clean(token.or_else(manifest).unwrap_or_default(), NAME_MAX)
    }

    /// The contract whose code a proxy runs, or empty.
    pub(super) fn implementation(&self, id: &str) -> String {
        self.implementations.get(id).cloned().unwrap_or_default()
    }

    /// An amount with its unit; in base units for an unknown token.
    pub(super) fn amount(&self, id: &str, digits: &str) -> String {
        match self.tokens.get(id) {
            Some(token) => text::amount_text(digits, token.decimals),
            None => format!("{} base units of", text::amount_text(digits, 0)),
        }
    }

    /// The symbol of a token, else its name, else its id.
    pub(super) fn symbol(&self, id: &str) -> String {
        let token = self.tokens.get(id);
        let named = token.map(|token| if token.symbol.is_empty() { &token.name } else { &token.symbol });
        named.filter(|name| !name.is_empty()).map_or_else(|| id.to_owned(), |name| text::clean(name, NAME_MAX))
    }

    fn method(&self, id: &str, opcode: &str) -> Option<&Method> {
        let opcode = integer(opcode);
        let is_it = |method: &&Method| match &method.opcode {
            serde_json::Value::String(digits) => integer(digits) == opcode,
            number => integer(&number.to_string()) == opcode,
        };
        let of = |id: &str| self.manifests.get(id)?.methods.iter().find(is_it);
        of(id).or_else(|| of(self.implementations.get(id)?))
    }

    /// The name of an operation, or empty.
    pub(super) fn operation(&self, id: &str, opcode: &str) -> String {
        self.method(id, opcode).map(|method| text::clean(&method.name, NAME_MAX)).unwrap_or_default()
    }

    /// The inputs after the operation with their names, where all of them are numbers and ids.
    pub(super) fn named_inputs(&self, id: &str, inputs: &[String]) -> Vec<(String, String)> {
        let Some((opcode, inputs)) = inputs.split_first() else { return Vec::new() };
        let Some(method) = self.method(id, opcode) else { return Vec::new() };
        let mut inputs = inputs.iter().map(|input| integer(input));
        let mut named = Vec::new();
        for parameter in &method.params {
            let value = match parameter.kind.as_str() {
                "AlkaneId" => inputs.next().zip(inputs.next()).map(|(block, tx)| format!("{block}:{tx}")),
                "u128" | "u64" | "u32" | "u8" | "bool" => inputs.next(),
                _ => None,
            };
            let Some(value) = value else { break };
            named.push((text::clean(&parameter.name, NAME_MAX), value));
        }
        named
    }
}

impl Token {
    fn of(details: TokenDetails) -> Self {
        Self {
            name: text::clean(&details.name.unwrap_or_default(), NAME_MAX),
            symbol: text::clean(&details.symbol.unwrap_or_default(), NAME_MAX),
            decimals: details.decimals.unwrap_or(8).min(DECIMALS_MAX),
        }
    }
}

/// Appends an id that is not listed yet.
fn note(ids: &mut Vec<String>, id: String) {
    if id != "—" && ids.len() < IDS_MAX && !ids.contains(&id) {
        ids.push(id);
    }
}

/// The answer of a proxy's beacon in a trace.
fn beacon_answer(trees: &[&Tree], proxy: &str) -> Option<String> {
    trees.iter().find_map(|tree| {
        let calls = tree.calls.iter().filter(|call| call.invoke.context.myself.name() == proxy);
        let below = calls.flat_map(|call| &call.children).filter_map(|child| match child {
            Child::Call(index) => tree.calls.get(*index),
            Child::Created(_) | Child::Answer(_) => None,
        });
        let mut queries = below.filter(|call| {
            call.invoke.kind == "staticcall"
                && call.invoke.context.inputs.first().is_some_and(|opcode| opcode == BEACON_IMPLEMENTATION)
        });
        contract_id(&queries.find_map(|call| call.end.as_ref())?.response.data)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::calls::tests::{end, invoke, tree};
    use super::*;

    fn contracts(manifest: Value) -> Contracts {
        let mut contracts = Contracts::default();
        contracts.manifests.insert("2:1".to_owned(), serde_json::from_value(manifest).unwrap());
        contracts
    }

    #[test]
    fn operations_and_inputs_have_their_names() {
        let contracts = contracts(json!({ "contract": "Pool\u{202e}", "methods": [
            { "name": "swap", "opcode": 3, "params": [{ "name": "out", "type": "u128" }, { "name": "to", "type": "AlkaneId" },
              { "name": "data", "type": "Vec<u128>" }] },
            { "name": "digits", "opcode": "4" }] }));
        let inputs = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        assert_eq!(contracts.name("2:1"), "Pool");
        assert_eq!(contracts.operation("2:1", "3"), "swap");
        assert_eq!(contracts.operation("2:1", "4"), "digits");
        assert_eq!(contracts.operation("2:2", "3"), "");
        let named = contracts.named_inputs("2:1", &inputs(&["3", "7", "2", "0", "9"]));
        assert_eq!(named, [("out".to_owned(), "7".to_owned()), ("to".to_owned(), "2:0".to_owned())]);
        assert_eq!(contracts.named_inputs("2:1", &inputs(&["3", "7", "2"])).len(), 1);
        assert!(contracts.named_inputs("2:1", &[]).is_empty());
    }

    #[test]
    fn amounts_of_unknown_tokens_are_base_units() {
        let mut contracts = Contracts::default();
        let details = |decimals| TokenDetails { name: Some("A".to_owned()), symbol: None, decimals };
        contracts.tokens.insert("2:0".to_owned(), Token::of(details(None)));
        contracts.tokens.insert("2:9".to_owned(), Token::of(details(Some(u32::MAX))));
        assert_eq!((contracts.amount("2:0", "150000000"), contracts.symbol("2:0")), ("1.5".to_owned(), "A".to_owned()));
        assert_eq!(contracts.amount("2:1", "1500"), "1,500 base units of");
        assert!(contracts.amount("2:9", &u128::MAX.to_string()).len() < 300);
        assert_eq!(contracts.amount("2:0", "<b>"), "—");
    }

    #[test]
    fn the_implementation_is_the_answer_of_the_beacon() {
        let mut beacon = invoke("staticcall", "7", 5);
        beacon["data"]["context"]["inputs"] = json!(["32765"]);
        let implementation = format!("0x04{}c0ea0b{}", "00".repeat(15), "00".repeat(13));
        let tree = tree(&[invoke("call", "1", 9), beacon, end("success", 1, &implementation), end("success", 2, "0x")]);
        assert_eq!(beacon_answer(&[&tree], "2:1").as_deref(), Some("4:780992"));
        assert_eq!(beacon_answer(&[&tree], "2:7"), None);
    }
}

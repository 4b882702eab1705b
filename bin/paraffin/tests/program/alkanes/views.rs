//! Every view, at the newest block and at an older one, in hexadecimal against its JSON form.

use serde_json::{Value, json};

use crate::support::dev::Dev;
use crate::support::protobuf::{Fields, Message, hex, unhex};

/// A height at which the founding has begun and is not over: answers differ from those of the newest block.
const OLD: u64 = 104;

/// Varints of 128 bits, as a message to a contract has them.
fn calldata(integers: &[u128]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for integer in integers {
        let mut left = *integer;
        while left >= 0x80 {
            bytes.push(left as u8 | 0x80);
            left >>= 7;
        }
        bytes.push(left as u8);
    }
    bytes
}

fn parcel(height: u64, integers: &[u128]) -> Message {
    Message::new().number(4, height).bytes(5, &calldata(integers))
}

fn outpoint(txid: &str, vout: u64) -> Message {
    let mut internal = unhex(txid);
    internal.reverse();
    Message::new().bytes(1, &internal).number(2, vout)
}

/// What an output holds, entry by entry.
fn amounts(output: &Fields) -> Vec<u128> {
    output.inner(1).all(1).map(|item| Fields::read(&item).wide(2)).collect()
}

/// Whether a row is that of an output.
fn is_of(row: &Fields, txid: &str, vout: u64) -> bool {
    let mut internal = unhex(txid);
    internal.reverse();
    row.inner(2).bytes(1) == internal && row.inner(2).number(2) == vout
}

struct Asked<'a> {
    dev: &'a Dev,
    /// As a tag, and as a number.
    tag: Value,
    height: u64,
}

impl Asked<'_> {
    fn view(&self, name: &str, payload: &Message) -> Fields {
        Fields::of(&self.raw(name, payload))
    }

    fn raw(&self, name: &str, payload: &Message) -> String {
        let answer = self.dev.call("metashrew_view", json!([name, payload.hex(), self.tag]));
        // The other name of the same view.
        if !matches!(
            name,
            "trace" | "traceblock" | "protorunesbyaddress" | "spendablesbyaddress" | "protorunesbyheight"
        ) && ![
            "protorunesbyoutpoint",
            "simulate",
            "meta",
            "getbytecode",
            "getdeployment",
            "getstorageat",
            "sequence",
        ]
        .contains(&name)
            && !["alkanes_id_to_outpoint", "getinventory", "unwrap"].contains(&name)
        {
            let other = self.dev.call(&format!("alkanes_{name}"), json!([payload.hex(), self.tag]));
            assert_eq!(other, answer, "alkanes_{name}");
        }
        answer.as_str().unwrap().to_owned()
    }

    fn json(&self, method: &str, mut params: Vec<Value>) -> Value {
        params.push(self.tag.clone());
        self.dev.call(method, Value::Array(params))
    }

    fn all(&self) {
        self.calls();
        self.contracts();
        self.outputs();
        self.traces();
    }

    fn calls(&self) {
        for (target, opcode) in [("2:0", 99), ("2:0", 101), ("32:0", 100), ("2:0", 4711)] {
            let (block, tx) = target.split_once(':').unwrap();
            let asked = parcel(self.height, &[block.parse().unwrap(), tx.parse().unwrap(), opcode]);
            let answer = self.view("simulate", &asked);
            let response =
                self.json("alkanes_simulate", vec![json!({"target": target, "inputs": [opcode.to_string()]})]);
            assert_eq!(response["gasUsed"], answer.number(2), "{response}");
            assert_eq!(response["status"] == 0, answer.has(1), "{response}");
            if answer.has(1) {
                assert_eq!(response["execution"]["data"], hex(&answer.inner(1).bytes(3)));
            } else {
                assert_eq!(response["execution"]["error"].as_str().unwrap().as_bytes(), answer.bytes(3));
            }
            for name in ["multisimluate", "multisimulate"] {
                let many = Message::new().message(1, &asked).message(1, &asked);
                let answers = self.view(name, &many);
                assert_eq!(
                    answers.all(1).map(|each| Fields::read(&each).number(2)).collect::<Vec<_>>(),
                    [answer.number(2); 2]
                );
            }
        }
        let meta = self.raw("meta", &parcel(self.height, &[2, 0]));
        let response = self.json("alkanes_meta", vec![json!("2:0")]);
        assert_eq!(serde_json::from_slice::<Value>(&unhex(&meta)).unwrap(), response);
        assert_eq!(response["contract"], "GenesisToken");

        let block =
            unhex(self.dev.node("getblock", json!([self.dev.node("getblockhash", json!([OLD])), 0])).as_str().unwrap());
        let blocks = self.view("getblock", &Message::new().number(1, OLD));
        assert_eq!((blocks.bytes(1), blocks.number(2)), (block.clone(), OLD));
        let simulated = self.view("simulateblock", &Message::new().number(1, self.height).bytes(2, &block));
        assert!(simulated.all(3).count() > 0 && simulated.bytes(6).is_empty(), "{simulated:?}");

        let transaction = self.dev.node("getrawtransaction", json!([self.traced_outpoint()["txid"]]));
        let transaction = unhex(transaction.as_str().unwrap());
        let asked = Message::new().number(1, self.height).bytes(2, &transaction);
        let simulated = self.view("simulatetransaction", &asked);
        // Its contract is there already, so it leaves no trace; the runtime has a sheet all the same.
        assert!(simulated.bytes(8).is_empty() && simulated.all(4).count() > 1, "{simulated:?}");
        let refused = self.view("simulateprotostones", &Message::new().number(1, self.height));
        assert_eq!(refused.bytes(8), b"no protostones to simulate");
    }

    fn contracts(&self) {
        let sequence = unhex(&self.raw("sequence", &Message::new()));
        let number = u128::from_le_bytes(sequence.try_into().unwrap());
        assert_eq!(self.json("alkanes_sequence", vec![]), number.to_string());

        for (block, tx) in [(2, 0), (32, 0), (4, 65_522), (2, 1), (9, 9)] {
            let (id, text) = (Message::id(block, tx), format!("{block}:{tx}"));
            let asked = Message::new().message(1, &id);
            assert_eq!(self.raw("getbytecode", &asked), self.json("alkanes_getbytecode", vec![json!(text)]));

            let created = self.json("alkanes_getdeployment", vec![json!(text)]);
            for name in ["getdeployment", "alkanes_id_to_outpoint"] {
                let place = self.view(name, &asked);
                let txid = hex(&place.bytes(1)).replacen("0x", "", 1);
                assert_eq!(created["outpoint"]["txid"].as_str().unwrap_or_default(), txid, "{name} {text}");
                assert_eq!(created["outpoint"]["vout"].as_u64().unwrap_or_default(), place.number(2));
            }
            let inventory = self.view("getinventory", &asked);
            let response = self.json("alkanes_getinventory", vec![json!({"block": block, "tx": tx})]);
            let amounts: Vec<_> = inventory.all(1).map(|held| Fields::read(&held).wide(2).to_string()).collect();
            assert_eq!(
                response["alkanes"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|held| held["value"].as_str().unwrap())
                    .collect::<Vec<_>>(),
                amounts
            );
        }
        for (block, tx, path) in [(4, 65_522, "/all_pools_length"), (2, 0, "/totalsupply"), (2, 0, "/nothing")] {
            let asked = Message::new().message(1, &Message::id(block, tx)).bytes(2, path.as_bytes());
            let response =
                self.json("alkanes_getstorageat", vec![json!({"id": format!("{block}:{tx}"), "path": path})]);
            assert_eq!(response, hex(&self.view("getstorageat", &asked).bytes(1)), "{path}");
        }
        let pending = self.view("unwrap", &Message::new());
        let response = self.json("alkanes_unwrap", vec![]);
        assert_eq!(response["payments"].as_array().unwrap().len(), pending.all(1).count());
    }

    fn outputs(&self) {
        for account in 0..5 {
            let address = self.dev.text(&format!("/accounts/{account}/address")).to_owned();
            let tagged = Message::new().bytes(1, address.as_bytes()).message(2, &Message::wide(1));
            let response = self.json("alkanes_protorunesbyaddress", vec![json!({"address": address})]);
            let object =
                self.dev.call("metashrew_view", json!(["protorunesbyaddress", {"address": address}, self.tag]));
            assert_eq!(response, object);
            let answer = self.view("protorunesbyaddress", &tagged);
            self.same_outputs(&response, &answer);
            if self.height > OLD {
                assert!(
                    !response["outpoints"].as_array().unwrap().is_empty(),
                    "account {account} holds the token of the founding"
                );
            }
            let response =
                self.dev.call("metashrew_view", json!(["spendablesbyaddress", {"address": address}, self.tag]));
            self.same_outputs(&response, &self.view("spendablesbyaddress", &tagged));
            let list = self.dev.call("spendablesbyaddress", json!([address, self.tag]));
            assert_eq!(list["outpoints"].as_array().unwrap().len(), response["outpoints"].as_array().unwrap().len());
            for name in ["alkanes_spendablesbyaddress", "spendablesbyaddress"] {
                assert_eq!(self.dev.call(name, json!([{"address": address}, self.tag])), list);
            }
            let runes = self.view("runesbyaddress", &Message::new().bytes(1, address.as_bytes()));
            assert_eq!(
                runes.all(1).count(),
                response["outpoints"].as_array().unwrap().len(),
                "all outputs are returned"
            );
            let base_runes: Vec<Fields> = runes.all(1).map(|row| Fields::read(&row)).collect();
            let held = base_runes.iter().flat_map(amounts).sum::<u128>();
            assert_eq!(held, self.base_runes(&address), "account {account}, height {}", self.height);

            for entry in response["outpoints"].as_array().unwrap().iter().take(3) {
                let (txid, vout) =
                    (entry["outpoint"]["txid"].as_str().unwrap(), entry["outpoint"]["vout"].as_u64().unwrap());
                let held = self.view("protorunesbyoutpoint", &outpoint(txid, vout).message(3, &Message::wide(1)));
                let response = self
                    .dev
                    .call("metashrew_view", json!(["protorunesbyoutpoint", {"txid": txid, "vout": vout}, self.tag]));
                assert_eq!(response["value"].as_u64().unwrap(), held.inner(3).number(2));
                assert_eq!(response["runes"].as_array().unwrap().len(), amounts(&held).len());
                let runes = self.view("runesbyoutpoint", &outpoint(txid, vout));
                let listed = base_runes.iter().find(|row| is_of(row, txid, vout)).expect("all outputs are returned");
                assert_eq!(amounts(&runes), amounts(listed));
            }
        }
        let first_seen = Message::new().number(1, OLD).message(2, &Message::wide(1));
        let response = self.json("alkanes_protorunesbyheight", vec![json!({"height": OLD})]);
        assert_eq!(
            response["runes"].as_array().unwrap().len(),
            self.view("protorunesbyheight", &first_seen).all(1).count()
        );
        assert_eq!(self.raw("runesbyheight", &Message::new().number(1, OLD)), "0x");
        let rune = self.dev.call("metashrew_view", json!(["runebyid", {"block": 2, "tx": 0}, self.tag]));
        assert_eq!(rune["symbol"], "DIESEL");
    }

    /// Units of the rune of `dev` that an address holds, as the index of runes has it. It answers for the newest block alone; at
    /// the older one the rune is not there yet.
    fn base_runes(&self, address: &str) -> u128 {
        if self.height <= OLD {
            return 0;
        }
        let response = self.dev.call("ord_address", json!([address]));
        let balances = response["runes_balances"].as_array().unwrap().iter();
        balances
            .map(|balance| {
                // Two places, the last zeros left out.
                let (whole, part) =
                    balance[1].as_str().unwrap().split_once('.').unwrap_or((balance[1].as_str().unwrap(), ""));
                whole.parse::<u128>().unwrap() * 100 + format!("{part:0<2}").parse::<u128>().unwrap()
            })
            .sum()
    }

    fn same_outputs(&self, response: &Value, answer: &Fields) {
        let rows = response["outpoints"].as_array().unwrap();
        let mut written: Vec<_> = answer
            .all(1)
            .map(|row| {
                let row = Fields::read(&row);
                let mut txid = row.inner(2).bytes(1);
                txid.reverse();
                let held = amounts(&row);
                (hex(&txid).replacen("0x", "", 1), row.inner(2).number(2), row.inner(3).number(2), held)
            })
            .collect();
        let mut listed: Vec<_> = rows
            .iter()
            .map(|row| {
                let runes = row["runes"].as_array().unwrap().iter();
                let amounts = runes.map(|rune| rune["amount"].as_str().unwrap().parse().unwrap()).collect();
                let txid = row["outpoint"]["txid"].as_str().unwrap().to_owned();
                (txid, row["outpoint"]["vout"].as_u64().unwrap(), row["value"].as_u64().unwrap(), amounts)
            })
            .collect();
        written.sort();
        listed.sort();
        assert_eq!(written, listed, "height {}", self.height);
    }

    /// A message of the block at [`OLD`].
    fn traced_outpoint(&self) -> Value {
        let traced = self.dev.call("alkanes_traceblock", json!([OLD]));
        traced[0]["outpoint"].clone()
    }

    fn traces(&self) {
        let block = self.view("traceblock", &Message::new());
        let response = self.dev.call("alkanes_traceblock", json!([self.height]));
        assert_eq!(response.as_array().unwrap().len(), block.all(1).count());

        let place = self.traced_outpoint();
        let (txid, vout) = (place["txid"].as_str().unwrap(), place["vout"].as_u64().unwrap());
        let events = self.json("alkanes_trace", vec![place.clone()]);
        let written = self.view("trace", &outpoint(txid, vout));
        assert_eq!(events.as_array().unwrap().len(), written.all(1).count());
        assert!(written.all(1).count() >= 2, "{events}");
    }
}

/// row MR09
/// row MR10
/// row MR12
#[test]
fn every_view_says_the_same_in_hexadecimal_and_in_json_now_and_before() {
    let dev = Dev::start();
    let newest = dev.height();
    Asked { dev: &dev, tag: json!("latest"), height: newest }.all();
    Asked { dev: &dev, tag: json!(OLD), height: OLD }.all();
    Asked { dev: &dev, tag: json!(OLD.to_string()), height: OLD }.contracts();
    assert_ne!(
        dev.call("alkanes_sequence", json!(["latest"])),
        dev.call("alkanes_sequence", json!([OLD])),
        "the founding creates contracts after that block"
    );
    for method in ["metashrew_view", "metashrew_preview"] {
        let params = if method == "metashrew_view" {
            json!(["nothing", "0x", "latest"])
        } else {
            json!(["00", "nothing", "0x", "latest"])
        };
        assert_eq!(crate::support::http::call(dev.listen(), &dev.path(), method, params)["error"]["code"], -32601);
    }
    let above = json!(["sequence", "0x", newest + 1]);
    assert_eq!(crate::support::http::call(dev.listen(), &dev.path(), "metashrew_view", above)["error"]["code"], -32602);

    heights_and_hashes(&dev);
    previews(&dev);
    several_at_once(&dev);
}

fn heights_and_hashes(dev: &Dev) {
    assert_eq!(dev.call("metashrew_height", json!([])), dev.height().to_string());
    for height in [0, 1, OLD, dev.height()] {
        let hash = dev.node("getblockhash", json!([height]));
        assert_eq!(dev.call("metashrew_getblockhash", json!([height])), format!("0x{}", hash.as_str().unwrap()));
        assert_eq!(dev.call("metashrew_stateroot", json!([height])).as_str().unwrap().len(), 66);
    }
    assert_eq!(
        dev.call("metashrew_stateroot", json!(["latest"])),
        dev.call("metashrew_stateroot", json!([dev.height()]))
    );
    assert_ne!(dev.call("metashrew_stateroot", json!([OLD])), dev.call("metashrew_stateroot", json!([OLD + 1])));
    let response = dev.call("metashrew_snapshot", json!([]));
    assert_eq!(serde_json::from_str::<Value>(response.as_str().unwrap()).unwrap()["indexed_height"], dev.height());
}

/// A block of the chain, previewed on the one before it, answers as the chain does after it.
fn previews(dev: &Dev) {
    let views = [
        ("sequence", Message::new()),
        ("getinventory", Message::new().message(1, &Message::id(4, 65_522))),
        ("traceblock", Message::new()),
        ("getstorageat", Message::new().message(1, &Message::id(4, 65_522)).bytes(2, b"/all_pools_length")),
    ];
    for height in [OLD, 106, 109, dev.height()] {
        let block = dev.node("getblock", json!([dev.node("getblockhash", json!([height])), 0]));
        for (name, payload) in &views {
            let previewed = dev.call("metashrew_preview", json!([block, name, payload.hex(), height - 1]));
            let after = dev.call("metashrew_view", json!([name, payload.hex(), height]));
            assert_eq!(previewed, after, "{name} at {height}");
        }
    }
}

fn several_at_once(dev: &Dev) {
    let answers = dev.call(
        "sandshrew_multicall",
        json!([["metashrew_height", []], ["alkanes_sequence", []], ["metashrew_view", ["nothing", "0x", "latest"]]]),
    );
    assert_eq!(answers[0]["result"], dev.height().to_string());
    assert_eq!(answers[1]["result"], dev.call("alkanes_sequence", json!([])));
    assert_eq!(answers[2]["error"]["code"], -32601);
}

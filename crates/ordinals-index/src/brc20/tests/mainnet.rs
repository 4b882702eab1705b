//! Inscriptions of real blocks, read a second time in the plainest way. What they would do depends on all blocks before, so only
//! what they ask for is compared, and what they do to a ledger in which everybody has enough.

use std::collections::BTreeMap;

use bitcoin::opcodes::all::{OP_ENDIF, OP_IF};
use bitcoin::script::Instruction;
use bitcoin::{Block, Script, ScriptBuf, Transaction, consensus};
use paraffin_primitives::Network;
use serde_json::Value;

use super::scene::{deploy, mint, reveal, revealed_with};
use crate::brc20::operation::Operation;
use crate::brc20::{Action, Brc20Event, MemoryLedger, Rules, apply_block};
use crate::event::InscriptionEvent;

/// Files of the blocks, and how many inscriptions of BRC-20 each holds.
const BLOCKS: [(&str, usize); 4] =
    [("mainnet-00b93d1e", 1312), ("mainnet-849236", 16), ("mainnet-849250", 3), ("mainnet-892614", 1130)];

/// Content type and body of the first envelope of a tapscript.
fn envelope(script: &Script) -> Option<(Vec<u8>, Vec<u8>)> {
    let instructions: Vec<_> = script.instructions().collect::<Result<_, _>>().ok()?;
    let is_start = |three: &[Instruction<'_>]| {
        matches!(three, [Instruction::PushBytes(empty), Instruction::Op(OP_IF), Instruction::PushBytes(mark)]
            if empty.is_empty() && mark.as_bytes() == b"ord")
    };
    let start = instructions.windows(3).position(is_start)? + 3;
    let mut content_type = Vec::new();
    let mut fields = instructions[start..].iter();
    loop {
        match (fields.next()?, content_type.is_empty()) {
            (Instruction::PushBytes(empty), _) if empty.is_empty() => break,
            (Instruction::PushBytes(tag), true) if tag.as_bytes() == [1] => {
                content_type = fields.next()?.push_bytes()?.as_bytes().to_vec();
            }
            (Instruction::Op(OP_ENDIF), _) => return None,
            _ => drop(fields.next()?),
        }
    }
    let mut body = Vec::new();
    for instruction in fields {
        match instruction {
            Instruction::PushBytes(bytes) => body.extend_from_slice(bytes.as_bytes()),
            Instruction::Op(_) => break,
        }
    }
    Some((content_type, body))
}

/// Content type, body and first output of every transaction that reveals something in its first input.
fn revealed(transaction: &Transaction) -> Option<(Vec<u8>, Vec<u8>, ScriptBuf)> {
    let witness: Vec<&[u8]> = transaction.input.first()?.witness.iter().collect();
    let script = witness.len().checked_sub(2).map(|index| Script::from_bytes(witness[index]))?;
    let (content_type, body) = envelope(script)?;
    Some((content_type, body, transaction.output.first()?.script_pubkey.clone()))
}

/// Operation, ticker and amount as a plain reader has them.
fn judge(content_type: &[u8], body: &[u8]) -> Option<(String, String, String)> {
    let content_type = std::str::from_utf8(content_type).ok()?;
    let media_type = content_type.split(';').next()?;
    let value: Value = serde_json::from_slice(body).ok()?;
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
    let is_counted = ["text/plain", "application/json"].contains(&media_type) && text("p")? == "brc-20";
    let (operation, ticker) = (text("op")?, text("tick")?);
    let amount = text(if operation == "deploy" { "max" } else { "amt" })?;
    (is_counted && [4, 5].contains(&ticker.len())).then_some((operation, ticker, amount))
}

fn read(content_type: &[u8], body: &[u8]) -> Option<(String, String, String)> {
    let (operation, ticker, amount) = match Operation::read(Some(content_type), Some(body))? {
        Operation::Predeploy { .. } => return None,
        Operation::Deploy(deploy) => ("deploy", deploy.ticker, deploy.max),
        Operation::Mint { ticker, amount } => ("mint", ticker, amount),
        Operation::Transfer { ticker, amount } => ("transfer", ticker, amount),
    };
    Some((operation.to_owned(), ticker.original().to_owned(), amount))
}

#[test]
fn inscriptions_of_real_blocks_ask_for_what_a_plain_reader_finds() {
    for (name, expected) in BLOCKS {
        let Some(bytes) = paraffin_testkit::real_block(name) else { continue };
        let block: Block = consensus::deserialize(&bytes).unwrap();
        let inscriptions: Vec<_> = block.txdata.iter().filter_map(revealed).collect();
        let mut found = Vec::new();
        for (content_type, body, owner) in &inscriptions {
            let operation = read(content_type, body);
            assert_eq!(operation, judge(content_type, body), "{name}: {}", String::from_utf8_lossy(body));
            found.extend(operation.map(|operation| (operation, body.clone(), owner.clone())));
        }
        println!("{name}: {} of {} inscriptions", found.len(), inscriptions.len());
        assert_eq!(found.len(), expected, "{name}");
        check_transfers(name, &found);
    }
}

type OperationText = (String, String, String);

/// Where everybody has minted 2^64 / 10^6 of a token, every transfer of up to that is inscribed once there is enough left.
fn check_transfers(name: &str, found: &[(OperationText, Vec<u8>, ScriptBuf)]) {
    let rules = Rules { first_hash: 0, first_event: 0, ..Rules::of(Network::Regtest) };
    let (mut ledger, mut number) = (MemoryLedger::default(), 1_000_000);
    let mut next = |owner: &ScriptBuf, body: &[u8]| -> InscriptionEvent {
        number += 1;
        reveal(number, owner.clone(), body)
    };
    let transfers: Vec<_> = found.iter().filter(|((operation, ..), ..)| operation == "transfer").collect();
    let mut prologue = Vec::new();
    for ((_, ticker, _), _, owner) in &transfers {
        let quoted = serde_json::to_string(ticker).unwrap();
        let rest = r#""max":"0","self_mint":"true""#;
        let rest = if ticker.len() == 5 { rest } else { r#""max":"18446744073709551615""# };
        let ticker = quoted.trim_matches('"');
        prologue.push(next(owner, deploy(ticker, rest).as_bytes()));
        let deployed = prologue.last().map(|event| event.id);
        let minted = next(owner, mint(ticker, "18446744073709").as_bytes());
        prologue.push(revealed_with(minted, |_, _, parents, _| parents.extend(deployed)));
    }
    apply_block(&rules, 1, &prologue, &mut ledger).unwrap();
    let mut wanted: BTreeMap<_, u128> = BTreeMap::new();
    let events: Vec<_> = transfers.iter().map(|(_, body, owner)| next(owner, body)).collect();
    let done: Vec<Brc20Event> = apply_block(&rules, 2, &events, &mut ledger).unwrap();
    for event in &done {
        let Action::TransferInscribe { source, ticker, amount, .. } = &event.action else { panic!("{event:?}") };
        *wanted.entry((source, ticker.lower())).or_default() += amount.0;
    }
    for ((source, ticker), amount) in wanted {
        let balance = ledger.balances[&**source][ticker];
        assert_eq!(balance.overall.0 - balance.available.0, amount, "{name} {ticker}");
    }
    println!("{name}: {} of {} transfers inscribed", done.len(), transfers.len());
    assert!(done.len() * 10 >= transfers.len() * 9, "{name}: {} of {}", done.len(), transfers.len());
}

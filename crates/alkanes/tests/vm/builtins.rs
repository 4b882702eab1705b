//! Built-in contracts (protocol B18).

use bitcoin::absolute::LockTime;
use bitcoin::hex::DisplayHex as _;
use bitcoin::transaction::Version;
use bitcoin::{Block, Transaction};
use paraffin_alkanes::codec::Cellpack;
use paraffin_alkanes::{
    Builtins, CallResponse, Halt, Overlay, Parameters, SimulatedCall, Simulation, StateKey, World, contract_code,
    deploy_builtins,
};
use paraffin_primitives::{AlkaneId, Network};
use sha2::{Digest as _, Sha256};

use crate::stage::{Stage, answering, contract, id, module, transfer};

const DIESEL: AlkaneId = id(2, 0);
const WRAPPED_BITCOIN: AlkaneId = id(32, 0);
const SIGNING_TOKEN: AlkaneId = id(32, 1);

fn own() -> Builtins {
    Builtins::given([
        (DIESEL, contract("genesis-token")),
        (WRAPPED_BITCOIN, answering("")),
        (SIGNING_TOKEN, answering("")),
    ])
}

#[test]
fn the_first_active_block_deploys_them_once() {
    let mut stage = Stage::new();
    stage.builtins = own();
    let block = stage.block(&[]);
    let mut world = stage.world(&block);
    assert_eq!(deploy_builtins(&mut world).unwrap(), [transfer(DIESEL, 50_000_000)]);
    assert_eq!(deploy_builtins(&mut world).unwrap(), [], "only once");
    assert!(world.traces.traces().is_empty());
    let writes = world.state.into_writes().unwrap();
    for id in [DIESEL, WRAPPED_BITCOIN, SIGNING_TOKEN] {
        assert!(writes.iter().any(|(key, value)| *key == StateKey::Code(id) && !value.is_empty()), "{id}");
    }
    assert!(writes.iter().any(|(key, _)| *key == StateKey::Storage(DIESEL, b"/totalsupply".to_vec())));
    // What it issues is taken from what it holds, which leaves nothing, but a balance; who issues nothing has none.
    let balances: Vec<_> = writes.iter().filter(|(key, _)| matches!(key, StateKey::Balance { .. })).collect();
    assert_eq!(balances, [&(StateKey::Balance { what: DIESEL, who: DIESEL }, vec![0; 16])]);
}

#[test]
fn a_built_in_that_issues_what_it_does_not_hold_cannot_be_deployed() {
    let mut stage = Stage::new();
    let foreign = [1_u128, 2, 9, 5].map(u128::to_le_bytes).concat();
    let bytes = [&foreign[..], &[0; 4]].concat();
    let text: String = bytes.iter().flat_map(|byte| ["\\".to_owned(), format!("{byte:02x}")]).collect();
    let issuing = module(&format!(
        r#"(data (i32.const 2000) "\{:02x}\00\00\00{text}") (func (export "__execute") (result i32) (i32.const 2004))"#,
        bytes.len()
    ));
    stage.builtins = Builtins::given([(DIESEL, issuing)]);
    let block = stage.block(&[]);
    let halt = deploy_builtins(&mut stage.world(&block)).unwrap_err();
    assert!(halt.to_string().contains("built-in contract 2:0 cannot be deployed: balance underflow"), "{halt}");
}

#[test]
fn a_built_in_is_deployed_by_an_empty_transaction_of_version_1() {
    let mut stage = Stage::new();
    // Stores the transaction that it sees.
    let storing = module(
        r#"(data (i32.const 2016) "\01\00\00\00\01\00\00\00t\0c\00\00\00")
        (func (export "__execute") (result i32)
            (call $load_transaction (i32.const 3000))
            (i32.store (i32.const 1996) (i32.const 41))
            (i64.store (i32.const 2029) (i64.load (i32.const 3000)))
            (i32.store (i32.const 2037) (i32.load (i32.const 3008)))
            (i32.const 2000))"#,
    );
    stage.builtins =
        Builtins::given([(DIESEL, storing), (WRAPPED_BITCOIN, answering("")), (SIGNING_TOKEN, answering(""))]);
    let block = stage.block(&[]);
    let mut world = stage.world(&block);
    deploy_builtins(&mut world).unwrap();
    let seen = world.state.get(&StateKey::Storage(DIESEL, b"t".to_vec())).unwrap().unwrap();
    // Without inputs it is encoded as one with witnesses is.
    assert_eq!(seen, [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn a_built_in_is_called_like_any_other_contract() {
    let mut stage = Stage::new();
    stage.builtins = own();
    stage.put(StateKey::Sequence, 1_u128.to_le_bytes());
    assert_eq!(stage.message_to(DIESEL, &[99]).data(), b"DIESEL");
    assert_eq!(stage.message_to(WRAPPED_BITCOIN, &[]).data(), b"");
    let block = stage.block(&[]);
    let world = stage.world(&block);
    assert_eq!(contract_code(&world.state, &stage.builtins, DIESEL, 5).unwrap().unwrap(), contract("genesis-token"));
}

#[test]
fn a_missing_or_failing_built_in_halts_the_engine() {
    let mut stage = Stage::new();
    let block = stage.block(&[]);
    let halt = deploy_builtins(&mut stage.world(&block)).unwrap_err();
    assert!(matches!(halt, Halt::MissingBuiltin(_)), "{halt}");
    stage.builtins = Builtins::given([(DIESEL, answering("unreachable"))]);
    let halt = deploy_builtins(&mut stage.world(&block)).unwrap_err();
    assert_eq!(
        halt.to_string(),
        "built-in contract 2:0 cannot be deployed: ALKANES: revert: wasm `unreachable` instruction executed"
    );
}

/// The figures of the released modules, which only an operator has: they are the property of others and not in this repository.
#[test]
fn released_modules_give_the_figures_of_the_protocol() {
    let Some(path) = paraffin_testkit::reference_program("alkanes-2.2.1-mainnet.wasm") else { return };
    let program = std::fs::read(&path).unwrap();
    let mut stage = Stage::new();
    stage.put(StateKey::Sequence, 1_u128.to_le_bytes());

    stage.parameters = Parameters::of(Network::Mainnet);
    stage.height = 880_000;
    stage.builtins = Builtins::from_operator_wasm(&stage.parameters, &program).unwrap();
    stage.builtins.require().unwrap();
    let (diesel, fuel) = initialized(&stage, DIESEL, &[0]);
    assert_eq!(diesel.alkanes, [transfer(DIESEL, 44_000_000_000_000)]);
    // The published figure is of the execution; what it stores is paid for on top (protocol B9).
    assert_eq!(fuel, 105_104 + stored(&diesel));
    let seen = [&b"/seen/"[..], &880_000_u64.to_le_bytes()].concat();
    for (key, value) in [
        (&b"/totalsupply"[..], &44_000_000_000_000_u128.to_le_bytes()[..]),
        (&seen, &1_u32.to_le_bytes()),
        (b"/initialized", &1_u32.to_le_bytes()),
    ] {
        assert!(diesel.storage.iter().any(|pair| pair.0 == key && pair.1 == value), "{key:?} in {:?}", diesel.storage);
    }
    let (wrapped, fuel) = initialized(&stage, WRAPPED_BITCOIN, &[0]);
    let owner = [32_u128, 1].map(u128::to_le_bytes).concat();
    assert!(wrapped.storage.iter().any(|(key, value)| key == b"/auth" && *value == owner), "{:?}", wrapped.storage);
    assert_eq!(fuel, 93_348 + stored(&wrapped));
    assert_eq!(initialized(&stage, SIGNING_TOKEN, &[0, 1]).0.alkanes, [transfer(SIGNING_TOKEN, 1)]);

    stage.parameters = Parameters::of(Network::Regtest);
    stage.height = 0;
    stage.builtins = Builtins::from_operator_wasm(&stage.parameters, &program).unwrap();
    stage.builtins.require().unwrap();
    let block = stage.block(&[]);
    let state = Overlay::new(&stage.state);
    let mut world = World::new(&stage.parameters, 0, &block, state, &stage.codes, &stage.builtins);
    let issued = deploy_builtins(&mut world).unwrap();
    assert_eq!(issued, [transfer(DIESEL, 50_000_000), transfer(SIGNING_TOKEN, 1)]);
}

/// What runs at each height of mainnet, as published: contract, first height, bytes, SHA-256 (protocol B18).
const PUBLISHED: [(AlkaneId, u64, usize, &str); 9] = [
    (DIESEL, 880_000, 174_225, "58cca703f5462c733975c068c6d1e245cc32941741f4b6e61a468257b4b5ffb6"),
    (DIESEL, 908_888, 260_605, "1fe883c4fe06748a7ce4a06df1006b2f5697a6e3ff66e6b20ded46ce9374cccf"),
    (DIESEL, 917_888, 262_445, "f780aacd1718a312c9ac1a5f8b126a8b8e15708a4b0c908d4d633fbfdb847fd1"),
    (WRAPPED_BITCOIN, 880_000, 1_542_292, "ed3c1cc9af5a8727aacd5c096191699d1fd8c6d3b802c463c5832ca2091e83fc"),
    (WRAPPED_BITCOIN, 917_888, 1_542_742, "59d41a0f1e6587f9ca364dcd3f9523cf877e1acdf76b52965ac6de3627c0b7bf"),
    (WRAPPED_BITCOIN, 950_000, 304_864, "a44c14f4c35107afb1f2f730b12d679b7b2dde513fb1de526f795b8645e464e4"),
    (WRAPPED_BITCOIN, 957_000, 297_554, "c7f29e75cc496dbb009de58cc7547a1a0f3bb95462566c1df529d7a099414b96"),
    (WRAPPED_BITCOIN, 960_000, 315_879, "e67a857f56ca2a574fc1528caa38399a34cc2727057934553a63743c03d94a42"),
    (SIGNING_TOKEN, 880_000, 172_658, "e09ebe6d4c7315545e5ebbee1ea30205500d8fc9b896e9eb6cedb159d6b0fac8"),
];

#[test]
fn at_the_height_of_each_fork_the_published_code_is_what_a_message_runs() {
    let Some(path) = paraffin_testkit::reference_program("alkanes-2.2.1-mainnet.wasm") else { return };
    let mut stage = Stage::new();
    stage.put(StateKey::Sequence, 1_u128.to_le_bytes());
    stage.parameters = Parameters::of(Network::Mainnet);
    stage.builtins = Builtins::from_operator_wasm(&stage.parameters, &std::fs::read(path).unwrap()).unwrap();
    stage.builtins.require().unwrap();
    let mut before = (DIESEL, 0);
    for (place, (id, from, len_bytes, sha256)) in PUBLISHED.into_iter().enumerate() {
        let until = match PUBLISHED.get(place + 1) {
            Some((next, height, ..)) if *next == id => height - 1,
            _ => 1_000_000,
        };
        for height in [from, until] {
            let code = stage.builtins.bytes(id, height).unwrap().unwrap();
            let digest = Sha256::digest(&code).to_lower_hex_string();
            assert_eq!((code.len(), digest.as_str()), (len_bytes, sha256), "{id} at {height}");
            // Each code takes fuel of its own to say its name.
            stage.height = height;
            let block = stage.block(&[]);
            let fuel = simulated(&stage, &block, id, &[99]).fuel_used;
            if height == from {
                assert_ne!((id, fuel), before, "{id} at {height}");
            }
            before = (id, fuel);
        }
    }
    // The published figure of the third code of 2:0, of before calls of the host are paid for; an empty answer is paid on top.
    stage.height = 917_888;
    let block = stage.block(&[]);
    let simulated = simulated(&stage, &block, DIESEL, &[99]);
    assert_eq!((simulated.result.unwrap().data, simulated.fuel_used), (b"DIESEL".to_vec(), 39_851 + 4 * 40));
}

/// The published figures of the one contract that a regtest program of July 2025 holds, and that a view of it answers in full.
#[test]
fn the_contract_of_an_older_program_takes_the_published_fuel() {
    let Some(path) = paraffin_testkit::reference_program("alkanes-2025-07-regtest.wasm") else { return };
    let program = std::fs::read(path).unwrap();
    let start = program.windows(8).rposition(|window| window == b"\0asm\x01\0\0\0").unwrap();
    let mut stage = Stage::new();
    stage.put(StateKey::Sequence, 1_u128.to_le_bytes());
    stage.parameters = Parameters::of(Network::Mainnet);
    stage.height = 917_888;
    stage.builtins = Builtins::given([(DIESEL, program[start..start + 230_363].to_vec())]);
    stage.put(StateKey::Storage(DIESEL, b"/totalsupply".to_vec()), 50_000_000_u128.to_le_bytes());
    for (opcode, fuel) in [(99, 25_123), (100, 25_123), (101, 33_820)] {
        let block = stage.block(&[]);
        assert_eq!(simulated(&stage, &block, DIESEL, &[opcode]).fuel_used, fuel, "opcode {opcode}");
    }
}

/// Fuel for what a call stores, at the price of a byte before it rose at 899,087: a count, and for each pair two lengths of four
/// bytes, key and value.
fn stored(response: &CallResponse) -> u64 {
    let pairs = response.storage.iter().map(|(key, value)| 4 + key.len() + 4 + value.len());
    8 * (4 + pairs.sum::<usize>()) as u64
}

/// What a built-in answers when it is deployed: to a call by an empty transaction, as the published figures were taken.
fn initialized(stage: &Stage, id: AlkaneId, inputs: &[u128]) -> (CallResponse, u64) {
    let simulated = simulated(stage, &stage.block(&[]), id, inputs);
    (simulated.result.unwrap(), simulated.fuel_used)
}

/// A call by an empty transaction.
fn simulated(stage: &Stage, block: &Block, id: AlkaneId, inputs: &[u128]) -> Simulation {
    let transaction =
        Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input: Vec::new(), output: Vec::new() };
    let cellpack = Cellpack { target: id, inputs: inputs.to_vec() };
    let call = SimulatedCall {
        transaction: &transaction,
        vout: 0,
        calldata: &cellpack.encode(),
        incoming: &[],
        fuel: u64::MAX,
        interrupted: &|| false,
    };
    paraffin_alkanes::simulate(&mut stage.world(block), &call).unwrap()
}

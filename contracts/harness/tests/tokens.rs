//! The tokens: genesis, owned, free mint, and the counter of the documentation.
#![allow(clippy::unwrap_used, reason = "the functions beside the tests are tests as well")]

mod scene;

use paraffin_contract::testing::{TransactionBuilder, World};
use paraffin_contract::{AlkaneId, Parcel};
use scene::{FORMS, Form, id, number, parcel, program, refused, run, word, world};

const DIESEL: AlkaneId = id(2, 0);
const SUBSIDY: u128 = 312_500_000;
/// A height at which the subsidy is that of the fourth halving.
const HEIGHT: u64 = 880_000;

fn genesis(form: Form) -> World {
    let world = world(form);
    world.install_program(DIESEL, program(form, "genesis-token"));
    world.set_height(HEIGHT);
    assert_eq!(run(&world, DIESEL, &[0], &[]).alkanes, parcel(&[(DIESEL, 50_000_000)]));
    world.set_precompile(2, 1u128.to_le_bytes());
    world.set_precompile(3, SUBSIDY.to_le_bytes());
    world
}

fn next_transaction(world: &World, number: u32) {
    world.set_transaction(&TransactionBuilder::new().numbered(number));
}

#[test]
fn the_genesis_token_shares_the_reward_of_a_block_among_its_mints() {
    for form in FORMS {
        let world = genesis(form);
        assert_eq!(run(&world, DIESEL, &[99], &[]).data, b"DIESEL");
        assert_eq!(run(&world, DIESEL, &[100], &[]).data, b"DIESEL");
        assert!(refused(&world, DIESEL, &[0], &[]).contains("already initialized"));
        world.set_precompile(2, 3u128.to_le_bytes());
        let share = SUBSIDY / 3;
        for transaction in 1..=3 {
            next_transaction(&world, transaction);
            assert_eq!(run(&world, DIESEL, &[77], &[]).alkanes, parcel(&[(DIESEL, share)]));
            assert!(refused(&world, DIESEL, &[77], &[]).contains("once per transaction"));
        }
        assert_eq!(number(&world, DIESEL, &[101]), 50_000_000 + 3 * share);
        let seen = [&b"/seen/"[..], &HEIGHT.to_le_bytes()].concat();
        assert_eq!(world.storage(DIESEL, &seen), 1u32.to_le_bytes());
    }
}

#[test]
fn miner_fees_are_held_back_once_a_block_for_the_owner() {
    for form in FORMS {
        let world = genesis(form);
        let owner = run(&world, DIESEL, &[1], &[]).alkanes.single().unwrap();
        assert_eq!(owner.value, 5);
        assert!(refused(&world, DIESEL, &[1], &[]).contains("already upgraded"));
        world.set_precompile(2, 2u128.to_le_bytes());
        world.set_precompile(3, (SUBSIDY + 1_000_001).to_le_bytes());
        for transaction in 1..=2 {
            next_transaction(&world, transaction);
            let minted = run(&world, DIESEL, &[77], &[]).alkanes;
            assert_eq!(minted, parcel(&[(DIESEL, (SUBSIDY - 1_000_001) / 2)]));
        }
        assert!(refused(&world, DIESEL, &[78], &[]).contains("ownership token did not come in"));
        let collected = run(&world, DIESEL, &[78], &[(owner.id, 1)]).alkanes;
        assert_eq!(collected, parcel(&[(owner.id, 1), (DIESEL, 1_000_001)]));
        assert_eq!(run(&world, DIESEL, &[78], &[(owner.id, 1)]).alkanes, parcel(&[(owner.id, 1)]), "nothing is left");
        // Fees beyond half of the subsidy are not held back.
        world.set_height(HEIGHT + 1);
        world.set_precompile(3, (3 * SUBSIDY).to_le_bytes());
        world.set_precompile(2, 1u128.to_le_bytes());
        next_transaction(&world, 3);
        assert_eq!(run(&world, DIESEL, &[77], &[]).alkanes, parcel(&[(DIESEL, SUBSIDY / 2)]));
    }
}

#[test]
fn a_contract_cannot_mint_the_genesis_token() {
    let world = genesis(Form::Compiled);
    world.install_program(id(2, 1), program(Form::Compiled, "probe"));
    next_transaction(&world, 1);
    assert!(world.message(id(2, 1), &[40, 2, 0, 1, 77], Parcel::new()).is_err());
    run(&world, DIESEL, &[77], &[]);
}

#[test]
fn burning_lowers_the_supply_and_gives_the_rest_back() {
    for form in FORMS {
        let world = genesis(form);
        let rest = run(&world, DIESEL, &[79, 30], &[(DIESEL, 100), (id(2, 9), 4)]).alkanes;
        assert_eq!(rest, parcel(&[(id(2, 9), 4), (DIESEL, 70)]));
        assert_eq!(number(&world, DIESEL, &[101]), 50_000_000 - 30);
        assert!(refused(&world, DIESEL, &[79, 101], &[(DIESEL, 100)]).contains("less came in"));
    }
}

#[test]
fn an_owned_token_is_minted_by_its_owner_alone() {
    for form in FORMS {
        let world = world(form);
        world.install_program(id(4, 1), program(form, "owned-token"));
        let token = id(2, 1);
        let made = run(&world, id(6, 1), &[1, 3, 1_000, word("A token's name"), word("AT")], &[]).alkanes;
        let owner = id(2, 2);
        assert_eq!(made, parcel(&[(owner, 3), (token, 1_000)]));
        assert_eq!(run(&world, token, &[99], &[]).data, b"A token's name");
        assert_eq!(run(&world, token, &[100], &[]).data, b"AT");
        assert!(refused(&world, token, &[77, 5], &[]).contains("ownership token did not come in"));
        assert_eq!(run(&world, token, &[77, 5], &[(owner, 1)]).alkanes, parcel(&[(owner, 1), (token, 5)]));
        assert_eq!(number(&world, token, &[101]), 1_005);
        assert_eq!(run(&world, token, &[88], &[(token, 1_005)]).data, 1_005u128.to_le_bytes());
        assert_eq!(number(&world, token, &[101]), 0);
        assert!(refused(&world, token, &[77, u128::MAX], &[]).len() > 5);
        run(&world, token, &[77, u128::MAX], &[(owner, 1)]);
        assert!(refused(&world, token, &[77, 1], &[(owner, 1)]).contains("overflows"));
    }
}

#[test]
fn a_free_mint_ends_at_its_cap() {
    for form in FORMS {
        let world = world(form);
        world.install_program(id(4, 2), program(form, "free-mint"));
        let token = id(2, 1);
        let attachment = envelope(b"\x89PNG picture");
        world.set_transaction(&TransactionBuilder::new().with_witness(vec![attachment, vec![0xc0]]));
        let made =
            run(&world, id(6, 2), &[0, 7, 100, 2, word("A name of more t"), word("han sixteen"), word("MINT")], &[]);
        assert_eq!(made.alkanes, parcel(&[(token, 7)]));
        assert_eq!(run(&world, token, &[99], &[]).data, b"A name of more than sixteen");
        assert_eq!(run(&world, token, &[100], &[]).data, b"MINT");
        assert_eq!(run(&world, token, &[1000], &[]).data, b"\x89PNG picture");
        for transaction in 1..=2 {
            next_transaction(&world, transaction);
            assert_eq!(run(&world, token, &[77], &[]).alkanes, parcel(&[(token, 100)]));
            assert!(refused(&world, token, &[77], &[]).contains("once per transaction"));
        }
        next_transaction(&world, 3);
        assert!(refused(&world, token, &[77], &[]).contains("cap is reached"));
        let numbers = [101, 102, 103, 104].map(|opcode| number(&world, token, &[opcode]));
        assert_eq!(numbers, [207, 2, 2, 100]);
    }
}

/// A tapscript with a deployment envelope around this content.
fn envelope(content: &[u8]) -> Vec<u8> {
    let mut script = b"\x00\x63\x03BIN\x00".to_vec();
    script.push(u8::try_from(content.len()).unwrap());
    script.extend_from_slice(content);
    script.push(0x68);
    script
}

#[test]
fn the_counter_counts_and_does_not_overflow() {
    for form in FORMS {
        let world = world(form);
        let counter = id(2, 1);
        world.install_program(counter, program(form, "counter"));
        run(&world, counter, &[0], &[]);
        assert!(refused(&world, counter, &[0], &[]).contains("already initialized"));
        assert_eq!(number(&world, counter, &[1, 5]), 5);
        assert_eq!(number(&world, counter, &[1, 6]), 11);
        assert!(refused(&world, counter, &[1, u128::MAX], &[]).contains("overflows"));
        assert_eq!(number(&world, counter, &[2]), 11);
        assert_eq!(world.storage(counter, b"/count"), 11u128.to_le_bytes());
        let kept = run(&world, counter, &[2], &[(id(2, 9), 8)]).alkanes;
        assert_eq!(kept, parcel(&[(id(2, 9), 8)]), "what came in goes back");
    }
}

#[test]
fn every_module_describes_itself() {
    for name in [
        "amm-factory",
        "amm-pool",
        "auth-token",
        "beacon-proxy",
        "counter",
        "free-mint",
        "genesis-token",
        "owned-token",
        "probe",
        "upgradeable-beacon",
        "upgradeable-proxy",
        "wrapped-bitcoin",
    ] {
        let json = harness::description(name).unwrap();
        assert!(json.starts_with("{\"contract\":\"") && json.ends_with("]}"), "{json}");
    }
    assert_eq!(
        harness::description("counter").unwrap(),
        "{\"contract\":\"Counter\",\"methods\":[\
         {\"name\":\"initialize\",\"opcode\":0,\"params\":[],\"returns\":\"void\"},\
         {\"name\":\"increment\",\"opcode\":1,\"params\":[{\"name\":\"by\",\"type\":\"u128\"}],\"returns\":\"u128\"},\
         {\"name\":\"value\",\"opcode\":2,\"params\":[],\"returns\":\"u128\"}]}"
    );
}

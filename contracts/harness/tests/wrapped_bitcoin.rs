//! Wrapping and unwrapping bitcoin: opcodes, slots and payment records.
#![allow(clippy::unwrap_used, reason = "the functions beside the tests are tests as well")]

mod scene;

use paraffin_contract::bitcoin::Transaction;
use paraffin_contract::testing::{TransactionBuilder, World};
use paraffin_contract::{AlkaneId, Parcel};
use scene::{FORMS, Form, id, number, parcel, program, refused, run, world};

const FRBTC: AlkaneId = id(32, 0);
const OWNER: AlkaneId = id(32, 1);

fn genesis(form: Form) -> (World, Vec<u8>) {
    let world = world(form);
    world.install_program(FRBTC, program(form, "wrapped-bitcoin"));
    world.install_program(OWNER, program(form, "auth-token"));
    run(&world, FRBTC, &[0], &[]);
    assert_eq!(run(&world, OWNER, &[0, 1], &[]).alkanes, parcel(&[(OWNER, 1)]));
    let script = world.storage(FRBTC, b"/signer_script_cached");
    (world, script)
}

/// The user's output 0, an output to the signer, and a protostone whose pointer is output 0.
fn payment(signer: &[u8], value: u64, number: u32) -> TransactionBuilder {
    let builder = TransactionBuilder::new().numbered(number);
    builder.paying(546, vec![0x51, 0x20, 7, 7]).paying(value, signer).with_protostone(1, &[91, 0, 93, 0, 81, 1])
}

#[test]
fn the_slots_after_genesis_are_the_documented_ones() {
    for form in FORMS {
        let (world, script) = genesis(form);
        assert_eq!(world.storage(FRBTC, b"/auth"), OWNER.to_bytes());
        assert_eq!(world.storage(FRBTC, b"/initialized"), [1]);
        assert_eq!(world.storage(FRBTC, b"/premium"), 100_000u128.to_le_bytes());
        assert_eq!(run(&world, FRBTC, &[103], &[]).data, world.storage(FRBTC, b"/signer"));
        assert_eq!(script.len(), 34);
        assert_eq!(run(&world, FRBTC, &[99], &[]).data, b"frBTC");
        assert_eq!(run(&world, FRBTC, &[100], &[]).data, b"frBTC");
        assert_eq!(number(&world, FRBTC, &[102]), 8);
        assert_eq!(number(&world, FRBTC, &[104]), 100_000);
        assert_eq!(number(&world, FRBTC, &[105]), 0);
        assert!(refused(&world, FRBTC, &[0], &[]).contains("already initialized"));
    }
}

#[test]
fn a_wrap_mints_what_was_paid_less_the_premium_once_per_transaction() {
    for form in FORMS {
        let (world, script) = genesis(form);
        world.set_transaction(&payment(&script, 100_000_000, 1));
        assert_eq!(run(&world, FRBTC, &[77], &[]).alkanes, parcel(&[(FRBTC, 99_900_000)]));
        assert!(refused(&world, FRBTC, &[77], &[]).contains("once per transaction"));
        world.set_transaction(&payment(&script, 999, 2));
        assert_eq!(run(&world, FRBTC, &[77], &[]).alkanes, parcel(&[(FRBTC, 999)]));
        assert_eq!(number(&world, FRBTC, &[105]), 99_900_999);
        world.set_transaction(&payment(&[0x51, 0x20], 5_000, 3));
        assert!(refused(&world, FRBTC, &[77], &[]).contains("nothing was paid"));
    }
}

#[test]
fn an_unwrap_burns_and_records_what_is_owed() {
    for form in FORMS {
        let (world, script) = genesis(form);
        world.set_transaction(&payment(&script, 100_000_000, 1));
        run(&world, FRBTC, &[77], &[]);
        let unwrap = payment(&script, 546, 2);
        world.set_transaction(&unwrap);
        world.set_height(777);
        let answer = run(&world, FRBTC, &[78, 1, 60_000_000], &[(FRBTC, 99_000_000)]);
        assert_eq!(answer.alkanes, parcel(&[(FRBTC, 39_000_000)]));
        assert_eq!(answer.data, 60_000_000u64.to_le_bytes());
        assert_eq!(number(&world, FRBTC, &[105]), 39_900_000);

        let txid = Transaction::parse(&unwrap.to_bytes()).unwrap().txid;
        let mut record = txid.to_vec();
        record.extend_from_slice(&1u32.to_le_bytes());
        record.extend_from_slice(&60_000_000u64.to_le_bytes());
        record.extend_from_slice(&[4, 0x51, 0x20, 7, 7]);
        let key = [&b"/payments/byheight/"[..], &777u64.to_le_bytes()].concat();
        assert_eq!(world.storage(FRBTC, &[&key[..], b"/length"].concat()), 1u32.to_le_bytes());
        assert_eq!(world.storage(FRBTC, &[&key[..], b"/0"].concat()), record);
        assert_eq!(run(&world, FRBTC, &[101], &[]).data, record);
        run(&world, FRBTC, &[78, 1, 1], &[(FRBTC, 1)]);
        assert_eq!(
            run(&world, FRBTC, &[101], &[]).data,
            [&record[..], &record[..36], &[1, 0, 0, 0, 0, 0, 0, 0, 4, 0x51, 0x20, 7, 7]].concat()
        );
    }
}

#[test]
fn an_unwrap_that_could_not_be_paid_is_refused() {
    for form in FORMS {
        let (world, script) = genesis(form);
        let refused = |builder: TransactionBuilder, inputs: &[u128], incoming: &[(AlkaneId, u128)]| {
            world.set_transaction(&builder);
            refused(&world, FRBTC, inputs, incoming)
        };
        world.set_transaction(&payment(&script, 100_000_000, 1));
        run(&world, FRBTC, &[77], &[]);
        let coins = [(FRBTC, 1_000)];
        assert!(refused(payment(&script, 546, 2), &[78, 0, 1_000], &coins).contains("does not pay to the signer"));
        assert!(refused(payment(&script, 546, 2), &[78, 9, 1_000], &coins).contains("no such output"));
        assert!(refused(payment(&script, 546, 2), &[78, 1, 0], &coins).contains("nothing to unwrap"));
        assert!(refused(payment(&script, 546, 2), &[78, 1, 1_000], &[]).contains("exactly one alkane"));
        assert!(refused(payment(&script, 546, 2), &[78, 1, 1_000], &[(OWNER, 1)]).contains("only wrapped bitcoin"));
        let plain = TransactionBuilder::new().paying(546, vec![0x51]).paying(546, script.clone());
        let far = plain.clone().with_protostone(1, &[91, 5, 93, 0, 81, 1]);
        assert!(refused(far, &[78, 1, 1_000], &coins).contains("no such output"));
        let edicts = plain.clone().with_protostone(1, &[91, 0, 93, 0, 81, 1, 0, 32, 0, 1, 0]);
        assert!(refused(edicts, &[78, 1, 1_000], &coins).contains("edicts"));
        let nowhere = plain.with_protostone(1, &[93, 0, 81, 1]);
        assert!(refused(nowhere, &[78, 1, 1_000], &coins).contains("no pointer"));
    }
}

#[test]
fn only_the_owner_names_signer_and_premium() {
    for form in FORMS {
        let (world, _) = genesis(form);
        // The key of the first input of a well-known vector: any point of the curve will do.
        let key = world.storage(FRBTC, b"/signer_script_cached")[2..].to_vec();
        world.set_transaction(&TransactionBuilder::new().paying(1, [&[0x51, 0x20], &key[..]].concat()).paying(1, [6]));
        assert!(world.message(FRBTC, &[1, 0], Parcel::new()).is_err());
        assert!(world.message(FRBTC, &[4, 5], Parcel::new()).is_err());
        assert!(refused(&world, FRBTC, &[1, 1], &[(OWNER, 1)]).contains("not a taproot output"));
        assert!(refused(&world, FRBTC, &[4, 100_000_001], &[(OWNER, 1)]).contains("premium"));
        assert_eq!(run(&world, FRBTC, &[1, 0], &[(OWNER, 1)]).alkanes, parcel(&[(OWNER, 1)]));
        run(&world, FRBTC, &[4, 5], &[(OWNER, 1)]);
        assert_eq!(run(&world, FRBTC, &[103], &[]).data, key);
        assert_ne!(world.storage(FRBTC, b"/signer_script_cached")[2..], key);
        assert_eq!(number(&world, FRBTC, &[104]), 5);
    }
}

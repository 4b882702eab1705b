//! The USD token as it is deployed: behind its proxy.
#![allow(clippy::unwrap_used, reason = "the functions beside the tests are tests as well")]

mod scene;

use scene::cryptoswap::{BTC, Exchange, USD, USD_CODE};
use scene::{Brought, FORMS, Form, id, number, parcel, program, refused, run, string};

/// The reason that the token's code gives, which behind the proxy stands in the trace alone.
fn reason(exchange: &Exchange, form: Form, inputs: &[u128], incoming: Brought<'_>) -> String {
    refused(&exchange.world, USD, inputs, incoming);
    exchange.world.install_program(USD, program(form, "usd-token"));
    let text = refused(&exchange.world, USD, inputs, incoming);
    exchange.world.install_program(USD, program(form, "upgradeable-proxy"));
    text.strip_prefix("ALKANES: revert: ").unwrap_or(&text).to_owned()
}

fn supply(exchange: &Exchange) -> u128 {
    number(&exchange.world, USD, &[101])
}

#[test]
fn it_tells_name_symbol_supply_and_decimals() {
    for form in FORMS {
        let exchange = Exchange::bare(form);
        assert_eq!(run(&exchange.world, USD, &[99], &[]).data, b"Dollar");
        assert_eq!(run(&exchange.world, USD, &[100], &[]).data, b"USD");
        assert_eq!(supply(&exchange), 0);
        assert_eq!(number(&exchange.world, USD, &[102]), 8);
        assert_eq!(run(&exchange.world, USD_CODE, &[50], &[(BTC, 3)]).alkanes, parcel(&[(BTC, 3)]));
    }
}

#[test]
fn only_the_authority_mints_and_sets_up_and_that_once() {
    for form in FORMS {
        let exchange = Exchange::bare(form);
        let mint = [(exchange.mint, 1)];
        let again = [&[0], &string("Other")[..], &string("OTH")].concat();
        assert_eq!(reason(&exchange, form, &again, &mint), "already initialized");
        assert_eq!(reason(&exchange, form, &again, &[]), "the ownership token did not come in");
        assert_eq!(reason(&exchange, form, &[77, 500], &[]), "the ownership token did not come in");
        assert_eq!(reason(&exchange, form, &[77, 500], &[(exchange.owner, 1)]), "the ownership token did not come in");
        let answer = run(&exchange.world, USD, &[77, 500], &mint);
        assert_eq!(answer.alkanes, parcel(&[(exchange.mint, 1), (USD, 500)]));
        assert_eq!(supply(&exchange), 500);
        assert_eq!(reason(&exchange, form, &[77, u128::MAX], &mint), "the total supply overflows");
        let code = refused(&exchange.world, USD_CODE, &again, &mint);
        assert!(code.ends_with("the contract has no owner"), "{code}");
    }
}

/// The vectors of the bridge: the address is 97774400, 28 zero digits, cf06.
#[test]
fn a_burn_is_recorded_with_its_address_and_data() {
    for form in FORMS {
        let exchange = Exchange::bare(form);
        run(&exchange.world, USD, &[77, 1_000], &[(exchange.mint, 1)]);
        let plain = [5, 2_541_175_808, 52_998, 1];
        let answer = run(&exchange.world, USD, &plain, &[(USD, 300), (BTC, 7)]);
        assert_eq!(answer.alkanes, parcel(&[(BTC, 7)]));
        assert_eq!(answer.data, 300u128.to_le_bytes());
        let with_data = [14, 2_541_175_808, 52_998, 0, 3, 1, 12_009_965_175_477_489_169_824_853_534_747_656_192];
        run(&exchange.world, USD, &with_data, &[(USD, 50)]);
        let two_words = [14, 1, 2, 0, 17, 2, u128::MAX, 0xab << 120];
        run(&exchange.world, USD, &two_words, &[(USD, 1)]);
        assert_eq!(supply(&exchange), 649);
        assert_eq!(number(&exchange.world, USD, &[90]), 3);
        let address = [&[0x97, 0x77, 0x44, 0x00][..], &[0; 14], &[0xcf, 0x06]].concat();
        let record =
            |amount: u128, asset: u8, data: &[u8]| [&amount.to_le_bytes()[..], &address, &[asset], data].concat();
        assert_eq!(run(&exchange.world, USD, &[91, 0], &[]).data, record(300, 1, &[]));
        assert_eq!(run(&exchange.world, USD, &[91, 1], &[]).data, record(50, 0, &[9, 9, 9]));
        let third = run(&exchange.world, USD, &[91, 2], &[]).data;
        assert_eq!(third[36..], [&[0][..], &[0xff; 16], &[0xab]].concat());
        assert_eq!(exchange.world.storage(USD, b"/burns/1"), record(50, 0, &[9, 9, 9]));
        for index in [3, u128::MAX] {
            assert_eq!(reason(&exchange, form, &[91, index], &[]), "there is no such burn");
        }
    }
}

#[test]
fn burns_that_could_not_be_paid_out_are_refused() {
    for form in FORMS {
        let exchange = Exchange::bare(form);
        run(&exchange.world, USD, &[77, 1_000], &[(exchange.mint, 1)]);
        let calls: [(&[u128], &str); 10] = [
            (&[5, 1 << 32, 0, 0], "the address has more than 20 bytes"),
            (&[5, u128::MAX, 0, 0], "the address has more than 20 bytes"),
            (&[5, 0, 0, 0], "the address is zero"),
            (&[5, 1, 2, 2], "there is no such asset"),
            (&[5, 1, 2], "missing or malformed parameter: asset"),
            (&[14, 1, 2, 0, 17, 1, 0], "the length of the data does not fit its words"),
            (&[14, 1, 2, 0, 16, 2, 0, 0], "the length of the data does not fit its words"),
            (&[14, 1, 2, 0, 4_097, 0], "the data is too long"),
            (&[14, 1, 2, 0, 3, 1, 1], "the data goes on behind its length"),
            (&[14, 1, 2, 0, 3, u128::MAX], "missing or malformed parameter: words"),
        ];
        for (inputs, text) in calls {
            assert_eq!(reason(&exchange, form, inputs, &[(USD, 10)]), text, "{inputs:?}");
        }
        assert_eq!(reason(&exchange, form, &[5, 1, 2, 0], &[]), "nothing to burn came in");
        assert_eq!(reason(&exchange, form, &[5, 1, 2, 0], &[(BTC, 10)]), "nothing to burn came in");
        assert_eq!(reason(&exchange, form, &[5, 1, 2, 0], &[(id(2, 9), 10)]), "nothing to burn came in");
        assert_eq!(reason(&exchange, form, &[5, 1, 2, 0], &[(USD, 1_001)]), "more burned than there is");
        assert_eq!(supply(&exchange), 1_000);
        assert_eq!(number(&exchange.world, USD, &[90]), 0);
    }
}

//! Alkanes of outputs.

use bitcoin::OutPoint;
use bitcoin::hashes::Hash as _;
use bitcoin::script::Builder;
use paraffin_alkanes::codec::Runestone;
use paraffin_alkanes::proto::protorune::{
    OutpointResponse, OutpointWithProtocol, ProtorunesByHeightRequest, ProtorunesWalletRequest, RunesByHeightRequest,
    RunesResponse, WalletRequest, WalletResponse,
};
use paraffin_alkanes::proto::{alkanes, integer};
use paraffin_alkanes::views::{self, Words, WordsLimits};
use paraffin_primitives::AlkaneId;

use crate::stage::{DIESEL, Stage, TOKEN, address, call, first_output, id, output, script, transaction};

fn asked(outpoint: &OutPoint, protocol: Option<u128>) -> OutpointWithProtocol {
    OutpointWithProtocol {
        txid: outpoint.txid.as_byte_array().to_vec(),
        vout: outpoint.vout,
        protocol: protocol.map(Into::into),
    }
}

fn wallet(text: &str) -> ProtorunesWalletRequest {
    ProtorunesWalletRequest { wallet: text.as_bytes().to_vec(), protocol_tag: Some(1.into()) }
}

/// Ids and amounts.
fn held(answer: &OutpointResponse) -> Vec<(AlkaneId, u128)> {
    let entries = answer.balances.iter().flat_map(|sheet| &sheet.entries);
    let pair = |entry: &paraffin_alkanes::proto::protorune::BalanceSheetItem| {
        (entry.rune.clone().unwrap().rune_id.unwrap().into(), integer(entry.balance))
    };
    entries.map(pair).collect()
}

/// row MR09
#[test]
fn an_output_is_told_with_its_alkanes_their_names_and_itself() {
    let (mut stage, deploy) = Stage::with_token();
    let answer: OutpointResponse = stage.ask("protorunesbyoutpoint", &asked(&first_output(&deploy), Some(1)));
    assert_eq!(held(&answer), [(TOKEN, 1_000)]);
    let rune = answer.balances.as_ref().unwrap().entries[0].rune.clone().unwrap();
    assert_eq!(
        (rune.name.as_str(), rune.symbol.as_str(), rune.divisibility, rune.spacers),
        ("Paraffin Wax", "WAX", 1, 0)
    );
    let shown = answer.output.clone().unwrap();
    assert_eq!((shown.script, shown.value), (script(1).to_bytes(), 10_000));
    // The parts of the first token's id stand for height and index.
    assert_eq!((answer.height, answer.txindex), (2, 1));

    // Without a tag alkanes are meant; another protocol has none, and then the output's own height and index are returned.
    let plain: OutpointResponse = stage.ask("protorunesbyoutpoint", &asked(&first_output(&deploy), None));
    assert_eq!(plain, answer);
    let other: OutpointResponse = stage.ask("protorunesbyoutpoint", &asked(&first_output(&deploy), Some(13)));
    assert_eq!((held(&other), other.height, other.txindex), (vec![], 1, 1));
    let unknown = OutPoint { txid: bitcoin::Txid::all_zeros(), vout: 0 };
    assert_eq!(
        stage.ask::<OutpointResponse>("protorunesbyoutpoint", &asked(&unknown, Some(1))),
        OutpointResponse::default()
    );
    assert_eq!(
        stage
            .view_at(0, "protorunesbyoutpoint", &prost::Message::encode_to_vec(&asked(&first_output(&deploy), None)))
            .unwrap(),
        b""
    );

    // A spent output has amount 0 of each of its ids, as in the reference, and its past is still returned.
    stage.mine(vec![transaction(
        &[first_output(&deploy)],
        vec![output(script(2), 9_000)],
        &[call(TOKEN, &[77])],
        None,
    )]);
    let spent: OutpointResponse = stage.ask("protorunesbyoutpoint", &asked(&first_output(&deploy), Some(1)));
    assert_eq!((held(&spent), spent.height, spent.txindex), (vec![(TOKEN, 0)], 2, 1));
    assert_eq!(spent.balances.unwrap().entries[0].rune, Some(rune));
    let past: OutpointResponse = stage.ask_at(1, "protorunesbyoutpoint", &asked(&first_output(&deploy), Some(1)));
    assert_eq!(past, answer);
}

/// row MR09
#[test]
fn an_address_is_told_with_its_unspent_outputs_at_every_height() {
    let (mut stage, deploy) = Stage::with_token();
    let mint = transaction(
        &[first_output(&deploy)],
        vec![output(script(2), 546), output(script(1), 600)],
        &[call(TOKEN, &[77])],
        None,
    );
    stage.mine(vec![mint.clone()]);
    let of = |height, name: &str, number: u8| {
        let answer: WalletResponse = stage.ask_at(height, name, &wallet(&address(number)));
        answer.outpoints.iter().map(|one| (one.outpoint.clone().unwrap().vout, held(one))).collect::<Vec<_>>()
    };
    assert_eq!(of(2, "protorunesbyaddress", 2), [(0, vec![(TOKEN, 1_100)])]);
    assert_eq!(of(2, "protorunesbyaddress", 1), []);
    assert_eq!(of(1, "protorunesbyaddress", 1), [(0, vec![(TOKEN, 1_000)])]);
    assert_eq!(of(1, "protorunesbyaddress", 2), []);
    // Coin selection sees all coins.
    assert_eq!(of(2, "spendablesbyaddress", 1), [(1, vec![])]);
    assert_eq!(of(2, "spendablesbyaddress", 2), [(0, vec![(TOKEN, 1_100)])]);
    // An invalid address, or one of another network, has no outputs.
    for text in ["", "nonsense", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "\u{0}"] {
        let bytes = stage.view("protorunesbyaddress", &prost::Message::encode_to_vec(&wallet(text))).unwrap();
        assert_eq!(bytes, b"", "{text:?}");
    }
    let totals = stage.at(2, |context| {
        let held = views::held_by_address(&script(2), false, context).unwrap();
        views::totals(&held)
    });
    assert_eq!((totals[0].id, totals[0].value), (TOKEN, 1_100));
}

#[test]
fn what_built_in_contracts_issue_lies_in_the_genesis_output() {
    let stage = Stage::new();
    let genesis = stage.parameters.genesis_outpoint();
    let answer: OutpointResponse = stage.ask("protorunesbyoutpoint", &asked(&genesis, Some(1)));
    assert!(held(&answer).iter().any(|(id, amount)| *id == DIESEL && *amount > 0), "{answer:?}");
}

#[test]
fn tokens_are_listed_by_the_height_at_which_they_were_first_seen() {
    let (stage, _) = Stage::with_token();
    let request = ProtorunesByHeightRequest { height: 1, protocol_tag: Some(1.into()) };
    let answer: RunesResponse = stage.ask("protorunesbyheight", &request);
    assert_eq!(answer.runes.len(), 1);
    assert_eq!(AlkaneId::from(answer.runes[0].rune_id.unwrap()), TOKEN);
    assert_eq!((answer.runes[0].name.as_str(), answer.runes[0].divisibility), ("Paraffin Wax", 0));
    for (height, tag) in [(2, Some(1_u128)), (u64::MAX, Some(1)), (1, Some(0)), (1, None)] {
        let none = ProtorunesByHeightRequest { height, protocol_tag: tag.map(Into::into) };
        assert_eq!(stage.ask::<RunesResponse>("protorunesbyheight", &none).runes, []);
    }
}

#[test]
fn words_are_asked_for_a_bounded_number_of_contracts() {
    let (stage, _) = Stage::with_token();
    stage.at(1, |context| {
        let mut words = Words::new(context, WordsLimits { contracts_max: 1, ..WordsLimits::VIEWS });
        assert_eq!(words.of(TOKEN).unwrap(), ("Paraffin Wax".to_owned(), "WAX".to_owned()));
        assert_eq!(words.of(DIESEL).unwrap(), ("2:0".to_owned(), "2:0".to_owned()));
        let mut words = Words::new(context, WordsLimits { contracts_max: 9, fuel: 10 });
        assert_eq!(words.of(TOKEN).unwrap(), ("{REVERT}".to_owned(), "{REVERT}".to_owned()));
        assert_eq!(Words::new(context, WordsLimits::VIEWS).of(id(2, 99)).unwrap().0, "{REVERT}");
    });
}

#[test]
fn base_runes_are_told_by_outpoint_address_and_height() {
    let mut stage = Stage::new();
    for _ in 1..5 {
        stage.mine(vec![]);
    }
    // Thirteen letters, which may be taken from the first block on.
    let rune: ordinals::Rune = "PARAFFINWAXES".parse().unwrap();
    let etching = ordinals::Etching {
        rune: Some(rune),
        premine: Some(777),
        divisibility: Some(2),
        symbol: Some('W'),
        ..ordinals::Etching::default()
    };
    let base = ordinals::Runestone { etching: Some(etching), pointer: Some(0), ..ordinals::Runestone::default() };
    // An output that the index has never seen counts as one of height 0, which is deep enough at height 5.
    let old = OutPoint { txid: bitcoin::Txid::from_byte_array([9; 32]), vout: 0 };
    let mut etch = transaction(&[old], vec![output(script(3), 546)], &[], None);
    let commitment = bitcoin::script::PushBytesBuf::try_from(rune.commitment()).unwrap();
    etch.input[0].witness.push(Builder::new().push_slice(commitment).into_script());
    etch.input[0].witness.push([0xc0; 33]);
    etch.output.push(output(Runestone { base, protocol: vec![] }.encode(2).unwrap(), 0));
    stage.mine(vec![etch.clone()]);

    let id = id(5, 1);
    let by_height: RunesResponse = stage.ask("runesbyheight", &RunesByHeightRequest { height: 5 });
    let told = &by_height.runes[0];
    assert_eq!(AlkaneId::from(told.rune_id.unwrap()), id);
    assert_eq!(
        (told.name.as_str(), told.symbol.as_str(), told.divisibility, told.spacers),
        ("PARAFFINWAXES", "W", 2, 0)
    );
    assert_eq!(stage.ask::<RunesResponse>("runesbyheight", &RunesByHeightRequest { height: 0 }).runes, []);
    let outpoint = first_output(&etch);
    let request = alkanes::Outpoint { txid: outpoint.txid.as_byte_array().to_vec(), vout: 0 };
    let by_outpoint: OutpointResponse = stage.ask("runesbyoutpoint", &request);
    assert_eq!((held(&by_outpoint), by_outpoint.height, by_outpoint.txindex), (vec![(id, 777)], 5, 1));
    let by_address: WalletResponse = stage.ask("runesbyaddress", &WalletRequest { wallet: address(3).into_bytes() });
    assert_eq!(by_address.outpoints, [by_outpoint]);
    stage.mine(vec![transaction(&[outpoint], vec![output(script(4), 500)], &[], None)]);
    let spent: OutpointResponse = stage.ask("runesbyoutpoint", &request);
    assert_eq!((held(&spent), spent.height, spent.txindex), (vec![(id, 0)], 5, 1), "spent by any transaction");
    let terms = stage.at(5, |context| views::rune(id, context)).unwrap().unwrap();
    assert_eq!((terms.name.as_str(), terms.divisibility), ("PARAFFINWAXES", 2));
}

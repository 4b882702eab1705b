//! Properties of plans: nothing is lost, nothing is spent that should not be, and the fee is that of the feerate.

#![allow(clippy::unwrap_used)] // a failed `unwrap` fails the test

use std::collections::BTreeMap;

use bitcoin::hashes::Hash as _;
use bitcoin::{Amount, OutPoint, ScriptBuf, Transaction, TxOut, Txid};
use paraffin_alkanes::codec::{Artifact, Cellpack};
use paraffin_primitives::{AlkaneId, Network};
use paraffin_wallet::{
    AddressKind, Alkanes, Coin, Deployment, FeeRate, Funds, Intent, Key, Ordinals, Plan, PlanError, Recipient, Role,
    STANDARD_WEIGHT_MAX, mint, plan, plan_deployment, plan_recovery, plan_reveal, unwrap, wrap,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// A regtest key made for these tests.
const WIF: &str = "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA";

fn key() -> Key {
    Key::from_wif(WIF, Network::Regtest).unwrap()
}

fn id(tx: u128) -> AlkaneId {
    AlkaneId { block: 2, tx }
}

fn alkanes(amounts: &[(u128, u128)]) -> Alkanes {
    let mut alkanes = Alkanes::default();
    for (tx, amount) in amounts {
        alkanes.add(id(*tx), *amount).unwrap();
    }
    alkanes
}

fn coin(number: u8, sats: u64, held: &[(u128, u128)]) -> Coin {
    Coin {
        outpoint: OutPoint { txid: Txid::from_byte_array([number; 32]), vout: u32::from(number) },
        output: TxOut { value: Amount::from_sat(sats), script_pubkey: key().script(AddressKind::Taproot) },
        confirmations: 6,
        immature: false,
        alkanes: Some(alkanes(held)),
        ordinals: Ordinals::None,
    }
}

fn funds(coins: Vec<Coin>) -> Funds {
    Funds {
        coins,
        owner: key().script(AddressKind::Taproot),
        named: Vec::new(),
        assume_plain: false,
        fee_rate: "2".parse().unwrap(),
        allow_high_fee: false,
    }
}

fn recipient_script(number: u8) -> ScriptBuf {
    let program = [&[0x00, 0x14][..], &[number; 20]].concat();
    ScriptBuf::from_bytes(program)
}

fn recipient(number: u8, sats: u64, held: &[(u128, u128)]) -> Recipient {
    Recipient { script: recipient_script(number), sats, alkanes: alkanes(held) }
}

fn call(incoming: &[(u128, u128)]) -> Intent {
    let cellpack = Cellpack { target: id(9), inputs: vec![1, 2, 3] };
    Intent::Call { cellpack, incoming: alkanes(incoming), results_to: None, payments: Vec::new() }
}

/// Where the ledger takes alkanes when protostones have pointers, and edicts to outputs and later protostones only.
/// Written from the rules of the protocol (B5) alone; everything that is not such a transaction panics.
struct Ledger {
    outputs: BTreeMap<usize, BTreeMap<AlkaneId, u128>>,
    contracts: BTreeMap<AlkaneId, u128>,
    burned: BTreeMap<AlkaneId, u128>,
}

fn ledger(transaction: &Transaction, inputs: &[&Coin]) -> Ledger {
    let mut waiting: BTreeMap<AlkaneId, u128> = BTreeMap::new();
    for (id, amount) in inputs.iter().flat_map(|coin| coin.alkanes.as_ref().unwrap().iter()) {
        *waiting.entry(id).or_default() += amount;
    }
    let stones = match Artifact::read(transaction) {
        Some(Artifact::Runestone(runestone)) => runestone.protostones().unwrap(),
        Some(Artifact::Cenotaph(_)) => panic!("a cenotaph burns everything"),
        None => Vec::new(),
    };
    let count = transaction.output.len();
    let end = count + 1 + stones.len();
    let mut at: Vec<BTreeMap<AlkaneId, u128>> = vec![BTreeMap::new(); end];
    let mut result = Ledger { outputs: BTreeMap::new(), contracts: BTreeMap::new(), burned: BTreeMap::new() };
    if stones.is_empty() {
        result.burned = waiting;
        return result;
    }
    at[count + 1] = waiting;
    for (index, stone) in stones.iter().enumerate() {
        assert_eq!(stone.protocol_tag, 1);
        let (pointer, refund) = (stone.pointer.unwrap() as usize, stone.refund.unwrap() as usize);
        assert!(pointer < count && refund < count, "both name real outputs");
        let mut here = std::mem::take(&mut at[count + 1 + index]);
        if !stone.message.is_empty() {
            assert!(stone.edicts.is_empty());
            add(&mut result.contracts, here);
            continue;
        }
        for edict in &stone.edicts {
            let output = usize::try_from(edict.output).unwrap();
            assert!(edict.amount.0 > 0 && output != count, "no edict moves all, none is spread");
            assert!(output < count || output > count + 1 + index, "no edict goes back");
            let held = here.entry(edict.id).or_default();
            let moved = edict.amount.0.min(*held);
            *held -= moved;
            *at[output].entry(edict.id).or_default() += moved;
        }
        add(&mut at[pointer], here);
    }
    for (vout, mut held) in at.into_iter().enumerate() {
        held.retain(|_, amount| *amount > 0);
        if held.is_empty() {
            continue;
        }
        let spendable = transaction.output.get(vout).is_some_and(|output| !output.script_pubkey.is_op_return());
        if spendable {
            result.outputs.insert(vout, held);
        } else {
            add(&mut result.burned, held);
        }
    }
    result
}

fn add(to: &mut BTreeMap<AlkaneId, u128>, what: BTreeMap<AlkaneId, u128>) {
    for (id, amount) in what {
        *to.entry(id).or_default() += amount;
    }
}

fn sum(maps: impl Iterator<Item = BTreeMap<AlkaneId, u128>>) -> BTreeMap<AlkaneId, u128> {
    let mut sum = BTreeMap::new();
    maps.flatten().filter(|(_, amount)| *amount > 0).for_each(|(id, amount)| *sum.entry(id).or_default() += amount);
    sum
}

/// What must be true of every plan.
fn check(plan: &Plan, funds: &Funds, intent: &Intent) {
    let transaction = plan.transaction();
    // Satoshis.
    let coins: Vec<&Coin> = plan.inputs.iter().map(|input| &input.coin).collect();
    let spent: u64 = coins.iter().map(|coin| coin.output.value.to_sat()).sum();
    let made: u64 = transaction.output.iter().map(|output| output.value.to_sat()).sum();
    assert_eq!(spent, made + plan.fee, "satoshis are conserved");
    for output in &transaction.output {
        assert!(output.value >= output.script_pubkey.minimal_non_dust(), "no output is dust");
    }
    // The fee: that of the feerate, and at most what a change output would have cost and held on top.
    let signed = key().sign(plan).unwrap();
    let weight = signed.weight().to_wu();
    assert!(weight <= plan.weight && plan.weight <= weight + 8 * plan.inputs.len() as u64, "{weight} {}", plan.weight);
    let least = funds.fee_rate.fee(plan.weight);
    let change_costs = 330 + funds.fee_rate.fee(4 * 43 + 8) + 2;
    assert!(plan.fee >= least && plan.fee < least + change_costs, "fee {}, at least {least}", plan.fee);
    assert!(weight <= STANDARD_WEIGHT_MAX);
    // Alkanes.
    let flow = ledger(&transaction, &coins);
    assert!(flow.burned.is_empty(), "{:?} is burned", flow.burned);
    let before = sum(coins.iter().map(|coin| coin.alkanes.as_ref().unwrap().iter().collect()));
    let after = sum(flow.outputs.values().cloned().chain([flow.contracts.clone()]));
    assert_eq!(before, after, "alkanes are conserved");
    let mut expected: BTreeMap<ScriptBuf, Alkanes> = BTreeMap::new();
    match intent {
        Intent::Send(recipients) => {
            assert!(flow.contracts.is_empty());
            for recipient in recipients {
                expected.entry(recipient.script.clone()).or_default().add_all(&recipient.alkanes).unwrap();
                assert!(transaction.output.iter().any(|output| {
                    output.script_pubkey == recipient.script && output.value.to_sat() == recipient.sats
                }));
            }
        }
        Intent::Call { incoming, .. } => assert_eq!(flow.contracts, incoming.iter().collect()),
    }
    for (vout, held) in &flow.outputs {
        let script = &transaction.output[*vout].script_pubkey;
        if *script == funds.owner {
            assert_eq!(plan.outputs[*vout].role, Role::Owner, "change holds no alkanes");
        } else {
            let promised = expected.remove(script).unwrap_or_default();
            assert_eq!(&promised.iter().collect::<BTreeMap<_, _>>(), held, "a recipient gets exactly what was sent");
        }
    }
    assert!(expected.values().all(Alkanes::is_empty), "{expected:?} did not arrive");
    // Coins: only plain ones, and those with an alkane that is wanted.
    let wanted = intent.wanted().unwrap();
    for coin in coins {
        let plain = coin.alkanes.as_ref().unwrap().is_empty() && coin.ordinals == Ordinals::None;
        let useful = coin.alkanes.as_ref().unwrap().iter().any(|(id, _)| wanted.amount(id) > 0);
        assert!(plain || (useful && coin.ordinals == Ordinals::None), "{coin:?} was not to be spent");
    }
    assert!(plan.protostones.iter().all(|stone| stone.pointer.is_some() && stone.refund.is_some()));
}

fn any_coins() -> impl Strategy<Value = Vec<Coin>> {
    let amount = prop_oneof![Just(0), 1..1000_u128, Just(u128::MAX / 64)];
    let sats = prop_oneof![330..2000_u64, 2000..5_000_000_u64];
    let one = (sats, prop::collection::vec((0..4_u128, amount), 0..3), 0..12_u8);
    prop::collection::vec(one, 1..24).prop_map(|list| {
        (1..)
            .zip(list)
            .map(|(number, (sats, held, kind))| {
                let mut coin = coin(number, sats, &held);
                match kind {
                    0 => coin.ordinals = Ordinals::Held(vec!["inscription".to_owned()]),
                    1 => coin.ordinals = Ordinals::Unknown,
                    2 => coin.confirmations = 0,
                    3 => coin.immature = true,
                    4 => coin.output.script_pubkey = key().script(AddressKind::WitnessKey),
                    _ => {}
                }
                coin
            })
            .collect()
    })
}

fn any_intent() -> impl Strategy<Value = Intent> {
    let held = || prop::collection::vec((0..4_u128, prop_oneof![0..800_u128, Just(u128::MAX / 60)]), 0..3);
    let recipients = prop::collection::vec((294..400_000_u64, held()), 1..4).prop_map(|list| {
        let recipients = (1..).zip(list).map(|(number, (sats, held))| recipient(number, sats, &held));
        Intent::Send(recipients.collect())
    });
    prop_oneof![
        recipients,
        held().prop_map(|held| call(&held)),
        (546..100_000_u64).prop_map(|sats| wrap(sats, recipient_script(9), None)),
        prop::collection::vec(any::<u128>(), 0..20).prop_map(|further| mint(
            id(3),
            &further,
            Some(recipient_script(8))
        )),
    ]
}

/// Runs a property on many inputs. It answers whether there was a plan to look at; at least a quarter must be.
fn property<S: Strategy>(strategy: S, check: impl Fn(S::Value) -> bool) {
    const CASES: u32 = 400;
    let planned = std::cell::Cell::new(0);
    let mut runner = TestRunner::new(ProptestConfig { cases: CASES, ..ProptestConfig::default() });
    let result = runner.run(&strategy, |value| {
        planned.set(planned.get() + u32::from(check(value)));
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
    assert!(planned.get() >= CASES / 4, "only {} of {CASES} inputs gave a plan", planned.get());
}

#[test]
fn plans_conserve_everything_and_spend_only_what_they_may() {
    property((any_coins(), any_intent(), 100..40_000_u64), |(coins, intent, rate)| {
        let mut funds = funds(coins);
        funds.fee_rate = FeeRate::from_sats_per_kvb(rate).unwrap();
        funds.allow_high_fee = true;
        let first = plan(&intent, &funds);
        if let Ok(plan) = &first {
            check(plan, &funds, &intent);
        }
        // The order in which coins are listed makes no difference.
        funds.coins.reverse();
        assert_eq!(first, plan(&intent, &funds));
        first.is_ok()
    });
}

#[test]
fn deployments_conserve_everything() {
    property((any_coins(), 1..60_000_usize, 0..500_u128, 100..20_000_u64), |(coins, length, incoming, rate)| {
        let mut funds = funds(coins);
        funds.fee_rate = FeeRate::from_sats_per_kvb(rate).unwrap();
        funds.allow_high_fee = true;
        let Ok(plans) = plan_deployment(&deployment(length, &[(1, incoming)]), &funds) else { return false };
        check(&plans.reveal_without_commit(), &funds, &call(&[(1, incoming)]));
        let commit = &plans.commit;
        let spent: u64 = commit.inputs.iter().map(|input| input.coin.sats()).sum();
        let made: u64 = commit.outputs.iter().map(|planned| planned.output.value.to_sat()).sum();
        assert_eq!(spent, made + commit.fee);
        let reveals = |outpoint| plans.reveal.inputs.iter().any(|input| input.coin.outpoint == outpoint);
        assert!(!commit.inputs.iter().any(|input| reveals(input.coin.outpoint)), "no coin is spent twice");
        true
    });
}

/// The reveal as [`check`] wants to see it: its commit output is a plain coin already.
trait Checkable {
    fn reveal_without_commit(&self) -> Plan;
}

impl Checkable for paraffin_wallet::DeploymentPlan {
    fn reveal_without_commit(&self) -> Plan {
        let plan = self.reveal.clone();
        let vout = self.commit.position(Role::Commit).unwrap();
        assert_eq!(plan.inputs[0].coin.outpoint, OutPoint { txid: self.commit.txid(), vout });
        assert_eq!(plan.inputs[0].coin.output, self.commit.outputs[vout as usize].output);
        plan
    }
}

fn deployment(length: usize, incoming: &[(u128, u128)]) -> Deployment {
    Deployment {
        payload: (0..length).map(|at| (at * 31 % 251) as u8).collect(),
        reserved: None,
        inputs: vec![0, 7],
        incoming: alkanes(incoming),
        results_to: None,
        key: key().x_only(),
    }
}

#[test]
fn alkanes_that_are_not_wanted_return_to_the_owner() {
    let funds = funds(vec![coin(1, 546, &[(0, 100), (1, 50)]), coin(2, 100_000, &[])]);
    let intent = Intent::Send(vec![recipient(5, 546, &[(0, 30)])]);
    let plan = plan(&intent, &funds).unwrap();
    check(&plan, &funds, &intent);
    assert_eq!(plan.outputs[0].role, Role::Owner);
    assert_eq!(plan.outputs[0].alkanes, alkanes(&[(0, 70), (1, 50)]));
    assert_eq!(plan.outputs[1].alkanes, alkanes(&[(0, 30)]));
}

#[test]
fn a_plain_payment_touches_no_alkanes_and_has_no_runestone() {
    let funds = funds(vec![coin(1, 900_000, &[(0, 100)]), coin(2, 100_000, &[])]);
    let payment = plan(&Intent::Send(vec![recipient(5, 40_000, &[])]), &funds).unwrap();
    assert_eq!(payment.outputs.iter().map(|planned| planned.role).collect::<Vec<_>>(), [Role::Recipient, Role::Change]);
    assert_eq!(payment.inputs.len(), 1);
    let too_much = plan(&Intent::Send(vec![recipient(5, 400_000, &[])]), &funds).unwrap_err();
    assert!(too_much.to_string().contains("1 coin carrying other alkanes (900000 satoshis)"), "{too_much}");
}

#[test]
fn change_too_small_for_an_output_goes_to_the_fee() {
    let intent = Intent::Send(vec![recipient(5, 40_000, &[])]);
    let mut roles = Vec::new();
    for sats in 40_150..41_000 {
        let funds = funds(vec![coin(1, sats, &[])]);
        let Ok(plan) = plan(&intent, &funds) else { continue };
        check(&plan, &funds, &intent);
        roles.push(plan.position(Role::Change).is_some());
    }
    // No change first, and from some value on always change.
    assert!(roles.is_sorted() && roles.first() == Some(&false) && roles.last() == Some(&true));
}

#[test]
fn a_named_coin_is_spent_and_what_it_may_carry_comes_back() {
    let unseen = Coin { alkanes: None, ordinals: Ordinals::Unknown, ..coin(3, 50_000, &[]) };
    let named = unseen.outpoint;
    let mut funds = funds(vec![unseen, coin(4, 60_000, &[(0, 9)])]);
    let intent = Intent::Send(vec![recipient(5, 20_000, &[])]);
    assert!(matches!(plan(&intent, &funds), Err(PlanError::InsufficientFunds { available: 0, .. })));
    funds.named = vec![named];
    let paid = plan(&intent, &funds).unwrap();
    // Whatever is on it follows the pointer to output 0, which is the owner's; so do runes.
    assert_eq!(paid.outputs[0].role, Role::Owner);
    assert_eq!(paid.protostones[0].pointer, Some(0));
    let Some(Artifact::Runestone(runestone)) = Artifact::read(&paid.transaction()) else { panic!("no runestone") };
    assert_eq!(runestone.base.pointer, Some(0));
    funds.assume_plain = true;
    assert_eq!(plan(&intent, &funds).unwrap().protostones, []);
}

#[test]
fn a_message_gets_only_what_it_is_given_when_a_named_coin_carries_more() {
    let rich = coin(1, 546, &[(0, 100)]);
    let mut funds = funds(vec![rich.clone(), coin(2, 100_000, &[])]);
    funds.named = vec![rich.outpoint];
    let plan = plan(&call(&[]), &funds).unwrap();
    assert_eq!(plan.protostones.len(), 2);
    assert_eq!(plan.outputs[0].alkanes, alkanes(&[(0, 100)]));
    assert!(plan.message_vout() == Some(plan.outputs.len() as u32 + 2));
}

#[test]
fn inscriptions_of_a_named_coin_stay_in_the_owners_first_output() {
    let inscribed = Coin { ordinals: Ordinals::Held(vec!["inscription".to_owned()]), ..coin(7, 10_000, &[]) };
    let mut funds = funds(vec![coin(2, 100_000, &[]), inscribed.clone()]);
    funds.named = vec![inscribed.outpoint];
    let plan = plan(&Intent::Send(vec![recipient(5, 20_000, &[])]), &funds).unwrap();
    assert_eq!(plan.inputs[0].coin.outpoint, inscribed.outpoint);
    assert_eq!((plan.outputs[0].role, plan.outputs[0].output.value.to_sat()), (Role::Owner, 10_000));
}

#[test]
fn an_unwrap_tells_the_contract_which_output_its_payment_spends() {
    let mut wrapped = coin(1, 546, &[]);
    let mut held = Alkanes::default();
    held.add(paraffin_wallet::FRBTC, 90_000).unwrap();
    wrapped.alkanes = Some(held);
    let funds = funds(vec![wrapped, coin(2, 100_000, &[])]);
    for pay_to in [None, Some(recipient_script(4))] {
        let plan = plan(&unwrap(50_000, recipient_script(9), pay_to.clone()), &funds).unwrap();
        let message = plan.protostones.last().unwrap();
        let cellpack = Cellpack::decode(&message.message).unwrap();
        let signer = plan.position(Role::Signer).unwrap();
        assert_eq!(cellpack.inputs[..3], [78, u128::from(signer), 50_000]);
        let pointer = message.pointer.unwrap() as usize;
        assert_eq!(plan.outputs[pointer].output.script_pubkey, pay_to.unwrap_or_else(|| funds.owner.clone()));
        assert_eq!(plan.outputs[0].alkanes.amount(paraffin_wallet::FRBTC), 40_000);
        assert_eq!(message.refund, Some(0));
    }
}

#[test]
fn absurd_fees_dust_and_impossible_coins_are_refused() {
    let mut funds = funds(vec![coin(1, 50_000_000, &[])]);
    funds.fee_rate = "5000".parse().unwrap();
    let intent = Intent::Send(vec![recipient(5, 1_000_000, &[])]);
    let refused = plan(&intent, &funds).unwrap_err();
    assert!(matches!(refused, PlanError::HighFee { .. }) && refused.to_string().contains("--allow-high-fee"));
    funds.allow_high_fee = true;
    assert!(plan(&intent, &funds).is_ok());
    let dust = plan(&Intent::Send(vec![recipient(5, 293, &[])]), &funds);
    assert!(matches!(dust, Err(PlanError::Dust { minimum: 294, .. })));
    assert_eq!(plan(&Intent::Send(Vec::new()), &funds), Err(PlanError::Nothing));
    let huge = plan(&Intent::Send(vec![recipient(5, u64::MAX, &[]), recipient(6, u64::MAX, &[])]), &funds);
    assert_eq!(huge, Err(PlanError::ImpossibleValue));

    funds.coins.push(coin(2, 21_000_000 * 100_000_000, &[]));
    assert_eq!(plan(&intent, &funds), Err(PlanError::ImpossibleValue));
    funds.coins[1] = funds.coins[0].clone();
    assert_eq!(plan(&intent, &funds), Err(PlanError::ListedTwice(funds.coins[0].outpoint)));
    funds.coins.pop();
    funds.named = vec![OutPoint::null()];
    assert_eq!(plan(&intent, &funds), Err(PlanError::UnknownCoin(OutPoint::null())));
}

#[test]
fn amounts_beyond_128_bits_are_refused_before_they_void_a_transaction() {
    let funds =
        funds(vec![coin(1, 546, &[(0, u128::MAX)]), coin(2, 546, &[(0, u128::MAX), (1, 5)]), coin(3, 100_000, &[])]);
    let both = Intent::Send(vec![recipient(5, 546, &[(0, u128::MAX), (1, 5)])]);
    assert!(matches!(plan(&both, &funds), Err(PlanError::Overflow(_))));
    let twice = Intent::Send(vec![recipient(5, 546, &[(0, u128::MAX)]), recipient(6, 546, &[(0, 1)])]);
    assert!(matches!(plan(&twice, &funds), Err(PlanError::Overflow(_))));
    let short = plan(&Intent::Send(vec![recipient(5, 546, &[(2, 1)])]), &funds);
    assert!(matches!(short, Err(PlanError::InsufficientAlkanes { available: 0, needed: 1, .. })));
}

#[test]
fn code_that_does_not_fit_a_standard_transaction_is_refused() {
    let mut funds = funds(vec![coin(1, 50_000_000, &[])]);
    let dear = plan_deployment(&deployment(390_000, &[]), &funds);
    assert!(matches!(dear, Err(PlanError::HighFee { .. })), "{dear:?}");
    funds.allow_high_fee = true;
    assert!(plan_deployment(&deployment(390_000, &[]), &funds).is_ok());
    let refused = plan_deployment(&deployment(400_000, &[]), &funds).unwrap_err();
    assert!(matches!(refused, PlanError::TooHeavy { .. }) && refused.to_string().contains("400000"), "{refused}");
    assert_eq!(plan_deployment(&deployment(0, &[]), &funds), Err(PlanError::NoCode));
}

#[test]
fn a_commit_can_be_revealed_again_or_recovered_by_the_same_key_and_code_alone() {
    let funds = funds(vec![coin(1, 5_000_000, &[])]);
    let deployment = deployment(30_000, &[]);
    let plans = plan_deployment(&deployment, &funds).unwrap();
    let vout = plans.commit.position(Role::Commit).unwrap();
    let (commit, output) =
        (OutPoint { txid: plans.commit.txid(), vout }, plans.commit.outputs[vout as usize].output.clone());
    assert_eq!(plan_reveal(&deployment, &funds, commit, &output), Ok(plans.reveal.clone()));

    let mut dearer = funds.clone();
    dearer.fee_rate = "4".parse().unwrap();
    let Err(PlanError::CommitTooSmall { affordable, .. }) = plan_reveal(&deployment, &dearer, commit, &output) else {
        panic!("twice the feerate cannot be paid")
    };
    assert!(affordable <= "2".parse().unwrap() && affordable > "1.99".parse().unwrap());

    let back = plan_recovery(&deployment, commit, &output, &funds.owner, funds.fee_rate).unwrap();
    let signed = key().sign(&back).unwrap();
    assert!(signed.weight().to_wu() <= back.weight);
    assert_eq!(back.outputs[0].output.script_pubkey, funds.owner);
    assert!(back.outputs[0].output.value.to_sat() + back.fee == output.value.to_sat());

    let mut other = deployment.clone();
    other.payload.push(0);
    assert!(matches!(plan_reveal(&other, &funds, commit, &output), Err(PlanError::OtherCommit { .. })));
    let recovered = plan_recovery(&other, commit, &output, &funds.owner, funds.fee_rate);
    assert!(matches!(recovered, Err(PlanError::OtherCommit { .. })));
}

//! Views and operations of random pools beside an independent implementation, the Python package `curvesim` 0.5.0.
//!
//! Off by default, because it needs Python with that package:
//!
//! ```text
//! python3 -m venv venv && venv/bin/pip install curvesim==0.5.0
//! PARAFFIN_CURVESIM=1 PARAFFIN_PYTHON=venv/bin/python cargo test -p paraffin-cryptoswap --test curvesim -- --ignored
//! ```
//!
//! `PARAFFIN_LONG=1` compares 100,000 pools instead of 2,000.
//!
//! Operations are compared where both mean the same: the package knows no flag for a scale that is being moved, divides the step
//! by 5, claims fees at other moments (switched off for this), and tells no price for a deposit of one coin and another one for
//! a withdrawal of coin 0.

mod pools;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use paraffin_cryptoswap::math::{Coin, MathError, Pool, U256, newton_d};
use pools::{any_coin, any_pool, int};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

/// One pool with the questions asked of it.
struct Case {
    pool: Pool,
    now: u64,
    sold: Coin,
    amount: U256,
    deposit: [U256; 2],
    burned: U256,
}

fn cases(count: usize) -> Vec<Case> {
    let mut runner = TestRunner::deterministic();
    let questions = (any_pool(), any_coin(), prop::array::uniform4(1u128..400_000), 0u64..5_000, 0u64..5_000);
    let mut cases = Vec::with_capacity(count);
    while cases.len() < count {
        let drawn = questions.new_tree(&mut runner).expect("the strategy rejects nothing").current();
        let (Some(mut pool), sold, parts, later, asked) = drawn else { continue };
        pool.parameters.adjustment_divisor = 5;
        pool.parameters.admin_fee_is_paid = false;
        // A second state of the same pool, away from its price scale.
        let first = pool.balances[sold.index()] * int(parts[0]) / int(1_000_000);
        let _ = pool.exchange(sold.other(), first, U256::ZERO, 1_000 + later);
        // The package computes the invariant anew for a withdrawal in one coin, the contract's operation uses the stored one.
        let curve = pool.curve(1_000 + later).expect("the curve stands still");
        if let Ok(d) = pool.normalised_balances().and_then(|x| newton_d(curve, x)) {
            pool.d = d;
        }
        pool.not_adjusted = false;
        let part = |value: U256, part: u128| value * int(part) / int(1_000_000);
        cases.push(Case {
            now: 1_000 + later + asked,
            sold,
            amount: part(pool.balances[sold.index()], parts[1]),
            deposit: [part(pool.balances[0], parts[2]), part(pool.balances[1], parts[3])],
            burned: part(pool.total_supply, parts[1]),
            pool,
        });
    }
    cases
}

impl Case {
    fn question(&self) -> Value {
        let (pool, parameters) = (&self.pool, &self.pool.parameters);
        let text = |value: &U256| value.to_string();
        json!({
            "ann": text(&pool.ramp.future.ann),
            "gamma": text(&pool.ramp.future.gamma),
            "precisions": parameters.precisions.iter().map(text).collect::<Vec<_>>(),
            "mid_fee": text(&parameters.mid_fee),
            "out_fee": text(&parameters.out_fee),
            "allowed_extra_profit": text(&parameters.allowed_extra_profit),
            "fee_gamma": text(&parameters.fee_gamma),
            "adjustment_step": text(&parameters.adjustment_step),
            "ma_half_time": parameters.ma_half_time.to_string(),
            "admin_fee": text(&parameters.admin_fee),
            "price_scale": text(&pool.price_scale),
            "price_oracle": text(&pool.price_oracle),
            "last_prices": text(&pool.last_prices),
            "last_prices_time": pool.last_prices_time.to_string(),
            "balances": pool.balances.iter().map(text).collect::<Vec<_>>(),
            "d": text(&pool.d),
            "total_supply": text(&pool.total_supply),
            "virtual_price": text(&pool.virtual_price),
            "xcp_profit": text(&pool.xcp_profit),
            "xcp_profit_a": text(&pool.xcp_profit_a),
            "now": self.now.to_string(),
            "sold": self.sold.index().to_string(),
            "amount": text(&self.amount),
            "deposit": self.deposit.iter().map(text).collect::<Vec<_>>(),
            "burned": text(&self.burned),
        })
    }

    fn answer(&self) -> Value {
        let text = |figure: Result<U256, _>| figure.ok().map(|figure: U256| figure.to_string());
        let pool = &self.pool;
        json!({
            "get_dy": text(pool.get_dy(self.sold, self.amount, self.now)),
            "calc_token_amount": text(pool.calc_token_amount(self.deposit, self.now)),
            "calc_withdraw_one_coin": text(pool.calc_withdraw_one_coin(self.burned, self.sold, self.now)),
            "get_virtual_price": text(pool.get_virtual_price()),
            "lp_price": text(pool.lp_price(self.now)),
            "price_oracle": text(pool.price_oracle(self.now)),
            "exchange": self.after(|pool, now| {
                pool.exchange(self.sold, self.amount, U256::ZERO, now).map(|traded| traded.amount_out)
            }),
            "add_liquidity": self.after(|pool, now| pool.add_liquidity(self.deposit, U256::ZERO, now)),
            "remove_liquidity_one_coin": self.after(|pool, now| {
                pool.remove_liquidity_one_coin(self.burned, Coin::One, U256::ZERO, now)
            }),
        })
    }

    /// What the pool is after an operation on it, or null when it is refused.
    fn after(&self, operation: impl FnOnce(&mut Pool, u64) -> Result<U256, MathError>) -> Value {
        let mut pool = self.pool.clone();
        let Ok(out) = operation(&mut pool, self.now) else { return Value::Null };
        // A claim computes the invariant anew, which the package was told not to do.
        if pool.xcp_profit_a != self.pool.xcp_profit_a {
            return Value::Null;
        }
        json!({
            "out": out.to_string(),
            "balances": pool.balances.map(|balance| balance.to_string()),
            "d": pool.d.to_string(),
            "total_supply": pool.total_supply.to_string(),
            "price_scale": pool.price_scale.to_string(),
            "price_oracle": pool.price_oracle.to_string(),
            "last_prices": pool.last_prices.to_string(),
            "virtual_price": pool.virtual_price.to_string(),
            "xcp_profit": pool.xcp_profit.to_string(),
        })
    }
}

#[test]
#[ignore = "needs Python with the package curvesim 0.5.0: set PARAFFIN_CURVESIM=1 and PARAFFIN_PYTHON, see the head of the file"]
fn views_and_operations_agree_with_an_independent_implementation() {
    if std::env::var_os("PARAFFIN_CURVESIM").is_none() {
        println!("nothing compared: PARAFFIN_CURVESIM is not set; see the head of tests/curvesim.rs for what it needs");
        return;
    }
    let python = std::env::var("PARAFFIN_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/curvesim_answers.py");
    let imports = Command::new(&python).args(["-c", "import curvesim.pool.cryptoswap.pool"]).output();
    let imports = imports.unwrap_or_else(|error| panic!("{python} cannot be run ({error}): set PARAFFIN_PYTHON"));
    assert!(imports.status.success(), "{python} lacks the package: install curvesim==0.5.0 for it");

    let cases = cases(if std::env::var_os("PARAFFIN_LONG").is_some() { 100_000 } else { 2_000 });
    let questions = cases.iter().map(|case| case.question().to_string()).collect::<Vec<_>>().join("\n");
    let mut child =
        Command::new(&python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it ran above");
    let mut input = child.stdin.take().expect("piped");
    let writer = std::thread::spawn(move || input.write_all(questions.as_bytes()));
    let output = child.wait_with_output().expect("the script ends");
    writer.join().expect("no panic").expect("all questions were read");
    assert!(output.status.success());

    let answers = String::from_utf8(output.stdout).expect("JSON");
    let answers: Vec<Value> = answers.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(answers.len(), cases.len());
    let (mut compared, mut moved) = (BTreeMap::<&str, usize>::new(), 0);
    let all: Vec<Value> = cases.iter().map(Case::answer).collect();
    for ((case, ours), theirs) in cases.iter().zip(&all).zip(&answers) {
        for (name, figure) in ours.as_object().expect("an object") {
            // One side's bound is tighter: the contract refuses a pool of one to ten thousand, the package one to ten million.
            if figure.is_null() || theirs[name].is_null() {
                continue;
            }
            assert_eq!(figure, &theirs[name], "{name} of {}", case.question());
            *compared.entry(name).or_default() += 1;
            moved +=
                usize::from(figure["price_scale"].as_str().is_some_and(|to| to != case.pool.price_scale.to_string()));
        }
    }
    println!("of {} pools agree {compared:?}, and {moved} steps of the price scale among them", cases.len());
    for (name, count) in &compared {
        let least = if *name == "add_liquidity" { 2 } else { 8 };
        assert!(
            count * 10 > cases.len() * least,
            "only {count} of {} pools answered {name} on both sides",
            cases.len()
        );
    }
    assert_eq!(compared.len(), 9);
    assert!(moved > cases.len() / 100, "only {moved} operations moved the price scale");
}

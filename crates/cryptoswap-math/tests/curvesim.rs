//! Views and operations of random pools beside an independent implementation, the Python package `curvesim` 0.5.0.
//!
//! Its answers about 150 pools are recorded in `curvesim/recorded.jsonl` and compared in every run. To ask the package itself, about
//! 2,000 pools, or 100,000 with `PARAFFIN_LONG=1`:
//!
//! ```text
//! python3 -m venv venv && venv/bin/pip install curvesim==0.5.0
//! PARAFFIN_PYTHON=venv/bin/python cargo test -p paraffin-cryptoswap --test curvesim
//! ```
//!
//! `PARAFFIN_CURVESIM_RECORD=1` besides records anew.
//!
//! Operations are compared where both mean the same: the package knows no flag for a scale that is being moved, divides the step
//! by 5, claims fees at other moments (switched off for this), and reports no price for a deposit of one coin and another one for
//! a withdrawal of coin 0.

mod pools;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use paraffin_cryptoswap_math::{Coin, Curve, MathError, Parameters, Pool, Ramp, U256, newton_d};
use pools::{any_coin, any_pool, int};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

/// Answers of the package: a line about the recording, then a question and an answer in each line.
const RECORDED: &str = include_str!("curvesim/recorded.jsonl");
/// Questions that are recorded.
const RECORDED_COUNT: usize = 150;

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
    /// The other way round of [`Case::question`].
    fn of_question(question: &Value) -> Self {
        let number = |value: &Value| value.as_str().expect("text").parse::<U256>().expect("a number");
        let short = |name: &str| question[name].as_str().expect("text").parse::<u64>().expect("a short number");
        let of = |name: &str| number(&question[name]);
        let pair = |name: &str| [0, 1].map(|index| number(&question[name][index]));
        let parameters = Parameters {
            precisions: pair("precisions"),
            mid_fee: of("mid_fee"),
            out_fee: of("out_fee"),
            fee_gamma: of("fee_gamma"),
            admin_fee: of("admin_fee"),
            admin_fee_is_paid: false,
            allowed_extra_profit: of("allowed_extra_profit"),
            adjustment_step: of("adjustment_step"),
            adjustment_divisor: 5,
            ma_half_time: short("ma_half_time"),
        };
        let pool = Pool {
            parameters,
            ramp: Ramp::still(Curve { ann: of("ann"), gamma: of("gamma") }),
            balances: pair("balances"),
            surplus: [U256::ZERO; 2],
            d: of("d"),
            total_supply: of("total_supply"),
            price_scale: of("price_scale"),
            price_oracle: of("price_oracle"),
            last_prices: of("last_prices"),
            last_prices_time: short("last_prices_time"),
            virtual_price: of("virtual_price"),
            xcp_profit: of("xcp_profit"),
            xcp_profit_a: of("xcp_profit_a"),
            not_adjusted: false,
            is_killed: false,
        };
        Self {
            now: short("now"),
            sold: if question["sold"] == "0" { Coin::Zero } else { Coin::One },
            amount: of("amount"),
            deposit: pair("deposit"),
            burned: of("burned"),
            pool,
        }
    }

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
        // A claim computes the invariant anew, which is switched off in the package.
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

/// The package's answer to each question.
fn answers(python: &str, questions: &[Value]) -> Vec<Value> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/curvesim_answers.py");
    let imports = Command::new(python).args(["-c", "import curvesim.pool.cryptoswap.pool"]).output();
    let imports = imports.unwrap_or_else(|error| panic!("{python} cannot be run ({error}): set PARAFFIN_PYTHON"));
    assert!(imports.status.success(), "{python} lacks the package: install curvesim==0.5.0 for it");
    let lines = questions.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let mut child =
        Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it ran above");
    let mut input = child.stdin.take().expect("piped");
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().expect("the script ends");
    writer.join().expect("no panic").expect("all questions were read");
    assert!(output.status.success());
    let answers = String::from_utf8(output.stdout).expect("JSON");
    let answers: Vec<Value> = answers.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(answers.len(), questions.len());
    answers
}

/// Our answers are those of the package wherever both give one, which is often.
fn compare(all: &[(Value, Value)]) {
    let (mut compared, mut moved) = (BTreeMap::<String, usize>::new(), 0);
    for (question, theirs) in all {
        let case = Case::of_question(question);
        for (name, figure) in case.answer().as_object().expect("an object") {
            // One side's bound is tighter: the contract refuses a pool of one to ten thousand, the package one to ten million.
            if figure.is_null() || theirs[name].is_null() {
                continue;
            }
            assert_eq!(figure, &theirs[name], "{name} of {question}");
            *compared.entry(name.clone()).or_default() += 1;
            moved +=
                usize::from(figure["price_scale"].as_str().is_some_and(|to| to != case.pool.price_scale.to_string()));
        }
    }
    println!("of {} pools agree {compared:?}, and {moved} steps of the price scale among them", all.len());
    for (name, count) in &compared {
        let least = if *name == "add_liquidity" { 2 } else { 8 };
        assert!(count * 10 > all.len() * least, "only {count} of {} pools answered {name} on both sides", all.len());
    }
    assert_eq!(compared.len(), 9);
    assert!(moved > all.len() / 100, "only {moved} operations moved the price scale");
}

#[test]
fn recorded_answers_of_an_independent_implementation_are_ours() {
    let mut lines = RECORDED.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let about = lines.next().expect("a line about the recording");
    assert_eq!(about["package"], "curvesim 0.5.0");
    let all: Vec<(Value, Value)> = lines.map(|mut line| (line["question"].take(), line["answer"].take())).collect();
    assert_eq!(all.len(), RECORDED_COUNT);
    compare(&all);
}

#[test]
fn views_and_operations_agree_with_an_independent_implementation() {
    let Ok(python) = std::env::var("PARAFFIN_PYTHON") else {
        return paraffin_testkit::skipped("PARAFFIN_PYTHON names no Python with curvesim 0.5.0: see tests/curvesim.rs");
    };
    let questions: Vec<Value> = cases(if std::env::var_os("PARAFFIN_LONG").is_some() { 100_000 } else { 2_000 })
        .iter()
        .map(Case::question)
        .collect();
    assert!(questions.iter().all(|question| Case::of_question(question).question() == *question));
    let answers = answers(&python, &questions);
    let all: Vec<(Value, Value)> = questions.into_iter().zip(answers).collect();
    compare(&all);
    if std::env::var_os("PARAFFIN_CURVESIM_RECORD").is_some() {
        let version = Command::new(&python).arg("--version").output().expect("it ran above").stdout;
        // The newest change of the mathematics.
        let arguments = ["log", "-1", "--format=%H", "--", "src/math"];
        let commit = Command::new("git").current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).output();
        let commit = commit.expect("git runs").stdout;
        let date = Command::new("date").args(["-u", "+%F"]).output().expect("date runs").stdout;
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text").trim().to_owned();
        let about = json!({
            "package": "curvesim 0.5.0", "python": text(version), "date": text(date), "commit": text(commit),
        });
        let all = all.into_iter().take(RECORDED_COUNT);
        let lines = all.map(|(question, answer)| json!({ "question": question, "answer": answer }));
        let lines: Vec<String> = std::iter::once(about).chain(lines).map(|line| line.to_string()).collect();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/curvesim/recorded.jsonl");
        std::fs::write(path, lines.join("\n") + "\n").expect("the recording is written");
    }
}

//! Random trades, deposits, withdrawals, ramps, kills and claims on the BTC/USD pool, step by step beside a model: the same
//! refusals, the same amounts, and afterwards the same number in every slot.
#![allow(clippy::unwrap_used, reason = "the functions beside the tests are tests as well")]

mod scene;

use cryptoswap_math::{Coin, Curve, MathError, PRECISION, Pool, U256};
use paraffin_contract::{AlkaneId, Response};
use scene::Form;
use scene::cryptoswap::{
    A, BTC, Exchange, GAMMA, HEIGHT, ITS_WORTH, ONE_BTC, POOL, SETTINGS, SHORTEST_RAMP, USD, number,
};
use scene::parcel;

/// Fuel that a message gets at least, on every network: one that needs more fails in a full block.
const MESSAGE_FUEL_MIN: u64 = 3_500_000;

/// The same numbers on every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u128) -> u128 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u128::from(self.0 >> 16) % sides
    }

    /// A part of `whole` of any size from nothing to all of it.
    fn part(&mut self, whole: u128) -> u128 {
        let bits = 128 - whole.leading_zeros();
        let shift = self.roll(u128::from(bits) + 1);
        (whole >> shift) / 1_000 * self.roll(1_001)
    }
}

fn int(value: u128) -> U256 {
    U256::from(value)
}

fn small(value: U256) -> u128 {
    u128::try_from(value).unwrap()
}

struct Pair {
    exchange: Exchange,
    model: Pool,
    now: u64,
    /// Liquidity that has a holder.
    held: u128,
    /// What was put aside for the owner.
    claimable: u128,
    succeeded: [u32; 10],
    fuel_most: u64,
}

impl Pair {
    fn new(form: Form) -> Self {
        let exchange = Exchange::founded(form);
        let (model, held) = (exchange.pool(), exchange.supply());
        Self { exchange, model, now: HEIGHT, held, claimable: 0, succeeded: [0; 10], fuel_most: 0 }
    }

    /// Sends a message, and does the same to the model. The model's figure is the message's answer.
    fn both(
        &mut self,
        inputs: &[u128],
        incoming: &[(AlkaneId, u128)],
        change: impl FnOnce(&mut Pool, u64) -> Result<Vec<U256>, MathError>,
    ) -> Option<Response> {
        let before = self.model.clone();
        let expected = change(&mut self.model, self.now);
        let answered = self.exchange.world.message(POOL, inputs, parcel(incoming));
        self.fuel_most = self.fuel_most.max(self.exchange.world.fuel_used());
        match (expected, answered) {
            (Ok(figures), Ok(answer)) => {
                let told: Vec<U256> = answer.data.chunks(32).map(number).collect();
                assert_eq!(told, figures, "{inputs:?}");
                Some(answer)
            }
            (Err(_), Err(_)) => {
                assert_eq!(self.model, before);
                None
            }
            (expected, answered) => panic!("{inputs:?} at {}: {expected:?}, but {answered:?}", self.now),
        }
    }

    /// Every slot is the model's, and every unit is somewhere.
    fn check(&self) {
        assert_eq!(self.exchange.pool(), self.model);
        assert_eq!(self.exchange.held(), self.model.balances, "nothing beside the balances");
        assert_eq!(self.exchange.claimable(), self.claimable);
        assert_eq!(int(self.held + self.claimable), self.model.total_supply);
    }

    fn trade(&mut self, dice: &mut Dice) {
        let i = dice.roll(2);
        let coin = Coin::from_index(i).unwrap();
        let whole = small(self.model.balances[coin.index()]);
        // Mostly a hundredth of the pool and less, now and then more than it can take.
        let sold = if dice.roll(6) == 0 { dice.part(whole * 2) } else { dice.part(whole / 60) };
        let (from, to) = if i == 0 { (BTC, USD) } else { (USD, BTC) };
        let told = self.model.get_dy(coin, int(sold), self.now);
        let supply = self.model.total_supply;
        let answer = self.both(&[5, i, 1 - i, sold, 0], &[(from, sold)], |pool, now| {
            Ok(vec![pool.exchange(coin, int(sold), U256::ZERO, now)?.amount_out])
        });
        if let Some(answer) = answer {
            assert_eq!(int(answer.alkanes.amount_of(to)), told.unwrap(), "what the view said");
            self.put_aside(supply);
            self.succeeded[0] += 1;
        }
    }

    /// What exists now and did not is the owner's.
    fn put_aside(&mut self, supply: U256) {
        self.claimable += small(self.model.total_supply - supply);
    }

    fn deposit(&mut self, dice: &mut Dice) {
        let mut amounts = [dice.part(ONE_BTC), dice.part(ITS_WORTH)];
        if dice.roll(3) == 0 {
            amounts[dice.roll(2) as usize] = 0;
        }
        let supply = self.model.total_supply;
        let inputs = [1, amounts[0], amounts[1], 0];
        let answer = self.both(&inputs, &[(BTC, amounts[0]), (USD, amounts[1])], |pool, now| {
            Ok(vec![pool.add_liquidity(amounts.map(int), U256::ZERO, now)?])
        });
        if let Some(answer) = answer {
            let minted = answer.alkanes.amount_of(POOL);
            self.held += minted;
            self.put_aside(supply + int(minted));
            self.succeeded[1] += 1;
        }
    }

    fn withdraw(&mut self, dice: &mut Dice) {
        let burned = dice.part(self.held / 3);
        let answer = self.both(&[2, burned, 0, 0], &[(POOL, burned)], |pool, _| {
            Ok(pool.remove_liquidity(int(burned), [U256::ZERO; 2])?.to_vec())
        });
        if answer.is_some() {
            self.held -= burned;
            self.succeeded[2] += 1;
        }
    }

    fn withdraw_one(&mut self, dice: &mut Dice) {
        let (burned, i) = (dice.part(self.held / 20), dice.roll(2));
        let coin = Coin::from_index(i).unwrap();
        let supply = self.model.total_supply;
        let answer = self.both(&[3, burned, i, 0], &[(POOL, burned)], |pool, now| {
            Ok(vec![pool.remove_liquidity_one_coin(int(burned), coin, U256::ZERO, now)?])
        });
        if answer.is_some() {
            self.held -= burned;
            self.put_aside(supply - int(burned));
            self.succeeded[3] += 1;
        }
    }

    fn claim(&mut self) {
        let (supply, owner) = (self.model.total_supply, self.exchange.owner);
        let put_aside = self.claimable;
        let answer =
            self.both(&[10], &[(owner, 1)], |pool, now| Ok(vec![pool.claim_admin_fees(now)? + int(put_aside)]));
        if let Some(answer) = answer {
            self.put_aside(supply);
            assert_eq!(answer.alkanes.amount_of(POOL), self.claimable);
            self.held += self.claimable;
            self.claimable = 0;
            self.succeeded[4] += 1;
        }
    }

    fn ramp(&mut self, dice: &mut Dice) {
        let (a, gamma) = (A / 4 + dice.roll(2 * A), GAMMA / 4 + dice.roll(2 * GAMMA));
        let end = self.now + dice.roll(30) as u64;
        let owner = self.exchange.owner;
        let answer = self.both(&[11, a, gamma, end.into()], &[(owner, 1)], |pool, now| {
            pool.ramp = pool.ramp.begin(now, Curve { ann: int(a), gamma: int(gamma) }, end, SHORTEST_RAMP as u64)?;
            Ok(Vec::new())
        });
        self.succeeded[5] += u32::from(answer.is_some());
    }

    fn stop_ramp(&mut self) {
        let owner = self.exchange.owner;
        let answer = self.both(&[12], &[(owner, 1)], |pool, now| {
            pool.ramp = pool.ramp.stop(now)?;
            Ok(Vec::new())
        });
        self.succeeded[6] += u32::from(answer.is_some());
    }

    fn kill(&mut self, opcode: u128) {
        let owner = self.exchange.owner;
        let answer = self.both(&[opcode], &[(owner, 1)], |pool, _| {
            pool.is_killed = opcode == 14;
            Ok(Vec::new())
        });
        self.succeeded[opcode as usize - 7] += u32::from(answer.is_some());
    }

    fn set(&mut self, dice: &mut Dice) {
        let mut settings = SETTINGS;
        settings[0] = dice.roll(40_000_000);
        settings[3] = dice.roll(3) * 5_000_000_000;
        settings[6] = 1 + dice.roll(20);
        let (supply, owner) = (self.model.total_supply, self.exchange.owner);
        let inputs = [&[13], &settings[..]].concat();
        let answer = self.both(&inputs, &[(owner, 1)], |pool, now| {
            if pool.parameters.admin_fee != int(settings[3]) {
                pool.claim_admin_fees(now)?;
            }
            let parameters = &mut pool.parameters;
            parameters.mid_fee = int(settings[0]);
            parameters.admin_fee = int(settings[3]);
            parameters.ma_half_time = settings[6] as u64;
            Ok(Vec::new())
        });
        if answer.is_some() {
            self.put_aside(supply);
            self.succeeded[9] += 1;
        }
    }

    fn step(&mut self, dice: &mut Dice) {
        if dice.roll(3) == 0 {
            self.now += dice.roll(12) as u64;
            self.exchange.world.set_height(self.now);
        }
        let before = self.model.clone();
        let worth = |pool: &Pool| pool.get_virtual_price().unwrap();
        match dice.roll(40) {
            0..=20 => self.trade(dice),
            21..=25 => self.deposit(dice),
            26..=28 => self.withdraw(dice),
            29..=31 => self.withdraw_one(dice),
            32 => self.claim(),
            33 => self.ramp(dice),
            34 => self.stop_ramp(),
            35 => self.kill(14),
            36 | 37 => self.kill(15),
            38 => self.set(dice),
            _ => self.now += 1,
        }
        self.exchange.world.set_height(self.now);
        self.check();
        // Only a ramp, a step of the price scale and a claim of the owner may make a unit of liquidity worth less.
        let ramps = before.ramp.is_pending() || self.model.ramp.is_pending();
        let paid = self.model.price_scale != before.price_scale || self.model.xcp_profit < before.xcp_profit;
        assert!(ramps || paid || worth(&self.model) >= worth(&before), "{before:?} to {:?}", self.model);
        // Half of the profit always stays. What a ramp cost is gone.
        let never_ramped = self.succeeded[5] == 0;
        assert!(!never_ramped || worth(&self.model) >= PRECISION, "{:?}", self.model);
    }
}

#[test]
fn several_hundred_random_operations_do_what_the_model_does() {
    for seed in 1..=6 {
        let mut dice = Dice(seed);
        let mut pair = Pair::new(Form::Native);
        for _ in 0..600 {
            pair.step(&mut dice);
        }
        let enough = pair.succeeded.iter().all(|count| *count > 0);
        assert!(enough && pair.succeeded[0] > 100, "seed {seed}: {:?}", pair.succeeded);
    }
}

#[test]
fn the_committed_module_does_what_the_model_does_within_the_fuel_of_a_message() {
    let mut dice = Dice(7);
    let mut pair = Pair::new(Form::Compiled);
    for _ in 0..300 {
        pair.step(&mut dice);
    }
    assert!(pair.succeeded.iter().all(|count| *count > 0), "{:?}", pair.succeeded);
    assert!((700_000..MESSAGE_FUEL_MIN).contains(&pair.fuel_most), "{}", pair.fuel_most);
}

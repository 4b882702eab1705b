//! Random trades and liquidity: nothing is lost, nothing is gained, and no account can take from a pool what others put in.
#![allow(clippy::unwrap_used, reason = "the functions beside the tests are tests as well")]

mod scene;

use std::collections::BTreeMap;

use paraffin_contract::testing::World;
use paraffin_contract::{AlkaneId, Parcel, U512};
use scene::{Form, id, program, run, word, world};

const FACTORY: AlkaneId = id(4, 65522);

/// The same numbers on every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u128) -> u128 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u128::from(self.0 >> 16) % sides
    }

    /// Amounts of every size up to `largest`.
    fn amount(&mut self, largest: u128) -> u128 {
        let bits = 128 - largest.leading_zeros();
        let scale = self.roll(u128::from(bits) + 1);
        ((self.roll(1 << 30) * (largest >> (u128::from(bits) - scale))) >> 30).clamp(1, largest.max(1))
    }
}

struct Market {
    world: World,
    owner: AlkaneId,
    tokens: [AlkaneId; 3],
    pools: Vec<(AlkaneId, [AlkaneId; 2])>,
    wallet: BTreeMap<AlkaneId, u128>,
    went_well: u32,
}

impl Market {
    fn open() -> Self {
        let world = world(Form::Native);
        for (number, name) in
            [(65520, "amm-pool"), (65524, "amm-factory"), (0xbeac1, "beacon-proxy"), (1, "owned-token")]
        {
            world.install_program(id(4, number), program(Form::Native, name));
        }
        world.install_program(FACTORY, program(Form::Native, "upgradeable-proxy"));
        world.install_program(id(4, 0xbeac0), program(Form::Native, "upgradeable-beacon"));
        run(&world, id(4, 0xbeac0), &[0x7fff, 4, 65520, 1], &[]);
        let owner = run(&world, FACTORY, &[0x7fff, 4, 65524, 1], &[]).alkanes.single().unwrap().id;
        run(&world, FACTORY, &[0, 0xbeac1, 4, 0xbeac0], &[(owner, 1)]);
        let mut wallet = BTreeMap::from([(owner, 1)]);
        let tokens = ["A", "B", "C"].map(|name| {
            let made = run(&world, id(6, 1), &[1, 1, SUPPLY, word(name), word(name)], &[]).alkanes;
            wallet.insert(made.0[1].id, SUPPLY);
            made.0[1].id
        });
        Self { world, owner, tokens, pools: Vec::new(), wallet, went_well: 0 }
    }

    /// A message to the factory with these amounts from the wallet; what comes out goes back into it.
    fn call(&mut self, inputs: &[u128], incoming: &[(AlkaneId, u128)]) -> bool {
        let mut parcel = Parcel::new();
        for (id, value) in incoming {
            if self.wallet.get(id).is_none_or(|held| held < value) {
                return false;
            }
            parcel.add(*id, *value);
        }
        let Ok(answer) = self.world.message(FACTORY, inputs, parcel) else { return false };
        for (id, value) in incoming {
            *self.wallet.get_mut(id).unwrap() -= value;
        }
        for transfer in answer.alkanes.0 {
            *self.wallet.entry(transfer.id).or_default() += transfer.value;
        }
        self.went_well += 1;
        true
    }

    fn reserves(&self, pool: AlkaneId, pair: [AlkaneId; 2]) -> [u128; 2] {
        pair.map(|token| self.world.balance(pool, token))
    }

    fn supply(&self, pool: AlkaneId) -> u128 {
        let stored = self.world.storage(pool, b"/totalsupply");
        u128::from_le_bytes(stored.try_into().unwrap())
    }

    /// Liquidity that the protocol earned and did not collect.
    fn claimable(&self, pool: AlkaneId) -> u128 {
        self.world.storage(pool, b"/claimablefees").try_into().map_or(0, u128::from_le_bytes)
    }

    /// Every unit of every token and of all liquidity is somewhere.
    fn check(&self) {
        for token in self.tokens {
            let pooled: u128 = self.pools.iter().map(|(pool, _)| self.world.balance(*pool, token)).sum();
            assert_eq!(self.world.balance(FACTORY, token), 0, "the factory keeps nothing");
            assert_eq!(self.wallet[&token] + pooled, SUPPLY);
        }
        for (pool, _) in &self.pools {
            let held = self.wallet.get(pool).copied().unwrap_or(0);
            assert_eq!(held + self.claimable(*pool) + 1000, self.supply(*pool), "the first 1000 units are nobody's");
        }
    }
}

const SUPPLY: u128 = 1 << 100;

#[test]
fn nothing_is_lost_or_gained_in_random_markets() {
    for seed in 1..=4 {
        let mut dice = Dice(seed);
        let mut market = Market::open();
        for (first, second) in [(0, 1), (2, 1)] {
            let (a, b) = (market.tokens[first], market.tokens[second]);
            let (amount_a, amount_b) = (10_000 + dice.amount(1 << 90), 10_000 + dice.amount(1 << 90));
            let pool = id(2, market.world.sequence());
            assert!(
                market.call(&[1, a.block, a.tx, b.block, b.tx, amount_a, amount_b], &[(a, amount_a), (b, amount_b)])
            );
            market.pools.push((pool, if a < b { [a, b] } else { [b, a] }));
            market.check();
        }
        for _ in 0..150 {
            step(&mut market, &mut dice);
            market.check();
        }
        assert!(market.went_well > 60, "seed {seed}: only {} calls went well", market.went_well);
    }
}

fn step(market: &mut Market, dice: &mut Dice) {
    let (pool, [a, b]) = market.pools[dice.roll(2) as usize];
    let before = market.reserves(pool, [a, b]);
    let (supply, claimable) = (market.supply(pool), market.claimable(pool));
    let (token_in, token_out, reserve) = if dice.roll(2) == 0 { (a, b, before[0]) } else { (b, a, before[1]) };
    let amount = dice.amount(reserve.min(1 << 90));
    let choice = dice.roll(8);
    let collects = choice == 7;
    match choice {
        0 | 1 => {
            let inputs = [29, 1, token_out.block, token_out.tx, 0, 0];
            market.call(&inputs, &[(token_in, amount)]);
        }
        2 => {
            // Through both pools.
            let [first, middle, last] = market.tokens;
            let path = [3, first.block, first.tx, middle.block, middle.tx, last.block, last.tx];
            market.call(&[&[13], &path[..], &[amount, 0, 0]].concat(), &[(first, amount)]);
        }
        3 => {
            let path = [2, token_in.block, token_in.tx, token_out.block, token_out.tx];
            let wanted = dice.amount(before[usize::from(token_out == b)]);
            let offered = market.wallet[&token_in] / 2;
            market.call(&[&[14], &path[..], &[wanted, offered, 0]].concat(), &[(token_in, offered)]);
        }
        4 | 5 => {
            let other = dice.amount(1 << 90);
            let inputs = [11, token_in.block, token_in.tx, token_out.block, token_out.tx, amount, other, 0, 0, 0];
            market.call(&inputs, &[(token_in, amount), (token_out, other)]);
        }
        6 => {
            let liquidity = dice.amount(market.wallet.get(&pool).copied().unwrap_or(0));
            market.call(&[12, a.block, a.tx, b.block, b.tx, liquidity, 0, 0, 0], &[(pool, liquidity)]);
        }
        _ => {
            let owner = market.owner;
            market.call(&[10, pool.block, pool.tx], &[(owner, 1)]);
        }
    }
    let after = market.reserves(pool, [a, b]);
    if collects {
        assert_eq!(after, before, "collecting moves no reserves");
        return;
    }
    // What a unit of liquidity is worth, the root of the product over the supply, never falls, whatever anyone does; only the
    // protocol's part of past fees, which comes into being with the next change of liquidity, thins it.
    let earned = market.claimable(pool) - claimable;
    let square = |value: u128| U512::from(value) * U512::from(value);
    let product = |reserves: [u128; 2]| U512::from(reserves[0]) * U512::from(reserves[1]);
    let worth_after = product(after) * square(supply + earned);
    let worth_before = product(before) * square(market.supply(pool));
    assert!(worth_after >= worth_before, "somebody took from the pool: {before:?} to {after:?}");
}

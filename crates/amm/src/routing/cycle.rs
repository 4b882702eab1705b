//! The most profitable way from an alkane through pools back to itself.
//!
//! A trade with a constant-product pool gives floor(p*x / (q + k*x)). Without the floors a cycle is of the same form, P*x /
//! (Q + K*x): concave, and never less than the contracts' result. So the greatest whole number under its best point bounds
//! the profit of the cycle. The exact optimum is where the output rises by a unit; those inputs are tried from the best
//! point outwards until the curve itself falls to the best result so far. Cycles are tried in the order of their bounds.

use ruint::Uint;
use ruint::aliases::{U256, U512};

use paraffin_primitives::AlkaneId;

use super::hop::least_in;
use super::{Edge, Fees, Graph, HOPS_MAX, Hop};

/// Wide enough for a product of three pools' terms with an amount, and for the square of one.
type Wide = Uint<1024, 16>;

/// Cycles that are looked at; beyond, nothing is proven.
const CYCLES_MAX: usize = 2_000_000;
/// Most profitable cycles of which inputs are tried.
const KEPT_MAX: usize = 50_000;
/// Inputs that are tried exactly, for one cycle and for all of them.
const TRIES_MAX: (usize, usize) = (20_000, 200_000);

/// Trades that begin and end in the same alkane, with a profit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle {
    /// Its trades, two or three, each with another pool.
    pub hops: Vec<Hop>,
    /// Base units that go in.
    pub amount_in: u128,
    /// Base units that come out.
    pub amount_out: u128,
    /// Output minus input; above 0.
    pub profit: u128,
    /// No cycle of the graph gives more for any input. Equal to `profit` when it is proven to be the best there is: always
    /// where amounts are small, mostly where they are large; 2^128 - 1 when nothing is proven.
    pub profit_bound: u128,
}

/// Pools in the order in which they are traded with, each with the index of its input.
type Path = ([(usize, usize); HOPS_MAX], usize);

/// The output of a cycle for `x` is at most `over * x / (base + slope * x)`.
struct Curve {
    over: U512,
    base: U512,
    slope: U512,
}

impl Curve {
    /// The curve of trades with constant-product pools; `None` when nothing comes through.
    fn of(edges: &[Edge], path: &[(usize, usize)], fees: Fees) -> Option<Self> {
        let mut curve = Self { over: U512::ONE, base: U512::ONE, slope: U512::ZERO };
        for (number, index) in path {
            let pool = &edges[*number].pool;
            let (whole, kept) = fees.parts(pool)?;
            let wide = |a: u128, b: u128| U512::from(U256::from(a) * U256::from(b));
            let (over, base) = (wide(kept, pool.reserves[1 - index]), wide(whole, pool.reserves[*index]));
            if over.is_zero() || base.is_zero() {
                return None;
            }
            // At most 142 bits more with each trade, so three fit.
            curve = Self {
                slope: base * curve.slope + U512::from(kept) * curve.over,
                over: over * curve.over,
                base: base * curve.base,
            };
        }
        Some(curve)
    }

    /// Whether the first unit gives more than itself.
    fn gains(&self) -> bool {
        self.over > self.base
    }

    /// The profit at the best point, a little more rather than less: (√over - √base)² / slope.
    fn estimate(&self) -> f64 {
        let (over, base) = (f64::from(self.over), f64::from(self.base));
        let difference = f64::from(self.over - self.base);
        let roots = over.sqrt() + base.sqrt();
        (difference / roots) * (difference / roots) / f64::from(self.slope) * (1.0 + 1e-9) + 1.0
    }

    /// The output for `amount`, rounded down; above 128 bits 2^128 - 1.
    fn out(&self, amount: u128) -> u128 {
        let amount = Wide::from(amount);
        let out = Wide::from(self.over) * amount / (Wide::from(self.base) + Wide::from(self.slope) * amount);
        u128::try_from(out).unwrap_or(u128::MAX)
    }

    /// The most profit that the curve allows at `amount`.
    fn room(&self, amount: u128) -> u128 {
        self.out(amount).saturating_sub(amount)
    }

    /// The whole amount below the best point: (√(over * base) - base) / slope.
    fn best(&self) -> u128 {
        let root = (Wide::from(self.over) * Wide::from(self.base)).root(2);
        u128::try_from(root.saturating_sub(Wide::from(self.base)) / Wide::from(self.slope)).unwrap_or(u128::MAX)
    }
}

/// The best input of a cycle so far.
#[derive(Debug, Clone, Copy, Default)]
struct BestInput {
    profit: u128,
    amount: u128,
}

/// A cycle with profit, before its inputs are tried.
struct Candidate {
    /// At least the profit.
    estimate: f64,
    path: Path,
}

impl Graph {
    /// The trades that begin and end in `token` and give most more than they take, each with another pool. `None` when there
    /// are none with profit. `hops_max` is cut at [`HOPS_MAX`]; with less than two there is no cycle.
    pub fn best_cycle(&self, token: AlkaneId, fees: Fees, hops_max: usize) -> Option<Cycle> {
        let start = *self.numbers.get(&token)?;
        let (mut candidates, mut dropped) = self.candidates(start, fees, hops_max.min(HOPS_MAX));
        candidates.sort_by(|a, b| {
            b.estimate.total_cmp(&a.estimate).then_with(|| (a.path.1, a.path.0).cmp(&(b.path.1, b.path.0)))
        });
        let mut best: Option<(BestInput, Path)> = None;
        let mut tries = TRIES_MAX.1;
        for Candidate { estimate, path } in candidates {
            let profit = best.map_or(0, |(found, _)| found.profit);
            if at_most(estimate) <= profit {
                break;
            }
            if tries == 0 {
                dropped = dropped.max(at_most(estimate));
                break;
            }
            let trades = &path.0[..path.1];
            let (found, bound) = match Curve::of(&self.edges, trades, fees) {
                Some(curve) if trades.iter().all(|(number, _)| self.edges[*number].formula.is_none()) => {
                    self.optimum(&curve, trades, fees, profit, &mut tries)
                }
                _ => (self.search_inputs(trades, fees, &mut tries), u128::MAX),
            };
            dropped = dropped.max(bound);
            if found.profit > profit {
                best = Some((found, path));
            }
        }
        let (BestInput { profit, amount }, (trades, length)) = best?;
        let mut hops = Vec::with_capacity(length);
        let mut at = amount;
        for (number, index) in &trades[..length] {
            let edge = &self.edges[*number];
            let out = edge.amount_out(*index, at, fees)?;
            hops.push(edge.hop(*index, at, out, fees));
            at = out;
        }
        Some(Cycle { hops, amount_in: amount, amount_out: at, profit, profit_bound: profit.max(dropped) })
    }

    /// Cycles through `start` that may have profit, and a bound of the profit of those that are left out.
    fn candidates(&self, start: usize, fees: Fees, hops_max: usize) -> (Vec<Candidate>, u128) {
        let (mut candidates, mut dropped, mut seen) = (Vec::new(), 0, 0);
        let step = |number: usize, from: usize| (number, self.edges[number].index(from));
        let mut add = |path: Path| -> bool {
            seen += 1;
            if seen > CYCLES_MAX {
                return false;
            }
            let trades = &path.0[..path.1];
            if trades.iter().any(|(number, _)| self.edges[*number].formula.is_some()) {
                candidates.push(Candidate { estimate: f64::MAX, path });
            } else if let Some(curve) = Curve::of(&self.edges, trades, fees).filter(Curve::gains) {
                candidates.push(Candidate { estimate: curve.estimate(), path });
            }
            if candidates.len() == 2 * KEPT_MAX {
                candidates.select_nth_unstable_by(KEPT_MAX, |a, b| b.estimate.total_cmp(&a.estimate));
                dropped = dropped.max(at_most(candidates[KEPT_MAX].estimate));
                candidates.truncate(KEPT_MAX);
            }
            true
        };
        // Pools between the start and each of its neighbours.
        let mut home: std::collections::HashMap<usize, Vec<usize>> = std::collections::HashMap::new();
        for number in &self.touching[start] {
            home.entry(self.edges[*number].other(start)).or_default().push(*number);
        }
        let is_complete = (|| {
            for first in &self.touching[start] {
                let near = self.edges[*first].other(start);
                if hops_max >= 2 {
                    for last in home[&near].iter().filter(|last| *last != first) {
                        if !add(([step(*first, start), step(*last, near), (0, 0)], 2)) {
                            return false;
                        }
                    }
                }
                if hops_max < 3 {
                    continue;
                }
                for second in &self.touching[near] {
                    let far = self.edges[*second].other(near);
                    for last in home.get(&far).filter(|_| far != start).into_iter().flatten() {
                        if !add(([step(*first, start), step(*second, near), step(*last, far)], 3)) {
                            return false;
                        }
                    }
                }
            }
            true
        })();
        (candidates, if is_complete { dropped } else { u128::MAX })
    }

    /// The output of a cycle; 0 when there is none.
    fn through(&self, trades: &[(usize, usize)], amount: u128, fees: Fees) -> u128 {
        let out = trades
            .iter()
            .try_fold(amount, |amount, (number, index)| self.edges[*number].amount_out(*index, amount, fees));
        out.unwrap_or_default()
    }

    /// The least that must go into a cycle for `wanted` to come out.
    fn least(&self, trades: &[(usize, usize)], wanted: u128, fees: Fees) -> Option<u128> {
        trades
            .iter()
            .rev()
            .try_fold(wanted, |wanted, (number, index)| least_in(&self.edges[*number].pool, *index, wanted, fees))
    }

    /// The best input of a cycle of constant-product pools if it beats `known`, and a bound for all inputs.
    fn optimum(
        &self,
        curve: &Curve,
        trades: &[(usize, usize)],
        fees: Fees,
        known: u128,
        tries: &mut usize,
    ) -> (BestInput, u128) {
        let middle = curve.best();
        let bound = curve.room(middle).max(curve.room(middle.saturating_add(1)));
        let mut found = BestInput { profit: known, amount: 0 };
        let mut left = TRIES_MAX.0.min(*tries);
        // The least input with at least the output of `amount`.
        let mut attempt = |amount: u128, found: &mut BestInput| -> Option<u128> {
            left = left.checked_sub(1)?;
            *tries -= 1;
            let out = self.through(trades, amount, fees);
            // Where nothing comes out, less gives nothing either.
            let least = if out == 0 { 1 } else { self.least(trades, out, fees).unwrap_or(amount) };
            let profit = out.saturating_sub(least);
            if profit > found.profit {
                *found = BestInput { profit, amount: least };
            }
            Some(least)
        };
        let (mut below, mut above) = (Some(middle), Some(middle));
        while below.is_some() || above.is_some() {
            if found.profit >= bound {
                return (found, bound);
            }
            if let Some(amount) = below {
                let Some(least) = attempt(amount, &mut found) else { break };
                // Between `least` and `amount` nothing is better than at `least`.
                below = least.checked_sub(1).filter(|next| *next > 0 && curve.room(*next) > found.profit);
            }
            if let Some(amount) = above {
                let out = self.through(trades, amount, fees);
                let next = out.checked_add(1).and_then(|wanted| self.least(trades, wanted, fees));
                above = next.filter(|next| curve.room(*next) > found.profit);
                if let Some(next) = above
                    && attempt(next, &mut found).is_none()
                {
                    break;
                }
            }
        }
        let open = |amount: Option<u128>| amount.map_or(0, |amount| curve.room(amount));
        let bound = open(below).max(open(above)).max(found.profit);
        (found, bound)
    }

    /// A good input of a cycle with pools of other formulas: the best power of two, then by thirds between its neighbours.
    fn search_inputs(&self, trades: &[(usize, usize)], fees: Fees, tries: &mut usize) -> BestInput {
        let mut found = BestInput::default();
        let mut attempt = |amount: u128, found: &mut BestInput| {
            *tries = tries.saturating_sub(1);
            let out = self.through(trades, amount, fees);
            let profit = out.saturating_sub(amount);
            if profit > found.profit {
                *found = BestInput { profit, amount };
            }
            (out >= amount, out.abs_diff(amount))
        };
        for power in 0..u128::BITS {
            attempt(1 << power, &mut found);
        }
        let (mut low, mut high) = (found.amount / 2, found.amount.saturating_mul(2));
        while found.amount > 0 && high - low > 2 {
            let third = (high - low) / 3;
            let (left, right) = (low + third, high - third);
            let [(left_gains, left_by), (right_gains, right_by)] =
                [left, right].map(|amount| attempt(amount, &mut found));
            let is_left_better = match (left_gains, right_gains) {
                (true, true) => left_by >= right_by,
                (false, false) => left_by <= right_by,
                (left_gains, _) => left_gains,
            };
            if is_left_better { high = right } else { low = left }
        }
        found
    }
}

/// A whole number at or above an estimate, up to 2^128 - 1.
#[expect(clippy::cast_sign_loss, reason = "estimates are above 0, and the cast stops at the greatest number")]
fn at_most(estimate: f64) -> u128 {
    estimate.ceil() as u128
}

//! Orders of invented makers, for development: they open, are matched, filled, taken, cancelled and expire.

use serde_json::{Value, json};

/// Time of the first event of every run, Unix microseconds: the same seed opens with the same orders.
const EPOCH: u64 = 1_754_000_000_000_000;
/// Number of active orders that the makers maintain.
const ACTIVE: usize = 40;

/// Generates change events; the same seed gives the same ones.
#[derive(Debug)]
pub struct Sample {
    random: u64,
    seed: u64,
    network: String,
    makers: Vec<String>,
    count: u64,
    active: Vec<(&'static str, Value)>,
}

impl Sample {
    /// Makers with these addresses.
    pub fn new(seed: u64, network: &str, makers: Vec<String>) -> Self {
        // xorshift needs a state that is not 0.
        let random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Self { random, seed, network: network.to_owned(), makers, count: 0, active: Vec::new() }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % limit.max(1)
    }

    /// The events that a run begins with, as one array: orders in every state. Sent twice, they change nothing.
    pub fn opening(&mut self) -> String {
        let mut events = Vec::new();
        for number in 0..ACTIVE as u64 * 2 {
            let now = EPOCH + number * 60_000_000;
            let event = if number < ACTIVE as u64 { self.open(now, "r") } else { self.step(now) };
            events.push(event);
        }
        Value::Array(events).to_string()
    }

    /// The `source` and `id` of an order that stays active and its market, once there is one.
    pub fn example(&self) -> Option<(String, String, String)> {
        let (table, row) = self.active.first()?;
        let word = |column: &str| row[column].as_str().unwrap_or_default().to_owned();
        let network = &self.network;
        Some(match *table {
            "lending_offers" => {
                let (loan, collateral) = (word("loan_token_id"), word("collateral_token_id"));
                ("lending".to_owned(), word("id"), format!("lending:{network}:pair:{loan}_{collateral}"))
            }
            _ => ("orbitals".to_owned(), word("id"), format!("orbitals:{network}:module:{}", word("module"))),
        })
    }

    /// One event at `now`, Unix microseconds.
    pub fn step(&mut self, now: u64) -> Value {
        let few = self.active.len() < ACTIVE;
        let is_new = self.below(100) < if few { 60 } else { 15 };
        if is_new || self.active.len() < 2 { self.open(now, "c") } else { self.change(now) }
    }

    fn open(&mut self, now: u64, op: &str) -> Value {
        self.count += 1;
        let id = format!("clx{:06x}{:010x}", self.seed & 0xff_ffff, self.count);
        let maker = self.below(self.makers.len() as u64) as usize;
        let maker = self.makers.get(maker).cloned().unwrap_or_default();
        let (table, mut row) = match self.below(3) {
            0 => ("orbital_listings", self.orbital()),
            1 => ("orbital_offers", self.orbital()),
            _ => ("lending_offers", self.loan()),
        };
        row["id"] = id.into();
        row["network"] = self.network.as_str().into();
        row["maker_address"] = maker.into();
        row["status"] = "open".into();
        row["created_at"] = now.into();
        row["updated_at"] = now.into();
        self.active.push((table, row.clone()));
        event(op, table, &row, now)
    }

    fn orbital(&mut self) -> Value {
        let module = ["fire-pos", "ember", "orbit"][self.below(3) as usize];
        let collection = 100 + self.below(3);
        let price = 100_000_000 + self.below(900_000_000);
        json!({
            "module": module, "collection": format!("2:{collection}"),
            "token_id": format!("2:{}", 1_000 + self.below(500)),
            "amount": "1", "price": price.to_string(), "price_unit": "DIESEL",
        })
    }

    fn loan(&mut self) -> Value {
        let (loan, collateral) = [("2:0", "32:0"), ("32:0", "2:0")][self.below(2) as usize];
        let role = ["creditor", "debitor"][self.below(2) as usize];
        let (amount, held) = (1_000_000 + self.below(99_000_000), 1_000_000 + self.below(99_000_000));
        json!({
            "role": role, "loan_token_id": loan, "loan_amount": amount.to_string(),
            "collateral_token_id": collateral, "collateral_amount": held.to_string(),
            "apr_bp": (200 + self.below(2_800)).to_string(), "duration_blocks": (144 * (1 + self.below(30))).to_string(),
        })
    }

    /// Something happens to an active order.
    fn change(&mut self, now: u64) -> Value {
        // The first one stays as it is: it is the example.
        let index = 1 + self.below(self.active.len() as u64 - 1) as usize;
        let (table, mut row) = self.active.swap_remove(index);
        let now_is = row["status"].as_str().unwrap_or_default().to_owned();
        let is_loan = table == "lending_offers";
        let next = match (now_is.as_str(), self.below(10)) {
            ("open", 0..4) => "matched",
            ("open", 4) => "expired",
            ("open", 5) => "cancelled",
            ("open", 6) => "deleted",
            ("open", _) => "open",
            ("matched", 0..7) => "pending",
            _ if is_loan => "taken",
            _ => "filled",
        };
        if next == "deleted" {
            return json!({ "op": "d", "source": { "table": table, "ts_us": now }, "before": row, "after": null });
        }
        if next == "open" {
            // Its maker thinks of another price.
            let column = if is_loan { "apr_bp" } else { "price" };
            row[column] = (100 + self.below(1_000_000)).to_string().into();
        }
        row["status"] = next.into();
        row["updated_at"] = now.into();
        if ["open", "matched", "pending"].contains(&next) {
            self.active.push((table, row.clone()));
        }
        event("u", table, &row, now)
    }
}

fn event(op: &str, table: &str, row: &Value, now: u64) -> Value {
    json!({ "op": op, "source": { "table": table, "ts_us": now }, "before": null, "after": row })
}

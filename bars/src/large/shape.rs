//! The committed table of mainnet's shape by height.

use xtask::process::{Failure, Outcome};

/// The table.
const TABLE: &str = include_str!("../../shape.csv");
/// Height that the table ends at.
pub(crate) const MAINNET_HEIGHT: u64 = 961_500;
/// Bytes of all blocks up to there, about.
pub(crate) const MAINNET_BYTES: u64 = 750_000_000_000;

/// One stretch of the chain. Shares are thousandths, means hundredths where `bars/shape.csv` says so.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Row {
    pub(crate) until: u32,
    pub(crate) transactions: u32,
    pub(crate) inputs: u32,
    pub(crate) outputs: u32,
    /// P2PK, P2PKH, P2SH, P2WPKH, P2WSH, P2TR.
    pub(crate) kinds: [u32; 6],
    pub(crate) nested: u32,
    pub(crate) long_keys: u32,
    pub(crate) fresh: u32,
    pub(crate) busy: u32,
    pub(crate) data: u32,
    pub(crate) inscriptions: u32,
    pub(crate) runes: u32,
    pub(crate) contracts: u32,
    /// Of `contracts`, mints of the genesis token.
    pub(crate) genesis: u32,
    /// Of `contracts`, orders to an exchange.
    pub(crate) orders: u32,
}

impl Row {
    /// Whether blocks carry a witness commitment.
    pub(crate) const fn has_witnesses(&self) -> bool {
        self.nested > 0
    }
}

/// The table, scaled to a chain of some height.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    rows: Vec<Row>,
    height: u32,
    contracts_from: u32,
}

impl Shape {
    /// The committed table for a chain whose last block is at `height`.
    pub(crate) fn committed(height: u32) -> Outcome<Self> {
        let mut shape = Self { rows: parse(TABLE)?, height, contracts_from: u32::MAX };
        shape.contracts_from = shape.first(|row| row.contracts).unwrap_or(u32::MAX);
        Ok(shape)
    }

    /// The same with another share of orders among the calls of contracts, in thousandths.
    #[cfg(test)]
    pub(crate) fn with_orders(mut self, orders: u32) -> Self {
        for row in self.rows.iter_mut().filter(|row| row.contracts > 0) {
            (row.orders, row.genesis) = (orders, row.genesis.min(1000 - orders));
        }
        self
    }

    /// Height of a chain of about `bytes`: its blocks are as large as mainnet's.
    pub(crate) fn height_of(bytes: u64) -> u32 {
        // Far below the limit of the type for what fits on a disk.
        ((u128::from(bytes) * u128::from(MAINNET_HEIGHT) / u128::from(MAINNET_BYTES)) as u32).max(1)
    }

    /// Number of the row at a height of the chain.
    pub(crate) fn at(&self, height: u32) -> u8 {
        let scaled = u64::from(height) * MAINNET_HEIGHT / u64::from(self.height.max(1));
        let row = self.rows.iter().position(|row| scaled < u64::from(row.until)).unwrap_or(self.rows.len() - 1);
        row as u8
    }

    pub(crate) fn row(&self, number: u8) -> &Row {
        &self.rows[usize::from(number).min(self.rows.len() - 1)]
    }

    pub(crate) const fn height(&self) -> u32 {
        self.height
    }

    /// First height with contracts.
    pub(crate) const fn contracts_from(&self) -> u32 {
        self.contracts_from
    }

    /// First height at which a share of the row is above zero.
    pub(crate) fn first(&self, share: impl Fn(&Row) -> u32) -> Option<u32> {
        (0..=self.height).find(|height| share(self.row(self.at(*height))) > 0)
    }

    /// Distinguishes tables in names of files.
    pub(crate) fn mark() -> u64 {
        TABLE.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }
}

fn parse(table: &str) -> Outcome<Vec<Row>> {
    let mut lines = table.lines().filter(|line| !line.starts_with('#'));
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let mut rows = Vec::new();
    for line in lines {
        let broken = || Failure::new(format!("bars/shape.csv: `{line}` does not fit the columns"));
        let cells: Vec<u32> = line.split(',').map_while(|cell| cell.parse().ok()).collect();
        if cells.len() != names.len() {
            return Err(broken());
        }
        let mut row = Row::default();
        for (name, cell) in names.iter().zip(cells) {
            let place = match *name {
                "until" => &mut row.until,
                "transactions" => &mut row.transactions,
                "inputs" => &mut row.inputs,
                "outputs" => &mut row.outputs,
                "p2pk" => &mut row.kinds[0],
                "p2pkh" => &mut row.kinds[1],
                "p2sh" => &mut row.kinds[2],
                "p2wpkh" => &mut row.kinds[3],
                "p2wsh" => &mut row.kinds[4],
                "p2tr" => &mut row.kinds[5],
                "nested" => &mut row.nested,
                "long_keys" => &mut row.long_keys,
                "fresh" => &mut row.fresh,
                "busy" => &mut row.busy,
                "data" => &mut row.data,
                "inscriptions" => &mut row.inscriptions,
                "runes" => &mut row.runes,
                "contracts" => &mut row.contracts,
                "genesis" => &mut row.genesis,
                "orders" => &mut row.orders,
                _ => return Err(broken()),
            };
            *place = cell;
        }
        if row.kinds.iter().sum::<u32>() != 1000 || row.fresh + row.busy > 1000 || row.genesis + row.orders > 1000 {
            return Err(Failure::new(format!("bars/shape.csv: the shares of `{line}` do not sum up")));
        }
        rows.push(row);
    }
    if rows.is_empty() { Err(Failure::new("bars/shape.csv holds no row")) } else { Ok(rows) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole_and_scales() {
        let shape = Shape::committed(1_000).unwrap();
        assert!(shape.rows.is_sorted_by_key(|row| row.until));
        assert_eq!(u64::from(shape.rows.last().unwrap().until), MAINNET_HEIGHT);
        assert_eq!((shape.at(0), usize::from(shape.at(1_000))), (0, shape.rows.len() - 1));
        // BIP141 at 481,824 of 961,500.
        assert_eq!(shape.first(|row| row.nested), Some(502));
        let total: u64 = (shape.rows.iter())
            .scan(0, |from, row| {
                let blocks = row.until - std::mem::replace(from, row.until);
                Some(u64::from(blocks) * u64::from(row.transactions))
            })
            .sum();
        assert!((1_300_000_000..1_500_000_000).contains(&total), "{total} transactions on mainnet");
    }

    #[test]
    fn broken_tables_are_refused() {
        assert!(parse("until,transactions\n1").is_err());
        assert!(parse("until,colour\n1,2").is_err());
        assert!(parse("until,p2pk\n1,900").is_err());
    }
}

//! The hash over all balances, as OPI's `get_hash_of_all_current_balances` makes it.

use std::cmp::Ordering;

use bitcoin::hashes::{Hash as _, HashEngine as _, sha256};
use bitcoin::hex::DisplayHex as _;

use super::{BALANCES, Brc20Index, LedgerError, decode_balance, take_script};

/// What came of a walk over all balances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BalancesDigest {
    /// SHA-256 of `script;ticker;overall;available` for every balance above 0, with `|` between them, by script and then by
    /// ticker, both as texts are compared in JavaScript.
    Hash([u8; 32]),
    /// The time was over.
    OutOfTime,
}

/// The balances of one script that are not written yet.
#[derive(Default)]
struct Pending {
    script: Vec<u8>,
    /// Ticker, overall and available.
    lines: Vec<(String, String)>,
}

struct Walk {
    engine: sha256::HashEngine,
    is_first: bool,
}

impl Walk {
    /// Writes what one script has. Its tickers come in the order of their bytes, which differs for some.
    fn write(&mut self, script: &str, pending: &mut Pending) {
        pending.lines.sort_by(|(left, _), (right, _)| compare(left, right));
        for (ticker, amounts) in pending.lines.drain(..) {
            let separator = if std::mem::take(&mut self.is_first) { "" } else { "|" };
            self.engine.input(format!("{separator}{script};{ticker};{amounts}").as_bytes());
        }
    }
}

/// The order of texts in JavaScript: by their UTF-16.
fn compare(left: &str, right: &str) -> Ordering {
    left.encode_utf16().cmp(right.encode_utf16())
}

impl Brc20Index<'_> {
    /// The hash over all balances. It reads every balance there is, so `is_over` is checked along the way.
    ///
    /// # Errors
    /// See [`Brc20Index::height`].
    pub fn balances_digest(&self, is_over: &dyn Fn() -> bool) -> Result<BalancesDigest, LedgerError> {
        let mut walk = Walk { engine: sha256::Hash::engine(), is_first: true };
        let mut pending = Pending::default();
        let mut shown = String::new();
        for (number, row) in self.snapshot.prefix(&BALANCES, &[]).enumerate() {
            if number % 1024 == 0 && is_over() {
                return Ok(BalancesDigest::OutOfTime);
            }
            let (key, value) = row?;
            let mut ticker = key.as_slice();
            let name = take_script(&mut ticker)?;
            let part = &key[..key.len() - ticker.len()];
            if part != pending.script {
                walk.write(&shown, &mut pending);
                pending.script = part.to_vec();
                shown = self.script(name)?.as_bytes().to_lower_hex_string();
            }
            let balance = decode_balance(&value)?;
            if balance.overall.0 > 0 {
                let ticker = std::str::from_utf8(ticker);
                let ticker = ticker.map_err(|_| LedgerError::Damaged("a ticker in a key is no text"))?;
                pending.lines.push((ticker.to_owned(), format!("{};{}", balance.overall, balance.available)));
            }
        }
        walk.write(&shown, &mut pending);
        Ok(BalancesDigest::Hash(sha256::Hash::from_engine(walk.engine).to_byte_array()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_compared_as_javascript_does() {
        // In bytes the second comes last; in UTF-16 its surrogates come before the first.
        assert_eq!(compare("\u{ff21}", "\u{1f600}"), Ordering::Greater);
        assert_eq!("\u{ff21}".cmp("\u{1f600}"), Ordering::Less);
        assert_eq!(compare("abc", "abcd"), Ordering::Less);
    }
}

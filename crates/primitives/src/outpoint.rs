use std::str::FromStr;

use bitcoin::{OutPoint, Txid};

/// The text is not `txid:vout`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an outpoint is written txid:vout, 64 hex digits, a colon and a decimal output index")]
pub struct ParseOutPointError;

/// Parses `txid:vout`, the txid in display order.
///
/// # Errors
/// [`ParseOutPointError`] when the text has another form or the index does not fit 32 bits.
pub fn parse_outpoint(text: &str) -> Result<OutPoint, ParseOutPointError> {
    let (txid, vout) = text.split_once(':').ok_or(ParseOutPointError)?;
    if vout.is_empty() || !vout.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ParseOutPointError);
    }
    Ok(OutPoint {
        txid: Txid::from_str(txid).map_err(|_| ParseOutPointError)?,
        vout: vout.parse().map_err(|_| ParseOutPointError)?,
    })
}

/// Writes `txid:vout`, the txid in display order.
pub fn format_outpoint(outpoint: &OutPoint) -> String {
    format!("{}:{}", outpoint.txid, outpoint.vout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips_and_odd_forms_are_refused() {
        let text = "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b:4294967295";
        assert_eq!(format_outpoint(&parse_outpoint(text).unwrap()), text);
        for text in [
            "",
            ":",
            "00:1",
            "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b:+1",
            "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b:4294967296",
        ] {
            assert!(parse_outpoint(text).is_err(), "{text}");
        }
    }
}

//! Banco Central de la República Argentina: JSON, pesos for a number of units that only the description states. A holiday is an
//! empty list.

use serde::Deserialize;
use serde_json::Value;

use super::json::{number, parse};
use crate::clock::iso_day;
use crate::currency::Currency;
use crate::error::{FeedError, RowError};
use crate::ratio::Ratio;
use crate::sheet::{Reading, Sheet, rate, units};

#[derive(Deserialize)]
struct Answer {
    results: Results,
}

#[derive(Deserialize)]
struct Results {
    fecha: Option<String>,
    #[serde(default)]
    detalle: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    codigo_moneda: String,
    #[serde(default)]
    descripcion: Option<String>,
    #[serde(default)]
    tipo_cotizacion: Value,
}

impl Entry {
    fn row(&self, day: u64) -> Result<(Ratio, u64), RowError> {
        let pesos = rate(&number(&self.tipo_cotizacion)?)?;
        let units = quoted_units(self.descripcion.as_deref().unwrap_or_default())?;
        Ok((units.over(&pesos).ok_or(RowError::Zero)?, day))
    }
}

pub(super) fn read(bytes: &[u8], now: u64) -> Result<Reading, FeedError> {
    let answer: Answer = parse(bytes, "it has no results.fecha and results.detalle")?;
    let Results { fecha, detalle } = answer.results;
    if detalle.is_empty() {
        return Err(FeedError::Empty);
    }
    let day =
        fecha.as_deref().and_then(iso_day).ok_or(FeedError::Form("results.fecha is not a day like 2026-03-19"))?;
    let mut sheet = Sheet::new(Currency::ARS, now);
    for entry in &detalle {
        sheet.add(&entry.codigo_moneda, &entry.row(day));
    }
    sheet.finish()
}

/// `… (C/1.000 UNIDADES)`: the dot separates thousands. Without such a mark it is one unit.
fn quoted_units(description: &str) -> Result<Ratio, RowError> {
    let Some((_, after)) = description.split_once("C/") else { return Ok(Ratio::ONE) };
    let len = after.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(after.len());
    let (digits, after) = after.split_at(len);
    if digits.is_empty() {
        return Ok(Ratio::ONE);
    }
    let mut groups = digits.split('.');
    let is_grouped =
        groups.next().is_some_and(|first| (1..=3).contains(&first.len())) && groups.all(|group| group.len() == 3);
    let is_marked = after.trim_start().to_ascii_uppercase().starts_with("UNIDADES");
    let is_plain = !digits.contains('.');
    if !is_marked || !(is_grouped || is_plain) {
        return Err(RowError::Units);
    }
    units(&digits.replace('.', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_told_by_the_description() {
        for (description, expected) in [
            ("DOLAR AUSTRALIA", Some(1)),
            ("DONG VIETNAM (C/1.000 UNIDADES)", Some(1_000)),
            ("GUARANI (C/100 unidades)", Some(100)),
            ("RUPIA (C/10000 UNIDADES)", Some(10_000)),
            ("X C/ALGO", Some(1)),
            ("X (C/1.00 UNIDADES)", None),
            ("X (C/0 UNIDADES)", None),
            ("X (C/1.000)", None),
            ("X (C/10.000.000 UNIDADES)", None),
        ] {
            assert_eq!(quoted_units(description).ok(), expected.map(Ratio::whole), "{description}");
        }
    }
}

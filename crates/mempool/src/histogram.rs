//! Virtual bytes by feerate.

/// Number of default buckets.
pub const DEFAULT_FLOORS: usize = 24;

/// Default floors in satoshis for one virtual byte: geometric from 0.1 to 1000 (docs/mempool.md).
#[allow(clippy::cast_precision_loss)] // 0 to 23
pub fn default_floors() -> [f64; DEFAULT_FLOORS] {
    let steps = (DEFAULT_FLOORS - 1) as f64;
    std::array::from_fn(|step| {
        let floor = 0.1 * 10_000f64.powf(step as f64 / steps);
        // Rounded to nine digits, so that floors print without artefacts.
        (floor * 1e9).round() / 1e9
    })
}

/// The bucket of a feerate: the last floor at or below it; below the first it counts in the first.
pub(crate) fn bucket(floors: &[f64], feerate: f64) -> usize {
    floors.partition_point(|floor| *floor <= feerate).saturating_sub(1)
}

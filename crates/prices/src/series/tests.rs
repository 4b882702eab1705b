use proptest::prelude::*;
use ruint::aliases::U256;

use super::*;

fn sample(time: u64, dollars: u64) -> Sample {
    Sample { point: PricePoint { time, price: UsdPrice(u128::from(dollars) * UsdPrice::DOLLAR.0) }, activity: None }
}

fn times(series: &Series) -> Vec<u64> {
    series.range(0, u64::MAX).iter().map(|point| point.time).collect()
}

#[test]
fn readings_are_kept_every_so_often_and_the_newest_is_always_told() {
    let mut series = Series::new(600, 30 * DAY);
    assert_eq!((series.newest(), series.at(u64::MAX)), (None, None));
    assert!(series.observe(sample(1_000, 1)));
    assert!(!series.observe(sample(1_060, 2)));
    assert!(!series.observe(sample(1_599, 3)));
    assert_eq!(times(&series), [1_000, 1_599]);
    assert!(series.observe(sample(1_600, 4)));
    assert_eq!(times(&series), [1_000, 1_600]);
    // An endpoint that falls behind or repeats itself changes nothing.
    assert!(!series.observe(sample(1_600, 9)) && !series.observe(sample(1_200, 9)));
    assert_eq!(series.newest().unwrap().point, sample(1_600, 4).point);
}

#[test]
fn the_point_at_a_time_is_the_newest_at_or_before_it() {
    let mut series = Series::new(600, 30 * DAY);
    series.extend([sample(3_000, 3), sample(1_000, 1), sample(2_000, 2), sample(2_000, 7)]);
    series.observe(sample(3_100, 4));
    let at = |time| series.at(time).map(|point| (point.time, point.price.0 / UsdPrice::DOLLAR.0));
    for (time, expected) in [
        (0, None),
        (999, None),
        (1_000, Some((1_000, 1))),
        (1_999, Some((1_000, 1))),
        (2_000, Some((2_000, 7))),
        (3_099, Some((3_000, 3))),
        (3_100, Some((3_100, 4))),
        (u64::MAX, Some((3_100, 4))),
    ] {
        assert_eq!(at(time), expected, "{time}");
    }
    assert_eq!(series.range(1_001, 3_099).len(), 2);
    assert_eq!(series.range(3_100, 3_100).len(), 1);
    assert!(series.range(3_100, 1_000).is_empty() && series.range(5_000, 6_000).is_empty());
}

#[test]
fn old_points_are_thinned_out_to_one_an_hour() {
    let mut series = Series::new(600, 2 * DAY);
    series.extend((0..20 * 144).map(|index| sample(index * 600, 1)));
    let newest = 20 * DAY - 600;
    let young = newest - 2 * DAY;
    let points = times(&series);
    assert_eq!(points.iter().filter(|time| **time >= young).count(), 2 * 144 + 1);
    assert!(points.iter().filter(|time| **time < young).all(|time| time % 3_600 == 0), "one point of each hour");
    assert_eq!(points.iter().filter(|time| **time < young).count() as u64, young.div_ceil(3_600));
    // It goes on while points arrive.
    let before = points.len();
    for index in 0..144 {
        series.observe(sample(20 * DAY + index * 600, 1));
    }
    assert_eq!(times(&series).len(), before + 24);
}

#[test]
fn there_are_never_more_points_than_the_limit() {
    let mut series = Series::new(1, u64::MAX);
    series.extend((0..SAMPLES_MAX as u64 + 500).map(|time| sample(time, 1)));
    assert_eq!(times(&series).len(), SAMPLES_MAX);
    assert!(series.observe(sample(1 << 40, 1)));
    assert_eq!((times(&series).len(), times(&series)[0]), (SAMPLES_MAX, 501));
}

#[test]
fn the_past_is_filled_in_where_it_is_missing() {
    let mut series = Series::new(600, 30 * DAY);
    assert!(!series.insert(sample(5, 1)), "without a present there is no past");
    series.observe(sample(10_000, 1));
    assert!(series.insert(sample(5_000, 2)) && !series.insert(sample(5_000, 3)) && !series.insert(sample(20_000, 3)));
    assert!(series.has_near(5_100, 100) && series.has_near(4_900, 100) && !series.has_near(5_101, 100));
    assert!(!series.has_near(0, 4_999) && series.has_near(u64::MAX, u64::MAX));
}

#[test]
fn the_volume_of_a_day_is_what_was_traded_between_its_readings() {
    let activity = |cents: u64| {
        // Fees of one part in a billion of a liquidity of 2^128: a unit of growth is a unit paid in.
        let growth = U256::from(cents) * U256::from(10_000);
        Some(Activity {
            growth: [U256::ZERO, growth],
            liquidity: 1 << 127,
            fee_ppb: [500_000_000; 2],
            decimals: [8, 6],
        })
    };
    let traded = |time, cents| Sample { activity: activity(cents), ..sample(time, 50_000) };
    let mut series = Series::new(600, 30 * DAY);
    series.extend([traded(0, 0), traded(DAY / 2, 1_000), traded(DAY, 3_000), traded(2 * DAY, 4_000)]);
    assert_eq!(series.cents_of_day(DAY), Some(3_000));
    assert_eq!(series.cents_of_day(2 * DAY), Some(1_000));
    // Half of the span before and half of the one after.
    assert_eq!(series.cents_of_day(DAY + DAY / 4), Some(500 + 2_000 + 250));
    assert_eq!(series.cents_of_day(DAY - 1), None, "a day that begins before the readings");
    assert_eq!(series.cents_of_day(2 * DAY + 1), None, "a day that ends after them");
    series.extend([sample(DAY + 5, 50_000)]);
    assert_eq!(series.cents_of_day(2 * DAY), None, "a reading without sums");
    series.forget_activity();
    assert_eq!(series.cents_of_day(DAY), None);
}

#[test]
fn the_volume_of_a_day_survives_points_that_come_late_and_points_that_go() {
    let traded = |time: u64| {
        // A unit of growth is a unit paid in, and 10,000 units are a cent: a cent each second.
        let growth = [U256::ZERO, U256::from(time) * U256::from(10_000)];
        let activity = Activity { growth, liquidity: 1 << 127, fee_ppb: [500_000_000; 2], decimals: [8, 6] };
        Sample { activity: Some(activity), ..sample(time, 50_000) }
    };
    let mut series = Series::new(600, DAY);
    series.extend([traded(0), traded(3 * DAY)]);
    for time in [2 * DAY, DAY, DAY / 2, 2 * DAY + 5] {
        assert!(series.insert(traded(time)));
    }
    assert_eq!(series.cents_of_day(3 * DAY), Some(u128::from(DAY)));
    for step in 1..300 {
        series.observe(traded(3 * DAY + step * 600));
    }
    let newest = series.newest().unwrap().point.time;
    for time in [DAY, 2 * DAY, 3 * DAY, 3 * DAY + 7_777, 4 * DAY, newest] {
        assert_eq!(series.cents_of_day(time).map(|cents| cents.abs_diff(u128::from(DAY)) <= 300), Some(true), "{time}");
    }
}

proptest! {
    #[test]
    fn queries_agree_with_a_plain_scan(mut given in prop::collection::vec(0_u64..5_000, 1..60), from: u16, to: u16) {
        let mut series = Series::new(1, u64::MAX);
        series.extend(given.iter().map(|time| sample(*time, *time)));
        given.sort_unstable();
        given.dedup();
        let (from, to) = (u64::from(from % 6_000), u64::from(to % 6_000));
        prop_assert_eq!(series.at(from).map(|point| point.time), given.iter().copied().rfind(|time| *time <= from));
        let scanned: Vec<u64> = given.iter().copied().filter(|time| *time >= from && *time <= to).collect();
        let listed: Vec<u64> = series.range(from, to).iter().map(|point| point.time).collect();
        prop_assert_eq!(listed, scanned);
    }
}

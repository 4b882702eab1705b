use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Longest plan name, in characters.
const NAME_CHARS_MAX: usize = 32;

/// The plan of an account, by name. Its limits are in [`Plans`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Plan(Cow<'static, str>);

/// The text cannot be the name of a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the name of a plan has 1 to {NAME_CHARS_MAX} characters of a-z, 0-9 and -")]
pub struct ParsePlanError;

impl Plan {
    /// The plan that is seeded as the smallest (docs/configuration.md).
    pub const FREE: Self = Self(Cow::Borrowed("free"));
    /// The plan that is seeded for paying developers.
    pub const PRO: Self = Self(Cow::Borrowed("pro"));
    /// The plan that is seeded without limits.
    pub const BUSINESS: Self = Self(Cow::Borrowed("business"));

    /// Its name in the store, in configuration and in answers.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Plan {
    type Err = ParsePlanError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if text.is_empty() || text.len() > NAME_CHARS_MAX || !text.bytes().all(allowed) {
            return Err(ParsePlanError);
        }
        Ok(Self(Cow::Owned(text.to_owned())))
    }
}

impl TryFrom<String> for Plan {
    type Error = ParsePlanError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// How many requests in the clock minute and in the UTC day; `None`: no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WindowLimits {
    /// Requests in one clock minute.
    pub per_minute: Option<u32>,
    /// Requests in one UTC day.
    pub per_day: Option<u32>,
}

impl WindowLimits {
    /// No limit at all.
    pub const NONE: Self = Self { per_minute: None, per_day: None };

    /// The smaller of both in each window: limits of a key never widen those of its plan.
    #[must_use]
    pub fn within(self, outer: Self) -> Self {
        let smaller = |own: Option<u32>, outer: Option<u32>| match (own, outer) {
            (Some(own), Some(outer)) => Some(own.min(outer)),
            (own, outer) => own.or(outer),
        };
        Self { per_minute: smaller(self.per_minute, outer.per_minute), per_day: smaller(self.per_day, outer.per_day) }
    }
}

/// Limits of a plan; an absent member is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlanTerms {
    /// Requests in one clock minute, for each key.
    pub per_minute: Option<u32>,
    /// Requests in one UTC day, for each key.
    pub per_day: Option<u32>,
    /// Active keys of one account.
    pub keys_max: Option<u32>,
}

impl PlanTerms {
    /// The windows of the plan.
    pub const fn windows(self) -> WindowLimits {
        WindowLimits { per_minute: self.per_minute, per_day: self.per_day }
    }
}

/// All plans of an instance: the three seeded ones (docs/configuration.md), changed and added to by configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "BTreeMap<Plan, PlanTerms>")]
pub struct Plans(BTreeMap<Plan, PlanTerms>);

impl Default for Plans {
    fn default() -> Self {
        let terms = |per_minute, per_day, keys_max| PlanTerms { per_minute, per_day, keys_max };
        Self(BTreeMap::from([
            (Plan::FREE, terms(Some(60), Some(1_000), Some(1))),
            (Plan::PRO, terms(Some(600), Some(50_000), Some(10))),
            (Plan::BUSINESS, PlanTerms::default()),
        ]))
    }
}

impl From<BTreeMap<Plan, PlanTerms>> for Plans {
    /// The seeded plans; a plan that is given replaces the seeded one of that name as a whole.
    fn from(given: BTreeMap<Plan, PlanTerms>) -> Self {
        let mut plans = Self::default();
        plans.0.extend(given);
        plans
    }
}

impl Plans {
    /// Limits of a plan; `None` for a plan that is not configured.
    pub fn terms(&self, plan: &Plan) -> Option<PlanTerms> {
        self.0.get(plan).copied()
    }

    /// The windows of a caller with own limits. A plan that is no longer configured counts as Free, the smallest.
    pub fn windows(&self, plan: &Plan, own: WindowLimits) -> WindowLimits {
        let terms = self.terms(plan).or_else(|| self.terms(&Plan::FREE)).unwrap_or_default();
        own.within(terms.windows())
    }

    /// All plans by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Plan, PlanTerms)> {
        self.0.iter().map(|(plan, terms)| (plan, *terms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seeded_plans_are_those_of_the_limits_table() {
        let plans = Plans::default();
        let of = |plan: Plan| plans.terms(&plan).map(|terms| (terms.per_minute, terms.per_day, terms.keys_max));
        assert_eq!(of(Plan::FREE), Some((Some(60), Some(1_000), Some(1))));
        assert_eq!(of(Plan::PRO), Some((Some(600), Some(50_000), Some(10))));
        assert_eq!(of(Plan::BUSINESS), Some((None, None, None)));
        assert_eq!(plans.terms(&"other".parse().unwrap()), None);
    }

    #[test]
    fn own_limits_narrow_a_plan_and_never_widen_it() {
        let plans = Plans::default();
        let own = WindowLimits { per_minute: Some(1_000), per_day: Some(10) };
        assert_eq!(plans.windows(&Plan::FREE, own), WindowLimits { per_minute: Some(60), per_day: Some(10) });
        assert_eq!(plans.windows(&Plan::BUSINESS, own), own);
        let gone: Plan = "gone".parse().unwrap();
        assert_eq!(plans.windows(&gone, WindowLimits::NONE), plans.windows(&Plan::FREE, WindowLimits::NONE));
    }

    #[test]
    fn names_of_plans_are_short_and_plain() {
        for (text, accepted) in [("free", true), ("team-5", true), ("", false), ("Pro", false), ("a b", false)] {
            assert_eq!(text.parse::<Plan>().is_ok(), accepted, "{text}");
        }
        assert!("a".repeat(33).parse::<Plan>().is_err());
    }
}

//! Whole numbers beyond 64 bits. As floats they would lose digits, and amounts of alkanes and runes have 128 bits.

use std::cmp::Ordering;

use mlua::{FromLua, Lua, MetaMethod, UserData, UserDataMethods, Value};

/// Longest one in digits; beyond it a number becomes a float.
const DIGITS_MAX: usize = 80;

/// A whole number outside of Lua's own range, by its digits. It compares exactly, and counts as a float in arithmetic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exact(String);

impl Exact {
    /// `None` where Lua's own numbers are used: it fits, has a fraction or an exponent, or too many digits.
    pub(crate) fn read(number: &str) -> Option<Self> {
        let digits = number.strip_prefix('-').unwrap_or(number);
        let is_whole = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        let is_beyond = is_whole && digits.len() <= DIGITS_MAX && number.parse::<i64>().is_err();
        is_beyond.then(|| Self(number.to_owned()))
    }

    /// As JSON writes it.
    pub(crate) fn digits(&self) -> &str {
        &self.0
    }

    fn float(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }

    fn is_negative(&self) -> bool {
        self.0.starts_with('-')
    }
}

impl Ord for Exact {
    fn cmp(&self, other: &Self) -> Ordering {
        let size = |number: &Self| (number.0.len(), number.0.clone());
        match (self.is_negative(), other.is_negative()) {
            (false, false) => size(self).cmp(&size(other)),
            (true, true) => size(other).cmp(&size(self)),
            (negative, _) => {
                if negative {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
        }
    }
}

impl PartialOrd for Exact {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

type Operation = fn(f64, f64) -> f64;

/// One side of an operation.
enum Operand {
    Exact(Exact),
    Integer(i64),
    Float(f64),
}

impl Operand {
    fn float(&self) -> f64 {
        match self {
            Self::Exact(exact) => exact.float(),
            #[allow(clippy::cast_precision_loss)] // Lua's own rule when an integer meets a float
            Self::Integer(integer) => *integer as f64,
            Self::Float(float) => *float,
        }
    }

    fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Exact(one), Self::Exact(other)) => Some(one.cmp(other)),
            // An exact number is beyond all integers.
            (Self::Exact(one), Self::Integer(_)) => {
                Some(if one.is_negative() { Ordering::Less } else { Ordering::Greater })
            }
            (Self::Integer(_), Self::Exact(_)) => other.compare(self).map(Ordering::reverse),
            (one, other) => one.float().partial_cmp(&other.float()),
        }
    }
}

impl FromLua for Operand {
    fn from_lua(value: Value, lua: &Lua) -> mlua::Result<Self> {
        match value {
            Value::Integer(integer) => Ok(Self::Integer(integer)),
            Value::Number(float) => Ok(Self::Float(float)),
            Value::UserData(data) => Ok(Self::Exact(data.borrow::<Exact>()?.clone())),
            value => {
                let kind = value.type_name();
                let number = lua.coerce_number(value)?.map(Self::Float);
                number.ok_or_else(|| mlua::Error::runtime(format!("attempt to reckon with a {kind} value")))
            }
        }
    }
}

impl UserData for Exact {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::ToString, |_, exact, ()| Ok(exact.0.clone()));
        methods.add_meta_function(MetaMethod::Concat, |lua, (one, other): (Value, Value)| {
            let text = |value: Value| match value {
                Value::UserData(data) => Ok(data.borrow::<Self>()?.0.clone().into_bytes()),
                value => {
                    let kind = value.type_name();
                    let text = lua.coerce_string(value)?.map(|text| text.as_bytes().to_vec());
                    text.ok_or_else(|| mlua::Error::runtime(format!("attempt to concatenate a {kind} value")))
                }
            };
            let mut joined = text(one)?;
            joined.extend(text(other)?);
            lua.create_string(joined)
        });
        let compare = |one: &Operand, other: &Operand| one.compare(other);
        methods.add_meta_function(MetaMethod::Eq, move |_, (one, other): (Operand, Operand)| {
            Ok(compare(&one, &other) == Some(Ordering::Equal))
        });
        methods.add_meta_function(MetaMethod::Lt, move |_, (one, other): (Operand, Operand)| {
            Ok(compare(&one, &other) == Some(Ordering::Less))
        });
        methods.add_meta_function(MetaMethod::Le, move |_, (one, other): (Operand, Operand)| {
            Ok(matches!(compare(&one, &other), Some(Ordering::Less | Ordering::Equal)))
        });
        methods.add_meta_function(MetaMethod::Unm, |_, (one, _): (Operand, Value)| Ok(-one.float()));
        let operations: [(MetaMethod, Operation); 7] = [
            (MetaMethod::Add, |one, other| one + other),
            (MetaMethod::Sub, |one, other| one - other),
            (MetaMethod::Mul, |one, other| one * other),
            (MetaMethod::Div, |one, other| one / other),
            (MetaMethod::Mod, |one, other| one - (one / other).floor() * other),
            (MetaMethod::IDiv, |one, other| (one / other).floor()),
            (MetaMethod::Pow, f64::powf),
        ];
        for (method, operation) in operations {
            methods.add_meta_function(method, move |_, (one, other): (Operand, Operand)| {
                Ok(operation(one.float(), other.float()))
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_numbers_are_those_that_64_bits_do_not_hold_and_order_like_numbers() {
        for inside in ["0", "-1", "9223372036854775807", "-9223372036854775808", "1.5", "1e30", "", "-"] {
            assert_eq!(Exact::read(inside), None, "{inside}");
        }
        assert_eq!(Exact::read(&"9".repeat(81)), None);
        let ascending = [
            "-340282366920938463463374607431768211455",
            "-9223372036854775810",
            "-9223372036854775809",
            "9223372036854775808",
            "9223372036854775809",
            "340282366920938463463374607431768211455",
        ];
        let numbers = ascending.map(|digits| Exact::read(digits).unwrap());
        assert!(numbers.is_sorted());
        assert_eq!(numbers[5].digits(), ascending[5]);
    }
}

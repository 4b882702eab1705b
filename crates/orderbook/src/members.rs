//! A JSON object with raw values.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Most members of one object.
const MEMBERS_MAX: usize = 1_000;

/// Members of an object in the order in which they came; of two with one name the last counts.
#[derive(Debug)]
pub(crate) struct Members<'e>(Vec<(Cow<'e, str>, &'e RawValue)>);

impl<'e> Members<'e> {
    pub(crate) fn read(text: &'e str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The value as it was written; `None` also where it is `null`.
    pub(crate) fn get(&self, name: &str) -> Option<&'e RawValue> {
        let (_, value) = self.0.iter().rev().find(|(key, _)| key == name)?;
        (value.get() != "null").then_some(*value)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'e RawValue)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), *value))
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::with_capacity(16);
                while let Some(Name(name)) = map.next_key()? {
                    if members.len() == MEMBERS_MAX {
                        return Err(serde::de::Error::custom("the object has more than 1,000 members"));
                    }
                    members.push((name, map.next_value()?));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Read)
    }
}

/// A name, borrowed from the text unless it had to be decoded.
struct Name<'e>(Cow<'e, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Name<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Read)
    }
}

/// A string of JSON without its escapes; `None` when the value is none.
pub(crate) fn string(value: &RawValue) -> Option<Cow<'_, str>> {
    let text = value.get();
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') { serde_json::from_str(text).ok().map(Cow::Owned) } else { Some(Cow::Borrowed(inner)) }
}

/// A list of at most `max` values as they were written.
pub(crate) fn list(text: &str, max: usize) -> Result<Vec<&RawValue>, serde_json::Error> {
    struct Read(usize);
    impl<'de> Visitor<'de> for Read {
        type Value = Vec<&'de RawValue>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an array")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut values = Vec::new();
            while let Some(value) = seq.next_element()? {
                if values.len() == self.0 {
                    return Err(serde::de::Error::custom(format_args!("at most {} events at once", self.0)));
                }
                values.push(value);
            }
            Ok(values)
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let values = serde::Deserializer::deserialize_seq(&mut deserializer, Read(max))?;
    deserializer.end()?;
    Ok(values)
}

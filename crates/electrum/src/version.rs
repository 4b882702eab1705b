//! Versions of the protocol.

use serde::Deserialize;

/// Versions that are spoken, ascending. 1.5 was skipped by the protocol.
const SPOKEN: [(Version, &str); 5] = [
    (Version(1, 4, 0), "1.4"),
    (Version(1, 4, 1), "1.4.1"),
    (Version(1, 4, 2), "1.4.2"),
    (Version(1, 4, 3), "1.4.3"),
    (Version(1, 6, 0), "1.6"),
];

/// A version of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(u32, u32, u32);

/// Versions that a client supports.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Range {
    /// One version.
    Exact(String),
    /// The least and the highest.
    Between(String, String),
}

impl Version {
    /// That of a client that has not negotiated one.
    pub(crate) const LEAST: Self = SPOKEN[0].0;
    /// The newest that is spoken.
    pub(crate) const V1_6: Self = SPOKEN[4].0;

    /// As text, of a version that is spoken.
    pub(crate) fn text(self) -> &'static str {
        SPOKEN.iter().find(|(spoken, _)| *spoken == self).map_or(SPOKEN[0].1, |(_, text)| text)
    }

    /// Reads `1.4` or `1.4.2`.
    fn read(text: &str) -> Option<Self> {
        let mut parts = text.split('.').map(|part| {
            let is_number = !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit());
            part.parse::<u32>().ok().filter(|_| is_number)
        });
        let (major, minor) = (parts.next()??, parts.next()??);
        let revision = parts.next().unwrap_or(Some(0))?;
        parts.next().is_none().then_some(Self(major, minor, revision))
    }

    /// The highest version that both speak.
    pub(crate) fn negotiate(range: &Range) -> Option<Self> {
        let (least, highest) = match range {
            Range::Exact(text) => (text, text),
            Range::Between(least, highest) => (least, highest),
        };
        let (least, highest) = (Self::read(least)?, Self::read(highest)?);
        let fits = |version: &Self| least <= *version && *version <= highest;
        SPOKEN.iter().rev().map(|(version, _)| *version).find(fits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_version_of_both_is_spoken() {
        let negotiated = |json: &str| {
            let range: Range = serde_json::from_str(json).unwrap();
            Version::negotiate(&range).map(Version::text)
        };
        for (range, expected) in [
            (r#""1.4""#, Some("1.4")),
            (r#""1.4.2""#, Some("1.4.2")),
            (r#"["1.4","1.6"]"#, Some("1.6")),
            (r#"["1.4","1.4.5"]"#, Some("1.4.3")),
            (r#"["1.2","1.5"]"#, Some("1.4.3")),
            (r#"["1.6","2.0"]"#, Some("1.6")),
            (r#"["1.6.1","2.0"]"#, None),
            (r#"["1.0","1.3"]"#, None),
            (r#"["1.6","1.4"]"#, None),
            (r#""1""#, None),
            (r#""1.x""#, None),
            (r#""1.4.0.0""#, None),
            (r#""1.99999999999""#, None),
            (r#""""#, None),
        ] {
            assert_eq!(negotiated(range), expected, "{range}");
        }
    }
}

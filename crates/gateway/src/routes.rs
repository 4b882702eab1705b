//! Parses all paths (docs/api.md).

use std::borrow::Cow;

use paraffin_access::{ApiKey, RESERVED_SINCE, RESERVED_WORDS};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::describe::Description;
use crate::errors::rpc_code;
use crate::surface::{KeyedSurface, Surfaces};

/// Form of the error bodies of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorForm {
    /// The error object of JSON-RPC.
    JsonRpc,
    /// `statusCode`, `code` and `error`.
    Rest,
}

/// The kind of credential that a path has or takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// The path needs none.
    Open,
    /// A segment that has the form of a key.
    PathKey(ApiKey),
    /// A segment that could be an alias.
    PathAlias(String),
    /// The key may come in a header, or there may be none.
    HeaderOrAnonymous,
    /// The key may come in a header, the caller may be a registered origin, or anonymous.
    HeaderOriginOrAnonymous,
    /// The key may come in a header, or the caller is a registered origin.
    HeaderOrOrigin,
    /// A surface below a key, at the main path: the key may come in a header where the operator allows it.
    HeaderBelowMain,
    /// The path requires a key and has none.
    Missing,
}

/// The target of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Main JSON-RPC.
    Main,
    /// REST data API, with the route's segments.
    Rest(Vec<String>),
    /// JSON health.
    Health,
    /// Plain `OK`.
    PlainHealth,
    /// The API's descriptions of itself.
    Description(Description),
    /// Routes beside it, with their name and the segments after that.
    Beside(&'static str, Vec<String>),
    /// A surface below a key, with the segments after its name.
    Surface(&'static KeyedSurface, Vec<String>),
    /// The pages of the console and of the explorer.
    Site,
    /// No route.
    Nothing,
}

/// A parsed path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// What the caller is identified by.
    pub credential: Credential,
    /// What is asked for.
    pub target: Target,
    /// Form of error bodies.
    pub form: ErrorForm,
    /// Whether the path is under `/v4`, where preflights are answered.
    pub versioned: bool,
}

impl Route {
    fn new(credential: Credential, target: Target) -> Self {
        let form = match &target {
            Target::Main => ErrorForm::JsonRpc,
            Target::Surface(surface, tail) => surface.form(tail),
            _ => ErrorForm::Rest,
        };
        Self { credential, target, form, versioned: true }
    }

    /// Name of the target in metrics and logs; a small closed set, never anything that a caller chose.
    pub fn surface_name(&self) -> &'static str {
        match &self.target {
            Target::Main => "main",
            Target::Rest(_) => "rest",
            Target::Health | Target::PlainHealth => "health",
            Target::Description(_) => "docs",
            Target::Beside(name, _) => name,
            Target::Surface(surface, _) => surface.name,
            Target::Site => "site",
            Target::Nothing => "none",
        }
    }

    /// Code of a refusal for too many requests: -32000 on main, -32005 on the other JSON-RPC surfaces (docs/api.md).
    pub fn rate_limit_code(&self) -> i64 {
        if matches!(self.target, Target::Surface(..)) { rpc_code::RATE_LIMITED } else { rpc_code::RATE_LIMITED_MAIN }
    }

    /// Parses the path of a request as received: percent-encoded, without the query.
    ///
    /// Empty segments are skipped, so `//` means `/` and a trailing slash changes nothing. A segment that cannot be
    /// decoded is left as it is, so that its surface refuses it.
    pub fn parse(surfaces: &Surfaces, path: &str) -> Self {
        if !path.contains('%') {
            return Self::of(surfaces, &path.split('/').filter(|segment| !segment.is_empty()).collect::<Vec<_>>());
        }
        Self::of(surfaces, &decode(path).iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn of(surfaces: &Surfaces, segments: &[&str]) -> Self {
        if let Some(description) = Description::at(surfaces, segments) {
            let versioned = segments.first() == Some(&"v4");
            return Self { versioned, ..Self::new(Credential::Open, Target::Description(description)) };
        }
        match segments {
            ["v4", below @ ..] => Self::below_version(surfaces, below),
            ["console" | "explorer", ..] => Self { versioned: false, ..Self::new(Credential::Open, Target::Site) },
            ["health"] => Self { versioned: false, ..Self::new(Credential::Open, Target::PlainHealth) },
            ["api", "v1", key, tail @ ..] => {
                let Some(surface) = surfaces.apart() else { return Self::nothing() };
                Self { versioned: false, ..Self::new(path_credential(key), Target::Surface(surface, owned(tail))) }
            }
            _ => Self::nothing(),
        }
    }

    fn nothing() -> Self {
        Self { versioned: false, ..Self::new(Credential::Open, Target::Nothing) }
    }

    fn below_version(surfaces: &Surfaces, segments: &[&str]) -> Self {
        use Credential::{HeaderBelowMain, HeaderOrAnonymous, HeaderOrOrigin, HeaderOriginOrAnonymous, Missing, Open};
        match segments {
            [] => Self::new(Open, Target::Nothing),
            ["jsonrpc"] => Self::new(HeaderOrAnonymous, Target::Main),
            ["api"] => Self::new(HeaderOrOrigin, Target::Main),
            ["api", "health"] => Self::new(Open, Target::Health),
            [name, tail @ ..] if *name == surfaces.beside.name => {
                Self::new(HeaderOrAnonymous, Target::Beside(surfaces.beside.name, owned(tail)))
            }
            // An alias may have the name of a surface that was added later (docs/access.md).
            [alias, below @ ..] if RESERVED_SINCE.contains(alias) => {
                Self::new(path_credential(alias), below_caller(surfaces, below))
            }
            // A surface below a key without one in the path.
            ["jsonrpc" | "api", surface, tail @ ..] | [surface, tail @ ..] if surfaces.named(surface).is_some() => {
                let target =
                    surfaces.named(surface).map_or(Target::Nothing, |surface| Target::Surface(surface, owned(tail)));
                let credential = if segments.first() == Some(&"jsonrpc") { HeaderBelowMain } else { Missing };
                Self::new(credential, target)
            }
            ["jsonrpc", ..] => Self::new(HeaderOrAnonymous, Target::Nothing),
            ["api", route @ ..] => Self::new(HeaderOriginOrAnonymous, rest(route)),
            [reserved, ..] if RESERVED_WORDS.contains(reserved) => Self::new(Open, Target::Nothing),
            [caller, below @ ..] => Self::new(path_credential(caller), below_caller(surfaces, below)),
        }
    }
}

/// The target of a path below a key or an alias.
fn below_caller(surfaces: &Surfaces, below: &[&str]) -> Target {
    match below {
        [] | ["jsonrpc"] => Target::Main,
        ["health"] => Target::PlainHealth,
        [name, tail @ ..] if *name == surfaces.beside.name => Target::Beside(surfaces.beside.name, owned(tail)),
        [name, tail @ ..] => {
            surfaces.named(name).map_or_else(|| rest(below), |surface| Target::Surface(surface, owned(tail)))
        }
    }
}

fn path_credential(segment: &str) -> Credential {
    match segment.parse() {
        Ok(key) => Credential::PathKey(key),
        Err(_) => Credential::PathAlias(segment.to_owned()),
    }
}

/// A REST route, with or without the `api/v1` that some clients put before it.
fn rest(route: &[&str]) -> Target {
    let route = if let ["api", "v1", route @ ..] = route { route } else { route };
    Target::Rest(owned(route))
}

fn owned(segments: &[&str]) -> Vec<String> {
    segments.iter().map(|&segment| segment.to_owned()).collect()
}

/// The segments of a path, percent-decoded after splitting, so that `%2F` is part of a segment.
fn decode(path: &str) -> Vec<String> {
    let segments = path.split('/').filter(|segment| !segment.is_empty());
    segments.map(|segment| decode_segment(segment).unwrap_or_else(|| segment.to_owned())).collect()
}

/// Percent-decodes one piece of a path or query; `None` for a broken escape or text that is not UTF-8.
pub fn decode_segment(segment: &str) -> Option<String> {
    // The library leaves a broken escape as it is.
    let is_whole =
        |after: &str| after.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    if !segment.split('%').skip(1).all(is_whole) {
        return None;
    }
    percent_decode_str(segment).decode_utf8().ok().map(Cow::into_owned)
}

/// Percent-encodes everything but letters, digits, `-` and `_`, so that the text stays one piece of a path or query.
pub fn push_encoded(text: &str, into: &mut String) {
    const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');
    into.extend(utf8_percent_encode(text, ESCAPED));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_two_digits_of_either_case_and_make_utf_8() {
        for (written, read) in
            [("", ""), ("a+b c", "a+b c"), ("%2F%2f%25", "//%"), ("%252F", "%2F"), ("%C3%BCü", "üü"), ("%00", "\0")]
        {
            assert_eq!(decode_segment(written).as_deref(), Some(read), "{written}");
        }
        for broken in ["%", "%4", "a%", "%%41", "%+1", "% 1", "%zz", "%4é", "%é", "%ff", "%C3", "%41%"] {
            assert_eq!(decode_segment(broken), None, "{broken}");
        }
        let mut written = String::from("/");
        push_encoded("aZ0-_.~/%ü", &mut written);
        assert_eq!(written, "/aZ0-_%2E%7E%2F%25%C3%BC");
    }
}

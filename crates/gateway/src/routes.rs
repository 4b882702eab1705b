//! Parses all paths (docs/api.md).

use std::borrow::Cow;

use paraffin_access::{ApiKey, RESERVED_SINCE, RESERVED_WORDS};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::describe::Description;
use crate::errors::rpc_code;

/// Surfaces that need the key in the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyedSurface {
    /// `/v4/<KEY>/mempool`, preview.
    Mempool,
    /// `/v4/<KEY>/forex`.
    Forex,
    /// `/v4/<KEY>/orderbook/…`, beta.
    Orderbook,
    /// `/v4/<KEY>/btcusd`.
    Btcusd,
    /// `/v4/<KEY>/espo`.
    Espo,
    /// `/v4/<KEY>/reorg/<N>`.
    Reorg,
    /// `/v4/<KEY>/esplora/…`, plain HTTP Esplora.
    Esplora,
    /// `/v4/<KEY>/udf/…`, charts.
    Udf,
    /// `/v4/<KEY>/events`.
    Events,
    /// `/v4/<KEY>/dexscreener/…`.
    Dexscreener,
    /// `/v4/<KEY>/coingecko/…`.
    Coingecko,
    /// `/v4/<KEY>/electrum`, the Electrum protocol over WebSocket.
    Electrum,
    /// `/v4/<KEY>/webhooks`.
    Webhooks,
    /// `/api/v1/<KEY>/…`, contract verification.
    Explorer,
}

impl KeyedSurface {
    /// Path segments of the surfaces below a key.
    const SEGMENTS: [(&'static str, Self); 13] = [
        ("mempool", Self::Mempool),
        ("forex", Self::Forex),
        ("orderbook", Self::Orderbook),
        ("btcusd", Self::Btcusd),
        ("espo", Self::Espo),
        ("reorg", Self::Reorg),
        ("esplora", Self::Esplora),
        ("udf", Self::Udf),
        ("events", Self::Events),
        ("dexscreener", Self::Dexscreener),
        ("coingecko", Self::Coingecko),
        ("electrum", Self::Electrum),
        ("webhooks", Self::Webhooks),
    ];

    /// Name in metrics and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mempool => "mempool",
            Self::Forex => "forex",
            Self::Orderbook => "orderbook",
            Self::Btcusd => "btcusd",
            Self::Espo => "espo",
            Self::Reorg => "reorg",
            Self::Esplora => "esplora",
            Self::Udf => "udf",
            Self::Events => "events",
            Self::Dexscreener => "dexscreener",
            Self::Coingecko => "coingecko",
            Self::Electrum => "electrum",
            Self::Webhooks => "webhooks",
            Self::Explorer => "explorer",
        }
    }

    fn named(segment: &str) -> Option<Self> {
        Self::SEGMENTS.into_iter().find(|(name, _)| *name == segment).map(|(_, surface)| surface)
    }

    /// The surface of that name, if it has JSON-RPC methods.
    pub fn of_methods(name: &str) -> Option<Self> {
        Self::named(name).filter(|surface| surface.form(&[]) == ErrorForm::JsonRpc)
    }

    /// The form of error bodies at a path of this surface (docs/api.md).
    fn form(self, tail: &[String]) -> ErrorForm {
        match self {
            Self::Mempool if !tail.is_empty() => ErrorForm::Rest,
            Self::Mempool | Self::Forex | Self::Btcusd | Self::Espo | Self::Reorg | Self::Webhooks => {
                ErrorForm::JsonRpc
            }
            Self::Orderbook
            | Self::Esplora
            | Self::Udf
            | Self::Events
            | Self::Dexscreener
            | Self::Coingecko
            | Self::Electrum
            | Self::Explorer => ErrorForm::Rest,
        }
    }
}

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
    /// A keyed surface below the main path: the key may come in a header where the operator allows it.
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
    /// BRC-20 indexer.
    Opi(Vec<String>),
    /// A keyed surface, with the segments after its name.
    Surface(KeyedSurface, Vec<String>),
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
            Target::Opi(_) => "opi",
            Target::Surface(surface, _) => surface.name(),
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
    pub fn parse(path: &str) -> Self {
        if !path.contains('%') {
            return Self::of(&path.split('/').filter(|segment| !segment.is_empty()).collect::<Vec<_>>());
        }
        Self::of(&decode(path).iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn of(segments: &[&str]) -> Self {
        if let Some(description) = Description::at(segments) {
            let versioned = segments.first() == Some(&"v4");
            return Self { versioned, ..Self::new(Credential::Open, Target::Description(description)) };
        }
        match segments {
            ["v4", below @ ..] => Self::below_version(below),
            ["console" | "explorer", ..] => Self { versioned: false, ..Self::new(Credential::Open, Target::Site) },
            ["health"] => Self { versioned: false, ..Self::new(Credential::Open, Target::PlainHealth) },
            ["api", "v1", key, tail @ ..] => {
                let surface = Target::Surface(KeyedSurface::Explorer, owned(tail));
                Self { versioned: false, ..Self::new(path_credential(key), surface) }
            }
            _ => Self { versioned: false, ..Self::new(Credential::Open, Target::Nothing) },
        }
    }

    fn below_version(segments: &[&str]) -> Self {
        use Credential::{HeaderBelowMain, HeaderOrAnonymous, HeaderOrOrigin, HeaderOriginOrAnonymous, Missing, Open};
        match segments {
            [] => Self::new(Open, Target::Nothing),
            ["jsonrpc"] => Self::new(HeaderOrAnonymous, Target::Main),
            ["api"] => Self::new(HeaderOrOrigin, Target::Main),
            ["api", "health"] => Self::new(Open, Target::Health),
            ["opi", tail @ ..] => Self::new(HeaderOrAnonymous, Target::Opi(owned(tail))),
            // An alias may have the name of a surface that was added later (docs/access.md).
            [alias, below @ ..] if RESERVED_SINCE.contains(alias) => {
                Self::new(path_credential(alias), below_caller(below))
            }
            // A keyed surface without a key in the path.
            ["jsonrpc" | "api", surface, tail @ ..] | [surface, tail @ ..]
                if KeyedSurface::named(surface).is_some() =>
            {
                let target = KeyedSurface::named(surface)
                    .map_or(Target::Nothing, |surface| Target::Surface(surface, owned(tail)));
                let credential = if segments.first() == Some(&"jsonrpc") { HeaderBelowMain } else { Missing };
                Self::new(credential, target)
            }
            ["jsonrpc", ..] => Self::new(HeaderOrAnonymous, Target::Nothing),
            ["api", route @ ..] => Self::new(HeaderOriginOrAnonymous, rest(route)),
            [reserved, ..] if RESERVED_WORDS.contains(reserved) => Self::new(Open, Target::Nothing),
            [caller, below @ ..] => Self::new(path_credential(caller), below_caller(below)),
        }
    }
}

/// The target of a path below a key or an alias.
fn below_caller(below: &[&str]) -> Target {
    match below {
        [] | ["jsonrpc"] => Target::Main,
        ["health"] => Target::PlainHealth,
        ["opi", tail @ ..] => Target::Opi(owned(tail)),
        [surface, tail @ ..] => {
            KeyedSurface::named(surface).map_or_else(|| rest(below), |surface| Target::Surface(surface, owned(tail)))
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
    use proptest::prelude::*;

    const KEY: &str = "0123456789abcdef0123456789abcdef";

    fn key() -> Credential {
        Credential::PathKey(KEY.parse().unwrap())
    }

    fn check(path: &str, credential: Credential, target: Target) {
        let route = Route::parse(path);
        assert_eq!((&route.credential, &route.target), (&credential, &target), "{path}");
        let slashed = Route::parse(&format!("{path}/"));
        assert_eq!((slashed.credential, slashed.target), (credential, target), "{path}/");
    }

    fn segments(text: &str) -> Vec<String> {
        text.split_whitespace().map(ToOwned::to_owned).collect()
    }

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

    /// row GW21
    #[test]
    fn every_path_of_the_surface_table_is_known() {
        use Credential::{HeaderBelowMain, HeaderOrAnonymous, HeaderOrOrigin, HeaderOriginOrAnonymous, Missing, Open};
        check("/v4/jsonrpc", HeaderOrAnonymous, Target::Main);
        check("/v4/api", HeaderOrOrigin, Target::Main);
        check(&format!("/v4/{KEY}"), key(), Target::Main);
        check(&format!("/v4/{KEY}/jsonrpc"), key(), Target::Main);
        check("/v4/my-app", Credential::PathAlias("my-app".into()), Target::Main);
        check("/v4/api/health", Open, Target::Health);
        check("/health", Open, Target::PlainHealth);
        check(&format!("/v4/{KEY}/health"), key(), Target::PlainHealth);
        check("/v4/api/get-alkanes", HeaderOriginOrAnonymous, Target::Rest(segments("get-alkanes")));
        check(&format!("/v4/{KEY}/get-alkanes"), key(), Target::Rest(segments("get-alkanes")));
        check(&format!("/v4/{KEY}/api/v1/get-alkanes"), key(), Target::Rest(segments("get-alkanes")));
        check(&format!("/v4/{KEY}/indexer/height"), key(), Target::Rest(segments("indexer height")));
        check("/v4/opi/v1/brc20/balance", HeaderOrAnonymous, Target::Opi(segments("v1 brc20 balance")));
        check(&format!("/v4/{KEY}/opi"), key(), Target::Opi(vec![]));
        for (name, surface) in KeyedSurface::SEGMENTS {
            check(&format!("/v4/{KEY}/{name}/7"), key(), Target::Surface(surface, segments("7")));
            let is_new = RESERVED_SINCE.contains(&name);
            for (prefix, credential) in [("", Missing), ("/jsonrpc", HeaderBelowMain), ("/api", Missing)] {
                if prefix.is_empty() && is_new {
                    check(&format!("/v4/{name}"), Credential::PathAlias(name.into()), Target::Main);
                    let other = format!("/v4/{name}/{name}/7");
                    check(&other, Credential::PathAlias(name.into()), Target::Surface(surface, segments("7")));
                    continue;
                }
                check(&format!("/v4{prefix}/{name}"), credential, Target::Surface(surface, vec![]));
            }
        }
        check(&format!("/api/v1/{KEY}/verify"), key(), Target::Surface(KeyedSurface::Explorer, segments("verify")));
        for path in ["/v4", "/v5/x", "/v4/docs", "/v4/admin/x", "/v4/jsonrpc/unknown", "/v4%zz"] {
            assert_eq!(Route::parse(path).target, Target::Nothing, "{path}");
        }
    }

    #[test]
    fn a_segment_of_31_or_33_digits_is_no_key_and_upper_case_is_one() {
        for text in [&KEY[1..], &format!("{KEY}0"), "0123456789abcdef0123456789abcdeg"] {
            assert_eq!(Route::parse(&format!("/v4/{text}")).credential, Credential::PathAlias(text.to_owned()));
        }
        assert_eq!(Route::parse(&format!("/v4/{}", KEY.to_uppercase())).credential, key());
        assert_eq!(Route::parse(&format!("//v4//%30{}//mempool", &KEY[1..])).credential, key());
    }

    #[test]
    fn a_slash_inside_a_segment_stays_inside_it() {
        assert_eq!(Route::parse("/v4/api/a%2Fb").target, Target::Rest(vec!["a/b".into()]));
    }

    #[test]
    fn error_bodies_have_the_form_of_the_path() {
        use ErrorForm::{JsonRpc, Rest};
        for (path, form) in [
            ("/v4/nobody", JsonRpc),
            ("/v4/jsonrpc", JsonRpc),
            ("/v4/jsonrpc/espo", JsonRpc),
            ("/v4/mempool", JsonRpc),
            ("/v4/nobody/mempool", JsonRpc),
            ("/v4/nobody/mempool/observe", Rest),
            ("/v4/nobody/mempool/ws", Rest),
            ("/v4/forex", JsonRpc),
            ("/v4/espo", JsonRpc),
            ("/v4/btcusd", JsonRpc),
            ("/v4/reorg/5", JsonRpc),
            ("/v4/orderbook/markets", Rest),
            ("/v4/nobody/get-alkanes", Rest),
            ("/v4/opi", Rest),
            ("/nothing", Rest),
        ] {
            assert_eq!(Route::parse(path).form, form, "{path}");
        }
    }

    proptest! {
        #[test]
        fn no_path_panics(path in "\\PC{0,200}") {
            let _ = Route::parse(&path);
        }

        #[test]
        fn a_reserved_word_is_never_an_alias(index in 0..RESERVED_WORDS.len(), tail in "[a-z/]{0,20}") {
            let route = Route::parse(&format!("/v4/{}/{tail}", RESERVED_WORDS[index]));
            prop_assert!(!matches!(route.credential, Credential::PathAlias(_)));
        }
    }
}

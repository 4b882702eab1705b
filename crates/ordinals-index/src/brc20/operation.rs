//! The operation in the content of an inscription, parsed as OPI does. The engine decides whether it is valid.

use super::json::{Member, members};
use super::ticker::Ticker;
use crate::event::EnvelopeFields;

/// Keys that matter, in the order in which [`members`] gives them back.
const KEYS: [&str; 11] = ["p", "op", "tick", "amt", "max", "lim", "dec", "self_mint", "salt", "hash", "module"];

/// An operation of an inscription. Numbers are still texts, because their parsing depends on the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operation {
    Predeploy { hash: String },
    Deploy(Box<DeployText>),
    Mint { ticker: Ticker, amount: String },
    Transfer { ticker: Ticker, amount: String },
}

/// The members of a deploy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DeployText {
    pub(super) ticker: Ticker,
    pub(super) max: String,
    /// `None` when the key is absent; a limit that is no text makes the deploy void.
    pub(super) limit: Option<String>,
    /// `None` when the key is absent, and also when its value is no text: OPI takes 18 then.
    pub(super) decimals: Option<String>,
    pub(super) is_self_mint: bool,
    pub(super) salt: Option<String>,
}

/// Whether a content type is one of those that count: `text/plain` and `application/json`, with or without parameters.
fn is_counted(content_type: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(content_type) else { return false };
    let media_type = text.split_once(';').map_or(text, |(media_type, _)| media_type);
    matches!(media_type, "text/plain" | "application/json")
}

/// Whether an envelope has the fields that [`Operation::read`] needs.
pub(super) fn may_be_operation(envelope: &EnvelopeFields) -> bool {
    envelope.body.is_some() && envelope.content_type.as_deref().is_some_and(is_counted)
}

impl Operation {
    /// Reads an inscription's content; `None` for what has nothing to do with BRC-20.
    pub(super) fn read(content_type: Option<&[u8]>, body: Option<&[u8]>) -> Option<Self> {
        if !is_counted(content_type?) {
            return None;
        }
        let [protocol, operation, ticker, amount, max, limit, decimals, self_mint, salt, hash, module] =
            members(body?, &KEYS)?;
        let is_module = match text(protocol)?.as_str() {
            "brc-20" => false,
            // Of modules OPI knows this one alone; without it, only a predeploy has an effect here.
            "brc20-module" if text(module)? == "BRC20PROG" => true,
            _ => return None,
        };
        let operation = text(operation)?;
        if operation == "predeploy" {
            return Some(Self::Predeploy { hash: text(hash)? });
        }
        if is_module {
            return None;
        }
        let ticker = Ticker::of_inscription(text(ticker)?)?;
        match operation.as_str() {
            "deploy" => {
                let limit = match limit {
                    Member::Absent => None,
                    limit => Some(text(limit)?),
                };
                Some(Self::Deploy(Box::new(DeployText {
                    ticker,
                    max: text(max)?,
                    limit,
                    decimals: text(decimals),
                    is_self_mint: text(self_mint).is_some_and(|value| value == "true"),
                    salt: text(salt),
                })))
            }
            "mint" => Some(Self::Mint { ticker, amount: text(amount)? }),
            "transfer" => Some(Self::Transfer { ticker, amount: text(amount)? }),
            _ => None,
        }
    }
}

fn text(member: Member) -> Option<String> {
    match member {
        Member::Text(text) => Some(text),
        Member::Absent | Member::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Option<Operation> {
        Operation::read(Some(b"text/plain;charset=utf-8"), Some(body.as_bytes()))
    }

    fn mint() -> &'static str {
        r#"{"p":"brc-20","op":"mint","tick":"ordi","amt":"1000"}"#
    }

    #[test]
    fn text_and_json_count_with_any_parameters_and_nothing_else() {
        for (content_type, counts) in [
            (&b"text/plain"[..], true),
            (b"text/plain;charset=utf-8", true),
            (b"text/plain;", true),
            (b"application/json", true),
            (b"application/json;x", true),
            (b"text/plain ;charset=utf-8", false),
            (b"Text/Plain", false),
            (b"text/html", false),
            (b"text/plainx", false),
            (b"application/json5", false),
            (b"", false),
            (b"text/plain;\xff", false),
        ] {
            let read = Operation::read(Some(content_type), Some(mint().as_bytes()));
            assert_eq!(read.is_some(), counts, "{}", String::from_utf8_lossy(content_type));
        }
        assert_eq!(Operation::read(None, Some(mint().as_bytes())), None);
        assert_eq!(Operation::read(Some(b"text/plain"), None), None);
    }

    #[test]
    fn the_words_are_case_sensitive_and_must_be_texts() {
        assert!(read(mint()).is_some());
        for (from, to) in [
            ("brc-20", "BRC-20"),
            ("\"p\"", "\"P\""),
            ("mint", "Mint"),
            ("\"1000\"", "1000"),
            ("\"1000\"", "null"),
            ("\"1000\"", "[\"1000\"]"),
            ("\"ordi\"", "1234"),
            ("\"mint\"", "{}"),
            ("\"brc-20\"", "20"),
            ("\"op\"", "\"operation\""),
            ("\"amt\"", "\"amount\""),
            ("\"tick\"", "\"ticker\""),
        ] {
            let body = mint().replace(from, to);
            assert_eq!(read(&body), None, "{body}");
        }
        // Further members do no harm, and neither does their order.
        assert!(read(r#" {"amt":"1000","x":{"y":[1]},"tick":"ordi","op":"mint","p":"brc-20"} "#).is_some());
    }

    fn deploy(members: &str) -> Option<DeployText> {
        match read(&format!(r#"{{"p":"brc-20","op":"deploy","tick":"ordi",{members}}}"#)) {
            Some(Operation::Deploy(deploy)) => Some(*deploy),
            _ => None,
        }
    }

    #[test]
    fn decimals_that_are_no_text_are_as_good_as_absent() {
        assert_eq!(deploy(r#""max":"1","dec":"8""#).unwrap().decimals, Some("8".into()));
        for members in [r#""max":"1""#, r#""max":"1","dec":8"#, r#""max":"1","dec":null"#] {
            assert_eq!(deploy(members).unwrap().decimals, None, "{members}");
        }
    }

    #[test]
    fn a_limit_that_is_no_text_makes_the_deploy_void() {
        assert_eq!(deploy(r#""max":"1""#).unwrap().limit, None);
        assert_eq!(deploy(r#""max":"1","lim":"2""#).unwrap().limit, Some("2".into()));
        for members in [r#""max":"1","lim":1"#, r#""max":"1","lim":null"#, r#""lim":"1""#, r#""max":1"#] {
            assert_eq!(deploy(members), None, "{members}");
        }
    }

    #[test]
    fn self_mint_is_the_text_true() {
        for (value, is_self_mint) in
            [("\"true\"", true), ("\"True\"", false), ("true", false), ("\"false\"", false), ("1", false)]
        {
            let deploy = deploy(&format!(r#""max":"1","self_mint":{value}"#)).unwrap();
            assert_eq!(deploy.is_self_mint, is_self_mint, "{value}");
        }
    }

    #[test]
    fn of_the_module_protocol_only_a_predeploy_is_read() {
        let read = |protocol: &str, rest: &str| read(&format!(r#"{{"p":"{protocol}","hash":"ab",{rest}}}"#));
        let predeploy = Some(Operation::Predeploy { hash: "ab".into() });
        assert_eq!(read("brc-20", r#""op":"predeploy""#), predeploy);
        assert_eq!(read("brc20-module", r#""op":"predeploy","module":"BRC20PROG""#), predeploy);
        assert_eq!(read("brc20-module", r#""op":"predeploy""#), None);
        assert_eq!(read("brc20-module", r#""op":"predeploy","module":"brc20prog""#), None);
        let withdraw = r#""op":"withdraw","module":"BRC20PROG","tick":"ordi","amt":"1""#;
        assert_eq!(read("brc20-module", withdraw), None);
        assert_eq!(read("brc20-prog", r#""op":"deploy","d":"0x""#), None);
    }
}

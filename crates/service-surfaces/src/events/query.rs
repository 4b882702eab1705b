//! The subscription of a request, from its query and `Last-Event-ID`.

use http::HeaderMap;
use http::header::HeaderName;
use paraffin_events::{Cursor, Filter, Kind};
use serde::Deserialize;

use paraffin_gateway::errors::ApiError;
use paraffin_gateway::events::From;
use paraffin_gateway::routes::decode_segment;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The events that a client subscribes to, and their start.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) filter: Filter,
    pub(super) from: From,
}

impl Default for Question {
    fn default() -> Self {
        Self { filter: Filter::default(), from: From::Tip }
    }
}

/// The position of a command or a query.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Begin {
    pub(super) cursor: Option<String>,
    pub(super) from_height: Option<u32>,
}

impl Begin {
    /// # Errors
    /// The message for the caller.
    pub(super) fn read(self) -> Result<From, String> {
        match (self.cursor, self.from_height) {
            (None, None) => Ok(From::Tip),
            (None, Some(height)) => Ok(From::Height(height)),
            (Some(cursor), None) => cursor.parse::<Cursor>().map(From::Cursor).map_err(|error| error.to_string()),
            (Some(_), Some(_)) => Err("give a cursor or from_height, not both".to_owned()),
        }
    }
}

impl Question {
    /// Lists may be repeated or comma-separated, descriptors repeated. A browser that reconnects sends the position in a header, which
    /// takes precedence over that of the URL. `None` without parameters.
    pub(super) fn of(query: Option<&str>, headers: &HeaderMap) -> Result<Option<Self>, ApiError> {
        let (mut filter, mut begin) = (Filter::default(), Begin::default());
        let mut is_empty = true;
        for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decode_segment(&value.replace('+', " "))
                .ok_or_else(|| ApiError::invalid("the query holds a percent sign without two hex digits of UTF-8"))?;
            is_empty = false;
            match name {
                "cursor" if begin.cursor.is_none() => begin.cursor = Some(value),
                "from_height" if begin.from_height.is_none() => {
                    let is_plain = value.bytes().all(|byte| byte.is_ascii_digit());
                    let height = value.parse().ok().filter(|_| is_plain);
                    begin.from_height = Some(height.ok_or_else(|| ApiError::invalid("from_height is a height"))?);
                }
                "cursor" | "from_height" => return Err(ApiError::invalid(format!("{name} stands twice"))),
                "kinds" => {
                    for name in value.split(',') {
                        let kind = Kind::named(name).ok_or_else(|| {
                            let known = Kind::ALL.map(Kind::name).join(", ");
                            ApiError::invalid(format!("kinds are {known}"))
                        })?;
                        filter.kinds.push(kind);
                    }
                }
                "descriptors" => filter.descriptors.push(value),
                _ => {
                    let list = list_of(&mut filter, name)
                        .ok_or_else(|| ApiError::invalid("events take cursor, from_height, kinds, addresses, descriptors, alkanes, contracts, pools, inscriptions and runes"))?;
                    list.extend(value.split(',').map(ToOwned::to_owned));
                }
            }
        }
        if let Some(last) = headers.get(LAST_EVENT_ID) {
            let last = last.to_str().map_err(|_| ApiError::invalid("Last-Event-ID is no cursor"))?;
            begin = Begin { cursor: Some(last.to_owned()), from_height: None };
            is_empty = false;
        }
        let from = begin.read().map_err(ApiError::invalid)?;
        Ok((!is_empty).then_some(Self { filter, from }))
    }
}

fn list_of<'a>(filter: &'a mut Filter, name: &str) -> Option<&'a mut Vec<String>> {
    match name {
        "addresses" => Some(&mut filter.addresses),
        "alkanes" => Some(&mut filter.alkanes),
        "contracts" => Some(&mut filter.contracts),
        "pools" => Some(&mut filter.pools),
        "inscriptions" => Some(&mut filter.inscriptions),
        "runes" => Some(&mut filter.runes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use http::header::HeaderValue;

    use super::*;

    fn read(query: &str) -> Result<Option<Question>, ApiError> {
        Question::of(Some(query), &HeaderMap::new())
    }

    #[test]
    fn lists_repeat_or_have_commas_and_descriptors_repeat() {
        let question =
            read("kinds=block,call&contracts=2:0,2%3A1&contracts=4:5&descriptors=wsh(multi(1,a,b))&from_height=7");
        let Question { filter, from } = question.unwrap().unwrap();
        assert_eq!(filter.kinds, [Kind::Block, Kind::Call]);
        assert_eq!(filter.contracts, ["2:0", "2:1", "4:5"]);
        assert_eq!(filter.descriptors, ["wsh(multi(1,a,b))"]);
        assert_eq!(from, From::Height(7));
        assert_eq!(read("").unwrap(), None);
    }

    #[test]
    fn the_header_of_a_browser_counts_before_the_address() {
        let cursor = format!("5-{}-0", "0a".repeat(32));
        let headers = HeaderMap::from_iter([(LAST_EVENT_ID, HeaderValue::from_str(&cursor).unwrap())]);
        let question = Question::of(Some("from_height=1"), &headers).unwrap().unwrap();
        assert_eq!(question.from, From::Cursor(cursor.parse().unwrap()));
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let cursor = format!("cursor=5-{}-0", "0a".repeat(32));
        for bad in [
            "kind=block",
            "kinds=blocks",
            "kinds=",
            "from_height=-1",
            "from_height=+1",
            "from_height=4294967296",
            "from_height=1&from_height=1",
            "cursor=5",
            &format!("{cursor}&from_height=1"),
            &format!("{cursor}&{cursor}"),
            "addresses=%zz",
        ] {
            assert_eq!(read(bad).unwrap_err().kind.status.as_u16(), 400, "{bad}");
        }
    }
}

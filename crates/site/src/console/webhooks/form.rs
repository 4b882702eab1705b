//! The form of an endpoint.

use paraffin_webhooks::{EndpointRecord, EndpointRequest, Start};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::visitor::Fields;

/// Kinds of events and the labels of their boxes.
const KINDS: [(&str, &str); 7] = [
    ("block", "Blocks"),
    ("address", "Activity of addresses"),
    ("transfer", "Transfers of alkanes"),
    ("call", "Calls of contracts"),
    ("trade", "Trades of pools"),
    ("inscription", "Inscriptions made and moved"),
    ("rune", "Runes moved"),
];

/// Lists that narrow a kind: name, label, an example.
const LISTS: [(&str, &str, &str); 7] = [
    ("addresses", "Addresses", "bc1q…"),
    ("descriptors", "Descriptors or extended public keys, one a line", "wpkh(xpub…/0/*)"),
    ("alkanes", "Alkanes", "2:0"),
    ("contracts", "Contracts", "2:16"),
    ("pools", "Pools", "2:77087"),
    ("inscriptions", "Inscriptions", "6fb9…799di0"),
    ("runes", "Runes, by name or id", "UNCOMMON•GOODS"),
];

/// A box of the form.
pub(super) struct KindBox {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) is_chosen: bool,
}

/// A list of the form.
pub(super) struct ListField {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) example: &'static str,
    pub(super) text: String,
}

/// A form as it was typed.
pub(super) struct Typed {
    pub(super) url: String,
    pub(super) description: String,
    pub(super) start: String,
    pub(super) kinds: Vec<KindBox>,
    pub(super) lists: Vec<ListField>,
}

impl Default for Typed {
    fn default() -> Self {
        Self::with(|kind| kind == "block", |_| String::new())
    }
}

impl Typed {
    fn with(is_chosen: impl Fn(&str) -> bool, text: impl Fn(&str) -> String) -> Self {
        let kinds = KINDS.map(|(name, label)| KindBox { name, label, is_chosen: is_chosen(name) });
        let lists = LISTS.map(|(name, label, example)| ListField { name, label, example, text: text(name) });
        Self {
            url: String::new(),
            description: String::new(),
            start: String::new(),
            kinds: kinds.into(),
            lists: lists.into(),
        }
    }

    pub(super) fn of(fields: &Fields) -> Self {
        let chosen = fields.all("kind");
        Self {
            url: fields.get("url").to_owned(),
            description: fields.get("description").to_owned(),
            start: fields.get("start").to_owned(),
            ..Self::with(|kind| chosen.iter().any(|chosen| chosen == kind), |list| fields.get(list).to_owned())
        }
    }

    /// The form with the settings of an endpoint.
    pub(super) fn of_endpoint(endpoint: &EndpointRecord) -> Self {
        let filter: Value = serde_json::from_str(&endpoint.filter).unwrap_or_default();
        let entries = |list: &str| -> Vec<&str> {
            let entries = filter.get(list).and_then(Value::as_array).into_iter().flatten();
            entries.filter_map(Value::as_str).collect()
        };
        Self {
            url: endpoint.url.clone(),
            description: endpoint.description.clone().unwrap_or_default(),
            ..Self::with(|kind| entries("kinds").contains(&kind), |list| entries(list).join("\n"))
        }
    }

    /// Whether a list of the form has entries.
    pub(super) fn has_lists(&self) -> bool {
        self.lists.iter().any(|list| !list.text.is_empty())
    }

    fn filter(&self) -> Value {
        let mut filter = Map::new();
        let kinds: Vec<&str> = self.kinds.iter().filter(|kind| kind.is_chosen).map(|kind| kind.name).collect();
        if !kinds.is_empty() {
            filter.insert("kinds".to_owned(), json!(kinds));
        }
        for list in &self.lists {
            // Descriptors contain commas.
            let is_end = |symbol: char| match list.name {
                "descriptors" => symbol == '\n',
                _ => symbol == ',' || symbol.is_whitespace(),
            };
            let entries: Vec<&str> = list.text.split(is_end).map(str::trim).filter(|entry| !entry.is_empty()).collect();
            if !entries.is_empty() {
                filter.insert(list.name.to_owned(), json!(entries));
            }
        }
        Value::Object(filter)
    }

    fn start(&self) -> Result<Option<Start>, Failure> {
        if self.start.is_empty() {
            return Ok(None);
        }
        let digits = self.start.replace([',', ' '], "");
        if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let height =
                digits.parse().map_err(|_| Failure::Refused("Begin with: no block has this height".to_owned()))?;
            return Ok(Some(Start::Height(height)));
        }
        Ok(Some(Start::Cursor(self.start.clone())))
    }

    /// The request for a new endpoint.
    pub(super) fn request(&self) -> Result<EndpointRequest, Failure> {
        if self.url.is_empty() {
            return Err(Failure::Refused("Address: it is missing".to_owned()));
        }
        let filter = to_raw_value(&self.filter()).map_err(|error| Failure::Refused(format!("Events: {error}")))?;
        Ok(EndpointRequest {
            url: Some(self.url.clone()),
            filter: Some(filter),
            start: self.start()?,
            description: Some(self.description.clone()),
        })
    }

    /// The changes of an endpoint: the fields in which the form differs from it.
    pub(super) fn changes_of(&self, endpoint: &EndpointRecord) -> Result<EndpointRequest, Failure> {
        let is_same_filter = serde_json::from_str::<Value>(&endpoint.filter).is_ok_and(|same| same == self.filter());
        let EndpointRequest { url, filter, start, description } = self.request()?;
        Ok(EndpointRequest {
            url: url.filter(|url| *url != endpoint.url),
            filter: filter.filter(|_| !is_same_filter),
            start,
            description: description.filter(|text| *text != endpoint.description.as_deref().unwrap_or_default()),
        })
    }
}

#[cfg(test)]
mod tests {
    use paraffin_webhooks::{EndpointId, EndpointState};

    use super::*;

    fn typed(lists: &[(&str, &str)]) -> Typed {
        let text = |name: &str| lists.iter().find(|(list, _)| *list == name).map_or("", |(_, text)| text).to_owned();
        Typed { url: "https://a.example/".to_owned(), ..Typed::with(|kind| kind == "trade", text) }
    }

    fn endpoint(filter: &str) -> EndpointRecord {
        EndpointRecord {
            id: EndpointId(1),
            account: paraffin_access::AccountId(1),
            url: "https://a.example/".to_owned(),
            filter: filter.to_owned(),
            description: None,
            state: EndpointState::Active,
            cursor: String::new(),
            created_at: 0,
            last_success_at: None,
            last_error: None,
            last_error_at: None,
            failures: 0,
            failing_since: None,
            next_attempt_at: None,
            message_id: None,
            old_secret_until: None,
            attempts: Vec::new(),
        }
    }

    #[test]
    fn lists_have_an_entry_a_line_and_descriptors_keep_their_commas() {
        let descriptors = "wsh(multi(1,a,b))\r\n\r\n tr(c) ";
        let form = typed(&[("pools", "2:7, 2:8\r\n2:9\n"), ("descriptors", descriptors)]);
        let expected = json!({
            "kinds": ["trade"], "pools": ["2:7", "2:8", "2:9"], "descriptors": ["wsh(multi(1,a,b))", "tr(c)"]
        });
        assert_eq!(form.filter(), expected);
        assert_eq!(typed(&[("pools", " , ")]).filter(), json!({ "kinds": ["trade"] }));
        assert_eq!(Typed::with(|_| false, |_| " \r\n ".to_owned()).filter(), json!({}));
    }

    #[test]
    fn a_form_that_was_not_changed_changes_nothing() {
        let before = endpoint(r#"{"kinds":["trade","rune"],"pools":["2:7","2:8"]}"#);
        let request = Typed::of_endpoint(&before).changes_of(&before).unwrap();
        assert!(request.url.is_none() && request.filter.is_none() && request.start.is_none());
        assert!(request.description.is_none());
        let other = Typed { description: "new".to_owned(), ..typed(&[]) }.changes_of(&before).unwrap();
        assert!(other.url.is_none() && other.filter.is_some());
        assert_eq!(other.description.as_deref(), Some("new"));
    }

    #[test]
    fn events_begin_with_a_height_or_after_a_cursor() {
        let start = |text: &str| Typed { start: text.to_owned(), ..typed(&[]) }.start();
        assert_eq!(start("").unwrap(), None);
        assert_eq!(start("880,000").unwrap(), Some(Start::Height(880_000)));
        assert_eq!(start("5-ab-0").unwrap(), Some(Start::Cursor("5-ab-0".to_owned())));
        assert_eq!(start("-1").unwrap(), Some(Start::Cursor("-1".to_owned())));
        assert!(start("99999999999").is_err());
        let empty = Typed { url: String::new(), ..typed(&[]) };
        assert!(matches!(empty.request(), Err(Failure::Refused(sentence)) if sentence.starts_with("Address")));
    }
}

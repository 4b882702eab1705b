//! Filters of events.

use std::collections::HashSet;
use std::fmt::Display;
use std::hash::Hash;
use std::str::FromStr;

use bitcoin::ScriptBuf;
use ordinals::{Rune, RuneId};
use paraffin_ordinals_index::event::InscriptionId;
use paraffin_ordinals_index::reader::RuneQuery;
use paraffin_primitives::{AlkaneId, Network};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Kind;

/// Entries of a filter in all of its lists together.
pub const ENTRIES_MAX: usize = 1_000;
/// Descriptors of a filter: each stands for a thousand scripts and more.
const DESCRIPTORS_MAX: usize = 10;
/// Longest entry of a list other than descriptors, bytes. An inscription's id has at most 75, an address fewer.
const ENTRY_BYTES_MAX: usize = 100;

/// Selects events. Each list narrows the kind that it belongs to; a kind without its list is wanted whole. Without `kinds`
/// those are wanted whose lists are given, and without any list the blocks. `block_disconnected` and checkpoints always come.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Filter {
    /// The kinds wanted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<Kind>,
    /// Of `address`: addresses. The kind needs this list or the next one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
    /// Of `address`: output descriptors or extended public keys, each for the first 1,000 scripts of each of its chains. At most 10.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub descriptors: Vec<String>,
    /// Of `transfer`: ids of alkanes, block:tx.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alkanes: Vec<String>,
    /// Of `call`: ids of contracts, block:tx.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contracts: Vec<String>,
    /// Of `trade`: ids of pools, block:tx.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<String>,
    /// Of `inscription`: ids of inscriptions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inscriptions: Vec<String>,
    /// Of `rune`: names of runes, or their ids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runes: Vec<String>,
}

/// Errors of a filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// There are more entries than a filter may have.
    #[error("a filter may have {ENTRIES_MAX} entries in all its lists together")]
    TooManyEntries,
    /// There are more descriptors than a filter may have.
    #[error("a filter may have {DESCRIPTORS_MAX} descriptors")]
    TooManyDescriptors,
    /// `address` is wanted of no script.
    #[error("the kind address needs addresses or descriptors")]
    NoScripts,
    /// A list was given of a kind that is not wanted.
    #[error("{list} are given, and the kind {} is not among the kinds", kind.name())]
    IdleList {
        /// Name of the list.
        list: &'static str,
        /// Its kind.
        kind: Kind,
    },
    /// An entry cannot be read.
    #[error("{list}: {reason}")]
    Entry {
        /// Name of the list.
        list: &'static str,
        /// The reason.
        reason: String,
    },
}

/// A filter, read.
#[derive(Debug, Clone)]
pub struct PreparedFilter {
    canonical: Filter,
    pub(crate) scripts: HashSet<ScriptBuf>,
    pub(crate) alkanes: Option<HashSet<AlkaneId>>,
    pub(crate) contracts: Option<HashSet<AlkaneId>>,
    pub(crate) pools: Option<HashSet<AlkaneId>>,
    pub(crate) inscriptions: Option<HashSet<InscriptionId>>,
    pub(crate) runes: Option<HashSet<NamedRune>>,
}

/// A rune as a filter names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum NamedRune {
    /// By [`Rune`].
    Name(u128),
    Id(RuneId),
}

impl PreparedFilter {
    /// The filter in the one form that all equal ones have: its kinds named, every list sorted and each entry once.
    pub fn canonical(&self) -> &Filter {
        &self.canonical
    }

    /// Whether a kind is wanted.
    pub fn wants(&self, kind: Kind) -> bool {
        self.canonical.kinds.contains(&kind)
    }

    /// Estimated memory, bytes.
    pub fn bytes(&self) -> usize {
        let scripts: usize = self.scripts.iter().map(|script| script.len() + 64).sum();
        scripts + self.canonical.entries() * 256
    }
}

impl Filter {
    /// Reads the filter for a network. `scripts_of` gives the scripts of a descriptor, or a sentence with the reason why it is invalid.
    ///
    /// # Errors
    /// [`FilterError`].
    pub fn prepare(
        &self,
        network: Network,
        scripts_of: impl Fn(&str) -> Result<Vec<ScriptBuf>, String>,
    ) -> Result<PreparedFilter, FilterError> {
        if self.entries() > ENTRIES_MAX {
            return Err(FilterError::TooManyEntries);
        }
        if self.descriptors.len() > DESCRIPTORS_MAX {
            return Err(FilterError::TooManyDescriptors);
        }
        let kinds = self.wanted_kinds()?;
        let mut scripts = HashSet::new();
        let mut canonical = Self { kinds, ..Self::default() };
        for text in &self.addresses {
            let address = entry("addresses", text, |text| network.parse_address(text))?;
            scripts.insert(address.script_pubkey());
            canonical.addresses.push(address.to_string());
        }
        for text in &self.descriptors {
            let text = text.trim();
            let wrong = |reason| FilterError::Entry { list: "descriptors", reason };
            scripts.extend(scripts_of(text).map_err(wrong)?);
            canonical.descriptors.push(text.to_owned());
        }
        let alkane = |text: &str| AlkaneId::from_str(text).map_err(|_| "an id is block:tx".to_owned());
        let prepared = PreparedFilter {
            scripts,
            alkanes: list("alkanes", &self.alkanes, &mut canonical.alkanes, alkane)?,
            contracts: list("contracts", &self.contracts, &mut canonical.contracts, alkane)?,
            pools: list("pools", &self.pools, &mut canonical.pools, alkane)?,
            inscriptions: list("inscriptions", &self.inscriptions, &mut canonical.inscriptions, |text| {
                InscriptionId::from_str(text).map_err(|error| error.to_string())
            })?,
            runes: list("runes", &self.runes, &mut canonical.runes, rune)?,
            canonical: Self::default(),
        };
        canonical.sort();
        Ok(PreparedFilter { canonical, ..prepared })
    }

    fn entries(&self) -> usize {
        self.lists().iter().map(|(_, _, list)| list.len()).sum::<usize>() + self.kinds.len()
    }

    fn lists(&self) -> [(&'static str, Kind, &Vec<String>); 7] {
        [
            ("addresses", Kind::Address, &self.addresses),
            ("descriptors", Kind::Address, &self.descriptors),
            ("alkanes", Kind::Transfer, &self.alkanes),
            ("contracts", Kind::Call, &self.contracts),
            ("pools", Kind::Trade, &self.pools),
            ("inscriptions", Kind::Inscription, &self.inscriptions),
            ("runes", Kind::Rune, &self.runes),
        ]
    }

    fn wanted_kinds(&self) -> Result<Vec<Kind>, FilterError> {
        let given = self.lists().into_iter().filter(|(_, _, list)| !list.is_empty());
        let mut kinds = self.kinds.clone();
        if kinds.is_empty() {
            kinds.extend(given.map(|(_, kind, _)| kind));
            if kinds.is_empty() {
                kinds.push(Kind::Block);
            }
        } else if let Some((list, kind, _)) = given.into_iter().find(|(_, kind, _)| !kinds.contains(kind)) {
            return Err(FilterError::IdleList { list, kind });
        }
        if kinds.contains(&Kind::Address) && self.addresses.is_empty() && self.descriptors.is_empty() {
            return Err(FilterError::NoScripts);
        }
        Ok(kinds)
    }

    fn sort(&mut self) {
        self.kinds.sort_unstable();
        self.kinds.dedup();
        let lists = [
            &mut self.addresses,
            &mut self.descriptors,
            &mut self.alkanes,
            &mut self.contracts,
            &mut self.pools,
            &mut self.inscriptions,
            &mut self.runes,
        ];
        for list in lists {
            list.sort_unstable();
            list.dedup();
        }
    }
}

/// Reads a list; `None` when it is empty.
fn list<T: Eq + Hash + Display>(
    name: &'static str,
    texts: &[String],
    canonical: &mut Vec<String>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<HashSet<T>>, FilterError> {
    let mut entries = HashSet::new();
    for text in texts {
        let value = entry(name, text, &read)?;
        canonical.push(value.to_string());
        entries.insert(value);
    }
    Ok((!entries.is_empty()).then_some(entries))
}

fn entry<T>(list: &'static str, text: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<T, FilterError> {
    if text.len() > ENTRY_BYTES_MAX {
        return Err(FilterError::Entry { list, reason: format!("an entry has at most {ENTRY_BYTES_MAX} bytes") });
    }
    read(text).map_err(|reason| FilterError::Entry { list, reason })
}

fn rune(text: &str) -> Result<NamedRune, String> {
    match text.parse::<RuneQuery>() {
        Ok(RuneQuery::Name(Rune(name))) => Ok(NamedRune::Name(name)),
        Ok(RuneQuery::Id(id)) => Ok(NamedRune::Id(id)),
        Ok(RuneQuery::Number(_)) => Err("a rune is named by its name or its id, block:tx".to_owned()),
        Err(reason) => Err(reason.to_owned()),
    }
}

impl Display for NamedRune {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => Rune(*name).fmt(formatter),
            Self::Id(id) => id.fmt(formatter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: &str = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080";

    fn prepare(json: &str) -> Result<PreparedFilter, String> {
        let filter: Filter = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let scripts_of =
            |text: &str| if text == "d" { Ok(vec![ScriptBuf::new()]) } else { Err("no descriptor".into()) };
        filter.prepare(Network::Regtest, scripts_of).map_err(|error| error.to_string())
    }

    fn canonical(json: &str) -> String {
        serde_json::to_string(prepare(json).unwrap().canonical()).unwrap()
    }

    #[test]
    fn equal_filters_have_one_form_and_it_is_a_filter() {
        assert_eq!(canonical("{}"), r#"{"kinds":["block"]}"#);
        let inscription = format!("{}i0", "ab".repeat(32));
        let json = format!(
            r#"{{"alkanes":["2:1","2:0","2:1"],"runes":["UNCOMMON•GOODS","1:2"],"addresses":["{}"],
                "inscriptions":["{inscription}"],"descriptors":[" d ","d"]}}"#,
            ADDRESS.to_uppercase()
        );
        let expected = format!(
            r#"{{"kinds":["address","transfer","inscription","rune"],"addresses":["{ADDRESS}"],"descriptors":["d"],"alkanes":["2:0","2:1"],"inscriptions":["{inscription}"],"runes":["1:2","UNCOMMONGOODS"]}}"#
        );
        assert_eq!(canonical(&json), expected);
        assert_eq!(canonical(&expected), expected);
    }

    #[test]
    fn invalid_filters_are_refused_with_a_reason() {
        let many: Vec<String> = (0..1_001).map(|tx| format!("2:{tx}")).collect();
        for (json, sentence) in [
            (r#"{"kind":["block"]}"#.to_owned(), "unknown field"),
            (r#"{"kinds":["blocks"]}"#.to_owned(), "unknown variant"),
            (r#"{"kinds":["address"]}"#.to_owned(), "needs addresses"),
            (r#"{"kinds":["block"],"pools":["2:1"]}"#.to_owned(), "pools are given"),
            (r#"{"addresses":["bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"]}"#.to_owned(), "addresses: "),
            (r#"{"descriptors":["x"]}"#.to_owned(), "no descriptor"),
            (r#"{"alkanes":["2"]}"#.to_owned(), "block:tx"),
            (r#"{"inscriptions":["abc"]}"#.to_owned(), "inscription id"),
            (r#"{"runes":["7"]}"#.to_owned(), "its name or its id"),
            (format!(r#"{{"contracts":["{}"]}}"#, "1".repeat(200)), "at most 100 bytes"),
            (serde_json::json!({ "alkanes": many }).to_string(), "1000 entries"),
            (serde_json::json!({ "descriptors": vec!["d"; 11] }).to_string(), "10 descriptors"),
        ] {
            let error = prepare(&json).unwrap_err();
            assert!(error.contains(sentence), "{json}: {error}");
        }
    }
}

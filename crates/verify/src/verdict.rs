//! Comparison of two modules and its verdict (docs/verification.md, docs/decisions/0020-verification.md).

use data_encoding::HEXLOWER;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::wasm::{self, Section};

/// Similarity from which a module with other code is still `verified`, in hundredths of a per cent.
const VERIFIED_FROM: u32 = 9_700;
/// Similarity from which it is `partial`.
const PARTIAL_FROM: u32 = 9_000;
/// Full similarity.
const WHOLE: u32 = 10_000;

/// How similar a built module is to the deployed one; worst first, so that the better one is the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Less than 90 % alike.
    Mismatch,
    /// At least 90 % alike.
    Partial,
    /// The code is identical, or at least 97 % of everything but custom sections is.
    Verified,
    /// The same bytes.
    Reproducible,
}

impl Verdict {
    /// Whether the source counts as that of the contract.
    pub const fn promotes(self) -> bool {
        matches!(self, Self::Verified | Self::Reproducible)
    }

    /// Its name in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mismatch => "mismatch",
            Self::Partial => "partial",
            Self::Verified => "verified",
            Self::Reproducible => "reproducible",
        }
    }

    /// The verdict with a name.
    pub fn named(word: &str) -> Option<Self> {
        [Self::Mismatch, Self::Partial, Self::Verified, Self::Reproducible]
            .into_iter()
            .find(|verdict| verdict.name() == word)
    }

    /// The published rules: equal hashes, then identical code, then similarity in hundredths of a per cent.
    const fn of(bytes_equal: bool, code_identical: bool, similarity: u32) -> Self {
        if bytes_equal {
            Self::Reproducible
        } else if code_identical || similarity >= VERIFIED_FROM {
            Self::Verified
        } else if similarity >= PARTIAL_FROM {
            Self::Partial
        } else {
            Self::Mismatch
        }
    }
}

/// One section of the two modules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SectionComparison {
    /// Name of the section as the WebAssembly specification has it.
    pub name: String,
    /// Bytes in the built module; 0 when it has none.
    pub built_size: usize,
    /// Bytes in the deployed module.
    pub deployed_size: usize,
    /// Whether both hold the same bytes.
    pub identical: bool,
}

/// The whole comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// The verdict.
    pub verdict: Verdict,
    /// SHA-256 of the built module, 64 hex digits.
    pub built_sha256: String,
    /// SHA-256 of the deployed module.
    pub deployed_sha256: String,
    /// Whether both have a code section and it is the same.
    pub code_identical: bool,
    /// Similarity in hundredths of a per cent, 0 to 10,000.
    pub similarity: u32,
    /// Every section but the custom ones.
    pub sections: Vec<SectionComparison>,
}

/// Compares the built and the deployed module, both unpacked.
pub fn compare(built: &[u8], deployed: &[u8]) -> Comparison {
    let bytes_equal = built == deployed;
    let (parts_built, parts_deployed) = match (wasm::sections(built), wasm::sections(deployed)) {
        (Some(built), Some(deployed)) => (built, deployed),
        // Bytes that are no module can only be equal or not.
        _ => (Vec::new(), Vec::new()),
    };
    let sections = pair(&parts_built, &parts_deployed);
    let code = |parts: &[Section<'_>]| parts.iter().any(|section| section.id == wasm::CODE);
    let code_identical = code(&parts_built)
        && code(&parts_deployed)
        && sections.iter().all(|section| section.name != wasm::section_name(wasm::CODE) || section.identical);
    let similarity = if bytes_equal { WHOLE } else { similarity(&sections) };
    Comparison {
        verdict: Verdict::of(bytes_equal, code_identical, similarity),
        built_sha256: sha256_hex(built),
        deployed_sha256: sha256_hex(deployed),
        code_identical,
        similarity,
        sections,
    }
}

/// Sections with the same id side by side, the first with the first.
fn pair(built: &[Section<'_>], deployed: &[Section<'_>]) -> Vec<SectionComparison> {
    let mut left: Vec<&Section<'_>> = deployed.iter().collect();
    let mut pairs = Vec::new();
    for section in built {
        let other = left.iter().position(|other| other.id == section.id).map(|index| left.remove(index));
        pairs.push(SectionComparison {
            name: wasm::section_name(section.id).to_owned(),
            built_size: section.content.len(),
            deployed_size: other.map_or(0, |other| other.content.len()),
            identical: other == Some(section),
        });
    }
    pairs.extend(left.into_iter().map(|section| SectionComparison {
        name: wasm::section_name(section.id).to_owned(),
        built_size: 0,
        deployed_size: section.content.len(),
        identical: false,
    }));
    pairs
}

/// The share of bytes, of both modules together, that are in sections which are the same in both. A section with one changed
/// byte counts as another one: one byte of code decides where the money goes.
fn similarity(sections: &[SectionComparison]) -> u32 {
    let bytes = |section: &SectionComparison| (section.built_size + section.deployed_size) as u64;
    let all: u64 = sections.iter().map(bytes).sum();
    let same: u64 = sections.iter().filter(|section| section.identical).map(bytes).sum();
    let share = (same * u64::from(WHOLE)).checked_div(all).unwrap_or(0);
    u32::try_from(share).unwrap_or(0)
}

/// SHA-256 as 64 hex digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wasm::tests::module;

    /// row VF01
    #[test]
    fn the_published_thresholds_decide() {
        for (bytes_equal, code_identical, similarity, verdict) in [
            (true, true, 10_000, Verdict::Reproducible),
            (false, true, 0, Verdict::Verified),
            (false, false, 9_700, Verdict::Verified),
            (false, false, 9_699, Verdict::Partial),
            (false, false, 9_000, Verdict::Partial),
            (false, false, 8_999, Verdict::Mismatch),
            (false, false, 0, Verdict::Mismatch),
        ] {
            assert_eq!(Verdict::of(bytes_equal, code_identical, similarity), verdict, "{similarity}");
            assert_eq!(verdict.promotes(), verdict >= Verdict::Verified);
            assert_eq!(Verdict::named(verdict.name()), Some(verdict));
        }
        assert_eq!(Verdict::named("Verified"), None);
    }

    fn verdict(built: &[(u8, &[u8])], deployed: &[(u8, &[u8])]) -> (Verdict, u32) {
        let comparison = compare(&module(built), &module(deployed));
        (comparison.verdict, comparison.similarity)
    }

    #[test]
    fn names_and_notes_do_not_count() {
        let deployed: &[(u8, &[u8])] = &[(1, b"types"), (10, b"code"), (0, b"names")];
        assert_eq!(verdict(deployed, deployed), (Verdict::Reproducible, 10_000));
        assert_eq!(verdict(&[(1, b"types"), (10, b"code")], deployed), (Verdict::Verified, 10_000));
    }

    #[test]
    fn one_byte_of_code_makes_another_contract() {
        let (code, data) = ([1; 900], [2; 100]);
        let mut changed = code;
        changed[450] = 9;
        assert_eq!(verdict(&[(10, &changed), (11, &data)], &[(10, &code), (11, &data)]), (Verdict::Mismatch, 1_000));
        // Other data with the same code is verified, as published.
        assert_eq!(verdict(&[(10, &code), (11, b"x")], &[(10, &code), (11, &data)]).0, Verdict::Verified);
        // Where nearly everything is data, the published thresholds decide.
        let (code, data) = ([1; 20], [2; 980]);
        assert_eq!(verdict(&[(10, &changed[..20]), (11, &data)], &[(10, &code), (11, &data)]).0, Verdict::Reproducible);
        assert_eq!(verdict(&[(10, &[3; 20]), (11, &data)], &[(10, &code), (11, &data)]), (Verdict::Verified, 9_800));
        assert_eq!(verdict(&[(10, &[3; 80]), (11, &data)], &[(10, &[1; 80]), (11, &data)]).0, Verdict::Partial);
    }

    #[test]
    fn a_section_more_or_less_and_a_second_one_are_seen() {
        let comparison = compare(&module(&[(10, b"a"), (11, b"b")]), &module(&[(10, b"a"), (10, b"c")]));
        let compared: Vec<_> = comparison.sections.iter().map(|s| (s.name.as_str(), s.identical)).collect();
        assert_eq!(compared, [("code", true), ("data", false), ("code", false)]);
        assert!(!comparison.code_identical);
    }

    #[test]
    fn what_is_no_module_can_only_be_the_same_or_not() {
        assert_eq!(compare(b"text", b"text").verdict, Verdict::Reproducible);
        let comparison = compare(b"text", &module(&[(10, b"a")]));
        assert_eq!(
            (comparison.verdict, comparison.similarity, comparison.code_identical),
            (Verdict::Mismatch, 0, false)
        );
        // Two modules of nothing but custom sections have no code in common.
        assert_eq!(verdict(&[(0, b"a")], &[(0, b"b")]), (Verdict::Mismatch, 0));
    }
}

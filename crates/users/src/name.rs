use crate::UsersError;

/// Longest name, in characters.
pub const NAME_CHARS_MAX: usize = 64;

/// Longest accepted input, in bytes: a name of the widest characters with some space around it.
const TEXT_BYTES_MAX: usize = 4 * NAME_CHARS_MAX + 64;

/// A name in its displayed and its compared form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    /// As it was typed: without space around it, and with one blank for every run of space inside.
    pub(crate) shown: String,
    /// The same without ASCII case. Two users never have the same one.
    pub(crate) key: String,
}

impl Name {
    pub(crate) fn parse(text: &str) -> Result<Self, UsersError> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(UsersError::InvalidName);
        }
        let text = text.trim();
        if text.is_empty() || text.chars().any(is_refused) {
            return Err(UsersError::InvalidName);
        }
        let shown = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if shown.chars().count() > NAME_CHARS_MAX {
            return Err(UsersError::InvalidName);
        }
        let key = shown.to_ascii_lowercase();
        Ok(Self { shown, key })
    }
}

/// Characters that end a line, that cannot be seen, or that change the direction of the text around them: with them a name
/// could look like another one.
fn is_refused(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn space_around_a_name_goes_and_case_does_not_count() {
        let name = Name::parse("  Alice \u{3000} Doe\n").unwrap();
        assert_eq!((name.shown.as_str(), name.key.as_str()), ("Alice Doe", "alice doe"));
        assert_eq!(Name::parse("ALICE doe").unwrap().key, name.key);
        // Other letters keep their case, since case folding differs between languages.
        assert_ne!(Name::parse("Ärger").unwrap().key, Name::parse("ärger").unwrap().key);
    }

    #[test]
    fn names_are_limited_and_hold_nothing_that_hides_or_turns_text() {
        for (text, accepted) in [
            ("a".to_owned(), true),
            ("é".repeat(64), true),
            ("\u{1f600}".repeat(64), true),
            ("محمد".to_owned(), true),
            ("<script>alert(1)</script>".to_owned(), true),
            ("é".repeat(65), false),
            ("a".repeat(100_000), false),
            (" ".repeat(100_000) + "a", false),
            (String::new(), false),
            (" \u{2003}".to_owned(), false),
            ("nul\0nul".to_owned(), false),
            ("bell\u{7}bell".to_owned(), false),
            ("two\nlines".to_owned(), false),
            ("tab\tbed".to_owned(), false),
            ("c1\u{85}c1".to_owned(), false),
            ("admin\u{202e}nimda".to_owned(), false),
            ("admin\u{2066}x".to_owned(), false),
            ("ad\u{200f}min".to_owned(), false),
            ("ad\u{61c}min".to_owned(), false),
            ("ad\u{200b}min".to_owned(), false),
            ("ad\u{feff}min".to_owned(), false),
            ("ad\u{e0061}min".to_owned(), false),
            ("\u{3164}".to_owned(), false),
        ] {
            assert_eq!(Name::parse(&text).is_ok(), accepted, "{text:.80?}");
        }
    }

    proptest! {
        #[test]
        fn an_accepted_name_is_bounded_and_stays_what_it_is(text in "\\PC{0,80}|[ -~]{0,80}|.{0,80}") {
            if let Ok(name) = Name::parse(&text) {
                prop_assert!((1..=NAME_CHARS_MAX).contains(&name.shown.chars().count()));
                prop_assert!(!name.shown.chars().any(is_refused));
                prop_assert_eq!(name.shown.trim(), &name.shown);
                prop_assert_eq!(&Name::parse(&name.shown).unwrap(), &name);
                prop_assert_eq!(&Name::parse(&name.key).unwrap().key, &name.key);
                prop_assert_eq!(Name::parse(&text.to_ascii_uppercase()).unwrap().key, name.key);
            }
        }
    }
}

//! Names of the documents as names of programs.

/// Words that Rust keeps for itself.
const RESERVED: [&str; 12] = ["as", "box", "const", "fn", "in", "match", "mod", "move", "ref", "self", "type", "use"];

/// The words of a name: `esplora_blocks:tip:hash`, `getHolders` and `fee-estimates` have three, two and two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        let begins = letter.is_ascii_uppercase() && was_lower;
        if !letter.is_ascii_alphanumeric() || begins {
            words.push(String::new());
        }
        if letter.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(letter.to_ascii_lowercase());
        }
        was_lower = letter.is_ascii_lowercase() || letter.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// As a type: `GetHolders`.
pub(crate) fn of_type(name: &str) -> String {
    let mut text = String::new();
    for word in words(name) {
        let mut letters = word.chars();
        text.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        text.push_str(letters.as_str());
    }
    if text.starts_with(|letter: char| letter.is_ascii_digit()) { format!("N{text}") } else { text }
}

/// As a field: `get_holders`.
pub(crate) fn of_field(name: &str) -> String {
    let text = words(name).join("_");
    match text.as_str() {
        // `r#self` does not exist.
        "self" => "itself".to_owned(),
        "" => "empty".to_owned(),
        _ if RESERVED.contains(&text.as_str()) => format!("r#{text}"),
        _ if text.starts_with(|letter: char| letter.is_ascii_digit()) => format!("n{text}"),
        _ => text,
    }
}

/// Words that may be no label of a tuple in TypeScript.
const RESERVED_LABELS: [&str; 10] =
    ["case", "default", "delete", "export", "function", "import", "new", "package", "return", "this"];

/// As the label of a parameter in TypeScript.
pub(crate) fn of_label(name: &str) -> String {
    let text = of_field(name).replace("r#", "");
    let is_reserved = RESERVED.contains(&text.as_str()) || RESERVED_LABELS.contains(&text.as_str());
    if is_reserved { format!("{text}_") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_surfaces_become_names_of_rust() {
        for (name, kind, field) in [
            ("esplora_blocks:tip:hash", "EsploraBlocksTipHash", "esplora_blocks_tip_hash"),
            ("admin_createApiKey", "AdminCreateApiKey", "admin_create_api_key"),
            ("get-holders", "GetHolders", "get_holders"),
            ("token0BlockId", "Token0BlockId", "token0_block_id"),
            ("type", "Type", "r#type"),
            ("24h", "N24h", "n24h"),
        ] {
            assert_eq!((of_type(name).as_str(), of_field(name).as_str()), (kind, field));
        }
    }
}

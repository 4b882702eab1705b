//! The folders of a crate: no circle of imports runs through them.
//!
//! A folder is a directory below `src` with its `mod.rs`, or with the file beside it that has its name. It imports another
//! where one of its files names something of that other by a path that begins with `crate` or `super`, also by the name that
//! the root of the crate gives it. Both are lifted to the siblings below their common ancestor, so a folder may name its own
//! subfolders and they may name it. Tests do not count: they come last and nothing imports them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::Finding;
use xtask::repository::SourceFile;

/// Which sibling imports which, and the first file that does: `engine` to `run` in `engine/batch.rs`.
type Imports<'a> = BTreeMap<String, BTreeMap<String, &'a str>>;

pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let mut crates: BTreeMap<&str, Vec<Module<'_>>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        if let Some((folder, name)) = file.path.split_once("/src/").filter(|(folder, _)| is_crate(folder)) {
            crates.entry(folder).or_default().push(Module::read(name, &file.text));
        }
    }
    let findings = crates.into_iter().flat_map(|(folder, modules)| {
        let imports = imports(&modules);
        circles(&imports).into_iter().map(move |circle| {
            let files: Vec<&str> = circle.windows(2).map(|pair| imports[&pair[0]][&pair[1]]).collect();
            let what = format!("folders {} are a circle ({})", circle.join(" -> "), files.join(", "));
            Finding::whole(&format!("{folder}/src"), what)
        })
    });
    findings.collect()
}

fn is_crate(folder: &str) -> bool {
    let name = folder.strip_prefix("crates/").or_else(|| folder.strip_prefix("bin/"));
    folder == "xtask" || name.is_some_and(|name| !name.contains('/'))
}

/// One file of a crate.
struct Module<'a> {
    /// Its path from `src`.
    name: &'a str,
    /// The path of its module from the root of the crate.
    path: Vec<&'a str>,
    /// The paths of the modules that it declares for tests alone.
    tests: Vec<Vec<&'a str>>,
    /// What is left without them.
    tokens: Vec<Token<'a>>,
}

impl<'a> Module<'a> {
    fn read(name: &'a str, text: &'a str) -> Self {
        let path = module_path(name);
        let mut module = Self { name, path, tests: Vec::new(), tokens: Vec::new() };
        module.take(&tokens(text));
        module
    }

    /// Takes all tokens but the items under `#[cfg(test)]`.
    fn take(&mut self, tokens: &[Token<'a>]) {
        let mut at = 0;
        while at < tokens.len() {
            let begin = at;
            let mut is_test = false;
            let mut file = None;
            while let [Token::Mark('#'), Token::Mark('['), ..] = tokens[at..] {
                let attribute = &tokens[at + 2..group_end(tokens, at + 1)];
                is_test |= is_cfg_test(attribute);
                if let [Token::Word("path"), Token::Mark('='), Token::Text(path)] = attribute[..attribute.len() - 1] {
                    file = Some(path);
                }
                at += 2 + attribute.len();
            }
            if is_test {
                self.declare_test(&tokens[at..], file);
                at = item_end(tokens, at);
            } else if at == begin {
                at += 1;
            }
            if !is_test {
                self.tokens.extend_from_slice(&tokens[begin..at]);
            }
        }
    }

    /// Remembers the module of an item like `mod tests;`, whose file `#[path]` may name.
    fn declare_test(&mut self, item: &[Token<'a>], file: Option<&'a str>) {
        let Some(at) = item.iter().position(|token| *token == Token::Word("mod")).filter(|at| *at < 5) else { return };
        let [Token::Word(name), Token::Mark(';'), ..] = item[at + 1..] else { return };
        let path = match file {
            None => self.path.iter().copied().chain([name]).collect(),
            Some(file) => {
                let folder = self.name.rsplit_once('/').map_or("", |(folder, _)| folder);
                let folder = folder.split('/').filter(|part| !part.is_empty());
                folder.chain(module_path(file)).collect()
            }
        };
        self.tests.push(path);
    }

    /// The paths that it names from the root of the crate, by `crate` or `super`.
    fn named(&self) -> Vec<Vec<&'a str>> {
        let tokens = &self.tokens[..];
        let mut found = Vec::new();
        let mut current = self.path.clone();
        // The depths of the modules that stand in the file itself.
        let mut inner = Vec::new();
        let (mut at, mut depth) = (0, 0);
        while at < tokens.len() {
            match tokens[at..] {
                [Token::Word("crate"), Token::Colons, ..] => {
                    at = named(tokens, at + 2, Vec::new(), &mut found);
                    continue;
                }
                [Token::Word("super"), Token::Colons, ..] => {
                    at = named(tokens, at, current.clone(), &mut found);
                    continue;
                }
                [Token::Word("mod"), Token::Word(name), Token::Mark('{'), ..] => {
                    inner.push(depth);
                    current.push(name);
                }
                [Token::Mark('{'), ..] => depth += 1,
                [Token::Mark('}'), ..] => {
                    depth -= 1;
                    if inner.pop_if(|opened| *opened == depth).is_some() {
                        current.pop();
                    }
                }
                _ => {}
            }
            at += 1;
        }
        found
    }
}

/// What the root of a crate takes from its modules, by name.
fn of_root<'a>(modules: &[&Module<'a>]) -> BTreeMap<&'a str, Vec<&'a str>> {
    let mut found = Vec::new();
    for root in modules.iter().filter(|module| module.path.is_empty()) {
        let uses = root.tokens.iter().enumerate().filter(|(_, token)| **token == Token::Word("use"));
        for (at, _) in uses {
            named(&root.tokens, at + 1, Vec::new(), &mut found);
        }
    }
    let paths = found.into_iter().map(|mut path| {
        path.retain(|part| *part != "crate");
        path
    });
    paths.filter_map(|path| Some((*path.last()?, path))).filter(|(_, path)| path.len() > 1).collect()
}

/// The path of the module in a file: `engine/view.rs` and `engine/view/mod.rs` are `engine::view`.
fn module_path(name: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = name.strip_suffix(".rs").unwrap_or(name).split('/').collect();
    parts.pop_if(|last| ["lib", "main", "mod"].contains(last));
    parts
}

/// `cfg(test)`, or a condition that holds in tests alone.
fn is_cfg_test(attribute: &[Token<'_>]) -> bool {
    let [Token::Word("cfg"), Token::Mark('('), condition @ ..] = attribute else { return false };
    let condition = match condition {
        [Token::Word("all"), Token::Mark('('), first @ ..] => first,
        all => all,
    };
    matches!(condition, [Token::Word("test"), Token::Mark(')' | ','), ..])
}

/// The end of the item or field that begins at `at`.
fn item_end(tokens: &[Token<'_>], mut at: usize) -> usize {
    let items = ["mod", "use", "fn", "impl", "trait", "struct", "enum", "type", "const", "static", "macro_rules"];
    let first = tokens[at..].iter().find_map(|token| match token {
        Token::Word(word) if items.contains(word) => Some(Some(*word)),
        Token::Mark('(' | ')') | Token::Word("pub" | "crate" | "super" | "async" | "unsafe") => None,
        _ => Some(None),
    });
    let word = first.flatten();
    while let Some(token) = tokens.get(at) {
        match token {
            Token::Mark('{') => {
                at = group_end(tokens, at);
                if !matches!(word, Some("use" | "static") | None) {
                    return at;
                }
            }
            Token::Mark('(' | '[') => at = group_end(tokens, at),
            Token::Mark(';') => return at + 1,
            Token::Mark(',') if word.is_none() => return at + 1,
            Token::Mark('}' | ')') => return at,
            _ => at += 1,
        }
    }
    at
}

/// What follows the bracket that closes the one at `at`.
fn group_end(tokens: &[Token<'_>], at: usize) -> usize {
    let mut depth = 0;
    for (offset, token) in tokens[at..].iter().enumerate() {
        match token {
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']' | '}') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + offset + 1;
        }
    }
    tokens.len()
}

/// Adds to `found` what a path below `prefix` names, of which a part may be a group; what follows it.
fn named<'a>(tokens: &[Token<'a>], mut at: usize, mut prefix: Vec<&'a str>, found: &mut Vec<Vec<&'a str>>) -> usize {
    match tokens.get(at) {
        Some(Token::Word(word)) => {
            match *word {
                "super" => drop(prefix.pop()),
                "self" => {}
                word => prefix.push(word),
            }
            if tokens.get(at + 1) == Some(&Token::Colons) {
                return named(tokens, at + 2, prefix, found);
            }
            found.push(prefix);
            at + 1
        }
        Some(Token::Mark('{')) => {
            at += 1;
            while let Some(token) = tokens.get(at) {
                match token {
                    Token::Mark('}') => return at + 1,
                    Token::Mark(',') => at += 1,
                    Token::Word("as") => at += 2,
                    _ => at = named(tokens, at, prefix.clone(), found),
                }
            }
            at
        }
        _ => {
            // A `*`, or the arguments of a generic function.
            found.push(prefix);
            at + 1
        }
    }
}

fn imports<'a>(modules: &[Module<'a>]) -> Imports<'a> {
    let tests: Vec<&Vec<&str>> = modules.iter().flat_map(|module| &module.tests).collect();
    let is_test =
        |module: &Module<'_>| module.path.contains(&"tests") || tests.iter().any(|test| module.path.starts_with(test));
    let modules: Vec<&Module<'_>> = modules.iter().filter(|module| !is_test(module)).collect();
    let folders: BTreeSet<Vec<&str>> = modules.iter().flat_map(|module| folders_above(module.name)).collect();
    let folder_of = |path: &[&'a str]| {
        let len = (1..=path.len()).rev().find(|len| folders.contains(&path[..*len])).unwrap_or(0);
        path[..len].to_vec()
    };
    let of_root = of_root(&modules);
    let is_module = |name: &str| modules.iter().any(|module| module.path.first() == Some(&name));
    let mut imports = Imports::new();
    for module in &modules {
        let from = folder_of(&module.path);
        for named in module.named() {
            let first = named.first().filter(|first| named.len() == 1 || !is_module(first));
            let to = folder_of(first.and_then(|first| of_root.get(first)).unwrap_or(&named));
            let shared = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
            if shared < from.len() && shared < to.len() {
                let sibling = |path: &[&str]| path[..=shared].join("/");
                imports.entry(sibling(&from)).or_default().entry(sibling(&to)).or_insert(module.name);
            }
        }
    }
    imports
}

/// The folders that a file is in.
fn folders_above(name: &str) -> Vec<Vec<&str>> {
    let parts: Vec<&str> = name.split('/').collect();
    (1..parts.len()).map(|len| parts[..len].to_vec()).collect()
}

/// Of each group of folders that reach each other a shortest circle, its first folder again at the end.
fn circles(imports: &Imports<'_>) -> Vec<Vec<String>> {
    let mut circles = Vec::new();
    let mut done = BTreeSet::new();
    for folder in imports.keys() {
        if done.contains(folder) || shortest(imports, folder, folder).is_none() {
            continue;
        }
        let reach_each_other =
            |other: &&String| shortest(imports, folder, other).is_some() && shortest(imports, other, folder).is_some();
        let group: Vec<&String> = imports.keys().filter(reach_each_other).collect();
        circles.extend(group.iter().filter_map(|other| shortest(imports, other, other)).min_by_key(Vec::len));
        done.extend(group);
    }
    circles
}

/// A shortest way along one import or more.
fn shortest(imports: &Imports<'_>, from: &str, to: &str) -> Option<Vec<String>> {
    let mut ways = VecDeque::from([vec![from.to_owned()]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        for next in imports.get(way.last()?).into_iter().flat_map(BTreeMap::keys) {
            let way: Vec<String> = way.iter().chain([next]).cloned().collect();
            if next == to {
                return Some(way);
            }
            if seen.insert(next) {
                ways.push_back(way);
            }
        }
    }
    None
}

/// As much of the language as paths and items need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    /// The content of a string.
    Text(&'a str),
    /// `::`.
    Colons,
    Mark(char),
}

/// The tokens of a file, without comments.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let len = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            comment_len(rest)
        } else if let Some((len, content)) = string(rest) {
            tokens.push(Token::Text(content));
            len
        } else if first == '\'' {
            quoted_len(rest)
        } else if first.is_alphanumeric() || first == '_' {
            let len = rest.find(|next: char| !next.is_alphanumeric() && next != '_').unwrap_or(rest.len());
            tokens.push(Token::Word(&rest[..len]));
            len
        } else if rest.starts_with("::") {
            tokens.push(Token::Colons);
            2
        } else {
            if !first.is_whitespace() {
                tokens.push(Token::Mark(first));
            }
            first.len_utf8()
        };
        rest = &rest[len..];
    }
    tokens
}

/// Comments in comments are possible.
fn comment_len(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at < text.len() {
        let pair = &text.as_bytes()[at..text.len().min(at + 2)];
        match pair {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of the string that `text` begins with, raw or not, and its content.
fn string(text: &str) -> Option<(usize, &str)> {
    if let Some(content) = text.strip_prefix('"') {
        let mut is_escaped = false;
        let end = content.find(|next| {
            let is_end = next == '"' && !is_escaped;
            is_escaped = next == '\\' && !is_escaped;
            is_end
        });
        let end = end.unwrap_or(content.len());
        return Some((text.len().min(end + 2), &content[..end]));
    }
    let raw = ["r", "br", "cr"].into_iter().find_map(|prefix| text.strip_prefix(prefix))?;
    let content = raw.trim_start_matches('#').strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(raw.len() - content.len() - 1));
    let end = content.find(&close).unwrap_or(content.len());
    Some((text.len().min(text.len() - content.len() + end + close.len()), &content[..end]))
}

/// The length of a character; of a lifetime that of its mark.
fn quoted_len(text: &str) -> usize {
    let content = &text[1..];
    if content.starts_with('\\') {
        return content.char_indices().skip(2).find(|(_, next)| *next == '\'').map_or(text.len(), |(at, _)| at + 2);
    }
    let mut following = content.chars();
    match (following.next(), following.next()) {
        (Some(character), Some('\'')) => character.len_utf8() + 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample;

    /// The findings in a crate `store` with these files; folders `run` and `engine` exist beside them.
    fn judge(files: &[(&str, &str)]) -> Vec<String> {
        let mut samples = vec![
            sample("crates/store/src/engine/view.rs", "//! A view.\n"),
            sample("crates/store/src/run/redo.rs", "//! A file.\n"),
        ];
        samples.extend(files.iter().map(|(name, text)| sample(&format!("crates/store/src/{name}"), text)));
        check(&samples).iter().map(ToString::to_string).collect()
    }

    /// Whether `text` in `name` makes `engine` import `run`.
    fn imports_run(name: &str, text: &str) -> bool {
        let found = judge(&[(name, text), ("run.rs", "use crate::engine::View;\n")]);
        if !found.is_empty() {
            let wanted = format!("crates/store/src: folders engine -> run -> engine are a circle ({name}, run.rs)");
            assert_eq!(found, [wanted], "{text}");
        }
        !found.is_empty()
    }

    #[test]
    fn a_circle_is_found_however_a_folder_is_named() {
        for text in [
            "use crate::run::Run;\n",
            "fn open() { crate::run::open() }\n",
            "use crate::run;\n",
            "use crate::{error::Failure, run::{redo, Run as Sorted}, table};\n",
            "use crate::{\n    table,\n    run,\n};\n",
            "use crate::run::*;\n",
            "use super::super::run::Run;\n",
            "use super::super::{key, run};\n",
            "use super::{super::run};\n",
            "fn open() { self::super::super::run::redo::<u8>() }\n",
            "mod inner {\n    fn open() { super::super::super::run::open() }\n}\n",
            "mod inner {}\nfn open(text: &'static str) { match ('\"', '\\'', \"\\\"{\") { _ => super::super::run::open() } }\n",
            "#[cfg(feature = \"test\")]\nuse crate::run::Run;\n",
            "#[cfg(not(test))]\nuse crate::run::Run;\n",
            "#[cfg(test)]\nconst OF: Two = Two { first: 1 };\nuse crate::run::Run;\n",
        ] {
            assert!(imports_run("engine/batch.rs", text), "{text}");
        }
        let root = ("lib.rs", "pub use self::{key::Key, run::{Run, redo::Redo}};\nuse run::open;\n");
        for text in ["use crate::Run;\n", "use crate::{Key, Redo};\n", "fn open() { crate::open() }\n"] {
            let found = judge(&[root, ("engine/batch.rs", text), ("run.rs", "use crate::engine::View;\n")]);
            assert_eq!(found.len(), 1, "{text}");
        }
        assert!(imports_run("engine.rs", "use super::run::Run;\n"));
        assert!(imports_run("engine/mod.rs", "use super::run::Run;\n"));
        assert!(imports_run("engine/deep/batch.rs", "use super::super::super::run::Run;\n"));
    }

    #[test]
    fn tests_comments_and_strings_do_not_count() {
        for text in [
            "// crate::run::Run\n/* crate::run /* and */ crate::run */\n//! [`crate::run`]\n",
            "const PATH: &str = \"crate::run::Run \\\" crate::run::Run\";\n",
            "const PATH: &str = r#\"a \" crate::run::Run\"#;\n",
            "#[cfg(test)]\nuse crate::run::{Run, redo};\n",
            "#[cfg(all(test, unix))]\nuse crate::run::Run;\n",
            "#[cfg(test)]\n#[allow(dead_code)]\npub(crate) fn open() { crate::run::open() }\n",
            "struct Engine {\n    #[cfg(test)]\n    run: crate::run::Run,\n}\n",
            "#[cfg(test)]\nmod tests {\n    use crate::run::Run;\n    fn open() { if true { crate::run::open() } }\n}\n",
            "fn runs() { other::run::open(); super::run::open() }\n",
        ] {
            assert!(!imports_run("engine/batch.rs", text), "{text}");
        }
        let import = "use crate::run::Run;\n";
        assert!(!imports_run("engine/tests.rs", import));
        assert!(!imports_run("engine/tests/open.rs", import));
        let run = ("run.rs", "use crate::engine::View;\n");
        let named = "#[cfg(test)]\n#[path = \"batch_tests.rs\"]\nmod tests;\n";
        assert_eq!(judge(&[("engine/batch.rs", named), ("engine/batch_tests.rs", import), run]), [""; 0]);
        let declared = "#[cfg(test)]\npub(crate) mod sample;\n";
        assert_eq!(judge(&[("engine.rs", declared), ("engine/sample/rows.rs", import), run]), [""; 0]);
        assert_eq!(judge(&[("engine.rs", "mod sample;\n"), ("engine/sample/rows.rs", import), run]).len(), 1);
    }

    #[test]
    fn a_folder_and_its_subfolder_may_name_each_other_and_siblings_at_any_depth_may_not() {
        let parent = [
            ("engine.rs", "use crate::engine::run::Run;\n"),
            ("engine/run/redo.rs", "use crate::engine::View;\nuse super::super::batch;\n"),
        ];
        assert_eq!(judge(&parent), [""; 0]);
        let siblings = [
            ("engine/run/redo.rs", "use crate::engine::merge::plan::Plan;\n"),
            ("engine/merge/plan.rs", "use super::super::run::Run;\n"),
        ];
        assert_eq!(
            judge(&siblings),
            [
                "crates/store/src: folders engine/merge -> engine/run -> engine/merge are a circle (engine/merge/plan.rs, engine/run/redo.rs)"
            ]
        );
        let cousins =
            [("engine/run/redo.rs", "use crate::run::redo;\n"), ("run/merge/plan.rs", "use crate::engine::batch;\n")];
        assert_eq!(
            judge(&cousins),
            ["crates/store/src: folders engine -> run -> engine are a circle (engine/run/redo.rs, run/merge/plan.rs)"]
        );
    }

    #[test]
    fn the_shortest_circle_of_a_group_is_named_and_files_without_a_folder_are_in_none() {
        let files = [
            ("key.rs", "use crate::engine::View;\n"),
            ("engine/batch.rs", "use crate::key;\nuse crate::run::Run;\n"),
            ("run.rs", "use crate::undo::Record;\n"),
            ("undo/read.rs", "use crate::engine::View;\nuse crate::table::Table;\n"),
            ("table/row.rs", "use crate::undo::Record;\n"),
        ];
        assert_eq!(
            judge(&files),
            ["crates/store/src: folders table -> undo -> table are a circle (table/row.rs, undo/read.rs)"]
        );
        assert_eq!(judge(&files[..4]).len(), 1, "a circle of three");
        assert_eq!(judge(&files[..3]), [""; 0]);
        // A folder of tests alone does not make a folder of the file beside it.
        let no_folder = [("key.rs", "use crate::run::Run;\n"), ("key/tests.rs", ""), ("run.rs", "use crate::key;\n")];
        assert_eq!(judge(&no_folder), [""; 0]);
    }

    #[test]
    fn every_crate_is_looked_at_by_itself() {
        let of = |folder: &str| {
            let file = |name: &str, text: &str| sample(&format!("{folder}/src/{name}"), text);
            check(&[file("a/one.rs", "use crate::b::Two;\n"), file("b/two.rs", "use crate::a::One;\n")]).len()
        };
        assert_eq!([of("crates/store"), of("bin/paraffin"), of("xtask")], [1; 3]);
        assert_eq!(of("contracts/pool"), 0);
        let apart =
            [sample("crates/x/src/a/one.rs", "use crate::b;\n"), sample("crates/y/src/b/two.rs", "use crate::a;\n")];
        assert_eq!(check(&apart), []);
    }
}

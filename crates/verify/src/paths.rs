//! Names inside a source tree: which paths are valid, and where links may lead.

use std::collections::BTreeMap;

/// Longest path in bytes.
const PATH_BYTES_MAX: usize = 512;
/// Longest part of a path in bytes, as file systems have it.
const PART_BYTES_MAX: usize = 255;
/// Deepest nesting of folders.
const DEPTH_MAX: usize = 32;
/// Links that a path may lead through, as systems have it.
const HOPS_MAX: usize = 40;
/// The folder of git in a work tree.
const GIT_FOLDER: &str = ".git";

/// Why a path is refused. Texts from outside are shown escaped and shortened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// An absolute path.
    #[error("`{0}` is absolute")]
    Absolute(String),
    /// It contains `..`.
    #[error("`{0}` holds `..`")]
    Climbs(String),
    /// Bytes that are not UTF-8, or text that is not printable.
    #[error("`{0}` is not readable text")]
    NotText(String),
    /// Longer or deeper than a path may be.
    #[error("`{0}` is too long or too deep")]
    TooLong(String),
    /// Two entries for one path, or one below another that is no folder.
    #[error("`{0}` stands there twice, or below something that is no folder")]
    Twice(String),
    /// A link out of the tree, in a circle, or to an absolute path.
    #[error("the link `{0}` leads out of the tree")]
    LeadsOut(String),
    /// More names than a tree may have.
    #[error("there are more than {0} files, folders and links")]
    TooMany(usize),
}

/// A path of an archive in its plain form; `None` for the root itself and for everything in `.git`.
pub(crate) fn tree_path(bytes: &[u8]) -> Result<Option<String>, PathError> {
    let shown = || shown(bytes);
    let text = std::str::from_utf8(bytes).map_err(|_| PathError::NotText(shown()))?;
    if text.chars().any(|letter| letter.is_control() || letter == '\\' || letter == '\u{fffd}') {
        return Err(PathError::NotText(shown()));
    }
    if text.starts_with('/') {
        return Err(PathError::Absolute(shown()));
    }
    let parts: Vec<&str> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.contains(&"..") {
        return Err(PathError::Climbs(shown()));
    }
    let too_long = text.len() > PATH_BYTES_MAX || parts.iter().any(|part| part.len() > PART_BYTES_MAX);
    if too_long || parts.len() > DEPTH_MAX {
        return Err(PathError::TooLong(shown()));
    }
    if parts.is_empty() || parts.iter().any(|part| part.eq_ignore_ascii_case(GIT_FOLDER)) {
        return Ok(None);
    }
    Ok(Some(parts.join("/")))
}

/// An untrusted text, escaped and shortened for an error.
pub(crate) fn shown(bytes: &[u8]) -> String {
    const SHOWN_MAX: usize = 80;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN_MAX)]);
    text.chars().map(|letter| if letter.is_control() || letter == '`' { '\u{fffd}' } else { letter }).collect()
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    File,
    Folder,
    Link(String),
}

/// All names of a tree while it is unpacked.
pub(crate) struct Names {
    kinds: BTreeMap<String, Kind>,
    names_max: usize,
}

impl Names {
    pub(crate) fn new(names_max: usize) -> Self {
        Self { kinds: BTreeMap::new(), names_max }
    }

    pub(crate) fn file(&mut self, path: &str) -> Result<(), PathError> {
        self.add(path, Kind::File)
    }

    /// A folder may be named again, by itself and by its entries.
    pub(crate) fn folder(&mut self, path: &str) -> Result<(), PathError> {
        if self.kinds.get(path) == Some(&Kind::Folder) { Ok(()) } else { self.add(path, Kind::Folder) }
    }

    pub(crate) fn link(&mut self, path: &str, target: &[u8]) -> Result<(), PathError> {
        let target = std::str::from_utf8(target).map_err(|_| PathError::NotText(path.to_owned()))?;
        if target.is_empty() || target.starts_with('/') || target.len() > PATH_BYTES_MAX || target.contains('\0') {
            return Err(PathError::LeadsOut(path.to_owned()));
        }
        self.add(path, Kind::Link(target.to_owned()))
    }

    fn add(&mut self, path: &str, kind: Kind) -> Result<(), PathError> {
        // All its parent folders exist from now on, named by the archive or not.
        for (index, _) in path.match_indices('/') {
            let above = &path[..index];
            match self.kinds.get(above) {
                None => self.insert(above, Kind::Folder)?,
                Some(Kind::Folder) => {}
                Some(_) => return Err(PathError::Twice(path.to_owned())),
            }
        }
        if self.kinds.contains_key(path) {
            return Err(PathError::Twice(path.to_owned()));
        }
        self.insert(path, kind)
    }

    fn insert(&mut self, path: &str, kind: Kind) -> Result<(), PathError> {
        if self.kinds.len() >= self.names_max {
            return Err(PathError::TooMany(self.names_max));
        }
        self.kinds.insert(path.to_owned(), kind);
        Ok(())
    }

    /// All links with their targets, each of which stays inside the tree at every step, through other links too. A link to
    /// what does not exist is let through; one that runs in a circle is not.
    pub(crate) fn checked_links(&self) -> Result<Vec<(String, String)>, PathError> {
        let mut links = Vec::new();
        for (path, kind) in &self.kinds {
            if let Kind::Link(target) = kind {
                if !self.stays_inside(path) {
                    return Err(PathError::LeadsOut(path.clone()));
                }
                links.push((path.clone(), target.clone()));
            }
        }
        Ok(links)
    }

    /// Resolves a path as the operating system would.
    fn stays_inside(&self, path: &str) -> bool {
        let mut ahead: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
        let mut here: Vec<String> = Vec::new();
        let mut hops = 0;
        while let Some(part) = ahead.pop() {
            match part.as_str() {
                "" | "." => continue,
                ".." => {
                    if here.pop().is_none() {
                        return false;
                    }
                    continue;
                }
                _ => here.push(part),
            }
            if let Some(Kind::Link(target)) = self.kinds.get(&here.join("/")) {
                hops += 1;
                if hops > HOPS_MAX {
                    return false;
                }
                here.pop();
                ahead.extend(target.split('/').rev().map(str::to_owned));
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_paths_are_taken_and_git_is_left_out() {
        for (given, taken) in [
            ("src/lib.rs", Some("src/lib.rs")),
            ("./src//lib.rs", Some("src/lib.rs")),
            ("src/", Some("src")),
            ("./", None),
            (".git/hooks/post-checkout", None),
            ("a/.GIT/config", None),
            ("größe.rs", Some("größe.rs")),
        ] {
            assert_eq!(tree_path(given.as_bytes()).unwrap().as_deref(), taken, "{given}");
        }
    }

    #[test]
    fn paths_that_climb_or_cannot_be_read_are_refused() {
        let deep = "a/".repeat(DEPTH_MAX) + "b";
        let long = "a".repeat(PART_BYTES_MAX + 1);
        let refused = |bytes: &[u8]| tree_path(bytes).unwrap_err();
        assert!(matches!(refused(b"/etc/passwd"), PathError::Absolute(_)));
        assert!(matches!(refused(b"a/../../b"), PathError::Climbs(_)));
        assert!(matches!(refused(b".."), PathError::Climbs(_)));
        assert!(matches!(refused(b"a\xff.rs"), PathError::NotText(_)));
        assert!(matches!(refused(b"a\nb"), PathError::NotText(_)));
        assert!(matches!(refused(b"a\\b"), PathError::NotText(_)));
        assert!(matches!(refused(b"a\0b"), PathError::NotText(_)));
        assert!(matches!(refused(deep.as_bytes()), PathError::TooLong(_)));
        assert!(matches!(refused(long.as_bytes()), PathError::TooLong(_)));
        assert_eq!(
            refused(b"/\x1b[31m").to_string(),
            "`/\u{fffd}[31m` is absolute".replace("is absolute", "is not readable text")
        );
    }

    fn links(links: &[(&str, &str)]) -> Result<usize, PathError> {
        let mut names = Names::new(100);
        names.file("deep/er/file").unwrap();
        for (path, target) in links {
            names.link(path, target.as_bytes())?;
        }
        names.checked_links().map(|links| links.len())
    }

    #[test]
    fn links_stay_inside_through_any_detour() {
        assert_eq!(links(&[("here", "deep/er/file"), ("deep/up", "../deep"), ("gone", "nowhere")]), Ok(3));
        for bad in [
            &[("out", "../x")][..],
            &[("out", "/etc/passwd")],
            &[("out", "")],
            &[("deep/out", "../../etc")],
            // Each stays inside as a text; the second climbs from where the first leads.
            &[("deep/er/top", "../.."), ("out", "deep/er/top/../x")],
            &[("a", "b"), ("b", "a")],
            &[("itself", "itself/x")],
        ] {
            assert!(matches!(links(bad), Err(PathError::LeadsOut(_))), "{bad:?}");
        }
    }

    #[test]
    fn a_name_stands_once_and_nothing_lies_below_a_file_or_a_link() {
        let mut names = Names::new(6);
        names.folder("a").unwrap();
        names.folder("a").unwrap();
        names.file("a/b").unwrap();
        assert!(matches!(names.file("a/b"), Err(PathError::Twice(_))));
        assert!(matches!(names.file("a/b/c"), Err(PathError::Twice(_))));
        names.link("a/link", b"b").unwrap();
        assert!(matches!(names.file("a/link/c"), Err(PathError::Twice(_))));
        assert!(matches!(names.folder("a/link"), Err(PathError::Twice(_))));
        assert!(matches!(names.file("x/y/z/w"), Err(PathError::TooMany(6))));
    }
}

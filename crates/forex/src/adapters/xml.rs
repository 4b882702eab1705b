//! As much of XML as a list of rates needs: elements with attributes and text, over bytes, so that the encoding of unused names
//! does not matter. There are no entities, no document types and no sections.

use crate::error::FeedError;

/// Deepest nesting.
const DEPTH_MAX: usize = 8;

/// A piece of a document.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// The beginning of an element with its attributes as written.
    Open(&'a [u8], &'a [u8]),
    /// Text between two tags.
    Text(&'a [u8]),
    /// The end of an element.
    Close(&'a [u8]),
}

/// Walks through a document.
pub(super) struct Pieces<'a> {
    rest: &'a [u8],
    open: Vec<&'a [u8]>,
    /// The end of an element that has no content.
    closing: Option<&'a [u8]>,
}

const MALFORMED: FeedError = FeedError::Form("it is not well-formed XML");

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

impl<'a> Pieces<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes), open: Vec::new(), closing: None }
    }

    /// The next piece; `None` at the end of a document all of whose elements are closed.
    pub(super) fn next(&mut self) -> Result<Option<Piece<'a>>, FeedError> {
        if let Some(name) = self.closing.take() {
            return Ok(Some(Piece::Close(name)));
        }
        loop {
            if self.rest.is_empty() {
                return if self.open.is_empty() { Ok(None) } else { Err(MALFORMED) };
            }
            let text_len = self.rest.iter().position(|byte| *byte == b'<').unwrap_or(self.rest.len());
            if text_len > 0 {
                let (text, rest) = self.rest.split_at(text_len);
                self.rest = rest;
                let text = text.trim_ascii();
                if text.is_empty() {
                    continue;
                }
                return if self.open.is_empty() { Err(MALFORMED) } else { Ok(Some(Piece::Text(text))) };
            }
            let ends = [(&b"<!--"[..], &b"-->"[..]), (b"<?", b"?>")];
            if let Some((start, end)) = ends.iter().find(|(start, _)| self.rest.starts_with(start)) {
                let inner = &self.rest[start.len()..];
                self.rest = &inner[find(inner, end).ok_or(MALFORMED)? + end.len()..];
                continue;
            }
            return self.tag().map(Some);
        }
    }

    fn tag(&mut self) -> Result<Piece<'a>, FeedError> {
        let end = self.rest.iter().position(|byte| *byte == b'>').ok_or(MALFORMED)?;
        let inner = &self.rest[1..end];
        self.rest = &self.rest[end + 1..];
        if let Some(name) = inner.strip_prefix(b"/") {
            let name = name.trim_ascii_end();
            return if self.open.pop() == Some(name) { Ok(Piece::Close(name)) } else { Err(MALFORMED) };
        }
        let (inner, is_closed) = inner.strip_suffix(b"/").map_or((inner, false), |inner| (inner, true));
        let name_len = inner.iter().position(u8::is_ascii_whitespace).unwrap_or(inner.len());
        let (name, attributes) = inner.split_at(name_len);
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':');
        if name.is_empty() || !name.iter().all(is_name) {
            return Err(MALFORMED);
        }
        if self.open.len() == DEPTH_MAX {
            return Err(FeedError::Form("its elements are nested too deeply"));
        }
        if is_closed {
            self.closing = Some(name);
        } else {
            self.open.push(name);
        }
        Ok(Piece::Open(name, attributes.trim_ascii()))
    }
}

/// The value of an attribute, in single or double quotes.
pub(super) fn attribute<'a>(attributes: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut rest = attributes;
    loop {
        rest = rest.trim_ascii_start();
        let equals = rest.iter().position(|byte| *byte == b'=')?;
        let (attribute, after) = (rest[..equals].trim_ascii(), rest[equals + 1..].trim_ascii_start());
        let (quote, after) = after.split_first()?;
        if !matches!(quote, b'"' | b'\'') {
            return None;
        }
        let end = after.iter().position(|byte| byte == quote)?;
        if attribute == name.as_bytes() {
            return Some(&after[..end]);
        }
        rest = &after[end + 1..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(document: &[u8]) -> Result<usize, FeedError> {
        let mut pieces = Pieces::new(document);
        let mut count = 0;
        while pieces.next()?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    #[test]
    fn elements_text_and_attributes_are_found() {
        let document = b"<?xml version=\"1.0\"?>\n<a x='1' y=\"2\"><!-- <b> --><b>t \xff</b><c/></a>\n";
        let mut pieces = Pieces::new(document);
        let mut found = Vec::new();
        while let Some(piece) = pieces.next().unwrap() {
            found.push(piece);
        }
        let expected = [
            Piece::Open(b"a", b"x='1' y=\"2\""),
            Piece::Open(b"b", b""),
            Piece::Text(b"t \xff"),
            Piece::Close(b"b"),
            Piece::Open(b"c", b""),
            Piece::Close(b"c"),
            Piece::Close(b"a"),
        ];
        assert_eq!(found, expected);
        assert_eq!(attribute(b"x='1' y=\"2\"", "y"), Some(&b"2"[..]));
        for (attributes, name) in [("x=1", "x"), ("x", "x"), ("x='1", "x"), ("yx='1'", "x"), ("", "x")] {
            assert_eq!(attribute(attributes.as_bytes(), name), None, "{attributes}");
        }
    }

    #[test]
    fn what_is_not_well_formed_is_refused() {
        for bad in [
            "<a>",
            "<a></b>",
            "</a>",
            "text",
            "<a",
            "<>",
            "<a><b></a></b>",
            "<!DOCTYPE a>",
            "<![CDATA[x]]>",
            "<?xml",
            "<a>&",
        ] {
            assert!(count(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(count("<a>".repeat(9).as_bytes()).is_err());
        assert_eq!(count(b""), Ok(0));
    }
}

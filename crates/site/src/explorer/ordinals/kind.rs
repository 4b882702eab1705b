//! Kinds of content by the content type that its inscription names.

/// Kind of content, which decides how it is shown and served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An image, with the type that it is served as.
    Image(&'static str),
    /// SVG: an image that may have scripts and links.
    Svg,
    /// A page.
    Html,
    /// Text, with the type that it is served as. Never a type that a browser runs as a script or applies as a style sheet.
    Text(&'static str),
    /// Sound, with the type that it is served as.
    Audio(&'static str),
    /// A film, with the type that it is served as.
    Video(&'static str),
    /// Anything else: to be downloaded.
    Other,
}

const PLAIN: &str = "text/plain; charset=utf-8";

impl Kind {
    /// Of a content type as an inscription names it.
    pub(super) fn of(content_type: &str) -> Self {
        let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            "image/png" => Self::Image("image/png"),
            "image/jpeg" | "image/jpg" => Self::Image("image/jpeg"),
            "image/gif" => Self::Image("image/gif"),
            "image/webp" => Self::Image("image/webp"),
            "image/avif" => Self::Image("image/avif"),
            "image/apng" => Self::Image("image/apng"),
            "image/jxl" => Self::Image("image/jxl"),
            "image/bmp" => Self::Image("image/bmp"),
            "image/svg+xml" => Self::Svg,
            "text/html" => Self::Html,
            "application/json" => Self::Text("application/json"),
            // Scripts and style sheets too. As `text/plain` with `nosniff` no browser runs them, so that content cannot stand
            // for a script of this site.
            "application/javascript"
            | "application/x-javascript"
            | "application/yaml"
            | "application/x-yaml"
            | "application/pgp-signature" => Self::Text(PLAIN),
            text if text.starts_with("text/") => Self::Text(PLAIN),
            "audio/mpeg" => Self::Audio("audio/mpeg"),
            "audio/flac" => Self::Audio("audio/flac"),
            "audio/wav" | "audio/x-wav" => Self::Audio("audio/wav"),
            "audio/ogg" => Self::Audio("audio/ogg"),
            "video/mp4" => Self::Video("video/mp4"),
            "video/webm" => Self::Video("video/webm"),
            _ => Self::Other,
        }
    }

    /// The type that content is served as.
    pub(super) const fn served_as(self) -> &'static str {
        match self {
            Self::Image(named) | Self::Text(named) | Self::Audio(named) | Self::Video(named) => named,
            Self::Svg => "image/svg+xml",
            Self::Html => "text/html; charset=utf-8",
            Self::Other => "application/octet-stream",
        }
    }

    /// The kind as a word.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Image(_) => "image",
            Self::Svg => "SVG",
            Self::Html => "HTML",
            Self::Text(_) => "text",
            Self::Audio(_) => "audio",
            Self::Video(_) => "video",
            Self::Other => "file",
        }
    }

    /// Whether bytes may be of this kind as they are. Otherwise the content encoding is looked up.
    pub(super) fn accepts(self, bytes: &[u8]) -> bool {
        let begins = |beginnings: &[&[u8]]| beginnings.iter().any(|beginning| bytes.starts_with(beginning));
        let at = |start: usize, mark: &[u8]| bytes.get(start..).is_some_and(|rest| rest.starts_with(mark));
        match self {
            Self::Svg | Self::Html | Self::Text(_) => std::str::from_utf8(bytes).is_ok(),
            Self::Image("image/png" | "image/apng") => begins(&[b"\x89PNG"]),
            Self::Image("image/jpeg") => begins(&[b"\xff\xd8\xff"]),
            Self::Image("image/gif") => begins(&[b"GIF8"]),
            Self::Image("image/webp") => begins(&[b"RIFF"]) && at(8, b"WEBP"),
            Self::Image("image/avif") | Self::Video("video/mp4") => at(4, b"ftyp"),
            Self::Image("image/bmp") => begins(&[b"BM"]),
            Self::Audio("audio/wav") => begins(&[b"RIFF"]),
            Self::Audio("audio/flac") => begins(&[b"fLaC"]),
            Self::Audio("audio/ogg") => begins(&[b"OggS"]),
            Self::Audio("audio/mpeg") => begins(&[b"ID3", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2"]),
            Self::Video("video/webm") => begins(&[b"\x1a\x45\xdf\xa3"]),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types_are_read_whatever_stands_after_them() {
        for (named, kind) in [
            ("image/png", Kind::Image("image/png")),
            (" TEXT/HTML ;charset=utf-7", Kind::Html),
            ("text/html;charset=utf-8", Kind::Html),
            ("image/svg+xml", Kind::Svg),
            ("text/plain;charset=utf-8", Kind::Text(PLAIN)),
            ("text/html\r\nset-cookie: a=b", Kind::Text(PLAIN)),
            ("application/pdf", Kind::Other),
            ("application/xhtml+xml", Kind::Other),
            ("text", Kind::Other),
            ("", Kind::Other),
        ] {
            assert_eq!(Kind::of(named), kind, "{named}");
        }
    }

    #[test]
    fn nothing_is_served_as_a_script_or_a_style_sheet() {
        for named in
            ["text/javascript", "application/javascript", "application/x-javascript", "text/css", "text/ecmascript"]
        {
            assert_eq!(Kind::of(named).served_as(), PLAIN, "{named}");
        }
        for named in ["application/ecmascript", "application/wasm", "text/xml+x", "application/xml"] {
            assert!(matches!(Kind::of(named).served_as(), PLAIN | "application/octet-stream"), "{named}");
        }
    }

    #[test]
    fn bytes_of_another_kind_are_seen() {
        assert!(Kind::of("image/png").accepts(b"\x89PNG\r\n") && !Kind::of("image/png").accepts(b"\x1f\x8b"));
        assert!(Kind::of("text/html").accepts("é".as_bytes()) && !Kind::of("text/html").accepts(b"\x0b\x02\x80hello"));
        assert!(Kind::of("image/webp").accepts(b"RIFF....WEBP") && !Kind::of("image/webp").accepts(b"RIFF"));
        assert!(!Kind::of("").accepts(b"anything"));
    }
}

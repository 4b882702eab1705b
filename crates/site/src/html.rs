//! Pages as HTML: templates are checked when they are compiled, and every value is escaped.

use askama::Template;
use axum::response::{Html, IntoResponse, Response};
use hyper::StatusCode;
use paraffin_access::UnixMillis;
use paraffin_users::{Role, Session};
use time::OffsetDateTime;

/// A template as a page.
pub(crate) struct Page<T>(pub(crate) T);

impl<T: Template> IntoResponse for Page<T> {
    fn into_response(self) -> Response {
        match self.0.render() {
            Ok(text) => Html(text).into_response(),
            Err(error) => {
                tracing::error!(%error, "a page could not be rendered");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }
}

/// The frame of every page for a signed-in user.
pub(crate) struct Frame {
    /// Name of the user.
    pub(crate) user: String,
    pub(crate) is_owner: bool,
    /// Token for forms (CSRF).
    pub(crate) csrf: String,
    /// The account that the page is about, for links: its number, or empty.
    pub(crate) account: String,
    /// The current entry of the menu.
    pub(crate) section: &'static str,
    /// Error or result of the last action, shown above the content.
    pub(crate) message: Option<Message>,
}

/// A sentence above the content.
pub(crate) struct Message {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

impl Message {
    pub(crate) fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true }
    }

    pub(crate) fn done(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: false }
    }
}

impl Frame {
    pub(crate) fn new(session: &Session, section: &'static str, account: Option<i64>) -> Self {
        Self {
            user: session.user.name.clone(),
            is_owner: session.user.role == Role::Owner,
            csrf: session.csrf.reveal().to_owned(),
            account: account.map(|account| account.to_string()).unwrap_or_default(),
            section,
            message: None,
        }
    }

    /// Sets the sentence above the content.
    #[must_use]
    pub(crate) fn with(mut self, message: Option<Message>) -> Self {
        self.message = message;
        self
    }
}

/// A page with a single sentence.
#[derive(Template)]
#[template(path = "notice.html")]
pub(crate) struct Notice {
    title: &'static str,
    sentence: String,
}

impl Notice {
    pub(crate) fn page(title: &'static str, sentence: String) -> Page<Self> {
        Page(Self { title, sentence })
    }
}

/// A time as text: UTC, to the minute.
pub(crate) fn moment(at: UnixMillis) -> String {
    let Ok(at) = OffsetDateTime::from_unix_timestamp(at.div_euclid(1_000)) else { return "—".to_owned() };
    format!("{:04}-{:02}-{:02} {:02}:{:02} UTC", at.year(), u8::from(at.month()), at.day(), at.hour(), at.minute())
}

/// As [`moment`]; `otherwise` where there is no time.
pub(crate) fn moment_or(at: Option<UnixMillis>, otherwise: &str) -> String {
    at.map_or_else(|| otherwise.to_owned(), moment)
}

/// Age of a time in Unix seconds, as text.
pub(crate) fn age(now: UnixMillis, unix_seconds: i64) -> String {
    let seconds = now.div_euclid(1_000).saturating_sub(unix_seconds);
    let in_units = |unit: i64, name: &str| {
        let count = seconds.saturating_abs() / unit;
        let plural = if count == 1 { "" } else { "s" };
        let count = grouped(count);
        if seconds < 0 { format!("in {count} {name}{plural}") } else { format!("{count} {name}{plural} ago") }
    };
    match seconds.saturating_abs() {
        0..60 => in_units(1, "second"),
        60..3_600 => in_units(60, "minute"),
        3_600..86_400 => in_units(3_600, "hour"),
        86_400..31_536_000 => in_units(86_400, "day"),
        _ => in_units(31_536_000, "year"),
    }
}

/// A number with separated thousands.
pub(crate) fn grouped(number: impl Into<i128>) -> String {
    let number: i128 = number.into();
    let digits = number.unsigned_abs().to_string();
    let mut text = if number < 0 { "-".to_owned() } else { String::new() };
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A limit, or that there is none.
pub(crate) fn limit(limit: Option<u32>) -> String {
    limit.map_or_else(|| "unlimited".to_owned(), grouped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_written_for_people() {
        for (number, text) in [(0_i64, "0"), (999, "999"), (1_000, "1,000"), (-1_234_567, "-1,234,567")] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(moment(1_764_255_660_000), "2025-11-27 15:01 UTC");
        assert_eq!(moment(i64::MAX), "—");
        assert_eq!(limit(None), "unlimited");
        for (seconds, text) in [
            (1_000, "0 seconds ago"),
            (999, "1 second ago"),
            (1_000 - 7_200, "2 hours ago"),
            (1_120, "in 2 minutes"),
            (1_000 - 86_400 * 400, "1 year ago"),
        ] {
            assert_eq!(age(1_000_000, seconds), text);
        }
        assert!(age(i64::MIN, i64::MAX).starts_with("in ") && age(i64::MAX, i64::MIN).ends_with("ago"));
    }
}

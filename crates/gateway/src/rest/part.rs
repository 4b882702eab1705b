//! Pages of listings.

use super::RestBody;
use crate::errors::ApiError;

/// Default number of records of a page.
const LIMIT_DEFAULT: usize = 50;
/// Largest number of records of a page, where a route has no other.
pub const LIMIT_MAX: usize = 500;
/// Furthest record that a page can begin with; no list is so long.
const OFFSET_MAX: usize = u32::MAX as usize;

/// The requested part of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Records to skip.
    pub offset: usize,
    /// Number of records; `None` for all.
    pub limit: Option<usize>,
}

impl Part {
    /// `limit` or `count`, and `offset` or a page that counts from 1, where 0 acts as 1.
    ///
    /// # Errors
    /// 400: a member is no number, or two of them differ.
    pub fn read(body: &RestBody, default: Option<usize>, cap: usize) -> Result<Self, ApiError> {
        let limit = match (body.positive("limit", cap)?, body.positive("count", cap)?) {
            (Some(limit), Some(count)) if limit != count => {
                return Err(ApiError::invalid("limit and count differ"));
            }
            (limit, count) => limit.or(count).or(default),
        };
        let offset = body.natural("offset", OFFSET_MAX)?;
        let page = body.natural("page", OFFSET_MAX)?;
        let paged =
            page.map(|page| page.saturating_sub(1).saturating_mul(limit.unwrap_or(LIMIT_DEFAULT)).min(OFFSET_MAX));
        let limit = if paged.is_some() { limit.or(Some(LIMIT_DEFAULT)) } else { limit };
        match (offset, paged) {
            (Some(offset), Some(paged)) if offset != paged => Err(ApiError::invalid("offset and page differ")),
            (offset, paged) => Ok(Self { offset: paged.or(offset).unwrap_or(0), limit }),
        }
    }

    /// The part of a whole listing.
    pub fn of<T>(self, all: Vec<T>) -> Vec<T> {
        all.into_iter().skip(self.offset).take(self.limit.unwrap_or(usize::MAX)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(body: &str) -> Result<Part, u16> {
        let body = RestBody::parse(body.as_bytes(), 8).unwrap();
        Part::read(&body, Some(LIMIT_DEFAULT), LIMIT_MAX).map_err(|error| error.kind.status.as_u16())
    }

    /// row RA01
    #[test]
    fn a_part_is_named_by_limit_or_count_and_by_offset_or_page() {
        let part_of = |offset, limit| Ok(Part { offset, limit: Some(limit) });
        for (body, expected) in [
            ("{}", part_of(0, 50)),
            (r#"{"limit":null,"offset":null}"#, part_of(0, 50)),
            (r#"{"limit":7,"offset":3}"#, part_of(3, 7)),
            (r#"{"count":7}"#, part_of(0, 7)),
            (r#"{"limit":7,"count":7}"#, part_of(0, 7)),
            (r#"{"limit":9999}"#, part_of(0, 500)),
            (r#"{"page":0,"limit":100}"#, part_of(0, 100)),
            (r#"{"page":1,"limit":100}"#, part_of(0, 100)),
            (r#"{"page":3,"limit":100}"#, part_of(200, 100)),
            (r#"{"page":3,"limit":100,"offset":200}"#, part_of(200, 100)),
            (r#"{"limit":7,"count":8}"#, Err(400)),
            (r#"{"page":3,"limit":100,"offset":100}"#, Err(400)),
            (r#"{"limit":0}"#, Err(400)),
            (r#"{"limit":-1}"#, Err(400)),
            (r#"{"offset":-1}"#, Err(400)),
            (r#"{"offset":1.5}"#, Err(400)),
            (r#"{"page":"x"}"#, Err(400)),
        ] {
            assert_eq!(part(body), expected, "{body}");
        }
    }
}

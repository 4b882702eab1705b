//! Sizes of memories.

const PAGE_LEN_BYTES: u64 = 1 << 16;
const PAGES_MAX: u32 = 1 << 16;

/// A number of pages of 64 KiB, at most 65,536: what a 32-bit address reaches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pages(u32);

impl Pages {
    /// The most pages that a memory has.
    pub const fn max() -> Self {
        Self(PAGES_MAX)
    }

    /// So many pages, unless they are too many.
    pub fn new(pages: u32) -> Option<Self> {
        (pages <= PAGES_MAX).then_some(Self(pages))
    }

    /// The sum, unless it is too many.
    pub fn checked_add(self, more: impl Into<u32>) -> Option<Self> {
        self.0.checked_add(more.into()).and_then(Self::new)
    }

    /// The length, unless this machine cannot address so much.
    pub fn to_bytes(self) -> Option<usize> {
        usize::try_from(u64::from(self.0) * PAGE_LEN_BYTES).ok()
    }
}

impl From<u16> for Pages {
    fn from(pages: u16) -> Self {
        Self(pages.into())
    }
}

impl From<Pages> for u32 {
    fn from(pages: Pages) -> Self {
        pages.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_end_where_a_32_bit_address_does() {
        assert_eq!(Pages::new(65_536), Some(Pages::max()));
        assert_eq!(Pages::new(65_537), None);
        assert_eq!(Pages::from(65_535).checked_add(1_u32), Some(Pages::max()));
        assert_eq!(Pages::max().checked_add(1_u32), None);
        assert_eq!(Pages::from(1).checked_add(u32::MAX), None);
        assert_eq!(Pages::from(3).to_bytes(), Some(196_608));
        assert_eq!(Pages::max().to_bytes().map(|bytes| bytes as u64), Some(1 << 32));
    }
}

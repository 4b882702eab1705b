//! Which way a branch usually goes.

/// Marks the branch that calls it as rare.
#[cold]
#[inline]
pub fn cold() {}

/// The condition, which usually holds.
#[inline]
pub fn likely(condition: bool) -> bool {
    if !condition {
        cold();
    }
    condition
}

/// The condition, which usually does not hold.
#[inline]
pub fn unlikely(condition: bool) -> bool {
    if condition {
        cold();
    }
    condition
}

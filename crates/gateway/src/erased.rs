//! Values whose type is known to the two ends of a read alone.
//!
//! What runs a closure away from the async threads is large (a task, its state machine, the locks around it). It is compiled for every type
//! of closure that reaches it, two hundred of them, unless all have one type.

use std::any::Any;

/// What a read answers.
pub(crate) type Answer = Box<dyn Any + Send>;

/// A closure that does not name what it answers.
pub(crate) fn erase<T: Send + 'static>(value: T) -> Answer {
    Box::new(value)
}

/// The value of [`erase`].
pub(crate) fn restore<T: 'static>(answer: Answer) -> T {
    *answer.downcast().expect("the caller that erased the type asks for the same one")
}

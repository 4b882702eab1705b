//! Type erasure of the results of reads.
//!
//! The code that runs a closure on a blocking thread is large (a task, its state machine, locks). It is compiled for every type
//! of closure that reaches it, two hundred of them, unless all have one type.

use std::any::Any;

/// The erased result of a read.
pub type Answer = Box<dyn Any + Send>;

/// Erases the type of a result.
pub fn erase<T: Send + 'static>(value: T) -> Answer {
    Box::new(value)
}

/// The value of [`erase`].
pub fn restore<T: 'static>(answer: Answer) -> T {
    *answer.downcast().expect("the caller that erased the type asks for the same one")
}

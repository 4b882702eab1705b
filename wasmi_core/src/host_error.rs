//! Errors that functions of the embedder hand through the interpreter.

use std::any::Any;
use std::fmt::{Debug, Display};

/// An error of the embedder; it comes out of the interpreter as it went in.
pub trait HostError: Any + Debug + Display + Send + Sync {}

impl dyn HostError {
    /// Whether the error is a `T`.
    pub fn is<T: HostError>(&self) -> bool {
        (self as &dyn Any).is::<T>()
    }

    /// The error, if it is a `T`.
    pub fn downcast_ref<T: HostError>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }

    /// The error, if it is a `T`, to be changed.
    pub fn downcast_mut<T: HostError>(&mut self) -> Option<&mut T> {
        (self as &mut dyn Any).downcast_mut()
    }

    /// The error itself, if it is a `T`.
    ///
    /// # Errors
    /// It is none, and comes back.
    pub fn downcast<T: HostError>(self: Box<Self>) -> Result<Box<T>, Box<Self>> {
        if !self.is::<T>() {
            return Err(self);
        }
        Ok((self as Box<dyn Any>).downcast().expect("its type was asked for"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Refused(u8);

    impl HostError for Refused {}

    impl Display for Refused {
        fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(formatter, "refused {}", self.0)
        }
    }

    #[derive(Debug)]
    struct Other;

    impl HostError for Other {}

    impl Display for Other {
        fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("other")
        }
    }

    #[test]
    fn an_error_comes_out_as_what_it_is_alone() {
        let mut error: Box<dyn HostError> = Box::new(Refused(1));
        assert_eq!(error.downcast_ref::<Refused>(), Some(&Refused(1)));
        assert!(error.downcast_ref::<Other>().is_none() && error.downcast_mut::<Other>().is_none());
        error.downcast_mut::<Refused>().unwrap().0 = 2;
        let error = error.downcast::<Other>().unwrap_err();
        assert_eq!(error.to_string(), "refused 2");
        assert_eq!(*error.downcast::<Refused>().unwrap(), Refused(2));
    }
}

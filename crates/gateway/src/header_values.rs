use bytes::Bytes;
use hyper::header::HeaderValue;
use paraffin_access::UNLIMITED;

/// Digits of the largest number.
const DIGITS_MAX: usize = 20;

/// A decimal number as the value of a header. Most numbers in headers are "no limit", which takes no memory; the others
/// take exactly as much as they are long.
pub(crate) fn decimal(number: u64) -> HeaderValue {
    if number == u64::from(UNLIMITED) {
        return HeaderValue::from_static("2147483647");
    }
    let (mut digits, mut first, mut left) = ([0; DIGITS_MAX], DIGITS_MAX, number);
    loop {
        first -= 1;
        digits[first] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    // Digits are always a valid header value.
    let text = Bytes::copy_from_slice(&digits[first..]);
    HeaderValue::from_maybe_shared(text).unwrap_or_else(|_| HeaderValue::from(number))
}

/// Header numbers that seldom change from one request of a connection to the next, cached as header values.
#[derive(Default)]
pub(crate) struct HeaderNumbers {
    pub(crate) limit: LastNumber,
    pub(crate) reset: LastNumber,
    pub(crate) daily_limit: LastNumber,
    pub(crate) height: LastNumber,
}

/// The number sent last, with its header value.
#[derive(Default)]
pub(crate) struct LastNumber(Option<(u64, HeaderValue)>);

impl LastNumber {
    pub(crate) fn value(&mut self, number: u64) -> HeaderValue {
        match &self.0 {
            Some((last, value)) if *last == number => value.clone(),
            _ => {
                let value = decimal(number);
                self.0 = Some((number, value.clone()));
                value
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_whole() {
        for number in [0, 9, 10, 60, 2_147_483_646, 2_147_483_647, 2_147_483_648, u64::MAX] {
            assert_eq!(decimal(number).to_str().unwrap(), number.to_string());
        }
        let mut last = LastNumber::default();
        for number in [7, 7, 8, 7] {
            assert_eq!(last.value(number).to_str().unwrap(), number.to_string());
        }
    }
}

//! Concurrent reads.

use std::panic::resume_unwind;
use std::thread;

/// Threads that read for one caller at most.
const THREADS_MAX: usize = 4;

/// Does `read` for every item, on several threads when there are at least `share` items for each of two, and returns the
/// results, in order. A read of a table file waits for the disk, and a disk answers many reads at once sooner than one
/// after the other; a thread costs as much as the first of them.
///
/// # Errors
/// That of the first item whose read failed.
pub fn read_together<T: Sync, R: Send, E: Send>(
    items: &[T],
    share: usize,
    read: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let threads = (items.len() / share.max(1)).min(THREADS_MAX);
    if threads < 2 {
        return items.iter().map(read).collect();
    }
    let read_all = |items: &[T]| items.iter().map(&read).collect::<Result<Vec<R>, E>>();
    let read_all = &read_all;
    let mut parts = items.chunks(items.len().div_ceil(threads));
    let first = parts.next().unwrap_or_default();
    thread::scope(|scope| {
        let others: Vec<_> = parts.map(|part| scope.spawn(move || read_all(part))).collect();
        let mut found = read_all(first)?;
        found.reserve(items.len() - found.len());
        for other in others {
            found.append(&mut other.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Ok(found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_in_order_and_the_first_error_counts_however_many_threads_read() {
        for count in [0, 1, 7, 8, 63, 64, 65, 1000] {
            let items: Vec<usize> = (0..count).collect();
            let doubled: Vec<usize> = items.iter().map(|item| item * 2).collect();
            assert_eq!(read_together(&items, 4, |item| Ok::<_, usize>(item * 2)), Ok(doubled));
            let failing = |item: &usize| if item % 50 == 49 { Err(*item) } else { Ok(()) };
            assert_eq!(read_together(&items, 4, failing).err(), (count > 49).then_some(49));
        }
    }
}

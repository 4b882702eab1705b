//! The allocator as the program has it.
#![cfg(target_os = "linux")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rustix::mm::Advice;

#[global_allocator]
static ALLOCATOR: paraffin_allocator::Allocator = paraffin_allocator::Allocator;

const MIB: usize = 1 << 20;
const LARGE: usize = 32 * MIB;

/// Held by each test, because they look at the memory of the whole process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Resident bytes of the process.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// Frees a piece of the heap below allocations in use that is larger than the memory of a contract.
fn free_piece() -> Vec<Vec<u8>> {
    let mut pieces: Vec<Vec<u8>> = (0..48 * MIB / 65536).map(|_| vec![1; 65536 - 64]).collect();
    let in_use = vec![vec![1; 1000]];
    pieces.clear();
    in_use
}

#[test]
fn large_memory_is_zero_and_takes_nothing_until_it_is_touched_whatever_the_heap_has_free() {
    let _alone = alone();
    let in_use = free_piece();
    let (before, begun) = (resident(), Instant::now());
    for _ in 0..3000 {
        let mut memory = vec![0_u8; LARGE];
        assert!(memory[LARGE - 1] == 0 && memory[LARGE / 2] == 0);
        memory[LARGE / 2] = 1;
        std::hint::black_box(&memory);
    }
    let took = begun.elapsed();
    // Writing 100 GB of zeros takes two seconds and more, three thousand mappings some ten milliseconds.
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert!(resident() < before + MIB, "{} bytes more", resident() - before);
    drop(in_use);
}

#[test]
fn what_grows_and_shrinks_across_the_border_keeps_its_bytes() {
    let _alone = alone();
    let of_len = |len: usize| -> Vec<u8> { (0_u8..=250).cycle().take(len).collect() };
    let mut bytes: Vec<u8> = Vec::new();
    for len in [1000, LARGE - 1, LARGE, 2 * LARGE, LARGE, 10, LARGE, 0] {
        let expected = of_len(len);
        bytes.truncate(len);
        bytes.shrink_to_fit();
        bytes.reserve_exact(len - bytes.len());
        assert_eq!(bytes.capacity(), len);
        bytes.extend_from_slice(&expected[bytes.len()..]);
        assert!(bytes == expected, "{len}");
    }
}

#[test]
fn large_memory_goes_back_at_once() {
    let _alone = alone();
    let before = resident();
    let memory = vec![1_u8; 8 * LARGE];
    assert!(resident() > before + 7 * LARGE);
    drop(std::hint::black_box(memory));
    assert!(resident() < before + 4 * LARGE);
}

#[test]
fn what_the_system_does_not_have_is_an_error() {
    let _alone = alone();
    let mut bytes: Vec<u8> = Vec::new();
    assert!(bytes.try_reserve_exact(isize::MAX as usize).is_err());
    bytes.resize(LARGE, 7);
    assert!(bytes.try_reserve_exact(isize::MAX as usize - LARGE).is_err());
    assert!(bytes.iter().all(|byte| *byte == 7));
}

#[repr(align(16384))]
#[derive(Clone, Copy)]
struct Aligned([u8; 16384]);

#[test]
fn alignments_beyond_a_page_are_kept() {
    let _alone = alone();
    let aligned = vec![Aligned([3; 16384]); LARGE / 16384];
    assert_eq!(aligned.as_ptr().addr() % 16384, 0);
    assert!(aligned.iter().all(|part| part.0.iter().all(|byte| *byte == 3)));
}

/// Names of the threads of this process.
fn threads() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let name = |task: std::io::Result<std::fs::DirEntry>| std::fs::read_to_string(task.unwrap().path().join("comm"));
    tasks.map(|task| name(task).unwrap_or_default().trim().to_owned()).collect()
}

#[test]
fn jemalloc_has_a_thread_only_once_it_is_asked_for() {
    let _alone = alone();
    let of_jemalloc = || threads().iter().filter(|name| *name == "jemalloc_bg_thd").count();
    assert_eq!(of_jemalloc(), 0, "{:?}", threads());
    paraffin_allocator::give_back_when_idle().unwrap();
    let begun = Instant::now();
    while of_jemalloc() == 0 {
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", threads());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Of the first pages of each memory every other one is written, so that the system has to name each apart.
fn touch(memory: &mut [u8], pages: usize) {
    for page in 0..pages {
        memory[2 * page * 4096 + page] = 1;
    }
    memory[LARGE - 1] = 1;
}

/// Faults of pages of this process.
fn faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    stat.rsplit_once(')').unwrap().1.split_whitespace().nth(7).unwrap().parse().unwrap()
}

#[test]
fn a_memory_is_all_zeros_whether_it_is_used_again_or_new() {
    let _alone = alone();
    // Linux before 6.7 does not name the pages that were touched: each memory goes back to the system.
    let is_again = paraffin_allocator::use_memories_again().is_ok();
    let zeros = vec![0; 300 * 4096];
    let mut times_again = 0;
    let resident_before = resident();
    for round in 0..60 {
        // Several at once, as with nested calls; most touch few pages, some as many as may be, and some more.
        let mut memories: Vec<Vec<u8>> = (0..=round % 11).map(|_| vec![0_u8; LARGE]).collect();
        for (number, memory) in memories.iter_mut().enumerate() {
            assert!(memory[..zeros.len()] == zeros && memory[LARGE - 1] == 0, "round {round}");
            // Where a page was written in the round before and costs no fault now, the memory is the same.
            let before = faults();
            memory[0] = 1;
            times_again += usize::from(faults() == before);
            touch(memory, [3, 17, 33, 62, 63, 150][(round + number) % 6]);
            // Where the machine has swap, what was written goes there; elsewhere it stays.
            // SAFETY: the range is that of the memory, which keeps what it holds.
            unsafe { rustix::mm::madvise(memory.as_mut_ptr().cast(), LARGE, Advice::LinuxPageOut) }.unwrap();
        }
    }
    assert_eq!(times_again > 100, is_again, "{times_again}");
    assert!(resident() < resident_before + 4 * MIB, "{} bytes more", resident() - resident_before);
    let faults_before = faults();
    for _ in 0..1000 {
        touch(&mut vec![0_u8; LARGE], 10);
    }
    // New mappings would have 11,000.
    assert_eq!(faults() < faults_before + 1000, is_again, "{} faults", faults() - faults_before);
}

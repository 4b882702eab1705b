//! Isolation of the calling process itself: for one that reads requests from standard input and answers on standard output.
//!
//! The steps, each independent of the others where the kernel refuses one: [`enter_namespaces`] while the process has one thread;
//! a child of it, which is process 1 of the new process namespace, calls [`empty_root`]; then [`give_up_privileges`], and
//! [`keep_computing_only`] when everything is loaded.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use libc::c_long;
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags};
use rustix::process::{Gid, Resource, Rlimit, Uid};
use rustix::thread::{CapabilitySet, CapabilitySets, UnshareFlags};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

use crate::absent::processor;
use crate::{at, is_root};

/// User and group (`nobody`) that belong to no person and no service.
const NOBODY: u32 = 65_534;
/// A folder that every system has, over which the empty root is mounted.
const MOUNT_POINT: &str = "/proc";
const STDIN: u64 = 0;
const STDOUT: u64 = 1;
const STDERR: u64 = 2;

/// Calls that a program needs which computes, waits for a pipe and ends, whatever their arguments are.
const COMPUTING: [c_long; 16] = [
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_clock_gettime,
    libc::SYS_getrandom,
    libc::SYS_sigaltstack,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_restart_syscall,
    libc::SYS_gettimeofday,
];

/// Moves this process and its children into namespaces of their own: user, mounts, network and IPC at once, processes from the next
/// child on. Such a process can start no thread, only a child. It must have one thread itself.
///
/// # Errors
/// The kernel, or a setting of the system, refuses; nothing has changed then.
pub fn enter_namespaces() -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let kinds = UnshareFlags::NEWUSER
        | UnshareFlags::NEWNS
        | UnshareFlags::NEWNET
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWIPC;
    #[expect(
        deprecated,
        reason = "what made it unsafe is a table of files that threads share, and FILES is not asked for"
    )]
    let entered = rustix::thread::unshare(kinds);
    at("namespaces", entered)?;
    // Without these the child has no privileges in its namespaces, and reports that it cannot make its root.
    for (file, text) in
        [("setgroups", "deny".to_owned()), ("uid_map", format!("0 {user} 1")), ("gid_map", format!("0 {group} 1"))]
    {
        let _ = fs::write(format!("/proc/self/{file}"), text);
    }
    Ok(())
}

/// Replaces the root of this process, which must be in namespaces of its own, by an empty folder that cannot be written.
///
/// # Errors
/// The kernel, or a setting of the system, refuses.
pub fn empty_root() -> io::Result<()> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    at("private mounts", rustix::mount::mount_change("/", private))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
    let options = c"size=4k,nr_inodes=1,mode=0555";
    at("the empty root", rustix::mount::mount("tmpfs", MOUNT_POINT, "tmpfs", flags, Some(options)))?;
    std::env::set_current_dir(MOUNT_POINT)?;
    // The old root is then mounted over the new one, and is detached.
    at("the new root", rustix::process::pivot_root(".", "."))?;
    at("the old root", rustix::mount::unmount(".", UnmountFlags::DETACH))?;
    std::env::set_current_dir("/")
}

/// Gives up every capability, every way to a new one, and the user where that is root's and not that of a user namespace alone.
/// The process must have one thread.
///
/// # Errors
/// The kernel refuses.
pub fn give_up_privileges(has_namespaces: bool) -> io::Result<()> {
    if is_root() && !has_namespaces {
        // Root of a container may lack the right to it, and then has little else.
        let _ = become_nobody();
    }
    at("ambient capabilities", rustix::thread::clear_ambient_capability_set())?;
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    at("capabilities", rustix::thread::set_capabilities(None, sets))?;
    at("no new privileges", rustix::thread::set_no_new_privs(true))
}

fn become_nobody() -> rustix::io::Result<()> {
    rustix::thread::set_thread_groups(&[])?;
    rustix::thread::set_thread_gid(Gid::from_raw(NOBODY))?;
    rustix::thread::set_thread_uid(Uid::from_raw(NOBODY))
}

/// Restricts this process permanently, in all its threads, to the calls of a program that computes, reads standard input, writes to standard
/// output and error, and ends. All others fail with `EPERM`. No memory becomes executable, and no file can be opened.
///
/// Returns whether there is a filter for this processor; limits of files and processes are in force in any case.
///
/// # Errors
/// The kernel refuses the limits or the filter.
pub fn keep_computing_only() -> io::Result<bool> {
    for (resource, most) in [(Resource::Nofile, STDERR + 1), (Resource::Nproc, 0)] {
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        at("the limits of files and processes", rustix::process::setrlimit(resource, limit))?;
    }
    let Ok(processor) = processor() else { return Ok(false) };
    let program = at("the filter of system calls", filter(processor))?;
    at("the filter of system calls", seccompiler::apply_filter_all_threads(&program))?;
    Ok(true)
}

fn filter(processor: TargetArch) -> Result<BpfProgram, seccompiler::BackendError> {
    let rule = |argument, operator, value| {
        SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?])
    };
    let is_file = |number| rule(0, SeccompCmpOp::Eq, number);
    // The third argument of both calls.
    let not_executable = rule(2, SeccompCmpOp::MaskedEq(libc::PROT_EXEC.cast_unsigned().into()), 0)?;
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = COMPUTING.into_iter().map(|call| (call, Vec::new())).collect();
    rules.insert(libc::SYS_mmap, vec![not_executable.clone()]);
    rules.insert(libc::SYS_mprotect, vec![not_executable]);
    rules.insert(libc::SYS_read, vec![is_file(STDIN)?]);
    rules.insert(libc::SYS_write, vec![is_file(STDOUT)?, is_file(STDERR)?]);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_time, Vec::new());
    let refused = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    SeccompFilter::new(rules, refused, SeccompAction::Allow, processor)?.try_into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_is_one_that_the_kernel_accepts() {
        for processor in [TargetArch::x86_64, TargetArch::aarch64, TargetArch::riscv64] {
            assert!(filter(processor).unwrap().len() > COMPUTING.len());
        }
    }
}

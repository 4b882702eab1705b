//! System calls that are denied to a confined program. No compiler needs them; each is a way around a limit, or into parts of
//! the kernel that namespaces do not divide. They fail with `ENOSYS`, as in a kernel that was built without them.

use std::collections::BTreeMap;
use std::io;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

use crate::at;

/// Absent whatever their arguments are.
const ABSENT: [c_long; 26] = [
    // Memory that belongs to no process, so that no limit counts it.
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_shmget,
    libc::SYS_msgget,
    libc::SYS_semget,
    // Namespaces of its own, in which a program would be root. The second form of `clone` hides its flags from a filter;
    // the C library then takes the first.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_clone3,
    // Keys outlive a build and belong to all programs of a user.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    // Large parts of the kernel that a compiler has no use for.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_fanotify_init,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_syslog,
];
/// Kinds of sockets that stay: those that the namespace of the network divides and that programs use among themselves. Others,
/// such as the one between a virtual machine and its host, it does not.
const SOCKETS: [i32; 3] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6];
/// Added to the numbers of calls by programs of x86-64 with short pointers.
const SHORT_POINTERS: c_long = 0x4000_0000;
/// Calls of [`ABSENT`] that have numbers of their own there: `ptrace`, `process_vm_readv`, `process_vm_writev`.
const SHORT_POINTERS_OWN: [c_long; 3] = [521, 539, 540];

/// Takes the calls away from this process and all that it starts, permanently. Where no filter is known for the processor, that is an
/// error: a program that was to be isolated must not run with less.
pub(super) fn take_away() -> io::Result<()> {
    let processor = processor()?;
    let program = at("the filter of system calls", filter(processor))?;
    at("the filter of system calls", seccompiler::apply_filter(&program))
}

/// The processor that this program is built for.
pub(super) fn processor() -> io::Result<TargetArch> {
    let name = std::env::consts::ARCH;
    at("the filter of system calls", TargetArch::try_from(name).map_err(|_| format!("none is known for {name}")))
}

fn filter(processor: TargetArch) -> Result<BpfProgram, seccompiler::BackendError> {
    let condition = |operator, value| SeccompCondition::new(0, SeccompCmpArgLen::Dword, operator, value);
    let as_root = libc::CLONE_NEWUSER.cast_unsigned().into();
    let clone = SeccompRule::new(vec![condition(SeccompCmpOp::MaskedEq(as_root), as_root)?])?;
    let other_kinds = SOCKETS.iter().map(|kind| condition(SeccompCmpOp::Ne, kind.cast_unsigned().into()));
    let socket = SeccompRule::new(other_kinds.collect::<Result<_, _>>()?)?;
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = ABSENT.into_iter().map(|call| (call, Vec::new())).collect();
    rules.insert(libc::SYS_clone, vec![clone]);
    rules.insert(libc::SYS_socket, vec![socket.clone()]);
    rules.insert(libc::SYS_socketpair, vec![socket]);
    if processor == TargetArch::x86_64 {
        let short: Vec<_> = rules.iter().map(|(call, rules)| (call | SHORT_POINTERS, rules.clone())).collect();
        rules.extend(short);
        rules.extend(SHORT_POINTERS_OWN.map(|call| (call | SHORT_POINTERS, Vec::new())));
    }
    let absent = SeccompAction::Errno(libc::ENOSYS.cast_unsigned());
    SeccompFilter::new(rules, SeccompAction::Allow, absent, processor)?.try_into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_is_one_that_the_kernel_takes() {
        // Instructions of one filter, as the kernel has it.
        const INSTRUCTIONS_MAX: usize = 4_096;
        for processor in [TargetArch::x86_64, TargetArch::aarch64, TargetArch::riscv64] {
            let length = filter(processor).unwrap().len();
            assert!(length > ABSENT.len() && length < INSTRUCTIONS_MAX, "{length}");
        }
    }
}

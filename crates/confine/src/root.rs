//! The root that a confined program sees.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::StatVfsMountFlags;
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags};
use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::at;
use crate::program::{Confinement, Shown};

/// Mount point of the old root until it is detached.
const OLD: &str = ".old";
/// Devices that programs expect.
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
/// Kinds of namespaces that a program inside must not make.
const NAMESPACES: [&str; 8] = ["user", "mnt", "net", "pid", "ipc", "uts", "cgroup", "time"];

/// Mounts the new root and makes it the only one.
pub(super) fn make(confinement: &Confinement) -> io::Result<()> {
    let root = &confinement.root;
    at(
        "private mounts",
        rustix::mount::mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC),
    )?;
    memory(root, "size=16m,nr_inodes=16k,mode=0755")?;
    for shown in &confinement.shown {
        show(root, shown)?;
    }
    devices(root)?;
    let tmp = root.join("tmp");
    fs::create_dir_all(&tmp)?;
    memory(&tmp, &format!("size={},nr_inodes=64k,mode=1777", confinement.tmp_bytes))?;
    let proc = root.join("proc");
    fs::create_dir_all(&proc)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    at("/proc", rustix::mount::mount("proc", &proc, "proc", flags, None))?;

    let old = root.join(OLD);
    fs::create_dir_all(&old)?;
    at("the new root", rustix::process::pivot_root(root, &old))?;
    std::env::set_current_dir("/")?;
    at("the old root", rustix::mount::unmount(Path::new("/").join(OLD), UnmountFlags::DETACH))?;
    fs::remove_dir(Path::new("/").join(OLD))
}

/// A file system in memory.
fn memory(path: &Path, options: &str) -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    let options = std::ffi::CString::new(options).map_err(io::Error::other)?;
    at("a folder in memory", rustix::mount::mount("tmpfs", path, "tmpfs", flags, Some(options.as_c_str())))
}

/// Binds one folder or file, or copies a link.
fn show(root: &Path, shown: &Shown) -> io::Result<()> {
    let path = below(root, &shown.to);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let kind = shown.from.symlink_metadata()?.file_type();
    if kind.is_symlink() {
        return std::os::unix::fs::symlink(fs::read_link(&shown.from)?, path);
    }
    if kind.is_dir() {
        fs::create_dir_all(&path)?;
    } else {
        fs::File::create(&path)?;
    }
    let what = shown.to.display().to_string();
    at(&what, rustix::mount::mount_bind(&shown.from, &path))?;
    let mut flags = MountFlags::BIND | MountFlags::NOSUID | MountFlags::NODEV | inherited_flags(&path)?;
    if !shown.writable {
        flags |= MountFlags::RDONLY;
    }
    at(&what, rustix::mount::mount_remount(&path, flags, c""))
}

/// Restrictions of the mount below, which a user of a namespace may not remove.
fn inherited_flags(path: &Path) -> io::Result<MountFlags> {
    let set = rustix::fs::statvfs(path)?.f_flag;
    let mut flags = MountFlags::empty();
    for (is_set, keep) in
        [(StatVfsMountFlags::RDONLY, MountFlags::RDONLY), (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC)]
    {
        if set.contains(is_set) {
            flags |= keep;
        }
    }
    Ok(flags)
}

fn devices(root: &Path) -> io::Result<()> {
    let folder = root.join("dev");
    fs::create_dir_all(&folder)?;
    for name in DEVICES {
        let path = folder.join(name);
        fs::File::create(&path)?;
        at(name, rustix::mount::mount_bind(Path::new("/dev").join(name), &path))?;
    }
    for (name, target) in [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ] {
        std::os::unix::fs::symlink(target, folder.join(name))?;
    }
    Ok(())
}

fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// No further namespaces, in which a program would be root again. Applies to this user namespace alone, so only where it is
/// one of its own.
pub(super) fn forbid_namespaces() -> io::Result<()> {
    for name in NAMESPACES {
        let setting = Path::new("/proc/sys/user").join(format!("max_{name}_namespaces"));
        match fs::write(&setting, "0") {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return at(name, Err(error)),
            _ => {}
        }
    }
    Ok(())
}

/// Makes the root itself and the settings of the kernel read-only.
pub(super) fn close(folder: &Path) -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::RDONLY;
    at("the closed root", rustix::mount::mount_remount("/", MountFlags::BIND | flags, c""))?;
    at("the closed /proc", rustix::mount::mount_remount("/proc", MountFlags::BIND | MountFlags::NOEXEC | flags, c""))?;
    std::env::set_current_dir(folder)
}

/// Drops all capabilities, so that no program can regain one. Those that change the user are dropped
/// by the kernel when the program stops being root.
pub(super) fn give_up_privileges() -> io::Result<()> {
    for capability in CapabilitySet::all().iter() {
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            // Kernels know different numbers of them.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(error) => return at("the bounding set", Err(error)),
        }
    }
    at("ambient capabilities", rustix::thread::clear_ambient_capability_set())?;
    let keep = CapabilitySet::SETUID | CapabilitySet::SETGID;
    let sets = CapabilitySets { effective: keep, permitted: keep, inheritable: CapabilitySet::empty() };
    at("capabilities", rustix::thread::set_capabilities(None, sets))
}

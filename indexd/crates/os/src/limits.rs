//! Facts about the machine that decide how the daemon works: which boot this is, whether a file
//! system can be trusted with a memory map, how much room it has.

use std::path::Path;

/// The id of this boot of the machine; `unknown` where the system does not tell. After a crash of
/// the machine (not only of the process) unsynced writes may be lost, and a changed id says so.
pub fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map_or_else(|_| "unknown".to_owned(), |s| s.trim().to_owned())
}

/// Whether `path` lies on a network or userspace file system, where memory maps and locks are not
/// dependable and changes raise no events. Magic numbers are those of `statfs(2)`.
pub fn is_network_file_system(path: &Path) -> bool {
    const NETWORK: [u64; 9] = [
        0x6969,      // NFS
        0x517b,      // SMB
        0xff53_4d42, // CIFS
        0xfe53_4d42, // SMB2
        0x0102_1997, // 9p
        0x6573_5546, // FUSE
        0x0000_564c, // NCP
        0x00c3_6400, // Ceph
        0x786f_4256, // vboxsf
    ];
    #[cfg(target_os = "linux")]
    {
        #[allow(
            clippy::unnecessary_cast,
            clippy::cast_sign_loss,
            reason = "the field type differs between systems"
        )]
        rustix::fs::statfs(path).is_ok_and(|s| NETWORK.contains(&(s.f_type as u64 & 0xffff_ffff)))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (path, NETWORK);
        false
    }
}

/// Whether `path` lies on a file system that the kernel makes up, such as that of processes.
pub fn is_kernel_file_system(path: &Path) -> bool {
    const KERNEL: [u64; 9] = [
        0x9fa0,      // proc
        0x6265_6572, // sysfs
        0x1cd1,      // devpts
        0x0027_e0eb, // cgroup
        0x6367_7270, // cgroup2
        0x6462_6720, // debugfs
        0x7472_6163, // tracefs
        0x7363_6673, // securityfs
        0xcafe_4a11, // bpf
    ];
    #[cfg(target_os = "linux")]
    {
        #[allow(
            clippy::unnecessary_cast,
            clippy::cast_sign_loss,
            reason = "the field type differs between systems"
        )]
        rustix::fs::statfs(path).is_ok_and(|s| KERNEL.contains(&(s.f_type as u64 & 0xffff_ffff)))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (path, KERNEL);
        false
    }
}

/// Bytes free for this user on the file system of `path`; `None` when it cannot be told.
pub fn bytes_free(path: &Path) -> Option<u64> {
    let s = rustix::fs::statvfs(path).ok()?;
    Some(s.f_bavail.saturating_mul(s.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_answers() {
        assert_eq!(boot_id(), boot_id());
        assert!(!boot_id().is_empty());
        let dir = tempfile::tempdir().unwrap();
        assert!(!is_network_file_system(dir.path()));
        assert!(bytes_free(dir.path()).is_some_and(|n| n > 0));
    }
}

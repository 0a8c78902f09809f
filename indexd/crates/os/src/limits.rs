//! Facts about the machine that determine how the daemon works: the current boot, whether a file system
//! supports memory maps reliably, and its free space.

use std::path::Path;

/// The id of this boot of the machine; `None` where the system does not provide one. After a crash of the
/// machine (not only of the process) unsynced writes may be lost; a changed id reveals that.
pub fn boot_id() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned()).filter(|id| !id.is_empty())
}

/// Returns true if the folder `path` is on an overlay file system and this process can reach one of its layers.
/// Writes to a layer raise no event in the overlay. The layers of a container are out of reach from inside.
pub fn has_reachable_layers(path: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt;
        const OVERLAY: u64 = 0x794c_7630;
        if !is_of_kind(path, &[OVERLAY]) {
            return false;
        }
        let device = std::fs::metadata(path).map_or(0, |meta| meta.dev());
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let device = (rustix::fs::major(device), rustix::fs::minor(device));
        layers(&mounts, device).iter().any(|layer| layer.symlink_metadata().is_ok())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = path;
        false
    }
}

/// The layers of the overlay on a device, by a list of mounts in the format of `proc_pid_mountinfo(5)`. Names
/// relative to the folder of the process that mounted it are left out.
#[cfg(target_os = "linux")]
fn layers(mounts: &str, (major, minor): (u32, u32)) -> Vec<std::path::PathBuf> {
    let device = format!("{major}:{minor}");
    let of_device = mounts.lines().filter(|line| line.split(' ').nth(2) == Some(&*device));
    let options = of_device.filter_map(|line| line.split_once(" - overlay ")?.1.split(' ').nth(1));
    let mut out = Vec::new();
    for option in options.flat_map(|options| options.split(',')) {
        match option.split_once('=') {
            Some(("upperdir", dir)) => out.push(dir),
            Some((name, dirs)) if name.starts_with("lowerdir") => out.extend(dirs.split(':')),
            _ => {}
        }
    }
    // A space is written as its octal number.
    let path = |dir: &str| std::path::PathBuf::from(dir.replace("\\040", " "));
    out.into_iter().map(path).filter(|dir| dir.is_absolute()).collect()
}

/// Returns true if `path` is on a virtual file system of the kernel, such as that of processes.
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
    is_of_kind(path, &KERNEL)
}

/// Returns true if `path` is on a file system with one of these magic numbers of `statfs(2)`; always false
/// on other systems than Linux.
pub fn is_of_kind(path: &Path, magic: &[u64]) -> bool {
    #[cfg(target_os = "linux")]
    {
        #[allow(
            clippy::unnecessary_cast,
            clippy::cast_sign_loss,
            reason = "the field type differs between systems"
        )]
        rustix::fs::statfs(path).is_ok_and(|s| magic.contains(&(s.f_type as u64 & 0xffff_ffff)))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (path, magic);
        false
    }
}

/// Bytes free for this user on the file system of `path`; `None` when that is not known.
pub fn bytes_free(path: &Path) -> Option<u64> {
    let s = rustix::fs::statvfs(path).ok()?;
    Some(s.f_bavail.saturating_mul(s.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn layers_are_those_of_the_overlay_on_the_device() {
        let mounts = "22 1 254:0 / / rw - ext4 /dev/vda rw\n\
            40 22 0:45 / /m rw,relatime shared:1 - overlay overlay rw,lowerdir=/a:/b\\040c,upperdir=/u,workdir=/w\n\
            41 22 0:46 / /n rw - overlay none rw,lowerdir+=/x,lowerdir=rel,upperdir=u,workdir=w\n";
        assert_eq!(layers(mounts, (0, 45)), ["/a", "/b c", "/u"].map(std::path::PathBuf::from));
        assert_eq!(layers(mounts, (0, 46)), ["/x"].map(std::path::PathBuf::from));
        assert!(layers(mounts, (254, 0)).is_empty());
    }

    #[test]
    fn the_machine_answers() {
        assert_eq!(boot_id(), boot_id());
        assert_eq!(boot_id().is_some(), cfg!(target_os = "linux"));
        let dir = tempfile::tempdir().unwrap();
        assert!(!is_of_kind(dir.path(), &[0x6969]));
        assert_eq!(is_kernel_file_system(Path::new("/proc/self")), cfg!(target_os = "linux"));
        assert!(bytes_free(dir.path()).is_some_and(|n| n > 0));
    }
}

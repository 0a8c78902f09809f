//! Memory that the allocator keeps for reuse.

/// Returns unused pages to the system at once, without waiting for the allocator.
///
/// The allocator of the daemon keeps freed pages for a while, since most of them are soon used again; after
/// a build, which needs several hundred megabytes, they are not. Memory freed by other threads that still
/// run stays with these threads. Takes about a millisecond for each hundred megabytes; a program with
/// another allocator only loses that time.
#[expect(unsafe_code, reason = "the one way to ask the allocator")]
pub fn give_back_memory() {
    // SAFETY: may be called at any time from any thread, and frees nothing that is in use.
    unsafe { libmimalloc_sys::mi_collect(true) };
}

/// Bytes of resident memory that belong to this process alone. Mapped files are excluded, since the system
/// can reclaim their pages. 0 where the system does not provide the figure.
pub fn private_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("RssAnon:"));
    line.and_then(|l| l.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()).map_or(0, |kb| kb * 1024)
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(target_os = "linux")]
    fn memory_in_use_is_counted() {
        let before = super::private_bytes();
        let used = vec![1_u8; 64 << 20];
        assert!(super::private_bytes() >= before + (32 << 20), "{}", used.len());
    }

    #[test]
    fn what_is_in_use_stays() {
        let kept: Vec<Vec<u8>> = (0..=255).map(|i| vec![i; 10_000]).collect();
        super::give_back_memory();
        assert!((0..=255u8).zip(&kept).all(|(i, v)| v.iter().all(|b| *b == i)));
    }
}

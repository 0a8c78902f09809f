//! Memory that the allocator keeps for the next time.

/// Gives pages that nothing uses back to the system, now and not when the allocator gets to it.
///
/// The allocator of the daemon keeps freed pages for a while, since most of them are soon used
/// again; after a build, which needs several hundred megabytes, nothing else will. What threads that
/// still run have freed in memory of their own stays with them, apart from the calling thread.
/// Takes about a millisecond for each hundred megabytes; a program with another allocator only
/// loses that time.
#[allow(unsafe_code, reason = "the one way to ask the allocator")]
pub fn give_back_memory() {
    // SAFETY: may be called at any time from any thread, and frees nothing that is in use.
    unsafe { libmimalloc_sys::mi_collect(true) };
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_in_use_stays() {
        let kept: Vec<Vec<u8>> = (0..=255).map(|i| vec![i; 10_000]).collect();
        super::give_back_memory();
        assert!((0..=255u8).zip(&kept).all(|(i, v)| v.iter().all(|b| *b == i)));
    }
}

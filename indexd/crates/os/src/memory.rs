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

/// Milliseconds. Freed pages that stay unused for so long go back; the allocator's own choice, a
/// second, lets a daemon that answers one request after another keep half as much again as it uses.
/// Builds and packs take no more CPU time with a hundredth of it.
const KEPT_MS: core::ffi::c_long = 10;
/// The allocator's name of that option.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

/// Tells the allocator to give pages that nothing uses back soon. To be called once, at the start.
#[allow(unsafe_code, reason = "the one way to tell the allocator")]
pub fn keep_little_memory() {
    // SAFETY: sets one number, which the allocator reads each time it decides about a page.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, KEPT_MS) };
}

#[cfg(test)]
mod tests {
    #[test]
    #[allow(unsafe_code, reason = "the one way to ask the allocator")]
    fn the_option_is_the_time_that_pages_are_kept() {
        // SAFETY: reads one number.
        let option = || unsafe { libmimalloc_sys::mi_option_get(super::PURGE_DELAY) };
        // What the allocator documents as its default tells that the number still means the same.
        assert_eq!(option(), 1_000);
        super::keep_little_memory();
        assert_eq!(option(), super::KEPT_MS);
    }

    #[test]
    fn what_is_in_use_stays() {
        let kept: Vec<Vec<u8>> = (0..=255).map(|i| vec![i; 10_000]).collect();
        super::give_back_memory();
        assert!((0..=255u8).zip(&kept).all(|(i, v)| v.iter().all(|b| *b == i)));
    }
}

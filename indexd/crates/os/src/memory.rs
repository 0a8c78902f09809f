//! Memory that the allocator keeps for the next time.

use std::sync::{Mutex, PoisonError};

/// Gives pages that nothing uses back to the system, now and not when the allocator gets to it.
///
/// The allocator of the daemon keeps freed pages for a while, since most of them are soon used
/// again; after a build, which needs several hundred megabytes, nothing else will. What threads that
/// still run have freed in memory of their own stays with them, apart from the calling thread.
/// Takes about a millisecond for each hundred megabytes; a program with another allocator only
/// loses that time.
#[expect(unsafe_code, reason = "the one way to ask the allocator")]
pub fn give_back_memory() {
    // SAFETY: may be called at any time from any thread, and frees nothing that is in use.
    unsafe { libmimalloc_sys::mi_collect(true) };
}

/// Milliseconds. Freed pages that stay unused for so long go back; the allocator's own choice, a
/// second, lets a daemon that answers one request after another keep half as much again as it uses.
/// With a tenth of it packs in a row find their pages; with a hundredth each fetches them anew, which
/// takes a tenth of its time, and keeps no less.
const KEPT_MS: core::ffi::c_long = 100;
/// Milliseconds. The same while something is built, which would fetch twice as many pages from the
/// system and take 7 % more CPU time: the allocator's own choice.
const KEPT_BUILDING_MS: core::ffi::c_long = 1_000;
/// The allocator's name of that option.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

/// Builds that run.
static N_BUILDING: Mutex<usize> = Mutex::new(0);

/// Tells the allocator to give pages that nothing uses back soon. To be called once, at the start.
pub fn keep_little_memory() {
    keep_for(KEPT_MS);
}

/// Runs a build, which may keep the pages it has freed. Several may run at a time.
pub fn while_building<T>(build: impl FnOnce() -> T) -> T {
    /// Ends with the build, also with one that panics.
    struct Building;
    impl Drop for Building {
        fn drop(&mut self) {
            count_builds(|n| n - 1);
        }
    }
    count_builds(|n| n + 1);
    let _building = Building;
    build()
}

/// Whether something is built now.
pub(crate) fn is_building() -> bool {
    *N_BUILDING.lock().unwrap_or_else(PoisonError::into_inner) > 0
}

fn count_builds(count: impl FnOnce(usize) -> usize) {
    let mut n_building = N_BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    *n_building = count(*n_building);
    keep_for(if *n_building > 0 { KEPT_BUILDING_MS } else { KEPT_MS });
}

#[expect(unsafe_code, reason = "the one way to tell the allocator")]
fn keep_for(ms: core::ffi::c_long) {
    // SAFETY: sets one number, which the allocator reads each time it decides about a page.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, ms) };
}

#[cfg(test)]
mod tests {
    #[test]
    #[expect(unsafe_code, reason = "the one way to ask the allocator")]
    fn the_option_is_the_time_that_pages_are_kept() {
        // SAFETY: reads one number.
        let option = || unsafe { libmimalloc_sys::mi_option_get(super::PURGE_DELAY) };
        // What the allocator documents as its default tells that the number still means the same.
        assert_eq!(option(), 1_000);
        super::keep_little_memory();
        assert_eq!(option(), super::KEPT_MS);
        super::while_building(|| {
            super::while_building(|| assert_eq!(option(), super::KEPT_BUILDING_MS));
            assert_eq!(option(), super::KEPT_BUILDING_MS);
        });
        assert_eq!(option(), super::KEPT_MS);
    }

    #[test]
    fn what_is_in_use_stays() {
        let kept: Vec<Vec<u8>> = (0..=255).map(|i| vec![i; 10_000]).collect();
        super::give_back_memory();
        assert!((0..=255u8).zip(&kept).all(|(i, v)| v.iter().all(|b| *b == i)));
    }
}

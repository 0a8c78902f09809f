//! Decides which indexes are removed, and why.

use crate::config::Config;
use crate::workspace::indexing::engine::folder_bytes;
use crate::workspace::indexing::recovery;
use indexd_proto::workspace::{Collected, Reason};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Ages after which indexes are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collect {
    /// Time without a request; `None` keeps every index whose repository is there.
    unused_for: Option<Duration>,
    /// Time without a request where the repository is gone or was never registered.
    gone_for: Duration,
}

/// Time for which the daemon keeps the index of a missing repository: its disk may be unmounted for a while.
const GONE_FOR: Duration = Duration::from_secs(30 * 86_400);

impl Collect {
    /// The ages at which the daemon removes indexes by itself.
    pub fn by_itself(config: &Config) -> Self {
        Self { unused_for: unused_for(config), gone_for: GONE_FOR }
    }

    /// Returns the ages for a removal that the user asks for: the index of a missing repository goes at once.
    pub fn by_hand(config: &Config) -> Self {
        Self { unused_for: unused_for(config), gone_for: Duration::ZERO }
    }

    /// The reason to remove the index in `home`, or `None` to keep it. `root` is the root of its
    /// repository, where one is registered.
    pub fn reason(&self, home: &Path, root: Option<&Path>, now: SystemTime) -> Option<Reason> {
        let unasked = recovery::asked_at(home).map_or(Duration::MAX, |at| {
            // After the clock was set back, nothing counts as old.
            now.duration_since(at).unwrap_or(Duration::ZERO)
        });
        let is_gone = root.is_some_and(|root| matches!(root.try_exists(), Ok(false)));
        if root.is_none() && unasked >= self.gone_for {
            return Some(Reason::Unregistered);
        }
        if is_gone && unasked >= self.gone_for {
            return Some(Reason::Gone);
        }
        self.unused_for.is_some_and(|time| unasked >= time).then_some(Reason::Unused)
    }
}

/// Time without a request after which an index is removed; `None` keeps it for ever.
pub fn unused_for(config: &Config) -> Option<Duration> {
    Some(config.workspace_keep_days).filter(|days| *days > 0).map(|days| Duration::from_secs(days * 86_400))
}

/// Describes the index in the folder `home`, which is removed or would be.
pub fn describe(home: &Path, root: Option<&Path>, reason: Reason) -> Collected {
    Collected {
        root: root.map(|root| root.display().to_string()),
        index: home.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default(),
        reason,
        bytes: folder_bytes(home),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_goes_when_nobody_needs_it() {
        let tmp = tempfile::tempdir().unwrap();
        let (home, root) = (tmp.path().join("index"), tmp.path().join("root"));
        std::fs::create_dir_all(&home).unwrap();
        std::fs::create_dir_all(&root).unwrap();
        recovery::note_asked(&home);
        let gone = tmp.path().join("gone");
        let config = Config::default();
        let (itself, hand) = (Collect::by_itself(&config), Collect::by_hand(&config));
        let check = |collect: Collect, root: Option<&Path>, days: u64, want: Option<Reason>| {
            let now = SystemTime::now() + Duration::from_secs(days * 86_400);
            assert_eq!(collect.reason(&home, root, now), want, "{collect:?} {root:?} {days}");
        };
        check(itself, Some(&root), 59, None);
        check(itself, Some(&root), 61, Some(Reason::Unused));
        check(itself, Some(&gone), 29, None);
        check(itself, Some(&gone), 31, Some(Reason::Gone));
        check(itself, None, 29, None);
        check(itself, None, 31, Some(Reason::Unregistered));
        check(hand, Some(&gone), 0, Some(Reason::Gone));
        check(hand, None, 0, Some(Reason::Unregistered));
        check(hand, Some(&root), 1, None);
        // The clock was set back since it was asked.
        let before = SystemTime::now() - Duration::from_secs(86_400);
        for root in [Some(&*root), Some(&*gone), None] {
            assert_eq!(itself.reason(&home, root, before), None, "{root:?}");
        }
        let mut for_ever = Config::default();
        for_ever.workspace_keep_days = 0;
        check(Collect::by_itself(&for_ever), Some(&root), 1_000, None);
    }
}

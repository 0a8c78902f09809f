//! First indexes that begin with a published one, which a client fetches: the daemon has no network.
//!
//! The first client that asks for the index and can fetch is told to. The build waits a few seconds for the
//! rows and then begins. Rows that arrive before half of the files are parsed end that build, and the index
//! begins with them.

use super::pieces::Layers;
use super::recovery;
use crate::workspace::status::Progress;
use indexd_proto::share::ShareCounts;
use indexd_proto::workspace::Phase;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// For so long a build waits for a published index: what a slow store may cost.
const PATIENCE: Duration = Duration::from_millis(4_500);
/// Interval at which a waiting build checks that it is still wanted.
const POLL: Duration = Duration::from_millis(50);

/// Published indexes on their way, by the index folder that they are for.
#[derive(Default)]
pub struct Pulls {
    known: Mutex<Known>,
    changed: Condvar,
}

#[derive(Default)]
struct Known {
    of: BTreeMap<PathBuf, Pull>,
    counts: ShareCounts,
}

enum Pull {
    /// A client that can fetch one asked for the index.
    Expected { until: Instant, is_told: bool },
    /// Its rows are in files.
    Here(Layers),
    /// The build has the files, or does without. Why it does.
    Over(Option<String>),
}

impl Pulls {
    /// Has the first build of the index in `home` wait for a published one, unless there is an index or it
    /// waited before.
    pub fn expect(&self, home: &Path) {
        if recovery::current(home).is_none() {
            let expected = Pull::Expected { until: Instant::now() + PATIENCE, is_told: false };
            self.known().of.entry(home.to_owned()).or_insert(expected);
        }
    }

    /// True once, for the client that is told to fetch it.
    pub fn is_to_be_told(&self, home: &Path) -> bool {
        match self.known().of.get_mut(home) {
            Some(Pull::Expected { is_told, .. }) => !std::mem::replace(is_told, true),
            _ => false,
        }
    }

    /// The rows are in files.
    pub fn arrived(&self, home: &Path, rows: Layers) {
        self.set(home, Pull::Here(rows));
    }

    /// There will be none.
    pub fn missed(&self, home: &Path, reason: &str) {
        tracing::warn!(reason, "a first index begins without a published one");
        self.known().counts.missed += 1;
        self.set(home, Pull::Over(Some(reason.to_owned())));
    }

    /// The index has begun with them.
    pub fn begun(&self, home: &Path) {
        self.known().counts.begun += 1;
        self.set(home, Pull::Over(None));
    }

    /// Counts an index that was exported.
    pub fn exported(&self) {
        self.known().counts.exported += 1;
    }

    /// Why the index in `home` did not begin with a published one; none when it did.
    pub fn reason(&self, home: &Path) -> Option<String> {
        match self.known().of.get(home) {
            Some(Pull::Over(reason)) => reason.clone(),
            _ => Some("the index was built before".to_owned()),
        }
    }

    /// True if rows wait for a build to take them.
    pub fn has_arrived(&self, home: &Path) -> bool {
        matches!(self.known().of.get(home), Some(Pull::Here(_)))
    }

    /// The rows for a first build, which are waited for while they are expected.
    pub fn take(
        &self,
        home: &Path,
        progress: &dyn Fn(Progress),
        is_stopping: &dyn Fn() -> bool,
    ) -> Option<Layers> {
        let mut known = self.known();
        loop {
            let until = match known.of.get(home) {
                Some(Pull::Expected { until, .. }) if !is_stopping() => *until,
                Some(Pull::Here(_)) => {
                    let taken =
                        known.of.insert(home.to_owned(), Pull::Over(Some("it could not be used".into())));
                    return taken
                        .and_then(|pull| if let Pull::Here(rows) = pull { Some(rows) } else { None });
                }
                _ => return None,
            };
            if Instant::now() >= until {
                return None;
            }
            progress(Progress { phase: Phase::Pull, done: 0, total: 0 });
            let waited = self.changed.wait_timeout(known, POLL);
            known = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The workspace is gone: one that comes in its place may wait again.
    pub fn forget(&self, home: &Path) {
        self.known().of.remove(home);
    }

    /// Counts since the start of the daemon.
    pub fn counts(&self) -> ShareCounts {
        self.known().counts.clone()
    }

    fn set(&self, home: &Path, pull: Pull) {
        self.known().of.insert(home.to_owned(), pull);
        self.changed.notify_all();
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Nothing is left half done under the lock.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Layers {
        Layers { folder: "rows".into(), pieces: Vec::new() }
    }

    fn take(pulls: &Pulls, home: &Path) -> Option<Layers> {
        pulls.take(home, &|_| (), &|| false)
    }

    #[test]
    fn a_build_waits_for_what_was_asked_for_and_no_longer_than_it_may() {
        let (pulls, dir) = (Pulls::default(), tempfile::tempdir().unwrap());
        let home = dir.path();
        assert_eq!(take(&pulls, home), None, "nobody can fetch one");
        pulls.expect(home);
        assert!(pulls.is_to_be_told(home) && !pulls.is_to_be_told(home), "one is told");
        std::thread::scope(|s| {
            s.spawn(|| {
                std::thread::sleep(Duration::from_millis(100));
                pulls.arrived(home, rows());
            });
            assert_eq!(take(&pulls, home), Some(rows()));
        });
        assert!(!pulls.has_arrived(home));
        pulls.begun(home);
        assert_eq!((pulls.reason(home), pulls.counts().begun), (None, 1));
        pulls.forget(home);
        pulls.expect(home);
        let started = Instant::now();
        assert_eq!(take(&pulls, home), None, "nobody comes");
        let waited = started.elapsed();
        assert!(waited >= PATIENCE - POLL && waited < Duration::from_secs(5), "{waited:?}");
    }

    #[test]
    fn a_build_goes_on_at_once_when_there_is_none() {
        let (pulls, dir) = (Pulls::default(), tempfile::tempdir().unwrap());
        pulls.expect(dir.path());
        pulls.missed(dir.path(), "the store does not answer");
        assert_eq!(take(&pulls, dir.path()), None);
        assert_eq!(pulls.reason(dir.path()).as_deref(), Some("the store does not answer"));
        // Later rows are taken by a build that is not far.
        pulls.arrived(dir.path(), rows());
        assert!(pulls.has_arrived(dir.path()));
        assert_eq!(take(&pulls, dir.path()), Some(rows()));
    }
}

//! What goes wrong: which calls fail, when the process is killed, what becomes of events.

use indexd::workspace::noticing::watch::{self, Inbox, WatchError, Watcher};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// Calls fail at random, but each the same way in every run: by its name, its path and how often it
/// was made.
#[derive(Clone, Copy)]
pub struct Regime {
    pub error: i32,
    pub one_in: u64,
    pub seed: u64,
}

#[derive(Default)]
pub struct Troubles {
    /// The queue of events overflows before it is read next.
    pub overflows: bool,
    /// Events come a second time.
    pub repeats: bool,
    /// Events come late, where nobody reads the queue to its end.
    pub delays: bool,
    /// A part of the folders cannot be watched.
    pub has_no_room: bool,
    pub regime: Option<Regime>,
    /// The calls from one to another fail with an error, counted from the first of all.
    pub failing: Option<(std::ops::Range<u64>, i32)>,
    /// Nothing counts or fails: a test looks at the tree by itself.
    pub is_paused: bool,
    pub n_calls: u64,
    pub n_failed: u64,
    counts: BTreeMap<(&'static str, String), u64>,
    crash_at: Option<u64>,
    /// The process was killed; what it left lies in the folder of the plan.
    pub has_crashed: bool,
    watcher: Weak<Faulty>,
}

impl Troubles {
    /// Has the process killed before the call after `n` more.
    pub fn crash_in(&mut self, n: u64) {
        self.crash_at = Some(self.n_calls + n);
    }

    /// Another process has started after a kill.
    pub fn end_crash(&mut self) {
        (self.crash_at, self.has_crashed, self.is_paused) = (None, false, false);
    }

    /// Nothing goes wrong from now on.
    pub fn end(&mut self) {
        (self.overflows, self.repeats, self.delays, self.has_no_room) = (false, false, false, false);
        (self.regime, self.failing, self.crash_at) = (None, None, None);
    }
}

pub struct Plan {
    /// Whether the watcher's queue can be read to its end, as on Linux; else cookies prove freshness.
    pub is_readable: bool,
    home: PathBuf,
    /// Where the disk is kept as a kill leaves it.
    pub left: PathBuf,
    troubles: Mutex<Troubles>,
}

thread_local! {
    // The loop makes its watcher on the thread of the test.
    static PLAN: RefCell<Option<Arc<Plan>>> = const { RefCell::new(None) };
}

impl Plan {
    pub fn new(top: &Path, is_readable: bool) -> Arc<Self> {
        let (home, left) = (top.join("index"), top.join("left"));
        let plan = Arc::new(Self { is_readable, home, left, troubles: Mutex::default() });
        PLAN.set(Some(Arc::clone(&plan)));
        let of_calls = Arc::clone(&plan);
        indexd_os::faults::set(Some(Box::new(move |call, at| of_calls.before(call, at))));
        plan
    }

    pub fn lock(&self) -> MutexGuard<'_, Troubles> {
        self.troubles.lock().unwrap()
    }

    fn before(&self, call: &'static str, at: &str) -> io::Result<()> {
        let mut t = self.lock();
        if t.is_paused {
            return Ok(());
        }
        if t.crash_at == Some(t.n_calls) && !t.has_crashed {
            t.has_crashed = true;
            let _ = fs::remove_dir_all(&self.left);
            copy(&self.home, &self.left);
        }
        let number = t.n_calls;
        t.n_calls += 1;
        let count = t.counts.entry((call, at.to_owned())).or_default();
        *count += 1;
        let count = *count;
        let is_due = |regime: &Regime| {
            let mut hasher = DefaultHasher::new();
            (regime.seed, call, at.rsplit('/').next(), count).hash(&mut hasher);
            hasher.finish().is_multiple_of(regime.one_in)
        };
        let by_regime = t.regime.filter(is_due).map(|regime| regime.error);
        let by_number = t.failing.as_ref().filter(|(calls, _)| calls.contains(&number)).map(|f| f.1);
        let Some(error) = by_regime.or(by_number) else { return Ok(()) };
        t.n_failed += 1;
        Err(io::Error::from_raw_os_error(error))
    }

    /// Puts into the loop's inbox what the system has noticed by now.
    pub fn deliver(&self) {
        let watcher = self.lock().watcher.upgrade();
        if let Some(watcher) = watcher {
            watcher.deliver();
        }
    }
}

/// Everything of an index folder but the file of locks, which dies with its process.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).into_iter().flatten().flatten() {
        let at = to.join(entry.file_name());
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            copy(&entry.path(), &at);
        } else if entry.file_name() != "lock.mdb" {
            // What another thread has just removed is gone.
            let _ = fs::copy(entry.path(), at);
        }
    }
}

/// The system's watcher behind what goes wrong.
pub struct Faulty {
    inner: Arc<dyn Watcher>,
    noticed: Arc<Inbox>,
    to_loop: Arc<Inbox>,
    last: Mutex<Vec<PathBuf>>,
    plan: Arc<Plan>,
}

pub fn start(to_loop: &Arc<Inbox>) -> Option<Arc<dyn Watcher>> {
    let plan = PLAN.with_borrow(|plan| plan.clone())?;
    let noticed = Inbox::new(|| {});
    let inner = watch::system(&noticed)?;
    let (to_loop, last) = (Arc::clone(to_loop), Mutex::default());
    let faulty = Arc::new(Faulty { inner, noticed, to_loop, last, plan: Arc::clone(&plan) });
    plan.lock().watcher = Arc::downgrade(&faulty);
    Some(faulty)
}

impl Faulty {
    fn deliver(&self) {
        assert!(self.inner.catch_up(), "the system's queue can be read");
        let (overflows, repeats) = {
            let mut t = self.plan.lock();
            (std::mem::take(&mut t.overflows), t.repeats)
        };
        let noticed = self.noticed.take();
        if overflows || noticed.lost {
            self.to_loop.lost();
            return;
        }
        let mut last = self.last.lock().unwrap();
        let mut paths: Vec<(PathBuf, bool)> = noticed.paths.into_iter().collect();
        // The last name first: an inbox keeps no order.
        paths.sort_by(|a, b| b.cmp(a));
        if repeats {
            last.iter().for_each(|path| self.to_loop.dirty(path.clone(), true));
        }
        *last = paths.iter().map(|(path, _)| path.clone()).collect();
        paths.into_iter().for_each(|(path, done)| self.to_loop.dirty(path, done));
    }
}

impl Watcher for Faulty {
    fn watch(&self, dir: &Path) -> Result<bool, WatchError> {
        let mut hasher = DefaultHasher::new();
        dir.file_name().hash(&mut hasher);
        if self.plan.lock().has_no_room && hasher.finish().is_multiple_of(3) {
            return Err(WatchError::Limit);
        }
        self.inner.watch(dir)
    }

    fn unwatch(&self, dir: &Path) {
        self.inner.unwatch(dir);
    }

    fn unwatch_others(&self, keep: &dyn Fn(&Path) -> bool) {
        self.inner.unwatch_others(keep);
    }

    fn n_watched(&self) -> usize {
        self.inner.n_watched()
    }

    fn catch_up(&self) -> bool {
        if self.plan.is_readable {
            self.deliver();
        }
        self.plan.is_readable
    }
}

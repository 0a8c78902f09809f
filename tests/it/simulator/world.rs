//! A repository, the event loop that follows it, and what is asked of it.

use super::plan::{self, Plan};
use crate::edits::{Edit, Repository};
use crate::support::{dump_of, dump_of_fresh_build, first_difference, sharing};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError};
use indexd::config::Config;
use indexd::workspace::indexing::engine::Setup;
use indexd::workspace::indexing::recovery::Verify;
use indexd::workspace::indexing::siblings::Sharing;
use indexd::workspace::indexing::stages::Parts;
use indexd::workspace::life::driver::{Driver, Event, WorkspaceSetup};
use indexd::workspace::noticing::clock::Clock;
use indexd::workspace::noticing::condition::Shared;
use indexd::workspace::noticing::cookie::{Answer, Waiter};
use indexd::workspace::tree::Tree;
use indexd::workspace::tree::known::KnownFiles;
use indexd::workspace::{Freshness, Pressure, Problem};
use indexd_model::{ContentHash, FactsView, IndexView};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Turns in which a request is answered, whatever fails.
const TURNS_MAX: usize = 400;
/// Real time in which a thread of its own says its last word.
const WORK_TIME: Duration = Duration::from_secs(60);

pub struct World {
    _tmp: tempfile::TempDir,
    top: PathBuf,
    pub root: PathBuf,
    pub plan: Arc<Plan>,
    clock: Clock,
    repository: Repository,
    sharing: Option<Arc<Sharing>>,
    is_shown: bool,
    driver: Option<Driver>,
    sender: Sender<Event>,
    events: Receiver<Event>,
    shared: Arc<Shared>,
}

impl World {
    /// A repository of a few files of each kind that no index exists of.
    pub fn new(seed: u64, is_readable: bool) -> Self {
        let mut world = Self::empty(is_readable, seed.is_multiple_of(3));
        world.repository = Repository::new(&world.root);
        world
    }

    /// A repository without files.
    pub fn empty(is_readable: bool, shares: bool) -> Self {
        let tmp = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(tmp.path()).unwrap();
        let root = top.join("repo");
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(top.join("cookies")).unwrap();
        let plan = Plan::new(&top, is_readable);
        let (sender, events) = crossbeam_channel::unbounded();
        let mut world = Self {
            _tmp: tmp,
            sharing: shares.then(|| sharing(&top)),
            top,
            root,
            plan,
            clock: Clock::told(),
            repository: Repository::default(),
            is_shown: std::env::var_os("INDEXD_TEST_SHOW").is_some(),
            driver: None,
            sender,
            events,
            shared: Arc::default(),
        };
        world.start();
        world
    }

    fn start(&mut self) {
        let mut config = Config::default();
        config.index_background_tokens = false;
        let engine = Setup {
            root: self.root.clone(),
            home: self.top.join("index"),
            config: Arc::new(config),
            parts: Parts::default(),
            verify: Verify::InProcess,
            sharing: self.sharing.clone(),
        };
        (self.sender, self.events) = crossbeam_channel::unbounded();
        self.shared = Arc::default();
        let setup = WorkspaceSetup {
            engine,
            cookies: self.top.join("cookies"),
            watch: plan::start,
            pressure: Pressure::none(),
        };
        let channel = (self.sender.clone(), self.events.clone());
        self.driver = Some(Driver::new(setup, Arc::clone(&self.shared), self.clock.clone(), channel));
    }

    fn show(&self, what: &dyn std::fmt::Debug) {
        if self.is_shown {
            eprintln!("{what:?}");
        }
    }

    pub fn write(&self, path: &str, text: &str) {
        let at = self.root.join(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(at, text).unwrap();
    }

    pub fn edit(&mut self, edit: &Edit) {
        self.show(edit);
        self.repository.apply(edit, &self.root);
    }

    pub fn advance(&self, time: Duration) {
        self.show(&time);
        self.clock.advance(time);
    }

    /// One turn of the loop, with whatever has come in.
    pub fn turn(&mut self) {
        if self.plan.lock().has_crashed {
            self.restart_as_left();
        }
        let is_late = self.plan.lock().delays;
        if !is_late {
            self.plan.deliver();
        }
        let driver = self.driver.as_mut().unwrap();
        let event = if driver.has_work_under_way() {
            let event = self.events.recv_timeout(Duration::from_millis(20));
            event.or_else(|_| {
                if driver.has_work_under_way() {
                    self.events.recv_timeout(WORK_TIME)
                } else {
                    Err(RecvTimeoutError::Timeout)
                }
            })
        } else {
            self.events.try_recv().map_err(|_| RecvTimeoutError::Timeout)
        };
        if !driver.hear(event) {
            self.show(&"closed when idle");
            self.driver.take().unwrap().close();
            self.start();
        }
        let due = self.driver.as_mut().unwrap().turn();
        let is_busy = self.driver.as_ref().unwrap().has_work_under_way();
        if let Some(due) = due.filter(|_| !is_busy && self.events.is_empty()) {
            // Nothing happens before that; a thing that is due now may need a moment.
            let wait = due.saturating_duration_since(self.clock.now());
            self.clock.advance(wait.clamp(Duration::from_millis(1), Duration::from_secs(30)));
        }
    }

    /// The process was killed some calls ago: another one starts with what was on the disk then.
    fn restart_as_left(&mut self) {
        self.show(&"killed");
        self.plan.lock().is_paused = true;
        let mut driver = self.driver.take().unwrap();
        while driver.has_work_under_way() {
            if let Ok(event) = self.events.recv_timeout(Duration::from_millis(20)) {
                driver.hear(Ok(event));
            }
        }
        drop(driver);
        self.shared.set_store(None);
        let home = self.top.join("index");
        fs::remove_dir_all(&home).unwrap();
        fs::rename(&self.plan.left, &home).unwrap();
        {
            let mut t = self.plan.lock();
            t.end_crash();
        }
        self.start();
    }

    /// A request: it is answered, and truly.
    pub fn ask(&mut self) {
        _ = self.answer();
    }

    fn answer(&mut self) -> Option<Freshness> {
        self.clock.advance(Duration::from_millis(1));
        if let Some(freshness) = self.shared.fresh_at_rest() {
            self.check(&freshness);
            return Some(freshness);
        }
        let mut waits: Option<Receiver<Answer>> = None;
        for _ in 0..TURNS_MAX {
            let answer = waits.get_or_insert_with(|| {
                let (reply, answer) = crossbeam_channel::bounded(1);
                // The loop may have ended; then the next turn starts another one.
                let _ = self.sender.send(Event::Wait(Waiter { arrived: self.clock.now(), reply }));
                answer
            });
            match answer.try_recv() {
                Ok(Ok(freshness)) => {
                    self.check(&freshness);
                    return Some(freshness);
                }
                Ok(Err(failure)) => {
                    self.show(&failure);
                    return None;
                }
                Err(TryRecvError::Disconnected) => waits = None,
                Err(TryRecvError::Empty) => self.turn(),
            }
        }
        panic!("no answer after {TURNS_MAX} turns: {:?}", self.shared.condition());
    }

    /// Two requests, of which the second comes in while the tree is compared for the first: no event follows
    /// that would wake the loop for it.
    pub fn ask_during_a_comparison(&mut self) {
        self.ask();
        self.plan.lock().overflows = true;
        let [first, second] = [0, 1].map(|ms| {
            let (reply, answer) = crossbeam_channel::bounded(1);
            let arrived = self.clock.now() + Duration::from_millis(ms);
            self.sender.send(Event::Wait(Waiter { arrived, reply })).unwrap();
            answer
        });
        let is_fresh = |answer: &Receiver<Answer>| matches!(answer.try_recv(), Ok(Ok(f)) if f.fresh);
        let driver = self.driver.as_mut().unwrap();
        assert!(driver.hear(self.events.try_recv().map_err(|_| RecvTimeoutError::Timeout)));
        let due = driver.turn();
        assert!(is_fresh(&first) && !is_fresh(&second));
        assert!(due.is_some_and(|due| due <= self.clock.now()), "the loop would sleep");
        self.clock.advance(Duration::from_millis(1));
        driver.hear(Err(RecvTimeoutError::Timeout));
        driver.turn();
        assert!(is_fresh(&second));
    }

    /// A request after a reader met damage: it is answered when the index is built anew, and not before.
    pub fn ask_of_a_damaged_index(&mut self) {
        self.ask();
        let store = self.shared.store().expect("an index");
        let data = fs::read_dir(self.top.join("index")).unwrap().map(|e| e.unwrap().path().join("data.mdb"));
        for data in data.filter(|data| data.exists()) {
            let bytes = fs::read(&data).unwrap();
            let places = bytes.windows(9).enumerate().filter(|(_, w)| w == b"README.md").map(|(at, _)| at);
            let file = fs::File::options().write(true).open(&data).unwrap();
            places.for_each(|at| file.write_all_at(b"k", at as u64).unwrap());
        }
        store.forget_opened();
        let read = std::panic::AssertUnwindSafe(|| {
            let snapshot = store.snapshot().unwrap();
            snapshot.files().into_iter().for_each(|file| _ = snapshot.file(file));
        });
        assert!(std::panic::catch_unwind(read).is_err() && store.is_damaged());
        drop(store);
        let (reply, answer) = crossbeam_channel::bounded(1);
        self.sender.send(Event::Wait(Waiter { arrived: self.clock.now(), reply })).unwrap();
        self.turn();
        assert!(matches!(answer.try_recv(), Err(TryRecvError::Empty)), "of the damaged index");
        self.settle();
        assert!(matches!(answer.try_recv(), Ok(Ok(freshness)) if freshness.fresh));
    }

    /// An answer that says it is fresh is about the files as they are now.
    fn check(&self, freshness: &Freshness) {
        self.show(freshness);
        if !freshness.fresh {
            return;
        }
        let was_paused = std::mem::replace(&mut self.plan.lock().is_paused, true);
        let snapshot = self.shared.store().expect("an index").snapshot().unwrap();
        let mut tree = Tree::new(&self.root, &[], KnownFiles::default());
        let files = tree.sweep(None).unwrap().changed;
        let misses_some = self.shared.condition().problems.contains_key(&Problem::Unreadable);
        for path in files.keys() {
            let hash = ContentHash::of(&fs::read(self.root.join(&**path)).unwrap());
            match snapshot.file_by_path(path) {
                Some(file) => assert_eq!(snapshot.file(file).hash, hash, "{path} is an old one"),
                None => assert!(misses_some, "{path} is missing, and nothing says so"),
            }
        }
        for file in snapshot.files() {
            let path = snapshot.path(file);
            assert!(files.keys().any(|p| **p == *path), "{path} is gone");
        }
        self.plan.lock().is_paused = was_paused;
    }

    /// Closes the index, as far as that can be done, and opens it with another loop.
    pub fn reopen(&mut self) {
        self.show(&"reopen");
        self.driver.take().unwrap().close();
        self.start();
    }

    pub fn compact(&mut self) {
        self.show(&"compact");
        let (reply, _answer) = crossbeam_channel::bounded(1);
        let _ = self.sender.send(Event::Compact(reply));
        self.turn();
    }

    /// Gives a file a time that its clock may have had.
    pub fn set_times(&self, which: u64) {
        self.show(&("times", which));
        let day = Duration::from_secs(86_400);
        let times = [SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH + day, SystemTime::now() + 400 * day];
        let time = times[which as usize % times.len()];
        for name in ["README.md", "a/a.go", "pkg/m.py"] {
            if let Ok(file) = fs::File::options().write(true).open(self.root.join(name)) {
                file.set_times(fs::FileTimes::new().set_modified(time)).unwrap();
            }
        }
    }

    /// The root is away for some requests, as on a disk that was pulled out.
    pub fn lose_root_for_a_while(&mut self) {
        self.show(&"root away");
        let away = self.top.join("away");
        fs::rename(&self.root, &away).unwrap();
        // Nobody is told that the index of a tree that is gone is fresh.
        if let Some(freshness) = self.answer_unchecked() {
            assert!(!freshness.fresh, "{freshness:?} of a tree that is gone");
        }
        fs::rename(&away, &self.root).unwrap();
    }

    fn answer_unchecked(&mut self) -> Option<Freshness> {
        let (reply, answer) = crossbeam_channel::bounded(1);
        let _ = self.sender.send(Event::Wait(Waiter { arrived: self.clock.now(), reply }));
        for _ in 0..TURNS_MAX {
            match answer.try_recv() {
                Ok(Ok(freshness)) => return Some(freshness),
                Ok(Err(_)) | Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) => self.turn(),
            }
        }
        panic!("no answer after {TURNS_MAX} turns: {:?}", self.shared.condition());
    }

    /// Nothing goes wrong from now on.
    pub fn calm(&mut self) {
        self.show(&"calm");
        self.plan.lock().end();
    }

    /// In the end the index is that of the tree, found without a comparison, and stays so.
    pub fn settle(&mut self) {
        for _ in 0..4 {
            self.clock.advance(Duration::from_secs(70));
            self.ask();
        }
        let freshness = self.answer().expect("an index");
        assert!(freshness.fresh, "{freshness:?}: {:?}", self.shared.condition());
        assert_ne!(
            freshness.how,
            indexd_proto::workspace::How::Scan,
            "watched again: {:?}",
            self.shared.condition()
        );
        self.compare();
        self.reopen();
        self.ask();
        self.compare();
    }

    fn compare(&self) {
        let was_paused = std::mem::replace(&mut self.plan.lock().is_paused, true);
        let followed = dump_of(&self.shared.store().expect("an index").snapshot().unwrap());
        let fresh = dump_of_fresh_build(&self.root);
        assert!(followed == fresh, "{}", first_difference(&followed, &fresh));
        self.plan.lock().is_paused = was_paused;
    }
}

//! The second thread of a snapshot. It does its part of what the first one shares with it, and reads
//! texts and interfaces ahead, into the caches that all snapshots share: unpacking the texts of a
//! pack takes longer than all else that is done before the first is needed.
//!
//! A thread that has no more to do waits for the next snapshot: starting one costs a tenth of a
//! millisecond, and each that ends leaves the memory it had to itself behind.

use crate::error::Result;
use crate::snapshot::{Snapshot, interface, text};
use crate::store::Store;
use crate::task::Task;
use indexd_model::{FileDoc, IndexView};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

/// Threads that wait at once; packs come one after the other as a rule.
const IDLE_MAX: usize = 2;

/// Times that a thread which has done a task looks for another, about 50 us: they come one soon after
/// the other, and to wake a thread costs the one that asks half as long.
const ROUNDS_MAX: u32 = 2_000;

/// The threads of a store that wait. They end with it, when nobody can send them anything.
#[derive(Default)]
pub(crate) struct Readers(Mutex<Vec<Sender<Job>>>);

impl Readers {
    fn idle(&self) -> MutexGuard<'_, Vec<Sender<Job>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread that waits, or a new one; `None` when the system has none to give.
    fn take(&self) -> Option<Sender<Job>> {
        if let Some(idle) = self.idle().pop() {
            return Some(idle);
        }
        let (sender, jobs) = mpsc::channel::<Job>();
        let work = move || jobs.iter().for_each(Job::run);
        Builder::new().name("read-ahead".to_owned()).spawn(work).ok().map(|_| sender)
    }

    /// How many wait.
    #[cfg(test)]
    pub fn n_idle(&self) -> usize {
        self.idle().len()
    }

    fn put(&self, reader: Sender<Job>) {
        let mut idle = self.idle();
        if idle.len() < IDLE_MAX {
            idle.push(reader);
        }
    }
}

/// What a snapshot asks of its second thread.
pub(crate) enum Asked {
    /// Texts that are likely asked for soon, the first files first.
    Texts(Vec<FileDoc>),
    /// The same of interfaces.
    Interfaces(Vec<FileDoc>),
    /// A part of what the first thread is at. It goes before everything that is only likely.
    Task(Arc<Task>),
}

/// What a thread does for one snapshot.
struct Job {
    /// The thread itself, to be put back.
    reader: Sender<Job>,
    store: Store,
    generation: u64,
    asked: Receiver<Asked>,
    /// Let go when all is done.
    done: Sender<()>,
}

impl Job {
    fn run(self) {
        let Self { reader, store, generation, asked, done } = self;
        // What fails here fails again, and is reported, when the file is asked for.
        let _ = serve(&store, generation, asked);
        store.inner.readers.put(reader);
        // The snapshot that waits keeps the store open, so that it is never closed on this thread.
        drop(store);
        drop(done);
    }
}

/// Does what it is asked for, in a transaction of its own, until nobody asks any more.
fn serve(store: &Store, generation: u64, asked: Receiver<Asked>) -> Result<()> {
    let mut view = Snapshot::open_second(store)?;
    // Handles mean something in their generation only.
    if view.generation() != generation {
        return Ok(());
    }
    let mut texts = VecDeque::new();
    let mut interfaces = VecDeque::new();
    let mut rounds = 0;
    loop {
        let next = if texts.is_empty() && interfaces.is_empty() {
            wait(&asked, rounds).ok_or(TryRecvError::Disconnected)
        } else {
            asked.try_recv()
        };
        rounds = 0;
        match next {
            Ok(Asked::Texts(files)) => texts.extend(files),
            Ok(Asked::Interfaces(files)) => interfaces.extend(files),
            Ok(Asked::Task(task)) => {
                if !task.run(&view) {
                    view.distrust();
                    return Ok(());
                }
                rounds = ROUNDS_MAX;
            }
            Err(TryRecvError::Empty) => {
                if let Some(file) = texts.pop_front() {
                    let _ = text(store, view.rows(), file.0)?.lines();
                } else if let Some(file) = interfaces.pop_front() {
                    drop(interface(store, view.rows(), file.0)?);
                }
            }
            // Files that nobody waits for are not read.
            Err(TryRecvError::Disconnected) => return Ok(()),
        }
    }
}

/// Looks so many times before it sleeps: `None` when nobody asks any more.
fn wait(asked: &Receiver<Asked>, rounds: u32) -> Option<Asked> {
    for _ in 0..rounds {
        match asked.try_recv() {
            Ok(next) => return Some(next),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => std::hint::spin_loop(),
        }
    }
    asked.recv().ok()
}

/// The second thread of one snapshot, which waits for it when it is dropped.
#[derive(Default)]
pub(crate) struct Second(RefCell<Option<Line>>);

struct Line {
    asked: Sender<Asked>,
    done: Receiver<()>,
}

impl Second {
    /// Has files of a generation read after those it was asked for before.
    pub fn start(&self, store: &Store, generation: u64, wanted: Asked) {
        let (Asked::Texts(files) | Asked::Interfaces(files)) = &wanted else { return };
        if !files.is_empty() {
            self.ask(store, generation, wanted);
        }
    }

    /// Runs `here` on this thread, and `there` on the second one over a view of its own if that comes
    /// to it in time, else on this one over `view`.
    ///
    /// # Panics
    /// When one of them does.
    pub fn both(
        &self,
        view: &Snapshot,
        here: &mut dyn FnMut(),
        there: &mut (dyn FnMut(&dyn IndexView) + Send),
    ) {
        Task::share(there, view, |task| {
            self.ask(view.store(), view.generation(), Asked::Task(task));
            here();
        });
    }

    fn ask(&self, store: &Store, generation: u64, wanted: Asked) {
        let mut line = self.0.borrow_mut();
        if line.is_none() {
            *line = begin(store, generation);
        }
        if let Some(line) = &*line {
            // A thread that gave up takes no more.
            let _ = line.asked.send(wanted);
        }
    }
}

/// Without a thread, files are read when they are asked for, and nothing is shared.
fn begin(store: &Store, generation: u64) -> Option<Line> {
    let reader = store.inner.readers.take()?;
    let (sender, asked) = mpsc::channel();
    let (running, done) = mpsc::channel();
    let job = Job { reader: reader.clone(), store: store.clone(), generation, asked, done: running };
    reader.send(job).ok().map(|()| Line { asked: sender, done })
}

impl Drop for Second {
    fn drop(&mut self) {
        if let Some(Line { asked, done }) = self.0.get_mut().take() {
            drop(asked);
            // An error, always: nothing is ever sent. After a panic of the thread, too, which was
            // about a file that nobody got from it.
            let _ = done.recv();
        }
    }
}

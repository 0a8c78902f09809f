//! Texts read ahead on a thread of their own, into the cache that all snapshots share: unpacking
//! those of a pack takes longer than the walk over edges that comes before the first is needed.

use crate::snapshot::text;
use crate::store::Store;
use indexd_model::FileDoc;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};

/// The thread of one snapshot. It ends with the snapshot, which keeps the store open.
#[derive(Default)]
pub(crate) struct ReadAhead {
    thread: RefCell<Option<JoinHandle<()>>>,
    stop: Arc<AtomicBool>,
}

impl ReadAhead {
    /// Reads texts of a generation, once for each snapshot. What fails here fails again, and is
    /// reported, when the text is asked for.
    pub fn start(&self, store: &Store, generation: u64, files: &[FileDoc]) {
        let mut thread = self.thread.borrow_mut();
        if thread.is_some() || files.is_empty() {
            return;
        }
        let (store, files, stop) = (store.clone(), files.to_vec(), Arc::clone(&self.stop));
        let read = move || {
            let Ok(snapshot) = store.snapshot() else { return };
            // Handles mean something in their generation only.
            if snapshot.generation() != generation {
                return;
            }
            for file in files {
                if stop.load(Ordering::Relaxed) || text(&store, snapshot.rows(), file.0).is_err() {
                    return;
                }
            }
        };
        // Without a thread, texts are read when they are asked for.
        *thread = Builder::new().name("read-ahead".to_owned()).spawn(read).ok();
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.get_mut().take() {
            // A panic of the thread was about a text that nobody got from it.
            let _ = thread.join();
        }
    }
}

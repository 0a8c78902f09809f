//! Texts read ahead on a thread of their own, into the cache that all snapshots share: unpacking
//! those of a pack takes longer than all else that is done before the first is needed.

use crate::error::Result;
use crate::meta::Meta;
use crate::rows::Rows;
use crate::snapshot::text;
use crate::store::Store;
use indexd_model::FileDoc;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{Builder, JoinHandle};

/// The thread of one snapshot. It ends with the snapshot, which keeps the store open.
#[derive(Default)]
pub(crate) struct ReadAhead {
    reader: RefCell<Option<Reader>>,
    stop: Arc<AtomicBool>,
}

struct Reader {
    files: Sender<Vec<FileDoc>>,
    thread: JoinHandle<()>,
}

impl ReadAhead {
    /// Reads files of a generation after those it was asked for before. What fails here fails again,
    /// and is reported, when the file is asked for.
    pub fn start(&self, store: &Store, generation: u64, files: &[FileDoc]) {
        if files.is_empty() {
            return;
        }
        let mut reader = self.reader.borrow_mut();
        if reader.is_none() {
            let (sender, asked) = mpsc::channel();
            let (store, stop) = (store.clone(), Arc::clone(&self.stop));
            let read = move || drop(read(&store, generation, &asked, &stop));
            // Without a thread, files are read when they are asked for.
            let thread = Builder::new().name("read-ahead".to_owned()).spawn(read);
            *reader = thread.ok().map(|thread| Reader { files: sender, thread });
        }
        if let Some(reader) = &*reader {
            // A thread that gave up takes no more.
            let _ = reader.files.send(files.to_vec());
        }
    }
}

/// Reads what it is asked for, in a transaction of its own.
fn read(store: &Store, generation: u64, asked: &Receiver<Vec<FileDoc>>, stop: &AtomicBool) -> Result<()> {
    let inner = &store.inner;
    let txn = inner.env.read_txn()?;
    // Handles mean something in their generation only.
    if Meta::read(&inner.tables, &txn)?.is_none_or(|meta| meta.generation != generation) {
        return Ok(());
    }
    let rows = Rows { tables: &inner.tables, txn: &txn, opened: None };
    for file in asked.iter().flatten() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        text(store, rows, file.0)?.lines();
    }
    Ok(())
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(Reader { files, thread }) = self.reader.get_mut().take() {
            drop(files);
            // A panic of the thread was about a file that nobody got from it.
            let _ = thread.join();
        }
    }
}

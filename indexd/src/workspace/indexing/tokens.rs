//! Counts tokens of definitions while the loop is idle, so that the first packs need not.
//!
//! Counts are a cache: they may be missing at any time. Work is bounded by chunks a step, and steps follow
//! each other only while no event and no request comes in.

use indexd_model::{ContentHash, FileDoc, IndexView};
use indexd_store::{Store, StoreError};
use std::sync::Arc;

/// Chunks counted in one step: about 50 ms.
const CHUNKS_PER_STEP: usize = 400;
/// Files looked at in one step, when most of their chunks are counted already.
const FILES_PER_STEP: usize = 2_000;

/// The progress of counting.
pub struct Counting {
    tokenizer: Option<String>,
    counter: Option<Arc<indexd_text::CachedCounter>>,
    next: usize,
    generation: u64,
    is_done: bool,
}

impl Counting {
    /// Counts with the tokenizer that requests use by default, when it is an exact one.
    pub fn new(is_on: bool, tokenizer: &str) -> Self {
        let is_exact = matches!(tokenizer, "o200k_base" | "cl100k_base");
        let tokenizer = (is_on && is_exact).then(|| tokenizer.to_owned());
        Self { tokenizer, counter: None, next: 0, generation: 0, is_done: false }
    }

    /// Returns true if there may be something to count.
    pub fn is_wanted(&self) -> bool {
        self.tokenizer.is_some() && !self.is_done
    }

    /// Looks at every file again.
    pub fn start_over(&mut self) {
        self.next = 0;
        self.is_done = false;
    }

    /// Counts some chunks that have no count yet. Returns their number.
    ///
    /// # Errors
    /// Those of the store.
    pub fn step(&mut self, store: &Store) -> Result<usize, StoreError> {
        use indexd_text::TokenCounter;
        let Some(name) = self.tokenizer.clone() else { return Ok(0) };
        let options = indexd_text::CounterOptions { cache_texts: 0, ..Default::default() };
        let counter = match &self.counter {
            Some(counter) => Arc::clone(counter),
            None => match indexd_text::counter(&name, &options) {
                Ok(counter) => Arc::clone(self.counter.insert(counter)),
                Err(_) => {
                    self.tokenizer = None;
                    return Ok(0);
                }
            },
        };
        let snapshot = store.snapshot()?;
        if self.generation != snapshot.generation() {
            self.generation = snapshot.generation();
            self.next = 0;
        }
        let files: Vec<FileDoc> = snapshot.files();
        let mut counts = Vec::new();
        let mut n_files = 0;
        while self.next < files.len() && counts.len() < CHUNKS_PER_STEP && n_files < FILES_PER_STEP {
            let file = files[self.next];
            self.next += 1;
            n_files += 1;
            let text = snapshot.text_once(file);
            for chunk in snapshot.file(file).chunks {
                let chunk = snapshot.chunk(indexd_model::ChunkDoc(chunk));
                if !chunk.kind.is_definition() {
                    continue;
                }
                let Some(text) = text.get(chunk.span.range()) else { continue };
                let hash = prefix(text);
                if snapshot.token_count(&name, hash).is_none() {
                    counts.push((name.as_str(), hash, counter.count_tokens(text)));
                }
            }
        }
        if self.next >= files.len() {
            self.is_done = true;
            self.counter = None;
        }
        drop(snapshot);
        if !counts.is_empty() {
            let mut txn = store.begin()?;
            txn.put_token_counts(&counts)?;
            self.generation = txn.commit()?;
        }
        Ok(counts.len())
    }
}

/// The key of a text's count: the first half of its hash.
fn prefix(text: &str) -> [u8; 16] {
    let mut out = [0; 16];
    out.copy_from_slice(&ContentHash::of(text.as_bytes()).0[..16]);
    out
}

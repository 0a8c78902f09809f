//! The rows that describe the index as a whole, and the free handles.

use crate::error::{Result, StoreError};
use crate::tables::Tables;
use bitcode::{Decode, Encode};
use heed::{RoTxn, RwTxn};
use indexd_model::view::CorpusStats;

/// Version of the stored format: changes when stored bytes do. An index of another version is rebuilt, never
/// converted.
pub const FORMAT: u32 = 11;

/// The key of the row of [`Meta`].
pub(crate) const STATE: &[u8] = b"state";
const FREE: &[u8] = b"free";

/// The single values of an index. Written last, so that an index without it is an unfinished first build.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub(crate) struct Meta {
    /// [`FORMAT`] of the program that built it.
    pub format: u32,
    /// BLAKE3 of the index config.
    pub config: [u8; 32],
    /// Number of commits.
    pub generation: u64,
    /// Sums.
    pub stats: CorpusStats,
    /// Definitions, files not counted.
    pub n_defs: u64,
    /// Bytes on disk of all files.
    pub source_bytes: u64,
    /// HEAD's commit id.
    pub head: Option<String>,
    /// Digest of the commits read.
    pub history: Option<[u8; 32]>,
    /// Digest of the overlays of an imported index.
    pub overlays: Option<[u8; 32]>,
    /// Root over the leaves of all files.
    pub root: [u8; 32],
}

impl Meta {
    /// An index without files.
    pub fn empty(config: [u8; 32]) -> Self {
        Self { format: FORMAT, config, root: crate::signature::empty_root(), ..Self::default() }
    }

    /// Reads the row; `None` before the first build is complete.
    pub fn read(tables: &Tables, txn: &RoTxn) -> Result<Option<Self>> {
        let Some(bytes) = tables.meta.get(txn, STATE)? else {
            return Ok(None);
        };
        bitcode::decode(bytes).map(Some).map_err(|_| tables.meta.corrupt(STATE))
    }

    /// Writes the row.
    pub fn write(&self, tables: &Tables, txn: &mut RwTxn) -> Result<()> {
        tables.meta.put(txn, STATE, &self.encode())
    }

    /// The bytes of the row.
    pub fn encode(&self) -> Vec<u8> {
        bitcode::encode(self)
    }

    /// The index signature.
    pub fn signature(&self) -> [u8; 32] {
        let mut h = blake3::Hasher::new_derive_key("indexd 2026 index signature");
        h.update(&self.root);
        h.update(&self.config);
        let head = self.head.as_deref().unwrap_or("none");
        h.update(&(head.len() as u64).to_le_bytes());
        h.update(head.as_bytes());
        h.update(&[u8::from(self.history.is_some())]);
        h.update(&self.history.unwrap_or_default());
        h.update(&[u8::from(self.overlays.is_some())]);
        h.update(&self.overlays.unwrap_or_default());
        *h.finalize().as_bytes()
    }
}

/// Handles not in use. A handle freed by a transaction is not reused before it commits: a file that is not
/// linked again yet may still refer to it.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub(crate) struct Free {
    /// One past the highest file handle ever used.
    pub next_file: u32,
    /// Free file handles below.
    pub files: Vec<u32>,
    /// One past the highest definition handle ever used.
    pub next_def: u32,
    /// Free definition handles below.
    pub defs: Vec<u32>,
    /// One past the highest chunk handle ever reserved.
    pub next_chunk: u32,
    /// Free runs of chunk handles below: `(start, length)`, sorted, not touching.
    pub chunks: Vec<(u32, u32)>,
}

/// Handles that a file with `n` chunks reserves, so that it can grow a little in place.
pub(crate) fn room_for(n: u32) -> u32 {
    if n == 0 { 0 } else { n + 1 + n / 8 }
}

impl Free {
    /// Reads the row.
    pub fn read(tables: &Tables, txn: &RoTxn) -> Result<Self> {
        bitcode::decode(tables.meta.need(txn, FREE)?).map_err(|_| tables.meta.corrupt(FREE))
    }

    /// Writes the row if it changed.
    pub fn write(&self, tables: &Tables, txn: &mut RwTxn) -> Result<()> {
        tables.meta.put_new(txn, FREE, &bitcode::encode(self))
    }

    /// Takes a free file handle, or a new one.
    pub fn file(&mut self) -> Result<u32> {
        Self::one(&mut self.files, &mut self.next_file)
    }

    /// Takes a free definition handle, or a new one.
    pub fn def(&mut self) -> Result<u32> {
        Self::one(&mut self.defs, &mut self.next_def)
    }

    fn one(free: &mut Vec<u32>, next: &mut u32) -> Result<u32> {
        if let Some(id) = free.pop() {
            return Ok(id);
        }
        let id = *next;
        *next = id.checked_add(1).filter(|n| *n < u32::MAX).ok_or_else(exhausted)?;
        Ok(id)
    }

    /// Takes a run of `n` chunk handles: the first free one that is long enough, otherwise new ones.
    pub fn chunk_run(&mut self, n: u32) -> Result<u32> {
        if n == 0 {
            return Ok(0);
        }
        if let Some(i) = self.chunks.iter().position(|(_, len)| *len >= n) {
            let (start, len) = self.chunks[i];
            if len == n {
                self.chunks.remove(i);
            } else {
                self.chunks[i] = (start + n, len - n);
            }
            return Ok(start);
        }
        let start = self.next_chunk;
        self.next_chunk = start.checked_add(n).filter(|n| *n < u32::MAX).ok_or_else(exhausted)?;
        Ok(start)
    }

    /// Releases a run of chunk handles.
    pub fn release_chunks(&mut self, start: u32, n: u32) {
        if n == 0 {
            return;
        }
        let i = self.chunks.partition_point(|c| c.0 < start);
        self.chunks.insert(i, (start, n));
        if self.chunks.get(i + 1).is_some_and(|next| start + n == next.0) {
            self.chunks[i].1 += self.chunks.remove(i + 1).1;
        }
        if i > 0 && self.chunks[i - 1].0 + self.chunks[i - 1].1 == start {
            self.chunks[i - 1].1 += self.chunks.remove(i).1;
        }
    }
}

fn exhausted() -> StoreError {
    StoreError::Inconsistent("no free handles left".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn chunk_runs_never_overlap(steps in prop::collection::vec((any::<bool>(), 1..20u32, any::<prop::sample::Index>()), 1..60)) {
            let mut free = Free::default();
            let mut live: Vec<(u32, u32)> = Vec::new();
            for (take, n, at) in steps {
                if take || live.is_empty() {
                    let start = free.chunk_run(n).unwrap();
                    for (s, len) in &live {
                        prop_assert!(start + n <= *s || s + len <= start);
                    }
                    live.push((start, n));
                } else {
                    let (start, n) = live.swap_remove(at.index(live.len()));
                    free.release_chunks(start, n);
                }
                prop_assert!(free.chunks.windows(2).all(|w| w[0].0 + w[0].1 < w[1].0));
            }
            let used: u32 = live.iter().map(|l| l.1).sum();
            let spare: u32 = free.chunks.iter().map(|l| l.1).sum();
            prop_assert_eq!(used + spare, free.next_chunk);
        }
    }
}

//! The order of handles: the rank of each file among the paths, and the file of each definition. Built from
//! two small tables when a snapshot first needs it and kept for later snapshots of the same generation, so
//! that sorting the 10,000 callers of a hub reads no record.

use crate::error::Result;
use crate::rows::{Rows, is_cut};
use indexd_model::FileDoc;

/// Orders of one generation.
pub(crate) struct Directory {
    /// Every file, ordered by path.
    pub files: Vec<FileDoc>,
    ranks: Vec<u32>,
    files_of_defs: Vec<u32>,
}

impl Directory {
    /// Reads the tables.
    pub fn build(rows: Rows) -> Result<Self> {
        let mut files = Vec::new();
        let mut cut = false;
        for row in rows.tables.paths.iter(rows.txn)? {
            let (key, value) = row?;
            let doc = value.try_into().map_err(|_| rows.tables.paths.corrupt(&key))?;
            files.push(FileDoc(u32::from_be_bytes(doc)));
            cut |= is_cut(&key);
        }
        if cut {
            let mut paths = Vec::with_capacity(files.len());
            for file in files {
                paths.push((rows.file(file.0)?.path.as_str(), file));
            }
            paths.sort_unstable();
            files = paths.into_iter().map(|p| p.1).collect();
        }
        let mut ranks = Vec::new();
        for (rank, file) in files.iter().enumerate() {
            set(&mut ranks, file.0, rank as u32);
        }
        let mut files_of_defs = Vec::new();
        rows.all_file_defs(|file, def| set(&mut files_of_defs, def, file))?;
        Ok(Self { files, ranks, files_of_defs })
    }

    /// The rank of a file among all paths; past the end for unknown files.
    pub fn rank(&self, file: FileDoc) -> u32 {
        self.ranks.get(file.index()).copied().unwrap_or(u32::MAX)
    }

    /// The rank of the file that holds a definition.
    pub fn rank_of_def(&self, def: u32) -> u32 {
        self.files_of_defs.get(def as usize).map_or(u32::MAX, |f| self.rank(FileDoc(*f)))
    }
}

fn set(list: &mut Vec<u32>, at: u32, value: u32) {
    let at = at as usize;
    if list.len() <= at {
        list.resize(at + 1, u32::MAX);
    }
    list[at] = value;
}

//! An in-memory [`FactsView`], filled while the first build parses and used to link it.

use crate::facts::Interface;
use crate::ids::FileDoc;
use crate::key::Key;
use crate::path::RepoPath;
use crate::view::FactsView;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Interfaces of all files in path order: a file's handle is its rank.
#[derive(Default)]
pub struct MemoryFacts {
    paths: Vec<Arc<str>>,
    interfaces: Vec<Arc<Interface>>,
    providers: Vec<FileDoc>,
    runs: FxHashMap<Key, (u32, u32)>,
}

impl MemoryFacts {
    /// Builds the view. The files may come in any order; equal paths must not occur.
    pub fn new(mut files: Vec<(RepoPath, Arc<Interface>)>) -> Self {
        files.sort_by(|a, b| a.0.cmp(&b.0));
        let mut pairs = Vec::new();
        for (i, (_, interface)) in files.iter().enumerate() {
            let mut last = None;
            for e in &interface.entries {
                if last != Some(e.key) {
                    pairs.push((e.key, FileDoc(i as u32)));
                    last = Some(e.key);
                }
            }
        }
        pairs.sort_unstable();
        let mut runs = FxHashMap::default();
        let mut i = 0;
        while i < pairs.len() {
            let n = pairs[i..].iter().take_while(|p| p.0 == pairs[i].0).count();
            runs.insert(pairs[i].0, (i as u32, n as u32));
            i += n;
        }
        let (paths, interfaces) = files.into_iter().map(|(p, f)| (Arc::from(&*p), f)).unzip();
        Self { paths, interfaces, providers: pairs.into_iter().map(|p| p.1).collect(), runs }
    }

    /// How many files there are; handles run from 0 to below this.
    pub fn n_files(&self) -> u32 {
        self.paths.len() as u32
    }
}

impl FactsView for MemoryFacts {
    fn providers(&self, key: Key) -> Vec<FileDoc> {
        match self.runs.get(&key) {
            Some(&(start, n)) => self.providers[start as usize..(start + n) as usize].to_vec(),
            None => Vec::new(),
        }
    }

    fn interface(&self, file: FileDoc) -> Arc<Interface> {
        Arc::clone(&self.interfaces[file.index()])
    }

    fn path(&self, file: FileDoc) -> Arc<str> {
        Arc::clone(&self.paths[file.index()])
    }

    fn file_by_path(&self, path: &str) -> Option<FileDoc> {
        self.paths.binary_search_by(|p| (**p).cmp(path)).ok().map(|i| FileDoc(i as u32))
    }
}

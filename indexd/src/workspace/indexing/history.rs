//! The history of past commits, on its way from the repository into the index.

use crate::workspace::tree::git::GitFolders;
use indexd_history::{Limits, Past, Repository};
use indexd_model::RepoPath;
use indexd_model::view::FileHistory;
use indexd_store::{History, HistoryFile};
use std::fs;
use std::path::Path;

/// The part of a repository's commits that its history depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commits {
    /// The commit that HEAD names.
    pub head: Option<String>,
    /// See [`GitFolders::shallow`]. Fetching more commits changes the history and not HEAD.
    pub boundary: Option<String>,
}

impl Commits {
    /// Those of the repository around `root`.
    pub fn of(root: &Path) -> Self {
        let git = GitFolders::find(root);
        let boundary = git.as_ref().and_then(GitFolders::shallow);
        Self { head: git.and_then(|git| git.head_id()), boundary }
    }
}

/// The commits of a repository and their history.
pub struct NewHistory {
    /// The commits.
    pub commits: Commits,
    /// Their history; empty without one.
    pub history: History,
}

const BOUNDARY: &str = "boundary";

/// Returns the stored [`Commits::boundary`] of the index in a folder. A wrong value costs reading the
/// commits.
pub fn kept_boundary(home: &Path) -> Option<String> {
    fs::read_to_string(home.join(BOUNDARY)).ok()
}

/// Keeps the boundary in the folder of the index.
pub fn keep_boundary(home: &Path, boundary: Option<&str>) {
    let kept = match boundary {
        Some(boundary) => fs::write(home.join(BOUNDARY), boundary),
        None => fs::remove_file(home.join(BOUNDARY)),
    };
    if let Err(e) = kept
        && e.kind() != std::io::ErrorKind::NotFound
    {
        tracing::debug!(error = %e, "the commits are read again when the index is opened");
    }
}

/// Reads at most `commits_max` commits from HEAD back; empty without a repository, without a
/// commit, or when history is switched off. Commits that `kept` has from the last time are not compared with
/// their parents again.
pub fn read(root: &Path, commits_max: u64, kept: &mut Option<Kept>) -> History {
    let known = kept.take().and_then(|kept| kept.open());
    if commits_max == 0 {
        return History::default();
    }
    let limits = Limits { commits_max: commits_max as usize, ..Limits::default() };
    let read = Repository::open(root).and_then(|repository| repository.past(&limits, known.as_ref()));
    let past = read.inspect_err(|e| tracing::info!(error = %e, "no history")).ok();
    *kept = past.as_ref().and_then(Kept::new);
    past.as_ref().map(history).unwrap_or_default()
}

/// A history kept for the next read of the commits. It is packed: it is needed only when HEAD moves, and
/// unpacked it takes some 5 MB a repository.
pub struct Kept {
    packed: Vec<u8>,
    raw_bytes: usize,
}

/// Level of zstd.
const LEVEL: i32 = 1;

impl Kept {
    /// Packs a history; `None` when that fails, and then all commits are read again.
    pub fn new(past: &Past) -> Option<Self> {
        let raw = bitcode::encode(past);
        let packed = zstd::bulk::compress(&raw, LEVEL).ok()?;
        Some(Self { packed, raw_bytes: raw.len() })
    }

    /// Unpacks the history.
    pub fn open(&self) -> Option<Past> {
        bitcode::decode(&zstd::bulk::decompress(&self.packed, self.raw_bytes).ok()?).ok()
    }
}

/// Converts the history of the commits to the form of the store.
fn history(past: &Past) -> History {
    let file = |(path, file): (String, indexd_history::FilePast)| {
        let path = RepoPath::new(&path).ok()?;
        let history = FileHistory { n_commits: file.n_commits, newest: file.newest };
        Some(HistoryFile { path, history, terms: file.terms, touched: file.touched })
    };
    History { files: past.files().into_iter().filter_map(file).collect(), digest: past.digest() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_past_is_kept_whole() {
        let paths = (0..1_000).map(|i| format!("src/folder/file_{i}.rs")).collect();
        let past = Past { paths, ..Past::default() };
        let kept = Kept::new(&past).expect("packs");
        assert!(kept.packed.len() < 10_000, "{}", kept.packed.len());
        assert_eq!(kept.open(), Some(past));
    }
}

//! What past commits say, on its way from the repository into the index.

use indexd_history::{Limits, Past, Repository};
use indexd_model::RepoPath;
use indexd_model::view::FileHistory;
use indexd_store::{History, HistoryFile};
use std::path::Path;

/// Reads at most `commits_max` commits from HEAD back; `None` without a repository, without a
/// commit, or when history is switched off. Commits of `known` are not compared with their parents
/// again.
pub fn read(root: &Path, commits_max: u64, known: Option<&Past>) -> Option<Past> {
    if commits_max == 0 {
        return None;
    }
    let limits = Limits { commits_max: commits_max as usize, ..Limits::default() };
    Repository::open(root)
        .and_then(|repository| repository.past(&limits, known))
        .inspect_err(|e| tracing::info!(error = %e, "no history"))
        .ok()
}

/// The same as the store takes it.
pub fn history(past: &Past) -> History {
    let file = |(path, file): (String, indexd_history::FilePast)| {
        let path = RepoPath::new(&path).ok()?;
        let history = FileHistory { n_commits: file.n_commits, newest: file.newest };
        Some(HistoryFile { path, history, terms: file.terms, touched: file.touched })
    };
    History { files: past.files().into_iter().filter_map(file).collect(), digest: past.digest() }
}

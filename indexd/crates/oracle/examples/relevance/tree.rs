//! Trees of past commits, read from bare clones, and folders. Files seen before are not read or extracted
//! again.

use anyhow::Result;
use indexd_history::{CommitId, Limits, Past, Repository};
use indexd_model::RepoPath;
use indexd_model::view::FileHistory;
use indexd_oracle::{Oracle, OracleFile, Shared};
use std::collections::HashMap;
use std::path::Path;

pub struct Trees {
    known: HashMap<(String, CommitId), OracleFile>,
    shared: Shared,
    repository: Repository,
    past: Option<Past>,
    /// Where the clone looks like a work tree.
    _root: tempfile::TempDir,
}

impl Trees {
    pub fn open(mirrors: &str, repo: &str) -> Result<Self> {
        let git_dir = format!("{mirrors}/{}/repo", repo.replace('/', "+"));
        let root = tempfile::tempdir()?;
        std::fs::write(root.path().join(".git"), format!("gitdir: {git_dir}\n"))?;
        Ok(Self {
            known: HashMap::new(),
            shared: Shared::default(),
            repository: Repository::open(root.path())?,
            past: None,
            _root: root,
        })
    }

    /// The index of the tree of `commit`, with the history before it, read as the daemon reads it.
    pub fn at(&mut self, commit: &str) -> Result<Oracle> {
        let mut files = Vec::new();
        for key in self.repository.files_of(commit)? {
            if !self.known.contains_key(&key) {
                let Some(bytes) = self.repository.content(&key.1, u64::MAX) else { continue };
                self.known.insert(key.clone(), OracleFile::read(RepoPath::new(&key.0)?, &bytes));
            }
            files.push(self.known[&key].clone());
        }
        let mut view = Oracle::build(files, &mut self.shared);
        let past = self.repository.past_of(commit, &Limits::default(), self.past.as_ref())?;
        set_past(&past, commit, &mut view);
        self.past = Some(past);
        Ok(view)
    }
}

/// Gives an index the history that ends at `commit`.
fn set_past(past: &Past, commit: &str, view: &mut Oracle) {
    let all = past.files();
    let files: Vec<_> = all
        .iter()
        .map(|(path, f)| (path.as_str(), FileHistory { n_commits: f.n_commits, newest: f.newest }))
        .collect();
    let terms: Vec<_> = all
        .iter()
        .flat_map(|(path, f)| f.terms.iter().map(move |(t, n)| (t.as_str(), path.as_str(), *n)))
        .collect();
    view.set_history(commit, &files, &terms);
    for (path, f) in &all {
        view.set_touched(path, f.touched.clone());
    }
}

/// The index of a folder, with the history of its commit where it is the root of a clone.
pub fn folder(root: &str) -> Result<Oracle> {
    let root = Path::new(root);
    let files = files(root)?.into_iter().map(|(path, bytes)| OracleFile::read(path, &bytes));
    let mut view = Oracle::build(files.collect(), &mut Shared::default());
    if root.join(".git").exists() {
        let repository = Repository::open(root)?;
        let head = repository.head()?;
        set_past(&repository.past_of(&head, &Limits::default(), None)?, &head, &mut view);
    }
    Ok(view)
}

/// All files below `root` with their bytes, sorted by path; `.git` and links are left out.
fn files(root: &Path) -> Result<Vec<(RepoPath, Vec<u8>)>> {
    fn walk(root: &Path, dir: &str, out: &mut Vec<(RepoPath, Vec<u8>)>) -> Result<()> {
        for entry in std::fs::read_dir(root.join(dir))? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|n| *n != ".git") else { continue };
            let path = indexd_model::path::join(dir, name);
            let kind = entry.file_type()?;
            if kind.is_dir() {
                walk(root, &path, out)?;
            } else if kind.is_file() {
                out.push((RepoPath::new(&path)?, std::fs::read(entry.path())?));
            }
        }
        Ok(())
    }
    let mut out = Vec::new();
    walk(root, "", &mut out)?;
    out.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(out)
}

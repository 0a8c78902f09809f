//! Commits turned into integers per path.

use std::collections::BTreeMap;

/// One commit, as far as ranking cares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitRecord {
    /// Hexadecimal id.
    pub id: String,
    /// First line of the message; empty when the commit says nothing (merges, mass changes).
    pub subject: String,
    /// Files it touched, relative to the workspace root, sorted; empty as above.
    pub paths: Vec<String>,
}

/// The history that was read, newest commit first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    /// Every commit that was read.
    pub commits: Vec<CommitRecord>,
    digest: [u8; 32],
}

/// What commits say about one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePast {
    /// Commits that touched it.
    pub n_commits: u32,
    /// Position of the newest of them; 0 is HEAD.
    pub newest: u32,
    /// Terms of their subjects with the number of commits that have them, in term order.
    pub terms: BTreeMap<String, u32>,
}

impl Past {
    /// Wraps commits in the order in which they were read.
    pub fn new(commits: Vec<CommitRecord>) -> Self {
        let mut h = blake3::Hasher::new();
        for c in &commits {
            h.update(c.id.as_bytes());
            h.update(b"\n");
        }
        Self {
            commits,
            digest: *h.finalize().as_bytes(),
        }
    }

    /// BLAKE3 over the ordered commit ids: the part of the index signature that history makes.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Sums the commits by path, in path order. A term counts once for a commit.
    pub fn files(&self) -> BTreeMap<String, FilePast> {
        let mut files: BTreeMap<String, FilePast> = BTreeMap::new();
        for (i, c) in self.commits.iter().enumerate() {
            if c.paths.is_empty() {
                continue;
            }
            let mut terms = Vec::new();
            indexd_text::terms(&c.subject, |t| terms.push(t.to_owned()));
            terms.sort_unstable();
            terms.dedup();
            for path in &c.paths {
                let f = files.entry(path.clone()).or_default();
                if f.n_commits == 0 {
                    f.newest = i as u32;
                }
                f.n_commits += 1;
                for t in &terms {
                    *f.terms.entry(t.clone()).or_default() += 1;
                }
            }
        }
        files
    }

    /// Files that changed together with `path`, with the number of common commits, most first (ties
    /// by path), at most `limit`.
    pub fn changed_with(&self, path: &str, limit: usize) -> Vec<(String, u32)> {
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for c in &self.commits {
            if c.paths.binary_search_by(|p| p.as_str().cmp(path)).is_ok() {
                for p in c.paths.iter().filter(|p| *p != path) {
                    *counts.entry(p).or_default() += 1;
                }
            }
        }
        let mut out: Vec<(String, u32)> =
            counts.into_iter().map(|(p, n)| (p.to_owned(), n)).collect();
        out.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        out.truncate(limit);
        out
    }
}

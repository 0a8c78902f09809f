//! Opening a repository safely and asking about its HEAD.

use crate::Limits;
use crate::past::{CommitRecord, Past};
use gix::bstr::ByteSlice;
use gix::diff::tree::{Recorder, State, recorder::Change};
use gix::revision::walk::Sorting;
use gix::traverse::commit::simple::CommitTimeOrder;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};

/// Why there is no history.
#[derive(Debug, thiserror::Error)]
pub enum Unavailable {
    /// No `.git` at the root or above it.
    #[error("not a git repository")]
    NoRepository,
    /// Somebody else owns the git directory; reading it could follow their settings.
    #[error("the git directory {0} belongs to another user")]
    Foreign(PathBuf),
    /// A repository without commits.
    #[error("the repository has no commits yet")]
    NoCommits,
    /// The repository could not be read: damaged, of an unknown format, missing objects.
    #[error("the git repository cannot be read: {0}")]
    Unreadable(String),
}

/// An open repository, seen from a workspace root at or below its work tree.
pub struct Repository {
    repo: gix::Repository,
    /// Path of the workspace root below the work tree, `/`-ended; empty at the top.
    prefix: String,
}

/// Objects kept decoded while walking, in bytes.
const OBJECT_CACHE_BYTES: usize = 32 << 20;

impl Repository {
    /// Opens the repository whose work tree is at `root` or the nearest folder above it.
    ///
    /// # Errors
    /// [`Unavailable`] when there is none or it must not or cannot be read.
    pub fn open(root: &Path) -> Result<Self, Unavailable> {
        let root = root.canonicalize().map_err(|_| Unavailable::NoRepository)?;
        let top = root
            .ancestors()
            .find(|d| d.join(".git").symlink_metadata().is_ok());
        let top = top.ok_or(Unavailable::NoRepository)?;
        let dot_git = top.join(".git");
        own(&dot_git)?;
        let mut repo = gix::open_opts(top, gix::open::Options::isolated().strict_config(false))
            .map_err(|e| unreadable(&e))?;
        own(repo.git_dir())?;
        own(repo.common_dir())?;
        repo.object_cache_size(OBJECT_CACHE_BYTES);
        let below = root
            .strip_prefix(top)
            .ok()
            .and_then(Path::to_str)
            .unwrap_or("");
        let prefix = if below.is_empty() {
            String::new()
        } else {
            format!("{below}/")
        };
        Ok(Self { repo, prefix })
    }

    /// The commit id of HEAD in hexadecimal.
    ///
    /// # Errors
    /// [`Unavailable::NoCommits`] on an unborn branch.
    pub fn head(&self) -> Result<String, Unavailable> {
        Ok(self
            .repo
            .head_id()
            .map_err(|_| Unavailable::NoCommits)?
            .to_string())
    }

    /// Whether `bytes` are exactly what HEAD has at `path` (relative to the workspace root).
    pub fn is_at_head(&self, path: &str, bytes: &[u8]) -> bool {
        let Ok(tree) = self.repo.head_tree() else {
            return false;
        };
        let full = format!("{}{path}", self.prefix);
        let Ok(Some(entry)) = tree.lookup_entry(full.split('/').map(str::as_bytes)) else {
            return false;
        };
        let hash = gix::objs::compute_hash(self.repo.object_hash(), gix::objs::Kind::Blob, bytes);
        hash.is_ok_and(|h| h == entry.object_id())
    }

    /// Reads the history reachable from HEAD, newest commit first. `known` supplies commits read
    /// before, which are not compared with their parents again.
    ///
    /// The order is by commit time, then by the walk of the commit graph; both are the same on every
    /// machine that has the same commits. A shallow clone simply has fewer.
    ///
    /// # Errors
    /// [`Unavailable`] when HEAD or the first commits cannot be read. A commit whose objects are
    /// missing further down ends the walk there.
    pub fn past(&self, limits: &Limits, known: Option<&Past>) -> Result<Past, Unavailable> {
        let head = self.repo.head_id().map_err(|_| Unavailable::NoCommits)?;
        let known: FxHashMap<&str, &CommitRecord> = known
            .into_iter()
            .flat_map(|p| &p.commits)
            .map(|c| (c.id.as_str(), c))
            .collect();
        let order = Sorting::ByCommitTime(CommitTimeOrder::NewestFirst);
        let walk = self
            .repo
            .rev_walk([head.detach()])
            .sorting(order)
            .all()
            .map_err(|e| unreadable(&e))?;
        let mut commits = Vec::new();
        let mut state = State::default();
        for info in walk.take(limits.commits_max) {
            let Ok(info) = info else { break };
            let id = info.id.to_string();
            match known.get(id.as_str()) {
                Some(c) => commits.push((*c).clone()),
                None => match self.record(id, &info, limits, &mut state) {
                    Some(c) => commits.push(c),
                    None => break,
                },
            }
        }
        if commits.is_empty() {
            return Err(Unavailable::Unreadable(
                "HEAD has no readable commit".to_owned(),
            ));
        }
        Ok(Past::new(commits))
    }

    fn record(
        &self,
        id: String,
        info: &gix::revision::walk::Info<'_>,
        limits: &Limits,
        state: &mut State,
    ) -> Option<CommitRecord> {
        let commit = info.object().ok()?;
        if info.parent_ids.len() > 1 {
            return Some(CommitRecord {
                id,
                subject: String::new(),
                paths: Vec::new(),
            });
        }
        let kind = self.repo.object_hash();
        let new = commit.tree().ok()?;
        let old = match info.parent_ids.first() {
            // The parent of the oldest commit of a shallow clone is absent: it says nothing then.
            Some(p) => match self.repo.find_commit(*p).ok().and_then(|c| c.tree().ok()) {
                Some(t) => t,
                None => {
                    return Some(CommitRecord {
                        id,
                        subject: String::new(),
                        paths: Vec::new(),
                    });
                }
            },
            None => self.repo.empty_tree(),
        };
        let mut recorder = Recorder::default();
        gix::diff::tree(
            gix::objs::TreeRefIter::from_bytes(&old.data, kind),
            gix::objs::TreeRefIter::from_bytes(&new.data, kind),
            state,
            &self.repo.objects,
            &mut recorder,
        )
        .ok()?;
        let mut paths = Vec::new();
        for change in &recorder.records {
            let (mode, path) = match change {
                Change::Addition {
                    entry_mode, path, ..
                }
                | Change::Deletion {
                    entry_mode, path, ..
                }
                | Change::Modification {
                    entry_mode, path, ..
                } => (entry_mode, path),
            };
            if mode.is_blob()
                && let Ok(path) = path.to_str()
                && let Some(path) = path.strip_prefix(self.prefix.as_str())
            {
                paths.push(path.to_owned());
            }
            if paths.len() > limits.files_per_commit_max {
                return Some(CommitRecord {
                    id,
                    subject: String::new(),
                    paths: Vec::new(),
                });
            }
        }
        paths.sort_unstable();
        let message = commit.message_raw_sloppy();
        let subject = message
            .lines()
            .next()
            .unwrap_or_default()
            .to_str_lossy()
            .into_owned();
        Some(CommitRecord { id, subject, paths })
    }
}

/// Refuses git directories (and `.git` files) of other users.
fn own(path: &Path) -> Result<(), Unavailable> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let meta = path
            .symlink_metadata()
            .map_err(|_| Unavailable::NoRepository)?;
        let me = std::fs::metadata("/proc/self").map(|m| m.uid());
        if me.is_ok_and(|me| me != meta.uid()) {
            return Err(Unavailable::Foreign(path.to_owned()));
        }
    }
    Ok(())
}

fn unreadable(e: &dyn std::fmt::Display) -> Unavailable {
    Unavailable::Unreadable(e.to_string())
}

//! Opens a repository that may be read, and looks up single objects in it.
//!
//! The repository is that of the workspace's root or of the nearest folder above it, as in git; a bare
//! repository in the tree is content, not history. Everything that the object store reads (the folder, the
//! common folder of a linked worktree, alternates at any depth) has to belong to the user.

use crate::{CommitId, Limits, Past, hex, walk};
use gix::objs::Kind;
use std::fs;
use std::path::Path;

/// Depth of alternates of alternates that are followed, as in git.
const ALTERNATES_DEPTH_MAX: usize = 5;
/// Bytes of decoded objects kept while reading; trees of neighbouring commits are nearly equal.
const OBJECT_CACHE_BYTES: usize = 16 << 20;

/// Bytes of an object, and of the objects needed to assemble it, that are read at most: an object declares
/// its own size, and may lie. A folder of a million files takes half of it.
const OBJECT_BYTES_MAX: usize = 64 << 20;

/// Reasons for which a workspace has no history. A state to report, not an error of indexing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// There is no `.git` at the root or above it.
    #[error("not a git repository")]
    NoRepository,
    /// The repository has no commit yet.
    #[error("the git repository has no commits")]
    NoCommits,
    /// A part of the repository belongs to another user.
    #[error("the git repository's {part} belongs to another user")]
    Foreign {
        /// The part.
        part: &'static str,
    },
    /// The repository is damaged or of a kind that is not supported.
    #[error("the git repository cannot be read: {reason}")]
    Unreadable {
        /// The cause, without absolute paths.
        reason: &'static str,
    },
}

/// An open repository, seen from a workspace at or below its work tree. Reading it never writes, locks or
/// spawns anything.
pub struct Repository {
    pub(crate) repo: gix::Repository,
    /// The folder of the workspace in the work tree: empty, or a path and a slash.
    pub(crate) prefix: String,
}

/// Outside of Unix the library's own check of ownership, enabled in [`Repository::open`], is used.
fn require_own(path: &Path, part: &'static str) -> Result<(), Unavailable> {
    let meta =
        fs::metadata(path).map_err(|_| Unavailable::Unreadable { reason: "a folder it names is missing" })?;
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::uid(&meta) != rustix::process::geteuid().as_raw() {
        return Err(Unavailable::Foreign { part });
    }
    #[cfg(not(unix))]
    let _ = (meta, part);
    Ok(())
}

fn check_alternates(objects: &Path, depth: usize) -> Result<(), Unavailable> {
    let Ok(list) = fs::read_to_string(objects.join("info/alternates")) else { return Ok(()) };
    if depth == 0 {
        return Err(Unavailable::Unreadable { reason: "its alternates are nested too deep" });
    }
    for line in list.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let alternate = objects.join(line);
        require_own(&alternate, "alternate object store")?;
        check_alternates(&alternate, depth - 1)?;
    }
    Ok(())
}

/// Bytes of a file of settings that is read before the repository is opened.
const SETTINGS_BYTES_MAX: u64 = 1 << 20;

/// Refuses formats that are not supported, by name: references in a table, and objects named by SHA-256.
fn check_format(dot_git: &Path) -> Result<(), Unavailable> {
    let file = dot_git.join("config");
    if !fs::metadata(&file).is_ok_and(|meta| meta.is_file() && meta.len() <= SETTINGS_BYTES_MAX) {
        return Ok(());
    }
    let Ok(config) = gix::config::File::from_path_no_includes(file, gix::config::Source::Local) else {
        return Ok(());
    };
    let is =
        |key: &str, value: &str| config.string(key).is_some_and(|v| v.eq_ignore_ascii_case(value.as_bytes()));
    if is("extensions.objectFormat", "sha256") {
        return Err(Unavailable::Unreadable { reason: "its objects are named by SHA-256" });
    }
    if is("extensions.refStorage", "reftable") {
        return Err(Unavailable::Unreadable { reason: "its references are kept as a reftable" });
    }
    Ok(())
}

/// Bytes of the list of commits at which a shallow clone ends.
const SHALLOW_BYTES_MAX: u64 = 16 << 20;

/// Refuses a list that is not one id a line: the library would stop at it in its own way.
fn check_shallow(file: &Path) -> Result<(), Unavailable> {
    let Ok(meta) = fs::metadata(file) else { return Ok(()) };
    let is_id = |line: &str| line.len() == 40 && line.bytes().all(|b| b.is_ascii_hexdigit());
    let is_list = |text: String| text.lines().all(is_id);
    let is_small = meta.is_file() && meta.len() <= SHALLOW_BYTES_MAX;
    if is_small && fs::read_to_string(file).is_ok_and(is_list) {
        return Ok(());
    }
    Err(Unavailable::Unreadable { reason: "its list of shallow commits is broken" })
}

impl Repository {
    /// Opens the repository whose work tree is at `root` or the nearest folder above it.
    ///
    /// # Errors
    /// [`Unavailable`]: no repository, one of another user, or one that cannot be read.
    pub fn open(root: &Path) -> Result<Self, Unavailable> {
        let root = root.canonicalize().map_err(|_| Unavailable::NoRepository)?;
        let has_git = |dir: &&Path| fs::symlink_metadata(dir.join(".git")).is_ok();
        let top = root.ancestors().find(has_git).ok_or(Unavailable::NoRepository)?;
        let below = root.strip_prefix(top).ok().and_then(Path::to_str).ok_or(Unavailable::NoRepository)?;
        let prefix = if below.is_empty() { String::new() } else { format!("{below}/") };
        let dot_git = top.join(".git");
        require_own(&dot_git, "git folder")?;
        check_format(&dot_git)?;
        let limit = format!("gitoxide.objects.allocLimit={OBJECT_BYTES_MAX}");
        let options = gix::open::Options::isolated()
            .strict_config(false)
            .bail_if_untrusted(true)
            .config_overrides([limit]);
        let mut repo = options
            .open(&dot_git)
            .map_err(|_| Unavailable::Unreadable { reason: "its folder or configuration is not understood" })?
            .to_thread_local();
        require_own(repo.git_dir(), "git folder")?;
        require_own(repo.common_dir(), "common folder")?;
        let objects = repo.common_dir().join("objects");
        require_own(&objects, "object store")?;
        check_shallow(&repo.common_dir().join("shallow"))?;
        check_alternates(&objects, ALTERNATES_DEPTH_MAX)?;
        repo.object_cache_size_if_unset(OBJECT_CACHE_BYTES);
        Ok(Self { repo, prefix })
    }

    /// Limits the cache of objects to `bytes`, instead of 16 MiB.
    #[must_use]
    pub fn with_cache(mut self, bytes: usize) -> Self {
        self.repo.object_cache_size(Some(bytes));
        self
    }

    /// The id in hexadecimal of the commit that HEAD names.
    ///
    /// # Errors
    /// [`Unavailable::NoCommits`] before the first commit, [`Unavailable::Unreadable`] for a broken
    /// reference.
    pub fn head(&self) -> Result<String, Unavailable> {
        self.head_id().map(|id| hex(&id))
    }

    fn head_id(&self) -> Result<CommitId, Unavailable> {
        let broken = || Unavailable::Unreadable { reason: "HEAD is broken" };
        if self.repo.head().map_err(|_| broken())?.is_unborn() {
            return Err(Unavailable::NoCommits);
        }
        raw(&self.repo.head_id().map_err(|_| broken())?)
    }

    /// Ids in hexadecimal of at most `n_max` commits reachable from HEAD, newest first; empty when HEAD names
    /// none.
    pub fn reachable(&self, n_max: usize) -> Vec<String> {
        let Ok(head) = self.head_id() else { return Vec::new() };
        walk::reachable(self, head, n_max).iter().map(|id| id.to_hex().to_string()).collect()
    }

    /// The URLs that the repository is fetched from, that of `origin` first.
    pub fn remotes(&self) -> Vec<String> {
        let config = self.repo.config_snapshot();
        let url = |name: &str| config.string(&format!("remote.{name}.url")).map(|url| url.to_string());
        let names: Vec<String> = self.repo.remote_names().iter().map(|name| name.to_string()).collect();
        let others = names.iter().map(String::as_str).filter(|name| *name != "origin");
        std::iter::once("origin").chain(others).filter_map(url).collect()
    }

    /// True if HEAD is on another branch than the default one of `origin`. Where that is not known, `main`,
    /// `master` and `trunk` are default branches. A HEAD on no branch is not on another one.
    pub fn is_on_side_branch(&self) -> bool {
        let Ok(Some(branch)) = self.repo.head_name() else { return false };
        let branch = branch.shorten().to_string();
        let origin = self.repo.try_find_reference("refs/remotes/origin/HEAD").ok().flatten();
        let target = origin.and_then(|head| Some(head.target().try_name()?.as_bstr().to_string()));
        match target.as_deref().and_then(|name| name.strip_prefix("refs/remotes/origin/")) {
            Some(default) => branch != default,
            None => !matches!(&*branch, "main" | "master" | "trunk"),
        }
    }

    /// The id of the blob at `path` (relative to the root) in the tree of a commit, given in hexadecimal;
    /// `None` if the commit does not exist or has no file there.
    pub fn blob(&self, commit: &str, path: &str) -> Option<CommitId> {
        let id = gix::hash::ObjectId::from_hex(commit.as_bytes()).ok()?;
        let tree = self.repo.find_commit(id).ok()?.tree().ok()?;
        let components = self.prefix.split_terminator('/').chain(path.split('/'));
        let entry = tree.lookup_entry(components.map(str::as_bytes)).ok()??;
        if entry.mode().is_blob() { raw(&entry.id()).ok() } else { None }
    }

    /// Returns true if these bytes are the content of `path` in a commit. Conversions (line ends, filters)
    /// are not applied, so a file that git would convert counts as different.
    pub fn holds(&self, commit: &str, path: &str, bytes: &[u8]) -> bool {
        self.blob(commit, path).is_some_and(|id| blob_id(bytes) == Some(id))
    }

    /// Reads the commits reachable from HEAD within `limits`.
    ///
    /// `known` saves the work for commits that it holds. The result is the same without it; if nothing
    /// changed, the walk costs next to nothing.
    ///
    /// # Errors
    /// As [`Repository::head`]; commits whose objects are missing end the walk instead, as the
    /// boundary of a shallow clone does.
    pub fn past(&self, limits: &Limits, known: Option<&Past>) -> Result<Past, Unavailable> {
        walk::read(self, self.head_id()?, limits, known)
    }

    /// Reads the commits reachable from `commit`, given in hexadecimal, as if HEAD named it.
    ///
    /// # Errors
    /// [`Unavailable::Unreadable`] when that is not an id.
    pub fn past_of(&self, commit: &str, limits: &Limits, known: Option<&Past>) -> Result<Past, Unavailable> {
        let id =
            commit_id(commit).ok_or(Unavailable::Unreadable { reason: "a commit id is not hexadecimal" })?;
        walk::read(self, id, limits, known)
    }
}

/// The id that hexadecimal digits name; `None` for anything but 40 of them.
pub fn commit_id(hex: &str) -> Option<CommitId> {
    raw(&gix::hash::ObjectId::from_hex(hex.as_bytes()).ok()?).ok()
}

/// The id that git gives to a file with these bytes.
pub fn blob_id(bytes: &[u8]) -> Option<CommitId> {
    let id = gix::objs::compute_hash(gix::hash::Kind::Sha1, Kind::Blob, bytes).ok()?;
    raw(&id).ok()
}

pub(crate) fn raw(id: &gix::hash::oid) -> Result<CommitId, Unavailable> {
    CommitId::try_from(id.as_bytes())
        .map_err(|_| Unavailable::Unreadable { reason: "its object format is not SHA-1" })
}

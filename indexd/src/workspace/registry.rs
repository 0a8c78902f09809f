//! The workspaces of one user: which roots are registered, and which root a folder belongs to.

use super::handle::Workspace;
use super::indexing::contents::ContentCache;
use super::indexing::engine::Setup;
use super::indexing::parked::Bases;
use super::indexing::pulled::Pulls;
use super::indexing::recovery::{self, Verify, write_whole};
use super::indexing::siblings::Sharing;
use super::indexing::stages::Parts;
use super::life::collect::{Collect, describe, unused_for};
use super::life::driver::WorkspaceSetup;
use super::life::memory::{Pressure, Workspaces};
use super::noticing::watch;
use super::status::WorkspaceError;
use crate::config::Config;
use indexd_proto::paths::{Dirs, METADATA, is_project, is_repository, private_dir, repository_around};
use indexd_proto::workspace::{Collected, WorkspaceStatus};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Files that make a folder a project where there is no version control.
const MANIFESTS: [&str; 8] = [
    "go.mod",
    "go.work",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "Cargo.toml",
    "package.json",
    "requirements.txt",
];
/// The registered roots, one a line, in the state folder, as the bytes that the system has. Roots with a
/// line feed are not kept.
const LIST: &str = "workspaces";
/// The folder of the records of packs, in the state folder; in it one [`folder_name`] for each workspace.
pub const RECORDS: &str = "packs";

/// All workspaces of one user.
pub struct Registry {
    dirs: Dirs,
    config: Arc<Config>,
    open: Arc<Workspaces>,
    pressure: Pressure,
    sharing: Option<Arc<Sharing>>,
}

/// Ignores everything in a folder of ours, as tools do with their caches. Otherwise a workspace that contains
/// it, as a home folder does, would index its own index, and each commit would be an edit.
fn leave_out(dir: &Path) -> std::io::Result<()> {
    let path = dir.join(".gitignore");
    if path.exists() { Ok(()) } else { fs::write(path, "*\n") }
}

impl Registry {
    /// Reads the registered roots; nothing is opened until it is asked for.
    ///
    /// # Errors
    /// The state or cache folder cannot be made or read.
    pub fn open(dirs: &Dirs, config: Arc<Config>) -> Result<Self, WorkspaceError> {
        for dir in [&dirs.state, &dirs.cache] {
            private_dir(dir, indexd_os::own_uid()).map_err(|e| io_error("make", dir, e))?;
            leave_out(dir).map_err(|e| io_error("make", dir, e))?;
        }
        let open = Arc::<Workspaces>::default();
        let pressure = Pressure::keep_below(config.daemon_memory_mb << 20, Arc::downgrade(&open));
        let contents = dirs.cache.join(CONTENTS_FOLDER);
        let contents = ContentCache::new(contents, SHARED_BYTES_MAX, unused_for(&config));
        let bases = dirs.cache.join(BASES_FOLDER);
        recovery::remove_foreign(&bases, indexd_os::own_uid());
        let sharing = config.index_share.then(|| Arc::new(Sharing::new(contents, Bases::new(bases))));
        let registry = Self { dirs: dirs.clone(), config, open, pressure, sharing };
        let mut open = registry.lock();
        for root in registered(&registry.dirs.state.join(LIST), |root| registry.home(root).exists()) {
            let workspace = registry.make(&root);
            open.insert(root, workspace);
        }
        drop(open);
        Ok(registry)
    }

    /// Registers exactly this root and starts building or catching up in the background. The first build
    /// waits for a published index if the client may fetch one.
    ///
    /// # Errors
    /// `NotFound`, `Permission`, `TooBroad` for `/`, `Odd` for `/proc` and similar, `Io` when the list cannot
    /// be written.
    pub fn add(&self, root: &Path, client_pulls: bool) -> Result<Arc<Workspace>, WorkspaceError> {
        let root = canonical(root)?;
        if root.parent().is_none() {
            return Err(WorkspaceError::TooBroad(root));
        }
        if let Some(why) = self.oddness(&root) {
            return Err(WorkspaceError::Odd { path: root, why });
        }
        let mut open = self.lock();
        let workspace = match open.get(&root) {
            Some(workspace) => Arc::clone(workspace),
            None => {
                fs::read_dir(&root).map_err(|e| io_error("read", &root, e))?;
                let workspace = self.make(&root);
                open.insert(root, Arc::clone(&workspace));
                self.save(&open)?;
                workspace
            }
        };
        drop(open);
        if let Some(pulls) = self.pulls().filter(|_| client_pulls && !self.config.share_url.is_empty()) {
            pulls.expect(&self.home(workspace.root()));
        }
        workspace.start()?;
        Ok(workspace)
    }

    /// Returns the reason why a folder cannot be a repository: its files are made up by the system, or are
    /// our own.
    fn oddness(&self, root: &Path) -> Option<&'static str> {
        let own = [&self.dirs.cache, &self.dirs.state, &self.dirs.runtime];
        let is_own = |dir: &&PathBuf| fs::canonicalize(dir).is_ok_and(|dir| root.starts_with(dir));
        if own.iter().any(is_own) {
            return Some("it holds the files of indexd itself");
        }
        let is_inside = |dir: &Path| {
            dir.file_name().is_some_and(|name| METADATA.iter().any(|m| name == *m))
                || (!is_repository(dir) && super::tree::rules::is_bare(|name| dir.join(name).exists()))
        };
        if root.ancestors().any(is_inside) {
            return Some("it holds what a version control keeps, and not the files of a repository");
        }
        let is_device = root.starts_with("/dev") && !root.starts_with("/dev/shm");
        (is_device || indexd_os::is_kernel_file_system(root))
            .then_some("its files are made up by the system and are not those of a repository")
    }

    /// The workspace of a folder, registered when it is new and looks like a project, or is named exactly;
    /// see [`Registry::locate`].
    ///
    /// # Errors
    /// As [`Registry::locate`] and [`Registry::add`]; `Unmarked`.
    pub fn resolve(
        &self,
        cwd: &Path,
        exact: bool,
        client_pulls: bool,
    ) -> Result<Arc<Workspace>, WorkspaceError> {
        let root = self.locate(cwd, exact)?;
        if !exact && !is_project(&root) && !self.lock().contains_key(&root) {
            return Err(WorkspaceError::Unmarked(root));
        }
        self.add(&root, client_pulls)
    }

    /// Published indexes on their way; none when indexes share nothing.
    pub fn pulls(&self) -> Option<&Pulls> {
        self.sharing.as_ref().map(|sharing| &sharing.pulls)
    }

    /// A folder for published indexes on their way.
    pub fn pulled_folder(&self) -> PathBuf {
        self.dirs.cache.join(PULLED_FOLDER)
    }

    /// Returns the root of the workspace that a folder belongs to.
    ///
    /// The root is the nearest folder from there upwards that is registered or the top of a repository, else
    /// the topmost one with a manifest, else the folder itself; never `/` nor the home folder. With `exact`
    /// the folder itself is the root, unless it is a part of a repository: asking about a part does not split
    /// it. [`Registry::add`] does.
    ///
    /// # Errors
    /// `NotFound`, `Permission`; `TooBroad` when nothing but `/` or the home folder is left.
    pub fn locate(&self, cwd: &Path, exact: bool) -> Result<PathBuf, WorkspaceError> {
        let cwd = canonical(cwd)?;
        let home = fs::canonicalize(&self.dirs.home).unwrap_or_else(|_| self.dirs.home.clone());
        let open = self.lock();
        let is_part = || repository_around(&cwd).is_some_and(|top| top != home && top.parent().is_some());
        if exact && (open.contains_key(&cwd) || !is_part()) {
            return Ok(cwd);
        }
        root_of(&cwd, &home, |dir| open.contains_key(dir)).ok_or(WorkspaceError::TooBroad(cwd))
    }

    /// Every registered workspace, ordered by root.
    pub fn list(&self) -> Vec<WorkspaceStatus> {
        self.all().iter().map(|w| w.status()).collect()
    }

    /// The root of the one workspace of this name; none also when several have it.
    pub fn root_named(&self, repo_id: &str) -> Option<PathBuf> {
        let all = self.all();
        let mut named = all.iter().filter(|w| w.repo_id() == repo_id);
        let root = named.next()?.root().to_owned();
        named.next().is_none().then_some(root)
    }

    /// Forgets a workspace and deletes its index and its records of packs; the tree is not touched.
    ///
    /// # Errors
    /// `Unknown` when the root is not registered, `Io` when the list or the index cannot be written.
    pub fn remove(&self, root: &Path) -> Result<(), WorkspaceError> {
        // The root may be gone, so that there is nothing to canonicalise.
        let root = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        let workspace = {
            let mut open = self.lock();
            let workspace = open.remove(&root).ok_or_else(|| WorkspaceError::Unknown(root.clone()))?;
            self.save(&open)?;
            workspace
        };
        workspace.close(true);
        self.pulls().into_iter().for_each(|pulls| pulls.forget(&self.home(&root)));
        let records = self.dirs.state.join(RECORDS).join(folder_name(&root));
        for dir in [self.home(&root), self.cookies(&root), records] {
            if let Err(e) = fs::remove_dir_all(&dir)
                && e.kind() != ErrorKind::NotFound
            {
                return Err(io_error("remove", &dir, e));
            }
        }
        self.collect_bases();
        Ok(())
    }

    /// Removes the indexes that `collect` selects, or with `is_dry` only lists them; sorted by folder.
    /// Indexes that are open and were asked for stay.
    pub fn gc(&self, collect: Collect, is_dry: bool) -> Vec<Collected> {
        let now = SystemTime::now();
        let known: BTreeMap<String, Arc<Workspace>> =
            self.all().into_iter().map(|w| (folder_name(w.root()), w)).collect();
        let mut found = Vec::new();
        for home in fs::read_dir(self.dirs.cache.join(FORMAT_FOLDER)).into_iter().flatten().flatten() {
            let home = home.path();
            let name = home.file_name().and_then(|name| name.to_str());
            let workspace = name.and_then(|name| known.get(name));
            let root = workspace.map(|w| w.root());
            if workspace.is_some_and(|w| w.asked_at().is_some() && w.root().exists()) {
                continue;
            }
            let Some(reason) = collect.reason(&home, root, now) else { continue };
            let collected = describe(&home, root, reason);
            let remove = || match root {
                Some(root) => self.remove(root).inspect_err(|e| tracing::warn!(error = %e, "stays")).is_ok(),
                None => fs::remove_dir_all(&home).is_ok(),
            };
            if is_dry || remove() {
                found.push(collected);
            }
        }
        self.sharing.iter().filter(|_| !is_dry).for_each(|sharing| sharing.contents.collect());
        if !is_dry {
            self.collect_bases();
        }
        found.sort_by(|a, b| a.index.cmp(&b.index));
        found
    }

    /// Removes the bases whose parked indexes are gone.
    fn collect_bases(&self) {
        let homes = self.dirs.cache.join(FORMAT_FOLDER);
        self.sharing.iter().for_each(|sharing| sharing.bases.collect(&homes));
    }

    /// Closes every index cleanly. Later calls answer `Closed`.
    pub fn shutdown(&self) {
        self.sharing.iter().for_each(|sharing| sharing.bases.limit(PARKED_AT_END_BYTES));
        // Closing syncs; doing all at once costs one wait for the disk instead of many.
        std::thread::scope(|s| {
            for workspace in self.all() {
                s.spawn(move || workspace.close(true));
            }
        });
    }

    fn make(&self, root: &Path) -> Arc<Workspace> {
        let program = std::env::current_exe();
        let is_daemon = program.as_deref().is_ok_and(|p| p.file_stem().is_some_and(|n| n == "indexd"));
        let verify = match program {
            // This very program, though its file may have been replaced by another version since.
            Ok(_) if is_daemon && cfg!(target_os = "linux") => Verify::Child("/proc/self/exe".into()),
            Ok(program) if is_daemon => Verify::Child(program),
            _ => Verify::InProcess,
        };
        Arc::new(Workspace::new(WorkspaceSetup {
            engine: Setup {
                root: root.to_owned(),
                home: self.home(root),
                config: Arc::clone(&self.config),
                verify,
                parts: Parts::default(),
                sharing: self.sharing.clone(),
            },
            cookies: self.cookies(root),
            watch: watch::system,
            pressure: self.pressure.clone(),
        }))
    }

    /// `<name>-<hash of the root>`: readable, and apart for roots of equal name.
    pub fn home(&self, root: &Path) -> PathBuf {
        self.dirs.cache.join(FORMAT_FOLDER).join(folder_name(root))
    }

    fn cookies(&self, root: &Path) -> PathBuf {
        self.dirs.state.join("cookies").join(folder_name(root))
    }

    fn save(&self, open: &BTreeMap<PathBuf, Arc<Workspace>>) -> Result<(), WorkspaceError> {
        let path = self.dirs.state.join(LIST);
        let roots = open.keys().map(|root| root.as_os_str().as_encoded_bytes());
        let lines = roots.filter(|root| !root.contains(&b'\n')).flat_map(|root| [root, b"\n"]);
        let mut list: Vec<u8> = lines.flatten().copied().collect();
        let sum = blake3::hash(&list).to_hex();
        list.extend_from_slice(format!("{SUM}{sum}\n").as_bytes());
        write_whole(&path, &list).map_err(|e| io_error("write", &path, e))
    }

    /// All workspaces, ordered by root.
    fn all(&self) -> Vec<Arc<Workspace>> {
        self.lock().values().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Arc<Workspace>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Indexes of another layout are in another folder, so that two versions do not conflict.
const FORMAT_FOLDER: &str = "v1";

/// Name of the folder for published indexes on their way, in the cache folder.
const PULLED_FOLDER: &str = "share";

/// Name of the folder for the bases of parked indexes, in the cache folder.
const BASES_FOLDER: &str = "bases";

/// Bytes of indexes that are parked when the daemon ends; the others are closed. 40 of 7 MB took 3 s in a
/// program of the development profile on a busy machine.
const PARKED_AT_END_BYTES: u64 = 512 << 20;

/// Holds the facts of contents that left an index, in the cache folder.
const CONTENTS_FOLDER: &str = "contents";

/// Bytes on disk, for all repositories together, of facts kept for contents that left an index. 513
/// checkouts far apart in three repositories took less than 40 MB.
const SHARED_BYTES_MAX: u64 = 64 << 20;

/// The folder that a workspace has among others: its name and a hash of its root.
pub fn folder_name(root: &Path) -> String {
    let name = root.file_name().map(|n| n.to_string_lossy()).unwrap_or_default();
    let plain: String =
        name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')).take(40).collect();
    let hash = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
    format!("{}-{}", plain.trim_start_matches('.'), &hash[..16])
}

/// Returns the roots in a list. Of a damaged list, only the roots that `has_index` accepts are kept: a
/// truncated root is a folder above the real one, to which everything in it would belong. A list that cannot
/// be read is moved aside. A root that is left out is registered again when it is asked for.
fn registered(list: &Path, has_index: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let bytes = match fs::read(list) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == ErrorKind::NotFound => return Vec::new(),
        Err(e) => {
            tracing::warn!(error = %e, path = %list.display(), "the list of workspaces is moved aside");
            if let Err(e) = fs::rename(list, list.with_extension("damaged")) {
                tracing::warn!(error = %e, "it cannot be moved");
            }
            return Vec::new();
        }
    };
    let sum_at = bytes.len().saturating_sub(SUM.len() + 2 * blake3::OUT_LEN + 1);
    let (roots, sum) = bytes.split_at(sum_at);
    let is_whole = sum == format!("{SUM}{}\n", blake3::hash(roots).to_hex()).as_bytes();
    let lines = bytes.split(|b| *b == b'\n').filter(|line| !line.contains(&0)).map(path_of);
    lines.filter(|root| root.is_absolute() && (is_whole || has_index(root))).collect()
}

/// Start of the last line of the list; the hash of all lines before it follows.
const SUM: &str = "sum ";

/// The path with these bytes.
#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(bytes).into()
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// The root that a folder belongs to; see [`Registry::locate`].
fn root_of(cwd: &Path, home: &Path, is_registered: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let allowed = |dir: &&Path| dir.parent().is_some() && *dir != home;
    let registered = cwd.ancestors().find(|d| is_registered(d));
    let nearest = registered.max(repository_around(cwd).filter(allowed));
    let is_project = |dir: &&Path| MANIFESTS.iter().any(|n| dir.join(n).symlink_metadata().is_ok());
    // Below the home folder everything is the user's own; elsewhere a stray manifest may belong to anyone.
    let mut own = cwd.ancestors().take_while(|dir| allowed(dir));
    let project = || match cwd.starts_with(home) {
        true => own.filter(is_project).last(),
        false => own.find(is_project),
    };
    nearest.or_else(project).or_else(|| Some(cwd).filter(allowed)).map(Path::to_owned)
}

fn canonical(dir: &Path) -> Result<PathBuf, WorkspaceError> {
    let path = fs::canonicalize(dir).map_err(|e| io_error("open", dir, e))?;
    if path.is_dir() { Ok(path) } else { Err(WorkspaceError::NotFound(path)) }
}

fn io_error(what: &'static str, path: &Path, source: std::io::Error) -> WorkspaceError {
    let path = path.to_owned();
    match source.kind() {
        // An invalid or too long name is not a folder either.
        ErrorKind::NotFound
        | ErrorKind::NotADirectory
        | ErrorKind::InvalidInput
        | ErrorKind::InvalidFilename => WorkspaceError::NotFound(path),
        ErrorKind::PermissionDenied => WorkspaceError::Permission { path, source },
        _ => WorkspaceError::Io { what, path, source },
    }
}

#[cfg(test)]
mod tests;

//! The program `ctl-share`: indexes in an object store. The daemon gives and takes local files; what talks to
//! the store is here, with the credentials of the user.

use crate::{Found, Keep, Patience, Remote, ShareError};
use ctlclient::cli::Common;
use ctlclient::commands::share::{ShareArgs, ShareCommand};
use ctlclient::commands::{Target, print_own};
use ctlclient::failure::Failure;
use ctlclient::progress::Progress;
use ctlclient::session::{Session, Start};
use ctlclient::style::{bytes, count, number, safe_line};
use indexd_proto::error::ErrorCode;
use indexd_proto::printed::{SharePull, ShareStatus};
use indexd_proto::rpc::ProgressParams;
use indexd_proto::share::{
    BeginParams, BeginResult, DescribeParams, ShareExportParams, ShareExportResult, Tree,
};
use indexd_proto::workspace::{Phase, State, StatusParams, StatusResult};
use indexd_proto::{Id, Method};
use std::cell::{Cell, RefCell};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// Age at which unfinished files are removed.
const LEFT_BEHIND: Duration = Duration::from_secs(86_400);
/// Interval at which a fetch checks that the index is still wanted.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Runs the command.
///
/// # Errors
/// Those of the store and of the daemon.
pub fn share(common: &Common, args: &ShareArgs) -> Result<(), Failure> {
    match &args.command {
        ShareCommand::Push(store) => push(common, store.url.as_deref()),
        ShareCommand::Pull { store, first: false } => pull(common, store.url.as_deref()),
        ShareCommand::Pull { first: true, .. } => first_pull(common),
        ShareCommand::Status(store) => status(common, store.url.as_deref()),
        ShareCommand::Gc { store, keep_days, keep_count, dry_run } => {
            let keep = Keep { days: *keep_days, count: *keep_count };
            gc(common, store.url.as_deref(), keep, *dry_run)
        }
    }
}

/// A repository, the way to its daemon, and a store.
struct Here {
    session: Session,
    tree: Tree,
    remote: Remote,
    runtime: tokio::runtime::Runtime,
}

impl Here {
    fn of(common: &Common, url: Option<&str>, patience: Patience) -> Result<Self, Failure> {
        let mut session = Session::open(common)?.without_pulls();
        let tree = describe(common, &mut session)?;
        let url = url.unwrap_or(&tree.url);
        if url.is_empty() {
            let message = "no store is named";
            return Err(Failure::hinted(
                ErrorCode::InvalidRequest,
                message,
                "give a URL, or set share.url in config.toml of your configuration (`ctl doctor` names its folder)",
            ));
        }
        let remote = Remote::open(url, patience)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { session, tree, remote, runtime })
    }

    fn nearest(&self) -> Result<Option<Found>, ShareError> {
        self.runtime.block_on(crate::nearest(&self.remote, &self.tree))
    }
}

fn describe(common: &Common, session: &mut Session) -> Result<Tree, Failure> {
    let target = Target::of(common)?;
    let params = DescribeParams { repo: target.repo, cwd: target.cwd };
    session.ask(Method::ShareDescribe, &params)
}

/// A bar for bytes on their way, and whether to go on.
fn watch(phase: Phase, progress: Progress, goes_on: &dyn Fn() -> bool) -> impl Fn(u64, u64) -> bool {
    let progress = RefCell::new(progress);
    move |done, total| {
        let params = ProgressParams { id: Id::Number(0), phase, done, total };
        progress.borrow_mut().show(&params);
        goes_on()
    }
}

/// A folder that goes with its files, unless it is left for the next try.
struct Folder {
    path: PathBuf,
    stays: bool,
    _lock: File,
}

impl Folder {
    fn new(path: PathBuf) -> Result<Self, ShareError> {
        let local = |source| ShareError::Local { path: path.clone(), source };
        fs::create_dir_all(&path).map_err(local)?;
        let lock = File::create(path.join("lock")).map_err(local)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.clone(), stays: false, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(ShareError::Busy),
            Err(TryLockError::Error(e)) => Err(local(e)),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.stays {
            // A folder that remains is removed after a day.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Removes what processes that were ended have left behind.
fn sweep(folder: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let at = entry.metadata().and_then(|meta| meta.modified());
        let age = at.map(|at| SystemTime::now().duration_since(at).unwrap_or_default());
        if age.is_ok_and(|age| age >= LEFT_BEHIND) {
            let path = entry.path();
            let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}

fn push(common: &Common, url: Option<&str>) -> Result<(), Failure> {
    let mut here = Here::of(common, url, Patience::Asked)?;
    here.remote.check_writable()?;
    sweep(&here.tree.folder);
    let target = Target::of(common)?;
    let folder = Folder::new(Path::new(&here.tree.folder).join(format!("push-{}", std::process::id())))?;
    let mut layers = here.runtime.block_on(crate::base(&here.remote, &here.tree, &folder.path))?;
    let params = ShareExportParams {
        repo: target.repo,
        cwd: target.cwd,
        folder: folder.path.display().to_string(),
        layers: layers.clone(),
        wait: None,
        progress: here.session.wants_progress(),
    };
    let rows: ShareExportResult = here.session.ask(Method::ShareExport, &params)?;
    if !rows.is_above {
        layers.clear();
    }
    layers.extend((!rows.pieces.is_empty()).then_some(rows.pieces));
    let pushed = {
        let watch = watch(Phase::Write, Progress::new(common.quiet), &|| true);
        let pushing = crate::push(&here.remote, &here.tree, layers, rows.is_above, &folder.path, &watch);
        here.runtime.block_on(pushing)?
    };
    print_own(common, "SharePush", &pushed, |pushed, _| {
        let (put, all) = (bytes(pushed.bytes_put), bytes(pushed.bytes_pulled));
        let name = pushed.commit.as_deref().map_or("the tree", |commit| &commit[..12.min(commit.len())]);
        format!("published {name} at {}: {put} sent, {all} in all\n", safe_line(&pushed.url))
    })
}

fn pull(common: &Common, url: Option<&str>) -> Result<(), Failure> {
    let mut here = Here::of(common, url, Patience::Asked)?;
    let pulled = if here.tree.is_indexed {
        unpulled(&here, "there is an index already".to_owned(), None)
    } else {
        fetch_and_begin(&mut here, Progress::new(common.quiet), &|| true)?
    };
    print_own(common, "SharePull", &pulled, |pulled, _| pulled_text(pulled))?;
    if pulled.by.is_empty() && !here.tree.is_indexed { Err(Failure::NoResult) } else { Ok(()) }
}

fn pulled_text(pulled: &SharePull) -> String {
    if !pulled.begun {
        return format!("{}: nothing was begun: {}\n", safe_line(&pulled.root), safe_line(&pulled.reason));
    }
    let of = pulled.commit.as_deref().map_or("a similar tree", |commit| &commit[..12.min(commit.len())]);
    let (all, apart) = (count(pulled.n_files, "file", "files"), number(pulled.n_extracted));
    format!(
        "{}: {all}, begun with the index of {of} ({}); {apart} differ\n",
        safe_line(&pulled.root),
        pulled.by
    )
}

fn unpulled(here: &Here, reason: String, found: Option<&Found>) -> SharePull {
    SharePull {
        url: here.remote.url().to_owned(),
        root: here.tree.root.clone(),
        begun: false,
        reason,
        by: found.map(|found| found.by.to_owned()).unwrap_or_default(),
        commit: found.and_then(|found| found.state.commit.clone()),
        bytes: found.map_or(0, |found| found.state.stored()),
        n_files: 0,
        n_extracted: 0,
    }
}

/// Fetches the nearest published index and has the daemon begin with it.
fn fetch_and_begin(
    here: &mut Here,
    progress: Progress,
    goes_on: &dyn Fn() -> bool,
) -> Result<SharePull, Failure> {
    sweep(&here.tree.folder);
    let Some(found) = here.nearest()? else {
        return Ok(unpulled(here, "nothing that is near is published".to_owned(), None));
    };
    let wants_progress = progress.is_wanted();
    let mut folder = Folder::new(Path::new(&here.tree.folder).join(&found.state.sum()[..32]))?;
    {
        let watch = watch(Phase::Pull, progress, goes_on);
        let recipe = &here.tree.recipe;
        let fetching = crate::fetch(&here.remote, recipe, &found.state, &folder.path, &watch);
        let fetched = here.runtime.block_on(fetching);
        // The fetched pieces are kept for the next try, unless the disk is full.
        folder.stays = matches!(fetched, Err(ShareError::Unreachable(_) | ShareError::Denied(_)));
        fetched?;
    }
    let params = BeginParams {
        repo: Some(here.tree.root.clone()),
        folder: Some(folder.path.display().to_string()),
        layers: found.state.layers.clone(),
        progress: wants_progress,
        ..BeginParams::default()
    };
    let begun: BeginResult = here.session.ask(Method::ShareBegin, &params)?;
    let pulled = unpulled(here, begun.reason, Some(&found));
    Ok(SharePull { begun: begun.begun, n_files: begun.n_files, n_extracted: begun.n_extracted, ..pulled })
}

/// Fetches for a first index that waits. Whatever happens, the daemon hears of it and builds; the user
/// reads why.
fn first_pull(common: &Common) -> Result<(), Failure> {
    let reason = match try_first_pull(common) {
        Ok(pulled) if pulled.begun => return Ok(()),
        // Another one has come first, or nothing was published: that is as it should be.
        Ok(pulled) => pulled.reason,
        Err(Failure::Error(e)) => {
            if !common.quiet && e.data.code != ErrorCode::Cancelled {
                eprintln!("ctl: the index is built without a published one: {}", safe_line(&e.message));
            }
            e.message
        }
        Err(failure) => return Err(failure),
    };
    let params =
        BeginParams { repo: Target::of(common)?.repo, reason: Some(reason), ..BeginParams::default() };
    let mut session = Session::connect(common, Start::Never)?.without_pulls();
    session.ask::<_, BeginResult>(Method::ShareBegin, &params).map(drop)
}

fn try_first_pull(common: &Common) -> Result<SharePull, Failure> {
    let mut here = Here::of(common, None, Patience::Short)?;
    if here.tree.is_indexed {
        return Ok(unpulled(&here, "there is an index already".to_owned(), None));
    }
    let (root, looked) = (here.tree.root.clone(), Cell::new(Instant::now()));
    let goes_on = || {
        let is_due = looked.get().elapsed() >= LOOK_INTERVAL;
        if is_due {
            looked.set(Instant::now());
        }
        !is_due || is_wanted(common, &root)
    };
    // The client that waits shows how far the daemon has come.
    fetch_and_begin(&mut here, Progress::new(true), &goes_on)
}

/// True if the first index of a root is still to be built.
fn is_wanted(common: &Common, root: &str) -> bool {
    let ask = || {
        let mut session = Session::connect(common, Start::Never)?.without_pulls();
        session.ask::<_, StatusResult>(Method::Status, &StatusParams {})
    };
    let is_unbuilt = |state| matches!(state, State::Building | State::Closed);
    ask().is_ok_and(|status| status.workspaces.iter().any(|w| w.root == root && is_unbuilt(w.state)))
}

fn status(common: &Common, url: Option<&str>) -> Result<(), Failure> {
    let here = Here::of(common, url, Patience::Short)?;
    let found = here.nearest()?;
    let mut all = Vec::new();
    for repository in &here.tree.repositories {
        let published = crate::published(&here.remote, &here.tree, repository);
        all.extend(here.runtime.block_on(published)?);
    }
    let of = |found: &Found| (found.state.commit.clone(), found.state.stored(), n_apart(&here.tree, found));
    let (commit, bytes_pulled, n_apart) = found.as_ref().map(of).unwrap_or_default();
    let status = ShareStatus {
        url: here.remote.url().to_owned(),
        root: here.tree.root.clone(),
        n_states: all.len() as u64,
        newest_at: all.iter().map(|(_, at)| *at).max(),
        by: found.map(|found| found.by.to_owned()).unwrap_or_default(),
        commit,
        bytes_pulled,
        n_apart,
    };
    print_own(common, "ShareStatus", &status, |status, _| {
        let nearest = match (&*status.by, &status.commit) {
            ("", _) => "nothing that is near is published".to_owned(),
            (by, commit) => format!(
                "nearest: {} ({by}), {} to pull, about {} files differ",
                commit.as_deref().unwrap_or("a similar tree"),
                bytes(status.bytes_pulled),
                number(status.n_apart)
            ),
        };
        format!("{}: {}\n{nearest}\n", safe_line(&status.url), count(status.n_states, "state", "states"))
    })
}

fn n_apart(tree: &Tree, found: &Found) -> u64 {
    let other = &found.state.sketch;
    tree.sketch.n_files.max(other.n_files).saturating_sub(tree.sketch.n_common(other))
}

fn gc(common: &Common, url: Option<&str>, keep: Keep, dry_run: bool) -> Result<(), Failure> {
    let here = Here::of(common, url, Patience::Asked)?;
    let done = here.runtime.block_on(crate::gc(&here.remote, keep, dry_run))?;
    print_own(common, "ShareGc", &done, |done, _| {
        let would = if dry_run { "would be " } else { "" };
        format!(
            "{}: {} stay, {} {would}put aside, {} ({}) {would}removed\n",
            safe_line(&done.url),
            count(done.n_kept, "state", "states"),
            number(done.n_expired),
            count(done.n_removed, "object", "objects"),
            bytes(done.bytes_removed)
        )
    })
}

impl From<ShareError> for Failure {
    fn from(e: ShareError) -> Self {
        let (code, hint) = match &e {
            ShareError::Url(_) => (ErrorCode::InvalidRequest, "see `ctl share --help` for URLs"),
            ShareError::ReadOnly(_) => (ErrorCode::InvalidRequest, "push to the bucket behind it"),
            ShareError::Unreachable(_) => (ErrorCode::StoreUnavailable, ErrorCode::StoreUnavailable.hint()),
            ShareError::Denied(_) => (
                ErrorCode::PermissionDenied,
                "set the variables of your store: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, GOOGLE_APPLICATION_CREDENTIALS, or AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY; temporary ones expire",
            ),
            ShareError::Damaged(_) => {
                (ErrorCode::ImportInvalid, "push the index again; until then it is built from the tree")
            }
            ShareError::Local { .. } => (ErrorCode::Storage, ErrorCode::Storage.hint()),
            ShareError::Busy => (ErrorCode::Busy, ErrorCode::Busy.hint()),
            ShareError::Stopped => (ErrorCode::Cancelled, ErrorCode::Cancelled.hint()),
        };
        Self::hinted(code, e.to_string(), hint)
    }
}

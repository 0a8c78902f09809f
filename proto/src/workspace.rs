//! Workspaces: which repository a request is about, waiting for its index, and status.

use crate::answer::answer;
use crate::overlay::OverlayFacts;
use indexd_api::JsonSchema;
use indexd_api::{kinds, params};
use serde::{Deserialize, Serialize};

/// What an answer requires of the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WaitMode {
    /// Wait until every change saved before the request is in; answer `fresh: false` when the time
    /// is over.
    #[default]
    Best,
    /// The same, and an error when the time is over.
    Strict,
    /// Answer at once from what is there.
    Stale,
}

kinds! {
    /// How it is known that an index holds every save.
    How {
        /// It is not known.
        #[default]
        None = "none",
        /// The system's queue of changes was read to its end.
        Queue = "queue",
        /// A file made after the request was noticed.
        Cookie = "cookie",
        /// The tree was compared.
        Scan = "scan",
    }

    /// How changes are noticed.
    Watch {
        /// Each request compares the tree.
        #[default]
        Scan = "scan",
        /// Each folder is watched.
        Events = "events",
        /// Some folders are not watched, so each request compares the tree.
        Degraded = "degraded",
    }

    /// Where a workspace is in its life.
    State {
        /// Its index is not open; the next request opens it.
        #[default]
        Closed = "closed",
        /// The first build is under way.
        Building = "building",
        /// It answers and follows the tree.
        Ready = "ready",
        /// It answers from the old index while a new one is built.
        Rebuilding = "rebuilding",
        /// It cannot go on.
        Failed = "failed",
    }

    /// Why a workspace cannot go on.
    FailureCode {
        /// The disk of the index is full.
        DiskFull = "disk-full",
        /// The root or a folder of it is gone.
        RootGone = "root-gone",
        /// The system refuses access.
        Permission = "permission",
        /// The index was damaged again and again.
        Corrupt = "corrupt",
        /// A setting is refused.
        Config = "config",
        /// A fault of the daemon, or what has no other code.
        #[default]
        Internal = "internal",
    }

    /// A part of the work on an index.
    Phase {
        /// The tree is listed.
        #[default]
        Scan = "scan",
        /// A published index is waited for or read.
        Pull = "pull",
        /// Files are read and parsed.
        Parse = "parse",
        /// Vocabularies are merged.
        Seal = "seal",
        /// Uses are resolved.
        Link = "link",
        /// Rows are written.
        Write = "write",
    }

    /// A kind of problem that does not keep a workspace from answering.
    Problem {
        /// The repository's settings are refused.
        #[default]
        Settings = "settings",
        /// Some files or folders may not be read.
        Unreadable = "unreadable",
        /// The file system does not report changes.
        RemoteFileSystem = "remote-file-system",
        /// The system has no watcher.
        NoWatcher = "no-watcher",
        /// The limit on watched folders is reached.
        WatchLimit = "watch-limit",
        /// Some folders cannot be watched for another reason.
        Unwatchable = "unwatchable",
        /// The index was damaged and rebuilt.
        Rebuilt = "rebuilt",
        /// A rule leaves every file out.
        AllIgnored = "all-ignored",
    }

    /// Why an index is removed.
    Reason {
        /// Its repository is gone.
        #[default]
        Gone = "gone",
        /// Nobody asked for it in a long time.
        Unused = "unused",
        /// It belongs to no registered repository.
        Unregistered = "unregistered",
    }
}

impl Problem {
    /// Returns true if the problem keeps changes from being noticed, so that requests compare the tree.
    pub fn is_of_watching(self) -> bool {
        matches!(self, Self::RemoteFileSystem | Self::NoWatcher | Self::WatchLimit | Self::Unwatchable)
    }

    /// The command that solves it, which its sentence ends with behind a colon.
    pub fn command(self) -> Option<&'static str> {
        match self {
            Self::NoWatcher => Some("sudo sysctl fs.inotify.max_user_instances=512"),
            Self::WatchLimit => Some("sudo sysctl fs.inotify.max_user_watches=524288"),
            _ => None,
        }
    }
}

/// How long to wait, and for what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Wait {
    /// What is required.
    pub mode: WaitMode,
    /// Milliseconds for saves to be seen. Default 2,000, at most 3,600,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Milliseconds for a first build. Default 3,600,000; 0 does not wait: the answer is
    /// `POC_E_INDEXING` while there is no index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_timeout_ms: Option<u64>,
}

/// How well the index followed the tree when an answer was computed. It stands beside the answer,
/// never inside: the answer itself is a function of the snapshot alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Envelope {
    /// Whether every change saved before the request is in.
    pub fresh: bool,
    /// How that is known.
    pub how: How,
    /// Changed paths known and not yet in the index.
    pub pending: u64,
    /// The number of the index state that was read.
    pub generation: u64,
    /// Its signature.
    pub index_signature: String,
    /// The workspace.
    pub repo_id: String,
    /// Its root, absolute: paths in answers start there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub root: String,
    /// What the user should know of the workspace, such as settings that are ignored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What became of the unsaved texts; absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlays: Option<OverlayFacts>,
    /// What caches did; absent where none is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheFacts>,
    /// Milliseconds waited for freshness or the first build.
    pub waited_ms: f64,
    /// Milliseconds to compute the answer.
    pub took_ms: f64,
    /// Correlates this answer with the daemon's log.
    pub correlation_id: String,
}

/// What caches did for an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CacheFacts {
    /// Whether the answer came whole from the cache.
    pub hit: bool,
    /// Its key: a pure function of the signature and the normalised request.
    pub key: String,
}

params! {
    /// `workspace.add`: registers the workspace and starts its index; answers at once.
    AddParams {
        /// The root itself, absolute.
        repo: Option<String>,
        /// A folder inside the workspace, absolute.
        cwd: Option<String>,
    }
}

/// `workspace.remove`: forgets the workspace and deletes its index; the tree is not touched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveParams {
    /// The root, absolute.
    pub repo: String,
}

/// Answer to `workspace.remove`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemoveResult {
    /// The root that was forgotten.
    pub root: String,
}

params! {
    /// `workspace.list`.
    ListParams {}
}

answer! {
    /// Answer to `workspace.list`.
    ListResult("WorkspaceList") {
        /// Sorted by root.
        workspaces: Vec<WorkspaceStatus>,
    }
}

params! {
    /// `workspace.gc`: removes indexes of repositories that are gone or that nobody asked for in a long
    /// time, and those of no repository; no tree is touched.
    GcParams {
        /// Only say what would be removed.
        dry_run: bool,
    }
}

/// An index that is removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Collected {
    /// The root of its repository; absent for an index of no registered one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// The name of its folder.
    pub index: String,
    /// Why.
    pub reason: Reason,
    /// Bytes on disk.
    pub bytes: u64,
}

answer! {
    /// Answer to `workspace.gc`.
    GcResult("GcResult") {
        /// Whether nothing was removed.
        dry_run: bool,
        /// What was removed, or would be, sorted by folder.
        removed: Vec<Collected>,
    }
}

params! {
    /// `index.compact`: answers when a compact copy of the index is in place. Requests are served
    /// meanwhile.
    CompactParams {
        /// The root itself; registered if it is not.
        repo: Option<String>,
        cwd, progress,
    }
}

answer! {
    /// Answer to `index.compact`.
    CompactResult("CompactResult") {
        /// The root of the workspace.
        root: String,
        /// Bytes on disk before.
        bytes_before: u64,
        /// Bytes on disk now.
        bytes: u64,
    }
}

params! {
    /// `index.wait`: answers when the index holds every change saved before the request.
    WaitParams {
        /// The root itself; registered if it is not.
        repo: Option<String>,
        cwd,
        /// How long; default `strict`, one hour.
        wait: Option<Wait>,
        progress,
    }
}

answer! {
    /// Answer to `index.wait`.
    WaitResult("WaitResult", envelope) {
        /// The workspace.
        workspace: WorkspaceStatus,
    }
}

params! {
    /// `config.show`.
    ConfigParams {
        /// The root itself; with neither member, the settings of the daemon alone.
        repo: Option<String>,
        cwd,
    }
}

answer! {
    /// Answer to `config.show`.
    ConfigResult("Config") {
        /// Sorted by key.
        entries: Vec<ConfigEntry>,
    }
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigEntry {
    /// The dotted key.
    pub key: String,
    /// The value in force.
    pub value: serde_json::Value,
    /// The built-in value.
    pub default: serde_json::Value,
    /// `default`, a file or a variable.
    pub origin: String,
}

params! {
    /// `status`.
    StatusParams {}
}

answer! {
    /// Answer to `status`.
    StatusResult("Status") {
        /// The daemon.
        daemon: DaemonStatus,
        /// Its packs.
        #[serde(default)]
        packs: PackCounts,
        /// Counts of published indexes.
        #[serde(default)]
        share: crate::share::ShareCounts,
        /// Its workspaces, sorted by root.
        workspaces: Vec<WorkspaceStatus>,
    }
}

/// The daemon's condition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DaemonStatus {
    /// Process id.
    pub pid: u32,
    /// Version.
    pub version: String,
    /// Protocol version.
    pub protocol: u32,
    /// Milliseconds since its start.
    pub uptime_ms: u64,
    /// The socket.
    pub socket: String,
    /// The log file.
    pub log: String,
    /// Where the program was started from; ends in ` (deleted)` when it has been replaced.
    pub executable: String,
    /// Private memory in bytes; 0 where the system does not say.
    pub private_bytes: u64,
    /// Open connections.
    pub connections: u32,
    /// Requests being served.
    pub in_flight: u32,
    /// Requests waiting for a place.
    pub queued: u32,
    /// Requests since the start, by outcome.
    pub requests: RequestCounts,
    /// Milliseconds without a request after which the daemon ends; 0 when it never does.
    pub idle_exit_ms: u64,
}

/// Counters since the start of the daemon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestCounts {
    /// Answered.
    pub ok: u64,
    /// Answered with an error.
    pub failed: u64,
    /// Cancelled, by request or because the client left.
    pub cancelled: u64,
    /// Refused because too much was waiting.
    pub busy: u64,
    /// Ended by a fault that was caught.
    pub panicked: u64,
}

/// Packs since the start of the daemon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PackCounts {
    /// Answered.
    pub answered: u64,
    /// Assembled; the others came out of the cache.
    pub assembled: u64,
    /// Candidates of the assembled ones.
    pub candidates: u64,
    /// Their items.
    pub items: u64,
    /// Candidates that live on in another's item, because they are equal, alike or inside it.
    pub merged: u64,
    /// Candidates left out because what they hold is shown already.
    #[serde(default)]
    pub duplicates: u64,
    /// Requests that the cache of packs had the answer of.
    #[serde(default)]
    pub cache_hits: u64,
    /// Requests that it was asked for in vain.
    #[serde(default)]
    pub cache_misses: u64,
    /// Counts of tokens that were remembered.
    #[serde(default)]
    pub token_cache_hits: u64,
    /// Counts of tokens that had to be made, or read from the index.
    #[serde(default)]
    pub token_cache_misses: u64,
    /// Packs built beside a search (`context_pack.shadow`).
    #[serde(default)]
    pub shadow: ShadowCounts,
    /// Tokens of the assembled ones.
    pub tokens: u64,
    /// Share of their budgets that is in use, in percent, rounded down.
    pub budget_used_percent: u64,
    /// Microseconds from the current state of the index to the answer, without the wait for saves:
    /// median of the latest 1,000 answers; 0 before the first.
    pub latency_micros_p50: u64,
    /// The 99th percentile, likewise.
    pub latency_micros_p99: u64,
    /// The longest, likewise.
    pub latency_micros_max: u64,
}

/// Packs that were built beside searches and compared with what these found, by chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ShadowCounts {
    /// Comparisons.
    pub runs: u64,
    /// Packs that failed; the search was answered all the same.
    pub failed: u64,
    /// Chunks in both.
    pub in_both: u64,
    /// Chunks that the search alone had.
    pub search_only: u64,
    /// Chunks that the pack alone had.
    pub pack_only: u64,
}

/// A workspace's condition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceStatus {
    /// Canonical root, shown to its owner only.
    pub root: String,
    /// The module or project name.
    pub repo_id: String,
    /// Where it is in its life.
    pub state: State,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// The number of the committed state; 0 before the first.
    pub generation: u64,
    /// Files in the index.
    pub n_files: u64,
    /// Changed paths known and not yet in the index.
    pub n_pending: u64,
    /// How changes are noticed.
    pub watch: Watch,
    /// Folders that are watched.
    pub n_watched: u64,
    /// How often events were lost and the tree was compared in full.
    pub n_rescans: u64,
    /// Files extracted since the workspace was opened.
    #[serde(default)]
    pub n_extracted: u64,
    /// Files linked since the workspace was opened: those that changed, and those that looked at a
    /// name whose meaning changed.
    #[serde(default)]
    pub n_linked: u64,
    /// The index of another tool that lies over the links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub import: Option<ImportStatus>,
    /// File names that are not UTF-8 and therefore not indexed; at most 20.
    #[serde(default)]
    pub skipped_names: Vec<String>,
    /// How many such names there are.
    #[serde(default)]
    pub n_skipped_names: u64,
    /// Things worth knowing, one sentence each.
    #[serde(default)]
    pub problems: Vec<String>,
    /// The kind of each.
    #[serde(default)]
    pub problem_kinds: Vec<Problem>,
    /// The work under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<WorkProgress>,
    /// Bytes of the index on disk.
    pub index_bytes: u64,
}

/// An index of another tool that lies over the links, see `import.scip`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportStatus {
    /// Name and version of the tool; empty when the index does not say.
    pub tool: String,
    /// Files that it speaks about.
    pub n_files: u64,
    /// Files among them that are gone or have another content by now: there our own links count.
    pub n_stale: u64,
}

/// Why a workspace cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// A stable word.
    pub code: FailureCode,
    /// What to do next.
    pub hint: String,
}

/// How far a phase of work has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkProgress {
    /// The phase.
    pub phase: Phase,
    /// Units done.
    pub done: u64,
    /// Units in all; 0 when not known yet.
    pub total: u64,
}

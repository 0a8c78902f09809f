//! What `ctl` prints with `--json` of its own; answers of the daemon are printed as they come.

use crate::error::ErrorObject;
use crate::hello::ProtocolRange;
use crate::workspace::WorkspaceStatus;
use indexd_api::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of these shapes.
pub const VERSION: &str = "1.0.0";

/// An object that says what it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Printed<T> {
    /// The name of its shape.
    pub schema: String,
    /// Version of this shape.
    pub schema_version: String,
    /// Its members.
    #[serde(flatten)]
    pub members: T,
}

impl<T> Printed<T> {
    /// Names it.
    pub fn new(schema: &str, members: T) -> Self {
        Self { schema: schema.to_owned(), schema_version: VERSION.to_owned(), members }
    }
}

/// `Error`: why a command failed, on standard error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Failed {
    /// The error, as on the wire.
    pub error: ErrorObject,
}

/// `Message`: one sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// The sentence.
    pub message: String,
}

/// `PackRecord`: a pack that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PackRecord {
    /// Its id, for `ctl pack --read ID`.
    pub pack_id: String,
}

/// `Version`: the versions of both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Version {
    /// This program.
    pub ctl: OwnVersion,
    /// The daemon, where one runs.
    pub daemon: Option<DaemonVersion>,
}

/// The version of `ctl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnVersion {
    /// Of the release.
    pub version: String,
    /// Versions of the protocol that it speaks.
    pub protocol: ProtocolRange,
}

/// The version of a daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DaemonVersion {
    /// Of the release.
    pub version: String,
    /// Versions of the protocol that it speaks.
    pub protocol: ProtocolRange,
    /// Its process.
    pub pid: u32,
}

/// `Here`: what is known of the current folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Here {
    /// The root of its repository.
    pub root: String,
    /// Whether a daemon runs.
    pub daemon: bool,
    /// Its workspace, where the daemon has one.
    pub workspace: Option<WorkspaceStatus>,
}

/// `Doctor`: what could keep this from working.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Doctor {
    /// Whether no check failed.
    pub ok: bool,
    /// The checks.
    pub checks: Vec<Check>,
}

/// One check of the doctor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// What was looked at.
    pub name: String,
    /// What came of it.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
    /// The remedy, where one is needed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fix: String,
}

/// What came of a check, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As it should be.
    Ok,
    /// It works, with a disadvantage.
    Warn,
    /// It does not work.
    Fail,
}

/// `SharePush`: the result of `ctl share push`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SharePush {
    /// The store.
    pub url: String,
    /// The root of the repository.
    pub root: String,
    /// The commit that it is found by; none without a repository of git.
    pub commit: Option<String>,
    /// Bytes that were put.
    pub bytes_put: u64,
    /// Bytes that a pull of it fetches.
    pub bytes_pulled: u64,
    /// Layers that it has.
    pub n_layers: u64,
    /// True if it uses the pieces of an earlier state.
    pub has_base: bool,
}

/// `SharePull`: the result of `ctl share pull`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SharePull {
    /// The store.
    pub url: String,
    /// The root of the repository.
    pub root: String,
    /// True if its index began with a published one.
    pub begun: bool,
    /// Why it did not.
    pub reason: String,
    /// The way it was found: `commit`, `newest` or `sample`; empty for none.
    pub by: String,
    /// The commit that it is of.
    pub commit: Option<String>,
    /// Bytes of objects that it has.
    pub bytes: u64,
    /// Files of the index.
    pub n_files: u64,
    /// Number of these files that differ from the published ones.
    pub n_extracted: u64,
}

/// `ShareStatus`: the published states of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShareStatus {
    /// The store.
    pub url: String,
    /// The root of the repository.
    pub root: String,
    /// Published states; 0 also where the store cannot list them.
    pub n_states: u64,
    /// Seconds since 1970 when the last one was published.
    pub newest_at: Option<i64>,
    /// The way the nearest one was found: `commit`, `newest` or `sample`; empty for none.
    pub by: String,
    /// The commit that it is of.
    pub commit: Option<String>,
    /// Bytes that a pull of it fetches.
    pub bytes_pulled: u64,
    /// About how many files differ from it.
    pub n_apart: u64,
}

/// `ShareGc`: the result of `ctl share gc`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShareGc {
    /// The store.
    pub url: String,
    /// True if nothing was removed.
    pub dry_run: bool,
    /// States that stay.
    pub n_kept: u64,
    /// States that were put aside; their own objects are removed a day later.
    pub n_expired: u64,
    /// Objects that were removed.
    pub n_removed: u64,
    /// Bytes of them.
    pub bytes_removed: u64,
}

/// `ServiceStatus`: what `ctl service status` finds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceStatus {
    /// Whether all its files are there.
    pub installed: bool,
    /// Whether they are those that would be written now.
    pub current: bool,
    /// Whether it runs.
    pub active: bool,
    /// The files.
    pub files: Vec<String>,
}

/// `FileChanges`: what `ctl mcp install` and `ctl agent install` do to files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileChanges {
    /// The files.
    pub files: Vec<FileChange>,
}

/// What is done to one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileChange {
    /// Its path.
    pub path: String,
    /// Whether anything is another one.
    pub changed: bool,
    /// Whether it was written.
    pub written: bool,
    /// The change, line by line.
    pub diff: String,
}

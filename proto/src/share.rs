//! Published indexes: facts about a tree that has no index yet, and an index that begins with rows in
//! local files. The daemon contacts no store.

use crate::answer::answer;
use crate::workspace::{Envelope, Wait};
use indexd_api::JsonSchema;
use indexd_api::params;
use serde::{Deserialize, Serialize};

/// The notification that tells a client to fetch a published index, with [`PullParams`].
pub const PULL: &str = "$/pull";

/// A part of the rows of a published index: an object of the store, and a file while it is on its way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Piece {
    /// BLAKE3 of the object in hexadecimal.
    pub name: String,
    /// Bytes of the object.
    pub stored: u64,
    /// Bytes of its rows.
    pub raw: u64,
}

/// Bytes of the rows of a piece at most: a row may be larger than a piece of 4 MB.
const PIECE_RAW_MAX: u64 = 261 << 20;

impl Piece {
    /// True if its name leads to no other folder and its sizes are possible.
    pub fn is_sound(&self) -> bool {
        // zstd adds little to data without redundancy.
        is_object_name(&self.name)
            && self.raw <= PIECE_RAW_MAX
            && self.stored <= self.raw + self.raw / 128 + 1_024
    }
}

/// True if a text is a BLAKE3 hash in hexadecimal.
pub fn is_object_name(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'))
}

/// Files sampled of a tree.
pub const SAMPLES: usize = 512;
/// Files of a tree below which it is built as fast.
const FILES_MIN: u64 = 64;

/// A sample of the files of a tree: the least hashes of their paths and sizes (Broder 1997, "On the
/// resemblance and containment of documents"). It tells how many files two trees have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sketch {
    /// Files of the tree.
    pub n_files: u64,
    /// Ascending, at most 512.
    pub least: Vec<u64>,
}

impl Sketch {
    /// True if it could be of a tree.
    pub fn is_sound(&self) -> bool {
        self.least.len() <= SAMPLES && self.least.is_sorted()
    }

    /// About how many files are in both trees.
    pub fn n_common(&self, other: &Self) -> u64 {
        // The least of both together are a sample of all files of both trees.
        let mut union: Vec<u64> = self.least.iter().chain(&other.least).copied().collect();
        union.sort_unstable();
        union.dedup();
        union.truncate(SAMPLES);
        let is_in = |sketch: &Self, hash: &u64| sketch.least.binary_search(hash).is_ok();
        let n = union.iter().filter(|hash| is_in(self, hash) && is_in(other, hash)).count() as u64;
        let n_union = union.len().max(1) as u64;
        // n / n_union of the files of both; those in common count once among them.
        let n_both = u128::from(self.n_files) + u128::from(other.n_files);
        u64::try_from(n_both * u128::from(n) / u128::from(n_union + n)).unwrap_or(u64::MAX)
    }

    /// True if a start with the index of the other tree takes less work than a build, when at most
    /// `n_apart_max` files may differ.
    pub fn is_like(&self, other: &Self, n_apart_max: u64) -> bool {
        let n_common = self.n_common(other);
        let n_apart = self.n_files.max(other.n_files).saturating_sub(n_common);
        self.n_files >= FILES_MIN && n_common >= self.n_files.div_ceil(2) && n_apart <= n_apart_max
    }
}

params! {
    /// `share.describe`: facts by which a published index of a tree is found. Registers and builds
    /// nothing.
    DescribeParams {
        repo, cwd,
    }
}

/// Facts about a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tree {
    /// Its root.
    pub root: String,
    /// BLAKE3 of the recipe of its indexes, in hexadecimal: indexes of another recipe are of no use.
    pub recipe: String,
    /// Names of the repository on every machine, hashed: the first is the one to publish under.
    pub repositories: Vec<String>,
    /// Commits reachable from HEAD, newest first, at most 64; empty without a repository of git.
    pub commits: Vec<String>,
    /// True unless HEAD is on another branch than the default one: then trees without any of the commits
    /// may begin with it.
    pub is_default: bool,
    /// A sample of its files.
    pub sketch: Sketch,
    /// True if there is an index of it.
    pub is_indexed: bool,
    /// True if secrets are removed before anything is stored.
    pub redacts: bool,
    /// `share.url` of the user.
    pub url: String,
    /// `share.push` of the user.
    pub push: bool,
    /// A folder for files on their way.
    pub folder: String,
}

impl Tree {
    /// Files that may be apart for a published index to be of use.
    pub fn n_apart_max(&self) -> u64 {
        apart_max(self.sketch.n_files)
    }
}

/// Files of a tree of `n_files` that may differ from a published index.
pub fn apart_max(n_files: u64) -> u64 {
    (n_files / 4).max(2_000)
}

params! {
    /// `share.export`: writes the rows of the index that published layers do not have to pieces in a folder.
    ShareExportParams {
        repo, cwd,
        /// A folder below the one that `share.describe` names, with the pieces of the layers.
        folder: String,
        /// The layers of a published index, lowest first; may be empty.
        layers: Vec<Vec<Piece>>,
        /// Requirements on the index. Default `strict`.
        wait: Option<Wait>,
        progress,
    }
}

/// Answer to `share.export`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShareExportResult {
    /// The pieces that were written to the folder; none when the layers hold the same rows.
    pub pieces: Vec<Piece>,
    /// True if they are a layer above those of the request; false if they hold all rows.
    pub is_above: bool,
    /// The envelope.
    pub envelope: Envelope,
}

params! {
    /// `share.begin`: begins the first index with published layers, or says that there will be none.
    BeginParams {
        repo, cwd,
        /// A folder below the one that `share.describe` names, with the pieces of the layers, which the daemon
        /// removes; absent when none could be fetched.
        folder: Option<String>,
        /// The layers, lowest first.
        layers: Vec<Vec<Piece>>,
        /// Why there is none, for the log and for `ctl status`.
        reason: Option<String>,
        progress,
    }
}

answer! {
    /// Answer to `share.begin`, once the index is there.
    BeginResult("BeginResult") {
        /// The root.
        root: String,
        /// True if the index began with them.
        begun: bool,
        /// Why it did not; empty when it did.
        reason: String,
        /// Files of the index.
        n_files: u64,
        /// Number of these files that were extracted, since they differ from the published ones.
        n_extracted: u64,
    }
}

/// Parameters of the notification [`PULL`]: the first index of this root waits a few seconds for a published
/// one. Whoever can fetch it does, and says `share.begin`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PullParams {
    /// The root.
    pub root: String,
}

/// Counts since the daemon began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ShareCounts {
    /// First indexes that began with a published one.
    pub begun: u64,
    /// First indexes that were built though a published one was looked for.
    pub missed: u64,
    /// Indexes that were exported to be published.
    pub exported: u64,
}

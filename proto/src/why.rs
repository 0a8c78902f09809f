//! `why`: whether a path is in the index, and what decides it.

use crate::answer::answer;
use crate::overlay::Overlay;
use crate::workspace::Wait;
use indexd_api::JsonSchema;
use indexd_api::params;
use serde::{Deserialize, Serialize};

params! {
    /// Parameters of `why`.
    WhyParams {
        repo, cwd,
        /// A file or folder: absolute, from `cwd`, or from the root. It need not exist.
        path: String,
        wait, overlays, progress,
    }
}

/// What became of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// In the index, with definitions and edges where its language has them.
    #[default]
    Indexed,
    /// In the index around syntax errors.
    IndexedAroundErrors,
    /// Found by its words; without definitions and edges.
    WordsOnly,
    /// Known by its path alone: it is larger than the limit.
    TooLarge,
    /// Known by its path alone: it is not text.
    Binary,
    /// Known by its path alone and never read: its name says that it holds secrets.
    Sensitive,
    /// Belongs to the index and is not in it yet.
    Pending,
    /// Belongs to the index and cannot be read.
    Unreadable,
    /// A folder whose files belong to the index.
    Folder,
    /// Left out by a rule.
    Ignored,
    /// Inside a repository of its own.
    NestedRepository,
    /// Git's own folder.
    Git,
    /// A symbolic link, which is not followed, or behind one.
    Link,
    /// Neither a file nor a folder.
    Special,
    /// On another file system.
    OtherFileSystem,
    /// Outside the root.
    Outside,
    /// There is nothing of this name.
    Missing,
}

/// A rule that leaves a path out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// The file it stands in: from the root, or absolute when it lies outside; `index.exclude` for
    /// the setting of that name.
    pub source: String,
    /// Its line, from 1; absent for a setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The pattern as written.
    pub pattern: String,
}

answer! {
    /// Answer to `why`.
    WhyResult("WhyResult", envelope) {
        /// The path from the root; as given when it lies outside.
        path: String,
        /// What became of it.
        standing: Standing,
        /// The same as a sentence.
        reason: String,
        /// The path that decides: the path itself or a folder above it.
        decided_by: String,
        /// The rule that leaves it out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<Rule>,
    }
}

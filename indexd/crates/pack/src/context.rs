//! The inputs of a build besides the index and the request, and its callbacks.

use crate::change::Change;
use crate::config::Config;
use crate::pack::Scores;
use crate::tuning::Tuning;
use indexd_model::Lines;
use indexd_text::TokenCounter;

/// The inputs of a build besides the index and the request, and its callbacks.
pub struct Context<'a> {
    /// Weights and defaults.
    pub config: &'a Config,
    /// The tuned numbers of ranking.
    pub tuning: &'a Tuning,
    /// The token counter that the request names.
    pub counter: &'a dyn TokenCounter,
    /// Returns true once the caller has cancelled the request; called between records.
    pub cancel: &'a dyn Fn() -> bool,
    /// Version of the tool; part of the pack's identity.
    pub tool_version: &'a str,
    /// The id of the workspace.
    pub repo_id: &'a str,
    /// The change that the request names, with both texts.
    pub change: Option<&'a Change>,
    /// ISO time for `createdAt`.
    pub created_at: &'a str,
    /// Returns true if the indexed bytes of a path equal the blob at HEAD.
    pub matches_head: &'a dyn Fn(&str) -> bool,
    /// The hash of the bytes of some lines of a path, asked for files of which the index holds another text; none
    /// if they cannot be had, and then the text is hashed.
    pub bytes_hash: &'a dyn Fn(&str, Lines) -> Option<String>,
    /// Called with the name of each stage at its end; a caller with a clock can time the stages.
    pub stage: &'a dyn Fn(&'static str),
    /// Called for each candidate of the finished pack, best first. A caller can log scores and outcomes.
    pub decided: &'a dyn Fn(&Decision),
}

impl<'a> Context<'a> {
    /// Creates a context from these parts. It is never cancelled, its callbacks do nothing, and it has no
    /// change, no time and no bytes at HEAD.
    pub fn new(config: &'a Config, tuning: &'a Tuning, counter: &'a dyn TokenCounter) -> Self {
        Self {
            config,
            tuning,
            counter,
            cancel: &|| false,
            tool_version: env!("CARGO_PKG_VERSION"),
            repo_id: "",
            change: None,
            created_at: "",
            matches_head: &|_| false,
            bytes_hash: &|_, _| None,
            stage: &|_| {},
            decided: &|_| {},
        }
    }
}

/// The scores and the outcome of one candidate. It contains paths and numbers, but no text of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision<'a> {
    /// Path of its file.
    pub path: &'a str,
    /// Its lines.
    pub lines: Lines,
    /// The section that claims it, if any.
    pub section: Option<&'static str>,
    /// Its scores.
    pub scores: Scores,
    /// `included`, `merged`, or the reason for leaving it out ([`crate::pack::DropReason`]).
    pub outcome: &'static str,
}

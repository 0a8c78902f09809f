//! What a build needs besides the index and the request, and what it tells on the way.

use crate::change::Change;
use crate::config::Config;
use crate::pack::Scores;
use crate::tuning::Tuning;
use indexd_model::Lines;
use indexd_text::TokenCounter;

/// What a build needs besides the index and the request.
pub struct Context<'a> {
    /// Weights and defaults.
    pub config: &'a Config,
    /// The numbers of ranking.
    pub tuning: &'a Tuning,
    /// The counter that the request names.
    pub counter: &'a dyn TokenCounter,
    /// Whether the caller has withdrawn the request; asked between records.
    pub cancel: &'a dyn Fn() -> bool,
    /// Version of the tool; part of the pack's identity.
    pub tool_version: &'a str,
    /// The workspace.
    pub repo_id: &'a str,
    /// The change that the request names, with its texts.
    pub change: Option<&'a Change>,
    /// ISO time for `createdAt`.
    pub created_at: &'a str,
    /// Whether the indexed bytes of a path equal the blob at HEAD (C-06).
    pub matches_head: &'a dyn Fn(&str) -> bool,
    /// Called with the name of each stage as it ends, so that a caller with a clock can time it.
    pub stage: &'a dyn Fn(&'static str),
    /// Called for each candidate once the pack is made, best first, so that a caller can log how it
    /// was scored and where it ended.
    pub decided: &'a dyn Fn(&Decision),
}

impl<'a> Context<'a> {
    /// A context with these parts and nothing else: it is not cancelled, tells nothing, and has no change,
    /// no time and no bytes at HEAD.
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
            stage: &|_| {},
            decided: &|_| {},
        }
    }
}

/// How one candidate was scored and where it ended: places and numbers, no text.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision<'a> {
    /// Path of its file.
    pub path: &'a str,
    /// Its lines.
    pub lines: Lines,
    /// The section that claims it.
    pub section: Option<&'static str>,
    /// Its scores.
    pub scores: Scores,
    /// `included`, `merged`, or the reason why it was left out ([`crate::pack::DropReason`]).
    pub outcome: &'static str,
}

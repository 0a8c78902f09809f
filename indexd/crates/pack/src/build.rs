//! The one way from a request to a pack.

use crate::assemble::assemble;
use crate::config::Config;
use crate::error::PackError;
use crate::pack::{Pack, Scores};
use crate::request::Request;
use crate::tuning::Tuning;
use crate::write;
use indexd_model::{IndexView, Lines};
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
    /// [`Resolved::normalised`] of the request, where the caller has it already.
    pub normalised: Option<&'a str>,
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
    /// `included`, `merged`, or the reason why it was left out ([`DropReason::name`]).
    pub outcome: &'static str,
}

/// Builds the pack that answers `request` from one snapshot.
///
/// The same view, request, configuration and tool version give the same canonical bytes. An empty
/// result is a success with a warning; a budget of 0 gives an empty pack.
///
/// # Errors
/// Those of [`Request::resolve`]; [`PackError::IndexMissing`] for a pinned signature that is not the
/// view's; [`PackError::TokenCount`] when the counter is not the one asked for;
/// [`PackError::Cancelled`]; [`PackError::ContextOverflow`] when the text came out above the budget,
/// which would be a bug.
pub fn build(view: &dyn IndexView, request: &Request, ctx: &Context) -> Result<Pack, PackError> {
    let mut selected = assemble(view, request, ctx)?;
    (ctx.stage)("select");
    let tokens = u64::from(ctx.counter.count_tokens(&selected.rendered));
    let budget = selected.request.budgets.max_total_tokens;
    if tokens > budget {
        return Err(PackError::ContextOverflow { tokens, budget });
    }
    selected.size.tokens = tokens;
    (ctx.stage)("render");
    let pack = write::pack(&mut selected, ctx);
    write::decisions(&selected, ctx);
    (ctx.stage)("write");
    Ok(pack)
}

/// What would be in the pack: the same items, and an empty `rendered`.
///
/// # Errors
/// As [`build`], without [`PackError::ContextOverflow`].
pub fn preview(view: &dyn IndexView, request: &Request, ctx: &Context) -> Result<Pack, PackError> {
    let mut selected = assemble(view, request, ctx)?;
    selected.rendered.clear();
    Ok(write::pack(&mut selected, ctx))
}

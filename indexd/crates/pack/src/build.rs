//! The one way from a request to a pack.

use crate::assemble::assemble;
use crate::context::Context;
use crate::error::PackError;
use crate::pack::Pack;
use crate::request::Request;
use crate::write;
use indexd_model::IndexView;

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

//! The one way from a request to a pack.

use crate::assemble::assemble;
use crate::context::Context;
use crate::error::PackError;
use crate::pack::Pack;
use crate::request::{Asked, Request};
use crate::write;
use indexd_model::IndexView;

/// Builds the pack that answers `request` from one snapshot.
///
/// The same view, request, configuration and tool version give the same canonical bytes. An empty
/// result is a success with a warning; a budget of 0 gives an empty pack.
///
/// # Errors
/// Those of [`Asked::new`] and of [`answer`].
pub fn build(view: &dyn IndexView, request: &Request, ctx: &Context) -> Result<Pack, PackError> {
    answer(view, &Asked::new(request, ctx.config)?, ctx)
}

/// As [`build`](fn@build), for a request whose defaults are filled in.
///
/// # Errors
/// [`PackError::IndexMissing`] for a pinned signature that is not the
/// view's; [`PackError::TokenCount`] when the counter is not the one asked for;
/// [`PackError::Cancelled`]; [`PackError::ContextOverflow`] when the text came out above the budget,
/// which would be a bug.
pub fn answer(view: &dyn IndexView, asked: &Asked, ctx: &Context) -> Result<Pack, PackError> {
    let mut selected = assemble(view, asked, ctx)?;
    (ctx.stage)("select");
    let tokens = u64::from(ctx.counter.count_tokens(&selected.rendered));
    let budget = selected.request.budgets.max_total_tokens;
    if tokens > budget {
        return Err(PackError::ContextOverflow { tokens, budget });
    }
    selected.size.tokens = tokens;
    (ctx.stage)("render");
    let pack = write::pack(&mut selected, asked, ctx);
    write::decisions(&selected, ctx);
    (ctx.stage)("write");
    Ok(pack)
}

/// What would be in the pack: the same items, and an empty `rendered`.
///
/// # Errors
/// As [`answer`], without [`PackError::ContextOverflow`].
pub fn preview(view: &dyn IndexView, asked: &Asked, ctx: &Context) -> Result<Pack, PackError> {
    let mut selected = assemble(view, asked, ctx)?;
    selected.rendered.clear();
    Ok(write::pack(&mut selected, asked, ctx))
}

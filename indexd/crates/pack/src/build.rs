//! Builds the pack that answers a request.

use crate::assemble::{Selected, assemble};
use crate::context::Context;
use crate::error::PackError;
use crate::pack::Pack;
use crate::request::{Asked, Caps, Request};
use crate::tail;
use crate::template::Writer;
use crate::write;
use indexd_model::IndexView;

/// Maximum fillings for one pack whose text is not the default one.
const FILLINGS_MAX: u32 = 6;
/// Percent of the budget above which no fuller text is sought.
const FULL_PERCENT: u64 = 95;
/// Maximum size of the default text, as a multiple of the budget, when another writer needs fewer tokens per
/// item.
const ROOM_MAX: u64 = 8;

/// Builds the pack that answers `request` from one snapshot.
///
/// The same view, request, configuration and tool version give the same canonical bytes. An empty result is a
/// success with a warning. A budget of 0 gives an empty pack.
///
/// # Errors
/// The errors of [`Asked::new`] and of [`answer`].
pub fn build(view: &dyn IndexView, request: &Request, ctx: &Context) -> Result<Pack, PackError> {
    answer(view, &Asked::new(request, ctx.config)?, ctx)
}

/// Builds the pack of a request whose defaults are filled in.
///
/// # Errors
/// [`PackError::IndexMissing`] if the pinned signature is not that of the view; [`PackError::TokenCount`] if
/// the counter is not the one asked for; [`PackError::Cancelled`]; [`PackError::ContextOverflow`] if the text
/// exceeds the budget, which would be a bug; [`PackError::InvalidRequest`] if a template fails.
pub fn answer(view: &dyn IndexView, asked: &Asked, ctx: &Context) -> Result<Pack, PackError> {
    let (selected, pack) = match asked.options.writer()? {
        Some(writer) => written(view, asked, ctx, &writer)?,
        None => plain(view, asked, ctx)?,
    };
    write::decisions(&selected, ctx);
    (ctx.stage)("write");
    Ok(pack)
}

/// Builds the pack without its text: the same items, and an empty `rendered`.
///
/// # Errors
/// As [`answer`], without [`PackError::ContextOverflow`].
pub fn preview(view: &dyn IndexView, asked: &Asked, ctx: &Context) -> Result<Pack, PackError> {
    if let Some(writer) = asked.options.writer()? {
        let (_, mut pack) = written(view, asked, ctx, &writer)?;
        pack.rendered.clear();
        return Ok(pack);
    }
    let mut selected = assemble(view, asked, tail::limits(&asked.options), ctx)?;
    selected.rendered.clear();
    write::pack(&mut selected, asked, ctx)
}

/// Builds a pack with the default text.
fn plain<'a>(
    view: &'a dyn IndexView,
    asked: &Asked,
    ctx: &'a Context<'a>,
) -> Result<(Selected<'a>, Pack), PackError> {
    let mut selected = assemble(view, asked, tail::limits(&asked.options), ctx)?;
    (ctx.stage)("select");
    if (ctx.cancel)() {
        return Err(PackError::Cancelled);
    }
    selected.size.tokens = u64::from(ctx.counter.count_tokens(&selected.rendered));
    (ctx.stage)("render");
    let mut pack = write::pack(&mut selected, asked, ctx)?;
    let text = tail::text(&mut pack, &asked.options, ctx.counter);
    set_text(&mut pack, text, ctx);
    let (tokens, budget) = (pack.stats.token_count, pack.stats.token_budget);
    if tokens > budget {
        return Err(PackError::ContextOverflow { tokens, budget });
    }
    Ok((selected, pack))
}

/// Builds a pack whose text comes from `writer`. Fills the default text several times, until the other text,
/// counted as a whole, is close to the budget or all candidates are shown. Returns the fullest pack that
/// fits. If even a text without items does not fit, the text is empty and a warning says so.
fn written<'a>(
    view: &'a dyn IndexView,
    asked: &Asked,
    ctx: &'a Context<'a>,
    writer: &Writer,
) -> Result<(Selected<'a>, Pack), PackError> {
    let caps = asked.options.budgets;
    let budget = caps.max_total_tokens;
    let (mut low, mut high) = (0, budget.saturating_mul(ROOM_MAX).saturating_add(1));
    let mut room = budget;
    let mut best: Option<(Selected, Pack)> = None;
    for _ in 0..FILLINGS_MAX {
        let (selected, pack) = filled(view, asked, ctx, writer, room)?;
        let (tokens, is_all) = (pack.stats.token_count, pack.stats.dropped_by_reason["budget"] == 0);
        if tokens <= budget && pack.stats.char_count <= caps.max_total_chars {
            low = room;
            let is_fuller = best.as_ref().is_none_or(|(_, b)| b.stats.included <= pack.stats.included);
            if is_fuller {
                best = Some((selected, pack));
            }
            if is_all || tokens * 100 >= budget * FULL_PERCENT {
                break;
            }
        } else {
            high = room;
        }
        let next = (u128::from(room) * u128::from(budget) / u128::from(tokens.max(1))) as u64;
        if low + 1 >= high {
            break;
        }
        room = next.clamp(low + 1, high - 1);
    }
    if let Some(best) = best {
        return Ok(best);
    }
    let (selected, mut pack) = filled(view, asked, ctx, writer, 0)?;
    if pack.stats.token_count > budget {
        let needed = pack.stats.token_count;
        pack.warnings.push(format!("the text around the items alone has {needed} tokens"));
        set_text(&mut pack, String::new(), ctx);
    }
    Ok((selected, pack))
}

/// Builds a pack whose default text has at most `room` tokens, then replaces that text by the text of
/// `writer`.
fn filled<'a>(
    view: &'a dyn IndexView,
    asked: &Asked,
    ctx: &'a Context<'a>,
    writer: &Writer,
    room: u64,
) -> Result<(Selected<'a>, Pack), PackError> {
    let limits = Caps { max_total_tokens: room, ..asked.options.budgets };
    let mut selected = assemble(view, asked, limits, ctx)?;
    (ctx.stage)("select");
    let mut pack = write::pack(&mut selected, asked, ctx)?;
    let text = writer.text(&pack)?;
    set_text(&mut pack, text, ctx);
    (ctx.stage)("render");
    Ok((selected, pack))
}

fn set_text(pack: &mut Pack, text: String, ctx: &Context) {
    let stats = &mut pack.stats;
    stats.token_count = u64::from(ctx.counter.count_tokens(&text));
    stats.budget_used_percent = (stats.token_count * 100).checked_div(stats.token_budget).unwrap_or(0);
    stats.char_count = text.chars().count() as u64;
    pack.rendered = text;
}

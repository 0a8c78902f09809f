//! The one way from a request to a pack.

use crate::assemble::{Selected, assemble};
use crate::context::Context;
use crate::error::PackError;
use crate::pack::Pack;
use crate::request::{Asked, Request};
use crate::template::Writer;
use crate::write;
use indexd_model::IndexView;

/// Fillings that are tried for one pack whose text is not the default one.
const FILLINGS_MAX: u32 = 6;
/// Percent of the budget at which no better filling is looked for.
const FULL_PERCENT: u64 = 95;
/// How many times the budget the default text may have, where another text says less of each item.
const ROOM_MAX: u64 = 8;

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
/// which would be a bug; [`PackError::InvalidRequest`] when a template fails.
pub fn answer(view: &dyn IndexView, asked: &Asked, ctx: &Context) -> Result<Pack, PackError> {
    if let Some(writer) = asked.options.writer()? {
        let (selected, pack) = written(view, asked, ctx, &writer)?;
        write::decisions(&selected, ctx);
        (ctx.stage)("write");
        return Ok(pack);
    }
    let mut selected = assemble(view, asked, ctx)?;
    (ctx.stage)("select");
    if (ctx.cancel)() {
        return Err(PackError::Cancelled);
    }
    let tokens = u64::from(ctx.counter.count_tokens(&selected.rendered));
    let budget = selected.request.budgets.max_total_tokens;
    if tokens > budget {
        return Err(PackError::ContextOverflow { tokens, budget });
    }
    selected.size.tokens = tokens;
    (ctx.stage)("render");
    let pack = write::pack(&mut selected, asked, ctx)?;
    write::decisions(&selected, ctx);
    (ctx.stage)("write");
    Ok(pack)
}

/// What would be in the pack: the same items, and an empty `rendered`.
///
/// # Errors
/// As [`answer`], without [`PackError::ContextOverflow`].
pub fn preview(view: &dyn IndexView, asked: &Asked, ctx: &Context) -> Result<Pack, PackError> {
    if let Some(writer) = asked.options.writer()? {
        let (_, mut pack) = written(view, asked, ctx, &writer)?;
        pack.rendered.clear();
        return Ok(pack);
    }
    let mut selected = assemble(view, asked, ctx)?;
    selected.rendered.clear();
    write::pack(&mut selected, asked, ctx)
}

/// A pack whose text another writer makes. The default text is filled until the other one, counted as a
/// whole, is close to the budget or nothing more is left to show; the fullest that fits is taken. Where
/// not even the text around nothing fits, the text is empty and a warning says so.
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

/// A pack whose default text has at most `room` tokens, with the text of `writer` in its place.
fn filled<'a>(
    view: &'a dyn IndexView,
    asked: &Asked,
    ctx: &'a Context<'a>,
    writer: &Writer,
    room: u64,
) -> Result<(Selected<'a>, Pack), PackError> {
    let mut inner = asked.clone();
    inner.options.budgets.max_total_tokens = room;
    inner.limits.max_total_tokens.value = room;
    let mut selected = assemble(view, &inner, ctx)?;
    let exact = selected.budgets.exact;
    (selected.request, selected.budgets) = (asked.options.clone(), asked.limits.clone());
    selected.budgets.exact = exact;
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

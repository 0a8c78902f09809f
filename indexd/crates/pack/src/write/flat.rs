//! Layout `flat`: merges pieces of one file that overlap or touch into one item.

use crate::assemble::{Selected, State};
use crate::pack::Form;
use crate::render::union;
use indexd_model::Lines;
use std::rc::Rc;

/// Merges shown candidates of a file if only blank lines are between them. The best of them becomes the item
/// with its rank and its reasons, and shows the lines of all, each once.
pub(super) fn merge(a: &mut Selected) {
    let mut places = a.shown.clone();
    places.sort_by_key(|i| {
        let c = &a.claimed[*i].candidate;
        (c.file.path.clone(), c.unit.lines().start, *i)
    });
    let mut chains: Vec<Vec<usize>> = Vec::new();
    for i in places {
        let joins = chains.last().is_some_and(|chain| touches(a, chain, i));
        match chains.last_mut() {
            Some(chain) if joins => chain.push(i),
            _ => chains.push(vec![i]),
        }
    }
    for chain in chains.into_iter().filter(|c| c.len() > 1) {
        absorb(a, chain);
    }
    let is_item = |i: &usize| a.claimed[*i].state == State::Included;
    a.shown.retain(is_item);
}

/// True if a candidate starts before the end of a chain, or only blank lines are between them.
fn touches(a: &mut Selected, chain: &[usize], i: usize) -> bool {
    let is_text = |j: &usize| a.claimed[*j].plan.as_ref().is_some_and(|p| p.form >= Form::Windows);
    if !is_text(&i) || !chain.iter().all(is_text) {
        return false;
    }
    let of = |i: usize| Rc::clone(&a.claimed[i].candidate.unit);
    let (unit, first) = (of(i), of(chain[0]));
    let end = chain.iter().map(|j| a.claimed[*j].candidate.unit.lines().end).max().unwrap_or(0);
    let start = unit.lines().start;
    if unit.file != first.file || start <= end + 1 {
        return unit.file == first.file;
    }
    let source = a.source(i);
    let between = source.lines().lines_span(Lines { start: end + 1, end: start - 1 });
    source.slice(between).trim().is_empty()
}

fn absorb(a: &mut Selected, chain: Vec<usize>) {
    let rank = |i: &usize| a.shown.iter().position(|shown| shown == i);
    let Some(best) = chain.iter().copied().min_by_key(rank) else { return };
    let plans = || chain.iter().filter_map(|i| a.claimed[*i].plan.as_ref());
    let parts = union(plans().flat_map(|p| p.parts.iter().copied()));
    let form = plans().map(|p| p.form).min();
    let reason = plans().find_map(|p| p.reason);
    let tokens = chain.iter().map(|i| a.claimed[*i].tokens).sum();
    for &i in chain.iter().filter(|i| **i != best) {
        a.claimed[i].state = State::Merged;
    }
    let item = &mut a.claimed[best];
    item.tokens = tokens;
    if let Some(plan) = &mut item.plan {
        (plan.parts, plan.form, plan.reason) = (parts, form.unwrap_or(plan.form), reason);
    }
    item.merged_from = chain;
}

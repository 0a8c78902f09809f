//! Finds the definition around a place, for many places of one file.

use indexd_model::{Def, DefIdx, Facts, Span};

/// The definitions of one file that were asked for, by place.
pub(crate) struct Around(Vec<Held>);

/// A definition, and the one before it that encloses it.
struct Held {
    span: Span,
    def: DefIdx,
    outer: Option<usize>,
}

impl Around {
    /// Orders the definitions that `is_asked` takes. Of those with equal spans the first is innermost.
    pub(crate) fn new(facts: Facts, is_asked: impl Fn(&Def) -> bool) -> Self {
        Self::of(facts.interface.defs.iter().enumerate().rev().filter(|(_, d)| is_asked(d)), |d| d.span)
    }

    /// Indexes definitions; among those with equal spans the last is innermost.
    pub(crate) fn last_of_equals(facts: Facts, is_asked: impl Fn(&Def) -> bool) -> Self {
        Self::of(facts.interface.defs.iter().enumerate().filter(|(_, d)| is_asked(d)), |d| d.span)
    }

    /// Indexes definitions, each from its name to its end.
    pub(crate) fn from_names(facts: Facts, is_asked: impl Fn(&Def) -> bool) -> Self {
        let from_name = |d: &Def| Span::new(d.name_span.start, d.span.end);
        Self::of(facts.interface.defs.iter().enumerate().filter(|(_, d)| is_asked(d)), from_name)
    }

    fn of<'d>(defs: impl Iterator<Item = (usize, &'d Def)>, span: impl Fn(&Def) -> Span) -> Self {
        let mut all: Vec<Held> =
            defs.map(|(i, d)| Held { span: span(d), def: DefIdx(i as u32), outer: None }).collect();
        all.sort_by_key(|h| (h.span.start, std::cmp::Reverse(h.span.end)));
        let mut open: Vec<usize> = Vec::new();
        for i in 0..all.len() {
            while open.last().is_some_and(|o| all[*o].span.end <= all[i].span.start) {
                open.pop();
            }
            all[i].outer = open.last().copied();
            open.push(i);
        }
        Self(all)
    }

    /// The innermost one around a place.
    pub(crate) fn at(&self, at: u32) -> DefIdx {
        let before = self.0.partition_point(|h| h.span.start <= at).checked_sub(1);
        let mut held = std::iter::successors(before, |i| self.0[*i].outer);
        held.find(|i| self.0[*i].span.holds(at)).map_or(DefIdx::NONE, |i| self.0[i].def)
    }
}

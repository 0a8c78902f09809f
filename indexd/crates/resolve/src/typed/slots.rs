//! Questions that are answered once.
//!
//! Types depend on themselves: `while (x) x = x.next`. Whoever asks for an open answer gets "unknown", and
//! every answer in between is partial: it is given, but kept only when the outermost open question it
//! met is itself. The next asker then finds the whole answer.

use super::types::Ty;
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Questions open at once; deeper chains are not followed.
const DEPTH_MAX: u32 = 60;
/// Partial answers after which everything is kept: a bound on repeated work.
const PARTIAL_MAX: u32 = 20_000;

/// A type, and whether it was inferred from code rather than declared or constructed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Val {
    pub(crate) ty: Ty,
    pub(crate) is_inferred: bool,
}

impl Val {
    pub(crate) const UNKNOWN: Self = Self { ty: Ty::UNKNOWN, is_inferred: false };

    pub(crate) fn new(ty: Ty) -> Self {
        Self { ty, is_inferred: false }
    }

    pub(crate) fn inferred(ty: Ty) -> Self {
        Self { ty, is_inferred: true }
    }
}

/// An answer, or the mark that it is being looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Slot {
    Empty,
    Open(u32),
    Done(Val),
}

/// The questions of a run that are open.
#[derive(Default)]
pub(crate) struct Questions {
    depth: u32,
    /// The outermost question that an answer under way found open.
    lowest: Option<u32>,
    n_partial: u32,
}

/// The state of a question when it was asked.
pub(crate) enum Asked {
    Known(Val),
    /// Must be answered, and then passed to [`Questions::close`].
    Opened(Opened),
}

pub(crate) struct Opened {
    depth: u32,
    outer: Option<u32>,
}

impl Questions {
    /// Asks a question whose slot holds `slot`; the asker then stores [`Opened::slot`].
    pub(crate) fn ask(&mut self, slot: Slot) -> Asked {
        match slot {
            Slot::Done(v) => return Asked::Known(v),
            Slot::Open(depth) => {
                self.met(depth);
                return Asked::Known(Val::UNKNOWN);
            }
            Slot::Empty => {}
        }
        if self.depth >= DEPTH_MAX {
            self.met(0);
            return Asked::Known(Val::UNKNOWN);
        }
        let opened = Opened { depth: self.depth, outer: self.lowest.take() };
        self.depth += 1;
        Asked::Opened(opened)
    }

    fn met(&mut self, depth: u32) {
        self.lowest = Some(self.lowest.map_or(depth, |l| l.min(depth)));
    }

    /// Ends a question; the slot for its answer.
    pub(crate) fn close(&mut self, opened: &Opened, v: Val) -> Slot {
        self.depth = opened.depth;
        let inner = self.lowest.filter(|l| *l < opened.depth);
        let is_whole = inner.is_none() || opened.depth == 0 || self.n_partial > PARTIAL_MAX;
        self.n_partial += u32::from(!is_whole);
        self.lowest = match (inner, opened.outer) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        if is_whole { Slot::Done(v) } else { Slot::Empty }
    }

    /// Returns true if the answers found since a depth met no open question outside it.
    pub(crate) fn is_settled(&self, depth: u32) -> bool {
        self.lowest.is_none_or(|l| l >= depth) || depth == 0 || self.n_partial > PARTIAL_MAX
    }

    /// Returns the number of open questions.
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }
}

/// A linker that asks such questions.
pub(crate) trait Asks: Sized {
    fn questions(&mut self) -> &mut Questions;

    /// Answers a question once.
    fn once<K: Copy + Eq + Hash>(
        &mut self,
        slots: fn(&mut Self) -> &mut FxHashMap<K, Slot>,
        key: K,
        ask: impl FnOnce(&mut Self) -> Val,
    ) -> Val {
        let slot = slots(self).get(&key).copied().unwrap_or(Slot::Empty);
        match self.questions().ask(slot) {
            Asked::Known(v) => v,
            Asked::Opened(opened) => {
                slots(self).insert(key, opened.slot());
                let v = ask(self);
                let slot = self.questions().close(&opened, v);
                slots(self).insert(key, slot);
                v
            }
        }
    }
}

impl Opened {
    /// The mark of a question that is being answered.
    pub(crate) fn slot(&self) -> Slot {
        Slot::Open(self.depth)
    }
}

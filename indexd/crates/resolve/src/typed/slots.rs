//! Questions that are answered once.
//!
//! Types depend on themselves: `while (x) x = x.next`. Whoever asks for an open answer gets "unknown", and
//! every answer in between is partial: it is given, but kept only when the outermost open question it
//! met is itself. The next asker then finds the whole answer.

use super::files::{DefAt, File};
use super::types::Ty;
use crate::remembered::nested;
use indexd_model::{BindingId, ExprId};
use rustc_hash::FxHashMap;
use std::hash::Hash;

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
pub(crate) struct Questions {
    /// Questions open at once; deeper chains are not followed.
    depth_max: u32,
    /// Partial answers after which everything is kept: a bound on repeated work.
    partial_max: u32,
    depth: u32,
    /// The outermost question that an answer under way found open.
    lowest: Option<u32>,
    n_partial: u32,
    /// Members that are looked up, one inside the other.
    pub(crate) n_members: u32,
    /// Steps that the run may still take: types can be made to have more members than anybody can look at.
    n_steps_left: u64,
}

/// Steps of a run, and what each expression of the file adds.
const STEPS: u64 = 1_000_000;
const STEPS_PER_EXPR: u64 = 300;
/// Members that are looked up for one, one inside the other.
const MEMBERS_MAX: u32 = 64;

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
    /// Starts with none, for a file with this number of expressions.
    pub(crate) fn new(depth_max: u32, partial_max: u32, n_exprs: usize) -> Self {
        let n_steps_left = STEPS + STEPS_PER_EXPR * n_exprs as u64;
        Self { depth_max, partial_max, depth: 0, lowest: None, n_partial: 0, n_members: 0, n_steps_left }
    }

    /// Takes steps; false when there were too many.
    pub(crate) fn steps(&mut self, n: u64) -> bool {
        self.n_steps_left = self.n_steps_left.saturating_sub(n);
        self.n_steps_left > 0
    }

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
        if self.depth >= self.depth_max {
            self.met(0);
            return Asked::Known(Val::UNKNOWN);
        }
        Asked::Opened(self.open())
    }

    /// Opens a question that has no slot; see [`Questions::close`].
    pub(crate) fn open(&mut self) -> Opened {
        let opened = Opened { depth: self.depth, outer: self.lowest.take() };
        self.depth += 1;
        opened
    }

    fn met(&mut self, depth: u32) {
        self.lowest = Some(self.lowest.map_or(depth, |l| l.min(depth)));
    }

    /// Ends a question; the slot for its answer.
    pub(crate) fn close(&mut self, opened: &Opened, v: Val) -> Slot {
        self.depth = opened.depth;
        let inner = self.lowest.filter(|l| *l < opened.depth);
        let is_whole = inner.is_none() || opened.depth == 0 || self.n_partial > self.partial_max;
        self.n_partial += u32::from(!is_whole);
        self.lowest = match (inner, opened.outer) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        if is_whole { Slot::Done(v) } else { Slot::Empty }
    }

    /// Returns true if the answers found since a depth met no open question outside it.
    pub(crate) fn is_settled(&self, depth: u32) -> bool {
        self.lowest.is_none_or(|l| l >= depth) || depth == 0 || self.n_partial > self.partial_max
    }

    /// Returns the number of open questions.
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }
}

/// Slots by their questions.
pub(crate) trait Slots<K> {
    fn slot(&self, key: K) -> Slot;
    fn set(&mut self, key: K, slot: Slot);
}

impl<K: Eq + Hash> Slots<K> for FxHashMap<K, Slot> {
    fn slot(&self, key: K) -> Slot {
        self.get(&key).copied().unwrap_or(Slot::Empty)
    }

    fn set(&mut self, key: K, slot: Slot) {
        self.insert(key, slot);
    }
}

/// Answers by expression or binding: by number for the file being linked, which asks for most of them.
pub(crate) struct Memos<T> {
    own: Vec<Option<T>>,
    far: FxHashMap<(File, u32), T>,
}

impl<T: Copy> Memos<T> {
    /// Starts with no answers, for a file with `n_own` expressions or bindings.
    pub(crate) fn new(n_own: usize) -> Self {
        Self { own: vec![None; n_own], far: FxHashMap::default() }
    }

    pub(crate) fn get(&self, file: File, id: u32) -> Option<T> {
        match file {
            0 => self.own.get(id as usize).copied().flatten(),
            _ => self.far.get(&(file, id)).copied(),
        }
    }

    pub(crate) fn set(&mut self, file: File, id: u32, answer: T) {
        match self.own.get_mut(id as usize).filter(|_| file == 0) {
            Some(own) => *own = Some(answer),
            None => _ = self.far.insert((file, id), answer),
        }
    }
}

impl Slots<(File, ExprId)> for Memos<Slot> {
    fn slot(&self, (file, e): (File, ExprId)) -> Slot {
        self.get(file, e.0).unwrap_or(Slot::Empty)
    }

    fn set(&mut self, (file, e): (File, ExprId), slot: Slot) {
        self.set(file, e.0, slot);
    }
}

/// Answers to the questions of all languages.
pub(crate) struct Answers {
    /// The types of expressions as values.
    pub(crate) exprs: Memos<Slot>,
    /// The types that expressions name.
    pub(crate) written: FxHashMap<(File, ExprId), Slot>,
    /// The types that places expect.
    pub(crate) expected: FxHashMap<(File, ExprId), Slot>,
    /// The types of local names.
    pub(crate) bindings: FxHashMap<(File, BindingId), Slot>,
    /// The types of the names of definitions as values.
    pub(crate) defs: FxHashMap<DefAt, Slot>,
    /// The results of functions.
    pub(crate) results: FxHashMap<DefAt, Slot>,
}

impl Answers {
    /// Starts with no answers, for a file with this number of expressions.
    pub(crate) fn new(n_exprs: usize) -> Self {
        Self {
            exprs: Memos::new(n_exprs),
            written: FxHashMap::default(),
            expected: FxHashMap::default(),
            bindings: FxHashMap::default(),
            defs: FxHashMap::default(),
            results: FxHashMap::default(),
        }
    }
}

/// A linker that asks such questions.
pub(crate) trait Asks: Sized {
    fn questions(&mut self) -> &mut Questions;

    /// Takes a step; false when there were too many.
    fn step(&mut self) -> bool {
        self.questions().steps(1)
    }

    /// Answers a question once.
    fn once<K: Copy, S: Slots<K>>(
        &mut self,
        slots: fn(&mut Self) -> &mut S,
        key: K,
        ask: impl FnOnce(&mut Self) -> Val,
    ) -> Val {
        let slot = slots(self).slot(key);
        match self.questions().ask(slot) {
            Asked::Known(v) => v,
            Asked::Opened(opened) => {
                slots(self).set(key, opened.slot());
                let v = ask(self);
                let slot = self.questions().close(&opened, v);
                slots(self).set(key, slot);
                v
            }
        }
    }

    /// Answers a question once whose answer is not a type. While it is open its answer is `at_first`.
    fn settled<K: Copy + Eq + Hash, V: Clone>(
        &mut self,
        answers: fn(&mut Self) -> &mut FxHashMap<K, V>,
        key: K,
        at_first: V,
        ask: impl FnOnce(&mut Self) -> V,
    ) -> V {
        if let Some(known) = answers(self).get(&key) {
            return known.clone();
        }
        answers(self).insert(key, at_first);
        let depth = self.questions().depth();
        let found = ask(self);
        match self.questions().is_settled(depth) {
            true => answers(self).insert(key, found.clone()),
            false => answers(self).remove(&key),
        };
        found
    }

    /// Answers a question about a member once; `unknown` for a type that leads to itself and once there is too
    /// much to look at.
    fn member_once<K: Copy + Eq + Hash, V: Clone>(
        &mut self,
        answers: fn(&mut Self) -> &mut FxHashMap<K, V>,
        key: K,
        unknown: V,
        ask: impl FnOnce(&mut Self) -> V,
    ) -> V {
        if let Some(known) = answers(self).get(&key) {
            return known.clone();
        }
        let ask = |l: &mut Self| match l.step() {
            true => l.settled(answers, key, unknown.clone(), ask),
            false => unknown.clone(),
        };
        nested(self, |l| &mut l.questions().n_members, MEMBERS_MAX, ask).unwrap_or(unknown)
    }
}

impl Opened {
    /// The mark of a question that is being answered.
    pub(crate) fn slot(&self) -> Slot {
        Slot::Open(self.depth)
    }
}

//! Candidates with their sections, and what was chosen.

use super::Changed;
use crate::candidate::Candidate;
use crate::dedup::Fate;
use crate::excerpt::Plan;
use crate::gather::{self, Gathered};
use crate::identity::{Source, Sources};
use crate::pack::{Budgets, DropReason};
use crate::page::Size;
use crate::query::Query;
use crate::request::{Layout, Resolved};
use crate::sections::{Traits, claim};
use crate::unit::Units;
use indexd_model::{IndexView, Language};
use indexd_text::{LineMatcher, one_line};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A candidate that has its section.
pub struct Claimed {
    /// The candidate.
    pub candidate: Candidate,
    /// The position of its section; `None` where no rule claims it.
    pub section: Option<usize>,
    /// Sections that would have claimed it, too.
    pub also: Vec<&'static str>,
    /// What it is.
    pub traits: Traits,
    /// Candidates with the same content.
    pub merged: Vec<usize>,
    /// In layout `flat`, the shown candidates that the item is made of, itself among them, by line.
    pub merged_from: Vec<usize>,
    /// Where it ended.
    pub state: State,
    /// What is shown of it, or would have been.
    pub plan: Option<Plan>,
    /// Tokens of what is shown of it, counted by parts.
    pub tokens: u64,
    /// What connects it with other items, filled in when the pack is written.
    pub relations: Vec<String>,
}

/// Where a candidate ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not decided yet.
    Open,
    /// It is an item.
    Included,
    /// It has the content of another candidate.
    Merged,
    /// It was left out.
    Dropped(DropReason),
}

/// What was chosen, with all that writing the pack needs.
pub struct Selected<'a> {
    /// The request in force.
    pub request: Resolved,
    /// The limits in force.
    pub budgets: Budgets,
    /// The text of the request, understood.
    pub query: Query,
    /// Units that were read.
    pub units: Units<'a>,
    /// Texts and identities that were read.
    pub sources: Sources,
    /// What was found.
    pub gathered: Gathered,
    /// What the change of the request does, and what is shown of it.
    pub changed: Option<Changed<'a>>,
    /// Names of the sections.
    pub section_names: Vec<&'static str>,
    /// All candidates, best first; those that only the shown code led to come last.
    pub claimed: Vec<Claimed>,
    /// The items in the order of the pack.
    pub shown: Vec<usize>,
    /// The text.
    pub rendered: String,
    /// Its size.
    pub size: Size,
    /// What the best match needs at least, where it has no room.
    pub needed: Option<Size>,
    /// Whether more uses were found than are looked at.
    pub uses_cut: bool,
    /// What the matcher found where it was asked already: the line from the start of the unit, and the
    /// term.
    pub(super) matched: FxHashMap<usize, Vec<(u32, u32)>>,
    pub(super) matcher: LineMatcher,
}

impl Selected<'_> {
    /// The text of a candidate's file.
    pub fn source(&mut self, i: usize) -> Rc<Source> {
        self.sources.of(self.units.view, self.claimed[i].candidate.unit.file)
    }

    /// The terms of the query in a unit: the line from its start, and the term, sorted.
    pub(super) fn matches(&mut self, i: usize, source: &Source) -> Vec<(u32, u32)> {
        if let Some(known) = self.matched.get(&i) {
            return known.clone();
        }
        let lines = self.claimed[i].candidate.unit.lines();
        let mut hits = Vec::new();
        self.matcher.find(source.slice(source.lines().lines_span(lines)), &mut hits);
        hits.sort_unstable();
        hits.dedup();
        self.matched.insert(i, hits.clone());
        hits
    }

    /// The terms of the query on each line of a unit, for evidence: `(line, term)`.
    pub fn line_terms(&mut self, i: usize, source: &Source) -> Vec<(u32, u32)> {
        let first = self.claimed[i].candidate.unit.lines().start;
        self.matches(i, source).iter().map(|(line, term)| (line + first, *term)).collect()
    }

    /// The term at a position of [`Selected::line_terms`], with its weight.
    pub fn term(&self, term: u32) -> (&str, f64) {
        let t = &self.gathered.retrieved.weighted.terms[term as usize];
        (&t.0, t.1)
    }

    /// The signature on one line; for text without one, its first line.
    pub fn title(&self, i: usize, source: &Source) -> String {
        let unit = &self.claimed[i].candidate.unit;
        let def = unit.def.some().map(|d| self.units.view.def(d));
        let head = def.as_ref().map(|d| source.slice(d.head)).filter(|h| !h.trim().is_empty());
        let first = || source.slice(unit.spans[0].0).lines().find(|l| !l.trim().is_empty()).unwrap_or("");
        one_line(head.unwrap_or_else(first)).chars().take(TITLE_CHARS_MAX).collect()
    }

    /// Whether every line of a candidate is longer than an item may be.
    pub fn has_no_line(&self, i: usize) -> bool {
        self.claimed[i].plan.as_ref().is_some_and(|p| p.parts.is_empty())
    }
}

/// Characters of a title.
const TITLE_CHARS_MAX: usize = 160;

pub(super) fn claim_all(
    candidates: Vec<Candidate>,
    fates: &[Fate],
    request: &Resolved,
    names: &[&str],
    view: &dyn IndexView,
) -> Vec<Claimed> {
    let mut out: Vec<Claimed> = Vec::with_capacity(candidates.len());
    for (i, candidate) in candidates.into_iter().enumerate() {
        // Only the six-section layout asks for imports, and they cost a look at the facts. Go has
        // none inside definitions.
        let asks = request.layout == Layout::Agent
            && (candidate.unit.def.some().is_none() || candidate.file.language != Language::Go);
        let traits = Traits::of(&candidate, asks && gather::has_import(view, &candidate.unit));
        let (section, also) = claim(&candidate, traits, request.layout, request.seed_mode);
        let section = section.and_then(|s| names.iter().position(|n| *n == s));
        let state = match fates[i] {
            Fate::SameAs(first) => {
                out[first].merged.push(i);
                State::Merged
            }
            Fate::Overlaps(_) if request.layout != Layout::Flat => State::Dropped(DropReason::Overlap),
            _ if section.is_none() => State::Dropped(DropReason::NoRule),
            Fate::Kept | Fate::Overlaps(_) => State::Open,
        };
        out.push(Claimed {
            candidate,
            section,
            also,
            traits,
            merged: Vec::new(),
            merged_from: Vec::new(),
            state,
            plan: None,
            tokens: 0,
            relations: Vec::new(),
        });
    }
    out
}

//! Candidates with their sections, and the result of the selection.

use super::Changed;
use crate::candidate::Candidate;
use crate::dedup::Fate;
use crate::excerpt::Plan;
use crate::gather::{self, Gathered};
use crate::identity::{Source, Sources};
use crate::layout;
use crate::pack::DropReason;
use crate::page::Size;
use crate::places;
use crate::query::Query;
use crate::request::{Layout, Resolved};
use crate::sections::claims;
use crate::unit::Units;
use indexd_model::{IndexView, Language};
use indexd_text::LineMatcher;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A candidate with its section.
pub struct Claimed {
    /// The candidate.
    pub candidate: Candidate,
    /// The sections of the engine that match it; the first one claims it.
    pub claims: Vec<&'static str>,
    /// The index of its section in the layout; `None` if it has none.
    pub section: Option<usize>,
    /// True if it holds an import, as far as the layout asks.
    pub has_import: bool,
    /// Candidates with the same content.
    pub merged: Vec<usize>,
    /// Its state.
    pub state: State,
    /// Its excerpt: the shown one, or the one planned last.
    pub plan: Option<Plan>,
    /// Tokens of its excerpt, counted by parts.
    pub tokens: u64,
    /// Relations to other items, filled in when the pack is written.
    pub relations: Vec<String>,
}

/// The state of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not decided yet.
    Open,
    /// It is an item of the pack.
    Included,
    /// It has the content of another candidate.
    Merged,
    /// It was left out.
    Dropped(DropReason),
}

/// The result of the selection, with all data for writing the pack.
pub struct Selected<'a> {
    /// The request in force.
    pub request: Resolved,
    /// The parsed text of the request.
    pub query: Query,
    /// The units that were read.
    pub units: Units<'a>,
    /// The texts and identities that were read.
    pub sources: Sources,
    /// The result of collecting candidates.
    pub gathered: Gathered,
    /// The change of the request, and the parts of it that are shown.
    pub changed: Option<Changed<'a>>,
    /// Names of the sections of the layout.
    pub section_names: &'static [&'static str],
    /// All candidates, best first. Those that only shown code led to are last.
    pub claimed: Vec<Claimed>,
    /// The items in the order of the pack.
    pub shown: Vec<usize>,
    /// The text.
    pub rendered: String,
    /// Its size.
    pub size: Size,
    /// The size that the best match needs at least, if it does not fit.
    pub needed: Option<Size>,
    /// True if there are more uses than are read.
    pub uses_cut: bool,
    /// Cached results of [`Selected::matches`], by candidate.
    pub(super) matched: FxHashMap<usize, Vec<(u32, u32)>>,
    pub(super) matcher: LineMatcher,
}

impl Selected<'_> {
    /// The text of a candidate's file.
    pub fn source(&mut self, i: usize) -> Rc<Source> {
        self.sources.of(self.units.view, self.claimed[i].candidate.unit.file)
    }

    /// The query terms in a unit: the line, counted from its start, and the term; sorted.
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

    /// The query terms on each line of a unit, for evidence: `(line, term)`.
    pub fn line_terms(&mut self, i: usize, source: &Source) -> Vec<(u32, u32)> {
        let first = self.claimed[i].candidate.unit.lines().start;
        self.matches(i, source).iter().map(|(line, term)| (line + first, *term)).collect()
    }

    /// The term with index `term` in [`Selected::line_terms`], and its weight.
    pub fn term(&self, term: u32) -> (&str, f64) {
        let t = &self.gathered.retrieved.weighted.terms[term as usize];
        (&t.0, t.1)
    }

    /// The signature on one line; for text without one, its first line.
    pub fn title(&self, i: usize, source: &Source) -> String {
        places::title(&self.units, &self.claimed[i].candidate.unit, source)
    }

    /// True if every line of a candidate exceeds the byte limit of an item.
    pub fn has_no_line(&self, i: usize) -> bool {
        self.claimed[i].plan.as_ref().is_some_and(|p| p.parts.is_empty())
    }
}

pub(super) fn claim_all(
    candidates: Vec<Candidate>,
    fates: &[Fate],
    request: &Resolved,
    view: &dyn IndexView,
) -> Vec<Claimed> {
    let names = layout::sections(request.layout);
    let mut out: Vec<Claimed> = Vec::with_capacity(candidates.len());
    for (i, candidate) in candidates.into_iter().enumerate() {
        // Only layout `agent` asks for imports, and reading them requires the facts. Go has no imports inside
        // definitions.
        let asks = request.layout == Layout::Agent
            && (candidate.unit.def.some().is_none() || candidate.file.language != Language::Go);
        let has_import = layout::is_manifest(&candidate) || asks && gather::has_import(view, &candidate.unit);
        let claims = claims(&candidate, request.seed_mode);
        let section = claims.first().and_then(|s| layout::project(request.layout, s, &candidate, has_import));
        let section = section.and_then(|s| names.iter().position(|n| *n == s));
        let state = match fates[i] {
            Fate::SameAs(first) => {
                out[first].merged.push(i);
                State::Merged
            }
            Fate::Overlaps => State::Dropped(DropReason::Overlap),
            Fate::Kept if section.is_none() => State::Dropped(DropReason::NoRule),
            Fate::Kept => State::Open,
        };
        out.push(Claimed {
            candidate,
            claims,
            section,
            has_import,
            merged: Vec::new(),
            state,
            plan: None,
            tokens: 0,
            relations: Vec::new(),
        });
    }
    out
}

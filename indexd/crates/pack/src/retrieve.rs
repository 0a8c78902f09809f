//! Finds the units that may answer a text and gives each its [`Features`]. [`crate::score`] turns these into
//! one number.
//!
//! First BM25 over all chunks finds a few hundred units by words. Then units are marked that the text names
//! or quotes, that changed recently, or that a matching test calls. These may add further units.

pub mod bridge;
mod diversify;
pub mod feedback;
pub mod history;
pub mod lexical;
pub mod literal;
pub mod named;

use crate::confidence;
use crate::expected;
use crate::naming::{self, Named};
use crate::pack::Confidence;
use crate::query::Query;
use crate::request::SeedProvider;
use crate::role::{Role, role_of};
use crate::score::{Feature, Features, Formula, Prior, Scored};
use crate::tuning::Weights;
use crate::unit::{Unit, UnitKey, Units};
use indexd_model::path::dir_of;
use indexd_model::view::{DefRecord, FileRecord};
use indexd_model::{ChunkDoc, FileDoc};
use lexical::{ChunkHit, Lexical, Weighted};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Maximum units that get all features, by lexical score.
const UNITS_MAX: usize = 400;
/// Number of best units of a file in its evidence; the k-th counts `1 / k`.
const FILE_EVIDENCE_UNITS: usize = 5;
/// Number of best files whose units are all added.
const FILES_WHOLE: usize = 6;
/// Maximum chunks of the best files that are added whether they contain a word of the text or not.
const CHUNKS_ADDED_MAX: usize = 400;

/// A unit that was found.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The unit.
    pub unit: Rc<Unit>,
    /// Its file.
    pub file: Rc<FileRecord>,
    /// The role of its file.
    pub role: Role,
    /// The input of its total.
    pub scored: Scored,
    /// The total.
    pub total: f64,
    /// Share of the words of the text that it contains in any form, by weight, among the words that occur in
    /// the tree; 0..1.
    pub coverage: f64,
    /// The number of its type; the order of the numbers has no meaning.
    of_type: Option<u32>,
}

/// The result of retrieval.
pub struct Retrieved {
    /// All hits, best first, equal ones by path and place.
    pub hits: Vec<Hit>,
    /// The terms with their weights in this tree.
    pub weighted: Weighted,
    /// The formula that was in force.
    pub formula: Formula,
    /// The routes by which units were found.
    pub providers: Vec<&'static str>,
}

/// Ranks the units of the snapshot for a text and what its caller expects, without a request. Also returns
/// how sure the answer can be, and the parsed text.
pub fn search(
    units: &mut Units,
    text: &str,
    expect: &[String],
    w: &Weights,
    provider: SeedProvider,
) -> (Retrieved, Confidence, Query) {
    let query = Query::of(text, expect, w);
    let named = naming::named(units, &query);
    let found = retrieve(units, &query, &named, w, provider, &|| false);
    let n_missing = expected::missing(units.view, &query).len();
    let confidence = confidence::of(&query, &named, &found, n_missing);
    (found, confidence, query)
}

/// Ranks the units of the snapshot for `query`. A query without usable words, mentions and literals gives no
/// hits. `cancel` is called between stages and terms; once it returns true, the result is incomplete.
pub fn retrieve(
    units: &mut Units,
    query: &Query,
    named: &Named,
    w: &Weights,
    provider: SeedProvider,
    cancel: &dyn Fn() -> bool,
) -> Retrieved {
    let w = &w.of_kind(query.kind);
    let formula = Formula::new(w, query.kind, |feature| is_of(provider, feature));
    let is_on = |feature| formula.has(feature) && !cancel();
    let (mut scored, chunk_hits) = Lexical::score(units, query, w, cancel);
    let mut table = Table::new(units, chunk_hits, w);
    if is_on(Feature::Place) || is_on(Feature::Name) {
        named::mark(units, query, &mut table);
        for unit in &named.meant {
            table.hit(units, Rc::clone(unit)).scored.features.raise(Feature::Name, 1.0);
        }
    }
    if is_on(Feature::Literal) {
        literal::mark(units, query, &mut table);
    }
    table.add_units_of_best_files(units, &formula);
    table.number_types(units);
    table.mark_evidence();
    if is_on(Feature::Commits) || is_on(Feature::Touched) {
        history::mark(units, query, &mut table);
    }
    table.rank(&formula);
    if is_on(Feature::Feedback) && w.feedback > 0.0 {
        let words = feedback::words_of_best(units, query, &table, w.feedback);
        let chunks = table.hits.iter().flat_map(|h| h.unit.chunks.iter().copied()).collect();
        let chunk_hits = scored.score_again(units, &words, chunks, w);
        table.set_words(units, &chunk_hits);
        table.mark_evidence();
        table.rank(&formula);
    }
    if is_on(Feature::Tests) {
        bridge::mark_tests(units, &mut table);
    }
    if is_on(Feature::Neighbours) {
        bridge::mark_neighbours(units, &mut table);
    }
    table.rank(&formula);
    diversify::crowding(&mut table.hits, w.crowding);
    let found = |f: &Feature| formula.has(*f) && table.hits.iter().any(|h| h.scored.features.get(*f) > 0.0);
    let routes = ROUTES.iter().filter(|(_, features)| features.iter().any(found));
    let providers = routes.map(|(name, _)| *name).collect();
    Retrieved { hits: table.hits, weighted: scored.weighted(), formula, providers }
}

/// True if a provider of seeds uses a feature.
fn is_of(provider: SeedProvider, feature: Feature) -> bool {
    match provider {
        SeedProvider::Hybrid | SeedProvider::Ann => true,
        SeedProvider::Sparse => matches!(
            feature,
            Feature::Words | Feature::Feedback | Feature::Path | Feature::File | Feature::Type
        ),
        SeedProvider::Fts => matches!(feature, Feature::Literal | Feature::Name | Feature::Words),
    }
}

/// The routes by their public names, with their features.
const ROUTES: [(&str, &[Feature]); 6] = [
    ("sparse", &[Feature::Words, Feature::Feedback]),
    ("fts", &[Feature::Literal]),
    ("symbol", &[Feature::Name]),
    ("path", &[Feature::Path, Feature::Place]),
    ("history", &[Feature::Commits, Feature::Touched]),
    (GRAPH, &[Feature::Tests, Feature::Neighbours]),
];
/// The route of resolved edges, which also finds neighbours of the hits.
pub const GRAPH: &str = "graph";

/// The hits under construction.
pub struct Table {
    /// The hits.
    pub hits: Vec<Hit>,
    at: FxHashMap<UnitKey, usize>,
    weights: Weights,
}

impl Table {
    fn new(units: &mut Units, mut chunk_hits: Vec<ChunkHit>, w: &Weights) -> Self {
        chunk_hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        // Hits that tie at the cut are all kept, because handles must not decide.
        let floor = chunk_hits.get(2 * UNITS_MAX - 1).map_or(0.0, |h| h.score);
        chunk_hits.retain(|h| h.score >= floor);
        let mut table = Self { hits: Vec::with_capacity(UNITS_MAX), at: FxHashMap::default(), weights: *w };
        for h in &chunk_hits {
            let unit = units.of_chunk(h.chunk);
            table.hit(units, unit);
        }
        table.set_words(units, &chunk_hits);
        table
    }

    /// Sets the lexical features of the hits. Chunks of other units are skipped.
    fn set_words(&mut self, units: &mut Units, chunk_hits: &[ChunkHit]) {
        for h in &mut self.hits {
            for f in [Feature::Words, Feature::Feedback, Feature::Path] {
                h.scored.features.set(f, 0.0);
            }
        }
        let top = chunk_hits.iter().map(|h| h.score).fold(f64::MIN_POSITIVE, f64::max);
        for h in chunk_hits {
            let unit = units.of_chunk(h.chunk);
            let Some(&i) = self.at.get(&unit.key) else { continue };
            // A long definition gets the score of its best part, since all parts share its name.
            let coverage = 1.0 - self.weights.coverage + self.weights.coverage * h.coverage;
            self.hits[i].coverage = self.hits[i].coverage.max(h.coverage);
            let features = &mut self.hits[i].scored.features;
            features.raise(Feature::Words, h.own * coverage / top);
            features.raise(Feature::Feedback, h.fed / top);
            features.raise(Feature::Path, (h.score - h.own - h.fed) / top);
        }
    }

    /// Returns the hit of a unit, which is added if it is new.
    pub fn hit(&mut self, units: &mut Units, unit: Rc<Unit>) -> &mut Hit {
        let next = self.hits.len();
        let i = *self.at.entry(unit.key).or_insert(next);
        if i == next {
            let file = units.file(unit.file);
            let role = role_of(&file);
            let prior = Prior::of(&file, role, unit.kind, unit.size().1, &self.weights);
            self.hits.push(Hit {
                unit,
                file,
                role,
                scored: Scored { features: Features::default(), prior, crowding: 1.0 },
                total: 0.0,
                coverage: 0.0,
                of_type: None,
            });
        }
        &mut self.hits[i]
    }

    /// Adds the other units of the best files, since a change often touches units without a word of its text.
    fn add_units_of_best_files(&mut self, units: &mut Units, formula: &Formula) {
        let evidence = self.file_evidence();
        let mut files: FxHashMap<FileDoc, (f64, f64, f64)> = FxHashMap::default();
        for h in self.hits.iter().filter(|h| h.role == Role::Code) {
            let (path, place) = (h.scored.features.get(Feature::Path), h.scored.features.get(Feature::Place));
            let mut of_file = Features::default();
            of_file.set(Feature::File, evidence[&h.unit.file]);
            let sum = formula.part(&of_file, Feature::File)
                + formula.part(&h.scored.features, Feature::Path)
                + formula.part(&h.scored.features, Feature::Place);
            let at = files.entry(h.unit.file).or_insert((0.0, 0.0, 0.0));
            *at = (at.0.max(sum), at.1.max(path), at.2.max(place));
        }
        let mut best: Vec<(FileDoc, (f64, f64, f64))> = files.into_iter().collect();
        best.sort_by(|a, b| {
            b.1.0.total_cmp(&a.1.0).then_with(|| units.file(a.0).path.cmp(&units.file(b.0).path))
        });
        let mut left = CHUNKS_ADDED_MAX;
        for (file, (_, path, place)) in best.into_iter().take(FILES_WHOLE) {
            let chunks = units.file(file).chunks.clone();
            if chunks.len() > left {
                continue;
            }
            left -= chunks.len();
            for c in chunks {
                let unit = units.of_chunk(ChunkDoc(c));
                let features = &mut self.hit(units, unit).scored.features;
                if features.get(Feature::Path) == 0.0 && features.get(Feature::Words) == 0.0 {
                    features.raise(Feature::Path, path);
                }
                features.raise(Feature::Place, place);
            }
        }
    }

    fn file_evidence(&self) -> FxHashMap<FileDoc, f64> {
        // The best units of each file, best first.
        let mut best: FxHashMap<FileDoc, [f64; FILE_EVIDENCE_UNITS]> = FxHashMap::default();
        for h in &self.hits {
            let words = [Feature::Words, Feature::Feedback, Feature::Path].map(|f| h.scored.features.get(f));
            let mut score: f64 = words.iter().sum();
            for kept in best.entry(h.unit.file).or_default() {
                if score > *kept {
                    std::mem::swap(kept, &mut score);
                }
            }
        }
        let fading = |(i, score): (usize, &f64)| score / (i + 1) as f64;
        best.into_iter().map(|(file, scores)| (file, scores.iter().enumerate().map(fading).sum())).collect()
    }

    /// Sets the features `file` and `type`: the evidence of other good units of the file and of the type.
    fn mark_evidence(&mut self) {
        let evidence = self.file_evidence();
        let words =
            |h: &Hit| h.scored.features.get(Feature::Words) + h.scored.features.get(Feature::Feedback);
        // The best two members of each type.
        let mut best: FxHashMap<u32, [f64; 2]> = FxHashMap::default();
        for h in &self.hits {
            if let Some(t) = h.of_type {
                let [first, second] = best.entry(t).or_default();
                let own = words(h);
                if own > *first {
                    *second = std::mem::replace(first, own);
                } else {
                    *second = second.max(own);
                }
            }
        }
        for h in &mut self.hits {
            h.scored.features.set(Feature::File, evidence[&h.unit.file]);
            if let Some([first, second]) = h.of_type.map(|t| best[&t]) {
                let other = if first > words(h) { first } else { second };
                h.scored.features.set(Feature::Type, other);
            }
        }
    }

    /// Numbers the types of hits. A type is one scope in the files of one folder.
    fn number_types(&mut self, units: &mut Units) {
        let defs: Vec<Option<Rc<DefRecord>>> =
            self.hits.iter().map(|h| h.unit.def.some().map(|d| units.def(d))).collect();
        let mut known: FxHashMap<(&str, &str), u32> = FxHashMap::default();
        let mut numbers = Vec::with_capacity(defs.len());
        for (h, def) in self.hits.iter().zip(&defs) {
            let scope = def.as_ref().and_then(|def| match def.qualified.rsplit_once('.') {
                Some((scope, _)) => Some(scope),
                None => def.kind.is_type().then_some(&*def.qualified),
            });
            numbers.push(scope.map(|scope| {
                let next = known.len() as u32;
                *known.entry((dir_of(&h.file.path), scope)).or_insert(next)
            }));
        }
        for (h, number) in self.hits.iter_mut().zip(numbers) {
            h.of_type = number;
        }
    }

    /// Computes the totals and sorts the hits.
    fn rank(&mut self, formula: &Formula) {
        for h in &mut self.hits {
            h.total = formula.total(&h.scored.features, h.scored.prior);
        }
        diversify::sort(&mut self.hits);
        for (i, h) in self.hits.iter().enumerate() {
            self.at.insert(h.unit.key, i);
        }
    }
}

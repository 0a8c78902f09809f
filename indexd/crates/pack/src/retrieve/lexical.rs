//! Scores chunks by BM25 over weighted fields and the path of the file.
//!
//! There are two passes over the postings. The first adds saturated weights into a dense array, ignores
//! lengths, and finds the few hundred best chunks. The second scores these exactly, with field lengths, and
//! with words and path occurrences saturating together. Reading the lengths of every chunk with a common word
//! would cost more than everything else.

use crate::query::{Query, QueryTerm};
use crate::tuning::Weights;
use crate::unit::Units;
use indexd_model::view::{ChunkRecord, Field, FieldCounts, N_FIELDS, PathPosting, Posting};
use indexd_model::{ChunkDoc, FileDoc, IndexView};
use indexd_text::bm25::{Bm25, idf};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::ops::Range;

/// The parameters of BM25.
const BM25: Bm25 = Bm25::USUAL;
/// Maximum terms scored of a query, the heaviest; more terms of a long trace do not help.
const TERMS_MAX: usize = 64;
/// Maximum files whose path contains query terms, the best.
const PATH_FILES_MAX: usize = 400;
/// A path term in more files than this is ignored.
const PATH_DF_MAX: usize = 2_000;

/// Maximum chunks that are scored exactly.
const CANDIDATES_MAX: usize = 1_200;

/// A chunk with its lexical score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChunkHit {
    /// The chunk.
    pub chunk: ChunkDoc,
    /// The score, unitless, above 0.
    pub score: f64,
    /// The score without the path of its file and without feedback.
    pub own: f64,
    /// The part of the score from feedback words.
    pub fed: f64,
    /// The weight, by idf, of the query words that its text contains in any form, in parts of all query
    /// words; 0..1.
    pub coverage: f64,
}

/// A term with its data for scoring.
struct Term {
    text: String,
    /// The index in the query of its word. A form has the index of the word from which it comes.
    word: usize,
    idf: f64,
    weight: f64,
    /// Its range in the buffer of postings.
    postings: Range<usize>,
    paths: Range<usize>,
}

/// Buffers that one thread keeps between requests.
#[derive(Default)]
struct Scratch {
    scores: Vec<f64>,
    slots: Vec<u32>,
    touched: Vec<u32>,
    postings: Vec<Posting>,
    paths: Vec<PathPosting>,
    matrix: Vec<f64>,
}

impl Scratch {
    fn read_postings(&mut self, view: &dyn IndexView, term: &str) -> Range<usize> {
        let start = self.postings.len();
        view.postings(term, &mut self.postings);
        start..self.postings.len()
    }

    /// Returns an empty range if there are too many files.
    fn read_paths(&mut self, view: &dyn IndexView, term: &str) -> Range<usize> {
        let start = self.paths.len();
        view.path_postings(term, &mut self.paths);
        if self.paths.len() - start > PATH_DF_MAX {
            self.paths.truncate(start);
        }
        start..self.paths.len()
    }

    fn postings(&self, term: &Term) -> &[Posting] {
        &self.postings[term.postings.clone()]
    }

    fn paths(&self, term: &Term) -> &[PathPosting] {
        &self.paths[term.paths.clone()]
    }
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// The terms of a query that occur in this corpus, with their weights in it.
pub struct Weighted {
    /// `(term, weight x idf)`, rarest first.
    pub terms: Vec<(String, f64)>,
    /// The feedback words in the same form.
    pub feedback: Vec<(String, f64)>,
    /// The weight of the words that the corpus contains in some form, in parts of all words of the text;
    /// 0..1. A missing word weighs as much as one in a single chunk.
    pub known: f64,
}

/// The terms of a query with their postings, kept so that chunks can be scored again.
pub struct Lexical {
    terms: Vec<Term>,
    known: f64,
    n_asked: usize,
    scratch: Scratch,
}

impl Drop for Lexical {
    fn drop(&mut self) {
        SCRATCH.set(std::mem::take(&mut self.scratch));
    }
}

impl Lexical {
    /// Scores the chunks that contain terms of `query`, at most about `CANDIDATES_MAX`, unordered. Chunks
    /// with equal scores are kept or dropped together. `cancel` is called before each term and between the
    /// passes; once it returns true, the result is incomplete.
    pub fn score(
        units: &mut Units,
        query: &Query,
        ranking: &Weights,
        cancel: &dyn Fn() -> bool,
    ) -> (Self, Vec<ChunkHit>) {
        let mut scratch = SCRATCH.take();
        scratch.postings.clear();
        scratch.paths.clear();
        let terms = read_terms(units.view, &query.terms, &mut scratch, cancel);
        let mut kept = choose(units.view, &terms, ranking, &mut scratch, cancel);
        if cancel() {
            kept.clear();
        }
        let hits = second_pass(units, &terms, terms.len(), ranking, &kept, &mut scratch);
        let known = known(query, &terms, units.view.stats().n_chunks);
        (Self { n_asked: terms.len(), terms, known, scratch }, hits)
    }

    /// Scores these chunks with the additional terms `further`; their part of the score is reported
    /// separately. Chunks must not repeat.
    pub fn score_again(
        &mut self,
        units: &mut Units,
        further: &[QueryTerm],
        chunks: Vec<ChunkDoc>,
        ranking: &Weights,
    ) -> Vec<ChunkHit> {
        self.terms.truncate(self.n_asked);
        self.terms.extend(read_terms(units.view, further, &mut self.scratch, &|| false));
        let mut chunks: Vec<u32> = chunks.into_iter().map(|c| c.0).collect();
        chunks.sort_unstable();
        second_pass(units, &self.terms, self.n_asked, ranking, &chunks, &mut self.scratch)
    }

    /// Returns the terms with their weights.
    pub fn weighted(&self) -> Weighted {
        let weigh = |terms: &[Term]| terms.iter().map(|t| (t.text.clone(), t.idf * t.weight)).collect();
        let (asked, further) = self.terms.split_at(self.n_asked);
        Weighted { terms: weigh(asked), feedback: weigh(further), known: self.known }
    }
}

fn field_weights(r: &Weights) -> [f64; N_FIELDS] {
    let mut w = [0.0; N_FIELDS];
    w[Field::Name as usize] = r.name;
    w[Field::Qualifier as usize] = r.name;
    w[Field::Signature as usize] = 1.0;
    w[Field::Doc as usize] = r.doc;
    w[Field::Body as usize] = 1.0;
    w
}

/// Occurrences of a posting, weighted by field.
#[inline]
fn weigh(counts: &FieldCounts, weights: &[f64; N_FIELDS]) -> f64 {
    let mut tf = 0.0;
    for i in 0..N_FIELDS {
        tf += f64::from(counts[i]) * weights[i];
    }
    tf
}

/// Looks up the terms and reads the postings of the heaviest, rarest first.
fn read_terms(
    view: &dyn IndexView,
    terms: &[QueryTerm],
    s: &mut Scratch,
    cancel: &dyn Fn() -> bool,
) -> Vec<Term> {
    let stats = view.stats();
    let chunks_per_file = stats.n_chunks / stats.n_files.max(1);
    // If all terms are scored, frequencies are counted while reading postings.
    let reads_all = terms.len() <= TERMS_MAX;
    let mut found = Vec::with_capacity(terms.len());
    let mut idfs: Vec<Option<f64>> = Vec::with_capacity(terms.len());
    for (place, q) in terms.iter().enumerate() {
        if cancel() {
            break;
        }
        idfs.push(None);
        let (df, postings) = if reads_all {
            let postings = s.read_postings(view, &q.term);
            (postings.len() as u32, postings)
        } else {
            (view.doc_frequency(&q.term), 0..0)
        };
        let paths = s.read_paths(view, &q.term);
        let n_paths = paths.len();
        if df == 0 && n_paths == 0 {
            continue;
        }
        // A path counts for all chunks of its file, estimated by the average.
        let n = u64::from(df).max(n_paths as u64 * chunks_per_file).min(stats.n_chunks);
        // A form does not weigh more than its word, however rare it is.
        let of_word = q.form_of.and_then(|w| idfs[w]).unwrap_or(f64::INFINITY);
        let own = idf(stats.n_chunks, n).min(of_word);
        idfs[place] = Some(own);
        let term = Term {
            text: q.term.clone(),
            word: q.form_of.unwrap_or(place),
            idf: own,
            weight: q.weight,
            postings,
            paths,
        };
        found.push((df, term));
    }
    if found.len() > TERMS_MAX {
        found.sort_by(|a, b| {
            (b.1.idf * b.1.weight).total_cmp(&(a.1.idf * a.1.weight)).then_with(|| a.1.text.cmp(&b.1.text))
        });
        found.truncate(TERMS_MAX);
    }
    found.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.text.cmp(&b.1.text)));
    let mut found: Vec<Term> = found.into_iter().map(|f| f.1).collect();
    if !reads_all {
        for term in found.iter_mut().take_while(|_| !cancel()) {
            term.postings = s.read_postings(view, &term.text);
        }
    }
    found
}

/// Returns the chunks to score exactly, in ascending order, so that neighbours are read together.
fn choose(
    view: &dyn IndexView,
    terms: &[Term],
    r: &Weights,
    s: &mut Scratch,
    cancel: &dyn Fn() -> bool,
) -> Vec<u32> {
    let weights = field_weights(r);
    first_pass(terms, &weights, s, cancel);
    let path_files = score_paths(terms, r, s);
    spread_paths(view, &path_files, s);
    let mut kept = best(s);
    kept.sort_unstable();
    // The arrays must be zero again for the next request.
    for c in s.touched.drain(..) {
        s.scores[c as usize] = 0.0;
    }
    kept
}

/// Adds the weight of each posting at average length.
fn first_pass(terms: &[Term], weights: &[f64; N_FIELDS], s: &mut Scratch, cancel: &dyn Fn() -> bool) {
    let n = terms.iter().filter_map(|t| s.postings(t).last()).map(|p| p.chunk.index() + 1).max().unwrap_or(0);
    let Scratch { scores, touched, postings, .. } = s;
    if scores.len() < n {
        scores.resize(n, 0.0);
    }
    for t in terms.iter().take_while(|_| !cancel()) {
        let full = t.idf * t.weight;
        for p in &postings[t.postings.clone()] {
            let tf = weigh(&p.counts, weights);
            if tf > 0.0 && full > 0.0 {
                let score = &mut scores[p.chunk.index()];
                if *score == 0.0 {
                    touched.push(p.chunk.0);
                }
                *score += full * BM25.weight(tf, BM25.k1);
            }
        }
    }
}

/// The postings within a range of chunks.
fn within(postings: &[Posting], chunks: Range<usize>) -> &[Posting] {
    let start = postings.partition_point(|p| p.chunk.index() < chunks.start);
    let rest = &postings[start..];
    &rest[..rest.partition_point(|p| p.chunk.index() < chunks.end)]
}

/// Scores the paths of files; returns the best files.
fn score_paths(terms: &[Term], r: &Weights, s: &Scratch) -> Vec<(FileDoc, f64)> {
    let mut sums: FxHashMap<FileDoc, f64> = FxHashMap::default();
    for t in terms {
        for p in s.paths(t) {
            let tf = f64::from(p.count) * r.name;
            *sums.entry(p.file).or_insert(0.0) += t.idf * t.weight * BM25.weight(tf, BM25.k1);
        }
    }
    let mut files: Vec<(FileDoc, f64)> = sums.into_iter().filter(|f| f.1 > 0.0).collect();
    files.sort_unstable_by_key(|f| f.0);
    let floor = floor(files.iter().map(|f| f.1), PATH_FILES_MAX);
    files.retain(|f| f.1 >= floor);
    files
}

/// The `n`-th best of some scores, `n` from 1; the least possible one if they are fewer.
fn floor(scores: impl Iterator<Item = f64>, n: usize) -> f64 {
    let mut scores: Vec<f64> = scores.collect();
    if scores.len() <= n {
        return f64::NEG_INFINITY;
    }
    *scores.select_nth_unstable_by(n - 1, |a, b| b.total_cmp(a)).1
}

/// Adds the score of a path to every chunk of its file.
fn spread_paths(view: &dyn IndexView, files: &[(FileDoc, f64)], s: &mut Scratch) {
    for &(file, worth) in files {
        let range = view.chunks_in(file);
        if s.scores.len() < range.end as usize {
            s.scores.resize(range.end as usize, 0.0);
        }
        for c in range {
            let score = &mut s.scores[c as usize];
            if *score == 0.0 {
                s.touched.push(c);
            }
            *score += worth;
        }
    }
}

/// Returns the best chunks. Those that tie with the last one are kept too, so that handles do not decide.
fn best(s: &Scratch) -> Vec<u32> {
    let score = |c: &u32| s.scores[*c as usize];
    let floor = floor(s.touched.iter().map(score), CANDIDATES_MAX);
    s.touched.iter().copied().filter(|c| score(c) >= floor).collect()
}

/// Scores the kept chunks, which are ascending, with lengths and paths. The first `n_asked` terms belong to
/// the query, the others to feedback.
fn second_pass(
    units: &mut Units,
    terms: &[Term],
    n_asked: usize,
    r: &Weights,
    kept: &[u32],
    s: &mut Scratch,
) -> Vec<ChunkHit> {
    let stats = units.view.stats();
    let n_terms = terms.len();
    if n_terms == 0 || kept.is_empty() {
        return Vec::new();
    }
    let average_total = stats.field_lens.iter().sum::<u64>() as f64 / stats.n_chunks.max(1) as f64;
    let records = read_kept(units, terms, &field_weights(r), kept, s);
    let full: Vec<f64> = terms.iter().map(|t| t.idf * t.weight).collect();
    let words = WordsOf::new(&terms[..n_asked], &full[..n_asked]);
    let paths = path_counts(&records, terms, s);
    let mut hits = Vec::with_capacity(kept.len());
    for ((&c, record), row) in kept.iter().zip(&records).zip(s.matrix.chunks_exact_mut(n_terms)) {
        let len: f64 = record.lens.iter().map(|l| f64::from(*l)).sum();
        let norm = BM25.norm(len, average_total);
        // Sums the saturated weights.
        let saturated = |row: &[f64], full: &[f64]| -> f64 {
            let held = row.iter().zip(full).filter(|(tf, _)| **tf > 0.0);
            held.map(|(tf, full)| full * BM25.weight(*tf, norm)).sum()
        };
        let own = saturated(&row[..n_asked], &full[..n_asked]);
        let fed = saturated(&row[n_asked..], &full[n_asked..]);
        let covered = words.covered(&row[..n_asked]);
        let in_path = &paths[&record.file];
        let score = if in_path.is_empty() {
            own + fed
        } else {
            for &(j, count) in in_path {
                row[j] += r.name * f64::from(count);
            }
            saturated(row, &full)
        };
        if score > 0.0 {
            hits.push(ChunkHit { chunk: ChunkDoc(c), score, own, fed, coverage: covered });
        }
    }
    hits
}

/// Computes [`Weighted::known`].
fn known(query: &Query, terms: &[Term], n_chunks: u64) -> f64 {
    let said = query.terms.iter().enumerate().filter(|(_, t)| t.word.is_some() && !t.term.starts_with('='));
    let (mut held, mut all) = (0.0, 0.0);
    for (place, t) in said {
        match terms.iter().filter(|x| x.word == place).map(|x| x.idf).reduce(f64::max) {
            Some(idf) => {
                held += t.weight * idf;
                all += t.weight * idf;
            }
            None => all += t.weight * idf(n_chunks, 1),
        }
    }
    if all > 0.0 { held / all } else { 1.0 }
}

/// Maps terms to words; all forms of a word map to it.
struct WordsOf {
    /// The number of the word of each term, from 0.
    of_term: Vec<usize>,
    /// The weight of each word in parts of all: that of its heaviest form.
    weights: Vec<f64>,
}

impl WordsOf {
    fn new(terms: &[Term], full: &[f64]) -> Self {
        let mut numbers: FxHashMap<usize, usize> = FxHashMap::default();
        let mut weights: Vec<f64> = Vec::new();
        let mut of_term = Vec::with_capacity(terms.len());
        for (t, full) in terms.iter().zip(full) {
            let number = *numbers.entry(t.word).or_insert(weights.len());
            if number == weights.len() {
                weights.push(0.0);
            }
            weights[number] = weights[number].max(*full);
            of_term.push(number);
        }
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= total.max(f64::MIN_POSITIVE));
        Self { of_term, weights }
    }

    /// The weight of the words with at least one form in a row, 0..1.
    fn covered(&self, row: &[f64]) -> f64 {
        // There are at most TERMS_MAX words, so they fit the bits of a number.
        let mut seen = 0_u64;
        let mut sum = 0.0;
        for (&word, _) in self.of_term.iter().zip(row).filter(|(_, tf)| **tf > 0.0) {
            if seen & (1 << word) == 0 {
                seen |= 1 << word;
                sum += self.weights[word];
            }
        }
        sum
    }
}

/// Returns the records of the kept chunks, and fills the matrix with the weight of each term, one row for
/// each chunk.
fn read_kept(
    units: &mut Units,
    terms: &[Term],
    weights: &[f64; N_FIELDS],
    kept: &[u32],
    s: &mut Scratch,
) -> Vec<ChunkRecord> {
    let n_terms = terms.len();
    let Scratch { matrix, slots, postings, .. } = s;
    matrix.clear();
    matrix.resize(kept.len() * n_terms, 0.0);
    let most = kept.last().map_or(0, |m| *m as usize + 1);
    if slots.len() < most {
        slots.resize(most, 0);
    }
    for (slot, &c) in kept.iter().enumerate() {
        slots[c as usize] = slot as u32 + 1;
    }
    // Handles are ascending, so the postings of a term for them form one run.
    let range = kept.first().map_or(0, |c| *c as usize)..most;
    for (j, t) in terms.iter().enumerate() {
        for p in within(&postings[t.postings.clone()], range.clone()) {
            let slot = slots[p.chunk.index()] as usize;
            if slot > 0 {
                matrix[(slot - 1) * n_terms + j] = weigh(&p.counts, weights);
            }
        }
    }
    for &c in kept {
        slots[c as usize] = 0;
    }
    kept.iter().map(|c| units.chunk(ChunkDoc(*c))).collect()
}

/// The terms in the paths of the files of `chunks`, which are few compared with all files with a term in their
/// path: the index and the count of each.
fn path_counts(chunks: &[ChunkRecord], terms: &[Term], s: &Scratch) -> FxHashMap<FileDoc, Vec<(usize, u8)>> {
    let mut of: FxHashMap<FileDoc, Vec<(usize, u8)>> = chunks.iter().map(|c| (c.file, Vec::new())).collect();
    for (j, t) in terms.iter().enumerate() {
        for p in s.paths(t) {
            if let Some(counts) = of.get_mut(&p.file) {
                counts.push((j, p.count));
            }
        }
    }
    of
}

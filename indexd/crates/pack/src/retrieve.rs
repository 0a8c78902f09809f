//! Ranks units for a query: scored terms first, then everything else that speaks for a unit.
//!
//! ```text
//! total = factor(roles) * ( lexical + feedback + units + gate * files )
//! units = sum of weight * strength over the signals of the unit itself
//! files = the same over the signals of its file (path, evidence, names, history)
//! gate  = g + (1 - g) * sqrt(lexical)
//! ```
//!
//! `lexical` is BM25F in parts of the best unit's; every strength lies in 0..1 (file evidence up to
//! about 2.3). The gate keeps a good file from carrying in what has nothing to do with the text. Each
//! signal has one weight in [`Ranking`], 0 switches it off, and what each added is kept in
//! [`Signals`] so that any score can explain itself.

mod alike;
pub mod bridge;
pub mod feedback;
pub mod history;
pub mod lexical;
pub mod literal;
pub mod named;

use crate::config::Ranking;
use crate::gather::files_of;
use crate::query::Query;
use crate::request::SeedProvider;
use crate::unit::{Unit, UnitKey, Units};
use indexd_model::path::dir_of;
use indexd_model::view::{DefRecord, FileRecord};
use indexd_model::{ChunkDoc, ChunkKind, DefFlags, FileDoc, FileRoles, Language};
use lexical::{ChunkHit, Lexical, Weighted};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::sync::Arc;

/// Units that are looked at with all signals, the lexically best.
const UNITS_MAX: usize = 400;
/// Chunks of a file that make up its evidence, and how the later ones fade.
const FILE_EVIDENCE_UNITS: usize = 5;

/// Hits that give way to others, the best: each costs a look at its definition.
const GIVE_WAY_MAX: usize = 150;

/// Better hits that one looks like when it gives way: what comes in pairs changes in pairs.
const ALIKE_MIN: i32 = 2;

/// Chunks of the best files that are looked at whether they hold a word of the text or not.
const CHUNKS_ADDED_MAX: usize = 400;

/// What can speak for a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Signal {
    /// Scored terms of its text.
    Lexical,
    /// Scored words that mark the best hits.
    Feedback,
    /// Scored terms of the path of its file, beyond what its text says already.
    Path,
    /// Other good units of its file.
    FileEvidence,
    /// Other good members of its type.
    TypeEvidence,
    /// Its file is named.
    NamedFile,
    /// Its folder is named.
    NamedFolder,
    /// It is named.
    NamedSymbol,
    /// A stack frame points at it.
    Frame,
    /// It holds a phrase or an error message.
    Literal,
    /// Past commits with such words touched its file.
    History,
    /// Its file was touched lately.
    Recency,
    /// It was touched itself lately.
    Touched,
    /// Tests that fit call it.
    TestBridge,
    /// A good hit has its name.
    Sibling,
}

/// How many signals there are.
pub const N_SIGNALS: usize = 15;

impl Signal {
    /// Every signal, in order.
    pub const ALL: [Self; N_SIGNALS] = [
        Self::Lexical,
        Self::Feedback,
        Self::Path,
        Self::FileEvidence,
        Self::TypeEvidence,
        Self::NamedFile,
        Self::NamedFolder,
        Self::NamedSymbol,
        Self::Frame,
        Self::Literal,
        Self::History,
        Self::Recency,
        Self::Touched,
        Self::TestBridge,
        Self::Sibling,
    ];

    /// The name in explanations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lexical => "lexical",
            Self::Feedback => "feedback",
            Self::Path => "path",
            Self::FileEvidence => "fileEvidence",
            Self::TypeEvidence => "typeEvidence",
            Self::NamedFile => "namedFile",
            Self::NamedFolder => "namedFolder",
            Self::NamedSymbol => "namedSymbol",
            Self::Frame => "frame",
            Self::Literal => "literal",
            Self::History => "history",
            Self::Recency => "recency",
            Self::Touched => "touched",
            Self::TestBridge => "testBridge",
            Self::Sibling => "sibling",
        }
    }

    /// Whether it says something about the file and not about the unit.
    pub fn is_of_file(self) -> bool {
        matches!(
            self,
            Self::Path
                | Self::FileEvidence
                | Self::NamedFile
                | Self::NamedFolder
                | Self::History
                | Self::Recency
        )
    }

    /// Its weight; the lexical score is the unit that the others are measured in.
    pub fn weight(self, r: &Ranking) -> f64 {
        f64::from(match self {
            // The weights of path and feedback are inside their strengths.
            Self::Lexical | Self::Feedback | Self::Path => 1.0,
            Self::FileEvidence => r.file_evidence,
            Self::TypeEvidence => r.type_evidence,
            Self::NamedFile => r.named_file,
            Self::NamedFolder => r.named_folder,
            Self::NamedSymbol => r.named_symbol,
            Self::Frame => r.frame,
            Self::Literal => r.literal,
            Self::History => r.history,
            Self::Recency => r.recency,
            Self::Touched => r.touched,
            Self::TestBridge => r.test_bridge,
            Self::Sibling => r.sibling,
        })
    }
}

/// Strength of each signal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Signals(pub [f64; N_SIGNALS]);

impl Signals {
    /// The strength of one.
    pub fn get(&self, signal: Signal) -> f64 {
        self.0[signal as usize]
    }

    /// Raises one to at least `strength`.
    pub fn raise(&mut self, signal: Signal, strength: f64) {
        let at = &mut self.0[signal as usize];
        *at = at.max(strength);
    }

    fn set(&mut self, signal: Signal, strength: f64) {
        self.0[signal as usize] = strength;
    }

    fn total(&self, weights: &[f64; N_SIGNALS], gate: f64) -> f64 {
        let (mut units, mut files) = (0.0, 0.0);
        for s in Signal::ALL {
            let part = self.get(s) * weights[s as usize];
            if s.is_of_file() {
                files += part;
            } else {
                units += part;
            }
        }
        let own = self.get(Signal::Lexical).max(self.get(Signal::NamedSymbol)).max(self.get(Signal::Frame));
        units + files * (gate + (1.0 - gate) * own.min(1.0).sqrt())
    }
}

/// What a file is to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Source that does the work.
    Code,
    /// Tests.
    Test,
    /// Documents.
    Doc,
    /// Configuration and build files.
    Config,
}

/// The role of a file.
pub fn role_of(file: &FileRecord) -> Role {
    let is = |r| file.roles.has(r);
    if is(FileRoles::TEST) {
        Role::Test
    } else if is(FileRoles::DOC) || file.language == Language::Markdown {
        Role::Doc
    } else if is(FileRoles::CONFIG)
        || is(FileRoles::MANIFEST)
        || matches!(
            file.language,
            Language::GoMod
                | Language::GoWork
                | Language::Toml
                | Language::Yaml
                | Language::Json
                | Language::Ini
                | Language::Make
        )
    {
        Role::Config
    } else {
        Role::Code
    }
}

/// Whether a document tells what changed: one of its path's names says so.
fn is_news(path: &str) -> bool {
    path.split('/').any(|name| {
        let name = name.split('.').next().unwrap_or("");
        let letters: String =
            name.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect();
        matches!(
            letters.as_str(),
            "changelog"
                | "changelogs"
                | "changes"
                | "history"
                | "news"
                | "releasenotes"
                | "releases"
                | "whatsnew"
        )
    })
}

/// A ranked unit.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The unit.
    pub unit: Rc<Unit>,
    /// Its file.
    pub file: Rc<FileRecord>,
    /// The role of its file.
    pub role: Role,
    /// What speaks for it.
    pub signals: Signals,
    /// What remains of the sum, by the roles of the file.
    pub factor: f64,
    /// The total.
    pub total: f64,
    /// The number of the type it belongs to, in no order that means anything.
    of_type: Option<u32>,
}

/// What retrieval found.
pub struct Retrieved {
    /// All hits, best first, equal ones by path and place.
    pub hits: Vec<Hit>,
    /// The terms with their weights in this corpus.
    pub weighted: Weighted,
    /// The routes by which something was found.
    pub providers: Vec<&'static str>,
}

/// Ranks the units of the snapshot for `query`. A query without usable terms, mentions and literals
/// gives none.
pub fn retrieve(units: &mut Units, query: &Query, r: &Ranking, provider: SeedProvider) -> Retrieved {
    let weights: [f64; N_SIGNALS] = Signal::ALL.map(|s| match (provider, s) {
        (
            SeedProvider::Sparse,
            Signal::Lexical | Signal::Path | Signal::FileEvidence | Signal::TypeEvidence | Signal::Feedback,
        ) => s.weight(r),
        (SeedProvider::Fts, Signal::Literal | Signal::NamedSymbol) => 1.0,
        (SeedProvider::Fts, Signal::Lexical) => 0.01,
        (SeedProvider::Sparse | SeedProvider::Fts, _) => 0.0,
        _ => s.weight(r),
    });
    let is_on = |s: Signal| weights[s as usize] > 0.0;
    let (mut scored, chunk_hits) = Lexical::score(units, query, r);
    let mut table = Table::new(units, chunk_hits, r);
    if is_on(Signal::NamedFile)
        || is_on(Signal::NamedFolder)
        || is_on(Signal::NamedSymbol)
        || is_on(Signal::Frame)
    {
        named::mark(units, query, &mut table);
    }
    if r.files_whole > 0 {
        table.add_units_of_best_files(units, &weights, r.files_whole as usize);
    }
    if is_on(Signal::TypeEvidence) {
        table.number_types(units);
    }
    table.mark_evidence();
    if is_on(Signal::Literal) && !query.literals.is_empty() {
        literal::mark(units, query, &mut table);
    }
    if is_on(Signal::History) || is_on(Signal::Recency) || is_on(Signal::Touched) {
        history::mark(units, query, &mut table);
    }
    table.rank(&weights);
    table.read_ahead(units);
    if is_on(Signal::Feedback) && r.feedback > 0.0 {
        let words = feedback::words_of_best(units, query, &table, f64::from(r.feedback));
        let chunks = table.hits.iter().flat_map(|h| h.unit.chunks.iter().copied()).collect();
        let chunk_hits = scored.score_again(units, &words, chunks, r);
        table.set_lexical(units, &chunk_hits);
        table.mark_evidence();
        table.rank(&weights);
    }
    let mut again = is_on(Signal::TestBridge) && bridge::mark_tests(units, &mut table);
    again |= is_on(Signal::Sibling) && bridge::mark_siblings(units, &mut table);
    if again {
        table.rank(&weights);
    }
    table.give_way(units);
    table.read_ahead(units);
    let found = |s: &Signal| is_on(*s) && table.hits.iter().any(|h| h.signals.get(*s) > 0.0);
    let routes = ROUTES.iter().filter(|(_, signals)| signals.iter().any(found));
    let providers = routes.map(|(name, _)| *name).collect();
    Retrieved { hits: table.hits, weighted: scored.weighted(), providers }
}

/// The routes by their public names, each with the signals that come by it.
const ROUTES: [(&str, &[Signal]); 6] = [
    ("sparse", &[Signal::Lexical, Signal::Feedback]),
    ("fts", &[Signal::Literal]),
    ("symbol", &[Signal::NamedSymbol, Signal::Frame]),
    ("path", &[Signal::Path, Signal::NamedFile, Signal::NamedFolder]),
    ("history", &[Signal::History, Signal::Recency, Signal::Touched]),
    (GRAPH, &[Signal::TestBridge]),
];
/// The route of resolved edges; neighbours of the hits come by it too.
pub const GRAPH: &str = "graph";

/// The hits under construction.
pub struct Table {
    /// The hits.
    pub hits: Vec<Hit>,
    at: FxHashMap<UnitKey, usize>,
    ranking: Ranking,
}

impl Table {
    fn new(units: &mut Units, mut chunk_hits: Vec<ChunkHit>, r: &Ranking) -> Self {
        chunk_hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        // Ties at the cut stay together, as handles must not decide.
        let floor = chunk_hits.get(2 * UNITS_MAX - 1).map_or(0.0, |h| h.score);
        chunk_hits.retain(|h| h.score >= floor);
        let mut table = Self { hits: Vec::with_capacity(UNITS_MAX), at: FxHashMap::default(), ranking: *r };
        for h in &chunk_hits {
            let unit = units.of_chunk(h.chunk);
            table.hit(units, unit);
        }
        table.set_lexical(units, &chunk_hits);
        table
    }

    /// Sets what the words say of the hits; chunks of other units are left out.
    fn set_lexical(&mut self, units: &mut Units, chunk_hits: &[ChunkHit]) {
        for h in &mut self.hits {
            for s in [Signal::Lexical, Signal::Feedback, Signal::Path] {
                h.signals.set(s, 0.0);
            }
        }
        let top = f64::from(chunk_hits.iter().map(|h| h.score).fold(f32::MIN_POSITIVE, f32::max));
        for h in chunk_hits {
            let unit = units.of_chunk(h.chunk);
            let Some(&i) = self.at.get(&unit.key) else { continue };
            // A long definition is as good as its best part: the parts share its name anyway.
            let coverage = f64::from(1.0 - self.ranking.coverage + self.ranking.coverage * h.coverage);
            let signals = &mut self.hits[i].signals;
            signals.raise(Signal::Lexical, f64::from(h.own) * coverage / top);
            signals.raise(Signal::Feedback, f64::from(h.fed) / top);
            signals.raise(Signal::Path, f64::from(h.score - h.own - h.fed) / top);
        }
    }

    /// Lets the view get the texts of the first hits ready.
    fn read_ahead(&self, units: &Units) {
        units.view.will_read(&files_of(self.hits.iter().map(|h| &*h.unit)));
    }

    /// The hit of a unit, new or known.
    pub fn hit(&mut self, units: &mut Units, unit: Rc<Unit>) -> &mut Hit {
        let next = self.hits.len();
        let i = *self.at.entry(unit.key).or_insert(next);
        if i == next {
            let file = units.file(unit.file);
            let role = role_of(&file);
            let r = &self.ranking;
            let mut factor = match role {
                Role::Code if file.language == Language::Text => r.text_factor,
                Role::Code if unit.kind == ChunkKind::Comment => r.comment_factor,
                Role::Code if unit.kind.is_between() => r.between_factor,
                Role::Code if unit.kind == ChunkKind::Type => r.type_factor,
                Role::Code => 1.0,
                Role::Test => r.test_factor,
                Role::Doc if is_news(&file.path) => r.prose_factor * r.news_factor,
                Role::Doc | Role::Config => r.prose_factor,
            };
            if file.roles.has(FileRoles::GENERATED) || file.roles.has(FileRoles::VENDORED) {
                factor *= r.generated_factor;
            }
            if file.roles.has(FileRoles::EXAMPLE) {
                factor *= r.example_factor;
            }
            // Half of what can be lost is lost at four lines.
            let n_lines: u32 = unit.spans.iter().map(|(_, l)| l.count()).sum();
            factor *= 1.0 - r.bulk / (1.0 + n_lines as f32 / 4.0);
            self.hits.push(Hit {
                unit,
                file,
                role,
                signals: Signals::default(),
                factor: f64::from(factor),
                total: 0.0,
                of_type: None,
            });
        }
        &mut self.hits[i]
    }

    /// Adds the other units of the best files: a change often touches what none of its words name.
    fn add_units_of_best_files(&mut self, units: &mut Units, weights: &[f64; N_SIGNALS], n: usize) {
        let evidence = self.file_evidence();
        let mut files: FxHashMap<FileDoc, (f64, [f64; 3])> = FxHashMap::default();
        for h in self.hits.iter().filter(|h| h.role == Role::Code) {
            let of = |s: Signal| h.signals.get(s);
            let shared = [of(Signal::Path), of(Signal::NamedFile), of(Signal::NamedFolder)];
            let score = weights[Signal::FileEvidence as usize] * evidence[&h.unit.file]
                + shared[0]
                + weights[Signal::NamedFile as usize] * shared[1]
                + weights[Signal::NamedFolder as usize] * shared[2];
            let at = files.entry(h.unit.file).or_insert((0.0, [0.0; 3]));
            at.0 = at.0.max(score * h.factor);
            for (a, b) in at.1.iter_mut().zip(shared) {
                *a = a.max(b);
            }
        }
        let mut best: Vec<(FileDoc, f64, [f64; 3])> =
            files.into_iter().map(|(f, (s, v))| (f, s, v)).collect();
        best.sort_by(|a, b| {
            b.1.total_cmp(&a.1).then_with(|| units.file(a.0).path.cmp(&units.file(b.0).path))
        });
        let mut left = CHUNKS_ADDED_MAX;
        for (file, _, shared) in best.into_iter().take(n) {
            let chunks = units.file(file).chunks.clone();
            if chunks.len() > left {
                continue;
            }
            left -= chunks.len();
            for c in chunks {
                let unit = units.of_chunk(ChunkDoc(c));
                let signals = &mut self.hit(units, unit).signals;
                if signals.get(Signal::Path) == 0.0 && signals.get(Signal::Lexical) == 0.0 {
                    signals.raise(Signal::Path, shared[0]);
                }
                signals.raise(Signal::NamedFile, shared[1]);
                signals.raise(Signal::NamedFolder, shared[2]);
            }
        }
    }

    fn file_evidence(&self) -> FxHashMap<FileDoc, f64> {
        // The best of each file, best first.
        let mut best: FxHashMap<FileDoc, [f64; FILE_EVIDENCE_UNITS]> = FxHashMap::default();
        for h in &self.hits {
            let words = [Signal::Lexical, Signal::Feedback, Signal::Path].map(|s| h.signals.get(s));
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

    /// What the good units of a file and of a type add to each other.
    fn mark_evidence(&mut self) {
        let evidence = self.file_evidence();
        let words = |h: &Hit| h.signals.get(Signal::Lexical) + h.signals.get(Signal::Feedback);
        // The two best members of each type.
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
            h.signals.set(Signal::FileEvidence, evidence[&h.unit.file]);
            if let Some([first, second]) = h.of_type.map(|t| best[&t]) {
                let other = if first > words(h) { first } else { second };
                h.signals.set(Signal::TypeEvidence, other);
            }
        }
    }

    /// Finds out which hits belong to one type: the same scope in files of one folder.
    fn number_types(&mut self, units: &mut Units) {
        units.read_defs(self.hits.iter().filter_map(|h| h.unit.def.some()));
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

    /// Sums up and sorts; then the later units of a file give way a little, so that one file does
    /// not fill a pack.
    fn rank(&mut self, weights: &[f64; N_SIGNALS]) {
        let gate = f64::from(self.ranking.gate);
        for h in &mut self.hits {
            h.total = h.factor * h.signals.total(weights, gate);
        }
        let spread = f64::from(self.ranking.spread);
        if spread > 0.0 {
            let mut seen: FxHashMap<FileDoc, u32> = FxHashMap::default();
            for i in self.order() {
                let h = &mut self.hits[i as usize];
                let n = seen.entry(h.unit.file).or_insert(0);
                h.total /= 1.0 + spread * f64::from(*n);
                *n += 1;
            }
        }
        self.arrange();
    }

    /// What says little without other hits, or beside them, gives way: imports before which no
    /// definition of their file stands, a definition without a body where one of its name has one
    /// and no frame points at it, and of those with one name in one scope all but the best: a build
    /// has only one of the files for several platforms, of overloads, of the branches of a condition.
    /// What looks like two better ones gives way as well, the more the more of them there are.
    fn give_way(&mut self, units: &mut Units) {
        let best = self.hits.len().min(GIVE_WAY_MAX);
        let defs: Vec<Option<Rc<DefRecord>>> =
            self.hits[..best].iter().map(|h| h.unit.def.some().map(|d| units.def(d))).collect();
        let with_body: FxHashSet<Arc<str>> = self.hits[..best]
            .iter()
            .zip(&defs)
            .filter(|(h, _)| h.unit.kind != ChunkKind::Stub)
            .filter_map(|(_, d)| d.as_ref().map(|d| Arc::clone(&d.name)))
            .collect();
        let mut files: FxHashSet<FileDoc> = FxHashSet::default();
        let mut scopes: FxHashSet<(&str, &str)> = FxHashSet::default();
        let r = &self.ranking;
        let mut is_changed = false;
        for (h, def) in self.hits[..best].iter_mut().zip(&defs) {
            let mut keep = 1.0;
            if let Some(def) = def {
                files.insert(h.unit.file);
                let is_running = h.signals.get(Signal::Frame) > 0.0;
                if h.unit.kind == ChunkKind::Stub && with_body.contains(&def.name) && !is_running {
                    keep *= r.stub_factor;
                }
                // All files of a Go package share a scope, in which `init` may stand many times.
                let is_go = h.file.language == Language::Go;
                let scope = if is_go { dir_of(&h.file.path) } else { &h.file.path };
                let may_repeat = def.flags.has(DefFlags::SETTER) || (is_go && &*def.name == "init");
                if !may_repeat && !scopes.insert((scope, &def.qualified)) {
                    keep *= r.twin_factor;
                }
            } else if h.unit.kind == ChunkKind::Imports && !files.contains(&h.unit.file) {
                keep *= r.alone_factor;
            }
            h.total *= f64::from(keep);
            is_changed |= keep < 1.0;
        }
        if r.alike_factor < 1.0 {
            let n_alike = alike::count(units, &self.hits);
            for (h, n) in self.hits.iter_mut().zip(n_alike).filter(|(_, n)| *n >= ALIKE_MIN) {
                h.total *= f64::from(r.alike_factor).powi(n - ALIKE_MIN + 1);
                is_changed = true;
            }
        }
        if is_changed {
            self.arrange();
        }
    }

    /// The positions of the hits, best first, equal ones by path and place.
    fn order(&self) -> Vec<u32> {
        // By numbers first: few totals are equal, and to look at paths in each comparison takes twice
        // as long. A total and its position in one integer take half the time of two fields.
        let keys = self.hits.iter().map(|h| i128::from(descending(h.total)) << 32);
        let mut keys: Vec<i128> = keys.zip(0_u32..).map(|(key, i)| key | i128::from(i)).collect();
        keys.sort_unstable();
        let mut order: Vec<u32> = keys.into_iter().map(|key| key as u32).collect();
        let hit = |i: &u32| &self.hits[*i as usize];
        let are_equal = |a: &u32, b: &u32| hit(a).total.total_cmp(&hit(b).total).is_eq();
        for equal in order.chunk_by_mut(are_equal).filter(|run| run.len() > 1) {
            let start = |h: &Hit| h.unit.spans[0].0.start;
            equal.sort_by(|a, b| {
                let (a, b) = (hit(a), hit(b));
                a.file.path.cmp(&b.file.path).then_with(|| start(a).cmp(&start(b)))
            });
        }
        order
    }

    /// Puts the hits into their order.
    fn arrange(&mut self) {
        let order = self.order();
        let mut place = vec![0; order.len()];
        for (to, from) in order.into_iter().enumerate() {
            place[from as usize] = to;
        }
        // Each hit has a place of its own, so this reaches every value and depends on no order.
        for at in self.at.values_mut() {
            *at = place[*at];
        }
        for i in 0..place.len() {
            while place[i] != i {
                let to = place[i];
                self.hits.swap(i, to);
                place.swap(i, to);
            }
        }
    }
}

/// An integer that is the lower the higher `total` is, by [`f64::total_cmp`].
fn descending(total: f64) -> i64 {
    let bits = total.to_bits() as i64;
    !(bits ^ (((bits >> 63) as u64) >> 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::descending;

    #[test]
    fn integers_keep_the_order_of_totals() {
        let totals = [f64::INFINITY, 2.0, 1.0 + f64::EPSILON, 1.0, f64::MIN_POSITIVE, 0.0, -0.0, -1.0, -2.0];
        assert!(totals.map(descending).is_sorted_by(|a, b| a < b));
    }
}

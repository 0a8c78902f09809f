//! The score of a unit: a formula over named features, and an explanation whose parts add up to it.
//!
//! ```text
//! total  = role * length * origin * own * crowding
//! own    = unit + gate * file
//! unit   = words + feedback + sum of weight * strength: type, name, literal, touched, tests, neighbours
//! file   = path + sum of weight * strength: file, place, commits
//! gate   = g + (1 - g) * sqrt(min(1, max(words, name)))
//! seed   = min(1, total / the best total)
//! score  = min(1, 0.7 * seed + 0.2 / (1 + hops) + 0.1 * evidence)
//! ```
//!
//! `words` is the BM25 score of the unit for the words of the text, divided by that of the best unit. Every
//! strength is in 0..1, except that of `file` (up to about 2.3). The gate lowers the features of a good file
//! for units that do not match the text. `docs/internals/ranking.md` describes each feature and its gain.

use crate::config::ScoringWeights;
use crate::pack::Explanation;
use crate::query::Kind;
use crate::role::{Role, is_news};
use crate::tuning::Weights;
use indexd_model::view::FileRecord;
use indexd_model::{ChunkKind, FileRoles, Language};

/// The features of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Feature {
    /// Words of the text in the unit.
    Words,
    /// Words in the unit that are typical of the best hits.
    Feedback,
    /// Words of the text in the path of the file.
    Path,
    /// Other good units of the file.
    File,
    /// Other good members of the type.
    Type,
    /// The file or its folder is named.
    Place,
    /// The unit is named, or a stack frame points at it.
    Name,
    /// A phrase of the text occurs in the unit.
    Literal,
    /// The words of the text in the subjects of past commits to the file.
    Commits,
    /// The lines of the unit changed recently.
    Touched,
    /// Matching tests call the unit.
    Tests,
    /// Good hits call the unit, or the unit calls them.
    Neighbours,
}

/// The number of features.
pub const N_FEATURES: usize = 12;

/// One feature: its name in explanations, its weight, and whether it belongs to the file.
pub struct Spec {
    /// The feature.
    pub feature: Feature,
    /// The name in explanations.
    pub name: &'static str,
    /// The factor of its strength, for a kind of text.
    pub weight: fn(&Weights, Kind) -> f64,
    /// True if it is a feature of the file. Then the gate multiplies it.
    pub is_of_file: bool,
}

/// All features, in the order in which they are summed.
pub const FEATURES: [Spec; N_FEATURES] = [
    // The weights of words, feedback and path are part of BM25.
    Spec { feature: Feature::Words, name: "words", weight: |_, _| 1.0, is_of_file: false },
    Spec { feature: Feature::Feedback, name: "feedback", weight: |_, _| 1.0, is_of_file: false },
    Spec { feature: Feature::Path, name: "path", weight: |_, _| 1.0, is_of_file: true },
    Spec { feature: Feature::File, name: "file", weight: |w, _| w.file, is_of_file: true },
    Spec { feature: Feature::Type, name: "type", weight: |w, _| w.of_type, is_of_file: false },
    Spec { feature: Feature::Place, name: "place", weight: |w, _| w.place, is_of_file: true },
    Spec { feature: Feature::Name, name: "name", weight: |w, _| w.named, is_of_file: false },
    Spec { feature: Feature::Literal, name: "literal", weight: |w, _| w.literal, is_of_file: false },
    Spec {
        feature: Feature::Commits,
        name: "commits",
        weight: |w, k| w.commits * k.past(),
        is_of_file: true,
    },
    Spec {
        feature: Feature::Touched,
        name: "touched",
        weight: |w, k| w.touched * k.past(),
        is_of_file: false,
    },
    Spec { feature: Feature::Tests, name: "tests", weight: |w, _| w.tests, is_of_file: false },
    Spec {
        feature: Feature::Neighbours,
        name: "neighbours",
        weight: |w, k| if k == Kind::Question { w.neighbours } else { 0.0 },
        is_of_file: false,
    },
];

/// The strength of each feature.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Features([f64; N_FEATURES]);

impl Features {
    /// The strength of a feature.
    pub fn get(&self, feature: Feature) -> f64 {
        self.0[feature as usize]
    }

    /// Raises the strength of a feature to at least `strength`.
    pub fn raise(&mut self, feature: Feature, strength: f64) {
        let at = &mut self.0[feature as usize];
        *at = at.max(strength);
    }

    /// Sets the strength of a feature.
    pub fn set(&mut self, feature: Feature, strength: f64) {
        self.0[feature as usize] = strength;
    }
}

/// The factors of a unit that do not depend on the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    role: f64,
    length: f64,
    origin: f64,
}

impl Prior {
    /// The factors of a unit with `n_lines` lines.
    pub fn of(file: &FileRecord, role: Role, kind: ChunkKind, n_lines: u32, w: &Weights) -> Self {
        let of_role = match role {
            Role::Code if file.language == Language::Text => 0.5,
            Role::Code if kind == ChunkKind::Comment => 0.5,
            // Most changes and most answers are in functions.
            Role::Code if kind == ChunkKind::Type => 0.85,
            Role::Code => 1.0,
            Role::Test => 0.35,
            // Changelogs contain the words of every issue.
            Role::Doc if is_news(&file.path) => 0.25,
            Role::Doc | Role::Config => 0.5,
        };
        let is_copied = file.roles.has(FileRoles::GENERATED) || file.roles.has(FileRoles::VENDORED);
        let copied = if is_copied { 0.4 } else { 1.0 };
        let example = if file.roles.has(FileRoles::EXAMPLE) { 0.6 } else { 1.0 };
        // At four lines a unit loses half of the maximum.
        let length = 1.0 - w.short / (1.0 + f64::from(n_lines) / 4.0);
        Self { role: of_role, length, origin: copied * example }
    }

    fn factors(self) -> [(&'static str, f64); 3] {
        [("role", self.role), ("length", self.length), ("origin", self.origin)]
    }
}

/// The input of the total of a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scored {
    /// The features of the unit.
    pub features: Features,
    /// The factors that do not depend on the text.
    pub prior: Prior,
    /// Factor for better units in its file, in 0..1.
    pub crowding: f64,
}

impl Scored {
    /// True if the unit is one of the few that contain a phrase of the text.
    pub fn holds_quote(&self) -> bool {
        self.features.get(Feature::Literal) >= 1.0
    }
}

/// The weights of the features in force for a request.
#[derive(Clone, Copy, Debug)]
pub struct Formula {
    weights: [f64; N_FEATURES],
    gate: f64,
}

impl Formula {
    /// The formula for a kind of text. Features for which `is_on` returns false have weight 0.
    pub fn new(w: &Weights, kind: Kind, is_on: impl Fn(Feature) -> bool) -> Self {
        let mut weights = [0.0; N_FEATURES];
        for (weight, spec) in weights.iter_mut().zip(&FEATURES) {
            *weight = if is_on(spec.feature) { (spec.weight)(w, kind) } else { 0.0 };
        }
        Self { weights, gate: w.gate }
    }

    /// True if a feature has weight.
    pub fn has(&self, feature: Feature) -> bool {
        self.weights[feature as usize] > 0.0
    }

    /// The summand of one feature.
    pub fn part(&self, f: &Features, feature: Feature) -> f64 {
        self.weights[feature as usize] * f.get(feature)
    }

    fn gate(&self, f: &Features) -> f64 {
        let own = f.get(Feature::Words).max(f.get(Feature::Name)).min(1.0);
        self.gate + (1.0 - self.gate) * own.sqrt()
    }

    /// The total of a unit without `crowding`.
    pub fn total(&self, f: &Features, prior: Prior) -> f64 {
        let sum = |of_file: bool| {
            let specs = FEATURES.iter().filter(|s| s.is_of_file == of_file);
            specs.fold(0.0, |sum, s| sum + self.part(f, s.feature))
        };
        let own = 0.0 + sum(false) + self.gate(f) * sum(true);
        prior.factors().iter().fold(1.0, |product, (_, x)| product * x) * own
    }

    /// The seed score of a unit, in 0..1; `scale` maps the best total to 1.
    pub fn seed(&self, s: &Scored, scale: f64) -> f64 {
        (self.total(&s.features, s.prior) * s.crowding * scale).min(1.0)
    }

    /// Explains [`Formula::seed`].
    pub fn explain_seed(&self, s: &Scored, scale: f64) -> Explanation {
        let factors = vec![
            self.explain(&s.features, s.prior),
            Explanation::leaf("crowding", s.crowding),
            Explanation::leaf("scale", scale),
        ];
        Explanation::least(
            "seed",
            vec![Explanation::product("scaled", factors), Explanation::leaf("most", 1.0)],
        )
    }

    fn explain(&self, f: &Features, prior: Prior) -> Explanation {
        let leaf = |name, weight: f64, strength: f64| {
            Explanation::product(
                name,
                vec![Explanation::leaf("weight", weight), Explanation::leaf("strength", strength)],
            )
        };
        let parts = |of_file: bool| {
            let specs = FEATURES.iter().filter(|s| s.is_of_file == of_file);
            specs.map(|s| leaf(s.name, self.weights[s.feature as usize], f.get(s.feature))).collect()
        };
        let unit = Explanation::sum("unit", parts(false));
        let gate = Explanation::leaf("gate", self.gate(f));
        let file = Explanation::product("file", vec![gate, Explanation::sum("sum", parts(true))]);
        let mut factors: Vec<Explanation> =
            prior.factors().into_iter().map(|(name, x)| Explanation::leaf(name, x)).collect();
        factors.push(Explanation::sum("own", vec![unit, file]));
        Explanation::product("total", factors)
    }
}

/// The hybrid score of a candidate, in 0..1: the weighted sum of the seed score, of `1 / (1 + hops)` and of
/// the confidence along the path.
pub fn hybrid(seed: f64, hops: u32, evidence: f64, w: &ScoringWeights) -> f64 {
    let distance = 1.0 / (1.0 + f64::from(hops));
    (w.seed * seed + w.distance * distance + w.evidence * evidence).min(1.0)
}

/// Explains [`hybrid`]; `seed` is the explanation of the seed score.
pub fn explain_hybrid(seed: Explanation, hops: u32, evidence: f64, w: &ScoringWeights) -> Explanation {
    let distance = Explanation::leaf("distance", 1.0 / (1.0 + f64::from(hops)));
    let weighted =
        |name, weight, of| Explanation::product(name, vec![Explanation::leaf("weight", weight), of]);
    let sum = Explanation::sum(
        "sum",
        vec![
            weighted("retrieval", w.seed, seed),
            weighted("nearness", w.distance, distance),
            weighted("evidence", w.evidence, Explanation::leaf("confidence", evidence)),
        ],
    );
    Explanation::least("score", vec![sum, Explanation::leaf("most", 1.0)])
}

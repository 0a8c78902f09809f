//! The numbers that ranking was tuned by, each on a plateau: halving or doubling it moves no figure of
//! the development set beyond the noise. They are not settings; `docs/ranking.md` has the trials.

use crate::config::settings;
use crate::query::Kind;
use indexd_text::Bm25;
use serde::{Deserialize, Serialize};

settings! {
    /// All of them.
    #[derive(Copy)]
    Tuning {
        /// BM25 and the weights of features.
        weights: Weights = Weights::default(),
        /// How excerpts are cut.
        excerpts: Excerpts = Excerpts::default(),
        /// Hits that are seeds at most.
        seeds_max: u32 = 60,
        /// A thrifty pack leaves out hits that are worth less than this part of the best for their room.
        thrift: f64 = 0.30,
    }

    /// BM25 and the weights of features; 0 switches a feature off.
    #[derive(Copy)]
    Weights {
        /// BM25: how soon repeated words stop counting.
        k1: f64 = 1.2,
        /// BM25: how much long units lose, 0..1.
        b: f64 = 0.75,
        /// A word in the name of a definition, in occurrences in its body.
        name: f64 = 3.0,
        /// A word in the names around it.
        qualifier: f64 = 2.0,
        /// A word in its doc comment.
        doc: f64 = 0.25,
        /// The same for questions, which are asked in the words of prose.
        doc_question: f64 = 1.0,
        /// A word in the path of its file.
        path: f64 = 3.0,
        /// A word of the title against one of the first paragraph.
        title: f64 = 2.0,
        /// Two neighbouring words written as one name, against each alone.
        joined: f64 = 0.4,
        /// Words derived from a word (`parser`, `parse`) against the word.
        derived: f64 = 0.6,
        /// Abbreviations and synonyms (`cfg`, `configuration`) against the word.
        synonyms: f64 = 0.5,
        /// The verb of an irregular form (`written`, `write`) against the form.
        verbs: f64 = 0.8,
        /// Words of questions that programs say otherwise (`again`, `retry`) against the word.
        concepts: f64 = 0.4,
        /// How much a unit loses that holds only some of the words: 0 nothing, 1 their share.
        coverage: f64 = 0.3,
        /// The heaviest word that marks the best hits, against a word of the first paragraph.
        feedback: f64 = 0.3,
        /// Other good units of the file.
        file: f64 = 0.3,
        /// Other good members of the type.
        of_type: f64 = 0.1,
        /// A named file or folder.
        place: f64 = 0.3,
        /// A named definition.
        named: f64 = 0.5,
        /// A phrase that stands in the unit.
        literal: f64 = 0.4,
        /// Subjects of past commits.
        commits: f64 = 0.4,
        /// A recent change of the unit.
        touched: f64 = 0.15,
        /// Fitting tests that call the unit.
        tests: f64 = 0.3,
        /// Calls between good hits and the unit, for questions.
        neighbours: f64 = 0.7,
        /// What the features of a file are worth to a unit without a word of the text, 0..1.
        gate: f64 = 0.65,
        /// What a unit of very few lines loses, 0..1.
        short: f64 = 0.25,
        /// How much the second, third, ... unit of a file loses.
        crowding: f64 = 0.04,
        /// What a unit keeps for each better one that it repeats.
        likeness: f64 = 0.7,
    }

    /// How excerpts are cut to size.
    #[derive(Copy)]
    Excerpts {
        /// The seed at rank `r`, from 0, is shown whole up to `first / (1 + fade * r)` percent of the
        /// budget.
        first_percent: u32 = 80,
        /// How fast that falls.
        fade: f64 = 0.7,
        /// What any seed is shown whole up to at most: the best may be wrong, and in a small pack
        /// nothing else would have room beside it.
        most_percent: u32 = 50,
        /// What every seed may have.
        least_percent: u32 = 5,
        /// The same two for questions: the best hit answers four in ten, so more of them are shown, with
        /// less of each.
        question_most_percent: u32 = 20,
        /// How fast the room falls for questions.
        question_fade: f64 = 1.5,
        /// Lines around the best matches of a long definition.
        window_lines: u32 = 40,
    }
}

impl Excerpts {
    /// The part of the budget, in percent, up to which the seed at rank `rank`, from 0, is shown whole.
    pub fn whole_percent(&self, kind: Kind, rank: usize) -> f64 {
        let (fade, most) = match kind {
            Kind::Question => (self.question_fade, self.question_most_percent),
            _ => (self.fade, self.most_percent),
        };
        (f64::from(self.first_percent) / (1.0 + fade * rank as f64)).min(f64::from(most))
    }
}

impl Weights {
    /// Those in force for a text of a kind.
    pub fn of_kind(mut self, kind: Kind) -> Self {
        if kind == Kind::Question {
            self.doc = self.doc_question;
        }
        self
    }

    /// The parameters of BM25.
    pub fn bm25(&self) -> Bm25 {
        Bm25 { k1: self.k1, b: self.b }
    }
}

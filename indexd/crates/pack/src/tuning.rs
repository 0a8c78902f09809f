//! The numbers by which ranking was tuned. They are not settings. `docs/internals/ranking.md` has the measurements, and
//! `docs/internals/ranking-log.md` has what other values change.

use crate::kind::Kind;
use crate::settings;

settings! {
    /// All tuned numbers.
    #[derive(Copy)]
    Tuning {
        /// The weights of fields, words and features.
        weights: Weights = Weights::default(),
        /// The sizes of excerpts.
        excerpts: Excerpts = Excerpts::default(),
        /// Maximum hits that are seeds.
        seeds_max: u32 = 60,
        /// With `stop: "value"`, hits are left out if their worth for their size is below this part of the
        /// best, 0..1.
        thrift: f64 = 0.30,
        /// The same for a question, whose answer is in few places.
        thrift_question: f64 = 0.5,
    }

    /// The weights of fields, words and features; 0 switches one off.
    #[derive(Copy)]
    Weights {
        /// Weight of a word in the name of a definition, in the enclosing names or in the path of the file,
        /// relative to its body.
        name: f64 = 3.0,
        /// Weight of a word in the doc comment.
        doc: f64 = 0.25,
        /// Weight of a word in the doc comment for questions, which are worded like prose.
        doc_question: f64 = 1.0,
        /// Weight of a word in the title, relative to the first paragraph.
        title: f64 = 2.0,
        /// Weight of an expected name as a whole, relative to a word of the first paragraph.
        expected_name: f64 = 2.0,
        /// Weight of a part of an expected name.
        expected_part: f64 = 2.0,
        /// Weight of an expected word, and of a word of another wording.
        expected_word: f64 = 2.0,
        /// Weight of two neighbouring words joined into one name, relative to each alone.
        joined: f64 = 0.4,
        /// Weight of derived words (`parser`, `parse`) and, for questions, of the verb of an irregular form
        /// (`written`, `write`), relative to the word.
        derived: f64 = 0.6,
        /// Weight of abbreviations and synonyms (`cfg`, `configuration`) and, for questions, of the words that
        /// programs use instead (`again`, `retry`), relative to the word.
        synonyms: f64 = 0.5,
        /// Loss of a unit that contains only some of the words: 0 for none, 1 for the full missing share.
        coverage: f64 = 0.3,
        /// Weight of the heaviest feedback word, relative to a word of the first paragraph.
        feedback: f64 = 0.3,
        /// Weight of other good units in the file.
        file: f64 = 0.3,
        /// Weight of other good members of the type.
        of_type: f64 = 0.1,
        /// Weight of a named file or folder.
        place: f64 = 0.3,
        /// Weight of a named definition.
        named: f64 = 0.5,
        /// Weight of a phrase that occurs in the unit.
        literal: f64 = 0.4,
        /// Weight of subjects of past commits.
        commits: f64 = 0.4,
        /// Weight of a recent change of the unit.
        touched: f64 = 0.15,
        /// Weight of matching tests that call the unit.
        tests: f64 = 0.3,
        /// Weight of calls between good hits and the unit, for questions.
        neighbours: f64 = 0.7,
        /// Part of the features of a file that a unit without a word of the text keeps, 0..1.
        gate: f64 = 0.65,
        /// Maximum loss of a unit with very few lines, 0..1.
        short: f64 = 0.25,
        /// Loss of later units of a file: the n-th, from 0, keeps `1 / (1 + crowding * n)`.
        crowding: f64 = 0.04,
    }

    /// The sizes of excerpts.
    #[derive(Copy)]
    Excerpts {
        /// The seed at rank `r`, from 0, is shown whole if it takes at most `first / (1 + fade * r)` percent
        /// of the budget.
        first_percent: u32 = 80,
        /// See `first_percent`.
        fade: f64 = 0.7,
        /// Maximum percent of the budget for a whole seed: the best may be wrong, and a small pack has no
        /// room for others beside it.
        most_percent: u32 = 50,
        /// Minimum percent of the budget for every seed.
        least_percent: u32 = 5,
        /// `most_percent` for questions. The best hit answers four in ten, so more hits are shown, with less
        /// of each.
        question_most_percent: u32 = 20,
        /// `fade` for questions.
        question_fade: f64 = 1.5,
        /// Lines of a window around the best matches of a long definition.
        window_lines: u32 = 40,
    }
}

impl Excerpts {
    /// Percent of the budget up to which the seed at rank `rank`, from 0, is shown whole.
    pub fn whole_percent(&self, kind: Kind, rank: usize) -> f64 {
        let (fade, most) = match kind {
            Kind::Question => (self.question_fade, self.question_most_percent),
            _ => (self.fade, self.most_percent),
        };
        (f64::from(self.first_percent) / (1.0 + fade * rank as f64)).min(f64::from(most))
    }
}

impl Weights {
    /// The weights for a kind of text.
    pub fn of_kind(mut self, kind: Kind) -> Self {
        if kind == Kind::Question {
            self.doc = self.doc_question;
        }
        self
    }
}

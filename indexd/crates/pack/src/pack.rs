//! The result: [`Pack`] and its parts, which wire and client share, and the reasons why candidates are left
//! out.

pub use indexd_api::explanation::Explanation;
pub use indexd_api::pack::*;
use indexd_model::Lines;

/// Version of the JSON form of a pack.
pub const SCHEMA_VERSION: &str = "1.0.0";

/// Converts lines to their form in a pack.
pub fn line_range(lines: Lines) -> LineRange {
    LineRange { start: lines.start, end: lines.end }
}

indexd_model::words! {
    /// The reason why a candidate is left out.
    pub enum DropReason {
        /// It did not fit the remaining budget.
        Budget = "budget" / "budget",
        /// The limit on items of its section was reached.
        SectionCap = "section-cap" / "budget",
        /// The limit on items of the pack was reached.
        ItemCap = "item-cap" / "budget",
        /// It was larger than the remaining budget, though smaller candidates after it fitted.
        TooLarge = "too-large" / "budget",
        /// Its lines overlap those of a better candidate.
        Overlap = "overlap" / "duplicate",
        /// Its content is in the pack already.
        Duplicate = "duplicate" / "duplicate",
        /// Its path lacks the required evidence.
        NoEvidence = "no-evidence" / "noEvidence",
        /// No section claims it.
        NoRule = "no-rule" / "unsupported",
        /// Its file may hold secrets.
        Sensitive = "sensitive" / "unsupported",
        /// Its file is not text.
        Binary = "binary" / "unsupported",
    }

    /// The name in `explain.excluded`.
    pub fn name;
    /// The public reason, one of four, under which it is counted.
    pub fn public;
}

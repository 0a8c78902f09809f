//! What comes back: [`Pack`] and its parts, which wire and client share, and why a candidate is left out.

pub use indexd_api::explanation::Explanation;
pub use indexd_api::pack::*;
use indexd_model::Lines;

/// Version of the pack's shape.
pub const SCHEMA_VERSION: &str = "1.0.0";

/// Lines as a pack shows them.
pub fn line_range(lines: Lines) -> LineRange {
    LineRange { start: lines.start, end: lines.end }
}

indexd_model::words! {
    /// Why a candidate is absent.
    pub enum DropReason {
        /// The room left was too small.
        Budget = "budget" / "budget",
        /// Its section had as many items as allowed.
        SectionCap = "section-cap" / "budget",
        /// The pack had as many items as allowed.
        ItemCap = "item-cap" / "budget",
        /// It is larger than the room left, though smaller ones fitted after it.
        TooLarge = "too-large" / "budget",
        /// It overlaps a better one.
        Overlap = "overlap" / "duplicate",
        /// Its content is there already.
        Duplicate = "duplicate" / "duplicate",
        /// Its path lacks required evidence.
        NoEvidence = "no-evidence" / "noEvidence",
        /// No section's rule claims it.
        NoRule = "no-rule" / "unsupported",
        /// Its file may hold secrets.
        Sensitive = "sensitive" / "unsupported",
        /// Its file is not text.
        Binary = "binary" / "unsupported",
    }

    /// The name in `explain.excluded`.
    pub fn name;
    /// The one of four public reasons that it counts under (OBS-02, C-09).
    pub fn public;
}

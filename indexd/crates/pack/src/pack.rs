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

/// Why a candidate is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The room left was too small.
    Budget,
    /// Its section had as many items as allowed.
    SectionCap,
    /// The pack had as many items as allowed.
    ItemCap,
    /// It is larger than the room left, though smaller ones fitted after it.
    TooLarge,
    /// It overlaps a better one.
    Overlap,
    /// Its content is there already.
    Duplicate,
    /// Its path lacks required evidence.
    NoEvidence,
    /// No section's rule claims it.
    NoRule,
    /// Its file may hold secrets.
    Sensitive,
    /// Its file is not text.
    Binary,
}

impl DropReason {
    /// Every reason, in order.
    pub const ALL: [Self; 10] = [
        Self::Budget,
        Self::SectionCap,
        Self::ItemCap,
        Self::TooLarge,
        Self::Overlap,
        Self::Duplicate,
        Self::NoEvidence,
        Self::NoRule,
        Self::Sensitive,
        Self::Binary,
    ];

    /// The name in `explain.excluded`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::SectionCap => "section-cap",
            Self::ItemCap => "item-cap",
            Self::TooLarge => "too-large",
            Self::Overlap => "overlap",
            Self::Duplicate => "duplicate",
            Self::NoEvidence => "no-evidence",
            Self::NoRule => "no-rule",
            Self::Sensitive => "sensitive",
            Self::Binary => "binary",
        }
    }

    /// The one of four public reasons that it counts under (OBS-02, C-09).
    pub fn public(self) -> &'static str {
        match self {
            Self::Budget | Self::SectionCap | Self::ItemCap | Self::TooLarge => "budget",
            Self::Overlap | Self::Duplicate => "duplicate",
            Self::NoEvidence => "noEvidence",
            Self::NoRule | Self::Sensitive | Self::Binary => "unsupported",
        }
    }
}

//! The kind of a text, by its form.

/// The kind of a text, by its form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// The text of a change or an issue; every text that is none of the others.
    #[default]
    Change,
    /// A question: one short paragraph that begins with a question word or ends with a question mark.
    Question,
    /// Names and nothing else: an identifier, `Type.method`, `path:line`, or up to two words.
    Name,
    /// A text with a stack trace.
    Trace,
    /// A text with a diff.
    Diff,
}

impl Kind {
    /// Factor of past commits. Their subjects are written like texts of changes, and they mislead questions
    /// about how code works.
    pub fn past(self) -> f64 {
        if matches!(self, Self::Question | Self::Name) { 0.0 } else { 1.0 }
    }
}

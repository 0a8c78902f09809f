//! The best places as lines of text: path, line, name, and the line that matters.

use crate::identity::Source;
use crate::render;
use crate::role::Role;
use crate::unit::{Unit, Units};
use indexd_model::view::DefRecord;
use indexd_text::one_line;

/// Maximum characters of a title.
const TITLE_CHARS_MAX: usize = 160;

/// A place with the line that matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line of the definition's name; for text between definitions its first line.
    pub line: u32,
    /// The qualified name; empty if there is none.
    pub name: String,
    /// The line that matters: the one with the heaviest words of the text, or that of the signature if no
    /// other line has heavier ones.
    pub at: u32,
    /// Its text, or the signature on one line.
    pub text: String,
}

impl Place {
    /// The place of a unit. `hits` are the words of the text in it: the line, counted from its start, and an
    /// index into `weights`.
    pub fn of(units: &mut Units, unit: &Unit, source: &Source, hits: &[(u32, u32)], weights: &[f64]) -> Self {
        let def = unit.def.some().map(|d| units.def(d));
        let start = unit.lines().start;
        let line = def.as_ref().map_or(start, |d| d.name_line);
        let mut sums: Vec<f64> = vec![0.0; unit.lines().count() as usize];
        for (at, term) in hits {
            sums[*at as usize] += weights[*term as usize];
        }
        // The name may be on the line before the unit, which belongs to another definition.
        let head = line.checked_sub(start).map(|head| head as usize);
        let of_head = head.and_then(|head| sums.get(head)).copied().unwrap_or(0.0);
        let (mut at, mut best) = (line, of_head);
        for (i, sum) in (start..).zip(&sums).skip(head.map_or(0, |head| head + 1)) {
            if *sum > best {
                (at, best) = (i, *sum);
            }
        }
        let text = if at == line { title(units, unit, source) } else { one_line(source.line(at)) };
        let name = def.map_or_else(String::new, |d| d.qualified.to_string());
        Self { line, name, at, text }
    }

    /// The place of a definition that is shown by the unit of another one, such as a field.
    pub fn of_member(def: &DefRecord, source: &Source) -> Self {
        let text = one_line(source.line(def.name_line));
        Self { line: def.name_line, name: def.qualified.to_string(), at: def.name_line, text }
    }

    /// Appends the place as one line.
    pub fn write(&self, path: &str, out: &mut String) {
        render::place(path, self.line, &self.name, (self.at, &self.text), out);
    }
}

/// True for code between definitions, such as imports, which names things and does nothing.
pub fn is_filler(unit: &Unit, role: Role) -> bool {
    role == Role::Code && unit.def.some().is_none() && unit.kind.is_between()
}

/// The signature on one line; for text without one, its first line. At most 160 characters.
pub fn title(units: &Units, unit: &Unit, source: &Source) -> String {
    let def = unit.def.some().map(|d| units.view.def(d));
    let head = def.as_ref().map(|d| source.slice(d.head)).filter(|h| !h.trim().is_empty());
    let first = || source.slice(unit.spans[0].0).lines().find(|l| !l.trim().is_empty()).unwrap_or("");
    one_line(head.unwrap_or_else(first)).chars().take(TITLE_CHARS_MAX).collect()
}

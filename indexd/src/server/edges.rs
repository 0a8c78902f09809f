//! Every resolved edge of a snapshot as one JSON object a line: the format that graph tools and
//! benchmarks read (`proto/PROTOCOL.md`, `export.edges`).
//!
//! Lines come sorted by place of the use, then of the definition, so that two exports of one state
//! are equal to the byte.

use indexd_model::view::{DefRecord, Edge};
use indexd_model::{DefDoc, DefIdx, DefKind, EdgeKind, FileDoc, IndexView, Role};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::sync::Arc;

/// One use and one definition that it names.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Line<'a> {
    kind: &'static str,
    src_file: &'a str,
    src_line: u32,
    src_col: u32,
    name: String,
    src_symbol: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    src_def_line: Option<u32>,
    dst_file: &'a str,
    dst_line: u32,
    #[serde(skip_serializing_if = "str::is_empty")]
    dst_symbol: &'a str,
    confidence: f64,
    via: &'static str,
}

/// Definitions read once for one export.
struct Defs<'a> {
    view: &'a dyn IndexView,
    records: FxHashMap<DefDoc, (Arc<DefRecord>, Arc<str>)>,
}

impl Defs<'_> {
    /// A definition and the path of its file.
    fn get(&mut self, def: DefDoc) -> (Arc<DefRecord>, Arc<str>) {
        let view = self.view;
        let found = self.records.entry(def).or_insert_with(|| {
            let record = view.def(def);
            let path = view.path(record.file);
            (Arc::new(record), path)
        });
        (Arc::clone(&found.0), Arc::clone(&found.1))
    }

    /// The innermost function or method at or around a definition.
    fn callable(&mut self, mut def: DefDoc) -> Option<Arc<DefRecord>> {
        while let Some(d) = def.some() {
            let (record, _) = self.get(d);
            if record.idx != DefIdx::NONE && record.kind.is_callable() {
                return Some(record);
            }
            def = record.parent;
        }
        None
    }
}

/// Calls `emit` with the lines of each file in turn, as text. Stops at the first error of `emit`.
///
/// # Errors
/// Those of `emit`.
pub fn export<E>(view: &dyn IndexView, emit: &mut dyn FnMut(&str) -> Result<(), E>) -> Result<(), E> {
    let mut defs = Defs { view, records: FxHashMap::default() };
    for file in view.files() {
        let text = file_lines(&mut defs, file);
        if !text.is_empty() {
            emit(&text)?;
        }
    }
    Ok(())
}

/// A line with what it is sorted by: the place of the use, the file and line of the definition, the
/// kind.
type Row = ((u32, u32), Arc<str>, u32, &'static str, String);

/// The kinds of edges that are written.
const KINDS: [EdgeKind; 5] =
    [EdgeKind::Call, EdgeKind::Usage, EdgeKind::Import, EdgeKind::Inherit, EdgeKind::Implement];

fn file_lines(defs: &mut Defs, file: FileDoc) -> String {
    let view = defs.view;
    let n_defs = view.interface(file).defs.len() as u32;
    let sources = std::iter::once(DefIdx::NONE).chain((0..n_defs).map(DefIdx));
    let edges: Vec<Edge> = sources.flat_map(|idx| view.edges_from(view.def_doc(file, idx), &KINDS)).collect();
    if edges.is_empty() {
        return String::new();
    }
    let text = view.text(file);
    let path = view.path(file);
    let mut rows: Vec<Row> = Vec::new();
    for edge in &edges {
        let (target, dst_file) = defs.get(edge.target);
        let (source, _) = defs.get(edge.source);
        let whole_file = target.idx == DefIdx::NONE;
        let dst_line = if whole_file { 1 } else { target.name_line };
        // An implementation has no use in the text: its place is the name of what implements.
        let own_place = (edge.kind == EdgeKind::Implement && source.idx != DefIdx::NONE)
            .then_some((source.name_span.start, source.name_line));
        let around = if own_place.is_some() { Some(source) } else { defs.callable(edge.source) };
        for o in &edge.occurrences {
            let (at, src_line) = own_place.unwrap_or((o.at, o.line));
            let src_col = column(&text, at);
            let kind = kind_name(edge.kind, o.role, &target);
            let line = Line {
                kind,
                src_file: &path,
                src_line,
                src_col,
                name: identifier(&text, at),
                src_symbol: around.as_ref().map_or("", |d| &d.qualified),
                src_def_line: around.as_ref().map(|d| d.name_line),
                dst_file: &dst_file,
                dst_line,
                dst_symbol: if whole_file { "" } else { &target.qualified },
                confidence: f64::from(o.confidence) / 100.0,
                via: o.rule.name(),
            };
            // The shapes above hold no type that JSON refuses.
            let Ok(json) = serde_json::to_string(&line) else { continue };
            rows.push(((src_line, src_col), Arc::clone(&dst_file), dst_line, kind, json));
        }
    }
    rows.sort_unstable();
    rows.dedup();
    rows.into_iter().flat_map(|row| [row.4, "\n".to_owned()]).collect()
}

fn kind_name(kind: EdgeKind, role: Role, target: &DefRecord) -> &'static str {
    match (kind, role) {
        (EdgeKind::Call, _) => "call",
        (EdgeKind::Import | EdgeKind::Export, _) => "import",
        (EdgeKind::Inherit, _) => "inherit",
        (EdgeKind::Implement, _) => "implement",
        (_, Role::Type) => "type",
        (_, Role::Field | Role::Key) => "field",
        (_, Role::Base) => "inherit",
        _ if target.idx != DefIdx::NONE && target.kind == DefKind::Field => "field",
        _ => "ref",
    }
}

/// The identifier at `at`; at a quoted import path, the path.
fn identifier(text: &str, at: u32) -> String {
    let rest = text.get(at as usize..).unwrap_or("");
    if let Some(quote @ ('"' | '`')) = rest.chars().next() {
        return rest[1..].split([quote, '\n']).next().unwrap_or("").to_owned();
    }
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    rest[..end].to_owned()
}

/// 1-based column in bytes.
pub(super) fn column(text: &str, at: u32) -> u32 {
    let before = text.as_bytes().get(..at as usize).unwrap_or(&[]);
    let line_start = before.iter().rposition(|b| matches!(b, b'\n' | b'\r')).map_or(0, |i| i + 1);
    (before.len() - line_start) as u32 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_identifiers_and_columns() {
        let text = "import \"net/http\"\n  x = größe_2(a)\r\nb";
        for (at, name, col) in
            [(7, "net/http", 8), (20, "x", 3), (24, "größe_2", 7), (38, "b", 1), (99, "", 1)]
        {
            assert_eq!((identifier(text, at).as_str(), column(text, at)), (name, col), "{at}");
        }
    }
}

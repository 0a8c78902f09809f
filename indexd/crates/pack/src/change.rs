//! A change as a list of definitions, with both versions of each.
//!
//! The caller supplies both sides of each file, their facts, and the runs of lines that differ. This module
//! assigns the lines to definitions and matches the definitions of both sides, by name or by body. Each
//! [`Segment`] prints its own part of the diff.

pub mod patch;

use crate::pack::{PartReport, Status};
use crate::role::{Role, role_of_marks};
use indexd_api::request::ChangeId;
use indexd_model::{
    DefFlags, DefIdx, DefKind, Facts, FileFacts, FileRoles, Language, LineIndex, Lines, Span, names,
};
use indexd_text::one_line;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum characters of a reported signature.
const SIGNATURE_CHARS_MAX: usize = 200;

/// Maximum characters of a signature in the header of a hunk.
const HEADER_CHARS_MAX: usize = 120;

/// A change between two states of a tree.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Its identity, a part of the identity of a pack.
    pub id: ChangeId,
    /// The files that differ, by path.
    pub files: Vec<ChangedFile>,
    /// Notes for the reader, one sentence each.
    pub notes: Vec<String>,
}

/// One file of a change.
#[derive(Clone, Debug, Default)]
pub struct ChangedFile {
    /// Its path; of a removed file the former path.
    pub path: String,
    /// The previous path if it was renamed.
    pub previous_path: Option<String>,
    /// The text before; `None` for a new file, or if it cannot be shown.
    pub before: Option<Version>,
    /// The text after; `None` for a removed file, or if it cannot be shown.
    pub after: Option<Version>,
    /// The runs of lines that differ, in order.
    pub hunks: Vec<Run>,
    /// True if the index holds the text after the change.
    pub is_indexed: bool,
    /// Why neither text is shown: binary, too large, or possibly secret.
    pub unreadable: Option<&'static str>,
}

/// A run of removed lines and the added lines that replace them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Number of lines before the run in the old text.
    pub before: u32,
    /// Number of removed lines.
    pub removed: u32,
    /// Number of lines before the run in the new text.
    pub after: u32,
    /// Number of added lines.
    pub added: u32,
}

/// The text of a file on one side.
#[derive(Clone, Debug)]
pub struct Version {
    /// The text.
    pub text: Arc<str>,
    /// Its lines.
    pub lines: LineIndex,
    /// Its facts.
    pub facts: FileFacts,
}

impl Version {
    fn line(&self, line: u32) -> &str {
        self.text.get(self.lines.span(line).range()).unwrap_or("").trim_end_matches(['\n', '\r'])
    }

    fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }
}

impl ChangedFile {
    /// The status: added, removed, renamed or modified.
    pub fn status(&self) -> Status {
        match (&self.before, &self.after, &self.previous_path) {
            (_, _, Some(_)) => Status::Renamed,
            (None, Some(_), _) => Status::Added,
            (Some(_), None, _) => Status::Removed,
            _ => Status::Modified,
        }
    }

    /// Its role marks and its language.
    fn marks(&self) -> (FileRoles, Language) {
        let version = self.after.as_ref().or(self.before.as_ref());
        version.map_or((FileRoles::default(), Language::Text), |v| {
            (v.facts.interface.roles, v.facts.interface.language)
        })
    }

    /// Its role.
    pub fn role(&self) -> Role {
        let (roles, language) = self.marks();
        role_of_marks(roles, language)
    }
}

/// The change of one definition, or of the lines of a file outside definitions.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The index of its file in [`Change::files`].
    pub file: usize,
    /// Its names, status, signatures and counts. The name of a removed definition is the former one. `contract`
    /// is true if its users may have to change: its signature or name differs or it is removed, or, for a type,
    /// its members differ.
    pub report: PartReport,
    /// Its kind; `None` for lines outside definitions.
    pub kind: Option<DefKind>,
    /// The definition in the old text, or `NONE`.
    pub before: DefIdx,
    /// The definition in the new text, or `NONE`.
    pub after: DefIdx,
    /// Review order, 0 first: contracts, other code, lines between definitions, tests, configuration,
    /// documents, generated files.
    pub rank: u8,
    /// The line of its name in the new text, from 1; 0 if there is none.
    head_line: u32,
    ops: Vec<Op>,
}

/// A line of a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Op {
    /// The line in the old text; 0 if added.
    before: u32,
    /// The line in the new text; 0 if removed.
    after: u32,
}

impl Op {
    fn is_change(self) -> bool {
        self.before == 0 || self.after == 0
    }
}

/// The definition that owns a line; `NONE` outside definitions.
type Owner = DefIdx;

/// Splits a change into one segment for each definition, ordered by file and place.
pub fn segments(change: &Change) -> Vec<Segment> {
    let mut out = Vec::new();
    for (i, file) in change.files.iter().enumerate() {
        of_file(i, file, &mut out);
    }
    find_moved(change, &mut out);
    out
}

/// Links removed definitions with equal ones added in another file, under any name.
fn find_moved(change: &Change, segments: &mut [Segment]) {
    let of = |status: Status| -> Vec<usize> {
        let is_it = |i: &usize| segments[*i].report.status == status && segments[*i].kind.is_some();
        (0..segments.len()).filter(is_it).collect()
    };
    let (gone, mut new) = (of(Status::Removed), of(Status::Added));
    if gone.len() * new.len() > RENAMES_LOOKED_AT_MAX {
        return;
    }
    for g in gone {
        let at = new.iter().position(|n| {
            let (gone, new) = (&segments[g], &segments[*n]);
            let before = change.files[gone.file].before.as_ref();
            let after = change.files[new.file].after.as_ref();
            let pair = before.zip(after).zip(gone.before.some().zip(new.after.some()));
            pair.is_some_and(|((before, after), (b, a))| is_renamed(before, b, after, a))
        });
        let Some(n) = at.map(|at| new.remove(at)) else { continue };
        let place = |s: &Segment| format!("{} in {}", s.report.name, change.files[s.file].path);
        let (from, to) = (place(&segments[g]), place(&segments[n]));
        segments[g].report.elsewhere = Some(to);
        segments[n].report.elsewhere = Some(from);
    }
}

fn of_file(i: usize, file: &ChangedFile, out: &mut Vec<Segment>) {
    let owners = [owners(file.before.as_ref()), owners(file.after.as_ref())];
    let keys = [keys(file.before.as_ref()), keys(file.after.as_ref())];
    let by_key: FxHashMap<&Key, DefIdx> = keys[1].iter().map(|(def, key)| (key, *def)).collect();
    // Maps each old definition to its new version.
    let mut now: FxHashMap<DefIdx, DefIdx> =
        keys[0].iter().filter_map(|(def, key)| Some((*def, *by_key.get(key)?))).collect();
    find_renamed(file, &keys, &mut now);
    let was: FxHashMap<DefIdx, DefIdx> = now.iter().map(|(b, a)| (*a, *b)).collect();
    let ops = ops(file);
    let owner = |side: usize, line: u32| owners[side].get(line as usize).copied().unwrap_or(DefIdx::NONE);
    // Segments in the order in which they first appear.
    let mut found: Vec<((Owner, Owner), Vec<Op>)> = Vec::new();
    let mut at: FxHashMap<(Owner, Owner), usize> = FxHashMap::default();
    for op in ops {
        let key = if op.after > 0 {
            let after = owner(1, op.after);
            (was.get(&after).copied().unwrap_or(DefIdx::NONE), after)
        } else {
            let before = owner(0, op.before);
            (before, now.get(&before).copied().unwrap_or(DefIdx::NONE))
        };
        let next = found.len();
        let n = *at.entry(key).or_insert(next);
        if n == next {
            found.push((key, Vec::new()));
        }
        found[n].1.push(op);
    }
    for ((before, after), ops) in found {
        if ops.iter().any(|op| op.is_change() && !is_blank(file, *op)) {
            out.push(segment(i, file, before, after, ops));
        }
    }
}

/// The number of lines before a line of one side in the text of the other side.
fn lines_before(file: &ChangedFile, op: Op) -> u32 {
    let is_added = op.after > 0;
    let starts_before = |run: &&Run| if is_added { run.after < op.after } else { run.before < op.before };
    let run = file.hunks.iter().rev().find(starts_before);
    run.map_or(0, |run| if is_added { run.before + run.removed } else { run.after })
}

fn is_blank(file: &ChangedFile, op: Op) -> bool {
    text_of(file, op).trim().is_empty()
}

fn text_of(file: &ChangedFile, op: Op) -> &str {
    let (version, line) = if op.after > 0 { (&file.after, op.after) } else { (&file.before, op.before) };
    version.as_ref().map_or("", |v| v.line(line))
}

/// Returns the owner of each line, from 1: the definition whose chunk holds the line.
fn owners(version: Option<&Version>) -> Vec<Owner> {
    let Some(v) = version else { return Vec::new() };
    let mut out = vec![DefIdx::NONE; v.lines.count() as usize + 2];
    for chunk in &v.facts.chunks {
        for line in chunk.lines.start..=chunk.lines.end {
            if let Some(slot) = out.get_mut(line as usize) {
                *slot = chunk.def;
            }
        }
    }
    out
}

/// Identifies a definition within its file.
type Key = (String, &'static str, u16);

/// Returns the definitions that own lines, with their keys.
fn keys(version: Option<&Version>) -> Vec<(DefIdx, Key)> {
    let Some(v) = version else { return Vec::new() };
    let facts = Facts::inside(&v.facts);
    let mut seen: BTreeMap<(String, &'static str), u16> = BTreeMap::new();
    let mut out: Vec<(DefIdx, Key)> = Vec::new();
    let mut known: Vec<DefIdx> = v.facts.chunks.iter().filter_map(|c| c.def.some()).collect();
    known.dedup();
    known.sort_unstable();
    known.dedup();
    for def in known {
        let it = facts.def(def);
        let name = names::qualified_name(&facts, def);
        let n = seen.entry((name.clone(), names::suffix(it.kind))).or_insert(0);
        out.push((def, (name, names::suffix(it.kind), *n)));
        *n += 1;
    }
    out
}

/// Adds pairs of definitions that differ only in their names.
fn find_renamed(file: &ChangedFile, keys: &[Vec<(DefIdx, Key)>; 2], now: &mut FxHashMap<DefIdx, DefIdx>) {
    let (Some(before), Some(after)) = (&file.before, &file.after) else { return };
    let taken: Vec<DefIdx> = now.values().copied().collect();
    let fresh: Vec<DefIdx> = keys[1].iter().map(|k| k.0).filter(|d| !taken.contains(d)).collect();
    let gone: Vec<DefIdx> = keys[0].iter().map(|k| k.0).filter(|d| !now.contains_key(d)).collect();
    if gone.len() * fresh.len() > RENAMES_LOOKED_AT_MAX {
        return;
    }
    let mut used: Vec<DefIdx> = Vec::new();
    for b in gone {
        let same = fresh.iter().find(|a| !used.contains(a) && is_renamed(before, b, after, **a));
        if let Some(a) = same {
            used.push(*a);
            now.insert(b, *a);
        }
    }
}

/// Maximum pairs of definitions of one file that are compared to find renamed ones.
const RENAMES_LOOKED_AT_MAX: usize = 2_500;

/// True if both definitions have the same kind and the same body, except for blanks and the name, and the
/// body is not trivial.
fn is_renamed(before: &Version, b: DefIdx, after: &Version, a: DefIdx) -> bool {
    let of = |v: &Version, def: DefIdx| {
        let facts = Facts::inside(&v.facts);
        let it = facts.def(def);
        let body = Span { start: it.head.end.max(it.name_span.end), end: it.span.end };
        // The doc comment may differ.
        let body = match it.doc {
            doc if body.contains(doc) && !doc.is_empty() => {
                format!(
                    "{}{}",
                    v.slice(Span { end: doc.start, ..body }),
                    v.slice(Span { start: doc.end, ..body })
                )
            }
            _ => v.slice(body).to_owned(),
        };
        (it.kind, body, facts.def_name(def).to_owned())
    };
    let (before, after) = (of(before, b), of(after, a));
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    before.0 == after.0
        && before.1.len() >= RENAMED_BYTES_MIN
        && words(&before.1.replace(&before.2, &after.2)) == words(&after.1)
}

/// Minimum bytes of a body whose equality proves a rename.
const RENAMED_BYTES_MIN: usize = 24;

/// Returns every line of a file as a line of a diff.
fn ops(file: &ChangedFile) -> Vec<Op> {
    let count = |v: &Option<Version>| v.as_ref().map_or(0, |v| v.lines.n_lines());
    let (n_before, n_after) = (count(&file.before), count(&file.after));
    let (mut before, mut after) = (1, 1);
    let mut out = Vec::new();
    for h in &file.hunks {
        while before <= h.before.min(n_before) && after <= h.after.min(n_after) {
            out.push(Op { before, after });
            (before, after) = (before + 1, after + 1);
        }
        (before, after) = (h.before + 1, h.after + 1);
        out.extend((0..h.removed).map(|i| Op { before: before + i, after: 0 }));
        out.extend((0..h.added).map(|i| Op { before: 0, after: after + i }));
        (before, after) = (before + h.removed, after + h.added);
    }
    while before <= n_before && after <= n_after {
        out.push(Op { before, after });
        (before, after) = (before + 1, after + 1);
    }
    out
}

fn segment(i: usize, file: &ChangedFile, before: DefIdx, after: DefIdx, ops: Vec<Op>) -> Segment {
    let name = |v: &Option<Version>, def: DefIdx| {
        let (v, def) = (v.as_ref()?, def.some()?);
        Some(names::qualified_name(&Facts::inside(&v.facts), def))
    };
    let of = [(&file.before, before), (&file.after, after)];
    let [signature_before, signature_after] = of.map(|(v, def)| signature(v.as_ref()?, def.some()?));
    let (name_before, name_after) = (name(&file.before, before), name(&file.after, after));
    let kind_of =
        |v: &Option<Version>, def: DefIdx| Some(Facts::inside(&v.as_ref()?.facts).def(def.some()?).kind);
    let kind = kind_of(&file.after, after).or_else(|| kind_of(&file.before, before));
    let is_renamed = name_before.is_some() && name_after.is_some() && name_before != name_after;
    let is_one_sided = name_before.is_some() != name_after.is_some();
    let status = match (is_one_sided, name_after.is_some(), is_renamed) {
        (true, true, _) => Status::Added,
        (true, false, _) => Status::Removed,
        (_, _, true) => Status::Renamed,
        _ => match file.status() {
            Status::Added => Status::Added,
            Status::Removed => Status::Removed,
            _ => Status::Modified,
        },
    };
    let shape = match kind {
        Some(k) if k.is_type() => ops.iter().any(|op| op.is_change() && says_something(file, *op)),
        Some(k) if k.is_callable() => signature_before != signature_after,
        _ => false,
    };
    let is_contract = match status {
        Status::Added => false,
        Status::Removed | Status::Renamed => kind.is_some_and(|k| k != DefKind::Section),
        Status::Modified => shape,
    };
    let is_local = [before, after].iter().zip(of).any(|(def, (v, _))| {
        v.as_ref()
            .zip(def.some())
            .is_some_and(|(v, d)| Facts::inside(&v.facts).def(d).flags.has(DefFlags::LOCAL))
    });
    let contract = is_contract && !is_local;
    let count = |is_it: fn(&&Op) -> bool| ops.iter().filter(is_it).count() as u32;
    let report = PartReport {
        previous_name: name_before.clone().filter(|_| is_renamed),
        name: name_after.or(name_before).unwrap_or_default(),
        status,
        contract,
        signature_before,
        signature_after,
        added: count(|op| op.before == 0),
        removed: count(|op| op.after == 0),
        ..PartReport::default()
    };
    let (rank, head_line) = (rank(file, kind, status, contract), head_line(file, after));
    Segment { file: i, report, kind, before, after, rank, head_line, ops }
}

fn head_line(file: &ChangedFile, after: DefIdx) -> u32 {
    let line = |v: &Version, def| v.lines.line(Facts::inside(&v.facts).def(def).name_span.start);
    file.after.as_ref().zip(after.some()).map_or(0, |(v, def)| line(v, def))
}

/// True if a changed line holds more than blanks and a comment.
fn says_something(file: &ChangedFile, op: Op) -> bool {
    let line = text_of(file, op).trim();
    !line.is_empty() && !["//", "#", "/*", "*", "\"\"\""].iter().any(|c| line.starts_with(c))
}

fn signature(v: &Version, def: DefIdx) -> Option<String> {
    let facts = Facts::inside(&v.facts);
    let head = v.slice(facts.def(def).head);
    (!head.trim().is_empty()).then(|| one_line(head).chars().take(SIGNATURE_CHARS_MAX).collect())
}

/// The review order of a segment, see [`Segment::rank`].
fn rank(file: &ChangedFile, kind: Option<DefKind>, status: Status, is_contract: bool) -> u8 {
    let roles = file.marks().0;
    let name = file.path.rsplit('/').next().unwrap_or(&file.path);
    let is_lock = name.ends_with(".lock") || name.ends_with(".sum") || name.ends_with("-lock.json");
    if roles.has(FileRoles::GENERATED) || roles.has(FileRoles::VENDORED) || is_lock {
        return 7;
    }
    match file.role() {
        Role::Test => 4,
        Role::Config => 5,
        Role::Doc => 6,
        Role::Code if is_contract => 0,
        Role::Code if kind.is_none() => 3,
        Role::Code if status == Status::Added => 2,
        Role::Code => 1,
    }
}

impl Segment {
    /// The first added line; else the line at which lines were removed.
    pub fn line(&self) -> u32 {
        let first = self.ops.iter().position(|op| op.is_change()).unwrap_or(0);
        let after = |ops: &[Op]| ops.iter().find(|op| op.after > 0).map(|op| op.after);
        after(&self.ops[first..])
            .or_else(|| self.ops[..first].iter().rev().find_map(|op| after(&[*op])))
            .unwrap_or(1)
    }

    /// Returns its part of the diff, with `around` lines of context for each change, and the shown lines of
    /// the new text. `u32::MAX` shows all lines. If there are more than `lines_max` lines, the first are
    /// shown, then the number of the others.
    pub fn diff(&self, change: &Change, around: u32, lines_max: usize) -> (String, Vec<Lines>) {
        let file = &change.files[self.file];
        let n = self.ops.len();
        let mut shown = self.shown(around);
        let n_shown = shown.iter().filter(|s| **s).count();
        shown.iter_mut().filter(|s| **s).skip(lines_max).for_each(|s| *s = false);
        let (mut out, mut lines) = (String::new(), Vec::new());
        let mut i = 0;
        while i < n {
            if !shown[i] {
                i += 1;
                continue;
            }
            // A hunk ends where lines are left out or belong to other definitions.
            let (mut end, mut last) = (i + 1, self.ops[i]);
            while end < n && shown[end] && follows(last, self.ops[end]) {
                let Op { before, after } = self.ops[end];
                last = Op {
                    before: if before > 0 { before } else { last.before },
                    after: if after > 0 { after } else { last.after },
                };
                end += 1;
            }
            // Context around changes of other definitions is left out.
            let run = &self.ops[i..end];
            i = end;
            if !run.iter().any(|op| op.is_change() && !is_blank(file, *op)) {
                continue;
            }
            self.hunk(file, run, &mut out);
            for op in run.iter().filter(|op| op.after > 0) {
                lines.push(Lines { start: op.after, end: op.after });
            }
        }
        if n_shown > lines_max {
            out.push_str(&format!("\\ more lines: {}\n", n_shown - lines_max));
        }
        (out, crate::render::union(lines))
    }

    /// Number of lines of its diff with `around` lines of context.
    pub fn n_lines(&self, around: u32) -> usize {
        self.shown(around).into_iter().filter(|is_shown| *is_shown).count()
    }

    /// For each line true if it is a change or one of the `around` lines next to one.
    fn shown(&self, around: u32) -> Vec<bool> {
        let n = self.ops.len();
        let mut shown = vec![false; n];
        for i in (0..n).filter(|i| self.ops[*i].is_change()) {
            let from = i.saturating_sub(around as usize);
            let to = (i + 1).saturating_add(around as usize).min(n);
            shown[from..to].fill(true);
        }
        shown
    }

    fn hunk(&self, file: &ChangedFile, ops: &[Op], out: &mut String) {
        let count = |f: fn(&Op) -> u32| ops.iter().filter(|op| f(op) > 0).count();
        let first = |f: fn(&Op) -> u32| ops.iter().map(f).find(|line| *line > 0).unwrap_or(0);
        let range = |f: fn(&Op) -> u32| match (first(f), count(f)) {
            (_, 0) => format!("{},0", ops.first().map_or(0, |op| lines_before(file, *op))),
            (line, 1) => line.to_string(),
            (line, n) => format!("{line},{n}"),
        };
        out.push_str(&format!("@@ -{} +{} @@", range(|op| op.before), range(|op| op.after)));
        if !self.report.name.is_empty() {
            out.push(' ');
            push_plain(&self.report.name, out);
        }
        // Shows the new signature if its line is not shown.
        let shows_head = ops.iter().any(|op| op.after > 0 && op.after == self.head_line);
        if let Some(signature) =
            self.report.signature_after.as_ref().filter(|_| !shows_head && !ops.is_empty())
        {
            out.push_str(": ");
            push_plain(&signature.chars().take(HEADER_CHARS_MAX).collect::<String>(), out);
        }
        out.push('\n');
        for op in ops {
            out.push(match (op.before, op.after) {
                (0, _) => '+',
                (_, 0) => '-',
                _ => ' ',
            });
            out.push_str(text_of(file, *op));
            out.push('\n');
        }
    }
}

/// True if a line of a segment is adjacent in its texts to the last lines of both before it.
fn follows(a: Op, b: Op) -> bool {
    let next = |x: u32, y: u32| x == 0 || y == 0 || y == x + 1;
    next(a.before, b.before) && next(a.after, b.after)
}

fn push_plain(text: &str, out: &mut String) {
    out.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
}

#[cfg(test)]
mod tests;

//! A change as definitions: what it adds, takes away and rewrites, as it was and as it is.
//!
//! Whoever holds the texts gives both sides of each file with their facts and the runs of lines that
//! differ; here the lines are given to the definitions they belong to, those of both sides are matched
//! by name, and each [`Segment`] can be printed as the part of a diff that is its own.

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

/// Characters of a signature that are told.
const SIGNATURE_CHARS_MAX: usize = 200;

/// Characters of a signature in the header of a hunk.
const HEADER_CHARS_MAX: usize = 120;

/// A change between two states of a tree.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// What it is, for the identity of a pack.
    pub id: ChangeId,
    /// The files that differ, by path.
    pub files: Vec<ChangedFile>,
    /// What a reader should know of it, one sentence each.
    pub notes: Vec<String>,
}

/// One file of a change.
#[derive(Clone, Debug)]
pub struct ChangedFile {
    /// Its path, the one it had where it is gone.
    pub path: String,
    /// The path it had before, where it is another one.
    pub previous_path: Option<String>,
    /// The text before; `None` for a new file, and where it cannot be shown.
    pub before: Option<Version>,
    /// The text after; `None` for a file that is gone, and where it cannot be shown.
    pub after: Option<Version>,
    /// The runs of lines that differ, in order.
    pub hunks: Vec<Run>,
    /// Whether the text after is the one in the index.
    pub is_indexed: bool,
    /// Why neither text is shown: it is data, too large, or may hold secrets.
    pub unreadable: Option<&'static str>,
}

/// A run of lines of one side that others of the other side stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Lines before it in the text before.
    pub before: u32,
    /// Lines taken away.
    pub removed: u32,
    /// Lines before it in the text after.
    pub after: u32,
    /// Lines added.
    pub added: u32,
}

/// The text of a file on one side.
#[derive(Clone, Debug)]
pub struct Version {
    /// The text.
    pub text: Arc<str>,
    /// Its lines.
    pub lines: LineIndex,
    /// What it says.
    pub facts: FileFacts,
}

impl Version {
    fn line(&self, line: u32) -> &str {
        self.text.get(self.lines.span(line).range()).unwrap_or("").trim_end_matches(['\n', '\r'])
    }

    fn n_lines(&self) -> u32 {
        let n = self.lines.count();
        // What ends in a line end has no further line.
        if n > 0 && self.lines.span(n).is_empty() { n - 1 } else { n }
    }

    fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }
}

impl ChangedFile {
    /// What became of it.
    pub fn status(&self) -> Status {
        match (&self.before, &self.after, &self.previous_path) {
            (_, _, Some(_)) => Status::Renamed,
            (None, Some(_), _) => Status::Added,
            (Some(_), None, _) => Status::Removed,
            _ => Status::Modified,
        }
    }

    /// Its marks and its language.
    fn marks(&self) -> (FileRoles, Language) {
        let version = self.after.as_ref().or(self.before.as_ref());
        version.map_or((FileRoles::default(), Language::Text), |v| {
            (v.facts.interface.roles, v.facts.interface.language)
        })
    }

    /// What it is to a reader.
    pub fn role(&self) -> Role {
        let (roles, language) = self.marks();
        role_of_marks(roles, language)
    }
}

/// What a change does to one definition, or to the lines of a file that belong to none.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The position of its file.
    pub file: usize,
    /// Its qualified name now, the one it had where it is gone; empty for lines of no definition.
    pub name: String,
    /// The name it had, where it is another one.
    pub previous_name: Option<String>,
    /// The equal definition on the other side, in another file: `name in path`.
    pub elsewhere: Option<String>,
    /// Its kind; `None` for lines of no definition.
    pub kind: Option<DefKind>,
    /// What became of it.
    pub status: Status,
    /// The definition in the text before; `NONE` where there is none.
    pub before: DefIdx,
    /// The definition in the text after.
    pub after: DefIdx,
    /// Signatures on one line, before and after.
    pub signatures: [Option<String>; 2],
    /// Whether whoever uses it may have to change, too: another signature, another name or none; for a
    /// type, other members.
    pub is_contract: bool,
    /// Where a reviewer looks first: contracts, other code, what is between definitions, tests,
    /// configuration, documents, generated files.
    pub rank: u8,
    /// The line of its name in the text after; 0 where there is none.
    head_line: u32,
    ops: Vec<Op>,
}

/// A line of a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Op {
    /// The line before; 0 for an added one.
    before: u32,
    /// The line after; 0 for one taken away.
    after: u32,
}

impl Op {
    fn is_change(self) -> bool {
        self.before == 0 || self.after == 0
    }
}

/// Who owns a line: a definition, or nobody.
type Owner = DefIdx;

/// Splits a change into what it does to each definition, by file and place.
pub fn segments(change: &Change) -> Vec<Segment> {
    let mut out = Vec::new();
    for (i, file) in change.files.iter().enumerate() {
        of_file(i, file, &mut out);
    }
    find_moved(change, &mut out);
    out
}

/// Joins definitions that went with equal ones that came in another file, under whatever name.
fn find_moved(change: &Change, segments: &mut [Segment]) {
    let of = |status: Status| -> Vec<usize> {
        let is_it = |i: &usize| segments[*i].status == status && segments[*i].kind.is_some();
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
        let place = |s: &Segment| format!("{} in {}", s.name, change.files[s.file].path);
        let (from, to) = (place(&segments[g]), place(&segments[n]));
        segments[g].elsewhere = Some(to);
        segments[n].elsewhere = Some(from);
    }
}

fn of_file(i: usize, file: &ChangedFile, out: &mut Vec<Segment>) {
    let owners = [owners(file.before.as_ref()), owners(file.after.as_ref())];
    let keys = [keys(file.before.as_ref()), keys(file.after.as_ref())];
    let by_key: FxHashMap<&Key, DefIdx> = keys[1].iter().map(|(def, key)| (key, *def)).collect();
    // The definition after that one before is now.
    let mut now: FxHashMap<DefIdx, DefIdx> =
        keys[0].iter().filter_map(|(def, key)| Some((*def, *by_key.get(key)?))).collect();
    find_renamed(file, &keys, &mut now);
    let was: FxHashMap<DefIdx, DefIdx> = now.iter().map(|(b, a)| (*a, *b)).collect();
    let ops = ops(file);
    let owner = |side: usize, line: u32| owners[side].get(line as usize).copied().unwrap_or(DefIdx::NONE);
    // Definitions by the place at which they appear.
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

fn is_blank(file: &ChangedFile, op: Op) -> bool {
    text_of(file, op).trim().is_empty()
}

fn text_of(file: &ChangedFile, op: Op) -> &str {
    let (version, line) = if op.after > 0 { (&file.after, op.after) } else { (&file.before, op.before) };
    version.as_ref().map_or("", |v| v.line(line))
}

/// The owner of each line, from 1 on: the definition whose chunk holds it.
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

/// What tells definitions of one file apart.
type Key = (String, &'static str, u16);

/// The definitions that own lines, with their keys.
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

/// Adds the definitions that are the same but for their name.
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

/// Pairs of definitions of one file that are compared to find renamed ones.
const RENAMES_LOOKED_AT_MAX: usize = 2_500;

/// Whether what follows the names is the same but for blanks, in part: the body alone is compared, and
/// it has to say something.
fn is_renamed(before: &Version, b: DefIdx, after: &Version, a: DefIdx) -> bool {
    let of = |v: &Version, def: DefIdx| {
        let facts = Facts::inside(&v.facts);
        let it = facts.def(def);
        let body = Span { start: it.head.end.max(it.name_span.end), end: it.span.end };
        // What is said of it may be new.
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

/// Bytes of a body below which equal ones say nothing.
const RENAMED_BYTES_MIN: usize = 24;

/// Every line of a file as a diff has it.
fn ops(file: &ChangedFile) -> Vec<Op> {
    let count = |v: &Option<Version>| v.as_ref().map_or(0, Version::n_lines);
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
    let signatures = of.map(|(v, def)| signature(v.as_ref()?, def.some()?));
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
        Some(k) if k.is_callable() => signatures[0] != signatures[1],
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
    Segment {
        file: i,
        previous_name: name_before.clone().filter(|_| is_renamed),
        name: name_after.or(name_before).unwrap_or_default(),
        elsewhere: None,
        kind,
        status,
        before,
        after,
        signatures,
        is_contract: is_contract && !is_local,
        rank: rank(file, kind, status, is_contract && !is_local),
        head_line: head_line(file, after),
        ops,
    }
}

fn head_line(file: &ChangedFile, after: DefIdx) -> u32 {
    let line = |v: &Version, def| v.lines.line(Facts::inside(&v.facts).def(def).name_span.start);
    file.after.as_ref().zip(after.some()).map_or(0, |(v, def)| line(v, def))
}

/// Whether a changed line holds more than blanks and a comment.
fn says_something(file: &ChangedFile, op: Op) -> bool {
    let line = text_of(file, op).trim();
    !line.is_empty() && !["//", "#", "/*", "*", "\"\"\""].iter().any(|c| line.starts_with(c))
}

fn signature(v: &Version, def: DefIdx) -> Option<String> {
    let facts = Facts::inside(&v.facts);
    let head = v.slice(facts.def(def).head);
    (!head.trim().is_empty()).then(|| one_line(head).chars().take(SIGNATURE_CHARS_MAX).collect())
}

/// Where a reviewer looks first.
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
    /// Lines added and taken away.
    pub fn counts(&self) -> (u32, u32) {
        let n = |f: fn(&Op) -> bool| self.ops.iter().filter(|op| f(op)).count() as u32;
        (n(|op| op.before == 0), n(|op| op.after == 0))
    }

    /// The first line that is added, else the one at the place where lines were taken away.
    pub fn line(&self) -> u32 {
        let first = self.ops.iter().position(|op| op.is_change()).unwrap_or(0);
        let after = |ops: &[Op]| ops.iter().find(|op| op.after > 0).map(|op| op.after);
        after(&self.ops[first..])
            .or_else(|| self.ops[..first].iter().rev().find_map(|op| after(&[*op])))
            .unwrap_or(1)
    }

    /// Its part of the diff with so many lines around each change, and the lines of the text after that it
    /// shows; `u32::MAX` shows all lines. Of more than `lines_max` lines the first are shown, with the
    /// number of the others.
    pub fn diff(&self, change: &Change, around: u32, lines_max: usize) -> (String, Vec<Lines>) {
        let file = &change.files[self.file];
        let n = self.ops.len();
        let mut shown = vec![false; n];
        for i in (0..n).filter(|i| self.ops[*i].is_change()) {
            let from = i.saturating_sub(around as usize);
            let to = (i + 1).saturating_add(around as usize).min(n);
            shown[from..to].fill(true);
        }
        let n_shown = shown.iter().filter(|s| **s).count();
        if n_shown > lines_max {
            let mut left = lines_max;
            for s in shown.iter_mut().filter(|s| **s) {
                *s = left > 0;
                left = left.saturating_sub(1);
            }
        }
        let (mut out, mut lines) = (String::new(), Vec::new());
        let mut i = 0;
        while i < n {
            if !shown[i] {
                i += 1;
                continue;
            }
            // A run ends where lines are left out or belong to others.
            let mut end = i + 1;
            while end < n && shown[end] && follows(self.ops[end - 1], self.ops[end]) {
                end += 1;
            }
            // What stands around other definitions' changes is none of this one.
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

    /// Lines of its diff with so many lines around each change.
    pub fn n_lines(&self, around: u32) -> usize {
        let n = self.ops.len();
        let mut count = 0;
        let mut done = 0;
        for i in (0..n).filter(|i| self.ops[*i].is_change()) {
            let from = i.saturating_sub(around as usize).max(done);
            done = (i + 1).saturating_add(around as usize).min(n);
            count += done.saturating_sub(from);
        }
        count
    }

    fn hunk(&self, file: &ChangedFile, ops: &[Op], out: &mut String) {
        let count = |f: fn(&Op) -> u32| ops.iter().filter(|op| f(op) > 0).count();
        let first = |f: fn(&Op) -> u32| ops.iter().map(f).find(|line| *line > 0).unwrap_or(0);
        let range = |f: fn(&Op) -> u32| match (first(f), count(f)) {
            (line, 1) => line.to_string(),
            (line, n) => format!("{line},{n}"),
        };
        out.push_str(&format!("@@ -{} +{} @@", range(|op| op.before), range(|op| op.after)));
        if !self.name.is_empty() {
            out.push(' ');
            push_plain(&self.name, out);
        }
        // As it is now, where its line is not shown.
        let [_, signature] = &self.signatures;
        let shows_head = ops.iter().any(|op| op.after > 0 && op.after == self.head_line);
        if let Some(signature) = signature.as_ref().filter(|_| !shows_head && !ops.is_empty()) {
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

/// Whether two neighbouring lines of a segment are neighbours in their texts.
fn follows(a: Op, b: Op) -> bool {
    let next = |x: u32, y: u32| x == 0 || y == 0 || y == x + 1;
    next(a.before, b.before) && next(a.after, b.after)
}

fn push_plain(text: &str, out: &mut String) {
    out.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
}

impl Segment {
    /// What is told of it.
    pub fn report(&self, diff: Option<String>) -> PartReport {
        let (added, removed) = self.counts();
        let [signature_before, signature_after] = self.signatures.clone();
        PartReport {
            name: self.name.clone(),
            previous_name: self.previous_name.clone(),
            status: self.status,
            contract: self.is_contract,
            elsewhere: self.elsewhere.clone(),
            signature_before,
            signature_after,
            added,
            removed,
            diff,
        }
    }
}

#[cfg(test)]
mod tests;

//! Finds the files, folders and definitions that the text names, by exact terms of paths and exact names of
//! definitions.

use super::Table;
use crate::query::{PathMention, Query};
use crate::score::Feature;
use crate::unit::{FILES_NAMED_MAX, Unit, Units};
use indexd_model::path::{dir_of, file_name_of, stem_of};
use indexd_model::{ChunkKind, FileDoc, IndexView, Lines};
use indexd_text::bm25::idf;
use indexd_text::terms;
use rustc_hash::FxHashMap;
use std::iter::once;
use std::rc::Rc;

/// Maximum definitions of one name; a name with more is ignored.
const DEFS_MAX: usize = 64;
/// Maximum files that one plain word may name as a folder.
const FOLDER_FILES_MAX: usize = 400;

/// Strength of an identifier, relative to a stack frame.
const IDENTIFIER: f64 = 0.6;
/// Strength of a plain word that is the name of a file, relative to a path.
const WORD_AS_FILE: f64 = 0.4;
/// Strength of a name that occurs only in code or a trace, where most names do not matter.
const IN_CODE: f64 = 0.7;

/// Sets the features `place` and `name`.
pub fn mark(units: &mut Units, query: &Query, table: &mut Table) {
    let mut files: FxHashMap<FileDoc, f64> = FxHashMap::default();
    for word in &query.words {
        mark_word(units, word, &mut files);
    }
    mark_pairs(units, &query.pairs, &mut files);
    let mut modules = Modules::default();
    for mention in &query.paths {
        let found = resolve(units, mention, &mut modules);
        let share = 1.0 / (found.len().max(1) as f64).sqrt();
        for (file, rest) in found {
            raise(&mut files, file, share);
            mark_inside(units, mention, file, &rest, share, table);
        }
    }
    for h in &mut table.hits {
        if let Some(strength) = files.get(&h.unit.file) {
            h.scored.features.raise(Feature::Place, *strength);
        }
    }
    for symbol in &query.symbols {
        let defs = units.view.defs_named(&symbol.name);
        if defs.is_empty() || defs.len() > DEFS_MAX {
            continue;
        }
        let part = if symbol.in_prose { 1.0 } else { IN_CODE };
        let share = part / (defs.len() as f64).sqrt();
        for def in defs {
            if let Some(unit) = units.of_def(def) {
                table.hit(units, unit).scored.features.raise(Feature::Name, IDENTIFIER * share);
            }
        }
    }
}

/// Marks the unit at the line of a frame, or the definition that a frame or a dotted name names in the file.
fn mark_inside(
    units: &mut Units,
    mention: &PathMention,
    file: FileDoc,
    rest: &[String],
    share: f64,
    table: &mut Table,
) {
    let function = mention.function.as_deref().or(rest.last().map(String::as_str));
    let mut found = None;
    if let Some(name) = function {
        let mut in_file = Vec::new();
        for d in units.view.defs_named(name) {
            let record = units.def(d);
            if record.file == file {
                in_file
                    .extend(units.of_def(d).map(|unit| (fit(mention.line, record.lines, unit.kind), unit)));
            }
        }
        found = in_file.into_iter().min_by_key(|(fit, _)| *fit).map(|(_, unit)| unit);
    }
    if found.is_none()
        && let Some(line) = mention.line
    {
        found = at_line(units, file, line);
    }
    if let Some(unit) = found {
        let strength = if mention.line.is_some() { share } else { IDENTIFIER * share };
        table.hit(units, unit).scored.features.raise(Feature::Name, strength);
    }
}

/// Ranks definitions of one name for a line, the best least: first the one that contains the line, else one
/// with a body before abstract ones, then the nearest, since the line may be from another version.
fn fit(line: Option<u32>, at: Lines, kind: ChunkKind) -> (bool, bool, u32) {
    let distance = line.map_or(0, |l| at.start.saturating_sub(l).max(l.saturating_sub(at.end)));
    let is_at_line = line.is_some() && distance == 0;
    (!is_at_line, kind == ChunkKind::Stub, distance)
}

/// The unit that contains a line.
fn at_line(units: &mut Units, file: FileDoc, line: u32) -> Option<Rc<Unit>> {
    units.first_chunk(file, |c| c.lines.end < line).map(|c| units.of_chunk(c))
}

/// The strength of a word as a name; lower if the word is common in the tree.
fn rarity(view: &dyn IndexView, word: &str) -> f64 {
    let n_chunks = view.stats().n_chunks;
    let mut df = 0;
    terms(word, |t| df = df.max(view.doc_frequency(t)));
    0.5 + 0.5 * (idf(n_chunks, u64::from(df)) / idf(n_chunks, 1)).min(1.0)
}

/// Raises the strength with which a file is named.
fn raise(files: &mut FxHashMap<FileDoc, f64>, file: FileDoc, strength: f64) {
    let at = files.entry(file).or_default();
    *at = at.max(strength);
}

/// Marks files whose stem or folder is a plain word.
fn mark_word(units: &mut Units, word: &str, files: &mut FxHashMap<FileDoc, f64>) {
    let found = units.files_with(word);
    if found.len() > FILES_NAMED_MAX {
        return;
    }
    let rarity = rarity(units.view, word);
    let mut stems = Vec::new();
    let mut folders = Vec::new();
    let mut name = Name::of(word);
    for f in &*found {
        let path = &units.file(*f).path;
        if name.is(stem_of(path)) {
            stems.push(*f);
        } else if dir_of(path).split('/').any(|c| name.is(c)) {
            folders.push(*f);
        }
    }
    for f in &stems {
        raise(files, *f, WORD_AS_FILE * rarity / (stems.len() as f64).sqrt());
    }
    if folders.len() <= FOLDER_FILES_MAX {
        for f in &folders {
            raise(files, *f, rarity / indexd_text::bm25::ln(1.0 + folders.len() as f64).max(1.0));
        }
    }
}

/// Marks files with two neighbouring words as neighbouring components of their path, without the extension.
fn mark_pairs(units: &mut Units, pairs: &[(String, String)], files: &mut FxHashMap<FileDoc, f64>) {
    for (first, second) in pairs {
        let (with_first, with_second) = (units.files_with(first), units.files_with(second));
        if with_first.len().max(with_second.len()) > FILES_NAMED_MAX {
            continue;
        }
        let (mut a, mut b) = (Name::of(first), Name::of(second));
        let both = with_first.iter().filter(|f| with_second.binary_search(f).is_ok());
        let found: Vec<FileDoc> = both
            .copied()
            .filter(|f| {
                let path = &units.file(*f).path;
                let names: Vec<&str> = dir_of(path).split('/').chain([stem_of(path)]).collect();
                names.windows(2).any(|n| a.is(n[0]) && b.is(n[1]))
            })
            .collect();
        for f in &found {
            raise(files, *f, 1.0 / (found.len() as f64).sqrt());
        }
    }
}

/// A word that is compared with names, ignoring case, underscores, dashes and a plural `s`.
struct Name {
    plain: String,
    /// A buffer for the name under comparison, in the form of `plain`.
    other: String,
}

impl Name {
    fn of(word: &str) -> Self {
        let mut plain = String::new();
        make_plain(word, &mut plain);
        Self { plain, other: String::new() }
    }

    fn is(&mut self, name: &str) -> bool {
        // Most names differ in their first letter. A name that starts with `s` may be reduced to an empty
        // one.
        let first = plain_chars(name).next();
        if first != self.plain.chars().next() && first != Some('s') {
            return false;
        }
        make_plain(name, &mut self.other);
        self.other == self.plain
    }
}

fn plain_chars(s: &str) -> impl Iterator<Item = char> {
    s.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase)
}

fn make_plain(s: &str, out: &mut String) {
    out.clear();
    out.extend(plain_chars(s));
    if out.len() > 3 {
        out.truncate(out.trim_end_matches('s').len());
    }
}

/// Files by module name, found once for one request: the frames of a trace share most of their names.
#[derive(Default)]
struct Modules(FxHashMap<String, Rc<[FileDoc]>>);

impl Modules {
    /// The files with every term of `name` in their path, if their stem is `name` or that of a package.
    fn of(&mut self, units: &mut Units, name: &str) -> Rc<[FileDoc]> {
        if let Some(known) = self.0.get(name) {
            return Rc::clone(known);
        }
        let all = units.files_with(name);
        let is_module = |f: &&FileDoc| {
            let file = units.file(**f);
            let stem = stem_of(&file.path);
            stem == name || stem == PACKAGE
        };
        let files: Rc<[FileDoc]> = all.iter().filter(is_module).copied().collect();
        self.0.insert(name.to_owned(), Rc::clone(&files));
        files
    }
}

/// The stem of the file that stands for its folder in Python.
const PACKAGE: &str = "__init__";

/// The files that a mention names; for a dotted mention, each with the names after the file.
fn resolve(units: &mut Units, mention: &PathMention, modules: &mut Modules) -> Vec<(FileDoc, Vec<String>)> {
    let separator = if mention.is_dotted { &['.', '/'][..] } else { &['/'][..] };
    let parts: Vec<&str> = mention.path.split(separator).filter(|p| !p.is_empty()).collect();
    if mention.is_dotted { resolve_dotted(units, &parts, modules) } else { resolve_path(units, &parts) }
}

/// The files that share the longest run of trailing components with the mention. If none do, the files in the
/// folder that it names.
fn resolve_path(units: &mut Units, parts: &[&str]) -> Vec<(FileDoc, Vec<String>)> {
    let Some(name) = parts.last() else { return Vec::new() };
    let files = units.files_with(stem_of(name));
    let mut best = (1, Vec::new());
    for &file in &*files {
        let record = units.file(file);
        let shared = record.path.rsplit('/').zip(parts.iter().rev()).take_while(|(a, b)| a == *b).count();
        if shared > best.0 {
            best = (shared, Vec::new());
        }
        if shared == best.0 {
            best.1.push((file, Vec::new()));
        }
    }
    if !best.1.is_empty() || parts.len() == 1 {
        return best.1;
    }
    let folder = parts.join("/");
    let is_inside = |file: &FileDoc| is_in_folder(dir_of(&units.file(*file).path), &folder);
    files.iter().copied().filter(is_inside).map(|file| (file, Vec::new())).collect()
}

/// True if consecutive components of `dir` equal `folder`.
fn is_in_folder(dir: &str, folder: &str) -> bool {
    let mut starts = once(0).chain(dir.match_indices('/').map(|(at, _)| at + 1));
    starts
        .any(|at| dir[at..].strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// Resolves `a.b.c` to a module `a/b`, `a/b/c` or a package folder, and the names inside it.
fn resolve_dotted(units: &mut Units, parts: &[&str], modules: &mut Modules) -> Vec<(FileDoc, Vec<String>)> {
    let mut best: (usize, Vec<(FileDoc, Vec<String>)>) = (1, Vec::new());
    for (k, name) in parts.iter().enumerate().rev() {
        // A mention may name a folder only by its last component.
        let is_end = k + 1 == parts.len();
        let files = if is_end { units.files_with(name) } else { modules.of(units, name) };
        for &file in &*files {
            let record = units.file(file);
            let (dir, stem) = (dir_of(&record.path), stem_of(&record.path));
            let own = Some(stem).filter(|stem| stem == name);
            if own.is_none() && stem != PACKAGE && !(is_end && file_name_of(dir) == *name) {
                continue;
            }
            // From the last component to the first.
            let module = || own.into_iter().chain(dir.rsplit('/').filter(|c| !c.is_empty()));
            let shared = module().zip(parts[..=k].iter().rev()).take_while(|(a, b)| a == *b).count();
            let is_whole = shared > k || (shared >= 2 && shared == module().count());
            if is_whole && shared > best.0 {
                best = (shared, Vec::new());
            }
            if is_whole && shared == best.0 {
                best.1.push((file, parts[k + 1..].iter().map(|p| (*p).to_owned()).collect()));
            }
        }
        if !best.1.is_empty() {
            break;
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_a_run_of_whole_components() {
        for (dir, folder, expect) in [
            ("a/b/c", "a", true),
            ("a/b/c", "b/c", true),
            ("a/b/c", "a/b/c", true),
            ("a/b/c", "a/c", false),
            ("aa/b", "a", false),
            ("a/bb", "a/b", false),
            ("bb/b", "b", true),
            ("ab/b/b", "b/b", true),
            ("", "a", false),
        ] {
            assert_eq!(is_in_folder(dir, folder), expect, "{folder} in {dir}");
        }
    }
}

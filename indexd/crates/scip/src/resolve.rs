//! Ties a foreign index to our definitions.
//!
//! Symbols of other indexers are opaque; two tools agree only on the place where a symbol is defined. The
//! definition occurrence of a foreign symbol and our definition whose name starts there are the same thing,
//! and every other occurrence of that symbol is then a use of it. A symbol that no document defines is
//! outside the tree, unless its package or module is one of ours: an indexer that finds an installed copy of
//! the project calls the project's own names external.
//!
//! An index may be older than the tree. It carries no hashes, so each place must prove itself: it
//! must hold an identifier (see [`crate::document`]), that of the symbol or of an import's alias.

use crate::document::{Open, place_all};
use crate::import::{ForeignDocument, ForeignIndex};
use crate::overlay::{Overlay, Place, Target};
use crate::symbol::Symbol;
use indexd_model::path::join;
use indexd_model::symbol::Namespace;
use indexd_model::{
    ContentHash, DefFlags, DefIdx, DefRef, Facts, FactsView, FileDoc, FileRoles, Key, Language, RepoPath,
    names,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Content hash and text of a file by its path, as known to the view.
pub type ReadFile<'a> = dyn Fn(&str) -> Option<(ContentHash, Arc<str>)> + 'a;

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// One for each file with at least one known place, sorted by path.
    pub overlays: Vec<Overlay>,
    /// Paths of documents that name no file of the workspace, sorted.
    pub unknown_files: Vec<String>,
    /// Paths of documents whose file has no definitions here: a vendored copy, or no source code. Sorted.
    pub unfit_files: Vec<String>,
    /// Paths of documents that do not match the text of their file, sorted.
    pub stale_files: Vec<String>,
    /// Occurrences of matching documents.
    pub n_occurrences: u64,
    /// Number of them left out because the range does not hold the expected identifier.
    pub n_dropped: u64,
    /// Places that name a definition of the tree.
    pub n_targets: u64,
    /// Places that name something outside the tree.
    pub n_external: u64,
}

/// Ties `index` to the files of `view`. Paths of its documents are relative to `prefix`, a folder of the
/// workspace, usually empty. `read_file` returns content hash and text of a file as known to `view`.
///
/// The result depends on the arguments alone, not on the order of documents or occurrences, except
/// that a symbol with several definitions prefers the first in path order.
pub fn resolve_import(
    index: &ForeignIndex,
    prefix: &str,
    read_file: &ReadFile,
    view: &dyn FactsView,
) -> Imported {
    let mut imported = Imported::default();
    let files = open(index, prefix, read_file, view, &mut imported);
    let symbols: Vec<Option<Symbol>> = index.symbols.iter().map(|s| Symbol::parse(s)).collect();
    let mut definitions = Definitions::new(index, &files, &symbols, view);
    for (n, file) in files.iter().enumerate() {
        let overlay = file.overlay(n as u32, &mut definitions, &mut imported);
        if !overlay.places.is_empty() {
            imported.overlays.push(overlay);
        }
    }
    imported
}

/// The folder of the workspace at `root` (an absolute path) that a `file:` URI of a project root names, for
/// [`resolve_import`]; `None` when it is elsewhere, as for an index made on another machine.
pub fn prefix_of(project_root: &str, root: &str) -> Option<String> {
    let path = decode_uri(project_root.strip_prefix("file://")?)?;
    let (path, root) = (path.trim_end_matches('/'), root.trim_end_matches('/'));
    let rest = path.strip_prefix(root)?;
    if rest.is_empty() {
        return Some(String::new());
    }
    let rest = rest.strip_prefix('/')?;
    RepoPath::new(rest).ok().map(|p| p.to_string())
}

/// Replaces `%xx` escapes; `None` when the result is not UTF-8.
fn decode_uri(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(b) = bytes.next() {
        if b == b'%' {
            let high = char::from(bytes.next()?).to_digit(16)?;
            let low = char::from(bytes.next()?).to_digit(16)?;
            out.push((high * 16 + low) as u8);
        } else {
            out.push(b);
        }
    }
    String::from_utf8(out).ok()
}

/// Opens the documents that match a parsed file, in path order.
fn open(
    index: &ForeignIndex,
    prefix: &str,
    read_file: &ReadFile,
    view: &dyn FactsView,
    imported: &mut Imported,
) -> Vec<Open> {
    let mut by_path: BTreeMap<String, Vec<&ForeignDocument>> = BTreeMap::new();
    for d in &index.documents {
        by_path.entry(join(prefix, &d.path)).or_default().push(d);
    }
    let mut out = Vec::new();
    for (path, documents) in by_path {
        let file = RepoPath::new(&path).ok().and_then(|p| view.file_by_path(&p));
        let Some((file, (hash, text))) = file.and_then(|f| Some((f, read_file(&path)?))) else {
            imported.unknown_files.push(path);
            continue;
        };
        let interface = view.interface(file);
        if !interface.language.is_code() || interface.roles.has(FileRoles::VENDORED) {
            imported.unfit_files.push(path);
            continue;
        }
        let is_other = |d: &&ForeignDocument| d.text.is_some_and(|t| t != ContentHash::of(text.as_bytes()));
        let placed = if documents.iter().any(is_other) { None } else { place_all(index, &documents, &text) };
        match placed {
            Some((places, n_dropped)) => {
                imported.n_occurrences += (places.len() as u64) + n_dropped;
                imported.n_dropped += n_dropped;
                out.push(Open::new(file, path, (hash, text), interface, places));
            }
            None => imported.stale_files.push(path),
        }
    }
    out
}

impl Open {
    fn overlay(&self, n: u32, definitions: &mut Definitions, imported: &mut Imported) -> Overlay {
        // By place: the token's end and the definitions named there; none of them is external.
        let mut at: BTreeMap<u32, (u32, Vec<Target>)> = BTreeMap::new();
        for place in self.places.iter().filter(|p| !p.span.is_empty()) {
            let known = definitions.known(n, place.symbol);
            let symbol = definitions.symbols[place.symbol as usize].as_ref();
            let own = if place.is_definition { self.defined(place, symbol) } else { None };
            // A Python name that we know as a definition is not a use, whatever the indexer calls it.
            let is_python = self.interface.language == Language::Python;
            if own.is_some() || (is_python && self.starts.contains_key(&place.token.start)) {
                continue;
            }
            let Some(known) = known else {
                if definitions.is_external(place.symbol) && self.may_be_external(place, symbol) {
                    at.entry(place.token.start).or_insert((place.token.end, Vec::new()));
                }
                continue;
            };
            let is_known = !known.is_empty();
            let word = place.word(&self.text);
            let fitting = known.iter().filter(|d| self.may_name(word, definitions.file(d.file), d.def));
            let fitting: Vec<DefRef> = fitting.copied().collect();
            let targets: Vec<Target> =
                fitting.into_iter().filter_map(|d| definitions.target(d, self.file)).collect();
            if targets.is_empty() {
                imported.n_dropped += u64::from(is_known);
                continue;
            }
            let slot = at.entry(place.token.start).or_insert((place.token.end, Vec::new()));
            for t in targets {
                if !slot.1.contains(&t) {
                    slot.1.push(t);
                }
            }
        }
        let mut targets: Vec<Target> = at.values().flat_map(|(_, t)| t.iter().cloned()).collect();
        targets.sort_unstable();
        targets.dedup();
        let index = |t: &Target| targets.binary_search(t).ok().map(|i| i as u32);
        let mut places = Vec::with_capacity(at.len());
        for (start, (end, named)) in &at {
            let Ok(len) = u16::try_from(end - start) else {
                continue;
            };
            let count = if named.is_empty() { &mut imported.n_external } else { &mut imported.n_targets };
            *count += 1;
            places.push(Place { at: *start, len, targets: named.iter().filter_map(index).collect() });
        }
        Overlay { path: self.path.clone(), hash: self.hash, targets, places }
    }
}

/// The key of a definition that the fewest files provide, so that the use is linked again as rarely as
/// possible.
fn key_of(file: &Open, def: DefIdx, view: &dyn FactsView) -> Option<Key> {
    let keys = file.interface.entries.iter().filter(|e| e.def == def).map(|e| e.key);
    keys.min_by_key(|k| (view.providers(*k).len(), *k))
}

/// Our definitions of the symbols of an index.
struct Definitions<'i> {
    files: &'i [Open],
    symbols: &'i [Option<Symbol>],
    view: &'i dyn FactsView,
    /// Position of an open file by its handle.
    by_file: FxHashMap<FileDoc, u32>,
    /// Our definitions by symbol and, for local symbols, document; empty when a document defines the
    /// symbol at a place where we have no definition (locals, parameters).
    known: FxHashMap<(u32, u32), Vec<DefRef>>,
    /// Global symbols that some document defines, whether or not it matches a file of ours.
    declared: FxHashSet<u32>,
    /// Packages that documents define symbols of, by manager and normalised name.
    packages: FxHashSet<(String, String)>,
    /// First components of the dotted names of our Python modules.
    roots: FxHashSet<String>,
    /// Keys of definitions, those found so far.
    keys: FxHashMap<DefRef, Option<Key>>,
}

impl<'i> Definitions<'i> {
    fn new(
        index: &ForeignIndex,
        files: &'i [Open],
        symbols: &'i [Option<Symbol>],
        view: &'i dyn FactsView,
    ) -> Self {
        let mut it = Self {
            files,
            symbols,
            view,
            by_file: files.iter().enumerate().map(|(i, f)| (f.file, i as u32)).collect(),
            known: FxHashMap::default(),
            declared: FxHashSet::default(),
            packages: FxHashSet::default(),
            roots: FxHashSet::default(),
            keys: FxHashMap::default(),
        };
        for o in index.documents.iter().flat_map(|d| &d.occurrences).filter(|o| o.is_definition()) {
            if let Some(symbol) = symbols.get(o.symbol as usize).and_then(Option::as_ref)
                && !symbol.descriptors.is_empty()
                && it.declared.insert(o.symbol)
            {
                it.packages.insert((symbol.manager.clone(), normalised(&symbol.package)));
            }
        }
        for (n, file) in files.iter().enumerate() {
            if file.interface.language == Language::Python {
                it.roots.extend(root_module(file, view));
            }
            for place in file.places.iter().filter(|p| p.is_definition) {
                let symbol = symbols[place.symbol as usize].as_ref();
                let defs = it.known.entry(it.key(n as u32, place.symbol)).or_default();
                for d in file.defined(place, symbol).into_iter().flat_map(|d| file.with_siblings(d)) {
                    if !defs.contains(&d) {
                        defs.push(d);
                    }
                }
            }
        }
        // A use means the definition, not an overload; some writes mean a setter.
        let has = |d: &DefRef, flag| {
            let file = &files[it.by_file[&d.file] as usize];
            d.def.some().is_some_and(|i| file.interface.defs[i.index()].flags.has(flag))
        };
        for defs in it.known.values_mut() {
            if defs.iter().any(|d| !has(d, DefFlags::OVERLOAD)) {
                defs.retain(|d| !has(d, DefFlags::OVERLOAD));
            }
            defs.sort_by_key(|d| has(d, DefFlags::SETTER));
        }
        it
    }

    fn file(&self, file: FileDoc) -> &'i Open {
        &self.files[self.by_file[&file] as usize]
    }

    /// The lasting name of a definition, for uses in `user`; `None` when other files cannot look it up.
    fn target(&mut self, d: DefRef, user: FileDoc) -> Option<Target> {
        let (file, view) = (self.file(d.file), self.view);
        let Some(def) = d.def.some() else {
            let key = Some(Key::file(&file.path));
            return Some(Target { path: file.path.clone(), descriptor: String::new(), ordinal: 0, key });
        };
        let facts = Facts::outside(&file.interface);
        let key = if d.file == user {
            None
        } else {
            Some((*self.keys.entry(d).or_insert_with(|| key_of(file, def, view)))?)
        };
        let (descriptor, ordinal) = (names::descriptor(&facts, def), facts.def(def).ordinal);
        Some(Target { path: file.path.clone(), descriptor, ordinal, key })
    }

    fn key(&self, n: u32, symbol: u32) -> (u32, u32) {
        let is_global = self.symbols[symbol as usize].as_ref().is_some_and(|s| !s.descriptors.is_empty());
        (symbol, if is_global { u32::MAX } else { n })
    }

    /// Our definitions of a symbol as seen by the `n`-th file; `None` when no document defines it.
    fn known(&self, n: u32, symbol: u32) -> Option<&[DefRef]> {
        self.known.get(&self.key(n, symbol)).map(|d| &d[..])
    }

    /// Returns true if a symbol is certainly outside the tree.
    fn is_external(&self, symbol: u32) -> bool {
        let Some(Symbol { manager, package, descriptors }) = &self.symbols[symbol as usize] else {
            return false;
        };
        let root = descriptors.first().and_then(|d| d.name.split('.').next()).unwrap_or("");
        !self.declared.contains(&symbol)
            && !package.is_empty()
            && !self.packages.contains(&(manager.clone(), normalised(package)))
            && !self.roots.contains(root)
    }
}

/// The first component of the dotted module of a Python file.
fn root_module(file: &Open, view: &dyn FactsView) -> Option<String> {
    let id = Namespace::of(view, file.file)?.symbol(&file.interface, DefIdx::NONE)?;
    let symbol = Symbol::parse(id.0.strip_prefix("scip:")?)?;
    symbol.descriptors.first()?.name.split('.').next().map(str::to_owned)
}

/// A package name in the form in which registries compare it: case and kind of separator do not count.
fn normalised(package: &str) -> String {
    package.chars().map(|c| if matches!(c, '.' | '_') { '-' } else { c.to_ascii_lowercase() }).collect()
}

#[cfg(test)]
mod tests;

//! Tying a foreign index to our definitions.
//!
//! Symbols of other indexers are opaque: what two tools agree on is where a symbol is defined. The
//! definition occurrence of a foreign symbol and our definition whose name starts there are the same
//! thing, and every other occurrence of that symbol is then a use of it. A symbol that no document
//! defines lies outside the tree, unless its package or module is one of ours: an indexer that finds
//! an installed copy of the project calls the project's own names external.
//!
//! An index may be older than the tree. It carries no hashes, so each place must prove itself: it
//! must hold an identifier, that of the symbol or of an import's alias, and a document in which more
//! than a tenth of the places fail is not about this text.

use crate::import::{ForeignDocument, ForeignIndex, ForeignOccurrence};
use crate::overlay::{Overlay, Place, Target};
use crate::symbol::{Suffix, Symbol};
use crate::text::{Encoding, Text, is_identifier};
use indexd_model::path::{dir_of, file_name_of, join, stem_of};
use indexd_model::symbol::Namespace;
use indexd_model::{
    ContentHash, DefFlags, DefIdx, DefRef, Facts, FactsView, FileDoc, FileRoles, Interface, Key, Language, RepoPath,
    Span, names,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Content hash and text of a file by its path, as the view that is tied to knows them.
pub type ReadFile<'a> = dyn Fn(&str) -> Option<(ContentHash, Arc<str>)> + 'a;

/// What came of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// One for each file with at least one known place, sorted by path.
    pub overlays: Vec<Overlay>,
    /// Paths of documents that name no parsed file of the workspace, sorted.
    pub unknown_files: Vec<String>,
    /// Paths of documents that do not match the text of their file, sorted.
    pub stale_files: Vec<String>,
    /// Occurrences of matching documents.
    pub n_occurrences: u64,
    /// Of them, those left out because the range does not hold the identifier it should.
    pub n_dropped: u64,
    /// Places that name a definition of the tree.
    pub n_targets: u64,
    /// Places that name something outside of it.
    pub n_external: u64,
}

/// Ties `index` to the files of `view`. Paths of its documents are taken below `prefix`, a folder of
/// the workspace, mostly empty. `read_file` gives content hash and text of a file as `view` knows it.
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
    let symbols: Vec<Option<Symbol>> = index.symbols.iter().map(|s| Symbol::parse(s).ok()).collect();
    let definitions = Definitions::new(index, &files, &symbols, view);
    let mut keys = FxHashMap::default();
    for (n, file) in files.iter().enumerate() {
        let overlay = file.overlay(n as u32, &definitions, &files, view, &mut keys, &mut imported);
        if !overlay.places.is_empty() {
            imported.overlays.push(overlay);
        }
    }
    imported
}

/// The folder of the workspace at `root` (an absolute path) that a `file:` URI of a project root
/// names, for [`resolve_import`]; `None` when it lies elsewhere, as for an index made on another
/// machine.
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

/// Replaces `%xx` escapes; `None` when the result is no UTF-8.
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

/// A document whose text is at hand.
struct Open {
    file: FileDoc,
    path: String,
    hash: ContentHash,
    interface: Arc<Interface>,
    /// Named definitions by the first byte of their name.
    starts: FxHashMap<u32, DefIdx>,
    /// Names that imports bind.
    aliases: FxHashSet<String>,
    /// Definitions that share a descriptor with another, by descriptor.
    siblings: FxHashMap<String, Vec<DefIdx>>,
    places: Vec<OpenPlace>,
}

/// An occurrence with its bytes.
struct OpenPlace {
    span: Span,
    /// The identifier at its end (`map` of `.pkg.map`); empty for a range without text.
    token: Span,
    text: String,
    /// The identifier before the dot before the token, empty when that is no identifier.
    base: Option<String>,
    symbol: u32,
    is_definition: bool,
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
        let linked = file.filter(|f| {
            let interface = view.interface(*f);
            matches!(interface.language, Language::Go | Language::Python) && !interface.roles.has(FileRoles::VENDORED)
        });
        let Some((file, (hash, text))) = linked.and_then(|f| Some((f, read_file(&path)?))) else {
            imported.unknown_files.push(path);
            continue;
        };
        let is_other = |d: &&ForeignDocument| d.text.is_some_and(|t| t != ContentHash::of(text.as_bytes()));
        let placed = if documents.iter().any(is_other) { None } else { place_all(index, &documents, &text) };
        match placed {
            Some((places, n_dropped)) => {
                imported.n_occurrences += (places.len() as u64) + n_dropped;
                imported.n_dropped += n_dropped;
                out.push(Open::new(file, path, hash, view.interface(file), places));
            }
            None => imported.stale_files.push(path),
        }
    }
    out
}

/// The places of the documents of one file and how many were dropped; `None` when the documents are
/// not about this text.
fn place_all(index: &ForeignIndex, documents: &[&ForeignDocument], text: &str) -> Option<(Vec<OpenPlace>, u64)> {
    let text = Text::new(text);
    let (mut places, mut n_dropped, mut n_wrong) = (Vec::new(), 0, 0);
    for d in documents {
        let encodings = d.encoding.map_or(Encoding::ALL.to_vec(), |e| vec![e]);
        let best = encodings
            .into_iter()
            .map(|e| d.occurrences.iter().map(|o| place(index, o, &text, e)).collect::<Vec<_>>())
            .min_by_key(|p| p.iter().filter(|o| o.is_none()).count())?;
        n_dropped += u64::from(d.n_malformed);
        for found in best {
            match found {
                Some(p) => {
                    n_wrong += u64::from(p.is_definition && !p.is_named_after(&index.symbols[p.symbol as usize]));
                    places.push(p);
                }
                None => n_dropped += 1,
            }
        }
    }
    let n = places.len() as u64 + n_dropped;
    ((n_dropped + n_wrong) * 10 <= n).then_some((places, n_dropped))
}

/// The bytes of an occurrence; `None` when they do not hold an identifier (with dots before it, in
/// an import) and are not empty.
fn place(index: &ForeignIndex, o: &ForeignOccurrence, text: &Text, encoding: Encoding) -> Option<OpenPlace> {
    let mut span = text.span(o.range, encoding)?;
    // Some indexers leave the quotes of a Go import path out.
    let around = Span::new(span.start.saturating_sub(1), span.end + 1);
    if !span.is_empty() && is_quoted(text.get(around)) && text.get(span).contains(['/', '.']) {
        span = around;
    }
    let held = text.get(span);
    // Some indexers take the whole of `name as alias`.
    let held = match held.split_once(" as ") {
        Some((name, alias)) if is_identifier(name) && is_identifier(alias.trim()) => name,
        _ => held,
    };
    let token_start = if is_quoted(held) { 0 } else { held.rfind('.').map_or(0, |i| i + 1) };
    let token = &held[token_start..];
    let fits = held.is_empty()
        || is_quoted(held)
        || (is_identifier(token) && held[..token_start].split('.').all(|p| p.is_empty() || is_identifier(p)));
    if !fits || index.symbols.len() <= o.symbol as usize {
        return None;
    }
    let word = if is_quoted(held) { file_name_of(&held[1..held.len() - 1]) } else { token }.to_owned();
    let token = Span::new(span.start + token_start as u32, span.start + held.len() as u32);
    let base = text.text[..token.start as usize].strip_suffix('.').map(|before| {
        let start = before.rfind(|c: char| c != '_' && !c.is_alphanumeric()).map_or(0, |i| i + 1);
        before[start..].to_owned()
    });
    Some(OpenPlace { span, token, text: word, base, symbol: o.symbol, is_definition: o.is_definition() })
}

/// Whether a text is a Go string literal, as of an import path.
fn is_quoted(text: &str) -> bool {
    text.len() > 2 && ['"', '`'].iter().any(|q| text.starts_with(*q) && text.ends_with(*q))
}

impl OpenPlace {
    /// Whether the text of a definition is the name its symbol ends in. Modules and packages are
    /// defined at places of the indexer's choice.
    fn is_named_after(&self, symbol: &str) -> bool {
        let Ok(symbol) = Symbol::parse(symbol) else { return false };
        match symbol.last() {
            Some(d) => self.span.is_empty() || matches!(d.suffix, Suffix::Namespace | Suffix::Meta) || d.name == self.text,
            None => true,
        }
    }
}

impl Open {
    fn new(file: FileDoc, path: String, hash: ContentHash, interface: Arc<Interface>, places: Vec<OpenPlace>) -> Self {
        let facts = Facts::outside(&interface);
        let mut starts = FxHashMap::default();
        for (i, d) in interface.defs.iter().enumerate() {
            if !facts.str(d.name).is_empty() && !d.flags.has(DefFlags::ANONYMOUS) {
                starts.entry(d.name_span.start).or_insert(DefIdx(i as u32));
            }
        }
        let aliases = interface.imports.iter().filter_map(|i| i.alias).map(|a| facts.str(a).to_owned()).collect();
        let mut siblings: FxHashMap<String, Vec<DefIdx>> = FxHashMap::default();
        let repeated: FxHashSet<String> = (0..interface.defs.len() as u32)
            .map(DefIdx)
            .filter(|d| facts.def(*d).ordinal == 1)
            .map(|d| names::descriptor(&facts, d))
            .collect();
        for d in (0..interface.defs.len() as u32).map(DefIdx).filter(|_| !repeated.is_empty()) {
            let descriptor = names::descriptor(&facts, d);
            if repeated.contains(&descriptor) {
                siblings.entry(descriptor).or_default().push(d);
            }
        }
        Self { file, path, hash, starts, aliases, siblings, places, interface }
    }

    /// Our definition that a definition occurrence introduces.
    fn defined(&self, place: &OpenPlace, symbol: Option<&Symbol>) -> Option<DefRef> {
        let def = match symbol.and_then(Symbol::last) {
            // The package clause of a Go file, the first byte of a Python file.
            Some(d) if matches!(d.suffix, Suffix::Namespace | Suffix::Meta) || place.span.is_empty() => {
                matches!(d.suffix, Suffix::Namespace | Suffix::Meta).then_some(DefIdx::NONE)?
            }
            _ => {
                let def = *self.starts.get(&place.token.start)?;
                let facts = Facts::outside(&self.interface);
                (facts.def_name(def) == place.text).then_some(def)?
            }
        };
        Some(DefRef { file: self.file, def })
    }

    /// A definition and all others of the file with its descriptor, in source order: some indexers
    /// call only the first of several overloads the definition.
    fn with_siblings(&self, d: DefRef) -> Vec<DefRef> {
        let facts = Facts::outside(&self.interface);
        let siblings = d.def.some().and_then(|def| self.siblings.get(&names::descriptor(&facts, def)));
        siblings.map_or(vec![d], |all| all.iter().map(|def| DefRef { file: d.file, def: *def }).collect())
    }

    /// Whether a place that an indexer calls external may name that symbol: an attribute of a Python
    /// value is no member of a module, although indexers say so of attributes named like builtins.
    fn may_be_external(&self, place: &OpenPlace, symbol: Option<&Symbol>) -> bool {
        let Some(Symbol::Global { descriptors, .. }) = symbol else { return false };
        let is_of_module = descriptors.len() == 2 && descriptors[0].suffix == Suffix::Namespace;
        match &place.base {
            Some(base) if is_of_module && self.interface.language == Language::Python => self.aliases.contains(base),
            _ => true,
        }
    }

    /// Whether an identifier of this file may name `target`.
    fn may_name(&self, text: &str, target: &Open, def: DefIdx) -> bool {
        if self.aliases.contains(text) {
            return true;
        }
        match def.some() {
            Some(d) => Facts::outside(&target.interface).def_name(d) == text,
            None if target.interface.language == Language::Go => {
                let package = target.interface.package.map_or("", |p| Facts::outside(&target.interface).str(p));
                package == text || file_name_of(dir_of(&target.path)) == text
            }
            None => {
                let stem = stem_of(&target.path);
                text == if stem == "__init__" { file_name_of(dir_of(&target.path)) } else { stem }
            }
        }
    }

    fn overlay(
        &self,
        n: u32,
        definitions: &Definitions,
        files: &[Open],
        view: &dyn FactsView,
        keys: &mut FxHashMap<DefRef, Option<Key>>,
        imported: &mut Imported,
    ) -> Overlay {
        // By place: the token's end and the definitions named there; none of them is external.
        let mut at: BTreeMap<u32, (u32, Vec<Target>)> = BTreeMap::new();
        for place in self.places.iter().filter(|p| !p.span.is_empty()) {
            let known = definitions.known(n, place.symbol);
            let symbol = definitions.symbols[place.symbol as usize].as_ref();
            let own = if place.is_definition { self.defined(place, symbol) } else { None };
            // A Python name that we know as a definition is no use, whatever the indexer calls it.
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
            let fitting = known.iter().filter(|d| {
                let target = &files[definitions.by_file[&d.file] as usize];
                self.may_name(&place.text, target, d.def)
            });
            let targets: Vec<Target> = fitting.filter_map(|d| self.target(*d, definitions, files, view, keys)).collect();
            if targets.is_empty() {
                imported.n_dropped += u64::from(!known.is_empty());
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
            let Ok(len) = u16::try_from(end - start) else { continue };
            let count = if named.is_empty() { &mut imported.n_external } else { &mut imported.n_targets };
            *count += 1;
            places.push(Place { at: *start, len, targets: named.iter().filter_map(index).collect() });
        }
        Overlay { path: self.path.clone(), hash: self.hash, targets, places }
    }

    /// The lasting name of a definition; `None` when other files cannot look it up.
    fn target(
        &self,
        d: DefRef,
        definitions: &Definitions,
        files: &[Open],
        view: &dyn FactsView,
        keys: &mut FxHashMap<DefRef, Option<Key>>,
    ) -> Option<Target> {
        let file = &files[definitions.by_file[&d.file] as usize];
        let Some(def) = d.def.some() else {
            let key = Some(Key::file(&file.path));
            return Some(Target { path: file.path.clone(), descriptor: String::new(), ordinal: 0, key });
        };
        let facts = Facts::outside(&file.interface);
        let key = if d.file == self.file { None } else { Some((*keys.entry(d).or_insert_with(|| key_of(file, def, view)))?) };
        let (descriptor, ordinal) = (names::descriptor(&facts, def), facts.def(def).ordinal);
        Some(Target { path: file.path.clone(), descriptor, ordinal, key })
    }
}

/// The key of a definition that fewest files provide: looking it up ties the use to least else.
fn key_of(file: &Open, def: DefIdx, view: &dyn FactsView) -> Option<Key> {
    let keys = file.interface.entries.iter().filter(|e| e.def == def).map(|e| e.key);
    keys.min_by_key(|k| (view.providers(*k).len(), *k))
}

/// What the symbols of an index are.
struct Definitions<'i> {
    symbols: &'i [Option<Symbol>],
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
}

impl<'i> Definitions<'i> {
    fn new(index: &ForeignIndex, files: &[Open], symbols: &'i [Option<Symbol>], view: &dyn FactsView) -> Self {
        let mut it = Self {
            symbols,
            by_file: files.iter().enumerate().map(|(i, f)| (f.file, i as u32)).collect(),
            known: FxHashMap::default(),
            declared: FxHashSet::default(),
            packages: FxHashSet::default(),
            roots: FxHashSet::default(),
        };
        for o in index.documents.iter().flat_map(|d| &d.occurrences).filter(|o| o.is_definition()) {
            if let Some(Symbol::Global { manager, package, .. }) = symbols.get(o.symbol as usize).and_then(Option::as_ref)
                && it.declared.insert(o.symbol)
            {
                it.packages.insert((manager.clone(), normalised(package)));
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
        // An overload is not what a use means, the definition is; a setter is meant by some writes.
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

    fn key(&self, n: u32, symbol: u32) -> (u32, u32) {
        match self.symbols[symbol as usize] {
            Some(Symbol::Global { .. }) => (symbol, u32::MAX),
            _ => (symbol, n),
        }
    }

    /// Our definitions of a symbol as the `n`-th file sees it; `None` when no document defines it.
    fn known(&self, n: u32, symbol: u32) -> Option<&[DefRef]> {
        self.known.get(&self.key(n, symbol)).map(|d| &d[..])
    }

    /// Whether a symbol lies outside the tree for certain.
    fn is_external(&self, symbol: u32) -> bool {
        let Some(Symbol::Global { manager, package, descriptors, .. }) = &self.symbols[symbol as usize] else {
            return false;
        };
        let root = descriptors[0].name.split('.').next().unwrap_or("");
        !self.declared.contains(&symbol)
            && !package.is_empty()
            && !self.packages.contains(&(manager.clone(), normalised(package)))
            && !self.roots.contains(root)
    }
}

/// The first component of the dotted module of a Python file.
fn root_module(file: &Open, view: &dyn FactsView) -> Option<String> {
    let id = Namespace::of(view, file.file)?.symbol(&file.interface, DefIdx::NONE)?;
    match Symbol::parse(id.0.strip_prefix("scip:")?).ok()? {
        Symbol::Global { descriptors, .. } => descriptors[0].name.split('.').next().map(str::to_owned),
        Symbol::Local(_) => None,
    }
}

/// A package name as registries compare it: case and kind of separator do not count.
fn normalised(package: &str) -> String {
    package.chars().map(|c| if matches!(c, '.' | '_') { '-' } else { c.to_ascii_lowercase() }).collect()
}


#[cfg(test)]
mod tests;

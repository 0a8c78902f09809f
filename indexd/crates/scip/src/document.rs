//! One document of a foreign index, matched with the text of its file.
//!
//! Ranges become bytes and are kept only where they hold an identifier (or a Go import path); a document in
//! which more than a tenth of the places fail does not describe this text. Differences between indexers are
//! smoothed here: ranges over `.module`, over `name as alias`, over an import path with or without its
//! quotes, overloads of which only the first is called a definition.

use crate::import::{ForeignDocument, ForeignIndex, ForeignOccurrence};
use crate::symbol::Symbol;
use crate::text::{Encoding, Text, is_identifier};
use indexd_model::path::{dir_of, file_name_of, stem_of};
use indexd_model::{ContentHash, DefFlags, DefIdx, DefRef, Facts, FileDoc, Interface, Language, Span, names};
use rustc_hash::{FxHashMap, FxHashSet};
use scip::types::descriptor::Suffix;
use std::sync::Arc;

/// A document whose text is available.
pub(crate) struct Open {
    pub file: FileDoc,
    pub path: String,
    pub hash: ContentHash,
    pub text: Arc<str>,
    pub interface: Arc<Interface>,
    /// Named definitions by the first byte of their name.
    pub starts: FxHashMap<u32, DefIdx>,
    /// Names bound by imports.
    pub aliases: FxHashSet<String>,
    /// Definitions that share a descriptor with another, by descriptor.
    pub siblings: FxHashMap<String, Vec<DefIdx>>,
    pub places: Vec<OpenPlace>,
}

/// An occurrence with its bytes. Large indexes have millions, so it owns no text.
#[derive(Clone, Copy)]
pub(crate) struct OpenPlace {
    pub span: Span,
    /// The identifier at its end (`map` of `.pkg.map`) or a quoted import path; empty for a range
    /// without text.
    pub token: Span,
    pub symbol: u32,
    pub is_definition: bool,
}

impl Open {
    /// Collects the names and definitions that the places of a file are compared with.
    pub fn new(
        file: FileDoc,
        path: String,
        (hash, text): (ContentHash, Arc<str>),
        interface: Arc<Interface>,
        places: Vec<OpenPlace>,
    ) -> Self {
        let facts = Facts::outside(&interface);
        let mut starts = FxHashMap::default();
        for (i, d) in interface.defs.iter().enumerate() {
            if !facts.str(d.name).is_empty() && !d.flags.has(DefFlags::ANONYMOUS) {
                starts.entry(d.name_span.start).or_insert(DefIdx(i as u32));
            }
        }
        let aliases =
            interface.imports.iter().filter_map(|i| i.alias).map(|a| facts.str(a).to_owned()).collect();
        let mut siblings: FxHashMap<String, Vec<DefIdx>> = FxHashMap::default();
        for d in (0..interface.defs.len() as u32).map(DefIdx) {
            siblings.entry(names::descriptor(&facts, d)).or_default().push(d);
        }
        siblings.retain(|_, all| all.len() > 1);
        Self { file, path, hash, text, starts, aliases, siblings, places, interface }
    }

    /// Our definition that is introduced by a definition occurrence.
    pub fn defined(&self, place: &OpenPlace, symbol: Option<&Symbol>) -> Option<DefRef> {
        let def = match symbol.and_then(|s| s.descriptors.last()) {
            // A package or module is defined at the package clause of a Go file, or at the first byte of a
            // Python file.
            Some(d) if d.is_module() => DefIdx::NONE,
            Some(_) if place.span.is_empty() => return None,
            _ => {
                let def = *self.starts.get(&place.token.start)?;
                let facts = Facts::outside(&self.interface);
                (facts.def_name(def) == place.word(&self.text)).then_some(def)?
            }
        };
        Some(DefRef { file: self.file, def })
    }

    /// A definition and all others of the file with its descriptor, in source order: some indexers
    /// call only the first of several overloads the definition.
    pub fn with_siblings(&self, d: DefRef) -> Vec<DefRef> {
        let facts = Facts::outside(&self.interface);
        let siblings = d.def.some().and_then(|def| self.siblings.get(&names::descriptor(&facts, def)));
        siblings.map_or(vec![d], |all| all.iter().map(|def| DefRef { file: d.file, def: *def }).collect())
    }

    /// Returns true if a place that an indexer calls external may name that symbol. An attribute of a Python
    /// value is not a member of a module, although indexers say so of attributes named like builtins.
    pub fn may_be_external(&self, place: &OpenPlace, symbol: Option<&Symbol>) -> bool {
        let descriptors = symbol.map_or(&[][..], |s| &s.descriptors);
        let is_of_module = descriptors.len() == 2 && descriptors[0].suffix == Suffix::Namespace;
        match place.base(&self.text) {
            Some(base) if is_of_module && self.interface.language == Language::Python => {
                self.aliases.contains(base)
            }
            _ => true,
        }
    }

    /// Returns true if an identifier of this file may name `target`.
    pub fn may_name(&self, text: &str, target: &Open, def: DefIdx) -> bool {
        if self.aliases.contains(text) {
            return true;
        }
        match def.some() {
            Some(d) => Facts::outside(&target.interface).def_name(d) == text,
            None if target.interface.language == Language::Go => {
                let package =
                    target.interface.package.map_or("", |p| Facts::outside(&target.interface).str(p));
                package == text || file_name_of(dir_of(&target.path)) == text
            }
            None => {
                let stem = stem_of(&target.path);
                text == if stem == "__init__" { file_name_of(dir_of(&target.path)) } else { stem }
            }
        }
    }
}

/// The places of the documents of one file and the number of dropped ones; `None` when the documents do not
/// describe this text.
pub(crate) fn place_all(
    index: &ForeignIndex,
    documents: &[&ForeignDocument],
    text: &str,
) -> Option<(Vec<OpenPlace>, u64)> {
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
                    n_wrong += u64::from(
                        p.is_definition && !p.is_named_after(&index.symbols[p.symbol as usize], text.text),
                    );
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
    let token = Span::new(span.start + token_start as u32, span.start + held.len() as u32);
    Some(OpenPlace { span, token, symbol: o.symbol, is_definition: o.is_definition() })
}

/// Returns true if a text is a Go string literal, as of an import path.
fn is_quoted(text: &str) -> bool {
    text.len() > 2 && ['"', '`'].iter().any(|q| text.starts_with(*q) && text.ends_with(*q))
}

impl OpenPlace {
    /// The identifier; for an import path its last component.
    pub fn word<'t>(&self, text: &'t str) -> &'t str {
        let token = &text[self.token.range()];
        if is_quoted(token) { file_name_of(&token[1..token.len() - 1]) } else { token }
    }

    /// The identifier before the dot before the token; `Some("")` for a dot after something else.
    fn base<'t>(&self, text: &'t str) -> Option<&'t str> {
        let before = text[..self.token.start as usize].strip_suffix('.')?;
        let start = before.char_indices().rev().take_while(|(_, c)| *c == '_' || c.is_alphanumeric()).last();
        Some(start.map_or("", |(i, _)| &before[i..]))
    }

    /// Returns true if the text of a definition is the last name of its symbol. Modules and packages are
    /// defined at places of the indexer's choice.
    fn is_named_after(&self, symbol: &str, text: &str) -> bool {
        Symbol::parse(symbol).is_some_and(|symbol| {
            symbol.descriptors.last().is_none_or(|d| {
                self.span.is_empty() || d.is_module() || is_written_as(&d.name, self.word(text))
            })
        })
    }
}

/// Returns true if a definition of this name may be at a word: constructors (`<init>`, `.ctor`) are at the
/// name of their type, and accessors that a compiler makes at the name of a property.
fn is_written_as(name: &str, word: &str) -> bool {
    let accessed = ["get", "set", "is"].into_iter().find_map(|start| name.strip_prefix(start));
    name == word
        || name.starts_with(['<', '.'])
        || accessed.is_some_and(|rest| rest.eq_ignore_ascii_case(word))
}

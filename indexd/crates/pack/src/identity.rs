//! Identities that leave a snapshot: chunk uids, evidence ids, UTF-16 ranges; symbols, kept once
//! computed.

use crate::pack::Range;
use crate::unit::{Unit, Units};
use indexd_model::symbol::Namespace;
use indexd_model::{
    ChunkDoc, ChunkUid, ContentHash, DefDoc, Facts, FileDoc, IndexView, LineIndex, Lines, Span, SymbolId,
    names, span,
};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

/// The stored text of one file with its lines, read once for one request.
pub struct Source {
    /// The text.
    pub text: Arc<str>,
    lines: Arc<LineIndex>,
    /// UTF-16 code units before each line; none for ASCII, where they are bytes.
    units: OnceCell<Option<Vec<u32>>>,
}

impl Source {
    /// A text with the index of its lines.
    pub fn new(text: Arc<str>, lines: Arc<LineIndex>) -> Self {
        Self { text, lines, units: OnceCell::new() }
    }

    /// Its lines.
    pub fn lines(&self) -> &LineIndex {
        &self.lines
    }

    /// The text of `span`; empty when it lies outside.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// The hash of the full text of some lines.
    pub fn content_hash(&self, lines: Lines) -> String {
        let whole = Span { start: self.lines.start(lines.start), end: self.lines.start(lines.end + 1) };
        ContentHash::of(self.slice(whole).as_bytes()).to_string()
    }

    /// `span` in UTF-16 code units from the start of the file.
    pub fn utf16(&self, span: Span) -> Range {
        let Some(before) = self.units.get_or_init(|| self.count_units()) else {
            return Range { start: span.start, end: span.end };
        };
        let units = |at: u32| {
            let line = self.lines.line(at);
            let part = self.slice(Span { start: self.lines.start(line), end: at });
            before[line as usize - 1] + span::utf16_len(part)
        };
        Range { start: units(span.start), end: units(span.end) }
    }

    fn count_units(&self) -> Option<Vec<u32>> {
        let mut n = 0;
        let before = |line| {
            let before = n;
            n += span::utf16_len(self.slice(self.lines.span(line)));
            before
        };
        (!self.text.is_ascii()).then(|| (1..=self.lines.count()).map(before).collect())
    }
}

/// Texts and identities, read once for one request.
#[derive(Default)]
pub struct Sources {
    files: FxHashMap<FileDoc, Rc<Source>>,
    uids: FxHashMap<ChunkDoc, ChunkUid>,
    /// Place and definition of the first chunks of a file, as many as were needed.
    chunks: FxHashMap<FileDoc, Vec<(Span, DefDoc)>>,
    namespaces: FxHashMap<FileDoc, Option<Namespace>>,
    symbols: FxHashMap<DefDoc, Option<SymbolId>>,
}

impl Sources {
    /// The file's text.
    pub fn of(&mut self, view: &dyn IndexView, file: FileDoc) -> Rc<Source> {
        let source =
            self.files.entry(file).or_insert_with(|| Rc::new(Source::new(view.text(file), view.lines(file))));
        Rc::clone(source)
    }

    /// The identity of a unit: that of its first chunk.
    pub fn uid(&mut self, units: &mut Units, unit: &Unit) -> ChunkUid {
        let chunk = unit.key.0;
        if let Some(uid) = self.uids.get(&chunk) {
            return *uid;
        }
        let source = self.of(units.view, unit.file);
        let file = units.file(unit.file);
        let (first, n) = (file.chunks.start, (chunk.0 - file.chunks.start) as usize);
        let chunks = self.chunks.entry(unit.file).or_default();
        while chunks.len() <= n {
            let next = units.view.chunk(ChunkDoc(first + chunks.len() as u32));
            chunks.push((next.span, next.def));
        }
        let (span, def) = chunks[n];
        let own = source.slice(span);
        let name = descriptor(units.view, def);
        // Equal chunks of one definition count up; lengths tell nearly all apart.
        let is_twin = |(other, of): &&(Span, DefDoc)| {
            other.len() == span.len() && source.slice(*other) == own && descriptor(units.view, *of) == name
        };
        let ordinal = chunks[..n].iter().filter(is_twin).count() as u32;
        let uid = ChunkUid::of(&file.path, &name, own, ordinal);
        self.uids.insert(chunk, uid);
        uid
    }

    /// The symbol of a definition.
    pub fn symbol(&mut self, view: &dyn IndexView, def: DefDoc) -> Option<SymbolId> {
        def.some()?;
        if let Some(known) = self.symbols.get(&def) {
            return known.clone();
        }
        let record = view.def(def);
        let namespace =
            self.namespaces.entry(record.file).or_insert_with(|| Namespace::of(view, record.file));
        let symbol = namespace.as_ref().and_then(|n| n.symbol(&view.interface(record.file), record.idx));
        self.symbols.insert(def, symbol.clone());
        symbol
    }

    /// What a definition is called in paths of edges: its symbol, else its chunk; for a whole file
    /// `file:` and its path.
    pub fn endpoint(&mut self, units: &mut Units, def: DefDoc) -> String {
        if let Some(id) = self.symbol(units.view, def) {
            return id.0;
        }
        let record = units.view.def(def);
        match units.of_def(def).filter(|_| record.idx.some().is_some()) {
            Some(unit) => self.uid(units, &unit).to_string(),
            None => format!("file:{}", units.view.path(record.file)),
        }
    }
}

fn descriptor(view: &dyn IndexView, def: DefDoc) -> String {
    let Some(def) = def.some() else { return String::new() };
    let record = view.def(def);
    match record.idx.some() {
        Some(idx) => names::descriptor(&Facts::outside(&view.interface(record.file)), idx),
        None => String::new(),
    }
}

/// `ev:` and a digest of what the evidence is, and where.
pub fn evidence_id(kind: &str, path: &str, at: u32, target: &str) -> String {
    let mut h = blake3::Hasher::new();
    for part in [kind, path, target] {
        h.update(&(part.len() as u32).to_le_bytes());
        h.update(part.as_bytes());
    }
    h.update(&at.to_le_bytes());
    format!("ev:{}", hex(&h.finalize().as_bytes()[..8]))
}

/// Lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = String::with_capacity(2 * bytes.len());
    for b in bytes {
        out.push(DIGITS[usize::from(b >> 4)] as char);
        out.push(DIGITS[usize::from(b & 15)] as char);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf16_ranges_equal_counts_from_the_start() {
        for text in ["", "abc\ndef\n", "a\u{e9}\n\u{1d11e}b\r\n\n\u{4e2d}\u{6587} c", "\u{1d11e}\n"] {
            let source = Source::new(Arc::from(text), Arc::new(LineIndex::new(text)));
            let at: Vec<usize> = (0..=text.len()).filter(|i| text.is_char_boundary(*i)).collect();
            for (i, &from) in at.iter().enumerate() {
                for &to in &at[i..] {
                    let got = source.utf16(Span { start: from as u32, end: to as u32 });
                    let expect = |end: usize| text[..end].encode_utf16().count() as u32;
                    assert_eq!((got.start, got.end), (expect(from), expect(to)), "{text:?} {from}..{to}");
                }
            }
        }
    }
}

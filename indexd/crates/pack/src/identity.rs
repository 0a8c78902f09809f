//! Identities that are valid outside a snapshot: chunk uids, evidence ids, UTF-16 ranges, symbols. Each is
//! computed once for one request.

use crate::pack::Range;
use crate::unit::{Unit, Units};
use indexd_model::markdown::fence_len;
use indexd_model::symbol::Namespace;
use indexd_model::{
    ChunkDoc, ChunkUid, ContentHash, DefDoc, Facts, FileDoc, IndexView, LineIndex, Lines, Span, SymbolId,
    ids, names, span,
};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// The stored text of one file with its lines, read once for one request.
pub struct Source {
    /// The text.
    pub text: Arc<str>,
    lines: Arc<LineIndex>,
    /// UTF-16 code units before each line; `None` for ASCII texts, where they equal bytes.
    units: OnceCell<Option<Vec<u32>>>,
    /// Lines of at least this number of bytes are shown in part.
    line_max: usize,
    fence: OnceCell<usize>,
    /// Offset in each long line at which its shown part begins; 0 if absent.
    cuts: RefCell<BTreeMap<u32, usize>>,
}

/// Marks a place where text of a line is left out.
const CUT: &str = "\u{2026}";

/// Minimum bytes of a line between its marks; a line that would have fewer is not shown.
const CUT_BYTES_MIN: usize = 24;

impl Source {
    /// A text with the index of its lines.
    pub fn new(text: Arc<str>, lines: Arc<LineIndex>) -> Self {
        Self {
            text,
            lines,
            units: OnceCell::new(),
            line_max: usize::MAX,
            fence: OnceCell::new(),
            cuts: RefCell::default(),
        }
    }

    /// Sets the number of bytes, line end included, above which lines are shown in part.
    #[must_use]
    pub fn with_line_max(mut self, bytes: usize) -> Self {
        self.line_max = bytes;
        self
    }

    /// Bytes of a line, line end included, from which it is shown in part.
    pub fn line_max(&self) -> usize {
        self.line_max
    }

    /// True if a line is shown only in part, or, without room for that, not at all.
    pub fn is_long(&self, line: u32) -> bool {
        self.lines.span(line).len() as usize > self.line_max
    }

    /// Sets the byte at which the shown part of a long line begins, unless it was shown already.
    pub fn cut_at(&self, line: u32, byte: usize) {
        self.cuts.borrow_mut().entry(line).or_insert(byte);
    }

    /// Bytes of a line as it is shown; `None` if it is not shown.
    pub fn shown_len(&self, line: u32) -> Option<usize> {
        let len = self.lines.span(line).len() as usize;
        if len <= self.line_max {
            return Some(len);
        }
        (self.line_max >= CUT_BYTES_MIN).then(|| self.cut(line).len())
    }

    /// Returns lines as they are shown: exactly, except that long lines are cut, with a mark on each side
    /// where text is left out.
    pub fn shown(&self, lines: Lines) -> Cow<'_, str> {
        let whole = self.slice(self.lines.lines_span(lines));
        if whole.len() <= self.line_max || !(lines.start..=lines.end).any(|l| self.is_long(l)) {
            return Cow::Borrowed(whole);
        }
        let line = |l| if self.is_long(l) { self.cut(l) } else { self.slice(self.lines.span(l)).to_owned() };
        Cow::Owned((lines.start..=lines.end).map(line).collect())
    }

    /// Cuts a line to half of the limit of an item, so that other lines fit beside it.
    fn cut(&self, line: u32) -> String {
        let whole = self.slice(self.lines.span(line));
        let body = whole.trim_end_matches(['\n', '\r']);
        let room = (self.line_max / 2).saturating_sub(2 * CUT.len() + whole.len() - body.len());
        let down = |mut at: usize| {
            while !body.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let last = body.len().saturating_sub(room);
        let at = *self.cuts.borrow_mut().entry(line).or_insert(0);
        let from = down(at.min(last));
        let to = down((from + room).min(body.len()));
        let mark = |is_cut: bool| if is_cut { CUT } else { "" };
        let end = &whole[body.len()..];
        format!("{}{}{}{end}", mark(from > 0), &body[from..to], mark(to < body.len()))
    }

    /// Its lines.
    pub fn lines(&self) -> &LineIndex {
        &self.lines
    }

    /// The text of `span`; empty if the span is outside the text.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// The length of a fence around lines of the text: longer than any run of backticks in it, at least 3.
    pub fn fence(&self) -> usize {
        *self.fence.get_or_init(|| fence_len([&*self.text]))
    }

    /// The text of a line.
    pub fn line(&self, line: u32) -> &str {
        self.slice(self.lines.span(line))
    }

    /// The hash of the full text of some lines.
    pub fn content_hash(&self, lines: Lines) -> String {
        ContentHash::of(self.slice(self.lines.lines_span(lines)).as_bytes()).to_string()
    }

    /// Converts `span` to UTF-16 code units from the start of the file.
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

/// Texts and identities, each read once for one request.
#[derive(Default)]
pub struct Sources {
    files: FxHashMap<FileDoc, Rc<Source>>,
    uids: FxHashMap<ChunkDoc, ChunkUid>,
    /// Span and definition of the first chunks of a file, as far as they were needed.
    chunks: FxHashMap<FileDoc, Vec<(Span, DefDoc)>>,
    namespaces: FxHashMap<FileDoc, Option<Namespace>>,
    symbols: FxHashMap<DefDoc, Option<SymbolId>>,
    /// Maximum bytes of a line that is shown whole; `None` for no limit.
    line_max: Option<usize>,
}

impl Sources {
    /// Creates a reader of texts whose lines are shown whole up to `bytes` bytes.
    pub fn with_line_max(bytes: usize) -> Self {
        Self { line_max: Some(bytes), ..Self::default() }
    }

    /// The file's text.
    pub fn of(&mut self, view: &dyn IndexView, file: FileDoc) -> Rc<Source> {
        let line_max = self.line_max.unwrap_or(usize::MAX);
        let read = || Rc::new(Source::new(view.text(file), view.lines(file)).with_line_max(line_max));
        Rc::clone(self.files.entry(file).or_insert_with(read))
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
        // Equal chunks of one definition are numbered. Most chunks differ in length already.
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

    /// The name of a definition in paths of edges: its symbol, else its chunk uid; for a whole file `file:`
    /// and its path.
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

/// Returns `ev:` and a digest of the kind and the place of the evidence.
pub fn evidence_id(kind: &str, path: &str, at: u32, target: &str) -> String {
    let mut h = blake3::Hasher::new();
    for part in [kind, path, target] {
        h.update(&(part.len() as u32).to_le_bytes());
        h.update(part.as_bytes());
    }
    h.update(&at.to_le_bytes());
    format!("ev:{}", ids::hex(&h.finalize().as_bytes()[..8]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, line_max: usize, line: u32, at: usize) -> String {
        let source = Source::new(Arc::from(text), Arc::new(LineIndex::new(text))).with_line_max(line_max);
        source.cut_at(line, at);
        source.shown(Lines { start: line, end: line }).into_owned()
    }

    #[test]
    fn a_long_line_is_cut_between_characters_and_marked() {
        let text = format!("short\n{}\nend\n", "\u{e9}x".repeat(100));
        assert_eq!(shown(&text, 50, 1, 3), "short\n");
        assert_eq!(shown(&text, 50, 2, 0), format!("{}\u{2026}\n", "\u{e9}x".repeat(6)));
        // Byte 4 is inside a character.
        assert_eq!(shown(&text, 50, 2, 4), format!("\u{2026}{}\u{2026}\n", "\u{e9}x".repeat(6)));
        let end = shown(&text, 50, 2, 1_000);
        assert!(end.starts_with('\u{2026}') && end.ends_with("x\n") && !end.ends_with("\u{2026}\n"), "{end}");
        for (at, max) in (0..310).zip([24, 25, 31, 60].into_iter().cycle()) {
            let cut = shown(&text, max, 2, at);
            let inner = cut.trim_end_matches('\n').trim_matches('\u{2026}');
            assert!(cut.len() <= max && text.contains(inner), "{at} {max} {cut}");
        }
    }

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

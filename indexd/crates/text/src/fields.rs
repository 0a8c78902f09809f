//! The terms of a file by chunk and field, as input of the postings.

use crate::terms::{word_terms, words};
use indexd_model::path::{dir_of, stem_of};
use indexd_model::terms::{ChunkTerms, FileTerms, Vocabulary};
use indexd_model::view::{Field, FieldCounts, N_FIELDS};
use indexd_model::{Chunk, DefIdx, Facts, Span, names};

/// The terms of each chunk of a file, and of its path.
///
/// Each word of a chunk's text counts in exactly one field, depending on its place: the name token of the
/// chunk's definition in none (the definition's name is counted instead, once in every part of a long
/// definition), its head in [`Field::Signature`], its doc comment in [`Field::Doc`], the rest in
/// [`Field::Body`]. Names of the enclosing definitions count in [`Field::Qualifier`]. `chunks` must be
/// inside `text` and on character boundaries; terms are sorted by number.
pub fn file_terms(
    facts: Facts,
    chunks: &[Chunk],
    path: &str,
    text: &str,
    vocabulary: &mut Vocabulary,
) -> FileTerms {
    let mut counter = Counter::default();
    let mut known = (DefIdx::NONE, Named::default());
    let chunks = chunks
        .iter()
        .map(|chunk| {
            let mut places = [Span::default(); 3];
            if let Some(def) = chunk.def.some() {
                if known.0 != def {
                    known = (def, Named::of(&facts, def, vocabulary));
                }
                counter.add_all(Field::Name, &known.1.name);
                counter.add_all(Field::Qualifier, &known.1.qualifier);
                let d = facts.def(def);
                places = [d.name_span, d.doc, d.head];
            }
            count_text(text, chunk.span, places, vocabulary, &mut counter);
            counter.finish()
        })
        .collect();
    let (path, path_len) = path_terms(path, vocabulary);
    FileTerms { chunks, path, path_len }
}

/// The terms of a path with their counts, sorted by number, and their total: its folders and the file's name
/// up to the last dot, since the extension adds nothing to the language.
pub fn path_terms(path: &str, vocabulary: &mut Vocabulary) -> (Vec<(u32, u8)>, u16) {
    let mut counter = Counter::default();
    for part in [dir_of(path), stem_of(path)] {
        words(part, |_, word| {
            counter.add_all(Field::Name, numbers(vocabulary, word));
        });
    }
    let counted = counter.finish();
    let terms = counted.terms.iter().map(|(term, counts)| (*term, counts[Field::Name as usize])).collect();
    (terms, counted.lens[Field::Name as usize])
}

/// The numbers of the terms of a word.
#[inline]
fn numbers<'v>(vocabulary: &'v mut Vocabulary, word: &str) -> &'v [u32] {
    vocabulary.word(word, |word, f| word_terms(word, f))
}

/// Terms of a definition's name and of the names of the enclosing definitions.
#[derive(Default)]
struct Named {
    name: Vec<u32>,
    qualifier: Vec<u32>,
}

impl Named {
    fn of(facts: &Facts, def: DefIdx, vocabulary: &mut Vocabulary) -> Self {
        let mut named = Self::default();
        let mut push = |name: &str, is_own: bool| {
            let out = if is_own { &mut named.name } else { &mut named.qualifier };
            words(name, |_, word| out.extend_from_slice(numbers(vocabulary, word)));
        };
        for d in names::chain(facts, def) {
            push(facts.def(d).receiver.map_or("", |r| facts.str(r)), false);
            push(facts.def_name(d), d == def);
        }
        named
    }
}

/// Counts the words of a span of text. The places are the name, the doc comment and the head of its definition;
/// they are empty for text between definitions.
fn count_text(
    text: &str,
    span: Span,
    [name, doc, head]: [Span; 3],
    vocabulary: &mut Vocabulary,
    counter: &mut Counter,
) {
    let Some(part) = text.get(span.range()) else { return };
    words(part, |at, word| {
        let at = span.start + at as u32;
        let field = if name.holds(at) {
            return;
        } else if doc.holds(at) {
            Field::Doc
        } else if head.holds(at) {
            Field::Signature
        } else {
            Field::Body
        };
        counter.add_all(field, numbers(vocabulary, word));
    });
}

/// Counts terms of one chunk. Occurrences are collected and sorted: for the few hundred of a chunk that is
/// faster than a table, and the order does not depend on hashing.
#[derive(Default)]
struct Counter {
    seen: Vec<u64>,
    lens: [u32; N_FIELDS],
}

impl Counter {
    fn add_all(&mut self, field: Field, terms: &[u32]) {
        self.lens[field as usize] += terms.len() as u32;
        self.seen.extend(terms.iter().map(|t| u64::from(*t) << 3 | field as u64));
    }

    fn finish(&mut self) -> ChunkTerms {
        self.seen.sort_unstable();
        let n_terms = self.seen.chunk_by(|a, b| a >> 3 == b >> 3).count();
        let mut terms: Vec<(u32, FieldCounts)> = Vec::with_capacity(n_terms);
        for x in self.seen.drain(..) {
            let (term, field) = ((x >> 3) as u32, (x & 7) as usize);
            match terms.last_mut() {
                Some((last, counts)) if *last == term => counts[field] = counts[field].saturating_add(1),
                _ => {
                    let mut counts = [0; N_FIELDS];
                    counts[field] = 1;
                    terms.push((term, counts));
                }
            }
        }
        let lens = self.lens.map(|n| n.min(u32::from(u16::MAX)) as u16);
        self.lens = [0; N_FIELDS];
        ChunkTerms { terms, lens }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexd_model::{
        ChunkKind, Def, DefFlags, DefKind, ExprId, FileRoles, Interface, Language, Lines, Outcome, StrId,
    };

    fn def(name: u32, parent: DefIdx, [name_span, head, doc, span]: [(u32, u32); 4]) -> Def {
        let s = |(a, b)| Span::new(a, b);
        Def {
            name: StrId(name),
            kind: DefKind::Method,
            flags: DefFlags::default(),
            parent,
            receiver: None,
            ordinal: 0,
            name_span: s(name_span),
            span: s(span),
            head: s(head),
            doc: s(doc),
            ty: ExprId::NONE,
            value: ExprId::NONE,
            value_index: 0,
            params: vec![],
            results: vec![],
            returns: vec![],
            bases: vec![],
            decorators: vec![],
            type_params: vec![],
        }
    }

    /// `term name qualifier signature doc body`, sorted by term.
    fn show(terms: &ChunkTerms, vocabulary: &Vocabulary) -> Vec<String> {
        let mut out: Vec<String> = terms
            .terms
            .iter()
            .map(|(t, c)| format!("{} {}", vocabulary.term(*t), c.map(|n| n.to_string()).concat()))
            .collect();
        out.sort();
        out
    }

    #[test]
    fn every_word_counts_in_one_field() {
        let text = "class Pool:\n  def getConn(self):\n    \"doc of get\"\n    self.open()\nend of pool\n";
        let at = |s: &str| text.find(s).unwrap() as u32;
        let span = |s: &str| (at(s), at(s) + s.len() as u32);
        let method = (at("  def"), at("end of"));
        let mut interface = Interface::empty(Language::Python, Outcome::Parsed, FileRoles::default());
        interface.arena.strings = vec!["Pool".into(), "getConn".into()];
        interface.defs = vec![
            def(0, DefIdx::NONE, [span("Pool"), span("class Pool:"), (0, 0), (0, method.1)]),
            def(1, DefIdx(0), [span("getConn"), span("def getConn(self):"), span("\"doc of get\""), method]),
        ];
        let chunk = |def, (start, end), part| Chunk {
            span: Span::new(start, end),
            lines: Lines { start: 1, end: 1 },
            def,
            kind: ChunkKind::Definition,
            part,
            n_parts: 2,
        };
        let split = at("    self.open");
        let chunks = [
            chunk(DefIdx(1), (method.0, split), 0),
            chunk(DefIdx(1), (split, method.1), 1),
            chunk(DefIdx::NONE, (method.1, text.len() as u32), 0),
        ];
        let mut v = Vocabulary::default();
        let out = file_terms(Facts::outside(&interface), &chunks, "net/http_pool.py", text, &mut v);
        assert_eq!(
            show(&out.chunks[0], &v),
            [
                "=getconn 10000",
                "conn 10000",
                "def 00100",
                "doc 00010",
                "get 10010",
                "of 00010",
                "pool 01000",
                "self 00100"
            ]
        );
        assert_eq!(
            show(&out.chunks[1], &v),
            ["=getconn 10000", "conn 10000", "get 10000", "open 00001", "pool 01000", "self 00001"]
        );
        assert_eq!(show(&out.chunks[2], &v), ["end 00001", "of 00001", "pool 00001"]);
        assert_eq!(out.chunks[0].lens, [3, 1, 2, 3, 0]);
        let path: Vec<_> = out.path.iter().map(|(t, n)| (v.term(*t), *n)).collect();
        assert_eq!((path, out.path_len), (vec![("pool", 1), ("net", 1), ("http", 1), ("=httppool", 1)], 4));
    }

    /// A method of Go is outside of its type, which only its receiver names.
    #[test]
    fn a_receiver_is_a_name_around() {
        let text = "func (p *ConnPool) Get() {}";
        let at = |s: &str| (text.find(s).unwrap() as u32, (text.find(s).unwrap() + s.len()) as u32);
        let whole = (0, text.len() as u32);
        let mut interface = Interface::empty(Language::Go, Outcome::Parsed, FileRoles::default());
        interface.arena.strings = vec!["Get".into(), "ConnPool".into()];
        interface.defs = vec![def(0, DefIdx::NONE, [at("Get"), whole, (0, 0), whole])];
        interface.defs[0].receiver = Some(StrId(1));
        let chunk = Chunk {
            span: Span::new(whole.0, whole.1),
            lines: Lines { start: 1, end: 1 },
            def: DefIdx(0),
            kind: ChunkKind::Definition,
            part: 0,
            n_parts: 1,
        };
        let mut v = Vocabulary::default();
        let out = file_terms(Facts::outside(&interface), &[chunk], "x.go", text, &mut v);
        assert_eq!(
            show(&out.chunks[0], &v),
            ["=connpool 01100", "conn 01100", "func 00100", "get 10000", "pool 01100"]
        );
    }

    #[test]
    fn counts_saturate() {
        let text = "word ".repeat(300);
        let interface = Interface::empty(Language::Text, Outcome::TextOnly, FileRoles::default());
        let chunk = Chunk {
            span: Span::new(0, text.len() as u32),
            lines: Lines { start: 1, end: 1 },
            def: DefIdx::NONE,
            kind: ChunkKind::Lines,
            part: 0,
            n_parts: 1,
        };
        let mut v = Vocabulary::default();
        let out = file_terms(Facts::outside(&interface), &[chunk], "x", &text, &mut v);
        assert_eq!(out.chunks[0].terms, [(0, [0, 0, 0, 0, 255])]);
        assert_eq!(out.chunks[0].lens[Field::Body as usize], 300);
    }
}

//! Facts as compressed blobs. Before they are packed, numbers that grow along a list (places, ids of
//! expressions, starts of lists) become differences to their neighbours: that halves the blobs.

use super::blob::{compress, read_in};
use super::bytes::{Reader, put};
use bitcode::{DecodeOwned, Encode};
use indexd_model::facts::{Arena, Binding, Def, Expr, Import, Part, Source};
use indexd_model::{Chunk, ExprId, FileRoles, Interface, Language, List, Node, Outcome, Span, StrId};
use std::io;

/// What is said of a file as a whole.
type Head = (Language, Outcome, FileRoles, Option<StrId>, Option<StrId>, Option<Vec<StrId>>, Vec<Import>);

/// Packs facts. Keeps the memory that encoding needs for the next file; with files of a few lines
/// its allocation costs more than what is encoded.
#[derive(Default)]
pub(crate) struct Packer {
    buffer: bitcode::Buffer,
    raw: Vec<u8>,
}

impl Packer {
    /// Packs an interface.
    pub fn interface(&mut self, interface: &Interface) -> io::Result<Vec<u8>> {
        let Interface {
            language,
            outcome,
            roles,
            package,
            constraint,
            exports,
            defs,
            imports,
            entries,
            arena,
        } = interface;
        let head: Head =
            (*language, *outcome, *roles, *package, *constraint, exports.clone(), imports.clone());
        self.raw.clear();
        self.section(&head);
        let mut defs = defs.clone();
        Differences::packing().defs(&mut defs);
        self.list(&defs);
        self.list(entries);
        self.arena(arena, 0);
        compress(&self.raw)
    }

    /// Packs what is not the interface, which has `n_exprs` expressions.
    pub fn body(&mut self, body: &Arena, chunks: &[Chunk], n_exprs: usize) -> io::Result<Vec<u8>> {
        self.raw.clear();
        self.list(chunks);
        self.arena(body, n_exprs);
        compress(&self.raw)
    }

    fn section<T: Encode + ?Sized>(&mut self, part: &T) {
        let bytes = self.buffer.encode(part);
        put(&mut self.raw, bytes.len() as u64);
        self.raw.extend_from_slice(bytes);
    }

    /// A section of its own for a list; nothing but a length of 0 for an empty one.
    fn list<T: Encode>(&mut self, items: &[T])
    where
        [T]: Encode,
    {
        if items.is_empty() { put(&mut self.raw, 0) } else { self.section(items) }
    }

    fn arena(&mut self, arena: &Arena, first_expr: usize) {
        let Arena { strings, exprs, lists, bindings, sources } = arena;
        self.list(strings);
        let (mut exprs, mut lists) = (exprs.clone(), lists.clone());
        let (mut bindings, mut sources) = (bindings.clone(), sources.clone());
        Differences::packing().exprs(&mut exprs, first_expr as u32);
        Differences::packing().ids(&mut lists);
        Differences::packing().bindings(&mut bindings);
        Differences::packing().sources(&mut sources);
        self.list(&exprs);
        self.list(&lists);
        self.list(&bindings);
        self.list(&sources);
    }
}

/// Undoes [`Packer::interface`]; also says how many bytes it took uncompressed.
pub(crate) fn unpack_interface(blob: &[u8]) -> Option<(Interface, usize)> {
    read_in(blob, |raw| {
        let mut r = Reader::new(raw);
        let (language, outcome, roles, package, constraint, exports, imports): Head = read(&mut r)?;
        let mut defs: Vec<Def> = read_list(&mut r)?;
        Differences::unpacking().defs(&mut defs);
        let entries = read_list(&mut r)?;
        let arena = read_arena(&mut r, 0)?;
        let interface = Interface {
            language,
            outcome,
            roles,
            package,
            constraint,
            exports,
            defs,
            imports,
            entries,
            arena,
        };
        r.is_empty().then_some((interface, raw.len()))
    })
}

/// Undoes [`Packer::body`].
pub(crate) fn unpack_body(blob: &[u8], n_exprs: usize) -> Option<(Arena, Vec<Chunk>)> {
    read_in(blob, |raw| {
        let mut r = Reader::new(raw);
        let chunks = read_list(&mut r)?;
        let body = read_arena(&mut r, n_exprs)?;
        r.is_empty().then_some((body, chunks))
    })
}

fn read<T: DecodeOwned>(r: &mut Reader) -> Option<T> {
    let n = r.u32()? as usize;
    bitcode::decode(r.take(n)?).ok()
}

fn read_list<T: DecodeOwned>(r: &mut Reader) -> Option<Vec<T>> {
    match r.u32()? as usize {
        0 => Some(Vec::new()),
        n => bitcode::decode(r.take(n)?).ok(),
    }
}

fn read_arena(r: &mut Reader, first_expr: usize) -> Option<Arena> {
    let mut arena = Arena {
        strings: read_list(r)?,
        exprs: read_list(r)?,
        lists: read_list(r)?,
        bindings: read_list(r)?,
        sources: read_list(r)?,
    };
    Differences::unpacking().exprs(&mut arena.exprs, first_expr as u32);
    Differences::unpacking().ids(&mut arena.lists);
    Differences::unpacking().bindings(&mut arena.bindings);
    Differences::unpacking().sources(&mut arena.sources);
    Some(arena)
}

/// Turns numbers into differences and back, by the same walk in both directions. All arithmetic
/// wraps, so that any number comes back.
struct Differences {
    pack: bool,
    at: u32,
    list_end: u32,
    scope: u32,
}

impl Differences {
    fn packing() -> Self {
        Self { pack: true, at: 0, list_end: 0, scope: 0 }
    }

    fn unpacking() -> Self {
        Self { pack: false, ..Self::packing() }
    }

    /// `x` as a difference from `from`, signs folded so that small magnitudes are small numbers.
    fn from(&self, x: &mut u32, from: u32) {
        if self.pack {
            let d = x.wrapping_sub(from) as i32;
            *x = ((d << 1) ^ (d >> 31)) as u32;
        } else {
            let d = (*x >> 1) ^ (*x & 1).wrapping_neg();
            *x = d.wrapping_add(from);
        }
    }

    /// `x` as a difference from the number before.
    fn after(pack: &Self, x: &mut u32, last: &mut u32) {
        let packed = *x;
        pack.from(x, *last);
        *last = if pack.pack { packed } else { *x };
    }

    fn place(&mut self, x: &mut u32) {
        let mut last = self.at;
        Self::after(self, x, &mut last);
        self.at = last;
    }

    /// An expression's id inside expression `own`: most are a little below.
    fn child(&self, own: u32, id: &mut ExprId) {
        // The absent id is far from everything and common: it becomes 0, others make room.
        if self.pack {
            if *id != ExprId::NONE {
                self.from(&mut id.0, own);
                id.0 = id.0.wrapping_add(1);
            } else {
                id.0 = 0;
            }
        } else if id.0 != 0 {
            id.0 = id.0.wrapping_sub(1);
            self.from(&mut id.0, own);
        } else {
            *id = ExprId::NONE;
        }
    }

    /// A run of a list: mostly it begins where the one before ends.
    fn list(&mut self, list: &mut List) {
        let packed = list.start;
        self.from(&mut list.start, self.list_end);
        let start = if self.pack { packed } else { list.start };
        self.list_end = start.wrapping_add(list.len);
    }

    /// A span inside something that starts at `from`.
    fn span(&self, span: &mut Span, from: u32) {
        if self.pack {
            span.end = span.end.wrapping_sub(span.start);
            self.from(&mut span.start, from);
        } else {
            self.from(&mut span.start, from);
            span.end = span.end.wrapping_add(span.start);
        }
    }

    fn defs(&mut self, defs: &mut [Def]) {
        for def in defs {
            let packed = def.span.start;
            let from = self.at;
            self.span(&mut def.span, from);
            let start = if self.pack { packed } else { def.span.start };
            self.at = start;
            for span in [&mut def.name_span, &mut def.head, &mut def.doc] {
                self.span(span, start);
            }
        }
    }

    fn exprs(&mut self, exprs: &mut [Expr], first: u32) {
        for (own, e) in (first..).zip(exprs) {
            self.place(&mut e.at);
            self.node(own, &mut e.node);
        }
    }

    fn node(&mut self, own: u32, node: &mut Node) {
        node.parts_mut(&mut |part| match part {
            Part::Expr(id) => self.child(own, id),
            Part::List(list) => self.list(list),
            Part::Text(_) | Part::Binding(_) => {}
        });
    }

    fn ids(&mut self, ids: &mut [ExprId]) {
        ids.iter_mut().for_each(|id| self.place(&mut id.0));
    }

    fn bindings(&mut self, bindings: &mut [Binding]) {
        for b in bindings {
            self.place(&mut b.at);
            let mut scope = self.scope;
            Self::after(self, &mut b.scope.0, &mut scope);
            self.scope = scope;
            self.list(&mut b.sources);
        }
    }

    fn sources(&mut self, sources: &mut [Source]) {
        for source in sources {
            if let Some(id) = source.expr_mut() {
                self.place(&mut id.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexd_model::facts::{BindingKind, LiteralKind, SequenceKind};
    use indexd_model::{
        BindingId, ChunkKind, DefFlags, DefIdx, DefKind, Entry, FileRoles, Key, Language, Lines, Outcome,
        Role, StrId,
    };
    use proptest::prelude::*;

    fn id() -> impl Strategy<Value = ExprId> {
        prop_oneof![3 => 0..5000u32, 1 => Just(u32::MAX)].prop_map(ExprId)
    }

    fn list() -> impl Strategy<Value = List> {
        (0..1u32 << 20, 0..300u32).prop_map(|(start, len)| List { start, len })
    }

    fn span() -> impl Strategy<Value = Span> {
        (0..1u32 << 20, 0..5000u32).prop_map(|(start, len)| Span { start, end: start + len })
    }

    fn node() -> impl Strategy<Value = Node> {
        (id(), id(), list(), list(), 0..40u8).prop_map(|(a, b, l, m, shape)| match shape {
            0 => Node::Name { name: StrId(a.0), binding: BindingId(b.0) },
            1 => Node::Attr { base: a, name: StrId(b.0) },
            2 => Node::Call { callee: a, args: l },
            3 => Node::Keyword { name: StrId(b.0), value: a },
            4 => Node::KeyValue { key: a, value: b },
            5 => Node::Spread { value: a },
            6 => Node::Index { base: a, args: l },
            7 => Node::Slice { base: a },
            8 => Node::Item { base: a, index: 3 },
            9 => Node::Star { value: a },
            10 => Node::Address { value: a },
            11 => Node::Receive { value: a },
            12 => Node::Unary { value: a },
            13 => Node::Binary { left: a, right: b },
            14 => Node::Compare { left: a, right: b },
            15 => Node::Conditional { then: a, otherwise: b },
            16 => Node::Assert { value: a, ty: b },
            17 => Node::Composite { ty: a, elems: l },
            18 => Node::Sequence { kind: SequenceKind::Set, elems: l },
            19 => Node::Comprehension { kind: SequenceKind::List, elem: a },
            20 => Node::Literal { kind: LiteralKind::Rune },
            21 => Node::Lambda { params: l, result: a },
            22 => Node::Await { value: a },
            23 => Node::Yield { value: a },
            24 => Node::FuncType { params: l, results: m, variadic: true },
            25 => Node::FuncLiteral { ty: a },
            26 => Node::SliceType { elem: a },
            27 => Node::ArrayType { elem: a },
            28 => Node::MapType { key: a, value: b },
            29 => Node::ChanType { elem: a },
            30 => Node::StructType { holder: DefIdx(a.0) },
            31 => Node::InterfaceType { holder: DefIdx(a.0) },
            32 => Node::Union { left: a, right: b },
            33 => Node::Quoted { value: a },
            34 => Node::Def { def: DefIdx(a.0) },
            _ => Node::Opaque,
        })
    }

    fn source() -> impl Strategy<Value = Source> {
        (id(), 0..10u16).prop_map(|(e, index)| match index {
            0 => Source::Declared(e),
            1 => Source::Assigned(e),
            2 => Source::Unpacked { value: e, index },
            3 => Source::Element { of: e, index },
            4 => Source::ElementUnpacked { of: e, index },
            5 => Source::Entered(e),
            6 => Source::Caught(e),
            7 => Source::Narrowed(e),
            8 => Source::Def(DefIdx(e.0)),
            _ => Source::Import(e.0),
        })
    }

    fn arena() -> impl Strategy<Value = Arena> {
        let expr = (node(), any::<u32>()).prop_map(|(node, at)| Expr { node, at, role: Role::Call });
        let binding = (any::<u32>(), any::<u32>(), list()).prop_map(|(at, scope, sources)| Binding {
            name: StrId(at),
            at,
            scope: DefIdx(scope),
            kind: BindingKind::Local,
            sources,
        });
        (
            prop::collection::vec("[a-z]{0,5}", 0..5),
            prop::collection::vec(expr, 0..40),
            prop::collection::vec(id(), 0..20),
            prop::collection::vec(binding, 0..10),
            prop::collection::vec(source(), 0..10),
        )
            .prop_map(|(strings, exprs, lists, bindings, sources)| Arena {
                strings,
                exprs,
                lists,
                bindings,
                sources,
            })
    }

    fn def() -> impl Strategy<Value = Def> {
        ((span(), span(), span(), span()), id()).prop_map(|((span, name_span, head, doc), e)| Def {
            name: StrId(e.0),
            kind: DefKind::Method,
            flags: DefFlags(7),
            parent: DefIdx::NONE,
            receiver: Some(StrId(1)),
            ordinal: 2,
            name_span,
            span,
            head,
            doc,
            ty: e,
            value: ExprId::NONE,
            value_index: 1,
            params: vec![BindingId(3)],
            results: vec![e],
            returns: Vec::new(),
            bases: Vec::new(),
            decorators: vec![e, e],
            type_params: Vec::new(),
        })
    }

    proptest! {
        #[test]
        fn facts_round_trip(
            (front, back) in (arena(), arena()),
            defs in prop::collection::vec(def(), 0..9),
            digests: Vec<u64>,
        ) {
            let n = front.exprs.len();
            let interface = Interface {
                package: Some(StrId(4)),
                exports: Some(vec![StrId(5)]),
                defs,
                entries: digests.iter().map(|d| Entry { key: Key(*d), def: DefIdx(1), digest: *d }).collect(),
                arena: front,
                ..Interface::empty(Language::Go, Outcome::Recovered, FileRoles::TEST)
            };
            let chunk = Chunk {
                span: Span { start: 1, end: 2 },
                lines: Lines { start: 3, end: 4 },
                def: DefIdx::NONE,
                kind: ChunkKind::Type,
                part: 0,
                n_parts: 1,
            };
            let mut packer = Packer::default();
            packer.body(&interface.arena, &[chunk], 0).unwrap();
            let packed = packer.interface(&interface).unwrap();
            prop_assert_eq!(&packed, &Packer::default().interface(&interface).unwrap());
            prop_assert_eq!(unpack_interface(&packed).map(|u| u.0), Some(interface));
            let packed = packer.body(&back, &[chunk; 2], n).unwrap();
            prop_assert_eq!(unpack_body(&packed, n), Some((back, vec![chunk; 2])));
        }

        #[test]
        fn garbage_is_refused_without_panic(bytes: Vec<u8>) {
            let blob = compress(&bytes).unwrap();
            let _ = (unpack_interface(&blob), unpack_body(&blob, 0), unpack_body(&bytes, 0));
        }
    }
}

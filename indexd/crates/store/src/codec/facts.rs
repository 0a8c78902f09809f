//! Facts as two compressed blobs of bitcode: the part that other files can observe, and the rest.

use super::blob::{compress, read_in};
use super::bytes::{Reader, put};
use indexd_model::facts::Arena;
use indexd_model::{Chunk, Interface};
use std::io;

/// Packs facts. Reuses its buffers for the next file: for files of a few lines, allocating them costs more
/// than encoding.
#[derive(Default)]
pub(crate) struct Packer {
    buffer: bitcode::Buffer,
    raw: Vec<u8>,
}

impl Packer {
    /// Packs an interface.
    pub fn interface(&mut self, interface: &Interface) -> io::Result<Vec<u8>> {
        compress(self.buffer.encode(interface))
    }

    /// Packs everything but the interface: the length of the chunks, the chunks, the arena.
    pub fn body(&mut self, body: &Arena, chunks: &[Chunk]) -> io::Result<Vec<u8>> {
        self.raw.clear();
        let chunks = self.buffer.encode(chunks);
        put(&mut self.raw, chunks.len() as u64);
        self.raw.extend_from_slice(chunks);
        self.raw.extend_from_slice(self.buffer.encode(body));
        compress(&self.raw)
    }
}

/// Reverses [`Packer::interface`]; also returns the uncompressed size in bytes.
pub(crate) fn unpack_interface(blob: &[u8]) -> Option<(Interface, usize)> {
    read_in(blob, |raw| Some((bitcode::decode(raw).ok()?, raw.len())))
}

/// Reverses [`Packer::body`].
pub(crate) fn unpack_body(blob: &[u8]) -> Option<(Arena, Vec<Chunk>)> {
    read_in(blob, |raw| {
        let mut r = Reader::new(raw);
        let n = r.u32()? as usize;
        let chunks = bitcode::decode(r.take(n)?).ok()?;
        Some((bitcode::decode(r.rest()).ok()?, chunks))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexd_model::facts::{Binding, BindingKind, Def, Expr, LiteralKind, SequenceKind, Source};
    use indexd_model::{
        BindingId, ChunkKind, DefFlags, DefIdx, DefKind, Entry, ExprId, FileRoles, Key, Language, Lines,
        List, Node, Outcome, Role, Span, StrId,
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
            35 => Node::Apply { base: a, args: l },
            36 => Node::Word { word: StrId(b.0), value: a },
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
            packer.body(&interface.arena, &[chunk]).unwrap();
            let packed = packer.interface(&interface).unwrap();
            prop_assert_eq!(&packed, &Packer::default().interface(&interface).unwrap());
            prop_assert_eq!(unpack_interface(&packed).map(|u| u.0), Some(interface));
            let packed = packer.body(&back, &[chunk; 2]).unwrap();
            prop_assert_eq!(unpack_body(&packed), Some((back, vec![chunk; 2])));
        }

        #[test]
        fn garbage_is_refused_without_panic(bytes: Vec<u8>) {
            let blob = compress(&bytes).unwrap();
            let _ = (unpack_interface(&blob), unpack_body(&blob), unpack_body(&bytes));
        }
    }
}

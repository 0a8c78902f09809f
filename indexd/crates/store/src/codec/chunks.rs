//! Rows of chunks: numbers of one to three bytes each, and a digest.

use super::bytes::{Reader, put, put_delta};
use super::enums::Coded;
use indexd_model::view::N_FIELDS;
use indexd_model::{ChunkKind, Lines, Span};

/// A chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkRow {
    /// File handle.
    pub file: u32,
    /// Bytes.
    pub span: Span,
    /// Lines.
    pub lines: Lines,
    /// Definition handle; `None` between definitions.
    pub def: Option<u32>,
    /// Part.
    pub part: u16,
    /// Parts.
    pub n_parts: u16,
    /// Field lengths.
    pub lens: [u16; N_FIELDS],
    /// Kind.
    pub kind: ChunkKind,
    /// Digest of its text.
    pub digest: u64,
}

/// Bit of the kind byte: the chunk belongs to a definition.
const DEF: u8 = 0x80;
/// Bit of the kind byte: the chunk is one of several parts.
const PARTS: u8 = 0x40;

impl ChunkRow {
    /// The stored form of the row of handle `own`.
    pub fn encode(&self, own: u32) -> Vec<u8> {
        let mut out = Vec::with_capacity(32);
        let is_part = (self.part, self.n_parts) != (0, 1);
        let marks = if self.def.is_some() { DEF } else { 0 } | if is_part { PARTS } else { 0 };
        out.push(self.kind.code() | marks);
        put(&mut out, u64::from(self.file));
        put(&mut out, u64::from(self.span.start));
        put(&mut out, u64::from(self.span.len()));
        put(&mut out, u64::from(self.lines.start));
        put_delta(&mut out, self.lines.end, self.lines.start);
        if let Some(def) = self.def {
            put_delta(&mut out, def, own);
        }
        if is_part {
            put(&mut out, u64::from(self.part));
            put(&mut out, u64::from(self.n_parts));
        }
        self.lens.iter().for_each(|len| put(&mut out, u64::from(*len)));
        out.extend_from_slice(&self.digest.to_le_bytes());
        out
    }

    /// Reads the row of handle `own`; `None` for invalid bytes.
    pub fn decode(own: u32, bytes: &[u8]) -> Option<Self> {
        let mut r = Reader::new(bytes);
        let marks = r.byte()?;
        let kind = ChunkKind::from_code(marks & !(DEF | PARTS))?;
        let (file, start) = (r.u32()?, r.u32()?);
        let span = Span { start, end: start.checked_add(r.u32()?)? };
        let line = r.u32()?;
        let lines = Lines { start: line, end: r.delta(line)? };
        let def = if marks & DEF == 0 { None } else { Some(r.delta(own)?) };
        let mut short = || r.u32().and_then(|x| u16::try_from(x).ok());
        let (part, n_parts) = if marks & PARTS == 0 { (0, 1) } else { (short()?, short()?) };
        let mut lens = [0; N_FIELDS];
        for len in &mut lens {
            *len = short()?;
        }
        let digest = u64::from_le_bytes(r.take(8)?.try_into().ok()?);
        r.is_empty().then_some(Self { file, span, lines, def, part, n_parts, lens, kind, digest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_round_trip(
            (file, own, def) in any::<(u32, u32, Option<u32>)>(),
            (start, len) in (0..1u32 << 22, 0..1u32 << 16),
            (line, n) in (0..1u32 << 20, 0..300u32),
            (part, n_parts) in any::<(u16, u16)>(),
            lens in any::<[u16; N_FIELDS]>(),
            kind in prop::sample::select(ChunkKind::ALL.to_vec()),
            digest: u64,
        ) {
            let span = Span { start, end: start + len };
            let lines = Lines { start: line, end: line + n };
            for (part, n_parts) in [(part, n_parts), (0, 1)] {
                let row = ChunkRow { file, span, lines, def, part, n_parts, lens, kind, digest };
                prop_assert_eq!(ChunkRow::decode(own, &row.encode(own)), Some(row));
            }
        }

        #[test]
        fn garbage_is_refused_without_panic(own: u32, bytes: Vec<u8>) {
            let _ = ChunkRow::decode(own, &bytes);
        }
    }
}

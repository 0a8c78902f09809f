//! Rows of chunks: numbers of one to three bytes each, and a digest.

use super::bytes::{Reader, put, put_delta};
use super::enums::Coded;
use indexd_model::view::{ChunkRecord, N_FIELDS};
use indexd_model::{ChunkKind, DefDoc, FileDoc, Lines, Span};

/// Bit of the kind byte: the chunk belongs to a definition.
const DEF: u8 = 0x80;
/// Bit of the kind byte: the chunk is one of several parts.
const PARTS: u8 = 0x40;

/// The stored form of the row of handle `own`.
pub(crate) fn encode(own: u32, row: &ChunkRecord) -> Vec<u8> {
    let mut out = Vec::with_capacity(32);
    let def = row.def.some();
    let is_part = (row.part, row.n_parts) != (0, 1);
    let marks = if def.is_some() { DEF } else { 0 } | if is_part { PARTS } else { 0 };
    out.push(row.kind.code() | marks);
    put(&mut out, u64::from(row.file.0));
    put(&mut out, u64::from(row.span.start));
    put(&mut out, u64::from(row.span.len()));
    put(&mut out, u64::from(row.lines.start));
    put_delta(&mut out, row.lines.end, row.lines.start);
    if let Some(def) = def {
        put_delta(&mut out, def.0, own);
    }
    if is_part {
        put(&mut out, u64::from(row.part));
        put(&mut out, u64::from(row.n_parts));
    }
    row.lens.iter().for_each(|len| put(&mut out, u64::from(*len)));
    out.extend_from_slice(&row.digest.to_le_bytes());
    out
}

/// Reads the row of handle `own`; `None` for invalid bytes.
pub(crate) fn decode(own: u32, bytes: &[u8]) -> Option<ChunkRecord> {
    let mut r = Reader::new(bytes);
    let marks = r.byte()?;
    let kind = ChunkKind::from_code(marks & !(DEF | PARTS))?;
    let (file, start) = (FileDoc(r.u32()?), r.u32()?);
    let span = Span { start, end: start.checked_add(r.u32()?)? };
    let line = r.u32()?;
    let lines = Lines { start: line, end: r.delta(line)? };
    let def = if marks & DEF == 0 { DefDoc::NONE } else { DefDoc(r.delta(own)?) };
    let mut short = || r.u32().and_then(|x| u16::try_from(x).ok());
    let (part, n_parts) = if marks & PARTS == 0 { (0, 1) } else { (short()?, short()?) };
    let mut lens = [0; N_FIELDS];
    for len in &mut lens {
        *len = short()?;
    }
    let digest = u64::from_le_bytes(r.take(8)?.try_into().ok()?);
    r.is_empty().then_some(ChunkRecord { file, span, lines, def, kind, part, n_parts, lens, digest })
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
                let (file, def) = (FileDoc(file), def.map_or(DefDoc::NONE, DefDoc));
                let row = ChunkRecord { file, span, lines, def, kind, part, n_parts, lens, digest };
                prop_assert_eq!(decode(own, &encode(own, &row)), Some(row));
            }
        }

        #[test]
        fn garbage_is_refused_without_panic(own: u32, bytes: Vec<u8>) {
            let _ = decode(own, &bytes);
        }
    }
}

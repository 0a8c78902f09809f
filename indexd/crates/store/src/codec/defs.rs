//! Rows of definitions: by far the most records, so every number is a difference of one to three
//! bytes. As fixed-size archives they would take twice the space, a tenth of the source.

use super::bytes::{Reader, put, put_delta};
use super::enums::Coded;
use indexd_model::{DefFlags, DefIdx, DefKind, Lines, Span};

/// A definition, or a file as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DefRow<'a> {
    /// File handle.
    pub file: u32,
    /// Index in the file's facts; `NONE` for the file itself.
    pub idx: DefIdx,
    /// Handle of the definition around it; `None` at file level.
    pub parent: Option<u32>,
    /// Kind.
    pub kind: DefKind,
    /// Marks.
    pub flags: DefFlags,
    /// The whole definition.
    pub span: Span,
    /// Its lines.
    pub lines: Lines,
    /// The name token.
    pub name_span: Span,
    /// Line of the name token.
    pub name_line: u32,
    /// Signature.
    pub head: Span,
    /// Doc comment.
    pub doc: Span,
    /// Position of its first chunk among the file's chunks.
    pub first_chunk: Option<u32>,
    /// Bytes of the name, which is the end of `qualified`.
    pub name_len: u32,
    /// Qualified name; only its end, the name, when `is_nested`.
    pub qualified: &'a str,
    /// True if the qualified name is that of the parent, a dot and the name.
    pub is_nested: bool,
}

impl<'a> DefRow<'a> {
    /// The name.
    pub fn name(&self) -> &'a str {
        &self.qualified[self.qualified.len() - self.name_len as usize..]
    }

    /// The stored form of the row of handle `own`. `outer` is the qualified name of the parent: if this
    /// one's is that, a dot and the name, only the name is stored.
    pub fn encode(&self, own: u32, outer: Option<&str>) -> Vec<u8> {
        let mut out = Vec::with_capacity(24 + self.qualified.len());
        let nested = outer.is_some_and(|outer| self.is_inside(outer));
        let empty_doc = self.doc == Span { start: self.span.start, end: self.span.start };
        let mut shape = 0;
        for (bit, is) in [
            (PARENT, self.parent.is_some()),
            (NESTED, nested),
            (DOC, !empty_doc),
            (LINES, self.lines.end != self.lines.start),
            (NAME_LINE, self.name_line != self.lines.start),
            (CHUNK, self.first_chunk.is_some()),
            (NAME_PLACE, self.name_span.start != self.span.start),
            (HEAD_PLACE, self.head.start != self.span.start),
        ] {
            shape |= if is { bit } else { 0 };
        }
        out.extend_from_slice(&[shape, self.kind.code()]);
        put(&mut out, u64::from(self.file));
        put(&mut out, u64::from(self.idx.0.wrapping_add(1)));
        put(&mut out, u64::from(self.flags.0));
        put(&mut out, u64::from(self.span.start));
        put(&mut out, u64::from(self.span.len()));
        put(&mut out, u64::from(self.lines.start));
        put(&mut out, u64::from(self.name_span.len()));
        put(&mut out, u64::from(self.head.len()));
        for (bit, x, from) in [
            (PARENT, self.parent.unwrap_or(own), own),
            (LINES, self.lines.end, self.lines.start),
            (NAME_LINE, self.name_line, self.lines.start),
            (NAME_PLACE, self.name_span.start, self.span.start),
            (HEAD_PLACE, self.head.start, self.span.start),
            (DOC, self.doc.start, self.span.start),
            (DOC, self.doc.end, self.span.start),
            (CHUNK, self.first_chunk.unwrap_or(0), 0),
        ] {
            if shape & bit != 0 {
                put_delta(&mut out, x, from);
            }
        }
        if nested {
            out.extend_from_slice(self.name().as_bytes());
        } else {
            put(&mut out, u64::from(self.name_len));
            out.extend_from_slice(self.qualified.as_bytes());
        }
        out
    }

    /// Returns true if the qualified name is `outer`, a dot and the name.
    fn is_inside(&self, outer: &str) -> bool {
        let rest = self.qualified.strip_prefix(outer).and_then(|rest| rest.strip_prefix('.'));
        !outer.is_empty() && !self.name().is_empty() && rest == Some(self.name())
    }

    /// Reads the row of handle `own`; `None` for invalid bytes. If only the name is stored, `qualified` is
    /// the name and `is_nested` is set: see [`DefRow::parent`] for the rest.
    pub fn decode(own: u32, bytes: &'a [u8]) -> Option<Self> {
        let mut r = Reader::new(bytes);
        let (shape, kind) = (r.byte()?, DefKind::from_code(r.byte()?)?);
        let (file, idx, flags) = (r.u32()?, DefIdx(r.u32()?.wrapping_sub(1)), DefFlags(r.u32()?));
        let start = r.u32()?;
        let span = Span { start, end: start.checked_add(r.u32()?)? };
        let line = r.u32()?;
        let (name_len_span, head_len) = (r.u32()?, r.u32()?);
        let mut optional = |bit, from| if shape & bit == 0 { Some(from) } else { r.delta(from) };
        let parent = Some(optional(PARENT, own)?).filter(|_| shape & PARENT != 0);
        let lines = Lines { start: line, end: optional(LINES, line)? };
        let name_line = optional(NAME_LINE, line)?;
        let name_start = optional(NAME_PLACE, start)?;
        let head_start = optional(HEAD_PLACE, start)?;
        let doc = Span { start: optional(DOC, start)?, end: optional(DOC, start)? };
        let first_chunk = Some(optional(CHUNK, 0)?).filter(|_| shape & CHUNK != 0);
        let is_nested = shape & NESTED != 0;
        let name_len = if is_nested { r.rest().len() as u32 } else { r.u32()? };
        let qualified = std::str::from_utf8(r.rest()).ok()?;
        let at = qualified.len().checked_sub(name_len as usize)?;
        if !qualified.is_char_boundary(at) || lines.end < lines.start || doc.end < doc.start {
            return None;
        }
        Some(Self {
            file,
            idx,
            parent,
            kind,
            flags,
            span,
            lines,
            name_span: Span { start: name_start, end: name_start.checked_add(name_len_span)? },
            name_line,
            head: Span { start: head_start, end: head_start.checked_add(head_len)? },
            doc,
            first_chunk,
            name_len,
            qualified,
            is_nested,
        })
    }
}

// Bits that say in which fields a row differs from the common case.
const PARENT: u8 = 1;
const NESTED: u8 = 2;
const DOC: u8 = 4;
const LINES: u8 = 8;
const NAME_LINE: u8 = 16;
const CHUNK: u8 = 32;
const NAME_PLACE: u8 = 64;
const HEAD_PLACE: u8 = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn span() -> impl Strategy<Value = Span> {
        (0..1u32 << 22, 0..1u32 << 16).prop_map(|(start, len)| Span { start, end: start + len })
    }

    proptest! {
        #[test]
        fn rows_round_trip(
            ids in (any::<u32>(), any::<u32>(), prop::option::of(any::<u32>()), any::<u32>()),
            spans in (span(), span(), span(), span()),
            lines in (1..100_000u32, 0..1000u32, 1..100_000u32),
            first_chunk in prop::option::of(0..1000u32),
            (outer, name) in ("[a-zé.]{0,12}", "[a-zü]{0,8}"),
        ) {
            let (file, idx, parent, own) = ids;
            let qualified = format!("{outer}{name}");
            let row = DefRow {
                file,
                idx: DefIdx(idx),
                parent: parent.filter(|p| *p != own),
                kind: DefKind::Alias,
                flags: DefFlags(idx),
                span: spans.0,
                lines: Lines { start: lines.0, end: lines.0 + lines.1 },
                name_span: spans.1,
                name_line: lines.2,
                head: spans.2,
                doc: spans.3,
                first_chunk,
                name_len: name.len() as u32,
                qualified: &qualified,
                is_nested: false,
            };
            let bytes = row.encode(own, None);
            prop_assert_eq!(DefRow::decode(own, &bytes), Some(row));
            let bytes = row.encode(own, outer.strip_suffix('.'));
            let back = DefRow::decode(own, &bytes).unwrap();
            prop_assert_eq!(back.name(), name.as_str());
            if back.is_nested {
                prop_assert_eq!(format!("{}{}", outer, back.qualified), row.qualified);
            } else {
                prop_assert_eq!(back, row);
            }
            prop_assert_eq!(row.name(), name);
        }

        #[test]
        fn garbage_is_refused_without_panic(own: u32, bytes: Vec<u8>) {
            let _ = DefRow::decode(own, &bytes);
        }
    }
}

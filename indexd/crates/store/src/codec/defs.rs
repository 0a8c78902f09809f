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
    /// All of it.
    pub span: Span,
    /// The same in lines.
    pub lines: Lines,
    /// The name token.
    pub name_span: Span,
    /// Line of the name token.
    pub name_line: u32,
    /// Signature.
    pub head: Span,
    /// Doc comment.
    pub doc: Span,
    /// Position among the file's chunks of its first chunk.
    pub first_chunk: Option<u32>,
    /// Bytes of the name, the end of `qualified`.
    pub name_len: u32,
    /// Qualified name.
    pub qualified: &'a str,
}

impl<'a> DefRow<'a> {
    /// The name.
    pub fn name(&self) -> &'a str {
        &self.qualified[self.qualified.len() - self.name_len as usize..]
    }

    /// The stored form of the row of handle `own`.
    pub fn encode(&self, own: u32) -> Vec<u8> {
        let mut out = Vec::with_capacity(24 + self.qualified.len());
        put(&mut out, u64::from(self.file));
        put(&mut out, u64::from(self.idx.0.wrapping_add(1)));
        put_delta(&mut out, self.parent.unwrap_or(own), own);
        out.push(self.kind.code());
        put(&mut out, u64::from(self.flags.0));
        put(&mut out, u64::from(self.span.start));
        put(&mut out, u64::from(self.span.len()));
        put(&mut out, u64::from(self.lines.start));
        put(&mut out, u64::from(self.lines.end - self.lines.start));
        for span in [self.name_span, self.head, self.doc] {
            put_delta(&mut out, span.start, self.span.start);
            put(&mut out, u64::from(span.len()));
        }
        put_delta(&mut out, self.name_line, self.lines.start);
        put(&mut out, self.first_chunk.map_or(0, |c| u64::from(c) + 1));
        put(&mut out, u64::from(self.name_len));
        out.extend_from_slice(self.qualified.as_bytes());
        out
    }

    /// Reads the row of handle `own`; `None` when the bytes are none.
    pub fn decode(own: u32, bytes: &'a [u8]) -> Option<Self> {
        let mut r = Reader::new(bytes);
        let (file, idx) = (r.u32()?, DefIdx(r.u32()?.wrapping_sub(1)));
        let parent = Some(r.delta(own)?).filter(|p| *p != own);
        let (kind, flags) = (DefKind::from_code(r.byte()?)?, DefFlags(r.u32()?));
        let start = r.u32()?;
        let span = Span { start, end: start.checked_add(r.u32()?)? };
        let line = r.u32()?;
        let lines = Lines { start: line, end: line.checked_add(r.u32()?)? };
        let mut spans = [Span::default(); 3];
        for s in &mut spans {
            s.start = r.delta(start)?;
            s.end = s.start.checked_add(r.u32()?)?;
        }
        let [name_span, head, doc] = spans;
        let name_line = r.delta(line)?;
        let first_chunk = r.u32()?.checked_sub(1);
        let name_len = r.u32()?;
        let qualified = std::str::from_utf8(r.rest()).ok()?;
        let at = qualified.len().checked_sub(name_len as usize)?;
        if !qualified.is_char_boundary(at) {
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
            name_span,
            name_line,
            head,
            doc,
            first_chunk,
            name_len,
            qualified,
        })
    }
}

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
            };
            let bytes = row.encode(own);
            prop_assert_eq!(DefRow::decode(own, &bytes), Some(row));
            prop_assert_eq!(row.name(), name);
        }

        #[test]
        fn garbage_is_refused_without_panic(own: u32, bytes: Vec<u8>) {
            let _ = DefRow::decode(own, &bytes);
        }
    }
}

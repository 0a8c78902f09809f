//! Everything that both writers derive from one file before it is stored: blobs, lines, identities, rows.

use crate::codec::blob;
use crate::codec::defs::DefRow;
use crate::codec::enums::Coded;
use crate::codec::facts::Packer;
use crate::codec::records::FileRow;
use crate::error::Result;
use crate::input::FileInput;
use indexd_model::view::{ChunkRecord, N_FIELDS, digest_of};
use indexd_model::{
    Chunk, ContentHash, DefDoc, DefFlags, DefIdx, DefKind, Facts, FileDoc, FileFacts, Interface, LineIndex,
    Lines, Span, grams, names,
};

/// The blobs of a file, for [`crate::tables::Tables::blobs`]: interface, body with chunks, text, and the signature of
/// the text.
pub(crate) fn blobs(facts: &FileFacts, text: &str, packer: &mut Packer) -> Result<[Vec<u8>; 4]> {
    Ok([
        packer.interface(&facts.interface)?,
        packer.body(&facts.body, &facts.chunks)?,
        blob::compress(text.as_bytes())?,
        grams::signature(text),
    ])
}

/// The lines of a definition.
#[derive(Clone, Copy)]
pub(crate) struct DefLines {
    lines: Lines,
    name_line: u32,
}

impl DefLines {
    /// The first line.
    pub fn first(&self) -> u32 {
        self.lines.start
    }
}

/// The lines of all definitions of a file; `index` is that of its text.
pub(crate) fn def_lines(interface: &Interface, index: &LineIndex) -> Vec<DefLines> {
    let of = |d: &indexd_model::Def| DefLines {
        lines: index.lines(d.span),
        name_line: index.line(d.name_span.start),
    };
    interface.defs.iter().map(of).collect()
}

/// The names of the definitions of a file, with their handles, which follow that of the file itself in `docs`.
/// Definitions without a name are left out.
pub(crate) fn names<'f>(interface: &'f Interface, docs: &[u32]) -> impl Iterator<Item = (&'f str, u32)> {
    let facts = Facts::outside(interface);
    let all = interface.defs.iter().map(move |def| facts.str(def.name)).zip(docs[1..].iter().copied());
    all.filter(|(name, _)| !name.is_empty())
}

/// The identity that two versions of a definition share: a hash of descriptor and ordinal.
pub(crate) fn identities(interface: &Interface) -> Vec<Identity> {
    let facts = Facts::outside(interface);
    let of = |i: u32| identity(&names::descriptor(&facts, DefIdx(i)), facts.def(DefIdx(i)).ordinal);
    (0..interface.defs.len() as u32).map(of).collect()
}

/// See [`identities`].
pub(crate) type Identity = [u8; 16];

/// Two definitions with one identity would be one in the index, so it must be infeasible to find a second
/// text for an identity. A fast hash seeded with the ordinal is not enough: for a short text, it combines
/// seed and bytes such that `` `a[i]`. `` 2 and `` `a[k]`. `` 0 had one hash.
fn identity(descriptor: &str, ordinal: u16) -> Identity {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&ordinal.to_le_bytes()).update(descriptor.as_bytes());
    let mut identity = Identity::default();
    hasher.finalize_xof().fill(&mut identity);
    identity
}

/// The parts of a file from which its rows are made.
pub(crate) struct FileRows<'a> {
    /// Handle.
    pub file: u32,
    /// Handles of the file itself and of its definitions.
    pub docs: &'a [u32],
    /// Interface.
    pub interface: &'a Interface,
    /// Chunks.
    pub chunks: &'a [Chunk],
    /// Lines of the definitions.
    pub lines: &'a [DefLines],
    /// Lines of the file.
    pub n_lines: u32,
    /// Bytes of the text.
    pub text_len: u32,
}

impl FileRows<'_> {
    /// Passes the packed row of the file itself and of every definition to `each`, with its handle.
    pub fn defs(&self, mut each: impl FnMut(u32, Vec<u8>) -> Result<()>) -> Result<()> {
        let whole = Span { start: 0, end: self.text_len };
        let nothing = Span::default();
        let own = DefRow {
            file: self.file,
            idx: DefIdx::NONE,
            parent: None,
            kind: DefKind::Section,
            flags: DefFlags::default(),
            span: whole,
            lines: Lines { start: 1, end: self.n_lines.max(1) },
            name_span: nothing,
            name_line: 1,
            head: nothing,
            doc: nothing,
            first_chunk: None,
            name_len: 0,
            qualified: "",
            is_nested: false,
        };
        each(self.docs[0], own.encode(self.docs[0], None))?;
        let mut first_chunks = vec![None; self.interface.defs.len()];
        for (i, chunk) in self.chunks.iter().enumerate() {
            if let Some(first) = first_chunks.get_mut(chunk.def.index()) {
                first.get_or_insert(i as u32);
            }
        }
        let facts = Facts::outside(self.interface);
        let mut names_so_far: Vec<String> = Vec::with_capacity(self.interface.defs.len());
        for (i, def) in self.interface.defs.iter().enumerate() {
            let idx = DefIdx(i as u32);
            let qualified = names::qualified_name(&facts, idx);
            let name = facts.str(def.name);
            let row = DefRow {
                file: self.file,
                idx,
                parent: def.parent.some().map(|p| self.docs[p.index() + 1]),
                kind: def.kind,
                flags: def.flags,
                span: def.span,
                lines: self.lines[i].lines,
                name_span: def.name_span,
                name_line: self.lines[i].name_line,
                head: def.head,
                doc: def.doc,
                first_chunk: first_chunks[i],
                name_len: if qualified.ends_with(name) { name.len() as u32 } else { 0 },
                qualified: &qualified,
                is_nested: false,
            };
            let outer = def.parent.some().and_then(|p| names_so_far.get(p.index()));
            each(self.docs[i + 1], row.encode(self.docs[i + 1], outer.map(String::as_str)))?;
            names_so_far.push(qualified);
        }
        Ok(())
    }

    /// The row of the `i`-th chunk, with the lengths of its fields and the digest of its text.
    pub fn chunk(&self, i: usize, lens: &[u16; N_FIELDS], digest: u64) -> ChunkRecord {
        let c = &self.chunks[i];
        ChunkRecord {
            file: FileDoc(self.file),
            span: c.span,
            lines: c.lines,
            def: c.def.some().map_or(DefDoc::NONE, |d| DefDoc(self.docs[d.index() + 1])),
            part: c.part,
            n_parts: c.n_parts,
            lens: *lens,
            kind: c.kind,
            digest,
        }
    }

    /// The record of the file.
    pub fn file(
        &self,
        path: &str,
        hash: &ContentHash,
        size: u64,
        path_len: u16,
        room: (u32, u32),
    ) -> FileRow {
        FileRow {
            hash: hash.0,
            size,
            n_lines: self.n_lines,
            text_len: self.text_len,
            chunk_start: room.0,
            n_chunks: self.chunks.len() as u32,
            chunk_room: room.1,
            own: self.docs[0],
            roles: self.interface.roles.0,
            path_len,
            language: self.interface.language.code(),
            outcome: self.interface.outcome.code(),
            path: path.to_owned(),
        }
    }
}

/// Digests of the texts of the chunks of a file.
pub(crate) fn digests(chunks: &[Chunk], text: &str) -> Vec<u64> {
    chunks.iter().map(|c| digest_of(text.get(c.span.range()).unwrap_or(""))).collect()
}

/// Checks the guarantees of the caller about an input.
pub(crate) fn check(input: &FileInput) -> Result<()> {
    let (chunks, terms) = (input.facts.chunks.len(), input.terms.chunks.len());
    let wrong = |what: &str| Err(crate::StoreError::Inconsistent(format!("{}: {what}", input.path)));
    if chunks != terms {
        return wrong(&format!("{chunks} chunks and terms of {terms}"));
    }
    if input.facts.interface.defs.len() > indexd_model::limits::DEFS_PER_FILE_MAX {
        return wrong("too many definitions");
    }
    if u32::try_from(input.text.len()).is_err() {
        return wrong("text above 4 GB");
    }
    let n = input.facts.interface.defs.len();
    let inside = |d: DefIdx| d.some().is_none_or(|d| d.index() < n);
    if !input.facts.chunks.iter().all(|c| inside(c.def))
        || !input.facts.interface.defs.iter().all(|d| inside(d.parent))
    {
        return wrong("a definition that is not there");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Descriptors of up to nine bytes that differ in one, each with several ordinals.
    #[test]
    fn short_descriptors_that_are_there_several_times_are_told_apart() {
        let mut seen = BTreeMap::new();
        for len in 1..9 {
            for at in 0..len {
                for letter in b' '..=b'~' {
                    for ordinal in 0..4 {
                        let mut text = vec![b'a'; len];
                        text[at] = letter;
                        let text = format!("{}.", String::from_utf8(text).expect("ASCII"));
                        let before = seen.insert(identity(&text, ordinal), (text.clone(), ordinal));
                        assert!(before.is_none_or(|before| before == (text, ordinal)), "two of one identity");
                    }
                }
            }
        }
    }
}

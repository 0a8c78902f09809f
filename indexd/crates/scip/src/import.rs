//! Reading a SCIP index made by another tool.
//!
//! Only what an import needs is kept: paths, places, symbols, roles. Documents are decoded field by
//! field, so documentation and signatures cost no memory, and everything is bounded by
//! [`indexd_model::limits`]. What the index means for our tree is decided in [`crate::resolve`].

use crate::text::{Encoding, Range};
use indexd_model::ContentHash;
use indexd_model::limits::{
    SCIP_BYTES_MAX, SCIP_DOCUMENTS_MAX, SCIP_OCCURRENCE_BYTES_MAX, SCIP_OCCURRENCES_MAX,
};
use protobuf::rt::WireType;
use protobuf::{CodedInputStream, Message};
use rustc_hash::FxHashMap;
use scip::types::occurrence::Typed_range;
use scip::types::{Metadata, Occurrence, SymbolRole};

/// Reasons for which a file is not imported.
#[derive(Debug, thiserror::Error)]
pub enum ScipError {
    /// The file is larger than [`SCIP_BYTES_MAX`].
    #[error("the index has {bytes} bytes, the limit is {max}")]
    TooLarge {
        /// Bytes of the file.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// More documents or occurrences than are held in memory.
    #[error("the index has more than {max} {what}")]
    TooMany {
        /// The kind of thing of which there are too many.
        what: &'static str,
        /// The limit.
        max: usize,
    },
    /// The bytes are not a protobuf message of the shape of a SCIP index.
    #[error("not a SCIP index: {source} in {place}")]
    Malformed {
        /// The part being read.
        place: String,
        /// The decoder's error.
        #[source]
        source: protobuf::Error,
    },
    /// It decodes, but holds no document: empty, cut short, or some other protobuf message.
    #[error("not a SCIP index: no documents")]
    Empty,
    /// A stored overlay that this version cannot read.
    #[error("stored overlay is unreadable: {0}")]
    Overlay(String),
}

/// The parts of a SCIP index that an import needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignIndex {
    /// URI of the folder that paths are relative to, as stated; may be empty.
    pub project_root: String,
    /// Name and version of the tool that made it; may be empty.
    pub tool: String,
    /// Documents in the order of the index.
    pub documents: Vec<ForeignDocument>,
    /// The distinct symbols of all occurrences; see [`ForeignOccurrence::symbol`].
    pub symbols: Vec<Box<str>>,
}

/// One file of a SCIP index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignDocument {
    /// Path relative to the project root, as stated.
    pub path: String,
    /// Unit of columns; `None` when the document does not declare it.
    pub encoding: Option<Encoding>,
    /// Hash of the text, when the document includes it.
    pub text: Option<ContentHash>,
    /// Places with a symbol, in the order of the document.
    pub occurrences: Vec<ForeignOccurrence>,
    /// Occurrences with a symbol that were left out because their range is invalid.
    pub n_malformed: u32,
}

/// A place with a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignOccurrence {
    /// Its range.
    pub range: Range,
    /// Position in [`ForeignIndex::symbols`].
    pub symbol: u32,
    /// `SymbolRole` bits of SCIP.
    pub roles: u32,
}

impl ForeignOccurrence {
    /// Returns true if the symbol is defined here.
    pub fn is_definition(&self) -> bool {
        self.roles & SymbolRole::Definition as u32 != 0
    }
}

/// Reads an index. Unknown fields are skipped, so later versions of the format can be read.
///
/// # Errors
/// [`ScipError`] when the bytes are not an index or exceed a limit. Single bad occurrences are counted in
/// their document instead.
pub fn read(bytes: &[u8]) -> Result<ForeignIndex, ScipError> {
    if bytes.len() > SCIP_BYTES_MAX {
        return Err(ScipError::TooLarge { bytes: bytes.len(), max: SCIP_BYTES_MAX });
    }
    let mut reader = Reader::default();
    let malformed = |source| ScipError::Malformed { place: "the index".to_owned(), source };
    for field in fields(bytes) {
        match field.map_err(malformed)? {
            (1, Body::Bytes(b)) => reader.metadata(b).map_err(malformed)?,
            (2, Body::Bytes(b)) => reader.document(b)?,
            _ => {}
        }
    }
    if reader.index.documents.is_empty() {
        return Err(ScipError::Empty);
    }
    Ok(reader.index)
}

/// The value of one field of a message.
enum Body<'b> {
    Bytes(&'b [u8]),
    Varint(u64),
}

/// Number and value of each field; fixed-width fields and groups are skipped.
fn fields(bytes: &[u8]) -> impl Iterator<Item = protobuf::Result<(u32, Body<'_>)>> {
    let mut input = CodedInputStream::from_bytes(bytes);
    std::iter::from_fn(move || field(bytes, &mut input).transpose())
}

/// The next field; `None` at the end.
fn field<'b>(bytes: &'b [u8], input: &mut CodedInputStream) -> protobuf::Result<Option<(u32, Body<'b>)>> {
    while let Some(tag) = input.read_raw_tag_or_eof()? {
        match WireType::new(tag & 7) {
            Some(WireType::LengthDelimited) => {
                let len = input.read_raw_varint32()?;
                let start = input.pos() as usize;
                input.skip_raw_bytes(len)?;
                let end = input.pos() as usize;
                return Ok(Some((tag >> 3, Body::Bytes(bytes.get(start..end).unwrap_or(&[])))));
            }
            Some(WireType::Varint) => return Ok(Some((tag >> 3, Body::Varint(input.read_raw_varint64()?)))),
            Some(other) => input.skip_field(other)?,
            None => return Err(std::io::Error::other("unknown wire type").into()),
        }
    }
    Ok(None)
}

#[derive(Default)]
struct Reader {
    index: ForeignIndex,
    interned: FxHashMap<Box<str>, u32>,
    n_occurrences: usize,
}

impl Reader {
    fn metadata(&mut self, bytes: &[u8]) -> protobuf::Result<()> {
        let metadata = Metadata::parse_from_bytes(bytes)?;
        let tool = metadata.tool_info.as_ref();
        self.index.tool =
            tool.map_or_else(String::new, |t| format!("{} {}", t.name, t.version).trim().to_owned());
        self.index.project_root = metadata.project_root;
        Ok(())
    }

    fn document(&mut self, bytes: &[u8]) -> Result<(), ScipError> {
        let n = self.index.documents.len();
        if n >= SCIP_DOCUMENTS_MAX {
            return Err(ScipError::TooMany { what: "documents", max: SCIP_DOCUMENTS_MAX });
        }
        let mut document = ForeignDocument::default();
        for field in fields(bytes) {
            let read = field.and_then(|(number, body)| self.document_field(&mut document, number, body));
            read.map_err(|source| {
                let place = format!("document {n} ({:?})", document.path);
                ScipError::Malformed { place, source }
            })?;
            if self.n_occurrences > SCIP_OCCURRENCES_MAX {
                return Err(ScipError::TooMany { what: "occurrences", max: SCIP_OCCURRENCES_MAX });
            }
        }
        self.index.documents.push(document);
        Ok(())
    }

    fn document_field(
        &mut self,
        document: &mut ForeignDocument,
        number: u32,
        body: Body,
    ) -> protobuf::Result<()> {
        match (number, body) {
            (1, Body::Bytes(b)) => {
                document.path = std::str::from_utf8(b).map_err(std::io::Error::other)?.to_owned();
            }
            (2, Body::Bytes(b)) => self.occurrence(document, b)?,
            (5, Body::Bytes(b)) if !b.is_empty() => document.text = Some(ContentHash::of(b)),
            (6, Body::Varint(v)) => {
                document.encoding = match v {
                    1 => Some(Encoding::Utf8),
                    2 => Some(Encoding::Utf16),
                    3 => Some(Encoding::Utf32),
                    _ => None,
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn occurrence(&mut self, document: &mut ForeignDocument, bytes: &[u8]) -> protobuf::Result<()> {
        if bytes.len() > SCIP_OCCURRENCE_BYTES_MAX {
            document.n_malformed += 1;
            return Ok(());
        }
        let o = Occurrence::parse_from_bytes(bytes)?;
        if o.symbol.is_empty() {
            return Ok(());
        }
        let Some(range) = range_of(&o) else {
            document.n_malformed += 1;
            return Ok(());
        };
        self.n_occurrences += 1;
        let symbol = self.intern(o.symbol);
        document.occurrences.push(ForeignOccurrence { range, symbol, roles: o.symbol_roles as u32 });
        Ok(())
    }

    fn intern(&mut self, symbol: String) -> u32 {
        if let Some(&i) = self.interned.get(symbol.as_str()) {
            return i;
        }
        let i = self.index.symbols.len() as u32;
        let symbol = symbol.into_boxed_str();
        self.index.symbols.push(symbol.clone());
        self.interned.insert(symbol, i);
        i
    }
}

/// The range of an occurrence in any of the forms of the format; `None` for anything else.
pub(crate) fn range_of(o: &Occurrence) -> Option<Range> {
    let parts = match (&o.typed_range, &o.range[..]) {
        (Some(Typed_range::SingleLineRange(r)), _) => [r.line, r.start_character, r.line, r.end_character],
        (Some(Typed_range::MultiLineRange(r)), _) => {
            [r.start_line, r.start_character, r.end_line, r.end_character]
        }
        (_, &[line, start, end]) => [line, start, line, end],
        (_, &[start_line, start, end_line, end]) => [start_line, start, end_line, end],
        _ => return None,
    };
    let [start_line, start_column, end_line, end_column] = parts.map(|n| u32::try_from(n).ok());
    let range = Range {
        start_line: start_line?,
        start_column: start_column?,
        end_line: end_line?,
        end_column: end_column?,
    };
    ((range.start_line, range.start_column) <= (range.end_line, range.end_column)).then_some(range)
}

#[cfg(test)]
mod tests;

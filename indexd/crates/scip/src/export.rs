//! Writing a snapshot as a SCIP index.
//!
//! One document a file, in path order, then occurrences by place and symbols by name, so equal states yield
//! equal bytes. The index is a sequence of protobuf messages that readers merge (metadata, then one message
//! a document), so only one document is in memory at a time.
//!
//! The export holds only the content of the snapshot: symbols defined in the tree, uses that link to them,
//! and no symbol of a dependency. A definition without a lasting name (`init`, a field of an anonymous
//! struct) is a local symbol of its document.

use crate::text::{Range, Text};
use indexd_model::symbol::Namespace;
use indexd_model::view::{DefRecord, Edge, FileRecord};
use indexd_model::{
    DefDoc, DefFlags, DefIdx, DefKind, EdgeKind, FileDoc, FileRoles, IndexView, Interface, Language, Outcome,
    Role, Span,
};
use protobuf::{EnumOrUnknown, Message, MessageField};
use rustc_hash::FxHashMap;
use scip::types::symbol_information::Kind;
use scip::types::{
    Document, Index, Metadata, Occurrence, PositionEncoding, Relationship, Signature, SymbolInformation,
    SymbolRole, TextEncoding, ToolInfo,
};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

/// Options of an export: its description of itself, and the parts to leave out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportOptions {
    /// URI of the workspace's root, such as `file:///home/me/project`.
    pub project_root: String,
    /// Version of the program that writes.
    pub tool_version: String,
    /// Percent; uses with less confidence are left out, since an index cannot express doubt.
    pub confidence_min: u8,
}

/// Writes all files of `view` with text as a SCIP index. Columns are UTF-8 bytes.
///
/// # Errors
/// Those of `out`.
pub fn export(view: &dyn IndexView, options: &ExportOptions, out: &mut dyn Write) -> io::Result<()> {
    let tool =
        ToolInfo { name: "indexd".to_owned(), version: options.tool_version.clone(), ..ToolInfo::default() };
    let metadata = Metadata {
        tool_info: MessageField::some(tool),
        project_root: options.project_root.clone(),
        text_document_encoding: EnumOrUnknown::new(TextEncoding::UTF8),
        ..Metadata::default()
    };
    write(out, &Index { metadata: MessageField::some(metadata), ..Index::default() })?;
    let mut exporter = Exporter { view, confidence_min: options.confidence_min, files: FxHashMap::default() };
    for file in view.files() {
        let record = view.file(file);
        if matches!(record.outcome, Outcome::Binary | Outcome::Sensitive | Outcome::TooLarge) {
            continue;
        }
        let document = exporter.document(file, &record);
        write(out, &Index { documents: vec![document], ..Index::default() })?;
    }
    Ok(())
}

fn write(out: &mut dyn Write, message: &Index) -> io::Result<()> {
    out.write_all(&message.write_to_bytes().map_err(io::Error::other)?)
}

/// Symbols of a file's definitions.
struct Names {
    namespace: Option<Namespace>,
    interface: Arc<Interface>,
}

struct Exporter<'v> {
    view: &'v dyn IndexView,
    confidence_min: u8,
    files: FxHashMap<FileDoc, Names>,
}

impl Exporter<'_> {
    /// The symbol of a definition without the `scip:` of our ids.
    fn symbol(&mut self, file: FileDoc, def: DefIdx) -> Option<String> {
        let view = self.view;
        let names = self.files.entry(file).or_insert_with(|| Names {
            namespace: Namespace::of(view, file),
            interface: view.interface(file),
        });
        let id = names.namespace.as_ref()?.symbol(&names.interface, def)?;
        id.0.strip_prefix("scip:").map(str::to_owned)
    }

    fn document(&mut self, file: FileDoc, record: &FileRecord) -> Document {
        let view = self.view;
        let text = view.text(file);
        let text = Text::new(&text);
        let language = view.interface(file).language;
        let n_defs = view.interface(file).defs.len() as u32;
        let defs: Vec<(DefDoc, DefIdx)> = std::iter::once(DefIdx::NONE)
            .chain((0..n_defs).map(DefIdx))
            .map(|idx| (view.def_doc(file, idx), idx))
            .collect();
        let mut page =
            Page { record, language, text: &text, occurrences: BTreeMap::new(), symbols: BTreeMap::new() };
        let (mut own, mut n_local): (FxHashMap<DefDoc, String>, u32) = Default::default();
        for &(doc, idx) in &defs {
            let def = view.def(doc);
            let is_file = idx == DefIdx::NONE;
            let is_named = !is_file && !matches!(&*def.name, "" | "_") && !def.name_span.is_empty();
            let symbol = self.symbol(file, idx).or_else(|| {
                n_local += u32::from(is_named);
                is_named.then(|| format!("local {}", n_local - 1))
            });
            if let Some(symbol) = symbol {
                page.define(symbol.clone(), &def, is_file);
                own.insert(doc, symbol);
            }
        }
        for (doc, _) in defs {
            for edge in view.edges_from(doc, &EdgeKind::ALL) {
                let target = own.get(&edge.target).cloned().or_else(|| {
                    let target = view.def(edge.target);
                    self.symbol(target.file, target.idx)
                });
                if let Some(target) = target {
                    page.edge(own.get(&doc).map(String::as_str), &edge, &target, self.confidence_min);
                }
            }
        }
        page.finish()
    }
}

/// A document under construction.
struct Page<'a> {
    record: &'a FileRecord,
    language: Language,
    text: &'a Text<'a>,
    /// By place and symbol: roles and, for definitions, the span of the whole definition.
    occurrences: BTreeMap<(Range, String), (i32, Option<Range>)>,
    symbols: BTreeMap<String, SymbolInformation>,
}

impl Page<'_> {
    fn define(&mut self, symbol: String, def: &DefRecord, is_file: bool) {
        let (range, around) = if is_file {
            (self.text.range(Span::new(0, 0)), None)
        } else {
            (self.text.range(def.name_span), Some(self.text.range(def.span)))
        };
        let slot = self.occurrences.entry((range, symbol.clone())).or_default();
        slot.0 |= SymbolRole::Definition as i32;
        slot.1 = slot.1.or(around);
        let info = self.symbols.entry(symbol.clone()).or_insert_with(|| SymbolInformation {
            symbol,
            kind: EnumOrUnknown::new(kind(def, self.language, is_file)),
            display_name: if is_file { String::new() } else { def.name.to_string() },
            ..SymbolInformation::default()
        });
        if is_file {
            return;
        }
        let signature = self.text.get(def.head).trim();
        if info.signature_documentation.is_none() && !signature.is_empty() {
            info.signature_documentation = MessageField::some(Signature {
                language: Language::scip_name(self.language).to_owned(),
                text: signature.to_owned(),
                ..Signature::default()
            });
        }
        let doc = documentation(self.text.get(def.doc), self.language);
        if info.documentation.is_empty() && !doc.is_empty() {
            info.documentation.push(doc);
        }
    }

    fn edge(&mut self, own: Option<&str>, edge: &Edge, target: &str, confidence_min: u8) {
        let sure = edge.occurrences.iter().filter(|o| o.confidence >= confidence_min);
        if let (EdgeKind::Inherit | EdgeKind::Implement, Some(own)) = (edge.kind, own)
            && own != target
            && sure.clone().next().is_some()
        {
            self.relate(own, target);
        }
        if matches!(edge.kind, EdgeKind::Dataflow | EdgeKind::DataflowIn | EdgeKind::Implement) {
            return;
        }
        for o in sure {
            let token = self.token(o.at);
            if token.is_empty() {
                continue;
            }
            let role = match o.role {
                role if edge.kind == EdgeKind::Import || role == Role::Import => {
                    SymbolRole::Import as i32 | SymbolRole::ReadAccess as i32
                }
                Role::Write | Role::Key => SymbolRole::WriteAccess as i32,
                _ => SymbolRole::ReadAccess as i32,
            };
            self.occurrences.entry((self.text.range(token), target.to_owned())).or_default().0 |= role;
        }
    }

    /// Records that one symbol extends or implements another. A method that implements or overrides another
    /// also counts among its uses.
    fn relate(&mut self, own: &str, target: &str) {
        let Some(info) = self.symbols.get_mut(own) else {
            return;
        };
        if info.relationships.iter().any(|r| r.symbol == target) {
            return;
        }
        info.relationships.push(Relationship {
            symbol: target.to_owned(),
            is_implementation: true,
            is_reference: target.ends_with(")."),
            ..Relationship::default()
        });
    }

    /// The identifier or Go import path at a byte.
    fn token(&self, at: u32) -> Span {
        let rest = self.text.text.get(at as usize..).unwrap_or("");
        let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '`')) else {
            return self.text.identifier(at);
        };
        match rest[1..].find([quote, '\n']) {
            Some(len) => Span::new(at, at + len as u32 + 2),
            None => Span::new(at, at),
        }
    }

    fn finish(self) -> Document {
        let mark = |role, mark: SymbolRole| if self.record.roles.has(role) { mark as i32 } else { 0 };
        let marks =
            mark(FileRoles::TEST, SymbolRole::Test) | mark(FileRoles::GENERATED, SymbolRole::Generated);
        let occurrences = self.occurrences.into_iter().map(|((range, symbol), (roles, around))| Occurrence {
            range: range_of(range),
            symbol,
            symbol_roles: roles | marks,
            enclosing_range: around.map(range_of).unwrap_or_default(),
            ..Occurrence::default()
        });
        let symbols = self.symbols.into_values().map(|mut s| {
            s.relationships.sort_by(|a, b| a.symbol.cmp(&b.symbol));
            s
        });
        // Readers decode a file as UTF-8; if that yields another text than ours, our text is included.
        let is_other = self.record.size != self.text.text.len() as u64;
        Document {
            language: Language::scip_name(self.language).to_owned(),
            relative_path: self.record.path.to_string(),
            occurrences: occurrences.collect(),
            symbols: symbols.collect(),
            text: if is_other { self.text.text.to_owned() } else { String::new() },
            position_encoding: EnumOrUnknown::new(PositionEncoding::UTF8CodeUnitOffsetFromLineStart),
            ..Document::default()
        }
    }
}

/// A range in the form of the format: three numbers within a line, otherwise four.
fn range_of(r: Range) -> Vec<i32> {
    let [start, end] = [r.start_column as i32, r.end_column as i32];
    if r.start_line == r.end_line {
        vec![r.start_line as i32, start, end]
    } else {
        vec![r.start_line as i32, start, r.end_line as i32, end]
    }
}

fn kind(def: &DefRecord, language: Language, is_file: bool) -> Kind {
    if is_file {
        return if language == Language::Go { Kind::Package } else { Kind::Module };
    }
    match def.kind {
        DefKind::Function => Kind::Function,
        DefKind::Method if &*def.name == "__init__" => Kind::Constructor,
        DefKind::Method if def.flags.has(DefFlags::STATIC) => Kind::StaticMethod,
        DefKind::Method if def.flags.has(DefFlags::ABSTRACT) => Kind::AbstractMethod,
        DefKind::Method if language == Language::Go && def.parent.some().is_some() => {
            Kind::MethodSpecification
        }
        DefKind::Method => Kind::Method,
        DefKind::Class => Kind::Class,
        DefKind::Struct => Kind::Struct,
        DefKind::Interface => Kind::Interface,
        DefKind::Type => Kind::Type,
        DefKind::Alias => Kind::TypeAlias,
        DefKind::Field => Kind::Field,
        DefKind::Property => Kind::Property,
        DefKind::Variable => Kind::Variable,
        DefKind::Constant => Kind::Constant,
        DefKind::Section if matches!(language, Language::Markdown | Language::Text) => Kind::Namespace,
        DefKind::Section => Kind::Key,
        DefKind::Module => Kind::Namespace,
        DefKind::Enum => Kind::Enum,
        DefKind::Macro => Kind::Macro,
    }
}

/// A doc comment or docstring without its comment marks, quotes and common indentation.
fn documentation(text: &str, language: Language) -> String {
    match language {
        Language::Python => docstring(text),
        Language::Go => {
            let text = text.trim();
            let block = text.strip_prefix("/*").and_then(|t| t.strip_suffix("*/"));
            let lines: Vec<&str> = match block {
                Some(inner) => inner.lines().collect(),
                None => text
                    .lines()
                    .map(|l| l.trim_start().trim_start_matches("//"))
                    .map(|l| l.strip_prefix(' ').unwrap_or(l))
                    .collect(),
            };
            lines.join("\n").trim().to_owned()
        }
        _ => text.trim().to_owned(),
    }
}

/// A docstring as shown by `inspect.cleandoc` (PEP 257, "Handling Docstring Indentation").
fn docstring(text: &str) -> String {
    let text = text.trim().trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|q| text.starts_with(q)).unwrap_or("");
    let text = text.strip_prefix(quote).unwrap_or(text);
    let text = text.strip_suffix(quote).unwrap_or(text);
    let mut lines = text.lines();
    let first = lines.next().unwrap_or("").trim();
    let rest: Vec<&str> = lines.collect();
    let indent = |l: &&str| l.len() - l.trim_start().len();
    let common = rest.iter().filter(|l| !l.trim().is_empty()).map(indent).min().unwrap_or(0);
    let mut out = first.to_owned();
    for line in rest {
        out.push('\n');
        out.push_str(line.get(common..).unwrap_or("").trim_end());
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests;

//! Facts of files that have sections and no program: documents, configuration, makefiles.

use crate::Input;
use crate::builder::{Builder, Header, blank_import};
use crate::chunks::{Piece, assemble};
use crate::config::needs::{NEEDS, modules_of, of_requirements};
use crate::lines;
use indexd_model::facts::{Import, ImportKind};
use indexd_model::limits::DEFS_PER_FILE_MAX;
use indexd_model::path::{dir_of, file_name_of};
use indexd_model::{ChunkKind, DefFlags, DefIdx, DefKind, Entry, FileFacts, Key, Outcome, RepoPath, Span};

/// Bytes of a name; longer headings are cut.
const NAME_BYTES_MAX: usize = 120;

/// A section of a document, a table, a key, a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The name token; its text is the name unless `name` is set.
    pub name_span: Span,
    /// The name where it differs from the text of `name_span` (escapes, several lines).
    pub name: Option<String>,
    /// Everything that belongs to it, sections inside included.
    pub span: Span,
    /// The heading.
    pub head: Span,
    /// A comment that describes it; empty when there is none.
    pub doc: Span,
    /// The section around it, by position in the list; parents come first.
    pub parent: Option<usize>,
    /// True if it is a chunk of its own; the others are joined with their neighbours.
    pub is_chunk: bool,
}

/// The sections of a file, and the name of its project if it is a manifest.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// In source order, parents first.
    pub sections: Vec<Section>,
    /// See [`indexd_model::Interface::package`].
    pub package: Option<String>,
    /// The modules stated by a manifest: a name or pattern, and its path. Behind `needs:` the name of a
    /// dependency, and its place.
    pub modules: Vec<(String, String)>,
}

/// The entry under which a file without a digest of its own is found.
pub fn file_entry(path: &RepoPath) -> Entry {
    Entry { key: Key::file(path), def: DefIdx::NONE, digest: 0 }
}

/// The facts of a file with this outline; `kind` is the kind of its chunks, also of those between
/// sections. A file with more than [`DEFS_PER_FILE_MAX`] sections is chunked by lines.
pub fn facts(input: Input, kind: ChunkKind, outline: Outline) -> FileFacts {
    let Input { path, text, lines: index, .. } = input;
    if outline.sections.len() > DEFS_PER_FILE_MAX {
        return lines::facts(input, Outcome::TextOnly);
    }
    let mut b = Builder::new();
    let mut pieces = Vec::new();
    for s in &outline.sections {
        let name = match &s.name {
            Some(name) => b.string(cut(name)),
            None => b.str(cut(&text[s.name_span.range()])),
        };
        let parent = s.parent.map_or(DefIdx::NONE, |p| DefIdx(p as u32));
        let mut def = b.blank_def(name, DefKind::Section, parent, s.name_span, s.span);
        def.head = s.head;
        def.doc = s.doc;
        def.flags.set(DefFlags::EXPORTED);
        let def = b.def(def);
        if s.is_chunk {
            pieces.push(Piece { span: s.span, def, kind });
        }
    }
    for (name, module) in &outline.modules {
        let (name, module) = (Some(b.string(name)), b.string(module));
        let import = blank_import(module, ImportKind::Module, 0, Span { start: 0, end: 0 });
        b.imports.push(Import { name, ..import });
    }
    let named = manifest_keys(path, &outline);
    let package = outline.package.as_deref().map(|p| b.string(p));
    let header = Header { package, ..Header::new(input, Outcome::Parsed) };
    let (interface, body) = b.finish(header, |_| {
        let named = named.into_iter().chain([Key::file(path)]);
        named.map(|key| (key, DefIdx::NONE)).collect()
    });
    FileFacts { interface, body, chunks: assemble(text, index, &pieces, kind) }
}

/// Keys under which a manifest is found: by its project, and by what that depends on.
fn manifest_keys(path: &RepoPath, outline: &Outline) -> Vec<Key> {
    let registry = match file_name_of(path) {
        "compile_commands.json" => return vec![Key::any("c-commands", "")],
        "package.json" => "npm",
        "Cargo.toml" => "cargo",
        "composer.json" => "composer",
        "pyproject.toml" | "setup.cfg" | "Pipfile" => "pypi",
        _ if is_requirements(path) => "pypi",
        _ => return Vec::new(),
    };
    let mut out: Vec<Key> = match (registry, outline.package.as_deref()) {
        (_, None) => Vec::new(),
        ("pypi", Some(name)) => modules_of(name).map(|name| Key::member(registry, &name)).collect(),
        ("cargo", Some(name)) => vec![Key::member(registry, &name.replace('-', "_"))],
        (_, Some(name)) => vec![Key::member(registry, name)],
    };
    if registry == "pypi" {
        let needs = outline.modules.iter().filter_map(|m| m.0.strip_prefix(NEEDS));
        out.extend(needs.map(|name| Key::member("needs:pypi", name)));
    }
    out
}

/// Returns true if a file lists requirements of Python, one a line.
pub fn is_requirements(path: &str) -> bool {
    let (name, dir) = (file_name_of(path), file_name_of(dir_of(path)));
    let is_list = name.ends_with(".txt") || name.ends_with(".in");
    is_list && (name.starts_with("requirements") || dir == "requirements")
}

/// The facts of such a list, which is chunked by lines.
pub fn requirements(input: Input) -> FileFacts {
    let lines = lines::facts(input, Outcome::Parsed);
    let outline = Outline { modules: of_requirements(input.text), ..Outline::default() };
    let facts = facts(input, ChunkKind::Lines, outline);
    FileFacts { chunks: lines.chunks, ..facts }
}

/// `name` without surrounding blanks, cut at a character boundary.
fn cut(name: &str) -> &str {
    let name = name.trim();
    let mut end = name.len().min(NAME_BYTES_MAX);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name[..end].trim_end()
}

/// Sets the end and the parent of every section, for formats where a heading ends all sections of its own and
/// deeper levels. `levels[i]` belongs to `sections[i]`, 1 being the outermost.
pub fn nest(sections: &mut [Section], levels: &[u32], end: u32) {
    let mut open: Vec<usize> = Vec::new();
    for i in 0..sections.len() {
        while let Some(&last) = open.last()
            && levels[last] >= levels[i]
        {
            sections[last].span.end = sections[i].span.start;
            open.pop();
        }
        sections[i].parent = open.last().copied();
        open.push(i);
    }
    for i in open {
        sections[i].span.end = end;
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use indexd_model::LineIndex;

    /// `start-end name` of each section in lines, indented by depth, then `[start-end:owner]` of
    /// each chunk.
    pub fn show(path: &str, text: &str, facts: &FileFacts) -> Vec<String> {
        let index = LineIndex::new(text);
        let view = indexd_model::Facts::inside(facts);
        let mut out = Vec::new();
        for i in 0..facts.interface.defs.len() as u32 {
            let def = view.def(DefIdx(i));
            let lines = index.lines(def.span);
            let depth = indexd_model::names::chain(&view, DefIdx(i)).len() - 1;
            out.push(format!(
                "{}{}-{} {}",
                "  ".repeat(depth),
                lines.start,
                lines.end,
                view.def_name(DefIdx(i))
            ));
        }
        for c in &facts.chunks {
            let owner = c.def.some().map_or("-", |d| view.def_name(d));
            out.push(format!("[{}-{}:{owner}]", c.lines.start, c.lines.end));
        }
        assert!(facts.interface.entries.iter().any(|e| e.key == Key::file(path)));
        out
    }
}

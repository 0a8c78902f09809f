//! Identities that leave a snapshot: symbol ids, chunk uids, evidence ids, and UTF-16 ranges.

use crate::pack::Range;
use crate::unit::{Unit, Units};
use indexd_model::path::{dir_of, join, stem_of};
use indexd_model::{
    ChunkDoc, ChunkUid, DefDoc, DefFlags, DefKind, Facts, FileDoc, FileRoles, IndexView, Language, LineIndex, Span,
    SymbolId, names, span,
};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;

/// The SCIP symbol of a definition: `scip:indexd <manager> <package> . <descriptors>`.
///
/// `None` where the qualified name cannot be made unambiguous (`init`, `_`, anonymous holders) and
/// for languages without symbols. The version is `.`: one tree has one version of itself.
pub fn symbol_id(view: &dyn IndexView, def: DefDoc) -> Option<SymbolId> {
    let record = view.def(def);
    let file = view.file(record.file);
    let idx = record.idx.some()?;
    let interface = view.interface(record.file);
    let facts = Facts::outside(&interface);
    let name = facts.def_name(idx);
    let repeats = file.language == Language::Go && matches!(name, "init" | "_");
    if name.is_empty() || repeats || facts.def(idx).flags.has(DefFlags::ANONYMOUS) || record.kind == DefKind::Section {
        return None;
    }
    let mut out = String::from("scip:indexd ");
    match file.language {
        Language::Go => {
            let (root, module) = go_module(view, &file.path);
            out.push_str("gomod ");
            push_package(&mut out, module.as_deref().unwrap_or("."));
            out.push_str(" . ");
            let dir = dir_of(&file.path).strip_prefix(&*root).unwrap_or("").trim_start_matches('/');
            let mut namespace = match &module {
                Some(m) if dir.is_empty() => m.clone(),
                Some(m) => format!("{m}/{dir}"),
                None if dir.is_empty() => ".".to_owned(),
                None => dir.to_owned(),
            };
            // External test packages live in the same folder under another name.
            let package = interface.package.map_or("", |p| facts.str(p));
            if file.roles.has(FileRoles::TEST) && package.ends_with("_test") {
                namespace.push_str("_test");
            }
            names::push_name(&mut out, &namespace);
            out.push('/');
        }
        Language::Python => {
            let (project, module) = python_module(view, &file.path);
            out.push_str("python ");
            push_package(&mut out, project.as_deref().unwrap_or("."));
            out.push_str(" . ");
            names::push_name(&mut out, &module);
            out.push('/');
        }
        _ => return None,
    }
    out.push_str(&names::descriptor(&facts, idx));
    Some(SymbolId(out))
}

/// Blanks separate the fields of a symbol and are doubled inside them.
fn push_package(out: &mut String, name: &str) {
    out.push_str(&name.replace(' ', "  "));
}

/// The folder and module path of the nearest go.mod; the root and nothing without one.
fn go_module(view: &dyn IndexView, path: &str) -> (String, Option<String>) {
    let mut dir = dir_of(path);
    loop {
        if let Some(file) = view.file_by_path(&join(dir, "go.mod")) {
            let interface = view.interface(file);
            let module = interface.package.map(|p| Facts::outside(&interface).str(p).to_owned());
            return (dir.to_owned(), module.filter(|m| !m.is_empty()));
        }
        if dir.is_empty() {
            return (String::new(), None);
        }
        dir = dir_of(dir);
    }
}

/// The nearest project's name and the dotted module from its source root: the folder around the
/// outermost package, and `src` or `lib` below the project when there is no package.
fn python_module(view: &dyn IndexView, path: &str) -> (Option<String>, String) {
    let mut root = dir_of(path);
    while !root.is_empty() && ["__init__.py", "__init__.pyi"].iter().any(|f| view.file_by_path(&join(root, f)).is_some()) {
        root = dir_of(root);
    }
    let (project_dir, project) = python_project(view, path);
    // A folder that is no package is a namespace: named from the project, so that equal names in
    // two such folders stay apart.
    let rest = root.strip_prefix(&*project_dir).unwrap_or(root).trim_start_matches('/');
    let base = match rest {
        "" => root.to_owned(),
        "src" | "lib" | "python" => root.to_owned(),
        _ => match rest.split_once('/') {
            Some((first @ ("src" | "lib" | "python"), _)) => join(&project_dir, first),
            _ => project_dir,
        },
    };
    let below = path.strip_prefix(&*base).unwrap_or(path).trim_start_matches('/');
    let mut module: Vec<&str> = dir_of(below).split('/').filter(|c| !c.is_empty()).collect();
    let stem = stem_of(path);
    if stem != "__init__" || module.is_empty() {
        module.push(stem);
    }
    (project, module.join("."))
}

fn python_project(view: &dyn IndexView, path: &str) -> (String, Option<String>) {
    let mut dir = dir_of(path);
    loop {
        let mut found = false;
        for manifest in ["pyproject.toml", "setup.cfg", "setup.py"] {
            if let Some(file) = view.file_by_path(&join(dir, manifest)) {
                found = true;
                let interface = view.interface(file);
                if let Some(name) = interface.package.map(|p| Facts::outside(&interface).str(p).to_owned()) {
                    return (dir.to_owned(), Some(name));
                }
            }
        }
        if found || dir.is_empty() {
            return (if found { dir.to_owned() } else { String::new() }, None);
        }
        dir = dir_of(dir);
    }
}

/// The stored text of one file with its lines, read once for one request.
pub struct Source {
    /// The text.
    pub text: Arc<str>,
    /// Its lines.
    pub lines: LineIndex,
    is_ascii: bool,
}

impl Source {
    /// The text of `span`; empty when it lies outside.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// `span` in UTF-16 code units from the start of the file.
    pub fn utf16(&self, span: Span) -> Range {
        if self.is_ascii {
            return Range { start: span.start, end: span.end };
        }
        let start = span::utf16_len(self.slice(Span { start: 0, end: span.start }));
        Range { start, end: start + span::utf16_len(self.slice(span)) }
    }
}

/// Texts and identities, read once for one request.
#[derive(Default)]
pub struct Sources {
    files: FxHashMap<FileDoc, Rc<Source>>,
    uids: FxHashMap<ChunkDoc, ChunkUid>,
    symbols: FxHashMap<DefDoc, Option<SymbolId>>,
}

impl Sources {
    /// The file's text.
    pub fn of(&mut self, view: &dyn IndexView, file: FileDoc) -> Rc<Source> {
        let source = self.files.entry(file).or_insert_with(|| {
            let text = view.text(file);
            Rc::new(Source { lines: LineIndex::new(&text), is_ascii: text.is_ascii(), text })
        });
        Rc::clone(source)
    }

    /// The identity of a unit: that of its first chunk.
    pub fn uid(&mut self, units: &mut Units, unit: &Unit) -> ChunkUid {
        let chunk = unit.key.0;
        if let Some(uid) = self.uids.get(&chunk) {
            return *uid;
        }
        let source = self.of(units.view, unit.file);
        let record = units.chunk(chunk);
        let file = units.file(unit.file);
        let own = source.slice(record.span);
        // Equal chunks of one definition count up; lengths tell nearly all apart.
        let mut ordinal = 0;
        for c in file.chunks.start..chunk.0 {
            let other = units.chunk(ChunkDoc(c));
            if other.span.len() == record.span.len() && source.slice(other.span) == own {
                ordinal += u32::from(descriptor(units.view, other.def) == descriptor(units.view, record.def));
            }
        }
        let uid = ChunkUid::of(&file.path, &descriptor(units.view, record.def), own, ordinal);
        self.uids.insert(chunk, uid);
        uid
    }

    /// The symbol of a definition.
    pub fn symbol(&mut self, view: &dyn IndexView, def: DefDoc) -> Option<SymbolId> {
        def.some()?;
        self.symbols.entry(def).or_insert_with(|| symbol_id(view, def)).clone()
    }

    /// What a definition is called in paths of edges: its symbol, else `file:` and its path, with
    /// the qualified name where it has one.
    pub fn endpoint(&mut self, view: &dyn IndexView, def: DefDoc) -> String {
        if let Some(id) = self.symbol(view, def) {
            return id.0;
        }
        let record = view.def(def);
        let path = view.path(record.file);
        if record.qualified.is_empty() { format!("file:{path}") } else { format!("file:{path}#{}", record.qualified) }
    }
}

fn descriptor(view: &dyn IndexView, def: DefDoc) -> String {
    let Some(def) = def.some() else { return String::new() };
    let record = view.def(def);
    match record.idx.some() {
        Some(idx) => names::descriptor(&Facts::outside(&view.interface(record.file)), idx),
        None => String::new(),
    }
}

/// `ev:` and a digest of what the evidence is, and where.
pub fn evidence_id(kind: &str, path: &str, at: u32, target: &str) -> String {
    let mut h = blake3::Hasher::new();
    for part in [kind, path, target] {
        h.update(&(part.len() as u32).to_le_bytes());
        h.update(part.as_bytes());
    }
    h.update(&at.to_le_bytes());
    format!("ev:{}", hex(&h.finalize().as_bytes()[..8]))
}

/// Lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = String::with_capacity(2 * bytes.len());
    for b in bytes {
        out.push(DIGITS[usize::from(b >> 4)] as char);
        out.push(DIGITS[usize::from(b & 15)] as char);
    }
    out
}

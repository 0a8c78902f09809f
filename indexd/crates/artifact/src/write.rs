//! From a view to lines.

use crate::line::{
    ChunkLine, EdgeLine, FileLine, IndexLine, PostingsLine, SymbolLine, TermLine, UnresolvedLine, UseLine,
};
use crate::{Artifact, FORMAT};
use base64::Engine as _;
use indexd_model::ids::hex;
use indexd_model::links::EdgeKind;
use indexd_model::view::Edge;
use indexd_model::{ChunkDoc, DefDoc, DefIdx, FileDoc, IndexView, Span};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// Every term that a view knows: a view finds terms by name and lists none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vocabulary {
    /// Terms of texts.
    pub texts: Vec<String>,
    /// Terms of paths.
    pub paths: Vec<String>,
    /// Terms of subjects of commits.
    pub commits: Vec<String>,
}

/// Writes every artifact, line by line without line ends; equal states give equal lines.
///
/// # Errors
/// Those of `out`.
pub fn write<E>(
    view: &dyn IndexView,
    vocabulary: &Vocabulary,
    out: &mut dyn FnMut(Artifact, &str) -> Result<(), E>,
) -> Result<(), E> {
    let mut writer = Writer { view, numbers: Numbers::of(view), out };
    writer.line(Artifact::Index, &writer.index())?;
    for file in writer.numbers.files.clone() {
        writer.line(Artifact::Files, &writer.file(file))?;
    }
    for def in writer.numbers.defs.clone() {
        writer.line(Artifact::Symbols, &writer.symbol(def))?;
    }
    for chunk in writer.numbers.chunks.clone() {
        writer.line(Artifact::ChunkMeta, &writer.chunk(chunk))?;
    }
    for artifact in Artifact::ALL {
        if let Artifact::Edges(kind) = artifact {
            writer.edges(artifact, kind)?;
        }
    }
    for file in writer.numbers.files.clone() {
        writer.unresolved(file)?;
    }
    writer.terms(vocabulary)
}

/// What handles stand for: positions in the order of paths and places.
struct Numbers {
    files: Vec<FileDoc>,
    defs: Vec<DefDoc>,
    chunks: Vec<ChunkDoc>,
    of_file: FxHashMap<FileDoc, u32>,
    of_def: FxHashMap<DefDoc, u32>,
    of_chunk: FxHashMap<ChunkDoc, u32>,
}

impl Numbers {
    fn of(view: &dyn IndexView) -> Self {
        let files = view.files();
        let (mut defs, mut chunks) = (Vec::new(), Vec::new());
        for &file in &files {
            defs.push(view.def_doc(file, DefIdx::NONE));
            let n = view.interface(file).defs.len() as u32;
            defs.extend((0..n).map(|i| view.def_doc(file, DefIdx(i))));
            chunks.extend(view.file(file).chunks.map(ChunkDoc));
        }
        Self {
            of_file: (0..).zip(&files).map(|(i, f)| (*f, i)).collect(),
            of_def: (0..).zip(&defs).map(|(i, d)| (*d, i)).collect(),
            of_chunk: (0..).zip(&chunks).map(|(i, c)| (*c, i)).collect(),
            files,
            defs,
            chunks,
        }
    }
}

struct Writer<'a, E> {
    view: &'a dyn IndexView,
    numbers: Numbers,
    out: &'a mut dyn FnMut(Artifact, &str) -> Result<(), E>,
}

impl<E> Writer<'_, E> {
    fn line(&mut self, artifact: Artifact, line: &impl Serialize) -> Result<(), E> {
        // The keys of every map in a line are strings.
        let text = serde_json::to_string(line).expect("lines always serialise");
        (self.out)(artifact, &text)
    }

    fn index(&self) -> IndexLine {
        let stats = self.view.stats();
        IndexLine {
            format: FORMAT,
            signature: self.view.signature(),
            head: self.view.head(),
            n_chunks: stats.n_chunks,
            n_files: stats.n_files,
            field_lens: stats.field_lens,
            path_len: stats.path_len,
        }
    }

    fn file(&self, doc: FileDoc) -> FileLine {
        let file = self.view.file(doc);
        let history = self.view.history(doc);
        let mut touched = Vec::new();
        self.view.touched(doc, &mut touched);
        let interface = bitcode::encode(&*self.view.interface(doc));
        FileLine {
            path: file.path.to_string(),
            language: file.language,
            roles: file.roles.0,
            outcome: file.outcome,
            hash: hex(&file.hash.0),
            size: file.size,
            n_lines: file.n_lines,
            path_len: file.path_len,
            n_commits: history.n_commits,
            newest_commit: history.newest,
            touched: touched.iter().map(|t| [t.lines.start, t.lines.end, t.newest]).collect(),
            interface: base64::engine::general_purpose::STANDARD.encode(interface),
            text: self.view.text(doc).to_string(),
        }
    }

    fn symbol(&self, doc: DefDoc) -> SymbolLine {
        let def = self.view.def(doc);
        SymbolLine {
            file: self.numbers.of_file[&def.file],
            name: def.name.to_string(),
            qualified: def.qualified.to_string(),
            kind: def.kind,
            is_file: def.idx == DefIdx::NONE,
            flags: def.flags.0,
            parent: self.numbers.of_def.get(&def.parent).copied(),
            span: pair(def.span),
            lines: [def.lines.start, def.lines.end],
            name_span: pair(def.name_span),
            name_line: def.name_line,
            head: pair(def.head),
            doc: pair(def.doc),
        }
    }

    fn chunk(&self, doc: ChunkDoc) -> ChunkLine {
        let chunk = self.view.chunk(doc);
        ChunkLine {
            file: self.numbers.of_file[&chunk.file],
            path: self.view.path(chunk.file).to_string(),
            span: pair(chunk.span),
            lines: [chunk.lines.start, chunk.lines.end],
            symbol: self.numbers.of_def.get(&chunk.def).copied(),
            kind: chunk.kind,
            part: chunk.part,
            n_parts: chunk.n_parts,
            lens: chunk.lens,
        }
    }

    fn edges(&mut self, artifact: Artifact, kind: EdgeKind) -> Result<(), E> {
        for source in self.numbers.defs.clone() {
            let mut edges = self.view.edges_from(source, &[kind]);
            if kind == EdgeKind::Dataflow {
                edges.extend(self.view.flows_from(source, usize::MAX));
            }
            for edge in edges {
                let line = self.edge(&edge);
                self.line(artifact, &line)?;
            }
        }
        Ok(())
    }

    fn edge(&self, edge: &Edge) -> EdgeLine {
        let uses = edge.occurrences.iter().map(|o| UseLine {
            at: o.at,
            line: o.line,
            role: o.role,
            rule: o.rule,
            confidence: o.confidence,
        });
        EdgeLine {
            source: self.numbers.of_def[&edge.source],
            target: self.numbers.of_def[&edge.target],
            from: self.place(edge.source),
            to: self.place(edge.target),
            is_turned: edge.is_turned,
            uses: uses.collect(),
        }
    }

    /// `path` or `path#name`.
    fn place(&self, def: DefDoc) -> String {
        let record = self.view.def(def);
        let path = self.view.path(record.file);
        match &*record.qualified {
            "" => path.to_string(),
            name => format!("{path}#{name}"),
        }
    }

    fn unresolved(&mut self, file: FileDoc) -> Result<(), E> {
        for u in self.view.unresolved(file) {
            let line = UnresolvedLine {
                file: self.numbers.of_file[&file],
                symbol: self.numbers.of_def[&u.source],
                name: u.name.to_string(),
                at: u.at,
                line: u.line,
                role: u.role,
                reason: u.reason,
            };
            self.line(Artifact::Unresolved, &line)?;
        }
        Ok(())
    }

    fn terms(&mut self, vocabulary: &Vocabulary) -> Result<(), E> {
        for term in &vocabulary.texts {
            let mut found = Vec::new();
            self.view.postings(term, &mut found);
            let mut chunks: Vec<_> =
                found.iter().map(|p| (self.numbers.of_chunk[&p.chunk], p.counts)).collect();
            chunks.sort_unstable();
            self.line(Artifact::Postings, &PostingsLine { term: term.clone(), chunks })?;
        }
        for term in &vocabulary.paths {
            let mut found = Vec::new();
            self.view.path_postings(term, &mut found);
            let files = found.iter().map(|p| (p.file, u32::from(p.count))).collect();
            self.files_of(Artifact::PathTerms, term, files)?;
        }
        for term in &vocabulary.commits {
            let mut found = Vec::new();
            self.view.history_postings(term, &mut found);
            self.files_of(Artifact::HistoryTerms, term, found)?;
        }
        Ok(())
    }

    fn files_of(&mut self, artifact: Artifact, term: &str, found: Vec<(FileDoc, u32)>) -> Result<(), E> {
        let mut files: Vec<_> = found.iter().map(|(f, n)| (self.numbers.of_file[f], *n)).collect();
        files.sort_unstable();
        self.line(artifact, &TermLine { term: term.to_owned(), files })
    }
}

fn pair(span: Span) -> [u32; 2] {
    [span.start, span.end]
}

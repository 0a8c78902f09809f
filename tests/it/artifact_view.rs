//! A view over artifacts: plain vectors and maps, made once and never changed.

use base64::Engine as _;
use indexd_artifact::line::{
    ChunkLine, EdgeLine, FileLine, IndexLine, PostingsLine, SymbolLine, TermLine, UnresolvedLine,
};
use indexd_artifact::{Artifact, FORMAT};
use indexd_model::links::EdgeKind;
use indexd_model::memory::{Edges, InMemory, MemoryFacts, Rows};
use indexd_model::view::{
    ChunkRecord, CorpusStats, DefRecord, Edge, FileHistory, FileRecord, Occurrence, PathPosting, Posting,
    Touched, UnresolvedRecord, digest_of,
};
use indexd_model::{
    ChunkDoc, ContentHash, DefDoc, DefFlags, DefIdx, FileDoc, FileRoles, Interface, Lines, RepoPath, Span,
};
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// Why artifacts cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// A line is not what its artifact holds.
    #[error("{artifact}, line {number}: {what}")]
    Line {
        /// The artifact.
        artifact: &'static str,
        /// The line, from 1.
        number: usize,
        /// What is wrong.
        what: String,
    },
    /// Written by another version.
    #[error("the artifacts have format {found}, this program reads {FORMAT}")]
    Format {
        /// Theirs.
        found: u32,
    },
    /// A part is missing.
    #[error("there is no line of {artifact}")]
    Missing {
        /// The artifact.
        artifact: &'static str,
    },
}

/// An index in memory, read from artifacts.
pub struct ArtifactView {
    rows: Rows,
    edges: Edges,
}

impl InMemory for ArtifactView {
    fn rows(&self) -> &Rows {
        &self.rows
    }

    fn edges(&self) -> &Edges {
        &self.edges
    }
}

/// Takes lines, artifact by artifact in the order of [`Artifact::ALL`], and gives a view.
#[derive(Default)]
pub struct Builder {
    index: Option<IndexLine>,
    interfaces: Vec<(RepoPath, Arc<Interface>)>,
    rows: Rows,
    edges: Edges,
    /// The artifact that is being read, and its lines so far.
    at: Option<(Artifact, usize)>,
}

impl Builder {
    /// Takes the next line of an artifact.
    ///
    /// # Errors
    /// When it is not one, or speaks of what no line before it has.
    pub fn add(&mut self, artifact: Artifact, line: &str) -> Result<(), ArtifactError> {
        let number = match self.at {
            Some((current, n)) if current == artifact => n + 1,
            _ => 1,
        };
        self.at = Some((artifact, number));
        let wrong = |what: String| ArtifactError::Line { artifact: artifact.name(), number, what };
        match artifact {
            Artifact::Index => {
                let line: IndexLine = read(line).map_err(wrong)?;
                if line.format != FORMAT {
                    return Err(ArtifactError::Format { found: line.format });
                }
                self.index = Some(line);
                Ok(())
            }
            Artifact::Files => read(line).and_then(|l| self.file(l)).map_err(wrong),
            Artifact::Symbols => read(line).and_then(|l| self.symbol(l)).map_err(wrong),
            Artifact::ChunkMeta => read(line).and_then(|l| self.chunk(&l)).map_err(wrong),
            Artifact::Edges(kind) => read(line).and_then(|l| self.edge(kind, &l)).map_err(wrong),
            Artifact::Unresolved => read(line).and_then(|l| self.add_unresolved(&l)).map_err(wrong),
            Artifact::Postings => read(line).and_then(|l| self.postings(l)).map_err(wrong),
            Artifact::PathTerms => read(line).and_then(|l| self.path_terms(l)).map_err(wrong),
            Artifact::HistoryTerms => read(line).and_then(|l| self.history_terms(l)).map_err(wrong),
        }
    }

    /// The view, when everything was read.
    ///
    /// # Errors
    /// When a part is missing.
    pub fn finish(mut self) -> Result<ArtifactView, ArtifactError> {
        let index = self.index.ok_or(ArtifactError::Missing { artifact: Artifact::Index.name() })?;
        let is_whole = self.rows.files.len() as u64 == index.n_files
            && self.rows.def_base.len() == self.rows.files.len()
            && self.rows.chunks.len() as u64 == index.n_chunks;
        if !is_whole {
            return Err(ArtifactError::Missing { artifact: Artifact::ChunkMeta.name() });
        }
        self.edges.sort();
        let rows = Rows {
            facts: MemoryFacts::new(self.interfaces),
            stats: CorpusStats {
                n_chunks: index.n_chunks,
                n_files: index.n_files,
                field_lens: index.field_lens,
                path_len: index.path_len,
            },
            signature: index.signature,
            head: index.head,
            ..self.rows
        };
        Ok(ArtifactView { rows, edges: self.edges })
    }

    fn file(&mut self, line: FileLine) -> Result<(), String> {
        let path = RepoPath::new(&line.path).map_err(|e| e.to_string())?;
        if self.interfaces.last().is_some_and(|(last, _)| *last >= path) {
            return Err("files are not in the order of their paths".to_owned());
        }
        let bytes = base64::engine::general_purpose::STANDARD.decode(&line.interface);
        let bytes = bytes.map_err(|e| format!("the interface: {e}"))?;
        let interface: Interface = bitcode::decode(&bytes).map_err(|e| format!("the interface: {e}"))?;
        let rows = &mut self.rows;
        rows.files.push(FileRecord {
            path: Arc::from(line.path.as_str()),
            language: line.language,
            roles: FileRoles(line.roles),
            outcome: line.outcome,
            hash: hash(&line.hash).ok_or("the hash is not 64 hexadecimal digits")?,
            size: line.size,
            n_lines: line.n_lines,
            chunks: 0..0,
            path_len: line.path_len,
        });
        rows.history.push(FileHistory { n_commits: line.n_commits, newest: line.newest_commit });
        let touched = line.touched.iter().map(|[start, end, newest]| Touched {
            lines: Lines { start: *start, end: *end },
            newest: *newest,
        });
        rows.touched.push(touched.collect());
        rows.texts.push(line.text.into());
        self.interfaces.push((path, Arc::new(interface)));
        Ok(())
    }

    fn file_of(&self, n: u32) -> Result<FileDoc, String> {
        let is_known = (n as usize) < self.rows.files.len();
        is_known.then_some(FileDoc(n)).ok_or_else(|| format!("there is no file {n}"))
    }

    fn def_of(&self, n: u32) -> Result<DefDoc, String> {
        let is_known = (n as usize) < self.rows.defs.len();
        is_known.then_some(DefDoc(n)).ok_or_else(|| format!("there is no symbol {n}"))
    }

    fn symbol(&mut self, line: SymbolLine) -> Result<(), String> {
        let file = self.file_of(line.file)?;
        let doc = DefDoc(self.rows.defs.len() as u32);
        if line.is_file {
            if self.rows.def_base.len() as u32 != line.file {
                return Err("files are not in their order".to_owned());
            }
            self.rows.def_base.push(doc.0);
        }
        let base = *self.rows.def_base.get(line.file as usize).ok_or("its file comes later")?;
        let parent = line.parent.map_or(Ok(DefDoc::NONE), |p| self.def_of(p))?;
        let name: Arc<str> = line.name.into();
        let idx = if line.is_file { DefIdx::NONE } else { DefIdx(doc.0 - base - 1) };
        if !line.is_file {
            self.rows.by_name.entry(Arc::clone(&name)).or_default().push(doc);
        }
        self.rows.defs.push(DefRecord {
            file,
            idx,
            name,
            qualified: line.qualified.into(),
            kind: line.kind,
            flags: DefFlags(line.flags),
            parent,
            span: span(line.span),
            lines: lines(line.lines),
            name_span: span(line.name_span),
            name_line: line.name_line,
            head: span(line.head),
            doc: span(line.doc),
        });
        Ok(())
    }

    fn chunk(&mut self, line: &ChunkLine) -> Result<(), String> {
        let file = self.file_of(line.file)?;
        let text =
            self.rows.texts[file.index()].get(span(line.span).range()).ok_or("its bytes are not there")?;
        let digest = digest_of(text);
        let doc = ChunkDoc(self.rows.chunks.len() as u32);
        let own = &mut self.rows.files[file.index()].chunks;
        if own.start == own.end {
            *own = doc.0..doc.0;
        }
        if own.end != doc.0 {
            return Err("chunks of a file stand apart".to_owned());
        }
        own.end += 1;
        let def = line.symbol.map_or(Ok(DefDoc::NONE), |n| self.def_of(n))?;
        if def != DefDoc::NONE {
            self.rows.chunks_of.entry(def).or_default().push(doc);
        }
        self.rows.chunks.push(ChunkRecord {
            file,
            span: span(line.span),
            lines: lines(line.lines),
            def,
            kind: line.kind,
            part: line.part,
            n_parts: line.n_parts,
            lens: line.lens,
            digest,
        });
        Ok(())
    }

    fn edge(&mut self, kind: EdgeKind, line: &EdgeLine) -> Result<(), String> {
        let (source, target) = (self.def_of(line.source)?, self.def_of(line.target)?);
        let occurrence = |u: &indexd_artifact::line::UseLine| Occurrence {
            at: u.at,
            line: u.line,
            role: u.role,
            rule: u.rule,
            confidence: u.confidence,
        };
        let occurrences = line.uses.iter().map(occurrence).collect();
        self.edges.add(Edge { kind, source, target, is_turned: line.is_turned, occurrences });
        Ok(())
    }

    fn add_unresolved(&mut self, line: &UnresolvedLine) -> Result<(), String> {
        let (file, source) = (self.file_of(line.file)?, self.def_of(line.symbol)?);
        self.edges.unresolved.entry(file).or_default().push(UnresolvedRecord {
            source,
            name: Arc::from(line.name.as_str()),
            at: line.at,
            line: line.line,
            role: line.role,
            reason: line.reason,
        });
        Ok(())
    }

    fn postings(&mut self, line: PostingsLine) -> Result<(), String> {
        let n = self.rows.chunks.len() as u32;
        if let Some((chunk, _)) = line.chunks.iter().find(|(chunk, _)| *chunk >= n) {
            return Err(format!("there is no chunk {chunk}"));
        }
        let found = line.chunks.into_iter().map(|(chunk, counts)| Posting { chunk: ChunkDoc(chunk), counts });
        self.rows.terms.insert(line.term.into(), found.collect());
        Ok(())
    }

    fn path_terms(&mut self, line: TermLine) -> Result<(), String> {
        let posting = |(file, n): &(u32, u32)| {
            let count = u8::try_from(*n).map_err(|_| "a count is above 255".to_owned())?;
            Ok(PathPosting { file: self.file_of(*file)?, count })
        };
        let found: Result<Vec<_>, String> = line.files.iter().map(posting).collect();
        self.rows.paths.insert(line.term.into(), found?);
        Ok(())
    }

    fn history_terms(&mut self, line: TermLine) -> Result<(), String> {
        let found: Result<Vec<_>, String> =
            line.files.iter().map(|(file, n)| Ok((self.file_of(*file)?, *n))).collect();
        self.rows.history_terms.insert(line.term, found?);
        Ok(())
    }
}

fn read<T: DeserializeOwned>(line: &str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|e| e.to_string())
}

fn span([start, end]: [u32; 2]) -> Span {
    Span { start, end }
}

fn lines([start, end]: [u32; 2]) -> Lines {
    Lines { start, end }
}

fn hash(hex: &str) -> Option<ContentHash> {
    let mut out = [0; 32];
    if hex.len() != 64 || !hex.is_ascii() {
        return None;
    }
    for (i, byte) in out.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).ok()?;
    }
    Some(ContentHash(out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexd_artifact::{Vocabulary, write};
    use indexd_model::IndexView;
    use indexd_oracle::Oracle;

    type Written = Vec<(Artifact, String)>;

    fn lines_of(view: &dyn IndexView) -> Written {
        let words = ["delay", "base", "retry", "wait"].map(str::to_owned).to_vec();
        let vocabulary = Vocabulary { texts: words.clone(), paths: words, commits: Vec::new() };
        let mut out = Vec::new();
        write::<()>(view, &vocabulary, &mut |a, line| {
            out.push((a, line.to_owned()));
            Ok(())
        })
        .unwrap();
        out
    }

    fn view_of(lines: &[(Artifact, String)]) -> Result<ArtifactView, ArtifactError> {
        let mut builder = Builder::default();
        lines.iter().try_for_each(|(artifact, line)| builder.add(*artifact, line))?;
        builder.finish()
    }

    fn oracle() -> Oracle {
        Oracle::of(&[
            ("go.mod", "module example.com/m\n"),
            (
                "retry/delay.go",
                "package retry\n\n// Delay waits.\nfunc Delay(n int) int { return base(n) + unknown() }\n\nfunc base(n int) int { return n }\n",
            ),
            ("retry/client.go", "package retry\n\nfunc Get() int {\n\tx := Delay(3)\n\treturn x\n}\n"),
        ])
    }

    #[test]
    fn artifacts_of_a_view_of_artifacts_are_the_same() {
        let lines = lines_of(&oracle());
        let view = view_of(&lines).unwrap();
        assert_eq!(lines_of(&view), lines);
        let calls = lines.iter().filter(|(a, _)| *a == Artifact::Edges(EdgeKind::Call));
        assert!(calls.clone().any(|(_, l)| l.contains("\"from\":\"retry/client.go#Get\"")), "{lines:?}");
        let delay = view.defs_named("Delay")[0];
        assert_eq!(view.in_degree(delay, EdgeKind::Call), 1);
        let kinds: std::collections::BTreeSet<_> = lines.iter().map(|(a, _)| a.name()).collect();
        for expected in
            ["index", "files", "symbols", "chunk_meta", "calls", "dataflow", "unresolved", "postings"]
        {
            assert!(kinds.contains(expected), "{expected}: {kinds:?}");
        }
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let lines = lines_of(&oracle());
        let error = |change: &dyn Fn(&mut Written)| {
            let mut lines = lines.clone();
            change(&mut lines);
            view_of(&lines).err().map(|e| e.to_string()).unwrap_or_default()
        };
        let other = |l: &mut Written| l[0].1 = l[0].1.replace("\"format\":1", "\"format\":9");
        assert_eq!(error(&other), "the artifacts have format 9, this program reads 1");
        assert_eq!(error(&|l| drop(l.remove(0))), "there is no line of index");
        assert_eq!(error(&|l| l.truncate(5)), "there is no line of chunk_meta");
        let torn = error(&|l| l[1].1.truncate(40));
        assert!(torn.starts_with("files, line 1: EOF"), "{torn}");
        let lost = error(&|l| {
            let edge = l.iter_mut().find(|(a, _)| *a == Artifact::Edges(EdgeKind::Call)).unwrap();
            edge.1 = edge.1.replacen("\"target\":", "\"target\":9999", 1);
        });
        assert!(lost.contains("there is no symbol 9999"), "{lost}");
    }

    #[test]
    fn names_lead_back() {
        for artifact in Artifact::ALL {
            assert_eq!(Artifact::of(artifact.name()), Some(artifact));
        }
        assert_eq!(Artifact::of("nothing"), None);
    }
}

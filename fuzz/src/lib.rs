//! What fuzz targets share: the seeds they start from, and what has to hold of a file's facts.
//!
//! The first byte of an input draws what reads the rest: a decoder, a language, a parser.

use indexd_lang::extract;
use indexd_model::limits::CHUNK_BYTES_MAX;
use indexd_model::terms::Vocabulary;
use indexd_model::{Facts, LineIndex, RepoPath, Span};
use std::fs;
use std::path::{Path, PathBuf};

/// Names a folder; a target writes its seeds there before it begins.
const SEEDS: &str = "INDEXD_FUZZ_SEEDS";

/// Writes the seeds of a target where the environment asks for them.
///
/// # Panics
/// When they cannot be written.
pub fn write_seeds(make: impl FnOnce() -> Vec<Vec<u8>>) {
    let Some(dir) = std::env::var_os(SEEDS).map(PathBuf::from) else { return };
    for (i, seed) in make().into_iter().enumerate() {
        fs::write(dir.join(format!("seed-{i}")), seed).expect("a seed is written");
    }
}

/// The sources and documents of this repository that tests read: names and bytes.
///
/// # Panics
/// When a folder cannot be read.
pub fn fixtures() -> Vec<(String, Vec<u8>)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut out = Vec::new();
    for dir in [
        "indexd/crates/lang/src/go/fixtures",
        "indexd/crates/lang/src/python/fixtures",
        "indexd/crates/lang/src/grammars/fixtures",
        "docs",
        "packaging",
        ".",
    ] {
        let entries = fs::read_dir(top.join(dir)).expect("a folder");
        for path in entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_file()) {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            out.push((name, fs::read(&path).expect("a file")));
        }
    }
    out.sort();
    out
}

/// Seeds of a target that reads files of these names: each fixture with the first name of its kind.
pub fn seeds_of(names: &[&str]) -> Vec<Vec<u8>> {
    let extension = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let mut out = Vec::new();
    for (name, bytes) in fixtures().into_iter().filter(|(_, bytes)| bytes.len() <= LEN_MAX) {
        if let Some(which) = names.iter().position(|n| extension(n) == extension(&name)) {
            out.push([&[which as u8][..], &bytes].concat());
        }
    }
    out
}

/// Bytes of a seed at most; what is longer takes too long to run.
const LEN_MAX: usize = 8 << 10;

/// Reads the rest of an input as a file whose name is drawn by the first byte, as the daemon would:
/// secrets are taken out, facts are extracted, terms are counted, facts are packed.
///
/// # Panics
/// When something does not hold that later stages rely on.
pub fn file(data: &[u8], names: &[&str]) {
    let Some((&which, bytes)) = data.split_first() else { return };
    let name = names[usize::from(which) % names.len()];
    let path = RepoPath::new(name).expect("a path");
    let got = extract(&path, bytes);
    let (text, facts) = (&*got.text, &got.facts);
    let lines = LineIndex::new(text);
    let mut next = 1;
    for chunk in &facts.chunks {
        assert!(chunk.lines.start >= next, "chunks overlap");
        assert_eq!(chunk.span, lines.lines_span(chunk.lines), "chunks are whole lines");
        assert!(chunk.part < chunk.n_parts);
        assert!(chunk.span.len() as usize <= CHUNK_BYTES_MAX || chunk.lines.count() == 1);
        assert!(chunk.def.some().is_none_or(|def| def.index() < facts.interface.defs.len()));
        next = chunk.lines.end + 1;
    }
    for def in &facts.interface.defs {
        for span in [def.span, def.head, def.doc, def.name_span] {
            assert!(text.get(span.range()).is_some(), "{span:?} does not cut the text between characters");
        }
        assert!(def.span.contains(def.name_span) || def.name_span.is_empty());
    }
    let mut vocabulary = Vocabulary::default();
    let terms = indexd_text::file_terms(Facts::inside(facts), &facts.chunks, name, text, &mut vocabulary);
    assert_eq!(terms.chunks.len(), facts.chunks.len());
    let packed = indexd_store::pack_facts(facts).expect("packs");
    assert!(indexd_store::unpack_facts(&packed).as_ref() == Some(facts), "facts come back as they were");
    shown(facts.interface.language, text);
}

/// What is made of a text when it is shown.
fn shown(language: indexd_model::Language, text: &str) {
    let whole = Span { start: 0, end: text.len() as u32 };
    let mut end = 0;
    for (span, _) in indexd_lang::highlight::highlight(language, text, &[whole]) {
        assert!(span.start >= end && text.get(span.range()).is_some(), "{span:?} overlaps or splits a character");
        end = span.end;
    }
    for token in indexd_lang::tokens::tokens(text, language) {
        let _ = token.text(text);
    }
    let (redacted, found) = indexd_secrets::redact(text);
    assert_eq!(redacted.len(), text.len(), "{found:?} moved what follows");
}

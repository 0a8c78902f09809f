//! Prints the definitions of a tree that the tables of grammars find, one a line: path, line, kind and
//! qualified name, parted by tabs; and for each file a line with the line 0, how its parsing went, its
//! language and the lines that lie in syntax errors. `scripts/eval/definitions.py` compares them with those of ctags.
//!
//! Usage: `definitions DIR`

use indexd_model::names::qualified_name;
use indexd_model::{DefFlags, DefIdx, Facts, RepoPath};
use std::io::Write;
use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    let root = PathBuf::from(std::env::args().nth(1).expect("usage: definitions DIR"));
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for file in files {
        let name = file.strip_prefix(&root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        let Ok(path) = RepoPath::new(&name) else { continue };
        let Some(parser) = indexd_lang::grammars::parser(indexd_lang::roles::language(&path)) else {
            continue;
        };
        let extracted = indexd_lang::extract(&path, &std::fs::read(&file)?);
        let view = Facts::inside(&extracted.facts);
        let interface = &extracted.facts.interface;
        let lines = lines_in_errors(&parser, &extracted.text);
        writeln!(out, "{path}\t0\t{:?}\t{:?}\t{lines:?}", interface.outcome, interface.language)?;
        for (i, def) in interface.defs.iter().enumerate() {
            let line = extracted.lines.line(def.name_span.start);
            let name = qualified_name(&view, DefIdx(i as u32));
            let local = if def.flags.has(DefFlags::LOCAL) { " local" } else { "" };
            writeln!(out, "{path}\t{line}\t{:?}{local}\t{name}", def.kind)?;
        }
    }
    out.flush()
}

/// Lines with the start of a syntax error, counted from 1.
fn lines_in_errors(parser: &tree_sitter::Language, text: &str) -> Vec<usize> {
    let mut out = Vec::new();
    let Some(tree) = indexd_lang::Parses::new(parser).parse(text, u64::MAX) else { return out };
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            out.push(node.start_position().row + 1);
        }
        let goes_in = node.has_error() && !node.is_error();
        if goes_in && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                out.dedup();
                return out;
            }
        }
    }
}

fn collect(dir: &Path, out: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() && entry.file_name() != ".git" {
            collect(&entry.path(), out)?;
        } else if kind.is_file() {
            out.push(entry.path());
        }
    }
    Ok(())
}

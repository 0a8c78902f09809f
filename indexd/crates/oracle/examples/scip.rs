//! Writes the SCIP index of a tree, as `ctl export scip` does, with a view in memory.
//!
//! `cargo run --release -p indexd-oracle --example scip -- DIR > index.scip`; what was written goes to
//! standard error.

use anyhow::{Context, Result};
use indexd_oracle::Oracle;
use indexd_scip::{ExportOptions, export};
use std::fs;
use std::io::Write;
use std::path::Path;

fn main() -> Result<()> {
    let root = std::env::args().nth(1).context("usage: scip DIR > index.scip")?;
    let root = Path::new(&root).canonicalize()?;
    let mut files = Vec::new();
    walk(&root, "", &mut files)?;
    let options = ExportOptions {
        project_root: format!("file://{}", root.display()),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        confidence_min: 50,
    };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let exported = export(&Oracle::of(&files), &options, &mut out)?;
    out.flush()?;
    eprintln!("{exported:?}");
    Ok(())
}

/// All files below `dir` with their bytes; `.git` and links are left out.
fn walk(root: &Path, dir: &str, out: &mut Vec<(String, Vec<u8>)>) -> Result<()> {
    for entry in fs::read_dir(root.join(dir))? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|n| *n != ".git") else {
            continue;
        };
        let path = indexd_model::path::join(dir, name);
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(root, &path, out)?;
        } else if kind.is_file() {
            out.push((path, fs::read(entry.path())?));
        }
    }
    Ok(())
}

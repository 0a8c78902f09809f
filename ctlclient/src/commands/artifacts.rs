//! `ctl export artifacts DIR`: the index and the packs that were written, as JSON lines in files.
//!
//! A file that would grow above a limit is cut into shards between lines, and `NAME.meta.json` beside
//! them lists these; `pieces/manifest.json` lists everything. Files take their places whole, the manifest
//! last. What an earlier export left and this one has not is removed, and said.

use super::print_own;
use crate::cli::Common;
use crate::failure::Failure;
use crate::output::json_of;
use crate::style::{bytes, count, number, safe_line};
use indexd_proto::Method;
use indexd_proto::error::ErrorCode;
use indexd_proto::export::ExportResult;
use indexd_proto::printed::Printed;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Where everything is listed.
const MANIFEST: &str = "pieces/manifest.json";

/// The shape of the manifest.
const SCHEMA: &str = "ArtifactManifest";

/// What an export wrote.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    index_signature: String,
    repo_id: String,
    max_shard_bytes: u64,
    pieces: Vec<Piece>,
}

/// One artifact: its files in order, beside each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Piece {
    name: String,
    /// `jsonl` or `sharded-jsonl`.
    format: String,
    parts: Vec<Part>,
    n_records: u64,
    bytes: u64,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    file: String,
    n_records: u64,
    bytes: u64,
}

/// Writes every artifact to a folder.
pub fn artifacts(common: &Common, dir: &Path, max_shard_bytes: u64) -> Result<(), Failure> {
    let before = earlier(dir)?;
    fs::create_dir_all(dir.join("pieces")).map_err(|e| cannot(dir, &e))?;
    let mut folder = Folder { dir, max_shard_bytes, open: None, pieces: Vec::new(), rest: String::new() };
    let answer = super::export::pieces(common, Method::ExportArtifacts, &mut |text| folder.text(text))?;
    let manifest = folder.finish(&answer)?;
    for file in before.difference(&manifest.files()) {
        fs::remove_file(dir.join(file)).map_err(|e| cannot(&dir.join(file), &e))?;
        if !common.quiet {
            eprintln!("ctl: removed {file} of an earlier export");
        }
    }
    print_own(common, SCHEMA, &manifest, |manifest, _| {
        let line = |p: &Piece| {
            let files = count(p.parts.len() as u64, "file", "files");
            format!("{}  {} records, {}, {files}\n", p.name, number(p.n_records), bytes(p.bytes))
        };
        let pieces: String = manifest.pieces.iter().map(line).collect();
        format!("{pieces}{}\n", safe_line(&dir.join(MANIFEST).display().to_string()))
    })
}

impl Manifest {
    /// Every file that it lists, and the lists of shards.
    fn files(&self) -> BTreeSet<String> {
        let listed = self.pieces.iter().flat_map(|p| {
            let meta = (p.parts.len() > 1).then(|| format!("{}.meta.json", p.name));
            p.parts.iter().map(|part| part.file.clone()).chain(meta)
        });
        listed.collect()
    }
}

/// The files of an earlier export into this folder.
///
/// # Errors
/// When the folder holds something else.
fn earlier(dir: &Path) -> Result<BTreeSet<String>, Failure> {
    if let Ok(text) = fs::read_to_string(dir.join(MANIFEST)) {
        let manifest: Result<Manifest, _> = serde_json::from_str(&text);
        if let Ok(manifest) = manifest {
            // A manifest that somebody changed must lead to no file outside of the folder.
            return Ok(manifest
                .files()
                .into_iter()
                .filter(|f| !f.contains(['/', '\\']) && f != "..")
                .collect());
        }
    }
    let is_used = fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some());
    if is_used {
        let message = format!("{} holds something other than an earlier export", dir.display());
        return Err(Failure::hinted(ErrorCode::CannotCreate, message, "name an empty or a new folder"));
    }
    Ok(BTreeSet::new())
}

fn cannot(path: &Path, e: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::CannotCreate, format!("{} cannot be written: {e}", path.display()))
}

/// The folder that is being filled.
struct Folder<'d> {
    dir: &'d Path,
    max_shard_bytes: u64,
    open: Option<Shards>,
    pieces: Vec<Piece>,
    /// The beginning of a line whose end has not come yet.
    rest: String,
}

impl Folder<'_> {
    /// Takes the next piece of the text, which need not end with a line.
    fn text(&mut self, text: &str) -> Result<(), Failure> {
        self.rest.push_str(text);
        let Some(end) = self.rest.rfind('\n') else { return Ok(()) };
        let rest = self.rest.split_off(end + 1);
        let lines = std::mem::replace(&mut self.rest, rest);
        lines.lines().try_for_each(|line| self.line(line))
    }

    fn line(&mut self, line: &str) -> Result<(), Failure> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Heading {
            artifact: String,
        }
        if line.starts_with("{\"artifact\":")
            && let Ok(heading) = serde_json::from_str::<Heading>(line)
        {
            self.close()?;
            let plain = heading.artifact.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            if !plain {
                return Err(Failure::new(ErrorCode::Parse, "an artifact has an unusable name"));
            }
            self.open = Some(Shards::new(self.dir, heading.artifact)?);
            return Ok(());
        }
        match &mut self.open {
            Some(open) => open.line(line, self.max_shard_bytes),
            None => Err(Failure::new(ErrorCode::Parse, "a record of no artifact")),
        }
    }

    fn close(&mut self) -> Result<(), Failure> {
        if let Some(open) = self.open.take() {
            self.pieces.push(open.finish(self.max_shard_bytes)?);
        }
        Ok(())
    }

    fn finish(mut self, answer: &ExportResult) -> Result<Manifest, Failure> {
        self.close()?;
        let manifest = Manifest {
            index_signature: answer.envelope.index_signature.clone(),
            repo_id: answer.envelope.repo_id.clone(),
            max_shard_bytes: self.max_shard_bytes,
            pieces: std::mem::take(&mut self.pieces),
        };
        let text = json_of(&Printed::new(SCHEMA, &manifest))?;
        super::write_file(&self.dir.join(MANIFEST), &(text + "\n"))?;
        Ok(manifest)
    }
}

/// One artifact that is being written: finished parts and the last one.
struct Shards {
    dir: PathBuf,
    name: String,
    parts: Vec<Part>,
    out: BufWriter<File>,
}

impl Shards {
    fn new(dir: &Path, name: String) -> Result<Self, Failure> {
        let out = create(&temporary(dir, &name, 0))?;
        let first = Part { file: String::new(), n_records: 0, bytes: 0 };
        Ok(Self { dir: dir.to_owned(), name, parts: vec![first], out })
    }

    /// Appends a record; one that would take a part above the limit begins the next part.
    fn line(&mut self, line: &str, max_bytes: u64) -> Result<(), Failure> {
        let n = line.len() as u64 + 1;
        let last = self.parts.len() - 1;
        if self.parts[last].n_records > 0 && self.parts[last].bytes + n > max_bytes {
            let next = create(&temporary(&self.dir, &self.name, last + 1))?;
            let mut full = std::mem::replace(&mut self.out, next);
            full.flush().map_err(|e| cannot(&self.dir, &e))?;
            self.parts.push(Part { file: String::new(), n_records: 0, bytes: 0 });
        }
        let written = self.out.write_all(line.as_bytes()).and_then(|()| self.out.write_all(b"\n"));
        written.map_err(|e| cannot(&self.dir, &e))?;
        if let Some(part) = self.parts.last_mut() {
            part.n_records += 1;
            part.bytes += n;
        }
        Ok(())
    }

    fn finish(mut self, max_shard_bytes: u64) -> Result<Piece, Failure> {
        self.out.flush().map_err(|e| cannot(&self.dir, &e))?;
        let is_sharded = self.parts.len() > 1;
        for (i, part) in self.parts.iter_mut().enumerate() {
            part.file = match is_sharded {
                true => format!("{}.part-{i:05}.jsonl", self.name),
                false => format!("{}.jsonl", self.name),
            };
            let to = self.dir.join(&part.file);
            fs::rename(temporary(&self.dir, &self.name, i), &to).map_err(|e| cannot(&to, &e))?;
        }
        let piece = Piece {
            format: if is_sharded { "sharded-jsonl" } else { "jsonl" }.to_owned(),
            n_records: self.parts.iter().map(|p| p.n_records).sum(),
            bytes: self.parts.iter().map(|p| p.bytes).sum(),
            parts: std::mem::take(&mut self.parts),
            name: std::mem::take(&mut self.name),
        };
        if is_sharded {
            let meta = serde_json::json!({
                "schema": "ArtifactShards", "schemaVersion": "1.0.0", "maxShardBytes": max_shard_bytes,
                "nRecords": piece.n_records, "bytes": piece.bytes, "parts": piece.parts,
            });
            super::write_file(&self.dir.join(format!("{}.meta.json", piece.name)), &format!("{meta}\n"))?;
        }
        Ok(piece)
    }
}

impl Drop for Shards {
    fn drop(&mut self) {
        // Left behind where the export failed; gone already where it did not.
        for i in 0..self.parts.len() {
            let _ = fs::remove_file(temporary(&self.dir, &self.name, i));
        }
    }
}

fn temporary(dir: &Path, name: &str, part: usize) -> PathBuf {
    dir.join(format!(".{name}.{part}.{}", std::process::id()))
}

fn create(path: &Path) -> Result<BufWriter<File>, Failure> {
    File::create(path).map(BufWriter::new).map_err(|e| cannot(path, &e))
}

//! `import.scip`: reading an index made by another tool and tying it to one snapshot. What comes out
//! counts by content, file by file, so the tree may change while this runs.

use crate::workspace::stored_overlays;
use indexd_model::limits::SCIP_BYTES_MAX;
use indexd_model::{FactsView, IndexView};
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_proto::import::{ImportParams, ImportResult};
use indexd_store::{Overlays, Snapshot};
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::path::Path;

/// Paths of documents that are named in an answer.
const SHOWN_MAX: usize = 20;

/// The file to import; `None` to take an import back.
///
/// # Errors
/// `POC_E_INVALID_REQUEST` unless exactly one of a path and `clear` is given.
pub fn asked(p: &ImportParams) -> Result<Option<&Path>, ErrorObject> {
    match (p.path.as_deref().map(Path::new), p.clear) {
        (Some(path), false) if !path.is_absolute() => Err(ErrorObject::invalid("the path is not absolute")),
        (path, is_clear) if path.is_none() == is_clear => Ok(path),
        _ => Err(ErrorObject::invalid("give either a path or clear")),
    }
}

/// What the SCIP index at `path` says about the files of a snapshot of the workspace at `root`.
///
/// # Errors
/// `POC_E_IMPORT_INVALID` when it cannot be read, is no index, or is about nothing here;
/// `POC_E_PERMISSION_DENIED`.
pub fn overlays_of(
    path: &Path,
    snapshot: &Snapshot,
    root: &Path,
) -> Result<(Overlays, ImportResult), ErrorObject> {
    let bytes = read(path).map_err(|e| {
        let code = match e.kind() {
            io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
            _ => ErrorCode::ImportInvalid,
        };
        ErrorObject::new(code, format!("{} cannot be read: {e}", path.display()))
            .with_hint("name the file that an indexer such as scip-python or scip-go has written")
    })?;
    let index = indexd_scip::read(&bytes)
        .map_err(|e| ErrorObject::new(ErrorCode::ImportInvalid, format!("{}: {e}", path.display())))?;
    drop(bytes);
    let prefix = indexd_scip::prefix_of(&index.project_root, &root.to_string_lossy()).unwrap_or_default();
    let read_file = |path: &str| {
        let file = snapshot.file_by_path(path)?;
        Some((snapshot.file(file).hash, snapshot.text(file)))
    };
    let imported = indexd_scip::resolve_import(&index, &prefix, &read_file, snapshot);
    if imported.overlays.is_empty() {
        return Err(about_nothing(&index, &imported));
    }
    let shown = |paths: &[String]| paths.iter().take(SHOWN_MAX).cloned().collect();
    let overlays = stored_overlays(&imported.overlays, &index.tool);
    let result = ImportResult {
        tool: index.tool,
        n_files: imported.overlays.len() as u64,
        n_targets: imported.n_targets,
        n_external: imported.n_external,
        n_dropped: imported.n_dropped,
        n_unknown_files: imported.unknown_files.len() as u64,
        unknown_files: shown(&imported.unknown_files),
        n_unfit_files: imported.unfit_files.len() as u64,
        unfit_files: shown(&imported.unfit_files),
        n_stale_files: imported.stale_files.len() as u64,
        stale_files: shown(&imported.stale_files),
        ..ImportResult::default()
    };
    Ok((overlays, result))
}

/// The error for an index that has no place in this tree: made elsewhere, or of another state.
fn about_nothing(index: &indexd_scip::ForeignIndex, imported: &indexd_scip::Imported) -> ErrorObject {
    let n = index.documents.len();
    let example = index.documents.first().map_or("", |d| &d.path);
    let root = if index.project_root.is_empty() { "no root" } else { &index.project_root };
    let (what, hint) = match (imported.stale_files.len(), imported.unfit_files.len()) {
        (0, 0) => (
            format!(
                "none of the {n} documents of the index ({example:?}, …) is a file of this workspace; it was made for {root}"
            ),
            "name the repository that the index was made for with --repo",
        ),
        (0, n_unfit) => (
            format!(
                "none of the {n} documents of the index is about a file with definitions: {n_unfit} are vendored copies or no source code"
            ),
            "make the index of source code that is not a copy of another project",
        ),
        (n_stale, _) => (
            format!(
                "the index is about other contents: {n_stale} of its {n} documents do not match their files"
            ),
            "make the index again: the files have changed since",
        ),
    };
    ErrorObject::new(ErrorCode::ImportInvalid, what).with_hint(hint)
}

/// Reads a regular file of at most the limit; does not wait for a pipe.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
    }
    let file = options.open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    let mut bytes = Vec::with_capacity((meta.len() as usize).min(SCIP_BYTES_MAX));
    // One byte more than the limit, for the error that names it.
    file.take(SCIP_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The URI of a folder (RFC 8089), for the root of an exported index.
pub fn uri_of(root: &Path) -> String {
    "file://".to_owned() + &crate::page::editor::encoded(root.as_os_str().as_encoded_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_of_folders_lead_back_to_them() {
        let root = "/home/me/größe 2%/x";
        let uri = uri_of(Path::new(root));
        assert_eq!(uri, "file:///home/me/gr%C3%B6%C3%9Fe%202%25/x");
        assert_eq!(indexd_scip::prefix_of(&uri, root).as_deref(), Some(""));
    }

    #[test]
    fn asks_for_one_thing() {
        let kind = |path: Option<&str>, clear| {
            let p = ImportParams { path: path.map(str::to_owned), clear, ..ImportParams::default() };
            match asked(&p) {
                Ok(None) => "clear",
                Ok(Some(_)) => "file",
                Err(e) if e.data.code == ErrorCode::InvalidRequest => "invalid",
                Err(_) => "?",
            }
        };
        assert_eq!([kind(Some("/x"), false), kind(None, true)], ["file", "clear"]);
        assert_eq!([kind(None, false), kind(Some("/x"), true), kind(Some("x"), false)], ["invalid"; 3]);
    }
}

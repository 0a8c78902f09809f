//! The files of a folder.

use anyhow::Result;
use indexd_model::RepoPath;
use std::fs;
use std::path::Path;

/// All files below `root` with their bytes, sorted by path; `.git` and links are left out.
pub fn files(root: &Path) -> Result<Vec<(RepoPath, Vec<u8>)>> {
    fn walk(root: &Path, dir: &str, out: &mut Vec<(RepoPath, Vec<u8>)>) -> Result<()> {
        for entry in fs::read_dir(root.join(dir))? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|n| *n != ".git") else { continue };
            let path = indexd_model::path::join(dir, name);
            let kind = entry.file_type()?;
            if kind.is_dir() {
                walk(root, &path, out)?;
            } else if kind.is_file() {
                out.push((RepoPath::new(&path)?, fs::read(entry.path())?));
            }
        }
        Ok(())
    }
    let mut out = Vec::new();
    walk(root, "", &mut out)?;
    out.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(out)
}

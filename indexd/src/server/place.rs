//! Paths as clients write them: from the folder they stand in, from the root, or absolute.
//!
//! The index knows a file by its path from the root alone. What a shell completes is another form of
//! it; the first that names a file of the index counts.

use indexd_model::FactsView;
use std::path::{Component, Path, PathBuf};

/// The path in the index of the file that `path` names: from `cwd` if that is given, else from
/// `root`. `None` when the index holds no such file.
pub fn of_file(view: &dyn FactsView, root: &Path, cwd: Option<&Path>, path: &str) -> Option<String> {
    let mut bases = cwd.into_iter().chain([root]);
    bases.find_map(|base| {
        let at = base.join(path);
        // A link on the way is looked through only when the words alone lead nowhere.
        let known = |at: &Path| below(root, at).filter(|rel| view.file_by_path(rel).is_some());
        known(&at).or_else(|| known(&std::fs::canonicalize(&at).ok()?))
    })
}

/// The path from `root` that `path` means, whether anything is there or not: from `cwd` if that is
/// given, else from `root`; one that exists counts first. `None` for a path outside. Links on the way
/// into the root are looked through, those inside it are not.
pub fn of_path(root: &Path, cwd: Option<&Path>, path: &str) -> Option<String> {
    let inside = |base: &Path| {
        let at = base.join(path);
        below(root, &at).or_else(|| {
            let folder = std::fs::canonicalize(at.parent()?).ok()?;
            below(root, &folder.join(at.file_name()?))
        })
    };
    let ways: Vec<String> = cwd.into_iter().chain([root]).filter_map(inside).collect();
    ways.iter().find(|rel| root.join(rel).symlink_metadata().is_ok()).or(ways.first()).cloned()
}

/// A name, or a place `path` or `path:line` with its path as in the index.
pub fn of_symbol(view: &dyn FactsView, root: &Path, cwd: Option<&Path>, name: &str) -> String {
    let name = name.trim();
    let whole = || of_file(view, root, cwd, name);
    let at_line = || {
        let (path, line) = name.rsplit_once(':')?;
        line.parse::<u32>().ok()?;
        Some(format!("{}:{line}", of_file(view, root, cwd, path)?))
    };
    whole().or_else(at_line).unwrap_or_else(|| name.to_owned())
}

/// What lies between `root` and `path`, without `.` and `..`, with `/` between names.
fn below(root: &Path, path: &Path) -> Option<String> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    let names: Option<Vec<&str>> =
        plain.strip_prefix(root).ok()?.iter().map(std::ffi::OsStr::to_str).collect();
    names.map(|n| n.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_exists_counts_before_one_that_does_not() {
        let tmp = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(tmp.path()).unwrap();
        for path in ["sub/both", "both", "above"] {
            std::fs::create_dir_all(root.join(path)).unwrap();
        }
        for (path, expect) in [
            ("both", Some("sub/both")),
            ("above", Some("above")),
            ("none", Some("sub/none")),
            ("../none", Some("none")),
            ("../../none", None),
        ] {
            assert_eq!(of_path(&root, Some(&root.join("sub")), path).as_deref(), expect, "{path}");
        }
    }

    #[test]
    fn paths_are_plain() {
        for (path, expect) in [
            ("/r/a.py", Some("a.py")),
            ("/r/x/./y/../a.py", Some("x/a.py")),
            ("/r/../r/a.py", Some("a.py")),
            ("/r", Some("")),
            ("/r/../a.py", None),
            ("/ra/a.py", None),
            ("/../../r/a.py", Some("a.py")),
        ] {
            assert_eq!(below(Path::new("/r"), Path::new(path)).as_deref(), expect, "{path}");
        }
    }
}

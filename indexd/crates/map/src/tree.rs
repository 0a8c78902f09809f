//! The folders of a repository.

use crate::DEPTH_MAX;
use indexd_api::map::Folder;
use std::collections::BTreeMap;

/// The folders of these paths down to [`DEPTH_MAX`], in path order, the root first.
pub fn folders<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<Folder> {
    let mut counts: BTreeMap<Vec<&str>, u32> = BTreeMap::new();
    for path in paths {
        let parts: Vec<&str> = path.split('/').collect();
        for depth in 0..parts.len().min(DEPTH_MAX + 1) {
            *counts.entry(parts[..depth].to_vec()).or_default() += 1;
        }
    }
    let folder =
        |(parts, files): (Vec<&str>, u32)| Folder { path: parts.join("/"), depth: parts.len(), files };
    counts.into_iter().map(folder).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_end_at_the_third_level() {
        let found = folders(["a/b/c/d/e.go", "a/b.go", "a-b/x.go", "top.go"].into_iter());
        let seen: Vec<_> = found.iter().map(|f| (f.path.as_str(), f.depth, f.files)).collect();
        assert_eq!(seen, [("", 0, 4), ("a", 1, 2), ("a/b", 2, 1), ("a/b/c", 3, 1), ("a-b", 1, 1)]);
    }

    #[test]
    fn an_empty_tree_has_no_folder() {
        assert_eq!(folders([].into_iter()), []);
    }
}

//! Projects of one tree: of definitions in several projects the nearest is chosen.

use crate::recorder::Recorder;
use indexd_model::path::{ancestors, dir_of, join, n_common};

/// Files that begin a project.
const MANIFESTS: [&str; 5] = ["pom.xml", "build.gradle", "build.gradle.kts", "build.sbt", "composer.json"];

/// Which of several files the file at `from` means: those of the project it belongs to, or of the innermost one
/// around it that has any. Without manifests those of the nearest folder, where they hold types.
pub(crate) fn nearest(view: &Recorder, from: &str, paths: &[&str], are_types: bool) -> Vec<bool> {
    let dirs: Vec<Option<String>> = paths.iter().map(|p| project_dir(view, p)).collect();
    let mut own = project_dir(view, from);
    while let Some(dir) = own {
        let kept: Vec<bool> = dirs.iter().map(|d| d.as_deref() == Some(&*dir)).collect();
        if kept.contains(&true) {
            return kept;
        }
        own = (!dir.is_empty()).then(|| project_dir(view, &dir)).flatten();
    }
    if !are_types {
        return vec![true; paths.len()];
    }
    let most = paths.iter().map(|p| n_common(p, from)).max();
    paths.iter().map(|p| Some(n_common(p, from)) == most).collect()
}

/// The folder of the nearest manifest above a path.
fn project_dir(view: &Recorder, path: &str) -> Option<String> {
    let has = |dir: &&str| MANIFESTS.iter().any(|m| view.file(&join(dir, m)).is_some());
    ancestors(dir_of(path)).find(has).map(str::to_owned)
}

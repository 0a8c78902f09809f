//! Markdown documents of a workspace, and the folder in which they are cached.
//!
//! A document is cached under `.rauf/cache/context/` in the folder of its index. The name of the entry
//! is a digest of HEAD, the version and the settings; beside the document lie what must still hold for
//! it to be used again: the signature of the index, and digests of the manifests of dependencies and of
//! the context settings of the repository. Outside of git nothing is cached.

use indexd_model::IndexView;
use indexd_model::path::file_name_of;
use indexd_proto::documents::DocumentCache;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Where documents lie below the folder of an index.
const FOLDER: &str = ".rauf/cache/context";
/// Entries kept of one workspace.
const ENTRIES_MAX: usize = 100;
/// Manifests whose change makes a document out of date.
const DEPENDENCIES: &str = "Cargo.lock Cargo.toml Gemfile Pipfile build.gradle go.mod go.sum go.work \
    package-lock.json package.json pom.xml pyproject.toml requirements.txt setup.py";
/// Files of a repository that hold settings of the context builder.
const SETTINGS: [&str; 2] = ["rauf.yaml", ".agent/config.yml"];

/// What must hold for a cached document to be used again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Validators {
    /// The state of the index.
    pub index_signature: String,
    /// Digest of the manifests of dependencies.
    pub dependencies: String,
    /// Digest of the settings of the repository.
    pub settings: String,
}

/// A place for one document; `None` in `key` outside of git.
pub struct Entry {
    file: Option<PathBuf>,
    key: String,
    validators: Validators,
}

#[derive(Serialize, Deserialize)]
struct Stored<T> {
    validators: Validators,
    document: T,
}

impl Entry {
    /// The place of a document called `name` for one state of the index. `index` is the folder of the
    /// index, `settings` the resolved settings of the daemon.
    pub fn new(view: &dyn IndexView, index: &Path, name: &str, version: &str, settings: &str) -> Self {
        let (dependencies, own) = digests(view);
        let validators =
            Validators { index_signature: view.signature(), dependencies, settings: own.clone() };
        let head = view.head();
        if head.is_empty() || head == "none" {
            return Self { file: None, key: String::new(), validators };
        }
        let config_hash = hex(&[settings, &own]);
        let key = hex(&[&format!("{head}{version}{config_hash}")]);
        let file = index.join(FOLDER).join(&key).join(name);
        Self { file: Some(file), key: format!("sha256:{key}"), validators }
    }

    /// Whether documents of this state are cached at all.
    pub fn is_cached(&self) -> bool {
        self.file.is_some()
    }

    /// What is said of the cache in an answer.
    pub fn facts(&self, hit: bool) -> DocumentCache {
        DocumentCache { hit, key: self.key.clone() }
    }

    /// The cached document, if all that it depends on is as it was.
    pub fn read<T: for<'a> Deserialize<'a>>(&self) -> Option<T> {
        let bytes = std::fs::read(self.file.as_ref()?.with_extension("json")).ok()?;
        let stored: Stored<T> = serde_json::from_slice(&bytes).ok()?;
        (stored.validators == self.validators).then_some(stored.document)
    }

    /// Keeps a document, as data and as its text. A folder that cannot be written costs the cache alone:
    /// the warning says so.
    pub fn write<T: Serialize>(&self, document: &T, markdown: &str) -> Option<String> {
        let file = self.file.as_ref()?;
        let write = || -> std::io::Result<()> {
            let folder = file.parent().unwrap_or(file);
            std::fs::create_dir_all(folder)?;
            let stored = Stored { validators: self.validators.clone(), document };
            let json = serde_json::to_vec(&stored).map_err(std::io::Error::other)?;
            whole(&file.with_extension("md"), markdown.as_bytes())?;
            whole(&file.with_extension("json"), &json)?;
            make_room(folder.parent().unwrap_or(folder))
        };
        write().err().map(|e| format!("the document is not cached: {e}"))
    }
}

/// Readers see a whole file or none.
fn whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let temporary = path.with_file_name(format!("{}.{name}.tmp", std::process::id()));
    std::fs::write(&temporary, bytes)?;
    std::fs::rename(&temporary, path)
}

/// Deletes the entries that were written first until few enough are left.
fn make_room(dir: &Path) -> std::io::Result<()> {
    let mut files = Vec::new();
    for key in std::fs::read_dir(dir)?.flatten() {
        for file in std::fs::read_dir(key.path()).into_iter().flatten().flatten() {
            if let Ok(written) = file.metadata().and_then(|m| m.modified()) {
                files.push((written, file.path()));
            }
        }
    }
    files.sort();
    // Each document is two files.
    let over = files.len().saturating_sub(2 * ENTRIES_MAX);
    for (_, path) in &files[..over] {
        std::fs::remove_file(path)?;
        // Only an empty folder goes.
        let _ = path.parent().map(std::fs::remove_dir);
    }
    Ok(())
}

/// Digests of the manifests of dependencies and of the settings of the repository, as they are on disk.
fn digests(view: &dyn IndexView) -> (String, String) {
    let (mut dependencies, mut settings) = (Sha256::new(), Sha256::new());
    for file in view.files() {
        let path = view.path(file);
        let is_dependency = indexd_model::lists::holds(DEPENDENCIES, file_name_of(&path));
        let is_setting = SETTINGS.contains(&&*path);
        for (is, digest) in [(is_dependency, &mut dependencies), (is_setting, &mut settings)] {
            if is {
                digest.update(path.as_bytes());
                digest.update(view.file(file).hash.0);
            }
        }
    }
    let text = |d: Sha256| d.finalize().iter().map(|b| format!("{b:02x}")).collect::<String>();
    (text(dependencies), text(settings))
}

/// The digest of a text, in hexadecimal digits.
pub fn hex(parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    parts.iter().for_each(|p| digest.update(p.as_bytes()));
    digest.finalize().iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(dir: &Path, signature: &str, dependencies: &str) -> Entry {
        let validators = Validators {
            index_signature: signature.to_owned(),
            dependencies: dependencies.to_owned(),
            settings: String::new(),
        };
        Entry { file: Some(dir.join("k").join("repo_map")), key: "sha256:k".to_owned(), validators }
    }

    #[test]
    fn a_document_is_used_again_as_long_as_all_validators_hold() {
        let dir = tempfile::tempdir().unwrap();
        let first = entry(dir.path(), "a", "b");
        assert_eq!(first.read::<String>(), None);
        assert_eq!(first.write(&"text", "# text\n"), None);
        assert_eq!(std::fs::read_to_string(dir.path().join("k/repo_map.md")).unwrap(), "# text\n");
        assert_eq!(first.read::<String>().as_deref(), Some("text"));
        assert_eq!(entry(dir.path(), "other", "b").read::<String>(), None);
        assert_eq!(entry(dir.path(), "a", "other").read::<String>(), None);
    }

    #[test]
    fn outside_of_git_nothing_is_cached() {
        let validators = entry(Path::new("x"), "", "").validators;
        let none = Entry { file: None, key: String::new(), validators };
        assert_eq!((none.write(&"text", ""), none.read::<String>()), (None, None));
        assert_eq!(none.facts(false), DocumentCache::default());
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_a_warning() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("k"), "a file").unwrap();
        assert!(entry(dir.path(), "a", "b").write(&1, "").is_some_and(|w| w.contains("not cached")));
    }

    #[test]
    fn the_first_entries_make_room() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("k")).unwrap();
        for i in 0..2 * ENTRIES_MAX + 3 {
            std::fs::write(dir.path().join("k").join(i.to_string()), "").unwrap();
        }
        make_room(dir.path()).unwrap();
        assert_eq!(std::fs::read_dir(dir.path().join("k")).unwrap().count(), 2 * ENTRIES_MAX);
    }
}

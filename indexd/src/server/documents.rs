//! The folder in which Markdown documents of a workspace are cached.
//!
//! A document is cached under `.rauf/cache/context/` in the folder of its index. Its name begins with a digest
//! of HEAD, the version and the settings, those of the repository included; beside the document is the
//! signature of the index, which must still hold for it to be used again. Outside of git nothing is cached.

use super::records::{make_room, write_whole};
use indexd_model::{IndexView, ids};
use indexd_proto::documents::DocumentCache;
use indexd_proto::error::ErrorObject;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Where documents lie below the folder of an index.
const FOLDER: &str = ".rauf/cache/context";
/// Entries kept of one workspace.
const ENTRIES_MAX: usize = 100;
/// Files of a repository that hold settings of the context builder.
const SETTINGS: [&str; 2] = ["rauf.yaml", ".agent/config.yml"];

/// A place for one document; without a file outside of git.
pub struct Entry {
    file: Option<PathBuf>,
    key: String,
    signature: String,
}

#[derive(Serialize, Deserialize)]
struct Stored<T> {
    signature: String,
    document: T,
}

impl Entry {
    /// The place of a document called `name` for one state of the index. `index` is the folder of the
    /// index, `settings` the resolved settings of the daemon.
    pub fn new(view: &dyn IndexView, index: &Path, name: &str, version: &str, settings: &str) -> Self {
        let (signature, head) = (view.signature(), view.head());
        if head.is_empty() || head == "none" {
            return Self { file: None, key: String::new(), signature };
        }
        let own = SETTINGS.map(|path| view.file_by_path(path).map(|f| format!("{:?}", view.file(f).hash)));
        let key = hex(&[&head, version, &hex(&[settings, &format!("{own:?}")])]);
        let file = index.join(FOLDER).join(format!("{key}-{name}"));
        Self { file: Some(file), key: format!("sha256:{key}"), signature }
    }

    /// Returns the cached document, or the one of `make`, which is kept; with the facts about the cache, and
    /// warnings for its reader.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn document<T: Serialize + for<'a> Deserialize<'a>>(
        &self,
        (what, is_new): (&str, bool),
        text: fn(&T) -> &str,
        make: impl FnOnce() -> Result<T, ErrorObject>,
    ) -> Result<(T, DocumentCache, Vec<String>), ErrorObject> {
        let uncached = || format!("{what} is not cached: there is no commit of git to name it by");
        let mut warnings: Vec<String> = self.file.is_none().then(uncached).into_iter().collect();
        let cached = if is_new { None } else { self.read() };
        let cache = DocumentCache { hit: cached.is_some(), key: self.key.clone() };
        let document = match cached {
            Some(document) => document,
            None => {
                let made = make()?;
                warnings.extend(self.write(&made, text(&made)));
                made
            }
        };
        Ok((document, cache, warnings))
    }

    /// The cached document, if the index is as it was.
    fn read<T: for<'a> Deserialize<'a>>(&self) -> Option<T> {
        let bytes = std::fs::read(self.file.as_ref()?.with_extension("json")).ok()?;
        let stored: Stored<T> = serde_json::from_slice(&bytes).ok()?;
        (stored.signature == self.signature).then_some(stored.document)
    }

    /// Keeps a document, as data and as its text. A folder that cannot be written costs the cache alone:
    /// the warning says so.
    fn write<T: Serialize>(&self, document: &T, markdown: &str) -> Option<String> {
        let file = self.file.as_ref()?;
        let write = || -> std::io::Result<()> {
            let folder = file.parent().unwrap_or(file);
            std::fs::create_dir_all(folder)?;
            // Each document is two files.
            make_room(folder, 2 * ENTRIES_MAX - 2)?;
            let stored = Stored { signature: self.signature.clone(), document };
            write_whole(&file.with_extension("md"), markdown.as_bytes())?;
            write_whole(&file.with_extension("json"), &serde_json::to_vec(&stored)?)
        };
        write().err().map(|e| format!("the document is not cached: {e}"))
    }
}

/// The digest of a text, in hexadecimal digits.
pub fn hex(parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    parts.iter().for_each(|p| digest.update(p.as_bytes()));
    ids::hex(&digest.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(dir: &Path, signature: &str) -> Entry {
        let file = Some(dir.join("k").join("k-repo_map"));
        Entry { file, key: "sha256:k".to_owned(), signature: signature.to_owned() }
    }

    #[test]
    fn a_document_is_used_again_as_long_as_its_state_holds() {
        let dir = tempfile::tempdir().unwrap();
        let first = entry(dir.path(), "a");
        assert_eq!(first.read::<String>(), None);
        assert_eq!(first.write(&"text", "# text\n"), None);
        assert_eq!(std::fs::read_to_string(dir.path().join("k/k-repo_map.md")).unwrap(), "# text\n");
        assert_eq!(first.read::<String>().as_deref(), Some("text"));
        assert_eq!(entry(dir.path(), "other").read::<String>(), None);
    }

    #[test]
    fn outside_of_git_nothing_is_cached() {
        let none = Entry { file: None, key: String::new(), signature: String::new() };
        assert_eq!((none.write(&"text", ""), none.read::<String>()), (None, None));
        let (_, cache, warnings) = none.document(("it", false), |_| "", || Ok(1)).unwrap();
        assert_eq!((cache, warnings.len()), (DocumentCache::default(), 1));
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_a_warning() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("k"), "a file").unwrap();
        assert!(entry(dir.path(), "a").write(&1, "").is_some_and(|w| w.contains("not cached")));
    }

    #[test]
    fn the_first_entries_make_room() {
        let dir = tempfile::tempdir().unwrap();
        for i in 0..ENTRIES_MAX + 3 {
            let file = Some(dir.path().join(format!("k-{i}")));
            let entry = Entry { file, key: String::new(), signature: String::new() };
            assert_eq!(entry.write(&i, "x"), None);
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2 * ENTRIES_MAX);
    }
}

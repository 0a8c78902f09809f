//! The files of an index state, with the data that every part of the map needs.

use indexd_model::{Facts, FileDoc, FileRoles, IndexView, Language};
use std::sync::Arc;

/// A file.
pub struct Source {
    /// Its handle in this state.
    pub doc: FileDoc,
    /// Relative path.
    pub path: Arc<str>,
    /// Language.
    pub language: Language,
    /// Roles.
    pub roles: FileRoles,
    /// Lines of text.
    pub n_lines: u32,
}

impl Source {
    /// The file of a handle.
    pub fn of(view: &dyn IndexView, doc: FileDoc) -> Self {
        let file = view.file(doc);
        Self { doc, path: file.path, language: file.language, roles: file.roles, n_lines: file.n_lines }
    }

    /// The stored text.
    pub fn text(&self, view: &dyn IndexView) -> Arc<str> {
        view.text(self.doc)
    }

    /// The package or module that it declares.
    pub fn package(&self, view: &dyn IndexView) -> Option<String> {
        let interface = view.interface(self.doc);
        Some(Facts::outside(&interface).str(interface.package?).to_owned())
    }

    /// Returns true for a file with one of these roles.
    pub fn is_any(&self, roles: &[FileRoles]) -> bool {
        roles.iter().any(|role| self.roles.has(*role))
    }

    /// Returns true for code that the repository itself wrote: not a copy of another one, not generated.
    pub fn is_own_code(&self) -> bool {
        self.language.is_code() && !self.is_any(&[FileRoles::VENDORED, FileRoles::GENERATED])
    }

    /// Returns true for code of the product itself: no test, no example, no document.
    pub fn is_product_code(&self) -> bool {
        self.is_own_code() && !self.is_any(&[FileRoles::TEST, FileRoles::EXAMPLE, FileRoles::DOC])
    }
}

/// All files, ordered by path.
pub fn list(view: &dyn IndexView) -> Vec<Source> {
    view.files().into_iter().map(|doc| Source::of(view, doc)).collect()
}

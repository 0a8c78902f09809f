//! Names under which files find each other while linking.
//!
//! A file *provides* entries ([`crate::Entry`]); linking another file *looks up* keys. When the
//! digest behind a provided key changes, appears or disappears, exactly the files that looked up
//! that key are linked again. Keys are hashes, so a collision can only cause needless relinking or
//! one more candidate file; a reader by key must check the name it found.

/// 64-bit hash (XXH3) of a kind, a scope and a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, bitcode::Encode, bitcode::Decode)]
pub struct Key(pub u64);

/// Language of the [`Key::any`] of a name that a module of TypeScript or JavaScript exports.
pub const ECMA_EXPORTS: &str = "ecma-export";
/// Language of the [`Key::any`] of a name that a file of TypeScript declares for all files.
pub const ECMA_GLOBAL: &str = "ecma-global";

impl Key {
    fn new(kind: u8, scope: &str, name: &str) -> Self {
        let mut h = xxhash_rust::xxh3::Xxh3Default::new();
        h.update(&[kind]);
        h.update(scope.as_bytes());
        h.update(&[0xff]);
        h.update(name.as_bytes());
        Self(h.digest())
    }

    /// A named member of a scope. Scopes by language: Go `go:<dir>` (`go:<dir>_test` for the
    /// external test package) and `go:<dir>#<Type>` for fields and methods; Python `py:<path>` for
    /// module level and `py:<path>#<Class>` (`Outer.Inner` when nested) for members; other languages
    /// `names:<path>` with qualified names, `jvm:<package>`, `php:<namespace>`, and `npm` and `cargo` for
    /// packages.
    pub fn member(scope: &str, name: &str) -> Self {
        Self::new(1, scope, name)
    }

    /// The existence of a file at exactly this path.
    pub fn file(path: &str) -> Self {
        Self::new(2, path, "")
    }

    /// The files directly in a folder that belong to one language (`go`, `py`, ...).
    pub fn dir(language: &str, dir: &str) -> Self {
        Self::new(3, language, dir)
    }

    /// Files whose module path ends in this component: for Python the stem, or the folder's name
    /// for `__init__`; for Go the last component of the folder. Python files are also found under
    /// the last two, joined by `/`: thousands of modules may be called `utils`.
    pub fn stem(language: &str, stem: &str) -> Self {
        Self::new(4, language, stem)
    }

    /// A bare member name in any scope: `method` names for interface satisfaction and name
    /// fallbacks.
    pub fn any(language: &str, name: &str) -> Self {
        Self::new(5, language, name)
    }

    /// Everything of one scope together, for example all members of a class or of a package.
    pub fn scope(scope: &str) -> Self {
        Self::new(6, scope, "")
    }
}

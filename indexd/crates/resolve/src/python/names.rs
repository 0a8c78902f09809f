//! Names the language itself provides, so that they are never looked for in the tree.

use rustc_hash::FxHashSet;
use std::sync::LazyLock;

/// Top-level modules of the standard library of Python 3.11, and those of Python 2 and earlier releases of 3
/// that are gone. Source: `sys.stdlib_module_names`, the porting guide.
static STDLIB: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| include_str!("modules.txt").split_ascii_whitespace().collect());

/// Builtin names of Python 3.15 and 2.7 and the names every module has. Source: `dir(builtins)`.
static BUILTINS: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| include_str!("builtins.txt").split_ascii_whitespace().collect());

/// Returns true if the first component of a module path names a module of the standard library.
pub(super) fn is_stdlib(module: &str) -> bool {
    let top = module.split('.').next().unwrap_or("");
    STDLIB.contains(top)
}

/// Returns true if a free name that no module defines is a builtin.
pub(super) fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_tables_are_known() {
        assert!(is_stdlib("os.path") && is_stdlib("typing") && !is_stdlib("yaml"));
        assert!(is_builtin("len") && is_builtin("unicode") && !is_builtin("np"));
    }
}

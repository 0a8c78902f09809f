//! Globs of the configuration that set the roles of paths.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use indexd_model::FileRoles;
use serde::{Deserialize, Serialize};

/// Globs that set the roles of paths. The first list with a matching one decides. `*` matches any characters
/// within a name, `?` one character, `**` any number of folders. A glob without a slash matches a name in any
/// folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RolePatterns {
    /// Tests.
    pub tests: Vec<String>,
    /// Configuration and build files.
    pub config: Vec<String>,
    /// Documents.
    pub docs: Vec<String>,
}

/// Maximum bytes of all patterns. They come from repositories, and each pack compiles them.
const PATTERNS_BYTES_MAX: usize = 16 << 10;

impl RolePatterns {
    /// True if no pattern is set.
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty() && self.config.is_empty() && self.docs.is_empty()
    }

    /// Compiles the lists.
    ///
    /// # Errors
    /// The first pattern that is not a glob, with the reason; more than 16 KiB of patterns.
    pub fn compile(&self) -> Result<RoleGlobs, String> {
        let all = [&self.tests, &self.config, &self.docs];
        if all.into_iter().flatten().map(String::len).sum::<usize>() > PATTERNS_BYTES_MAX {
            return Err("the patterns are longer than 16 KiB together".to_owned());
        }
        let set = |patterns: &[String]| {
            let mut set = GlobSetBuilder::new();
            for pattern in patterns {
                let whole = if pattern.contains('/') { pattern.clone() } else { format!("**/{pattern}") };
                set.add(GlobBuilder::new(&whole).literal_separator(true).build()?);
            }
            set.build()
        };
        let compiled = || {
            Ok::<_, globset::Error>(RoleGlobs([
                (set(&self.tests)?, FileRoles::TEST),
                (set(&self.config)?, FileRoles::CONFIG),
                (set(&self.docs)?, FileRoles::DOC),
            ]))
        };
        compiled().map_err(|e| e.to_string())
    }
}

/// Compiled [`RolePatterns`].
pub struct RoleGlobs([(GlobSet, FileRoles); 3]);

impl RoleGlobs {
    /// The role marks of a path: the role of the first matching list, else that of `known`.
    pub fn of(&self, path: &str, known: FileRoles) -> FileRoles {
        let found = self.0.iter().find(|(globs, _)| globs.is_match(path));
        let of_role = FileRoles::TEST.0 | FileRoles::CONFIG.0 | FileRoles::DOC.0 | FileRoles::MANIFEST.0;
        found.map_or(known, |(_, role)| FileRoles(known.0 & !of_role).with(*role))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(tests: &str, config: &str, docs: &str) -> RoleGlobs {
        let list = |p: &str| vec![p.to_owned()];
        RolePatterns { tests: list(tests), config: list(config), docs: list(docs) }.compile().unwrap()
    }

    #[test]
    fn patterns_match_names_and_paths() {
        for (pattern, path, expect) in [
            ("*_check.py", "a/b/self_check.py", true),
            ("*_check.py", "a/b/self_check.pyc", false),
            ("checks/**", "checks/a/b.go", true),
            ("checks/**", "a/checks/b.go", false),
            ("**/checks/*.go", "checks/b.go", true),
            ("**/checks/*.go", "a/checks/b.go", true),
            ("**/checks/*.go", "a/checks/c/b.go", false),
            ("a/?.go", "a/b.go", true),
            ("a/?.go", "a/bc.go", false),
            ("*a*b*", "xaxxbx", true),
            ("*a*b*", "xbxa", false),
        ] {
            let is_test = globs(pattern, "-", "-").of(path, FileRoles::default()).has(FileRoles::TEST);
            assert_eq!(is_test, expect, "{pattern} {path}");
        }
    }

    #[test]
    fn the_first_list_decides() {
        let rules = globs("*.t", "conf/**", "conf/*.t");
        assert_eq!(rules.of("conf/a.t", FileRoles::DOC), FileRoles::TEST);
        assert_eq!(rules.of("conf/a.x", FileRoles::TEST), FileRoles::CONFIG);
        assert_eq!(rules.of("a.x", FileRoles::VENDORED), FileRoles::VENDORED);
        let broken = RolePatterns { docs: vec!["a[".to_owned()], ..RolePatterns::default() };
        assert!(broken.compile().is_err_and(|says| says.contains("a[")));
        let long = |n| RolePatterns { docs: vec!["*a".repeat(64); n], ..RolePatterns::default() };
        assert!(long(128).compile().is_ok() && long(129).compile().is_err());
    }
}

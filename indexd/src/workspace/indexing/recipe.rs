//! The recipe of an index: everything except the tree that decides its content.
//!
//! Each crate whose output is stored has a version number, which its golden test ties to that output. An
//! index of another recipe is rebuilt, so no row of an older program survives an upgrade. The recipe includes
//! the format of the store, so that one text covers everything.

use super::stages::Parts;
use crate::config::Config;

/// The recipe of indexes that this program builds with these settings.
pub fn recipe(redacts: bool, history_commits_max: u64) -> String {
    let versions = [
        ("lang", indexd_lang::EXTRACTOR_VERSION),
        ("text", indexd_text::TERMS_VERSION),
        ("resolve", indexd_resolve::LINKER_VERSION),
        ("history", indexd_history::HISTORY_VERSION),
        ("secrets", if redacts { indexd_secrets::RULES_VERSION } else { 0 }),
        ("store", indexd_store::FORMAT),
        ("commits", history_commits_max.min(u64::from(u32::MAX)) as u32),
    ];
    versions.iter().map(|(name, version)| format!("{name} {version}\n")).collect()
}

/// BLAKE3, in hexadecimal, of the recipe of a workspace with these settings.
pub fn hash_of(config: &Config) -> String {
    let redacts = Parts::default().redacts && config.index_redact_secrets;
    blake3::hash(recipe(redacts, config.history_commits_max).as_bytes()).to_hex().to_string()
}

/// The part of it that facts of one file depend on, besides whether secrets are taken out.
pub fn of_facts() -> String {
    let (lang, secrets) = (indexd_lang::EXTRACTOR_VERSION, indexd_secrets::RULES_VERSION);
    format!("lang {lang}\nsecrets {secrets}\nstore {}\n", indexd_store::FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_shape_an_index_are_in_the_recipe() {
        let base = recipe(true, 2_000);
        assert_ne!(base, recipe(false, 2_000));
        assert_ne!(base, recipe(true, 0));
        for name in ["lang", "text", "resolve", "history", "secrets", "store"] {
            assert!(base.lines().any(|l| l.starts_with(name)), "{name}");
        }
    }
}

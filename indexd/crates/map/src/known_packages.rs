//! Known packages outside a repository: which of their functions touch the file system, the network or other
//! processes.
//!
//! The lists name functions with effects; constants, types and helpers that only compute are left out. A
//! star means every function of the module.

pub use indexd_api::map::Touches;
use indexd_model::Language;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use Touches::{FileSystem, Network, Process};

/// The part of the world that functions touch, their module, and their names. A name with a dot before it is that
/// of a member of values. For languages whose uses are not resolved, the module is `written`, and the rest is text
/// of the source.
type Row = (Touches, &'static str, &'static str);

/// The rows of `known.txt` by language.
static KNOWN: LazyLock<BTreeMap<&'static str, Vec<Row>>> = LazyLock::new(|| {
    let mut out = BTreeMap::new();
    for section in include_str!("known.txt").split("\n[").skip(1) {
        let (languages, rows) = section.split_once("]\n").expect("a heading of the table");
        let rows = rows.lines().filter(|line| !line.is_empty());
        let rows: Vec<Row> = rows.map(|line| row(line).expect("a row of the table")).collect();
        out.extend(languages.split(' ').map(|language| (language, rows.clone())));
    }
    out
});

fn row(line: &'static str) -> Option<Row> {
    let mut parts = line.splitn(3, ' ');
    let touches = match parts.next()? {
        "files" => FileSystem,
        "network" => Network,
        "process" => Process,
        _ => return None,
    };
    Some((touches, parts.next()?, parts.next()?))
}

fn table(language: Language) -> &'static [Row] {
    KNOWN.get(language.id()).map_or(&[], Vec::as_slice)
}

/// The effect of the function with this full name. Where a whole module is listed, only calls and base
/// classes count: its constants and errors touch nothing.
pub fn touched_by(language: Language, full: &str, is_call: bool) -> Option<Touches> {
    let (module, name) = full.rsplit_once('.').unwrap_or((full, ""));
    let found = |(_, m, names): &&Row| {
        *m == module && (names.split(' ').any(|n| n == name) || (*names == "*" && is_call))
    };
    let own = table(language).iter().find(found);
    // A default export of a script is called by the name of its module.
    let whole = || table(language).iter().find(|(_, m, names)| *m == full && *names == "*" && is_call);
    own.or_else(whole).map(|(touches, ..)| *touches)
}

/// The effect of the member of this name, in a file that imports these modules.
pub fn touched_by_member(language: Language, name: &str, imported: &BTreeSet<String>) -> Option<Touches> {
    let found = |(_, module, names): &&Row| {
        names.split(' ').any(|n| n.strip_prefix('.') == Some(name)) && imported.contains(*module)
    };
    table(language)
        .iter()
        .filter(|(.., names)| names.starts_with('.'))
        .find(found)
        .map(|(touches, ..)| *touches)
}

/// Text of the source that touches the outside world.
pub fn written(language: Language) -> impl Iterator<Item = (Touches, &'static str)> {
    let rows = table(language).iter().filter(|(_, module, _)| *module == "written");
    rows.map(|(touches, _, text)| (*touches, *text))
}

/// Every known function of Go's standard library, including those that read settings.
pub fn go_functions() -> impl Iterator<Item = (&'static str, &'static str)> {
    const SETTINGS: [(&str, &str); 2] = [
        ("os", "Getenv LookupEnv"),
        (
            "flag",
            "Bool BoolVar Int IntVar Int64 Int64Var Uint UintVar String StringVar Duration DurationVar Float64 Float64Var Func BoolFunc Var TextVar",
        ),
    ];
    let touching = table(Language::Go).iter().map(|(_, module, names)| (*module, *names));
    let is_own = |(module, names): &(&str, &str)| !module.contains('.') && !names.starts_with(['*', '.']);
    let all = touching.chain(SETTINGS).filter(is_own);
    all.flat_map(|(module, names)| names.split(' ').map(move |name| (module, name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_is_read_to_its_end() {
        let tables = [Language::Go, Language::Python, Language::JavaScript, Language::Rust].map(table);
        assert_eq!(tables.map(|rows| rows.len()), [45, 93, 22, 17]);
        assert_eq!(written(Language::Rust).count(), 17);
    }

    #[test]
    fn full_names_are_looked_up() {
        for (language, full, is_call, expect) in [
            (Language::Go, "os/exec.Command", true, Some(Process)),
            (Language::Go, "os.Getenv", true, None),
            (Language::Python, "os.path.exists", true, Some(FileSystem)),
            (Language::Python, "shutil.rmtree", true, Some(FileSystem)),
            (Language::Python, "shutil.Error", false, None),
            (Language::JavaScript, "axios", true, Some(Network)),
            (Language::JavaScript, "fs.readFileSync", true, Some(FileSystem)),
            (Language::Rust, "os.open", true, None),
        ] {
            assert_eq!(touched_by(language, full, is_call), expect, "{full}");
        }
    }
}

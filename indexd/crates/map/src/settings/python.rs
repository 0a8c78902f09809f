//! Python: `os.environ`, options of argparse, optparse, click and typer, settings modules and classes.

use super::{Kind, Reading};
use crate::Place;
use crate::imports::{Outside, Use};
use crate::scan;
use crate::sources::Source;
use indexd_model::path::{dir_of, file_name_of, stem_of};
use indexd_model::{DefIdx, DefKind, Facts, Interface, Role, Span};

/// Names of variables that hold a configuration.
const HOLDERS: [&str; 4] = ["settings", "config", "conf", "crawler_settings"];

/// Variables that the standard library reads for its callers.
const PROXIES: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];

pub(super) fn read(reading: &mut Reading, source: &Source, text: &str, uses: &Outside) {
    for it in &uses.uses {
        one(reading, source, text, it, uses);
    }
    let interface = reading.view.interface(source.doc);
    declared(reading, source, text, &interface);
    if !is_settings_module(&source.path) {
        asked(reading, source, text, &interface);
    }
}

fn one(reading: &mut Reading, source: &Source, text: &str, it: &Use, uses: &Outside) {
    let place = || Place { path: source.path.to_string(), line: it.line };
    let full = it.full.as_deref().unwrap_or_default();
    let behind = it.at + it.name.len();
    match full {
        "os.getenv" | "os.environ.get" | "os.environ.pop" | "os.environ.setdefault" | "decouple.config" => {
            if let Some(first) = scan::arguments(text, it.at).and_then(|a| a.first().copied()) {
                reading.argument(Kind::Environment, first, place(), it.source, 0);
            }
            return;
        }
        "urllib.request.getproxies" | "urllib.request.getproxies_environment" => {
            PROXIES.iter().for_each(|key| reading.parsed(Kind::Environment, key, place()));
            return;
        }
        "os.environ" => {
            let inside = text.get(behind..).filter(|rest| rest.starts_with('['));
            let subscript = inside.and_then(|_| scan::parts(text, behind + 1).first().copied());
            if let Some(key) = subscript.or_else(|| looked_for(text, it.at)) {
                reading.argument(Kind::Environment, key, place(), it.source, 0);
            }
            return;
        }
        _ => {}
    }
    let is_option = matches!(it.name.as_str(), "add_argument" | "add_option" | "addoption")
        || matches!(full, "click.option" | "rich_click.option" | "typer.Option" | "asyncclick.option");
    if !matches!(it.role, Role::Call | Role::Decorator | Role::Read) {
        return;
    }
    let Some(arguments) = scan::arguments(text, it.at) else { return };
    let literals = || arguments.iter().filter_map(|a| scan::literal(a));
    if is_option {
        let long = |f: &&str| f.starts_with("--");
        let flag = literals().find(long).or_else(|| literals().find(|f| f.starts_with('-')));
        let name = flag.map(|f| f.split('/').next().unwrap_or(f));
        name.into_iter().for_each(|f| reading.parsed(Kind::Flag, f, place()));
    } else if full.starts_with("absl.flags.DEFINE_") || it.name == "addini" {
        let kind = if it.name == "addini" { Kind::Setting } else { Kind::Flag };
        literals().take(1).for_each(|f| reading.parsed(kind, f, place()));
    } else if it.name.starts_with("get")
        && uses.imports(&["configparser"])
        && arguments.len() > 1
        && let [Some(section), Some(key)] = [0, 1].map(|i| scan::literal(arguments[i]))
    {
        reading.parsed(Kind::Setting, &format!("{section}.{key}"), place());
    }
}

/// The literal that is tested with `in` against the mapping at `at`: `"X" in os.environ`.
fn looked_for(text: &str, at: usize) -> Option<&str> {
    let line = text[text[..at].rfind('\n').map_or(0, |i| i + 1)..at].trim_end_matches("os.").trim_end();
    let before = line.strip_suffix("in")?.trim_end();
    let before = before.strip_suffix("not").map_or(before, str::trim_end);
    let start = before.rfind(|c: char| c.is_whitespace() || c == '(').map_or(0, |i| i + 1);
    before.get(start..).filter(|e| scan::literal(e).is_some())
}

/// Returns true if a module holds settings, by its name.
fn is_settings_module(path: &str) -> bool {
    let stem = stem_of(path);
    if path.starts_with("docs/") || path.starts_with("doc/") {
        // The settings of a documentation generator do not belong to the program.
        return false;
    }
    let is = |s: &str| {
        matches!(s, "settings" | "default_settings" | "global_settings" | "conf" | "config" | "defaults")
    };
    is(stem) || (is(file_name_of(dir_of(path))) && stem != "__init__")
}

/// Reads names in capitals of settings modules, and fields of settings classes.
fn declared(reading: &mut Reading, source: &Source, text: &str, interface: &Interface) {
    let (view, facts) = (reading.view, Facts::outside(interface));
    let is_module = is_settings_module(&source.path);
    for (i, def) in interface.defs.iter().enumerate() {
        let name = facts.str(def.name);
        let at_top = def.parent.some().is_none();
        let is_value = matches!(def.kind, DefKind::Variable | DefKind::Constant);
        let place = || {
            let line = view.def(view.def_doc(source.doc, DefIdx(i as u32))).name_line;
            Place { path: source.path.to_string(), line }
        };
        if is_module && at_top && is_value && scan::is_capitals(name) {
            reading.declared(Kind::Setting, name, "", place());
        }
        let Some(class) = def.parent.some().filter(|_| def.kind == DefKind::Field) else { continue };
        let class = facts.def(class);
        let head = text.get(class.head.range()).unwrap_or_default();
        if class.kind == DefKind::Class
            && head.split_once('(').is_some_and(|(_, bases)| bases.contains("BaseSettings"))
            && !name.starts_with('_')
        {
            reading.declared(Kind::Field, name, facts.str(class.name), place());
        }
    }
}

/// Reads the places that look up keys of a configuration by name.
fn asked(reading: &mut Reading, source: &Source, text: &str, interface: &Interface) {
    let docs: Vec<Span> = interface.defs.iter().map(|d| d.doc).filter(|d| !d.is_empty()).collect();
    for holder in HOLDERS {
        for at in scan::words(text, holder) {
            let Some(key) = key_behind(text, at + holder.len()) else { continue };
            let in_doc = docs.iter().any(|d| d.holds(at as u32));
            if scan::is_capitals(key) && !in_doc && !scan::in_comment(text, at, "#") {
                let place = Place { path: source.path.to_string(), line: scan::line_of(text, at) };
                reading.asked.entry(key.to_owned()).or_default().insert(place);
            }
        }
    }
}

/// The key that is looked up right after the name of a configuration.
fn key_behind(text: &str, at: usize) -> Option<&str> {
    let rest = text.get(at..)?;
    if rest.starts_with('[') {
        return scan::literal(scan::parts(text, at + 1).first()?);
    }
    let name = scan::word(text, at + 1);
    match rest.as_bytes().first()? {
        b'.' if name.starts_with("get") || name == "setdefault" => {
            scan::literal(scan::arguments(text, at + 1)?.first()?)
        }
        b'.' => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_behind_a_configuration() {
        for (text, expect) in [
            ("settings.getbool('DEBUG')", Some("DEBUG")),
            ("settings[\"DEBUG\"]", Some("DEBUG")),
            ("settings.DEBUG", Some("DEBUG")),
            ("settings.get(key)", None),
            ("settings = 1", None),
        ] {
            assert_eq!(key_behind(text, "settings".len()), expect, "{text}");
        }
    }

    #[test]
    fn keys_looked_for_in_the_environment() {
        for (text, expect) in [
            ("if \"A\" in os.environ:", Some("\"A\"")),
            ("x = ('B' not in os.environ)", Some("'B'")),
            ("for k in os.environ:", None),
        ] {
            assert_eq!(looked_for(text, text.find("environ").unwrap()), expect, "{text}");
        }
    }
}

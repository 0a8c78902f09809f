//! The keys that configure a program, and where each is parsed: variables of the environment, flags,
//! settings modules and fields of configuration types.

mod go;
mod python;
mod written;

use crate::Place;
use crate::imports::{Outside, Use};
use crate::scan;
use crate::sources::Source;
pub use indexd_api::map::{Setting, SettingKind as Kind};
use indexd_model::path::dir_of;
use indexd_model::{DefDoc, DefKind, EdgeKind, IndexView, Language};
use std::collections::{BTreeMap, BTreeSet};

/// Limit on the callers of one helper that are read.
const CALLERS_MAX: usize = 2_000;
/// Levels of helpers between a literal and the call that reads it.
const HELPERS_DEEP_MAX: usize = 2;
/// Places kept for one key.
const PLACES_MAX: usize = 50;

/// Settings read so far.
pub struct Reading<'v> {
    view: &'v dyn IndexView,
    /// By kind, key and owner.
    found: BTreeMap<(Kind, String, String), Entry>,
    /// Functions that pass a parameter on as a key.
    helpers: Vec<(DefDoc, Kind, usize)>,
    /// Places that read keys of settings modules.
    asked: BTreeMap<String, BTreeSet<Place>>,
    /// Calls that fill a type from a file, by folder.
    decoded: BTreeMap<String, BTreeSet<Place>>,
}

#[derive(Default)]
struct Entry {
    declared_at: Option<Place>,
    parsed_at: BTreeSet<Place>,
}

impl<'v> Reading<'v> {
    /// Nothing is read yet.
    pub fn of(view: &'v dyn IndexView) -> Self {
        let (found, helpers, asked, decoded) = Default::default();
        Self { view, found, helpers, asked, decoded }
    }

    /// Reads one file.
    pub fn read(&mut self, source: &Source, text: &str, uses: &Outside) {
        match source.language {
            Language::Go => go::read(self, source, text, uses),
            Language::Python => python::read(self, source, text, uses),
            _ => written::read(self, source, text),
        }
    }

    /// Reads one call of a function of Go's standard library.
    pub fn call(&mut self, path: &str, text: &str, it: &Use, uses: &Outside) {
        go::call(self, path, text, it, uses);
    }

    fn parsed(&mut self, kind: Kind, key: &str, place: Place) {
        if scan::is_key(key) {
            let dashes = if kind == Kind::Flag && !key.starts_with('-') { "--" } else { "" };
            let entry = self.found.entry((kind, format!("{dashes}{key}"), String::new())).or_default();
            if entry.parsed_at.len() < PLACES_MAX {
                entry.parsed_at.insert(place);
            }
        }
    }

    fn declared(&mut self, kind: Kind, key: &str, of: &str, place: Place) {
        if scan::is_key(key) {
            self.found.entry((kind, key.to_owned(), of.to_owned())).or_default().declared_at = Some(place);
        }
    }

    /// Reads an argument that names a key: a literal, a constant, or a parameter of the function around it,
    /// which makes that function a helper.
    fn argument(&mut self, kind: Kind, argument: &str, place: Place, source: DefDoc, depth: usize) {
        if let Some(key) = scan::literal(argument) {
            self.parsed(kind, key, place);
        } else if let Some(key) = constant(self.view, argument, &place.path) {
            self.parsed(kind, &key, place);
        } else if depth < HELPERS_DEEP_MAX && has_parameter(self.view, source, argument) {
            let is_known = self.helpers.iter().any(|(d, k, _)| (*d, *k) == (source, kind));
            if !is_known {
                self.helpers.push((source, kind, depth));
            }
        }
    }

    /// Reads the calls of helpers.
    fn read_helpers(&mut self) {
        let view = self.view;
        let mut next = 0;
        while let Some(&(helper, kind, depth)) = self.helpers.get(next) {
            next += 1;
            for edge in view.edges_to(helper, &[EdgeKind::Call], CALLERS_MAX) {
                let file = view.file(view.def(edge.site()).file);
                if file.roles.has(indexd_model::FileRoles::TEST) {
                    continue;
                }
                let text = view.text(view.def(edge.site()).file);
                for o in &edge.occurrences {
                    let arguments = scan::arguments(&text, o.at as usize).unwrap_or_default();
                    let fits = |a: &&&str| match kind {
                        Kind::Environment => scan::literal(a).is_none_or(scan::is_capitals),
                        _ => true,
                    };
                    let named =
                        arguments.iter().filter(|a| scan::literal(a).is_some_and(scan::is_key)).find(fits);
                    if let Some(named) = named.or_else(|| arguments.iter().find(|a| is_name(a) && fits(a))) {
                        let place = Place { path: file.path.to_string(), line: o.line };
                        self.argument(kind, named, place, edge.site(), depth + 1);
                    }
                }
            }
        }
    }

    /// Returns everything found, sorted by kind, then by key.
    pub fn finish(mut self) -> Vec<Setting> {
        self.read_helpers();
        let asked = std::mem::take(&mut self.asked);
        let mut declared: BTreeSet<String> = BTreeSet::new();
        for ((kind, key, _), entry) in &mut self.found {
            if *kind == Kind::Setting {
                declared.insert(key.clone());
                entry.parsed_at.extend(asked.get(key).into_iter().flatten().take(PLACES_MAX).cloned());
            }
            if *kind == Kind::Field
                && let Some(at) = &entry.declared_at
            {
                entry.parsed_at.extend(self.decoded.get(dir_of(&at.path)).into_iter().flatten().cloned());
            }
        }
        for (key, places) in asked.into_iter().filter(|(key, _)| !declared.contains(key)) {
            places.into_iter().for_each(|p| self.parsed(Kind::Setting, &key, p));
        }
        let setting = |((kind, key, of), e): ((Kind, String, String), Entry)| {
            let mut parsed_at: Vec<Place> = e.parsed_at.into_iter().collect();
            if parsed_at.is_empty() {
                parsed_at.extend(e.declared_at.clone());
            }
            Setting { kind, key, of, declared_at: e.declared_at, parsed_at }
        };
        self.found.into_iter().map(setting).collect()
    }
}

/// Returns true if an expression is a name, perhaps qualified by its package.
fn is_name(expression: &str) -> bool {
    expression.bytes().all(|b| scan::is_word(b) || b == b'.')
        && expression.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
}

/// Returns true if the function `def` has a parameter of this name.
fn has_parameter(view: &dyn IndexView, def: DefDoc, name: &str) -> bool {
    if !is_name(name) || def.some().is_none() {
        return false;
    }
    let record = view.def(def);
    if !record.kind.is_callable() {
        return false;
    }
    let text = view.text(record.file);
    let head = text.get(record.head.range()).unwrap_or_default();
    scan::words(head, name).next().is_some()
}

/// The text of a string constant by its name, the one nearest to `path`.
fn constant(view: &dyn IndexView, name: &str, path: &str) -> Option<String> {
    if !is_name(name) {
        return None;
    }
    let last = name.rsplit('.').next()?;
    let mut best: Option<(u8, String)> = None;
    for def in view.defs_named(last) {
        let record = view.def(def);
        if !matches!(record.kind, DefKind::Constant | DefKind::Variable) {
            continue;
        }
        let at = view.path(record.file);
        let distance = u8::from(*at != *path) + u8::from(dir_of(&at) != dir_of(path));
        let text = view.text(record.file);
        if let Some(value) = value_of(&text, record.name_span.end as usize)
            && best.as_ref().is_none_or(|(d, _)| distance < *d)
        {
            best = Some((distance, value.to_owned()));
        }
    }
    best.map(|(_, value)| value)
}

/// The string literal that is assigned on the line of the name that ends at `at`.
fn value_of(text: &str, at: usize) -> Option<&str> {
    let line = text.get(at..)?.lines().next()?;
    let value = line.split_once('=')?.1.split("//").next()?;
    scan::literal(value.trim().trim_end_matches([',', ';']))
}

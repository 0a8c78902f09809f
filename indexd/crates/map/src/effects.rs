//! The places where a program touches the outside world: the file system, the network, other processes.

use crate::imports::{Outside, Use, touches};
use crate::known_packages;
use crate::scan;
use crate::sources::Source;
use indexd_api::map::{Boundary, BoundaryCall, Touches};
use indexd_model::Language;
use std::collections::BTreeMap;

/// By name: the line of the first use, and how often.
type Calls = BTreeMap<String, (u32, u32)>;

/// Calls found so far.
#[derive(Default)]
pub struct Found {
    by: BTreeMap<(Touches, String), Calls>,
}

impl Found {
    /// Reads one file.
    pub fn read(&mut self, source: &Source, text: &str, uses: &Outside) {
        let Source { language, path, .. } = source;
        uses.uses.iter().for_each(|it| self.add(*language, path, text, it, uses));
        for (what, written) in known_packages::written(*language) {
            let mark = language.line_comment();
            let starts_word = |at: usize| at == 0 || !scan::is_word(text.as_bytes()[at - 1]);
            let found = text.match_indices(written).map(|(at, _)| at);
            for at in found.filter(|&at| starts_word(at) && !scan::in_comment(text, at, mark)) {
                let name = written.trim_end_matches(['(', '.', ':', '_']).trim_start_matches("new ");
                self.note(what, path, name.to_owned(), scan::line_of(text, at));
            }
        }
    }

    /// Adds a use where it touches something.
    pub fn add(&mut self, language: Language, path: &str, text: &str, it: &Use, uses: &Outside) {
        if let Some(what) = touches(language, uses, it, text) {
            self.note(what, path, name_of(it), it.line);
        }
    }

    fn note(&mut self, what: Touches, path: &str, name: String, line: u32) {
        let calls = self.by.entry((what, path.to_owned())).or_default();
        let call = calls.entry(name).or_insert((line, 0));
        call.0 = call.0.min(line);
        call.1 += 1;
    }

    /// Everything found, sorted by kind of effect, then by path.
    pub fn finish(self) -> Vec<Boundary> {
        let boundary = |((touches, path), calls): ((Touches, String), Calls)| {
            let call = |(name, (line, count))| BoundaryCall { name, line, count };
            let mut calls: Vec<BoundaryCall> = calls.into_iter().map(call).collect();
            calls.sort_by(|a, b| a.line.cmp(&b.line).then_with(|| a.name.cmp(&b.name)));
            Boundary { touches, path, calls }
        };
        self.by.into_iter().map(boundary).collect()
    }
}

fn name_of(it: &Use) -> String {
    match &it.full {
        Some(full) => full.strip_prefix("builtins.").unwrap_or(full).to_owned(),
        None => format!(".{}", it.name),
    }
}

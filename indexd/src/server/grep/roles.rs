//! What each place of a file is: a definition, a call, another use, an import, a string, a comment. The
//! facts and edges say the first four, the syntax tree the others, and uses of what a language itself has.

use indexd_lang::highlight::{Class, highlight};
use indexd_model::view::{DefPlace, DefRecord};
use indexd_model::{
    DefDoc, DefFlags, DefIdx, EdgeKind, FileDoc, FileRoles, IndexView, Language, Role, Span, UnresolvedReason,
};
use indexd_proto::grep::GrepRole;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The edges that stand in the text of their source.
const KINDS: [EdgeKind; 5] =
    [EdgeKind::Call, EdgeKind::Usage, EdgeKind::Import, EdgeKind::Export, EdgeKind::Inherit];

/// A use that the facts of a file tell of.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// What it is.
    pub role: GrepRole,
    /// What it names; [`DefDoc::NONE`] where that is not known.
    pub target: DefDoc,
    /// Percent; 0 without a target.
    pub confidence: u8,
    /// Why it names nothing that is known.
    pub reason: Option<UnresolvedReason>,
}

/// A file as its places are looked at.
pub struct Places<'v> {
    view: &'v dyn IndexView,
    file: FileDoc,
    /// Its text.
    pub text: Arc<str>,
    /// Its definitions.
    pub defs: DefsOf,
    language: Language,
    /// Where its imports are, if they were asked for.
    imports: Option<Vec<Span>>,
    /// Uses by the offset of their names, of the definitions that were asked for.
    uses: FxHashMap<u32, Vec<Use>>,
    read: FxHashSet<DefIdx>,
    has_unresolved: bool,
    locals: Option<Vec<u32>>,
}

impl<'v> Places<'v> {
    /// Those of a file.
    pub fn of(view: &'v dyn IndexView, file: FileDoc) -> Self {
        Self {
            view,
            file,
            text: view.text(file),
            defs: DefsOf::file(view, file),
            language: view.file(file).language,
            imports: None,
            uses: FxHashMap::default(),
            read: FxHashSet::default(),
            has_unresolved: false,
            locals: None,
        }
    }

    /// The part of the text around a place that can be parsed alone: the outermost definition, or what is
    /// between two of them.
    pub fn piece(&self, at: u32) -> Span {
        let whole = Span { start: 0, end: self.text.len() as u32 };
        // PHP is code only behind the mark at the start of a file.
        if self.language == Language::Php { whole } else { self.defs.piece(at, whole) }
    }

    /// The language of the file.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The record of a definition of the file.
    pub fn record(&self, def: DefIdx) -> DefRecord {
        self.view.def(self.view.def_doc(self.file, def))
    }

    /// The statement of an import in a part of the text.
    pub fn import(&mut self, part: Span) -> Option<Span> {
        let (view, file) = (self.view, self.file);
        let spans = || view.interface(file).imports.iter().map(|i| i.span).collect();
        self.imports.get_or_insert_with(spans).iter().find(|i| overlap(**i, part)).copied()
    }

    /// Whether a local name stands there.
    pub fn is_local(&mut self, part: Span) -> bool {
        let (view, file) = (self.view, self.file);
        let locals = self.locals.get_or_insert_with(|| view.locals(file));
        let word_end = |at: u32| at + name_len(&self.text, at);
        let until = locals.partition_point(|at| *at < part.end);
        locals[..until].last().is_some_and(|at| *at >= part.start || word_end(*at) > part.start)
    }

    /// The uses whose names stand in a part of the text, which lies in these definitions.
    pub fn uses(&mut self, part: Span, around: &[DefIdx]) -> Vec<Use> {
        self.read_uses(around);
        let mut found = Vec::new();
        let from = part.start.saturating_sub(64);
        for at in from..part.end.max(part.start + 1) {
            if let Some(uses) = self.uses.get(&at)
                && (at >= part.start || at + name_len(&self.text, at) > part.start)
            {
                found.extend_from_slice(uses);
            }
        }
        found
    }

    fn read_uses(&mut self, around: &[DefIdx]) {
        for &def in around.iter().chain([&DefIdx::NONE]) {
            if !self.read.insert(def) {
                continue;
            }
            for edge in self.view.edges_from(self.view.def_doc(self.file, def), &KINDS) {
                for o in &edge.occurrences {
                    let role = match edge.kind {
                        EdgeKind::Import | EdgeKind::Export => GrepRole::Import,
                        _ => role_of(o.role),
                    };
                    let of = Use { role, target: edge.target, confidence: o.confidence, reason: None };
                    self.uses.entry(o.at).or_default().push(of);
                }
            }
        }
        if !std::mem::replace(&mut self.has_unresolved, true) {
            for u in self.view.unresolved(self.file) {
                let role = role_of(u.role);
                let of = Use { role, target: DefDoc::NONE, confidence: 0, reason: Some(u.reason) };
                self.uses.entry(u.at).or_default().push(of);
            }
        }
    }

    /// Strings, comments, calls and types in these parts of the text, by its syntax tree, in order; nothing
    /// for languages without a grammar.
    pub fn quiet(&self, parts: &[Span]) -> Vec<(Span, GrepRole)> {
        self.quiet_in(Span { start: 0, end: self.text.len() as u32 }, parts)
    }

    /// As [`Places::quiet`] for parts within `piece`, which is parsed alone.
    pub fn quiet_in(&self, piece: Span, parts: &[Span]) -> Vec<(Span, GrepRole)> {
        let moved = |s: Span, by: u32| Span { start: s.start - by, end: s.end - by };
        let parts: Vec<Span> = parts.iter().map(|p| moved(*p, piece.start)).collect();
        let found = highlight(self.language, &self.text[piece.range()], &parts);
        let role = |c: Class| match c {
            Class::Comment => Some(GrepRole::Comment),
            Class::String => Some(GrepRole::String),
            // A function or a type of the language itself: other uses have edges or are unresolved.
            Class::Function => Some(GrepRole::Call),
            Class::Type => Some(GrepRole::Ref),
            Class::Number | Class::Keyword => None,
        };
        let back = |s: Span| Span { start: s.start + piece.start, end: s.end + piece.start };
        found.into_iter().filter_map(|(span, class)| Some((back(span), role(class)?))).collect()
    }
}

/// The definitions of a file by their places.
pub struct DefsOf {
    places: Vec<DefPlace>,
    extents: Parts,
    names: Parts,
    is_test_file: bool,
}

impl DefsOf {
    /// Reads those of a file.
    pub fn file(view: &dyn IndexView, file: FileDoc) -> Self {
        let places = view.def_places(file);
        let each = || (0u32..).map(DefIdx).zip(&places);
        Self {
            extents: Parts::of(each().map(|(i, d)| (d.span, i))),
            names: Parts::of(each().map(|(i, d)| (d.name_span, i))),
            is_test_file: view.file(file).roles.has(FileRoles::TEST),
            places,
        }
    }

    /// The definitions around a place, the outermost first.
    pub fn around(&self, at: u32) -> Vec<DefIdx> {
        let mut found: Vec<DefIdx> = self.extents.near(at, at + 1).map(|(_, def)| def).collect();
        found.sort_unstable();
        found
    }

    fn piece(&self, at: u32, whole: Span) -> Span {
        if let Some(around) = self.extents.near(at, at + 1).map(|(span, _)| span).max_by_key(|s| s.len()) {
            return around;
        }
        let (before, behind) = self.extents.beside(at);
        Span { start: before.unwrap_or(whole.start), end: behind.unwrap_or(whole.end) }
    }

    /// True if a place in these definitions belongs to a test.
    pub fn is_test(&self, around: &[DefIdx]) -> bool {
        self.is_test_file || around.iter().any(|d| self.places[d.index()].flags.has(DefFlags::TEST))
    }

    /// True if a definition of the file is a test.
    pub fn has_tests(&self) -> bool {
        self.places.iter().any(|d| d.flags.has(DefFlags::TEST))
    }

    /// True if the name of a definition is in a part of the text.
    pub fn defines(&self, part: Span) -> bool {
        self.names.near(part.start, part.end.max(part.start + 1)).any(|(name, _)| overlap(name, part))
    }
}

/// Parts of a text that belong to definitions, for finding those at a place without looking at all.
struct Parts {
    /// By their starts.
    by_start: Vec<(Span, DefIdx)>,
    /// The greatest end of each and those before it.
    reach: Vec<u32>,
}

impl Parts {
    fn of(parts: impl Iterator<Item = (Span, DefIdx)>) -> Self {
        let mut by_start: Vec<(Span, DefIdx)> = parts.collect();
        by_start.sort_by_key(|(span, _)| span.start);
        let mut greatest = 0;
        let reach = by_start.iter().map(|(span, _)| {
            greatest = span.end.max(greatest);
            greatest
        });
        let reach = reach.collect();
        Self { by_start, reach }
    }

    /// For a place in none of them: the end of the one before and the start of the one behind.
    fn beside(&self, at: u32) -> (Option<u32>, Option<u32>) {
        let n = self.by_start.partition_point(|(span, _)| span.start <= at);
        (n.checked_sub(1).map(|i| self.reach[i]), self.by_start.get(n).map(|(span, _)| span.start))
    }

    /// Those with a byte at `from` or behind it and before `to`, the last one first.
    fn near(&self, from: u32, to: u32) -> impl Iterator<Item = (Span, DefIdx)> + '_ {
        let n = self.by_start.partition_point(|(span, _)| span.start < to);
        let reaching = (0..n).rev().take_while(move |i| self.reach[*i] > from);
        reaching.map(|i| self.by_start[i]).filter(move |(span, _)| span.end > from)
    }
}

fn role_of(role: Role) -> GrepRole {
    match role {
        Role::Call => GrepRole::Call,
        Role::Import => GrepRole::Import,
        _ => GrepRole::Ref,
    }
}

/// Whether two parts have a byte in common, or one begins where the other, empty one, is.
pub fn overlap(a: Span, b: Span) -> bool {
    a.start < b.end.max(b.start + 1) && b.start < a.end
}

/// Bytes of the name at a place.
pub fn name_len(text: &str, at: u32) -> u32 {
    let rest = text.get(at as usize..).unwrap_or("");
    rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(rest.len()).max(1) as u32
}

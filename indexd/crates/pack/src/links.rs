//! Edges between shown code and other units: definitions that the shown lines refer to, callers of the shown
//! definitions, and tests that reach them.

use crate::candidate::Step;
use crate::expand::stored_kinds;
use crate::graph::walk::{Bounds, Visitor, walk};
use crate::page::Page;
use crate::request::{Direction, EvidenceFilter, Expansion, Strictness};
use crate::role::{Role, role_of};
use crate::unit::{Unit, UnitKey, Units};
use indexd_model::path::{dir_of, stem_of};
use indexd_model::view::{CONFIDENCE_CERTAIN, Edge, Occurrence};
use indexd_model::{ChunkKind, DefDoc, DefKind, EdgeKind, FileDoc, FileRoles, Lines};
use indexd_text::terms;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::sync::Arc;

/// Maximum files that share the words of a name; with more, the name is not used.
const NAMESAKES_MAX: usize = 400;

/// A shown item from which edges are followed.
#[derive(Clone)]
pub struct Shown {
    /// Its index among the candidates.
    pub item: usize,
    /// Its weight: 1 for the best item, less for later ones.
    pub weight: f64,
    /// Its unit.
    pub unit: Rc<Unit>,
    /// The definition whose edges count: that of the unit, or one of the members that the unit declares.
    pub def: DefDoc,
    /// Its shown lines.
    pub lines: Vec<Lines>,
}

impl Shown {
    /// True if `def` is inside of the definition of the unit, so that other lines of the unit may use it.
    fn is_part(&self) -> bool {
        self.def != self.unit.def
    }

    fn shows(&self, line: u32) -> bool {
        self.lines.iter().any(|l| l.start <= line && line <= l.end)
    }
}

/// A unit that edges connect with shown items.
pub struct Link {
    /// The unit.
    pub unit: Rc<Unit>,
    /// The sum of the weights of the items on the other side. Each is divided by the logarithm of the number
    /// of uses of the target in the whole tree.
    pub weight: f64,
    /// Lines of the unit at which the edges start or end, without its signature.
    pub lines: Vec<u32>,
    /// The shown items on the other side, best first, each with its edge.
    pub edges: Vec<(usize, Step)>,
    /// The steps between the first item and its edge; empty if the edge starts at the item.
    pub way: Vec<Step>,
}

impl Link {
    /// A link without edges.
    pub fn to(unit: Rc<Unit>) -> Self {
        Self { unit, weight: 0.0, lines: Vec::new(), edges: Vec::new(), way: Vec::new() }
    }
}

/// The edges that a request allows.
pub struct Allowed {
    direction: Direction,
    evidence: Vec<EvidenceFilter>,
    is_strict: bool,
    kinds: Vec<EdgeKind>,
}

impl Allowed {
    /// The edges that `expansion` allows.
    pub fn of(expansion: &Expansion, strictness: Strictness) -> Self {
        let mut kinds = stored_kinds(&expansion.edge_types);
        kinds.retain(|k| expansion.max_hops > 0 && !matches!(k, EdgeKind::Export | EdgeKind::Dataflow));
        Self {
            direction: expansion.direction,
            evidence: expansion.evidence_kinds.clone(),
            is_strict: strictness == Strictness::Strict && expansion.require_evidence,
            kinds,
        }
    }

    /// The kinds of edges among `kinds` that may be followed to their sources.
    fn inward(&self, kinds: &[EdgeKind]) -> Vec<EdgeKind> {
        let is_allowed = |k: &EdgeKind| self.direction != Direction::Out && self.kinds.contains(k);
        kinds.iter().copied().filter(is_allowed).collect()
    }

    fn step(&self, edge: &Edge, is_out: bool) -> Option<Step> {
        Some(Step::along(edge, is_out, &self.evidence)).filter(|s| !self.is_strict || s.evidence.is_some())
    }
}

/// One use of a definition elsewhere, in shown lines.
struct Use {
    target: DefDoc,
    /// The unit that contains the used definition.
    unit: Rc<Unit>,
    file: FileDoc,
    /// The line of the name of the definition.
    line: u32,
    step: Step,
}

/// Uses by shown items, cached while the shown lines of an item stay the same.
#[derive(Default)]
pub struct Uses(FxHashMap<(usize, UnitKey), Kept>);

struct Kept {
    lines: Vec<Lines>,
    uses: Rc<[Use]>,
}

impl Uses {
    fn of(&mut self, units: &mut Units, s: &Shown, allowed: &Allowed) -> Rc<[Use]> {
        let key = (s.item, s.unit.key);
        if let Some(kept) = self.0.get(&key).filter(|kept| kept.lines == s.lines) {
            return Rc::clone(&kept.uses);
        }
        let uses: Rc<[Use]> = uses_of(units, s, allowed).into();
        self.0.insert(key, Kept { lines: s.lines.clone(), uses: Rc::clone(&uses) });
        uses
    }
}

fn uses_of(units: &mut Units, s: &Shown, allowed: &Allowed) -> Vec<Use> {
    let mut out = Vec::new();
    let edges: Vec<Edge> =
        units.within(&s.unit).into_iter().flat_map(|def| units.edges(def).to_vec()).collect();
    for edge in edges.iter().filter(|e| allowed.kinds.contains(&e.kind)) {
        let is_seen = |o: &Occurrence| o.confidence >= CONFIDENCE_CERTAIN && s.shows(o.line);
        if !edge.occurrences.iter().any(is_seen) {
            continue;
        }
        let Some(unit) = units.of_def(edge.target) else { continue };
        let target = units.def(edge.target);
        // The first line of a module does not say how the module is used.
        if (unit.key == s.unit.key && !s.is_part()) || target.idx.some().is_none() {
            continue;
        }
        let Some(step) = allowed.step(edge, true) else { continue };
        out.push(Use { target: edge.target, unit, file: target.file, line: target.name_line, step });
    }
    out
}

/// Returns the definitions that the shown lines refer to and that the page does not show, heaviest first,
/// equal ones by path and place.
pub fn references(
    units: &mut Units,
    uses: &mut Uses,
    shown: &[Shown],
    page: &Page,
    allowed: &Allowed,
) -> Vec<Link> {
    let mut found = Found::default();
    if allowed.direction == Direction::In {
        return Vec::new();
    }
    let mut on_page: FxHashMap<(FileDoc, u32), bool> = FxHashMap::default();
    for s in shown {
        for u in uses.of(units, s, allowed).iter() {
            let line = Lines { start: u.line, end: u.line };
            if *on_page.entry((u.file, u.line)).or_insert_with(|| page.shows(u.file, line)) {
                continue;
            }
            let worth = s.weight / units.usage(u.target);
            let own = (u.unit.def != u.target).then_some(u.line);
            found.add(Rc::clone(&u.unit), worth, own, s.item, &[], u.step);
        }
    }
    found.sorted(units)
}

/// Returns the units that refer to the shown definitions, in files with one role, by edges of `kinds`,
/// heaviest first.
pub fn referrers(
    units: &mut Units,
    shown: &[Shown],
    role: Role,
    kinds: &[EdgeKind],
    allowed: &Allowed,
) -> Vec<Link> {
    let (mut found, kinds) = (Found::default(), allowed.inward(kinds));
    let asked = Asked { role, kinds: &kinds, allowed };
    for s in shown {
        let Some(def) = s.def.some() else { continue };
        found.add_sources(units, s, def, &[], &asked);
    }
    found.sorted(units)
}

/// Returns possible callers: units in code that call a method of an interface or base that a shown definition
/// implements or overrides. Heaviest first.
pub fn callers_through(units: &mut Units, shown: &[Shown], allowed: &Allowed) -> Vec<Link> {
    let mut found = Found::default();
    let is_walked = [EdgeKind::Call, EdgeKind::Implement].iter().all(|k| allowed.kinds.contains(k));
    if allowed.direction != Direction::Both || !is_walked {
        return Vec::new();
    }
    let asked = Asked { role: Role::Code, kinds: &[EdgeKind::Call], allowed };
    for s in shown {
        let Some(def) = s.def.some() else { continue };
        for edge in units.edges(def).iter().filter(|e| e.kind == EdgeKind::Implement) {
            let is_method = units.def(edge.target).kind == DefKind::Method;
            if let Some(way) = allowed.step(edge, true).filter(|_| is_method) {
                found.add_sources(units, s, edge.target, &[way], &asked);
            }
        }
    }
    found.sorted(units)
}

/// Maximum uses of one definition that are read.
const USES_MAX: usize = 2_000;

/// Returns every call, use and import of the shown definitions, in files of any role, each unit with all
/// lines of its uses; those in code first, then by path and place. Also returns true if there are more uses than
/// are read.
pub fn uses(units: &mut Units, shown: &[Shown], allowed: &Allowed) -> (Vec<Link>, bool) {
    let (mut found, mut is_cut, kinds) = (Found::default(), false, allowed.inward(&allowed.kinds));
    for s in shown {
        let Some(def) = s.unit.def.some() else { continue };
        let edges = units.view.edges_to(def, &kinds, USES_MAX + 1);
        is_cut |= edges.len() > USES_MAX;
        for edge in edges.iter().take(USES_MAX) {
            let Some(step) = allowed.step(edge, false) else { continue };
            let file = units.view.def(edge.site()).file;
            for at in edge.occurrences.iter().filter(|o| o.confidence >= CONFIDENCE_CERTAIN) {
                // An import edge starts at the file, so the unit is found by the place of the import.
                let Some(unit) = units.at(file, at.at).filter(|u| u.key != s.unit.key) else { continue };
                found.add(unit, 0.0, Some(at.line), s.item, &[], step);
            }
        }
    }
    let mut links = found.sorted(units);
    let mut is_test = |l: &Link| role_of(&units.file(l.unit.file)) == Role::Test;
    links.sort_by_cached_key(|l| is_test(l));
    (links, is_cut)
}

/// Returns the units that depend on the shown definitions by calls and uses, within `hops`; fewest hops
/// first, then heaviest. Tests are left out.
pub fn dependents(units: &mut Units, shown: &[Shown], allowed: &Allowed, hops: u32) -> Vec<Link> {
    let kinds = [EdgeKind::Call, EdgeKind::Usage, EdgeKind::Inherit, EdgeKind::Implement];
    reach(units, shown, allowed, hops, (&kinds, Role::Code, true))
}

/// Returns the units of files with role `role` that reach the shown definitions by calls, within `hops`;
/// fewest hops first, then heaviest. The units on the way have other roles.
pub fn reaching(units: &mut Units, shown: &[Shown], role: Role, allowed: &Allowed, hops: u32) -> Vec<Link> {
    reach(units, shown, allowed, hops, (&[EdgeKind::Call, EdgeKind::Usage], role, false))
}

fn reach(
    units: &mut Units,
    shown: &[Shown],
    allowed: &Allowed,
    hops: u32,
    (kinds, role, is_through): (&[EdgeKind], Role, bool),
) -> Vec<Link> {
    let kinds = allowed.inward(kinds);
    let seen = shown.iter().map(|s| s.unit.key).collect();
    let start = shown.iter().filter(|s| s.def.some().is_some()).map(|s| Way {
        def: s.def,
        item: s.item,
        weight: s.weight,
        path: Vec::new(),
    });
    let (start, found) = (start.collect(), Vec::new());
    let mut reach = Reach { units, allowed, kinds, role, is_through, hops, seen, found, out: Vec::new() };
    walk(&mut reach, start, Bounds { hops, nodes: REACHING_MAX }, &|| false);
    reach.out
}

/// A walk against the direction of the edges.
struct Reach<'a, 'v> {
    units: &'a mut Units<'v>,
    allowed: &'a Allowed,
    kinds: Vec<EdgeKind>,
    /// The role of the files whose units are found.
    role: Role,
    /// True if the walk continues from the units it finds; false if it continues from the other units.
    is_through: bool,
    hops: u32,
    seen: FxHashSet<UnitKey>,
    /// The units found at this level.
    found: Vec<Link>,
    out: Vec<Link>,
}

/// The way from a shown item to a definition.
struct Way {
    def: DefDoc,
    item: usize,
    weight: f64,
    path: Vec<Step>,
}

impl Visitor for Reach<'_, '_> {
    type Node = Way;

    fn visit(&mut self, hop: u32, from: &Way, next: &mut Vec<Way>) {
        let weight = from.weight / self.units.usage(from.def);
        for edge in self.units.edges_in(from.def, &self.kinds).iter() {
            // Beyond the first hop, only calls propagate a change.
            if hop > 1 && edge.kind != EdgeKind::Call && !self.is_through {
                continue;
            }
            let Some(unit) = self.units.of_def(edge.source).filter(|u| !self.seen.contains(&u.key)) else {
                continue;
            };
            let Some(at) = edge.certain_use() else { continue };
            let Some(step) = self.allowed.step(edge, false) else { continue };
            let file = self.units.file(unit.file);
            let is_vendored = self.is_through && file.roles.has(FileRoles::VENDORED);
            let is_found = role_of(&file) == self.role && !is_vendored;
            if is_found {
                let (lines, edges, way) = (vec![at.line], vec![(from.item, step)], from.path.clone());
                self.found.push(Link { unit, weight, lines, edges, way });
            }
            if hop < self.hops && is_found == self.is_through {
                let path = from.path.iter().copied().chain([step]).collect();
                next.push(Way { def: edge.source, item: from.item, weight, path });
            }
        }
    }

    fn arrange(&mut self, next: &mut Vec<Way>) {
        sort(self.units, &mut self.found);
        self.found.retain(|l| self.seen.insert(l.unit.key));
        self.out.append(&mut self.found);
        let mut defs: FxHashSet<DefDoc> = FxHashSet::default();
        next.retain(|way| defs.insert(way.def));
    }
}

/// Maximum definitions whose callers are read.
const REACHING_MAX: u32 = 600;

/// Returns the tests that refer to the shown definitions, and the other tests of files named after their
/// files: `parse_test.go` or `test_parse.py` for `parse`. The latter have half of the weight of the best
/// shown code of that file.
pub fn tests(units: &mut Units, shown: &[Shown], allowed: &Allowed) -> Vec<Link> {
    let mut out = referrers(units, shown, Role::Test, &[EdgeKind::Call, EdgeKind::Usage], allowed);
    let namesakes = namesakes(units, shown);
    let mut known: FxHashSet<UnitKey> = out.iter().map(|t| t.unit.key).collect();
    for (file, _) in &namesakes {
        let new = units.in_file(*file).into_iter().filter(|unit| known.insert(unit.key));
        out.extend(new.map(Link::to));
    }
    // Import lists, constants and heads of classes do not show how something is tested.
    out.retain(|t| {
        t.unit.def.some().is_some() && !t.unit.kind.is_between() && t.unit.kind != ChunkKind::Type
    });
    for t in &mut out {
        let of_file = namesakes.iter().find(|n| n.0 == t.unit.file);
        t.weight += of_file.map_or(0.0, |n| 0.5 * n.1);
        // Showing more tests is better than showing the lines of the calls.
        t.lines.clear();
    }
    out
}

/// Returns the test files named after the files of shown code, with the weight of the best code of each.
fn namesakes(units: &mut Units, shown: &[Shown]) -> Vec<(FileDoc, f64)> {
    let mut out: Vec<(FileDoc, f64)> = Vec::new();
    let mut seen: FxHashSet<FileDoc> = FxHashSet::default();
    for s in shown.iter().filter(|s| seen.insert(s.unit.file)) {
        let path = Arc::clone(&units.file(s.unit.file).path);
        let stem = stem_of(&path).trim_matches('_');
        let files = units.files_with(stem);
        if files.len() > NAMESAKES_MAX {
            continue;
        }
        for &file in files.iter() {
            let record = units.file(file);
            let test = stem_of(&record.path);
            let of = test.strip_suffix("_test").or_else(|| test.strip_prefix("test_")).unwrap_or("");
            let is_new = out.iter().all(|o| o.0 != file);
            if is_new && role_of(&record) == Role::Test && of.trim_matches('_') == stem {
                out.push((file, s.weight));
            }
        }
    }
    out
}

/// Reorders links so that the first link of each file precedes all second ones, and so on. Otherwise the
/// order is kept.
pub fn spread(links: &mut [Link]) {
    let mut n_of: FxHashMap<FileDoc, usize> = FxHashMap::default();
    let mut nth: FxHashMap<UnitKey, usize> = FxHashMap::default();
    for link in links.iter() {
        let n = n_of.entry(link.unit.file).or_default();
        nth.insert(link.unit.key, *n);
        *n += 1;
    }
    links.sort_by_key(|l| nth[&l.unit.key]);
}

/// Moves links in the folders of shown items to the front. Otherwise the order is kept.
pub fn nearest_first(units: &mut Units, links: &mut [Link], shown: &[Shown]) {
    let folders: FxHashSet<String> =
        shown.iter().map(|s| dir_of(&units.file(s.unit.file).path).to_owned()).collect();
    links.sort_by_cached_key(|l| !folders.contains(dir_of(&units.file(l.unit.file).path)));
}

/// Returns units that still use a removed name: unresolved uses of the first name of each pair in `gone`, as
/// a whole word. A name that another definition has is skipped.
pub fn dangling(units: &mut Units, gone: &[(String, String)]) -> Vec<Link> {
    let mut out: Vec<Link> = Vec::new();
    for (name, _) in gone.iter().filter(|g| !g.0.is_empty()) {
        if !units.view.defs_named(name).is_empty() {
            continue;
        }
        let mut postings = Vec::new();
        // The term of the whole word if it has several parts, else its only term.
        let mut term = String::new();
        terms(name, |t| {
            if term.is_empty() || t.starts_with('=') {
                t.clone_into(&mut term);
            }
        });
        units.view.postings(&term, &mut postings);
        let mut files: Vec<FileDoc> = postings.iter().map(|p| units.chunk(p.chunk).file).collect();
        files.dedup();
        files.truncate(DANGLING_FILES_MAX);
        for file in files {
            for used in units.view.unresolved(file).into_iter().filter(|u| *u.name == **name) {
                let Some(unit) = units.at(file, used.at) else { continue };
                match out.iter_mut().find(|l| l.unit.key == unit.key) {
                    Some(link) => link.lines.push(used.line),
                    None => out.push(Link { weight: 1.0, lines: vec![used.line], ..Link::to(unit) }),
                }
            }
        }
    }
    sort(units, &mut out);
    out
}

/// Maximum files in which uses of a removed name are searched.
const DANGLING_FILES_MAX: usize = 200;

/// Sorts links, heaviest first, equal ones by path and place.
pub fn sort(units: &mut Units, links: &mut Vec<Link>) {
    let mut keyed: Vec<(Arc<str>, Link)> =
        links.drain(..).map(|l| (Arc::clone(&units.file(l.unit.file).path), l)).collect();
    keyed.sort_by(|a, b| {
        b.1.weight
            .total_cmp(&a.1.weight)
            .then_with(|| a.0.cmp(&b.0))
            .then_with(|| a.1.unit.spans[0].0.start.cmp(&b.1.unit.spans[0].0.start))
    });
    links.extend(keyed.into_iter().map(|k| k.1));
}

/// Selects edges into a definition.
struct Asked<'a> {
    /// The role of the files that contain their sources.
    role: Role,
    kinds: &'a [EdgeKind],
    allowed: &'a Allowed,
}

#[derive(Default)]
struct Found {
    links: Vec<Link>,
    at: FxHashMap<UnitKey, usize>,
}

impl Found {
    fn add(&mut self, unit: Rc<Unit>, weight: f64, line: Option<u32>, item: usize, way: &[Step], step: Step) {
        let next = self.links.len();
        let i = *self.at.entry(unit.key).or_insert(next);
        if i == next {
            self.links.push(Link { way: way.to_vec(), ..Link::to(unit) });
        }
        let link = &mut self.links[i];
        link.weight += weight;
        link.lines.extend(line.filter(|l| !link.lines.contains(l)));
        link.edges.push((item, step));
    }

    /// Adds the units that refer to `def`. `way` leads from a shown item to `def`.
    fn add_sources(&mut self, units: &mut Units, from: &Shown, def: DefDoc, way: &[Step], asked: &Asked) {
        let worth = from.weight / units.usage(def);
        for edge in units.edges_in(def, asked.kinds).iter() {
            let Some(unit) = units.of_def(edge.source) else { continue };
            let file = units.file(unit.file);
            if role_of(&file) != asked.role || file.roles.has(FileRoles::VENDORED) {
                continue;
            }
            let Some(at) = edge.certain_use() else { continue };
            if unit.key == from.unit.key && (!from.is_part() || from.shows(at.line)) {
                continue;
            }
            let Some(step) = asked.allowed.step(edge, false) else { continue };
            self.add(unit, worth, Some(at.line), from.item, way, step);
        }
    }

    fn sorted(mut self, units: &mut Units) -> Vec<Link> {
        sort(units, &mut self.links);
        self.links
    }
}

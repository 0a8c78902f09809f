//! Edges between what is shown and the rest: which definitions the shown lines refer to, who calls the
//! shown definitions, and which tests reach them.

use crate::candidate::Step;
use crate::expand::best_evidence;
use crate::page::Page;
use crate::request::{Direction, EdgeType, EvidenceFilter, Expansion, Strictness};
use crate::role::{Role, role_of};
use crate::unit::{Unit, UnitKey, Units};
use indexd_model::path::{dir_of, stem_of};
use indexd_model::view::{Edge, Occurrence};
use indexd_model::{ChunkDoc, ChunkKind, DefDoc, DefIdx, DefKind, EdgeKind, FileDoc, FileRoles, Lines};
use indexd_text::terms;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::sync::Arc;

/// Files that share the words of a name; more say nothing.
const NAMESAKES_MAX: usize = 400;
/// Percent. Edges below this are candidates and not uses.
const CONFIDENCE_MIN: u8 = 50;

/// A shown item from which edges are followed.
pub struct Shown {
    /// Its position among the candidates.
    pub item: usize,
    /// What it is worth: 1 for the best, less for later ones.
    pub weight: f64,
    /// Its unit.
    pub unit: Rc<Unit>,
    /// The definition whose edges count: that of the unit, or a member that the unit declares.
    pub def: DefDoc,
    /// Its lines that are shown.
    pub lines: Vec<Lines>,
}

/// A unit that edges connect with shown items.
pub struct Link {
    /// The unit.
    pub unit: Rc<Unit>,
    /// The sum of what the items on the other side are worth, each in parts of the logarithm of how
    /// often what is referred to is used in the whole tree.
    pub weight: f64,
    /// Lines of the unit that the edges end or start at, besides its signature.
    pub lines: Vec<u32>,
    /// The shown items on the other side, best first, each with its edge.
    pub edges: Vec<(usize, Step)>,
    /// The edges from the first of them up to its edge, where that does not start there.
    pub way: Vec<Step>,
}

impl Link {
    /// A link without edges.
    pub fn to(unit: Rc<Unit>) -> Self {
        Self { unit, weight: 0.0, lines: Vec::new(), edges: Vec::new(), way: Vec::new() }
    }
}

/// Which edges a request lets pass.
pub struct Allowed {
    direction: Direction,
    evidence: Vec<EvidenceFilter>,
    is_strict: bool,
    kinds: Vec<EdgeKind>,
}

impl Allowed {
    /// Those of `expansion`.
    pub fn of(expansion: &Expansion, strictness: Strictness) -> Self {
        let mut kinds = Vec::new();
        if expansion.edge_types.contains(&EdgeType::Call) {
            kinds.push(EdgeKind::Call);
        }
        if expansion.edge_types.contains(&EdgeType::Usage) {
            kinds.extend([EdgeKind::Usage, EdgeKind::Inherit, EdgeKind::Implement]);
        }
        if expansion.edge_types.contains(&EdgeType::Import) {
            kinds.push(EdgeKind::Import);
        }
        if expansion.max_hops == 0 {
            kinds.clear();
        }
        Self {
            direction: expansion.direction,
            evidence: expansion.evidence_kinds.clone(),
            is_strict: strictness == Strictness::Strict && expansion.require_evidence,
            kinds,
        }
    }

    fn step(&self, edge: &Edge, is_out: bool) -> Option<Step> {
        let evidence = best_evidence(edge, &self.evidence);
        if self.is_strict && evidence.is_none() {
            return None;
        }
        Some(Step {
            kind: edge.kind,
            from: edge.source,
            to: edge.target,
            site: edge.site(),
            is_out,
            evidence,
        })
    }
}

/// One use in shown lines of a definition elsewhere.
struct Use {
    target: DefDoc,
    /// The unit that shows it.
    unit: Rc<Unit>,
    file: FileDoc,
    /// The line of its name.
    line: u32,
    step: Step,
}

/// What shown items refer to, kept while the same of their lines is shown.
#[derive(Default)]
pub struct Uses(FxHashMap<(usize, UnitKey), Kept>);

struct Kept {
    lines: Vec<Lines>,
    uses: Rc<[Use]>,
}

impl Uses {
    /// Starts over.
    pub fn clear(&mut self) {
        self.0.clear();
    }

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
    let source = s.unit.def.some().unwrap_or_else(|| units.view.def_doc(s.unit.file, DefIdx::NONE));
    for edge in units.edges(source).iter().filter(|e| allowed.kinds.contains(&e.kind)) {
        let is_seen = |o: &Occurrence| {
            o.confidence >= CONFIDENCE_MIN && s.lines.iter().any(|l| l.start <= o.line && o.line <= l.end)
        };
        if !edge.occurrences.iter().any(is_seen) {
            continue;
        }
        let Some(unit) = units.of_def(edge.target) else { continue };
        let target = units.def(edge.target);
        // The first line of a module says nothing of what is used of it.
        if unit.key == s.unit.key || target.idx.some().is_none() {
            continue;
        }
        let Some(step) = allowed.step(edge, true) else { continue };
        out.push(Use { target: edge.target, unit, file: target.file, line: target.name_line, step });
    }
    out
}

/// What the shown lines refer to and the page does not show, heaviest first, equal ones by path and
/// place.
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

/// Who refers to the shown definitions, of files with one role, heaviest first; `kinds` of edges count.
pub fn referrers(
    units: &mut Units,
    shown: &[Shown],
    role: Role,
    kinds: &[EdgeKind],
    allowed: &Allowed,
) -> Vec<Link> {
    let mut found = Found::default();
    if allowed.direction == Direction::Out {
        return Vec::new();
    }
    let kinds: Vec<EdgeKind> = kinds.iter().copied().filter(|k| allowed.kinds.contains(k)).collect();
    let asked = Asked { role, kinds: &kinds, allowed };
    for s in shown {
        let Some(def) = s.def.some() else { continue };
        found.add_sources(units, s, def, &[], &asked);
    }
    found.sorted(units)
}

/// Who calls the methods of interfaces and bases that the shown definitions implement or override, and
/// so may call these; of files of code, heaviest first.
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

/// Uses that were found.
pub struct AllUses {
    /// The units with the lines of the uses, those in code first, then by path and place.
    pub links: Vec<Link>,
    /// Whether there are more than are looked at.
    pub is_cut: bool,
}

/// Uses of one definition that are looked at.
const USES_MAX: usize = 2_000;

/// Every call, use and import of the shown definitions, whatever kind of file it stands in, each with all
/// its lines.
pub fn uses(units: &mut Units, shown: &[Shown], allowed: &Allowed) -> AllUses {
    let (mut found, mut is_cut) = (Found::default(), false);
    if allowed.direction == Direction::Out {
        return AllUses { links: Vec::new(), is_cut };
    }
    for s in shown {
        let Some(def) = s.unit.def.some() else { continue };
        let edges = units.view.edges_to(def, &allowed.kinds, USES_MAX + 1);
        is_cut |= edges.len() > USES_MAX;
        for edge in edges.iter().take(USES_MAX) {
            let Some(step) = allowed.step(edge, false) else { continue };
            let file = units.view.def(edge.site()).file;
            for at in edge.occurrences.iter().filter(|o| o.confidence >= CONFIDENCE_MIN) {
                // An import hangs at its file and stands wherever it stands.
                let Some(unit) = units.at(file, at.at).filter(|u| u.key != s.unit.key) else { continue };
                found.add(unit, 0.0, Some(at.line), s.item, &[], step);
            }
        }
    }
    let mut links = found.sorted(units);
    let mut is_test = |l: &Link| role_of(&units.file(l.unit.file)) == Role::Test;
    links.sort_by_cached_key(|l| is_test(l));
    AllUses { links, is_cut }
}

/// Units from which calls and uses lead to the shown definitions, within `hops`, over each other; fewest
/// hops first, then heaviest. Tests are left to others.
pub fn dependents(units: &mut Units, shown: &[Shown], allowed: &Allowed, hops: u32) -> Vec<Link> {
    let kinds = [EdgeKind::Call, EdgeKind::Usage, EdgeKind::Inherit, EdgeKind::Implement];
    let reach = Reach { kinds: &kinds, role: Role::Code, is_through: true, hops };
    reach.from(units, shown, allowed)
}

/// Units of files with one role from which calls lead to the shown definitions, within `hops`; fewest
/// hops first, then heaviest. Units of other roles lie between.
pub fn reaching(units: &mut Units, shown: &[Shown], role: Role, allowed: &Allowed, hops: u32) -> Vec<Link> {
    let kinds = [EdgeKind::Call, EdgeKind::Usage];
    Reach { kinds: &kinds, role, is_through: false, hops }.from(units, shown, allowed)
}

/// A walk against the edges.
struct Reach<'k> {
    kinds: &'k [EdgeKind],
    /// Units of files with this role are found.
    role: Role,
    /// Whether the walk goes on from what is found; else it goes on from the others.
    is_through: bool,
    hops: u32,
}

impl Reach<'_> {
    fn from(&self, units: &mut Units, shown: &[Shown], allowed: &Allowed) -> Vec<Link> {
        let (role, hops) = (self.role, self.hops);
        let kinds: Vec<EdgeKind> = self.kinds.iter().copied().filter(|k| allowed.kinds.contains(k)).collect();
        if allowed.direction == Direction::Out {
            return Vec::new();
        }
        let mut seen: FxHashSet<UnitKey> = shown.iter().map(|s| s.unit.key).collect();
        let mut out: Vec<Link> = Vec::new();
        let start = |s: &Shown| (s.def, s.item, s.weight, Vec::new());
        let mut frontier: Vec<(DefDoc, usize, f64, Vec<Step>)> = shown.iter().map(start).collect();
        let mut left = REACHING_MAX;
        for hop in 1..=hops {
            let mut found = Vec::new();
            let mut next = Vec::new();
            for (def, item, weight, path) in frontier {
                let Some(def) = def.some().filter(|_| left > 0) else { continue };
                left -= 1;
                let worth = weight / units.usage(def);
                for edge in units.edges_in(def, &kinds).iter() {
                    // Beyond the first, only calls carry a change on.
                    if hop > 1 && edge.kind != EdgeKind::Call && !self.is_through {
                        continue;
                    }
                    let Some(unit) = units.of_def(edge.source) else { continue };
                    let Some(at) = edge.occurrences.iter().find(|o| o.confidence >= CONFIDENCE_MIN) else {
                        continue;
                    };
                    let Some(step) = allowed.step(edge, false).filter(|_| !seen.contains(&unit.key)) else {
                        continue;
                    };
                    let file = units.file(unit.file);
                    let is_vendored = self.is_through && file.roles.has(FileRoles::VENDORED);
                    let is_found = role_of(&file) == role && !is_vendored;
                    if is_found {
                        let (lines, edges, way) = (vec![at.line], vec![(item, step)], path.clone());
                        found.push(Link { unit, weight: worth, lines, edges, way });
                    }
                    if hop < hops && is_found == self.is_through {
                        let path = path.iter().copied().chain([step]).collect();
                        next.push((edge.source, item, worth, path));
                    }
                }
            }
            sort(units, &mut found);
            found.retain(|l| seen.insert(l.unit.key));
            out.extend(found);
            let mut defs: FxHashSet<DefDoc> = FxHashSet::default();
            next.retain(|n| defs.insert(n.0));
            frontier = next;
        }
        out
    }
}

/// Definitions whose callers are looked for on the way to tests.
const REACHING_MAX: usize = 600;

/// Tests that refer to the shown definitions, and the other tests of files that are named after theirs:
/// `parse_test.go` or `test_parse.py` after `parse`, each worth half of the best shown code of that file.
pub fn tests(units: &mut Units, shown: &[Shown], allowed: &Allowed) -> Vec<Link> {
    let mut out = referrers(units, shown, Role::Test, &[EdgeKind::Call, EdgeKind::Usage], allowed);
    let namesakes = namesakes(units, shown);
    let mut known: FxHashSet<UnitKey> = out.iter().map(|t| t.unit.key).collect();
    for (file, _) in &namesakes {
        for c in units.file(*file).chunks.clone() {
            let unit = units.of_chunk(ChunkDoc(c));
            if known.insert(unit.key) {
                out.push(Link::to(unit));
            }
        }
    }
    // Import lists, constants and heads of classes show nobody how a thing is tested.
    out.retain(|t| {
        t.unit.def.some().is_some() && !t.unit.kind.is_between() && t.unit.kind != ChunkKind::Type
    });
    for t in &mut out {
        let of_file = namesakes.iter().find(|n| n.0 == t.unit.file);
        t.weight += of_file.map_or(0.0, |n| 0.5 * n.1);
        // Which line calls matters less than to see more tests.
        t.lines.clear();
    }
    out
}

/// Test files that are named after the files of shown code, with what the best code of each is worth.
fn namesakes(units: &mut Units, shown: &[Shown]) -> Vec<(FileDoc, f64)> {
    let mut out: Vec<(FileDoc, f64)> = Vec::new();
    let mut seen: FxHashSet<FileDoc> = FxHashSet::default();
    for s in shown.iter().filter(|s| seen.insert(s.unit.file)) {
        let path = Arc::clone(&units.file(s.unit.file).path);
        let stem = stem_of(&path).trim_matches('_');
        let files = units.known_files_with(stem);
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

/// Puts the first link of each file before the second ones, and so on; the order is kept otherwise.
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

/// Puts links in the folders of shown items before others; the order is kept otherwise.
pub fn nearest_first(units: &mut Units, links: &mut [Link], shown: &[Shown]) {
    let folders: FxHashSet<String> =
        shown.iter().map(|s| dir_of(&units.file(s.unit.file).path).to_owned()).collect();
    links.sort_by_cached_key(|l| !folders.contains(dir_of(&units.file(l.unit.file).path)));
}

/// Who still names what is gone: uses without an edge of the first name of each pair, wherever the whole
/// word stands. A name that another definition bears says nothing.
pub fn dangling(units: &mut Units, gone: &[(String, String)]) -> Vec<Link> {
    let mut out: Vec<Link> = Vec::new();
    for (name, _) in gone.iter().filter(|g| !g.0.is_empty()) {
        if !units.view.defs_named(name).is_empty() {
            continue;
        }
        let mut postings = Vec::new();
        // The whole word where it has several parts, else its only one.
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
                    None => out.push(Link {
                        unit,
                        weight: 1.0,
                        lines: vec![used.line],
                        edges: Vec::new(),
                        way: Vec::new(),
                    }),
                }
            }
        }
    }
    sort(units, &mut out);
    out
}

/// Files in which uses of a name that is gone are looked for.
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

/// Which edges into a definition are asked for.
struct Asked<'a> {
    /// The role of the files that they come from.
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

    /// Adds who refers to `def`, to which `way` leads from a shown item.
    fn add_sources(&mut self, units: &mut Units, from: &Shown, def: DefDoc, way: &[Step], asked: &Asked) {
        let worth = from.weight / units.usage(def);
        for edge in units.edges_in(def, asked.kinds).iter() {
            let Some(unit) = units.of_def(edge.source) else { continue };
            let file = units.file(unit.file);
            if unit.key == from.unit.key
                || role_of(&file) != asked.role
                || file.roles.has(FileRoles::VENDORED)
            {
                continue;
            }
            let Some(at) = edge.occurrences.iter().find(|o| o.confidence >= CONFIDENCE_MIN) else { continue };
            let Some(step) = asked.allowed.step(edge, false) else { continue };
            self.add(unit, worth, Some(at.line), from.item, way, step);
        }
    }

    fn sorted(mut self, units: &mut Units) -> Vec<Link> {
        sort(units, &mut self.links);
        self.links
    }
}

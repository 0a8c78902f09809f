//! The facts of an imported index about one file, and their application to our links.
//!
//! An [`Overlay`] is an input, not a cache: it is stored with the index, is part of its signature
//! and counts only while the file's content is the one it was made for. It names targets by path,
//! descriptor and ordinal, and finds them through the same keys as the linker, so that a target that
//! changes leads back to this file like any other.

use crate::import::ScipError;
use bitcode::{Decode, Encode};
use indexd_model::facts::{ImportKind, StrId};
use indexd_model::{
    ContentHash, DefIdx, DefRef, EdgeKind, Facts, FactsView, FileDoc, Key, Link, Linking, Links, Node, Role,
    Rule, Unresolved, UnresolvedReason, names,
};
use std::collections::BTreeMap;

/// Version of the stored form; an overlay of another version is refused.
const FORMAT: u8 = 2;
/// Percent. A link with this confidence (scope, import, declared type) stays although the index calls the
/// symbol external: `try: import ssl` / `except ImportError: ssl = None` defines a name in both worlds.
const SURE: u8 = 98;

/// The facts of an imported index about one file.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Overlay {
    /// The file, relative to the workspace.
    pub path: String,
    /// Its content when the index was imported.
    pub hash: ContentHash,
    /// The definitions that its places name, each once, sorted by path, descriptor and ordinal.
    pub targets: Vec<Target>,
    /// The places it knows, sorted, each once.
    pub places: Vec<Place>,
}

/// A definition in the tree, named in a way that survives edits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
pub struct Target {
    /// Its file.
    pub path: String,
    /// Its descriptor within the file; empty for the file itself, a module.
    pub descriptor: String,
    /// Number of definitions of the file with the same descriptor before it.
    pub ordinal: u16,
    /// The key under which it is looked up; `None` for a definition of the overlay's own file.
    pub key: Option<Key>,
}

/// One identifier of the file.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Place {
    /// Byte offset of the token.
    pub at: u32,
    /// Length of the token in bytes.
    pub len: u16,
    /// Definitions of the symbol named here, positions in [`Overlay::targets`], the preferred one first;
    /// empty when the symbol is outside the tree.
    pub targets: Vec<u32>,
}

impl Overlay {
    /// Returns true if the overlay was made for a file of this content.
    pub fn matches(&self, hash: &ContentHash) -> bool {
        self.hash == *hash
    }

    /// The stored form.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![FORMAT];
        // First, so that it can be compared without decoding the rest.
        out.extend(self.hash.0);
        out.extend(bitcode::encode(self));
        out
    }

    /// The content hash in a stored overlay, without decoding the rest.
    pub fn hash_in(bytes: &[u8]) -> Option<ContentHash> {
        bytes.strip_prefix(&[FORMAT])?.first_chunk().copied().map(ContentHash)
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// [`ScipError::Overlay`] for another version and for damaged bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, ScipError> {
        let hash = Self::hash_in(bytes).ok_or_else(|| match bytes.first() {
            Some(&FORMAT) => ScipError::Overlay("cut off".to_owned()),
            Some(v) => ScipError::Overlay(format!("version {v}, expected {FORMAT}")),
            None => ScipError::Overlay("no bytes".to_owned()),
        })?;
        bitcode::decode(&bytes[1 + hash.0.len()..]).map_err(|e| ScipError::Overlay(e.to_string()))
    }

    /// Hash of the whole content of the overlay: its leaf in the index signature.
    pub fn digest(&self) -> [u8; 32] {
        *blake3::hash(&self.encode()).as_bytes()
    }
}

/// Hash of all overlays of a workspace, for the index signature. Does not depend on their order.
pub fn digest<'o>(overlays: impl IntoIterator<Item = &'o Overlay>) -> [u8; 32] {
    let mut leaves: Vec<(&str, [u8; 32])> =
        overlays.into_iter().map(|o| (o.path.as_str(), o.digest())).collect();
    leaves.sort_unstable();
    let mut h = blake3::Hasher::new();
    for (path, leaf) in leaves {
        h.update(&(path.len() as u32).to_le_bytes());
        h.update(path.as_bytes());
        h.update(&leaf);
    }
    *h.finalize().as_bytes()
}

/// Applies an overlay to our links of its file. Call it only while [`Overlay::matches`] holds, with the
/// facts of that content read [`Facts::inside`].
///
/// At a place whose target is still in the tree, our links are replaced by one with [`Rule::Tooling`]
/// (kinds, roles and sources stay ours; without a link of ours the syntax decides); candidates of dynamic
/// dispatch stay when the call itself is confirmed. If one symbol has several definitions, those that we had
/// found stay, otherwise the preferred one counts. At a place that names something outside the tree our
/// inferred links are dropped and the use counts as external. If the target is gone, our links stay. Links
/// without an identifier of their own (`implement`) stay; `dataflow` follows the call at its place. The
/// order of links and lookups is again that of [`Links`].
pub fn apply(overlay: &Overlay, file: FileDoc, facts: Facts, links: &mut Links, view: &dyn FactsView) {
    let targets: Vec<Option<DefRef>> =
        overlay.targets.iter().map(|t| find(t, file, &facts, view, &mut links.lookups)).collect();
    links.lookups.sort_unstable();
    links.lookups.dedup();
    let syntax = Syntax::new(&facts);
    let mut ours: BTreeMap<u32, Vec<Link>> = BTreeMap::new();
    links.links.iter().for_each(|l| ours.entry(l.at).or_default().push(*l));
    let mut open: BTreeMap<u32, Vec<Unresolved>> = BTreeMap::new();
    links.unresolved.iter().for_each(|u| open.entry(u.at).or_default().push(*u));
    for place in &overlay.places {
        let mut at = AtPlace {
            place,
            links: ours.remove(&place.at).unwrap_or_default(),
            unresolved: open.remove(&place.at).unwrap_or_default(),
            syntax: &syntax,
            view,
        };
        if place.targets.is_empty() {
            at.external();
        } else {
            let known: Vec<DefRef> =
                place.targets.iter().filter_map(|t| targets.get(*t as usize).copied()?).collect();
            at.named(&known);
        }
        if !at.links.is_empty() {
            ours.insert(place.at, at.links);
        }
        if !at.unresolved.is_empty() {
            open.insert(place.at, at.unresolved);
        }
    }
    links.links = ours.into_values().flatten().collect();
    links.links.sort_by_key(|l| (l.at, l.kind, std::cmp::Reverse(l.confidence)));
    links.unresolved = open.into_values().flatten().collect();
}

/// Finds the definition that a target refers to, if it still exists.
fn find(
    target: &Target,
    file: FileDoc,
    facts: &Facts,
    view: &dyn FactsView,
    lookups: &mut Vec<Key>,
) -> Option<DefRef> {
    let Some(key) = target.key else {
        let defs = (0..facts.interface.defs.len() as u32).map(DefIdx);
        let def = defs.into_iter().find(|d| names_it(target, facts, *d))?;
        return Some(DefRef { file, def });
    };
    lookups.push(key);
    let provider = view.providers(key).into_iter().find(|f| *view.path(*f) == *target.path)?;
    if target.descriptor.is_empty() {
        return Some(DefRef { file: provider, def: DefIdx::NONE });
    }
    let interface = view.interface(provider);
    let facts = Facts::outside(&interface);
    let mut provided = interface.provided(key).filter(|d| d.some().is_some());
    let def = provided.find(|d| names_it(target, &facts, *d))?;
    Some(DefRef { file: provider, def })
}

fn names_it(target: &Target, facts: &Facts, def: DefIdx) -> bool {
    let d = facts.def(def);
    // Comparing the last name first avoids most descriptors.
    d.ordinal == target.ordinal
        && target.descriptor.contains(facts.str(d.name))
        && names::descriptor(facts, def) == target.descriptor
}

/// One place of the overlay with our links at it.
struct AtPlace<'a> {
    place: &'a Place,
    links: Vec<Link>,
    unresolved: Vec<Unresolved>,
    syntax: &'a Syntax<'a>,
    view: &'a dyn FactsView,
}

impl AtPlace<'_> {
    /// The symbol is outside the tree.
    fn external(&mut self) {
        if self.links.iter().any(|l| names_place(l) && l.confidence >= SURE) {
            return;
        }
        let dropped = self.links.iter().find(|l| names_place(l)).copied();
        self.links.retain(|l| l.kind == EdgeKind::Implement);
        for u in &mut self.unresolved {
            if u.reason != UnresolvedReason::Builtin {
                u.reason = UnresolvedReason::External;
            }
        }
        if let (Some(l), true) = (dropped, self.unresolved.is_empty())
            && let Some(name) = self.syntax.name(self.place.at)
        {
            let Link { source, at, role, .. } = l;
            self.unresolved.push(Unresolved { source, name, at, role, reason: UnresolvedReason::External });
        }
    }

    /// The role of a place that names a definition, by the kind of the definition alone: for languages in
    /// which not every use is a fact.
    fn role_of(&self, target: DefRef) -> Option<Role> {
        let facts = &self.syntax.facts;
        if facts.interface.language.linking() == Linking::Types {
            return None;
        }
        let interface = self.view.interface(target.file);
        let kind = target.def.some().map(|d| Facts::outside(&interface).def(d).kind);
        Some(match kind {
            Some(kind) if kind.is_callable() => Role::Call,
            Some(kind) if kind.is_type() => Role::Type,
            _ => Role::Read,
        })
    }

    /// Links the place to these definitions of the symbol, the preferred one first.
    fn named(&mut self, known: &[DefRef]) {
        let Some(&preferred) = known.first() else {
            return;
        };
        let ours = std::mem::take(&mut self.links);
        let agrees = |l: &Link| names_place(l) && known.contains(&l.target);
        let target = ours.iter().find(|l| agrees(l)).map_or(preferred, |l| l.target);
        let is_confirmed = ours.iter().any(agrees);
        let (at, len) = (self.place.at, self.place.len);
        let (rule, confidence) = (Rule::Tooling, Rule::Tooling.confidence());
        let said = |l: &Link, target: DefRef| Link { target, at, len, rule, confidence, ..*l };
        let mut links: Vec<Link> = ours.iter().filter(|l| agrees(l)).map(|l| said(l, l.target)).collect();
        for l in ours.iter().filter(|l| names_place(l) && !agrees(l) && l.rule != Rule::Dispatch) {
            if !links.iter().any(|k| (k.kind, k.source, k.role) == (l.kind, l.source, l.role)) {
                links.push(said(l, target));
            }
        }
        if links.is_empty() {
            let open = self.unresolved.first().map(|u| (u.role, u.source));
            let Some((role, source)) = open.or_else(|| {
                let role = self.syntax.role(at).or_else(|| self.role_of(preferred))?;
                Some((role, self.syntax.around(at, role)))
            }) else {
                self.links = ours;
                return;
            };
            links.push(Link { kind: kind_of(role), source, target, at, len, role, rule, confidence });
        }
        self.links = links;
        let is_wrong =
            |target: DefRef| ours.iter().any(|l| names_place(l) && !agrees(l) && l.target == target);
        self.links.extend(ours.iter().filter(|l| match l.kind {
            EdgeKind::Implement => true,
            EdgeKind::Dataflow | EdgeKind::DataflowIn => {
                (is_confirmed && l.rule == Rule::Dispatch) || !is_wrong(l.target)
            }
            _ => is_confirmed && l.rule == Rule::Dispatch && !agrees(l),
        }));
        self.unresolved.clear();
    }
}

/// Returns true if a link is to the definition that the identifier at its place names.
fn names_place(link: &Link) -> bool {
    !matches!(link.kind, EdgeKind::Dataflow | EdgeKind::DataflowIn | EdgeKind::Implement)
}

/// The kind of edge a use in this role makes.
fn kind_of(role: Role) -> EdgeKind {
    match role {
        Role::Call => EdgeKind::Call,
        Role::Base => EdgeKind::Inherit,
        Role::Import => EdgeKind::Import,
        _ => EdgeKind::Usage,
    }
}

/// The identifiers of a file by place.
struct Syntax<'a> {
    facts: Facts<'a>,
    /// Sorted by place.
    uses: Vec<(u32, Role, StrId)>,
}

impl<'a> Syntax<'a> {
    fn new(facts: &Facts<'a>) -> Self {
        let mut uses = Vec::new();
        for i in 0..facts.n_exprs() as u32 {
            let e = facts.expr(indexd_model::ExprId(i));
            if let Node::Name { name, .. } | Node::Attr { name, .. } | Node::Keyword { name, .. } = e.node
                && e.role != Role::None
            {
                uses.push((e.at, e.role, name));
            }
        }
        for i in &facts.interface.imports {
            if !matches!(i.kind, ImportKind::All) {
                uses.push((i.at, Role::Import, i.name.unwrap_or(i.module)));
            }
        }
        uses.sort_unstable_by_key(|u| (u.0, u.1));
        Self { facts: *facts, uses }
    }

    fn at(&self, at: u32) -> Option<(Role, StrId)> {
        let i = self.uses.partition_point(|u| u.0 < at);
        self.uses.get(i).filter(|u| u.0 == at).map(|u| (u.1, u.2))
    }

    fn role(&self, at: u32) -> Option<Role> {
        self.at(at).map(|u| u.0)
    }

    fn name(&self, at: u32) -> Option<StrId> {
        self.at(at).map(|u| u.1)
    }

    /// The innermost function, method or type around a place. A decorator is outside of the definition it
    /// decorates, although the definition's span includes it.
    fn around(&self, at: u32, role: Role) -> DefIdx {
        let defs = &self.facts.interface.defs;
        let holds = |d: &&indexd_model::Def| {
            let from = if role == Role::Decorator { d.name_span.start } else { d.span.start };
            (d.kind.is_callable() || d.kind.is_type()) && from <= at && at < d.span.end
        };
        let inner = defs
            .iter()
            .enumerate()
            .filter(|(_, d)| holds(d))
            .min_by_key(|(i, d)| (d.span.len(), usize::MAX - i));
        inner.map_or(DefIdx::NONE, |(i, _)| DefIdx(i as u32))
    }
}

#[cfg(test)]
mod tests;

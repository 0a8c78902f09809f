//! What each kind of node of a grammar is to scopes, looked up by its number once per process.

use super::scopes::Words;
use super::table::{Rebinds, Scopes};
use tree_sitter::Language;

/// Stands for the first child where a table names a field.
pub(super) const FIRST: &str = "0";

/// What a kind of node is to scopes; fields are meant by their number in the grammar.
#[derive(Clone, Copy, Default)]
pub(super) struct Kind {
    pub(super) opens: Option<bool>,
    pub(super) is_name: bool,
    pub(super) is_type: bool,
    pub(super) is_base: bool,
    pub(super) is_hoisted: bool,
    pub(super) is_this: bool,
    pub(super) gives_this: bool,
    pub(super) drops_this: bool,
    pub(super) is_passed: bool,
    pub(super) binds: [Option<Bind>; BINDS_MAX],
    pub(super) member: Option<(u16, u16)>,
    pub(super) method: Option<(u16, u16)>,
    pub(super) call: Option<u16>,
    pub(super) is_chain: bool,
    pub(super) is_through: bool,
    pub(super) is_declaration: bool,
    pub(super) is_parameter: bool,
    pub(super) is_pair_pattern: bool,
    pub(super) is_type_arguments: bool,
    pub(super) is_of_page: bool,
    /// The field of a key, and whether the kind around it matters.
    pub(super) label: Option<(u16, Option<&'static str>)>,
    pub(super) rebinds: bool,
    pub(super) words: Option<Words>,
}

/// Where the patterns of what binds stand.
#[derive(Clone, Copy)]
pub(super) enum Bind {
    Whole,
    First,
    /// In a field, else in children of a kind.
    Field(u16, &'static str),
}

/// Places of patterns in one kind of node.
const BINDS_MAX: usize = 4;

/// Stands for the first child among the fields of what is called.
pub(super) const FIRST_FIELD: u16 = u16::MAX;

/// The kinds of a grammar, by number.
pub(super) struct Kinds {
    all: Vec<Kind>,
    none: Kind,
    pub(super) arguments: [u16; 2],
    /// Fields inside a pattern that hold uses.
    pub(super) used: [u16; 8],
    pub(super) value: u16,
    pub(super) name: u16,
}

impl Kinds {
    pub(super) fn new(parser: &Language, table: &'static Scopes) -> Self {
        let mut all = vec![Kind::default(); parser.node_kind_count()];
        let field = |name: &str| parser.field_id_for_name(name).map_or(0, |f| f.get());
        for (id, kind) in all.iter_mut().enumerate() {
            let Some(name) = parser.node_kind_for_id(id as u16) else { continue };
            if !parser.node_kind_is_named(id as u16) {
                continue;
            }
            let has = |list: &[&str]| list.contains(&name);
            kind.opens = if has(table.functions) { Some(true) } else { has(table.blocks).then_some(false) };
            kind.is_name = has(table.names);
            kind.is_type = has(table.types);
            kind.is_base = has(table.bases);
            kind.is_hoisted = has(table.hoisted);
            kind.is_this = name == table.this;
            kind.gives_this = name == table.this_from;
            kind.drops_this = has(table.no_this);
            kind.is_passed = has(table.passed);
            let binds = table.binds.iter().filter(|b| b.0 == name);
            for (known, (_, at)) in kind.binds.iter_mut().zip(binds) {
                *known = Some(match *at {
                    "" => Bind::Whole,
                    FIRST => Bind::First,
                    name => Bind::Field(field(name), name),
                });
            }
            kind.member = table.members.iter().find(|m| m.0 == name).map(|m| (field(m.1), field(m.2)));
            kind.method = table.methods.iter().find(|m| m.0 == name).map(|m| (field(m.1), field(m.2)));
            let call = table.calls.iter().find(|c| c.0 == name);
            kind.call = call.map(|c| if c.1 == FIRST { FIRST_FIELD } else { field(c.1) });
            kind.is_declaration = is_declaration(name);
            kind.is_parameter = name.contains("parameter");
            kind.is_pair_pattern = name == "pair_pattern";
            kind.is_type_arguments = name == "type_arguments";
            kind.is_of_page = name.starts_with("jsx_");
            kind.label = table.labels.iter().find(|l| l.0 == name).map(|l| {
                let field = if l.2 == FIRST { FIRST_FIELD } else { field(l.2) };
                (field, Some(l.1).filter(|around| !around.is_empty()))
            });
            kind.rebinds = match table.rebinds {
                Rebinds::None => false,
                Rebinds::Of(kind, _) => kind == name,
                Rebinds::Bare(kinds, _) => has(kinds),
            };
            kind.words = table.words.iter().find(|w| w.0 == name).map(|w| w.1);
            kind.is_chain = has(table.chains);
            kind.is_through = has(table.through);
        }
        let used =
            ["right", "key", "type", "value", "size", "default_value", "condition", "operator"].map(field);
        let arguments = ["arguments", "type_arguments"].map(field);
        Self { all, none: Kind::default(), arguments, used, value: field("value"), name: field("name") }
    }

    pub(super) fn of(&self, kind_id: usize) -> &Kind {
        self.all.get(kind_id).unwrap_or(&self.none)
    }
}

fn is_declaration(kind: &str) -> bool {
    kind.ends_with("declaration") || kind.ends_with("signature") || kind.ends_with("module")
}

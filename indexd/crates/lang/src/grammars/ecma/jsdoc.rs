//! Types in the comments before functions and variables of JavaScript: `@param {T} a`, `@returns {T}` and
//! `@type {T}`. Names in them are not uses.

use super::visit::Visitor;
use indexd_model::{DefIdx, ExprId, Node as Shape, Role, Source};

/// Nesting of types that is followed.
const DEPTH_MAX: u32 = 8;
/// Bytes of a comment that is read.
const DOC_BYTES_MAX: usize = 8_000;

/// A tag of a comment.
struct Tag<'s> {
    word: &'s str,
    ty: &'s str,
    /// The name behind the type.
    name: &'s str,
}

impl<'s> Visitor<'_, 's> {
    /// Sets the types of a definition and its parameters that its comment states.
    pub(super) fn documented(&mut self, def: DefIdx) {
        let doc = self.b.defs[def.index()].doc;
        if self.is_typed || doc.is_empty() || doc.len() as usize > DOC_BYTES_MAX {
            return;
        }
        let text = self.text.get(doc.range()).unwrap_or("");
        if !text.contains("/**") || !text.contains('{') {
            return;
        }
        for tag in tags(text) {
            match tag.word {
                "param" | "arg" | "argument" => self.documented_param(def, &tag, doc.start),
                "returns" | "return" if self.b.defs[def.index()].results.is_empty() => {
                    let ty = self.parsed(tag.ty, doc.start);
                    if ty != self.opaque {
                        self.b.defs[def.index()].results = vec![ty];
                    }
                }
                "type" if self.b.defs[def.index()].ty == ExprId::NONE => {
                    let ty = self.parsed(tag.ty, doc.start);
                    if ty != self.opaque {
                        self.b.defs[def.index()].ty = ty;
                    }
                }
                _ => {}
            }
        }
    }

    fn documented_param(&mut self, def: DefIdx, tag: &Tag<'s>, at: u32) {
        let is_it = |it: &Self, b: &indexd_model::BindingId| {
            let (name, ..) = it.b.binding_head(*b);
            it.b.text(name) == tag.name
        };
        let params = self.b.defs[def.index()].params.clone();
        let Some(param) = params.into_iter().find(|p| is_it(self, p)) else { return };
        let has_type = self.b.sources_of(param).iter().any(|s| matches!(s, Source::Declared(_)));
        let ty = if has_type { self.opaque } else { self.parsed(tag.ty, at) };
        if ty != self.opaque {
            self.b.source(param, Source::Declared(ty));
        }
    }

    fn parsed(&mut self, text: &'s str, at: u32) -> ExprId {
        let mut parser = Parser { rest: text.trim(), at };
        parser.union(self, 0)
    }
}

/// The tags of a comment that name a type.
fn tags(text: &str) -> impl Iterator<Item = Tag<'_>> {
    text.split('@').skip(1).filter_map(|part| {
        let end = part.find(|c: char| !c.is_alphanumeric()).unwrap_or(part.len());
        let (word, rest) = part.split_at(end);
        let rest = rest.trim_start().strip_prefix('{')?;
        let mut depth = 1;
        let close = rest.find(|c| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth == 0
        })?;
        let (ty, behind) = rest.split_at(close);
        let name = behind[1..].trim_start_matches([' ', '\t', '[']);
        let name = name.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$' | '.')).next()?;
        Some(Tag { word, ty, name })
    })
}

struct Parser<'s> {
    rest: &'s str,
    at: u32,
}

impl<'s> Parser<'s> {
    fn eat(&mut self, text: &str) -> bool {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '*', '\r']);
        let found = self.rest.strip_prefix(text);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn union(&mut self, v: &mut Visitor<'_, 's>, depth: u32) -> ExprId {
        let mut out = self.one(v, depth);
        while self.eat("|") {
            let right = self.one(v, depth);
            out = v.node(Shape::Union { left: out, right }, self.at);
        }
        out
    }

    fn one(&mut self, v: &mut Visitor<'_, 's>, depth: u32) -> ExprId {
        if depth > DEPTH_MAX {
            return v.opaque;
        }
        while self.eat("?") || self.eat("!") || self.eat("...") {}
        let mut out = if self.eat("(") {
            let inner = self.union(v, depth + 1);
            self.eat(")");
            inner
        } else {
            self.named(v, depth)
        };
        loop {
            if self.eat("[]") {
                out = v.node(Shape::SliceType { elem: out }, self.at);
            } else if !self.eat("=") {
                return out;
            }
        }
    }

    fn word(&mut self) -> &'s str {
        self.eat("");
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$'));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    fn named(&mut self, v: &mut Visitor<'_, 's>, depth: u32) -> ExprId {
        let word = self.word();
        if word == "import" && self.eat("(") {
            return self.of_module(v);
        }
        if word.is_empty() || word == "function" || word == "typeof" {
            return v.opaque;
        }
        let mut out = v.named(word, self.at, Role::None);
        while self.rest.starts_with('.') && !self.rest.starts_with(".<") {
            self.rest = &self.rest[1..];
            let name = self.word();
            let name = v.b.str(name);
            out = v.b.expr(Shape::Attr { base: out, name }, self.at, Role::None);
        }
        self.eat(".");
        if !self.eat("<") {
            return out;
        }
        let mut args = Vec::new();
        while !self.rest.is_empty() && !self.eat(">") {
            let before = self.rest.len();
            args.push(self.union(v, depth + 1));
            self.eat(",");
            if self.rest.len() == before {
                break;
            }
        }
        let args = v.b.list(&args);
        v.node(Shape::Apply { base: out, args }, self.at)
    }

    /// `import('./x').Y`.
    fn of_module(&mut self, v: &mut Visitor<'_, 's>) -> ExprId {
        let Some(end) = self.rest.find(')') else { return v.opaque };
        let path = self.rest[..end].trim_matches(['"', '\'', ' ']);
        self.rest = &self.rest[end + 1..];
        let name = v.b.str(path);
        let value = v.node(Shape::Name { name, binding: indexd_model::BindingId::NONE }, self.at);
        let mut out = v.word("require", value, self.at);
        while self.eat(".") {
            let name = self.word();
            let name = v.b.str(name);
            out = v.b.expr(Shape::Attr { base: out, name }, self.at, Role::None);
        }
        out
    }
}

//! Names where the grammar sees a word, a symbol or a string: `trap f EXIT`, `before_action :auth`,
//! `[$this, 'm']`, `"$x"`; and fields that an initialiser or a pattern names.

use super::{Place, Uses};
use crate::grammars::walk::bare;
use crate::tokens::is_identifier;
use indexd_model::lists::holds;
use indexd_model::{ExprId, Node as Shape, Role};

/// Commands of shells that run the command behind them, options aside.
const RUNNERS: [&str; 3] = ["time", "command", "eval"];
/// Methods of Ruby that call or give the method that a symbol names.
const SENDERS: &str = "send __send__ public_send try method public_method instance_method respond_to? \
    method_defined? instance_variable_defined?";
/// Words that begin the names of what registers callbacks in the body of a class.
const HOOKS: &str = "before_ after_ around_ skip_ prepend_ append_ validate helper_method rescue_from \
    private public protected";
/// Functions of PHP that take the name of a function.
#[rustfmt::skip]
const TAKERS: [&str; 26] = [
    "array_map", "array_filter", "array_walk", "array_walk_recursive", "array_reduce", "usort", "uasort", "uksort",
    "array_udiff", "array_uintersect", "array_diff_ukey", "call_user_func", "call_user_func_array", "is_callable",
    "function_exists", "register_shutdown_function", "set_error_handler", "set_exception_handler", "ob_start",
    "spl_autoload_register", "preg_replace_callback", "iterator_apply", "forward_static_call", "header_register_callback",
    "add_action", "add_filter",
];

/// What names stand in words of a kind of node.
#[derive(Clone, Copy)]
pub enum Words {
    /// Arguments of commands.
    Shell,
    /// Symbols among the arguments of calls.
    Ruby,
    /// Strings that name functions, and pairs of a value and the name of a method.
    Php,
    /// `$name` in strings of Kotlin.
    Template,
}

impl<'b, 's> Uses<'b, 's> {
    /// Adds the uses that words in a node make.
    pub(super) fn words(&mut self, node: usize, words: Words, place: Place) {
        match words {
            Words::Shell => self.command(node),
            Words::Ruby => self.symbols(node),
            Words::Php => self.callable(node),
            Words::Template => self.template(node, place),
        }
    }

    /// The text of a leaf or a string without what stands around it, and where that begins.
    fn inner(&self, node: usize) -> (&'s str, u32) {
        let (inner, span) = bare(self.slice(node), self.start(node), &['"', '\'', ':']);
        (inner, span.start)
    }

    /// A use of a name in a word, which may name a definition as well.
    fn free_word(&mut self, name: &'s str, at: u32, role: Role) {
        if !self.by_name.contains_key(&at) {
            self.free(name, at, role);
        }
    }

    fn member_of(&mut self, base: ExprId, name: &'s str, at: u32, role: Role) {
        let name = self.b.str(name);
        self.b.expr(Shape::Attr { base, name }, at, role);
    }

    fn kind_name(&self, node: usize) -> &'b str {
        self.tree.node(node).kind()
    }

    // ---- shells

    fn command(&mut self, node: usize) {
        let tree = self.tree;
        let head = self.slice(node).split_whitespace().next().unwrap_or("");
        let is_command = self.kind_name(node) == "command";
        let words: Vec<usize> = tree.children(node).skip(usize::from(is_command)).collect();
        let is_option = |it: &Self, n: usize| it.slice(n).starts_with('-');
        let first = words.iter().copied().find(|n| !is_option(self, *n));
        match head {
            "trap" => {
                let handler = words.iter().copied().find(|n| self.slice(*n) != "--");
                handler.into_iter().for_each(|n| self.commands_in(n, Role::Read));
            }
            "type" => first.into_iter().for_each(|n| self.commands_in(n, Role::Read)),
            _ if RUNNERS.contains(&head) => first.into_iter().for_each(|n| self.commands_in(n, Role::Call)),
            "complete" | "compgen" => {
                let behind = words.windows(2).find(|w| matches!(self.slice(w[0]), "-F" | "-C")).map(|w| w[1]);
                behind.into_iter().for_each(|n| self.commands_in(n, Role::Read));
            }
            "export" | "declare" | "typeset" | "unset" | "readonly" => {
                let is_function = |n: &usize| is_option(self, *n) && self.slice(*n).contains(['f', 'F']);
                if words.iter().any(is_function) {
                    let names: Vec<usize> = words.into_iter().filter(|n| !is_option(self, *n)).collect();
                    names.into_iter().for_each(|n| self.commands_in(n, Role::Read));
                }
            }
            _ => {}
        }
    }

    /// The commands that a word or a string names.
    fn commands_in(&mut self, node: usize, role: Role) {
        let (text, start) = self.inner(node);
        for part in text.split([';', '&', '|', '\n']) {
            let is_name = |w: &&str| !w.contains(|c: char| !c.is_alphanumeric() && !"_:.-".contains(c));
            let Some(word) = part.split_whitespace().next().filter(is_name) else { continue };
            if word.starts_with(|c: char| c.is_alphabetic() || c == '_') {
                let at = start + (word.as_ptr() as usize - text.as_ptr() as usize) as u32;
                self.free_word(word, at, role);
            }
        }
    }

    // ---- Ruby

    fn symbols(&mut self, node: usize) {
        let tree = self.tree;
        if self.kind_name(node) == "alias" {
            let old = tree.children(node).nth(1).filter(|o| is_symbol(self.kind_name(*o)));
            if let Some((name, at)) = old.map(|o| self.inner(o)) {
                self.free_word(name, at, Role::Read);
            }
            return;
        }
        let Some((receiver, method)) = self.kind(node).method else { return };
        let parts = tree.in_field(node, method).zip(tree.in_field(node, self.kinds.arguments[0]));
        let Some((method, arguments)) = parts else { return };
        let (method, receiver) = (self.slice(method), tree.in_field(node, receiver));
        for block in tree.children(arguments).filter(|a| tree.node(*a).kind() == "block_argument") {
            if let Some(symbol) = tree.children(block).find(|c| is_symbol(tree.node(*c).kind())) {
                let (name, at) = self.inner(symbol);
                self.member_of(self.opaque, name, at, Role::Call);
            }
        }
        if holds(SENDERS, method) {
            let first = tree.children(arguments).next().filter(|a| is_symbol(self.kind_name(*a)));
            first.into_iter().for_each(|symbol| self.sent(symbol, method, receiver));
        } else if receiver.is_none() && self.is_in_class_body(node) {
            self.registered(arguments, method);
        }
    }

    /// `send(:name)`, `value.method(:name)`.
    fn sent(&mut self, symbol: usize, method: &str, receiver: Option<usize>) {
        let (name, at) = self.inner(symbol);
        let role = if method.trim_end_matches('_').ends_with("send") { Role::Call } else { Role::Read };
        match receiver {
            Some(receiver) if self.slice(receiver) != "self" => self.member_of(self.opaque, name, at, role),
            _ => self.free_word(name, at, role),
        }
    }

    /// Symbols among the arguments of a call in the body of a class, those of conditions included.
    fn registered(&mut self, arguments: usize, method: &str) {
        let tree = self.tree;
        let is_hook =
            method == "alias_method" || HOOKS.split_ascii_whitespace().any(|h| method.starts_with(h));
        let is_condition = |pair: usize| {
            let key = tree.children(pair).next().map_or("", |k| self.slice(k));
            matches!(key.trim_matches(':'), "if" | "unless" | "with")
        };
        let is_meant = |symbol: &usize| {
            let pair = tree.parent(*symbol).filter(|p| tree.node(*p).kind() == "pair");
            is_symbol(tree.node(*symbol).kind()) && pair.is_none_or(is_condition)
        };
        let all: Vec<usize> = tree.within(arguments).filter(is_meant).collect();
        for symbol in all {
            let (name, at) = self.inner(symbol);
            let id = self.b.str(name);
            if is_hook || self.callables.contains(&id) {
                self.free_word(name, at, Role::Read);
            }
        }
    }

    /// Whether a call stands in the body of a class or module and in no function there.
    fn is_in_class_body(&self, node: usize) -> bool {
        let mut around = std::iter::successors(self.tree.parent(node), |p| self.tree.parent(*p));
        let found = around.find_map(|p| match self.kind_name(p) {
            "class" | "module" => Some(true),
            "method" | "singleton_method" | "program" => Some(false),
            _ => None,
        });
        found == Some(true)
    }

    // ---- PHP

    fn callable(&mut self, node: usize) {
        let tree = self.tree;
        let inner: Vec<usize> = tree.children(node).collect();
        if self.kind_name(node) == "array_creation_expression" {
            let parts: Vec<usize> = inner.iter().filter_map(|e| tree.children(*e).next()).collect();
            let [of, name] = parts[..] else { return };
            let (name, at) = self.inner(name);
            let is_string = self.slice(parts[1]).starts_with(['"', '\'']);
            let of_text = self.slice(of);
            let base = of_text.strip_suffix("::class").or(Some(of_text).filter(|t| *t == "$this"));
            if let Some(base) = base.filter(|_| is_string && is_identifier(name) && inner.len() == 2) {
                let base = self.free(base, self.start(of), Role::None);
                self.member_of(base, name, at, Role::Read);
            }
            return;
        }
        let Some((function, arguments)) = inner.first().zip(inner.last()) else { return };
        if !TAKERS.contains(&self.slice(*function).trim_start_matches('\\')) {
            return;
        }
        for argument in tree.children(*arguments) {
            let Some(value) = tree.children(argument).last() else { continue };
            let (name, at) = self.inner(value);
            if !self.slice(value).starts_with(['"', '\'']) {
                continue;
            }
            if let Some((class, method)) =
                name.split_once("::").filter(|n| is_identifier(n.0) && is_identifier(n.1))
            {
                let base = self.free(class, at, Role::None);
                self.member_of(base, method, at + class.len() as u32 + 2, Role::Read);
            } else if is_identifier(name) {
                self.free_word(name, at, Role::Read);
            }
        }
    }

    // ---- Kotlin

    /// `"$name"`: in braces the grammar sees the name itself.
    fn template(&mut self, node: usize, place: Place) {
        // The grammar has one kind of string inside of the other.
        if self.tree.parent(node).is_some_and(|p| self.kind(p).words.is_some()) {
            return;
        }
        let text = self.slice(node);
        let is_raw = text.starts_with("\"\"\"");
        let values =
            self.tree.children(node).map(|c| self.tree.node(c)).filter(|c| c.kind() == "interpolation");
        let values: Vec<(usize, usize)> = values.map(|c| (c.start_byte(), c.end_byte())).collect();
        let mut from = 0;
        while let Some(sign) = text[from..].find('$').map(|i| from + i) {
            let rest = &text[sign + 1..];
            let len = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            from = sign + 1 + len;
            let before = &text[..sign];
            let is_escaped = before.ends_with('$') || !is_raw && before.ends_with('\\');
            let place_of = self.tree.node(node).start_byte() + sign;
            let before_it = values.partition_point(|v| v.0 <= place_of).checked_sub(1);
            let in_braces = before_it.is_some_and(|v| place_of < values[v].1);
            if len > 0 && !is_escaped && !in_braces && !rest.starts_with(|c: char| c.is_ascii_digit()) {
                let at = self.start(node) + sign as u32 + 1;
                self.named(&rest[..len], at, Role::Read, place);
            }
        }
    }
}

fn is_symbol(kind: &str) -> bool {
    kind == "simple_symbol"
}

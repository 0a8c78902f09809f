//! SCIP symbol strings, read and written.
//!
//! The grammar is that of `scip.proto`, `message Symbol`:
//!
//! ```text
//! symbol     = scheme ' ' manager ' ' package ' ' version ' ' descriptor+ | 'local ' id
//! descriptor = name '/' | name '#' | name '.' | name ':' | name '!'
//!            | name '(' disambiguator? ').' | '[' name ']' | '(' name ')'
//! name       = [A-Za-z0-9_+$-]+ | '`' any, with '`' doubled '`'
//! ```
//!
//! Blanks inside the first four fields are doubled and an empty field is `.`. The grammar leaves one
//! case open: a field that begins with a blank reads as part of the field before it.

use indexd_model::names::push_name;
use std::fmt;

/// A symbol as other indexers write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// Known in its document only.
    Local(String),
    /// Known everywhere.
    Global {
        /// Who made the index, never empty and never `local`.
        scheme: String,
        /// Package manager; empty when there is none.
        manager: String,
        /// Package; may be empty.
        package: String,
        /// Version of the package; may be empty.
        version: String,
        /// From the outermost namespace down to the symbol; at least one.
        descriptors: Vec<Descriptor>,
    },
}

/// One step of a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Name without escapes; never empty.
    pub name: String,
    /// What kind of thing it names.
    pub suffix: Suffix,
}

/// What a descriptor names, told by what follows the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Suffix {
    /// `name/`
    Namespace,
    /// `name#`
    Type,
    /// `name.`
    Term,
    /// `name(disambiguator).`; the disambiguator is simple and mostly empty.
    Method(String),
    /// `[name]`
    TypeParameter,
    /// `(name)`
    Parameter,
    /// `name:`
    Meta,
    /// `name!`
    Macro,
}

/// Why a string is no SCIP symbol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no SCIP symbol at byte {at}: expected {expected}")]
pub struct SymbolError {
    /// Where reading stopped.
    pub at: usize,
    /// What should have been there.
    pub expected: &'static str,
}

impl Symbol {
    /// Reads a symbol string.
    ///
    /// # Errors
    /// [`SymbolError`] for anything the grammar does not allow.
    pub fn parse(text: &str) -> Result<Self, SymbolError> {
        if let Some(id) = text.strip_prefix("local ") {
            return match id.bytes().position(|b| !is_simple(b)) {
                None if !id.is_empty() => Ok(Self::Local(id.to_owned())),
                at => Err(SymbolError { at: 6 + at.unwrap_or(0), expected: "a simple identifier" }),
            };
        }
        let mut p = Parser { text, at: 0 };
        let scheme = p.field("a scheme")?;
        if scheme.is_empty() || scheme == "local" {
            return Err(SymbolError { at: 0, expected: "a scheme" });
        }
        let manager = p.package_field("a package manager")?;
        let package = p.package_field("a package name")?;
        let version = p.package_field("a version")?;
        let mut descriptors = vec![p.descriptor()?];
        while p.at < text.len() {
            descriptors.push(p.descriptor()?);
        }
        Ok(Self::Global { scheme, manager, package, version, descriptors })
    }

    /// The last step of a global symbol.
    pub fn last(&self) -> Option<&Descriptor> {
        match self {
            Self::Local(_) => None,
            Self::Global { descriptors, .. } => descriptors.last(),
        }
    }
}

impl fmt::Display for Symbol {
    /// Writes the symbol string.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, package, descriptors) = match self {
            Self::Local(id) => return write!(f, "local {id}"),
            Self::Global { scheme, manager, package, version, descriptors } => {
                (scheme, [manager, package, version], descriptors)
            }
        };
        f.write_str(&scheme.replace(' ', "  "))?;
        for field in package {
            let field = if field.is_empty() { "." } else { field };
            write!(f, " {}", field.replace(' ', "  "))?;
        }
        f.write_str(" ")?;
        descriptors.iter().try_for_each(|d| fmt::Display::fmt(d, f))
    }
}

impl fmt::Display for Descriptor {
    /// Writes name and suffix.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut name = String::with_capacity(self.name.len() + 2);
        push_name(&mut name, &self.name);
        match &self.suffix {
            Suffix::Namespace => write!(f, "{name}/"),
            Suffix::Type => write!(f, "{name}#"),
            Suffix::Term => write!(f, "{name}."),
            Suffix::Method(disambiguator) => write!(f, "{name}({disambiguator})."),
            Suffix::TypeParameter => write!(f, "[{name}]"),
            Suffix::Parameter => write!(f, "({name})"),
            Suffix::Meta => write!(f, "{name}:"),
            Suffix::Macro => write!(f, "{name}!"),
        }
    }
}

fn is_simple(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'+' | b'-' | b'$')
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fail<T>(&self, expected: &'static str) -> Result<T, SymbolError> {
        Err(SymbolError { at: self.at, expected })
    }

    fn take(&mut self, b: u8, expected: &'static str) -> Result<(), SymbolError> {
        if self.peek() != Some(b) {
            return self.fail(expected);
        }
        self.at += 1;
        Ok(())
    }

    /// Everything up to a single blank, which is consumed.
    fn field(&mut self, expected: &'static str) -> Result<String, SymbolError> {
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(blank) = rest.find(' ') else {
                self.at = self.text.len();
                return self.fail(expected);
            };
            out.push_str(&rest[..blank]);
            self.at += blank + 1;
            if self.peek() != Some(b' ') {
                return Ok(out);
            }
            out.push(' ');
            self.at += 1;
        }
    }

    fn package_field(&mut self, expected: &'static str) -> Result<String, SymbolError> {
        self.field(expected).map(|f| if f == "." { String::new() } else { f })
    }

    fn name(&mut self) -> Result<String, SymbolError> {
        if self.peek() == Some(b'`') {
            return self.escaped();
        }
        let rest = &self.text.as_bytes()[self.at..];
        let len = rest.iter().position(|b| !is_simple(*b)).unwrap_or(rest.len());
        if len == 0 {
            return self.fail("an identifier");
        }
        self.at += len;
        Ok(self.text[self.at - len..self.at].to_owned())
    }

    fn escaped(&mut self) -> Result<String, SymbolError> {
        let mut out = String::new();
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let Some(tick) = rest.find('`') else {
                self.at = self.text.len();
                return self.fail("a closing backtick");
            };
            out.push_str(&rest[..tick]);
            self.at += tick + 1;
            if self.peek() != Some(b'`') {
                break;
            }
            out.push('`');
            self.at += 1;
        }
        if out.is_empty() { self.fail("a name between the backticks") } else { Ok(out) }
    }

    fn descriptor(&mut self) -> Result<Descriptor, SymbolError> {
        match self.peek() {
            Some(b'(') => self.bracketed(b')', Suffix::Parameter),
            Some(b'[') => self.bracketed(b']', Suffix::TypeParameter),
            _ => {
                let name = self.name()?;
                let suffix = self.suffix()?;
                Ok(Descriptor { name, suffix })
            }
        }
    }

    fn bracketed(&mut self, close: u8, suffix: Suffix) -> Result<Descriptor, SymbolError> {
        self.at += 1;
        let name = self.name()?;
        self.take(close, "a closing bracket")?;
        Ok(Descriptor { name, suffix })
    }

    fn suffix(&mut self) -> Result<Suffix, SymbolError> {
        let suffix = match self.peek() {
            Some(b'/') => Suffix::Namespace,
            Some(b'#') => Suffix::Type,
            Some(b'.') => Suffix::Term,
            Some(b':') => Suffix::Meta,
            Some(b'!') => Suffix::Macro,
            Some(b'(') => {
                self.at += 1;
                let rest = &self.text.as_bytes()[self.at..];
                let len = rest.iter().position(|b| !is_simple(*b)).unwrap_or(rest.len());
                let disambiguator = self.text[self.at..self.at + len].to_owned();
                self.at += len;
                self.take(b')', "a closing bracket")?;
                if self.peek() != Some(b'.') {
                    return self.fail("a dot after the method");
                }
                Suffix::Method(disambiguator)
            }
            _ => return self.fail("a suffix"),
        };
        self.at += 1;
        Ok(suffix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_every_form() {
        for (text, steps) in [
            ("local 12", vec![]),
            ("scip-go gomod m v1 `net/http`/Server#Serve().", vec!["net/http /", "Server #", "Serve ()."]),
            (
                "s . . . a+b-c$_/T#[K](x)f(+1).m!n:v.",
                vec!["a+b-c$_ /", "T #", "K []", "x ()", "f (+1).", "m !", "n :", "v ."],
            ),
            ("a  b  c m p  q v `x``y z`#", vec!["x`y z #"]),
            ("s m p v `f(x).`().", vec!["f(x). ()."]),
        ] {
            let symbol = Symbol::parse(text).unwrap();
            let got: Vec<String> = match &symbol {
                Symbol::Local(_) => vec![],
                Symbol::Global { descriptors, .. } => descriptors
                    .iter()
                    .map(|d| match &d.suffix {
                        Suffix::Namespace => format!("{} /", d.name),
                        Suffix::Type => format!("{} #", d.name),
                        Suffix::Term => format!("{} .", d.name),
                        Suffix::Method(x) => format!("{} ({x}).", d.name),
                        Suffix::TypeParameter => format!("{} []", d.name),
                        Suffix::Parameter => format!("{} ()", d.name),
                        Suffix::Meta => format!("{} :", d.name),
                        Suffix::Macro => format!("{} !", d.name),
                    })
                    .collect(),
            };
            assert_eq!(
                (got, symbol.to_string()),
                (steps.iter().map(|s| (*s).to_owned()).collect(), text.to_owned())
            );
        }
    }

    #[test]
    fn says_where_a_bad_symbol_stops() {
        for (text, at, expected) in [
            ("", 0, "a scheme"),
            ("local ", 6, "a simple identifier"),
            ("local a b", 7, "a simple identifier"),
            ("scip-go", 7, "a scheme"),
            (" m p v x.", 0, "a scheme"),
            ("s m p v", 7, "a version"),
            ("s m p v ", 8, "an identifier"),
            ("s m p v x", 9, "a suffix"),
            ("s m p v ü.", 8, "an identifier"),
            ("s m p v `x", 10, "a closing backtick"),
            ("s m p v ``.", 10, "a name between the backticks"),
            ("s m p v f()", 11, "a dot after the method"),
            ("s m p v f(-.", 11, "a closing bracket"),
            ("s m p v [T.", 10, "a closing bracket"),
        ] {
            assert_eq!(Symbol::parse(text), Err(SymbolError { at, expected }), "{text:?}");
        }
    }

    fn field() -> impl Strategy<Value = String> {
        // A leading blank is the ambiguity of the grammar; a lone dot stands for the empty field.
        "|[^ .]|[^ ][a-z .`ü]{1,6}"
    }

    fn descriptor() -> impl Strategy<Value = Descriptor> {
        let suffix = prop_oneof![
            Just(Suffix::Namespace),
            Just(Suffix::Type),
            Just(Suffix::Term),
            "[a-z0-9+$_-]{0,3}".prop_map(Suffix::Method),
            Just(Suffix::TypeParameter),
            Just(Suffix::Parameter),
            Just(Suffix::Meta),
            Just(Suffix::Macro),
        ];
        ("[a-zA-Z0-9_+$-]{1,5}|[a-z`/#.:!()\\[\\] \u{e9}]{1,6}|\\PC{1,4}", suffix)
            .prop_map(|(name, suffix)| Descriptor { name, suffix })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn round_trips(
            scheme in "[a-z][a-z0-9 -]{0,8}", manager in field(), package in field(), version in field(),
            descriptors in prop::collection::vec(descriptor(), 1..6),
        ) {
            prop_assume!(scheme != "local" && !scheme.starts_with("local "));
            let symbol = Symbol::Global { scheme, manager, package, version, descriptors };
            let text = symbol.to_string();
            prop_assert_eq!(Symbol::parse(&text), Ok(symbol), "{}", text);
            prop_assert!(scip::symbol::parse_symbol(&text).is_ok(), "the bindings refuse {text}");
        }

        #[test]
        fn never_panics_and_keeps_what_it_reads(text in "[a-z `().#/:!\\[\\]ü]{0,24}|local [a-z ]{0,4}|s m p v \\PC{0,12}") {
            if let Ok(symbol) = Symbol::parse(&text) {
                prop_assert_eq!(Symbol::parse(&symbol.to_string()), Ok(symbol));
            }
        }
    }
}

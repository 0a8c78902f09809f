//! Parses SCIP symbol strings of other indexers.
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
//! Blanks inside the first four fields are doubled and an empty field is `.`. The grammar leaves one case
//! open: a field that begins with a blank is read as part of the field before it.

use scip::types::descriptor::Suffix;

/// A symbol of any indexer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbol {
    /// Package manager; empty when there is none.
    pub manager: String,
    /// Package; may be empty.
    pub package: String,
    /// From the outermost namespace down to the symbol; none for one that is known in its document only.
    pub descriptors: Vec<Descriptor>,
}

/// One step of a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Name without escapes; never empty.
    pub name: String,
    /// The kind of thing it names, told by the mark after the name.
    pub suffix: Suffix,
}

impl Descriptor {
    /// Returns true for a module or a package.
    pub fn is_module(&self) -> bool {
        matches!(self.suffix, Suffix::Namespace | Suffix::Meta)
    }
}

impl Symbol {
    /// Reads a symbol string; `None` for anything that the grammar does not allow.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(id) = text.strip_prefix("local ") {
            return (!id.is_empty() && id.bytes().all(is_simple)).then(Self::default);
        }
        let mut rest = Rest(text);
        let scheme = rest.field()?;
        let [manager, package, _version] =
            [rest.package_field()?, rest.package_field()?, rest.package_field()?];
        let mut descriptors = vec![rest.descriptor()?];
        while !rest.0.is_empty() {
            descriptors.push(rest.descriptor()?);
        }
        (!scheme.is_empty()).then_some(Self { manager, package, descriptors })
    }
}

fn is_simple(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'+' | b'-' | b'$')
}

/// The unread rest of a symbol string.
struct Rest<'t>(&'t str);

impl<'t> Rest<'t> {
    /// Takes `mark` if the rest begins with it.
    fn take(&mut self, mark: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(mark)?;
        Some(())
    }

    /// Takes everything up to a single `end`, which is taken, too; a doubled one means the character itself.
    fn until(&mut self, end: char) -> Option<String> {
        let mut out = String::new();
        loop {
            let (before, rest) = self.0.split_once(end)?;
            out.push_str(before);
            self.0 = rest;
            let Some(rest) = rest.strip_prefix(end) else { return Some(out) };
            out.push(end);
            self.0 = rest;
        }
    }

    fn field(&mut self) -> Option<String> {
        self.until(' ')
    }

    fn package_field(&mut self) -> Option<String> {
        self.field().map(|f| if f == "." { String::new() } else { f })
    }

    /// Takes all simple characters up to the next other one.
    fn simple(&mut self) -> &'t str {
        let end = self.0.bytes().position(|b| !is_simple(b)).unwrap_or(self.0.len());
        let (simple, rest) = self.0.split_at(end);
        self.0 = rest;
        simple
    }

    fn name(&mut self) -> Option<String> {
        let name = match self.take("`") {
            Some(()) => self.until('`')?,
            None => self.simple().to_owned(),
        };
        (!name.is_empty()).then_some(name)
    }

    fn descriptor(&mut self) -> Option<Descriptor> {
        for (open, close, suffix) in [("(", ")", Suffix::Parameter), ("[", "]", Suffix::TypeParameter)] {
            if self.take(open).is_some() {
                let name = self.name()?;
                self.take(close)?;
                return Some(Descriptor { name, suffix });
            }
        }
        let name = self.name()?;
        let mark = self.0.chars().next()?;
        self.0 = &self.0[mark.len_utf8()..];
        let suffix = match mark {
            '/' => Suffix::Namespace,
            '#' => Suffix::Type,
            '.' => Suffix::Term,
            ':' => Suffix::Meta,
            '!' => Suffix::Macro,
            '(' => {
                self.simple();
                self.take(").")?;
                Suffix::Method
            }
            _ => return None,
        };
        Some(Descriptor { name, suffix })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexd_model::names::push_name;
    use proptest::prelude::*;
    use scip::symbol::{format_symbol, parse_symbol};
    use scip::types::{Descriptor as Written, Package};

    #[test]
    fn reads_every_form() {
        for (text, steps) in [
            ("local 12", vec![]),
            ("scip-go gomod m v1 `net/http`/Server#Serve().", vec!["net/http /", "Server #", "Serve ()."]),
            (
                "s . . . a+b-c$_/T#[K](x)f(+1).m!n:v.",
                vec!["a+b-c$_ /", "T #", "K []", "x ()", "f ().", "m !", "n :", "v ."],
            ),
            ("a  b  c m p  q v `x``y z`#", vec!["x`y z #"]),
            ("s m p v `f(x).`().", vec!["f(x). ()."]),
        ] {
            let mark = |suffix| match suffix {
                Suffix::Type => "#",
                Suffix::Term => ".",
                Suffix::Method => "().",
                Suffix::TypeParameter => "[]",
                Suffix::Parameter => "()",
                Suffix::Meta => ":",
                Suffix::Macro => "!",
                _ => "/",
            };
            let symbol = Symbol::parse(text).unwrap();
            let got: Vec<String> =
                symbol.descriptors.iter().map(|d| format!("{} {}", d.name, mark(d.suffix))).collect();
            assert_eq!(got, steps, "{text}");
        }
        let fields = |text| Symbol::parse(text).map(|s| (s.manager, s.package)).unwrap();
        assert_eq!(fields("a  b  c m p  q v x#"), ("m".to_owned(), "p q".to_owned()));
        assert_eq!(fields("s . . . x#"), Default::default());
    }

    #[test]
    fn refuses_what_the_grammar_does_not_allow() {
        for text in [
            "",
            "local ",
            "local a b",
            "local  s m p v x.",
            "scip-go",
            " m p v x.",
            "s m p v",
            "s m p v ",
            "s m p v x",
            "s m p v ü.",
            "s m p v `x",
            "s m p v ``.",
            "s m p v f()",
            "s m p v f(-.",
            "s m p v [T.",
            "s m p v xü",
        ] {
            assert_eq!(Symbol::parse(text), None, "{text:?}");
        }
    }

    fn descriptor() -> impl Strategy<Value = (String, Suffix, String)> {
        let suffix = prop_oneof![
            Just(Suffix::Namespace),
            Just(Suffix::Type),
            Just(Suffix::Term),
            Just(Suffix::Method),
            Just(Suffix::TypeParameter),
            Just(Suffix::Parameter),
            Just(Suffix::Meta),
            Just(Suffix::Macro),
        ];
        ("[a-zA-Z0-9_+$-]{1,5}|[a-z`/#.:!()\\[\\] \u{e9}]{1,6}|\\PC{1,4}", suffix, "[a-z0-9+$_-]{0,3}")
    }

    /// A descriptor with its name written as in our own symbols.
    fn own(name: &str, suffix: Suffix, disambiguator: &str) -> String {
        let mut written = String::new();
        push_name(&mut written, name);
        match suffix {
            Suffix::Type => written + "#",
            Suffix::Term => written + ".",
            Suffix::Method => format!("{written}({disambiguator})."),
            Suffix::TypeParameter => format!("[{written}]"),
            Suffix::Parameter => format!("({written})"),
            Suffix::Meta => written + ":",
            Suffix::Macro => written + "!",
            _ => written + "/",
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn symbols_survive_writing_and_reading(
            scheme in "[a-z][a-z0-9-]{0,8}", manager in "|[^ .]{1,6}", package in "|[^ .]{1,6}",
            descriptors in prop::collection::vec(descriptor(), 1..6),
        ) {
            prop_assume!(scheme != "local");
            let package = Package { manager, name: package, version: "v1".to_owned(), ..Package::default() };
            let written = descriptors.iter().map(|(name, suffix, disambiguator)| Written {
                name: name.clone(),
                suffix: (*suffix).into(),
                disambiguator: disambiguator.clone(),
                ..Default::default()
            });
            let symbol = scip::types::Symbol {
                scheme,
                package: Some(package.clone()).into(),
                descriptors: written.collect(),
                ..Default::default()
            };
            let text = format_symbol(symbol);
            let ours: String = descriptors.iter().map(|(name, suffix, d)| own(name, *suffix, d)).collect();
            prop_assert_eq!(text.splitn(5, ' ').last(), Some(ours.as_str()));
            let descriptors =
                descriptors.into_iter().map(|(name, suffix, _)| Descriptor { name, suffix }).collect();
            let expect = Symbol { manager: package.manager, package: package.name, descriptors };
            prop_assert_eq!(Symbol::parse(&text), Some(expect), "{}", text);
        }

        #[test]
        fn reads_nothing_that_the_bindings_refuse(
            text in "[a-z `().#/:!\\[\\]ü]{0,24}|local [a-z ]{0,4}|s m p v \\PC{0,12}",
        ) {
            if Symbol::parse(&text).is_some() {
                prop_assert!(parse_symbol(&text).is_ok(), "{}", text);
            }
        }
    }
}

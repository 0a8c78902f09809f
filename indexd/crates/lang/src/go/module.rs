//! Facts of `go.mod` and `go.work`.
//!
//! `package` is the module path. Directives are imports, told apart by their kind:
//! - `require M v` is [`ImportKind::Module`] with `module` M and `name` the version;
//! - `replace M [v] => R [w]` is [`ImportKind::Name`] with `module` M and `name` R, a folder when it
//!   starts with `.` or `/`;
//! - `use D` (go.work) is [`ImportKind::All`] with `module` D, a folder.
//!
//! A go.mod is found by its path and, under `Key::member("gomod", <module path>)`, by its module.

use crate::Input;
use crate::builder::{Builder, Header, blank_import};
use crate::chunks::{Piece, assemble};
use indexd_model::facts::{Import, ImportKind};
use indexd_model::{ChunkKind, DefIdx, FileFacts, Key, Language, Outcome, Span, StrId};

/// Returns everything stated in a `go.mod` or, by its path, a `go.work`. Lines that are not understood are
/// ignored.
pub fn facts(input: Input) -> FileFacts {
    let Input { path, text, lines, language, .. } = input;
    let mut reader = Reader { b: Builder::new(), package: None, pieces: Vec::new() };
    reader.read(text);
    let header = Header { package: reader.package, ..Header::new(input, Outcome::Parsed) };
    let chunks = assemble(text, lines, &reader.pieces, ChunkKind::Between);
    let (interface, body) = reader.b.finish(header, |facts| {
        let mut out = vec![(Key::file(path), DefIdx::NONE)];
        if let (Language::GoMod, Some(module)) = (language, facts.interface.package) {
            out.push((Key::member("gomod", facts.str(module)), DefIdx::NONE));
        }
        out
    });
    FileFacts { interface, body, chunks }
}

struct Reader<'s> {
    b: Builder<'s>,
    package: Option<StrId>,
    pieces: Vec<Piece>,
}

impl<'s> Reader<'s> {
    fn read(&mut self, text: &'s str) {
        // The directive of the open block and where it starts.
        let mut block: Option<(&str, usize)> = None;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let code = line.split("//").next().unwrap_or("");
            let mut words = code.split_whitespace().peekable();
            let Some(first) = words.peek().copied() else { continue };
            match block {
                Some((_, from)) if first == ")" => {
                    self.piece(from, at);
                    block = None;
                }
                Some((directive, _)) => self.directive(directive, words.collect(), text, start, code),
                None => {
                    words.next();
                    if words.peek() == Some(&"(") {
                        block = Some((first, start));
                    } else {
                        self.directive(first, words.collect(), text, start, code);
                    }
                }
            }
        }
        if let Some((_, from)) = block {
            self.piece(from, at);
        }
    }

    fn piece(&mut self, start: usize, end: usize) {
        let span = Span::new(start as u32, end as u32);
        self.pieces.push(Piece { span, def: DefIdx::NONE, kind: ChunkKind::Entry });
    }

    /// One directive; `start` is where its line starts.
    fn directive(
        &mut self,
        directive: &str,
        words: Vec<&'s str>,
        text: &'s str,
        start: usize,
        code: &'s str,
    ) {
        let unquoted: Vec<&'s str> = words.iter().map(|w| w.trim_matches(['"', '`'])).collect();
        let (kind, module, name) = match (directive, &unquoted[..]) {
            ("module", [path, ..]) => {
                self.package = Some(self.b.str(path));
                return;
            }
            ("require", [module, version, ..]) => (ImportKind::Module, *module, Some(*version)),
            ("use", [dir, ..]) => (ImportKind::All, *dir, None),
            ("replace", [module, "=>", to, ..] | [module, _, "=>", to, ..]) => {
                (ImportKind::Name, *module, Some(*to))
            }
            _ => return,
        };
        let at = words[0].as_ptr() as usize - text.as_ptr() as usize;
        let span = Span::new(start as u32, (start + code.trim_end().len()) as u32);
        let import = blank_import(self.b.str(module), kind, at as u32, span);
        let name = name.map(|n| self.b.str(n));
        self.b.imports.push(Import { name, ..import });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexd_model::Facts;
    use indexd_model::{LineIndex, RepoPath};

    fn check(path: &str, text: &str, expect: &[&str]) {
        let facts = facts(Input::plain(&RepoPath::new(path).unwrap(), text, &LineIndex::new(text)));
        let read = Facts::inside(&facts);
        let mut got: Vec<String> =
            facts.interface.package.iter().map(|p| format!("module {}", read.str(*p))).collect();
        got.extend(facts.interface.imports.iter().map(|i| {
            let at = text[i.at as usize..].split_whitespace().next().unwrap_or("");
            format!("{:?} {} {} @{at}", i.kind, read.str(i.module), i.name.map_or("-", |n| read.str(n)))
        }));
        assert_eq!(got, expect);
    }

    #[test]
    fn reads_directives_alone_and_in_blocks() {
        check(
            "a/go.mod",
            "module example.com/m // the module\n\ngo 1.19\n\nrequire (\n\ta.b/c v1.2.3 // indirect\n)\nrequire d.e/f v0.1.0\n\
             replace a.b/c => ./c\nreplace (\n\td.e/f v0.1.0 => ../f\n\tg.h/i => j.k/l v2.0.0\n)\n",
            &[
                "module example.com/m",
                "Module a.b/c v1.2.3 @a.b/c",
                "Module d.e/f v0.1.0 @d.e/f",
                "Name a.b/c ./c @a.b/c",
                "Name d.e/f ../f @d.e/f",
                "Name g.h/i j.k/l @g.h/i",
            ],
        );
        check("go.work", "go 1.19\nuse ./a\nuse (\n\t./b\n", &["All ./a - @./a", "All ./b - @./b"]);
        check("go.mod", "module \"quoted\"\nrequire\nreplace x\n)\n", &["module quoted"]);
    }

    #[test]
    fn blocks_are_chunks() {
        let text = "module m\n\nrequire (\n\ta.b/c v1\n)\n";
        let facts = facts(Input::plain(&RepoPath::new("go.mod").unwrap(), text, &LineIndex::new(text)));
        let got: Vec<_> = facts.chunks.iter().map(|c| (c.lines.start, c.lines.end, c.kind)).collect();
        assert_eq!(got, [(1, 1, ChunkKind::Between), (3, 5, ChunkKind::Entry)]);
    }
}

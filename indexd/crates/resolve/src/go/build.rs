//! Build constraints: which files belong to the build that a use is compiled in.
//!
//! The build is linux/amd64 whatever the machine is, so that two machines agree; a file outside it
//! is linked in the nearest build that it belongs to. The release of Go is the newest, and for a file
//! of older ones (`!go1.21`) the newest of those.

use indexd_model::lists::holds;
use indexd_model::path::stem_of;

/// One build: a target, a release of Go and the custom tags in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Build {
    os: &'static str,
    arch: &'static str,
    /// The minor number of the release: it has the tags `go1.1` up to this.
    release: u32,
    tags: Vec<String>,
}

const SYSTEMS: &str = "linux darwin windows freebsd netbsd openbsd dragonfly solaris illumos aix plan9 android ios js \
    wasip1 hurd zos";
/// Those of [`SYSTEMS`] that are not Unix.
const NOT_UNIX: &str = "windows plan9 js wasip1 zos";
const MACHINES: &str = "amd64 arm64 386 arm riscv64 ppc64le ppc64 s390x mips mipsle mips64 mips64le loong64 wasm ppc \
    sparc64 sparc riscv s390 armbe arm64be";

/// The build constraint of a file, from its name and from the text before the package clause.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constraint<'a> {
    os: Option<&'a str>,
    arch: Option<&'a str>,
    expr: Option<&'a str>,
}

impl<'a> Constraint<'a> {
    /// `name_GOOS.go`, `name_GOARCH.go`, `name_GOOS_GOARCH.go`, each maybe before `_test`.
    pub(super) fn new(path: &'a str, expr: Option<&'a str>) -> Self {
        let stem = stem_of(path);
        let stem = stem.strip_suffix("_test").unwrap_or(stem);
        // A name that is all suffix, such as `linux.go`, does not constrain.
        let (rest, last) = stem.rsplit_once('_').unwrap_or(("", ""));
        let arch = Some(last).filter(|l| holds(MACHINES, l));
        let os = match arch {
            Some(_) => rest.rsplit_once('_').map(|(_, before)| before),
            None => Some(last),
        };
        Self { os: os.filter(|os| holds(SYSTEMS, os)), arch, expr }
    }

    /// Returns true if the build has the file.
    pub(super) fn allows(&self, build: &Build) -> bool {
        self.os.is_none_or(|os| build.has(os))
            && self.arch.is_none_or(|arch| build.has(arch))
            && self.expr.is_none_or(|e| Reader { rest: e, build, depth: 0 }.any())
    }
}

impl Build {
    /// The build that a file is linked in.
    pub(super) fn of(file: &Constraint) -> Self {
        let standard = Self { os: "linux", arch: "amd64", release: u32::MAX, tags: Vec::new() };
        if file.allows(&standard) {
            return standard;
        }
        let tags = file.expr.map_or_else(Vec::new, custom_tags);
        for release in file.expr.map_or_else(|| vec![u32::MAX], releases) {
            for arch in MACHINES.split_ascii_whitespace() {
                for os in SYSTEMS.split_ascii_whitespace().filter(|os| is_port(os, arch)) {
                    let plain = Self { os, arch, release, tags: Vec::new() };
                    if file.allows(&plain) {
                        return plain;
                    }
                    let tagged = Self { tags: tags.clone(), ..plain };
                    if !tags.is_empty() && file.allows(&tagged) {
                        return tagged;
                    }
                }
            }
        }
        standard
    }

    fn has(&self, tag: &str) -> bool {
        tag == self.os
            || tag == self.arch
            || (tag == "unix" && !holds(NOT_UNIX, self.os))
            || (tag == "linux" && self.os == "android")
            || (tag == "darwin" && self.os == "ios")
            || matches!(tag, "gc" | "cgo")
            || release_of(tag).is_some_and(|r| r <= self.release)
            || tag.strip_prefix(self.arch).is_some_and(|rest| rest.starts_with(".v1") && rest.len() == 3)
            || self.tags.iter().any(|t| t == tag)
    }
}

/// Returns true if the system runs on the machine, for systems that run on few.
fn is_port(os: &str, arch: &str) -> bool {
    match os {
        "aix" => arch == "ppc64",
        "js" | "wasip1" => arch == "wasm",
        "zos" => arch == "s390x",
        "ios" => matches!(arch, "arm64" | "amd64"),
        "illumos" | "dragonfly" => arch == "amd64",
        _ => arch != "wasm",
    }
}

/// The minor number of a release tag, `go1.N`; 0 for a tag such as `go1.x` that no release has.
fn release_of(tag: &str) -> Option<u32> {
    tag.strip_prefix("go1.").map(|minor| minor.parse().unwrap_or(0))
}

/// The releases that an expression tells apart, the newest first: the newest of all, and the last one
/// before each that it names.
fn releases(expr: &str) -> Vec<u32> {
    let tags = expr.split(|c: char| !(c.is_alphanumeric() || c == '.'));
    let mut out: Vec<u32> = tags.filter_map(release_of).filter_map(|r| r.checked_sub(1)).collect();
    out.push(u32::MAX);
    out.sort_unstable_by(|a, b| b.cmp(a));
    out.dedup();
    out
}

/// The tags that an expression asks for and that are neither systems nor machines nor set anyway.
fn custom_tags(expr: &str) -> Vec<String> {
    expr.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '!')))
        .filter(|t| !t.is_empty() && !t.starts_with('!') && !holds(SYSTEMS, t) && !holds(MACHINES, t))
        // `ignore` keeps files out of every build: each such file is a build of its own.
        .filter(|t| !matches!(*t, "unix" | "gc" | "cgo" | "ignore") && !t.starts_with("go1."))
        .map(str::to_owned)
        .collect()
}

/// Reads `a && (b || !c)`. What is not understood allows the file.
struct Reader<'a> {
    rest: &'a str,
    build: &'a Build,
    depth: u32,
}

impl Reader<'_> {
    fn any(&mut self) -> bool {
        let mut out = self.all();
        while self.eat("||") {
            out |= self.all();
        }
        out
    }

    fn all(&mut self) -> bool {
        let mut out = self.not();
        while self.eat("&&") {
            out &= self.not();
        }
        out
    }

    fn not(&mut self) -> bool {
        let mut negated = false;
        while self.eat("!") {
            negated = !negated;
        }
        let value = if self.depth < 50 && self.eat("(") {
            self.depth += 1;
            let value = self.any();
            self.depth -= 1;
            self.eat(")");
            value
        } else {
            self.rest = self.rest.trim_start();
            let end = self
                .rest
                .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'))
                .unwrap_or(self.rest.len());
            let (tag, rest) = self.rest.split_at(end);
            self.rest = rest;
            tag.is_empty() || self.build.has(tag)
        };
        value != negated
    }

    fn eat(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks if the standard build has the file.
    fn check(path: &str, expr: Option<&str>, expect: bool) {
        let standard = Build::of(&Constraint::new("a.go", None));
        assert_eq!(Constraint::new(path, expr).allows(&standard), expect, "{path} {expr:?}");
    }

    #[test]
    fn file_names_constrain() {
        check("a.go", None, true);
        check("p/a_linux.go", None, true);
        check("p/a_windows.go", None, false);
        check("p/a_windows_test.go", None, false);
        check("p/a_linux_arm64.go", None, false);
        check("p/a_linux_amd64.go", None, true);
        check("p/windows.go", None, true);
        check("p/windows_amd64.go", None, true);
        check("p/unix_arm64.go", None, false);
    }

    #[test]
    fn expressions_constrain() {
        for (expr, expect) in [
            ("linux", true),
            ("!linux", false),
            ("windows || (unix && !darwin)", true),
            ("ignore", false),
            ("go1.18 && gc", true),
            ("!(linux && amd64)", false),
            ("((((", true),
            ("amd64.v1", true),
            ("amd64.v3", false),
        ] {
            check("a.go", Some(expr), expect);
        }
    }

    #[test]
    fn a_file_outside_the_standard_build_has_one_of_its_own() {
        let of = |path, expr| {
            let b = Build::of(&Constraint::new(path, expr));
            (b.os, b.arch, b.tags)
        };
        let release = |expr| Build::of(&Constraint::new("a.go", Some(expr))).release;
        assert_eq!(release("go1.18 || linux"), u32::MAX);
        assert_eq!(release("!go1.21"), 20);
        assert_eq!(release("go1.18 && !go1.21 && windows"), 20);
        assert_eq!(release("!go1.9 && !go1.21"), 8);
        assert_eq!(release("go1.x && !go1.x"), u32::MAX);
        assert_eq!(of("a_windows.go", None), ("windows", "amd64", vec![]));
        assert_eq!(of("a.go", Some("!linux && arm64")), ("darwin", "arm64", vec![]));
        assert_eq!(of("a.go", Some("integration")), ("linux", "amd64", vec!["integration".to_owned()]));
        assert_eq!(
            of("a.go", Some("integration && windows")),
            ("windows", "amd64", vec!["integration".to_owned()])
        );
        assert_eq!(of("a.go", Some("x && !x")), ("linux", "amd64", vec![]));
        assert_eq!(of("a.go", Some("boring && !race")), ("linux", "amd64", vec!["boring".to_owned()]));
        assert_eq!(of("a_aix.go", None), ("aix", "ppc64", vec![]));
        assert_eq!(of("a.go", Some("ignore")), ("linux", "amd64", vec![]));
    }
}

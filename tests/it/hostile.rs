//! Repositories that were made to hurt: each is indexed and followed like any other, or in parts that
//! are said. `INDEXD_TEST_HOSTILE=100` makes them so many times as large.

use crate::support::{Bench, dump_of_fresh_build, number, on_large_stack};
use indexd_model::Outcome;
use std::fs;
use std::path::Path;

type Make = fn(&Path, usize);

fn write(root: &Path, path: &str, text: impl AsRef<[u8]>) {
    let at = root.join(path);
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    fs::write(at, text).unwrap();
}

fn git(root: &Path, path: &str, text: impl AsRef<[u8]>) {
    write(root, ".git/HEAD", "ref: refs/heads/main\n");
    fs::create_dir_all(root.join(".git/objects")).unwrap();
    fs::create_dir_all(root.join(".git/refs")).unwrap();
    write(root, &format!(".git/{path}"), text);
}

fn nested(open: &str, close: &str, n: usize) -> String {
    open.repeat(n) + &close.repeat(n)
}

fn link(target: impl AsRef<Path>, at: &Path) {
    std::os::unix::fs::symlink(target, at).unwrap();
}

/// What hurts, by what it aims at; `n` is how much of it there is.
const REPOSITORIES: [(&str, Make); 36] = [
    ("brackets in Go", |r, n| {
        write(r, "a.go", format!("package a\nvar x = {}\n", nested("(", ")", 2_000 * n)))
    }),
    ("brackets in Python", |r, n| write(r, "a.py", nested("[", "]", 2_000 * n))),
    ("braces in JSON", |r, n| write(r, "a.json", nested("{\"a\":", "}", 2_000 * n))),
    ("tags in HTML", |r, n| write(r, "a.html", nested("<div>", "</div>", 2_000 * n))),
    ("comments in Rust", |r, n| write(r, "a.rs", nested("/*", "*/", 2_000 * n))),
    ("functions in JavaScript", |r, n| write(r, "a.js", nested("(function(){", "})()", 1_000 * n))),
    ("strings that never end", |r, n| write(r, "a.py", "x = \"\"\"".to_owned() + &"a\n".repeat(5_000 * n))),
    ("an operator a thousand times", |r, n| write(r, "a.py", format!("x = 1{}\n", " + 1".repeat(3_000 * n)))),
    ("one long line", |r, n| write(r, "a.js", "var a=1;".repeat(40_000 * n))),
    ("a line of six million bytes", |r, _| write(r, "a.go", vec![b'a'; 6 << 20])),
    ("a sparse terabyte", |r, _| fs::File::create(r.join("a.go")).unwrap().set_len(1 << 40).unwrap()),
    ("many symbols", |r, n| {
        let defs: String = (0..2_000 * n).map(|i| format!("func F{i}() {{}}\n")).collect();
        write(r, "a.go", format!("package a\n{defs}"));
    }),
    ("one name everywhere", |r, n| {
        (0..60 * n)
            .for_each(|i| write(r, &format!("p{i}/a.py"), "from p0.a import f\n\ndef f():\n    f()\n"));
    }),
    ("modules that import each other", |r, n| {
        (0..60 * n)
            .for_each(|i| write(r, &format!("m{i}.py"), format!("from m{} import *\n", (i + 1) % (60 * n))));
    }),
    ("more items than stars in a file of Rust", |r, n| {
        let items: String = (0..10_000 * n).map(|i| format!("mod m{i};\nuse crate::m{i}::*;\n")).collect();
        write(r, "src/lib.rs", items + &"fn f() { a(); b(); c(); }\n".repeat(30));
    }),
    ("stars in every language", |r, n| {
        let of = |line: &str| (0..10_000 * n).map(|i| line.replace('N', &i.to_string())).collect::<String>();
        let calls: String = (0..300).map(|i| format!("f{i}();\n")).collect();
        write(r, "A.java", of("import pN.*;\n") + "class A { void f() {\n" + &calls + "} }\n");
        write(r, "a.py", of("from aN import *\n") + &calls);
        write(r, "a.cpp", of("using namespace aN;\n") + "void f() {\n" + &calls + "}\n");
        write(r, "a.rs", of("use aN::*;\n") + "fn f() {\n" + &calls + "}\n");
    }),
    ("classes that inherit each other", |r, n| {
        let classes: String =
            (0..100 * n).map(|i| format!("class C{i}(C{}):\n    pass\n", (i + 1) % (100 * n))).collect();
        write(r, "a.py", classes);
    }),
    ("deep folders", |r, n| {
        // As deep as the system takes a path.
        write(r, &format!("{}a.go", "d/".repeat((150 * n).min(1_800))), "package a\n");
    }),
    ("a folder of many files", |r, n| (0..1_000 * n).for_each(|i| write(r, &format!("f{i}.txt"), "x"))),
    ("names with line breaks and quotes", |r, _| {
        [
            "a\nb.go",
            "a\tb.go",
            "\"q\".go",
            "'; rm -rf ~.go",
            "$(id).go",
            "\u{202e}og.a",
            "\u{1b}[31m.go",
            "-rf",
        ]
        .iter()
        .for_each(|name| write(r, name, "package a\n"));
    }),
    ("long names", |r, _| write(r, &format!("{}.go", "a".repeat(250)), "package a\n")),
    ("twins by case and accent", |r, _| {
        ["A.go", "a.go", "e\u{301}.go", "\u{e9}.go"].iter().for_each(|name| write(r, name, "package a\n"));
    }),
    ("links to everywhere", |r, _| {
        link("/", &r.join("top"));
        link("..", &r.join("up"));
        link("self", &r.join("self"));
        link("/dev/zero", &r.join("zero.go"));
        link("/etc/passwd", &r.join("passwd.py"));
    }),
    ("pipes and sockets", |r, _| {
        drop(std::os::unix::net::UnixListener::bind(r.join("socket.go")).unwrap());
        assert!(std::process::Command::new("mkfifo").arg(r.join("pipe.go")).status().unwrap().success());
    }),
    ("an ignore file of many lines", |r, n| {
        let lines: String = (0..2_000 * n).map(|i| format!("/ignored{i}/**/x*y?[a-z]{{b,c}}\n")).collect();
        write(r, ".gitignore", lines);
    }),
    ("patterns that explode", |r, _| {
        write(
            r,
            ".gitignore",
            format!("{}b\n{}\n[\n[[:bad:]]\n\\\n", "a*".repeat(200), "**/".repeat(200) + "zz"),
        );
        write(r, &"a".repeat(200), "x");
    }),
    ("bytes that are not text", |r, n| {
        let mut numbers = crate::edits::Numbers(5);
        write(r, "a.go", (0..50_000 * n).map(|_| numbers.below(256) as u8).collect::<Vec<_>>());
        write(r, "b.py", b"def \xff\xfe(\xc3\x28):\n\treturn \xf0\x28\x8c\x28\n");
        write(r, "c.go", b"\xff\xfep\0a\0c\0k\0a\0g\0e\0");
        write(r, "d.go", "\u{feff}package a\r\rfunc A() {}\r\n");
    }),
    ("words without end", |r, n| {
        write(r, "a.md", (0..20_000 * n).map(|i| format!("w{i} ")).collect::<String>())
    }),
    ("one word", |r, n| write(r, "a.md", "word ".repeat(20_000 * n))),
    ("settings that widen", |r, _| {
        write(
            r,
            ".indexd.toml",
            "[daemon]\nmemory_mb = 999999\n[index]\nthreads = 9999\nexclude = [\"[\"]\n",
        );
        write(r, ".agent/config.yml", "context: {maxTotalTokens: 999999999}\n");
    }),
    ("a git folder that runs programs", |r, _| {
        git(
            r,
            "config",
            "[core]\n\tfsmonitor = \"touch ran; false\"\n\tsshCommand = touch ran\n\thooksPath = .\n",
        );
    }),
    ("a git folder that refers to itself", |r, _| {
        git(r, "refs/heads/main", "ref: refs/heads/main\n");
        write(r, ".git/objects/info/alternates", "../../.git/objects\n../objects\n");
    }),
    ("packed references of nonsense", |r, n| {
        git(r, "packed-refs", "\0\u{fffd} refs/heads/main\n".repeat(5_000 * n))
    }),
    ("a pack that is none", |r, n| {
        git(r, "objects/pack/pack-0000000000000000000000000000000000000000.idx", vec![0xff; 20_000 * n]);
        git(r, "objects/pack/pack-0000000000000000000000000000000000000000.pack", "PACK\0\0\0\u{2}\u{7f}");
        git(r, "refs/heads/main", "0123456789012345678901234567890123456789\n");
    }),
    ("a git file that leads elsewhere", |r, _| write(r, ".git", "gitdir: /etc\n")),
    ("manifests of nonsense", |r, n| {
        write(r, "go.mod", "module \0\nrequire (\n".repeat(500 * n));
        write(r, "package.json", "{\"name\": [[[[");
        write(r, "pyproject.toml", "[project\nname = \"\u{1b}\"\n[[[");
        write(
            r,
            "tsconfig.json",
            "{\"extends\": \"./tsconfig.json\", \"compilerOptions\": {\"paths\": {\"*\": [\"*\"]}}}",
        );
    }),
];

#[test]
fn repositories_that_were_made_to_hurt_are_indexed_like_others() {
    on_large_stack(|| {
        let n = number("INDEXD_TEST_HOSTILE", 1);
        for (name, make) in REPOSITORIES {
            let mut bench = Bench::new();
            bench.write("beside/ok.go", "package beside\n\nfunc Beside() int { return 1 }\n");
            make(bench.root(), n);
            eprintln!("{name}");
            bench.build();
            assert_eq!(bench.outcome("beside/ok.go"), Outcome::Parsed, "{name}");
            assert_eq!(bench.defs_named("Beside"), 1, "{name}");
            bench.write("beside/ok.go", "package beside\n\nfunc Other() int { return 2 }\n");
            bench.update(&["beside/ok.go".to_owned()]);
            bench.sweep();
            assert_eq!((bench.defs_named("Beside"), bench.defs_named("Other")), (0, 1), "{name}");
            let dump = bench.dump();
            assert!(!dump.contains("root:x:0:0"), "{name}: a file outside was read");
            assert!(!bench.root().join("ran").exists(), "{name}: a program was run");
            assert_eq!(dump, dump_of_fresh_build(bench.root()), "{name}");
        }
    });
}

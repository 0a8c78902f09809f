//! The map of small made-up repositories.

use indexd_map::{
    Cancelled, LINES_MAX, map,
    page::{page, page_that, whole},
};
use indexd_oracle::Oracle;

fn of(tree: &[(&str, &str)]) -> indexd_map::RepoMap {
    map(&Oracle::of(tree), "fixture", &|| false).expect("not cancelled")
}

const GO: &[(&str, &str)] = &[
    ("go.mod", "module example.com/shop\n"),
    ("doc.go", "// Package shop sells things. It has more to say.\npackage shop\n"),
    (
        "shop.go",
        "package shop\n\n// Cart holds goods.\ntype Cart struct{}\n\nfunc New() *Cart { return &Cart{} }\n",
    ),
    (
        "cmd/shopd/main.go",
        "package main\n\nimport (\n\t\"flag\"\n\t\"net/http\"\n\t\"os\"\n\n\t\"example.com/shop\"\n\t\"example.com/shop/internal/config\"\n)\n\nfunc main() {\n\tport := flag.Int(\"port\", 80, \"the port\")\n\tflag.Parse()\n\t_ = port\n\t_ = shop.New()\n\t_ = config.Env(\"SHOP_TOKEN\")\n\t_ = os.Getenv(config.HomeVar)\n\thttp.ListenAndServe(\":80\", nil)\n}\n",
    ),
    (
        "internal/config/config.go",
        "package config\n\nimport (\n\t\"os\"\n\n\t\"gopkg.in/yaml.v3\"\n)\n\nconst HomeVar = \"SHOP_HOME\"\n\ntype Config struct {\n\tAddr string `yaml:\"listen-addr\"`\n\tskip int\n}\n\n// Env reads a variable.\nfunc Env(name string) string { return os.Getenv(name) }\n\nfunc Load(path string) (*Config, error) {\n\tdata, err := os.ReadFile(path)\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\tc := &Config{}\n\treturn c, yaml.Unmarshal(data, c)\n}\n",
    ),
    (
        "internal/run/run.go",
        "package run\n\nimport \"os/exec\"\n\n// Getenv does not read the environment.\nfunc Getenv(name string) string { return name }\n\nfunc Git() error {\n\t// exec.Command(\"rm\") stands in a comment.\n\t_ = Getenv(\"NOT_A_KEY\")\n\treturn exec.Command(\"git\").Run()\n}\n",
    ),
    (
        "internal/run/run_test.go",
        "package run\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestGit(t *testing.T) { os.Getenv(\"ONLY_IN_TESTS\"); os.Remove(\"x\") }\n",
    ),
    ("examples/hello/main.go", "package main\n\nfunc main() {}\n"),
];

const PYTHON: &[(&str, &str)] = &[
    ("pyproject.toml", "[project]\nname = \"depot\"\n[project.scripts]\ndepot = \"depot.cli:main\"\n"),
    (
        "src/depot/__init__.py",
        "\"\"\"Keeps parcels.\n\nLonger text.\n\"\"\"\n\nfrom depot.store import Store\n\nx = 1\n",
    ),
    ("src/depot/__main__.py", "from depot.cli import main\n\nmain()\n"),
    (
        "src/depot/cli.py",
        "import argparse\nimport os\nimport subprocess as sp\n\nfrom depot.conf import settings\nfrom depot.store import Store\n\n\ndef main():\n    parser = argparse.ArgumentParser()\n    parser.add_argument(\"-n\", \"--name\")\n    parser.add_argument(\"place\")\n    if \"DEPOT_DEBUG\" in os.environ:\n        sp.run([\"ls\"])\n    Store(os.environ[\"DEPOT_DIR\"], settings.RETRIES)\n    # settings.COMMENTED\n    return settings.get(\"UNDECLARED\")\n",
    ),
    ("src/depot/settings.py", "RETRIES = 3\n_private = 1\nlower = 2\n"),
    ("src/depot/conf.py", "from depot import settings\n"),
    (
        "src/depot/store.py",
        "from pathlib import Path\nfrom urllib.request import urlopen\n\n\nclass Store:\n    def __init__(self, root, retries):\n        self.root = Path(root)\n\n    def put(self, name):\n        self.root.joinpath(name).write_text(\"x\")\n        with open(name) as f:\n            return urlopen(f.read())\n",
    ),
    ("scripts/tidy.py", "import shutil\n\nif __name__ == \"__main__\":\n    shutil.rmtree(\"build\")\n"),
    (
        "tests/test_store.py",
        "import os\n\nos.environ[\"ONLY_IN_TESTS\"]\n\nif __name__ == \"__main__\":\n    pass\n",
    ),
];

#[test]
fn a_map_of_go() {
    insta::assert_snapshot!("go", page(&of(GO)));
}

#[test]
fn a_map_of_python() {
    insta::assert_snapshot!("python", page(&of(PYTHON)));
}

#[test]
fn other_languages_are_read_as_written() {
    let tree = [
        (
            "package.json",
            "{\"name\": \"web\", \"main\": \"dist/index.js\", \"bin\": {\"web\": \"./cli.js\"}}",
        ),
        (
            "cli.js",
            "const fs = require('fs');\nconst { spawn } = require('child_process');\nconsole.log(process.env.WEB_TOKEN, fs.readFileSync('x'));\nspawn('ls');\n",
        ),
        (
            "src/index.ts",
            "import axios from 'axios';\nexport const get = () => axios.get('x');\nconst key = process.env[\"API_KEY\"];\n",
        ),
        ("tool/Cargo.toml", "[package]\nname = \"tool\"\n"),
        (
            "tool/src/main.rs",
            "//! Does things. More.\nfn main() {\n    // std::fs::read_dir(\"in a comment\")\n    let _ = std::env::var(\"TOOL_HOME\");\n    std::process::Command::new(\"ls\");\n}\n",
        ),
    ];
    insta::assert_snapshot!("others", page(&of(&tree)));
}

/// Two maps of one tree are equal, whatever the order in which files are added.
#[test]
fn the_same_tree_gives_the_same_bytes() {
    let mut turned = [GO, PYTHON].concat();
    let there = page(&of(&turned));
    turned.reverse();
    assert_eq!(page(&of(&turned)), there);
}

#[test]
fn an_empty_repository_has_all_five_parts() {
    let text = page(&of(&[]));
    for part in ["## Entrypoints", "## Modules", "## Config", "## Side effect boundaries", "## Tree"] {
        assert!(text.contains(part), "{text}");
    }
}

/// A repository in which every part alone would fill the page.
#[test]
fn a_large_map_is_shortened_and_says_so() {
    let mut tree: Vec<(String, String)> = Vec::new();
    for i in 0..700 {
        let source = format!(
            "package main\n\nimport (\n\t\"flag\"\n\t\"os\"\n)\n\nfunc main() {{\n\tflag.Bool(\"flag-{i}\", false, \"\")\n\tos.Getenv(\"KEY_{i}\")\n\tos.Remove(\"x\")\n}}\n"
        );
        tree.push((format!("cmd/tool{i}/deep/deeper/main.go"), source));
    }
    let oracle = Oracle::of(&tree);
    let full = map(&oracle, "large", &|| false).expect("not cancelled");
    assert_eq!((full.entrypoints.len(), full.config.len(), full.side_effects.len()), (700, 1400, 700));
    assert!(full.tree.iter().all(|f| f.depth <= 3));
    let text = page(&full);
    assert!(text.lines().count() <= LINES_MAX, "{}", text.lines().count());
    assert!(text.lines().count() > LINES_MAX - 80, "room is left: {}", text.lines().count());
    for part in ["## Entrypoints", "## Modules", "## Config", "## Side effect boundaries", "## Tree"] {
        let at = text.find(part).expect("every part is there");
        assert!(text[at..].lines().nth(2).is_some_and(|l| !l.is_empty()), "{part}");
    }
    assert!(text.contains(" more\n"));
}

/// A page of few lines names the programs and modules that matter, each with its description, before tools.
#[test]
fn what_matters_comes_first() {
    let mut tree: Vec<(String, String)> = vec![("go.mod".to_owned(), "module example.com/big\n".to_owned())];
    let lines = |n: usize| "\tx++\n".repeat(n);
    for (i, name) in ["agent", "keeper", "zone"].iter().enumerate() {
        tree.push((
            format!("cmd/{name}/main.go"),
            format!(
                "package main\n\nimport \"example.com/big/cmd/{name}/app\"\n\nfunc main() {{ app.Run() }}\n"
            ),
        ));
        tree.push((
            format!("cmd/{name}/app/app.go"),
            format!("package app\n\nimport \"example.com/big/pkg/{name}\"\n\nvar use = Help{{Long: `The {name} keeps things in order. It has more.`}}\n\nfunc Run() {{ {name}.Run() }}\n"),
        ));
        tree.push((
            format!("pkg/{name}/run.go"),
            format!("// Package {name} does the work of {name}.\npackage {name}\n\nfunc Run() {{\n\tx := 0\n{}}}\n", lines(900 - i * 100)),
        ));
        for part in 0..6 {
            tree.push((
                format!("pkg/{name}/part{part}/part.go"),
                format!("package part{part}\n\nfunc Part() {{\n\tx := 0\n{}}}\n", lines(100)),
            ));
        }
    }
    for i in 0..40 {
        let main = "package main\n\nfunc main() {}\n".to_owned();
        tree.push((format!("cmd/aaa{i:02}/main.go"), main.clone()));
        tree.push((
            format!("aaa/tool{i:02}/lib.go"),
            format!("package tool{i:02}\n\nfunc F() {{\n\tx := 0\n{}}}\n", lines(5)),
        ));
    }
    // It reaches most, and serves tests.
    let imports =
        ["agent", "keeper", "zone"].map(|name| format!("import _ \"example.com/big/pkg/{name}\"\n"));
    let soak = format!("package main\n\n{}\nfunc main() {{}}\n", imports.concat());
    tree.push(("test/soak/main.go".to_owned(), soak));
    let map = map(&Oracle::of(&tree), "big", &|| false).expect("not cancelled");
    assert_eq!(map.entrypoints.iter().rfind(|e| e.how.starts_with("go run")).unwrap().name, "soak");
    let text = page_that(&map, &|text: &str| text.len() <= 2_500);
    let position = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} is not in\n{text}"));
    let programs = ["agent", "keeper", "zone"].map(|name| {
        position(&format!(
            "- `{name}`: cmd/{name}/main.go:5 (go run ./cmd/{name}): The {name} keeps things in order\n"
        ))
    });
    assert!(programs.is_sorted() && programs[2] < position("aaa"), "{text}");
    let modules = ["agent", "keeper", "zone"].map(|name| position(&format!("- `pkg/{name}` (go, 7 files,")));
    assert!(modules.is_sorted() && !text.contains("part0"), "{text}");
    assert_eq!(
        (map.modules.iter().find(|m| m.path == "pkg/zone").unwrap().dependants, map.entrypoints[0].lines),
        (2, 918)
    );
}

#[test]
fn files_of_a_folder_are_not_its_dependants() {
    let tree = [
        ("shop/__init__.py", ""),
        ("shop/cart.py", "from shop.price import total\n\n\ndef pay():\n    return total()\n"),
        ("shop/price.py", "def total():\n    return 1\n"),
        ("web/page.py", "from shop.cart import pay\n\n\ndef show():\n    return pay()\n"),
    ];
    let map = map(&Oracle::of(&tree), "shop", &|| false).expect("not cancelled");
    let shop = map.modules.iter().find(|m| m.path == "shop").expect("the module");
    assert_eq!(shop.dependants, 1);
}

/// The whole page has every place of every key, and every call.
#[test]
fn the_whole_page_leaves_nothing_out() {
    let reads: String =
        (0..9).map(|i| format!("\tos.Getenv(\"HOME\")\n\tos.Remove(\"{i}\")\n\tos.Open{i}(1)\n")).collect();
    let calls = ["Chdir", "Mkdir", "Create", "Open", "Stat", "Rename", "Remove"];
    let calls: String = calls.iter().map(|c| format!("\tos.{c}(\"x\")\n")).collect();
    let text = format!("package main\n\nimport \"os\"\n\nfunc main() {{\n{reads}{calls}}}\n");
    let map = of(&[("go.mod", "module m\n"), ("cmd/m/main.go", &text)]);
    assert!(page(&map).contains(" more"), "{}", page(&map));
    let whole = whole(&map);
    assert!(!whole.contains(" more"), "{whole}");
    assert!(
        map.config[0].parsed_at.iter().all(|p| whole.contains(&format!("{}:{}", p.path, p.line))),
        "{whole}"
    );
}

/// Each heading is followed by an entry.
#[test]
fn a_short_page_has_no_empty_heading() {
    let map = of(&[GO, PYTHON].concat());
    for most in 300..2_500 {
        let text = page_that(&map, &|text: &str| text.len() <= most);
        let lines: Vec<&str> = text.lines().collect();
        for (i, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("### ")) {
            assert!(lines.get(i + 1).is_some_and(|next| next.starts_with("- ")), "{most}: {line}\n{text}");
        }
    }
}

/// Pages for smaller and smaller limits: each is as long as its limit allows, with all five parts until
/// nothing fits.
#[test]
fn a_map_is_as_long_as_fits() {
    let tree: Vec<(String, String)> = (0..200)
        .map(|i| (format!("cmd/tool{i}/main.go"), "package main\n\nfunc main() {}\n".to_owned()))
        .collect();
    let map = map(&Oracle::of(&tree), "many", &|| false).expect("not cancelled");
    let of = |most: usize| page_that(&map, &|text: &str| text.len() <= most);
    assert_eq!(of(usize::MAX), whole(&map));
    assert!((0..200).all(|i| whole(&map).contains(&format!("cmd/tool{i}/main.go"))));
    let mut before = usize::MAX;
    for most in [20_000, 5_000, 2_000, 1_000] {
        let text = of(most);
        assert!(
            text.len() <= most && text.len() > most / 2 && text.len() <= before,
            "{most}: {}",
            text.len()
        );
        for part in ["## Entrypoints", "## Modules", "## Config", "## Side effect boundaries", "## Tree"] {
            assert!(text.contains(part), "{most}: {text}");
        }
        before = text.len();
    }
    assert!(of(60).len() <= 60 && of(60).starts_with("# Repo map: many"));
    assert_eq!(of(0), "");
}

#[test]
fn a_map_can_be_withdrawn() {
    assert_eq!(map(&Oracle::of(GO), "fixture", &|| true), Err(Cancelled));
}

#[test]
fn what_web_frameworks_serve_is_an_entry_point() {
    let tree = [
        ("web/package.json", "{\"dependencies\": {\"next\": \"15\"}}"),
        ("web/src/app/(shop)/cart/[id]/page.tsx", "export default function Page() { return null; }\n"),
        ("web/src/app/api/pay/route.ts", "export function POST() {}\n"),
        ("web/src/app/layout.tsx", "export default function Layout() { return null; }\n"),
        ("web/pages/about/index.tsx", "export default function About() { return null; }\n"),
        ("web/pages/_app.tsx", "export default function App() { return null; }\n"),
        ("blog/package.json", "{\"dependencies\": {\"@remix-run/react\": \"2\"}}"),
        ("blog/app/routes/posts.$slug.tsx", "export const loader = () => null;\n"),
        ("blog/app/routes/_index.tsx", "export const loader = () => null;\n"),
        ("blog/app/routes/_auth.login.tsx", "export const loader = () => null;\n"),
        ("api/package.json", "{\"dependencies\": {\"express\": \"5\"}}"),
        (
            "api/users.js",
            "const router = require('express').Router();\nrouter.get('/users/:id', show);\nrouter.post(path, make);\nclient.get('/other', {});\napp.get('/setting');\n",
        ),
        ("other/pages/about.tsx", "export default function About() { return null; }\n"),
    ];
    let all = of(&tree).entrypoints;
    let mut found: Vec<(&str, u32, &str)> = all.iter().map(|e| (&*e.name, e.line, &*e.how)).collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ("/", 1, "route of Remix"),
            ("/about", 1, "page of Next"),
            ("/api/pay", 1, "route of Next"),
            ("/cart/[id]", 1, "page of Next"),
            ("/login", 1, "route of Remix"),
            ("/posts/$slug", 1, "route of Remix"),
            ("GET /users/:id", 2, "route of Express"),
        ]
    );
}

//! Scans the files below a folder and prints what the rules find, without the secrets:
//! `cargo run --release -p indexd-secrets --example scan -- DIR`.

use std::collections::BTreeMap;
use std::path::Path;

fn walk(dir: &Path, each: &mut dyn FnMut(&Path, &str)) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && entry.file_name() != ".git" {
            walk(&path, each);
        } else if kind.is_file()
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            each(&path, &text);
        }
    }
}

fn main() {
    let dir = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let (mut n_lines, mut by_rule) = (0, BTreeMap::<&str, u32>::new());
    walk(Path::new(&dir), &mut |path, text| {
        n_lines += text.lines().count();
        if indexd_secrets::is_exempt(&path.display().to_string()) {
            return;
        }
        for found in indexd_secrets::find(text) {
            let line = text[..found.span.start as usize].matches('\n').count() + 1;
            println!("{}:{line}: {}", path.display(), found.rule);
            *by_rule.entry(found.rule).or_default() += 1;
        }
    });
    let n: u32 = by_rule.values().sum();
    println!("{n} in {n_lines} lines: {by_rule:?}");
}

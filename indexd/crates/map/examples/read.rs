//! Prints the map of a folder: `cargo run -p indexd-map --example read -- DIR [--json]`.

use indexd_oracle::Oracle;
use std::path::Path;

fn main() {
    let mut args = std::env::args().skip(1);
    let Some(root) = args.next() else { return eprintln!("which folder?") };
    let mut tree = Vec::new();
    collect(Path::new(&root), Path::new(&root), &mut tree);
    let oracle = Oracle::of(&tree);
    let name = Path::new(&root).file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let Ok(map) = indexd_map::map(&oracle, &name, &|| false) else { return };
    match args.next().as_deref() {
        Some("--json") => println!("{}", serde_json::to_string_pretty(&map).unwrap_or_default()),
        _ => print!("{}", indexd_map::page::page(&map)),
    }
}

fn collect(root: &Path, dir: &Path, out: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type());
        match kind {
            Ok(k) if k.is_dir() && entry.file_name() != ".git" => collect(root, &path, out),
            Ok(k) if k.is_file() => {
                if let (Ok(rel), Ok(bytes)) = (path.strip_prefix(root), std::fs::read(&path)) {
                    out.push((rel.to_string_lossy().into_owned(), bytes));
                }
            }
            _ => {}
        }
    }
}

//! Prints the CPU seconds that tree-sitter alone takes to parse the Go and Python files of a tree,
//! on one thread, files in memory: the yardstick that `scripts/bench.sh` divides by.
//!
//! Usage: `parse_only DIR`

use std::path::{Path, PathBuf};
use std::time::Duration;

fn main() {
    let root = std::env::args().nth(1).expect("usage: parse_only DIR");
    let mut files = Vec::new();
    collect(Path::new(&root), &mut files);
    files.sort();
    let sources: Vec<(bool, Vec<u8>)> = files
        .iter()
        .filter_map(|p| Some((p.extension()? == "go", std::fs::read(p).ok()?)))
        .filter(|(_, bytes)| bytes.len() as u64 <= indexd_model::limits::FILE_BYTES_PARSED_MAX)
        .collect();
    let bytes: usize = sources.iter().map(|(_, b)| b.len()).sum();
    let lines: usize = sources.iter().map(|(_, b)| b.iter().filter(|c| **c == b'\n').count()).sum();
    let [mut go, mut python] = [tree_sitter::Parser::new(), tree_sitter::Parser::new()];
    go.set_language(&tree_sitter_go::LANGUAGE.into()).expect("go grammar");
    python.set_language(&tree_sitter_python::LANGUAGE.into()).expect("python grammar");
    let before = cpu();
    let mut nodes = 0;
    for (is_go, bytes) in &sources {
        let parser = if *is_go { &mut go } else { &mut python };
        nodes += parser.parse(bytes, None).map_or(0, |t| t.root_node().descendant_count());
    }
    let seconds = (cpu() - before).as_secs_f64();
    println!(
        "{{\"files\":{},\"bytes\":{bytes},\"lines\":{lines},\"nodes\":{nodes},\"cpu_seconds\":{seconds:.3}}}",
        sources.len()
    );
}

/// User and system time of this process, from `/proc/self/stat` (fields 14 and 15, 100 Hz).
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: u64 = after.split_whitespace().skip(11).take(2).filter_map(|f| f.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

fn collect(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        if kind.is_dir() && entry.file_name() != ".git" {
            collect(&path, out);
        } else if kind.is_file() && path.extension().is_some_and(|e| e == "go" || e == "py" || e == "pyi") {
            out.push(path);
        }
    }
}

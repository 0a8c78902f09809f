//! Prints the size of the signatures of a tree, and the number of files that they let through:
//! `cargo run --release -p indexd-model --example grams -- TREE LITERAL...`

use indexd_model::grams::{Need, signature};
use std::path::Path;
use std::time::Instant;

fn read(folder: &Path, out: &mut Vec<String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            read(&entry.path(), out)?;
        } else if kind.is_file() {
            let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
            if (1..1 << 20).contains(&text.len()) && !text.contains('\0') {
                out.push(text);
            }
        }
    }
    Ok(())
}

fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(1);
    let tree = args.next().unwrap_or_else(|| ".".to_owned());
    let mut texts = Vec::new();
    read(Path::new(&tree), &mut texts)?;
    let bytes: usize = texts.iter().map(String::len).sum();
    let start = Instant::now();
    let signatures: Vec<Vec<u8>> = texts.iter().map(|t| signature(t)).collect();
    let took = start.elapsed();
    let own: usize = signatures.iter().map(Vec::len).sum();
    let share = 100.0 * own as f64 / bytes as f64;
    println!("{} texts, {bytes} bytes; signatures {own} bytes, {share:.1} %, made in {took:?}", texts.len());
    for literal in args {
        let need = Need::of_literal(&literal);
        let start = Instant::now();
        let passed: Vec<usize> = (0..texts.len()).filter(|i| need.is_met_by(&signatures[*i])).collect();
        let took = start.elapsed();
        let read: usize = passed.iter().map(|i| texts[*i].len()).sum();
        let hold = passed.iter().filter(|i| texts[**i].contains(&literal)).count();
        println!("{literal}: {} texts of {read} bytes to read, {hold} hold it; {took:?}", passed.len());
    }
    Ok(())
}

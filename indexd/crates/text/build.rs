//! Writes the vocabularies of tiktoken-rs as tables that are searched in place: the program maps them, so
//! that they take no memory of its own and no time at its start.
//!
//! A table consists of numbers of 32 bits, little endian: the number of short tokens, and the numbers of
//! buckets of short and of long tokens; the ranks of all pairs of bytes; the start of each bucket of short
//! tokens, and one number more; the short tokens, 64 bits of key and the rank each; the start of each bucket
//! of long tokens in the rest, and one number more; and the rest: rank, length (one byte) and bytes of each
//! long token. The hash of a token selects its bucket, and buckets follow each other without a gap: tables
//! with free places take 3 MB more.

#[path = "src/tokens/layout.rs"]
mod layout;

use layout::{NONE, SHORT_MAX, hash_long, hash_short, pack};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/tokens/layout.rs");
    let out = std::env::var("OUT_DIR")?;
    for (name, vocabulary) in
        [("o200k_base", tiktoken_rs::o200k_base()?), ("cl100k_base", tiktoken_rs::cl100k_base()?)]
    {
        // Ranks count from 0 without a gap; special tokens come after one.
        let tokens = (0..).map_while(|rank| vocabulary.decode_bytes(&[rank]).ok()).collect::<Vec<_>>();
        std::fs::write(Path::new(&out).join(name), table(&tokens)?)?;
    }
    Ok(())
}

fn table(tokens: &[Vec<u8>]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut pairs = vec![NONE; 1 << 16];
    let n_short = tokens.iter().filter(|t| t.len() <= SHORT_MAX).count();
    // A bucket holds about two short tokens, or one long token whose bytes are compared.
    let mut short = vec![Vec::new(); n_short / 2];
    let mut long = vec![Vec::new(); tokens.len() - n_short];
    for (rank, token) in (0u32..).zip(tokens) {
        match **token {
            [a, b] => pairs[usize::from(a) << 8 | usize::from(b)] = rank,
            _ if token.len() <= SHORT_MAX => {
                let key = pack(token);
                let bucket = hash_short(key, short.len());
                short[bucket].push((key, rank));
            }
            _ => {
                let bucket = &mut long[hash_long(token, tokens.len() - n_short)];
                bucket.extend(rank.to_le_bytes());
                bucket.push(u8::try_from(token.len())?);
                bucket.extend(token);
            }
        }
    }
    let n_keys = short.iter().map(Vec::len).sum();
    let mut out = numbers([n_keys, short.len(), long.len()])?;
    out.extend(pairs.iter().flat_map(|rank| rank.to_le_bytes()));
    out.extend(numbers(starts(short.iter().map(Vec::len)))?);
    let keys = short.concat();
    out.extend(keys.iter().flat_map(|(key, rank)| key.to_le_bytes().into_iter().chain(rank.to_le_bytes())));
    out.extend(numbers(starts(long.iter().map(Vec::len)))?);
    out.extend(long.concat());
    Ok(out)
}

/// The start of each bucket of a row, and the end of the last one.
fn starts(lengths: impl Iterator<Item = usize>) -> impl Iterator<Item = usize> {
    let ends = lengths.scan(0, |end, len| {
        *end += len;
        Some(*end)
    });
    std::iter::once(0).chain(ends)
}

fn numbers(numbers: impl IntoIterator<Item = usize>) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut out = Vec::new();
    for number in numbers {
        out.extend(u32::try_from(number)?.to_le_bytes());
    }
    Ok(out)
}

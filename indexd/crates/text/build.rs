//! Writes the vocabularies of tiktoken-rs as tables that are searched where they lie: the program
//! maps them, so that they take no memory of its own and no time at its start.
//!
//! A table is, in numbers of 32 bits, little endian: how many places its two hash tables have; the
//! ranks of all pairs of bytes; the places of short tokens, 64 bits of key and the rank each; the
//! places of long tokens, a part of the hash and where in the rest the token stands each; and the
//! rest: rank, length (one byte) and bytes of each long token. Hash tables are searched place by
//! place from where the hash points, up to a free one; they are half full.

#[path = "src/tokens/layout.rs"]
mod layout;

use layout::{FREE, NONE, SHORT_MAX, hash_long, hash_short, next, pack};
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
    let n_short = tokens.iter().filter(|t| t.len() <= SHORT_MAX).count();
    let mut pairs = vec![NONE; 1 << 16];
    let mut short = vec![(u64::from(FREE), 0u32); n_short * 2];
    let mut long = vec![(0u32, FREE); (tokens.len() - n_short) * 2];
    // Where nothing stands, a place can be free.
    let mut rest = vec![0u8];
    for (rank, token) in (0u32..).zip(tokens) {
        match **token {
            [a, b] => pairs[usize::from(a) << 8 | usize::from(b)] = rank,
            _ if token.len() <= SHORT_MAX => {
                let key = pack(token);
                let mut at = hash_short(key, short.len());
                while short[at].0 != u64::from(FREE) {
                    at = next(at, short.len());
                }
                short[at] = (key, rank);
            }
            _ => {
                let (mut at, part) = hash_long(token, long.len());
                while long[at].1 != FREE {
                    at = next(at, long.len());
                }
                long[at] = (part, u32::try_from(rest.len())?);
                rest.extend(rank.to_le_bytes());
                rest.push(u8::try_from(token.len())?);
                rest.extend(token);
            }
        }
    }
    let mut out = Vec::new();
    out.extend([u32::try_from(short.len())?, u32::try_from(long.len())?].map(u32::to_le_bytes).concat());
    out.extend(pairs.iter().flat_map(|rank| rank.to_le_bytes()));
    out.extend(short.iter().flat_map(|(key, rank)| key.to_le_bytes().into_iter().chain(rank.to_le_bytes())));
    out.extend(long.iter().flat_map(|(part, at)| part.to_le_bytes().into_iter().chain(at.to_le_bytes())));
    out.extend(rest);
    Ok(out)
}

//! Chunks for tests and benchmarks of the packer's stages.

use indexd_pack::contract::{ContextChunk, SourceType};

/// Chunks of about 100 tokens: from four kinds of sources, eight chunks of each file.
pub fn chunks(n: usize) -> Vec<ContextChunk> {
    let of = |i: usize| ContextChunk {
        content: format!("func F{i}() int {{\n\treturn {i} + base({i})\n}}\n").repeat(6),
        file_path: Some(format!("pkg/file{}.go", i % (n / 8 + 1))),
        start_line: (i as u32 % 50) * 20 + 1,
        end_line: (i as u32 % 50) * 20 + 18,
        token_count: 110,
        source_type: SourceType::ALL[i % 4],
        source: i,
        relevance: (i * 7919 % 1000) as f64 / 1000.0,
        timestamp: Some((i * 31 % 977) as i64),
        score: 0.0,
        merged_from: Vec::new(),
        also_from: Vec::new(),
    };
    (0..n).map(of).collect()
}

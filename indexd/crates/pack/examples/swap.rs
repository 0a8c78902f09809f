//! A packer with a ranker and a formatter of one's own: `cargo run -p indexd-pack --example swap`.

use indexd_pack::contract::packer::Packer;
use indexd_pack::contract::{
    ContextBudget, ContextChunk, ContextSource, Formatter, Ranker, Settings, SourceType,
};
use indexd_text::{CounterOptions, counter};

/// The shortest first.
struct ShortestFirst;

impl Ranker for ShortestFirst {
    fn rank(&self, mut chunks: Vec<ContextChunk>) -> Vec<ContextChunk> {
        chunks.sort_by(|a, b| (a.token_count, &a.content).cmp(&(b.token_count, &b.content)));
        chunks
    }
}

/// Each chunk behind its place, without fences.
struct Plain;

impl Formatter for Plain {
    fn format(&self, chunks: &[ContextChunk]) -> String {
        let place = |c: &ContextChunk| c.file_path.clone().unwrap_or_else(|| c.source_type.name().to_owned());
        chunks.iter().map(|c| format!("{}:{}\n{}", place(c), c.start_line, c.content)).collect()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sources = [
        source(SourceType::OpenFile, Some("retry.go"), "func Delay(n int) int {\n\treturn 1 << n\n}\n"),
        source(SourceType::ToolResult, None, "FAIL TestDelay\n"),
    ];
    let settings = Settings::default();
    let counter = counter("o200k_base", &CounterOptions::default())?;
    let packer = Packer {
        ranker: Box::new(ShortestFirst),
        formatter: Box::new(Plain),
        ..Packer::new(&settings, &*counter)
    };
    let packed = packer.pack_now(&sources, &ContextBudget::default(), &|| false)?;
    print!("{}", packed.content);
    println!("{} tokens, {} chunks", packed.token_count, packed.chunks.len());
    Ok(())
}

fn source(source_type: SourceType, path: Option<&str>, content: &str) -> ContextSource {
    ContextSource {
        source_type,
        content: content.to_owned(),
        file_path: path.map(str::to_owned),
        line_range: None,
        relevance_score: 0.5,
        timestamp: None,
        failure: None,
    }
}

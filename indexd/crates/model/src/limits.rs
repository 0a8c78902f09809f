//! Hard limits: name, unit, value, reason. No request and no configuration can exceed them.

/// Bytes. Larger files are listed but have no chunks: a file is held in memory while it is indexed, its text
/// as well, and by each thread of a build.
pub const FILE_BYTES_LISTED_MAX: u64 = 32 << 20;
/// Bytes. Larger files are chunked by lines and not parsed, so that one file cannot hold a core for
/// long (a MiB of Go takes 0.1 s from bytes to links). Generated sources of 1 to 4 MiB, as
/// of service interfaces and instruction tables, are called by much of their repository.
pub const FILE_BYTES_PARSED_MAX: u64 = 4 << 20;
/// Bytes. A file with a longer line is minified: not parsed, and the line is cut in pieces.
pub const LINE_BYTES_MAX: usize = 20_000;
/// Levels of syntax nesting that extraction follows; deeper code is opaque.
pub const PARSE_DEPTH_MAX: usize = 400;
/// Calls of the parser's progress callback before a parse is given up (10,000 to 17,000 per MB of
/// ordinary source, about 20 us each; a deterministic stand-in for a time limit).
pub const PARSE_CALLBACKS_MAX: u64 = 200_000;
/// The part of such a limit that does not depend on the size, for a language that is known by its
/// definitions.
pub const PARSE_CALLBACKS_MIN: u64 = 20_000;
/// Calls that each KiB of such a file adds to that: at most 2 s a MB, whatever its grammar does.
pub const PARSE_CALLBACKS_PER_KIB: u64 = 80;
/// Bytes that a parser receives at a time. The work of a grammar's own scanner between two calls of the
/// progress callback is bounded by the number of its reads.
pub const PARSE_READ_BYTES: usize = 4 << 10;
/// Reads before a parse is given up: 160 MB read, half a second.
pub const PARSE_READS_MIN: u64 = 40_000;
/// Reads that each KiB of a file adds to that; the whole file 100 times.
pub const PARSE_READS_PER_KIB: u64 = 25;
/// Definitions kept of one file; a generated table must not fill the index.
pub const DEFS_PER_FILE_MAX: usize = 20_000;
/// Bytes. A chunk that grows past this is cut at a line; the scored unit stays comparable.
pub const CHUNK_BYTES_MAX: usize = 6_000;
/// Bytes. Text between definitions is joined up to this.
pub const CHUNK_BYTES_MIN: usize = 300;
/// Bytes of a term; longer words are not in the vocabulary.
pub const TERM_BYTES_MAX: usize = 64;

/// Hops of expansion.
pub const HOPS_MAX: u32 = 4;
/// Items of a pack.
pub const ITEMS_MAX: u32 = 250;
/// Items of one section.
pub const ITEMS_PER_SECTION_MAX: u32 = 80;
/// Bytes of one item's excerpt.
pub const BYTES_PER_ITEM_MAX: u32 = 64_000;
/// Characters of a rendered pack.
pub const TOTAL_CHARS_MAX: u32 = 2_000_000;
/// Seeds whose edges are walked; this and the next three keep the longest walk below a second.
pub const EXPANSION_SEEDS_MAX: u32 = 100;
/// Definitions whose edges are read for one pack.
pub const EXPANSION_NODES_MAX: u32 = 1_000;
/// Edges read for one pack.
pub const EXPANSION_EDGES_MAX: u32 = 100_000;
/// Definitions reached for one pack.
pub const EXPANSION_RECORDS_MAX: u32 = 10_000;
/// Items that a request may list as seen.
pub const SEEN_MAX: usize = 2_000;

/// Entries of `expect` in a request: more guesses than a caller is likely to have.
pub const EXPECT_MAX: usize = 64;

/// Bytes of one entry of `expect`: a sentence.
pub const EXPECT_BYTES_MAX: usize = 1 << 10;
/// Definitions that are scored exactly for one pack.
pub const CANDIDATES_MAX: u32 = 100_000;

/// Bytes of a query text.
pub const QUERY_BYTES_MAX: usize = 256 << 10;

/// Bytes of a template for the text of a pack: some hundred lines.
pub const TEMPLATE_BYTES_MAX: usize = 64 << 10;
/// Steps of a template for one text, so that none occupies a core for long (about 50 ns each).
pub const TEMPLATE_STEPS_MAX: u64 = 5_000_000;

/// Bytes of a patch: large enough for that of most releases; the parts that are not shown cost time only.
pub const PATCH_BYTES_MAX: usize = 4 << 20;

/// Bytes of a SCIP index to import; it is held in memory while it is read.
pub const SCIP_BYTES_MAX: usize = 1 << 30;
/// Documents of a SCIP index, so that a hostile one cannot fill memory.
pub const SCIP_DOCUMENTS_MAX: usize = 1_000_000;
/// Occurrences of a SCIP index; 32 bytes each while it is imported.
pub const SCIP_OCCURRENCES_MAX: usize = 30_000_000;
/// Bytes of one occurrence of a SCIP index; a longer one carries no place worth keeping.
pub const SCIP_OCCURRENCE_BYTES_MAX: usize = 64 << 10;

const _: () = assert!(FILE_BYTES_PARSED_MAX <= FILE_BYTES_LISTED_MAX);
const _: () = assert!(CHUNK_BYTES_MIN < CHUNK_BYTES_MAX);
const _: () = assert!(SCIP_OCCURRENCE_BYTES_MAX < SCIP_BYTES_MAX);
/// Files that may have methods of one name, or interfaces that ask for it, before types and interfaces of Go are
/// no longer compared by it.
pub const GO_METHOD_FILES_MAX: usize = 24;

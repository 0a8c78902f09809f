//! Limits of the wire: name, unit, value, reason.

/// Bytes of one line in either direction, its end not counted. Overlays of a few large unsaved
/// files fit; nothing else comes near.
pub const FRAME_BYTES_MAX: usize = 16 << 20;
/// Unsaved texts in one request: an editor has a few at a time.
pub const OVERLAYS_MAX: usize = 32;
/// Bytes of all unsaved texts of one request: escaped, they still fit a line.
pub const OVERLAY_BYTES_MAX: usize = 4 << 20;
/// Bytes of a query text: a long issue with its stack traces has a few thousand.
pub const QUERY_BYTES_MAX: usize = 256 << 10;
/// Bytes of a patch: that of a release, as a rule.
pub const PATCH_BYTES_MAX: usize = 4 << 20;
/// Bytes of a template for the text of a pack.
pub const TEMPLATE_BYTES_MAX: usize = 64 << 10;
/// Bytes of a client's own id of a request, which stands on every line of the log about it.
pub const CORRELATION_ID_BYTES_MAX: usize = 64;
/// Bytes of text in one `$/chunk` notification: far below a line even if every byte is escaped.
pub const CHUNK_BYTES_MAX: usize = 256 << 10;
/// Milliseconds. The longest wait a request may ask for.
pub const WAIT_MS_MAX: u64 = 3_600_000;
/// Milliseconds. How long a request waits for the index to hold every save made before it.
pub const FRESH_WAIT_MS_DEFAULT: u64 = 2_000;
/// Tokens. What `ctl pack` asks for unless told otherwise.
pub const CTL_BUDGET_TOKENS: u64 = 4_000;
/// Bytes. What `ctl pack` allows one item unless told otherwise.
pub const CTL_BYTES_PER_ITEM: u64 = 16_000;
/// Items. What `ctl pack` asks for unless told otherwise, as many as there may be: in a tree of
/// small functions any fewer would leave good ones out while there is room.
pub const CTL_ITEMS: u64 = 250;
/// Items of one section, likewise.
pub const CTL_ITEMS_PER_SECTION: u64 = 80;
/// Milliseconds that a packing waits for a source, unless the source says otherwise.
pub const SOURCE_WAIT_MS_DEFAULT: u64 = 1_000;
/// Milliseconds. The longest wait that a source may ask for.
pub const SOURCE_WAIT_MS_MAX: u64 = 60_000;
/// Bytes of the name of a source that comes later.
pub const HANDLE_BYTES_MAX: usize = 64;
/// Levels of a graph walk.
pub const GRAPH_DEPTH_MAX: u32 = 4;
/// Edges in one graph answer.
pub const GRAPH_EDGES_MAX: u32 = 2_000;
/// Lines in one answer of `grep`.
pub const GREP_LINES_MAX: u32 = 20_000;
/// Patterns of one `grep`.
pub const GREP_PATTERNS_MAX: usize = 100;
/// Lines of context around each line of `grep`, on each side.
pub const GREP_CONTEXT_MAX: u32 = 100;
/// Runs of lines in one `highlight`.
pub const HIGHLIGHT_PLACES_MAX: usize = 2_000;
/// Hits in one search answer.
pub const SEARCH_HITS_MAX: u32 = 500;

const _: () = assert!(QUERY_BYTES_MAX < FRAME_BYTES_MAX);
const _: () = assert!(CHUNK_BYTES_MAX * 6 < FRAME_BYTES_MAX);

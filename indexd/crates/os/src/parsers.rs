//! Parsers and the memory of their trees: one region for everything that a file needs.
//!
//! A syntax tree is tens of thousands of small blocks that come together and go together. A general
//! allocator finds each a place among the facts and terms of other files, and takes each back by
//! itself. Here they lie one behind the other, what is freed serves the next block of its size, and
//! when a file is done its region is empty at once, however much is still in it.

use crate::memory::is_building;
use core::ffi::c_void;
use libmimalloc_sys::{mi_free, mi_malloc, mi_realloc};
use std::alloc::{Layout, handle_alloc_error};
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};
use tree_sitter::{Language, Node, ParseOptions, ParseState, Parser, Tree};

/// Makes the trees of one file; they cannot leave the call of [`parsing`] that gave it.
pub struct Parses<'p> {
    parser: RefCell<Parser>,
    /// Neither shorter nor longer than that call.
    call: PhantomData<Cell<&'p ()>>,
}

/// A tree of one file. To [forget](std::mem::forget) it saves the walk that frees its nodes, and keeps
/// their memory until the call of [`parsing`] ends.
pub struct SyntaxTree<'p> {
    tree: Tree,
    call: PhantomData<Cell<&'p ()>>,
}

impl<'p> Parses<'p> {
    /// The tree of `text`; `None` when the parser called back more than `calls_max` times, or does not
    /// know the language. The same text always gives the same answer.
    pub fn parse(&self, text: &str, calls_max: u64) -> Option<SyntaxTree<'p>> {
        let mut n_calls = 0;
        let mut progress = |_: &ParseState| {
            n_calls += 1;
            if n_calls > calls_max { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let mut parser = self.parser.borrow_mut();
        let mut read = |at: usize, _| text.as_bytes().get(at..).unwrap_or_default();
        let tree = parser.parse_with_options(&mut read, None, Some(options));
        if tree.is_none() {
            parser.reset();
        }
        Some(SyntaxTree { tree: tree?, call: PhantomData })
    }
}

impl SyntaxTree<'_> {
    /// The root.
    pub fn root_node(&self) -> Node<'_> {
        self.tree.root_node()
    }
}

/// Runs `read`, which may make trees of texts in `language`, and takes all their memory back at the
/// end. Calls may lie inside each other. Cursors may go to other threads; one that is made inside a
/// call of another thread must not leave that call.
pub fn parsing<T>(language: &Language, read: impl for<'p> FnOnce(&'p Parses<'p>) -> T) -> T {
    /// Ends with `read`, also with one that panics.
    struct Parsing;
    impl Drop for Parsing {
        #[expect(unsafe_code, reason = "takes back what was lent to the functions called from C")]
        fn drop(&mut self) {
            // SAFETY: made of a box by the call that ends, and nothing else frees it. Parsers and trees
            // of that call are gone, since they are bound to it: nobody looks at its blocks again.
            let mut region = unsafe { Box::from_raw(CURRENT.replace(ptr::null_mut())) };
            if is_building() {
                region.empty();
                KEPT.set(Some(region));
            }
        }
    }
    serve_parsers();
    let is_outer = CURRENT.get().is_null();
    let _parsing = is_outer.then(|| {
        let region = KEPT.take().unwrap_or_else(Region::new);
        CURRENT.set(Box::into_raw(region));
        Parsing
    });
    #[expect(clippy::disallowed_methods, reason = "what others are to use")]
    let mut parser = Parser::new();
    // A parser without a language makes no tree.
    let _ = parser.set_language(language);
    let parses = Parses { parser: RefCell::new(parser), call: PhantomData };
    read(&parses)
}

/// Tells the parsers, once, before the first is made.
#[expect(unsafe_code, reason = "the one way to tell the parsers")]
fn serve_parsers() {
    static ONCE: Once = Once::new();
    let (malloc, calloc, realloc, free) = (allocate, allocate_zeroed, reallocate, release);
    let allocator = tree_sitter::Allocator { malloc, calloc, realloc, free };
    // SAFETY: the four are of one family, align as `malloc` does and give no null. Parsers are made
    // here and nowhere else, so there is none yet.
    ONCE.call_once(|| unsafe { tree_sitter::set_allocator(Some(allocator)) });
}

/// Bytes of the first piece of a region; each further one is as large as all before.
const PIECE_BYTES_MIN: usize = 256 << 10;
/// Bytes of the largest piece, apart from one for a single block that needs more.
const PIECE_BYTES_MAX: usize = 8 << 20;
/// Bytes of pieces that a thread keeps from file to file during a build.
const KEPT_BYTES: usize = 4 << 20;

/// Bytes. Blocks are aligned to this, and with their heads they take a multiple of it.
const STEP: usize = 16;
/// Steps up to which each number of them is a size of its own. From there on there are four sizes to
/// the power of two: what is large grows by doubling.
const FINE_MAX: u32 = 64;
/// Sizes of blocks.
const N_SIZES: usize = FINE_MAX as usize + 1 + 4 * 32;

/// What stands before each block.
#[repr(C)]
struct Head {
    /// What the block takes, with this.
    steps: u32,
    /// Number of the region; 0 for none.
    region: u32,
}

/// A block that is free, as the list of its size knows it.
struct Free {
    next: *mut Free,
}

/// Memory for one file after the other.
struct Region {
    number: u32,
    /// What is left of the current piece. Blocks are aligned, their heads lie before that.
    at: *mut u8,
    n_left: usize,
    free: [*mut Free; N_SIZES],
    pieces: Vec<Piece>,
    /// How many pieces have been begun.
    n_begun: usize,
}

/// Memory from the common allocator.
struct Piece {
    start: *mut u8,
    bytes: usize,
}

const HEAD: usize = size_of::<Head>();
const _: () = assert!(HEAD + size_of::<Free>() <= STEP && STEP.is_multiple_of(align_of::<Free>()));

thread_local! {
    /// Where the parsers of this thread allocate; null for where everybody does.
    static CURRENT: Cell<*mut Region> = const { Cell::new(ptr::null_mut()) };
    /// The region of this thread between two files.
    static KEPT: Cell<Option<Box<Region>>> = const { Cell::new(None) };
}

/// The steps of a block for so many bytes, rounded up to its size, and the number of that size.
#[inline]
fn size_for(bytes: usize) -> (u32, usize) {
    let steps = bytes.saturating_add(HEAD).div_ceil(STEP);
    let steps = if steps >> 31 == 0 { steps as u32 } else { refused(bytes) };
    if steps <= FINE_MAX {
        return (steps, steps as usize);
    }
    let shift = (steps - 1).ilog2() - 2;
    let quarters = steps.div_ceil(1 << shift);
    (quarters << shift, (FINE_MAX + 4 * (shift - 4) + quarters - 4) as usize)
}

#[cold]
fn refused(bytes: usize) -> ! {
    handle_alloc_error(Layout::array::<u8>(bytes).unwrap_or(Layout::new::<u8>()))
}

#[expect(unsafe_code, reason = "memory is what this is about")]
impl Region {
    fn new() -> Box<Self> {
        // 0 stands for no region. Numbers would come again after four billion regions, and matter
        // only to blocks that are in use meanwhile.
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed).max(1);
        let (at, free) = (ptr::null_mut(), [ptr::null_mut(); N_SIZES]);
        Box::new(Self { number, at, n_left: 0, free, pieces: Vec::new(), n_begun: 0 })
    }

    #[inline]
    fn allocate(&mut self, bytes: usize) -> *mut c_void {
        let (steps, size) = size_for(bytes);
        let block = self.free[size];
        if !block.is_null() {
            // SAFETY: what is in a list was put there by `release` and is used by nobody else.
            self.free[size] = unsafe { (*block).next };
            return block.cast();
        }
        let n = steps as usize * STEP;
        if self.n_left < n {
            self.begin_piece(n);
        }
        self.n_left -= n;
        // SAFETY: the current piece has the bytes, and its blocks begin where heads are aligned.
        unsafe {
            let head = self.at.cast::<Head>();
            self.at = self.at.add(n);
            head.write(Head { steps, region: self.number });
            head.add(1).cast()
        }
    }

    /// Takes back a block of this region.
    #[inline]
    fn release(&mut self, block: *mut c_void, steps: u32) {
        let size = size_for(steps as usize * STEP - HEAD).1;
        let block = block.cast::<Free>();
        // SAFETY: the block has room for this and is aligned for it; whoever releases it is done.
        unsafe { block.write(Free { next: self.free[size] }) };
        self.free[size] = block;
    }

    #[cold]
    fn begin_piece(&mut self, n: usize) {
        let n = n + STEP;
        while self.pieces.get(self.n_begun).is_some_and(|piece| piece.bytes < n) {
            self.n_begun += 1;
        }
        if self.n_begun == self.pieces.len() {
            let all: usize = self.pieces.iter().map(|piece| piece.bytes).sum();
            let bytes = all.clamp(PIECE_BYTES_MIN, PIECE_BYTES_MAX).max(n);
            // SAFETY: may be asked for any number of bytes; null is not used.
            let start = unsafe { mi_malloc(bytes) }.cast::<u8>();
            if start.is_null() {
                refused(bytes);
            }
            self.pieces.push(Piece { start, bytes });
        }
        let piece = &self.pieces[self.n_begun];
        self.n_begun += 1;
        // SAFETY: a piece is longer than a step, and aligned to one as all of its allocator.
        self.at = unsafe { piece.start.add(STEP - HEAD) };
        self.n_left = piece.bytes - (STEP - HEAD);
    }

    /// Forgets all blocks, and gives back what is more than the next file is likely to need.
    fn empty(&mut self) {
        self.free.fill(ptr::null_mut());
        (self.at, self.n_left, self.n_begun) = (ptr::null_mut(), 0, 0);
        let mut bytes = 0;
        self.pieces.retain(|piece| {
            bytes += piece.bytes;
            if bytes > KEPT_BYTES {
                // SAFETY: came from `mi_malloc`, and nothing in it is in use.
                unsafe { mi_free(piece.start.cast()) };
            }
            bytes <= KEPT_BYTES
        });
    }
}

#[expect(unsafe_code, reason = "memory is what this is about")]
impl Drop for Region {
    fn drop(&mut self) {
        for piece in &self.pieces {
            // SAFETY: came from `mi_malloc`, and whoever drops a region is done with what is in it.
            unsafe { mi_free(piece.start.cast()) };
        }
    }
}

#[expect(unsafe_code, reason = "called from C")]
unsafe extern "C" fn allocate(bytes: usize) -> *mut c_void {
    let region = CURRENT.get();
    if !region.is_null() {
        // SAFETY: the region is alive while it is the current one, and no other thread knows it.
        return unsafe { (*region).allocate(bytes) };
    }
    // Of cursors that other threads make on a tree.
    let n = bytes.checked_add(STEP).unwrap_or_else(|| refused(bytes));
    // SAFETY: the block has a step more, at whose end lies the head.
    unsafe {
        let start = mi_malloc(n).cast::<u8>();
        if start.is_null() {
            refused(bytes);
        }
        let block = start.add(STEP);
        block.cast::<Head>().sub(1).write(Head { steps: 0, region: 0 });
        block.cast()
    }
}

#[expect(unsafe_code, reason = "called from C")]
unsafe extern "C" fn allocate_zeroed(n: usize, bytes: usize) -> *mut c_void {
    let bytes = n.checked_mul(bytes).unwrap_or_else(|| refused(usize::MAX));
    // SAFETY: the block was just made for so many bytes.
    unsafe {
        let block = allocate(bytes);
        block.write_bytes(0, bytes);
        block
    }
}

#[expect(unsafe_code, reason = "called from C")]
unsafe extern "C" fn reallocate(block: *mut c_void, bytes: usize) -> *mut c_void {
    // SAFETY: the block is null or came from here, so a head stands before it that says how much of it
    // can be copied; one without a region begins a step before it.
    unsafe {
        if block.is_null() {
            return allocate(bytes);
        }
        let Head { steps, region } = *block.cast::<Head>().sub(1);
        if region == 0 {
            let n = bytes.checked_add(STEP).unwrap_or_else(|| refused(bytes));
            let start = mi_realloc(block.sub(STEP), n);
            return if start.is_null() { refused(bytes) } else { start.add(STEP) };
        }
        let room = steps as usize * STEP - HEAD;
        if bytes <= room {
            return block;
        }
        let larger = allocate(bytes);
        larger.copy_from_nonoverlapping(block, room);
        release(block);
        larger
    }
}

#[expect(unsafe_code, reason = "called from C")]
unsafe extern "C" fn release(block: *mut c_void) {
    if block.is_null() {
        return;
    }
    // SAFETY: the block came from here, so a head stands before it; one without a region begins a step
    // before it. The current region is alive, and no other thread knows it. Blocks of other regions
    // are left to those.
    unsafe {
        let Head { steps, region } = *block.cast::<Head>().sub(1);
        let current = CURRENT.get();
        if region == 0 {
            mi_free(block.sub(STEP));
        } else if !current.is_null() && (*current).number == region {
            (*current).release(block, steps);
        }
    }
}

#[cfg(test)]
mod tests;

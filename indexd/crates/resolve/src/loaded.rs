//! Interfaces that one linking run has opened, kept alive so that facts can be borrowed from them
//! while more are opened.
//!
//! A linker holds references into many interfaces at once and opens more on the way. Cloning an
//! `Arc` for each look would cost more than the look itself; instead [`Blocks`] only ever grows, so
//! a reference into it lives as long as it does.

use indexd_model::{Facts, FactsView, FileDoc, Interface};
use rustc_hash::FxHashMap;
use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

const BLOCK_LEN: usize = 32;

/// Append-only storage of interfaces. Make one on the stack, then [`Loaded::new`] over it.
#[derive(Default)]
pub struct Blocks {
    cells: [OnceCell<(Arc<Interface>, Arc<str>)>; BLOCK_LEN],
    next: OnceCell<Box<Blocks>>,
}

impl Drop for Blocks {
    /// Takes the chain apart in a loop: dropping it block in block would recurse.
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(mut block) = next {
            next = block.next.take();
        }
    }
}

/// Files opened by one linking run. They are numbered from 0 in the order of opening; 0 is the file
/// being linked, read with its body.
pub struct Loaded<'a> {
    view: &'a dyn FactsView,
    state: RefCell<State<'a>>,
}

struct State<'a> {
    files: Vec<(Facts<'a>, FileDoc, &'a str)>,
    by_doc: FxHashMap<FileDoc, u32>,
    tail: &'a Blocks,
    n_tail: usize,
}

impl<'a> Loaded<'a> {
    /// Starts with the file being linked.
    pub fn new(view: &'a dyn FactsView, blocks: &'a Blocks, file: FileDoc, facts: Facts<'a>) -> Self {
        let state = State { files: Vec::new(), by_doc: FxHashMap::default(), tail: blocks, n_tail: 0 };
        let it = Self { view, state: RefCell::new(state) };
        // The facts are there already: only the path is kept.
        let Interface { language, outcome, roles, .. } = *facts.interface;
        let path = it.keep(Arc::new(Interface::empty(language, outcome, roles)), view.path(file)).1;
        let mut state = it.state.borrow_mut();
        state.files.push((facts, file, path));
        state.by_doc.insert(file, 0);
        drop(state);
        it
    }

    /// Opens a file, or finds it among those already open.
    pub fn open(&self, doc: FileDoc) -> u32 {
        if let Some(&n) = self.state.borrow().by_doc.get(&doc) {
            return n;
        }
        let (interface, path) = self.keep(self.view.interface(doc), self.view.path(doc));
        let mut state = self.state.borrow_mut();
        let n = state.files.len() as u32;
        state.files.push((Facts::outside(interface), doc, path));
        state.by_doc.insert(doc, n);
        n
    }

    /// The facts of an open file.
    pub fn facts(&self, n: u32) -> Facts<'a> {
        self.state.borrow().files[n as usize].0
    }

    /// The handle of an open file.
    pub fn doc(&self, n: u32) -> FileDoc {
        self.state.borrow().files[n as usize].1
    }

    /// The path of an open file.
    pub fn path(&self, n: u32) -> &'a str {
        self.state.borrow().files[n as usize].2
    }

    fn keep(&self, interface: Arc<Interface>, path: Arc<str>) -> (&'a Interface, &'a str) {
        let mut state = self.state.borrow_mut();
        if state.n_tail == BLOCK_LEN {
            let tail = state.tail;
            state.tail = tail.next.get_or_init(Box::default);
            state.n_tail = 0;
        }
        let tail = state.tail;
        let cell = &tail.cells[state.n_tail];
        state.n_tail += 1;
        let (interface, path) = cell.get_or_init(|| (interface, path));
        (interface, path)
    }
}

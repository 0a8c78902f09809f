//! The canonical dump: every derived table as sorted lines in which handles are replaced by the things they
//! refer to. Two states with equal inputs have equal dumps, whatever the history of changes.

use crate::codec::defs::DefRow;
use crate::codec::edges::decode_unresolved;
use crate::codec::enums::Coded;
use crate::codec::records::{ArchivedFileRow, FileRow};
use crate::codec::{chunks, postings};
use crate::error::{Result, StoreError};
use crate::history;
use crate::linked::decode_sorted;
use crate::meta::Meta;
use crate::rows::{IN_KIND, Rows, decode_runs, posting_key, set_row, text_prefix_len};
use crate::snapshot::Snapshot;
use crate::table::{Kind, Table};
use crate::tables::N_TABLES;
use indexd_model::ids::hex;
use indexd_model::links::EdgeKind;
use indexd_model::view::ChunkRecord;
use indexd_model::{ContentHash, DefDoc, DefIdx, Facts, FileDoc, names};
use rustc_hash::FxHashMap;
use std::fmt::Write as _;
use std::io;

/// The text that replaces each handle.
struct Meanings {
    files: FxHashMap<u32, String>,
    defs: FxHashMap<u32, String>,
    chunks: FxHashMap<u32, String>,
}

impl Meanings {
    /// Reads all files.
    fn read(rows: Rows) -> Result<Self> {
        let mut it =
            Self { files: FxHashMap::default(), defs: FxHashMap::default(), chunks: FxHashMap::default() };
        for row in rows.tables.files.iter(rows.txn)? {
            let (key, value) = row?;
            let key = &key[..];
            let corrupt = || rows.tables.files.corrupt(key);
            let file = rows.tables.files.handle(key)?;
            let row: &ArchivedFileRow = FileRow::access(value).ok_or_else(corrupt)?;
            let path = row.path.as_str();
            it.files.insert(file, format!("{path:?}"));
            for i in 0..row.n_chunks.to_native() {
                it.chunks.insert(row.chunk_start.to_native() + i, format!("{path:?}@{i}"));
            }
            let interface = rows.interface(file)?.0;
            let facts = Facts::outside(&interface);
            let docs = rows.file_defs(file)?;
            it.defs.insert(docs[0], format!("{path:?}"));
            for (i, doc) in (0u32..).zip(&docs[1..]) {
                let ordinal = interface.defs.get(i as usize).ok_or_else(corrupt)?.ordinal;
                let name = names::descriptor(&facts, DefIdx(i));
                it.defs.insert(*doc, format!("{path:?} {name:?} {ordinal}"));
            }
        }
        Ok(it)
    }

    fn file(&self, file: u32) -> Result<&str> {
        meaning(&self.files, file, "file")
    }

    fn def(&self, def: u32) -> Result<&str> {
        meaning(&self.defs, def, "definition")
    }

    fn chunk(&self, chunk: u32) -> Result<&str> {
        meaning(&self.chunks, chunk, "chunk")
    }
}

fn meaning<'a>(map: &'a FxHashMap<u32, String>, id: u32, what: &str) -> Result<&'a str> {
    map.get(&id)
        .map(String::as_str)
        .ok_or_else(|| StoreError::Corrupt(format!("{what} handle {id} stands for nothing")))
}

/// The text in a key up to its NUL.
fn text_of(key: &[u8]) -> String {
    format!("\"{}\"", key[..text_prefix_len(key).saturating_sub(1)].escape_ascii())
}

/// Tables that are not dumped, since they may vanish at any time.
const N_CACHES: usize = 2;

type Lines = Vec<String>;
type Section<'a> = (&'a Table, &'a dyn Fn(&Table) -> Result<Lines>);

impl Snapshot {
    /// Writes every derived table as sorted lines free of handles: table, key, value, separated by tabs.
    /// Takes time and memory in proportion to the whole index; for tests and for comparing two indexes.
    ///
    /// # Errors
    /// Those of `out`, and the error of a row that cannot be read.
    pub fn dump(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let (rows, meta) = (self.rows(), self.meta());
        let m = self.noting(Meanings::read(rows)).map_err(io::Error::other)?;
        let tables = rows.tables;
        let quoted = |bytes: &[u8]| format!("\"{}\"", bytes.escape_ascii());
        let hash = |_, raw: Vec<u8>| Ok(ContentHash::of(&raw).to_string());
        let hashes = |t: &Table| one_each(rows, t, |key, value| Ok((hex(key), hex(value))));
        let of_path = |key: &[u8], value: &[u8]| Ok((quoted(key), ContentHash::of(value).to_string()));
        // A new table does not compile here until it has a section or is counted as a cache.
        let sections: [Section; N_TABLES as usize - N_CACHES] = [
            (&tables.meta, &|_| Ok(state(meta))),
            (&tables.paths, &|t| one_each(rows, t, |key, _| Ok((quoted(key), String::new())))),
            (&tables.files, &|t| file_lines(rows, t, &m)),
            (&tables.file_defs, &|t| file_def_lines(rows, t, &m)),
            (&tables.chunks, &|t| chunk_lines(rows, t, &m)),
            (&tables.defs, &|t| def_lines(rows, t, &m)),
            (&tables.names, &|t| set_lines(rows, t, text_prefix_len, |key| Ok(text_of(key)), |id| m.def(id))),
            (&tables.interfaces, &|t| blob_lines(rows, t, &m, hash)),
            (&tables.bodies, &|t| blob_lines(rows, t, &m, hash)),
            (&tables.texts, &|t| blob_lines(rows, t, &m, hash)),
            (&tables.grams, &|t| raw_lines(rows, t, &m)),
            (&tables.terms, &|t| posting_lines(rows, t, |id| m.chunk(id))),
            (&tables.path_terms, &|t| posting_lines(rows, t, |id| m.file(id))),
            (&tables.providers, &|t| set_lines(rows, t, |_| 8, |key| Ok(hex(key)), |id| m.file(id))),
            (&tables.dependants, &|t| set_lines(rows, t, |_| 4, |key| Ok(hex(key)), |id| m.file(id))),
            (&tables.lookups, &|t| lookup_lines(rows, t, &m)),
            (&tables.edges_out, &|t| edge_lines(rows, t, &m)),
            (&tables.edges_in, &|t| set_lines(rows, t, |_| 5, |key| in_key(t, key, &m), |id| m.def(id))),
            (&tables.unresolved, &|t| unresolved_lines(rows, t, &m)),
            (&tables.history_files, &|t| one_each(rows, t, |key, value| Ok((quoted(key), hex(value))))),
            (&tables.history_docs, &|t| one_each(rows, t, |_, value| Ok((quoted(value), String::new())))),
            (&tables.history_terms, &|t| history_lines(rows, t)),
            (&tables.overlays, &|t| one_each(rows, t, of_path)),
            (&tables.leaves, &hashes),
            (&tables.nodes, &hashes),
        ];
        for (table, lines_of) in sections {
            debug_assert!(table.kind == Kind::Derived, "{} is dumped", table.name);
            let mut lines = self.noting(lines_of(table)).map_err(io::Error::other)?;
            lines.sort_unstable();
            for line in lines {
                writeln!(out, "{}\t{line}", table.name)?;
            }
        }
        Ok(())
    }
}

/// One line for each row.
fn one_each(
    rows: Rows,
    table: &Table,
    line: impl Fn(&[u8], &[u8]) -> Result<(String, String)>,
) -> Result<Lines> {
    let mut lines = Vec::new();
    for row in table.iter(rows.txn)? {
        let (key, value) = row?;

        let (key, value) = line(&key, value)?;
        lines.push(format!("{key}\t{value}"));
    }
    Ok(lines)
}

fn state(meta: &Meta) -> Lines {
    // The number of commits depends on how the state was reached; everything else does not.
    let Meta { format, config, generation: _, stats, n_defs, source_bytes, head, history, overlays, root } =
        meta;
    vec![
        format!("format\t{format}"),
        format!("config\t{}", hex(config)),
        format!("stats\t{stats:?}"),
        format!("definitions\t{n_defs}"),
        format!("bytes\t{source_bytes}"),
        format!("head\t{head:?}"),
        format!("history\t{:?}", history.map(|h| hex(&h))),
        format!("overlays\t{:?}", overlays.map(|h| hex(&h))),
        format!("root\t{}", hex(root)),
        format!("signature\t{}", hex(&meta.signature())),
    ]
}

fn file_lines(rows: Rows, table: &Table, m: &Meanings) -> Result<Lines> {
    one_each(rows, table, |key, value| {
        let row = FileRow::access(value).ok_or_else(|| table.corrupt(key))?;
        let ArchivedFileRow {
            hash,
            size,
            n_lines,
            text_len,
            chunk_start: _,
            n_chunks,
            chunk_room: _,
            own: _,
            roles,
            path_len,
            language,
            outcome,
            path: _,
        } = row;
        let line = format!(
            "{} {size} bytes {text_len} text {n_lines} lines {n_chunks} chunks roles {roles} path {path_len} {language} {outcome}",
            ContentHash(*hash)
        );
        Ok((m.file(table.handle(key)?)?.to_owned(), line))
    })
}

fn file_def_lines(rows: Rows, table: &Table, m: &Meanings) -> Result<Lines> {
    one_each(rows, table, |key, value| {
        let docs = decode_runs(value).ok_or_else(|| table.corrupt(key))?;
        let names: Result<Vec<&str>> = docs.iter().map(|d| m.def(*d)).collect();
        Ok((m.file(table.handle(key)?)?.to_owned(), names?.join("; ")))
    })
}

fn chunk_lines(rows: Rows, table: &Table, m: &Meanings) -> Result<Lines> {
    one_each(rows, table, |key, value| {
        let id = table.handle(key)?;
        let row = chunks::decode(id, value).ok_or_else(|| table.corrupt(key))?;
        let def = row.def.some().map_or(Ok("-"), |def| m.def(def.0))?;
        // Handles are replaced by text; all other fields are printed as they are.
        let shown = ChunkRecord { file: FileDoc(0), def: DefDoc::NONE, ..row };
        let line = format!("{shown:?} of {def} in {}", m.file(row.file.0)?);
        Ok((m.chunk(id)?.to_owned(), line))
    })
}

fn def_lines(rows: Rows, table: &Table, m: &Meanings) -> Result<Lines> {
    one_each(rows, table, |key, _| {
        let id = table.handle(key)?;
        let row = rows.def(id)?;
        let parent = row.parent.map_or(Ok("-"), |p| m.def(p))?;
        let qualified = rows.qualified(&row)?;
        let shown = DefRow { file: 0, parent: None, qualified: &qualified, is_nested: false, ..row };
        Ok((m.def(id)?.to_owned(), format!("{shown:?} in {parent} of {}", m.file(row.file)?)))
    })
}

fn set_lines<'m>(
    rows: Rows,
    table: &Table,
    prefix_len: impl Fn(&[u8]) -> usize,
    name: impl Fn(&[u8]) -> Result<String>,
    member: impl Fn(u32) -> Result<&'m str>,
) -> Result<Lines> {
    // The rows of one set are cut by handles, so they are gathered first.
    let mut sets: FxHashMap<Vec<u8>, Vec<&str>> = FxHashMap::default();
    for row in table.iter(rows.txn)? {
        let (key, value) = row?;
        let (prefix, ids) = set_row(table, &key, value, &prefix_len)?;
        let members: Result<Vec<&str>> = ids.into_iter().map(&member).collect();
        sets.entry(prefix.to_vec()).or_default().extend(members?);
    }
    let mut lines = Vec::with_capacity(sets.len());
    for (prefix, mut members) in sets {
        members.sort_unstable();
        lines.push(format!("{}\t{}", name(&prefix)?, members.join("; ")));
    }
    Ok(lines)
}

fn in_key(table: &Table, key: &[u8], m: &Meanings) -> Result<String> {
    let corrupt = || table.corrupt(key);
    let target = table.handle(&key[..IN_KIND])?;
    let kind = EdgeKind::from_code(*key.get(IN_KIND).ok_or_else(corrupt)?).ok_or_else(corrupt)?;
    Ok(format!("{} {}", m.def(target)?, kind.name()))
}

/// One line for each blob.
fn blob_lines(
    rows: Rows,
    table: &Table,
    m: &Meanings,
    line: impl Fn(u32, Vec<u8>) -> Result<String>,
) -> Result<Lines> {
    let mut lines = Vec::new();
    rows.all_blobs(table, |file, raw| {
        lines.push(format!("{}\t{}", m.file(file)?, line(file, raw)?));
        Ok(())
    })?;
    Ok(lines)
}

/// One line for each uncompressed blob.
fn raw_lines(rows: Rows, table: &Table, m: &Meanings) -> Result<Lines> {
    let mut lines = Vec::new();
    rows.all_pieces(table, |file, raw| {
        lines.push(format!("{}\t{}", m.file(file)?, ContentHash::of(raw)));
        Ok(())
    })?;
    Ok(lines)
}

fn posting_lines<'m>(rows: Rows, table: &Table, member: impl Fn(u32) -> Result<&'m str>) -> Result<Lines> {
    let mut by_term: FxHashMap<Vec<u8>, Vec<String>> = FxHashMap::default();
    for row in table.iter(rows.txn)? {
        let (key, value) = row?;
        let key = &key[..];
        let mut found = Vec::new();
        let (term, block) = posting_key(key).ok_or_else(|| table.corrupt(key))?;
        postings::decode(block, value, |id, counts| found.push((id, counts)))
            .ok_or_else(|| table.corrupt(key))?;
        let list = by_term.entry(term.to_vec()).or_default();
        for (id, counts) in found {
            list.push(format!("{}:{counts:?}", member(id)?));
        }
    }
    let line = |(term, mut list): (Vec<u8>, Vec<String>)| {
        list.sort_unstable();
        format!("\"{}\"\t{}", term.escape_ascii(), list.join("; "))
    };
    Ok(by_term.into_iter().map(line).collect())
}

fn lookup_lines(rows: Rows, table: &Table, m: &Meanings) -> Result<Lines> {
    blob_lines(rows, table, m, |file, raw| {
        let keys = decode_sorted(&raw).ok_or_else(|| table.corrupt(&file.to_be_bytes()))?;
        let keys: Vec<String> = keys.into_iter().map(|k| format!("{k:08x}")).collect();
        Ok(keys.join(" "))
    })
}

fn edge_lines(rows: Rows, table: &Table, m: &Meanings) -> Result<Lines> {
    let mut lines = Vec::new();
    for row in table.iter(rows.txn)? {
        let source = table.handle(&row?.0)?;
        let mut uses = Vec::new();
        rows.uses(rows.base(source)?, |_, _| true, |u| uses.push(u))?;
        for u in uses {
            let (o, name) = (u.occurrence, m.def(source)?);
            let place = format!("{:010} line {}", o.at, o.line);
            let how = format!("{:?} {} {}", o.role, o.rule.name(), o.confidence);
            lines.push(format!("{name}\t{} {} at {place} {how}", u.kind.name(), m.def(u.target)?));
        }
    }
    Ok(lines)
}

fn unresolved_lines(rows: Rows, table: &Table, m: &Meanings) -> Result<Lines> {
    blob_lines(rows, table, m, |file, raw| {
        let facts = rows.facts(file)?;
        let facts = Facts::inside(&facts);
        let mut line = String::new();
        for u in decode_unresolved(&raw).ok_or_else(|| table.corrupt(&file.to_be_bytes()))? {
            let _ = write!(
                line,
                "{:?} {:?} at {} {:?} {:?}; ",
                u.source.some(),
                facts.str(u.name),
                u.at,
                u.role,
                u.reason
            );
        }
        Ok(line)
    })
}

fn history_lines(rows: Rows, table: &Table) -> Result<Lines> {
    one_each(rows, table, |key, value| {
        let mut list = Vec::new();
        for (doc, n) in history::decode_postings(value).ok_or_else(|| table.corrupt(key))? {
            list.push(format!("{:?}:{n}", history::path_of(rows, doc)?));
        }
        list.sort_unstable();
        Ok((text_of(key), list.join("; ")))
    })
}

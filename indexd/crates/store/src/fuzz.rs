//! Entry points of the codecs for fuzz targets, compiled only with the feature `fuzz`.

use crate::codec::blob::{self, decompress};
use crate::codec::defs::DefRow;
use crate::codec::edges::{self, Base};
use crate::codec::facts::{Packer, unpack_body, unpack_interface};
use crate::codec::records::{FileRow, decode_stat};
use crate::codec::run::{self, Entries};
use crate::codec::{chunks, postings, set};
use crate::linked::{decode_sorted, encode_sorted};
use crate::meta::{Free, Meta};
use crate::prepared::{FileRows, def_lines, digests};
use crate::rows::{decode_runs, encode_runs};
use indexd_model::view::N_FIELDS;
use indexd_model::{ContentHash, FileFacts, LineIndex};

/// Passes these bytes, without the first, to the decoder selected by the first. A row that can be read is
/// packed and read again, and must be the same.
///
/// # Panics
/// When it is not the same.
pub fn row(data: &[u8]) {
    let Some((&which, bytes)) = data.split_first() else { return };
    match which % 16 {
        0 => same(chunks::decode(7, bytes), |row| chunks::decode(7, &chunks::encode(7, row))),
        1 => ignore(DefRow::decode(7, bytes).map(|row| row.name().len())),
        2 => {
            let base = Base { source: 7, at: 100, line: 3 };
            for kept in [true, false] {
                ignore(edges::decode(base, bytes, |_, _| kept, |_| ()));
            }
            ignore(edges::decode_targets(base, bytes, |_, _| ()));
        }
        3 => same(edges::decode_unresolved(bytes), |all| {
            edges::decode_unresolved(&edges::encode_unresolved(all))
        }),
        4 => ignore((postings::decode(1, bytes, |_, _| ()), postings::count(bytes))),
        5 => same(unpack_interface(&blob::plain(bytes)).map(|found| found.0), |interface| {
            let again = Packer::default().interface(interface).expect("packs");
            unpack_interface(&again).map(|found| found.0)
        }),
        6 => same(unpack_body(&blob::plain(bytes)), |(body, chunks)| {
            unpack_body(&Packer::default().body(body, chunks).expect("packs"))
        }),
        7 => ignore(decompress(bytes)),
        8 => {
            let mut members = Vec::new();
            ignore((set::decode(1, bytes, &mut members), set::count(bytes)));
            assert!(members.iter().all(|id| set::high(*id) == 1));
        }
        9 => runs(bytes),
        10 => same(decode_runs(bytes), |ids| decode_runs(&encode_runs(ids))),
        11 => same(decode_sorted(bytes), |keys| decode_sorted(&encode_sorted(keys))),
        12 => ignore((FileRow::access(bytes).map(|row| row.path.len()), decode_stat(bytes))),
        13 => ignore((
            bitcode::decode::<Meta>(bytes).map(|meta| meta.signature()),
            bitcode::decode::<Free>(bytes),
        )),
        14 => ignore(crate::unpack_facts(bytes)),
        _ => ignore((
            blob::read_in(bytes, |raw| std::str::from_utf8(raw).ok().map(str::len)),
            blob::forget_scratch(),
        )),
    }
}

/// Checks only that reading did not panic.
fn ignore<T>(_: T) {}

/// Asserts that packing a value and reading it again returns the same value.
fn same<T: PartialEq>(read: Option<T>, again: impl Fn(&T) -> Option<T>) {
    assert!(read.as_ref().is_none_or(|first| again(first).as_ref() == Some(first)));
}

/// The first byte is the length of a key, then come the key and a run.
fn runs(bytes: &[u8]) {
    let Some((&n, rest)) = bytes.split_first() else { return };
    let Some((key, run)) = rest.split_at_checked(usize::from(n)) else { return };
    let _ = (
        run::find(run, key),
        run::splice(run, key, Some(b"x")),
        run::splice(run, key, None),
        run::halve(run),
    );
    let mut entries = Entries::new(run);
    while !entries.is_done() && entries.read().is_some() {}
}

/// Input of [`row`] that holds rows of a file.
///
/// # Panics
/// When they cannot be encoded.
pub fn rows(path: &str, text: &str, facts: &FileFacts) -> Vec<Vec<u8>> {
    let with = |which: u8, bytes: &[u8]| [&[which], bytes].concat();
    let lines = LineIndex::new(text);
    let docs: Vec<u32> = (7..8 + facts.interface.defs.len() as u32).collect();
    let file = FileRows {
        file: 1,
        docs: &docs,
        interface: &facts.interface,
        chunks: &facts.chunks,
        lines: &def_lines(&facts.interface, &lines),
        n_lines: lines.n_lines(),
        text_len: text.len() as u32,
    };
    let mut out = Vec::new();
    file.defs(|_, row| {
        out.push(with(1, &row));
        Ok(())
    })
    .expect("rows");
    for (i, digest) in digests(&facts.chunks, text).into_iter().enumerate() {
        out.push(with(0, &chunks::encode(7, &file.chunk(i, &[1; N_FIELDS], digest))));
    }
    let row = file.file(path, &ContentHash::of(text.as_bytes()), 1, 2, (3, 4));
    out.push(with(12, &row.encode()));
    let mut packer = Packer::default();
    let interface = packer.interface(&facts.interface).expect("packs");
    let body = packer.body(&facts.body, &facts.chunks).expect("packs");
    out.extend([(5, interface), (6, body)].map(|(n, blob)| with(n, &decompress(&blob).expect("a blob"))));
    out.push(with(7, &blob::compress(text.as_bytes()).expect("compresses")));
    out.push(with(14, &crate::pack_facts(facts).expect("packs")));
    out.push(with(8, &set::encode(&(0..99).map(|x| x * 3).collect::<Vec<u32>>())));
    out.push(with(11, &encode_sorted(&docs)));
    out.push(with(10, &encode_runs(&docs)));
    let mut last: &[u8] = &[];
    let mut run = vec![1, b'b'];
    for key in [&b"a"[..], b"ab", b"b", b"long key that is more than fifteen bytes"] {
        run::push(&mut run, last, key, b"value");
        last = key;
    }
    out.push(with(9, &run));
    out.push(with(13, &bitcode::encode(&Meta::empty([0; 32]))));
    out.push(with(13, &bitcode::encode(&Free::default())));
    out
}

//! What fuzz targets reach of the codecs. Built for them alone, by the feature `fuzz`.

use crate::codec::blob::{self, decompress};
use crate::codec::chunks::ChunkRow;
use crate::codec::defs::DefRow;
use crate::codec::edges::{self, Base};
use crate::codec::facts::{Packer, unpack_body, unpack_interface};
use crate::codec::records::{FileRow, StatRow};
use crate::codec::run::{self, Entries};
use crate::codec::{postings, set};
use crate::linked::{decode_sorted, encode_sorted};
use crate::meta::{Free, Meta};
use crate::prepared::{FileRows, def_lines, digests};
use crate::rows::{decode_runs, encode_runs};
use indexd_model::view::N_FIELDS;
use indexd_model::{ContentHash, FileFacts, LineIndex};

/// Hands these bytes, without the first, to the decoder that the first draws. What reads as a row is
/// packed and read again, and is the same then.
///
/// # Panics
/// When it is not.
pub fn row(data: &[u8]) {
    let Some((&which, bytes)) = data.split_first() else { return };
    match which % 16 {
        0 => {
            let back = |row: ChunkRow| ChunkRow::decode(7, &row.encode(7)) == Some(row);
            assert!(ChunkRow::decode(7, bytes).is_none_or(back));
        }
        1 => {
            if let Some(row) = DefRow::decode(7, bytes) {
                let _ = row.name();
            }
        }
        2 => {
            let base = Base { source: 7, at: 100, line: 3 };
            for kept in [true, false] {
                let _ = edges::decode(base, bytes, |_, _| kept, |_| ());
            }
            let _ = edges::decode_targets(base, bytes, |_, _| ());
        }
        3 => {
            let back = |all: Vec<_>| edges::decode_unresolved(&edges::encode_unresolved(&all)) == Some(all);
            assert!(edges::decode_unresolved(bytes).is_none_or(back));
        }
        4 => {
            let _ = (postings::decode(1, bytes, |_, _| ()), postings::count(bytes));
        }
        5 => {
            let Some((interface, _)) = unpack_interface(&blob::plain(bytes)) else { return };
            let again = Packer::default().interface(&interface).expect("packs");
            assert!(unpack_interface(&again).is_some_and(|again| again.0 == interface));
        }
        6 => {
            let Some((body, chunks)) = unpack_body(&blob::plain(bytes), 3) else { return };
            let again = Packer::default().body(&body, &chunks, 3).expect("packs");
            assert!(unpack_body(&again, 3) == Some((body, chunks)));
        }
        7 => {
            let _ = decompress(bytes);
        }
        8 => {
            let mut members = Vec::new();
            let _ = (set::decode(1, bytes, &mut members), set::count(bytes));
            assert!(members.iter().all(|id| set::split(*id).0 == 1));
        }
        9 => runs(bytes),
        10 => {
            let back = |ids: Vec<u32>| decode_runs(&encode_runs(&ids)) == Some(ids);
            assert!(decode_runs(bytes).is_none_or(back));
        }
        11 => {
            let back = |keys: Vec<u32>| decode_sorted(&encode_sorted(&keys)) == Some(keys);
            assert!(decode_sorted(bytes).is_none_or(back));
        }
        12 => {
            let _ = (FileRow::access(bytes).map(|row| row.path.len()), StatRow::access(bytes).is_some());
        }
        13 => {
            let _ =
                (bitcode::decode::<Meta>(bytes).map(|meta| meta.signature()), bitcode::decode::<Free>(bytes));
        }
        14 => {
            let _ = crate::unpack_facts(bytes);
        }
        _ => {
            let _ = (
                blob::read_in(bytes, |raw| std::str::from_utf8(raw).ok().map(str::len)),
                blob::forget_scratch(),
            );
        }
    }
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
/// When they cannot be made.
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
        out.push(with(0, &file.chunk(i, &[1; N_FIELDS], digest).encode(7)));
    }
    let row = file.file(path, &ContentHash::of(text.as_bytes()), 1, 2, (3, 4));
    out.push(with(12, &row.encode()));
    let mut packer = Packer::default();
    let interface = packer.interface(&facts.interface).expect("packs");
    let body = packer.body(&facts.body, &facts.chunks, 3).expect("packs");
    out.extend([(5, interface), (6, body)].map(|(n, blob)| with(n, &decompress(&blob).expect("a blob"))));
    out.push(with(7, &blob::compress(text.as_bytes()).expect("compresses")));
    out.push(with(14, &crate::pack_facts(facts).expect("packs")));
    let mut low = Vec::new();
    set::encode(&(0..99).map(|x| x * 3).collect::<Vec<u16>>(), &mut low);
    out.push(with(8, &low));
    out.push(with(11, &encode_sorted(lines.starts())));
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

use super::*;
use proptest::prelude::*;
use protobuf::{EnumOrUnknown, MessageField};
use scip::types::{Document, Index, MultiLineRange, PositionEncoding, SingleLineRange, ToolInfo};

fn occurrence(symbol: &str, range: &[i32], roles: i32) -> Occurrence {
    Occurrence { symbol: symbol.to_owned(), range: range.to_vec(), symbol_roles: roles, ..Default::default() }
}

fn index(documents: Vec<Document>) -> Index {
    let tool = ToolInfo { name: "t".into(), version: "1".into(), ..Default::default() };
    let metadata = Metadata {
        tool_info: MessageField::some(tool),
        project_root: "file:///r".into(),
        ..Default::default()
    };
    Index { metadata: MessageField::some(metadata), documents, ..Default::default() }
}

fn range(r: [u32; 4]) -> Range {
    Range { start_line: r[0], start_column: r[1], end_line: r[2], end_column: r[3] }
}

#[test]
fn keeps_places_symbols_roles_and_encoding() {
    let mut typed = occurrence("s m p v t.", &[], 8);
    typed.set_single_line_range(SingleLineRange {
        line: 7,
        start_character: 1,
        end_character: 2,
        ..Default::default()
    });
    let mut multi = occurrence("s m p v t.", &[9, 9, 9], 8);
    multi.set_multi_line_range(MultiLineRange {
        start_line: 1,
        start_character: 2,
        end_line: 3,
        end_character: 4,
        ..Default::default()
    });
    let document = Document {
        relative_path: "a/b.py".into(),
        text: "x".into(),
        position_encoding: EnumOrUnknown::new(PositionEncoding::UTF16CodeUnitOffsetFromLineStart),
        occurrences: vec![
            occurrence("local 0", &[0, 1, 2], 1),
            occurrence("s m p v t.", &[1, 2, 3, 4], 10),
            typed,
            multi,
            occurrence("local 0", &[1, 2], 8),
            occurrence("local 0", &[1, 2, 1], 8),
            occurrence("local 0", &[-1, 2, 3], 8),
            occurrence("", &[1, 2, 3], 0),
        ],
        ..Default::default()
    };
    let got = read(&index(vec![document]).write_to_bytes().unwrap()).unwrap();
    assert_eq!((got.project_root.as_str(), got.tool.as_str()), ("file:///r", "t 1"));
    assert_eq!(got.symbols, ["local 0".into(), "s m p v t.".into()]);
    let d = &got.documents[0];
    assert_eq!((d.path.as_str(), d.encoding, d.n_malformed), ("a/b.py", Some(Encoding::Utf16), 3));
    assert_eq!(d.text, Some(ContentHash::of(b"x")));
    let places: Vec<_> =
        d.occurrences.iter().map(|o| (o.range, o.symbol, o.roles, o.is_definition())).collect();
    assert_eq!(
        places,
        [
            (range([0, 1, 0, 2]), 0, 1, true),
            (range([1, 2, 3, 4]), 1, 10, false),
            (range([7, 1, 7, 2]), 1, 8, false),
            (range([1, 2, 3, 4]), 1, 8, false),
        ]
    );
}

#[test]
fn an_occurrence_that_is_too_long_is_counted() {
    let long = "x".repeat(SCIP_OCCURRENCE_BYTES_MAX);
    let document = Document { occurrences: vec![occurrence(&long, &[0, 0, 1], 0)], ..Default::default() };
    let got = read(&index(vec![document]).write_to_bytes().unwrap()).unwrap();
    assert_eq!((got.documents[0].n_malformed, got.documents[0].occurrences.len()), (1, 0));
}

#[test]
fn bad_input_says_what_is_wrong() {
    let good = index(vec![Document { relative_path: "a.py".into(), ..Default::default() }])
        .write_to_bytes()
        .unwrap();
    for (bytes, expect) in [
        (vec![], "not a SCIP index: no documents"),
        (index(vec![]).write_to_bytes().unwrap(), "not a SCIP index: no documents"),
        (good[..good.len() - 2].to_vec(), "not a SCIP index: Unexpected EOF in the index"),
        (b"{\"documents\": []}".to_vec(), "not a SCIP index: "),
        (b"\x12\x02\x0a\xff".to_vec(), "not a SCIP index: "),
        (b"\x12\x03\x0a\x01\xff".to_vec(), "in document 0 (\"\")"),
        (b"\x12\x07\x0a\x01a\x12\x02\x12\xff".to_vec(), "in document 0 (\"a\")"),
        (vec![0; SCIP_BYTES_MAX + 1], "the limit is 1073741824"),
    ] {
        let message = read(&bytes).unwrap_err().to_string();
        assert!(message.contains(expect), "{message:?} does not say {expect:?}");
    }
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
    }

    #[test]
    fn damaged_indexes_never_panic(at in 0usize..400, with in any::<u8>(), cut in 0usize..400) {
        let occurrences = (0..8).map(|i| occurrence("s m p v `a b`/T#f().", &[i, 2, 3], i)).collect();
        let document = Document { relative_path: "a.py".into(), occurrences, ..Default::default() };
        let mut bytes = index(vec![document]).write_to_bytes().unwrap();
        let n = bytes.len();
        bytes[at % n] = with;
        let _ = read(&bytes);
        bytes.truncate(cut % n);
        let _ = read(&bytes);
    }
}

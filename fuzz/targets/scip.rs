//! SCIP indexes of other tools, their symbols, and the overlays that are stored of them.

#![no_main]

use indexd_scip::symbol::Symbol;
use indexd_scip::{Overlay, read};
use libfuzzer_sys::fuzz_target;
use protobuf::Message;
use scip::types::{Document, Index, Metadata, Occurrence, ToolInfo};

fuzz_target!(
    init: indexd_fuzz::write_seeds(seeds),
    |data: &[u8]| {
        let Some((&which, bytes)) = data.split_first() else { return };
        match which % 3 {
            0 => {
                let _ = read(bytes);
            }
            1 => {
                if let Ok(overlay) = Overlay::decode(bytes) {
                    assert!(Overlay::decode(&overlay.encode()).is_ok_and(|again| again == overlay));
                }
            }
            _ => {
                let text = String::from_utf8_lossy(bytes);
                if Symbol::parse(&text).is_some() {
                    assert!(scip::symbol::parse_symbol(&text).is_ok());
                }
            }
        }
    }
);

fn seeds() -> Vec<Vec<u8>> {
    const SYMBOL: &str = "scip-go gomod example.com/m v1 `example.com/m/a b`/T#f().(x)";
    let occurrence = |range: &[i32]| Occurrence {
        range: range.to_vec(),
        symbol: SYMBOL.into(),
        symbol_roles: 1,
        ..Default::default()
    };
    let document = Document {
        relative_path: "a.go".into(),
        text: "package a\n".into(),
        occurrences: vec![occurrence(&[0, 1, 4]), occurrence(&[0, 1, 2, 3])],
        ..Default::default()
    };
    let tool = ToolInfo { name: "tool".into(), version: "1".into(), ..Default::default() };
    let metadata =
        Metadata { project_root: "file:///a".into(), tool_info: Some(tool).into(), ..Default::default() };
    let index = Index { metadata: Some(metadata).into(), documents: vec![document], ..Default::default() };
    let overlay = Overlay {
        path: "a.go".into(),
        hash: indexd_model::ContentHash([1; 32]),
        targets: vec![indexd_scip::overlay::Target {
            path: "b.go".into(),
            descriptor: "T#".into(),
            ordinal: 0,
            key: None,
        }],
        places: vec![indexd_scip::overlay::Place { at: 3, len: 1, targets: vec![0] }],
    };
    let with = |which: u8, bytes: Vec<u8>| [vec![which], bytes].concat();
    vec![
        with(0, index.write_to_bytes().expect("an index")),
        with(1, overlay.encode()),
        with(2, SYMBOL.into()),
        with(2, "local 3".into()),
    ]
}

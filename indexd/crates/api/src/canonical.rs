//! Canonical JSON after RFC 8785: sorted keys, no blanks, one form for each number.
//!
//! Two packs are the same exactly when their canonical bytes are. [`VOLATILE`] is the closed list
//! of members that may differ between two builds of one pack and are left out.

use serde_json::Value;
use std::cmp::Ordering;
use std::fmt::{Arguments, Write};

/// Members of a pack that are not part of its canonical form, as paths from the top.
pub const VOLATILE: [&[&str]; 2] = [&["createdAt"], &["stats", "timings"]];

/// Removes the volatile members of a pack.
pub fn strip_volatile(pack: &mut Value) {
    for path in VOLATILE {
        let (last, parents) = path.split_last().expect("paths are not empty");
        let mut at = Some(&mut *pack);
        for key in parents {
            at = at.and_then(|v| v.get_mut(key));
        }
        if let Some(Value::Object(map)) = at {
            map.remove(*last);
        }
    }
}

/// Writes `value` in canonical form.
pub fn to_string(value: &Value) -> String {
    let mut out = String::with_capacity(1024);
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Number(n) => match (n.as_i64(), n.as_u64(), n.as_f64()) {
            (Some(i), ..) => push(out, format_args!("{i}")),
            (_, Some(u), _) => push(out, format_args!("{u}")),
            // The shortest digits that read back, as in ECMAScript; never with an exponent, since
            // scores are rounded to six places before they get here.
            (_, _, Some(f)) => push(out, format_args!("{f}")),
            _ => out.push('0'),
        },
        Value::String(s) => push_string(s, out),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut members: Vec<(&String, &Value)> = map.iter().collect();
            members.sort_by(|a, b| by_utf16(a.0, b.0));
            out.push('{');
            for (i, (key, value)) in members.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                push_string(key, out);
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
    }
}

/// The order of code units of UTF-16, in which RFC 8785 sorts keys.
fn by_utf16(a: &str, b: &str) -> Ordering {
    if a.is_ascii() && b.is_ascii() { a.cmp(b) } else { a.encode_utf16().cmp(b.encode_utf16()) }
}

fn push(out: &mut String, number: Arguments) {
    out.write_fmt(number).expect("a string takes everything");
}

fn push_string(s: &str, out: &mut String) {
    out.push('"');
    let is_plain = |b: u8| b >= 0x20 && b != b'"' && b != b'\\';
    let n_plain = s.bytes().take_while(|b| is_plain(*b)).count();
    // Most strings have nothing to escape. Escaped characters are ASCII, so the rest begins at a character
    // boundary.
    out.push_str(&s[..n_plain]);
    for c in s[n_plain..].chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Rounds to six decimal places, so that a score has one short written form.
pub fn round6(x: f64) -> f64 {
    (x * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn writes_sorted_keys_and_plain_numbers() {
        for (value, text) in [
            (json!({"b": 1, "a": [1.0, 0.5, -3, 0.000001]}), r#"{"a":[1,0.5,-3,0.000001],"b":1}"#),
            (json!({"é": null, "z": true}), r#"{"z":true,"é":null}"#),
            (json!({"\u{ff5e}": 1, "\u{1f600}": 2, "~": 3}), "{\"~\":3,\"\u{1f600}\":2,\"\u{ff5e}\":1}"),
            (json!([i64::MIN, u64::MAX, 1.5]), "[-9223372036854775808,18446744073709551615,1.5]"),
            (json!("ü\tb\u{7f}"), "\"ü\\tb\u{7f}\""),
            (json!("a\"\\\n\u{1}ü"), "\"a\\\"\\\\\\n\\u0001ü\""),
        ] {
            assert_eq!(to_string(&value), text);
        }
    }

    #[test]
    fn strips_only_the_closed_list() {
        let mut v = json!({"createdAt": "t", "stats": {"timings": {}, "found": 1}, "x": {"createdAt": 1}});
        strip_volatile(&mut v);
        assert_eq!(v, json!({"stats": {"found": 1}, "x": {"createdAt": 1}}));
    }
}

//! Canonical JSON after RFC 8785: sorted keys, no blanks, one form for each number.
//!
//! Two packs are the same exactly when their canonical bytes are. [`VOLATILE`] is the closed list
//! of members that may differ between two builds of one pack and are left out.

use serde_json::Value;

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
            (Some(i), ..) => out.push_str(&i.to_string()),
            (_, Some(u), _) => out.push_str(&u.to_string()),
            // The shortest digits that read back, as in ECMAScript; never with an exponent, since
            // scores are rounded to six places before they get here.
            (_, _, Some(f)) => out.push_str(&format!("{f}")),
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
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
            out.push('{');
            for (i, key) in keys.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                push_string(key, out);
                out.push(':');
                write(&map[key], out);
            }
            out.push('}');
        }
    }
}

fn push_string(s: &str, out: &mut String) {
    out.push('"');
    for c in s.chars() {
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

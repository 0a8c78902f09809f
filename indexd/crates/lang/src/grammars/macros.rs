//! Definitions by macros of C and C++: a call before a body, `SYSCALL_DEFINE3(read, ...) { }`.

use super::walk::Found;
use crate::tokens::is_identifier;
use indexd_model::Span;
use indexd_model::lists::holds;

/// Words that may stand before such a call.
const BEFORE: [&str; 7] = ["static", "inline", "extern", "const", "__init", "__always_inline", "asmlinkage"];
/// Bytes of the name of a test.
const TITLE_BYTES_MAX: usize = 120;
/// First arguments that say a type.
const TYPES: [&str; 12] = [
    "void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "const",
    "struct",
];

/// What the head of a definition names that begins at `at`, where it is a call of a macro: its first
/// argument that is not a plain type. A test of a suite is named by both.
pub(super) fn named(head: &str, at: u32) -> Option<Found> {
    let open = head.find('(')?;
    let mut words = head[..open].split_whitespace().rev();
    let name = words.next().filter(|w| is_macro(w))?;
    // With a type before it, a name in capitals may be that of a function.
    if !words.all(|w| BEFORE.contains(&w)) && !name.contains('_') {
        return None;
    }
    let inner = head[open + 1..].trim_end().trim_end_matches(';').trim_end().strip_suffix(')')?;
    if is_test(name)
        && let Some(title) = titled(inner)
    {
        let start = title.as_ptr() as usize - head.as_ptr() as usize;
        let span = Span { start: at + start as u32, end: at + (start + title.len()) as u32 };
        return Some(Found { span, ..Found::named(title) });
    }
    if inner.contains(['(', ')', '"', '{']) {
        return None;
    }
    let is_plain_type = |a: &&str| a.split_whitespace().next().is_some_and(|w| TYPES.contains(&w));
    let mut arguments = inner.split(',').map(str::trim).skip_while(is_plain_type);
    let first = arguments.next().filter(|a| is_identifier(a))?;
    let second = arguments.next().filter(|a| name.contains("TEST") && is_identifier(a));
    let start = first.as_ptr() as usize - head.as_ptr() as usize;
    let last = second.unwrap_or(first);
    let end = last.as_ptr() as usize - head.as_ptr() as usize + last.len();
    let span = Span { start: at + start as u32, end: at + end as u32 };
    let name = second.map_or(first.to_owned(), |second| format!("{first}.{second}"));
    Some(Found { span, ..Found::named(&name) })
}

/// Whether a macro with one of these words defines a test: googletest, Catch, doctest, Boost, Unity.
pub(super) fn is_test(head: &str) -> bool {
    head.contains("TEST") || head.contains("SCENARIO")
}

/// Whether the name of a test is not one that code can say.
pub(super) fn is_title(name: &str) -> bool {
    !is_identifier(name)
}

/// The string that a test is named by, among the arguments of a macro.
fn titled(arguments: &str) -> Option<&str> {
    let start = arguments.find('"').filter(|s| !arguments[..*s].contains(['(', '{']))? + 1;
    let end = start + arguments[start..].find('"')?;
    Some(&arguments[start..end]).filter(|t| !t.is_empty() && t.len() <= TITLE_BYTES_MAX && !t.contains('\n'))
}

pub(super) fn is_macro(word: &str) -> bool {
    let is_part = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    word.len() > 2
        && word.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && word.bytes().all(is_part)
}

/// Returns true if a word may be a macro for an attribute, as `__unused` is, and is not one of a compiler's own.
pub(super) fn is_attribute(word: &str) -> bool {
    const COMPILERS: &str = "__attribute __attribute__ __declspec __asm __asm__ __typeof __typeof__ __extension__ \
        __restrict __restrict__ __inline __inline__ __const __const__ __volatile __volatile__ __signed __signed__ \
        __cdecl __stdcall __fastcall __thiscall __vectorcall __thread __alignof __alignof__ __label__ __auto_type";
    word.starts_with("__")
        && !word.starts_with("__builtin")
        && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
        && !holds(COMPILERS, word)
}

#[cfg(test)]
mod tests {
    use super::named;

    fn check(head: &str, expect: Option<(&str, &str)>) {
        let got = named(head, 0);
        let got = got.as_ref().map(|f| (&*f.name, &head[f.span.range()]));
        assert_eq!(got, expect, "{head}");
    }

    #[test]
    fn a_macro_defines_its_first_argument() {
        check("SYSCALL_DEFINE3(read, unsigned int, fd, char __user *, buf)\n", Some(("read", "read")));
        check("static DEFINE_FN(int, half)", Some(("half", "half")));
        check("TEST_F(Suite, Case)", Some(("Suite.Case", "Suite, Case")));
        check("TEST_CASE(\"adds\", \"[sum]\")", Some(("adds", "adds")));
        check("TEST_CASE_METHOD(Fixture, \"adds\")", Some(("adds", "adds")));
        check("SCENARIO(\"two\")", Some(("two", "two")));
        check("BOOST_AUTO_TEST_CASE( name )", Some(("name", "name")));
        check("int BPF_PROG(traced, struct file *file)", Some(("traced", "traced")));
        check("int MAX_OF(int a)", None);
        check("int RUN_ALL(void)", None);
        check("int SUM(a, b)", None);
        check("Sum(a)", None);
        check("GUID(int a)", None);
        check("GUID::GUID(Other)", None);
        check("GUID()", None);
        check("LIST(\"a\")", None);
        check("FOR_EACH(a, f(b))", None);
    }
}

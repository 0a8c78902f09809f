//! The results of the standard library that depend on types of the tree: [`std.txt`](std.txt), read on
//! demand.

use super::Linker;
use crate::typed::std::Table;
use crate::typed::{Ty, Type};
use std::sync::LazyLock;

/// Names of the standard library that are types of React where the module is imported.
const OF_REACT: &str = "FC FunctionComponent Context RefObject MutableRefObject Component PureComponent \
    ComponentType VFC SFC";

/// Names that the language, browsers, Node.js and runners of tests declare for all files, further than those of the table.
const GLOBALS: &str = "Array Object Map Set WeakMap WeakSet WeakRef Promise Proxy Reflect Symbol Function Date RegExp \
    Math JSON Intl Atomics ArrayBuffer SharedArrayBuffer DataView Uint8Array Uint8ClampedArray Uint16Array Uint32Array \
    Int8Array Int16Array Int32Array Float32Array Float64Array BigInt64Array BigUint64Array BigInt NaN Infinity \
    isNaN isFinite parseInt parseFloat encodeURI encodeURIComponent decodeURI decodeURIComponent escape unescape \
    globalThis EvalError ReferenceError URIError AggregateError \
    Record Partial Required Readonly Pick Omit Exclude Extract NonNullable Parameters ReturnType InstanceType \
    ConstructorParameters Awaited ThisType Uppercase Lowercase Capitalize Uncapitalize PropertyKey \
    PropertyDescriptor TemplateStringsArray \
    window document navigator location history localStorage sessionStorage indexedDB crypto performance console \
    screen customElements visualViewport alert confirm prompt fetch atob btoa structuredClone queueMicrotask \
    setTimeout clearTimeout setInterval clearInterval setImmediate clearImmediate requestAnimationFrame \
    cancelAnimationFrame requestIdleCallback cancelIdleCallback matchMedia getComputedStyle getSelection \
    addEventListener removeEventListener dispatchEvent postMessage devicePixelRatio innerWidth innerHeight \
    Window Document DocumentFragment ShadowRoot Node NodeList Element HTMLCollection Attr Text Comment Range \
    Selection DOMRect DOMRectReadOnly DOMPoint DOMMatrix DOMException DOMParser XMLSerializer CSSStyleDeclaration \
    CSSStyleSheet DOMTokenList MutationObserver ResizeObserver IntersectionObserver PerformanceObserver \
    Event CustomEvent EventTarget EventListener UIEvent MouseEvent KeyboardEvent PointerEvent TouchEvent Touch \
    WheelEvent FocusEvent InputEvent DragEvent ClipboardEvent CompositionEvent ErrorEvent MessageEvent CloseEvent \
    PopStateEvent HashChangeEvent StorageEvent ProgressEvent TransitionEvent AnimationEvent SubmitEvent \
    AbortController AbortSignal Blob File FileList FileReader FormData Headers Request Response RequestInit \
    ResponseInit RequestInfo BodyInit HeadersInit URL URLSearchParams TextEncoder TextDecoder ReadableStream \
    WritableStream TransformStream CompressionStream DecompressionStream WebSocket EventSource XMLHttpRequest \
    Worker SharedWorker ServiceWorker BroadcastChannel MessageChannel MessagePort Image ImageData ImageBitmap \
    OffscreenCanvas Path2D CanvasRenderingContext2D WebGLRenderingContext Audio AudioContext MediaStream \
    MediaRecorder MediaQueryList DataTransfer Clipboard ClipboardItem Notification Storage IDBDatabase FontFace \
    HTMLElement SVGElement CryptoKey SubtleCrypto WebAssembly \
    process __dirname __filename NodeJS BufferEncoding \
    describe it test expect beforeEach afterEach beforeAll afterAll before after suite vi jest";

/// Returns true if a name that no file declares is known to come from outside.
pub(super) fn is_global(name: &str) -> bool {
    let is_element = |kind: &str| name.strip_prefix(kind).is_some_and(|n| n.ends_with("Element"));
    is_known(canonical(name))
        || is_known(&format!("static {name}"))
        || is_element("HTML")
        || is_element("SVG")
        || indexd_model::lists::holds(GLOBALS, name)
}

pub(super) static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(include_str!("std.txt")));

/// The name under which a type of the standard library is in the table.
pub(super) fn canonical(name: &str) -> &str {
    TABLE.canonical(name)
}

/// Returns true if the table has a type.
pub(super) fn is_known(name: &str) -> bool {
    TABLE.ty(name).is_some()
}

impl Linker<'_> {
    /// A type of the standard library by its name, where it is not one of the tree.
    pub(super) fn std_named(&mut self, name: &str, args: &[Ty]) -> Option<Ty> {
        let name = canonical(name);
        is_known(name).then(|| self.types.std(name, args))
    }

    /// A type that a module outside the tree exports.
    pub(super) fn type_of_module(&mut self, module: &str, name: &str, args: &[Ty]) -> Option<Ty> {
        let is_known = module == "react" && indexd_model::lists::holds(OF_REACT, name);
        is_known.then(|| self.std_named(name, args)).flatten()
    }

    /// A value that a module outside the tree exports: one of the table, or a class of React.
    pub(super) fn value_of_module(&mut self, module: &str, name: &str) -> Option<Ty> {
        let owner = format!("module {module}");
        let value = TABLE.member(&mut self.types, &owner, &[], name);
        value.or_else(|| {
            self.type_of_module(module, name, &[])?;
            let class = self.types.name(canonical(name));
            Some(self.types.make(Type::StdStatic(class)))
        })
    }

    /// A global value of the standard library.
    pub(super) fn std_value(&mut self, name: &str) -> Option<Ty> {
        let owner = format!("static {name}");
        is_known(&owner).then(|| {
            let name = self.types.name(name);
            self.types.make(Type::StdStatic(name))
        })
    }
}

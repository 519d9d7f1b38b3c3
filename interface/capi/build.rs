//! Generates the entry points of the C library: for every routine of the interface
//! (`interface/routines.txt`), a function whose body is one call into the core (`calls.txt`). The
//! result reads like handwritten code:
//!
//! ```text
//! /// `void shmem_long_p(long *dest, long value, int pe)`
//! #[unsafe(export_name = "pshmem_long_p")]
//! unsafe extern "C" fn shmem_long_p(dest: *mut i64, value: i64, pe: PeArg) {
//!     // SAFETY: the specification requires that pointers lead to as many elements of these types
//!     // as the arguments say, and that nobody accesses them in conflict with the call.
//!     unsafe { rma::p(&Blocking("shmem_long_p"), Default, Object::one(dest), value, pe) }
//! }
//! ```
//!
//! The strong symbol is the profiling twin `pshmem_long_p`. `shmem_long_p` is a weak alias of it,
//! so that a program can define its own and call the twin.

use oneshmem_interface::{Interface, Param, Prototype, Symbol, extensions, headers, twin};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

/// The number of integer arguments that all architectures pass in registers. An `int` among them can be
/// taken as the whole register, which saves its conversion.
const REGISTERS: usize = 6;

fn main() {
    println!("cargo::rerun-if-changed=calls.txt");
    println!("cargo::rerun-if-changed=src/ckernels.c");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let calls = Calls::read("calls.txt");
    fs::write(out.join("routines.rs"), routines(&calls)).expect("OUT_DIR can be written");
    fs::write(out.join("constants.rs"), constants()).expect("OUT_DIR can be written");
    fs::write(out.join("handles.rs"), handles()).expect("OUT_DIR can be written");
    // Makes the object independent of where the source is.
    let here = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let here = format!("-ffile-prefix-map={here}=/oneshmem/capi");
    let include = out.join("include");
    headers::write(&include).expect("OUT_DIR can be written");
    cc::Build::new()
        .file("src/ckernels.c")
        .include(include)
        .flag("-fvisibility=hidden")
        .flag("-ffunction-sections")
        // The object goes through `ld -r` and objcopy, so it must not contain LTO code, whatever
        // CFLAGS say.
        .flag("-fno-lto")
        .flag(here)
        .std("c11")
        .opt_level(2)
        .warnings_into_errors(true)
        .compile("ckernels");
}

/// The calls of each family, without and with a context.
struct Calls(BTreeMap<String, [String; 2]>);

impl Calls {
    fn read(path: &str) -> Self {
        let text = fs::read_to_string(path).expect("calls.txt can be read");
        let mut calls = BTreeMap::new();
        for line in text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
            let (family, call) = line.split_once("  ").expect("a family and a call");
            let call = call.trim().to_string();
            match family.strip_suffix(" ctx") {
                None => {
                    let before = calls.insert(family.to_string(), [call.clone(), call]);
                    assert!(before.is_none(), "calls.txt: {family} stands there twice");
                }
                Some(family) => {
                    let before: Option<&mut [String; 2]> = calls.get_mut(family);
                    before.expect("the family's line comes first")[1] = call;
                }
            }
        }
        Self(calls)
    }
}

/// All routines written in Rust.
fn routines(calls: &Calls) -> String {
    let table = Interface::openshmem();
    let mut unused = calls.0.clone();
    let mut out = String::new();
    for (section, family) in table.families() {
        let [call, with_ctx] = &unused
            .remove(family.name)
            .unwrap_or_else(|| panic!("calls.txt: the call of {} is missing", family.name));
        if call == "C" {
            continue;
        }
        let _ = writeln!(out, "\n// {}: {}", family.name, family.doc.join(" "));
        for prototype in &family.prototypes {
            for symbol in table.expand(section, family, prototype) {
                if by_value_in_c(&symbol) {
                    continue;
                }
                let call = if symbol.ctx { with_ctx } else { call };
                out += &function(&table, prototype, &symbol, call);
            }
        }
    }
    let _ = writeln!(out, "\nconst _: () = assert!(translate::ARGUMENT_REGISTERS >= {REGISTERS});");
    for name in extensions() {
        let twin = twin(&name);
        let _ = writeln!(out, "global_asm!(\".weak {name}\", \".set {name}, {twin}\");");
    }
    assert!(unused.is_empty(), "calls.txt: there are no families {:?}", unused.keys());
    out
}

/// Rust has no `long double`: routines that take or return one by value are written in C.
fn by_value_in_c(symbol: &Symbol) -> bool {
    symbol.ret == "long double" || symbol.params.iter().any(|p| p.ctype == "long double")
}

fn function(table: &Interface, prototype: &Prototype, symbol: &Symbol, call: &str) -> String {
    let name = &symbol.name;
    let element = element(table, symbol);
    let mut registers = 0;
    let mut params = Vec::new();
    let mut before = "";
    for (i, param) in symbol.params.iter().enumerate() {
        let pattern = i.checked_sub(symbol.ctx as usize).map(|i| &prototype.params[i]);
        let mut rust = rust_type(param, pattern, &element);
        if param.name == "pe" {
            if registers < REGISTERS {
                rust = "PeArg".into();
            } else {
                before = "let pe = pe as u32 as PeArg; ";
            }
        }
        registers += usize::from(!["f32", "f64"].contains(&rust.as_str()));
        params.push(format!("{}: {rust}", param.name));
    }
    let ret = match symbol.ret.as_str() {
        "void" => String::new(),
        _ => {
            let param = Param { ctype: symbol.ret.clone(), name: "" };
            let pattern = Param { ctype: prototype.ret.into(), name: "" };
            format!(" -> {}", rust_type(&param, Some(&pattern), &element))
        }
    };
    let body = call
        .replace("NAME", &format!("&Blocking(\"{name}\")"))
        .replace("NBI", &format!("&Nonblocking(\"{name}\")"))
        .replace("CTX", if symbol.ctx { "Handle::new(ctx)" } else { "Default" })
        .replace("<T", &format!("<{element}"))
        .replace("SET", "(PE_start, logPE_stride, PE_size)");
    let end = if symbol.ret == "void" { ";" } else { "" };
    let body = match body.as_str() {
        "()" => "    // Nothing to do.\n".into(),
        _ => format!(
            "    // SAFETY: the specification requires that pointers lead to as many elements of \
             these types\n    // as the arguments say, and that nobody accesses them in conflict \
             with the call.\n    unsafe {{ {before}{body}{end} }}\n"
        ),
    };
    format!(
        "\n/// `{symbol}`\n\
         #[unsafe(export_name = \"{twin}\")]\n\
         unsafe extern \"C\" fn {name}({params}){ret} {{\n{body}}}\n\
         global_asm!(\".weak {name}\", \".set {name}, {twin}\");\n",
        twin = twin(name),
        params = params.join(", "),
    )
}

/// The element type of a routine, if it has one.
fn element(table: &Interface, symbol: &Symbol) -> String {
    match (symbol.typename, symbol.size) {
        (_, Some("mem")) => "u8".into(),
        // Two 64-bit numbers: C programs need not align such an element like `u128`.
        (_, Some("128")) => "[u64; 2]".into(),
        (_, Some(bits)) => format!("u{bits}"),
        (Some(typename), _) => number(table.ctype(typename)).into(),
        _ => "u8".into(),
    }
}

/// The Rust type of a C element type.
fn number(ctype: &str) -> &'static str {
    match ctype {
        "float" => "f32",
        "double" => "f64",
        "long double" => "LongDouble",
        "float _Complex" => "ComplexF",
        "double _Complex" => "ComplexD",
        "char" => "c_char",
        "signed char" | "int8_t" => "i8",
        "short" | "int16_t" => "i16",
        "int" | "int32_t" => "i32",
        "long" | "long long" | "int64_t" | "ptrdiff_t" => "i64",
        "unsigned char" | "uint8_t" => "u8",
        "unsigned short" | "uint16_t" => "u16",
        "unsigned int" | "uint32_t" => "u32",
        "unsigned long" | "unsigned long long" | "uint64_t" | "size_t" => "u64",
        other => panic!("no Rust type for {other}"),
    }
}

/// The Rust type of a parameter. `pattern` is the parameter as the table writes it.
fn rust_type(param: &Param, pattern: Option<&Param>, element: &str) -> String {
    let (ctype, pointer) = match param.ctype.strip_suffix('*') {
        Some(target) => (target.trim_end(), true),
        None => (param.ctype.as_str(), false),
    };
    let (ctype, access) = match ctype.strip_prefix("const ") {
        Some(target) => (target, "*const"),
        None => (ctype, "*mut"),
    };
    let of_element = pattern.is_some_and(|p| p.ctype.contains("TYPE"));
    let rust = match ctype {
        "void" => element,
        _ if of_element => element,
        "size_t" => "usize",
        "ptrdiff_t" => "isize",
        "shmem_ctx_t" | "shmem_team_t" => "usize",
        "shmem_team_config_t" => "team::Config",
        "shmem_ctx_session_config_t" => "context::session::Config",
        other => number(other),
    };
    if pointer { format!("{access} {rust}") } else { rust.into() }
}

/// The handles of the C headers, as symbols.
fn handles() -> String {
    let handles = oneshmem_interface::constants::handles();
    let symbol = |handle: &oneshmem_interface::Constant| {
        let number = handle.handle().map(|(_, number)| number).unwrap_or_default();
        format!("#[unsafe(no_mangle)]\npub static {}: usize = {number};\n", handle.name)
    };
    handles.iter().map(symbol).collect()
}

/// The number and string constants of the C headers.
fn constants() -> String {
    let mut out = String::new();
    for constant in oneshmem_interface::constants::constants().iter().flat_map(|g| &g.constants) {
        let name = constant.name;
        let _ = match constant.value.strip_prefix('"') {
            Some(text) => writeln!(out, "pub const {name}: &CStr = c\"{text};"),
            None => {
                let number = constant.value.trim_end_matches([')', 'L']);
                let number = number.rsplit(')').next().unwrap_or(number);
                writeln!(out, "pub const {name}: i64 = {number};")
            }
        };
    }
    out
}

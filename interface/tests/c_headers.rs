//! The headers as C and C++ compilers see them, every warning an error.

mod support;
use std::fmt::Write;
use support::{assembly, compile, compilers, declarator, functions, generated, include, source};

/// Constants, types and handles, in every language and standard.
#[test]
fn constants_and_types() {
    let text = std::fs::read_to_string(source("use.c")).expect("a source");
    let everything = std::fs::read_to_string(source("everything.h")).expect("a source");
    generated("everything.h", &everything);
    let c = generated("use.c", &text);
    let cpp = generated("use.cc", &text);
    for (compiler, standard) in compilers() {
        compile(compiler, standard, if standard.starts_with("c++") { &cpp } else { &c }, None);
    }
}

/// Each prototype and its twin is redeclared as the specification has it: a
/// difference is a conflict that no compiler accepts.
#[test]
fn prototypes_are_those_of_the_specification() {
    let mut text = String::from("#include \"shmem.h\"\n#include \"pshmem.h\"\n");
    for row in functions() {
        for twin in ["", "p"] {
            let noreturn =
                if row["family"] == "setup.global_exit" { "ONESHMEM_NORETURN " } else { "" };
            // In parentheses, a name is not a macro.
            let _ = writeln!(
                text,
                "{noreturn}{}({twin}{})({});",
                declarator(&row["return type"]),
                row["name"],
                row["arguments"]
            );
        }
    }
    let path = generated("prototypes.c", &text);
    for (compiler, standard) in compilers().into_iter().filter(|(_, s)| !s.starts_with("c++")) {
        compile(compiler, standard, &path, None);
    }
}

/// The header declares nothing that the specification does not have, but for the names proposed for
/// it.
#[test]
fn no_other_names() {
    let shmem_h = std::fs::read_to_string(include().join("shmem.h")).expect("a header");
    let known: Vec<String> = functions().into_iter().map(|row| row["name"].clone()).collect();
    let (mut declared, mut proposed) = (0, 0);
    for line in shmem_h.lines().filter(|l| l.contains('(') && !l.starts_with([' ', '#', '/', '*']))
    {
        let name = line.split('(').next().and_then(|head| head.rsplit([' ', '*']).next());
        let name = name.expect("a name");
        let is_known = known.iter().any(|k| k == name);
        if name.starts_with("ONESHMEM_") {
            continue; // A macro's names, which are static.
        }
        assert!(is_known || name.starts_with("shmem_partition_"), "not expected: {line}");
        declared += usize::from(is_known);
        proposed += usize::from(!is_known);
    }
    assert_eq!((declared, proposed), (known.len(), 4));
}

/// Code that is compiled into programs is as clean as the rest, with either kind of addresses.
#[test]
fn inlined_routines() {
    for (name, kind) in [("table", ""), ("bits", "#define ONESHMEM_SMARTMAP\n")] {
        // Without optimisation there is nothing to compile in.
        let text = format!(
            "#define SHMEM_INLINE\n#define __OPTIMIZE__ 1\n{kind}#include <shmem.h>\n\
             long use(long *x, int pe);\n\
             long use(long *x, int pe)\n{{\n    shmem_long_p(x, 1, pe);\n    \
             shmem_putmem(x, x, 8, pe);\n    shmem_long_atomic_inc(x, pe);\n    \
             shmem_fence();\n    return shmem_long_g(ONESHMEM_CAST(long *, shmem_ptr(x, pe)), pe);\n}}\n"
        );
        let c = generated(&format!("inline_{name}.c"), &text);
        let cpp = generated(&format!("inline_{name}.cc"), &text);
        for (compiler, standard) in compilers() {
            let source = if standard.starts_with("c++") { &cpp } else { &c };
            compile(compiler, standard, source, None);
            // What is not the common case is in the library, under its profiling name.
            let code = assembly(compiler, standard, source);
            let mut words = code.split_whitespace();
            let called = words.clone().any(|word| word.starts_with("pshmem_long_p"));
            let itself = words.find(|word| word.starts_with("shmem_"));
            assert!(called && itself.is_none(), "{compiler} -std={standard}: {itself:?} is called");
        }
    }
}

/// Old C++ programs include C headers so, and overloads must bear it.
#[test]
fn inside_extern_c() {
    let text = "extern \"C\" {\n#include \"mpp/shmem.h\"\n}\nint main() { static long x; shmem_p(&x, 1, 0); }\n";
    let path = generated("inside.cc", text);
    for (compiler, standard) in compilers().into_iter().filter(|(_, s)| s.starts_with("c++")) {
        compile(compiler, standard, &path, None);
    }
}

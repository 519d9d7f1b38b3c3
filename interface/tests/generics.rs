//! The type-generic names: which routine does a call reach?
//!
//! The test defines every routine of the specification itself, to note its own
//! name, and then calls each generic name in every form: with each type of its
//! table, with and without a context, and with constant pointers where a source
//! may be constant. In C++ the same calls reach the same routines by overloads.

mod support;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Command;
use support::{Row, compile, compilers, ctypes, declarator, functions, generated, rows, tables};

const START: &str = "\
#include <stdio.h>
#include <string.h>
#include \"shmem.h\"
static const char *reached = \"nothing\";
static int wrong, checks;
static void expect(const char *call, const char *routine)
{
    checks++;
    if (strcmp(reached, routine) != 0) {
        wrong++;
        printf(\"%s reached %s, expected %s\\n\", call, reached, routine);
    }
    reached = \"nothing\";
}
";

/// A definition of a routine that notes its name.
fn definition(row: &Row) -> String {
    let (name, ret) = (&row["name"], &row["return type"]);
    let uses: String =
        parameters(&row["arguments"]).iter().map(|(_, name)| format!("(void)({name}); ")).collect();
    let result = match ret.as_str() {
        "void" => String::new(),
        "void *" => "return NULL;".into(),
        _ => format!("return ({ret})1;"),
    };
    // In parentheses, a name is not a macro.
    format!(
        "{}({name})({}) {{ {uses}reached = \"{name}\"; {result} }}\n",
        declarator(ret),
        row["arguments"]
    )
}

/// The types and names of a parameter list.
fn parameters(list: &str) -> Vec<(String, String)> {
    let list = list.split(", ").filter(|p| !["void", "..."].contains(p));
    list.map(|p| {
        let at = p.rfind([' ', '*']).expect("a type and a name") + 1;
        (p[..at].trim().to_string(), p[at..].to_string())
    })
    .collect()
}

/// Types that are one type on 64-bit Linux.
fn same_type(a: &str, b: &str) -> bool {
    let plain = |ctype: &str| match ctype {
        "int8_t" => "signed char".to_string(),
        "int16_t" => "short".into(),
        "int32_t" => "int".into(),
        "int64_t" | "ptrdiff_t" => "long".into(),
        "uint8_t" => "unsigned char".into(),
        "uint16_t" => "unsigned short".into(),
        "uint32_t" => "unsigned int".into(),
        "uint64_t" | "size_t" => "unsigned long".into(),
        other => other.to_string(),
    };
    plain(a) == plain(b)
}

/// The calls of one generic name: the call, and the routine that it must reach.
fn calls(row: &Row, ctypes: &BTreeMap<String, String>, cpp: bool) -> Vec<(String, String)> {
    let name = &row["name"];
    match name.as_str() {
        "shmem_sync" => {
            return vec![
                ("shmem_sync(team)".into(), "shmem_team_sync".into()),
                ("shmem_sync(0, 1, 2, sync)".into(), "shmem_sync".into()),
            ];
        }
        "shmem_signal_add" | "shmem_signal_set" => {
            let with_ctx = name.replacen("shmem_", "shmem_ctx_", 1);
            return vec![
                (format!("{name}(&signal, 1, 0)"), name.clone()),
                (format!("{name}(ctx, &signal, 1, 0)"), with_ctx),
            ];
        }
        _ => {}
    }
    let tables = tables();
    let names: Vec<&String> = row["type_table"].split(" + ").flat_map(|t| &tables[t]).collect();
    let mut found = Vec::new();
    for typename in &names {
        let ctype = &ctypes[*typename];
        // Of the names of one type, the first in the table.
        let first = names.iter().find(|other| same_type(&ctypes[**other], ctype));
        let mut expected = row["maps_to"]
            .split(" / ")
            .next()
            .expect("a routine")
            .replace("<TYPENAME>", first.expect("itself at least"));
        let params = parameters(&row["arguments without ctx"]);
        let is_source = |ctype: &str| ctype == "const TYPE *";
        let constants: &[bool] =
            if params.iter().any(|(c, _)| is_source(c)) { &[false, true] } else { &[false] };
        // A C function has the generic name itself, for long.
        if cpp
            && same_type(ctype, "long")
            && ["shmem_swap", "shmem_wait_until"].contains(&name.as_str())
        {
            expected = name.clone();
        }
        for &constant in constants {
            let arguments: Vec<String> = params
                .iter()
                .map(|(c, _)| match c.as_str() {
                    "TYPE *" => format!("v_{typename}"),
                    "const TYPE *" if constant => format!("c_{typename}"),
                    "const TYPE *" => format!("v_{typename} + 1"),
                    "TYPE" => format!("v_{typename}[2]"),
                    "shmem_team_t" => "team".into(),
                    "uint64_t *" => "&signal".into(),
                    "size_t *" => "indices".into(),
                    "const int *" => "NULL".into(),
                    "int" | "size_t" | "ptrdiff_t" | "uint64_t" => "1".into(),
                    other => panic!("{name}: no argument for {other}"),
                })
                .collect();
            let arguments = arguments.join(", ");
            found.push((format!("{name}({arguments})"), expected.clone()));
            if row["ctx_variant"] == "yes" {
                let with_ctx = expected.replacen("shmem_", "shmem_ctx_", 1);
                found.push((format!("{name}(ctx, {arguments})"), with_ctx));
            }
        }
    }
    found
}

/// The whole program, and the number of calls it makes.
fn program(cpp: bool) -> (String, usize) {
    let ctypes = ctypes();
    let mut text = String::new();
    if cpp {
        text += "extern \"C\" {\n";
    }
    for row in functions().iter().filter(|r| r["family"] != "setup.global_exit") {
        let complex = cpp && row["arguments"].contains("_Complex");
        text += if complex { "__extension__ " } else { "" };
        text += &definition(row);
    }
    if cpp {
        text += "}\n";
    }
    for (typename, ctype) in ctypes.iter().filter(|(_, ctype)| *ctype != "void") {
        let extension = if ctype.contains("_Complex") { "__extension__ " } else { "" };
        let _ = writeln!(text, "{extension}static {ctype} v_{typename}[4];");
        let _ = writeln!(text, "{extension}static const {ctype} c_{typename}[4] = {{0}};");
    }
    text +=
        "static uint64_t signal;\nstatic size_t indices[4];\nstatic long sync[SHMEM_SYNC_SIZE];\n";
    text += "int main(void)\n{\n    const shmem_team_t team = SHMEM_TEAM_WORLD;\n";
    text += "    const shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;\n";
    let mut n = 0;
    for row in rows("generics.csv") {
        for (call, routine) in calls(&row, &ctypes, cpp) {
            let _ = writeln!(text, "    (void)({call}); expect(\"{call}\", \"{routine}\");");
            n += 1;
        }
    }
    text += "    printf(\"%d calls, %d wrong\\n\", checks, wrong);\n    return wrong != 0;\n}\n";
    (format!("{START}{text}"), n)
}

#[test]
fn every_call_reaches_its_routine() {
    let (c, calls) = program(false);
    let (cpp, cpp_calls) = program(true);
    assert_eq!(calls, cpp_calls);
    assert!(calls > 73 * 5, "{calls} calls are not all");
    let c = generated("generics.c", &c);
    let cpp = generated("generics.cc", &cpp);
    for (compiler, standard) in compilers() {
        let source = match standard {
            "c99" => continue, // has no generic names
            "c11" | "c17" => &c,
            _ => &cpp,
        };
        let executable = source.with_extension(format!("{compiler}-{standard}"));
        compile(compiler, standard, source, Some(&executable));
        let output = Command::new(&executable).output().expect("the program starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{compiler} -std={standard}:\n{text}");
        assert_eq!(text.trim(), format!("{calls} calls, 0 wrong"));
    }
}

/// Pointers to volatile elements select the routine of the type; what the compiler says of the routine's
/// parameter, which points to elements that are not volatile, is another matter.
#[test]
fn volatile_elements_have_their_routines() {
    let text = "#include \"shmem.h\"\n\
                #pragma GCC diagnostic ignored \"-Wpragmas\"\n\
                #pragma GCC diagnostic ignored \"-Wunknown-warning-option\"\n\
                #pragma GCC diagnostic ignored \"-Wdiscarded-qualifiers\"\n\
                #pragma GCC diagnostic ignored \"-Wincompatible-pointer-types\"\n\
                static volatile long v; static const volatile long c; static volatile int i; static long x;\n\
                long f(shmem_ctx_t ctx, shmem_team_t team);\n\
                long f(shmem_ctx_t ctx, shmem_team_t team) {\n\
                    shmem_p(&v, 1, 0); shmem_put(&v, &x, 1, 0); shmem_get(&x, &v, 1, 0); shmem_put(ctx, &v, &x, 1, 0);\n\
                    shmem_atomic_add(&v, 1, 0); shmem_atomic_inc(ctx, &i, 0); shmem_wait_until(&v, SHMEM_CMP_NE, 0);\n\
                    shmem_sum_reduce(team, &v, &x, 1);\n\
                    return shmem_g(&v, 0) + shmem_g(ctx, &c, 0) + shmem_atomic_fetch(&v, 0) + shmem_atomic_fetch(&c, 0)\n\
                        + shmem_test(&v, SHMEM_CMP_EQ, 1) + shmem_atomic_compare_swap(&i, 0, 1, 0);\n}\n";
    let path = generated("volatile.c", text);
    for (compiler, standard) in compilers() {
        if !standard.starts_with("c++") && standard != "c99" {
            assert!(support::accepts(compiler, standard, &path), "{compiler} -std={standard}");
        }
    }
}

/// Types that are in no table, and pointers that may not be constant.
#[test]
fn other_types_are_refused() {
    let accepted = "shmem_max_reduce(team, v_longlong, v_longlong, 1)";
    let refused = [
        "shmem_and_reduce(team, v_longlong, v_longlong, 1)",
        "shmem_and_reduce(team, v_char, v_char, 1)",
        "shmem_max_reduce(team, v_complexd, v_complexd, 1)",
        "shmem_atomic_add(v_float, 1.0f, 0)",
        "shmem_atomic_or(ctx, v_longlong, 1, 0)",
        "shmem_put(&team, &team, 1, 0)",
        "shmem_p(c_long, 1, 0)",
        "shmem_add(v_uint, 1, 0)",
        "shmem_sum_reduce(v_int, v_int, 1)",
    ];
    let declarations = "static int v_int[4]; static long long v_longlong[4]; static float v_float[4];\n\
                        static char v_char[4]; static unsigned v_uint[4]; static const long c_long[4] = {0};\n";
    for (compiler, standard) in compilers().into_iter().filter(|(_, s)| *s != "c99") {
        let cpp = standard.starts_with("c++");
        let (complex, extension) = if cpp { ("__extension__ ", "cc") } else { ("", "c") };
        let mut text = format!(
            "#include \"shmem.h\"\n{declarations}{complex}static double _Complex v_complexd[4];\n\
             void f(shmem_team_t team, shmem_ctx_t ctx);\n\
             void f(shmem_team_t team, shmem_ctx_t ctx)\n{{\n(void)team; (void)ctx;\n"
        );
        let first = text.lines().count() + 1;
        for call in refused.iter().chain([&accepted]) {
            let _ = writeln!(text, "(void){call};");
        }
        let path = generated(&format!("refused.{extension}"), &(text + "}\n"));
        let mut errors = support::lines_with_errors(compiler, standard, &path);
        errors.retain(|line| *line >= first);
        let expected = (first..).take(refused.len()).collect();
        assert_eq!(errors, expected, "{compiler} -std={standard}: lines of {}", path.display());
    }
}

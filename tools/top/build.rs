//! With the feature `smartmap`, programs of this package are PEs only at a fixed low address.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_SMARTMAP").is_some() {
        println!("cargo::rustc-link-arg=-no-pie");
    }
}

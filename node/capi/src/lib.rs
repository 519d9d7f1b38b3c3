//! `libonenode`: every function of `node/include/onenode.h` as a call into the crate `onenode`. The
//! header is the contract; this crate only converts and checks arguments. A panic never crosses
//! into C: all profiles of this library make it abort the process.

// What they forbid stands in node/clippy.toml, with the reasons.
#![cfg_attr(
    not(test),
    deny(clippy::disallowed_methods, clippy::print_stdout, clippy::print_stderr, clippy::exit)
)]

/// Functions of the header. The result of a body, which may use `?`, becomes a number or an address.
macro_rules! functions {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> $kind:ident $body:block)*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $type),*) -> functions!(@$kind) {
            // SAFETY: the caller keeps the rules of the header, for all pointers and objects, and the
            // functions of `argument` and `onenode` that the body calls ask for nothing else.
            let work = || unsafe { $body };
            crate::failure::$kind(stringify!($name), work())
        }
    )*};
    (@number) => { std::ffi::c_int };
    (@address) => { *mut std::ffi::c_void };
}

mod about;
mod argument;
mod copy;
mod failure;
mod group;
mod lock;
mod mapping;
mod node;
mod region;
mod view;

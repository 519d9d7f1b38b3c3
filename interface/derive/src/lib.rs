//! The derive macro of the crate `oneshmem`, which exports it.

mod element;

use proc_macro::TokenStream;

/// Allows a struct in symmetric memory.
///
/// The compiler checks what the trait `oneshmem::Element` demands: the struct is `repr(C)` or
/// `repr(transparent)`, every field is an element, and there is no padding. It must be `Copy`, and
/// neither empty nor generic. Numbers are elements, and so are arrays of elements.
///
/// Where the compiler reports padding, order the fields from the largest to the smallest, or name the
/// gap: a field `_unused: [u8; 4]`.
#[proc_macro_derive(Element)]
pub fn element(item: TokenStream) -> TokenStream {
    element::derive(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

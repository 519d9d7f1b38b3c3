//! `#[derive(Element)]`.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Fields, Result};

/// The implementation of `Element` for a struct, with the checks that make it sound.
///
/// # Errors
/// Anything but a struct of fixed layout.
pub fn derive(item: TokenStream) -> Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    let fields = fields(&item)?;
    if !item.generics.params.is_empty() {
        return Err(Error::new_spanned(
            &item.generics,
            "Element cannot be derived for generic structs; write one for each type",
        ));
    }
    if !has_fixed_layout(&item.attrs)? {
        return Err(Error::new_spanned(
            &item.ident,
            "Element needs #[repr(C)] or #[repr(transparent)]: without it each program may lay out \
             the struct in its own way",
        ));
    }
    if fields.is_empty() {
        return Err(Error::new_spanned(&item.ident, "Element needs a struct with a field"));
    }

    let (name, krate, types) = (&item.ident, library(), fields.iter().map(|field| &field.ty));
    let are_elements = fields.iter().map(|field| {
        let ty = &field.ty;
        quote_spanned! { ty.span() => is_element::<#ty>(); }
    });
    let padding = format!(
        "`{name}` has padding, which Element forbids: order the fields from the largest to the \
         smallest, or name the gap with a field of bytes"
    );
    Ok(quote! {
        const _: () = {
            const fn is_element<T: #krate::Element>() {}
            #(#are_elements)*
            ::core::assert!(
                ::core::mem::size_of::<#name>() == 0 #(+ ::core::mem::size_of::<#types>())*,
                #padding
            );
            // SAFETY: of fixed layout and nothing but elements, without padding, as checked above.
            unsafe impl #krate::Element for #name {}
        };
    })
}

/// The path of the crate `oneshmem`, which the program's manifest may give another name. Where there is
/// no manifest, or the crate is not in it, as in its own tests, the usual one.
fn library() -> TokenStream {
    let name = match crate_name("oneshmem") {
        Ok(FoundCrate::Name(name)) => name,
        Ok(FoundCrate::Itself) | Err(_) => "oneshmem".into(),
    };
    let name = Ident::new(&name, Span::call_site());
    quote! { ::#name }
}

fn fields(item: &DeriveInput) -> Result<&Fields> {
    let found = match &item.data {
        Data::Struct(data) => return Ok(&data.fields),
        Data::Enum(_) => "an enum: only some bits are a value of it",
        Data::Union(_) => "a union, some of whose bytes may have no value",
    };
    Err(Error::new_spanned(&item.ident, format!("Element needs a struct, and this is {found}")))
}

/// Whether the attributes say `repr(C)` or `repr(transparent)`. `packed` and `align` may be added.
fn has_fixed_layout(attributes: &[Attribute]) -> Result<bool> {
    let mut fixed = false;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            fixed |= meta.path.is_ident("C") || meta.path.is_ident("transparent");
            // The number of `align(16)`.
            if meta.input.peek(syn::token::Paren) {
                meta.input.parse::<proc_macro2::TokenTree>()?;
            }
            Ok(())
        })?;
    }
    Ok(fixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(item: TokenStream) -> String {
        derive(item).expect_err("it is refused").to_string()
    }

    #[test]
    fn structs_of_fixed_layout_are_taken() {
        for item in [
            quote! { #[repr(C)] struct A { x: f64, y: [i32; 2] } },
            quote! { #[repr(C, align(16))] struct A { x: f64, y: f64 } },
            quote! { #[repr(align(16))] #[repr(C)] struct A { x: f64, y: f64 } },
            quote! { #[repr(C, packed(2))] struct A(u8, u16); },
            quote! { #[repr(transparent)] struct A(u64); },
        ] {
            let text = derive(item).expect("it is taken").to_string();
            assert!(text.contains("unsafe impl :: oneshmem :: Element for A"), "{text}");
            assert!(text.contains("is_element :: <"), "{text}");
        }
    }

    #[test]
    fn what_has_no_fixed_layout_is_refused() {
        for (item, why) in [
            (quote! { struct A { x: f64 } }, "#[repr(C)] or #[repr(transparent)]"),
            (quote! { #[repr(align(8))] struct A { x: f64 } }, "#[repr(C)]"),
            (quote! { #[repr(C)] struct A<T> { x: T } }, "generic"),
            (quote! { #[repr(C)] struct A<'a> { x: &'a u8 } }, "generic"),
            (quote! { #[repr(C)] struct A; }, "with a field"),
            (quote! { #[repr(u8)] enum A { X } }, "this is an enum"),
            (quote! { #[repr(C)] union A { x: u8 } }, "this is a union"),
        ] {
            let refusal = refusal(item);
            assert!(refusal.contains(why), "{refusal}");
        }
    }
}

//! Loads libraries at run time, and waits for their descriptors.
#![allow(unsafe_code)]

use crate::atomics::{AtomicPtr, Ordering};
use crate::error::Error;
use onenode_core::arch::FUNCTION_RELOCATIONS;
use onenode_core::sys::{map, program};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A shared library that stays loaded for the life of the process.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    name: &'static CStr,
    handle: Handle,
}

/// A library that is loaded, and stays so.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
struct Handle(NonNull<c_void>);

/// The one question to `dlinfo` that is asked here.
#[repr(i32)]
enum Question {
    LinkMap = libc::RTLD_DI_LINKMAP,
}

unsafe extern "C" {
    // Runs the constructors of a library that is not loaded yet, as the caller wants.
    safe fn dlopen(name: Text<'_>, how: c_int) -> Option<Handle>;
    // Both read the handle of a library that is loaded; no handle stands for the program and all that it has
    // loaded.
    safe fn dlsym(library: Option<Handle>, name: Text<'_>) -> Option<NonNull<c_void>>;
    safe fn dlinfo(
        library: Handle,
        question: Question,
        answer: &mut Option<&'static LinkMap>,
    ) -> c_int;
}

/// Whether the program or a loaded library defines this symbol.
pub fn is_defined(name: &CStr) -> bool {
    symbol(name).is_some()
}

/// The address of what the program or a loaded library defines under this name.
pub fn symbol(name: &CStr) -> Option<NonNull<c_void>> {
    dlsym(None, name.into())
}

/// A function's address as a pointer to it.
///
/// # Safety
/// `F` is the function's type, a pointer to a function. If that is not an unsafe one, the function accepts all
/// values of its arguments' types, and each [`Text`] that it returns stays.
pub unsafe fn typed<F: Copy>(function: NonNull<c_void>) -> F {
    const { assert!(size_of::<F>() == size_of::<*const c_void>()) };
    // SAFETY: `F` is a function pointer, as the caller promises; it has the size of an address.
    unsafe { std::mem::transmute_copy(&function) }
}

impl Library {
    /// Loads a library by its name.
    ///
    /// # Errors
    /// If the dynamic linker does not find it or one of its dependencies; the message is the
    /// linker's.
    pub fn load(name: &'static CStr) -> Result<Self, Error> {
        Self::open(name, libc::RTLD_LOCAL).ok_or_else(|| Error::Library(last_error()))
    }

    fn open(name: &'static CStr, how: libc::c_int) -> Option<Self> {
        dlopen(name.into(), libc::RTLD_NOW | how).map(|handle| Self { name, handle })
    }

    /// The address of a function.
    ///
    /// # Errors
    /// If the library has no function of this name.
    pub fn function(&self, name: &CStr) -> Result<NonNull<c_void>, Error> {
        dlsym(Some(self.handle), name.into()).ok_or_else(|| {
            Error::Library(format!(
                "{} has no {}",
                self.name.to_string_lossy(),
                name.to_string_lossy()
            ))
        })
    }
}

/// A C string as an argument of a library's function that only reads it, in the call, or as a result that
/// stays.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Text<'t>(NonNull<c_char>, PhantomData<&'t CStr>);

impl<'t> From<&'t CStr> for Text<'t> {
    fn from(text: &'t CStr) -> Self {
        Self(NonNull::from(text).cast(), PhantomData)
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: a `CStr`, or the result of a function of which `typed` was told that it returns a C string
        // that stays.
        let text = unsafe { CStr::from_ptr(self.0.as_ptr()) };
        f.write_str(&text.to_string_lossy())
    }
}

/// The functions that a library calls are in its table of addresses, which the dynamic linker fills in.
impl Library {
    /// A library that is loaded already; `None` if it is not.
    pub fn loaded(name: &'static CStr) -> Option<Self> {
        Self::open(name, libc::RTLD_NOLOAD)
    }

    /// Makes this library call `to` where it calls another library's function `name`. Other libraries
    /// are not affected. Returns false if it calls no such function.
    ///
    /// # Safety
    /// `to` is a function of the type of `name`, and may be called in its place.
    pub unsafe fn redirect(&self, name: &CStr, to: *mut c_void) -> bool {
        let mut map = None;
        let found = dlinfo(self.handle, Question::LinkMap, &mut map);
        let Some(map) = map.filter(|_| found == 0) else { return false };
        let (base, dynamic) = (map.base, map.values());
        // Some linkers add the base to the addresses in this table, some do not.
        let address = |tag: usize| match dynamic[tag] {
            value if value < base => base + value,
            value => value,
        };
        let (symbols, strings) = (address(DT_SYMTAB), address(DT_STRTAB));
        let mut redirected = false;
        for (table, bytes) in [(DT_JMPREL, DT_PLTRELSZ), (DT_RELA, DT_RELASZ)] {
            for place in 0..dynamic[bytes] / size_of::<Relocation>() {
                // SAFETY: one of the relocations in the library's own table, which has this many bytes, its symbol
                // and that one's name, all as the linker has left them when it used them. The first symbol has no
                // name.
                let (it, named) = unsafe {
                    let it = &*(address(table) as *const Relocation).add(place);
                    let symbol = &*(symbols as *const Symbol).add((it.info >> 32) as usize);
                    (it, CStr::from_ptr((strings as *const c_char).add(symbol.name as usize)))
                };
                if !FUNCTION_RELOCATIONS.contains(&(it.info as u32)) {
                    continue;
                }
                if named == name {
                    // SAFETY: the slot of this function; the caller guarantees what is called by it.
                    redirected |= unsafe { replace(base + it.offset as usize, to) };
                }
            }
        }
        redirected
    }
}

/// The head of `struct link_map`, the linker's own description of a loaded library.
#[repr(C)]
struct LinkMap {
    base: usize,
    name: *const c_char,
    dynamic: *const Dynamic,
}

impl LinkMap {
    /// The values of the library's table, by tag.
    fn values(&self) -> [usize; DT_JMPREL + 1] {
        let (mut values, mut entry) = ([0; DT_JMPREL + 1], self.dynamic);
        // SAFETY: an entry of the library's table, which ends with one of tag 0; up to there is a next one.
        while let Dynamic { tag: tag @ 1.., value } = unsafe { entry.read() } {
            values.get_mut(tag as usize).into_iter().for_each(|place| *place = value);
            entry = entry.wrapping_add(1);
        }
        values
    }
}

/// `Elf64_Dyn`.
#[repr(C)]
struct Dynamic {
    tag: i64,
    value: usize,
}

/// `Elf64_Rela`.
#[repr(C)]
struct Relocation {
    offset: u64,
    info: u64,
    addend: i64,
}

/// `Elf64_Sym`.
#[repr(C)]
struct Symbol {
    name: u32,
    others: [u32; 5],
}
const _: () = assert!(size_of::<Symbol>() == 24);

// Tags of entries: see elf(5).
const DT_PLTRELSZ: usize = 2;
const DT_STRTAB: usize = 5;
const DT_SYMTAB: usize = 6;
const DT_RELA: usize = 7;
const DT_RELASZ: usize = 8;
const DT_JMPREL: usize = 23;
/// Writes an address to a slot that may be protected against writing. The slot's page stays writable:
/// whether the linker has protected it before does not show.
///
/// # Safety
/// The slot is an aligned pointer to a function, which may be replaced by this one.
unsafe fn replace(slot: usize, to: *mut c_void) -> bool {
    let page = slot & !(map::page_size() - 1);
    // SAFETY: the page of a slot, which is data and stays readable. The slot is aligned, and writable then. Other
    // threads may call through it meanwhile, and find one or the other.
    unsafe {
        let is_writable = map::set_protection(
            &(page..page + map::page_size()),
            libc::PROT_READ | libc::PROT_WRITE,
        );
        if is_writable {
            AtomicPtr::from_ptr(slot as *mut *mut c_void).store(to, Ordering::Release);
        }
        is_writable
    }
}

fn last_error() -> String {
    // The text stays until this thread's next such call, which no caller of this function makes before.
    unsafe extern "C" {
        safe fn dlerror() -> Option<Text<'static>>;
    }
    dlerror().map_or_else(|| "the system's linker does not say why".into(), |text| text.to_string())
}

/// Returns an error if this program is static: loading a library would load a second C library.
pub fn check_static(name: &CStr) -> Result<(), Error> {
    match program::is_static() {
        true => Err(Error::Library(format!(
            "a static program cannot load {}; link it dynamically to run it on several nodes",
            name.to_string_lossy()
        ))),
        false => Ok(()),
    }
}

//! Arguments from C: pointers, records, and numbers that stand for names.
#![allow(unsafe_code)]

use onenode::Error;
use std::fmt::Debug;
use std::time::Duration;

/// The largest record of any version of the header, in bytes.
const LARGEST: usize = 4096;

/// Rejects a null or misaligned pointer.
fn usable<T>(argument: &'static str, pointer: *const T) -> Result<(), Error> {
    if pointer.is_null() {
        return Err(Error::argument(argument, "NULL", "an address"));
    }
    if !pointer.is_aligned() {
        let expected = format!("a multiple of {}", align_of::<T>());
        return Err(Error::argument(argument, format!("{pointer:p}"), expected));
    }
    Ok(())
}

/// An object that this library has created.
///
/// # Safety
/// If it is not null, it is an object of the library, and is not closed while the reference lives.
pub(crate) unsafe fn object<'o, T>(
    argument: &'static str,
    pointer: *const T,
) -> Result<&'o T, Error> {
    usable(argument, pointer)?;
    // SAFETY: checked not to be null, so the caller guarantees an object of the library that is not
    // closed in the meantime. The reference is shared, as other threads may hold one, too.
    Ok(unsafe { &*pointer })
}

/// Takes back an object that the client returns.
///
/// # Safety
/// If it is not null, it comes from `Box::into_raw`, and this is its last use.
pub(crate) unsafe fn taken<T>(argument: &'static str, pointer: *mut T) -> Result<Box<T>, Error> {
    usable(argument, pointer)?;
    // SAFETY: checked not to be null, so the caller guarantees that `Box::into_raw` made it and
    // that nobody else uses it.
    Ok(unsafe { Box::from_raw(pointer) })
}

/// The client's variable for a result.
pub(crate) fn place<T>(argument: &'static str, pointer: *mut T) -> Result<*mut T, Error> {
    usable(argument, pointer)?;
    Ok(pointer)
}

/// The value behind a pointer.
///
/// # Safety
/// If it is not null, it points to a readable value.
pub(crate) unsafe fn value<T: Copy>(argument: &'static str, pointer: *const T) -> Result<T, Error> {
    usable(argument, pointer)?;
    // SAFETY: checked not to be null, so the caller guarantees a readable value.
    Ok(unsafe { pointer.read() })
}

/// A record that begins with its size, of this version or another one. Fields that this version
/// does not know must be 0.
///
/// # Safety
/// If it is not null, as many bytes are readable as its first four say, and at least these four.
/// `T` is a record of the header, for which any bytes are a value.
pub(crate) unsafe fn record<T: Copy>(
    argument: &'static str,
    pointer: *const T,
) -> Result<T, Error> {
    usable(argument, pointer)?;
    // SAFETY: checked not to be null, so the caller guarantees at least these four bytes.
    let bytes = unsafe { pointer.cast::<u32>().read() } as usize;
    if !(size_of::<T>()..=LARGEST).contains(&bytes) {
        let value = format!("one whose size is {bytes}");
        let expected = format!("size = sizeof(onenode_{argument}), which is {}", size_of::<T>());
        return Err(Error::argument(argument, value, expected));
    }
    // SAFETY: the caller guarantees as many bytes as the first four say, which are at least those of a
    // `T`, as just checked, of which any bytes are a value.
    let (record, rest) = unsafe {
        let rest = pointer.add(1).cast::<u8>();
        (pointer.read(), std::slice::from_raw_parts(rest, bytes - size_of::<T>()))
    };
    if let Some(at) = rest.iter().position(|byte| *byte != 0) {
        let value = format!("one with byte {} set", size_of::<T>() + at);
        let expected = "0 in fields that this version of the library does not know";
        return Err(Error::argument(argument, value, expected));
    }
    Ok(record)
}

/// The meaning of a number.
pub(crate) fn meaning<T: Copy + Debug>(
    argument: &'static str,
    number: u32,
    meanings: &[(u32, T)],
) -> Result<T, Error> {
    match meanings.iter().find(|(known, _)| *known == number) {
        Some((_, meaning)) => Ok(*meaning),
        None => {
            let known: Vec<String> =
                meanings.iter().map(|(number, name)| format!("{number} ({name:?})")).collect();
            Err(Error::argument(argument, number, known.join(" or ")))
        }
    }
}

/// A time limit in nanoseconds.
pub(crate) fn limit(ns: u64) -> Duration {
    if ns == u64::MAX { Duration::MAX } else { Duration::from_nanos(ns) }
}

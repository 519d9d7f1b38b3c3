//! What comes from C: pointers, records, and numbers that stand for names.
#![allow(unsafe_code)]

use onenode::Error;
use std::fmt::Debug;
use std::time::Duration;

/// Largest record that any version of the header has.
const LARGEST: usize = 4096;

/// A pointer that can be used, as far as its value tells.
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

/// An object that this library has made.
///
/// # Safety
/// If it is not null, it is one of the library's, and not closed as long as the reference lives.
pub(crate) unsafe fn object<'o, T>(
    argument: &'static str,
    pointer: *const T,
) -> Result<&'o T, Error> {
    usable(argument, pointer)?;
    // SAFETY: the caller's promise. Shared: other threads may have it, too.
    Ok(unsafe { &*pointer })
}

/// The same, given back by the client.
///
/// # Safety
/// If it is not null, `Box::into_raw` has made it, and this is its last use.
pub(crate) unsafe fn taken<T>(argument: &'static str, pointer: *mut T) -> Result<Box<T>, Error> {
    usable(argument, pointer)?;
    // SAFETY: the caller's promise.
    Ok(unsafe { Box::from_raw(pointer) })
}

/// The client's variable for a result.
pub(crate) fn place<T>(argument: &'static str, pointer: *mut T) -> Result<*mut T, Error> {
    usable(argument, pointer)?;
    Ok(pointer)
}

/// A value.
///
/// # Safety
/// If it is not null, there is such a value.
pub(crate) unsafe fn value<T: Copy>(argument: &'static str, pointer: *const T) -> Result<T, Error> {
    usable(argument, pointer)?;
    // SAFETY: the caller's promise.
    Ok(unsafe { pointer.read() })
}

/// A record that begins with its size, of this version or of another: what this version does not
/// know must be 0.
///
/// # Safety
/// If it is not null, there are as many bytes as its first four say. `T` is a record of the header,
/// for which all bytes make a value.
pub(crate) unsafe fn record<T: Copy>(
    argument: &'static str,
    pointer: *const T,
) -> Result<T, Error> {
    usable(argument, pointer)?;
    // SAFETY: the caller's promise.
    let bytes = unsafe { pointer.cast::<u32>().read() } as usize;
    if !(size_of::<T>()..=LARGEST).contains(&bytes) {
        let value = format!("one whose size is {bytes}");
        let expected = format!("size = sizeof(onenode_{argument}), which is {}", size_of::<T>());
        return Err(Error::argument(argument, value, expected));
    }
    for at in size_of::<T>()..bytes {
        // SAFETY: the caller's promise.
        if unsafe { pointer.cast::<u8>().add(at).read() } != 0 {
            let value = format!("one with byte {at} set");
            let expected = "0 in fields that this version of the library does not know";
            return Err(Error::argument(argument, value, expected));
        }
    }
    // SAFETY: the caller's promise: at least that large.
    Ok(unsafe { pointer.read() })
}

/// What a number stands for.
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

//! The stack of the calling thread.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::ops::Range;

/// How many bytes of this thread's stack are left; `None` if it runs on another stack, such as a coroutine's.
pub fn room() -> Option<usize> {
    thread_local! {
        /// The system looks for the first thread's among all mappings.
        static OWN: Option<Range<usize>> = range();
    }
    let local = 0u8;
    let here = &raw const local as usize;
    let own = OWN.try_with(Clone::clone).ok()??;
    own.contains(&here).then(|| here - own.start)
}

/// This thread's stack.
fn range() -> Option<Range<usize>> {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut start, mut bytes) = (std::ptr::null_mut(), 0);
    // SAFETY: of this thread, which runs. The attributes are initialised if the first call returns 0, read by
    // the second, and released by the third, after which nothing uses them.
    let is_known = unsafe {
        libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) == 0 && {
            let got = libc::pthread_attr_getstack(attributes.as_ptr(), &mut start, &mut bytes);
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
            got == 0
        }
    };
    is_known.then(|| start as usize..start as usize + bytes)
}

#[cfg(test)]
mod tests {
    use super::room;

    #[test]
    fn a_small_stack_has_little_room() {
        let builder = std::thread::Builder::new().stack_size(128 << 10);
        let thread = builder.spawn(room).expect("a thread");
        let left = thread.join().expect("its result").expect("a stack");
        // The C library takes some for the thread's variables.
        assert!((1 << 10..=160 << 10).contains(&left), "{left}");
        assert!(room().is_some_and(|here| here > left));
    }
}

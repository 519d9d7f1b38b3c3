//! Code that runs when the library is loaded, before the program's own.
#![allow(unsafe_code)]

use super::fork;
use onenode_core::segment;
use onenode_core::sys::map;

/// 101 is the earliest priority that is not reserved for the compiler and the C library.
#[used]
#[unsafe(link_section = ".init_array.00101")]
static AT_LOAD: extern "C" fn() = load;

/// A failure here is ignored: initialisation tries again and reports it.
extern "C" fn load() {
    fork::register();
    if let Ok(data) = segment::find(map::page_size()) {
        let _ = segment::keep_gaps(&data);
    }
}

//! What is done when the library is loaded, before the program does anything.
#![allow(unsafe_code)]

use super::fork;
use onenode::segment;
use onenode::sys::map;

/// 101 is the earliest priority that is not the compiler's and the C library's own.
#[used]
#[unsafe(link_section = ".init_array.00101")]
static AT_LOAD: extern "C" fn() = load;

/// What fails here is tried again at initialisation, and told there.
extern "C" fn load() {
    fork::register();
    if let Ok(data) = segment::find(map::page_size()) {
        let _ = segment::keep_gaps(&data);
    }
}

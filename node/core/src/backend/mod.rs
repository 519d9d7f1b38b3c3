//! How memory is shared between processes: each backend makes, publishes and attaches *segments*, which are
//! ranges of whole pages. A client gives each of its segments a place in memory and, where they lie in
//! files, in a file. No backend is consulted on the data path.
#![allow(unsafe_code)]

#[cfg(feature = "smartmap")]
mod kitten;
pub mod memfd;
mod xpmem;

use crate::error::Error;
use crate::pages::Pages;
use crate::sys::map::Reserved;
use crate::sys::relocate;
use crate::sys::source::Source;
use std::any::Any;
use std::ops::Range;
use std::os::fd::BorrowedFd;

#[cfg(feature = "smartmap")]
pub use kitten::Kitten;
use memfd::Memfd;
use xpmem::Xpmem;

/// A memory file, and an offset in it in bytes.
pub type FilePlace<'f> = (Source<'f>, u64);

/// A backend's resource, until it is dropped.
pub type BackendResource = Box<dyn Any + Send + Sync>;

/// How peers name the segments of a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// By their place in a memory file, which the client chooses. Forked children see such memory, too.
    File,
    /// By a number that the system gives to memory of any kind, where it is.
    Number,
    /// By their address: the kernel gives processes each other's memory, and that of none can be placed.
    Address,
}

/// A peer's segment, or a part of it from some page on.
#[derive(Clone, Copy, Debug)]
pub enum Segment<'f> {
    /// The memory at a place of a file.
    File(FilePlace<'f>),
    /// The memory that has this number, and an offset in it in bytes.
    Number(u64, usize),
    /// The memory at this address of the peer.
    Address(usize),
}

/// How private memory moves into a file.
#[derive(Clone, Copy, Debug)]
pub struct Move<'m> {
    /// The parts to copy.
    pub pieces: &'m [relocate::Piece],
    /// The file, and where in it there is room, which is zeros.
    pub to: (BorrowedFd<'m>, u64),
}

/// A segment that peers can attach.
#[derive(Default)]
pub struct Published {
    /// Its number, where segments are named so; otherwise 0.
    pub number: u64,
    /// The right of the peers, if it ends some time.
    pub held: Option<BackendResource>,
}

/// A way of sharing segments.
///
/// # Safety
/// Clients access segments with nothing but these calls' word for it. So memory is made and attached over
/// the given places and nowhere else, and stays there until a resource that goes with it is dropped; a
/// peer's memory cannot become shorter; and to publish memory leaves its address and content.
pub unsafe trait Backend: Send + Sync {
    /// The backend's name, for users.
    fn name(&self) -> &'static str;

    /// How its segments are named, and so what a client has to provide.
    fn naming(&self) -> Naming;

    /// Makes zeroed memory of these pages, at a place of a file where segments are named so. After a failure
    /// it can be called again with other pages.
    fn make(&self, at: &Reserved, pages: Pages, file: Option<FilePlace>) -> Result<(), Error>;

    /// Frees the content of memory that was made so.
    fn free(&self, at: &Reserved, file: Option<FilePlace>);

    /// Lets peers attach memory of this process. Memory that was not made by [`make`](Self::make) keeps its
    /// address and content, and moves into a file if it has to; no write to it is lost.
    ///
    /// # Safety
    /// The pages are this process's own and, except for gaps between the pieces that move, mapped as long as
    /// peers have the right. They are accessed as memory that others write. While they move, who could write
    /// to them can be held.
    unsafe fn publish(&self, pages: &Range<usize>, moved: Option<Move>)
    -> Result<Published, Error>;

    /// Maps memory of a peer, which has these pages. It is detached when the result, if there is one, is
    /// dropped.
    ///
    /// # Safety
    /// As long as there is the result, nobody unmaps, remaps or protects what is there.
    unsafe fn attach(
        &self,
        at: &Reserved,
        pages: Pages,
        segment: Segment,
    ) -> Result<Option<BackendResource>, Error>;
}

/// The backend of this name.
///
/// # Errors
/// If it cannot work here, or there is none of that name.
pub fn open(name: &str) -> Result<Box<dyn Backend>, Error> {
    match name {
        "memfd" => Ok(Box::new(Memfd::NEUTRAL)),
        "xpmem" => Ok(Box::new(Xpmem::open()?)),
        #[cfg(feature = "smartmap")]
        "smartmap" => Ok(Box::new(Memfd::ALIASES)),
        _ => Err(Error::NoWay(format!("there is no backend {name}"))),
    }
}

/// The best backend that works here, and why it is chosen.
pub fn best() -> (Box<dyn Backend>, String) {
    match Xpmem::open() {
        Ok(xpmem) => (Box::new(xpmem), "/dev/xpmem is usable".into()),
        Err(error) => (Box::new(Memfd::NEUTRAL), format!("no xpmem: {error}")),
    }
}

/// The error for a segment of another backend.
fn unlike(own: &str, segment: Segment) -> Error {
    Error::NoWay(format!("the backend {own} cannot attach {segment:x?}"))
}

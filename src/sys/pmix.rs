//! PMIx, the protocol of `mpirun` (Open MPI, PRRTE) and of `srun --mpi=pmix`, through the library
//! that these launchers themselves use.
#![allow(unsafe_code)]

use oneshmem_job::error::Error;
use oneshmem_job::sys::library::{self, Library, Text, typed};
use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr::null_mut;

/// The variable that a launcher sets if it speaks PMIx.
pub const VARIABLE: &str = "PMIX_NAMESPACE";

/// `PMIX_GLOBAL`: visible to all PEs of the job.
const GLOBAL: u8 = 3;

/// `pmix_proc_t`: a namespace and a rank.
#[repr(C)]
#[derive(Clone)]
struct Proc {
    nspace: [u8; 256],
    rank: u32,
}

/// `pmix_value_t`: its data is a union, of which only the first word is used here.
#[repr(C)]
struct Value<K, D> {
    kind: K,
    data: D,
    rest: [usize; 2],
}

/// `PMIX_STRING`: a type of value.
#[repr(u16)]
enum Kind {
    String = 3,
}

/// `PMIX_BOOL`: a type of value.
#[repr(u16)]
enum Switch {
    Bool = 1,
}

/// `pmix_info_t`: a name and its value.
#[repr(C)]
struct Info {
    key: [u8; 512],
    flags: u32,
    value: Value<Switch, True>,
}

/// A switch that is on.
#[repr(usize)]
enum True {
    True = 1,
}

/// Both arguments that stand for an array which is not there: null, and 0 elements.
#[repr(usize)]
enum No {
    Array = 0,
}

/// The number of elements in an array of one.
#[repr(usize)]
enum One {
    Record = 1,
}

/// `PMIX_COLLECT_DATA`: each rank gets what all have published.
const COLLECT: &[u8] = b"pmix.collect";

// No record, or one, comes with each call; null for the processes means all of our namespace.
type Init = extern "C" fn(&mut Proc, No, No) -> c_int;
type Put = extern "C" fn(u8, Text<'_>, &mut Value<Kind, Text<'_>>) -> c_int;
type Commit = extern "C" fn() -> c_int;
type Get = extern "C" fn(&Proc, Text<'_>, No, No, &mut *mut Value<u16, *mut c_char>) -> c_int;
type Fence = extern "C" fn(No, No, No, No) -> c_int;
type Share = extern "C" fn(No, No, &Info, One) -> c_int;
type ResolveNodes = extern "C" fn(Text<'_>, &mut *mut c_char) -> c_int;
type ResolvePeers = extern "C" fn(Text<'_>, Text<'_>, &mut *mut Proc, &mut usize) -> c_int;
type Finalize = extern "C" fn(No, No) -> c_int;
type Abort = extern "C" fn(c_int, Text<'_>, No, No) -> c_int;
type Words = extern "C" fn(c_int) -> Option<Text<'static>>;

/// This process's connection to the launcher's server on its node.
pub struct Pmix {
    own: Proc,
    put: Put,
    commit: Commit,
    get: Get,
    fence: Fence,
    share: Share,
    resolve_nodes: ResolveNodes,
    resolve_peers: ResolvePeers,
    finalize: Finalize,
    abort: Abort,
    words: Words,
}

impl Pmix {
    /// Connects. PMIx counts connections, so an MPI library in this process is not disturbed.
    ///
    /// # Errors
    /// If there is no PMIx library, or no launcher that speaks PMIx. The message is for the user.
    pub fn open() -> Result<Self, String> {
        let name = c"libpmix.so.2";
        let library = library::check_static(name).and_then(|()| Library::load(name));
        let library = library.map_err(|error| error.to_string())?;
        let found = Self::of(&library).map_err(|error| error.to_string());
        let (init, mut pmix) = found?;
        let status = init(&mut pmix.own, No::Array, No::Array);
        pmix.check(status, "PMIx_Init").map(|()| pmix)
    }

    /// The library's functions, not yet connected.
    fn of(library: &Library) -> Result<(Init, Self), Error> {
        // SAFETY: PMIx declares these types in every version of its ABI. What it gets by reference it
        // reads or fills in the call, and keeps nothing of it. Its words for a status are constants.
        unsafe {
            let pmix = Self {
                own: Proc { nspace: [0; 256], rank: 0 },
                put: typed(library.function(c"PMIx_Put")?),
                commit: typed(library.function(c"PMIx_Commit")?),
                get: typed(library.function(c"PMIx_Get")?),
                fence: typed(library.function(c"PMIx_Fence")?),
                share: typed(library.function(c"PMIx_Fence")?),
                resolve_nodes: typed(library.function(c"PMIx_Resolve_nodes")?),
                resolve_peers: typed(library.function(c"PMIx_Resolve_peers")?),
                finalize: typed(library.function(c"PMIx_Finalize")?),
                abort: typed(library.function(c"PMIx_Abort")?),
                words: typed(library.function(c"PMIx_Error_string")?),
            };
            Ok((typed(library.function(c"PMIx_Init")?), pmix))
        }
    }

    fn check(&self, status: c_int, call: &str) -> Result<(), String> {
        if status == 0 {
            return Ok(());
        }
        let words = (self.words)(status).unwrap_or(c"unknown".into());
        Err(format!("{call}: {words} ({status})"))
    }

    /// The name of our own namespace.
    fn space(&self) -> Text<'_> {
        CStr::from_bytes_until_nul(&self.own.nspace).unwrap_or_default().into()
    }

    /// The names of the job's hosts.
    pub fn hosts(&self) -> Result<Vec<String>, String> {
        let mut names: *mut c_char = null_mut();
        self.check((self.resolve_nodes)(self.space(), &mut names), "PMIx_Resolve_nodes")?;
        if names.is_null() {
            return Err("PMIx_Resolve_nodes: the job has no hosts".into());
        }
        // SAFETY: a C string, allocated by the C library and now ours.
        let list = unsafe {
            let list = CStr::from_ptr(names).to_string_lossy().into_owned();
            libc::free(names.cast());
            list
        };
        Ok(list.split(',').map(str::to_owned).collect())
    }

    /// The ranks of the job that are on `host`.
    pub fn ranks_on(&self, host: &str) -> Result<Vec<u32>, String> {
        let call = format!("PMIx_Resolve_peers of {host}");
        let host = CString::new(host).map_err(|error| error.to_string())?;
        let (mut peers, mut count) = (null_mut::<Proc>(), 0);
        let host = host.as_c_str().into();
        let status = (self.resolve_peers)(host, self.space(), &mut peers, &mut count);
        self.check(status, &call)?;
        if peers.is_null() {
            return Err(format!("{call}: none"));
        }
        // SAFETY: an array of that many, allocated by the C library and now ours.
        unsafe {
            let ranks = (0..count).map(|index| (*peers.add(index)).rank).collect();
            libc::free(peers.cast());
            Ok(ranks)
        }
    }

    /// The value that `rank` has published under this name.
    pub fn fetch(&self, rank: u32, name: &CStr) -> Result<String, String> {
        let whose = Proc { rank, ..self.own.clone() };
        let mut value = null_mut();
        let status = (self.get)(&whose, name.into(), No::Array, No::Array, &mut value);
        let call = format!("PMIx_Get of {} of rank {rank}", name.to_string_lossy());
        self.check(status, &call)?;
        // SAFETY: on success there is a value, allocated by the C library and now ours. If its type
        // is a string, its data is the address of a C string.
        unsafe {
            let text = value.as_ref().filter(|value| value.kind == Kind::String as u16);
            let text = text.map(|value| value.data).filter(|it| !it.is_null());
            let heard = text.map(|text| CStr::from_ptr(text).to_string_lossy().into_owned());
            text.inspect(|text| libc::free(text.cast()));
            libc::free(value.cast());
            heard.ok_or_else(|| format!("{call}: it is no text"))
        }
    }

    /// Publishes `text` to all ranks under this name.
    pub fn publish(&self, name: &CStr, text: &str) -> Result<(), String> {
        let text = CString::new(text).map_err(|error| error.to_string())?;
        let mut value = Value { kind: Kind::String, data: text.as_c_str().into(), rest: [0; 2] };
        self.check((self.put)(GLOBAL, name.into(), &mut value), "PMIx_Put")?;
        self.check((self.commit)(), "PMIx_Commit")
    }

    /// Waits until all ranks of the job have called this, and gives each what all have published. Servers
    /// that have fetched anything of a rank may not fetch what it publishes later.
    pub fn share(&self) -> Result<(), String> {
        let mut key = [0; 512];
        key[..COLLECT.len()].copy_from_slice(COLLECT);
        let value = Value { kind: Switch::Bool, data: True::True, rest: [0; 2] };
        let info = Info { key, flags: 0, value };
        self.check((self.share)(No::Array, No::Array, &info, One::Record), "PMIx_Fence")
    }

    /// Waits until all ranks of the job have called this.
    pub fn fence(&self) -> Result<(), String> {
        self.check((self.fence)(No::Array, No::Array, No::Array, No::Array), "PMIx_Fence")
    }

    /// Asks the launcher to end the job with `status`. The launcher may end this process first.
    pub fn abort(&self, status: i32) {
        (self.abort)(status, c"oneshmem ends the job".into(), No::Array, No::Array);
    }

    /// Disconnects: the launcher treats a process that exits without this as lost.
    pub fn end(&self) {
        // An error would have nowhere to be reported.
        (self.finalize)(No::Array, No::Array);
    }
}

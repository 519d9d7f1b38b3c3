//! The functions of CUDA's driver library, `libcuda.so.1`, that we use. The library is loaded at
//! run time, so that programs without a partition on a device do not need it.
#![allow(unsafe_code)]

use super::rectangle::Rectangle;
use onenode_core::sys::mutex;
use oneshmem_job::error::Error;
use oneshmem_job::remote::StridedBlocks;
use oneshmem_job::sys::library::{Library, Text, typed};
use std::ffi::{CStr, c_int, c_uint, c_void};
use std::ptr::null_mut;

/// `CUdeviceptr`.
pub type Address = u64;
/// `CUcontext`, `CUstream`, `CUmodule`, `CUfunction`.
type Object = *mut c_void;

/// `CUipcMemHandle`, passed by value.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct IpcHandle(pub [u64; 8]);

/// A value of [`Attribute::MemoryType`].
const MEMORY_OF_DEVICE: c_uint = 2;
/// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`.
const PEER_ACCESS: c_uint = 1;
/// `CU_MEMHOSTALLOC_PORTABLE`: for all devices.
const PORTABLE: c_uint = 1;
/// `CUDA_ERROR_INVALID_VALUE`.
const INVALID_VALUE: c_int = 1;
/// The largest stride of blocks in one call, `CU_DEVICE_ATTRIBUTE_MAX_PITCH` of all devices.
const MAX_PITCH: usize = (1 << 31) - 1;

/// A device's primary context, or null: then a call enters none.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Context(Object);

/// A stream, which is never destroyed, or null: the device's default one.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Stream(Object);

/// A module of kernels, or null, which the driver refuses.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Module(Object);

/// Room for a device's name, as many bytes as [`Room`] says.
type Name = [u8; Room::Bytes as usize];

#[repr(i32)]
enum Room {
    Bytes = 128,
}

/// An attribute of an address whose value is a number.
#[repr(i32)]
enum Attribute {
    /// `CU_POINTER_ATTRIBUTE_MEMORY_TYPE`
    MemoryType = 2,
}

/// Blocks of memory to copy: both sides are of the processor or of a device, by their addresses.
#[derive(Clone, Copy)]
pub struct Transfer {
    to: usize,
    from: usize,
    blocks: StridedBlocks,
}

impl Transfer {
    /// Copies strided blocks.
    ///
    /// # Safety
    /// They are writable from `to` on and readable from `from` on, by the processor or the device, until
    /// the [`wait`](Cuda::wait) after the copy returns.
    pub unsafe fn new(to: usize, from: usize, blocks: StridedBlocks) -> Self {
        Self { to, from, blocks }
    }
}

macro_rules! driver {
    (
        safe { $($name:ident = $symbol:literal($($arg:ty),*);)* }
        raw { $($raw:ident = $raw_symbol:literal($($raw_arg:ty),*);)* }
    ) => {
        /// The driver's functions. All return 0 or an error number.
        pub struct Cuda {
            $($name: extern "C" fn($($arg),*) -> c_int,)*
            $($raw: unsafe extern "C" fn($($raw_arg),*) -> c_int,)*
        }

        impl Cuda {
            fn of(library: &Library) -> Result<Self, Error> {
                // SAFETY: the driver's documentation gives these types for the functions, and a
                // function's name gets a new suffix whenever its type changes. Those under `safe` check
                // all numbers, flags, handles and device addresses that they get, read texts, write one value
                // to each reference, and keep none. Texts for errors are constants.
                unsafe {
                    Ok(Self {
                        $($name: typed(library.function($symbol)?),)*
                        $($raw: typed(library.function($raw_symbol)?),)*
                    })
                }
            }
        }
    };
}

driver! {
    safe {
        init = c"cuInit"(c_uint);
        error_string = c"cuGetErrorString"(c_int, &mut Option<Text<'static>>);
        device_count = c"cuDeviceGetCount"(&mut c_int);
        device_get = c"cuDeviceGet"(&mut c_int, c_int);
        retain = c"cuDevicePrimaryCtxRetain"(&mut Context, c_int);
        set_current = c"cuCtxSetCurrent"(Context);
        stream_create = c"cuStreamCreate"(&mut Stream, c_uint);
        synchronize = c"cuStreamSynchronize"(Stream);
        memory_info = c"cuMemGetInfo_v2"(&mut usize, &mut usize);
        allocate = c"cuMemAlloc_v2"(&mut Address, usize);
        ipc_handle = c"cuIpcGetMemHandle"(&mut IpcHandle, Address);
        ipc_open = c"cuIpcOpenMemHandle_v2"(&mut Address, IpcHandle, c_uint);
        host_allocate = c"cuMemHostAlloc"(&mut *mut c_void, usize, c_uint);
        device_name = c"cuDeviceGetName"(&mut Name, Room, c_int);
        attribute = c"cuPointerGetAttribute"(&mut c_uint, Attribute, Address);
        load_module = c"cuModuleLoadData"(&mut Module, Text<'_>);
        find_function = c"cuModuleGetFunction"(&mut Object, Module, Text<'_>);
    }
    raw {
        ipc_close = c"cuIpcCloseMemHandle"(Address);
        copy = c"cuMemcpyAsync"(Address, Address, usize, Stream);
        copy_2d = c"cuMemcpy2DAsync_v2"(*const Rectangle, Stream);
        set = c"cuMemsetD8Async"(Address, u8, usize, Stream);
        set_16 = c"cuMemsetD16Async"(Address, u16, usize, Stream);
        set_32 = c"cuMemsetD32Async"(Address, c_uint, usize, Stream);
        launch = c"cuLaunchKernel"(
            Object, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Stream,
            *mut *mut c_void, *mut *mut c_void
        );
    }
}

impl Cuda {
    /// Loads the library and prepares it.
    ///
    /// # Errors
    /// Why the library cannot be used, in words.
    pub fn load() -> Result<Self, String> {
        let library = Library::load(c"libcuda.so.1")
            .map_err(|error| format!("no libcuda.so.1 here: {error}"))?;
        let cuda = Self::of(&library).map_err(|error| error.to_string())?;
        cuda.check("cuInit", (cuda.init)(0))?;
        Ok(cuda)
    }
}

impl Cuda {
    fn check(&self, call: &str, answer: c_int) -> Result<(), String> {
        if answer == 0 { Ok(()) } else { Err(self.refusal(call, answer)) }
    }

    #[cold]
    #[inline(never)]
    fn refusal(&self, call: &str, answer: c_int) -> String {
        let mut text = None;
        match ((self.error_string)(answer, &mut text), text) {
            (0, Some(text)) => format!("{call}: {text}"),
            _ => format!("{call}: error {answer}"),
        }
    }
}

/// A device with its primary context, which other users of CUDA in this process share.
pub struct Gpu {
    context: Context,
    stream: Stream,
    /// The kernels, and a word of device memory that they write to.
    kernels: std::sync::Mutex<Option<(Module, Address)>>,
    /// The device's name.
    pub name: String,
}

// SAFETY: any thread may use the driver's objects; the word is behind a lock.
unsafe impl Send for Gpu {}
// SAFETY: any thread may use the driver's objects, and several at a time; the word is behind a lock.
unsafe impl Sync for Gpu {}

impl Cuda {
    /// Number of devices.
    pub fn count(&self) -> Result<usize, String> {
        let mut count = 0;
        self.check("cuDeviceGetCount", (self.device_count)(&mut count))?;
        Ok(count as usize)
    }

    /// Device `number`, which must be one of them.
    pub fn open(&self, number: usize) -> Result<Gpu, String> {
        let (mut device, mut name) = (0, [0; Room::Bytes as usize]);
        let (mut context, mut stream) = (Context(null_mut()), Stream(null_mut()));
        self.check("cuDeviceGet", (self.device_get)(&mut device, number as c_int))?;
        let answer = (self.device_name)(&mut name, Room::Bytes, device);
        self.check("cuDeviceGetName", answer)?;
        self.check("cuDevicePrimaryCtxRetain", (self.retain)(&mut context, device))?;
        self.check("cuCtxSetCurrent", (self.set_current)(context))?;
        self.check("cuStreamCreate", (self.stream_create)(&mut stream, 0))?;
        let name = CStr::from_bytes_until_nul(&name).unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        Ok(Gpu { context, stream, kernels: std::sync::Mutex::new(None), name })
    }

    /// Directs this thread's next calls to this device.
    fn enter(&self, gpu: &Gpu) -> Result<(), String> {
        self.check("cuCtxSetCurrent", (self.set_current)(gpu.context))
    }

    /// Allocates device memory, for the life of the process.
    pub fn allocate(&self, gpu: &Gpu, bytes: usize) -> Result<Address, String> {
        self.enter(gpu)?;
        let mut address = 0;
        let answer = (self.allocate)(&mut address, bytes);
        self.check("cuMemAlloc", answer).map_err(|why| match self.free(gpu) {
            Some(free) => format!("{why}; {} are free there", onenode_core::pages::Bytes(free)),
            None => why,
        })?;
        Ok(address)
    }

    fn free(&self, gpu: &Gpu) -> Option<usize> {
        self.enter(gpu).ok()?;
        let (mut free, mut all) = (0, 0);
        let answer = (self.memory_info)(&mut free, &mut all);
        (answer == 0).then_some(free)
    }

    /// The handle by which other processes map memory of [`allocate`](Self::allocate).
    pub fn export(&self, gpu: &Gpu, address: Address) -> Result<IpcHandle, String> {
        self.enter(gpu)?;
        let mut handle = IpcHandle::default();
        let answer = (self.ipc_handle)(&mut handle, address);
        self.check("cuIpcGetMemHandle", answer).map(|()| handle)
    }

    /// Maps another process's memory.
    pub fn import(&self, gpu: &Gpu, handle: IpcHandle) -> Result<Address, String> {
        self.enter(gpu)?;
        let mut address = 0;
        let answer = (self.ipc_open)(&mut address, handle, PEER_ACCESS);
        self.check("cuIpcOpenMemHandle", answer).map(|()| address)
    }

    /// Unmaps memory of [`import`](Self::import).
    pub fn close(&self, gpu: &Gpu, address: Address) -> Result<(), String> {
        self.enter(gpu)?;
        // SAFETY: `import` opened it, and nobody uses it any more.
        self.check("cuIpcCloseMemHandle", unsafe { (self.ipc_close)(address) })
    }

    /// Whether an address is device memory.
    pub fn is_device(&self, gpu: &Gpu, address: usize) -> bool {
        let mut kind: c_uint = 0;
        self.enter(gpu).is_ok()
            && (self.attribute)(&mut kind, Attribute::MemoryType, address as Address) == 0
            && kind == MEMORY_OF_DEVICE
    }

    /// Allocates processor memory that devices access directly, for the life of the process.
    pub fn allocate_host(&self, gpu: &Gpu, bytes: usize) -> Result<*mut u8, String> {
        self.enter(gpu)?;
        let mut start = null_mut();
        let answer = (self.host_allocate)(&mut start, bytes, PORTABLE);
        self.check("cuMemHostAlloc", answer).map(|()| start.cast())
    }

    /// Waits for everything that was begun.
    pub fn wait(&self, gpu: &Gpu) -> Result<(), String> {
        self.enter(gpu)?;
        self.check("cuStreamSynchronize", (self.synchronize)(gpu.stream))
    }

    /// Begins a copy between memory of any kind. The driver copies `transfer` before the call returns.
    pub fn copy(&self, gpu: &Gpu, transfer: Transfer) -> Result<(), String> {
        self.enter(gpu)?;
        let Transfer { to, from, blocks } = transfer;
        let StridedBlocks { count, bytes, to_stride, from_stride } = blocks;
        // SAFETY: the driver reads and writes the transfer's blocks, all by one command or each by its own.
        unsafe {
            if count > 1 && to_stride.max(from_stride) <= MAX_PITCH {
                let all = Rectangle::of(to, from, blocks);
                let answer = (self.copy_2d)(&raw const all, gpu.stream);
                // Devices need not support every stride.
                if answer != INVALID_VALUE {
                    return self.check("cuMemcpy2DAsync", answer);
                }
            }
            for (there, here) in blocks.starts() {
                let (to, from) = (to.wrapping_add(there), from.wrapping_add(here));
                let answer = (self.copy)(to as Address, from as Address, bytes, gpu.stream);
                self.check("cuMemcpyAsync", answer)?;
            }
        }
        Ok(())
    }

    /// Begins to fill device memory.
    ///
    /// # Safety
    /// `to` is writable for `bytes` bytes until [`wait`](Self::wait) returns.
    pub unsafe fn set(&self, gpu: &Gpu, to: usize, byte: u8, bytes: usize) -> Result<(), String> {
        self.enter(gpu)?;
        // SAFETY: the driver writes `bytes` bytes. The caller guarantees that they are writable
        // until `wait` returns.
        let answer = unsafe { (self.set)(to as Address, byte, bytes, gpu.stream) };
        self.check("cuMemsetD8Async", answer)
    }

    /// Begins to write a value that travels with the command itself. False if the driver has no
    /// such command for this value.
    ///
    /// # Safety
    /// `to` is writable for the value until [`wait`](Self::wait) returns.
    pub unsafe fn store(&self, gpu: &Gpu, to: usize, value: &[u8]) -> Result<bool, String> {
        self.enter(gpu)?;
        let at = to as Address;
        // SAFETY: the driver writes as many bytes as the value has. The caller guarantees that they
        // are writable until `wait` returns. A device refuses a word that is not aligned.
        let answer = unsafe {
            match *value {
                [byte] => (self.set)(at, byte, 1, gpu.stream),
                [a, b] => (self.set_16)(at, u16::from_ne_bytes([a, b]), 1, gpu.stream),
                [a, b, c, d] => {
                    (self.set_32)(at, c_uint::from_ne_bytes([a, b, c, d]), 1, gpu.stream)
                }
                [a, b, c, d, e, f, g, h] if [a, b, c, d] == [e, f, g, h] => {
                    (self.set_32)(at, c_uint::from_ne_bytes([a, b, c, d]), 2, gpu.stream)
                }
                _ => return Ok(false),
            }
        };
        if answer == INVALID_VALUE {
            return Ok(false);
        }
        self.check("cuMemsetAsync", answer).map(|()| true)
    }

    /// Runs one thread of the kernel `name` of `text`, with the word's address and two operands.
    /// Waits for it, and returns the value that it writes if `is_asked`.
    ///
    /// # Safety
    /// The kernel is one of [`super::kernels`], and the word is in memory of the device or of a
    /// peer.
    pub unsafe fn run(
        &self,
        gpu: &Gpu,
        text: impl FnOnce() -> std::ffi::CString,
        name: &CStr,
        word: usize,
        operands: [u64; 2],
        is_asked: bool,
    ) -> Result<u64, String> {
        self.enter(gpu)?;
        // Locked until the result is copied: all kernels write to one word.
        let mut kernels = mutex::lock(&gpu.kernels);
        let (module, result) = match *kernels {
            Some(loaded) => loaded,
            None => {
                let (mut module, text) = (Module(null_mut()), text());
                let answer = (self.load_module)(&mut module, text.as_c_str().into());
                self.check("cuModuleLoadData", answer)?;
                *kernels.insert((module, self.allocate(gpu, 256)?))
            }
        };
        let mut function = null_mut();
        let answer = (self.find_function)(&mut function, module, name.into());
        self.check("cuModuleGetFunction", answer)?;
        let mut values = [word as u64, operands[0], operands[1], result];
        let mut params = values.each_mut().map(|value| std::ptr::from_mut(value).cast::<c_void>());
        // SAFETY: the kernel takes four words of 8 bytes, which the call copies.
        let answer = unsafe {
            let none = null_mut();
            (self.launch)(function, 1, 1, 1, 1, 1, 1, 0, gpu.stream, params.as_mut_ptr(), none)
        };
        self.check("cuLaunchKernel", answer)?;
        let mut before = 0u64;
        if is_asked {
            let word = StridedBlocks::one(8);
            // SAFETY: a local, which lives until the wait is over, and the word that the kernel has
            // written.
            let back = unsafe { Transfer::new((&raw mut before).addr(), result as usize, word) };
            self.copy(gpu, back)?;
        }
        self.wait(gpu)?;
        Ok(before)
    }
}

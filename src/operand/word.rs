//! Variables and words in this PE's own symmetric memory, and their counterparts: each is an
//! [`Object`] whose address has been checked.
#![allow(unsafe_code)]

use super::{check_loadable, check_local, is_here};
use crate::argument::memory::Object;
use crate::atomics::{AtomicU16, AtomicU32, AtomicU64, Ordering};
use crate::call;
use crate::context;
use crate::slow;
use crate::translate::{sealed, translate};
use oneshmem_job::error::Routine;
use oneshmem_job::remote::StridedBlocks;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// A type that can be waited on. Comparisons use its order, so signed types compare as signed.
pub trait Waitable: Copy + Ord + sealed::Sealed {
    /// The atomic of its size and alignment, by which it is accessed.
    #[doc(hidden)]
    type Atomic: 'static;
    /// The value, with acquire order.
    #[doc(hidden)]
    fn of(atomic: &Self::Atomic) -> Self;
}

macro_rules! waitable {
    ($($type:ty: $atomic:ty;)*) => {$(
        impl Waitable for $type {
            type Atomic = $atomic;
            #[inline(always)]
            fn of(atomic: &$atomic) -> Self {
                atomic.load(Ordering::Acquire) as $type
            }
        }
    )*};
}

// The others have atomic operations, too.
impl sealed::Sealed for i16 {}
impl sealed::Sealed for u16 {}

waitable! {
    i16: AtomicU16;
    u16: AtomicU16;
    i32: AtomicU32;
    u32: AtomicU32;
    i64: AtomicU64;
    u64: AtomicU64;
    isize: AtomicU64;
    usize: AtomicU64;
}

/// An aligned variable in this PE's symmetric memory that the processor reaches, or its counterpart in a
/// mirror.
#[derive(Clone, Copy)]
pub(crate) struct MappedVariable<'m, T> {
    at: *const T,
    object: PhantomData<Object<'m, T>>,
}

/// An aligned variable of this PE in a partition on a device.
#[derive(Clone, Copy)]
pub(crate) struct DeviceVariable<'m, T> {
    at: *const T,
    routine: Routine,
    object: PhantomData<Object<'m, T>>,
}

impl<'m, T: Waitable> MappedVariable<'m, T> {
    /// The variable of an object that has passed the checks.
    #[inline(always)]
    fn new(object: Object<'m, T>) -> Self {
        Self { at: object.element(0).at(), object: PhantomData }
    }

    /// The variable, if the object is known to be one; otherwise [`variable`] decides.
    #[inline(always)]
    pub(crate) fn surely(object: Object<'m, T>) -> Option<Self> {
        is_here::<T>(object.address()).then(|| Self::new(object))
    }

    /// Ends the job unless the object is a variable that is not on a device.
    #[inline(always)]
    pub(crate) fn loadable(
        routine: Routine,
        argument: &'static str,
        object: Object<'m, T>,
    ) -> Self {
        check_loadable::<T>(routine, argument, object.address());
        Self::new(object)
    }

    /// The address.
    pub(crate) fn address(self) -> usize {
        self.at.addr()
    }

    /// The current value, with acquire order.
    #[inline(always)]
    pub(crate) fn load(self) -> T {
        T::of(self.atomic())
    }

    /// The variable as an atomic.
    #[inline(always)]
    fn atomic(&self) -> &'m T::Atomic {
        // SAFETY: the function that made this value has checked that the object is symmetric, and
        // aligned to its size. So it is mapped, here and in mirrors, and all other accesses are atomic
        // operations of this width, as an `Object` of such words guarantees.
        unsafe { &*self.at.cast() }
    }
}

impl<T: Waitable> DeviceVariable<'_, T> {
    /// The address.
    pub(crate) fn address(self) -> usize {
        self.at.addr()
    }

    /// The current value.
    #[cold]
    #[inline(never)]
    pub(crate) fn load(self) -> T {
        let mut value = MaybeUninit::<T>::uninit();
        match call::job(self.routine).devices() {
            // SAFETY: the object was found to be in a partition on a device, so the driver reads
            // its bytes there. The copy fills in the whole local, and any bits are a valid integer.
            Some(devices) => unsafe {
                let word = StridedBlocks::one(size_of::<T>());
                devices.copy(value.as_mut_ptr().cast(), self.at.cast(), word);
                value.assume_init()
            },
            None => unreachable!("an address of a partition on a device"),
        }
    }
}

/// Checks that the argument is a variable in this PE's symmetric memory.
#[inline(always)]
pub(crate) fn variable<'m, T: Waitable>(
    routine: Routine,
    argument: &'static str,
    object: Object<'m, T>,
) -> Result<MappedVariable<'m, T>, DeviceVariable<'m, T>> {
    let variable = MappedVariable::new(object);
    match check_local::<T>(routine, argument, object.address()) {
        true => Ok(variable),
        false => Err(DeviceVariable { at: variable.at, routine, object: PhantomData }),
    }
}

/// An array of such variables.
#[derive(Clone, Copy)]
pub(crate) struct Variables<'m, T> {
    array: Object<'m, T>,
    /// The routine, if they are on a device.
    device: Option<Routine>,
}

impl<'m, T: Waitable> Variables<'m, T> {
    /// Checks that the elements of the argument `ivars` are variables. Checks nothing if there are
    /// none.
    #[inline]
    pub(crate) fn new(routine: Routine, ivars: Object<'m, T>) -> Self {
        let mut here = true;
        if !ivars.is_empty() {
            let last = ivars.element(ivars.len() - 1);
            here = check_local::<T>(routine, "ivars", ivars.address());
            check_local::<T>(routine, "the last of ivars", last.address());
        }
        Self { array: ivars, device: (!here).then_some(routine) }
    }

    /// The address of the first variable.
    #[inline(always)]
    pub(crate) fn start(&self) -> usize {
        self.array.address()
    }

    /// The address of variable `i`. Panics if there is none.
    #[inline(always)]
    pub(crate) fn address(&self, i: usize) -> usize {
        self.array.element(i).address()
    }

    /// The number of variables.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.array.len()
    }

    /// The current value of variable `i`, with acquire order. Panics if there is none.
    #[inline(always)]
    pub(crate) fn load(&self, i: usize) -> T {
        let element = self.array.element(i);
        match self.device {
            None => MappedVariable::new(element).load(),
            Some(routine) => {
                DeviceVariable { at: element.at(), routine, object: PhantomData }.load()
            }
        }
    }
}

/// An aligned symmetric word of 64 bits, in a call of a routine.
#[derive(Clone, Copy)]
pub(crate) struct Word<'m> {
    routine: Routine,
    own: MappedVariable<'m, u64>,
}

impl<'m> Word<'m> {
    /// Ends the job unless the argument is such a word and the processor reaches it.
    #[inline]
    pub(crate) fn new(routine: Routine, argument: &'static str, object: Object<'m, u64>) -> Self {
        Self { routine, own: MappedVariable::loadable(routine, argument, object) }
    }

    /// The routine whose argument it is.
    pub(crate) fn routine(&self) -> Routine {
        self.routine
    }

    /// Its address on this PE.
    #[inline(always)]
    pub(crate) fn address(&self) -> usize {
        self.own.address()
    }

    /// This PE's own word.
    #[inline(always)]
    pub(crate) fn own(&self) -> &AtomicU64 {
        self.own.atomic()
    }

    /// The word of the world's PE `pe`, which is on this node.
    #[inline(always)]
    pub(crate) fn of(&self, argument: &str, pe: usize) -> &AtomicU64 {
        let address = translate(
            context::Default,
            self.address(),
            pe,
            |address| address,
            |miss| slow::resolve(self.routine, argument, context::CTX_DEFAULT, miss, pe),
        );
        // The counterpart in `pe`'s mirror is aligned as here, because mirrors keep the offset within a page.
        MappedVariable::<u64> { at: address as *const u64, ..self.own }.atomic()
    }
}

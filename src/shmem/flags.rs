//! The options that some calls take: constants that can be combined with `|`.

use crate::context::{self, session};
use std::ffi::c_long;
use std::ops::BitOr;

macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident { $($(#[$text:meta])* $flag:ident = $value:expr;)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name(c_long);

        impl $name {
            /// None of them; also the default.
            pub const NONE: Self = Self(0);
            $($(#[$text])* pub const $flag: Self = Self($value);)*

            /// The bits that C programs give.
            pub const fn bits(self) -> c_long {
                self.0
            }
        }

        impl BitOr for $name {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }
    )*};
}

flags! {
    /// How a context will be used (specification, section 9.5.1).
    ContextOptions {
        /// Threads share it, but never at the same time.
        SERIALIZED = context::SERIALIZED;
        /// Only the thread that makes it uses it.
        PRIVATE = context::PRIVATE;
        /// Its quiet and fence need not cover plain stores.
        NOSTORE = context::NOSTORE;
    }

    /// What a session will be like (specification, section 9.5.8).
    SessionOptions {
        /// Operations may be sent in batches.
        BATCH = session::BATCH;
    }

    /// What symmetric memory will be used for (specification, section 9.3.2).
    Hints {
        /// The target of atomic operations: `SHMEM_MALLOC_ATOMICS_REMOTE`.
        ATOMICS_REMOTE = 1;
        /// Signal objects: `SHMEM_MALLOC_SIGNAL_REMOTE`.
        SIGNAL_REMOTE = 2;
    }
}

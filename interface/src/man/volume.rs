//! The differences between the pages of the interfaces.

use super::PageWriter;
use crate::table::Section;
use crate::twin;

/// An interface, with a header of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Volume {
    /// OpenSHMEM's.
    OpenShmem,
    /// The extensions to it.
    Extensions,
    /// The on-node layer's.
    Onenode,
}

impl Volume {
    /// The interface that a section is of.
    pub fn of(section: &Section) -> Self {
        match section.name {
            "extensions" => Self::Extensions,
            "onenode" => Self::Onenode,
            _ => Self::OpenShmem,
        }
    }

    /// The title at the top of a page.
    pub fn title(self) -> &'static str {
        match self {
            Self::OpenShmem | Self::Extensions => "OpenSHMEM 1.6",
            Self::Onenode => "onenode",
        }
    }

    /// The header that declares the routines.
    pub fn header(self) -> &'static str {
        match self {
            Self::OpenShmem => "shmem.h",
            Self::Extensions => "shmemx.h",
            Self::Onenode => "onenode.h",
        }
    }

    /// How the list of failures begins.
    pub fn failures(self) -> &'static str {
        match self {
            Self::OpenShmem | Self::Extensions => {
                "The job ends with a message that names the routine, the argument and its value if"
            }
            Self::Onenode => {
                "`onenode_message` returns a sentence that names the function, and says what was wrong \
                 and what was expected. The reasons are:"
            }
        }
    }

    /// The last paragraph of the notes.
    pub fn remark(self, page: &PageWriter<'_>) -> Option<String> {
        match self {
            Self::OpenShmem => {
                let first = &page.family.prototypes[0];
                let name = &page.table.expand(page.section, page.family, first)[0].name;
                Some(format!(
                    "Each routine has a second name for profiling tools, such as `{}` for `{name}`.",
                    twin(name)
                ))
            }
            Self::Extensions => {
                Some("This is an extension of oneshmem; other libraries do not have it.".into())
            }
            Self::Onenode => None,
        }
    }
}

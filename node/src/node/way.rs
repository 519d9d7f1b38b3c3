//! How a node's memory is shared: which backend, and why.

use crate::backend::xpmem::Xpmem;
use crate::config::Choice;
use crate::error::Error;

/// A backend that works here.
pub(super) enum Way {
    /// Memory files.
    Memfd,
    /// The XPMEM module.
    Xpmem(Xpmem),
}

impl Way {
    /// The backend that is asked for, and why it is this one.
    pub fn choose(choice: Choice) -> Result<(Self, String), Error> {
        if choice == Choice::Memfd {
            return Ok((Self::Memfd, "asked for".into()));
        }
        match (Xpmem::open(), choice) {
            (Ok(xpmem), Choice::Auto) => Ok((Self::Xpmem(xpmem), "/dev/xpmem is usable".into())),
            (Ok(xpmem), _) => Ok((Self::Xpmem(xpmem), "asked for".into())),
            (Err(error), Choice::Auto) => Ok((Self::Memfd, format!("no xpmem: {error}"))),
            (Err(error), _) => Err(Error::NoWay(format!("backend xpmem cannot work: {error}"))),
        }
    }

    /// Its name, as people spell it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Memfd => "memfd",
            Self::Xpmem(_) => "xpmem",
        }
    }

    /// Its name as one word of a home.
    pub fn word(&self) -> u64 {
        let mut bytes = [0; 8];
        bytes.iter_mut().zip(self.name().bytes()).for_each(|(to, from)| *to = from);
        u64::from_le_bytes(bytes)
    }
}

/// The name that such a word is, for people.
pub(super) fn spelt(word: u64) -> String {
    let bytes = word.to_le_bytes();
    let bytes: Vec<u8> = bytes.into_iter().take_while(u8::is_ascii_graphic).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

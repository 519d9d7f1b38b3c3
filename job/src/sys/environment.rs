//! The environment: the only place where the library reads and changes it.
#![allow(unsafe_code, clippy::disallowed_methods)]

use onenode_core::sys::fd;
use onenode_core::sys::process::is_privileged;
use std::ffi::{CStr, OsStr, OsString, c_char};
use std::fs::File;
use std::os::fd::OwnedFd;

/// The value of an environment variable. In a privileged process, no variable is visible, because
/// its unprivileged caller chose them.
pub fn variable(name: &str) -> Option<OsString> {
    if is_privileged() { None } else { std::env::var_os(name) }
}

/// A copy of the socket whose descriptor a launcher has passed and named in this variable.
pub fn socket(name: &str) -> Option<File> {
    fd::socket(variable(name)?.to_str()?.parse().ok()?)
}

/// Numbers between colons, by which `oshrun` says what it passes to this process, descriptors among
/// them.
pub struct PassedNumbers {
    text: String,
    numbers: Vec<i64>,
}

impl PassedNumbers {
    /// Takes the variable out of the environment of this process and its children.
    pub fn take(name: &str) -> Option<Self> {
        let text = variable(name)?.into_string().ok()?;
        set_variable(name, None);
        let numbers = text.split(':').map_while(|field| field.parse().ok()).collect();
        Some(Self { text, numbers })
    }

    /// The text of the variable.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The numbers up to the first that is none.
    pub fn numbers(&self) -> &[i64] {
        &self.numbers
    }

    /// Takes over the memory file whose descriptor number `index` is, once.
    ///
    /// # Errors
    /// If the program has closed it, or taken its number for another file.
    pub fn memory_file(&mut self, index: usize) -> Result<OwnedFd, onenode_core::Error> {
        let number = self.numbers.get_mut(index).map_or(-1, |number| std::mem::replace(number, -1));
        // SAFETY: `oshrun` has passed it to this process for this library. Neither the variable nor this
        // value has the number any more.
        unsafe { fd::inherit(i32::try_from(number).unwrap_or(-1)) }
    }
}

/// The names of all variables that [`variable`] returns a value for.
pub fn variable_names() -> Vec<String> {
    if is_privileged() {
        return Vec::new();
    }
    std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect()
}

/// The names that begin with one of `starts`: faster if there are none.
pub fn names_that_begin(starts: &[&str]) -> Vec<String> {
    unsafe extern "C" {
        static environ: *const *const c_char;
    }
    let mut names = Vec::new();
    // SAFETY: a null pointer, or an array of strings that ends with a null pointer. Called from
    // initialisation, as `set_variable`.
    unsafe {
        let mut at = environ;
        while !is_privileged() && !at.is_null() && !(*at).is_null() {
            let variable = CStr::from_ptr(*at).to_bytes();
            if starts.iter().any(|start| variable.starts_with(start.as_bytes())) {
                let name = variable.split(|byte| *byte == b'=').next().unwrap_or_default();
                names.extend(String::from_utf8(name.to_vec()));
            }
            at = at.add(1);
        }
    }
    names
}

/// Whether [`variable`] hides a variable that is set.
pub fn is_hidden(name: &str) -> bool {
    is_privileged() && std::env::var_os(name).is_some()
}

/// Sets a variable of this process and its children, or removes it.
pub fn set_variable<T: AsRef<OsStr> + ?Sized>(name: &T, value: Option<&T>) {
    // SAFETY: called from initialisation, as the specification has it at the program's start, when no other thread
    // reads the environment yet, or in the agent of a node before it has threads.
    unsafe {
        match value {
            Some(value) => std::env::set_var(name, value),
            None => std::env::remove_var(name),
        }
    }
}

/// Sets variables while `during` runs, except those already set. Children that start later do not
/// see them.
pub fn with_variables<R>(variables: &[(&str, &str)], during: impl FnOnce() -> R) -> R {
    let unset = |(name, _): &&(&str, &str)| std::env::var_os(name).is_none();
    let ours: Vec<_> = variables.iter().filter(unset).collect();
    for (name, value) in &ours {
        set_variable(name, Some(value));
    }
    let result = during();
    ours.iter().for_each(|(name, _)| set_variable(name, None));
    result
}

//! The tuning file: where it is, and which machine it is for. [`rules`] has its format.

use crate::message;
use crate::pe::{self, launcher::Launcher};
use onenode_core::collectives::rules::{self, Rule, RuleTable, Rules};
use onenode_core::copy;
use onenode_core::sys::file;
use onenode_core::sys::process;
use oneshmem_job::env;
use oneshmem_job::sys::environment;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The most bytes of a file; those written by oshtune have a few KiB.
const LARGEST_FILE: u64 = 1 << 20;

/// The machine, as tuning files name it: number of CPUs and their model.
fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
        .map_or("unknown", |(_, model)| model.trim());
    format!("{} {model}", process::online_cpus())
}

/// The path of the tuning file: `SHMEM_TUNING`, otherwise in the user's configuration folder.
/// `None` if the variable is empty.
pub fn path() -> Option<PathBuf> {
    if let Some((_, path)) = env::TUNING.raw() {
        return (!path.is_empty()).then(|| path.into());
    }
    let folder = |name: &str| environment::variable(name).filter(|value| !value.is_empty());
    let config = match folder("XDG_CONFIG_HOME") {
        Some(config) => PathBuf::from(config),
        None => PathBuf::from(folder("HOME")?).join(".config"),
    };
    Some(config.join("oneshmem/tuning"))
}

/// The user's table if there is one, otherwise the compiled-in table for the PEs of a node.
pub(super) fn load() -> RuleTable {
    let pes = match pe::existing() {
        // On Kitten each PE has a CPU, and the number of CPUs is unknown.
        Some(job) if *job.launcher() != Launcher::Kitten => job.near().len(),
        _ => 1,
    };
    table(|rules| &rules.on_a_node).unwrap_or_else(|| RuleTable::built_in(pes))
}

/// As [`load`], for members on several nodes.
pub(super) fn load_over_nodes() -> RuleTable {
    table(|rules| &rules.over_nodes).unwrap_or_else(RuleTable::over_nodes)
}

/// Makes copies follow the user's file, if it has limits for them.
pub fn apply_to_copies() {
    if let Some(copies) = users().and_then(|(rules, _)| rules.copies) {
        copy::set_methods(copies);
    }
}

/// The user's table of these rules, if there is one.
fn table(part: impl FnOnce(&Rules) -> &Vec<Rule>) -> Option<RuleTable> {
    let (rules, path) = users()?;
    let rules = part(rules);
    (!rules.is_empty()).then(|| RuleTable::new(rules, Some(path.clone())))
}

/// The user's file and what it says, if it is valid. Reads it once; PE 0 reports an invalid one.
fn users() -> Option<&'static (Rules, PathBuf)> {
    static USERS: OnceLock<Option<(Rules, PathBuf)>> = OnceLock::new();
    USERS
        .get_or_init(|| {
            let path = path()?;
            let rules = match file::read_text(&path, LARGEST_FILE) {
                Ok(text) => rules::parse(&text, Some(&machine())),
                Err(error)
                    if error.kind() == std::io::ErrorKind::NotFound
                        && env::TUNING.raw().is_none() =>
                {
                    return None;
                }
                Err(error) => Err(error.to_string()),
            };
            match rules {
                Ok(rules) => Some((rules, path)),
                Err(why) => {
                    if pe::existing().is_none_or(|job| job.pe() == 0) {
                        // Lines may be long if the file is not a tuning file.
                        let why: String = why.chars().take(300).collect();
                        message::say(format_args!("tuning file {} ignored: {why}", path.display()));
                    }
                    None
                }
            }
        })
        .as_ref()
}

/// The rules of a tuning file for this machine.
///
/// # Errors
/// Why there are none, in words.
pub fn read(path: &Path) -> Result<Rules, String> {
    let text = file::read_text(path, LARGEST_FILE).map_err(|error| error.to_string())?;
    rules::parse(&text, Some(&machine()))
}

/// The text of a tuning file for this machine.
pub fn write(rules: &Rules) -> String {
    rules::write(rules, &machine())
}

//! The syntax of the variables: traits separated by colons, each a key and a value,
//! case-insensitive. The first may be the size without its key. A path comes last and takes the
//! rest of the text.

use super::{Device, Kind, LIMIT, Policy, Spec, pages_of};
use crate::env::parse_size;
use onenode_core::pages::{Bytes, Pages};
use onenode_core::sys::{lists, numa};

const KEYS: [&str; 7] = ["SIZE", "KIND", "PGSIZE", "POLICY", "DEVICE", "NODES", "PATH"];

/// The traits as they are written: key and value.
fn traits(text: &str) -> Result<Vec<(&'static str, &str)>, String> {
    let mut traits: Vec<(&str, &str)> = Vec::new();
    let mut rest = Some(text.trim());
    while let Some(text) = rest {
        let (piece, behind) = match text.split_once(':') {
            Some((piece, behind)) => (piece, Some(behind)),
            None => (text, None),
        };
        rest = behind;
        let (key, value) = match piece.split_once('=') {
            Some((key, value)) => {
                let known = KEYS.iter().find(|known| known.eq_ignore_ascii_case(key.trim()));
                let key = *known.ok_or_else(|| {
                    format!("\"{}\" is not known; expected {}", key.trim(), any_of(&KEYS))
                })?;
                (key, value.trim())
            }
            None if traits.is_empty() => ("SIZE", piece.trim()),
            None => {
                let example = "NAME=value, for example KIND=NORMALMEM";
                return Err(format!("\"{}\" is no trait; expected {example}", piece.trim()));
            }
        };
        if traits.iter().any(|(given, _)| *given == key) {
            return Err(format!("{key} is given twice"));
        }
        if key == "PATH" {
            let (_, path) = text.split_once('=').unwrap_or_default();
            traits.push((key, path));
            break;
        }
        traits.push((key, value));
    }
    Ok(traits)
}

/// Parses the value of partition `id`'s variable. An error explains what is wrong.
pub fn spec(id: usize, text: &str) -> Result<Spec, String> {
    let traits = traits(text)?;
    let value = |key: &str| traits.iter().find(|(given, _)| *given == key).map(|(_, value)| *value);
    let kind = match value("KIND") {
        Some(word) => kind(word)?,
        None => Kind::Normal,
    };
    let only = |key: &str, kinds: &[Kind]| match value(key) {
        Some(_) if !kinds.contains(&kind) => {
            let names: Vec<_> = kinds.iter().map(|kind| kind.name()).collect();
            Err(format!("{key} is for KIND={} only, not for {}", any_of(&names), kind.name()))
        }
        value => Ok(value),
    };
    let memory = [Kind::Normal, Kind::Fast, Kind::Hbm, Kind::OpenMp];
    let usual = if kind == Kind::Hbm { Policy::Mandatory } else { Policy::Preferred };
    let path = only("PATH", &[Kind::File])?;
    if kind == Kind::File && path.is_none_or(str::is_empty) {
        return Err("PATH is missing: which file? expected PATH=..., with %p for the PE".into());
    }
    Ok(Spec {
        id,
        bytes: bytes(value("SIZE").ok_or("SIZE is missing; expected it first, as in 512M")?)?,
        kind,
        pages: only("PGSIZE", &memory)?.map_or(Ok(Pages::Normal), pages)?,
        policy: only("POLICY", &memory)?.map_or(Ok(usual), policy)?,
        nodes: only("NODES", &[Kind::Normal])?.map_or(Ok(Vec::new()), nodes)?,
        device: only("DEVICE", &[Kind::OpenMp, Kind::Cuda])?.map(device).transpose()?,
        path: path.map(String::from),
    })
}

fn bytes(text: &str) -> Result<usize, String> {
    match parse_size(text) {
        Some(0) => Err("SIZE is 0".into()),
        Some(bytes) if bytes <= LIMIT as u64 => Ok(bytes as usize),
        Some(_) => Err(format!("SIZE is \"{text}\"; expected at most {}", Bytes(LIMIT))),
        None => Err(format!("SIZE is \"{text}\"; expected a size, for example 512M or 1.5G")),
    }
}

fn kind(word: &str) -> Result<Kind, String> {
    let short = match word {
        "N" | "n" => Some(Kind::Normal),
        "F" | "f" => Some(Kind::Fast),
        _ => None,
    };
    let named = Kind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(word));
    short.or(named).ok_or_else(|| {
        format!("KIND is \"{word}\"; expected {}", any_of(&Kind::ALL.map(Kind::name)))
    })
}

fn policy(word: &str) -> Result<Policy, String> {
    let is = |policy: &Policy| {
        let name = policy.name();
        name.eq_ignore_ascii_case(word) || name[..1].eq_ignore_ascii_case(word)
    };
    Policy::ALL.into_iter().find(is).ok_or_else(|| {
        format!("POLICY is \"{word}\"; expected {}", any_of(&Policy::ALL.map(Policy::name)))
    })
}

fn pages(text: &str) -> Result<Pages, String> {
    if text.eq_ignore_ascii_case("THP") {
        return Ok(Pages::Transparent);
    }
    match parse_size(text).map(|size| size as usize) {
        Some(size) if size.is_power_of_two() && (4096..=1 << 30).contains(&size) => {
            Ok(pages_of(size))
        }
        _ => Err(format!("PGSIZE is \"{text}\"; expected 4K, 2M, 1G or THP")),
    }
}

fn nodes(text: &str) -> Result<Vec<usize>, String> {
    lists::numbers(text, numa::MOST_NODES).map_err(|_| {
        format!("NODES is \"{text}\"; expected numbers of NUMA nodes, for example 0,2-3")
    })
}

fn device(word: &str) -> Result<Device, String> {
    match word.to_ascii_lowercase().as_str() {
        "default" => Ok(Device::Default),
        "spread" => Ok(Device::Spread),
        number => number.parse().map(Device::Number).map_err(|_| {
            format!("DEVICE is \"{word}\"; expected a device's number, default or spread")
        }),
    }
}

/// A, B or C.
fn any_of(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).into(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

//! Flips bits of the control area while the job runs, as a PE with wrong pointers might.

use super::processes;
use super::random::Random;
use nix::unistd::{Whence, lseek};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// The offset of the first program's slots, after its control area. The file's head is far below.
const SLOTS: u64 = (1 << 30) + (1 << 39);

/// Flips bits of words in use for a while. Describes the changes.
pub fn flip(random: &mut Random, mark: &str) -> Option<String> {
    std::thread::sleep(Duration::from_micros(2_000 + random.below(60_000) as u64));
    let file = job_file(mark)?;
    let mut said = String::new();
    for _ in 0..1 + random.below(6) {
        let (at, value) = random_word(random, &file)?;
        let flipped = value ^ (1 << random.below(64));
        file.write_all_at(&flipped.to_le_bytes(), at).ok()?;
        said += &format!(" {at:#x}: {value:#x} -> {flipped:#x};");
        std::thread::sleep(Duration::from_micros(random.below(5_000) as u64));
    }
    Some(said)
}

/// The job's memory file, held open by its launcher.
fn job_file(mark: &str) -> Option<File> {
    processes::marked(mark).into_iter().find_map(|member| {
        let folder = format!("/proc/{}/fd", member.pid.as_raw());
        fs::read_dir(folder).ok()?.flatten().find_map(|entry| {
            let target = fs::read_link(entry.path()).ok()?;
            let is_ours = target.to_string_lossy().starts_with("/memfd:oneshmem ");
            is_ours.then(|| File::options().read(true).write(true).open(entry.path()).ok())?
        })
    })
}

/// A word of the head or the control area, usually one that is not 0.
fn random_word(random: &mut Random, file: &File) -> Option<(u64, u64)> {
    let mut pages = Vec::new();
    let mut from = 0;
    while let Ok(start) = lseek(file, from as i64, Whence::SeekData) {
        let start = start as u64;
        if start >= SLOTS {
            break;
        }
        let end = (lseek(file, start as i64, Whence::SeekHole).ok()? as u64).min(SLOTS);
        pages.extend((start..end).step_by(4096));
        from = end;
    }
    for _ in 0..2000 {
        let at = *pages.get(random.below(pages.len().max(1)))? + 8 * random.below(512) as u64;
        let mut bytes = [0; 8];
        file.read_exact_at(&mut bytes, at).ok()?;
        let value = u64::from_le_bytes(bytes);
        if value != 0 || random.below(300) == 0 {
            return Some((at, value));
        }
    }
    None
}

//! `--output-filename`: the output of each PE in files.

use super::failure::Failure;
use super::stream::Stream;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Two files for each PE.
pub struct Files {
    folder: PathBuf,
    /// The standard output and error of each PE.
    files: Vec<[File; 2]>,
    /// The first write error. Nothing is written after it.
    failure: Option<String>,
}

fn name(pe: usize, stream: usize) -> String {
    format!("pe.{pe}.{}", ["out", "err"][stream])
}

impl Files {
    /// Creates empty files if there is a folder for them.
    pub fn of(folder: Option<&Path>, npes: usize) -> Result<Option<Self>, Failure> {
        let Some(folder) = folder else { return Ok(None) };
        let fail = |path: &Path, error| {
            Failure::own(format!("--output-filename {}: {error}", path.display()))
        };
        fs::create_dir_all(folder).map_err(|error| fail(folder, error))?;
        let create = |pe, stream| {
            let path = folder.join(name(pe, stream));
            File::create(&path).map_err(|error| fail(&path, error))
        };
        let files = (0..npes).map(|pe| Ok([create(pe, 0)?, create(pe, 1)?]));
        let files = files.collect::<Result<_, Failure>>()?;
        Ok(Some(Self { folder: folder.into(), files, failure: None }))
    }

    /// Appends output of a PE.
    pub fn write(&mut self, pe: usize, stream: Stream, text: &[u8]) {
        if self.failure.is_some() {
            return;
        }
        let stream = match stream {
            Stream::Out => 0,
            Stream::Err => 1,
        };
        if let Err(error) = self.files[pe][stream].write_all(text) {
            let path = self.folder.join(name(pe, stream));
            self.failure = Some(format!("cannot write to {}: {error}", path.display()));
        }
    }

    /// Why output could not be written, if so.
    pub fn failure(&self) -> Option<String> {
        self.failure.clone()
    }
}

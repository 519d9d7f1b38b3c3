//! The output file of `--comm-matrix`.

use super::super::failure::{Failure, OWN_FAILURE};
use super::Matrix;
use super::svg::Picture;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The maximum number of cells in a row of the picture. With more PEs, each cell stands for several.
const MOST_CELLS: usize = 256;

/// The file.
pub struct MatrixFile {
    path: PathBuf,
    file: File,
}

impl MatrixFile {
    /// Creates the file. Done before the job runs, so that a wrong path fails early.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let file = File::create(path)
            .map_err(|error| Failure::own(format!("--comm-matrix {}: {error}", path.display())))?;
        Ok(Self { path: path.into(), file })
    }

    fn is_table(&self) -> bool {
        self.path.extension().is_some_and(|extension| extension == "csv")
    }

    /// The most cells of a row.
    pub fn most_cells(&self) -> usize {
        if self.is_table() { oneshmem_job::jobfile::MAX_PES } else { MOST_CELLS }
    }

    /// Writes the matrix of a job that has ended with this status, and reports what is missing in
    /// it. `hosts` names the nodes. Returns the status to exit with.
    pub fn finish(
        mut self,
        matrix: Result<Matrix, oneshmem_job::error::Error>,
        hosts: &[&str],
        program: &str,
        status: i32,
    ) -> i32 {
        match matrix.map_err(|error| error.to_string()).and_then(|matrix| {
            self.write(&matrix, program)?;
            Ok(matrix)
        }) {
            Ok(matrix) => {
                for (node, pes) in matrix.missing() {
                    let (first, last, host) = (pes.start, pes.end - 1, hosts[node]);
                    self.say(&match pes.len() {
                        1 => format!("the row of PE {first} is missing: host {host} has not sent it"),
                        _ => format!(
                            "the rows of PEs {first} to {last} are missing: host {host} has not sent \
                             them"
                        ),
                    });
                }
                status
            }
            Err(why) => {
                self.say(&why);
                if status == 0 { OWN_FAILURE.into() } else { status }
            }
        }
    }

    fn write(&mut self, matrix: &Matrix, program: &str) -> Result<(), String> {
        if !matrix.is_counted() {
            return Err(match matrix.missing().is_empty() {
                true => "no PE has called shmem_init, so there is nothing to draw".into(),
                false => "no host has sent counts of its PEs, so there is nothing to draw".into(),
            });
        }
        let text = match self.is_table() {
            true => matrix.csv(),
            false => Picture { matrix, program }.svg(),
        };
        self.file.write_all(text.as_bytes()).map_err(|error| error.to_string())
    }

    fn say(&self, what: &str) {
        eprintln!("oshrun: --comm-matrix {}: {what}", self.path.display());
    }
}

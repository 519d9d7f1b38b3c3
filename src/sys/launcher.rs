//! Asks a foreign launcher to end the job, by PMI-1 or PMIx.

use super::pmix::Pmix;
use oneshmem_job::sys::environment;
use oneshmem_job::sys::socket::send;

/// Sends `cmd=abort` of PMI-1, the "simple" protocol on the descriptor that `PMI_FD` names.
pub fn abort_by_pmi(status: i32) {
    let Some(socket) = environment::socket("PMI_FD") else { return };
    let _ = send(&socket, format!("cmd=abort exitcode={status}\n").as_bytes());
}

/// Calls `PMIx_Abort`, if PMIx's library is installed.
pub fn abort_by_pmix(status: i32) {
    if let Ok(pmix) = Pmix::open() {
        pmix.abort(status);
    }
}

//! Asks foreign launchers to end a job: the one message of their protocols that this library sends
//! in any job.

use super::pmix::Pmix;
use super::socket::send;
use crate::sys::environment;
use onenode::sys::fd;

/// Sends `cmd=abort` of PMI-1, the "simple" protocol on the descriptor that `PMI_FD` names. Runs
/// `before` first if it can be sent, because this process may not survive it.
pub fn abort_by_pmi(status: i32, before: impl FnOnce()) {
    let number = environment::variable("PMI_FD").and_then(|text| text.to_str()?.parse().ok());
    let Some(socket) = number.and_then(fd::socket) else { return };
    before();
    let _ = send(&socket, format!("cmd=abort exitcode={status}\n").as_bytes());
}

/// Calls `PMIx_Abort`, if PMIx's library is installed. Runs `before` as [`abort_by_pmi`] does.
pub fn abort_by_pmix(status: i32, before: impl FnOnce()) {
    if let Ok(pmix) = Pmix::open() {
        before();
        pmix.abort(status);
    }
}

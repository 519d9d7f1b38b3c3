//! The system's clock.

use nix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Seconds on the monotonic clock, which all processes of the machine share.
pub fn seconds() -> f64 {
    // The clock exists on every Linux, so the call cannot fail.
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC);
    now.map_or(0.0, |now| now.tv_sec() as f64 + now.tv_nsec() as f64 * 1e-9)
}

/// Nanoseconds on the same clock.
pub fn nanoseconds() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC);
    now.map_or(0, |now| now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
}

/// How long the calling thread has run on CPUs.
pub fn of_thread() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn time_does_not_go_back() {
        let times: Vec<f64> = (0..1000).map(|_| seconds()).collect();
        assert!(times[0] > 0.0 && times.is_sorted());
    }
}

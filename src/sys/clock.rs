//! The system's clock.

use nix::time::{ClockId, clock_gettime};

/// Seconds on the monotonic clock, which all processes of the machine share.
pub fn seconds() -> f64 {
    // The clock exists on every Linux, so the call cannot fail.
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC);
    now.map_or(0.0, |now| now.tv_sec() as f64 + now.tv_nsec() as f64 * 1e-9)
}

/// Nanoseconds on the same clock.
pub use onenode_core::sys::process::clock as nanoseconds;

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn time_does_not_go_back() {
        let times: Vec<f64> = (0..1000).map(|_| seconds()).collect();
        assert!(times[0] > 0.0 && times.is_sorted());
    }
}

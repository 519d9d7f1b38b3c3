//! The system's clock.
#![allow(unsafe_code)]

/// Seconds on the monotonic clock, which all processes of the machine share.
pub fn seconds() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes the local `now`. The clock exists on every Linux, so the call cannot fail.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
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

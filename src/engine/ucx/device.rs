//! The network device that UCX uses.

/// Chooses the network device: that of the default route, otherwise of the first route, otherwise
/// the loopback device. Only one, because UCX 1.13 loses connections when several devices lead to
/// the same node.
pub fn name() -> String {
    let routes = std::fs::read_to_string("/proc/net/route").unwrap_or_default();
    let mut routes = routes.lines().skip(1).filter_map(|line| {
        let mut fields = line.split_whitespace();
        Some((fields.next()?, fields.next()?))
    });
    let mut first = None;
    let default = routes.find(|(device, destination)| {
        first.get_or_insert((*device).to_owned());
        *destination == "00000000"
    });
    default.map(|(device, _)| device.to_owned()).or(first).unwrap_or_else(|| "lo".to_owned())
}

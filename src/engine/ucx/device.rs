//! Which network device UCX is to use.

/// The network device to use: several that lead to the same node make UCX 1.13 lose connections.
/// That of the default route, else of the first route, else this machine's own.
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

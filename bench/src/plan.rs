//! What is run: programs, numbers of PEs, sizes and times, in the short form and the long one.

/// How the suite is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Next to nothing of everything: for the suite's own test.
    Tiny,
    /// Under two minutes.
    Quick,
    /// Minutes.
    Full,
}

/// One program, run with one number of PEs.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Name of the program, without `.c`.
    pub program: &'static str,
    /// A raw program, run without any OpenSHMEM.
    pub raw: bool,
    /// Number of PEs.
    pub pes: usize,
    /// Arguments, `key=value`.
    pub arguments: Vec<String>,
    /// Symmetric heap it needs, in MiB.
    pub heap: u64,
    /// Whether the wall time of the whole job is taken, too.
    pub whole_job: bool,
}

impl Extent {
    /// How often every experiment is run.
    pub fn repeats(self) -> usize {
        match self {
            Self::Tiny => 1,
            Self::Quick => 3,
            Self::Full => 7,
        }
    }

    /// How long one run may take before it is stopped, in seconds.
    pub fn patience(self) -> u64 {
        match self {
            Self::Tiny | Self::Quick => 60,
            Self::Full => 300,
        }
    }

    /// Milliseconds for one point in one run.
    pub fn ms(self) -> f64 {
        match self {
            Self::Tiny => 0.2,
            Self::Quick => 8.0,
            Self::Full => 40.0,
        }
    }

    /// Largest size and factor between sizes.
    fn sizes(self, most: u64, full_step: u64) -> (u64, u64) {
        match self {
            Self::Tiny => (most.min(4096), 64),
            Self::Quick => (most.min(16 << 20), full_step.max(4)),
            Self::Full => (most, full_step),
        }
    }
}

/// The experiments for a machine with so many usable CPUs.
pub fn experiments(extent: Extent, cpus: usize) -> Vec<Experiment> {
    let all = cpus.clamp(2, 64);
    let iterations = match extent {
        Extent::Tiny => 2,
        Extent::Quick => 64,
        // Together the repeats make the 4096 iterations of the original test.
        Extent::Full => 4096 / extent.repeats() + 1,
    };
    let make = |program, pes: usize, (max, step): (u64, u64), heap| Experiment {
        program,
        raw: false,
        pes,
        arguments: vec![
            format!("ms={}", extent.ms()),
            format!("max={max}"),
            format!("step={step}"),
        ],
        heap,
        whole_job: false,
    };
    let raw = |program, pes, sizes| Experiment { raw: true, ..make(program, pes, sizes, 0) };
    let iterated = |mut experiment: Experiment| {
        experiment.arguments.push(format!("iters={iterations}"));
        experiment
    };
    let messages = extent.sizes(4 << 20, 2);
    let rates = extent.sizes(64 << 10, 2);
    let copies = match extent {
        Extent::Quick => extent.sizes(64 << 20, 8),
        _ => extent.sizes(64 << 20, 2),
    };
    let touched = extent.sizes(16 << 20, 4);

    let mut list = vec![
        make("pingpong", 2, messages, 64),
        iterated(make("msgrate", all, rates, 128)),
        make("bandwidth", 2, copies, 256),
        make("rate", 2, messages, 64),
        make("atomics", all, messages, 64),
        make("locks", all, messages, 64),
        make(
            "collectives",
            all,
            extent.sizes(64 << 10, if extent == Extent::Quick { 16 } else { 4 }),
            128,
        ),
        make("waits", 2, messages, 64),
        make("memory", all, touched, 512),
        make("progress", 2, messages, 64),
        raw("copies", 2, copies),
        iterated(raw("rates", all, rates)),
        raw("atomics", all, messages),
        raw("touch", 1, touched),
        raw("flags", 2, messages),
    ];
    for pes in oversubscribed(extent, cpus) {
        list.push(make("oversubscription", pes, messages, 16));
        if pes != 2 {
            list.push(raw("flags", pes, (8, 2)));
        }
    }
    list.extend(
        job_sizes(extent)
            .map(|pes| Experiment { whole_job: true, ..make("startup", pes, (8, 2), 16) }),
    );
    list
}

/// 1, 2, 4 and 8 times as many PEs as CPUs; at least 2, at most 512.
fn oversubscribed(extent: Extent, cpus: usize) -> Vec<usize> {
    let factors: &[usize] = if extent == Extent::Tiny { &[1] } else { &[1, 2, 4, 8] };
    let mut pes: Vec<usize> = factors.iter().map(|factor| (cpus * factor).clamp(2, 512)).collect();
    pes.dedup();
    pes
}

/// The jobs whose start is timed.
pub fn job_sizes(extent: Extent) -> impl Iterator<Item = usize> {
    let sizes: &[usize] = match extent {
        Extent::Tiny => &[1, 2],
        Extent::Quick => &[1, 4, 16, 64],
        Extent::Full => &[1, 2, 4, 8, 16, 32, 64],
    };
    sizes.iter().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All programs of the suite.
    const PROGRAMS: [&str; 13] = [
        "facts",
        "pingpong",
        "msgrate",
        "bandwidth",
        "rate",
        "atomics",
        "locks",
        "collectives",
        "waits",
        "memory",
        "startup",
        "progress",
        "oversubscription",
    ];
    /// Their counterparts without OpenSHMEM, in `raw/`.
    const RAW_PROGRAMS: [&str; 5] = ["flags", "copies", "rates", "atomics", "touch"];

    #[test]
    fn all_programs_are_run() {
        for extent in [Extent::Tiny, Extent::Quick, Extent::Full] {
            let list = experiments(extent, 4);
            for program in PROGRAMS.iter().filter(|&&program| program != "facts") {
                assert!(list.iter().any(|e| !e.raw && e.program == *program), "{program}");
            }
            for program in RAW_PROGRAMS {
                assert!(list.iter().any(|e| e.raw && e.program == program), "{program}");
            }
        }
    }

    #[test]
    fn oversubscription_follows_the_machine() {
        assert_eq!(oversubscribed(Extent::Full, 1), [2, 4, 8]);
        assert_eq!(oversubscribed(Extent::Full, 2), [2, 4, 8, 16]);
        assert_eq!(oversubscribed(Extent::Full, 96), [96, 192, 384, 512]);
    }

    #[test]
    fn raw_programs_see_the_sizes_of_their_counterparts() {
        for extent in [Extent::Tiny, Extent::Quick, Extent::Full] {
            let list = experiments(extent, 8);
            let sizes = |program: &str, raw, pes| {
                let found = list
                    .iter()
                    .find(|e| e.program == program && e.raw == raw && e.pes == pes)
                    .unwrap();
                found.arguments[1..3].to_vec()
            };
            assert_eq!(sizes("pingpong", false, 2), sizes("flags", true, 2));
            assert_eq!(sizes("bandwidth", false, 2), sizes("copies", true, 2));
            assert_eq!(sizes("msgrate", false, 8), sizes("rates", true, 8));
            assert_eq!(sizes("memory", false, 8), sizes("touch", true, 1));
        }
    }
}

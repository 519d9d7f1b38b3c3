//! What to run: programs, numbers of PEs, sizes and times, in the short form and the long one.

/// How much to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// A minimum of everything, for the suite's own test.
    Tiny,
    /// About a minute.
    Quick,
    /// Minutes.
    Full,
}

/// One program with one number of PEs.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Name of the program, without `.c`.
    pub program: String,
    /// Whether it is a raw program, which runs without any OpenSHMEM.
    pub raw: bool,
    /// The number of PEs.
    pub pes: usize,
    /// Arguments, `key=value`.
    pub arguments: Vec<String>,
    /// The symmetric heap it needs, in MiB.
    pub heap: u64,
    /// Whether to measure the wall time of the whole job, too.
    pub whole_job: bool,
}

/// Experiments whose figures are compared, run in immediate succession, in order, each for all implementations in turn.
pub type Comparison = Vec<Experiment>;

impl Extent {
    /// How often every experiment is run.
    pub fn repeats(self) -> usize {
        match self {
            Self::Tiny => 1,
            Self::Quick => 3,
            Self::Full => 11,
        }
    }

    /// The time limit for one run, in seconds.
    pub fn patience(self) -> u64 {
        match self {
            Self::Tiny | Self::Quick => 60,
            Self::Full => 300,
        }
    }

    /// Milliseconds per point in one run.
    pub fn ms(self) -> f64 {
        match self {
            Self::Tiny => 0.2,
            Self::Quick => 6.0,
            Self::Full => 25.0,
        }
    }

    /// The largest size, and the factor between sizes.
    fn sizes(self, most: u64, full_step: u64) -> (u64, u64) {
        match self {
            Self::Tiny => (most.min(4096), 64),
            Self::Quick => (most.min(16 << 20), full_step.max(4)),
            Self::Full => (most, full_step),
        }
    }
}

/// The experiments for a machine with this many usable CPUs. Each program comes right after the raw
/// one that provides its limit (`limits.rs`).
pub fn groups(extent: Extent, cpus: usize) -> Vec<Comparison> {
    let all = cpus.clamp(2, 64);
    let iterations = match extent {
        Extent::Tiny => 2,
        Extent::Quick => 16,
        // The repeats add up to the 4096 iterations of the original test.
        Extent::Full => 4096 / extent.repeats() + 1,
    };
    let make = |program: &str, pes: usize, (max, step): (u64, u64), heap| Experiment {
        program: program.into(),
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
    let raw = |program: &str, pes, sizes| Experiment { raw: true, ..make(program, pes, sizes, 0) };
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
    let blocks = extent.sizes(64 << 10, if extent == Extent::Quick { 16 } else { 4 });
    let one_word = (8, 2);

    let (crowd, crowds) = oversubscribed(extent, cpus);
    let mut together = vec![
        make("locks", all, messages, 64),
        raw("meetings", all, one_word),
        make("collectives", all, blocks, 128),
        make("oversubscription", crowd, one_word, 16),
    ];
    if crowd != all {
        together.push(raw("meetings", crowd, one_word));
    }
    let mut list = vec![
        vec![
            raw("flags", 2, messages),
            make("pingpong", 2, messages, 64),
            make("pingpong_inlined", 2, one_word, 16),
        ],
        vec![raw("copies", 2, copies), make("bandwidth", 2, copies, 256)],
        vec![raw("strided", 2, messages), make("strided", 2, messages, 16)],
        vec![
            iterated(raw("rates", all, rates)),
            make("rate", 2, messages, 64),
            make("rate_inlined", 2, messages, 64),
            iterated(make("msgrate", all, rates, 128)),
        ],
        vec![
            raw("atomics", all, messages),
            make("atomics", all, messages, 64),
            make("atomics_inlined", all, messages, 64),
        ],
        together,
        vec![raw("touch", 1, touched), make("memory", all, touched, 512)],
    ];
    list.extend(crowds.into_iter().map(|pes| {
        vec![raw("meetings", pes, one_word), make("oversubscription", pes, one_word, 16)]
    }));
    list.extend(job_sizes(extent).map(|pes| {
        vec![
            make("startup", pes, one_word, 16),
            Experiment { whole_job: true, ..make("hello", pes, one_word, 16) },
        ]
    }));
    list
}

/// As many PEs as CPUs (at least 2), and 2, 4 and 8 times as many (at most 512).
fn oversubscribed(extent: Extent, cpus: usize) -> (usize, Vec<usize>) {
    let factors: &[usize] = if extent == Extent::Tiny { &[1] } else { &[1, 2, 4, 8] };
    let mut pes: Vec<usize> = factors.iter().map(|factor| (cpus * factor).clamp(2, 512)).collect();
    pes.dedup();
    (pes.remove(0), pes)
}

/// The sizes of the jobs whose start is timed.
pub fn job_sizes(extent: Extent) -> impl Iterator<Item = usize> {
    let sizes: &[usize] = match extent {
        Extent::Tiny => &[1, 2],
        Extent::Quick => &[1, 2, 16, 64],
        Extent::Full => &[1, 2, 4, 8, 16, 32, 64],
    };
    sizes.iter().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn experiments(extent: Extent, cpus: usize) -> Vec<Experiment> {
        groups(extent, cpus).into_iter().flatten().collect()
    }

    /// The programs in a folder under `programs/`, except those that are not part of the suite.
    fn sources(folder: &str, others: &[&str]) -> Vec<String> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/programs/").to_owned() + folder;
        std::fs::read_dir(folder)
            .unwrap()
            .filter_map(|entry| {
                Some(entry.unwrap().file_name().to_str()?.strip_suffix(".c")?.to_owned())
            })
            .filter(|name| !others.contains(&name.as_str()))
            .collect()
    }

    #[test]
    fn all_programs_are_run() {
        // These run separately: the facts that an implementation reports about itself, the
        // instructions per call, and jobs over nodes (`oshbench nodes`).
        let others = ["facts", "calls", "over_nodes"];
        for (raw, names) in [(false, sources("", &others)), (true, sources("raw", &[]))] {
            for extent in [Extent::Tiny, Extent::Quick, Extent::Full] {
                let list = experiments(extent, 4);
                for name in &names {
                    assert!(list.iter().any(|e| e.raw == raw && e.program == *name), "{name}");
                }
            }
        }
    }

    #[test]
    fn nothing_is_run_twice_in_a_turn() {
        for cpus in [1, 2, 4, 96] {
            let list = experiments(Extent::Full, cpus);
            let mut names: Vec<_> =
                list.iter().map(|e| (e.program.as_str(), e.raw, e.pes)).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), list.len());
        }
    }

    /// A program's limit must be measured in the same group: figures of different groups are from
    /// different times.
    #[test]
    fn each_program_has_its_limit_beside_it() {
        for cpus in [1, 2, 4] {
            let list = groups(Extent::Quick, cpus);
            let group = |raw: bool, program: &str| {
                let has =
                    |group: &Comparison| group.iter().any(|e| e.raw == raw && e.program == program);
                list.iter().position(has).unwrap()
            };
            for (program, limit) in [
                ("pingpong", "flags"),
                ("pingpong_inlined", "flags"),
                ("bandwidth", "copies"),
                ("strided", "strided"),
                ("rate", "rates"),
                ("rate_inlined", "rates"),
                ("msgrate", "rates"),
                ("atomics", "atomics"),
                ("atomics_inlined", "atomics"),
                ("locks", "meetings"),
                ("collectives", "meetings"),
                ("memory", "touch"),
            ] {
                assert_eq!(group(false, program), group(true, limit), "{program}");
            }
        }
    }

    #[test]
    fn oversubscription_follows_the_machine() {
        assert_eq!(oversubscribed(Extent::Full, 1), (2, vec![4, 8]));
        assert_eq!(oversubscribed(Extent::Full, 2), (2, vec![4, 8, 16]));
        assert_eq!(oversubscribed(Extent::Full, 96), (96, vec![192, 384, 512]));
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

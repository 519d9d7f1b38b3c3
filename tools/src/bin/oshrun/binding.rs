//! Which CPUs each PE runs on.

use nix::sched::CpuSet;
use oneshmem_tools::live::number;
use oneshmem_tools::place::{Bind, Map, Place};
use oneshmem_tools::topology::{Cpu, Topology, list, numbers};

/// The CPUs of one PE, sorted. Empty if the PE is not bound.
pub type Binding = Vec<usize>;

/// The binding that the user asks for, and the available CPUs.
pub struct Placement<'a> {
    /// The available CPUs.
    pub topology: &'a Topology,
    /// The part of the machine to which each PE is bound.
    pub bind: Bind,
    /// The order in which PEs are mapped.
    pub map: Map,
    /// How many cores or hardware threads of its own each PE has, if the user says that.
    pub cpus_per_pe: Option<usize>,
    /// Whether these are fewer CPUs than this command may use. PEs are then bound to them at least.
    pub is_restricted: bool,
}

/// The CPUs for which PEs are mapped: one or several cores or hardware threads.
type Block<'a> = Vec<&'a [Cpu]>;

impl Placement<'_> {
    /// The number of PEs if the user gives none.
    pub fn places(&self) -> Result<usize, String> {
        Ok(match (self.map.each, self.cpus_per_pe) {
            (Some(each), _) => each * self.groups(self.map.by).len(),
            (None, Some(_)) => self.sequence()?.len(),
            (None, None) => self.topology.cpus().len(),
        })
    }

    /// Assigns CPUs to `npes` PEs. If there are more PEs than places, assignment starts over with
    /// the first place, unless the user has set the number of PEs per place.
    pub fn plan(&self, npes: usize) -> Result<Vec<Binding>, String> {
        let places = self.places()?;
        if let (Some(each), true) = (self.map.each, npes > places) {
            let by = self.map.by.name();
            return Err(format!(
                "--map-by ppr:{each}:{by} has room for {} ({each} for each {by}, of which there are {}), \
                 but the job has {npes}",
                number(places),
                self.groups(self.map.by).len()
            ));
        }
        let places: Vec<Binding> = match self.bind {
            Bind::None if self.is_restricted => vec![numbers(self.topology.cpus())],
            Bind::None => vec![Vec::new()],
            Bind::To(place) => {
                let groups = self.groups(place);
                let blocks = self.sequence()?;
                blocks.into_iter().map(|block| cpus_of(&groups, &block)).collect()
            }
        };
        Ok(places.into_iter().cycle().take(npes).collect())
    }

    /// All places of a kind, each with its cores.
    fn groups(&self, place: Place) -> Vec<Block<'_>> {
        let of = |core: &[Cpu]| {
            let Cpu { node, package, cache, first, .. } = core[0];
            match place {
                Place::HwThread | Place::Core => (node, package, cache, first),
                Place::L3 => (node, package, cache, 0),
                Place::Numa => (node, 0, 0, 0),
                Place::Socket => (package, 0, 0, 0),
                Place::Node => (0, 0, 0, 0),
            }
        };
        let mut cores = self.topology.cores();
        if place == Place::HwThread {
            return threads(&cores).map(|thread| vec![thread]).collect();
        }
        // Keep the NUMA nodes of a package together. Numbering may interleave those of different
        // packages.
        cores.sort_by_key(|core| of(core));
        cores.chunk_by(|a, b| of(a) == of(b)).map(<[_]>::to_vec).collect()
    }

    /// Whether PEs get hardware threads, and not whole cores.
    fn is_by_threads(&self) -> bool {
        [self.bind, Bind::To(self.map.by)].contains(&Bind::To(Place::HwThread))
    }

    /// The blocks of these cores for PEs, in order. Single hardware threads are ordered so that PEs share a
    /// core only when every core has a PE; several for each PE are next to each other.
    fn blocks<'b>(&self, cores: &[&'b [Cpu]]) -> Vec<Block<'b>> {
        let in_order = self.cpus_per_pe.is_some() || self.map.by == Place::HwThread;
        let units = match self.is_by_threads() {
            true if in_order => threads(cores).collect(),
            true => hwthreads(cores),
            false => cores.to_vec(),
        };
        units.chunks_exact(self.cpus_per_pe.unwrap_or(1)).map(<[_]>::to_vec).collect()
    }

    /// The blocks in the order in which they are assigned to PEs. The error says that no PE can have that.
    fn sequence(&self) -> Result<Vec<Block<'_>>, String> {
        let whole = self.map.each.is_none()
            && matches!(self.map.by, Place::HwThread | Place::Core | Place::Node);
        let groups = match whole {
            true => vec![self.topology.cores()],
            false => self.groups(self.map.by),
        };
        let blocks: Vec<Vec<Block>> = groups.iter().map(|group| self.blocks(group)).collect();
        // With a number of PEs for each place, each has to have room.
        let too_small = |blocks: &Vec<Block>| blocks.is_empty();
        let has_no_room = match self.map.each {
            Some(_) => blocks.iter().any(too_small),
            None => blocks.iter().all(too_small),
        };
        if has_no_room {
            return Err(self.no_room(if whole { Place::Node } else { self.map.by }));
        }
        Ok(match self.map.each {
            Some(each) => {
                blocks.into_iter().flat_map(|it| it.into_iter().cycle().take(each)).collect()
            }
            None => in_turn(&blocks),
        })
    }

    fn no_room(&self, place: Place) -> String {
        let what = if self.is_by_threads() { "hardware threads" } else { "cores" };
        let units = |group: &Block| match self.is_by_threads() {
            true => group.iter().map(|core| core.len()).sum(),
            false => group.len(),
        };
        let sizes: Vec<usize> = self.groups(place).iter().map(units).collect();
        let most = match self.map.each {
            Some(_) => sizes.iter().min(),
            None => sizes.iter().max(),
        };
        format!(
            "each PE is to have {} {what} of one {}, but there are {} that oshrun may use",
            self.cpus_per_pe.unwrap_or(1),
            place.name(),
            most.unwrap_or(&0)
        )
    }
}

/// All CPUs of the groups that have some of a block.
fn cpus_of(groups: &[Block], block: &Block) -> Binding {
    let has_some =
        |group: &&Block| block.iter().any(|part| group.iter().any(|it| it.contains(&part[0])));
    let mut all: Vec<_> = groups.iter().filter(has_some).flatten().copied().collect();
    all.dedup();
    numbers(&all.concat())
}

/// The hardware threads of these cores, one by one.
fn threads<'a>(cores: &[&'a [Cpu]]) -> impl Iterator<Item = &'a [Cpu]> {
    cores.iter().flat_map(|core| core.chunks(1))
}

/// Hardware threads, ordered so that PEs share a core only when every core has a PE.
fn hwthreads<'a>(cores: &[&'a [Cpu]]) -> Vec<&'a [Cpu]> {
    let threads: Vec<Vec<&[Cpu]>> = cores.iter().map(|core| core.chunks(1).collect()).collect();
    in_turn(&threads)
}

/// The first of each group, then the second of each, and so on.
fn in_turn<T: Clone>(groups: &[Vec<T>]) -> Vec<T> {
    let longest = groups.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest)
        .flat_map(|i| groups.iter().filter_map(move |group| group.get(i).cloned()))
        .collect()
}

/// The binding of a node's agent, beside PEs with these: to the CPUs of no PE, if PEs are bound and leave any.
/// `is_restricted`: as of a [`Placement`].
pub fn of_agent(topology: &Topology, is_restricted: bool, pes: &[Binding]) -> Binding {
    let usable = numbers(topology.cpus());
    let is_taken = |cpu: &usize| pes.iter().any(|binding| binding.contains(cpu));
    let spare: Binding = usable.iter().copied().filter(|cpu| !is_taken(cpu)).collect();
    match spare.is_empty() {
        false if spare.len() < usable.len() => spare,
        _ if is_restricted => usable,
        _ => Vec::new(),
    }
}

/// A binding as the kernel takes it. None if it is empty.
pub fn cpu_set(binding: &[usize]) -> nix::Result<Option<CpuSet>> {
    let mut cpus = CpuSet::new();
    for cpu in binding {
        cpus.set(*cpu)?;
    }
    Ok((!binding.is_empty()).then_some(cpus))
}

/// Describes a binding in words.
pub fn describe(topology: &Topology, binding: &Binding) -> String {
    if binding.is_empty() {
        return "not bound".into();
    }
    let cpus: Vec<_> = topology.cpus().iter().filter(|cpu| binding.contains(&cpu.id)).collect();
    let plural = if binding.len() == 1 { "" } else { "s" };
    // The attributes that all its CPUs share.
    let common = |what: &str, number: fn(&Cpu) -> usize| match &cpus[..] {
        [first, rest @ ..] if rest.iter().all(|cpu| number(cpu) == number(first)) => {
            Some(format!("{what} {}", number(first)))
        }
        _ => None,
    };
    let package = common("package", |cpu| cpu.package);
    let core = common("core", |cpu| cpu.core).filter(|_| package.is_some());
    let places = [core, package, common("NUMA node", |cpu| cpu.node)];
    let places: Vec<String> = places.into_iter().flatten().collect();
    let places = if places.is_empty() { "".into() } else { format!(" ({})", places.join(", ")) };
    format!("bound to hardware thread{plural} {}{places}", list(binding))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two packages, each one NUMA node with two cores of two threads and a cache per core: CPU =
    /// thread * 4 + node * 2 + core.
    fn machine() -> Topology {
        Topology::from_cpus((0..8).map(|id| Cpu {
            node: id % 4 / 2,
            package: id % 4 / 2,
            cache: id % 4,
            core: id % 2,
            first: id % 4,
            slowness: 0,
            id,
        }))
    }

    fn placement(topology: &Topology, bind: Bind, by: Place, each: Option<usize>) -> Placement<'_> {
        let map = Map { by, each };
        Placement { topology, bind, map, cpus_per_pe: None, is_restricted: false }
    }

    fn plan(bind: Bind, by: Place, each: Option<usize>, npes: usize) -> Vec<Binding> {
        placement(&machine(), bind, by, each).plan(npes).unwrap()
    }

    /// With so many CPUs for each PE, as many PEs as there is room for.
    fn wide(
        bind: Bind,
        by: Place,
        each: Option<usize>,
        cpus: usize,
    ) -> Result<Vec<Binding>, String> {
        let topology = &machine();
        let placement =
            Placement { cpus_per_pe: Some(cpus), ..placement(topology, bind, by, each) };
        placement.plan(placement.places()?)
    }

    #[test]
    fn places_are_given_in_order_and_again() {
        let cores = |by| plan(Bind::To(Place::Core), by, None, 5);
        assert_eq!(cores(Place::Core), [[0, 4], [1, 5], [2, 6], [3, 7], [0, 4]]);
        assert_eq!(cores(Place::Numa), [[0, 4], [2, 6], [1, 5], [3, 7], [0, 4]]);
        assert_eq!(cores(Place::Socket), cores(Place::Numa));
        let threads = |by| plan(Bind::To(Place::HwThread), by, None, 9).concat();
        assert_eq!(threads(Place::Core), [0, 1, 2, 3, 4, 5, 6, 7, 0]);
        assert_eq!(threads(Place::Numa), [0, 2, 1, 3, 4, 6, 5, 7, 0]);
        assert_eq!(plan(Bind::None, Place::Core, None, 2), [vec![], vec![]]);
    }

    #[test]
    fn pes_are_bound_to_all_of_a_place() {
        for place in [Place::Socket, Place::Numa] {
            let bound = plan(Bind::To(place), Place::Core, None, 4);
            assert_eq!(bound, [[0, 1, 4, 5], [0, 1, 4, 5], [2, 3, 6, 7], [2, 3, 6, 7]]);
            let bound = plan(Bind::To(place), place, None, 3);
            assert_eq!(bound, [[0, 1, 4, 5], [2, 3, 6, 7], [0, 1, 4, 5]]);
        }
        assert_eq!(plan(Bind::To(Place::L3), Place::Core, None, 2), [[0, 4], [1, 5]]);
    }

    #[test]
    fn so_many_pes_for_each_place() {
        let ppr = |by, each, npes| plan(Bind::To(Place::Core), by, Some(each), npes);
        assert_eq!(ppr(Place::Socket, 1, 2), [[0, 4], [2, 6]]);
        assert_eq!(ppr(Place::Socket, 3, 5), [[0, 4], [1, 5], [0, 4], [2, 6], [3, 7]]);
        assert_eq!(ppr(Place::Node, 2, 2), [[0, 4], [1, 5]]);
        assert_eq!(plan(Bind::To(Place::HwThread), Place::Core, Some(2), 4).concat(), [0, 4, 1, 5]);
        let topology = &machine();
        let placement = placement(topology, Bind::None, Place::Numa, Some(2));
        assert_eq!(placement.places(), Ok(4));
        let error = placement.plan(5).unwrap_err();
        assert!(
            error.contains("ppr:2:numa has room for 4 PEs") && error.ends_with("has 5"),
            "{error}"
        );
    }

    #[test]
    fn several_cpus_for_each_pe() {
        let (core, thread) = (Bind::To(Place::Core), Bind::To(Place::HwThread));
        // Cores next to each other, what is left over stays free.
        let two = [[0, 1, 4, 5], [2, 3, 6, 7]];
        assert_eq!(wide(core, Place::Core, None, 2).unwrap(), two);
        assert_eq!(wide(core, Place::Core, None, 3).unwrap(), [[0, 1, 2, 4, 5, 6]]);
        assert_eq!(wide(core, Place::Node, None, 1).unwrap(), [[0, 4], [1, 5], [2, 6], [3, 7]]);
        // In turn over places, and never of two of them.
        assert_eq!(wide(core, Place::Numa, None, 1).unwrap(), [[0, 4], [2, 6], [1, 5], [3, 7]]);
        assert_eq!(wide(core, Place::Socket, None, 2).unwrap(), two);
        assert_eq!(wide(core, Place::Socket, Some(1), 2).unwrap(), two);
        // Hardware threads: those of a core first.
        assert_eq!(wide(thread, Place::Core, None, 2).unwrap(), [[0, 4], [1, 5], [2, 6], [3, 7]]);
        assert_eq!(wide(thread, Place::HwThread, None, 3).unwrap(), [[0, 1, 4], [2, 5, 6]]);
        // Not bound, but as many PEs as there is room for.
        assert_eq!(wide(Bind::None, Place::Core, None, 2).unwrap(), [vec![], vec![]]);
        for (by, each, cpus, words) in [
            (Place::Core, None, 5, "5 cores of one node, but there are 4 that"),
            (Place::Numa, None, 3, "3 cores of one numa, but there are 2 that"),
            (Place::Core, Some(1), 2, "2 cores of one core, but there are 1 that"),
        ] {
            let error = wide(core, by, each, cpus).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn all_threads_of_a_core_come_first_if_the_user_maps_by_thread() {
        let thread = Bind::To(Place::HwThread);
        let plan = |bind| plan(bind, Place::HwThread, None, 3);
        assert_eq!(plan(thread), [[0], [4], [1]]);
        assert_eq!(plan(Bind::To(Place::Core)), [[0, 4], [0, 4], [1, 5]]);
        let ppr = super::tests::plan(thread, Place::HwThread, Some(2), 3);
        assert_eq!(ppr, [[0], [0], [4]]);
    }

    #[test]
    fn an_agent_gets_the_cpus_that_no_pe_has() {
        let topology = machine();
        let agent = |bind, npes| of_agent(&topology, false, &plan(bind, Place::Core, None, npes));
        assert_eq!(agent(Bind::To(Place::Core), 3), [3, 7]);
        assert_eq!(agent(Bind::To(Place::HwThread), 2), [2, 3, 4, 5, 6, 7]);
        assert_eq!(agent(Bind::To(Place::Socket), 1), [2, 3, 6, 7]);
        for (bind, npes) in [(Bind::To(Place::Core), 4), (Bind::None, 1)] {
            assert!(agent(bind, npes).is_empty(), "the kernel chooses");
        }
        let set = topology.only(&[1, 5, 6]).unwrap();
        assert_eq!(of_agent(&set, true, &[vec![1, 5, 6]]), [1, 5, 6]);
        assert_eq!(of_agent(&set, true, &[vec![1, 5]]), [6]);
    }

    #[test]
    fn in_a_set_of_cpus_all_are_bound() {
        let topology = machine().only(&[1, 5, 6]).unwrap();
        let placement = |bind| {
            let placement = placement(&topology, bind, Place::Core, None);
            Placement { is_restricted: true, ..placement }.plan(2).unwrap()
        };
        assert_eq!(placement(Bind::None), [[1, 5, 6], [1, 5, 6]]);
        assert_eq!(placement(Bind::To(Place::Core)), [vec![1, 5], vec![6]]);
        assert_eq!(
            machine().only(&[1, 9]).unwrap_err(),
            "oshrun may not use CPU 9; it may use CPUs 0-7"
        );
    }

    #[test]
    fn a_binding_in_words() {
        let topology = machine();
        assert_eq!(describe(&topology, &vec![]), "not bound");
        assert_eq!(
            describe(&topology, &vec![3, 7]),
            "bound to hardware threads 3,7 (core 1, package 1, NUMA node 1)"
        );
        assert_eq!(
            describe(&topology, &vec![2, 3, 6, 7]),
            "bound to hardware threads 2-3,6-7 (package 1, NUMA node 1)"
        );
        assert_eq!(describe(&topology, &vec![0, 2]), "bound to hardware threads 0,2");
    }
}

//! Which CPUs each PE runs on.

use oneshmem_tools::place::{Bind, Map, Place};
use oneshmem_tools::topology::{Cpu, Topology, list, numbers};

/// The CPUs of one PE, sorted. Empty if the PE is not bound.
pub type Binding = Vec<usize>;

/// The binding that the user asks for, and the available CPUs.
pub struct Placement<'a> {
    /// The available CPUs.
    pub topology: &'a Topology,
    /// What each PE is bound to.
    pub bind: Bind,
    /// The order in which PEs are mapped.
    pub map: Map,
    /// Whether these are fewer CPUs than this command may use. PEs are then bound to them at least.
    pub is_restricted: bool,
}

impl Placement<'_> {
    /// The number of PEs if the user gives none.
    pub fn places(&self) -> usize {
        match self.map.each {
            Some(each) => each * self.groups(self.map.by).len(),
            None => self.topology.cpus().len(),
        }
    }

    /// Assigns CPUs to `npes` PEs. If there are more PEs than places, assignment starts over with
    /// the first place, unless the user has set the number of PEs per place.
    pub fn plan(&self, npes: usize) -> Result<Vec<Binding>, String> {
        if let (Some(each), true) = (self.map.each, npes > self.places()) {
            let by = self.map.by.name();
            return Err(format!(
                "--map-by ppr:{each}:{by} has room for {} PEs ({each} for each {by}, of which there \
                 are {}), but the job has {npes}",
                self.places(),
                self.groups(self.map.by).len()
            ));
        }
        let cores = || self.sequence(|cores| cores.to_vec());
        let whole = |place: Place| {
            let group = |core: &[Cpu]| {
                let mut same = self.groups(place).into_iter().filter(|group| group.contains(&core));
                same.next().map_or_else(Vec::new, |group| numbers(&group.concat()))
            };
            cores().into_iter().map(group).collect()
        };
        let places: Vec<Binding> = match self.bind {
            Bind::None if self.is_restricted => vec![numbers(self.topology.cpus())],
            Bind::None => vec![Vec::new()],
            Bind::HwThread => self.sequence(hwthreads).into_iter().map(numbers).collect(),
            Bind::To(Place::Core) => cores().into_iter().map(numbers).collect(),
            Bind::To(place) => whole(place),
        };
        Ok(places.into_iter().cycle().take(npes).collect())
    }

    /// All places of a kind, each with its cores.
    fn groups(&self, place: Place) -> Vec<Vec<&[Cpu]>> {
        let of = |core: &[Cpu]| {
            let Cpu { node, package, cache, core, .. } = core[0];
            match place {
                Place::Core => (node, package, cache, core),
                Place::L3 => (node, package, cache, 0),
                Place::Numa => (node, 0, 0, 0),
                Place::Socket => (package, 0, 0, 0),
                Place::Node => (0, 0, 0, 0),
            }
        };
        let mut cores = self.topology.cores();
        // Keep the NUMA nodes of a package together. Numbering may interleave those of different
        // packages.
        cores.sort_by_key(|core| of(core));
        cores.chunk_by(|a, b| of(a) == of(b)).map(<[_]>::to_vec).collect()
    }

    /// Cores, or `parts` of them, in the order in which PEs are assigned.
    fn sequence<'b>(&'b self, parts: impl Fn(&[&'b [Cpu]]) -> Vec<&'b [Cpu]>) -> Vec<&'b [Cpu]> {
        match (self.map.each, self.map.by) {
            (Some(each), by) => {
                let groups = self.groups(by).into_iter();
                groups.flat_map(|group| parts(&group).into_iter().cycle().take(each)).collect()
            }
            (None, Place::Core | Place::Node) => parts(&self.topology.cores()),
            (None, by) => parts(&in_turn(&self.groups(by))),
        }
    }
}

/// Hardware threads, ordered so that PEs share a core only when every core has a PE.
fn hwthreads<'a>(cores: &[&'a [Cpu]]) -> Vec<&'a [Cpu]> {
    let threads: Vec<Vec<&[Cpu]>> = cores.iter().map(|core| core.chunks(1).collect()).collect();
    in_turn(&threads)
}

/// The first of each group, then the second of each, and so on.
fn in_turn<T: Copy>(groups: &[impl AsRef<[T]>]) -> Vec<T> {
    let longest = groups.iter().map(|group| group.as_ref().len()).max().unwrap_or(0);
    (0..longest)
        .flat_map(|i| groups.iter().filter_map(move |group| group.as_ref().get(i).copied()))
        .collect()
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
            id,
        }))
    }

    fn plan(bind: Bind, by: Place, each: Option<usize>, npes: usize) -> Vec<Binding> {
        let topology = &machine();
        let placement = Placement { topology, bind, map: Map { by, each }, is_restricted: false };
        placement.plan(npes).unwrap()
    }

    #[test]
    fn places_are_given_in_order_and_again() {
        let cores = |by| plan(Bind::To(Place::Core), by, None, 5);
        assert_eq!(cores(Place::Core), [[0, 4], [1, 5], [2, 6], [3, 7], [0, 4]]);
        assert_eq!(cores(Place::Numa), [[0, 4], [2, 6], [1, 5], [3, 7], [0, 4]]);
        assert_eq!(cores(Place::Socket), cores(Place::Numa));
        let threads = |by| plan(Bind::HwThread, by, None, 9).concat();
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
        assert_eq!(plan(Bind::HwThread, Place::Core, Some(2), 4).concat(), [0, 4, 1, 5]);
        let map = Map { by: Place::Numa, each: Some(2) };
        let topology = &machine();
        let placement = Placement { topology, bind: Bind::None, map, is_restricted: false };
        assert_eq!(placement.places(), 4);
        let error = placement.plan(5).unwrap_err();
        assert!(
            error.contains("ppr:2:numa has room for 4 PEs") && error.ends_with("has 5"),
            "{error}"
        );
    }

    #[test]
    fn in_a_set_of_cpus_all_are_bound() {
        let topology = machine().only(&[1, 5, 6]).unwrap();
        let placement = |bind| {
            let map = Map { by: Place::Core, each: None };
            Placement { topology: &topology, bind, map, is_restricted: true }.plan(2).unwrap()
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

//! At which network devices the processes of a job over several nodes listen: at that which leads to the
//! other nodes, and nowhere else.

use crate::launch::{self, Outcome};
use crate::launched_nodes::{LAUNCHERS, start};
use crate::launchers::Launcher;
use crate::nodes::{DIRECT, among_namespaces, no_namespaces, no_ucx, oshrun};
use crate::{Result, compile};
use libtest_mimic::Trial;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

/// The hosts have a second device, for others: the default route is there, but it does not connect them.
const WRONG_ROUTE: &str = "ip -n node0 addr flush dev eth1
ip -n node0 addr add 10.99.0.1/24 dev eth1
ip -n node0 route add default via 10.99.0.7
ip -n node1 route add default via 10.77.1.7";
/// Each host is in a network of its own, with a route to the other's.
const ROUTED: &str = "ip -n node1 addr flush dev eth0
ip -n node1 addr add 10.88.0.2/24 dev eth0
ip -n node0 route add 10.88.0.0/24 dev eth0
ip -n node1 route add 10.77.0.0/24 dev eth0";
/// The same without routes.
const APART: &str = "ip -n node1 addr flush dev eth0
ip -n node1 addr add 10.88.0.2/24 dev eth0";

/// The trials.
pub fn trials() -> Vec<Trial> {
    let nowhere = no_namespaces() || no_ucx();
    let mut trials = vec![
        Trial::test("listens/one-machine", || {
            let alone = one_machine(&[])?;
            listen(&launch::run(alone)?, &["127.0.0.1"])
        }),
        Trial::test("listens/one-machine/chosen", || {
            let alone = one_machine(&["-x", "UCX_NET_DEVICES=eth0"])?;
            listen(&launch::run(alone)?, &["10.77.0.1"])
        }),
        Trial::test("listens/apart", || {
            let outcome = launch::run(after(APART, start(Launcher::Oshrun, 2, 4)?)?)?;
            let words = ["cannot be reached from host ", "UCX_NET_DEVICES names the device to use"];
            outcome.ends(1, &words)
        }),
    ];
    for launcher in LAUNCHERS.into_iter().filter(|it| !it.is_absent()) {
        // Whether PEs or agents receive does not depend on the launcher.
        let numbers = if launcher == Launcher::Oshrun { &[2, 4][..] } else { &[4] };
        for &pes in numbers {
            let name = format!("listens/wrong-route/{}/{pes}", launcher.name());
            trials.push(Trial::test(name, move || {
                let mut command = after(WRONG_ROUTE, start(launcher, 2, pes)?)?;
                command.env("NETWORKS", "2");
                listen(&launch::run(command)?, &["10.77.0.1", "10.77.0.2"])
            }));
        }
    }
    trials.push(Trial::test("listens/routed", || {
        let outcome = launch::run(after(ROUTED, start(Launcher::Oshrun, 2, 4)?)?)?;
        listen(&outcome, &["10.77.0.1", "10.88.0.2"])
    }));
    trials.push(Trial::test("listens/chosen", || {
        let mut command = start(Launcher::Oshrun, 2, 2)?;
        command.args(["-x", "UCX_NET_DEVICES=eth1"]).arg(program()?).env("NETWORKS", "2");
        listen(&launch::run(command)?, &["10.77.1.1", "10.77.1.2"])
    }));
    trials.into_iter().map(|trial| trial.with_ignored_flag(nowhere)).collect()
}

fn program() -> Result<PathBuf> {
    compile::plain("tests/programs/listens.c", &[])
}

/// A job on two hosts that are one machine.
fn one_machine(options: &[&str]) -> Result<Command> {
    let job = oshrun("a,b", 2, DIRECT, options);
    let mut command = among_namespaces(1);
    command.args(["ip", "netns", "exec", "node0"]).arg(job.get_program()).args(job.get_args());
    command.arg(program()?);
    Ok(command)
}

/// The job among namespaces, after a change of their network.
fn after(change: &str, job: Command) -> Result<Command> {
    // What `among_namespaces` has put in front.
    const FRONT: usize = 2;
    let mut command = among_namespaces(2);
    command.args(["sh", "-ec", &format!("{change}\nexec \"$@\""), "sh"]);
    command.args(job.get_args().skip(FRONT)).arg(program()?);
    for (name, value) in job.get_envs() {
        value.map(|value| command.env(name, value));
    }
    Ok(command)
}

/// Checks that the job's processes, agents among them, listen at these addresses and nowhere else.
fn listen(outcome: &Outcome, expected: &[&str]) -> Result {
    outcome.success()?;
    let lines = outcome.stdout.lines().map(|line| line.split_once(" listens at "));
    let found: Option<Vec<_>> = lines.collect();
    let found = found.ok_or_else(|| outcome.report("expected lines about addresses only"))?;
    let of_agents = found.iter().filter(|it| it.0 == "agent");
    let expected: BTreeSet<_> = expected.iter().copied().collect();
    let all: BTreeSet<_> = found.iter().map(|it| it.1).collect();
    outcome.require(
        all == expected && of_agents.map(|it| it.1).collect::<BTreeSet<_>>() == expected,
        format!("expected {expected:?}"),
    )
}

use super::*;
use crate::context::Default as World;
use crate::testing::FakeJob;
use oneshmem_job::error::Called::Blocking;

const R: Routine = &Blocking("test");

fn update(sig_addr: Object<'_, u64>, signal: u64, sig_op: c_int) -> Update<'_> {
    Update { sig_addr, signal, sig_op }
}

#[test]
fn a_put_with_signal_moves_the_data_and_updates_the_signal() {
    let job = FakeJob::start(2);
    let source = [1u32, 2, 3];
    let sig = job.at::<u64>(8);
    put_signal(R, World, job.array(64, 3), source[..].into(), update(sig, 40, SIGNAL_SET), 1);
    assert_eq!(job.read::<[u32; 3]>(1, 64), source);
    assert_eq!(job.read::<u64>(1, 8), 40);
    put_signal(R, World, job.array(128, 2), source[..2].into(), update(sig, 2, SIGNAL_ADD), 1);
    assert_eq!(job.read::<[u32; 3]>(1, 128), [1, 2, 0]);
    assert_eq!(job.read::<u64>(1, 8), 42);
    assert_eq!(job.read::<u64>(0, 8), 0);
}

#[test]
fn the_signal_is_updated_also_without_data() {
    let job = FakeJob::start(2);
    let nothing: &[u8] = &[];
    put_signal(R, World, job.array(64, 0), nothing.into(), update(job.at(8), 5, SIGNAL_ADD), 1);
    assert_eq!(job.read::<u64>(1, 8), 5);
}

#[test]
fn adding_setting_fetching_and_waiting() {
    let job = FakeJob::start(2);
    let sig = job.at::<u64>(8);
    set(R, World, sig, u64::MAX, 0);
    add(R, World, sig, 3, 0);
    assert_eq!(fetch(R, sig), 2, "wraps");
    assert_eq!(wait_until(R, sig, wait::CMP_GE, 1), 2, "the value that satisfied");
}

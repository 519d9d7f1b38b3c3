#!/bin/sh
# slurm.sh FOLDER N COMMAND...: a real Slurm of N nodes, node0 to node(N-1), which are network namespaces on
# one Ethernet, and the command on node0. All that it writes is in the folder, which must not lie in /tmp and be
# root's alone to write. Needs root. All of it goes with the command.
set -eu
if [ "$1" != inside ]; then
    exec unshare --net --mount --pid --fork --mount-proc --kill-child "$0" inside "$@"
fi
folder=$2 n=$3
shift 3
mount -t tmpfs none /run
# A node sees its own devices in /sys, where Slurm wants the control groups.
mkdir /run/cgroup
mount --rbind /sys/fs/cgroup /run/cgroup
ip link add name ether type bridge
ip link set ether up
for i in $(seq 0 $((n - 1))); do
    ip netns add "node$i"
    ip -n "node$i" link set lo up
    ip link add name "port$i" type veth peer name eth netns "node$i"
    ip link set "port$i" master ether up
    ip -n "node$i" link set eth up
    ip -n "node$i" addr add "10.78.0.$((i + 1))/24" dev eth
done
mkdir -p "$folder/state"
cat > "$folder/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=node0(10.78.0.1)
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
SlurmUser=root
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
MpiDefault=none
SelectType=select/cons_tres
NodeName=node[0-$((n - 1))] NodeAddr=10.78.0.[1-$n] CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:16
CONF
export SLURM_CONF="$folder/slurm.conf"
dd if=/dev/urandom of="$folder/key" bs=128 count=1 2> /dev/null
chmod 600 "$folder/key"
munged --force --key-file="$folder/key" --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" \
    --log-file="$folder/munged.log" --seed-file="$folder/seed" 2> "$folder/munged.err"
on() { # on NODE COMMAND...
    node=$1
    shift
    # shellcheck disable=SC2016 # for the shell that is started
    ip netns exec "$node" unshare --uts sh -c \
        'mount --rbind /run/cgroup /sys/fs/cgroup
        mount -t tmpfs -o mode=1777 none /tmp # Slurm makes the same names on all nodes.
        hostname "$0"
        exec "$@"' "$node" "$@"
}
on node0 slurmctld
for i in $(seq 0 $((n - 1))); do
    mkdir -p "$folder/node$i"
    on "node$i" slurmd
done
for _ in $(seq 300); do
    [ "$(on node0 sinfo -h -N -o %t 2> /dev/null | grep -c '^idle$')" = "$n" ] && break
    sleep 0.1
done
on node0 "$@"

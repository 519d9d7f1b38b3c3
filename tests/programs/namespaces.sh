#!/bin/sh
# namespaces.sh N COMMAND...: runs COMMAND where there are N network namespaces, node0 to node(N-1), on one
# Ethernet: emulated hosts for `oshrun --host node0,node1 --launch-agent "ip netns exec"`. Needs no rights;
# all of it goes with the last process. With NETWORKS=2, nodes have a second device, on an Ethernet of its own.
# With PORT_RANGE="FIRST LAST", nodes choose ports among those.
# With SLOW_LINK=PROGRAM, the last node is on another Ethernet, to which that program (slow_link.c) carries.
set -e
if [ "$1" != inside ]; then
    exec unshare -Urnm sh "$0" inside "$@"
fi
shift
mount -t tmpfs none /run
# Jobs of one node may run here, too; some launchers need a device.
ip link set lo up
n=$1
shift
# The Ethernet stays as long as this, whatever becomes of this process.
touch /run/ether
mount --bind /proc/self/ns/net /run/ether
i=0
while [ $i -lt "$n" ]; do
    ip netns add node$i
    ip -n node$i link set lo up
    if [ -n "$PORT_RANGE" ]; then
        echo "$PORT_RANGE" | ip netns exec node$i tee /proc/sys/net/ipv4/ip_local_port_range > /dev/null
    fi
    i=$((i + 1))
done
e=0
while [ $e -lt "${NETWORKS:-1}" ]; do
    ip link add name ether$e type bridge
    ip link set ether$e up
    i=0
    while [ $i -lt "$n" ]; do
        ip link add name port$e.$i type veth peer name eth$e netns node$i
        ip link set port$e.$i master ether$e up
        ip -n node$i link set eth$e up
        ip -n node$i addr add 10.77.$e.$((i + 1))/24 dev eth$e
        i=$((i + 1))
    done
    e=$((e + 1))
done
if [ -n "$SLOW_LINK" ]; then
    mkfifo /run/ready
    "$SLOW_LINK" slow0 slow1 > /run/ready &
    read -r _ < /run/ready
    ip link add name away type bridge
    ip link set away up
    ip link set slow0 master ether0 up
    ip link set slow1 master away up
    ip link set "port0.$((n - 1))" master away
fi
exec "$@"

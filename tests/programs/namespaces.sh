#!/bin/sh
# namespaces.sh N COMMAND...: runs COMMAND where there are N network namespaces, node0 to node(N-1), on one
# Ethernet: emulated hosts for `oshrun --host node0,node1 --launch-agent "ip netns exec"`. Needs no rights;
# all of it goes with the last process.
set -e
if [ "$1" != inside ]; then
    exec unshare -Urnm sh "$0" inside "$@"
fi
shift
mount -t tmpfs none /run
n=$1
shift
# The Ethernet stays as long as this, whatever becomes of this process.
touch /run/ether
mount --bind /proc/self/ns/net /run/ether
ip link add name ether type bridge
ip link set ether up
i=0
while [ $i -lt "$n" ]; do
    ip netns add node$i
    ip link add name port$i type veth peer name eth0 netns node$i
    ip link set port$i master ether up
    ip -n node$i link set lo up
    ip -n node$i link set eth0 up
    ip -n node$i addr add 10.77.0.$((i + 1))/24 dev eth0
    i=$((i + 1))
done
exec "$@"

#!/bin/sh
# namespace_shell.sh [-OPTION]... HOST COMMAND: a remote shell, as ssh is one, to the hosts of namespaces.sh.
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
exec ip netns exec "$host" sh -c "$*"

#!/bin/sh
# namespace_shell.sh [-OPTION]... HOST COMMAND: a remote shell, as ssh is one, to the hosts of namespaces.sh.
# The command sees the host's name: Open MPI's daemons keep their files in a folder of that name.
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
exec ip netns exec "$host" unshare --uts sh -c "hostname $host; $*"

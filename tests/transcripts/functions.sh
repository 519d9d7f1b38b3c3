# shellcheck shell=bash disable=SC2034,SC2059
# What the commands of transcripts may call.

set -o pipefail
# What would change what commands do.
unset SHMEM_TUNING OMP_NUM_THREADS TMUX DISPLAY

# eventually CONDITION: waits until a command succeeds. Gives up when only what hangs takes as long.
eventually() {
    local end=$((SECONDS + 60))
    until eval "$1" 2> /dev/null; do
        [ $SECONDS -lt $end ] || { echo "this does not happen: $1"; exit 1; }
        sleep 0.01
    done
}
# files FOLDER COUNT: so many files are in it.
files() { [ "$(find "$1" -type f -size +0 | wc -l)" = "$2" ]; }
# state PID: the state of a process, as /proc has it; nothing if it is gone.
state() { sed 's/.*) \(.\).*/\1/' "/proc/$1/stat" 2> /dev/null; }
# states LETTER PID...: all of them are in this state.
states() {
    local pid
    for pid in "${@:2}"; do [ "$(state "$pid")" = "$1" ] || return; done
}
# start COMMAND...: in the background, with no signal ignored, as $job.
start() {
    /usr/bin/env --default-signal "$@" &
    job=$!
}

# cpus: those that this process may use.
cpus() { sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status; }
export -f cpus

# terminal COMMAND: runs a command line in a terminal of its own, as $job. What it shows is in the file `screen`.
terminal() {
    mkfifo keyboard
    SHELL=/bin/bash script -qfec "stty sane noflsh rows 30 cols 100; exec $1" /dev/null < keyboard > screen &
    job=$!
    exec 9<> keyboard
}
# types KEYS: as printf takes them.
types() { printf "$1" >&9; }
# shows TEXT: waits until the terminal has shown it.
shows() { eventually "tr -d '\r' < screen | grep -qF -- \"$1\""; }

# Remote shells for jobs over hosts that are this machine. One that executes the command in its own place;
direct="sh -c 'shift; exec \"\$@\"' agent"
# one that joins the words for a shell to parse, as ssh does;
joining="sh -c 'shift; exec sh -c \"\$*\"' agent"
# one that stays, as ssh does;
staying="sh -c 'shift; \"\$@\"; exit \$?' agent"
# one that passes on output by lines, as Slurm's srun does;
by_lines="sh -c 'shift; \"\$@\" | LC_ALL=C sed -u \"\"' agent"
# one that passes on nothing of this environment.
bare="sh -c 'shift; cd /; exec env -i \"\$@\"' agent"
# among COUNT COMMAND...: a command among network namespaces, which are the hosts node0, node1 and so on.
among() { sh "${BASH_SOURCE%/*}/../programs/namespaces.sh" "$@"; }
# ours NAME: the processes of this command that have this name, by their numbers.
ours() {
    grep -lzx "TRANSCRIPT=$TRANSCRIPT" /proc/[0-9]*/environ 2> /dev/null | sed 's/environ$/comm/' | xargs grep -lx "$1" 2> /dev/null |
        sed 's/[^0-9]//g' | sort -n
}
# node: the launcher of the last host of $job.
node() {
    local pid parent
    for pid in $(ours oshrun | grep -vx "$job"); do
        parent=$(sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$pid/stat")
        # Remote shells are started in the order of hosts. What those that stay start is not.
        [ "$parent" != "$job" ] || parent=$pid
        echo "$parent $pid"
    done | sort -n | sed -n '$s/.* //p'
}
# linger OPTION...: starts a job of four PEs over hosts a and b, as $job, by the remote shell $agent or $direct.
linger() {
    rm -f mark.*
    start oshrun --host a,b -n 4 --launch-agent "${agent:-$direct}" -l "$@" ./over_nodes linger "$PWD/mark"
    for pe in 0 1 2 3; do eventually "[ -e mark.$pe ]"; done
}

# by_pairs MACHINE: a valid tuning file, with which PEs add in pairs. $MACHINE is the library's name for this one.
by_pairs() { printf 'oneshmem tuning 1\nmachine %s\n# by hand\nreduce 1 any recursive_doubling\n' "$1"; }

# of_pes FILE PES CONDITION: a table of --top has a line of these PEs for which this holds in awk: calls and bytes a second,
# heap, CPU and time blocked are $2 to $6, and the state follows.
of_pes() {
    sed 's/^oshrun: *//; s/^on [ab]: *//' "$1" | awk -v pes="$2" "\$1 == pes && NF > 6 && ($3)"' { found = 1 } END { exit !found }'
}
# of_top FILE: waits until it has what the PEs of tests/programs/top.c do.
of_top() {
    local waits='/in shmem_long_wait_until, waiting for an update of never, the data segment . 0x.*, for /'
    eventually "of_pes $1 0 '\$2 !~ /^(0|-)$/ && \$3 != 0 && \$4 == \"1.0m\" && \$5 != \"0%\" && \$6 == \"0%\" && /not waiting in the library, /'"
    eventually "of_pes $1 1 '\$2 == 0 && \$4 == \"1.0m\" && \$6 + 0 > 50 && $waits'"
    eventually "of_pes $1 2 '\$2 == 0 && \$6 == \"0%\" && /not waiting in the library, sleeping/'"
    eventually "grep -q '3 PEs: 2 running, 1 waiting, .* calls/s, .* bytes/s, heap 3.0m, CPU .*, blocked ' $1"
}
# letters: what the screen has got, without escape sequences and the blanks over which the cursor jumps.
letters() { LC_ALL=C sed 's/\x1b[^A-Za-z]*[A-Za-z]//g; s/[ \r]//g' screen; }
# view: oshtop for the job $job in a terminal, as $view. The terminal's settings before and after are in files.
view() {
    local shown=$job
    echo "stty rows 20 cols 120; stty -g > before; oshtop --every 0.2 $shown; status=\$?; stty -g > after; exit \$status" > view
    terminal 'bash view'
    view=$job job=$shown
}

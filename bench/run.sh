#!/bin/sh
# bench/run.sh: the library beside raw C, turn by turn in one run, so that the machine's
# mood falls on both. Every ratio is the median of RUNS pairs. Uses the build tree's
# tools, or those of the tree that ONESHMEM_PREFIX names.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=${ONESHMEM_PREFIX:-$here/../build}
runs=${RUNS:-5}
out=$here/../build/bench
mkdir -p "$out"

for program in pingpong barrier lock; do
    "$prefix/bin/oshcc" -O2 "$here/$program.c" -o "$out/$program"
done
for program in pingpong_raw barrier_raw; do
    cc -O2 "$here/$program.c" -o "$out/$program"
done
"$prefix/bin/oshcc" -O2 "$here/../examples/hello.c" -o "$out/hello"

median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# pairs TITLE UNIT OURS RAW: two commands that each print a number
pairs() {
    : >"$out/pairs"
    for _ in $(seq "$runs"); do
        echo "$($3) $($4)" >>"$out/pairs"
    done
    ours=$(awk '{ print $1 }' "$out/pairs" | median)
    raw=$(awk '{ print $2 }' "$out/pairs" | median)
    ratio=$(awk '{ print $1 / $2 }' "$out/pairs" | median)
    printf '%-28s %10s %10s   %5.2f\n' "$1, $2" "$ours" "$raw" "$ratio"
}

# seconds COMMAND...: its wall time
seconds() {
    start=$(date +%s%N)
    "$@" >"$out/said" 2>&1 || { cat "$out/said" >&2; return 1; }
    echo "$start $(date +%s%N)" | awk '{ printf "%.4f\n", ($2 - $1) / 1e9 }'
}

run="$prefix/bin/oshrun -n"
printf '%-28s %10s %10s   %s\n' '' oneshmem 'raw C' ratio
pairs 'ping-pong of 8 bytes' ns "$run 2 $out/pingpong" "$out/pingpong_raw"
for pes in 2 4 8 16; do
    pairs "barrier, $pes PEs" us "$run $pes $out/barrier 5000" "$out/barrier_raw $pes 5000"
done
for pes in 2 8; do
    printf '%-28s %10s\n' "lock hand-over, $pes PEs, us" "$($run "$pes" "$out/lock")"
done

echo
printf '%-28s %10s %10s   %s\n' 'wall time, s' hello /bin/true ratio
for pes in 2 8 16 64; do
    pairs "start and end, $pes PEs" s "seconds $run $pes $out/hello" "seconds $run $pes /bin/true"
done

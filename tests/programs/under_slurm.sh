#!/bin/sh
# under_slurm.sh BIN STARTER: in a Slurm of two nodes (slurm.sh), starts the program starter.c in all ways, with
# the commands in BIN. Prints what differs from what is expected.
# shellcheck disable=SC2016 # For the shells that are started.
set -u
bin=$1 program=$2
folder=$(mktemp -d /var/tmp/under-slurm-XXXXXX)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export HOME="$folder"
mkdir -m 700 runtime
status=0

# check WHAT EXPECTED COMMAND...: compares the lines of its output, in any order.
check() {
    what=$1 expected=$2
    shift 2
    got=$(timeout 60 "$@" 2>&1 | sort)
    if [ "$got" != "$expected" ]; then
        printf '%s: expected\n%s\nbut got\n%s\n\n' "$what" "$expected" "$got"
        status=1
    fi
}

# pes N: what that many PEs print.
pes() {
    seq -f "started: PE %.0f of $1" 0 $(($1 - 1))
}

for runtime in "" /run/user/nobody "$folder/runtime"; do
    export XDG_RUNTIME_DIR="$runtime"
    [ -n "$runtime" ] || unset XDG_RUNTIME_DIR
    for mpi in none pmi2 pmix; do
        check "srun --mpi=$mpi, XDG_RUNTIME_DIR=$runtime" "$(pes 2)" \
            srun -Q "--mpi=$mpi" -N 1 -n 2 --overcommit "$program"
    done
    for mpi in pmi2 pmix; do
        check "srun --mpi=$mpi -N 2, XDG_RUNTIME_DIR=$runtime" "$(pes 4)" \
            srun -Q "--mpi=$mpi" -N 2 -n 4 --overcommit "$program"
    done
done
unset XDG_RUNTIME_DIR

# If the first PE of a node cannot start the node's agent, the others do not wait for it.
mkdir broken
echo "no library" > broken/libucp.so.0
for mpi in pmi2 pmix; do
    # shellcheck disable=SC2016
    got=$(timeout 60 srun -Q "--mpi=$mpi" -N 2 -n 4 --overcommit sh -c \
        '[ "$SLURM_PROCID" != 2 ] || export LD_LIBRARY_PATH="$1"; exec "$0"' "$program" "$PWD/broken" 2>&1)
    ended=$?
    case "$ended $got" in
        "0 "* | "124 "*) ;;
        *"UCX 1.13 or later is needed"*) continue ;;
    esac
    printf 'srun --mpi=%s without an agent: ended with %s and\n%s\n\n' "$mpi" "$ended" "$got"
    status=1
done
check "one task" "$(pes 1)" srun -Q -n 1 "$program"
check "oshrun in a step" "$(pes 2)" srun -Q -n 1 "$bin/oshrun" -n 2 "$program"

cat > batch.sh <<BATCH
#!/bin/sh
"$program"
"$bin/oshinfo" | grep Launcher
"$bin/oshrun" -n 3 "$program"
srun -Q --mpi=none -n 2 --overcommit "$program"
BATCH
timeout 60 sbatch -Q -W -N 1 -n 2 --overcommit -o out batch.sh
check "a batch script" "$(printf 'Launcher         none; 1 PE\n' && { pes 1; pes 2; pes 3; } | sort)" cat out
cat > inner.sh <<BATCH
#!/bin/sh
"$program"
BATCH
# What a step's first task starts so has the step's variables, which are of two tasks.
check "a batch script from a step" "$(pes 1)" srun -Q -N 1 -n 2 --overcommit sh -c \
    '[ "$SLURM_PROCID" = 1 ] || { sbatch -Q -W -N 1 -n 2 --overcommit -o inner inner.sh && cat inner; }'
check "a shell of salloc from a step" "$(pes 1)" srun -Q -N 1 -n 2 --overcommit sh -c \
    '[ "$SLURM_PROCID" = 1 ] || salloc -Q -N 1 -n 2 --overcommit "$0"' "$program"
check "srun of salloc from a step" "$(pes 2)" srun -Q -N 1 -n 2 --overcommit sh -c \
    '[ "$SLURM_PROCID" = 1 ] || salloc -Q -N 1 -n 2 --overcommit srun -Q --mpi=none -n 2 --overcommit "$0"' "$program"
check "a shell of salloc" "$(pes 1)" salloc -Q -N 1 -n 2 --overcommit sh -c "$program"

if [ "$(nproc)" -ge 2 ]; then
    check "CPUs" "$(printf 'Cpus_allowed_list:\t%s\n' 0 1 && seq -f 'starter: PE %.0f of 2' 0 1)" \
        srun -Q --mpi=none -N 1 -n 2 -c 1 --cpu-bind=map_cpu:0,1 "$program" 'grep Cpus_allowed_list /proc/self/status'
fi
[ -z "$(ls runtime)" ] || { echo "left in the runtime directory: $(ls runtime)"; status=1; }
exit $status

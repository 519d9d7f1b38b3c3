/* leaves HOW: the PEs finalise while the process ends: in the destructor of a global object ("object"), in
 * an exit handler registered before shmem_init ("handler"), in a destructor of the program ("program"),
 * in the exit handler of a library's routine ("later"), or not at all ("never"). */
#include <shmem.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static long told[64];

static bool owed = false;
static const char *how = "";

static void finalise()
{
    int me = shmem_my_pe(), npes = shmem_n_pes();
    shmem_long_p(&told[me], me + 1, (me + 1) % npes);
    shmem_barrier_all();
    int from = (me + npes - 1) % npes;
    std::printf("PE %d: %s\n", me, told[from] == from + 1 ? how : "wrong");
    shmem_finalize();
}

static void finalise_if(const char *what)
{
    if (owed && std::strcmp(how, what) == 0)
        finalise();
}

struct Guard {
    ~Guard() { finalise_if("object"); }
} guard;

__attribute__((destructor)) static void last() { finalise_if("program"); }

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "never";
    std::atexit([] { finalise_if("handler"); });
    shmem_init();
    std::atexit([] { finalise_if("later"); });
    owed = true;
    shmem_barrier_all();
    return 0;
}

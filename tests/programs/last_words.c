// Prints without flushing, before and after initialisation, then dies as its argument says: what
// it has printed must come out all the same. With "own" the program's choice of a buffer counts.

#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int signal = argc > 1 ? atoi(argv[1]) : SIGKILL;
    if (argc > 2 && strcmp(argv[2], "own") == 0)
        setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    printf("before initialisation\n");
    shmem_init();
    printf("PE %d: last words\n", shmem_my_pe());
    printf("no line yet");
    shmem_barrier_all();
    raise(signal);
    shmem_finalize();
    return 0;
}

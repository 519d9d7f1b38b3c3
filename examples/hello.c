/*
 * hello: the smallest OpenSHMEM program.
 *
 *   oshcc hello.c -o hello && oshrun -n 4 ./hello
 *
 * Every copy of the program is a processing element, a PE. PEs are numbered from 0.
 */
#include <shmem.h>
#include <stdio.h>

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    int npes = shmem_n_pes();
    printf("Hello from PE %d of %d\n", me, npes);
    shmem_finalize();
    return me < 0 || me >= npes;
}

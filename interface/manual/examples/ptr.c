/* PE 0 sets variables of other PEs: by a plain store, or by a put if the PE is on another node. */
#include <shmem.h>
#include <stdio.h>

static long global;

static void set(long *variable, long value, int pe)
{
    long *theirs = shmem_ptr(variable, pe);
    if (theirs != NULL)
        *theirs = value;
    else if (!shmem_pe_accessible(pe))
        printf("there is no PE %d\n", pe);
    else if (!shmem_addr_accessible(variable, pe))
        printf("the variable is not symmetric\n");
    else
        shmem_long_p(variable, value, pe);
}

int main(void)
{
    long local;
    shmem_init();
    if (shmem_my_pe() == 0) {
        set(&global, 42, 1);
        set(&global, 42, 7);
        set(&local, 42, 1);
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 1)
        printf("PE 1 has got %ld\n", global);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./ptr
 * there is no PE 7
 * the variable is not symmetric
 * PE 1 has got 42 */

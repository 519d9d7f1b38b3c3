/* An old program. It ends without a call: the library ends by itself. */
#include <shmem.h>
#include <stdio.h>

int main(void)
{
    start_pes(0);
    printf("PE %d of %d\n", _my_pe(), _num_pes());
    return 0;
}

/* $ oshrun -n 2 ./start_pes
 * PE 0 of 2
 * PE 1 of 2 */

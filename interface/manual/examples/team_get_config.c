/* A team whose PEs want to make two contexts each. */
#include <shmem.h>
#include <stdio.h>

int main(void)
{
    shmem_init();
    shmem_team_config_t config = {.num_contexts = 2};
    shmem_team_t team;
    if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(),
                                 &config, SHMEM_TEAM_NUM_CONTEXTS,
                                 &team) != 0)
        shmem_global_exit(1);
    shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &config);
    if (shmem_my_pe() == 0)
        printf("enough: %s\n", config.num_contexts >= 2 ? "yes" : "no");
    shmem_team_destroy(team);
    shmem_finalize();
    return 0;
}

/* $ oshrun -n 2 ./team_get_config
 * enough: yes */

/* What the programs about collectives share: teams to run them on, and values. */
#ifndef COLL_H
#define COLL_H

#include "check.h"

/* A small number, different from PE to PE and element to element, that every
 * type holds exactly. */
#define VALUE(TYPE, pe, i) ((TYPE)(((pe) * 5 + (i) * 3 + 1) % 11))

/* The operations of reductions, for the serial reference. */
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define SUM(a, b) ((a) + (b))
#define PROD(a, b) ((a) * (b))
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))

/* Every reduction of a type: `TEST(NAME, TYPE, OP, CALL, OPERAND)` makes a test of one, whose routine is
 * `REDUCTION(NAME, op)` and whose values are `OPERAND`; products need small ones. */
#define SMALL(TYPE, pe, i) ((TYPE)(1 + ((pe) + (i)) % 2))
#define BITWISE(NAME, TYPE) /* rule 10c.3 */                                              \
    TEST(NAME, TYPE, AND, REDUCTION(NAME, and), OPERAND)                                  \
    TEST(NAME, TYPE, OR, REDUCTION(NAME, or), OPERAND)                                    \
    TEST(NAME, TYPE, XOR, REDUCTION(NAME, xor), OPERAND)
#define ORDER(NAME, TYPE) /* rule 10c.4 */                                                \
    TEST(NAME, TYPE, MAX, REDUCTION(NAME, max), OPERAND)                                  \
    TEST(NAME, TYPE, MIN, REDUCTION(NAME, min), OPERAND)
#define ARITHMETIC(NAME, TYPE)                                                            \
    TEST(NAME, TYPE, SUM, REDUCTION(NAME, sum), OPERAND)                                  \
    TEST(NAME, TYPE, PROD, REDUCTION(NAME, prod), SMALL)

struct group { /* a team and what a serial reference needs to know of it */
    shmem_team_t team;
    int me, size;
};

enum { GROUPS = 4 };

/* World, its odd or even half, the world backwards, and the first three or fewer PEs. */
static inline int make_groups(struct group *g)
{
    int npes = shmem_n_pes(), me = shmem_my_pe(), count = 0;
    shmem_team_t teams[GROUPS] = {SHMEM_TEAM_WORLD, SHMEM_TEAM_INVALID, SHMEM_TEAM_INVALID,
                                  SHMEM_TEAM_INVALID};
    shmem_team_t odd, even = SHMEM_TEAM_INVALID;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (npes + 1) / 2, NULL, 0, &even), 0);
    teams[1] = even;
    if (npes > 1) {
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, npes / 2, NULL, 0, &odd), 0);
        if (me % 2)
            teams[1] = odd;
    }
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &teams[2]), 0);
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes < 3 ? npes : 3, NULL, 0,
                                      &teams[3]), 0);
    for (int i = 0; i < GROUPS; i++)
        if (teams[i] != SHMEM_TEAM_INVALID) {
            g[count].team = teams[i];
            g[count].me = shmem_team_my_pe(teams[i]);
            g[count].size = shmem_team_n_pes(teams[i]);
            count++;
        }
    return count;
}

#endif

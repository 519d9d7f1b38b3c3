/* queue in OpenMP: a loop whose iterations are dealt out one by one. */
#include "../problems.h"
#include <omp.h>

int main(int argc, char **argv)
{
    long tasks = argument(argc, argv, 1, 20000), sum = 0, done = 0;
    double clock[2];

#pragma omp parallel reduction(+ : sum, done)
    {
#pragma omp barrier
#pragma omp single
        clock[0] = seconds();
#pragma omp for schedule(dynamic, 1)
        for (long task = 0; task < tasks; task++) {
            sum += collatz_steps(task + 1);
            done++;
        }
#pragma omp single nowait
        clock[1] = seconds();
    }
    return report("queue, OpenMP", clock[1] - clock[0], done == tasks && sum == all_steps(tasks));
}

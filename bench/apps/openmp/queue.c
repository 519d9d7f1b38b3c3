/* queue in OpenMP: a loop whose iterations are dealt out one by one. */
#include "../problems.h"
#include <omp.h>

int main(int argc, char **argv)
{
    long tasks = argument(argc, argv, 1, 20000), sum = 0, done = 0;
    double elapsed = 0;

#pragma omp parallel reduction(+ : sum, done) reduction(max : elapsed)
    {
#pragma omp barrier
        double start = seconds();
#pragma omp for schedule(dynamic, 1)
        for (long task = 0; task < tasks; task++) {
            sum += collatz_steps(task + 1);
            done++;
        }
        elapsed = seconds() - start;
    }
    return report("queue, OpenMP", elapsed, done == tasks && sum == all_steps(tasks));
}

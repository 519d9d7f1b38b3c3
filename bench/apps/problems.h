/*
 * The problems of ../../examples, for the same programs in MPI and OpenMP: the same data,
 * arithmetic and checks.
 *
 * Every program's last line says how long the part took that all of them time, and
 * whether the result is right: `..., 0.1234 s, verified`.
 */
#ifndef PROBLEMS_H
#define PROBLEMS_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A well mixed function of its argument (splitmix64). */
static inline uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Memory, or the end of the program. */
static inline void *need(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        abort();
    }
    return memory;
}

/* The program's number `i`, or what is usual. */
static inline long argument(int argc, char **argv, int i, long usual)
{
    return argc > i ? atol(argv[i]) : usual;
}

/* Prints the last line; the program's status. The time is the longest of all members', each from barrier to
 * barrier by its own clock: where members share CPUs, some leave a barrier late. */
static inline int report(const char *what, double elapsed, int right)
{
    printf("%s: %.6f s, %s\n", what, elapsed, right ? "verified" : "WRONG");
    return !right;
}

/* Of `n` rows, keys or words in equal shares, the first of share `i` of `parts`. */
static inline long first_of(long n, int parts, int i) { return (long)((__int128)n * i / parts); }

/* isort: keys below 2^28. */
enum { KEY_BITS = 28 };
typedef uint32_t skey;

static inline skey key_number(long i) { return (skey)(mix((uint64_t)i) >> (64 - KEY_BITS)); }

/* The part in whose range of values a key falls. */
static inline int owner(skey key, int parts)
{
    return (int)(((uint64_t)key * (uint64_t)parts) >> KEY_BITS);
}

/* Sorts by digits of 11 bits, the least significant first: 3 passes for 28 bits. */
static inline void sort_keys(skey *keys, skey *scratch, size_t n)
{
    enum { DIGIT = 11, BINS = 1 << DIGIT };
    size_t start[BINS];
    skey *from = keys, *to = scratch;
    for (int shift = 0; shift < KEY_BITS; shift += DIGIT) {
        memset(start, 0, sizeof start);
        for (size_t i = 0; i < n; i++)
            start[(from[i] >> shift) % BINS]++;
        size_t sum = 0;
        for (int b = 0; b < BINS; b++) {
            size_t count = start[b];
            start[b] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++)
            to[start[(from[i] >> shift) % BINS]++] = from[i];
        skey *swap = from;
        from = to;
        to = swap;
    }
    if (from != keys)
        memcpy(keys, from, n * sizeof *keys);
}

/* A checksum that notices a changed key. */
static inline uint64_t checksum(const skey *keys, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += mix(keys[i]);
    return sum;
}

static inline long out_of_order(const skey *keys, size_t n)
{
    long errors = 0;
    for (size_t i = 1; i < n; i++)
        errors += keys[i - 1] > keys[i];
    return errors;
}

/* gups: update `u` of member `me`. */
static inline uint64_t update_number(int me, uint64_t u) { return mix(((uint64_t)me << 48) + u); }

/* The member whose part of the table an update changes, and the word in a part of `share` words:
 * each half of the number, scaled to the range, which is faster than a division. */
static inline int update_owner(uint64_t random, int members)
{
    return (int)((random >> 32) * (uint64_t)members >> 32);
}
static inline uint64_t update_word(uint64_t random, uint64_t share)
{
    return (random & 0xffffffff) * share >> 32;
}

/* heat: the slowest decaying wave of a plate of n x n points after some steps. */
#define ALPHA 0.2
#define PI 3.14159265358979323846
static inline double wave(long n, long steps, long row, long column)
{
    double factor = pow(1 - 4 * ALPHA * (1 - cos(PI / (double)(n + 1))), (double)steps);
    return factor * sin(PI * (double)row / (double)(n + 1)) * sin(PI * (double)column / (double)(n + 1));
}

/* One row of a step. */
static inline void heat_row(double *restrict new, const double *restrict old, size_t width, long n)
{
    for (size_t c = 1; c <= (size_t)n; c++)
        new[c] = old[c] + ALPHA * (old[c - width] + old[c + width] + old[c - 1] + old[c + 1] -
                                   4 * old[c]);
}

/* matmul: small whole numbers, so that every sum is exact. */
static inline double a_element(long row, long col) { return (double)((row * 3 + col * 5) % 7 - 3); }
static inline double b_element(long row, long col) { return (double)((row * 2 + col * 11) % 5 - 2); }

/* Wrong elements among some of a row of C. */
static inline long wrong_in_row(const double *c, long row, long n)
{
    long errors = 0;
    for (long col = row % 13; col < n; col += 13) {
        double sum = 0;
        for (long i = 0; i < n; i++)
            sum += a_element(row, i) * b_element(i, col);
        errors += sum != c[col];
    }
    return errors;
}

/* queue: a task of unforeseeable length. */
static inline long collatz_steps(long n)
{
    long steps = 0;
    for (; n != 1; steps++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}

static inline long all_steps(long tasks)
{
    long steps = 0;
    for (long task = 0; task < tasks; task++)
        steps += collatz_steps(task + 1);
    return steps;
}

#endif

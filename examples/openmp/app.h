// What the four programs of this folder share. Each works on arrays that OpenMP has mapped to its device, in two forms:
//
//   standard   arrays of the symmetric heap, which `target update` copies from and to the device around communication;
//   extended   mapped arrays are symmetric themselves, because their storage comes from a partition: no copies.
//
//   oshc++ -O2 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu heat.cc -o heat        (SHMEM_CXX=clang++)
//   oshrun -n 4 ./heat extended 64
#pragma once
#include <shmemx.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

struct App {
    const char *name;
    bool extended;
    long size;
    int me, npes;
    std::chrono::steady_clock::time_point start;
    double seconds;

    // The form and the size are the program's arguments.
    App(const char *name, int argc, char **argv, long usual) : name(name), seconds(0)
    {
        const char *form = argc > 1 ? argv[1] : "extended";
        size = argc > 2 ? atol(argv[2]) : usual;
        extended = strcmp(form, "extended") == 0;
        setenv("SHMEM_SYMMETRIC_PARTITION1", "1G:KIND=LIBOMP", 0);
        shmem_init();
        me = shmem_my_pe();
        npes = shmem_n_pes();
        if ((!extended && strcmp(form, "standard") != 0) || size < 1)
            fail("expected standard or extended, then a size");
        if (extended && __tgt_set_device_allocator(0, nullptr, nullptr) != 0)
            shmem_global_exit(1);
    }

    [[noreturn]] void fail(const char *why) const
    {
        if (me == 0)
            fprintf(stderr, "%s: %s\n", name, why);
        shmem_global_exit(2);
        abort();
    }

    // An array of zeros that peers reach: while it is mapped, or always.
    template <class T> T *array(size_t n) const
    {
        return extended ? new T[n]() : static_cast<T *>(shmem_calloc(n, sizeof(T)));
    }

    template <class T> void release(T *array) const
    {
        if (extended)
            delete[] array;
        else
            shmem_free(array);
    }

    // All PEs begin and end what is timed together.
    void begin()
    {
        shmem_barrier_all();
        start = std::chrono::steady_clock::now();
    }

    void end()
    {
        shmem_barrier_all();
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

    // Tells how it went, with so many units of work done by all PEs; the program's exit status.
    int report(double work, const char *unit, long wrong)
    {
        static long mine, all;
        mine = wrong;
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all, &mine, 1);
        if (me == 0 && all == 0)
            printf("%s %s, size %ld, %d PEs: %.6f s, %.4g %s/s, verified\n", name,
                   extended ? "extended" : "standard", size, npes, seconds, work / seconds, unit);
        if (me == 0 && all != 0)
            fprintf(stderr, "%s: %ld elements are wrong\n", name, all);
        long found = all;
        shmem_finalize();
        return found != 0;
    }
};

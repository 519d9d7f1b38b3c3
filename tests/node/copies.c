/* Copies of every length at every alignment, elements at every stride, and signals. */
#include "check.h"

enum { MOST = 4096 };

static unsigned char from[2 * MOST], to[2 * MOST], expected[2 * MOST];

static void fresh(void)
{
    for (int i = 0; i < 2 * MOST; i++) {
        from[i] = (unsigned char)(i * 7 + i / 256);
        to[i] = expected[i] = 0xee;
    }
}

static void plain(void)
{
    for (size_t bytes = 0; bytes <= MOST; bytes = bytes < 200 ? bytes + 1 : bytes * 2 - 3)
        for (size_t shift = 0; shift < 64; shift = shift * 2 + 1) {
            fresh();
            onenode_copy(to + shift, from + 63 - shift, bytes);
            memcpy(expected + shift, from + 63 - shift, bytes);
            CHECK(memcmp(to, expected, sizeof to) == 0);
        }
}

/* The first element in the middle, so that strides can be negative, too. */
static void strided(size_t bytes, ptrdiff_t to_stride, ptrdiff_t from_stride)
{
    size_t n = 20;
    fresh();
    onenode_copy_strided(to + MOST, to_stride, from + MOST, from_stride, bytes, n);
    for (ptrdiff_t i = 0; i < (ptrdiff_t)n; i++)
        memcpy(expected + MOST + i * to_stride, from + MOST + i * from_stride, bytes);
    if (memcmp(to, expected, sizeof to) != 0) {
        fprintf(stderr, "%zu bytes, to %td apart, from %td apart\n", bytes, to_stride, from_stride);
        failures++;
    }
}

static void all_strides(void)
{
    static const size_t sizes[] = { 0, 1, 2, 3, 4, 8, 12, 16, 40 };
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        ptrdiff_t bytes = (ptrdiff_t)sizes[s];
        ptrdiff_t strides[] = { bytes, 2 * bytes, 3 * bytes, bytes + 1, -bytes, -2 * bytes - 1 };
        for (int t = 0; t < 6; t++)
            for (int f = 0; f < 6; f++)
                strided(sizes[s], strides[t], strides[f]);
        strided(sizes[s], bytes, 0); /* one element to all places */
    }
    onenode_copy_strided(NULL, 1, NULL, 1, 8, 0);
}

static void signals(void)
{
    uint64_t words[2] = { 40, 0 };
    uint64_t *crooked = (uint64_t *)(void *)((char *)words + 1);
    fresh();
    WORKS(onenode_copy_signal(to, from, 100, &words[0], 2, 1));
    CHECK(words[0] == 42 && memcmp(to, from, 100) == 0);
    WORKS(onenode_copy_signal(to, from, 0, &words[0], 7, 0));
    CHECK(words[0] == 7);
    WORKS(onenode_copy_signal(NULL, NULL, 0, &words[0], UINT64_MAX, 1));
    CHECK(words[0] == 6);
    fresh();
    FAILS(onenode_copy_signal(to, from, 100, crooked, 1, 0), ONENODE_EINVAL,
          "onenode_copy_signal: signal_there = 0x");
    FAILS(onenode_copy_signal(to, from, 100, NULL, 1, 0), ONENODE_EINVAL, "signal_there = NULL");
    CHECK(memcmp(to, expected, sizeof to) == 0 && words[0] == 6 && words[1] == 0);
}

int main(void)
{
    CHECK(onenode_abi() == ONENODE_ABI);
    CHECK(strcmp(onenode_message(), "") == 0);
    plain();
    all_strides();
    signals();
    return failures != 0;
}

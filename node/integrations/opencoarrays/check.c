/* The fast path without OpenCoarrays: forked processes as images, shared memory for MPI. check IMAGES IMAGES_PER_NODE:
 * nodes are faked by cards that say another machine. Prints nothing if right. */
#define _GNU_SOURCE
#include "caf_onenode.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 64, MANY = 20000, ROUNDS = 300, SIDE = 12 };

/* A communicator: of all images, or of those with even or odd ranks. */
struct communicator {
    int arrived;
    char slot[MOST][64];
};

static struct exchange {                /* MPI */
    struct communicator all, half[2];
} *exchange;

static int me, images, images_per_node;
static int failures;
static bool in_half, no_card;

#define CHECK(condition) \
    ((condition) ? (void) 0 : \
     (void) (failures++, fprintf(stderr, "image %d, line %d: %s\n", me + 1, __LINE__, #condition)))

static bool
near(int rank)
{
    return rank / images_per_node == me / images_per_node;
}

static struct communicator *
current(void)
{
    return in_half ? &exchange->half[me % 2] : &exchange->all;
}

static int
size(void)
{
    return in_half ? (images + 1 - me % 2) / 2 : images;
}

static int
place(void)
{
    return in_half ? me / 2 : me;
}

static void
barrier(void)
{
    int all = (__atomic_fetch_add(&current()->arrived, 1, __ATOMIC_ACQ_REL) / size() + 1) * size();
    while (__atomic_load_n(&current()->arrived, __ATOMIC_ACQUIRE) < all)
        usleep(100);
}

/* Cards of images that are to be far say another start of the system. */
static void
gather(const void *own, void *all, int bytes)
{
    memcpy(current()->slot[place()], own, (size_t) bytes);
    barrier();
    for (int i = 0; i < size(); i++)
        memcpy((char *) all + i * bytes, current()->slot[i], (size_t) bytes);
    barrier();
    if (bytes != (int) sizeof(onenode_card))
        return;
    for (int rank = 0; rank < images; rank++) {
        if (!near(rank))
            ((onenode_card *) all)[rank].word[1]++;
        if (no_card && rank == 1 && me == 0)
            memset((onenode_card *) all + rank, 0, sizeof(onenode_card));
    }
}

static void
least(uint64_t *values, int n)
{
    memcpy(current()->slot[place()], values, (size_t) n * sizeof(*values));
    barrier();
    for (int i = 0; i < size(); i++)
        for (int k = 0; k < n; k++) {
            uint64_t value;
            memcpy(&value, current()->slot[i] + (size_t) k * sizeof(value), sizeof(value));
            values[k] = value < values[k] ? value : values[k];
        }
    barrier();
}

static struct caf_onenode_job
new_job(void)
{
    return (struct caf_onenode_job) { .me = me, .images = images, .least = least, .gather = gather };
}

/* Scalars: each image writes its own places of each other one. */
static void
scalars(long *coarray)
{
    long fresh, value;

    for (int image = 1; image <= images; image++) {
        bool other = near(image - 1) && image - 1 != me;
        struct caf_onenode_array there = { coarray + me, image, 0, sizeof(long), NULL },
                                 here = { &fresh, 0, 0, sizeof(long), NULL };
        fresh = 1000 * image + me;
        CHECK((caf_onenode_at(coarray, image - 1) != NULL) == near(image - 1));
        CHECK(caf_onenode_assign(&there, &here, 0) == other);
        CHECK(caf_onenode_put(coarray + MOST + me, image - 1, &fresh, sizeof(fresh)) == other);
        fresh = 0;
        CHECK(caf_onenode_assign(&here, &there, 0) == other && fresh == (other ? 1000 * image + me : 0));
        CHECK(caf_onenode_get(&value, coarray + MOST + me, image - 1, 8) == other);
        CHECK(!other || value == 1000 * image + me);
        CHECK(!caf_onenode_put(&value, image - 1, &fresh, sizeof(fresh)));     /* no coarray */
    }
    CHECK(caf_onenode_at(coarray, -1) == NULL && caf_onenode_at(coarray, images) == NULL);
    barrier();
    for (int rank = 0; rank < images; rank++) {
        long expected = near(rank) && rank != me ? 1000 * (me + 1) + rank : 0;
        CHECK(coarray[rank] == expected && coarray[MOST + rank] == expected);
    }
    barrier();
}

/* A section of two dimensions of an array of SIDE times SIDE numbers. */
struct section {
    ptrdiff_t dim[6];
    ptrdiff_t first[2], step[2], n[2];
};

static void
new_section(struct section *section, ptrdiff_t n0, ptrdiff_t n1)
{
    ptrdiff_t n[2] = { n0, n1 };

    for (int dim = 0; dim < 2; dim++) {
        ptrdiff_t step = 1 + rand() % (n[dim] > 1 ? (SIDE - 1) / (n[dim] - 1) : 3);
        bool back = rand() % 4 == 0;
        ptrdiff_t room = SIDE - 1 - (n[dim] > 0 ? n[dim] - 1 : 0) * step, first = rand() % (room + 1);
        section->n[dim] = n[dim];
        section->first[dim] = back && n[dim] > 0 ? first + (n[dim] - 1) * step : first;
        section->step[dim] = back ? -step : step;
        section->dim[3 * dim] = section->step[dim] * (dim == 0 ? 1 : SIDE);
        section->dim[3 * dim + 1] = rand() % 5 - 2;
        section->dim[3 * dim + 2] = section->dim[3 * dim + 1] + n[dim] - 1;
    }
}

static long *
element(const struct section *section, long *array, ptrdiff_t i, ptrdiff_t j)
{
    return array + section->first[0] + i * section->step[0] + (section->first[1] + j * section->step[1]) * SIDE;
}

/* Random sections of this image's part of the next near image's array, put and got, beside loops. */
static void
sections(long *coarray, int to)
{
    long *part = coarray + 2 * MOST, local[SIDE * SIDE], expected[SIDE * SIDE], back[SIDE * SIDE];

    srand((unsigned) me);
    for (int i = 0; i < SIDE * SIDE; i++)
        expected[i] = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct section there, here;
        ptrdiff_t n0 = rand() % 7, n1 = rand() % 7;
        bool scalar = rand() % 5 == 0;
        new_section(&there, n0, n1);
        new_section(&here, n0, n1);
        for (int i = 0; i < SIDE * SIDE; i++)
            local[i] = 1000 * round + i, back[i] = -1;
        struct caf_onenode_array
            remote = { element(&there, part, 0, 0), to + 1, 2, sizeof(long), there.dim },
            own = { element(&here, local, 0, 0), 0, scalar ? 0 : 2, sizeof(long), here.dim },
            got = { element(&here, back, 0, 0), 0, 2, sizeof(long), here.dim };
        CHECK(caf_onenode_assign(&remote, &own, 0));
        for (ptrdiff_t j = 0; j < n1; j++)
            for (ptrdiff_t i = 0; i < n0; i++)
                *element(&there, expected, i, j) = *element(&here, local, scalar ? 0 : i, scalar ? 0 : j);
        CHECK(caf_onenode_assign(&got, &remote, 0));
        for (ptrdiff_t j = 0; j < n1; j++)
            for (ptrdiff_t i = 0; i < n0; i++) {
                CHECK(*element(&here, back, i, j) == *element(&there, expected, i, j));
                *element(&here, back, i, j) = -1;
            }
        for (int i = 0; i < SIDE * SIDE; i++)
            CHECK(back[i] == -1);
    }
    CHECK(memcmp(caf_onenode_at(part, to), expected, sizeof(expected)) == 0);
    barrier();
}

/* What is MPI's, and copies from one other image to another, to this image's place there. */
static void
other_arrays(long *coarray, int to)
{
    ptrdiff_t three[] = { 1, 1, 3 }, four[] = { 1, 1, 4 };
    long local[4] = { 1, 2, 3, 4 };
    struct caf_onenode_array remote = { coarray, to + 1, 1, sizeof(long), three },
                             longer = { local, 0, 1, sizeof(long), four },
                             wider = { local, 0, 1, 2 * sizeof(long), three },
                             scalar = { coarray, to + 1, 0, sizeof(long), NULL },
                             third = { coarray + 2 * MOST + SIDE * SIDE + 3 * me, 0, 1, sizeof(long), three };

    CHECK(!caf_onenode_assign(&remote, &longer, 0) && !caf_onenode_assign(&scalar, &longer, 0));
    CHECK(!caf_onenode_assign(&remote, &wider, 0) && !caf_onenode_assign(&remote, &remote, 0));
    for (third.image = 1; third.image <= images; third.image++) {
        bool works = near(third.image - 1) && third.image != to + 1;
        CHECK(caf_onenode_assign(&third, &remote, 0) == works);
        CHECK(!works || memcmp(caf_onenode_at(third.start, third.image - 1), caf_onenode_at(coarray, to), 24) == 0);
    }
    barrier();
}

/* Words of different lengths, of both kinds, at this image's place of another one. */
static void
characters(char *coarray, int to)
{
    char *place = coarray + 128 * me, got[16];
    const uint32_t wide[] = { 0x20ac, 'b', 'c', 'd' };
    uint32_t wide_got[6];
    ptrdiff_t both[] = { 1, 1, 2 };
    struct caf_onenode_array two_by_five = { place, to + 1, 1, 5, both }, two_by_three = { (char *) "abcxyz", 0, 1, 3, both },
                             two_by_eight = { got, 0, 1, 8, both }, two_by_two = { got, 0, 1, 2, both },
                             four = { (uint32_t *) wide, 0, 0, 16, NULL }, six = { place, to + 1, 0, 24, NULL },
                             all = { wide_got, 0, 0, 24, NULL };

    CHECK(caf_onenode_assign(&two_by_five, &two_by_three, 1));
    CHECK(memcmp(caf_onenode_at(place, to), "abc  xyz  ", 10) == 0);
    CHECK(caf_onenode_assign(&two_by_eight, &two_by_five, 1) && memcmp(got, "abc     xyz     ", 16) == 0);
    CHECK(caf_onenode_assign(&two_by_two, &two_by_five, 1) && memcmp(got, "abxy    ", 8) == 0);
    CHECK(!caf_onenode_assign(&two_by_five, &two_by_three, 0));
    CHECK(caf_onenode_assign(&six, &four, 4) && caf_onenode_assign(&all, &six, 4));
    CHECK(memcmp(wide_got, wide, 16) == 0 && wide_got[4] == ' ' && wide_got[5] == ' ');
    barrier();
}

/* Atomics, all images at once. `sum` is in a coarray. */
static void
atomics(uint64_t *sum, bool all)
{
    uint32_t *small = (uint32_t *) (sum + 1), two = 2, before, after, back;
    uint64_t one = 1, old = 7, other, zero = 0;

    CHECK(caf_onenode_atomic(CAF_ONENODE_REF, sum, 1, NULL, &old, 8) == all && old == (all ? 0 : 7));
    barrier();
    if (!all) {
        CHECK(!caf_onenode_cas(sum, 1, &old, &zero, &one, 8));
        return;
    }
    for (int image = 1; image <= images; image++)
        for (int i = 0; i < MANY; i++) {
            CHECK(caf_onenode_atomic(CAF_ONENODE_ADD, sum, image, &one, i % 2 ? &old : NULL, 8));
            do {
                CHECK(caf_onenode_atomic(CAF_ONENODE_REF, small, image, NULL, &before, 4));
                after = before + two;
                CHECK(caf_onenode_cas(small, image, &back, &before, &after, 4));
            } while (back != before);
        }
    barrier();
    CHECK(*sum == (uint64_t) images * MANY && *small == (uint32_t) images * MANY * 2);
    CHECK(!caf_onenode_atomic(CAF_ONENODE_ADD, sum, 1, &one, NULL, 2) && !caf_onenode_atomic(3, sum, 1, &one, NULL, 8));
    CHECK(!caf_onenode_atomic(CAF_ONENODE_ADD, &old, 0, &one, NULL, 8));
    barrier();
    other = 0xf0;
    CHECK(caf_onenode_atomic(CAF_ONENODE_DEFINE, sum, 0, &other, NULL, 8) && *sum == 0xf0);
    other = 0x0f;
    CHECK(caf_onenode_atomic(CAF_ONENODE_OR, sum, 0, &other, &old, 8) && old == 0xf0);
    other = 0x3c;
    CHECK(caf_onenode_atomic(CAF_ONENODE_AND, sum, me + 1, &other, &old, 8) && old == 0xff);
    other = 0x01;
    CHECK(caf_onenode_atomic(CAF_ONENODE_XOR, sum, me + 1, &other, &old, 8) && old == 0x3c && *sum == 0x3d);
    CHECK(caf_onenode_cas(sum, 0, &old, &zero, &one, 8) && old == 0x3d && *sum == 0x3d);
    CHECK(caf_onenode_cas(sum, 0, &old, &old, &one, 8) && old == 0x3d && *sum == 1);
    barrier();
}

/* In a team images have other numbers. */
static void
teams(long *coarray)
{
    struct caf_onenode_array next = { coarray, 0, 0, sizeof(long), NULL }, own = { &(long) { 70 + me }, 0, 0, sizeof(long), NULL };

    *coarray = -1;
    barrier();
    in_half = true;
    caf_onenode_team_begin(size());
    CHECK(caf_onenode_alloc(8) == NULL);
    next.image = (place() + 1) % size() + 1;
    int rank = 2 * (next.image - 1) + me % 2;
    CHECK(caf_onenode_rank(next.image) == rank && caf_onenode_rank(0) == me);
    CHECK(caf_onenode_rank(size() + 1) < 0);
    CHECK(caf_onenode_assign(&next, &own, 0) == (near(rank) && rank != me));
    barrier();
    int last = 2 * ((place() + size() - 1) % size()) + me % 2;
    CHECK(*coarray == (near(last) && last != me ? 70 + last : -1));
    barrier();
    caf_onenode_team_end();
    in_half = false;
    CHECK(caf_onenode_rank(images) == images - 1);
    barrier();
}

static int
run_image(void)
{
    struct caf_onenode_job job = new_job();
    bool all = images_per_node >= images;
    int to = (me + 1) % images;
    long *coarray;
    char *large, *small;

    CHECK(caf_onenode_alloc(8) == NULL && caf_onenode_at(&job, me) == NULL);
    if (images == 1 || images_per_node == 1) {
        CHECK(!caf_onenode_start(&job) && caf_onenode_alloc(8) == NULL);
        return failures != 0;
    }
    CHECK(caf_onenode_start(&job));
    coarray = caf_onenode_alloc(sizeof(long) * (2 * MOST + SIDE * SIDE + 3 * MOST));
    large = caf_onenode_alloc(1 << 20);
    small = caf_onenode_alloc(0);
    CHECK(coarray != NULL && large != NULL && small != NULL && (uintptr_t) small % 64 == 0);
    scalars(coarray);
    while (!near(to) || to == me) {
        to = (to + 1) % images;
        if (to == (me + 1) % images)
            break;
    }
    if (near(to) && to != me) {
        sections(coarray, to);
        other_arrays(coarray, to);
        characters(large, to);
    } else {
        barrier();
        barrier();
        barrier();
    }
    atomics((uint64_t *) (large + (1 << 19)), all);
    teams(coarray);

    /* Memory is found again, and large coarrays come zeroed. */
    memset(large, 1, 1 << 20);
    CHECK(caf_onenode_free(large) && !caf_onenode_free(large) && !caf_onenode_free(large + 1));
    CHECK(caf_onenode_alloc(1 << 20) == large && large[0] == 0 && large[(1 << 20) - 1] == 0);
    CHECK(caf_onenode_free(small) && caf_onenode_alloc(64) == small);
    barrier();
    caf_onenode_stop();
    CHECK(caf_onenode_at(coarray, me) == NULL && caf_onenode_alloc(8) == NULL);        /* nor after stop */
    CHECK(!caf_onenode_atomic(CAF_ONENODE_ADD, coarray, 0, NULL, NULL, 8));
    return failures != 0;
}

/* Two images and what cannot work: both see it, one of them says it once, and the path can be opened afterwards. */
static int
refuse(void)
{
    struct caf_onenode_job job = new_job();
    struct rlimit limit;

    no_card = true;
    CHECK(!caf_onenode_start(&job));            /* image 1 says: does not accept */
    no_card = false;
    getrlimit(RLIMIT_AS, &limit);
    if (me == 1)
        setrlimit(RLIMIT_AS, &(struct rlimit) { 1 << 28, limit.rlim_max });
    CHECK(!caf_onenode_start(&job));            /* image 2 says: cannot open */
    setrlimit(RLIMIT_AS, &limit);
    CHECK(caf_onenode_start(&job));
    CHECK(caf_onenode_alloc(SIZE_MAX) == NULL && caf_onenode_alloc(SIZE_MAX - 64) == NULL);    /* image 1, once */
    if (me == 0)
        CHECK(caf_onenode_alloc(4096) == NULL);
    else
        CHECK(caf_onenode_alloc(SIZE_MAX / 2) == NULL);
    char *both = caf_onenode_alloc(4096);
    CHECK(both != NULL && caf_onenode_at(both, 1 - me) != NULL);
    barrier();
    caf_onenode_stop();
    return failures != 0;
}

/* Runs a function as each image. */
static int
run(int (*function)(void))
{
    int bad = 0, status;

    memset(exchange, 0, sizeof(*exchange));
    for (me = 0; me < images; me++)
        if (fork() == 0) {
            alarm(100);                         /* nothing may hang */
            exit(function());
        }
    while (wait(&status) > 0)
        bad |= status != 0;
    return bad;
}

/* Runs refuse, and expects its sentences. */
static int
run_refuse(void)
{
    static const char *const parts[] = { "image 1: onenode does not accept the card of image 2",
                                         "image 2: onenode cannot", "image 1: there is no room for a coarray" };
    char text[4096];
    FILE *said = tmpfile();
    int err = dup(2), bad, lines = 0;
    size_t bytes;

    dup2(fileno(said), 2);
    bad = run(refuse);
    dup2(err, 2);
    rewind(said);
    bytes = fread(text, 1, sizeof(text) - 1, said);
    text[bytes] = 0;
    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    bad |= lines != 3;
    for (int i = 0; i < 3; i++)
        bad |= strstr(text, parts[i]) == NULL;
    if (bad)
        fprintf(stderr, "not the sentences that were expected:\n%s", text);
    return bad;
}

int
main(int argc, char **argv)
{
    int bad, wanted, per_node;

    if (argc != 3 || (wanted = atoi(argv[1])) < 1 || wanted > MOST || (per_node = atoi(argv[2])) < 1) {
        fprintf(stderr, "usage: check IMAGES IMAGES_PER_NODE, with 1 to %d images\n", MOST);
        return 2;
    }
    exchange = mmap(NULL, sizeof(*exchange), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    images = images_per_node = 2;
    bad = run_refuse();
    images = wanted;
    images_per_node = per_node;
    return bad | run(run_image);
}

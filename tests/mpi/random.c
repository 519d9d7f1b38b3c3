/* Random one-sided programs with a checker: every rank knows from the seed what all ranks do, carries it out on a model of all
 * windows, and compares its own window and what it has fetched with the model after every round.
 *
 *   random [rounds [seed]]
 *
 * Each rank's window has an area for puts and gets and one for accumulates of each origin alone, whose fetched values are
 * known, and one that all origins accumulate to at once, each with types of its own, of which only the sum is known. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 8, AREA = 768, CALLS = 12, MOST = 512, UNIT = 1 };
static int me, n;
static uint64_t state;

static uint32_t any(uint32_t below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((state >> 33) % below);
}

/* Predefined types: their values are small whole numbers, so that no order of sums matters. */
#define TYPES(X) \
    X(MPI_SIGNED_CHAR, signed char, 1) X(MPI_UNSIGNED_CHAR, unsigned char, 1) X(MPI_SHORT, short, 1) X(MPI_UNSIGNED_SHORT, unsigned short, 1) X(MPI_INT, int, 1) \
    X(MPI_UNSIGNED, unsigned, 1) X(MPI_LONG, long, 1) X(MPI_UNSIGNED_LONG, unsigned long, 1) X(MPI_LONG_LONG, long long, 1) \
    X(MPI_INT8_T, int8_t, 1) X(MPI_INT16_T, int16_t, 1) X(MPI_INT32_T, int32_t, 1) X(MPI_INT64_T, int64_t, 1) X(MPI_UINT8_T, uint8_t, 1) \
    X(MPI_UINT16_T, uint16_t, 1) X(MPI_UINT32_T, uint32_t, 1) X(MPI_UINT64_T, uint64_t, 1) X(MPI_AINT, MPI_Aint, 1) X(MPI_COUNT, MPI_Count, 1) \
    X(MPI_OFFSET, MPI_Offset, 1) X(MPI_FLOAT, float, 0) X(MPI_DOUBLE, double, 0) X(MPI_LONG_DOUBLE, long double, 0)
typedef struct { MPI_Datatype type; size_t bytes; int integer; void (*make)(void *, int); void (*combine)(int, void *, const void *); const char *name; } base;
enum { SUM, PROD, MAX, MIN, LAND, LOR, LXOR, BAND, BOR, BXOR, REPLACE, NO_OP, OPS };
static const char *const op_names[] = {"SUM", "PROD", "MAX", "MIN", "LAND", "LOR", "LXOR", "BAND", "BOR", "BXOR", "REPLACE", "NO_OP"};
#define LOGIC(a, op, b) ((a) op (b))
#define BITS_1(T) case BAND: a = (T)(a & b); break; case BOR: a = (T)(a | b); break; case BXOR: a = (T)(a ^ b); break;
#define BITS_0(T)
#define X(mpi, T, i) \
    static void make_##mpi(void *at, int v) { T t = (T)v; memset(at, 0, sizeof t); memcpy(at, &t, sizeof t < 16 ? sizeof t : 10); } \
    static void combine_##mpi(int op, void *into, const void *from) \
    { \
        T a, b; memcpy(&a, into, sizeof a); memcpy(&b, from, sizeof b); \
        switch (op) { \
        case SUM: a = (T)(a + b); break; case PROD: a = (T)(a * b); break; case MAX: a = a > b ? a : b; break; case MIN: a = a < b ? a : b; break; \
        case LAND: a = (T)(a != 0 && b != 0); break; case LOR: a = (T)(a != 0 || b != 0); break; case LXOR: a = (T)((a != 0) != (b != 0)); break; \
        case REPLACE: a = b; break; BITS_##i(T) } \
        memset(into, 0, sizeof a); memcpy(into, &a, sizeof a < 16 ? sizeof a : 10); \
    }
TYPES(X)
#undef X
#define X(mpi, T, i) {mpi, sizeof(T), i, make_##mpi, combine_##mpi, #mpi},
static base bases[32];
static int types;
static MPI_Op ops[OPS];

/* A type of some values of one predefined type: where they are, and how far the next instance is. */
typedef struct { MPI_Datatype type; int values, at[8], extent, span; bool derived; } shape;

static shape make_shape(const base *b, int values)
{
    shape s = {.type = b->type, .values = values, .derived = true};
    int size = (int)b->bytes, lengths[8], places[8];
    MPI_Aint far[8];
    MPI_Datatype old[8], inner;
    int kind = (int)any(8);
    if (kind == 0 || kind == 7) {
        s.values = 1, s.derived = false, s.extent = s.span = size;
        return s;
    }
    for (int i = 0; i < values; i++)
        s.at[i] = i * size;
    s.extent = values * size;
    switch (kind) {
    case 1:
        MPI_Type_contiguous(values, b->type, &s.type);
        break;
    case 2: { /* a gap after each value */
        MPI_Type_vector(values, 1, 2, b->type, &s.type);
        for (int i = 0; i < values; i++)
            s.at[i] = 2 * i * size;
        s.extent = (2 * values - 1) * size;
        break;
    }
    case 3: /* backwards */
        for (int i = 0; i < values; i++)
            lengths[i] = 1, places[i] = values - 1 - i, s.at[i] = places[i] * size;
        MPI_Type_indexed(values, lengths, places, b->type, &s.type);
        break;
    case 4: /* a struct of one type */
        for (int i = 0; i < values; i++)
            lengths[i] = 1, far[i] = (MPI_Aint)(i * 3 * size), old[i] = b->type, s.at[i] = (int)far[i];
        MPI_Type_create_struct(values, lengths, far, old, &s.type);
        s.extent = (3 * (values - 1) + 1) * size;
        break;
    case 5: /* of a duplicate, resized */
        MPI_Type_dup(b->type, &old[0]);
        MPI_Type_contiguous(values, old[0], &inner);
        MPI_Type_create_resized(inner, 0, (values + 1) * size, &s.type);
        MPI_Type_free(&inner);
        MPI_Type_free(&old[0]);
        s.extent = (values + 1) * size;
        break;
    case 6: { /* the middle of an array */
        int whole = values + 2, from = 1;
        MPI_Type_create_subarray(1, &whole, &values, &from, MPI_ORDER_C, b->type, &s.type);
        for (int i = 0; i < values; i++)
            s.at[i] = (i + 1) * size;
        s.extent = whole * size;
        break;
    }
    }
    MPI_Type_commit(&s.type);
    s.span = s.extent;
    return s;
}

static void drop(shape *s)
{
    if (s->derived)
        MPI_Type_free(&s->type);
}

/* Byte `i` of value `k` of a buffer of that shape. */
static int place(const shape *s, int value)
{
    return value / s->values * s->extent + s->at[value % s->values];
}

static unsigned char *model[RANKS], *own; /* all windows */
static int area_put(int origin) { return origin * AREA; }
static int area_own(int origin) { return (n + origin) * AREA; }
static int area_all(void) { return 2 * n * AREA; }
static size_t window_bytes(void) { return (size_t)(2 * n + 1) * AREA; }
/* Rank 2 of 3 has a displacement unit of its own. */
static int unit_of(int rank) { return rank % 3 == 2 ? 16 : 1; }

/* The bytes of long doubles that mean nothing. */
static void forget_rest(const base *b, int area)
{
    for (int k = 0; strcmp(b->name, "MPI_LONG_DOUBLE") == 0 && k < AREA; k++)
        if (k % 16 >= 10)
            own[area + k] = model[me][area + k] = 0;
}

/* What a call has fetched, compared when its epoch has ended. */
typedef struct { unsigned char got[MOST], wanted[MOST]; char what[96]; bool used; } fetch;
static fetch fetched[CALLS * 4];
static unsigned char origins[CALLS * 4][MOST];
static int wrong;

static void compare(const char *what, unsigned char *got, const unsigned char *wanted, size_t bytes, int round)
{
    for (size_t i = 0; i < bytes; i++)
        if (got[i] != wanted[i]) {
            if (wrong++ < 5)
                printf("rank %d, round %d: %s: byte %zu is %d, expected %d\n", me, round, what, i, got[i], wanted[i]), fflush(stdout);
            return;
        }
}

static void finish(MPI_Request *request)
{
    MPI_Status status;
    int flag = 0;
    static unsigned times; /* not drawn: only one rank calls this */
    if (times++ % 2)
        MPI_Wait(request, &status);
    else
        while (!flag)
            MPI_Test(request, &flag, &status);
}

typedef enum { FENCE, PSCW, SHARED, EXCLUSIVE, ALL, ALL_LATE, MODES } mode;

/* All ranks go through all calls of the round; each carries out its own. */
static void round_of_calls(MPI_Win win, mode how, int round)
{
    bool puts[RANKS][RANKS]; /* origin's area in the target is put to, or else can be got */
    int at_put[RANKS][RANKS] = {{0}}, at_all[RANKS] = {0};
    const base *own_base[RANKS][RANKS], *all_base[RANKS];
    int all_op[RANKS];
    for (int target = 0; target < n; target++) {
        all_base[target] = &bases[any((uint32_t)types)];
        all_op[target] = (int)any(REPLACE);
        if (!all_base[target]->integer && (all_op[target] >= BAND || all_op[target] == PROD))
            all_op[target] = (int)any(2) ? SUM : MAX;
        if (!all_base[target]->integer && all_op[target] >= LAND)
            all_op[target] = MIN;
        for (int origin = 0; origin < n; origin++)
            puts[origin][target] = any(2), own_base[origin][target] = &bases[any((uint32_t)types)];
        /* Whole numbers of the types that the round uses. */
        for (int i = 0; i + 16 <= AREA; i += (int)all_base[target]->bytes)
            all_base[target]->make(model[target] + area_all() + i, 1 + i % 5);
        for (int origin = 0; origin < n; origin++)
            for (int i = 0; i + 16 <= AREA; i += (int)own_base[origin][target]->bytes)
                own_base[origin][target]->make(model[target] + area_own(origin) + i, 1 + i % 7);
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win);
    memcpy(own, model[me], window_bytes());
    MPI_Win_unlock(me, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    if (how == FENCE)
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    else if (how == PSCW)
        MPI_Win_post(world, 0, win), MPI_Win_start(world, 0, win);
    else if (how >= ALL)
        MPI_Win_lock_all(0, win);
    MPI_Group_free(&world);
    bool passive = how >= SHARED;
    memset(fetched, 0, sizeof fetched);
    int used = 0;
    for (int origin = 0; origin < n; origin++)
        for (int target = 0, locked = -1; target <= n; target++) {
            if (locked >= 0 && origin == me)
                MPI_Win_unlock(locked, win);
            if (target == n)
                break;
            locked = how == SHARED || how == EXCLUSIVE ? target : -1;
            if (locked >= 0 && origin == me)
                MPI_Win_lock(how == SHARED ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, win);
            int count = (int)any(CALLS / 2 + 1) - 1;
            for (int call = 0; call < count; call++) {
                int kind = (int)any(10);
                bool request = any(3) == 0 && passive, mine = origin == me && used < CALLS * 4;
                const base *b = kind < 4 ? &bases[any((uint32_t)types - 1)] /* the last has bytes without meaning */ : kind < 8 ? own_base[origin][target] : all_base[target];
                int size = (int)b->bytes, op = kind < 8 ? (int)any(OPS) : all_op[target];
                if (!b->integer && ((op >= LAND && op <= BXOR) || op == PROD))
                    op = SUM;
                int values = 1 + (int)any(4), times = 1 + (int)any(3);
                shape there = make_shape(b, values), here = make_shape(b, values), back = make_shape(b, values);
                int total = there.values * times;
                /* The counts that make as many values of each; a type of several values may not divide them. */
                if (total % here.values != 0) { drop(&here); here = (shape){.type = b->type, .values = 1, .extent = size, .span = size}; }
                if (total % back.values != 0) { drop(&back); back = (shape){.type = b->type, .values = 1, .extent = size, .span = size}; }
                int here_times = total / here.values, back_times = total / back.values, span = times * there.extent + 16;
                int from = kind < 4 ? at_put[origin][target] : (int)any((uint32_t)(AREA / 4)) / size * size;
                from = (from + 15) / 16 * 16;
                unsigned char *o = mine ? origins[used] : origins[0];
                fetch *f = mine ? &fetched[used] : NULL;
                int drawn[64];
                for (int i = 0; i < 64; i++)
                    drawn[i] = (int)any(9);
                bool fits = from + span < AREA - 16 && here_times * here.extent < MOST && back_times * back.extent < MOST && total <= 64;
                int flush = (int)any(6), lone = (int)any(3), source = (int)any((uint32_t)n);
                if (fits && mine && kind != 2 && kind != 3)
                    for (int i = 0; i < total; i++)
                        b->make(o + place(&here, i), drawn[i]);
                if (!fits)
                    ;
                else if (kind < 2 && puts[origin][target]) { /* put */
                    int disp = area_put(origin) + from;
                    at_put[origin][target] = from + span;
                    for (int i = 0; i < total; i++)
                        b->make(model[target] + disp + place(&there, i), drawn[i]);
                    if (mine) {
                        used++;
                        MPI_Request r;
                        MPI_Aint d = disp / unit_of(target);
                        if (request)
                            MPI_Rput(o, here_times, here.type, target, d, times, there.type, win, &r), finish(&r);
                        else
                            MPI_Put(o, here_times, here.type, target, d, times, there.type, win);
                    }
                } else if (kind < 4 && !puts[source][target]) { /* get */
                    int disp = area_put(source) + from;
                    if (mine) {
                        used++;
                        for (int i = 0; i < total; i++)
                            memcpy(f->wanted + place(&here, i), model[target] + disp + place(&there, i), b->bytes);
                        snprintf(f->what, sizeof f->what, "get of %s from %d", b->name, target);
                        f->used = true;
                        MPI_Request r;
                        MPI_Aint d = disp / unit_of(target);
                        if (request)
                            MPI_Rget(f->got, here_times, here.type, target, d, times, there.type, win, &r), finish(&r);
                        else
                            MPI_Get(f->got, here_times, here.type, target, d, times, there.type, win);
                        if (passive && flush == 0) {
                            MPI_Win_flush(target, win);
                            compare("get and flush", f->got, f->wanted, MOST, round);
                        }
                    }
                } else if (kind >= 4) { /* accumulate: alone, or all at once */
                    bool alone = kind < 8, single = lone != 0 && total == 1 && !there.derived && !here.derived && !back.derived;
                    int disp = alone ? area_own(origin) + from : area_all() + from;
                    unsigned char *m = model[target] + disp;
                    MPI_Aint d = disp / unit_of(target);
                    bool fetches = op == NO_OP || drawn[63] % 2, swap = single && alone && b->integer && drawn[62] % 2;
                    unsigned char expected[16] = {0};
                    if (swap) {
                        b->make(expected, drawn[61] % 3);
                        if (drawn[60] % 2)
                            memcpy(expected, m, b->bytes);
                    }
                    if (mine && fetches && alone) {
                        for (int i = 0; i < total; i++)
                            memcpy(f->wanted + place(&back, i), m + place(&there, i), b->bytes);
                        f->used = true;
                        snprintf(f->what, sizeof f->what, "%s of %s at %d by rank %d alone", op_names[op], b->name, target, origin);
                    }
                    unsigned char value[16];
                    for (int i = 0; i < total; i++) {
                        b->make(value, drawn[i]);
                        if (swap ? memcmp(expected, m, b->bytes) == 0 : op != NO_OP)
                            b->combine(swap ? REPLACE : op, m + place(&there, i), value);
                    }
                    if (mine) {
                        used++;
                        MPI_Request r;
                        if (swap) {
                            if (!(fetches && alone))
                                f->used = false;
                            static unsigned char ignored[MOST], kept[CALLS * 4][16];
                            memcpy(kept[used - 1], expected, 16); /* until the epoch ends */
                            MPI_Compare_and_swap(o, kept[used - 1], f->used ? f->got : ignored, b->type, target, d, win);
                        } else if (single && fetches)
                            MPI_Fetch_and_op(o, f->got, b->type, target, d, ops[op], win);
                        else if (fetches && request)
                            MPI_Rget_accumulate(o, here_times, here.type, f->got, back_times, back.type, target, d, times, there.type, ops[op], win, &r), finish(&r);
                        else if (fetches)
                            MPI_Get_accumulate(o, here_times, here.type, f->got, back_times, back.type, target, d, times, there.type, ops[op], win);
                        else if (request)
                            MPI_Raccumulate(o, here_times, here.type, target, d, times, there.type, ops[op], win, &r), finish(&r);
                        else
                            MPI_Accumulate(o, here_times, here.type, target, d, times, there.type, ops[op], win);
                    }
                }
                if (mine && passive && fits) {
                    if (flush == 1)
                        MPI_Win_flush(target, win);
                    else if (flush == 2)
                        MPI_Win_flush_all(win);
                    else if (flush == 3)
                        MPI_Win_flush_local(target, win);
                    else if (flush == 4)
                        MPI_Win_flush_local_all(win);
                }
                drop(&there), drop(&here), drop(&back);
                (void)at_all;
            }
        }
    if (how == FENCE)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    else if (how == PSCW)
        MPI_Win_complete(win), MPI_Win_wait(win);
    else if (how == ALL)
        MPI_Win_unlock_all(win);
    else if (how == ALL_LATE)
        MPI_Win_flush_all(win);
    for (int i = 0; i < used; i++)
        if (fetched[i].used)
        {
            for (int k = 0; strstr(fetched[i].what, "LONG_DOUBLE") != NULL && k < MOST; k++)
                if (k % 16 >= 10) /* without meaning */
                    fetched[i].got[k] = fetched[i].wanted[k] = 0;
            compare(fetched[i].what, fetched[i].got, fetched[i].wanted, MOST, round);
        }
    MPI_Barrier(MPI_COMM_WORLD);
    if (how == ALL_LATE)
        MPI_Win_sync(win);
    for (int origin = 0; origin < n; origin++)
        forget_rest(own_base[origin][me], area_own(origin));
    forget_rest(all_base[me], area_all());
    if (how == ALL_LATE) {
        compare("window before unlock", own, model[me], window_bytes(), round);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_unlock_all(win);
    }
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
    for (int origin = 0; origin < n; origin++) {
        compare("area of puts", own + area_put(origin), model[me] + area_put(origin), AREA, round);
        compare("area of one's accumulates", own + area_own(origin), model[me] + area_own(origin), AREA, round);
    }
    char what[96];
    snprintf(what, sizeof what, "area of all accumulates, %s of %s", op_names[all_op[me]], all_base[me]->name);
    compare(what, own + area_all(), model[me] + area_all(), AREA, round);
    MPI_Win_unlock(me, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int given;
    MPI_Init_thread(&argc, &argv, argc > 3 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm node;
    int here;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    const base list[] = {TYPES(X)};
    types = (int)(sizeof list / sizeof *list);
    memcpy(bases, list, sizeof list);
    const MPI_Op all[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_REPLACE, MPI_NO_OP};
    memcpy(ops, all, sizeof all);
    for (int i = 0; i < n; i++)
        model[i] = calloc(1, window_bytes());
    MPI_Win win = MPI_WIN_NULL;
    for (int round = 0; round < rounds; round++) {
        if (round % 20 == 0) { /* a new window, of either flavour */
            if (win != MPI_WIN_NULL)
                MPI_Win_free(&win);
            if (any(3) || here < n)
                MPI_Win_allocate((MPI_Aint)window_bytes(), unit_of(me), MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
            else
                MPI_Win_allocate_shared((MPI_Aint)window_bytes(), unit_of(me), MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
            memset(own, 0, window_bytes());
            for (int i = 0; i < n; i++)
                memset(model[i], 0, window_bytes());
            MPI_Barrier(MPI_COMM_WORLD);
        }
        round_of_calls(win, (mode)any(MODES), round);
    }
    MPI_Win_free(&win);
    int sum;
    MPI_Allreduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0)
        printf(sum == 0 ? "%d rounds: right\n" : "%d rounds: %d differences\n", rounds, sum);
    MPI_Finalize();
    return sum != 0;
}

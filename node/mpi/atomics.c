/* Accumulates, fetch_and_op, compare_and_swap: which are atomic to each other for each value of a predefined type.
 *
 * A window's accumulates must not be carried out partly here and partly by MPI: no MPI's are atomic to the processor's. So
 * every predefined type, every type made of one, every predefined operation and every form is carried out here. What is passed
 * on is in error, or of a type that is always passed on.
 *
 * There are two ways to update a value: a locked instruction (or a loop with one), or in the section of a guard that each rank
 * of the window has. Two updates of one value must take the same way. The way depends on nothing but the value's kind, size and
 * address: by instruction if it is an integer, a logical or bytes, has 1, 2, 4 or 8 bytes and lies at a multiple of that; by guard if it is a
 * floating-point number, of which there often are many in one call, a complex one or a pair. MPI leaves undefined what concurrent
 * accumulates of different predefined types do to one location, so those that must be atomic to each other agree in all of that. All
 * ranks map a part at addresses that are equal modulo the page size, so they agree on the multiple, too.
 *
 * Accumulates of one rank to one location keep their order, as each is complete when the call returns. */
#include "onenode_mpi.h"
#include <complex.h>
#include <sched.h>
#include <wchar.h>

/* An operation on values at any address. Integers wrap around. */
#define COMBINE(name, T, expression) \
    static void name(void *into, const void *from) \
    { \
        T a, b; \
        memcpy(&a, from, sizeof a); \
        memcpy(&b, into, sizeof b); \
        b = (T)(expression); \
        memcpy(into, &b, sizeof b); \
    }
#define ARITHMETIC(n, T) COMBINE(max_##n, T, a > b ? a : b) COMBINE(min_##n, T, a < b ? a : b) \
    COMBINE(land_##n, T, a != 0 && b != 0) COMBINE(lor_##n, T, a != 0 || b != 0) COMBINE(lxor_##n, T, (a != 0) != (b != 0))
#define INTEGERS(n, T, W) ARITHMETIC(n, T) COMBINE(sum_##n, T, (W)a + (W)b) COMBINE(prod_##n, T, (W)a * (W)b) \
    COMBINE(band_##n, T, a & b) COMBINE(bor_##n, T, a | b) COMBINE(bxor_##n, T, a ^ b) \
    static combine *const n##_operations[OPERATIONS] = {max_##n, min_##n, sum_##n, prod_##n, land_##n, band_##n, lor_##n, bor_##n, lxor_##n, bxor_##n};
#define FLOATS(n, T) ARITHMETIC(n, T) COMBINE(sum_##n, T, a + b) COMBINE(prod_##n, T, a * b) \
    static combine *const n##_operations[OPERATIONS] = {max_##n, min_##n, sum_##n, prod_##n, land_##n, NULL, lor_##n, NULL, lxor_##n};
#define COMPLEXES(n, T) COMBINE(sum_##n, T, a + b) COMBINE(prod_##n, T, a * b) \
    static combine *const n##_operations[OPERATIONS] = {[SUM_] = sum_##n, [PROD_] = prod_##n};
/* The greater or smaller value, and of equal ones the smaller index. */
#define PAIRED(n, T, I) \
    typedef struct { T value; I index; } n##_pair; \
    COMBINE(maxloc_##n, n##_pair, a.value > b.value ? a : b.value > a.value ? b : a.index < b.index ? a : b) \
    COMBINE(minloc_##n, n##_pair, a.value < b.value ? a : b.value < a.value ? b : a.index < b.index ? a : b)

INTEGERS(i8, int8_t, uint32_t) INTEGERS(i16, int16_t, uint32_t) INTEGERS(i32, int32_t, uint32_t) INTEGERS(i64, int64_t, uint64_t)
INTEGERS(u8, uint8_t, uint32_t) INTEGERS(u16, uint16_t, uint32_t) INTEGERS(u32, uint32_t, uint32_t) INTEGERS(u64, uint64_t, uint64_t)
FLOATS(f, float) FLOATS(d, double) FLOATS(ld, long double)
COMPLEXES(fc, float complex) COMPLEXES(dc, double complex) COMPLEXES(ldc, long double complex)
#undef COMBINE
/* Only the bytes of the two parts are there to read and write. */
#define COMBINE(name, T, expression) \
    static void name(void *into, const void *from) \
    { \
        enum { END = offsetof(T, index) + sizeof((T){0}.index) }; \
        T a = {0}, b = {0}; \
        memcpy(&a, from, END); \
        memcpy(&b, into, END); \
        b = expression; \
        memcpy(into, &b.value, sizeof b.value); \
        memcpy((char *)into + offsetof(T, index), &b.index, sizeof b.index); \
    }
PAIRED(float_int, float, int) PAIRED(double_int, double, int) PAIRED(long_int, long, int) PAIRED(short_int, short, int)
PAIRED(int_int, int, int) PAIRED(long_double_int, long double, int) PAIRED(float_float, float, float) PAIRED(double_double, double, double)

static combine *const no_operations[OPERATIONS];
#define LOGICAL_OPERATIONS(n) static combine *const n##_logical[OPERATIONS] = {[LAND_] = land_##n, [LOR_] = lor_##n, [LXOR_] = lxor_##n};
LOGICAL_OPERATIONS(i8) LOGICAL_OPERATIONS(i16) LOGICAL_OPERATIONS(i32) LOGICAL_OPERATIONS(i64)
static combine *const byte_operations[OPERATIONS] = {[BAND_] = band_u8, [BOR_] = bor_u8, [BXOR_] = bxor_u8};
#define PAIR_OPERATIONS(n) static combine *const n##_operations[OPERATIONS] = {[MINLOC_] = minloc_##n, [MAXLOC_] = maxloc_##n};
PAIR_OPERATIONS(float_int) PAIR_OPERATIONS(double_int) PAIR_OPERATIONS(long_int) PAIR_OPERATIONS(short_int)
PAIR_OPERATIONS(int_int) PAIR_OPERATIONS(long_double_int) PAIR_OPERATIONS(float_float) PAIR_OPERATIONS(double_double)

#define SUM_OF(n, T) \
    static void sum_of_##n(void *into, const void *from, size_t count) \
    { \
        for (size_t i = 0; i < count; i++) \
            sum_##n((T *)into + i, (const T *)from + i); \
    }
SUM_OF(f, float) SUM_OF(d, double)

#define LONE(kind, n, operations) {kind, n, n, n, operations, NULL}
#define TWO(n) \
    {PAIR, sizeof((n##_pair){0}.value) + sizeof((n##_pair){0}.index), offsetof(n##_pair, index) + sizeof((n##_pair){0}.index), \
     sizeof((n##_pair){0}.value), n##_operations, NULL}
static const element lone[] = {
    LONE(SIGNED, 1, i8_operations), LONE(SIGNED, 2, i16_operations), LONE(SIGNED, 4, i32_operations), LONE(SIGNED, 8, i64_operations),
    LONE(UNSIGNED, 1, u8_operations), LONE(UNSIGNED, 2, u16_operations), LONE(UNSIGNED, 4, u32_operations), LONE(UNSIGNED, 8, u64_operations),
    {FLOATING, 4, 4, 4, f_operations, sum_of_f}, {FLOATING, 8, 8, 8, d_operations, sum_of_d}, LONE(FLOATING, sizeof(long double) == 8 ? 0 : sizeof(long double), ld_operations),
    LONE(COMPLEX, 8, fc_operations), LONE(COMPLEX, 16, dc_operations),
    LONE(COMPLEX, sizeof(long double complex) == 16 ? 0 : sizeof(long double complex), ldc_operations),
    LONE(LOGICAL, 1, i8_logical), LONE(LOGICAL, 2, i16_logical), LONE(LOGICAL, 4, i32_logical), LONE(LOGICAL, 8, i64_logical),
    LONE(BYTES, 1, byte_operations), LONE(CHARACTER, 1, no_operations), LONE(CHARACTER, sizeof(wchar_t), no_operations),
};
static const element pairs[] = {TWO(float_int), TWO(double_int), TWO(long_int), TWO(short_int), TWO(int_int), TWO(long_double_int), TWO(float_float), TWO(double_double)};

const element *element_of(kind kind, size_t which)
{
    if (kind == PAIR)
        return &pairs[which];
    for (size_t i = 0; i < sizeof lone / sizeof *lone; i++)
        if (lone[i].kind == kind && lone[i].bytes == which)
            return &lone[i];
    return NULL;
}

/* The rank, if accumulates to it are ours. */
static inline const target *guarded_target_of(window *w, int rank)
{
    const target *t = target_of(w, rank);
    return LIKELY(t != NULL && t->guard != NULL) ? t : NULL;
}

static inline int operation_of(MPI_Op op)
{
    if (op == MPI_SUM)
        return SUM_;
    if (op == MPI_REPLACE)
        return REPLACE_;
    if (op == MPI_NO_OP)
        return NO_OP_;
    const MPI_Op others[] = {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};
    for (int i = 0; i < (int)(sizeof others / sizeof *others); i++)
        if (op == others[i])
            return i;
    return OPERATIONS;
}

static inline bool is_defined(const element *e, int operation)
{
    return operation < OPERATIONS && (operation >= REPLACE_ || e->operations[operation] != NULL);
}

static void hold(guard *g)
{
    for (uint32_t tries = 0; atomic_exchange_explicit(&g->held, 1, memory_order_acquire) != 0;)
        while (atomic_load_explicit(&g->held, memory_order_relaxed) != 0)
            if (++tries % 64 == 0)
                sched_yield(); /* the holder may wait for this processor */
}

static void release(guard *g)
{
    quick.stored = true;
    atomic_store_explicit(&g->held, 0, memory_order_release);
}

/* By instruction, a value of type T at `there`. */
#define BY_INSTRUCTION(T) \
    do { \
        T *at = (T *)there, old, new; \
        bool integer = e->kind <= UNSIGNED || e->kind == BYTES; \
        quick.stored = true; \
        memcpy(&new, operation == NO_OP_ ? (void *)&(T){0} : from, sizeof new); \
        if (operation == SUM_ && e->kind <= UNSIGNED) \
            old = __atomic_fetch_add(at, new, __ATOMIC_ACQ_REL); \
        else if (operation == REPLACE_) { \
            if (result == NULL) { \
                __atomic_store_n(at, new, __ATOMIC_RELEASE); \
                return; \
            } \
            old = __atomic_exchange_n(at, new, __ATOMIC_ACQ_REL); \
        } else if (operation == NO_OP_) \
            old = __atomic_load_n(at, __ATOMIC_ACQUIRE); \
        else if (operation == BAND_ && integer) \
            old = __atomic_fetch_and(at, new, __ATOMIC_ACQ_REL); \
        else if (operation == BOR_ && integer) \
            old = __atomic_fetch_or(at, new, __ATOMIC_ACQ_REL); \
        else if (operation == BXOR_ && integer) \
            old = __atomic_fetch_xor(at, new, __ATOMIC_ACQ_REL); \
        else { \
            old = __atomic_load_n(at, __ATOMIC_RELAXED); \
            do { \
                new = old; \
                e->operations[operation](&new, from); \
            } while (!__atomic_compare_exchange_n(at, &old, new, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)); \
        } \
        if (result != NULL) \
            memcpy(result, &old, sizeof old); \
        return; \
    } while (0)

static inline bool by_instruction(const element *e, const char *there)
{
    return e->kind != FLOATING && e->kind != COMPLEX && e->kind != PAIR && e->span <= 8 && (uintptr_t)there % e->span == 0;
}

/* Many values without gaps, by guard: some at a time, so that others come in between. */
static void update_many(guard *g, const element *e, int operation, char *there, const char *from, char *result, size_t count)
{
    enum { SOME = 512 };
    while (count > 0) {
        size_t now = count < SOME ? count : SOME, bytes = now * e->bytes;
        hold(g);
        if (result != NULL)
            memcpy(result, there, bytes);
        if (operation == REPLACE_)
            memcpy(there, from, bytes);
        else if (operation == SUM_ && e->sum != NULL)
            e->sum(there, from, now);
        else if (operation != NO_OP_)
            for (size_t i = 0; i < bytes; i += e->bytes)
                e->operations[operation](there + i, from + i);
        release(g);
        count -= now;
        there += bytes;
        from = operation != NO_OP_ ? from + bytes : from;
        result = result != NULL ? result + bytes : NULL;
    }
}

/* A value, but for the gap in a pair. */
static inline void move(const element *e, char *to, const char *from)
{
    size_t gap = (size_t)(e->span - e->bytes);
    if (LIKELY(gap == 0)) {
        memcpy(to, from, e->bytes);
        return;
    }
    memcpy(to, from, e->first);
    memcpy(to + e->first + gap, from + e->first + gap, (size_t)(e->bytes - e->first));
}

/* One value. */
static inline void update(guard *g, const element *e, int operation, char *there, const void *from, void *result)
{
    if (LIKELY(by_instruction(e, there)))
        switch (e->span) {
        case 8: BY_INSTRUCTION(uint64_t);
        case 4: BY_INSTRUCTION(uint32_t);
        case 2: BY_INSTRUCTION(uint16_t);
        case 1: BY_INSTRUCTION(uint8_t);
        }
    char old[sizeof(long double complex)];
    hold(g);
    memcpy(old, there, e->span);
    if (operation == REPLACE_)
        move(e, there, from);
    else if (operation != NO_OP_)
        e->operations[operation](there, from);
    release(g);
    if (result != NULL)
        move(e, result, old);
}

outcome accumulate(window *w, const void *o, MPI_Count oc, MPI_Datatype ot, void *result, MPI_Count rc, MPI_Datatype rt, int rank, MPI_Aint disp,
                MPI_Count tc, MPI_Datatype tt, MPI_Op op, bool fetches)
{
    const target *at = guarded_target_of(w, rank);
    int operation = operation_of(op);
    const type *there = type_of(tt);
    if (at == NULL || there == NULL || there->element == NULL || tc < 0 || !is_defined(there->element, operation))
        return PASS;
    const element *e = there->element;
    const type *origin = there, *back = there;
    size_t bytes, same;
    if (__builtin_mul_overflow((size_t)tc, there->size, &bytes))
        return PASS;
    if (operation != NO_OP_) {
        origin = ot == tt ? there : type_of(ot);
        if (origin == NULL || origin->element != e || oc < 0 || __builtin_mul_overflow((size_t)oc, origin->size, &same) || same != bytes
            || (origin->dense && bytes != 0 && !is_buffer(o)))
            return PASS;
    } else if (!fetches)
        return PASS;
    if (fetches) {
        back = rt == tt ? there : type_of(rt);
        if (back == NULL || back->element != e || rc < 0 || __builtin_mul_overflow((size_t)rc, back->size, &same) || same != bytes
            || (back->dense && bytes != 0 && !is_buffer(result)))
            return PASS;
    }
    if ((!is_apart(there) && !take_apart(there)) || (!is_apart(origin) && !take_apart(origin))
        || (!is_apart(back) && !take_apart(back)))
        return UNKNOWN;
    char *theirs = there->dense ? address(at, disp, bytes) : typed_address(at, disp, tc, there);
    if (theirs == NULL)
        return outside(w, disp, bytes);
    if (LIKELY(bytes == e->bytes && there->dense && origin->dense && back->dense)) {
        update(at->guard, e, operation, theirs, o, result);
        return DONE;
    }
    if (there->dense && origin->dense && back->dense && e->bytes == e->span && !by_instruction(e, theirs)) {
        update_many(at->guard, e, operation, theirs, o, result, bytes / e->bytes);
        return DONE;
    }
    cursor to = start_of(theirs, tc, there), from = {.type = there}, old = {.type = there};
    if (operation != NO_OP_)
        from = start_of((char *)o, oc, origin);
    if (fetches)
        old = start_of(result, rc, back);
    for (size_t left = bytes; left > 0;) {
        size_t now = e->bytes;
        if (e->bytes == e->span && !by_instruction(e, to.at)) { /* what lies together in all buffers */
            now = to.left < left ? to.left : left;
            if (operation != NO_OP_)
                now = now < from.left ? now : from.left;
            if (fetches)
                now = now < old.left ? now : old.left;
            update_many(at->guard, e, operation, to.at, from.at, old.at, now / e->bytes);
        } else
            update(at->guard, e, operation, to.at, from.at, old.at);
        left -= now;
        if (left == 0)
            break;
        advance(&to, now);
        if (operation != NO_OP_)
            advance(&from, now);
        if (fetches)
            advance(&old, now);
    }
    return DONE;
}

outcome fetch_and_op(window *w, const void *o, void *result, MPI_Datatype t, int rank, MPI_Aint disp, MPI_Op op)
{
    const target *at = guarded_target_of(w, rank);
    const type *there = type_of(t);
    int operation = operation_of(op);
    if (UNLIKELY(at == NULL || there == NULL || !there->predefined || there->element == NULL || !is_defined(there->element, operation)
                 || !is_buffer(result) || (operation != NO_OP_ && !is_buffer(o))))
        return PASS;
    char *theirs = address(at, disp, there->true_extent);
    if (UNLIKELY(theirs == NULL))
        return outside(w, disp, there->size);
    update(at->guard, there->element, operation, theirs, o, result);
    return DONE;
}

outcome compare_and_swap(window *w, const void *o, const void *expected, void *result, MPI_Datatype t, int rank, MPI_Aint disp)
{
    const target *at = guarded_target_of(w, rank);
    const type *there = type_of(t);
    if (UNLIKELY(at == NULL || there == NULL || !there->predefined || there->element == NULL || !is_buffer(o) || !is_buffer(expected)
                 || !is_buffer(result)))
        return PASS;
    const element *e = there->element;
    char *theirs = address(at, disp, e->span);
    if (UNLIKELY(!(e->kind <= UNSIGNED || e->kind == LOGICAL || e->kind == BYTES)))
        return PASS;
    if (UNLIKELY(theirs == NULL))
        return outside(w, disp, there->size);
    if (LIKELY(by_instruction(e, theirs)))
        switch (e->span) {
        case 8: return swap_8(theirs, o, expected, result), DONE;
        case 4: return swap_4(theirs, o, expected, result), DONE;
        case 2: return swap_2(theirs, o, expected, result), DONE;
        case 1: return swap_1(theirs, o, expected, result), DONE;
        }
    char old[8];
    hold(at->guard);
    memcpy(old, theirs, e->span);
    if (memcmp(old, expected, e->span) == 0)
        memcpy(theirs, o, e->span);
    release(at->guard);
    memcpy(result, old, e->span);
    return DONE;
}

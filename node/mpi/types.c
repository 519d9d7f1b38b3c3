/* Types: which bytes a type has, and of which predefined type it is made.
 *
 * layout.c finds out by what the type was made from. For what it does not know (MPI_Type_create_darray), MPI itself packs a
 * buffer in which every byte holds a part of its own position; the packed bytes are then the type map, in its order, of any type there
 * is. It takes one pass for each byte of the largest position. A call of that kind tells whether the type is committed. */
#include "onenode_mpi.h"
#include <complex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <wchar.h>

enum { CHAINS = 256 };
/* What is packed, and reaches further, is taken apart only for accumulates, which must be ours, or not at all. */
static const size_t USUAL_EXTENT = (size_t)16 << 20, MOST_EXTENT = (size_t)1 << 30;

static type none; /* no handle is 0 */
_Thread_local const type *last_type = &none;
static type *_Atomic chains[CHAINS];
static pthread_mutex_t learning = PTHREAD_MUTEX_INITIALIZER;

static type *_Atomic *chain_of(MPI_Datatype handle)
{
    return &chains[(uintptr_t)handle * 0x9e3779b97f4a7c15ull >> 56];
}

/* In C. */
#define C_TYPES(X) \
    X(MPI_CHAR, SIGNED, char) X(MPI_SIGNED_CHAR, SIGNED, signed char) X(MPI_UNSIGNED_CHAR, UNSIGNED, unsigned char) \
    X(MPI_SHORT, SIGNED, short) X(MPI_UNSIGNED_SHORT, UNSIGNED, unsigned short) X(MPI_INT, SIGNED, int) X(MPI_UNSIGNED, UNSIGNED, unsigned) \
    X(MPI_LONG, SIGNED, long) X(MPI_UNSIGNED_LONG, UNSIGNED, unsigned long) X(MPI_LONG_LONG_INT, SIGNED, long long) \
    X(MPI_UNSIGNED_LONG_LONG, UNSIGNED, unsigned long long) X(MPI_INT8_T, SIGNED, int8_t) X(MPI_INT16_T, SIGNED, int16_t) \
    X(MPI_INT32_T, SIGNED, int32_t) X(MPI_INT64_T, SIGNED, int64_t) X(MPI_UINT8_T, UNSIGNED, uint8_t) X(MPI_UINT16_T, UNSIGNED, uint16_t) \
    X(MPI_UINT32_T, UNSIGNED, uint32_t) X(MPI_UINT64_T, UNSIGNED, uint64_t) X(MPI_AINT, SIGNED, MPI_Aint) X(MPI_OFFSET, SIGNED, MPI_Offset) \
    X(MPI_COUNT, SIGNED, MPI_Count) X(MPI_BYTE, BYTES, char) X(MPI_PACKED, CHARACTER, char) X(MPI_WCHAR, CHARACTER, wchar_t) \
    X(MPI_C_BOOL, LOGICAL, _Bool) X(MPI_CXX_BOOL, LOGICAL, _Bool) X(MPI_FLOAT, FLOATING, float) X(MPI_DOUBLE, FLOATING, double) \
    X(MPI_LONG_DOUBLE, FLOATING, long double) X(MPI_C_FLOAT_COMPLEX, COMPLEX, float complex) \
    X(MPI_C_DOUBLE_COMPLEX, COMPLEX, double complex) X(MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX, long double complex) \
    X(MPI_CXX_FLOAT_COMPLEX, COMPLEX, float complex) X(MPI_CXX_DOUBLE_COMPLEX, COMPLEX, double complex) \
    X(MPI_CXX_LONG_DOUBLE_COMPLEX, COMPLEX, long double complex)

/* In Fortran, whose sizes MPI knows. */
#define FORTRAN_TYPES(X) \
    X(MPI_INTEGER, SIGNED) X(MPI_INTEGER1, SIGNED) X(MPI_INTEGER2, SIGNED) X(MPI_INTEGER4, SIGNED) X(MPI_INTEGER8, SIGNED) \
    X(MPI_LOGICAL, LOGICAL) X(MPI_CHARACTER, CHARACTER) X(MPI_REAL, FLOATING) X(MPI_REAL4, FLOATING) X(MPI_REAL8, FLOATING) \
    X(MPI_DOUBLE_PRECISION, FLOATING) X(MPI_COMPLEX, COMPLEX) X(MPI_COMPLEX8, COMPLEX) X(MPI_COMPLEX16, COMPLEX) X(MPI_DOUBLE_COMPLEX, COMPLEX)

#define PAIRS(X) \
    X(MPI_FLOAT_INT, FLOAT_INT) X(MPI_DOUBLE_INT, DOUBLE_INT) X(MPI_LONG_INT, LONG_INT) X(MPI_SHORT_INT, SHORT_INT) X(MPI_2INT, INT_INT) \
    X(MPI_LONG_DOUBLE_INT, LONG_DOUBLE_INT) X(MPI_2INTEGER, INT_INT) X(MPI_2REAL, FLOAT_FLOAT) X(MPI_2DOUBLE_PRECISION, DOUBLE_DOUBLE)

const element *predefined_element(MPI_Datatype handle)
{
    if (handle == MPI_DATATYPE_NULL) /* as are types that this MPI lacks */
        return NULL;
#define X(name, kind, c) if (handle == name) return element_of(kind, sizeof(c));
    C_TYPES(X)
#undef X
#define X(name, kind) if (handle == name) { int bytes = 0; PMPI_Type_size(name, &bytes); return element_of(kind, (size_t)bytes); }
    FORTRAN_TYPES(X)
#undef X
#define X(name, pair) if (handle == name) return element_of(PAIR, pair);
    PAIRS(X)
#undef X
    return NULL;
}

static void set_runs(type *t, run *runs, size_t count)
{
    t->runs = runs, t->count = count;
    t->dense = count == 1 && runs->at == 0 && t->extent == (ptrdiff_t)t->size;
}

/* Finds the runs of a type by packing. False: it is too large, or there is no memory. */
static bool find_runs(type *t)
{
    /* A value of a predefined type has no gaps, unless it is a pair: one position for each is enough. */
    size_t step = t->element != NULL && t->element->kind != PAIR ? t->element->bytes : 1, count = t->size / step;
    if (t->size == 0)
        return true;
    if (t->true_extent > MOST_EXTENT || t->size > MOST_EXTENT || count > MOST_EXTENT / sizeof(size_t))
        return false;
    unsigned char *positions = malloc(t->true_extent), *packed = malloc(t->size);
    size_t *map = calloc(count, sizeof *map);
    bool good = positions != NULL && packed != NULL && map != NULL;
    char *buffer = (char *)((uintptr_t)positions - (uintptr_t)t->lower);
    MPI_Datatype handle = t->handle;
    for (int shift = 0; good && (shift == 0 || (t->true_extent - 1) >> shift != 0); shift += 8) {
        for (size_t i = 0; i < t->true_extent; i++)
            positions[i] = (unsigned char)(i >> shift);
        int end = 0;
        good = PMPI_Pack(buffer, 1, handle, packed, (int)t->size, &end, MPI_COMM_SELF) == MPI_SUCCESS && (size_t)end == t->size;
        for (size_t i = 0; good && i < count; i++)
            map[i] |= (size_t)packed[i * step] << shift;
    }
    /* MPICH leaves out the bytes of a long double that mean nothing. They do not change with the buffer; each follows the one before. */
    if (good && step == 1) {
        for (size_t i = 0; i < t->true_extent; i++)
            positions[i] = (unsigned char)~i;
        good = PMPI_Pack(buffer, 1, handle, packed, (int)t->size, &(int){0}, MPI_COMM_SELF) == MPI_SUCCESS;
        for (size_t i = 1; good && i < count; i++)
            if (packed[i] != (unsigned char)~map[i])
                map[i] = map[i - 1] + 1;
    }
    run *runs = NULL;
    if (good) {
        t->count = 1;
        for (size_t i = 1; i < count; i++)
            t->count += map[i] != map[i - 1] + step;
        runs = malloc(t->count * sizeof *runs);
        good = runs != NULL;
    }
    if (good) {
        run *r = runs;
        *r = (run){t->lower + (ptrdiff_t)map[0], step};
        for (size_t i = 1; i < count; i++)
            if (map[i] == map[i - 1] + step)
                r->bytes += step;
            else
                *++r = (run){t->lower + (ptrdiff_t)map[i], step};
        set_runs(t, runs, t->count);
    }
    free(positions), free(packed), free(map);
    return good;
}

bool take_apart(const type *t)
{
    pthread_mutex_lock(&learning);
    bool good = t->runs != NULL || find_runs((type *)t);
    pthread_mutex_unlock(&learning);
    return good;
}

static bool learn(type *t, MPI_Datatype handle)
{
    MPI_Count size, lower, extent, true_lower, true_extent;
    if (PMPI_Type_size_x(handle, &size) != MPI_SUCCESS || PMPI_Type_get_extent_x(handle, &lower, &extent) != MPI_SUCCESS
        || PMPI_Type_get_true_extent_x(handle, &true_lower, &true_extent) != MPI_SUCCESS || size < 0 || true_extent < 0)
        return false;
    *t = (type){.handle = handle, .size = (size_t)size, .extent = (ptrdiff_t)extent, .lower = (ptrdiff_t)true_lower,
                .true_extent = (size_t)true_extent, .next = t->next};
    layout l;
    lay_out(handle, &l);
    if (l.combiner == MPI_UNDEFINED)
        return false;
    t->element = l.element, t->predefined = is_lone(&l);
    if (t->predefined && size == extent && true_extent == extent && true_lower == 0) {
        free(l.runs);
        t->dense = true;
        return true;
    }
    /* An error if the type is not committed. */
    char nothing[8];
    int end = 0;
    MPI_Errhandler theirs = return_errors(MPI_COMM_SELF);
    bool committed = PMPI_Pack(nothing, 0, handle, nothing, sizeof nothing, &end, MPI_COMM_SELF) == MPI_SUCCESS;
    restore_errors(MPI_COMM_SELF, theirs);
    size_t bytes = 0;
    for (size_t i = 0; i < l.count; i++)
        bytes += l.runs[i].bytes;
    if (committed && l.laid && bytes == t->size) {
        set_runs(t, l.runs, l.count);
        return true;
    }
    free(l.runs);
    return committed && (t->true_extent > USUAL_EXTENT || find_runs(t));
}

static const type *remember(const type *t)
{
    if (t->predefined && t->dense && t->size <= sizeof(long double complex)) {
        const element *e = t->element;
        quick.type = t->handle, quick.bytes = (uint32_t)t->size;
        quick.integer = e != NULL && e->kind <= UNSIGNED && (e->bytes == 4 || e->bytes == 8);
    }
    return last_type = t;
}

/* Finds a type, or learns it. */
const type *find_type(MPI_Datatype handle)
{
    if (handle == MPI_DATATYPE_NULL)
        return NULL;
    type *_Atomic *chain = chain_of(handle);
    for (type *t = atomic_load_explicit(chain, memory_order_acquire); t != NULL; t = t->next)
        if (atomic_load_explicit(&t->handle, memory_order_acquire) == handle)
            return remember(t);
    pthread_mutex_lock(&learning);
    type *t = atomic_load_explicit(chain, memory_order_relaxed), *dead = NULL;
    for (; t != NULL && t->handle != handle; t = t->next)
        if (t->handle == none.handle)
            dead = t;
    if (t == NULL) {
        type new = {.next = NULL};
        if (learn(&new, handle)) {
            t = dead != NULL ? dead : calloc(1, sizeof *t);
            if (t != NULL) {
                t->dense = new.dense, t->predefined = new.predefined, t->element = new.element, t->size = new.size;
                t->extent = new.extent, t->lower = new.lower, t->true_extent = new.true_extent;
                t->runs = new.runs, t->count = new.count;
                if (dead == NULL)
                    t->next = *chain;
                atomic_store_explicit(&t->handle, handle, memory_order_release);
                if (dead == NULL)
                    atomic_store_explicit(chain, t, memory_order_release);
            } else
                free(new.runs);
        }
    }
    pthread_mutex_unlock(&learning);
    return t != NULL ? remember(t) : NULL;
}

/* The program frees a type; its handle may come again for another one. */
void forget_type(MPI_Datatype handle)
{
    for (type *t = atomic_load_explicit(chain_of(handle), memory_order_acquire); t != NULL; t = t->next)
        if (t->handle == handle && !t->predefined) {
            pthread_mutex_lock(&learning);
            free(t->runs);
            t->runs = NULL;
            atomic_store_explicit(&t->handle, none.handle, memory_order_release);
            pthread_mutex_unlock(&learning);
            return;
        }
}

char *typed_address(const target *t, MPI_Aint disp, MPI_Count count, const type *type)
{
    ptrdiff_t at;
    if (count < 0 || disp < 0 || __builtin_mul_overflow((ptrdiff_t)disp, (ptrdiff_t)t->unit, &at))
        return NULL;
    if (count == 0 || type->size == 0)
        return address(t, disp, 0);
    /* The first and last instance reach furthest, in either direction. */
    __int128 first = (__int128)at + type->lower, last = first + (__int128)type->extent * (count - 1);
    __int128 low = first < last ? first : last, high = (first < last ? last : first) + (__int128)type->true_extent;
    return low >= 0 && high <= (__int128)t->size ? (char *)((uintptr_t)t->base + (uintptr_t)at) : NULL;
}

/* Copies all runs of a buffer to or from one without gaps. */
static inline void copy_runs(char *buffer, MPI_Count count, const type *t, char *dense, bool gather)
{
    for (; count > 0; count--, buffer = (char *)((uintptr_t)buffer + (uintptr_t)t->extent))
        for (const run *r = t->runs, *end = r + t->count; r < end; dense += r->bytes, r++) {
            char *at = (char *)((uintptr_t)buffer + (uintptr_t)r->at); /* a buffer may be MPI_BOTTOM */
            gather ? copy(dense, at, r->bytes) : copy(at, dense, r->bytes);
        }
}

void copy_typed(char *to, MPI_Count to_count, const type *to_type, const char *from, MPI_Count from_count, const type *from_type)
{
    if (to_count == 0 || to_type->size == 0)
        return;
    if (to_type->dense) {
        copy_runs((char *)from, from_count, from_type, to, true);
        return;
    }
    if (from_type->dense) {
        copy_runs(to, to_count, to_type, (char *)from, false);
        return;
    }
    cursor into = start_of(to, to_count, to_type), out = start_of((char *)from, from_count, from_type);
    for (size_t left = (size_t)to_count * to_type->size; left > 0;) {
        size_t bytes = into.left < out.left ? into.left : out.left;
        copy(into.at, out.at, bytes);
        left -= bytes;
        if (left > 0)
            advance(&into, bytes), advance(&out, bytes);
    }
}

outcome transfer(window *w, void *o, MPI_Count oc, MPI_Datatype ot, int rank, MPI_Aint disp, MPI_Count tc, MPI_Datatype tt, bool put)
{
    quick.stored = true;
    const target *at = target_of(w, rank);
    const type *origin = type_of(ot), *there = ot == tt ? origin : type_of(tt);
    if (UNLIKELY(at == NULL || at->far || origin == NULL || there == NULL || (oc | tc) < 0))
        return PASS;
    size_t bytes, bytes_there;
    if (UNLIKELY(__builtin_mul_overflow((size_t)oc, origin->size, &bytes) || __builtin_mul_overflow((size_t)tc, there->size, &bytes_there)
                 || bytes != bytes_there))
        return PASS;
    if (UNLIKELY(origin->dense && bytes != 0 && !is_buffer(o)))
        return PASS;
    if (LIKELY(origin->dense && there->dense)) {
        char *theirs = address(at, disp, bytes);
        if (UNLIKELY(theirs == NULL))
            return outside(w, disp, bytes);
        put ? copy(theirs, o, bytes) : copy(o, theirs, bytes);
        return DONE;
    }
    if (!is_apart(origin) || !is_apart(there))
        return PASS;
    char *theirs = typed_address(at, disp, tc, there);
    if (theirs == NULL)
        return outside(w, disp, bytes);
    put ? copy_typed(theirs, tc, there, o, oc, origin) : copy_typed(o, oc, origin, theirs, tc, there);
    return DONE;
}

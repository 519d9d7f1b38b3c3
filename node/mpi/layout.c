/* The layout of a type, by what it was made from: its runs of bytes in the order of the type map, and the element that all of it has.
 *
 * It takes as long as there are runs, since programs make, use and free a type for each transfer. */
#include "onenode_mpi.h"
#include <stdlib.h>

enum { MOST_DEPTH = 64 };
static const size_t MOST_RUNS = (size_t)1 << 22;

static bool add(layout *l, ptrdiff_t at, size_t bytes)
{
    if (bytes == 0)
        return true;
    run *last = l->count > 0 ? &l->runs[l->count - 1] : NULL;
    if (last != NULL && last->at + (ptrdiff_t)last->bytes == at) {
        last->bytes += bytes;
        return true;
    }
    if (l->count == l->room) {
        size_t room = l->room != 0 ? 2 * l->room : 16;
        run *more = room <= MOST_RUNS ? realloc(l->runs, room * sizeof *more) : NULL;
        if (more == NULL)
            return false;
        l->runs = more, l->room = room;
    }
    l->runs[l->count++] = (run){at, bytes};
    return true;
}

/* `count` instances of a part from `at` on. */
static bool repeat(layout *l, const layout *part, ptrdiff_t at, size_t count)
{
    if (part->count == 1 && (ptrdiff_t)part->runs[0].bytes == part->extent)
        return add(l, at + part->runs[0].at, count * part->runs[0].bytes);
    for (size_t i = 0; i < count && part->count > 0; i++, at += part->extent)
        for (size_t k = 0; k < part->count; k++)
            if (!add(l, at + part->runs[k].at, part->runs[k].bytes))
                return false;
    return true;
}

/* A subarray: its dimensions from the slowest on, `step` apart, within what `at` counts of those before. */
static bool add_subarray(layout *l, const layout *part, int dimensions, const int *whole, const int *some, const int *from, int step, ptrdiff_t at)
{
    at = at * *whole + *from;
    if (dimensions == 1)
        return repeat(l, part, at * part->extent, (size_t)*some);
    for (int i = 0; i < *some; i++)
        if (!add_subarray(l, part, dimensions - 1, whole + step, some + step, from + step, step, at + i))
            return false;
    return true;
}

/* From what MPI_Type_get_contents says. False: not known here, or too much. */
static bool add_parts(layout *l, int combiner, const int *a, const MPI_Aint *d, const layout *parts)
{
    const layout *p = parts;
    int n = a[0];
    bool c_order;
    switch (combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        return repeat(l, p, 0, 1);
    case MPI_COMBINER_CONTIGUOUS:
        return repeat(l, p, 0, (size_t)n);
    case MPI_COMBINER_SUBARRAY:
        c_order = a[1 + 3 * n] == MPI_ORDER_C;
        a += c_order ? 1 : n;
        return add_subarray(l, p, n, a, a + n, a + 2 * n, c_order ? 1 : -1, 0);
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
    case MPI_COMBINER_STRUCT:
        break;
    default:
        return false;
    }
    for (int i = 0; i < n; i++) {
        ptrdiff_t at;
        int times = a[1];
        switch (combiner) {
        case MPI_COMBINER_VECTOR: at = (ptrdiff_t)i * a[2] * p->extent; break;
        case MPI_COMBINER_HVECTOR: at = i * d[0]; break;
        case MPI_COMBINER_INDEXED: at = a[1 + n + i] * p->extent, times = a[1 + i]; break;
        case MPI_COMBINER_INDEXED_BLOCK: at = a[2 + i] * p->extent; break;
        case MPI_COMBINER_HINDEXED_BLOCK: at = d[i]; break;
        case MPI_COMBINER_STRUCT: p = &parts[i]; /* fall through */
        default: at = d[i], times = a[1 + i]; break;
        }
        if (!repeat(l, p, at, (size_t)times))
            return false;
    }
    return true;
}

bool is_lone(const layout *l)
{
    return l->combiner == MPI_COMBINER_NAMED || l->combiner == MPI_COMBINER_F90_REAL || l->combiner == MPI_COMBINER_F90_COMPLEX
           || l->combiner == MPI_COMBINER_F90_INTEGER;
}

/* A predefined type, or one of Fortran's by precision. */
static void lay_out_lone(MPI_Datatype handle, layout *l)
{
    int size = 0;
    PMPI_Type_size(handle, &size);
    size_t bytes = (size_t)size;
    const element *e = l->element = l->combiner == MPI_COMBINER_NAMED         ? predefined_element(handle)
                                    : l->combiner == MPI_COMBINER_F90_REAL    ? element_of(FLOATING, bytes)
                                    : l->combiner == MPI_COMBINER_F90_COMPLEX ? element_of(COMPLEX, bytes)
                                                                           : element_of(SIGNED, bytes);
    if (e != NULL && e->kind == PAIR) {
        ptrdiff_t second = e->span - (e->bytes - e->first);
        l->laid = add(l, 0, e->first) && add(l, second, (size_t)(e->bytes - e->first));
    } else
        l->laid = (e != NULL || l->extent == size) && add(l, 0, bytes);
}

static void lay_out_at(MPI_Datatype handle, layout *l, int depth)
{
    MPI_Count lower, extent;
    int integers, addresses, types;
    *l = (layout){.combiner = MPI_UNDEFINED};
    if (depth > MOST_DEPTH || PMPI_Type_get_envelope(handle, &integers, &addresses, &types, &l->combiner) != MPI_SUCCESS
        || PMPI_Type_get_extent_x(handle, &lower, &extent) != MPI_SUCCESS)
        return;
    l->extent = (ptrdiff_t)extent;
    if (is_lone(l)) {
        lay_out_lone(handle, l);
        return;
    }
    int *some = calloc((size_t)integers + 1, sizeof *some);
    MPI_Aint *far = malloc(sizeof *far * (size_t)(addresses + 1));
    MPI_Datatype *handles = malloc(sizeof *handles * (size_t)(types + 1));
    layout *parts = calloc((size_t)types + 1, sizeof *parts);
    if (some != NULL && far != NULL && handles != NULL && parts != NULL
        && PMPI_Type_get_contents(handle, integers, addresses, types, some, far, handles) == MPI_SUCCESS) {
        bool laid = types > 0;
        for (int i = 0; i < types; i++) {
            lay_out_at(handles[i], &parts[i], depth + 1);
            laid = laid && parts[i].laid;
            l->element = i == 0 || parts[i].element == l->element ? parts[i].element : NULL;
            if (!is_lone(&parts[i]))
                next.Type_free(&handles[i]);
        }
        l->laid = laid && add_parts(l, l->combiner, some, far, parts);
        for (int i = 0; i < types; i++)
            free(parts[i].runs);
    }
    free(some), free(far), free(handles), free(parts);
}

void lay_out(MPI_Datatype handle, layout *l)
{
    lay_out_at(handle, l, 0);
}

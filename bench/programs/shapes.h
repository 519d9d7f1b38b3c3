/* What the strided transfers and the raw loops beside them move. */
#ifndef SHAPES_H
#define SHAPES_H

#include <stddef.h>

#define ELEMENTS 1024
#define STRIDE 2

struct shape {
    const char *name;
    ptrdiff_t target, source;
};

static const struct shape shapes[] = {{"to_strided", STRIDE, 1}, {"from_strided", 1, STRIDE}, {"both_strided", STRIDE, STRIDE}};

#endif

/* atomics.c with operations compiled in. */
#define PROGRAM "atomics.c"
#include "inlined.h"

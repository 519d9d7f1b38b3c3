/* rate.c with operations compiled in. */
#define PROGRAM "rate.c"
#include "inlined.h"

/* pingpong.c with operations compiled in. */
#define PROGRAM "pingpong.c"
#include "inlined.h"

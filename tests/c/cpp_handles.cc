// pes: 2
/* rule 15.10: as handles.c, in C++. */
#include "handles.c"

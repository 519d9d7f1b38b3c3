/* An MPI that a program loads while it runs, as modules of Python do. With MODULE: what is loaded. */
#ifdef MODULE
#include <mpi.h>
#include <stddef.h>
int begin(void)
{
    int failed = MPI_Init(NULL, NULL);
    return failed != 0 ? failed : MPI_Finalize();
}
#else
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *module = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL);
    if (module == NULL) {
        puts(dlerror());
        return 2;
    }
    int (*begin)(void);
    *(void **)&begin = dlsym(module, "begin");
    int failed = begin();
    puts(failed == 0 ? "right" : "wrong");
    return failed;
}
#endif

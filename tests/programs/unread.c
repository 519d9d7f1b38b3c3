/* unread FILE: makes FILE and ends with 3 while a stream holds more than its pipe takes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    enum { BYTES = 2 << 20 };
    static char buffer[BYTES + 1];
    int ends[2];
    shmem_init();
    if (pipe(ends) != 0 || argc != 2)
        return 1;
    FILE *stream = fdopen(ends[1], "w");
    setvbuf(stream, buffer, _IOFBF, sizeof buffer);
    for (int i = 0; i < BYTES; i++)
        fputc('x', stream);
    close(open(argv[1], O_CREAT | O_WRONLY, 0600));
    shmem_global_exit(3);
}

/* What the programs of this folder share: a check that says where it failed. */
#ifndef CHECK_H
#define CHECK_H

#include <onenode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define CHECK(holds)                                                                               \
    ((holds) ? (void)0                                                                             \
             : (void)(failures++, fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #holds)))

/* A call that must fail with `code` and a message that has all of `words` in it. */
#define FAILS(call, code, words)                                                                   \
    do {                                                                                           \
        int result_ = (call);                                                                      \
        if (result_ != (code) || strstr(onenode_message(), words) == NULL) {                       \
            failures++;                                                                            \
            fprintf(stderr, "%s:%d: %s returned %d, expected %d, and said \"%s\", expected \"%s\"\n", \
                    __FILE__, __LINE__, #call, result_, code, onenode_message(), words);           \
        }                                                                                          \
    } while (0)

/* One that must not. */
#define WORKS(call)                                                                                \
    do {                                                                                           \
        int result_ = (call);                                                                      \
        if (result_ != ONENODE_OK) {                                                               \
            failures++;                                                                            \
            fprintf(stderr, "%s:%d: %s returned %d: %s\n", __FILE__, __LINE__, #call, result_,     \
                    onenode_message());                                                            \
        }                                                                                          \
    } while (0)

#endif

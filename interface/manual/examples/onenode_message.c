/* The message about a failure names the function, the argument and what was expected. */
#include <onenode.h>
#include <stdio.h>

int main(void)
{
    if (onenode_close(NULL) != ONENODE_OK)
        printf("%s\n", onenode_message());
    printf("the library is the header's: %d\n",
           onenode_abi() == ONENODE_ABI);
    return 0;
}

/* $ ./onenode_message
 * onenode_close: node = NULL: expected an address
 * the library is the header's: 1 */

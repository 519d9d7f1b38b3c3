/* The kernel interface of XPMEM (module 2.6 and 2.7, x86-64): the ioctl numbers
 * of /dev/xpmem and the records they take. `make -C xpmem bindings` turns this
 * into src/bindings.rs. */
#include <stdint.h>

#define XPMEM_CMD_TYPE 'x'
enum xpmem_command {
	XPMEM_CMD_VERSION = 0x7800,
	XPMEM_CMD_MAKE = 0x7801,
	XPMEM_CMD_REMOVE = 0x7802,
	XPMEM_CMD_GET = 0x7803,
	XPMEM_CMD_RELEASE = 0x7804,
	XPMEM_CMD_ATTACH = 0x7805,
	XPMEM_CMD_DETACH = 0x7806,
	XPMEM_CMD_FORK_BEGIN = 0x7807,
	XPMEM_CMD_FORK_END = 0x7808,
};

#define XPMEM_RDONLY 1
#define XPMEM_RDWR 2
#define XPMEM_PERMIT_MODE 1

/* Exports a range of this process. */
struct xpmem_cmd_make {
	uint64_t vaddr;       /* page aligned */
	uint64_t size;        /* whole pages */
	int32_t permit_type;  /* XPMEM_PERMIT_MODE */
	uint64_t permit_value;/* file mode bits, at most 0777 */
	int64_t segid;        /* out: the segment */
};

/* Ends an export. */
struct xpmem_cmd_remove { int64_t segid; };

/* Asks for access to a segment. */
struct xpmem_cmd_get {
	int64_t segid;
	int32_t flags;        /* XPMEM_RDWR */
	int32_t permit_type;
	uint64_t permit_value;/* unused: 0 */
	int64_t apid;         /* out: the permit */
};

/* Gives the access up. */
struct xpmem_cmd_release { int64_t apid; };

/* Maps a part of a segment here. */
struct xpmem_cmd_attach {
	int64_t apid;
	int64_t offset;       /* page aligned */
	uint64_t size;
	uint64_t vaddr;       /* in: where (0: anywhere); out: where it is */
	int32_t fd;           /* unused */
	int32_t flags;        /* unused */
};

/* Unmaps what was attached at vaddr. */
struct xpmem_cmd_detach { uint64_t vaddr; };

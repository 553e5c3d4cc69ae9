// What libfuse's Swift import lacks (macros, inlines, newer protocol bits), and nothing else.
// Functions return a result >= 0, or -errno. What depends on libfuse's version is in versions.h.
#ifndef CFUSESHIMS_H
#define CFUSESHIMS_H

#define FUSE_USE_VERSION 314
#include <stddef.h>
#include <fuse_lowlevel.h>
#include "channel.h"

// A process has at most one.
struct fuse_session *shim_session_new(
    int argc, char **argv, const struct fuse_lowlevel_ops *ops, size_t size, void *userdata);
// After fuse_session_mount: takes over reading. stack_depth is that of the mount over the store's file
// system (docs/INTERNALS.md, Passthrough).
int shim_take_over_io(struct fuse_session *session, unsigned stack_depth);
// In init: asks the kernel for the features that it offers and we use, and for no others.
void shim_want(struct fuse_conn_info *connection, int keeps_access_control_lists);

// Has libfuse decode a request and call its callback.
void shim_process(struct fuse_session *session, void *buffer, size_t size);

// The request that this thread serves, or has served last: its bytes, but for the opcode, which libfuse may not know. NULL on a
// thread that serves none.
struct shim_request {
    const void *bytes;
    uint32_t opcode;
};
extern _Thread_local struct shim_request shim_served_;
static inline struct shim_request shim_served(void) { return shim_served_; }

// What the kernel has agreed to, once INIT is done.
struct shim_features {
    int passthrough;  // also 0 once the kernel has refused a backing file for lack of rights
    int direct_io_mmap;
    int killpriv_v2;
};
struct shim_features shim_features(void);

// An id > 0 for a backing file, or -errno. Any request that has not been answered yet will do.
int shim_backing_open(fuse_req_t request, int fd);
int shim_backing_close(fuse_req_t request, int id);

// The answer to OPEN with any flags and a backing id, 0 for none.
int shim_reply_open(fuse_req_t request, uint64_t handle, uint32_t flags, int32_t backing_id);
// The answer to FUSE_STATX; birth is in nanoseconds since 1970, INT64_MIN if the store keeps none.
int shim_reply_statx(fuse_req_t request, const struct stat *status, int64_t birth, double timeout);
// Data directly from a file, spliced.
int shim_reply_file(fuse_req_t request, int fd, int64_t offset, size_t size);

// For a trace: called before each answer to a request is sent, by the thread that sends it. `error` is 0 or negative; `body`
// has `size` bytes, or is NULL where they are spliced or in pieces. To be set before the session has a second thread.
typedef void shim_answer_hook(void *context, uint64_t unique, int32_t error, const void *body, size_t size);
void shim_on_answer(shim_answer_hook *hook, void *context);
// "ENOENT"; NULL for a number without a name.
const char *shim_error_name(int error);

// FOPEN_* of <linux/fuse.h>
#define SHIM_FOPEN_DIRECT_IO (1u << 0)
#define SHIM_FOPEN_KEEP_CACHE (1u << 1)
#define SHIM_FOPEN_NONSEEKABLE (1u << 2)
#define SHIM_FOPEN_CACHE_DIR (1u << 3)
#define SHIM_FOPEN_NOFLUSH (1u << 5)
#define SHIM_FOPEN_PARALLEL_DIRECT_WRITES (1u << 6)
#define SHIM_FOPEN_PASSTHROUGH (1u << 7)

#endif

// The parts of libfuse that its Swift import lacks (macros, inlines, newer protocol bits), and nothing else. Functions return
// a result >= 0, or -errno. versions.h has the parts that depend on libfuse's version.
#ifndef CFUSESHIMS_H
#define CFUSESHIMS_H

#define FUSE_USE_VERSION 314
#include <stddef.h>
#include <fuse_lowlevel.h>
#include "channel.h"
#include "ring.h"

// Creates the session, of which a process has at most one.
struct fuse_session *shim_session_new(
    int argc, char **argv, const struct fuse_lowlevel_ops *ops, size_t size, void *userdata);
// Takes over the session's reading and writing, after fuse_session_mount. stack_depth is the number of levels that the mount
// is above the store's lowest file system: 1, or 2 on overlayfs (docs/INTERNALS.md, Passthrough).
int shim_take_over_io(struct fuse_session *session, unsigned stack_depth);
// Asks the kernel, during INIT, for exactly the features that it offers and we use.
void shim_want(struct fuse_conn_info *connection, int keeps_access_control_lists);

// Makes libfuse decode a request and call its callback.
void shim_process(struct fuse_session *session, void *buffer, size_t size);

// Answers a request with an error, if libfuse has not seen the request.
void shim_refuse(uint64_t unique, int error);

// The request that this thread serves, or has served last. In `bytes`, an opcode that libfuse may not know is replaced;
// `opcode` is the kernel's. `bytes` is NULL on a thread that has served no request.
struct shim_request {
    const void *bytes;
    uint32_t opcode;
};
extern _Thread_local struct shim_request shim_served_;
static inline struct shim_request shim_served(void) { return shim_served_; }

// The features that the kernel has agreed to, once INIT is done.
struct shim_features {
    int passthrough;  // also 0 once the kernel has refused a backing file for lack of privileges
    int direct_io_mmap;
    int killpriv_v2;
};
struct shim_features shim_features(void);

// Returns an id > 0 for a backing file, or -errno. Any request that is still unanswered will do.
int shim_backing_open(fuse_req_t request, int fd);
int shim_backing_close(fuse_req_t request, int id);

// Answers OPEN or OPENDIR with SHIM_FOPEN_* flags and a backing id, or 0 for none.
int shim_reply_open(fuse_req_t request, uint64_t handle, uint32_t flags, int32_t backing_id);
// Answers FUSE_STATX. `birth` is in nanoseconds since 1970, or INT64_MIN if the store keeps none. `timeout` is in seconds, and
// its fraction is dropped.
int shim_reply_statx(fuse_req_t request, const struct stat *status, int64_t birth, double timeout);
// Answers with data spliced directly from a file.
int shim_reply_file(fuse_req_t request, int fd, int64_t offset, size_t size);

// Called for a trace before each answer to a request is sent, by the sending thread. `error` is 0 or negative. `body` has
// `size` bytes. It is NULL if there are none, or if they are spliced or in pieces. Must be set before the session has a second
// thread.
typedef void shim_answer_hook(void *context, uint64_t unique, int32_t error, const void *body, size_t size);
void shim_on_answer(shim_answer_hook *hook, void *context);

// FOPEN_* of <linux/fuse.h>
#define SHIM_FOPEN_DIRECT_IO (1u << 0)
#define SHIM_FOPEN_KEEP_CACHE (1u << 1)
#define SHIM_FOPEN_NONSEEKABLE (1u << 2)
#define SHIM_FOPEN_CACHE_DIR (1u << 3)
#define SHIM_FOPEN_NOFLUSH (1u << 5)
#define SHIM_FOPEN_PARALLEL_DIRECT_WRITES (1u << 6)
#define SHIM_FOPEN_PASSTHROUGH (1u << 7)

#endif

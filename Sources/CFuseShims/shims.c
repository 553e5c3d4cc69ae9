#define _GNU_SOURCE
#include "channel.h"
#include "versions.h"
#include "wire.h"

#include <errno.h>
#include <linux/fuse.h>
#include <string.h>
#include <unistd.h>

// version_agreed and version_stack_depth are set before the session has a second thread.
struct shim_features version_agreed;
unsigned version_stack_depth;
// Set by any worker thread, at any time.
static _Atomic int passthrough_was_refused;

struct fuse_session *shim_session_new(
    int argc, char **argv, const struct fuse_lowlevel_ops *ops, size_t size, void *userdata) {
    struct fuse_args args = {.argc = argc, .argv = argv, .allocated = 0};
    struct fuse_session *session = fuse_session_new(&args, ops, size, userdata);
    fuse_opt_free_args(&args);
    return session;
}

int shim_take_over_io(struct fuse_session *session, unsigned depth) {
    int result = channel_open(fuse_session_fd(session));
    if (result < 0) return result;
    version_stack_depth = depth;
    version_begin(session);
    return wire_take_over(session);
}

// Leaves out FUSE_CAP_ASYNC_DIO: after an asynchronous direct write the kernel keeps stale pages in its cache, and it turns a
// short answer into EIO.
void shim_want(struct fuse_conn_info *connection, int keeps_access_control_lists) {
    uint64_t wanted = FUSE_CAP_ASYNC_READ | FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_PARALLEL_DIROPS
        | FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_CACHE_SYMLINKS
        | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE | FUSE_CAP_IOCTL_DIR;
    if (keeps_access_control_lists) wanted |= FUSE_CAP_POSIX_ACL | FUSE_CAP_DONT_MASK;
    version_want(connection, wanted);
}

_Thread_local struct shim_request shim_served_;

// FUSE_TMPFILE and FUSE_STATX begin like FUSE_CREATE and FUSE_GETATTR, so libfuse gets them under those opcodes. libfuse
// supports the new ones only from version 3.18 on; remove this when no older version is in use.
static uint32_t known_to_libfuse(uint32_t opcode) {
    return opcode == 51 ? FUSE_CREATE : opcode == 52 ? FUSE_GETATTR : opcode;
}

void shim_process(struct fuse_session *session, void *buffer, size_t size) {
    struct fuse_buf request = {.size = size, .mem = buffer};
    struct fuse_in_header *header = buffer;
    if (header->opcode == FUSE_INIT) wire_note_init(buffer, size);
    shim_served_ = (struct shim_request){.bytes = buffer, .opcode = header->opcode};
    header->opcode = known_to_libfuse(header->opcode);
    fuse_session_process_buf(session, &request);
}

struct shim_features shim_features(void) {
    struct shim_features features = version_agreed;
    if (passthrough_was_refused) features.passthrough = 0;
    return features;
}

int shim_backing_open(fuse_req_t request, int fd) {
    int id = version_backing_open(request, fd);
    // Without CAP_SYS_ADMIN the next attempt would fail too.
    if (id == -EPERM) passthrough_was_refused = 1;
    return id;
}

int shim_backing_close(fuse_req_t request, int id) { return version_backing_close(request, id); }

int shim_reply_file(fuse_req_t request, int fd, int64_t offset, size_t size) {
    const struct fuse_in_header *served = shim_served().bytes;
    size_t room = 0;
    char *payload = served ? ring_payload(served->unique, &room) : NULL;
    if (payload) {
        ssize_t count = pread(fd, payload, size < room ? size : room, offset);
        return count < 0 ? fuse_reply_err(request, errno) : fuse_reply_buf(request, payload, (size_t)count);
    }
    struct fuse_bufvec data = FUSE_BUFVEC_INIT(size);
    data.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK | FUSE_BUF_FD_RETRY;
    data.buf[0].fd = fd;
    data.buf[0].pos = offset;
    return fuse_reply_data(request, &data, FUSE_BUF_SPLICE_MOVE);
}

// libfuse 3.14 to 3.16: we complete the INIT reply on its way to the kernel.
#include "versions.h"

#if !KNOWS_PASSTHROUGH

#include <errno.h>
#include <sys/ioctl.h>

// These constants are newer than the headers of Debian 12.
#define HANDLE_KILLPRIV_V2 (1u << 28)
#define FLAGS2_DIRECT_IO_MMAP (1u << 4)
#define FLAGS2_PASSTHROUGH (1u << 5)
#define FLAGS2_NO_EXPORT_SUPPORT (1u << 6)
struct backing_map { int32_t fd; uint32_t flags; uint64_t padding; };
#define BACKING_OPEN _IOW(229, 1, struct backing_map)
#define BACKING_CLOSE _IOW(229, 2, uint32_t)

// Set once, before the session has a second thread.
static int session_fd;

void version_begin(struct fuse_session *session) { session_fd = fuse_session_fd(session); }

void version_complete_init(struct init_reply *reply, uint32_t offered, uint32_t offered2) {
    if (offered & HANDLE_KILLPRIV_V2) {
        reply->flags |= HANDLE_KILLPRIV_V2;
        version_agreed.killpriv_v2 = 1;
    }
    if (!(offered & INIT_EXT)) return;
    reply->flags |= INIT_EXT;
    reply->flags2 |= offered2 & FLAGS2_NO_EXPORT_SUPPORT;
    if (offered2 & FLAGS2_DIRECT_IO_MMAP) {
        reply->flags2 |= FLAGS2_DIRECT_IO_MMAP;
        version_agreed.direct_io_mmap = 1;
    }
    if ((offered2 & FLAGS2_PASSTHROUGH) && version_stack_depth > 0) {
        reply->flags2 |= FLAGS2_PASSTHROUGH;
        reply->max_stack_depth = version_stack_depth;
        version_agreed.passthrough = 1;
    }
}

void version_want(struct fuse_conn_info *connection, uint64_t wanted) {
    connection->want = connection->capable & (uint32_t)wanted;
}

int version_backing_open(fuse_req_t request, int fd) {
    (void)request;
    struct backing_map map = {.fd = fd};
    int id = ioctl(session_fd, BACKING_OPEN, &map);
    return id < 0 ? -errno : id;
}

int version_backing_close(fuse_req_t request, int id) {
    (void)request;
    uint32_t number = (uint32_t)id;
    return ioctl(session_fd, BACKING_CLOSE, &number) < 0 ? -errno : 0;
}

int shim_reply_open(fuse_req_t request, uint64_t handle, uint32_t flags, int32_t backing_id) {
    struct { uint64_t fh; uint32_t flags; int32_t backing_id; } reply = {handle, flags, backing_id};
    return fuse_reply_buf(request, (const char *)&reply, sizeof reply);
}

#endif

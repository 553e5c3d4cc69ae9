// libfuse 3.14 to 3.16: its INIT reply is completed on its way to the kernel.
#define _GNU_SOURCE
#include "versions.h"

#if !KNOWS_PASSTHROUGH

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

// Newer than the headers of Debian 12.
#define INIT_EXT (1u << 30)
#define HANDLE_KILLPRIV_V2 (1u << 28)
#define FLAGS2_DIRECT_IO_MMAP (1u << 4)
#define FLAGS2_PASSTHROUGH (1u << 5)
#define FLAGS2_NO_EXPORT_SUPPORT (1u << 6)
struct backing_map { int32_t fd; uint32_t flags; uint64_t padding; };
#define BACKING_OPEN _IOW(229, 1, struct backing_map)
#define BACKING_CLOSE _IOW(229, 2, uint32_t)
struct init_reply {
    uint32_t major, minor, max_readahead, flags;
    uint16_t max_background, congestion_threshold;
    uint32_t max_write, time_gran;
    uint16_t max_pages, map_alignment;
    uint32_t flags2, max_stack_depth, unused[6];
};

static struct {
    int fd;
    uint64_t init_unique;
    uint32_t offered, offered2;
} wire;

static void complete_init(struct init_reply *reply) {
    if (wire.offered & HANDLE_KILLPRIV_V2) {
        reply->flags |= HANDLE_KILLPRIV_V2;
        version_agreed.killpriv_v2 = 1;
    }
    // A write whose buffer begins within a page spans one page more than its length.
    if (reply->max_pages) reply->max_pages = 256;
    if (!(wire.offered & INIT_EXT)) return;
    reply->flags |= INIT_EXT;
    reply->flags2 |= wire.offered2 & FLAGS2_NO_EXPORT_SUPPORT;
    if (wire.offered2 & FLAGS2_DIRECT_IO_MMAP) {
        reply->flags2 |= FLAGS2_DIRECT_IO_MMAP;
        version_agreed.direct_io_mmap = 1;
    }
    if ((wire.offered2 & FLAGS2_PASSTHROUGH) && version_stack_depth > 0) {
        reply->flags2 |= FLAGS2_PASSTHROUGH;
        reply->max_stack_depth = version_stack_depth;
        version_agreed.passthrough = 1;
    }
}

static ssize_t wire_writev(int fd, struct iovec *iov, int count, void *userdata) {
    (void)userdata;
    if (wire.init_unique && count == 2 && iov[0].iov_len == sizeof(struct fuse_out_header)) {
        struct fuse_out_header *header = iov[0].iov_base;
        if (header->unique == wire.init_unique && iov[1].iov_len >= sizeof(struct init_reply)) {
            wire.init_unique = 0;
            complete_init(iov[1].iov_base);
        }
    }
    return writev(fd, iov, count);
}

static ssize_t wire_read(int fd, void *buffer, size_t size, void *userdata) {
    (void)userdata;
    return read(fd, buffer, size);
}

static ssize_t wire_splice(int in, off_t *in_off, int out, off_t *out_off, size_t size, unsigned flags, void *userdata) {
    (void)userdata;
    return splice(in, in_off, out, out_off, size, flags);
}

void version_set_log(void) {}

int version_take_over_io(struct fuse_session *session) {
    struct fuse_custom_io io = {
        .writev = wire_writev, .read = wire_read, .splice_receive = wire_splice, .splice_send = wire_splice};
    wire.fd = fuse_session_fd(session);
    return fuse_session_custom_io(session, &io, wire.fd);
}

void version_note_init(const void *request, size_t size) {
    const struct fuse_in_header *header = request;
    if (size < sizeof *header + 20) return;
    const uint32_t *words = (const uint32_t *)(header + 1);
    wire.init_unique = header->unique;
    wire.offered = words[3];
    wire.offered2 = words[3] & INIT_EXT ? words[4] : 0;
}

void version_want(struct fuse_conn_info *connection, uint64_t wanted) {
    connection->want = connection->capable & (uint32_t)wanted;
}

int version_backing_open(fuse_req_t request, int fd) {
    (void)request;
    struct backing_map map = {.fd = fd};
    int id = ioctl(wire.fd, BACKING_OPEN, &map);
    return id < 0 ? -errno : id;
}

int version_backing_close(fuse_req_t request, int id) {
    (void)request;
    uint32_t number = (uint32_t)id;
    return ioctl(wire.fd, BACKING_CLOSE, &number) < 0 ? -errno : 0;
}

int shim_reply_open(fuse_req_t request, uint64_t handle, uint32_t flags, int32_t backing_id) {
    struct { uint64_t fh; uint32_t flags; int32_t backing_id; } reply = {handle, flags, backing_id};
    return fuse_reply_buf(request, (const char *)&reply, sizeof reply);
}

#endif
